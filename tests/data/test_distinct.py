"""Distinct values: those of `np.unique`, for every type of labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from properboost.data.distinct import find_distinct

TYPES = ["i8", "u1", "f4", "?", "U3"]


@given(st.data())
@pytest.mark.parametrize("dtype", TYPES)
def test_they_are_those_of_numpy(dtype, data):
    shape = arrays.array_shapes(max_dims=2, min_side=0, max_side=20)
    elements = arrays.from_dtype(np.dtype(dtype), **({"allow_nan": False} if "f" in dtype else {}))
    values = data.draw(arrays.arrays(dtype, shape, elements=elements))
    distinct = find_distinct(values)
    assert distinct.dtype == values.dtype
    np.testing.assert_array_equal(distinct, np.unique(values))


def test_objects_are_compared():
    values = np.array(["b", "a", "b"], dtype=object)
    assert find_distinct(values).tolist() == ["a", "b"]
