"""Searches for pairs: their number, their parameters, the models below them, and time limits."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import properboost as pb
from helpers.products import make_interactions, make_rows
from helpers.searches import PLAIN
from helpers.searches import search_soon as search
from properboost.model_selection import search_run
from properboost.model_selection.compare_pairs import PairComparison, Winner
from properboost.model_selection.deadline import Deadline


def test_the_first_of_the_best_is_taken():
    compared = PairComparison()
    for n, score in enumerate([-0.5, -0.4, -0.4, -0.6]):
        tried = Winner(0, None, 10, [], np.array([score]), score)
        rate = {"interactions__learning_rate": 0.5} if n else {}
        compared.add({"interactions": n, **rate}, tried)
    assert compared.find_best() == 1
    columns = compared.columns
    assert columns["interactions"].tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(columns["interactions__learning_rate"], [np.nan, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(columns["mean_test_score"], [-0.5, -0.4, -0.4, -0.6])


def test_one_feature_has_no_pairs():
    X, y = make_rows()
    model = search({"gain": 1.0, "interactions": [1, 2]}, effort=None).fit(X[:, 2:3], y)
    assert model.interaction_results_["interactions"].tolist() == [0]
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()
    assert model.best_params_["interactions"] == 0


@pytest.mark.parametrize(
    ("n_classes", "multiclass"), [(2, "auto"), (3, "softmax"), (3, "canonical"), (3, "one_vs_rest")]
)
def test_the_search_is_that_of_models_alone(n_classes, multiclass):
    """Each split's scores are those of a model fitted to its training rows alone."""
    random = np.random.default_rng(n_classes)
    X = random.integers(0, 6, (400, 4)).astype(float)
    y = (X[:, 0] * X[:, 1] + 2 * X[:, 2] + random.normal(size=400) * 3).astype(int)
    y = np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))
    cv = StratifiedKFold(3)
    shared = {"gain": 1.0, "n_estimators": 8, "selection": "greedy", "multiclass": multiclass}
    space = {
        **shared, "interactions": [0, 2], "interactions__learning_rate": 0.5,
        "interactions__smoothing": 0.1,
    }  # fmt: skip
    if n_classes == 2:
        del space["multiclass"]
    search = pb.ProperBoostClassifierCV(space, rows_per_bin=None, cv=cv, effort=None).fit(X, y)
    results = search.interaction_results_
    assert results["interactions"].tolist() == [0, 2]
    scores = []
    calibration = PLAIN["calibration"]
    if multiclass == "one_vs_rest":
        temperature = results["calibration__temperature"][1]
        calibration = calibration.replace(
            temperature=None if np.isnan(temperature) else temperature
        )
    for train, test in cv.split(X, y):
        model = pb.ProperBoostClassifier(
            **shared, rows_per_bin=None, weak_learner=PLAIN["weak_learner"],
            interactions=pb.Interactions(2, learning_rate=0.5, smoothing=0.1),
            calibration=calibration,
        ).fit(X[train], y[train])  # fmt: skip
        p = model.predict_proba(X[test])[np.arange(len(test)), y[test]]
        scores.append(np.log(p).mean())
    assert results["mean_test_score"][1] == pytest.approx(np.mean(scores), rel=2e-4)
    assert results["mean_test_score"][0] == search.cv_results_["mean_test_score"].max()


def test_the_search_chooses_and_refits():
    X, y = make_interactions()
    search = pb.ProperBoostClassifierCV(
        {"gain": [1.0, 4.0], "interactions": [0, 1, 2]}, cv=3, max_estimators=20, effort=None
    ).fit(X, y)
    assert search.best_params_["interactions"].pairs == 2
    assert search.pairs_ == [(1, 4), (2, 5)]
    assert search.best_score_ == search.interaction_results_["mean_test_score"].max()
    assert search.best_score_ > search.cv_results_["mean_test_score"].max() + 0.05
    again = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))


def test_errors_of_what_is_behind_are_known_where_pairs_are_best():
    X, y = make_rows()
    X = np.sign(X)  # so that every split finds the bins of all rows
    space = {"interactions": [pb.Interactions(1), 0]}
    model = search(space, effort=2, readable=True, calibrate=False).fit(X, y)
    assert model.family_ == "pairs"
    results, cv_results = model.family_results_, model.cv_results_
    of_pairs = []
    for fitted, held_out in StratifiedKFold(3).split(X, y):
        again = pb.ProperBoostClassifier(**model.best_params_).fit(X[fitted], y[fitted])
        of_pairs.append(-log_loss(y[held_out], again.predict_proba(X[held_out])))
    np.testing.assert_allclose(results["mean_test_score"][-1], np.mean(of_pairs), atol=1e-7)
    np.testing.assert_allclose(results["standard_error"][-1], stats.sem(of_pairs), atol=1e-7)
    for k, at in enumerate(results["best_index"][:-1]):
        scores = [cv_results[f"split{s}_test_score"][at] for s in range(3)]
        error = stats.sem(np.subtract(of_pairs, scores))
        np.testing.assert_allclose(results["behind_error"][k], error, atol=1e-7)
    assert results["behind"][-1] == results["behind_error"][-1] == 0.0
    assert (results["candidates"][-1], results["dropped"][-1]) == (1, 0)


def test_a_time_limit_ends_the_search(monkeypatch):
    X, y = make_rows()
    begun = []

    class Clock(Deadline):
        def __call__(self, needed=0.0):  # passes after some of the pairs were scored
            return bool(begun)

    monkeypatch.setattr(search_run, "Deadline", Clock)
    boost = search_run.SearchRun._boost

    def boost_and_see(run, candidates, split_rows, what, *fixed):
        if what.endswith("pairs"):
            begun.append(what)
            assert run._race is not None
        return boost(run, candidates, split_rows, what, *fixed)

    monkeypatch.setattr(search_run.SearchRun, "_boost", boost_and_see)
    with pytest.warns(UserWarning, match="time_limit of 1000.0 seconds (is over|ended)"):
        model = search({"interactions": [0, 1, 2]}, readable=True, time_limit=1000.0).fit(X, y)
    assert begun == ["1 pairs"]
    assert model.ended_ == "time_limit"
    assert {*model.interaction_results_["interactions"].tolist()} == {0, 1}
    assert model.predict_proba(X).shape == (len(X), 2)


def test_pairs_of_the_space_are_in_the_model_even_where_others_score_better():
    X, y = make_rows(120)
    y = np.random.default_rng(0).permutation(y)
    for settings in ({"effort": None}, {"effort": 2}, {"effort": 3, "time_limit": 1e-6}):
        with warnings.catch_warnings(action="ignore"):
            model = search({"interactions": 2}, **settings).fit(X, y)
        assert model.best_params_["interactions"].pairs == 2
        assert len(model.pairs_) == 2


def test_an_object_is_boosted_with_all_of_its_fields():
    X, y = make_rows()
    wanted = pb.Interactions(2, n_estimators=7, learning_rate=0.3, smoothing=0.05)
    model = search({"interactions": wanted}, effort=1).fit(X, y)
    assert model.best_params_["interactions"] == wanted
    results = model.interaction_results_
    assert results["interactions__n_estimators"].tolist() == [7]
    assert results["interactions__learning_rate"].tolist() == [0.3]
    # Without a number they have as many estimators as the features.
    model = search({"interactions": pb.Interactions(2), "gain": 2.0}, effort=None).fit(X, y)
    assert model.best_params_["interactions"] == pb.Interactions(2)
    assert model.interaction_results_["interactions__n_estimators"] == [model.n_estimators_]


def test_known_pairs_are_compared_with_the_strongest():
    X, y = make_interactions(1000)
    listed = [[(1, 4), (2, 5)], [(0, 3)], 2]
    space = {"gain": 1.0, "interactions": listed, "interactions__smoothing": 0.0}
    model = search(space, effort=None).fit(X, y)
    results = model.interaction_results_
    assert results["interactions"].tolist() == [1, 1, 2, 2, 2, 2]
    scores = results["mean_test_score"]
    assert scores[2:4].tolist() == scores[4:].tolist()  # these are the strongest
    assert scores[2:].min() > scores[:2].max()
    assert model.pairs_ == [(1, 4), (2, 5)]
    alone = search(space | {"interactions": [[(0, 3)]]}, effort=None).fit(X, y)
    assert alone.pairs_ == [(0, 3)]
    assert alone.best_score_ == scores[:2].max()
