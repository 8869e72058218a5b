"""Effects of features: importances, shape functions and functions of pairs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import NumericBins
from properboost.estimators.base import TableClassifier, describe_training, label_features
from properboost.estimators.boosted import BoostedClassifier
from properboost.inspection.intervals import NOISE_LEVEL
from properboost.inspection.scales import Scale
from properboost.inspection.shape_functions import rename_class
from properboost.models.table_ensemble import TableEnsemble
from properboost.report.content import Effect, PairEffect, Term

__all__ = ["is_additive", "list_effects", "list_pair_effects", "list_terms"]

_SCALES: tuple[Scale, Scale] = ("log_odds", "probability")


def is_additive(model: TableClassifier) -> bool:
    """Whether a model is a sum of shape functions."""
    return isinstance(model, BoostedClassifier) and isinstance(model.ensemble_, TableEnsemble)


def list_terms(model: TableClassifier) -> list[Term]:
    """Return the features and pairs of a model, the most important first; none if unknown."""
    try:
        importances = np.asarray(getattr(model, "feature_importances_", ()), dtype=np.float64)
    except AttributeError:  # of compact trees
        return []
    names = label_features(model)
    if len(importances) != len(names):
        return []
    pairs = []
    if is_additive(model):
        assert isinstance(model, BoostedClassifier)
        pairs = [f"{names[p.first]} and {names[p.second]}" for p in model._pairs()]
        importances = np.concatenate([importances, model.pair_importances_])
    errors = getattr(model, "importance_errors_", None)
    noise = _find_noise(model)
    terms = [
        Term(
            k,
            name,
            k >= len(names),
            float(importances[k]),
            None if errors is None else float(errors[k]),
            None if noise is None else bool(noise[k]),
        )
        for k, name in enumerate([*names, *pairs])
    ]
    return sorted(terms, key=lambda term: -term.importance)


def _find_noise(model: TableClassifier) -> NDArray[np.bool_] | None:
    """Return whether each term may be noise for every class; None without bags."""
    if not isinstance(model, BoostedClassifier) or not isinstance(model.ensemble_, TableEnsemble):
        return None
    if model.ensemble_.standard_errors is None:
        return None
    p_values = np.asarray(model.ensemble_.p_values)
    noisy: NDArray[np.bool_] = np.all(p_values > NOISE_LEVEL, axis=0)
    return noisy


def list_effects(
    model: BoostedClassifier, terms: Sequence[Term], class_: Any, name: str
) -> list[Effect]:
    """Return the shape functions of features of an additive model, for a class of this name."""
    features, _ = describe_training(model)
    effects = []
    for term in terms:
        bins = features[term.place]
        on = [
            rename_class(model.shape_function(term.place, class_, scale=scale), name)
            for scale in _SCALES
        ]
        effects.append(
            Effect(
                term,
                on[0],
                on[1],
                bins.span if isinstance(bins, NumericBins) else None,
            )
        )
    return effects


def list_pair_effects(
    model: BoostedClassifier, terms: Sequence[Term], class_: Any, name: str
) -> list[PairEffect]:
    """Return the functions of pairs of an additive model, for a class of this name."""
    pairs = model._pairs()
    effects = []
    for term in terms:
        pair = pairs[term.place - model.n_features_in_]
        on = [
            rename_class(model.pair_function(pair.first, pair.second, class_, scale=scale), name)
            for scale in _SCALES
        ]
        effects.append(PairEffect(term, on[0], on[1]))
    return effects
