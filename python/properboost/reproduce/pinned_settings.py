"""Every parameter that the papers' results depend on, of tables and of searches for these."""

from typing import Any

from properboost.estimators.pinned_parameters import PINNED_LEARNERS, TABLES

__all__ = ["OF_SEARCH", "RULE", "SEARCH", "SPACE"]

RULE = {"loss": "glog", "response": "real", "step": "guarded"}
"""Those of all tables of BoostLR: the loss, the response and the step."""

OF_ROWS = (
    "max_bins",
    "rows_per_bin",
    "categorical_features",
    "class_weight",
    "normalize_weights",
    "random_state",
)

OF_SEARCH = (*OF_ROWS, "n_jobs")
"""Parameters of tables that a search has itself, and not in its space."""

NOT_SEARCHED = ("gain", "n_estimators", "early_stopping", "warm_start", "calibration")

SPACE: dict[str, Any] = (
    RULE
    | {name: value for name, value in TABLES.items() if name not in (*OF_ROWS, *NOT_SEARCHED)}
    | {"weak_learner": PINNED_LEARNERS["table"], "selection": "cyclic"}
)
"""The space of a search for the gain, whose selection is cyclic."""

SEARCH: dict[str, Any] = {name: TABLES[name] for name in OF_ROWS} | {
    "max_estimators": None,
    "n_iter_no_change": "auto",
    "tol": 1e-4,
    "one_standard_error": False,
    "calibrate": False,
    "refit": True,
    "cv": 5,
    "scoring": "neg_log_loss",
    "effort": None,
    "readable": False,
    "time_limit": None,
}
"""The parameters of the search itself."""
