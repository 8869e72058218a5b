"""Test losses and scorers that raise: at every call, the exception gets through."""

import pytest

from faults.raising import PlannedError, blow_every, make_cases


@pytest.mark.parametrize("kind", [PlannedError, KeyboardInterrupt])
def test_an_exception_at_any_call_reaches_the_caller(kind):
    for name, fuse, call, state in make_cases(kind):
        every = 1 if "search" not in name else 4
        assert blow_every(fuse, call, state, every) > 2, name
