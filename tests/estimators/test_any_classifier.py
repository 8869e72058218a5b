"""Test the checks of classifiers that users pass."""

import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import LinearSVC

import properboost as pb
from properboost.estimators.any_classifier import is_fitted, require_classifier, require_fitted

INNER = LogisticRegression(max_iter=200)


@pytest.mark.parametrize(
    "estimator",
    [
        INNER,
        make_pipeline(MinMaxScaler(), INNER),
        GridSearchCV(INNER, {"C": [0.5, 1.0]}, cv=2),
        pb.ProperBoostClassifier(n_estimators=2, weak_learner="table"),
        pb.LeastCostClassifier(INNER),
        pb.ConformalClassifier(INNER, cv=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_fitted_ones_are_told_from_others(estimator):
    estimator = clone(estimator)
    require_classifier("estimator", estimator)
    with pytest.raises(
        NotFittedError, match=r"model must be fitted; this [A-Z][A-Za-z]* is not: fit it"
    ):
        require_fitted("model", estimator, ": fit it")
    X, y = load_iris(return_X_y=True)
    estimator.fit(X, y)
    require_fitted("model", estimator)
    assert is_fitted(FrozenEstimator(estimator))


@pytest.mark.parametrize("other", [None, "model", LinearRegression(), LinearSVC(), MinMaxScaler()])
def test_what_has_no_probabilities_is_refused(other):
    with pytest.raises(TypeError, match="estimator must be a classifier with predict_proba; got"):
        require_classifier("estimator", other)


def test_classes_are_no_classifiers():
    with pytest.raises(TypeError, match="estimator must be a classifier with predict_proba; got"):
        require_classifier("estimator", pb.ProperBoostClassifier)
