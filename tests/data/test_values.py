"""Test that values of any type are categories in plain Python, in ascending order."""

import decimal

import numpy as np
import pytest

from helpers.label_kinds import KINDS as KINDS_OF_LABELS
from properboost.data.values import factorize

pd = pytest.importorskip("pandas")


def test_categories_are_in_ascending_order_whatever_the_rows_order():
    values = np.array([10, "b", 9.5, True, "a", None, np.nan, 2**70], dtype=object)
    for order in (slice(None), slice(None, None, -1)):
        column = factorize(values[order], "column 0")
        assert column.values == (True, 9.5, 10, 2**70, "a", "b")
        assert [type(v) for v in column.values] == [bool, float, int, int, str, str]


def test_numbers_as_categories():
    column = factorize(np.array([2.0, np.nan, -1.0, np.inf, 2.0], dtype=np.float32), "column 0")
    assert column.values == (-1.0, 2.0, np.inf)
    assert column.codes.tolist() == [1, -1, 0, 2, 1]
    assert all(type(v) is float for v in column.values)


def test_categories_are_of_no_derived_class():
    values = np.empty(4, dtype=object)
    values[:] = [
        KINDS_OF_LABELS["objects: (str, Enum)"].make(np.array([1]))[0],
        "bad",
        KINDS_OF_LABELS["objects: IntEnum"].make(np.array([1]))[0],
        np.str_("good"),
    ]
    column = factorize(values, "column 0")
    assert column.values == (2, "bad", "good")
    assert [type(v) for v in column.values] == [int, str, str]
    assert column.codes.tolist() == [2, 1, 0, 2]


def test_every_library_marks_missing_categories():
    nan = decimal.Decimal("nan")
    values = np.array(["a", None, np.nan, pd.NA, pd.NaT, float("nan"), nan], dtype=object)
    assert factorize(values, "column 0").codes.tolist() == [0, -1, -1, -1, -1, -1, -1]


def test_values_that_cannot_be_categories_are_refused():
    with pytest.raises(TypeError, match=r"column 3: unhashable type: 'list'"):
        factorize(np.array([[1], None], dtype=object), "column 3")
    with pytest.raises(ValueError, match="column 3 holds bytes"):
        factorize(np.array([b"a", None], dtype=object), "column 3")
