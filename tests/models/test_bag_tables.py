"""Bags are fits to subsets of rows: their mean is the model, their spread the standard errors."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss

import properboost as pb
from properboost.data.labels import read_rows
from properboost.fitting.bag_assignment import deal, design_for
from properboost.parameters.learners import LEARNERS

N_BAGS = 8


def small(n_classes=2, n=700):
    """Return features of few values, all of which every bag has, so that bins are the same."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 6, (n, 4)).astype(float)
    X[rng.random(n) < 0.1, 3] = np.nan
    raw = np.stack([X[:, 0] * (k % 2) + np.abs(X[:, 1] - 2 * k) for k in range(n_classes)], axis=1)
    y = np.argmax(raw + rng.gumbel(size=raw.shape) * 1.5, axis=1)
    return X, y


TABLE = pb.Table()


def deal_to_bags(y, n_bags=N_BAGS, learner=TABLE):
    """Return the rows that each bag learns from."""
    bags = design_for(learner, n_bags)
    return bags.in_bag[:, deal(read_rows(y, len(y), None, None, False), bags.n_parts, 0)]


def raw_of_bags(model, X):
    """Return F of each bag, (n_bags, n_rows, n_models)."""
    table, n_threads = model._open(X)
    return np.stack(model.ensemble_.standard_errors.raw_predictions(table, n_threads))


FITS = [
    {},
    {"weak_learner": "stump"},
    {"selection": "cyclic", "n_estimators": 5},
    {"selection": "greedy", "response": "newton", "l2": 4.0, "prior": None},
    {"step": "line_search", "response": "sign", "selection": "greedy"},
    # Without an intercept, because the mean's intercept would be no bag's.
    {"loss": "savage", "gain": 1.0, "calibration": pb.Calibration(intercept=None)},
    {"loss": "gboost", "gain": 2.0, "weak_learner": pb.Table(max_cells=3, min_saving=0.5)},
    {"interactions": [(0, 1), (1, 3)], "n_estimators": 10},
    {"step": "totally_corrective", "n_estimators": 4},
]


@pytest.mark.parametrize("settings", FITS)
@pytest.mark.parametrize("coupling", [None, "softmax", "canonical", "one_vs_rest"])
def test_a_bag_is_a_fit_to_its_rows(settings, coupling):
    n_classes = 2 if coupling is None else 3
    if coupling in ("softmax", "canonical") and ("step" in settings or "loss" in settings):
        pytest.skip("these have no joint form, or another")
    X, y = small(n_classes)
    common = {
        "gain": 4.0, "n_estimators": 20, "calibration": pb.Calibration(slope=1.0),
        "weak_learner": pb.Table(max_cells=None, smoothing=0.1),
        "multiclass": coupling or "auto", "rows_per_bin": 1, "prior": 1e-3,
    } | settings  # fmt: skip
    if settings.get("response") in ("sign", "newton") or "step" in settings:
        common["weak_learner"] = pb.Table(max_cells=None, smoothing=0.0)
    if settings.get("response") == "sign":
        common["prior"] = None
    model = pb.ProperBoostClassifier(outer_bags=N_BAGS, **common).fit(X, y)
    of_bags = raw_of_bags(model, X)
    of_bag = common | {"l2": 0.75 * common.get("l2", 0.0)}
    for rows, raw in zip(deal_to_bags(y), of_bags, strict=True):
        alone = pb.ProperBoostClassifier(**of_bag).fit(X[rows], y[rows]).decision_function(X)
        scale = np.abs(alone).max()
        np.testing.assert_allclose(raw.reshape(alone.shape), alone, atol=2e-4 * scale)
    scale = np.abs(of_bags).max()
    mean = of_bags.mean(axis=0).reshape(model.decision_function(X).shape)
    np.testing.assert_allclose(model.decision_function(X), mean, atol=1e-12 * scale)


@pytest.mark.parametrize("weak_learner", ["tree", "rule"])
def test_trees_and_rules_are_averaged_over_bags(weak_learner):
    X, y = small()
    learner = LEARNERS[weak_learner](max_features=1.0)
    settings = {"gain": 1.0, "n_estimators": 5, "calibration": pb.Calibration(slope=1.0)}
    model = pb.ProperBoostClassifier(outer_bags=4, weak_learner=learner, **settings).fit(X, y)
    of_bag = learner.replace(min_child_weight=0.75)  # 1 of 4 parts is left out
    alone = [
        pb.ProperBoostClassifier(weak_learner=of_bag, **settings)
        .fit(X[rows], y[rows])
        .decision_function(X)
        for rows in deal_to_bags(y, 4, learner)
    ]
    np.testing.assert_allclose(model.decision_function(X), np.mean(alone, axis=0), atol=1e-9)
    assert not hasattr(model, "importance_errors_")
    if weak_learner == "tree":  # its paths may have any number of features
        with pytest.raises(ValueError, match="at most three features on a path"):
            model.predict_interval(X)
        return
    probability, ends = model.predict_proba(X), model.predict_interval(X)
    assert ((ends[..., 0] <= probability) & (probability <= ends[..., 1])).all()
    error = np.std(alone, axis=0)
    assert np.corrcoef(error, ends[:, 1, 1] - ends[:, 1, 0])[0, 1] > 0.5


def test_standard_errors_are_of_centred_tables():
    X, y = small()
    model = pb.ProperBoostClassifier(outer_bags=N_BAGS, n_estimators=30, weak_learner="table").fit(
        X, y
    )
    spread = model.ensemble_.standard_errors
    shape = model.shape_function(1)
    tables = np.stack([bag.table_of(0, 1)[:6] for bag in spread.bags])
    centred = tables - np.average(tables, weights=shape.weights, axis=1)[:, None]
    squares = np.square(centred - centred.mean(axis=0)).sum(axis=0)
    np.testing.assert_allclose(shape.standard_errors, np.sqrt(3 / N_BAGS * squares), rtol=1e-9)
    assert shape.p_value < 0.01
    assert shape.n_bags == N_BAGS


@pytest.mark.parametrize(("n_bags", "degrees"), [(4, 3), (16, 15), (64, 63)])
def test_p_values_are_those_of_f_ratios_after_satterthwaite(n_bags, degrees):
    """Degrees of freedom follow the eigenvalues of the covariance of the bags' centred tables."""
    X, y = small(n=300)
    model = pb.ProperBoostClassifier(
        outer_bags=n_bags, n_estimators=30, weak_learner=pb.Table(max_cells=None)
    ).fit(X, y)
    numerators = []
    for j in range(3):
        shape = model.shape_function(j)
        tables = np.stack([bag.centered(0) for bag in model.ensemble_.standard_errors.bags])
        first, end = model.ensemble_.offsets[j : j + 2]
        root = np.sqrt(model.ensemble_.shares[first:end])
        deviations = (tables - tables.mean(axis=0))[:, first:end] * root
        of_noise = np.linalg.svd(deviations, compute_uv=False) ** 2 * 3 / n_bags
        table = model.ensemble_.centered(0)[first:end] * root
        ratio = np.sum(table**2) / of_noise.sum()
        numerator = of_noise.sum() ** 2 / np.sum(of_noise**2)
        expected = stats.f.sf(ratio, numerator, numerator * degrees)
        assert shape.p_value == pytest.approx(expected, rel=1e-8)
        numerators.append(numerator)
    assert max(numerators) > 2.0  # with one degree of freedom all would be alike


def test_uninformative_features_are_within_noise():
    X, y = small()
    p_values = []
    for seed in range(40):
        noise = np.random.default_rng(seed).permutation(y)
        model = pb.ProperBoostClassifier(
            outer_bags=16,
            calibration=pb.Calibration(slope=1.0),
            random_state=seed,
            weak_learner="table",
        )
        model.fit(X, noise)
        p_values += [model.shape_function(j).p_value for j in range(4)]
    assert 0.02 <= np.mean(np.array(p_values) <= 0.1) <= 0.13  # .07 in 600


@pytest.mark.parametrize("coupling", [None, "softmax", "canonical", "one_vs_rest"])
def test_intervals_of_probabilities(coupling):
    X, y = small(2 if coupling is None else 3)
    model = pb.ProperBoostClassifier(
        outer_bags=16, n_estimators=30, multiclass=coupling or "auto", weak_learner="table"
    ).fit(X, y)
    p = model.predict_proba(X)
    low, high = np.moveaxis(model.predict_interval(X), 2, 0)
    assert low.shape == p.shape
    assert ((low <= p) & (p <= high)).all()
    assert (low > 0.0).all()
    assert (high < 1.0).all()
    wider_low, wider_high = np.moveaxis(model.predict_interval(X, 0.99), 2, 0)
    assert ((wider_low <= low) & (high <= wider_high)).all()
    if coupling is None:
        np.testing.assert_allclose(low[:, 0], 1.0 - high[:, 1], atol=1e-12)


def test_importances_have_errors_pairs_included():
    X, y = small()
    model = pb.ProperBoostClassifier(
        outer_bags=4, interactions=2, n_estimators=20, weak_learner="table"
    ).fit(X, y)
    errors = model.importance_errors_
    assert errors.shape == (len(model.feature_importances_) + len(model.pair_importances_),)
    bags = [bag.importances() for bag in model.ensemble_.standard_errors.bags]
    np.testing.assert_allclose(
        errors[:4], np.sqrt(3 / 4 * np.square(bags - np.mean(bags, axis=0)).sum(axis=0))
    )


@pytest.mark.parametrize("settings", [{}, {"selection": "cyclic"}, {"interactions": 2}])
def test_bags_can_be_summed_up(settings):
    """Without the bags' tables, standard errors stay the same, and rows have no intervals."""
    X, y = load_wine(return_X_y=True)
    settings = {"n_estimators": 10, **settings}
    whole, short = (
        pb.ProperBoostClassifier(outer_bags=pb.Bags(4, tables=tables), **settings).fit(X, y)
        for tables in (True, False)
    )
    assert np.array_equal(whole.decision_function(X), short.decision_function(X))
    assert np.array_equal(whole.importance_errors_, short.importance_errors_)
    for j in range(3):
        a, b = whole.shape_function(j, class_=1), short.shape_function(j, class_=1)
        assert np.array_equal(a.standard_errors, b.standard_errors)
        assert a.p_value == b.p_value
    with pytest.raises(ValueError, match=r"Bags\(tables=True\)"):
        short.predict_interval(X)
    assert len(pickle.dumps(short)) < len(pickle.dumps(whole))


def test_monotonize_orders_every_bag():
    X, y = small()
    settings = {"outer_bags": N_BAGS, "n_estimators": 20}
    model = pb.ProperBoostClassifier(**settings).fit(X, y).monotonize(0, 1)
    for bag in model.ensemble_.standard_errors.bags:
        assert (np.diff(bag.table_of(0, 0)[:6]) >= -1e-12).all()
    assert np.isfinite(model.predict_interval(X)).all()
    short = pb.ProperBoostClassifier(**settings).set_params(outer_bags__tables=False).fit(X, y)
    with pytest.raises(ValueError, match=r"Bags\(tables=True\)"):
        short.monotonize(1, 1)


@pytest.mark.parametrize("settings", [{}, {"selection": "cyclic"}, {"weak_learner": "tree"}])
def test_any_number_of_threads_makes_the_same_model(settings):
    X, y = small(3, n=2500)
    predictions = []
    for n_jobs in (1, 3):
        model = pb.ProperBoostClassifier(outer_bags=4, n_estimators=5, n_jobs=n_jobs, **settings)
        predictions.append(model.fit(X, y).decision_function(X))
    assert np.array_equal(*predictions)


def test_a_loss_with_an_intercept_has_one_in_every_bag():
    X, y = small()
    settings = {
        "loss": "exponential",
        "outer_bags": N_BAGS,
        "calibration": pb.Calibration(intercept="share"),
    }
    model = pb.ProperBoostClassifier(**settings, n_estimators=20).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=1e-6)
    for rows, raw in zip(deal_to_bags(y), raw_of_bags(model, X), strict=True):
        p = model.loss_.probability(raw[rows, 0])
        assert p.mean() == pytest.approx(y[rows].mean(), abs=1e-6)


def test_a_search_fits_bags_with_what_it_chose():
    X, y = small()
    search = pb.ProperBoostClassifierCV(
        space={"outer_bags": 4, "gain": [1.0, 4.0]}, effort=None, cv=3
    )
    search.fit(X, y)
    again = pb.ProperBoostClassifier(**search.best_params_).fit(X, y)
    assert np.array_equal(search.decision_function(X), again.decision_function(X))
    assert np.array_equal(search.predict_interval(X), again.predict_interval(X))


def test_a_search_has_bags_of_models_that_can_be_read():
    X, y = small()
    for settings in ({"readable": True}, {"space": {"weak_learner": "stump"}}):
        search = pb.ProperBoostClassifierCV(cv=3, **settings).fit(X, y)
        assert search.best_params_["outer_bags"] == 16
        again = pb.ProperBoostClassifier(**search.best_params_).fit(X, y)
        assert np.array_equal(search.decision_function(X), again.decision_function(X))
    for settings in (
        {"readable": True, "effort": 1},
        {"readable": True, "space": {"outer_bags": 0}},
        {"effort": None},
        {"space": {"weak_learner": "stump"}, "effort": 2},
        {"space": {"weak_learner": pb.Tree(max_depth=6)}, "max_estimators": 20},
    ):
        search = pb.ProperBoostClassifierCV(cv=3, **settings).fit(X, y)
        assert search.best_estimator_.outer_bags == 0
    # Rows that depend on each other, of which too few groups have a class.
    split = np.arange(500), np.arange(500, 700)
    search = pb.ProperBoostClassifierCV(readable=True, cv=[split])
    search.fit(X, y, groups=np.where(y == 1, -1, np.arange(len(y))))
    assert search.best_estimator_.outer_bags == 0


@pytest.mark.parametrize("settings", [{}, {"selection": "cyclic"}, {"interactions": 1}])
def test_a_weight_of_2_is_the_row_twice_where_groups_join_the_copies(settings):
    X, y = small()
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    settings = {"outer_bags": 16, "n_estimators": 10, **settings}
    one = pb.ProperBoostClassifier(**settings).fit(X, y, weight, groups=np.arange(len(y)))
    other = pb.ProperBoostClassifier(**settings).fit(X[rows], y[rows], groups=rows)
    expected = other.decision_function(X)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(one.decision_function(X), expected, atol=1e-5 * scale)
    np.testing.assert_allclose(one.predict_interval(X), other.predict_interval(X), atol=1e-4)


def test_groups_are_of_bags_alone():
    X, y = small()
    groups = np.arange(len(y)) // 7
    plain, grouped = (
        pb.ProperBoostClassifier(outer_bags=4, n_estimators=10, weak_learner="table").fit(
            X, y, groups=bag_groups
        )
        for bag_groups in (None, groups)
    )
    assert log_loss(y, grouped.predict_proba(X)) != log_loss(y, plain.predict_proba(X))
    without = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table")
    assert np.array_equal(
        without.fit(X, y, groups=groups).decision_function(X),
        without.fit(X, y).decision_function(X),
    )
    with pytest.raises(ValueError, match="groups must have an entry for each of the 700 rows"):
        without.fit(X, y, groups=groups[1:])
