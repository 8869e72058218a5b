"""Test `OrderedClassifier`: it finds simulated models, on one scale, as the risk falls."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import properboost as pb

TEXT = "labels that are text have no order without `classes`"
THRESHOLDS = np.array([-3.0, -1.0, 0.5, 2.5])
LEARNERS = [
    {},
    {"selection": "cyclic"},
    {"weak_learner": "stump"},
    {"weak_learner": pb.Tree(max_features=1.0)},
    {"weak_learner": pb.Tree(grow_policy="symmetric", interaction_cst=[{0, 1}])},
    {"weak_learner": pb.Tree(linear_leaves=True, n_draws=2)},
    {"weak_learner": pb.Tree(max_depth=2, max_terms=1)},
    {"weak_learner": "rule"},
    {"interactions": 2},
    {"interactions": [(0, 1)], "monotonic_cst": [1, 0, 0, 0]},
    {"weak_learner": "tree", "monotonic_cst": [1, 0, 0, 0]},
    {"response": "newton", "step": "line_search"},
    {"step": "totally_corrective"},
]


def simulate(n, seed, thresholds=THRESHOLDS):
    """Return rows, F, and labels by logistic noise on F."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    F = 2.0 * X[:, 0] + 1.5 * np.sin(2.0 * X[:, 1])
    return X, F, (F[:, None] + rng.logistic(size=(n, 1)) > thresholds).sum(axis=1)


@parametrize_with_checks(
    [pb.OrderedClassifier(pb.ProperBoostClassifier(n_estimators=5, weak_learner="table"))],
    expected_failed_checks=lambda _: {"check_classifiers_classes": TEXT},
)
@pytest.mark.filterwarnings("ignore:sample_weight has a mean of 3")
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", ["glog", "exponential"])
def test_it_finds_the_model_of_simulated_rows(loss):
    X, F, y = simulate(20_000, 0)
    model = pb.OrderedClassifier(
        pb.ProperBoostClassifier(loss, n_jobs=1, weak_learner="table")
    ).fit(X, y)
    p = model.estimator_.loss_.probability(model.thresholds_)
    log_odds = np.log(p / (1.0 - p))  # on the scale of the logistic noise
    np.testing.assert_allclose(log_odds, THRESHOLDS, atol=0.15)
    slope, _ = np.polyfit(F, model.estimator_.decision_function(X), 1)
    to_logits = np.polyfit(model.thresholds_, log_odds, 1)[0]
    assert slope * to_logits == pytest.approx(1.0, abs=0.06)
    true = np.diff(1.0 / (1.0 + np.exp(F[:, None] - THRESHOLDS)), axis=1)  # the middle classes
    assert np.abs(model.predict_proba(X)[:, 1:-1] - true).mean() < 0.02


def find_risk(model, X, y):
    """Return the mean over rows of the losses of all comparisons with thresholds."""
    F, loss = model.estimator_.decision_function(X), model.estimator_.loss_
    above = np.asarray(y)[:, None] > np.arange(len(model.thresholds_))
    margins = np.where(above, 1.0, -1.0) * (F[:, None] - model.thresholds_)
    return loss.loss(margins).sum(axis=1).mean()


def is_revised(parameters):
    """Whether rounds are solved for or averaged afterwards, so that their risks are not theirs."""
    learner = parameters.get("weak_learner")
    return parameters.get("step") == "totally_corrective" or getattr(learner, "n_draws", 1) > 1


@pytest.mark.parametrize("parameters", LEARNERS, ids=str)
def test_the_risk_falls_with_every_learner_on_one_scale(parameters):
    X, _, y = simulate(1500, 1)
    model = pb.OrderedClassifier(pb.ProperBoostClassifier(n_jobs=1, **parameters)).fit(X, y)
    inner = model.estimator_
    if not is_revised(parameters):
        risks = inner.history_["risk"]
        assert np.all(np.diff(risks) <= 1e-9 * risks[0])
    ends = np.diff(model.thresholds_)
    assert np.all(ends > 0.0)
    (rounds,) = inner.ensemble_.models
    used = rounds.feature if rounds.trees is None else rounds.trees.feature
    assert used.max() < 4 + len(getattr(inner.ensemble_, "pairs", ()))
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert p.min() >= 0.0
    log_loss = -np.log(p[np.arange(len(y)), y]).mean()
    shares = np.bincount(y) / len(y)
    assert log_loss < 0.85 * -np.sum(shares * np.log(shares))
    if "monotonic_cst" in parameters:
        grid = np.tile(X[:1], (50, 1))
        grid[:, 0] = np.linspace(-3.0, 3.0, 50)
        assert np.all(np.diff(inner.decision_function(grid)) >= 0.0)


@pytest.mark.parametrize("loss", ["glog", "gboost"])
def test_thresholds_minimise_the_risk_of_canonical_losses(loss):
    X, _, y = simulate(800, 2)
    model = pb.OrderedClassifier(
        pb.ProperBoostClassifier(loss, n_jobs=1, weak_learner="table")
    ).fit(X, y)
    best, risk = model.thresholds_.copy(), find_risk(model, X, y)
    above = (y[:, None] > np.arange(4)).mean(axis=0)
    F = model.estimator_.decision_function(X)
    for j, share in enumerate(above):
        mean = model.estimator_.loss_.probability(F - best[j]).mean()
        assert mean == pytest.approx(share, abs=1e-9)
        for move in (-1e-3, 1e-3):
            model.thresholds_ = best + move * (np.arange(4) == j)
            assert find_risk(model, X, y) > risk


def test_text_has_the_order_of_classes():
    X, _, y = simulate(600, 3, THRESHOLDS[1:3])
    names = ["low", "middle", "high"]
    text = np.array(names)[y]
    base = pb.ProperBoostClassifier(n_estimators=8, n_jobs=1, weak_learner="table")
    numbers = pb.OrderedClassifier(base).fit(X, y)
    model = pb.OrderedClassifier(base, names).fit(X, text)
    assert model.classes_.tolist() == sorted(names)
    assert model.ordered_classes_.tolist() == names
    places = [names.index(name) for name in sorted(names)]
    np.testing.assert_array_equal(model.predict_proba(X), numbers.predict_proba(X)[:, places])
    np.testing.assert_array_equal(model.predict(X), np.array(names)[numbers.predict(X)])
    score = numbers.ranked_probability_score(X, y)
    assert model.ranked_probability_score(X, text) == score
    metric = pb.metrics.ranked_probability_score
    assert metric(text, model.predict_proba(X)[:, np.argsort(places)], classes=names) == score
    for classes, words in ((None, "from the lowest to the highest"), (names[:2], "each label")):
        with pytest.raises(ValueError, match=words):
            pb.OrderedClassifier(base, classes).fit(X, text)


def test_the_opposite_order_gives_the_opposite_scale():
    X, _, y = simulate(900, 4)
    base = pb.ProperBoostClassifier(n_estimators=20, n_jobs=1, weak_learner="table")
    forth = pb.OrderedClassifier(base).fit(X, y)
    back = pb.OrderedClassifier(base).fit(X, 4 - y)
    np.testing.assert_allclose(back.thresholds_, -forth.thresholds_[::-1], atol=1e-4)
    np.testing.assert_allclose(back.predict_proba(X)[:, ::-1], forth.predict_proba(X), atol=1e-4)


def test_sample_weights_are_frequencies():
    X, _, y = simulate(500, 5)
    weight = np.random.default_rng(0).integers(0, 3, 500)
    base = pb.ProperBoostClassifier(n_estimators=15, n_jobs=1, weak_learner="table")
    weighted = pb.OrderedClassifier(base).fit(X, y, weight)
    repeated = pb.OrderedClassifier(base).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_validation_rows_end_boosting():
    X, _, y = simulate(1200, 6)
    X_val, _, y_val = simulate(600, 7)
    many = {"weak_learner": "tree", "n_estimators": 400, "n_jobs": 1}
    scores = {}
    for scoring in ("neg_log_loss", "neg_brier_score"):
        stopping = pb.EarlyStopping(scoring=scoring, validation_fraction=None)
        base = pb.ProperBoostClassifier(**many, early_stopping=stopping)
        model = pb.OrderedClassifier(base).fit(X, y, X_val=X_val, y_val=y_val)
        assert model.estimator_.n_iter_ < 200
        scores[scoring] = model
    best = scores["neg_brier_score"].estimator_.validation_scores_.max()
    score = scores["neg_brier_score"].ranked_probability_score(X_val, y_val)
    assert -best == pytest.approx(score, rel=0.01)  # the last thresholds are those of all rows
    held_out = pb.ProperBoostClassifier(**many, early_stopping=True)
    groups = np.arange(1200) // 2
    assert pb.OrderedClassifier(held_out).fit(X, y, groups=groups).estimator_.n_iter_ < 200


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"warm_start": True}, "warm_start must be False"),
        ({"multiclass": "softmax"}, "multiclass must be 'auto'"),
        ({"outer_bags": 4}, "outer_bags must be 0"),
        ({"response": "conditional"}, "response must be 'real' or"),
        ({"calibration": pb.Calibration(intercept=0.5)}, r"Calibration\.intercept must be"),
        ({"calibration": pb.Calibration(temperature=2.0)}, r"Calibration\.temperature must be"),
        ({"early_stopping": pb.EarlyStopping(scoring="accuracy")}, r"EarlyStopping\.scoring must"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_not_served_is_refused_by_name(parameters, words):
    X, _, y = simulate(100, 8)
    with pytest.raises(ValueError, match=words):
        pb.OrderedClassifier(pb.ProperBoostClassifier(**parameters)).fit(X, y)


def test_callbacks_are_refused():
    callback = pytest.importorskip("sklearn.callback", reason="they came with scikit-learn 1.9")
    X, _, y = simulate(100, 8)
    base = pb.ProperBoostClassifier(weak_learner="table").set_callbacks(callback.ProgressBar())
    with pytest.raises(ValueError, match="estimator must have no callbacks"):
        pb.OrderedClassifier(base).fit(X, y)


def test_other_estimators_and_tables_are_refused():
    X, _, y = simulate(100, 8)
    with pytest.raises(TypeError, match="estimator must be a ProperBoostClassifier or None"):
        pb.OrderedClassifier(pb.UDTClassifier()).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    table = pb.QuantizedTable.from_batches([frame], "y")
    with pytest.raises(TypeError, match="X must be a table of values"):
        pb.OrderedClassifier().fit(table, None)
    with pytest.raises(ValueError, match="at most 255 ordered classes"):
        pb.OrderedClassifier().fit(np.zeros((256, 1)), np.arange(256))


def test_f_is_explained_as_two_classes_are():
    X, _, y = simulate(700, 9)
    table = pd.DataFrame(X, columns=list("abcd"))
    table["e"] = pd.Categorical(np.where(X[:, 2] > 0.0, "yes", "no"))
    model = pb.OrderedClassifier(
        pb.ProperBoostClassifier(n_jobs=1, interactions=1, weak_learner="table")
    ).fit(table, y)
    inner = model.estimator_
    parts = inner.contributions(table)
    F = inner.decision_function(table)
    np.testing.assert_allclose(parts.values.sum(axis=1) + parts.baseline, F, atol=1e-9)
    assert inner.shape_function("a").values[-1] > inner.shape_function("a").values[0]
    assert inner.feature_importances_.argmax() == 0
    np.testing.assert_allclose(inner.feature_importances_.sum(), 1.0)
    assert model.feature_names_in_.tolist() == list("abcde")


def test_it_is_copied_pickled_and_saved(tmp_path):
    X, _, y = simulate(300, 10)
    base = pb.ProperBoostClassifier(n_estimators=6, n_jobs=1, weak_learner="tree")
    model = pb.OrderedClassifier(base, [4, 3, 2, 1, 0]).fit(X, y)
    expected = model.predict_proba(X)
    for compact in (False, True):
        model.save_model(tmp_path / "model.json", compact=compact)
        loaded = pb.load_model(tmp_path / "model.json")
        np.testing.assert_array_equal(loaded.predict_proba(X), expected)
        assert loaded.ordered_classes_.tolist() == [4, 3, 2, 1, 0]
        again = clone(loaded).fit(X, y)
        np.testing.assert_array_equal(again.predict_proba(X), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), expected)


def test_it_predicts_ordered_classes_better_than_a_softmax():
    X, _, y = simulate(400, 11)
    X_test, _, y_test = simulate(4000, 12)
    base = pb.ProperBoostClassifier(n_jobs=1, weak_learner="table")
    ordered = pb.OrderedClassifier(base).fit(X, y).predict_proba(X_test)
    softmax = base.fit(X, y).predict_proba(X_test)
    scores = [pb.metrics.ranked_probability_score(y_test, p) for p in (ordered, softmax)]
    assert scores[0] < 0.97 * scores[1]


def test_folds_score_it():
    X, _, y = simulate(300, 13)
    scores = cross_val_score(
        pb.OrderedClassifier(pb.ProperBoostClassifier(n_estimators=5)), X, y, cv=3,
        scoring=lambda model, X, y: -model.ranked_probability_score(X, y),
    )  # fmt: skip
    assert np.all(scores > -0.2)
