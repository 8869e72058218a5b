"""Test edges and codes of the engine against the plain reference."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.lib.stride_tricks import as_strided

import helpers.reference as ref
from helpers.columns import (
    COLUMNS,
    DTYPES,
    LAYOUTS,
    ROWS,
    count_below,
    draw_edges,
    draw_numbers,
    to,
)
from helpers.instruction_sets import other_sets, run_with
from properboost import _core

VALUES = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(width=32, allow_nan=True, allow_infinity=True),
)


def codes_of(x, edges, **kwargs):
    return _core.Bins([edges]).encode([x], **kwargs)[0]


# -- codes ----------------------------------------------------------------------------------------

COUNTS = [0, 1, 2, 14, 15, 16, 17, 30, 31, 32, 63, 64, 127, 128, 200, 254]  # numbers of edges
LARGEST = float(np.finfo(np.float32).max)
TENTH = float(np.float32(0.1))


def up(x, steps=1):
    """Return the double this many steps above x."""
    for _ in range(steps):
        x = np.nextafter(x, np.inf)
    return x


def single_run(start, n):
    """Return neighbouring float32 values from `start` up."""
    return (to(np.float32, start).view(np.int32) + np.arange(n, dtype=np.int32)).view(np.float32)


EDGES = {  # up to 254 of each kind, ascending
    "even": np.arange(254.0) - 100,
    "normal": np.sort(np.random.default_rng(0).normal(size=254)),
    "from tiny to huge": np.concatenate(
        [-(10.0 ** np.linspace(300, -320, 127)), 10.0 ** np.linspace(-320, 300, 127)]
    ),
    "two far clusters": np.concatenate([np.arange(127) / 16 - 1e6, 1e-6 * np.arange(127)]),
    "neighbouring floats": single_run(0.1, 254).astype(np.float64),
    "halfway between floats": single_run(0.1, 255).astype(np.float64)[:-1]
    + np.diff(single_run(0.1, 255).astype(np.float64)) / 2,
    "neighbouring doubles": np.array([up(0.1, k) for k in range(254)]),
    "doubles within a float": np.linspace(TENTH, float(single_run(TENTH, 2)[1]), 254),
    "around floats": np.sort(
        np.concatenate([[-up(-e), e, up(e)] for e in single_run(-7.0, 84).astype(np.float64)])
    ),
    "denormal floats": (np.arange(254.0) - 100) * 2.0**-149,
    "denormal doubles": (np.arange(254.0) - 100) * 5e-324,
    "at the end of float": np.sort(
        np.concatenate([s * LARGEST * (1 + (np.arange(127) - 60) * 2.0**-25) for s in (1, -1)])
    ),
    "at the end of double": np.concatenate(
        [[-np.inf], 1e308 * np.linspace(-1.79, 1.79, 252), [np.inf]]
    ),
}  # fmt: skip

SPECIAL = np.array([
    0.0, -0.0, np.inf, -np.inf, np.nan, np.copysign(np.nan, -1.0), 5e-324, -5e-324, 1e-310, -1e-310,
    2.0**-150, 2.0**-149, -(2.0**-149), -(2.0**-150), 2.0**-126, 1e-300, -1e-300, LARGEST, -LARGEST,
    up(LARGEST), -up(LARGEST), 1e39, -1e39, 1e300, -1e300, 1.7e308, -1.7e308,
])  # fmt: skip


def edges_of_kind(kind, n):
    """Return n of the kind's edges, in a row at one end or spread out."""
    every = EDGES[kind]
    return every[np.linspace(0, len(every) - 1, n).astype(int)] if n % 2 else every[:n]


def neighbours(x):
    """Return the values and their neighbours on both sides in their type."""
    infinity = x.dtype.type(np.inf)
    with np.errstate(over="ignore", under="ignore"):
        return np.concatenate([x, np.nextafter(x, infinity), np.nextafter(x, -infinity)])


def values_around(edges):
    """Return values on and next to the edges, as float32 and as float64, permuted."""
    nans = np.array([0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001, 0xFF800001], np.uint32).view(np.float32)
    single = np.concatenate([neighbours(to(np.float32, edges)), to(np.float32, SPECIAL), nans])
    double = np.concatenate([neighbours(edges), SPECIAL, to(np.float64, single)])
    rng = np.random.default_rng(len(edges))
    return rng.permutation(single), rng.permutation(double)


@pytest.mark.parametrize("kind", EDGES)
def test_codes_of_values_on_and_next_to_edges(kind):
    for n in COUNTS:
        edges = edges_of_kind(kind, n)
        assert (np.diff(edges) > 0).all()
        for x in values_around(edges):
            np.testing.assert_array_equal(codes_of(x, edges), count_below(x, edges), err_msg=str(n))


def test_negative_zero_is_zero():
    for edge in (0.0, -0.0):
        for dtype in (np.float32, np.float64):
            x = np.array([-0.0, 0.0, 1e-30, -1e-30], dtype=dtype)
            np.testing.assert_array_equal(codes_of(x, np.array([edge])), [0, 0, 1, 0])


@settings(max_examples=150)
@given(st.data())
def test_codes_of_any_values_and_edges(data):
    edges = data.draw(st.lists(st.floats(allow_nan=False), max_size=40, unique=True).map(sorted))
    edges = np.array(edges, dtype=np.float64) + 0.0
    near = st.sampled_from([*edges, 0.0]).flatmap(
        lambda e: st.sampled_from(
            [e, math.nextafter(e, math.inf), math.nextafter(e, -math.inf), -e]
        )
    )
    x = np.array(data.draw(st.lists(st.one_of(near, st.floats()), max_size=70)), dtype=np.float64)
    for column in (x, to(np.float32, x)):
        np.testing.assert_array_equal(codes_of(column, edges), count_below(column, edges))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_layout_and_size_is_read(dtype):
    rng = np.random.default_rng(1)
    whole = draw_numbers(dtype, (max(ROWS), max(COLUMNS)), rng)
    edges = [draw_edges(c, rng) for c in whole.T]
    expected = np.array([count_below(c, e) for c, e in zip(whole.T, edges, strict=True)])
    assert expected.max() > 1
    for d in COLUMNS:
        bins = _core.Bins(edges[:d])
        for n in ROWS:
            for name, lay_out in LAYOUTS.items():
                table = lay_out(whole[:n, :d])
                codes = bins.encode(table, n_threads=1 + n % 3)
                np.testing.assert_array_equal(codes, expected[:d, :n], err_msg=f"{name} {n} {d}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_read_in_any_order(dtype):
    rng = np.random.default_rng(2)
    whole = draw_numbers(dtype, (300, 37), rng)
    edges = [draw_edges(c, rng) for c in whole.T]
    expected = np.array([count_below(c, e) for c, e in zip(whole.T, edges, strict=True)])
    bins = _core.Bins(edges)
    for n in [*ROWS, 300, 1500]:  # with 1500, some rows come several times
        order = rng.permutation(300)[:n] if n <= 300 else rng.integers(0, 300, n)
        for name, lay_out in LAYOUTS.items():
            codes = bins.encode(lay_out(whole), order, n_threads=1 + n % 3)
            np.testing.assert_array_equal(codes, expected[:, order], err_msg=f"{name} {n}")


def test_columns_of_all_types_side_by_side():
    """Fields of a record lie side by side, with gaps and unaligned, in one type or several."""
    rng = np.random.default_rng(3)
    types = [dtype for dtype in DTYPES for _ in range(3)]
    types = [types[i] for i in rng.permutation(len(types))] + [np.float32] * 5 + [np.float64] * 5
    fields = [("pad", "i1"), *((f"f{j}", t) for j, t in enumerate(types))]
    record = np.zeros(200, dtype=fields)
    for j, t in enumerate(types):
        record[f"f{j}"] = draw_numbers(t, 200, rng)
    columns = [record[f"f{j}"] for j in range(len(types))]
    for chosen in (columns, columns[::2], columns[::-1], columns + columns[:9], [columns[-1]] * 3):
        edges = [draw_edges(c, rng) for c in chosen]
        expected = [count_below(c, e) for c, e in zip(chosen, edges, strict=True)]
        np.testing.assert_array_equal(_core.Bins(edges).encode(chosen), expected)
        for ours, c in zip(_core.find_edges(chosen, max_bins=9), chosen, strict=True):
            np.testing.assert_array_equal(ours, ref.quantile_edges(c, None, 9))


def test_a_row_that_is_broadcast_is_read():
    row = np.arange(5.0)
    table = np.broadcast_to(row, (150, 5))
    codes = _core.Bins([np.array([1.5, 3.0])] * 5).encode(table)
    np.testing.assert_array_equal(codes, np.repeat([[0], [0], [1], [1], [2]], 150, axis=1))


def test_every_instruction_set_gives_the_same_codes():
    tables = []
    for kind in EDGES:
        for n in COUNTS:
            edges = edges_of_kind(kind, n)
            tables += [([edges], [x]) for x in values_around(edges)]
    rng = np.random.default_rng(4)
    for dtype in DTYPES:
        x = draw_numbers(dtype, (257, 37), rng)
        edges = [draw_edges(c, rng) for c in x.T]
        tables += [(edges, x), (edges, np.asfortranarray(x))]
    expected = [_core.Bins(features).encode(table) for features, table in tables]
    program = "result = [_core.Bins(features).encode(table) for features, table in data]"
    for other in other_sets():
        for ours, theirs in zip(run_with(other, program, tables), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


# -- edges ----------------------------------------------------------------------------------------


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


def make_columns(n, rng):
    """Return columns of every shape that the rule distinguishes."""
    normal = rng.normal(size=n)
    half = rng.random(n) < 0.5
    return {
        "normal": normal,
        "lognormal": rng.lognormal(sigma=2, size=n),
        "heavy-tailed": rng.standard_cauchy(size=n),
        "integers": rng.poisson(300, size=n),
        "constant": np.full(n, 0.1),
        "two values": np.where(half, 1.5, -2.0),
        "zeros of both signs": np.where(half, 0.0, -0.0),
        "many ties": np.round(2 * normal, 1),
        "a heavy value": np.where(rng.random(n) < 0.9, 0.0, normal),
        "two heavy values, little between": np.where(
            half, np.round(normal, 0) > 0, np.where(rng.random(n) < 0.02, rng.random(n), 2.0)
        ),
        "heavy values at both ends": np.clip(normal, -0.3, 0.3),
        "heavy steps": np.where(half, rng.integers(0, 30, n), 30 * rng.random(n)),
        "with missing values": np.where(half, np.nan, normal),
        "missing or one value": np.where(half, np.nan, 7.0),
        "all missing": np.full(n, np.nan),
        "with infinities": np.where(half, normal, rng.choice([np.inf, -np.inf, 0.0], n)),
        "large and small": normal * 10.0 ** rng.integers(-45, 39, n),
        "denormal": normal * 1e-42,
    }


# The engine tallies up to 256 distinct values. It sorts more of them, from 512 rows on in another
# way.
SIZES = [0, 1, 2, 256, 257, 511, 512, 513, 4000]
WEIGHTS = {
    "none": lambda n, rng: None,
    "counts": lambda n, rng: rng.integers(0, 4, n).astype(float),
    "eighths": lambda n, rng: rng.integers(0, 30, n) / 8,
    "any": lambda n, rng: rng.uniform(0, 3, n) * (rng.random(n) < 0.9),
    "one row": lambda n, rng: (np.arange(n) == n // 2).astype(float),
    "nothing": lambda n, rng: np.zeros(n),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_columns_of_every_shape_equal_the_reference(kind, dtype):
    rng = np.random.default_rng(5)
    for n in SIZES:
        weight = WEIGHTS[kind](n, rng)
        columns = {name: to(dtype, x) for name, x in make_columns(n, rng).items()}
        for max_bins in (2, 3, 16, 64, 255):
            actual = _core.find_edges(list(columns.values()), weight, max_bins=max_bins)
            for edges, (name, x) in zip(actual, columns.items(), strict=True):
                about = f"{name} {n} {max_bins}"
                expected = ref.quantile_edges(x, weight, max_bins)
                np.testing.assert_array_equal(edges, expected, err_msg=about)
                assert len(edges) < max_bins
                np.testing.assert_array_equal(
                    codes_of(x, edges), count_below(x, edges), err_msg=about
                )


@pytest.mark.parametrize("dtype", DTYPES)
def test_edges_of_every_type_and_layout_equal_the_reference(dtype):
    rng = np.random.default_rng(6)
    whole = draw_numbers(dtype, (700, 70), rng)
    expected = [ref.quantile_edges(to(np.float64, c), None, 16) for c in whole.T]
    for name, lay_out in LAYOUTS.items():
        for n_threads in (1, 3):
            actual = _core.find_edges(lay_out(whole), max_bins=16, n_threads=n_threads)
            for ours, theirs in zip(actual, expected, strict=True):
                np.testing.assert_array_equal(ours, theirs, err_msg=name)


def test_integer_weights_are_repeated_rows_whatever_the_column():
    rng = np.random.default_rng(7)
    weight = rng.integers(0, 4, 1500).astype(float)
    table = np.array(list(make_columns(1500, rng).values())).T
    repeated = np.repeat(table, weight.astype(int), axis=0)
    for max_bins in (3, 20, 255):
        for ours, theirs in zip(
            _core.find_edges(table, weight, max_bins=max_bins),
            _core.find_edges(repeated, max_bins=max_bins),
            strict=True,
        ):
            np.testing.assert_array_equal(ours, theirs)


def sliding(values, n, d):
    """Return a table of n rows whose d columns are the same values, each shifted by one place."""
    assert len(values) >= n + d
    return as_strided(values, (n, d), (values.itemsize, values.itemsize), writeable=False)


@pytest.mark.parametrize(
    ("dtype", "n", "d"),
    [
        # Groups of 32 columns, two of which fit 32 MiB; one column is left.
        (np.float64, 52_000, 97),
        (np.float32, 150_000, 70),  # one group fits
        (np.float64, 140_000, 34),  # a group alone does not fit; a small one is left
    ],
)
def test_more_columns_than_are_sorted_at_a_time(dtype, n, d):
    period = np.random.default_rng(8).integers(0, 90, 1000).astype(dtype) ** 2
    table = sliding(np.resize(period, n + d), n, d)
    # Whole periods have the same values wherever they begin.
    expected = ref.quantile_edges(table[:, 0], None, 40)
    edges_of_columns = _core.find_edges(table, max_bins=40, n_threads=2)
    assert len(edges_of_columns) == d
    for edges in edges_of_columns:
        np.testing.assert_array_equal(edges, expected)


def test_more_columns_of_all_types_than_are_sorted_at_a_time():
    rng = np.random.default_rng(9)
    n = 100_000  # 32 MiB hold 42 columns of double or 84 of float; here are 111
    columns = [rng.integers(0, 60, n).astype(t) for t in (np.float64, np.int8, np.int32)]
    weight = rng.integers(0, 3, n).astype(float)
    expected = [ref.quantile_edges(c, weight, 25) for c in columns]
    chosen = rng.integers(0, 3, 111)
    for ours, k in zip(
        _core.find_edges([columns[k] for k in chosen], weight, max_bins=25), chosen, strict=True
    ):
        np.testing.assert_array_equal(ours, expected[k])


def test_infinities_are_ordinary_ordered_values():
    x = np.array([-np.inf, -1.0, 0.0, 1.0, np.inf, np.nan])
    for column in (x, x.astype(np.float32)):
        [edges] = _core.find_edges([column])
        np.testing.assert_array_equal(codes_of(column, edges), [0, 1, 2, 3, 4, 5])


def test_clustered_edges_are_searched_to_the_last_step():
    """Two distant clusters share two cells of the key table; binary search does the rest."""
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
    # The other half is spread evenly over the remaining bins.
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
    all_rows = (np.array([0, 4]), np.array([0]), 1)
    np.testing.assert_array_equal(bins.weigh(codes, *all_rows), [[1, 2, 1, 2, 1, 0, 1]])
    weight = np.array([0.5, 1.0, 2.0, 4.0])
    np.testing.assert_array_equal(
        bins.weigh(codes, *all_rows, weight, 2), [[0.5, 3, 4, 2.5, 4, 0, 1]]
    )
    with pytest.raises(ValueError, match="weight"):
        bins.weigh(codes, *all_rows, weight[:3])


def test_weigh_sums_groups_of_segments():
    bins = _core.Bins([np.array([0.0]), 2])
    codes = np.array([[0, 1, 1, 2], [0, 3, 0, 1]], dtype=np.uint8)
    segments, group_of = np.array([0, 1, 2, 2, 4]), np.array([1, -1, 0, 1])
    sums = bins.weigh(codes, segments, group_of, 2)
    np.testing.assert_array_equal(sums, [[0] * 7, [1, 1, 1, 2, 1, 0, 0]])
    sums = bins.weigh(codes, segments, group_of[::-1], 3, np.array([0.5, 1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(sums, [[0, 1, 0, 0, 0, 0, 1], [0.5, 2, 4, 2.5, 4, 0, 0], [0] * 7])
    with pytest.raises(ValueError, match="group_of must be -1, or below groups"):
        bins.weigh(codes, segments, group_of, 1)
    with pytest.raises(ValueError, match="group_of must have an entry for each segment"):
        bins.weigh(codes, segments, group_of[:3], 2)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
@pytest.mark.parametrize("columns", [1, 3, 40])
def test_spans_are_those_of_numpy(dtype, columns):
    rng = np.random.default_rng(columns)
    X = rng.normal(scale=100.0, size=(20_011, columns))
    if dtype.startswith("f"):
        X[rng.random(X.shape) < 0.1] = np.nan
        X[3, -1], X[17_000, 0] = -np.inf, np.inf
        X[:, columns // 2] = np.nan
    X = (np.abs(X) if dtype[0] in "u?" else X).astype(dtype)
    weight = rng.choice([0.0, 0.5, 3.0], len(X))
    for layout in (X, np.asfortranarray(X), X[::-2], X[:, ::-1]):
        for weights in (None, weight[: len(layout)].copy()):
            rows = layout if weights is None else layout[weights > 0.0]
            low, high = (f.reduce(rows, axis=0, initial=None) for f in (np.fmin, np.fmax))
            low = np.where(np.isnan(low), np.inf, low.astype(float))
            high = np.where(np.isnan(high), -np.inf, high.astype(float))
            for table in (layout, list(layout.T)):
                for n_threads in (1, 3):
                    spans = _core.find_spans(table, weights, n_threads)
                    np.testing.assert_array_equal(spans, np.stack([low, high], axis=1))


def test_the_span_of_no_number_is_empty_and_zero_has_one_sign():
    none = [[np.inf, -np.inf]]
    np.testing.assert_array_equal(_core.find_spans([np.empty(0)]), none)
    np.testing.assert_array_equal(_core.find_spans([np.array([np.nan, 1.0])], np.eye(2)[0]), none)
    for zeros in ([0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0]):
        assert not np.signbit(_core.find_spans([np.array(zeros)])).any()
    with pytest.raises(ValueError, match="weight must have 2 entries"):
        _core.find_spans([np.zeros(2)], np.ones(3))


def test_threads_change_neither_edges_nor_codes():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4000, 70)).astype(np.float32)
    weight = rng.uniform(0, 2, 4000)
    edges = _core.find_edges(x, weight)
    codes = _core.Bins(edges).encode(x)
    for n_threads in (2, 3, 8):
        for ours, theirs in zip(
            _core.find_edges(x, weight, n_threads=n_threads), edges, strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(_core.Bins(edges).encode(x, n_threads=n_threads), codes)


def hashes_of(n, seed):
    state, word, hashes = seed, 2**64 - 1, []
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) & word
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & word
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & word
        hashes.append(z ^ (z >> 31))
    return np.array(hashes, dtype=np.uint64)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("size", "seed"), [(1, 0), (700, 1), (1999, 2**64 - 1), (3000, 3), (5000, 4)]
)
def test_the_sample_has_the_rows_of_the_least_hashes_whatever_the_batches(weighted, size, seed):
    rng = np.random.default_rng(10)
    weight = rng.integers(0, 3, 3000) / 4 if weighted else None
    rows = np.arange(3000) if weight is None else np.flatnonzero(weight)
    expected = np.sort(rows[np.argsort(hashes_of(len(rows), seed))[:size]])
    for step in (1, 170, 3000):
        sample, sampled = _core.RowSample(size, seed), []
        for begin in range(0, 3000, step):
            weights = None if weight is None else weight[begin : begin + step]
            sampled += (sample.add(min(step, 3000 - begin), weights) + begin).tolist()
        np.testing.assert_array_equal(sample.rows, expected)
        assert set(expected.tolist()) <= set(sampled)
        assert (np.diff(sampled) > 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_edges_come_from_the_rows_of_the_order(weighted):
    rng = np.random.default_rng(10)
    table = np.array(list(make_columns(3000, rng).values())).T
    weight = rng.integers(1, 3, 3000) / 4 if weighted else None
    drawn = np.sort(rng.choice(3000, 700, replace=False))
    edges = _core.find_edges(table, weight, 30, drawn)
    for x, column_edges in zip(table.T, edges, strict=True):
        of_drawn = None if weight is None else weight[drawn]
        np.testing.assert_array_equal(column_edges, ref.quantile_edges(x[drawn], of_drawn, 30))


def test_sampled_edges_are_close_to_quantiles():
    x = np.random.default_rng(4).normal(size=(50_000, 1))
    sample = _core.RowSample(10_000, 1)
    sample.add(len(x))
    [edges] = _core.find_edges(x, max_bins=32, order=sample.rows)
    share = np.bincount(codes_of(x[:, 0], edges)) / len(x)
    np.testing.assert_allclose(share, 1 / 32, atol=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _core.find_edges(np.zeros((3, 1)), max_bins=1), "max_bins"),
        (lambda: _core.find_edges(np.zeros((3, 1)), max_bins=256), "max_bins"),
        (lambda: _core.find_edges(np.zeros((3, 1)), np.ones(2)), "weight"),
        (lambda: _core.find_edges(np.zeros((3, 1)), order=np.array([3])), "order"),
        (lambda: _core.RowSample(0), "size"),
        (lambda: _core.RowSample(5).add(3, np.ones(2)), "weight"),
        (lambda: _core.find_edges(np.zeros(3)), "two-dimensional"),
        (lambda: _core.find_edges([np.zeros(3), np.zeros(2)]), "same length"),
        (lambda: _core.Bins([np.array([1.0, 1.0])]), "ascending"),
        (lambda: _core.Bins([np.array([2.0, 1.0])]), "ascending"),
        (lambda: _core.Bins([np.array([np.nan])]), "ascending"),
        (lambda: _core.Bins([np.arange(255.0)]), "254 edges"),
        (lambda: _core.Bins([255]), "254 bins"),
        (lambda: _core.Bins([0]), "254 bins"),
        # This many cells are 2 modulo 2**32.
        (lambda: _core.Bins([(3, 1431655766, 0, 0)]), "254 rows"),
        (lambda: _core.Bins([(-2, -3, 0, 0)]), "254 rows"),
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


def test_light_values_beside_a_weight_that_dwarfs_them():
    x = np.arange(21.0)
    weight = np.where(x == 0, 1e16, 1.0)
    for column, expected in ((x, [0.5, 5.5, 10.5, 15.5]), (-x, [-15.5, -10.5, -5.5, -0.5])):
        [edges] = _core.find_edges([column], weight, max_bins=5)
        np.testing.assert_array_equal(edges, expected)
