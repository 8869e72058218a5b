"""Look-up tables with every parameter pinned: defaults may change, papers do not.

Only `n_jobs` and `verbose`, on which no result depends, are left to the library.
"""

from typing import Any

from properboost.estimators.pinned_parameters import PINNED_LEARNERS, TABLES
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.reproduce.pinned_settings import RULE

__all__ = ["make_tables"]


def make_tables(**params: Any) -> ProperBoostClassifier:
    """Make boosted look-up tables: glog, the real response and guarded steps, greedy selection."""
    table = {"weak_learner": PINNED_LEARNERS["table"]}
    return ProperBoostClassifier(**{**TABLES, **RULE, **table, **params})
