"""Classifiers from rados with every parameter pinned, as in `reproduce.pinned_tables`."""

from typing import Any

from properboost.rado.estimator import RadoBoostClassifier

__all__ = ["make_rados"]

RADOS = {
    "regularizer": "ridge",
    "omega": 10.0,
    "gamma": None,
    "q": 0.05,
    "l1_ratio": 0.5,
    "ridge_matrix": None,
    "n_rados": "auto",
    "n_estimators": 1000,
    "keep": "loss",
    "fit_intercept": True,
    "categorical_features": "from_dtype",
    "random_state": None,
}


def make_rados(**params: Any) -> RadoBoostClassifier:
    """Make a `RadoBoostClassifier` with a ridge."""
    return RadoBoostClassifier(**{**RADOS, **params})
