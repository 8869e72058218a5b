"""Test evidence: predictions shrink where features are hardly better than chance."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import log_loss

import properboost as pb
from properboost import _core
from properboost.fitting.evidence import ENOUGH, LEAST

pd = pytest.importorskip("pandas")

LEARNERS = [
    {},
    {"weak_learner": pb.Table(max_cells=None)},
    {"weak_learner": "stump"},
    {"weak_learner": "tree"},
    {"weak_learner": "rule"},
    {"interactions": 2},
]


def make_frame(rng, n):
    """Return flags, numbers with gaps and categories, all uninformative."""
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    frame["flag"] = rng.integers(0, 2, n)
    frame["town"] = pd.Categorical(rng.integers(0, 30, n))
    frame.loc[rng.random(n) < 0.2, "b"] = np.nan
    return frame


def test_the_best_cut_is_the_best_of_all_cuts():
    rng = np.random.default_rng(0)
    for n in (2, 5, 40):
        sums = rng.integers(1, 30, (2, n)).astype(float)
        evidence, freedom = _core.find_evidence(*sums, ordered=True)
        best = max(
            stats.chi2_contingency(np.stack([sums[:, :cut].sum(1), sums[:, cut:].sum(1)]),
                                   correction=False).statistic
            for cut in range(1, n)
        )  # fmt: skip
        # The Hellinger distance may choose another cut.
        assert 0.8 * best < evidence <= best * (1 + 1e-12)
        assert freedom == _core.freedom_of_best_cut(n, True)
        evidence, freedom = _core.find_evidence(*sums, ordered=False)
        all_ = stats.chi2_contingency(sums, correction=False).statistic
        assert 0.7 * all_ < evidence <= all_ * (1 + 1e-12)
        assert freedom == n - 1


@pytest.mark.parametrize("ordered", [False, True])
def test_a_feature_of_one_value_is_no_evidence(ordered):
    assert _core.find_evidence(np.array([5.0, 0]), np.array([9.0, 0]), ordered) == (0.0, 0.0)
    X = np.zeros((40, 3))
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(
        X, np.arange(40) % 4 == 0
    )
    assert model.slope_ == LEAST
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.25, atol=1e-3)


@pytest.mark.parametrize("freedom", [1.0, 2.0, 5.3, 20.0, 200.0])
def test_deviates_are_exceeded_as_rarely_as_chi_squares(freedom):
    """The error of Barndorff-Nielsen's approximation falls as degrees of freedom grow."""
    chi_square = freedom * np.array([0.3, 0.9, 0.9999, 1.0, 1.0005, 1.5, 3.0, 8.0])
    deviates = _core.normal_deviates(chi_square, np.full(8, freedom))
    upper = stats.norm.isf(stats.chi2.sf(chi_square, freedom))
    lower = stats.norm.ppf(stats.chi2.cdf(chi_square, freedom))
    np.testing.assert_allclose(deviates, np.where(upper < 0.0, lower, upper), atol=0.02 / freedom)


def make_flags(n_features):
    """Return a weakly informative flag, weaker ones, and labels."""
    row = np.arange(150)
    X = np.empty((300, n_features))
    X[:150], X[150:] = (row < 70)[:, None], (row < 74)[:, None]
    X[:150, 0], X[150:, 0] = row < 66, row < 88
    return X, np.repeat([0, 1], 150)


def test_the_slope_is_what_is_documented():
    """The slope is 1 - ((1 + 2 log n) / z^2)^4 for n features that vary."""
    settings = {"n_estimators": 1, "rows_per_bin": None}
    alone = pb.ProperBoostClassifier(**settings).fit(*make_flags(1)).slope_
    square = (1.0 - alone) ** -0.25
    evidence = _core.find_evidence(np.array([66.0, 84.0]), np.array([88.0, 62.0]), ordered=True)
    assert square == pytest.approx(stats.norm.isf(stats.chi2.sf(*evidence)) ** 2, rel=0.02)
    for n in (2, 3, 4):
        slope = pb.ProperBoostClassifier(**settings).fit(*make_flags(n)).slope_
        expected = 1.0 - ((1.0 + 2.0 * np.log(n)) / square) ** 4
        assert slope == pytest.approx(expected, rel=1e-12)
        assert LEAST < slope < ENOUGH


def test_features_of_one_value_do_not_count_among_those_compared():
    X, y = make_flags(3)
    settings = {"n_estimators": 1, "rows_per_bin": None}
    slope = pb.ProperBoostClassifier(**settings).fit(X, y).slope_
    wider = np.hstack([X, np.ones((300, 5))])
    assert pb.ProperBoostClassifier(**settings).fit(wider, y).slope_ == slope < 1.0


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_drawn_labels_teach_nothing(learner):
    """The log loss of new rows is at most 1% above that of the training share."""
    ratios, shrunk = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = make_frame(rng, 1200), rng.random(1200) < 0.3
        model = pb.ProperBoostClassifier(**learner, n_estimators=30, random_state=0)
        model.fit(X[:600], y[:600])
        share = np.full(600, y[:600].mean())
        ratios.append(log_loss(y[600:], model.predict_proba(X[600:])) / log_loss(y[600:], share))
        shrunk.append(model.slope_)
        assert model.predict_proba(X[:600])[:, 1].mean() == pytest.approx(share[0], abs=1e-6)
    assert np.mean(ratios) < 1.01
    assert np.median(shrunk) < 0.3
    as_it_is = pb.ProperBoostClassifier(
        **learner, n_estimators=30, random_state=0, calibration=pb.Calibration(slope=1.0)
    )
    p = as_it_is.fit(X[:600], y[:600]).predict_proba(X[600:])
    assert log_loss(y[600:], p) > log_loss(y[600:], model.predict_proba(X[600:]))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_informative_features_are_not_shrunk(learner):
    rng = np.random.default_rng(1)
    X = make_frame(rng, 600)
    y = rng.random(600) < 1 / (1 + np.exp(1 - 1.5 * X["a"]))
    settings = {"n_estimators": 5, "random_state": 0, **learner}
    model = pb.ProperBoostClassifier(**settings).fit(X, y)
    assert model.slope_ == 1.0
    assert model.intercept_ == 0.0
    one = pb.ProperBoostClassifier(**settings, calibration=pb.Calibration(slope=1.0)).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), one.decision_function(X))


def test_pairs_are_evidence_for_models_that_have_them():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 6))
    y = rng.random(1500) < 1 / (1 + np.exp(-2 * X[:, 0] * X[:, 1]))
    for learner in LEARNERS:
        model = pb.ProperBoostClassifier(**learner, n_estimators=5, random_state=0).fit(X, y)
        uses_pairs = "interactions" in learner or model.weak_learner_.is_grown
        assert model.slope_ == 1.0 if uses_pairs else model.slope_ < 0.9


def test_many_uninformative_features_do_not_hide_an_informative_one():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 100))
    y = rng.random(1000) < 1 / (1 + np.exp(-X[:, 7]))
    assert pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, y).slope_ > ENOUGH


@pytest.mark.parametrize("multiclass", ["softmax", "canonical", "one_vs_rest"])
def test_classes_of_a_joint_model_share_their_evidence(multiclass):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(900, 3))
    y = np.where(X[:, 0] > 1, 2, rng.integers(0, 2, 900))  # classes 0 and 1 are alike
    model = pb.ProperBoostClassifier(
        "glog", multiclass=multiclass, n_estimators=5, weak_learner="table"
    ).fit(X, y)
    assert model.slope_.shape == (3,)
    assert model.slope_[2] == 1.0
    if multiclass != "one_vs_rest":
        np.testing.assert_array_equal(model.slope_, 1.0)
    labels = rng.integers(0, 3, 900)
    drawn = pb.ProperBoostClassifier(
        "glog", multiclass=multiclass, n_estimators=5, weak_learner="table"
    ).fit(X, labels)
    assert drawn.slope_.max() < 0.9
    share = np.bincount(labels) / 900
    np.testing.assert_allclose(drawn.predict_proba(X).mean(axis=0), share, atol=1e-2)


@pytest.mark.parametrize("learner", [{"weak_learner": "table"}, {"weak_learner": "tree"}], ids=str)
def test_a_weight_of_2_is_the_row_twice(learner):
    slopes = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 9, (300, 4)).astype(float)
        y = rng.random(300) < 0.35 + 0.01 * X[:, 1]
        weight = rng.integers(1, 3, 300)
        again = np.repeat(np.arange(300), weight)
        settings = {"n_estimators": 2, "rows_per_bin": None, **learner}
        once = pb.ProperBoostClassifier(**settings).fit(X, y, weight.astype(float))
        often = pb.ProperBoostClassifier(**settings).fit(X[again], y[again])
        assert once.slope_ == pytest.approx(often.slope_, rel=1e-6)
        slopes.append(once.slope_)
    assert any(LEAST < slope < 1.0 for slope in slopes)


def test_files_keep_the_slope(tmp_path):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y)
    assert model.slope_ < 0.9
    model.save_model(tmp_path / "m.json")
    loaded = pb.load_model(tmp_path / "m.json")
    assert loaded.slope_ == model.slope_
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_threads_make_no_difference():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(4000, 10)), rng.integers(0, 2, 4000)
    slopes = {
        pb.ProperBoostClassifier(n_estimators=1, weak_learner="tree", n_jobs=n).fit(X, y).slope_
        for n in (1, 2, 3)
    }
    assert len(slopes) == 1


def test_a_class_that_weighs_nothing_beside_the_others_is_no_evidence():
    X = np.array([[0], [1], [0]])
    weights = {1: 12.4, 3: 1e169, 5: 2.3e-164}
    model = pb.ProperBoostClassifier(
        class_weight=weights, normalize_weights=True, weak_learner="table"
    )
    assert np.isfinite(model.fit(X, [3, 1, 5]).predict_proba(X)).all()


@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
@pytest.mark.filterwarnings("ignore:class_weight makes rows count")
def test_rules_of_defaults_take_weights_of_any_scale():
    X = np.array([[1], [0], [2]])
    model = pb.ProperBoostClassifier(class_weight={0: 3.0, 1: 3e72, 2: 0.02}, weak_learner="table")
    assert np.isfinite(model.fit(X, [0, 1, 2], np.full(3, 3e219)).predict_proba(X)).all()
