"""The terms of a model, as users see them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from properboost.models.terms import Terms

__all__ = ["Term", "list_terms"]


class Term(NamedTuple):
    """A term of a model: a function of one to three features."""

    features: tuple[Any, ...]
    """The features, by name or position."""
    importance: float
    """The standard deviation of its part of the raw prediction over the training rows."""
    standard_error: float | None
    """The standard error of the importance; None if the model has no bags."""
    p_value: float | None
    """The probability of a function as large by chance, the smallest of any class."""


def list_terms(terms: Terms, names: Sequence[str] | None) -> list[Term]:
    """Return the terms that are not 0, the most important first."""
    importances, errors = terms.importances(), terms.importance_errors()
    listed = []
    for k in np.argsort(-importances, kind="stable").tolist():
        if importances[k] == 0.0:
            break
        p_values = [terms.p_value_of(m, k) for m in range(terms.n_models)]
        known = [p_value for p_value in p_values if p_value is not None]
        listed.append(
            Term(
                tuple(j if names is None else str(names[j]) for j in terms.features[k]),
                float(importances[k]),
                None if errors is None else float(errors[k]),
                min(known) if known else None,
            )
        )
    return listed
