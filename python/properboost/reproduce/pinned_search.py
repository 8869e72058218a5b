"""Searches with every parameter pinned, as in `reproduce.pinned_tables`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.reproduce.pinned_settings import pin_search

__all__ = ["make_search"]


def make_search(
    space: Mapping[str, Any] = MappingProxyType({}), **params: Any
) -> ProperBoostClassifierCV:
    """Make a search for the gain of such tables; its selection is cyclic.

    Entries of `space` replace those of the pinned one, and so do parameters that a search lacks.
    """
    return ProperBoostClassifierCV(**pin_search(**space, **params))
