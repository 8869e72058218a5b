"""Every parameter that the papers' results depend on, of tables and of searches for these."""

from properboost.estimators.pinned_parameters import TABLES

__all__ = ["RULE", "SEARCH"]

RULE = {"loss": "glog", "response": "real", "step": "guarded"}
"""Those of all tables of BoostLR: the loss, the response and the step."""

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

SEARCH = (
    RULE
    | {name: value for name, value in TABLES.items() if name not in NOT_SEARCHED}
    | {
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
)
"""Those of a search for the gain, whose selection is cyclic."""
