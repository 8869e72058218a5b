"""Contributions: tables against their shape functions, trees against Shapley's formula itself."""

import importlib.util

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import properboost as pb
from helpers.contributions import check_sum, fit

pd = pytest.importorskip("pandas")

# Not importorskip: shap warns while it is imported, and warnings are errors here.
needs_shap = pytest.mark.skipif(importlib.util.find_spec("shap") is None, reason="needs shap")
either_kind = pytest.mark.parametrize(
    "learner", ["histogram", pytest.param("tree", marks=needs_shap)]
)


# -- tables and trees -----------------------------------------------------------------------------


@either_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_they_add_up_from_the_mean_to_the_raw_prediction(mixed, learner, weighted):
    X, y, weight = mixed
    model = fit(X, y, learner, weight if weighted else None)
    found = model.contributions(X)
    assert found.values.shape == X.shape
    assert (found.names, found.class_label) == (tuple(X), "yes")
    raw = model.decision_function(X)
    check_sum(found, raw)
    mean = np.average(raw, weights=weight if weighted else None)
    np.testing.assert_allclose(found.baseline, mean, atol=1e-9)


@either_kind
def test_those_to_one_of_two_classes_are_the_others_negatives(mixed, learner):
    X, y, _ = mixed
    model = fit(X, y, learner)
    to_yes, to_no = model.contributions(X, "yes"), model.contributions(X, "no")
    np.testing.assert_array_equal(to_yes.values, model.contributions(X).values)
    np.testing.assert_array_equal(to_no.values, -to_yes.values)
    assert to_no.baseline == -to_yes.baseline
    assert to_no.class_label == "no"


@either_kind
def test_of_many_classes_each_has_its_own(iris, learner):
    X, y = iris
    labels = np.array(["a", "b", "c"])
    model = fit(X, labels[y], learner, multiclass="one_vs_rest")
    for k, label in enumerate(labels):
        found = model.contributions(X, label)
        assert found.names == ("feature 0", "feature 1", "feature 2", "feature 3")
        assert found.class_label == label
        check_sum(found, model.decision_function(X)[:, k])
    for label in ("d", 0):
        with pytest.raises(ValueError, match=r"class_ must be one of \['a', 'b', 'c'\]; got"):
            model.contributions(X, label)


@either_kind
def test_a_file_keeps_them(mixed, learner, tmp_path):
    X, y, _ = mixed
    model = fit(X, y, learner)
    model.save_model(tmp_path / "model.json")
    loaded, kept = pb.load_model(tmp_path / "model.json").contributions(X), model.contributions(X)
    np.testing.assert_array_equal(loaded.values, kept.values)
    assert loaded.baseline == kept.baseline


@either_kind
def test_nothing_learnt_is_nothing_added(learner):
    X = np.ones((10, 2))
    found = fit(X, np.arange(10) % 2, learner).contributions(X)
    np.testing.assert_array_equal(found.values, np.zeros((10, 2)))
    assert found.baseline == 0.0


def test_a_fit_comes_first(iris):
    with pytest.raises(NotFittedError):
        pb.ProperBoostClassifier().contributions(iris[0])


# -- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["greedy", "cyclic"])
@pytest.mark.parametrize("learner", ["histogram", "stump"])
def test_of_tables_they_are_shape_functions_about_their_means(mixed, learner, selection):
    X, y, weight = mixed
    model = fit(X, y, learner, weight, selection=selection)
    values = model.contributions(X).values
    for j, name in enumerate(X):
        added = model.shape_function(name)(X[name])
        added -= np.average(added, weights=weight)
        np.testing.assert_allclose(values[:, j], added, atol=1e-12)


def test_a_search_has_them_too(mixed):
    X, y, _ = mixed
    search = pb.ProperBoostClassifierCV(gains=[1.0, 4.0], n_estimators=5, cv=3, effort=None).fit(
        X, y
    )
    check_sum(search.contributions(X), search.decision_function(X))
