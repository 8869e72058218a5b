"""Test several classes: joint models compared with one-vs-rest."""

import copy
import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, log_softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine

import properboost as pb
from faults.interrupts import interrupted_after
from helpers.models import LEARNERS, assert_same, document_of, load_document, same_model
from helpers.reference.joint import FORMS
from properboost import _core, losses
from properboost.losses.probabilities import Link

pd = pytest.importorskip("pandas")

JOINT = ["glog", "ggauss", "gboost", "glaplacian"]
FORM = {name: "softmax" if name == "glog" else "canonical" for name in JOINT}


def make_rows(n=1200, k=4, seed=0):
    """Return numbers with gaps and a category, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    town = rng.integers(0, 3, n)
    raw = X[:, 0] - np.where(X[:, 1] > 0, 2.0, 0.5) * X[:, 2] + 0.7 * (town == 1)
    raw += rng.logistic(size=n) / 3
    X[rng.random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["town"] = pd.Categorical.from_codes(town, ["Bonn", "Kiel", "Ulm"])
    y = np.searchsorted(np.quantile(raw, np.arange(1, k) / k), raw)
    return frame, np.array([f"class {i}" for i in range(k)])[y]


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.fixture(scope="module")
def few():
    return make_rows(90, 3, seed=1)


def find_codes(model, y):
    return np.searchsorted(model.classes_, y)


def log_likelihoods(model, X, y):
    return model.predict_log_proba(X)[np.arange(len(y)), find_codes(model, y)]


# -- the parameter --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "step", "expected"),
    [
        ("glog", "guarded", "softmax"),
        (losses.GLog(2.0), "unit", "softmax"),
        (losses.Alpha(0.0), "guarded", "softmax"),
        ("ggauss", "guarded", "canonical"),
        ("glaplacian", "line_search", "canonical"),
        (losses.Permissible("mu", 0.3), "guarded", "canonical"),
        (losses.from_pdf(stats.t(3)), "guarded", "canonical"),
        (losses.from_functions(lambda u: expit(-u), name="glog"), "guarded", "canonical"),
        (losses.from_functions(lambda u: expit(-u), name="f", tabulate=False), "unit", None),
        (losses.from_pdf(stats.logistic(), lambda v: -2 * np.sinh(v / 4)), "guarded", None),
        ("exponential", "guarded", None),
        ("savage", "guarded", None),
        ("tangent", "guarded", None),
        ("alpha", "guarded", None),
        ("glog", "leveraging", None),
        ("ggauss", "totally_corrective", None),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:step=")
def test_auto_takes_the_joint_form_of_the_loss(few, loss, step, expected):
    X, y = few
    expected = expected or "one_vs_rest"
    settings = {"loss": loss, "step": step, "n_estimators": 3, "max_bins": 4}
    model = pb.ProperBoostClassifier(**settings).fit(X, y)
    assert model.multiclass_ == expected
    explicit = pb.ProperBoostClassifier(**settings, multiclass=expected).fit(X, y)
    assert same_model(model, explicit)
    np.testing.assert_array_equal(model.predict_proba(X), explicit.predict_proba(X))


def test_glog_has_two_joint_forms(few):
    X, y = few
    softmax, canonical = (
        pb.ProperBoostClassifier(multiclass=form, n_estimators=5, weak_learner="table").fit(X, y)
        for form in ("softmax", "canonical")
    )
    assert canonical.multiclass_ == "canonical"
    assert not same_model(softmax, canonical)


NOT_LOGISTIC, NOT_CANONICAL = "is not the logistic loss", "is not a canonical loss in the engine"
SOLVED = "is solved for in each class alone"
ALONE, CANONICAL = "'auto' or 'one_vs_rest'", "'auto' or 'canonical' or 'one_vs_rest'"


@pytest.mark.parametrize(
    ("loss", "step", "multiclass", "beside", "allowed"),
    [
        ("ggauss", "guarded", "softmax", f"loss='ggauss', which {NOT_LOGISTIC}", CANONICAL),
        ("savage", "guarded", "canonical", f"loss='savage', which {NOT_CANONICAL}", ALONE),
        ("alpha", "unit", "softmax", f"loss='alpha', which {NOT_LOGISTIC}", ALONE),
        ("glog", "leveraging", "softmax", f"step='leveraging', which {SOLVED}", ALONE),
        ("glog", "totally_corrective", "canonical", f"which {SOLVED}", ALONE),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_what_cannot_be_is_refused(iris, loss, step, multiclass, beside, allowed, classes):
    X, y = iris
    model = pb.ProperBoostClassifier(loss, step=step, multiclass=multiclass, weak_learner="table")
    message = (
        rf"multiclass must not be '{multiclass}' with .*{beside}: use {allowed}; got '{multiclass}'"
    )
    with pytest.raises(ValueError, match=message):
        model.fit(X, np.minimum(y, classes - 1))


def test_unknown_couplings_are_refused(iris):
    with pytest.raises(ValueError, match=r"multiclass must be one of 'auto', .*; got 'ovr'"):
        pb.ProperBoostClassifier(multiclass="ovr", weak_learner="table").fit(*iris)


def test_a_joint_model_has_no_constraints(iris):
    with pytest.raises(ValueError, match="monotonic_cst must be None with 3 classes"):
        pb.ProperBoostClassifier(weak_learner="tree", monotonic_cst=[1, 0, 0, 0]).fit(*iris)


def test_two_classes_ignore_the_parameter(binary, tmp_path):
    X, y = binary
    plain = pb.ProperBoostClassifier(n_estimators=8, weak_learner="table").fit(X, y)
    assert plain.multiclass_ is None
    for coupling in ("softmax", "canonical", "one_vs_rest"):
        model = clone(plain).set_params(multiclass=coupling).fit(X, y)
        assert model.multiclass_ is None
        assert same_model(model, plain)
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    plain.save_model(tmp_path / "model.json")
    assert pb.load_model(tmp_path / "model.json").multiclass_ is None


def test_one_vs_rest_is_a_model_per_class(few):
    X, y = few
    settings = {"n_estimators": 6, "gain": 2.0, "calibration": pb.Calibration(slope=1.0)}
    model = pb.ProperBoostClassifier(**settings, multiclass="one_vs_rest").fit(X, y)
    for k, label in enumerate(model.classes_):
        alone = pb.ProperBoostClassifier(**settings).fit(X, y == label)
        np.testing.assert_array_equal(alone.decision_function(X), model.decision_function(X)[:, k])
    p = model.loss_.probability(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True))


def test_presets_stay_one_vs_rest(iris):
    assert pb.LogitBoost(n_estimators=2).fit(*iris).multiclass_ == "one_vs_rest"


# -- probabilities --------------------------------------------------------------------------------


@pytest.mark.parametrize("gain", [0.5, 3.0])
@pytest.mark.parametrize("loss", JOINT)
def test_probabilities_are_those_of_the_joint_loss(rows, loss, gain):
    X, y = rows
    model = pb.ProperBoostClassifier(loss, gain=gain, n_estimators=20, weak_learner="table").fit(
        X, y
    )
    raw, p = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-15)
    reference = FORMS[FORM[loss]](loss)
    expected = reference.log_probabilities(raw[:100] / gain)
    np.testing.assert_allclose(model.predict_log_proba(X)[:100], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])


def test_softmax_is_the_plain_formula(rows):
    X, y = rows
    model = pb.ProperBoostClassifier(gain=2.0, n_estimators=20, weak_learner="table").fit(X, y)
    expected = log_softmax(model.decision_function(X) / 4.0, axis=1)
    np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("loss", JOINT)
@pytest.mark.parametrize("shape", [(8,), (8, 3), (8, 40)])
def test_logarithms_are_finite_where_probabilities_are_not(loss, shape):
    loss_object = losses.LOSSES[loss](0.5)
    raw = 0.5 * 700.0 * np.random.default_rng(0).choice([-1.0, 0.0, 1.0], shape)
    link = Link(loss_object, None if len(shape) == 1 else FORM[loss])
    logs, p = link.log_probabilities(raw), link.probabilities(raw)
    assert np.isfinite(logs).all()
    assert (logs <= 0.0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.exp(logs), p, rtol=1e-9, atol=1e-300)
    if loss == "glog":
        assert logs.min() < -300.0


@pytest.mark.parametrize("loss", JOINT)
@pytest.mark.parametrize("gain", [1e-300, 1.0, 1e300])
def test_raw_predictions_of_any_size_have_probabilities(loss, gain):
    link = Link(losses.LOSSES[loss](gain), FORM[loss])
    for size in (0.0, 1e-300, 1.0, 1e300):
        raw = size * np.random.default_rng(0).choice([-1.0, 0.0, 0.5, 1.0], (50, 4))
        np.testing.assert_allclose(link.probabilities(raw).sum(axis=1), 1.0, rtol=0, atol=1e-12)
        assert np.isfinite(link.log_probabilities(raw)).all()


def test_logarithms_of_two_classes(binary):
    X, y = binary
    for loss in ("glog", "gboost", "exponential"):
        model = pb.ProperBoostClassifier(loss, n_estimators=9, weak_learner="table").fit(X, y)
        logs = model.predict_log_proba(X)
        np.testing.assert_allclose(logs, np.log(model.predict_proba(X)), rtol=1e-9, atol=1e-13)


def test_margins(rows):
    X, y = rows
    model = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X, y)
    right = model.predict(X) == y
    np.testing.assert_array_equal(model.margins(X, y) > 0, right)
    normalized = model.margins(X, y, normalized=True)
    assert abs(normalized).max() <= 1.0
    np.testing.assert_array_equal(normalized > 0, right)


# -- boosting -------------------------------------------------------------------------------------

BOOSTED = {
    "tables": {},
    "smoothed tables": {"weak_learner": pb.Table(smoothing=0.2), "rows_per_bin": 20},
    "widely smoothed tables": {"weak_learner": pb.Table(smoothing=30.0), "rows_per_bin": 5},
    "stumps": {"weak_learner": "stump"},
    "trees": {"weak_learner": pb.Tree(max_leaf_nodes=6)},
    "rules": {"weak_learner": "rule"},
    "cyclic": {"selection": "cyclic", "n_estimators": 6},
    "cyclic stumps": {"selection": "cyclic", "weak_learner": "stump", "n_estimators": 6},
}


@pytest.mark.parametrize("step", ["guarded", "line_search"])
@pytest.mark.parametrize("loss", JOINT)
@pytest.mark.parametrize("response", ["real", "newton"])
@pytest.mark.parametrize("settings", BOOSTED.values(), ids=BOOSTED)
def test_the_joint_risk_never_rises(rows, loss, response, step, settings):
    X, y = rows
    settings = {"n_estimators": 30, "gain": 0.5} | settings
    model = pb.ProperBoostClassifier(loss, response=response, step=step, **settings).fit(X, y)
    history = pd.DataFrame(model.history_)
    by_class = [group["risk"].to_numpy() for _, group in history.groupby("class")]
    assert len(by_class) == 4
    for risk in by_class:
        # Classes share the number of rounds and the risk.
        np.testing.assert_array_equal(risk, by_class[0])
    joint = _core.JointLoss(FORM[loss], model.loss_.native)

    def find_risk(raw):
        z, codes = np.ascontiguousarray(raw / model.loss_.gain), find_codes(model, y)
        total = sum(joint.losses(z[codes == k], k).sum() for k in range(4))
        return model.loss_.gain * total / len(y)

    start = find_risk(np.zeros((len(y), 4)))
    falls = np.diff([start, *by_class[0]])
    assert falls.max() <= 1e-6 * start
    assert falls[0] < 0.0
    assert by_class[0][-1] == pytest.approx(find_risk(model.decision_function(X)), rel=1e-5)


@pytest.mark.parametrize("response", ["sign", "exact"])
@pytest.mark.parametrize("loss", JOINT)
def test_every_response_learns(rows, loss, response):
    X, y = rows
    model = pb.ProperBoostClassifier(
        loss, response=response, n_estimators=20, weak_learner="table"
    ).fit(X, y)
    risk = model.history_["risk"]
    assert np.diff(risk[:20]).max() <= 1e-6 * risk[0]
    assert log_likelihoods(model, X, y).mean() > -1.2


def test_joint_probabilities_are_better():
    X, y = make_rows(3000, 6, seed=3)
    likelihoods = {}
    for coupling in ("softmax", "one_vs_rest"):
        model = pb.ProperBoostClassifier(
            multiclass=coupling, n_estimators=60, gain=2.0, weak_learner="table"
        )
        likelihoods[coupling] = log_likelihoods(
            model.fit(X[:1500], y[:1500]), X[1500:], y[1500:]
        ).mean()
    assert likelihoods["softmax"] > likelihoods["one_vs_rest"] + 0.01


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("loss", ["glog", "ggauss"])
def test_threads_change_nothing(loss, learner):
    X, y = make_rows(20_000, 3, seed=2)
    weight = 0.5 + np.random.default_rng(0).random(len(y))
    model = pb.ProperBoostClassifier(loss, n_estimators=3, max_bins=32, **LEARNERS[learner])
    one, two, four = (clone(model).set_params(n_jobs=n).fit(X, y, weight) for n in (1, 2, 4))
    assert same_model(one, two)
    assert same_model(one, four)
    np.testing.assert_array_equal(one.predict_proba(X), four.predict_proba(X))


@pytest.mark.parametrize("n", [300, 2400])
def test_weights_are_counts(n):
    X, y = make_rows(n, 3, seed=5)
    twice = np.random.default_rng(1).random(n) < 0.5
    both = np.r_[np.arange(n), np.flatnonzero(twice)]
    settings = {"n_estimators": 12, "max_bins": 16, "rows_per_bin": None}
    weighted = pb.ProperBoostClassifier(**settings).fit(X, y, 1.0 + twice)
    repeated = pb.ProperBoostClassifier(**settings).fit(X.iloc[both], y[both])
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=2e-4, rtol=2e-4
    )
    np.testing.assert_allclose(weighted.history_["risk"], repeated.history_["risk"], rtol=1e-5)


def test_class_weights_are_sample_weights(rows):
    X, y = rows
    factor = dict(zip(np.unique(y), (1.0, 2.5, 0.5, 1.0), strict=True))
    settings = {"n_estimators": 5, "rows_per_bin": None}  # rows_per_bin counts no class weights
    by_class = pb.ProperBoostClassifier(class_weight=factor, **settings).fit(X, y)
    weight = np.array([factor[label] for label in y])
    assert same_model(by_class, pb.ProperBoostClassifier(**settings).fit(X, y, weight))
    plain = pb.ProperBoostClassifier(
        n_estimators=5, class_weight="balanced", weak_learner="table"
    ).fit(X, y)
    assert plain.predict_proba(X).mean(axis=0) == pytest.approx(np.full(4, 0.25), abs=0.02)


def test_only_ratios_of_normalised_weights_count(rows):
    X, y = rows
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = pb.ProperBoostClassifier(n_estimators=5, normalize_weights=True, weak_learner="table")
    assert same_model(clone(model).fit(X, y, weight), clone(model).fit(X, y, 1024.0 * weight))


@pytest.mark.parametrize("loss", JOINT)
def test_a_class_with_one_row(loss):
    X, y = make_rows(60, 3, seed=4)
    y = np.where(np.arange(60) == 7, "rare", y)
    model = pb.ProperBoostClassifier(
        loss, n_estimators=20, rows_per_bin=5, weak_learner="table"
    ).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert model.predict_proba(X)[7, list(model.classes_).index("rare")] > 0.05


@pytest.mark.parametrize("loss", ["glog", "gboost"])
@pytest.mark.parametrize("learner", ["table", "tree"])
def test_thirty_rows_of_three_classes(loss, learner):
    X, y = make_rows(30, 3, seed=6)
    model = pb.ProperBoostClassifier(loss, weak_learner=learner, n_estimators=30).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert log_likelihoods(model, X, y).mean() > -np.log(3)


@pytest.mark.parametrize("loss", ["glog", "glaplacian"])
def test_three_hundred_classes(loss):
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 300
    X = np.stack([y // 20 + rng.normal(size=3000) / 3, y % 20 + rng.normal(size=3000) / 3], axis=1)
    model = pb.ProperBoostClassifier(
        loss, n_estimators=8, rows_per_bin=20, weak_learner="table"
    ).fit(X, y)
    assert model.decision_function(X).shape == (3000, 300)
    assert model.score(X, y) > 0.5
    assert log_likelihoods(model, X, y).mean() > -3.0
    total = sum(model.shape_function(0, k).values for k in (0, 150))
    assert np.isfinite(total).all()


def test_an_interrupt_stops_the_fit_and_leaves_no_trace():
    X, y = make_rows(30_000, 5, seed=8)
    model = pb.ProperBoostClassifier(n_estimators=3, n_jobs=2, weak_learner="table").fit(X, y)
    before = model.predict_proba(X)
    model.set_params(n_estimators=100_000)
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.5):
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_progress_counts_the_rounds_of_all_classes(rows, capsys):
    X, y = rows
    pb.ProperBoostClassifier(n_estimators=25, verbose=1, weak_learner="table").fit(X, y)
    assert "100/100" in capsys.readouterr().err


# -- pairs and stages -----------------------------------------------------------------------------


def make_pairs(n=3000):
    """Return classes that depend on two features together, and on others alone."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(n, 6))
    raw = np.stack([2.0 * (X[:, 1] * X[:, 4] > 0), 1.5 * X[:, 0], np.zeros(n)], axis=1)
    return X, (raw + rng.gumbel(size=raw.shape)).argmax(axis=1)


@pytest.mark.parametrize("selection", ["greedy", "cyclic"])
@pytest.mark.parametrize("loss", ["glog", "ggauss"])
def test_pairs_go_on_from_where_features_end(loss, selection):
    X, y = make_pairs()
    settings = {"n_estimators": 10, "selection": selection, "rows_per_bin": 50}
    plain = pb.ProperBoostClassifier(loss, **settings).fit(X, y)
    model = pb.ProperBoostClassifier(
        loss, interactions=pb.Interactions(1, n_estimators=8, learning_rate=1.0), **settings
    ).fit(X, y)
    assert model.pairs_ == [(1, 4)]
    history = pd.DataFrame(model.history_)
    mains = len(plain.history_["risk"]) // 3
    risk = history[history["class"] == 0]["risk"].to_numpy()
    np.testing.assert_array_equal(risk[:mains], plain.history_["risk"][:mains])
    assert np.diff(risk).max() <= 1e-6 * risk[0]
    assert risk[-1] < risk[mains - 1] - 0.05 * risk[0]
    named = clone(model).set_params(interactions__pairs=[(4, 1)]).fit(X, y)
    assert same_model(model, named)


@pytest.mark.parametrize("learner", LEARNERS)
def test_stages_end_with_the_model(rows, learner):
    X, y = rows
    model = pb.ProperBoostClassifier(n_estimators=4, **LEARNERS[learner]).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == model.n_iter_
    np.testing.assert_allclose(stages[-1], model.predict_proba(X), rtol=1e-12)
    for p in stages:
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))


# -- explaining -----------------------------------------------------------------------------------


def centred(raw):
    return raw - raw.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("interactions", [0, 2])
@pytest.mark.parametrize("multiclass", ["softmax", "canonical"])
def test_shape_functions_are_centred_and_add_up(rows, multiclass, interactions):
    X, y = rows
    model = pb.ProperBoostClassifier(
        multiclass=multiclass, n_estimators=15, interactions=interactions, weak_learner="table"
    ).fit(X, y)
    raw = model.decision_function(X)
    assert abs(raw.mean(axis=1)).max() > 1e-3
    for name in X:
        shapes = [model.shape_function(name, label) for label in model.classes_]
        np.testing.assert_allclose(sum(s.values for s in shapes), 0.0, atol=1e-12)
        assert abs(sum(s.missing_value for s in shapes)) < 1e-12
    for k, label in enumerate(model.classes_):
        total = sum(model.shape_function(name, label)(X[name]) for name in X)
        for a, b in model.pairs_:
            total = total + model.term_function((a, b), label)(X[a], X[b])
        np.testing.assert_allclose(total, centred(raw)[:, k], atol=1e-11)
        contributions = model.contributions(X, label)
        np.testing.assert_allclose(
            contributions.baseline + contributions.values.sum(axis=1),
            centred(raw)[:, k],
            atol=1e-11,
        )
    link = Link(model.loss_, model.multiclass_)
    np.testing.assert_allclose(
        link.log_probabilities(centred(raw)), model.predict_log_proba(X), rtol=1e-9, atol=1e-12
    )


def test_importances_do_not_see_what_all_classes_share(rows):
    X, y = rows
    model = pb.ProperBoostClassifier(n_estimators=10, interactions=1, weak_learner="table").fit(
        X, y
    )
    of_terms = [*model.feature_importances_, *model.pair_importances_]
    model.ensemble_.sums[:] += np.random.default_rng(0).normal(size=model.ensemble_.sums.shape[1])
    assert sum(of_terms[:5]) == pytest.approx(1.0)
    spread = []
    for name in X:
        of_classes = []
        for label in model.classes_:
            shape = model.shape_function(name, label)
            values = np.r_[shape.values, shape.missing_value]
            weights = np.r_[shape.weights, shape.missing_weight]
            mean = np.average(values, weights=weights)
            of_classes.append(np.average(abs(values - mean), weights=weights))
        spread.append(np.mean(of_classes))
    pair = model.pair_importances_[0]
    expected = np.array(spread) / sum(spread) * (1.0 - pair)
    (a, b) = (list(X).index(name) for name in model.pairs_[0])
    expected[[a, b]] += pair / 2
    np.testing.assert_allclose(of_terms[:5], expected, rtol=1e-9)


def test_shape_functions_of_many_classes_take_little_memory(monkeypatch, rows):
    X, y = rows
    model = pb.ProperBoostClassifier(n_estimators=6, interactions=1, weak_learner="table").fit(X, y)
    expected = [model.shape_function("a", k).values for k in model.classes_]
    importances = model.feature_importances_
    again = pickle.loads(pickle.dumps(model))
    monkeypatch.setattr(type(again.ensemble_), "_is_sparse", property(lambda _: True))
    for k, values in zip(again.classes_, expected, strict=True):
        np.testing.assert_array_equal(again.shape_function("a", k).values, values)
    np.testing.assert_array_equal(again.feature_importances_, importances)


@pytest.mark.parametrize("learner", ["tree", "rule"])
def test_contributions_of_trees_are_centred(few, learner):
    X, y = few
    model = pb.ProperBoostClassifier(weak_learner=learner, n_estimators=4).fit(X, y)
    raw = model.decision_function(X)
    of_classes = [model.contributions(X, label) for label in model.classes_]
    for k, contributions in enumerate(of_classes):
        np.testing.assert_allclose(
            contributions.baseline + contributions.values.sum(axis=1),
            centred(raw)[:, k],
            atol=1e-11,
        )
    np.testing.assert_allclose(
        sum(contributions.values for contributions in of_classes), 0.0, atol=1e-12
    )
    assert abs(sum(contributions.baseline for contributions in of_classes)) < 1e-12


def test_rules_of_a_class_add_up_to_its_raw_prediction(few):
    X, y = few
    model = pb.ProperBoostClassifier(weak_learner="rule", response="sign", n_estimators=5).fit(X, y)
    assert all(len(model.rules(label)) == 5 for label in model.classes_)


# -- files and pickles ---------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["glog", "gboost", losses.from_pdf(stats.t(3))], ids=str)
@pytest.mark.parametrize("learner", ["table", "tree", "pairs"])
def test_a_joint_model_comes_back(rows, tmp_path, loss, learner):
    X, y = rows
    model = pb.ProperBoostClassifier(loss, n_estimators=4, **LEARNERS[learner]).fit(X, y)
    path = tmp_path / "model.json"
    model.save_model(path)
    copies = [pb.load_model(path), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for other in copies:
        if loss in ("glog", "gboost"):
            assert_same(model, other, X)
        assert other.multiclass_ == model.multiclass_
        np.testing.assert_array_equal(other.predict_log_proba(X), model.predict_log_proba(X))
        if learner != "tree":
            np.testing.assert_array_equal(
                other.shape_function("a", "class 1").values,
                model.shape_function("a", "class 1").values,
            )
    assert same_model(clone(model).fit(X, y), model)
    again = clone(model).set_params(multiclass="one_vs_rest").fit(X, y)
    assert again.multiclass_ == "one_vs_rest"
    assert not same_model(again, model)
    other = model.multiclass_
    model.set_params(multiclass="one_vs_rest")  # the fitted model keeps its own strategy
    np.testing.assert_array_equal(model.predict_proba(X), copies[0].predict_proba(X))
    model.save_model(path)
    assert pb.load_model(path).multiclass_ == other
    assert pb.load_model(path).multiclass == "one_vs_rest"


@pytest.fixture
def document(few, tmp_path):
    X, y = few
    return document_of(
        pb.ProperBoostClassifier("gboost", n_estimators=3, weak_learner="table").fit(X, y), tmp_path
    )


def test_files_of_format_5_are_one_vs_rest(few, document, tmp_path):
    X, _ = few
    assert document["multiclass"] == "canonical"
    old = copy.deepcopy(document)
    del old["multiclass"], old["temperature"], old["compact"]
    del old["parameters"]["multiclass"], old["parameters"]["calibration"]
    old["parameters"] |= {"weak_learner": "histogram", "slope": "auto", "intercept": "auto"}
    old["format_version"] = 5
    model = load_document(old, tmp_path)
    assert model.multiclass == model.multiclass_ == "one_vs_rest"
    raw = load_document(document, tmp_path).decision_function(X)
    np.testing.assert_array_equal(model.decision_function(X), raw)
    p = model.loss_.probability(raw)
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True))
    shape = model.shape_function("a", "class 0")
    total = sum(model.shape_function("a", label).values for label in model.classes_)
    assert abs(total).max() > 0.0
    assert shape.values.shape == total.shape


@pytest.mark.parametrize("value", ["softmax", "auto", None, 1, ["canonical"], {}])
def test_files_hold_couplings_that_the_loss_has(document, tmp_path, value):
    with pytest.raises(ValueError, match=r"other\.json: multiclass must be "):
        load_document({**document, "multiclass": value}, tmp_path)


def test_files_of_two_classes_hold_none(binary, tmp_path):
    document = document_of(
        pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(*binary), tmp_path
    )
    with pytest.raises(ValueError, match="multiclass must be null with two classes"):
        load_document({**document, "multiclass": "softmax"}, tmp_path)


def test_a_file_lacks_nothing(document, tmp_path):
    del document["multiclass"]
    with pytest.raises(ValueError, match="lacks the field 'multiclass'"):
        load_document(document, tmp_path)


def test_trees_are_shared_by_the_classes_or_not(tmp_path):
    X, y = load_wine(return_X_y=True)
    settings = {"weak_learner": pb.Tree(max_leaf_nodes=6), "n_estimators": 6, "rows_per_bin": 5}
    shared = pb.ProperBoostClassifier(**settings).fit(X, y)
    each = clone(shared).set_params(weak_learner__multi_strategy="one_output_per_tree").fit(X, y)

    def splits(model):
        return [(m.trees.feature.tolist(), m.trees.left.tolist()) for m in model.ensemble_.models]

    assert splits(shared)[0] == splits(shared)[1] == splits(shared)[2]
    assert splits(each)[0] != splits(each)[1]
    for model in (shared, each):
        model.save_model(tmp_path / "model.json")
        loaded = pb.load_model(tmp_path / "model.json")
        assert loaded.weak_learner == model.weak_learner
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    # The strategy has no effect where classes are not learnt jointly.
    clone(shared).set_params(multiclass="one_vs_rest").fit(X, y)
    with pytest.raises(ValueError, match=r"Tree\.multi_strategy must be 'multi_output_tree' where"):
        clone(each).set_params(multiclass="one_vs_rest").fit(X, y)


def test_a_search_tries_both_kinds_of_trees_where_classes_are_joint():
    X, y = load_wine(return_X_y=True)
    both = ["one_output_per_tree", "multi_output_tree"]
    search = pb.ProperBoostClassifierCV(
        space={"weak_learner": "tree", "weak_learner__multi_strategy": both, "gain": [10.0]},
        max_estimators=5,
        cv=3,
        effort=None,
    ).fit(X, y)
    tried = [
        (p["multiclass"], p["weak_learner"].multi_strategy) for p in search.cv_results_["params"]
    ]
    assert tried == [("softmax", both[0]), ("softmax", both[1]), ("one_vs_rest", both[1])]
    assert search.best_params_["weak_learner"].multi_strategy in both


def test_trees_shrink_their_steps_by_default():
    X, y = load_breast_cancer(return_X_y=True)
    trees = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=5)
    for settings, rate in (
        ({}, 0.1), ({"gain": 4.0}, 0.4), ({"gain": 20.0}, 1.0), ({"response": "newton"}, 0.1),
        ({"response": "newton", "gain": 4.0}, 0.1), ({"step": "line_search"}, 0.1),
        ({"step": "line_search", "gain": 4.0}, 0.1), ({"learning_rate": 0.7}, 0.7),
        ({"weak_learner": "rule"}, 1.0),
    ):  # fmt: skip
        model = clone(trees).set_params(**settings).fit(X, y)
        same = clone(model).set_params(learning_rate=rate).fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
