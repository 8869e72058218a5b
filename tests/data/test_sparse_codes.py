"""Test codes of sparse matrices against those of the same tables, dense."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import properboost as pb
from properboost import _core
from properboost.data.binning import Binning, find_bins
from properboost.data.frames import open_array, open_table
from properboost.data.sparse_codes import LEAST_ROWS_PER_ENTRY, SparseCodes, encode_for_training


def open_sparse(X):
    return open_table(
        pb.ProperBoostClassifier(weak_learner="table"), sparse.csr_array(X), reset=True
    )


def make_values(n, seed, dtype=np.float64):
    """Return columns of few entries, of many, of none, and of negative and missing ones."""
    rng = np.random.default_rng(seed)
    shares = np.array([0.02, 0.1, 0.6, 0.0, 1.0, 0.05])
    X = np.where(rng.random((n, 6)) < shares, rng.normal(size=(n, 6)).round(1), 0.0)
    if np.dtype(dtype).kind == "f":
        X[rng.random((n, 6)) < 0.01] = np.nan
    return (3 * X).astype(dtype)


def find(table, weight=None, max_numeric=8, categorical=()):
    return find_bins(
        table, categorical, weight, max_numeric=max_numeric, max_categories=20, seed=0, n_threads=1
    )


def encode_both(X, order=None, n_threads=1, categorical=()):
    """Return the codes of a matrix by its entries, and those of all its values."""
    order = np.arange(len(X)) if order is None else order
    binning = Binning(find(open_array(X), categorical=categorical), from_dtype=False)
    codes = encode_for_training(binning, open_sparse(X), order, n_threads)
    return codes, binning.encode(open_array(X), order, n_threads)


# -- bins ------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    values=hnp.arrays(
        st.sampled_from(["f4", "f8", "i2", "i8", "u1", "?"]),
        st.tuples(st.integers(2, 40), st.integers(1, 4)),
        fill=st.just(0),
    ),
    max_numeric=st.integers(2, 9),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
)
def test_bins_are_those_of_the_dense_table(values, max_numeric, weighted, seed):
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=len(values)) * (rng.random(len(values)) < 0.8)
    weight = weight if weighted and weight.any() else None
    both = (find(table, weight, max_numeric) for table in (open_sparse(values), open_array(values)))
    for bins, same in zip(*both, strict=True):
        np.testing.assert_array_equal(bins.edges, same.edges)
        np.testing.assert_array_equal(bins.span, same.span)


@pytest.mark.parametrize("weighted", [False, True])
def test_bins_come_from_the_same_sample(monkeypatch, weighted):
    monkeypatch.setattr("properboost.data.binning.SAMPLE_SIZE", 500)
    X = make_values(3000, 0)
    weight = np.random.default_rng(1).exponential(size=3000) if weighted else None
    for bins, same in zip(find(open_sparse(X), weight), find(open_array(X), weight), strict=True):
        np.testing.assert_array_equal(bins.edges, same.edges)
        np.testing.assert_array_equal(bins.span, same.span)


# -- codes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_codes_are_those_of_the_dense_table(dtype):
    order = np.random.default_rng(0).permutation(400)[:390]
    codes, same = encode_both(make_values(400, 0, dtype), order, n_threads=2)
    assert isinstance(codes, SparseCodes)
    assert codes.shape == same.shape
    np.testing.assert_array_equal(codes.lay_out(), same)
    np.testing.assert_array_equal(codes.lay_out([4, 0]), same[[4, 0]])


def test_only_features_with_few_entries_are_sparse():
    X = make_values(400, 0)
    codes, _ = encode_both(X)
    few = np.count_nonzero(X, axis=0) * LEAST_ROWS_PER_ENTRY <= 400
    np.testing.assert_array_equal(codes.place < 0, few)
    assert 0 < few.sum() < 6
    assert len(codes.rows) <= np.count_nonzero(X[:, few])


def test_a_table_without_sparse_features_has_an_array_of_codes():
    codes, same = encode_both(make_values(400, 0)[:, [2, 4]])
    assert isinstance(codes, np.ndarray)
    np.testing.assert_array_equal(codes, same)


def test_categories_are_dense():
    X = np.abs(np.nan_to_num(make_values(400, 0)))
    codes, same = encode_both(X, categorical=[0])
    assert codes.place[0] >= 0
    assert codes.place[5] < 0
    np.testing.assert_array_equal(codes.lay_out(), same)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 120))
def test_rows_are_taken_as_from_an_array(seed, n):
    rng = np.random.default_rng(seed)
    codes, same = encode_both(make_values(120, seed))
    rows, taken = rng.permutation(120)[:n], rng.random(120) < 0.5
    np.testing.assert_array_equal(codes.take(rows, axis=1).lay_out(), same.take(rows, axis=1))
    np.testing.assert_array_equal(
        codes.compress(taken, axis=1).lay_out(), same.compress(taken, axis=1)
    )
    copied = pickle.loads(pickle.dumps(codes.take(rows, axis=1)))
    np.testing.assert_array_equal(copied.lay_out(), same.take(rows, axis=1))


def test_rows_are_cut_into_parts():
    codes, same = encode_both(make_values(400, 0))
    parts = [part.lay_out() for part in codes.cut(6 * 150)]
    assert [part.shape for part in parts] == [(6, 150), (6, 150), (6, 100)]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), same)


def test_weights_of_codes_are_those_of_the_dense_table():
    X = make_values(400, 0)
    codes, same = encode_both(X)
    bins = Binning(find(open_array(X)), from_dtype=False).native
    segments, group_of = np.array([0, 100, 250, 250, 400]), np.array([1, 0, -1, 1])
    for weight in (None, np.random.default_rng(0).exponential(size=400)):
        arguments = (segments, group_of, 2, weight)
        np.testing.assert_array_equal(
            bins.weigh(codes.native, *arguments), bins.weigh(same, *arguments)
        )


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": [0, 2, 1]}, "starts must ascend from 0 to the number of entries"),
        ({"starts": [0, 1]}, "place and common must have an entry per feature"),
        ({"place": [-1, 1]}, "place must be -1, or below the number of dense features"),
        ({"rows": [0, 4, 1]}, "rows must be below the number of rows"),
        ({"codes": [1, 1]}, "rows and codes must be of entries"),
    ],
    ids=str,
)
def test_malformed_codes_are_refused(changes, message):
    arrays = {
        "dense": np.zeros((1, 4), np.uint8), "place": [-1, 0], "starts": [0, 3, 3],
        "rows": [0, 1, 3], "codes": [1, 1, 1], "common": [0, 0],
    }  # fmt: skip
    _core.SparseCodes(**arrays)
    if changes.get("starts") == [0, 1]:
        changes = {**changes, "rows": [0], "codes": [1]}
    with pytest.raises(ValueError, match=message):
        _core.SparseCodes(**(arrays | changes))


def test_entries_of_descending_rows_are_refused():
    bins = _core.Bins([[0.5]])
    dense, one = np.zeros((0, 4), np.uint8), np.array([1, 1], np.uint8)
    for rows, codes in (([2, 1], [1, 1]), ([1, 2], [1, 7])):
        made = _core.SparseCodes(dense, [-1], [0, 2], rows, codes, one[:1])
        with pytest.raises(ValueError, match="codes must be below their feature's width"):
            _core.Rows(made, bins, np.array([0, 4]))
    with pytest.raises(ValueError, match="rows must ascend in each column"):
        _core.SparseTable(4, [0, 2], [2, 1], np.ones(2))
