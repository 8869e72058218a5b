"""Test fits to probabilities as labels: against hard labels, doubled rows, and differences."""

from functools import partial

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.model_selection import GroupKFold, KFold

import properboost as pb
from helpers.models import LEARNERS, same_model
from properboost import _core
from properboost.data.labels import read_rows
from properboost.data.soft_labels import read_soft_labels
from properboost.engine import local
from properboost.fitting.bag_assignment import deal
from properboost.models.bag_design import design
from properboost.parameters import boosting

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
X[:, 1] = np.round(X[:, 1])
WEIGHT = RNG.choice([0.0, 0.5, 1.0, 2.0], size=len(X))
FEW = {"weak_learner": "table", "n_estimators": 6, "rows_per_bin": None, "random_state": 3}


def draw_shares(n_classes, seed=0):
    """Return probabilities in eighths that depend on X."""
    rng = np.random.default_rng(seed)
    odds = np.exp(X[:, :n_classes])
    return rng.multinomial(8, odds / odds.sum(axis=1, keepdims=True)) / 8.0


TWO, THREE = draw_shares(2), draw_shares(3)


def repeat_rows(probability, weight=None):
    """Return the rows of labels: their place in the table, label and weight."""
    row, label = np.nonzero(probability)
    share = probability[row, label]
    return row, label, share if weight is None else share * weight[row]


def fit(y, weight=None, x=X, groups=None, **settings):
    return pb.ProperBoostClassifier(**FEW | settings).fit(x, y, weight, groups=groups)


# -- hard labels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", LEARNERS)
def test_probabilities_of_0_and_1_have_the_bits_of_hard_labels(learner, n_classes):
    y = draw_shares(n_classes).argmax(axis=1)
    settings = {**LEARNERS[learner], "class_weight": "balanced", "rows_per_bin": "auto"}
    hard = fit(y, WEIGHT, **settings)
    assert same_model(hard, fit(np.eye(n_classes)[y], WEIGHT, **settings))
    assert same_model(hard, fit(pd.get_dummies(y), WEIGHT, **settings))


@pytest.mark.parametrize(
    "settings", [{"outer_bags": 5}, {"early_stopping": True}, {"n_estimators": None}], ids=str
)
def test_draws_of_rows_are_those_of_hard_labels(settings):
    y = TWO.argmax(axis=1)
    assert same_model(fit(y, **settings), fit(np.eye(2)[y], **settings))


def test_a_search_of_probabilities_of_0_and_1_is_that_of_hard_labels():
    y = TWO.argmax(axis=1)
    search = pb.ProperBoostClassifierCV(effort=1, max_estimators=10, random_state=0)
    hard, soft = search.fit(X, y), pb.ProperBoostClassifierCV(**search.get_params())
    soft.fit(X, np.eye(2)[y])
    assert soft.best_score_ == hard.best_score_
    assert same_model(soft, hard)


# -- doubled rows ---------------------------------------------------------------------------------


@pytest.fixture
def shared(monkeypatch):
    """Return the numbers of rows that the engine takes as rows of several classes, by fit."""
    numbers = []

    class Booster(local.SoftBooster):
        def __init__(self, native, place, parts):
            numbers.append(place.max() + 1)
            super().__init__(native, place, parts)

    monkeypatch.setattr(local, "SoftBooster", Booster)
    return numbers


def assert_doubled(probability, weight=None, *, bits, **settings):
    """Check that a model is one whose rows are repeated for each label, to the bit or nearly."""
    row, label, share = repeat_rows(probability, weight)
    doubled = fit(label, share, X[row], **settings)
    soft = fit(probability, weight, **settings)
    if bits:
        np.testing.assert_array_equal(soft.decision_function(X), doubled.decision_function(X))
        assert same_model(soft, doubled)
        return
    np.testing.assert_allclose(
        soft.decision_function(X), doubled.decision_function(X), rtol=0.0, atol=1e-5
    )
    np.testing.assert_allclose(soft.feature_importances_, doubled.feature_importances_, rtol=1e-4)
    for name in ("risk", "cost"):
        np.testing.assert_allclose(soft.history_[name], doubled.history_[name], rtol=1e-4)
    np.testing.assert_array_equal(soft.history_["feature"], doubled.history_["feature"])


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_fits_doubled_rows(learner, shared):
    n_rows = np.count_nonzero(WEIGHT)
    once = [n_rows] * (0 if learner == "rule" else 2 if "pairs" in learner else 1)
    for labels in (TWO, THREE):
        assert_doubled(labels, WEIGHT, bits=not once, **LEARNERS[learner])
    assert shared == once + once


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("policy", ["best_first", "symmetric"])
def test_lines_in_leaves_fit_doubled_rows(policy, weight, shared):
    lines = pb.Tree(linear_leaves=True, grow_policy=policy)
    for labels in (TWO, THREE):
        assert_doubled(
            labels, weight, bits=False, weak_learner=lines, multiclass="one_vs_rest", rows_per_bin=1
        )
    assert len(shared) == 2


@pytest.mark.parametrize("learner", ["table", "tree"])
@pytest.mark.parametrize("multiclass", ["auto", "one_vs_rest"])
def test_probabilities_of_many_rows_fit_doubled_rows(multiclass, learner, shared):
    rng = np.random.default_rng(6)
    x = np.round(rng.normal(size=(6000, 4)), 1)  # many rows are summed in 32 bits
    odds = np.exp(x[:, :2] + x[:, 2:])
    probability = odds / odds.sum(axis=1, keepdims=True)
    row, label, share = repeat_rows(probability)
    settings = {"weak_learner": learner, "multiclass": multiclass}
    soft, doubled = fit(probability, x=x, **settings), fit(label, share, x[row], **settings)
    np.testing.assert_allclose(
        soft.decision_function(x), doubled.decision_function(x), rtol=0.0, atol=1e-5
    )
    assert len(shared) == 1


@pytest.mark.parametrize("loss", _core.loss_names())
def test_every_loss_fits_doubled_rows(loss):
    assert_doubled(TWO, bits=False, loss=loss)
    assert_doubled(THREE, bits=False, loss=loss, multiclass="one_vs_rest")


@pytest.mark.parametrize("loss", ["glog", "ggauss", "glaplacian", "gboost"])
def test_every_joint_loss_fits_doubled_rows(loss, shared):
    assert_doubled(THREE, bits=False, loss=loss, multiclass="canonical")
    assert_doubled(THREE, WEIGHT, bits=False, loss=loss, multiclass="canonical", response="newton")
    assert len(shared) == 2


@pytest.mark.parametrize("response", _core.response_names())
@pytest.mark.parametrize("multiclass", ["auto", "canonical", "one_vs_rest"])
def test_every_response_and_coupling_fits_doubled_rows(response, multiclass, shared):
    if response == "conditional" and multiclass == "canonical":
        pytest.skip("the conditional response has no joint form")
    assert_doubled(THREE, bits=False, response=response, multiclass=multiclass)
    assert len(shared) == 1


@pytest.mark.parametrize("step", ["unit", "line_search", "leveraging", "totally_corrective"])
def test_every_step_fits_doubled_rows(step, shared):
    solved = step in ("leveraging", "totally_corrective")
    assert_doubled(TWO, bits=solved, step=step)
    assert len(shared) == int(not solved)


@pytest.mark.parametrize("learner", ["table", "tree"])
@pytest.mark.parametrize("step", ["unit", "line_search"])
def test_every_step_of_a_joint_model_fits_doubled_rows(step, learner):
    assert_doubled(THREE, WEIGHT, bits=False, step=step, weak_learner=learner)


@pytest.mark.filterwarnings("ignore:sample_weight has a mean")  # of the doubled rows
@pytest.mark.parametrize("selection", ["unbiased", "cyclic"])
@pytest.mark.parametrize("response", ["real", "newton", "exact"])
def test_many_classes_fit_doubled_rows(response, selection, shared):
    rng = np.random.default_rng(2)
    for n_classes in (4, 5, 19):
        many = rng.multinomial(8, rng.dirichlet(np.ones(n_classes), size=len(X))) / 8.0
        assert_doubled(many, WEIGHT, bits=False, response=response, selection=selection)
    assert len(shared) == 3


@pytest.mark.parametrize(
    "settings",
    [
        {"weak_learner": pb.Tree(subsample=0.6)},
        {"weak_learner": pb.Tree(linear_leaves=True)},
        {"weak_learner": pb.Tree(multi_strategy="one_output_per_tree")},
        {"outer_bags": 4},
        {"screening": 50, "weak_learner": "tree"},
    ],
    ids=str,
)
def test_other_fits_take_a_row_for_each_label(settings, shared):
    fit(THREE, WEIGHT, **settings)
    assert shared == []


@pytest.mark.parametrize(
    "settings",
    [
        {"weak_learner": pb.Tree(subsample=0.6)},
        {"weak_learner": "tree", "response": "newton"},
        {"screening": 50, "weak_learner": "tree"},
    ],
    ids=str,
)
def test_other_fits_of_two_classes_take_a_row_for_each_label(settings, shared):
    fit(TWO, WEIGHT, **settings)
    assert shared == []


@pytest.mark.parametrize(("least", "once"), [(300, True), (200, False)])
def test_large_tables_are_those_of_many_rows(least, once, shared, monkeypatch):
    assert np.count_nonzero(THREE) > 300 > len(X) > 200
    monkeypatch.setattr(boosting, "LEAST_SCREENED", least)
    monkeypatch.setattr(boosting, "LEAST_OF_CLASS", 1)
    fit(THREE)
    assert bool(shared) is once


def test_rows_of_several_classes_do_not_depend_on_threads():
    lines = {"weak_learner": pb.Tree(linear_leaves=True), "multiclass": "one_vs_rest"}
    newton = {"response": "newton", "selection": "cyclic"}
    for settings in ({}, {"weak_learner": "tree"}, newton, lines):
        for labels in (TWO, THREE):
            assert same_model(*(fit(labels, WEIGHT, n_jobs=n, **settings) for n in (1, 3)))


def test_initial_scores_of_a_row_count_once():
    first = np.random.default_rng(4).normal(size=THREE.shape)
    row, label, share = repeat_rows(THREE)
    soft, doubled = pb.ProperBoostClassifier(**FEW), pb.ProperBoostClassifier(**FEW)
    soft.fit(X, THREE, init_score=first)
    doubled.fit(X[row], label, share, init_score=first[row])
    np.testing.assert_allclose(
        soft.decision_function(X, init_score=first),
        doubled.decision_function(X, init_score=first),
        rtol=0.0,
        atol=1e-5,
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_probabilities_fit_doubled_rows(n_classes):
    probability = np.exp(X[:, :n_classes])
    probability /= probability.sum(axis=1, keepdims=True)
    row, label, share = repeat_rows(probability)
    soft = fit(probability)
    doubled = fit(label, share, X[row])
    np.testing.assert_allclose(
        soft.decision_function(X), doubled.decision_function(X), rtol=0.0, atol=1e-5
    )


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr"])
def test_a_search_scores_cross_entropy_as_with_doubled_rows(scoring):
    splits = list(KFold(3).split(X))
    row, label, share = repeat_rows(THREE)
    of_rows = [[np.flatnonzero(np.isin(row, part)) for part in split] for split in splits]
    space = {"gain": [1.0, 2.0], "multiclass": ["auto", "one_vs_rest"]}
    shared = {"scoring": scoring, "max_estimators": 12, **{k: FEW[k] for k in FEW if k[0] == "r"}}
    search = pb.ProperBoostClassifierCV(space, cv=splits, effort=None, **shared).fit(X, THREE)
    doubled = pb.ProperBoostClassifierCV(space, cv=of_rows, effort=None, **shared)
    doubled.fit(X[row], label, share)
    for name in ("mean_test_score", "split1_test_score"):
        np.testing.assert_allclose(search.cv_results_[name], doubled.cv_results_[name], rtol=1e-7)
    assert search.calibration_ == doubled.calibration_
    assert search.held_out_scores_["rows"] == len(X)
    np.testing.assert_allclose(
        search.decision_function(X), doubled.decision_function(X), rtol=0.0, atol=1e-5
    )


def test_the_best_score_is_minus_the_cross_entropy():
    whole = np.clip(np.round(X), -1.0, 1.0)  # the training rows have the bins of all
    train, test = np.arange(160), np.arange(160, 240)
    search = pb.ProperBoostClassifierCV(
        {"n_estimators": 6}, cv=[(train, test)], effort=None, calibrate=False
    ).fit(whole, THREE)
    model = pb.ProperBoostClassifier(**search.best_params_).fit(whole[train], THREE[train])
    entropy = (THREE[test] * np.log(model.predict_proba(whole[test]))).sum(axis=1).mean()
    assert search.best_score_ == pytest.approx(entropy, rel=1e-6)


# -- derivatives ----------------------------------------------------------------------------------


def differentiate(risk, at, h=1e-3):
    """Return the first and second derivative of a function by central differences."""
    up, here, down = risk(at + h), risk(at), risk(at - h)
    return (up - down) / (2 * h), (up - 2 * here + down) / h**2


NEWTON = {
    "n_estimators": 1,
    "response": "newton",
    "step": "unit",
    "learning_rate": 1.0,
    "weak_learner": pb.Table(max_cells=None, smoothing=0.0),
    "calibration": pb.Calibration(slope=1.0, intercept=None),
}
"""One Newton step for each cell of a feature, as it is."""


LEVELS = np.arange(3.0)[np.random.default_rng(1).integers(3, size=len(X)), None]
"""The three values of a feature, each of them a cell."""


@pytest.mark.parametrize("loss", ["glog", "ggauss", "gboost", "exponential", "savage"])
def test_a_newton_step_has_the_derivatives_of_the_mean_loss(loss):
    start = np.full(len(X), 0.3)
    model = pb.ProperBoostClassifier(loss, gain=1.5, **NEWTON)
    model.fit(LEVELS, TWO, init_score=start)
    step = model.decision_function(LEVELS, init_score=start) - start

    def risk(F, share):
        return np.sum(share * model.loss_.loss(F) + (1 - share) * model.loss_.loss(-F))

    for level in range(3):
        rows = LEVELS[:, 0] == level
        share = TWO[rows, 1]
        slope, curvature = differentiate(partial(risk, share=share), 0.3)
        if loss == "savage":  # it takes the expected curvature, as it is not convex
            share = np.full(rows.sum(), model.loss_.probability(0.3))
            curvature = differentiate(partial(risk, share=share), 0.3)[1]
        np.testing.assert_allclose(step[rows], -slope / curvature, rtol=1e-5)


def test_a_joint_newton_step_has_the_derivatives_of_the_mean_loss():
    gain, start = 1.5, np.array([0.3, -0.2, -0.1])
    model = pb.ProperBoostClassifier(gain=gain, multiclass="softmax", **NEWTON)
    first = np.tile(start, (len(X), 1))
    model.fit(LEVELS, THREE, init_score=first)
    step = model.decision_function(LEVELS, init_score=first) - start

    def risk(F_k, k, share):
        F = start.copy()
        F[k] = F_k
        return np.sum(share * (2 * gain * logsumexp(F / (2 * gain)) - F))

    for level in range(3):
        rows = LEVELS[:, 0] == level
        for k in range(3):
            along = partial(risk, k=k, share=THREE[rows])
            slope, curvature = differentiate(along, start[k])
            # Each class goes half of its way, because all of them move.
            np.testing.assert_allclose(step[rows, k], -0.5 * slope / curvature, rtol=1e-5)


# -- rows stay together ---------------------------------------------------------------------------


def test_all_labels_of_a_row_are_in_the_same_bag():
    rows = read_rows(read_soft_labels(THREE), len(X))
    part = deal(rows, design(8).n_parts, 0)
    assert len({*zip(rows.row_of.tolist(), part.tolist(), strict=True)}) == len(X)
    groups = np.arange(len(X)) // 3
    part = deal(rows, design(8).n_parts, 0, groups)
    assert len({*zip(groups[rows.row_of].tolist(), part.tolist(), strict=True)}) == len(X) // 3


def test_a_splitter_sees_each_row_once():
    groups = np.arange(len(X)) // 2
    for cv in (KFold(3), GroupKFold(3), 3, "auto"):
        grouped = groups if isinstance(cv, GroupKFold) else None
        search = pb.ProperBoostClassifierCV(
            {"n_estimators": 3}, cv=cv, effort=None, random_state=0
        ).fit(X, TWO, groups=grouped)
        assert search.held_out_scores_["rows"] == len(X)


def test_early_stopping_holds_out_whole_rows():
    model = fit(THREE, early_stopping=True)
    assert len(model.validation_scores_) > 0
    X_val, y_val, weight = X[:40], THREE[:40], WEIGHT[:40]
    model = pb.ProperBoostClassifier(**FEW).fit(
        X, THREE, X_val=X_val, y_val=y_val, sample_weight_val=weight
    )
    entropy = np.average((y_val * np.log(model.predict_proba(X_val))).sum(axis=1), weights=weight)
    assert model.validation_scores_[-1] == pytest.approx(entropy, rel=1e-6)


def test_a_class_that_is_seldom_the_most_probable_is_held_out_with_others():
    probability = np.column_stack([0.75 * TWO, np.full(len(X), 0.25)])
    probability[7] = [0.1, 0.2, 0.7]
    assert (probability.argmax(axis=1) == 2).sum() == 1
    model = fit(probability, early_stopping=True)
    assert model.classes_.tolist() == [0, 1, 2]


def test_validation_rows_may_have_labels_of_the_other_kind():
    hard = THREE.argmax(axis=1)
    for y, y_val in ((THREE, hard), (hard, THREE)):
        model = pb.ProperBoostClassifier(**FEW).fit(X, y, X_val=X[:40], y_val=y_val[:40])
        target = np.eye(3)[hard[:40]] if y_val is hard else THREE[:40]
        entropy = (target * np.log(model.predict_proba(X[:40]))).sum(axis=1).mean()
        assert model.validation_scores_[-1] == pytest.approx(entropy, rel=1e-6)


@pytest.mark.parametrize("learner", ["table", "tree"])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_a_fit_goes_on_from_probabilities(labels, learner):
    whole = fit(labels, weak_learner=learner)
    begun = fit(labels, weak_learner=learner, n_estimators=2, warm_start=True)
    begun.set_params(n_estimators=6).fit(X, labels)
    np.testing.assert_allclose(begun.predict_proba(X), whole.predict_proba(X), rtol=1e-6)


def test_bins_are_those_of_the_rows():
    hard = THREE.argmax(axis=1)
    for weight in (None, WEIGHT):
        one, other = (fit(y, weight, rows_per_bin="auto") for y in (hard, THREE))
        for a, b in zip(
            one.ensemble_.binning.features, other.ensemble_.binning.features, strict=True
        ):
            np.testing.assert_array_equal(a.edges, b.edges)


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [pb.ARBoostClassifier(), pb.ULSClassifier(), pb.UDTClassifier(), pb.RadoBoostClassifier(),
     pb.ARBoostClassifierCV(), pb.VennAbersClassifier(pb.ProperBoostClassifier(), cv=3),
     pb.ConformalClassifier(pb.ProperBoostClassifier(), cv=3)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_other_estimators_refuse_probabilities(model):
    with pytest.raises(ValueError, match=r"y should be a 1d array.*ProperBoostClassifierCV can"):
        model.fit(X, TWO)


def test_a_scorer_without_weights_is_refused():
    def score(estimator, X, y):
        return 0.0

    with pytest.raises(ValueError, match="scoring must be a scorer that takes sample_weight"):
        pb.ProperBoostClassifierCV(effort=1, scoring=score).fit(X, TWO)
    settings = {**FEW, "early_stopping": pb.EarlyStopping(scoring=score)}
    with pytest.raises(ValueError, match="scoring must be a scorer that takes sample_weight"):
        pb.ProperBoostClassifier(**settings).fit(X, TWO, X_val=X, y_val=TWO)


def test_validation_rows_must_match():
    with pytest.raises(ValueError, match="X_val and y_val must have as many rows; got 240 and 239"):
        pb.ProperBoostClassifier(**FEW).fit(X, TWO, X_val=X, y_val=TWO[1:])
    with pytest.raises(ValueError, match=r"y_val must hold labels among \[0, 1\]; got 2"):
        pb.ProperBoostClassifier(**FEW).fit(X, TWO, X_val=X, y_val=THREE)
    with pytest.raises(ValueError, match=r"y_val .* row 0 adds up to 2"):
        pb.ProperBoostClassifier(**FEW).fit(X, TWO, X_val=X, y_val=2 * TWO)
