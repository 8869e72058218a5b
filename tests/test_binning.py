"""Edges and codes of the engine against the plain reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference as ref
from properboost import _core

VALUES = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(width=32, allow_nan=True, allow_infinity=True),
)


def codes_of(x, edges, **kwargs):
    return _core.Bins([edges]).encode([x], **kwargs)[0]


@given(
    hnp.arrays(np.float64, st.integers(1, 60), elements=VALUES),
    st.integers(2, 12),
    st.sampled_from([np.float32, np.float64]),
)
def test_edges_and_codes_equal_the_reference(x, max_bins, dtype):
    x = x.astype(dtype)
    [edges] = _core.find_edges([x], max_bins=max_bins)
    np.testing.assert_array_equal(edges, ref.quantile_edges(x, None, max_bins))
    assert len(edges) < max_bins
    np.testing.assert_array_equal(codes_of(x, edges), ref.encode(x, edges))


@given(
    hnp.arrays(np.float64, st.integers(2, 60), elements=VALUES),
    st.integers(2, 12),
    st.integers(0, 2**32 - 1),
)
def test_weights_are_frequencies(x, max_bins, seed):
    weight = np.random.default_rng(seed).integers(0, 4, len(x)).astype(float)
    [weighted] = _core.find_edges([x], weight, max_bins=max_bins)
    [repeated] = _core.find_edges([np.repeat(x, weight.astype(int))], max_bins=max_bins)
    np.testing.assert_array_equal(weighted, repeated)
    np.testing.assert_array_equal(weighted, ref.quantile_edges(x, weight, max_bins))


@pytest.mark.parametrize("name", ["normal", "lognormal", "heavy", "integers", "mostly zero"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_bins", [2, 64, 255])
def test_large_columns_equal_the_reference(name, dtype, max_bins):
    rng = np.random.default_rng(0)
    n = 20_000
    x = {
        "normal": rng.normal(size=n),
        "lognormal": rng.lognormal(sigma=2, size=n),
        "heavy": rng.standard_cauchy(size=n),
        "integers": rng.poisson(300, size=n),
        "mostly zero": np.where(rng.random(n) < 0.9, 0, rng.normal(size=n)),
    }[name].astype(dtype)
    [edges] = _core.find_edges([x], max_bins=max_bins)
    np.testing.assert_array_equal(edges, ref.quantile_edges(x, None, max_bins))
    np.testing.assert_array_equal(codes_of(x, edges), ref.encode(x, edges))


@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, bool],
)
@pytest.mark.parametrize("layout", ["C", "F", "strided", "columns"])
def test_every_dtype_and_layout_is_read(dtype, layout):
    values = np.random.default_rng(1).integers(0, 2 if dtype is bool else 100, (300, 5))
    table = {
        "C": values.astype(dtype),
        "F": np.asfortranarray(values.astype(dtype)),
        "strided": np.repeat(np.repeat(values, 2, axis=0), 3, axis=1).astype(dtype)[::2, ::3],
        "columns": list(values.astype(dtype).T),
    }[layout]
    expected = [ref.quantile_edges(c, None, 16) for c in values.T]
    edges = _core.find_edges(table, max_bins=16)
    for ours, theirs in zip(edges, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    codes = _core.Bins(edges).encode(table)
    np.testing.assert_array_equal(
        codes, [ref.encode(c, e) for c, e in zip(values.T, expected, strict=True)]
    )


def test_infinities_are_ordinary_ordered_values():
    x = np.array([-np.inf, -1.0, 0.0, 1.0, np.inf, np.nan])
    for column in (x, x.astype(np.float32)):
        [edges] = _core.find_edges([column])
        np.testing.assert_array_equal(codes_of(column, edges), [0, 1, 2, 3, 4, 5])


def test_clustered_edges_are_searched_to_the_last_step():
    """Two far clusters share two cells of the key table: the binary search must do all the work."""
    x = np.concatenate([-1e6 + np.arange(127) / 16, 1e-6 * np.arange(127), [1e30]])
    for column in (x, x.astype(np.float32)):
        [edges] = _core.find_edges([column])
        codes = codes_of(column, edges)
        np.testing.assert_array_equal(codes, ref.encode(column, edges))
        assert len(np.unique(codes)) == len(np.unique(column))


def test_an_edge_separates_neighbouring_floats():
    a = np.float32(0.1)
    x = np.array([a, np.nextafter(a, np.float32(1))], dtype=np.float32)
    [edges] = _core.find_edges([x])
    np.testing.assert_array_equal(codes_of(x, edges), [0, 1])
    np.testing.assert_array_equal(codes_of(x.astype(np.float64), edges), [0, 1])


def test_a_heavy_value_has_a_bin_of_its_own():
    rng = np.random.default_rng(2)
    x = np.where(rng.random(5000) < 0.5, 0.0, rng.normal(size=5000))
    [edges] = _core.find_edges([x], max_bins=8)
    code = codes_of(x, edges)
    assert len(np.unique(x[code == code[np.flatnonzero(x == 0)[0]]])) == 1
    # The other half is spread evenly over the bins that are left.
    counts = np.bincount(code[x != 0])
    assert counts[counts > 0].max() < 2 * len(x[x != 0]) / 7


def test_categorical_codes():
    bins = _core.Bins([3])
    assert bins.widths.tolist() == [5]
    column = np.array([0, 2, 1, -1, -2, 7], dtype=np.int32)
    np.testing.assert_array_equal(bins.encode([column])[0], [0, 2, 1, 3, 4, 4])


def test_weigh_counts_rows_and_weights_by_code():
    bins = _core.Bins([np.array([0.0]), 2])
    codes = np.array([[0, 1, 1, 2], [0, 3, 0, 1]], dtype=np.uint8)
    np.testing.assert_array_equal(bins.weigh(codes), [1, 2, 1, 2, 1, 0, 1])
    weight = np.array([0.5, 1.0, 2.0, 4.0])
    np.testing.assert_array_equal(bins.weigh(codes, weight, 2), [0.5, 3, 4, 2.5, 4, 0, 1])
    with pytest.raises(ValueError, match="weight"):
        bins.weigh(codes, weight[:3])


def test_row_order_and_threads_do_not_change_codes():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4000, 7)).astype(np.float32)
    edges = _core.find_edges(x)
    for n_threads in (1, 2, 3):
        for ours, theirs in zip(_core.find_edges(x, n_threads=n_threads), edges, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        order = rng.permutation(4000)[:3000]
        codes = _core.Bins(edges).encode(x, order, n_threads)
        np.testing.assert_array_equal(codes, _core.Bins(edges).encode(x[order]))


def test_sampled_edges_are_close_to_quantiles_and_seeded():
    x = np.random.default_rng(4).normal(size=(50_000, 1))
    [edges] = _core.find_edges(x, max_bins=32, sample_size=10_000, seed=1)
    [again] = _core.find_edges(x, max_bins=32, sample_size=10_000, seed=1)
    [other] = _core.find_edges(x, max_bins=32, sample_size=10_000, seed=2)
    np.testing.assert_array_equal(edges, again)
    assert not np.array_equal(edges, other)
    share = np.bincount(codes_of(x[:, 0], edges)) / len(x)
    np.testing.assert_allclose(share, 1 / 32, atol=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _core.find_edges(np.zeros((3, 1)), max_bins=1), "max_bins"),
        (lambda: _core.find_edges(np.zeros((3, 1)), max_bins=256), "max_bins"),
        (lambda: _core.find_edges(np.zeros((3, 1)), np.ones(2)), "weight"),
        (lambda: _core.find_edges(np.zeros(3)), "two-dimensional"),
        (lambda: _core.find_edges([np.zeros(3), np.zeros(2)]), "same length"),
        (lambda: _core.Bins([np.array([1.0, 1.0])]), "ascending"),
        (lambda: _core.Bins([np.array([2.0, 1.0])]), "ascending"),
        (lambda: _core.Bins([np.array([np.nan])]), "ascending"),
        (lambda: _core.Bins([np.arange(255.0)]), "254 edges"),
        (lambda: _core.Bins([255]), "254 bins"),
        (lambda: _core.Bins([0]), "254 bins"),
        (lambda: _core.Bins([3]).encode(np.zeros((2, 2))), "2 columns"),
        (lambda: _core.Bins([3]).encode(np.zeros((2, 1)), np.array([2])), "order"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("dtype", [np.float16, complex, object, ">f8"])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match="column"):
        _core.find_edges(np.zeros((3, 1), dtype=dtype))


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_missing_values_never_move_an_edge(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200)
    holes = np.insert(x, rng.integers(0, 200, 30), np.nan)
    np.testing.assert_array_equal(*(_core.find_edges([c], max_bins=9)[0] for c in (x, holes)))
