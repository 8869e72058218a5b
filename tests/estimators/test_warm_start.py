"""Test warm starts: a fit that continues another has the bits of one long fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification

import properboost as pb
from helpers.models import same_model

KINDS = {
    "tables": {"weak_learner": "table"},
    "tables of every bin": {"weak_learner": pb.Table(max_cells=None), "gain": 0.3, "prior": 0.01},
    "stumps": {"weak_learner": "stump"},
    "cyclic": {"weak_learner": "table", "selection": "cyclic"},
    "newton": {"weak_learner": "table", "response": "newton", "l2": 1.0},
    "exact": {"weak_learner": "table", "response": "exact"},
    "trees": {"weak_learner": "tree"},
    "drawn trees": {"weak_learner": pb.Tree(max_features=0.5, subsample=0.6)},
    "symmetric trees": {"weak_learner": pb.Tree(grow_policy="symmetric")},
    "lines": {"weak_learner": pb.Tree(linear_leaves=True)},
    "rules": {"weak_learner": "rule"},
    "savage": {"weak_learner": "table", "loss": "savage", "gain": 0.4},
    "line search": {"weak_learner": "table", "step": "line_search"},
    "weights of classes": {"weak_learner": "table", "class_weight": "balanced"},
    "early stopping": {
        "weak_learner": "table",
        "early_stopping": pb.EarlyStopping(validation_fraction=0.1, n_iter_no_change=100),
    },
}


def rows(n_classes):
    if n_classes == 2:
        return make_classification(1200, 6, n_informative=4, flip_y=0.2, random_state=0)
    X, y = load_digits(return_X_y=True)
    return X[:1100, ::3], y[:1100]


def go_on(model, X, y, warm_start=True, **more):
    return model.set_params(warm_start=warm_start, n_estimators=12).fit(X, y, **more)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("n_classes", [2, 10])
def test_two_fits_have_the_bits_of_one(name, n_classes, tmp_path):
    X, y = rows(n_classes)
    whole = pb.ProperBoostClassifier(**KINDS[name], n_estimators=12).fit(X, y)
    half = clone(whole).set_params(n_estimators=6).fit(X, y)
    half.save_model(tmp_path / "half.json")
    loaded = pb.load_model(tmp_path / "half.json")
    for model in (half, loaded):
        go_on(model, X, y)
        assert model.n_iter_ == whole.n_iter_
        assert same_model(model, whole)
        np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
        np.testing.assert_array_equal(model.intercept_, whole.intercept_)


@pytest.mark.parametrize("multiclass", ["softmax", "one_vs_rest"])
@pytest.mark.parametrize("shared", ["one_output_per_tree", "multi_output_tree"])
def test_couplings(multiclass, shared):
    X, y = rows(10)
    tree = pb.Tree(multi_strategy=shared) if multiclass == "softmax" else "tree"
    settings = {"multiclass": multiclass, "weak_learner": tree}
    whole = pb.ProperBoostClassifier(**settings, n_estimators=12).fit(X, y)
    half = clone(whole).set_params(n_estimators=5).fit(X, y)
    assert same_model(go_on(half, X, y), whole)


def test_canonical_coupling_agrees_closely():
    X, y = rows(10)
    whole = pb.ProperBoostClassifier(
        multiclass="canonical", n_estimators=12, weak_learner="table"
    ).fit(X, y)
    half = clone(whole).set_params(n_estimators=6).fit(X, y)
    np.testing.assert_allclose(
        go_on(half, X, y).predict_proba(X), whole.predict_proba(X), atol=1e-5
    )


@given(parts=st.lists(st.integers(1, 6), min_size=1, max_size=4), gain=st.floats(0.2, 8.0))
def test_any_number_of_parts(parts, gain):
    X, y = make_classification(120, 4, random_state=1)
    model = pb.ProperBoostClassifier(
        gain=gain, n_estimators=1, warm_start=True, weak_learner="table"
    )
    whole = pb.ProperBoostClassifier(gain=gain, n_estimators=sum(parts), weak_learner="table").fit(
        X, y
    )
    done = 0
    for part in parts:
        done += part
        model.set_params(n_estimators=done).fit(X, y)
    assert same_model(model, whole)


def test_a_doubtful_slope_multiplies_all_rounds_once(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 2, 80)
    whole = pb.ProperBoostClassifier(n_estimators=12, weak_learner="table").fit(X, y)
    assert whole.slope_ < 1.0
    half = clone(whole).set_params(n_estimators=6).fit(X, y)
    half.save_model(tmp_path / "half.json")
    assert same_model(go_on(half, X, y), whole)
    assert same_model(go_on(pb.load_model(tmp_path / "half.json"), X, y), whole)


def test_with_weights_init_scores_and_threads():
    X, y = rows(2)
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    start = X[:, 0] / 3.0
    whole = pb.ProperBoostClassifier(n_estimators=12, n_jobs=1, weak_learner="table")
    whole.fit(X, y, weight, init_score=start)
    half = clone(whole).set_params(n_estimators=6, n_jobs=3).fit(X, y, weight, init_score=start)
    half.set_params(warm_start=True, n_estimators=12).fit(X, y, weight, init_score=start)
    assert same_model(half, whole)


def test_over_other_rows_the_bins_and_the_rounds_stay():
    X, y = rows(2)
    model = pb.ProperBoostClassifier(n_estimators=6, weak_learner="table").fit(X[:600], y[:600])
    earlier = list(model.staged_decision_function(X))[-1]
    bins = model.ensemble_.binning
    go_on(model, X[600:] + 0.5, y[600:])
    assert model.ensemble_.binning is bins
    assert model.n_iter_ == 12
    stages = list(model.staged_decision_function(X))
    np.testing.assert_array_equal(stages[5], earlier)


@pytest.mark.parametrize("name", ["tables", "trees", "cyclic", "rules"])
def test_new_bins_leave_the_earlier_rounds_as_they_were(name):
    X, y = rows(2)
    model = pb.ProperBoostClassifier(
        n_estimators=6, calibration=pb.Calibration(slope=1.0), **KINDS[name]
    )
    model.fit(X[:600], y[:600])
    earlier = model.decision_function(X)
    old = model.ensemble_.binning.features[0].edges
    go_on(model, X[600:] + 0.5, y[600:], "new_bins")
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(stages[5], earlier, atol=1e-12)
    new = model.ensemble_.binning.features[0].edges
    assert new[-1] > old[-1]
    more = pb.ProperBoostClassifier(
        n_estimators=6, calibration=pb.Calibration(slope=1.0), warm_start=True, **KINDS[name]
    )
    more.fit(X[:600], y[:600])
    go_on(more, X[600:] + 0.5, y[600:])
    assert not same_model(model, more)


def test_new_bins_have_no_lines():
    X, y = rows(2)
    model = pb.ProperBoostClassifier(weak_learner=pb.Tree(linear_leaves=True), n_estimators=3)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"must be False or True with Tree\.linear_leaves"):
        go_on(model, X, y, "new_bins")
    y = X[:, 0] * X[:, 1] > 0.0
    chosen = pb.ProperBoostClassifier(n_estimators=30).fit(X, y)
    assert chosen.weak_learner_.linear_leaves
    with pytest.raises(ValueError, match="not 'new_bins', for trees whose leaves have lines"):
        go_on(chosen.set_params(n_estimators=20), X, y, "new_bins")
    model = pb.ProperBoostClassifier(n_estimators=30, warm_start="new_bins").fit(X, y)
    assert model.weak_learner_ == pb.Table()


@pytest.mark.parametrize("lines_first", [False, True])
def test_trees_with_and_without_lines_follow_each_other(lines_first):
    X, y = rows(2)
    model = pb.ProperBoostClassifier(
        weak_learner=pb.Tree(linear_leaves=lines_first), n_estimators=6
    )
    model.fit(X, y)
    earlier = model.decision_function(X)
    go_on(model.set_params(weak_learner__linear_leaves=not lines_first), X, y)
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(stages[5], earlier, atol=1e-12)
    np.testing.assert_allclose(stages[-1], model.decision_function(X), atol=1e-12)
    assert model.history_["risk"][-1] < model.history_["risk"][5]


def test_it_stops_early_by_all_scores():
    X, y = rows(2)
    settings = {
        "early_stopping": pb.EarlyStopping(n_iter_no_change=5),
        "gain": 0.5,
        "weak_learner": pb.Table(max_cells=None),
    }
    more = {"X_val": X[800:], "y_val": y[800:]}
    whole = pb.ProperBoostClassifier(n_estimators=200, **settings).fit(X[:800], y[:800], **more)
    part = pb.ProperBoostClassifier(n_estimators=3, **settings).fit(X[:800], y[:800], **more)
    part.set_params(warm_start=True, n_estimators=200).fit(X[:800], y[:800], **more)
    assert same_model(part, whole)
    np.testing.assert_array_equal(part.validation_scores_, whole.validation_scores_)


def test_nothing_is_left_to_do():
    X, y = rows(2)
    model = pb.ProperBoostClassifier(n_estimators=6, weak_learner="table").fit(X, y)
    before = model.decision_function(X)
    model.set_params(warm_start=True).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_the_first_fit_is_a_plain_one():
    X, y = rows(2)
    warm = pb.ProperBoostClassifier(n_estimators=3, warm_start=True, weak_learner="table").fit(X, y)
    assert same_model(
        warm, pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    )


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ({"interactions": 1}, {}, "warm_start must be False with interactions"),
        (
            {"weak_learner": pb.Tree(subsample=0.5, n_draws=2)},
            {},
            "warm_start must be False with n_draws above 1",
        ),
        ({"outer_bags": 4}, {}, "warm_start must be False with outer_bags"),
        (
            {"step": "totally_corrective"},
            {},
            "warm_start must be False with step='totally_corrective': its steps are solved for",
        ),
        (
            {"calibration": pb.Calibration(slope=0.9)},
            {},
            "warm_start must be False with a slope, intercept or temperature",
        ),
        (
            {"calibration": pb.Calibration(intercept=0.1)},
            {},
            "warm_start must be False with a slope, intercept or temperature",
        ),
        ({}, {"outer_bags": 4}, "warm_start must be False with outer_bags"),
        ({}, {"gain": 3.0}, "loss and gain must stay"),
        ({}, {"loss": "savage"}, "loss and gain must stay"),
        ({}, {"n_estimators": 2}, "n_estimators must be at least the 4 estimators"),
        ({}, {"weak_learner": "tree"}, "weak_learner must stay with warm_start"),
        ({}, {"selection": "cyclic"}, "selection must stay"),
    ],
    ids=str,
)
def test_what_is_refused(first, then, message):
    X, y = rows(2)
    model = pb.ProperBoostClassifier(n_estimators=4, **{"weak_learner": "table"} | first).fit(X, y)
    before = model.decision_function(X)
    model.set_params(warm_start=True, **{"n_estimators": 6, **then})
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_other_classes_columns_and_models_made_monotone_are_refused():
    X, y = rows(2)
    model = pb.ProperBoostClassifier(n_estimators=4, weak_learner=pb.Table(max_cells=None)).fit(
        X, y
    )
    model.set_params(warm_start=True, n_estimators=6)
    with pytest.raises(ValueError, match=r"y must hold the classes \[0, 1\] of the model"):
        model.fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.fit(X[:, :2], y)
    j = int(model.history_["feature"][0])
    model.monotonize(j)
    with pytest.raises(ValueError, match="made monotone afterwards"):
        model.fit(X, y)


def test_an_init_score_is_given_to_both_fits_or_to_neither():
    X, y = rows(2)
    with_scores = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(
        X, y, init_score=X[:, 0]
    )
    with pytest.raises(ValueError, match="unless init_score is given, as it was before"):
        go_on(with_scores, X, y)
    without = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    with pytest.raises(ValueError, match="with init_score, which was not given before"):
        go_on(without, X, y, init_score=X[:, 0])


def test_a_calibrated_model_of_a_search_is_refused():
    X, y = rows(2)
    search = pb.ProperBoostClassifierCV(effort=None, space={"gain": [0.5]}, cv=3).fit(X, y)
    best = search.best_estimator_
    assert not isinstance(best.calibration.slope, str)
    best.set_params(warm_start=True, n_estimators=best.n_estimators + 1)
    with pytest.raises(ValueError, match="a slope, intercept or temperature that is a number"):
        best.fit(X, y)
