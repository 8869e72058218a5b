"""Every parameter that the papers' results depend on, for tables and for searches of these."""

from typing import Any

from properboost.estimators.pinned_parameters import PINNED_LEARNERS, TABLES

__all__ = ["RULE", "pin_search"]

RULE = {"loss": "glog", "response": "real", "step": "guarded"}
"""The parameters of all tables of BoostLR: the loss, the response and the step."""

OF_ROWS = (
    "max_bins",
    "rows_per_bin",
    "categorical_features",
    "class_weight",
    "normalize_weights",
    "random_state",
)

FREE = ("n_jobs", "verbose")
"""Parameters on which no result depends."""

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


def pin_search(**params: Any) -> dict[str, Any]:
    """Return the parameters of a search; its space has the parameters that it lacks."""
    flat = {name: value for name, value in params.items() if name in SEARCH or name in FREE}
    entries = {name: value for name, value in params.items() if name not in flat}
    return {**SEARCH, **flat, "space": {**SPACE, **entries}}
