"""Effects of features: importances, shape functions and functions of several features."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import NumericBins
from properboost.estimators.base import TableClassifier, describe_training, label_features
from properboost.estimators.boosted import BoostedClassifier
from properboost.estimators.describing import prepare_terms
from properboost.inspection.intervals import NOISE_LEVEL
from properboost.inspection.scales import Scale
from properboost.inspection.shape_functions import InteractionFunction, rename_class
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.report.content import Effect, PairEffect, Term

__all__ = ["is_additive", "list_effects", "list_pair_effects", "list_terms"]

_SCALES: tuple[Scale, Scale] = ("log_odds", "probability")


def is_additive(model: TableClassifier) -> bool:
    """Whether a model is a sum of functions of at most three features."""
    return isinstance(model, BoostedClassifier) and model.ensemble_.terms is not None


def list_terms(model: TableClassifier) -> list[Term]:
    """Return the features and joint terms of a model, the most important first; none if unknown."""
    names = label_features(model)
    ensemble = getattr(model, "ensemble_", None)
    if isinstance(ensemble, TreeEnsemble) and ensemble.terms is not None:
        assert isinstance(model, BoostedClassifier)
        return _list_terms_of_trees(model, names)
    try:
        importances = np.asarray(getattr(model, "feature_importances_", ()), dtype=np.float64)
    except AttributeError:  # of compact trees
        return []
    if len(importances) != len(names):
        return []
    pairs = []
    if is_additive(model):
        assert isinstance(model, BoostedClassifier)
        assert isinstance(ensemble, TableEnsemble)
        pairs = [f"{names[p.first]} and {names[p.second]}" for p in ensemble.pairs]
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


def _list_terms_of_trees(model: BoostedClassifier, names: Sequence[str]) -> list[Term]:
    """Return the terms of trees; a feature's importance has an equal share of its joint terms'."""
    terms = prepare_terms(model, with_bags=True)
    deviations = terms.importances()
    total = float(deviations.sum()) or 1.0
    alone, errors = deviations / total, terms.importance_errors()
    importances = alone.copy()
    for features, importance in zip(terms.features, alone, strict=True):
        if len(features) > 1:
            importances[list(features)] += importance / len(features)
    noise = _find_noise(model)
    listed = [
        Term(
            k,
            " and ".join(names[j] for j in features),
            len(features) > 1,
            float(importances[k]),
            None if errors is None else float(errors[k] / total),
            None if noise is None else bool(noise[k]),
            None if len(features) > 1 else float(alone[k]),
        )
        for k, features in enumerate(terms.features)
    ]
    return sorted(listed, key=lambda term: -term.importance)


def _find_noise(model: TableClassifier) -> NDArray[np.bool_] | None:
    """Return whether each term may be noise for every class; None without bags."""
    if not isinstance(model, BoostedClassifier) or model.ensemble_.terms is None:
        return None
    terms = prepare_terms(model, with_bags=True)
    if terms.n_bags == 0:
        return None
    p_values = np.array(
        [
            [terms.p_value_of(m, k) for k in range(len(terms.features))]
            for m in range(terms.n_models)
        ],
        dtype=np.float64,  # None is NaN
    )
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
    """Return the functions of several features of an additive model, for a class of this name."""
    terms_of_model = model.ensemble_.terms
    assert terms_of_model is not None
    bins, _ = describe_training(model)
    effects = []
    for term in terms:
        on, features = [], terms_of_model.features[term.place]
        for scale in _SCALES:
            function = model.term_function(features, class_, scale=scale)
            assert isinstance(function, InteractionFunction)
            on.append(rename_class(function, name))
        are_numbers = tuple(isinstance(bins[j], NumericBins) for j in features)
        effects.append(PairEffect(term, on[0], on[1], are_numbers))
    return effects
