"""Test bins of rows that come in batches, as `tests/batches` also does."""

import pytest

from properboost.data.bin_finder import CategoryUnion


@pytest.mark.parametrize(
    ("batches", "append", "ordered"),
    [
        ([], False, ()),
        ([("b", "a")], False, ("b", "a")),  # the declared order
        ([("b", "a"), ("b", "a")], False, ("b", "a")),
        ([("a", "c"), ("b", "c")], False, ("a", "b", "c")),
        ([("c", "a"), ("a", "b")], True, ("c", "a", "b")),
        ([(10, 2), (3,)], False, (2, 3, 10)),
    ],
)
def test_categories_of_batches_are_numbered_and_ordered(batches, append, ordered):
    union = CategoryUnion()
    numbers = [union.add(values, append=append) for values in batches]
    values, place = union.order()
    assert values == ordered
    assert len(union) == len(ordered)
    for codes, known in zip(numbers, batches, strict=True):
        assert [values[place[k]] for k in codes] == list(known)
