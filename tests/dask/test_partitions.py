"""Test that collections are cut into partitions of the same rows."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

from properboost.dask.partitions import is_collection, list_partitions  # noqa: E402


def compute(part):
    return np.asarray(part.compute() if hasattr(part, "compute") else part)


def test_arrays_of_other_chunks_are_cut_as_the_features():
    X = np.arange(40.0).reshape(10, 4)
    y, weight = np.arange(10), np.linspace(0.0, 1.0, 10)
    parts = list_partitions(da.from_array(X, chunks=(4, 2)), da.from_array(y, chunks=3), weight)
    assert [compute(part.X).shape for part in parts] == [(4, 4), (4, 4), (2, 4)]
    np.testing.assert_array_equal(np.concatenate([compute(part.X) for part in parts]), X)
    np.testing.assert_array_equal(np.concatenate([compute(part.y) for part in parts]), y)
    np.testing.assert_array_equal(np.concatenate([compute(p.weight) for p in parts]), weight)


def test_frames_need_labels_of_as_many_partitions():
    frame = pd.DataFrame({"a": range(6), "y": [0, 1] * 3})
    lazy = dd.from_pandas(frame, npartitions=3)
    parts = list_partitions(lazy[["a"]], lazy["y"])
    assert [len(part.X.compute()) for part in parts] == [2, 2, 2]
    with pytest.raises(ValueError, match="y must have the partitions of X, 3; got 2"):
        list_partitions(lazy, dd.from_pandas(frame["y"], npartitions=2))
    with pytest.raises(TypeError, match="y must be a Dask collection where"):
        list_partitions(lazy, frame["y"])


def test_what_does_not_fit_is_refused_by_name():
    X = da.zeros((6, 2), chunks=(3, 2))
    assert is_collection(X)
    assert not is_collection(np.zeros(3))
    with pytest.raises(TypeError, match="X must be a Dask array or data frame; got a list"):
        list_partitions([[1.0]])
    with pytest.raises(ValueError, match="X must have two dimensions; got 1"):
        list_partitions(da.zeros(6, chunks=3))
    with pytest.raises(ValueError, match="X and y must have as many rows; got 6 and 5"):
        list_partitions(X, da.zeros(5, chunks=5))
    with pytest.raises(ValueError, match="weight must have an entry for each of the 6 rows"):
        list_partitions(X, None, np.zeros(4))
    with pytest.raises(ValueError, match="y must have one dimension; got 2"):
        list_partitions(X, da.zeros((6, 2), chunks=3))
