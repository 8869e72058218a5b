"""Estimators whose every parameter is pinned: defaults may change, the results of papers do not.

Only `n_jobs` and `verbose`, on which no result depends, are left to the library.
"""

from typing import Any

from properboost.estimators.arboost import ARBoostClassifier
from properboost.estimators.presets import TABLES, VOTES
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.rado.estimator import RadoBoostClassifier

__all__ = ["make_rados", "make_search", "make_tables", "make_votes"]

RULE = {"loss": "glog", "response": "real", "step": "guarded"}

NOT_SEARCHED = (
    "gain",
    "smoothing",
    "prior",
    "interaction_estimators",
    "temperature",
    "intercept",
    "slope",
    "early_stopping",
    "validation_fraction",
    "warm_start",
    "warm_start_bins",
)

SEARCH = {name: value for name, value in TABLES.items() if name not in NOT_SEARCHED} | {
    "gains": "auto",
    "alphas": None,
    "smoothings": [0.0],
    "priors": None,
    "selection": "cyclic",
    "n_estimators": "auto",
    "max_estimators": None,
    "interaction_rate": (1.0, 0.5, 0.25, 0.125),
    "interaction_smoothing": (0.0, 0.1, 0.2, 0.25),
    "one_standard_error": False,
    "calibrate": False,
    "refit": True,
    "cv": 5,
    "scoring": "neg_log_loss",
    "effort": None,
    "readable": False,
    "time_limit": None,
}

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


def make_tables(**given: Any) -> ProperBoostClassifier:
    """Make boosted look-up tables: glog, the real response and guarded steps, greedy selection."""
    return ProperBoostClassifier(**{**TABLES, **RULE, **given})


def make_search(**given: Any) -> ProperBoostClassifierCV:
    """Make a search for the gain of such tables; its selection is cyclic."""
    return ProperBoostClassifierCV(**{**SEARCH, **RULE, **given})


def make_votes(**given: Any) -> ARBoostClassifier:
    """Make an `ARBoostClassifier` of stumps: AdaBoost, as rho is 1."""
    return ARBoostClassifier(**{**VOTES, **given})


def make_rados(**given: Any) -> RadoBoostClassifier:
    """Make a `RadoBoostClassifier` with a ridge."""
    return RadoBoostClassifier(**{**RADOS, **given})
