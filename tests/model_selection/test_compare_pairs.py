"""Searches for pairs: how many, with which parameters, on top of what, and for how long."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import properboost as pb
from helpers.products import make_interactions, make_rows, search
from properboost.model_selection import search_run
from properboost.model_selection.compare_pairs import ComparedPairs, Winner
from properboost.model_selection.deadline import Deadline


def test_the_first_of_the_best_is_taken():
    found = ComparedPairs()
    for n, score in enumerate([-0.5, -0.4, -0.4, -0.6]):
        tried = Winner(0, None, 10, [], np.array([score]), score)
        found.add({"interactions": n, "interaction_rate": 0.5} if n else {"interactions": 0}, tried)
    assert found.find_best() == 1
    columns = found.columns
    assert columns["interactions"].tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(columns["interaction_rate"], [np.nan, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(columns["mean_test_score"], [-0.5, -0.4, -0.4, -0.6])


def test_one_feature_has_no_pairs():
    X, y = make_rows()
    found = search(effort=None, gains=[1.0], interactions=[1, 2]).fit(X[:, 2:3], y)
    assert found.interaction_results_["interactions"].tolist() == [0]
    assert found.best_score_ == found.cv_results_["mean_test_score"].max()
    assert found.best_params_["interactions"] == 0


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
    search = pb.ProperBoostClassifierCV(
        gains=[1.0], n_estimators=8, selection="greedy", rows_per_bin=None, cv=cv,
        interactions=[0, 2], interaction_rate=[0.5], interaction_smoothing=[0.1],
        multiclass=multiclass, effort=None
    ).fit(X, y)  # fmt: skip
    results = search.interaction_results_
    assert results["interactions"].tolist() == [0, 2]
    scores = []
    temperature = results["temperature"][1] if multiclass == "one_vs_rest" else np.nan
    for train, test in cv.split(X, y):
        model = pb.ProperBoostClassifier(
            n_estimators=8, rows_per_bin=None, interactions=2, interaction_rate=0.5, gain=1.0,
            interaction_smoothing=0.1, multiclass=multiclass, selection="greedy",
            max_cells=10, min_saving=0.5, slope=1.0,
            temperature=None if np.isnan(temperature) else temperature,
        ).fit(X[train], y[train])  # fmt: skip
        p = model.predict_proba(X[test])[np.arange(len(test)), y[test]]
        scores.append(np.log(p).mean())
    assert results["mean_test_score"][1] == pytest.approx(np.mean(scores), rel=2e-4)
    assert results["mean_test_score"][0] == search.cv_results_["mean_test_score"].max()


def test_the_search_chooses_and_refits():
    X, y = make_interactions()
    search = pb.ProperBoostClassifierCV(
        gains=[1.0, 4.0], interactions=[0, 1, 2], cv=3, max_estimators=20, effort=None
    ).fit(X, y)
    assert search.best_params_["interactions"] == 2
    assert search.pairs_ == [(1, 4), (2, 5)]
    assert search.best_score_ == search.interaction_results_["mean_test_score"].max()
    assert search.best_score_ > search.cv_results_["mean_test_score"].max() + 0.05
    again = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), search.decision_function(X))


def test_errors_of_what_is_behind_are_known_where_pairs_are_best():
    X, y = make_rows()
    X = np.sign(X)  # so that every split finds the bins of all rows
    given = {"effort": 2, "readable": True, "interactions": [1], "calibrate": False}
    given |= {"interaction_rate": [0.1], "interaction_smoothing": [0.2]}
    model = search(**given).fit(X, y)
    assert model.family_ == "pairs"
    results, own = model.family_results_, model.cv_results_
    of_pairs = []
    for fitted, held_out in StratifiedKFold(3).split(X, y):
        again = pb.ProperBoostClassifier(**model.best_params_).fit(X[fitted], y[fitted])
        of_pairs.append(-log_loss(y[held_out], again.predict_proba(X[held_out])))
    np.testing.assert_allclose(results["mean_test_score"][-1], np.mean(of_pairs), atol=1e-7)
    np.testing.assert_allclose(results["standard_error"][-1], stats.sem(of_pairs), atol=1e-7)
    for k, at in enumerate(results["best_index"][:-1]):
        scores = [own[f"split{s}_test_score"][at] for s in range(3)]
        error = stats.sem(np.subtract(of_pairs, scores))
        np.testing.assert_allclose(results["behind_error"][k], error, atol=1e-7)
    assert results["behind"][-1] == results["behind_error"][-1] == 0.0
    assert (results["candidates"][-1], results["dropped"][-1]) == (1, 0)


def test_a_time_limit_ends_the_search(monkeypatch):
    X, y = make_rows()
    begun = []

    class Clock(Deadline):
        def __call__(self):  # over when some of the pairs have been looked at
            return bool(begun)

    monkeypatch.setattr(search_run, "Deadline", Clock)
    boost = search_run.SearchRun._boost

    def boost_and_see(run, candidates, split_rows, what):
        if what.endswith("pairs"):
            begun.append(what)
            assert run._race is not None
        return boost(run, candidates, split_rows, what)

    monkeypatch.setattr(search_run.SearchRun, "_boost", boost_and_see)
    with pytest.warns(UserWarning, match="time_limit of 1000.0 seconds is over"):
        model = search(readable=True, interactions=[1, 2], time_limit=1000.0).fit(X, y)
    assert begun == ["1 pairs"]
    assert model.ended_ == "time_limit"
    assert {*model.interaction_results_["interactions"].tolist()} == {0, 1}
    assert model.predict_proba(X).shape == (len(X), 2)
