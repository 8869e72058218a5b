"""An engineer watches a fit on rows of their own, stops it early and goes on later."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, train_test_split
from sklearn.utils.fixes import parse_version

import properboost as pb

needs_callbacks = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="scikit-learn has no callbacks",
)


def test_i_learn_which_of_two_models_is_better(cancer_parts):
    X, X_test, y, y_test = cancer_parts
    tables = pb.ProperBoostClassifier().fit(X, y)
    stumps = pb.ProperBoostClassifier(weak_learner="stump", n_estimators=3).fit(X, y)
    comparison = pb.compare({"tables": tables, "stumps": stumps}, X_test, y_test)
    assert comparison.find_better("log_loss") == "tables"
    print(comparison)


def test_i_stop_early_on_my_own_rows(cancer_parts):
    X, X_val, y, y_val = cancer_parts
    model = pb.ProperBoostClassifier(n_estimators=1000).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.n_iter_ < 1000
    assert model.n_iter_ == 1 + model.validation_scores_.argmax()


def test_the_scores_are_those_that_i_compute_myself(cancer_parts):
    X, X_val, y, y_val = cancer_parts
    model = pb.ProperBoostClassifier(n_estimators=50).fit(X, y, X_val=X_val, y_val=y_val)
    scores = [-log_loss(y_val, p) for p in model.staged_predict_proba(X_val)]
    np.testing.assert_allclose(model.validation_scores_[: model.n_iter_], scores, atol=1e-12)


def test_the_best_round_is_the_model_that_i_keep(cancer_parts):
    X, X_val, y, y_val = cancer_parts
    model = pb.ProperBoostClassifier(gain=0.5).fit(X, y, X_val=X_val, y_val=y_val)
    score = -log_loss(y_val, model.predict_proba(X_val))
    assert score == pytest.approx(model.validation_scores_.max(), abs=1e-12)


def test_i_say_how_long_to_wait(cancer_parts):
    X, X_val, y, y_val = cancer_parts
    model = pb.ProperBoostClassifier(early_stopping=pb.EarlyStopping(n_iter_no_change=5, tol=0))
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert len(model.validation_scores_) == model.n_iter_ + 5


def test_i_stop_by_the_score_that_i_care_about(cancer_parts):
    X, X_val, y, y_val = cancer_parts
    model = pb.ProperBoostClassifier(early_stopping=pb.EarlyStopping(scoring="roc_auc"))
    model.fit(X, y, X_val=X_val, y_val=y_val)
    score = roc_auc_score(y_val, model.predict_proba(X_val)[:, 1])
    assert model.validation_scores_.max() == pytest.approx(score)


def test_i_stop_by_a_cost_of_my_own(cancer_parts):
    X, X_val, y, y_val = cancer_parts

    def cost(estimator, X, y):
        return -float(np.where(y == 0, 5.0, 1.0) @ (estimator.predict(X) != y))

    model = pb.ProperBoostClassifier(early_stopping=pb.EarlyStopping(scoring=cost))
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert model.validation_scores_.max() == cost(model, X_val, y_val)


def test_i_have_no_rows_to_spare_and_let_it_hold_some_out(cancer):
    X, y = cancer
    stopping = pb.EarlyStopping(tol=0.0)
    model = pb.ProperBoostClassifier(early_stopping=stopping, n_estimators=500).fit(X, y)
    scores = model.validation_scores_
    assert model.n_iter_ == 1 + scores.argmax()
    waited = max(20, model.n_iter_ / 2)  # without improvement, "auto"
    assert len(scores) == model.n_iter_ + np.ceil(waited) < 500
    # The fit held out a tenth of the rows; a fit to all of them has the lower log loss.
    whole = pb.ProperBoostClassifier(n_estimators=model.n_iter_).fit(X, y)
    assert log_loss(y, whole.predict_proba(X)) < log_loss(y, model.predict_proba(X))


def test_i_only_want_to_see_the_curve(cancer_parts):
    X, X_val, y, y_val = cancer_parts
    model = pb.ProperBoostClassifier(n_estimators=60, early_stopping=False)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert len(model.validation_scores_) == model.n_iter_ == 60


def test_the_history_is_a_table_with_the_validation_scores(cancer_parts):
    pd = pytest.importorskip("pandas")
    X, X_val, y, y_val = cancer_parts
    model = pb.ProperBoostClassifier(n_estimators=20).fit(X, y, X_val=X_val, y_val=y_val)
    history = pd.DataFrame(model.history_)
    assert {"round", "feature", "risk", "validation_score"} <= set(history.columns)
    assert history["risk"].is_monotonic_decreasing


def test_rows_of_one_patient_are_held_out_together(cancer):
    X, y = cancer
    patient = np.arange(len(y)) // 4
    model = pb.ProperBoostClassifier(early_stopping=True, random_state=0).fit(X, y, groups=patient)
    assert model.n_iter_ <= len(model.validation_scores_)


def test_validation_rows_count_by_their_weights(cancer_parts):
    X, X_val, y, y_val = cancer_parts
    weight = np.where(y_val == 0, 3.0, 1.0)
    model = pb.ProperBoostClassifier(n_estimators=30)
    model.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=weight)
    score = -log_loss(y_val, model.predict_proba(X_val), sample_weight=weight)
    assert model.validation_scores_.max() == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    "what",
    [
        {"weak_learner": "tree"},
        {"interactions": 3},
        {"outer_bags": 4},
        {"class_weight": "balanced"},
        {"selection": "cyclic"},
    ],
    ids=str,
)
def test_whatever_i_fit_stops_early(what, cancer_parts):
    X, X_val, y, y_val = cancer_parts
    model = pb.ProperBoostClassifier(**what, early_stopping=pb.EarlyStopping(n_iter_no_change=5))
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert model.n_iter_ == 1 + model.validation_scores_.argmax()


def test_many_classes_stop_early(digits):
    X, X_val, y, y_val = train_test_split(*digits, random_state=0)
    model = pb.ProperBoostClassifier(weak_learner="tree", learning_rate=0.5, n_estimators=300)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert model.n_iter_ < 300
    assert model.score(X_val, y_val) > 0.95


def test_the_search_waits_by_the_same_words(cancer):
    X, y = cancer
    search = pb.ProperBoostClassifierCV({"gain": 1}, effort=None, n_iter_no_change=3, tol=0.01)
    full = pb.ProperBoostClassifierCV({"gain": 1}, effort=None)
    assert search.fit(X, y).validation_curves_.shape[2] < full.fit(X, y).validation_curves_.shape[2]


def test_area_under_the_curve_costs_what_log_loss_costs(cancer):
    n_scores = []
    for scoring in ("neg_log_loss", "roc_auc", "average_precision"):
        search = pb.ProperBoostClassifierCV({"gain": [1.0, 4.0]}, effort=None, scoring=scoring)
        curves = search.fit(*cancer).validation_curves_
        n_scores.append(np.count_nonzero(~np.isnan(curves)) / curves.shape[2])
    by_log_loss, by_area, by_precision = n_scores
    assert by_area < by_log_loss  # only after 1, 2, ..., 12, 15, ... estimators
    assert by_precision < by_log_loss


def test_cross_validation_keeps_my_groups_together(cancer):
    X, y = cancer
    patient = np.arange(len(y)) // 4
    search = pb.ProperBoostClassifierCV({"gain": 2}, effort=None, cv=GroupKFold(3))
    assert search.fit(X, y, groups=patient).n_splits_ == 3


# -- callbacks ------------------------------------------------------------------------------------


@needs_callbacks
def test_i_see_a_progress_bar(cancer):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    model = pb.ProperBoostClassifier(n_estimators=5).set_callbacks(ProgressBar()).fit(*cancer)
    assert model.n_iter_ == 5


@needs_callbacks
def test_i_log_a_score_after_every_round(cancer):
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring="neg_log_loss")
    pb.ProperBoostClassifier(n_estimators=5).set_callbacks(monitor).fit(*cancer)
    scores = [entry["neg_log_loss"] for entry in monitor.get_logs().data]
    assert len(scores) == 6  # of the fit as a whole, too


class StopAfterThree:
    """A custom callback that ends the fit by returning True."""

    n_seen = 0

    def setup(self, estimator, context):
        """Prepare nothing."""

    def on_fit_task_begin(self, estimator, context):
        """Do nothing at the beginning of a round."""

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.n_seen += 1
        return self.n_seen >= 3

    def teardown(self, estimator, context):
        """Clean up nothing."""


class Alarm(StopAfterThree):
    """A callback that raises."""

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        raise RuntimeError("the budget is spent")


@needs_callbacks
def test_my_callback_ends_the_fit(cancer):
    model = pb.ProperBoostClassifier(n_estimators=50).set_callbacks(StopAfterThree()).fit(*cancer)
    assert model.n_iter_ == 3


@needs_callbacks
def test_my_callback_raises_and_yesterdays_model_is_still_there(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(RuntimeError, match="the budget is spent"):
        model.set_callbacks(Alarm()).fit(X[:100], y[:100])
    np.testing.assert_array_equal(model.predict_proba(X), before)


# -- going on -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weak_learner", ["table", "stump", "tree"])
def test_fifty_rounds_and_fifty_more_are_a_hundred(weak_learner, cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(weak_learner=weak_learner, n_estimators=50).fit(X, y)
    model.set_params(warm_start=True, n_estimators=100).fit(X, y)
    whole = pb.ProperBoostClassifier(weak_learner=weak_learner, n_estimators=100).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_i_go_on_from_a_file(cancer, tmp_path):
    X, y = cancer
    pb.ProperBoostClassifier(n_estimators=50).fit(X, y).save_model(tmp_path / "model.json")
    model = pb.load_model(tmp_path / "model.json")
    model.set_params(warm_start=True, n_estimators=100).fit(X, y)
    whole = pb.ProperBoostClassifier(n_estimators=100).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_i_add_todays_rows_to_yesterdays_model(letters):
    X, y = letters
    model = pb.ProperBoostClassifier(n_estimators=30).fit(X[:2000], y[:2000])
    old = model.decision_function(X)
    model.set_params(warm_start=True, n_estimators=40).fit(X[2000:], y[2000:])
    np.testing.assert_allclose([*model.staged_decision_function(X)][29], old, atol=1e-9)


def test_todays_rows_reach_further_and_get_bins_of_their_own(letters):
    X, y = letters
    model = pb.ProperBoostClassifier(n_estimators=30, warm_start="new_bins")
    model.fit(X[:2000], y[:2000])
    old, most, today = model.decision_function(X[:2000]), X[:2000].max(axis=0), X[2000:] + 5.0
    model.set_params(n_estimators=40).fit(today, y[2000:])
    np.testing.assert_allclose([*model.staged_decision_function(X[:2000])][29], old, atol=1e-9)
    assert max(model.shape_function(0).edges) > most[0]
    # With the old bins, values beyond their ends count as the values at the ends.
    with_old_bins = pb.ProperBoostClassifier(n_estimators=30, warm_start=True).fit(
        X[:2000], y[:2000]
    )
    with_old_bins.set_params(n_estimators=40).fit(today, y[2000:])
    for grown, differ in ((model, True), (with_old_bins, False)):
        raw, at_the_ends = map(grown.decision_function, (today, np.minimum(today, most)))
        assert (raw != at_the_ends).any() == differ


def test_i_boost_what_a_logistic_regression_leaves(cancer_parts):
    X, X_test, y, y_test = cancer_parts
    few = ["mean radius", "mean texture"]
    linear = LogisticRegression(max_iter=1000).fit(X[few], y)
    # With a gain of 1 raw predictions are log-odds, as those of the logistic regression are.
    model = pb.ProperBoostClassifier(gain=1.0, n_estimators=20)
    model.fit(X, y, init_score=linear.decision_function(X[few]))
    p = model.predict_proba(X_test, init_score=linear.decision_function(X_test[few]))
    assert log_loss(y_test, p) < log_loss(y_test, linear.predict_proba(X_test[few]))
