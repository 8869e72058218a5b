"""Test raw predictions to the last bit: of tables, feature by feature, and of trees in order.

Rows come in any order and layout.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.columns import COLUMNS, DTYPES, LAYOUTS, ROWS, count_below, draw_edges, draw_numbers
from helpers.instruction_sets import other_sets, run_with
from helpers.models import assert_same_bits
from properboost import _core

MODELS = [1, 2, 3, 5, 16, 17]


def draw_tables(n_models, widths, rng, unused=0.0):
    """Return tables with entries of all sizes, so that the order of additions matters.

    A feature is unused if all models have the entry 0 everywhere.
    """
    tables = rng.normal(size=(n_models, sum(widths))) * 10.0 ** rng.integers(
        -3, 4, (n_models, sum(widths))
    )
    starts = np.cumsum([0, *widths])
    for a, b in itertools.pairwise(starts):
        if rng.random() < unused:
            tables[:, a:b] = 0.0
    return tables


def add_up(codes, tables, widths):
    """Return the sum of the tables' entries, one feature after the other, in float64."""
    raw = np.zeros((codes.shape[1], len(tables)))
    starts = np.cumsum([0, *widths])
    for f, code in enumerate(codes):
        raw += tables[:, starts[f] + code].T
    return raw


def problem(dtype, d, rng, n=257):
    """Return a table, its edges, and codes found by comparing with every edge."""
    x = draw_numbers(dtype, (n, d), rng)
    edges = [draw_edges(c, rng) for c in x.T]
    codes = np.array([count_below(c, e) for c, e in zip(x.T, edges, strict=True)])
    return x, edges, codes


def test_the_order_of_the_features_shows():
    """The data of these tests reveal the order of additions."""
    rng = np.random.default_rng(0)
    _, edges, codes = problem(np.float64, 9, rng)
    widths = [len(e) + 2 for e in edges]
    tables = draw_tables(1, widths, rng)
    backwards = sum(
        tables[0, start + code]
        for start, code in zip(np.cumsum([0, *widths[:-1]])[::-1], codes[::-1], strict=True)
    )
    assert (add_up(codes, tables, widths)[:, 0] != backwards).mean() > 0.5


@pytest.mark.parametrize("n_models", MODELS)
@pytest.mark.parametrize("d", COLUMNS)
def test_scores_are_entries_added_up_in_order(n_models, d):
    rng = np.random.default_rng(d)
    for dtype in (np.float32, np.float64):
        x, edges, codes = problem(dtype, d, rng)
        bins = _core.Bins(edges)
        for unused in (0.0, 0.4, 0.95, 1.0):
            tables = draw_tables(n_models, bins.widths, rng, unused)
            expected = add_up(codes, tables, bins.widths)
            for name, lay_out in LAYOUTS.items():
                for n in ROWS:
                    raw = _core.predict_raw(lay_out(x[:n]), bins, tables, n_threads=1 + n % 3)
                    assert_same_bits(raw, expected[:n], f"{name} {n} {unused}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_models", [1, 3])
def test_scores_of_every_type(dtype, n_models):
    rng = np.random.default_rng(1)
    x, edges, codes = problem(dtype, 37, rng)
    bins = _core.Bins(edges)
    tables = draw_tables(n_models, bins.widths, rng, 0.3)
    for name, lay_out in LAYOUTS.items():
        raw = _core.predict_raw(lay_out(x), bins, tables)
        assert_same_bits(raw, add_up(codes, tables, bins.widths), name)


@pytest.mark.parametrize("n_models", [1, 4])
def test_scores_of_categories_beside_numbers(n_models):
    rng = np.random.default_rng(2)
    columns, features, codes = [], [], []
    for k in rng.permutation(30):
        if k % 3 == 0:
            bins = int(rng.integers(1, 255))
            column = rng.integers(-2, bins + 2, 300).astype(np.int32)
            code = np.where(column < 0, np.where(column == -1, bins, bins + 1), column)
            codes.append(np.where(column >= bins, bins + 1, code))
            features.append(bins)
        else:
            column = draw_numbers(np.float32 if k % 3 == 1 else np.float64, 300, rng)
            features.append(draw_edges(column, rng))
            codes.append(count_below(column, features[-1]))
        columns.append(column)
    bins = _core.Bins(features)
    np.testing.assert_array_equal(bins.encode(columns), codes)
    tables = draw_tables(n_models, bins.widths, rng, 0.2)
    raw = _core.predict_raw(columns, bins, tables)
    assert_same_bits(raw, add_up(np.array(codes), tables, bins.widths))


@given(
    n_models=st.integers(1, 20),
    d=st.integers(1, 40),
    n=st.integers(0, 400),
    first=st.integers(0, 400),
    unused=st.sampled_from([0.0, 0.5]),
    seed=st.integers(0, 100),
)
def test_a_part_of_a_table_has_the_bits_of_the_whole(n_models, d, n, first, unused, seed):
    rng = np.random.default_rng(seed)
    x, edges, _ = problem(np.float32, d, rng, 300)
    bins = _core.Bins(edges)
    tables = draw_tables(n_models, bins.widths, rng, unused)
    whole = _core.predict_raw(x, bins, tables)
    part = slice(first, first + n)
    for table in (x[part], np.asfortranarray(x)[part], list(x[part].T), x[part].astype(float)):
        assert_same_bits(_core.predict_raw(table, bins, tables), whole[part])
    each = [
        _core.predict_raw(x, bins, one[None]) for one in tables
    ]  # models do not change each other's scores
    assert_same_bits(np.hstack(each), whole)


def test_threads_do_not_change_scores():
    rng = np.random.default_rng(3)
    x, edges, codes = problem(np.float32, 20, rng, 5_000)
    bins = _core.Bins(edges)
    for n_models in (1, 6):
        tables = draw_tables(n_models, bins.widths, rng)
        expected = add_up(codes, tables, bins.widths)
        for n_threads in (1, 2, 3, 8):
            assert_same_bits(_core.predict_raw(x, bins, tables, n_threads=n_threads), expected)


def test_every_instruction_set_gives_the_same_scores():
    rng = np.random.default_rng(4)
    cases = []
    for n_models, d, dtype in itertools.product([1, 2, 5, 16], [3, 33], [np.float32, np.float64]):
        x, edges, _ = problem(dtype, d, rng)
        widths = [len(e) + 2 for e in edges]
        cases.append((x, edges, draw_tables(n_models, widths, rng, 0.2)))
    expected = [_core.predict_raw(x, _core.Bins(edges), tables) for x, edges, tables in cases]
    program = (
        "result = [_core.predict_raw(x, _core.Bins(edges), tables) for x, edges, tables in data]"
    )
    for other in other_sets():
        for ours, theirs in zip(run_with(other, program, cases), expected, strict=True):
            assert_same_bits(ours, theirs)


# -- trees -----------------------------------------------------------------------------------------

TREE_ROWS = [1, 6, 7, 127, 128, 129, 700]
KINDS = {
    "cuts": {},  # every code except missing has a side
    "missing known": {"known": 1.0},
    "few questions": {"cuts": 3, "features": 2},
    "sets": {"sets": True},
    "sets of few": {"sets": True, "known": 0.5},
    "shared children": {"shared": True},
}


def draw_tree(leaves, widths, rng, *, known=0.3, cuts=254, features=99, sets=False, shared=False):
    """Return features, left children and the side of each code: 0, 1, or 2 for neither."""
    feature, left, sides = [-1], [0], [np.full(256, 2)]
    for _ in range(leaves - 1):
        k = int(rng.choice(np.flatnonzero(np.array(feature) < 0)))
        feature[k] = int(rng.integers(0, min(len(widths), features)))
        width = widths[feature[k]]
        side = np.full(256, 2)
        cut = rng.integers(0, min(width, cuts))
        side[:width] = rng.integers(0, 2, width) if sets else np.arange(width) > cut
        if sets:
            side[rng.random(256) > known] = 2
        elif rng.random() < known:
            side[width - 1] = rng.integers(0, 2)
        else:
            side[width - 1] = 2
        left[k], sides[k] = len(feature), side
        feature += [-1, -1]
        left += [0, 0]
        sides += [np.full(256, 2)] * 2
    splits = [k for k in range(len(feature)) if feature[k] >= 0]
    if shared and len(splits) > 1:  # two splits share their children
        left[splits[0]] = left[splits[1]]
    return np.array(feature, np.int32), np.array(left), np.array(sides)


def walk(tree, codes):
    """Return the node of each row, one step after the other."""
    feature, left, sides = tree
    nodes = np.zeros(codes.shape[1], dtype=np.int64)
    for k in np.flatnonzero(feature >= 0):
        side = sides[k][codes[feature[k]]]
        nodes = np.where((nodes == k) & (side < 2), left[k] + side, nodes)
    return nodes


def as_words(sides, branch):
    bits = (sides == branch).reshape(-1, 4, 64).astype(np.uint64)
    return (bits << np.arange(64, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)


def forest_of(trees, values):
    """Return the arguments of the engine's forest."""
    feature, left, sides = map(np.concatenate, zip(*trees, strict=True))
    offsets = np.cumsum([0, *(len(tree[0]) for tree in trees)])
    return (
        feature, left, as_words(sides, 0), as_words(sides, 1), offsets, np.concatenate(values),
    )  # fmt: skip


def tree_problem(kind, seed, leaves=(1, 2, 5, 9, 31, 64, 128, 129, 140)):
    """Return rows of numbers and categories, bins, three forests, and their raw predictions.

    The first two forests have the same nodes, as classes with shared trees have.
    """
    rng = np.random.default_rng(seed)
    n = max(TREE_ROWS)
    columns = [draw_numbers(np.float32, n, rng) for _ in range(4)]
    features = [draw_edges(c, rng) for c in columns]
    codes = [count_below(c, e) for c, e in zip(columns, features, strict=True)]
    for bins in (3, 254):
        codes.append(rng.integers(0, bins + 2, n))
        column = np.where(codes[-1] == bins, -1, np.where(codes[-1] > bins, -2, codes[-1]))
        columns.append(column.astype(np.float32))
        features.append(bins)
    codes = np.array(codes)
    widths = _core.Bins(features).widths
    trees = [draw_tree(n_leaves, widths, rng, **KINDS[kind]) for n_leaves in leaves]
    others = [draw_tree(12, widths, rng, **KINDS[kind])]
    forests, raw = [], np.zeros((n, 3))
    for m, model_trees in enumerate((trees, trees, others)):
        values = [
            rng.normal(size=len(tree[0])) * 10.0 ** rng.integers(-3, 4) for tree in model_trees
        ]
        forests.append(forest_of(model_trees, values))
        for tree, added in zip(model_trees, values, strict=True):
            raw[:, m] += added[walk(tree, codes)]
    return columns, features, forests, raw, trees, codes


@pytest.mark.parametrize("kind", KINDS)
def test_trees_add_up_in_order(kind):
    for seed in range(3):
        columns, features, forests, raw, trees, codes = tree_problem(kind, seed)
        bins, forests = _core.Bins(features), [_core.Forest(*forest) for forest in forests]
        scores = _core.ForestScores(bins, forests)
        for n in TREE_ROWS:
            rows = [column[:n] for column in columns]
            assert_same_bits(scores.predict_raw(rows, n_threads=1 + n % 3), raw[:n])
            codes_of_rows = codes[:, :n].astype(np.uint8)
            assert_same_bits(scores.predict_codes(codes_of_rows, n_threads=1 + n % 3), raw[:n])
        alone = [_core.ForestScores(bins, [forest]).predict_raw(columns) for forest in forests]
        assert_same_bits(np.hstack(alone), raw)
        for tree in trees:
            native = _core.Tree(tree[0], tree[1], as_words(tree[2], 0), as_words(tree[2], 1))
            nodes = native.find_nodes(codes.astype(np.uint8), 2)
            np.testing.assert_array_equal(nodes, walk(tree, codes))


def test_trees_refuse_codes_that_are_not_of_their_bins():
    _, features, forests, _, _, codes = tree_problem("cuts", 0)
    bins = _core.Bins(features)
    scores = _core.ForestScores(bins, [_core.Forest(*forest) for forest in forests])
    with pytest.raises(ValueError, match="n_features, n_rows"):
        scores.predict_codes(codes[1:].astype(np.uint8))
    codes[0, 0] = bins.widths[0]
    with pytest.raises(ValueError, match="below their feature's width"):
        scores.predict_codes(codes.astype(np.uint8))


def test_rows_end_at_leaves_and_at_splits():
    """The data of these tests include both, and trees that only look-ups score."""
    staying = {}
    for kind in KINDS:
        *_, trees, codes = tree_problem(kind, 0)
        staying[kind] = np.mean([(t[0][walk(t, codes)] >= 0).mean() for t in trees])
        largest = max(len(tree[0]) for tree in trees)
        assert largest > 256
    assert 0.0 < staying["cuts"] < 0.5 < staying["sets of few"] < 1.0


def test_every_instruction_set_gives_the_same_trees():
    cases = [tree_problem(kind, 5)[:4] for kind in KINDS]
    program = """
result = []
for columns, features, forests, _ in data:
    forests = [_core.Forest(*forest) for forest in forests]
    result.append(_core.ForestScores(_core.Bins(features), forests).predict_raw(columns))
"""
    for other in other_sets():
        for ours, (*_, raw) in zip(run_with(other, program, cases), cases, strict=True):
            assert_same_bits(ours, raw)
