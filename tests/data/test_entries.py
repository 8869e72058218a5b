"""Test that entries of tables are found as NumPy finds them."""

import numpy as np
import pytest

from properboost.data import entries
from properboost.data.entries import find_entries


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.intp])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4)])
def test_entries_are_those_that_numpy_finds(shape, dtype, monkeypatch):
    monkeypatch.setattr(entries, "ROWS", 5)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(10, 6, 2))
    rows, columns = (rng.integers(0, 6, shape).astype(dtype) for _ in range(2))
    for codes in ((rows,), (rows, columns)):
        actual = find_entries(table, *codes)
        assert actual.dtype == table.dtype
        np.testing.assert_array_equal(actual, table[codes])


def test_codes_beyond_the_entries_are_an_error():
    with pytest.raises(IndexError):
        find_entries(np.zeros(3), np.array([3]))
