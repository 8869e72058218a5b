"""Votes with every parameter pinned, as in `reproduce.pinned_tables`."""

from typing import Any

from properboost.estimators.arboost import ARBoostClassifier
from properboost.estimators.pinned_parameters import VOTES

__all__ = ["make_votes"]


def make_votes(**params: Any) -> ARBoostClassifier:
    """Make an `ARBoostClassifier` of stumps: AdaBoost, as rho is 1."""
    return ARBoostClassifier(**{**VOTES, **params})
