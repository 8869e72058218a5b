"""Test bins of the fitted model: categories, shared rare bins, codes that no batch changes."""

import copy
import pickle

import numpy as np
import pytest

from helpers.frames import open_new
from properboost.data import binning
from properboost.data.binning import (
    Binning,
    CategoricalBins,
    NumericBins,
    count_numeric_bins,
    find_bins,
)
from properboost.data.values import factorize

pd = pytest.importorskip("pandas")


def find(table, categorical=(), weight=None, max_bins=255, seed=0):
    return find_bins(
        table,
        list(categorical),
        weight,
        max_numeric=max_bins,
        max_categories=max_bins,
        seed=seed,
        n_threads=1,
    )


def cut(X, *args, **settings):
    return find(open_new(X), *args, **settings)


def text(*values):
    return np.array(values, dtype=object).reshape(-1, 1)


def assign(bins, *values):
    return bins.assign(factorize(np.array(values, dtype=object), "column 0")).tolist()


# -- categories -----------------------------------------------------------------------------------


def test_each_category_has_a_bin():
    [bins] = cut(text("b", "a", None, "b"), [0])
    assert bins.categories == ("a", "b")
    assert not bins.has_rare
    assert (bins.n_bins, bins.width, bins.native) == (2, 4, 2)
    assert assign(bins, "a", "b", None, "c") == [0, 1, -1, -2]


def test_the_rarest_categories_share_the_last_bin():
    [bins] = cut(text(*"aabbbcdddd"), [0], max_bins=3)
    assert bins.categories == ("b", "d")
    assert bins.has_rare
    assert bins.n_bins == 3
    assert assign(bins, "a", "b", "c", "d", "unseen", None) == [2, 0, 2, 1, 2, -1]


def test_as_many_categories_as_bins_share_none():
    [bins] = cut(text(*"abc"), [0], max_bins=3)
    assert bins.categories == ("a", "b", "c")
    assert not bins.has_rare


def test_rarity_is_by_weight_and_weight_zero_is_no_row():
    X = text("a", "b", "c", "d", "d")
    [bins] = cut(X, [0], weight=np.array([5.0, 1.0, 3.0, 0.0, 0.0]), max_bins=2)
    assert bins.categories == ("a",)
    [bins] = cut(X, [0], weight=np.array([5.0, 1.0, 3.0, 0.0, 0.0]), max_bins=3)
    assert bins.categories == ("a", "b", "c")
    assert assign(bins, "d") == [-2]


def test_a_code_is_one_byte_with_any_number_of_categories():
    [bins] = cut(np.arange(1000.0).reshape(-1, 1), [0])
    assert bins.n_bins == 254
    assert bins.width == 256
    X = np.array([[0.0], [252.0], [999.0], [np.nan], [-5.0]])
    codes = Binning((bins,), from_dtype=False).encode(open_new(X), None, 1)
    assert codes[0].tolist() == [0, 252, 253, 254, 253]


def test_a_column_without_any_category():
    [bins] = cut(text(None, None), [0])
    assert bins.categories == ()
    codes = Binning((bins,), from_dtype=False).encode(open_new(text(None, "a")), None, 1)
    assert codes.tolist() == [[1, 2]]


def test_equal_numbers_are_one_category_whatever_their_type():
    [bins] = cut(text(1, 2.0, True), [0])
    assert bins.n_bins == 2
    assert assign(bins, 1.0, np.int8(2)) == [0, 1]


@pytest.mark.parametrize(("fitted", "column"), [(("a", "b"), (1, 2)), ((1, 2), ("1", "2"))])
def test_categories_of_another_kind_are_refused(fitted, column):
    table = open_new(text(*fitted))
    bins = Binning(find(table, [0]), from_dtype=False)
    with pytest.raises(ValueError, match="the categories of column 0 were"):
        bins.encode(open_new(text(*column)), None, 1)


@pytest.mark.parametrize("from_dtype", [True, False])
def test_categories_may_come_in_any_type_of_column(from_dtype):
    fitted = open_new(pd.DataFrame({"a": pd.Categorical(["a", "b", None, "b"])}))
    bins = Binning(find(fitted, [0]), from_dtype)
    codes = [0, 1, 2, 3]
    for column in (
        pd.Categorical(["a", "b", None, "z"]),
        pd.Series(["a", "b", None, "z"], dtype=object),
        pd.Series(["a", "b", None, "z"], dtype="string[python]"),
    ):
        table = open_new(pd.DataFrame({"a": column}))
        assert bins.encode(table, None, 1)[0].tolist() == codes
    assert bins.encode(open_new(text("a", "b", None, "z")), None, 1)[0].tolist() == codes


# -- the span -------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_table", [np.asarray, pd.DataFrame], ids=["array", "columns"])
def test_the_span_is_that_of_rows_that_count(as_table):
    X = np.array([[1.0, np.nan], [2.0, np.nan], [-3.0, np.nan], [9.0, 4.0], [np.nan, np.nan]])
    weight = np.array([1.0, 0.5, 2.0, 0.0, 1.0])
    table = open_new(as_table(X))
    assert [feature.span for feature in find(table)] == [(-3.0, 9.0), (4.0, 4.0)]
    assert [feature.span for feature in find(table, weight=weight)] == [
        (-3.0, 2.0),
        (np.inf, -np.inf),
    ]


def test_spans_do_not_depend_on_samples_or_batches(monkeypatch):
    monkeypatch.setattr(binning, "SAMPLE_SIZE", 100)
    monkeypatch.setattr(binning, "COPY_BYTES", 8 * 2 * 64)
    X = np.random.default_rng(0).normal(size=(1000, 2)).astype(np.float32)
    assert [feature.span for feature in cut(X)] == [*zip(X.min(axis=0), X.max(axis=0), strict=True)]


# -- edges and codes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("max_bins", "rows_per_bin", "n_rows", "expected"),
    [
        (255, None, 10, 255),
        (255, 100, 1e9, 255),
        (255, 100, 2599.5, 25),
        (255, 100, 300, 4),
        (3, 100, 300, 3),
        (255, 1e-300, 1e300, 255),
        (255, 1e300, 1e-300, 4),
    ],
)
def test_few_rows_have_few_bins(max_bins, rows_per_bin, n_rows, expected):
    assert count_numeric_bins(max_bins, rows_per_bin, n_rows) == expected


def test_the_two_limits_are_of_two_kinds_of_features():
    X = np.arange(100.0).repeat(2).reshape(-1, 2)
    numeric, category = find_bins(
        open_new(X), [1], None, max_numeric=5, max_categories=90, seed=0, n_threads=1
    )
    assert numeric.n_bins == 5
    assert category.n_bins == 90


def test_the_sample_of_rows_is_drawn_by_the_seed(monkeypatch):
    monkeypatch.setattr(binning, "SAMPLE_SIZE", 100)
    table = open_new(np.random.default_rng(0).normal(size=(1000, 1)))
    edges = [find(table, max_bins=20, seed=seed)[0].edges for seed in (1, 1, 2)]
    np.testing.assert_array_equal(edges[0], edges[1])
    assert not np.array_equal(edges[0], edges[2])


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=500),
            "b": rng.integers(0, 9, 500),
            "c": pd.Categorical(rng.choice(["x", "y", "z"], 500)),
            "d": pd.array(np.where(rng.random(500) < 0.2, None, rng.integers(0, 5, 500))).astype(
                "Int64"
            ),
            "e": rng.normal(size=500).astype(np.float32),
        }
    )


def test_batches_change_nothing(mixed, monkeypatch):
    table = open_new(mixed)
    order = np.random.default_rng(1).permutation(500)[:400]
    tables = np.random.default_rng(2).normal(size=(2, 3000))

    def everything():
        bins = find(table, [2], max_bins=50)
        b = Binning(bins, from_dtype=True)
        wide = np.ascontiguousarray(tables[:, : sum(f.width for f in bins)])
        edges = [f.edges for f in bins if isinstance(f, NumericBins)]
        return [
            *edges,
            b.encode(table, order, 1),
            b.encode(table, None, 2),
            b.predict_raw(table, wide, (), 1, range(len(bins))),
        ]

    at_once = everything()
    monkeypatch.setattr(binning, "COPY_BYTES", 8 * 500 * 2)  # room for two columns
    monkeypatch.setattr(binning, "LEAST_ROWS", 64)
    for one, other in zip(at_once, everything(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_table_of_columns_has_the_codes_of_the_array(mixed):
    numeric = mixed[["a", "b", "e"]]
    array = open_new(numeric.to_numpy(dtype=float))
    frame = open_new(numeric)
    bins = find(array, max_bins=30)
    for one, other in zip(bins, find(frame, max_bins=30), strict=True):
        np.testing.assert_array_equal(one.edges, other.edges)
    codes = Binning(bins, from_dtype=True)
    np.testing.assert_array_equal(codes.encode(array, None, 1), codes.encode(frame, None, 1))


def test_weights_of_bins():
    X = np.array([[0.0], [1.0], [1.0], [np.nan]])
    bins = Binning(cut(X), from_dtype=True)
    codes = bins.encode(open_new(X), None, 1)
    all_rows = (np.array([0, 4]), np.array([0]), 1)
    (weights,) = bins.native.weigh(codes, *all_rows)
    assert weights.tolist() == [1.0, 2.0, 1.0]
    (weights,) = bins.native.weigh(codes, *all_rows, np.array([0.5, 1.0, 3.0, 0.25]))
    assert weights.tolist() == [0.5, 4.0, 0.25]


def test_bins_can_be_copied_and_pickled(mixed):
    table = open_new(mixed)
    bins = Binning(find(table, [2], max_bins=50), from_dtype=True)
    codes = bins.encode(table, None, 1)
    for twin in (copy.deepcopy(bins), pickle.loads(pickle.dumps(bins))):
        np.testing.assert_array_equal(twin.encode(table, None, 1), codes)
    assert isinstance(bins.features[2], CategoricalBins)
