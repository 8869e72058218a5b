"""Terms of trees: sums of functions of at most three features, purified."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import properboost as pb
from properboost import _core
from properboost.models.term_grid import (
    GridAxis,
    TermGrid,
    coarsen,
    find_parts,
    refine,
    weigh_cells,
)
from properboost.models.terms import Terms

LEARNERS = {
    "best first": pb.Tree(interaction_cst=3),
    "lines": pb.Tree(interaction_cst=3, linear_leaves=True),
    "symmetric": pb.Tree(grow_policy="symmetric", max_depth=3),
    "symmetric lines": pb.Tree(grow_policy="symmetric", max_depth=3, linear_leaves=True),
    "pairs": pb.Tree(interaction_cst="pairwise"),
    "rules": pb.Rule(max_conditions=3),
}


def make(n_classes=2, n=1500, seed=0):
    """Return rows with missing values, categories, a copied column and one correlated at .999."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    X[:, 1] = 0.999 * X[:, 0] + 0.045 * rng.normal(size=n)
    X[:, 3] = X[:, 2]
    X[:, 5] = rng.integers(0, 5, n)
    raw = X[:, 0] * X[:, 2] + np.sin(2 * X[:, 4]) * (X[:, 5] > 1) + rng.logistic(size=n)
    X[rng.random((n, 6)) < 0.05] = np.nan
    edges = np.quantile(raw, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, np.searchsorted(edges, raw)


def fit(learner, X, y, **settings):
    settings = {"n_estimators": 25, "random_state": 0, **settings}
    return pb.ProperBoostClassifier(weak_learner=learner, categorical_features=[5], **settings).fit(
        X, y
    )


def encode(model, X):
    table, n_threads = model._open(X)
    return model.ensemble_.binning.encode(table, None, n_threads)


def add_up(model, X):
    """Return the sum of a model's terms and constants, (n_rows, n_models)."""
    terms = model.ensemble_.terms
    models = range(terms.n_models)
    values = terms.evaluate(encode(model, X), models, 1).sum(axis=0)
    return values + [terms.find_constant(m) for m in models]


def raw_of(model, X):
    """Return raw predictions, in a joint model less their mean over the classes."""
    raw = model.decision_function(X).reshape(len(X), -1)
    return raw - (raw.mean(axis=1, keepdims=True) if model.ensemble_.joint else 0.0)


def assert_slices_are_0(model, X):
    """Check the weighted mean of each slice of each term of several features."""
    terms, size = model.ensemble_.terms, raw_of(model, X).std()
    for k, features in enumerate(terms.features):
        weights = terms.weights_of(k)
        for m, axis in itertools.product(range(terms.n_models), range(len(features))):
            if len(features) > 1:
                sums = (weights * terms.table_of(m, k)).sum(axis=axis)
                weight = weights.sum(axis=axis)
                means = sums[weight > 0] / weight[weight > 0]
                assert np.abs(means).max() < 1e-10 * size


# -------------------------------------------------------------------- models are their terms


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_model_is_the_sum_of_its_terms(name, n_classes):
    X, y = make(n_classes)
    model = fit(LEARNERS[name], X, y)
    new = make(seed=1)[0]
    new[:20, 5] = 7.0  # an unseen category
    np.testing.assert_allclose(add_up(model, new), raw_of(model, new), atol=1e-10)
    assert_slices_are_0(model, X)


@pytest.mark.parametrize(
    "loss", ["glog", "ggauss", "glaplacian", "gboost", "exponential", "savage", "alpha", "tangent"]
)
def test_models_of_every_loss_are_their_terms(loss):
    X, y = make(n=600)
    model = fit(LEARNERS["symmetric"], X, y, loss=loss)
    np.testing.assert_allclose(add_up(model, X), raw_of(model, X), atol=1e-10)
    assert_slices_are_0(model, X)


@pytest.mark.parametrize("multiclass", ["softmax", "one_vs_rest"])
def test_of_weighted_rows_and_draws(multiclass):
    X, y = make(3)
    weight = np.random.default_rng(0).gamma(1.0, size=len(y))
    learner = pb.Tree(interaction_cst=2, subsample=0.5, n_draws=3)
    model = fit(learner, X, y, multiclass=multiclass)
    weighted = pb.ProperBoostClassifier(
        weak_learner=learner, n_estimators=10, multiclass=multiclass, random_state=0
    ).fit(X, y, sample_weight=weight)
    for fitted in (model, weighted):
        np.testing.assert_allclose(add_up(fitted, X), raw_of(fitted, X), atol=1e-10)
        assert_slices_are_0(fitted, X)
    grid = weighted.ensemble_.grids[0]
    assert grid.weights.sum() == pytest.approx(weight.sum() * len(y) / weight.sum(), rel=0.5)


def test_tables_are_those_of_a_plain_reference():
    """Compare with weighted least squares over all cells, from the sets of three down."""
    X, y = make(n=800)
    model = fit(pb.Tree(grow_policy="symmetric", max_depth=3), X, y, n_estimators=10)
    terms, codes = model.ensemble_.terms, encode(model, X)
    n_features = terms.n_features
    rows = np.zeros((len(terms.features), len(X)))
    rounds = model.ensemble_.models[0]
    for t in range(len(rounds)):
        trees, table = rounds.tree(t), rounds.table(t)
        paths = {0: frozenset()}
        for node in range(len(trees.feature)):
            if trees.feature[node] >= 0:
                path = paths[node] | {int(trees.feature[node])}
                paths[int(trees.left[node])] = paths[int(trees.left[node]) + 1] = path
        for node, path in paths.items():
            at = trees.native.find_nodes(codes) == node
            if at.any():
                if trees.feature[node] >= 0:
                    path |= {int(trees.feature[node])}
                rows[terms.place[tuple(sorted(path))], at] += table[node]
    for k in sorted(range(n_features, len(terms.features)), key=lambda k: -len(terms.features[k])):
        features = terms.features[k]
        levels = [level[codes[j]] for j, level in zip(features, terms.levels_of(k), strict=True)]
        columns, owners = [], []
        for axis in range(len(features)):
            slices = np.stack(levels[:axis] + levels[axis + 1 :], axis=1)
            _, of_row = np.unique(slices, axis=0, return_inverse=True)
            columns.append(np.eye(of_row.max() + 1)[of_row.ravel()])
            owners.append(terms.place[features[:axis] + features[axis + 1 :]])
        # The least sum of squares by weight: columns are divided by their norms.
        design = np.concatenate(columns, axis=1)
        norms = np.sqrt(design.sum(axis=0))
        parts = np.linalg.lstsq(design / norms, rows[k], rcond=1e-9)[0] / norms
        ends = np.cumsum([0, *(column.shape[1] for column in columns)])
        for column, begin, end, owner in zip(columns, ends, ends[1:], owners, strict=False):
            moved = column @ parts[begin:end]
            rows[k] -= moved
            rows[owner] += moved
        cells = tuple(levels)
        np.testing.assert_allclose(terms.table_of(0, k)[cells], rows[k], atol=1e-7)
    for j in range(n_features):
        np.testing.assert_allclose(terms.table_of(0, j)[codes[j]], rows[j], atol=1e-7)


def test_a_copy_of_a_column_gets_an_equal_share():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    X = np.column_stack([X, X[:, 0]])
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.logistic(size=1000) > 0).astype(int)
    tables = []
    for order in ([0, 1, 2], [2, 1, 0]):
        learner = pb.Tree(grow_policy="symmetric", max_depth=2, interaction_cst=2, max_features=1.0)
        model = fit_numbers(learner, X[:, order], y)
        terms = model.ensemble_.terms
        if (0, 2) in terms.place:
            k = terms.place[0, 2]
            assert np.abs(terms.table_of(0, k)[terms.weights_of(k) > 0]).max() < 1e-9
        tables.append(model.contributions(X[:, order]).values[:, order])
    np.testing.assert_allclose(tables[0].sum(axis=1), tables[1].sum(axis=1), atol=1e-9)


def fit_numbers(learner, X, y, **settings):
    settings = {"n_estimators": 20, "random_state": 0, **settings}
    return pb.ProperBoostClassifier(weak_learner=learner, **settings).fit(X, y)


def test_threads_and_orders_of_rows_give_the_same_bits():
    X, y = make()
    order = np.random.default_rng(2).permutation(len(y))
    tables = []
    for rows, n_jobs in ((slice(None), 1), (slice(None), 2), (order, 2)):
        model = fit(pb.Tree(interaction_cst=3, max_features=1.0), X[rows], y[rows], n_jobs=n_jobs)
        terms = model.ensemble_.terms
        tables.append(
            np.concatenate([terms.table_of(0, k).ravel() for k in range(len(terms.features))])
        )
        assert np.array_equal(tables[0], tables[-1])


def test_longer_paths_have_no_terms():
    X, y = make()
    model = fit(pb.Tree(interaction_cst=4, max_leaf_nodes=20, max_features=1.0), X, y)
    assert model.ensemble_.terms is None
    with pytest.raises(AttributeError, match=r"interaction_cst=3"):
        _ = model.terms_
    with pytest.raises(ValueError, match=r"interaction_cst=3"):
        model.shape_function(0)
    assert "text/html" in model._repr_mimebundle_()  # which reads every attribute


# ------------------------------------------------------------------------------ what a user gets


def test_terms_are_listed_by_importance_and_have_functions():
    X, y = make()
    model = fit(LEARNERS["best first"], X, y)
    listed = model.terms_
    importances = [term.importance for term in listed]
    assert importances == sorted(importances, reverse=True)
    assert listed[0].p_value is None
    for term in listed[:8]:
        function = model.term_function(term.features)
        assert function.features == term.features
        if len(term.features) == 1:
            continue
        shares = function.weights / function.weights.sum()
        assert np.sqrt(np.sum(shares * function.values**2)) == pytest.approx(term.importance)
        assert function.values.shape == tuple(map(len, function.levels))
        assert function._repr_html_()
        assert pickle.loads(pickle.dumps(function)).label == function.label


def test_functions_add_up_to_raw_predictions():
    X, y = make()
    model = fit(LEARNERS["lines"], X, y)
    total = model.ensemble_.terms.find_constant(0)
    for term in model.terms_:
        function = model.term_function(term.features)
        total = total + function(*(X[:, j] for j in term.features))
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-9)


def test_calls_need_a_column_for_each_feature():
    X, y = make()
    model = fit(LEARNERS["best first"], X, y)
    pair = next(term.features for term in model.terms_ if len(term.features) == 2)
    function = model.term_function(pair)
    with pytest.raises(TypeError, match="one array for each of its 2 features; got 1"):
        function(X[:, 0])
    with pytest.raises(ValueError, match="no term of 0 and 0"):
        model.term_function((0, 0))


def test_maps_of_three_features_cover_all_rows():
    X, y = make()
    model = fit(LEARNERS["symmetric"], X, y)
    triple = next(term.features for term in model.terms_ if len(term.features) == 3)
    function = model.term_function(triple)
    maps = function.to_maps(3)
    assert 1 <= len(maps) <= 3
    assert sum(one.weights.sum() for one in maps) == function.weights.sum()
    assert all(one.title for one in maps)


# -------------------------------------------------------------------------------- merged models


@pytest.mark.parametrize("n_classes", [2, 3])
def test_merged_models_are_their_terms(n_classes):
    X, y = make(n_classes)
    models = [
        fit(learner, X[rows], y[rows])
        for learner, rows in (
            (pb.Tree(interaction_cst=3), slice(0, 900)),
            (pb.Tree(interaction_cst=2), slice(700, 1500)),
        )
    ]
    merged = pb.merge_models(models, weights=[1.0, 2.0])
    np.testing.assert_allclose(add_up(merged, X), raw_of(merged, X), atol=1e-10)
    assert_slices_are_0(merged, X)
    both = [{g.features: g.weights.sum() for g in m.ensemble_.grids} for m in models]
    for grid in merged.ensemble_.grids:
        total = sum(weights.get(grid.features, 0.0) for weights in both)
        assert grid.weights.sum() == pytest.approx(total)


# ---------------------------------------------------------------------------------------- bags


@pytest.mark.parametrize("n_classes", [2, 3])
def test_bags_have_standard_errors(n_classes):
    X, y = make(n_classes)
    model = fit(LEARNERS["pairs"], X, y, outer_bags=4, n_estimators=10)
    terms = model.ensemble_.terms
    assert terms.n_bags == 4
    codes, models = encode(model, X), range(terms.n_models)
    of_bags = [bag.evaluate(codes, models, 1) for bag in terms.bags]
    np.testing.assert_allclose(
        np.mean(of_bags, axis=0), terms.evaluate(codes, models, 1), atol=1e-9
    )
    table, _ = model._open(X)
    raws = model.ensemble_.bag_errors.raw_predictions(table, 1)
    # Intercepts are of every bag, and their mean is not that of the mean.
    moved = np.mean(raws, axis=0) - model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)
    listed = model.terms_
    assert all(0 <= term.p_value <= 1 and term.standard_error >= 0 for term in listed)
    function = model.term_function(listed[0].features)
    assert function.n_bags == 4
    low, high = function.interval()
    assert (low <= function.values).all()
    assert (high >= function.values).all()
    ends = model.predict_interval(X[:5])
    probability = model.predict_proba(X[:5])
    assert ((ends[..., 0] <= probability) & (probability <= ends[..., 1])).all()


@pytest.mark.parametrize("max_bins", [8, 60])
def test_errors_of_rows_are_of_their_exact_values(max_bins):
    X, y = make(2)
    model = fit(LEARNERS["best first"], X, y, outer_bags=16, n_estimators=10, max_bins=max_bins)
    terms, codes = model.ensemble_.terms, encode(model, X)
    assert terms.bag_design.noise_degrees == 6
    errors = terms.look_up_errors(codes, 0, 1)
    values = np.array([bag.evaluate(codes, [0], 1)[..., 0] for bag in terms.bags])
    are_coarse = []
    for k in range(terms.n_features, len(terms.features)):
        exact = terms.noise_of(0, k).find_errors(list(values[:, k]))
        inside = errors[:, k] > 0.0
        assert inside.any()
        np.testing.assert_allclose(errors[inside, k], exact[inside], rtol=1e-9)
        of_table = Terms.look_up_errors(terms, codes, 0, 1)[:, k]
        are_coarse.append(not np.allclose(of_table, errors[:, k], rtol=1e-6))
    assert any(are_coarse) == (max_bins == 60)
    np.testing.assert_array_equal(terms.look_up_errors(codes, 0, 3), errors)


def test_values_that_no_row_has_have_no_error():
    X, y = make(2)
    model = fit(LEARNERS["pairs"], np.nan_to_num(X), y, outer_bags=16, n_estimators=10)
    for j in range(X.shape[1]):
        function = model.shape_function(j)
        assert function.missing_standard_error == 0.0
        assert function.standard_errors.max() > 0.0


# --------------------------------------------------------------------------- purification by itself


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(deadline=None)
def test_purified_slices_have_means_of_0(seed, is_triple):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 7, 3 if is_triple else 2))
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4)
    weights = rng.poisson(rng.choice([0.3, 3.0]), size=shape).astype(float)
    ((left, parts),) = _core.purify([values], [weights])
    total = left.copy()
    for axis, part in enumerate(parts):
        total += np.expand_dims(part.reshape(shape[:axis] + shape[axis + 1 :]), axis)
        weight = weights.sum(axis=axis)
        sums = (weights * left).sum(axis=axis)
        assert np.abs(sums).max() <= 1e-10 * np.abs(values).max() * max(1.0, weight.max())
        assert not part.reshape(weight.shape)[weight == 0].any()
    np.testing.assert_allclose(total, values, atol=1e-9 * np.abs(values).max())


def test_purification_bears_extreme_numbers():
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=(4, 5)), rng.integers(0, 5, (4, 5)).astype(float)
    ((plain, _),) = _core.purify([values], [weights])
    ((scaled, _),) = _core.purify([values * 2.0**900], [weights * 2.0**-1000])
    assert np.array_equal(scaled, plain * 2.0**900)


def test_purification_ends_where_weights_leave_a_direction_to_rounding():
    """Conjugate gradients went on along such a direction, to parts of 1e15."""
    values, weights = np.zeros((2, 5, 2)), np.zeros((2, 5, 2))
    values[0, :, 1] = [0.017, 0.017, 0.015, 0.013, 0.017]
    weights[0, :4, 1] = [230.0, 130.0, 0.019, 4.9e-6]
    weights[0, 3, 0] = 250.0
    weights[1, 0], weights[1, 2] = [0.18, 21.0], [2.7e-6, 120.0]
    ((left, _),) = _core.purify([values], [weights])
    assert np.abs(left).max() <= 1.0
    for axis in range(3):
        assert np.abs((weights * left).sum(axis=axis)).max() <= 1e-10 * weights.max()


def test_purification_refuses_other_tables():
    for values, weights in ((np.ones(3), np.ones(3)), (np.ones((2, 2)), np.ones((2, 3)))):
        with pytest.raises(ValueError, match="tables of one shape"):
            _core.purify([values], [weights])
    with pytest.raises(ValueError, match="as many tables"):
        _core.purify([np.ones((2, 2))], [])


# ------------------------------------------------------------------------------------- the grids


def test_levels_are_refined_in_order_of_codes():
    levels = refine([np.array([0, 0, 1, 1], np.uint8), np.array([0, 1, 1, 0], np.uint8)])
    assert levels.tolist() == [0, 1, 2, 3]


def test_grids_that_are_too_large_are_coarser():
    levels = (np.arange(51, dtype=np.uint8), np.arange(12, dtype=np.uint8))
    weights = [np.ones(51), np.arange(12.0, 0.0, -1.0)]
    axes = [GridAxis(50, True, weights[0]), GridAxis(10, False, weights[1])]
    coarse = coarsen(TermGrid((0, 1), levels, np.empty(0)), axes, 100).levels
    assert (coarse[0].max() + 1) * (coarse[1].max() + 1) <= 100
    assert set(np.diff(coarse[0][:50])) <= {0, 1}
    assert coarse[0][50] == coarse[0].max()  # missing values keep a level
    parts = find_parts(np.arange(51, dtype=np.uint8), coarse[0], weights[0])
    assert (parts.sum(axis=1) == 1.0).all()
    assert (parts.max(axis=1) == 1.0).all()


def test_cells_have_the_rows_weights():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (3, 400)).astype(np.uint8)
    levels = (np.array([0, 0, 1, 1, 2], np.uint8), np.array([0, 1, 1, 0, 2], np.uint8))
    grid = TermGrid((0, 2), levels, np.empty(0))
    expected = np.zeros((3, 3))
    weight = rng.random(400)
    np.add.at(expected, (levels[0][codes[0]], levels[1][codes[2]]), weight)
    (weighed,) = weigh_cells([grid], codes, weight, 1)
    np.testing.assert_allclose(weighed.reshape(3, 3), expected)
    (counts,) = weigh_cells([grid], codes, None, 2)
    assert counts.sum() == 400


def test_maps_of_joined_levels_have_the_means_of_the_ends():
    X, y = make()
    model = fit(LEARNERS["symmetric"], X, y, outer_bags=4)
    pair = next(term.features for term in model.terms_ if len(term.features) == 2)
    function = model.term_function(pair)
    (whole,) = function.to_maps(confidence_level=0.8)
    for end, expected in zip(whole.ends, function.interval(0.8), strict=True):
        np.testing.assert_array_equal(end, expected)
    (one,) = function.to_maps(most_levels=1, confidence_level=0.8)
    share = function.weights / function.weights.sum()
    for end, expected in zip(one.ends, function.interval(0.8), strict=True):
        assert end.item() == pytest.approx(np.sum(share * expected))
    assert fit(LEARNERS["symmetric"], X, y).term_function(pair).to_maps()[0].ends is None
