"""Searches whose every parameter is pinned, as `reproduce.pinned_tables` has it."""

from typing import Any

from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.reproduce.pinned_settings import SEARCH

__all__ = ["make_search"]


def make_search(**params: Any) -> ProperBoostClassifierCV:
    """Make a search for the gain of such tables; its selection is cyclic."""
    return ProperBoostClassifierCV(**{**SEARCH, **params})
