"""Merging fitted models into one."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.names import read_names
from properboost.estimators.base import check_fitted, label_features
from properboost.estimators.ordered import OrderedClassifier
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.models.edits import Edit, check_reason
from properboost.models.ensemble import LARGEST_RAW, Ensemble
from properboost.models.merging import merge_ensembles
from properboost.notices import warn
from properboost.visible import make_printable

__all__ = ["merge_models"]


@overload
def merge_models(
    models: Sequence[OrderedClassifier],
    weights: ArrayLike | None = ...,
    *,
    reason: str | None = ...,
) -> OrderedClassifier: ...
@overload
def merge_models(
    models: Sequence[Any], weights: ArrayLike | None = ..., *, reason: str | None = ...
) -> ProperBoostClassifier: ...
def merge_models(
    models: Sequence[Any], weights: ArrayLike | None = None, *, reason: str | None = None
) -> ProperBoostClassifier | OrderedClassifier:
    """Return one model whose raw predictions are the weighted mean of those of several.

    Where rows of hospitals, banks or countries must stay apart, their models can be merged.  Every
    feature is cut where any of the models cuts it, and the tables are averaged; trees stand side by
    side, and tables become trees where another model has trees.

    Parameters
    ----------
    models : sequence of ProperBoostClassifier, or of OrderedClassifier
        Two or more, fitted on the same features to the same classes, under one loss.  Their gains
        may differ: each raw prediction is scaled by its gain, and so counts by its probabilities.
        A search stands for its ``best_estimator_``.  The thresholds of ordered classes have the
        same weighted mean as F.
    weights : array-like of shape (n_models,), optional
        The weight of each model, above 0; only ratios matter.  The default is its training weight
        (the number of rows, without sample weights).
    reason : str, optional
        The reason, for the record (`ProperBoostClassifier.edits_`).

    Returns
    -------
    ProperBoostClassifier or OrderedClassifier
        A fitted model with the parameters and the gain of the first.  It is compact: it has no
        `history_`, no staged predictions and no standard errors, and no fit can go on from it.

    Warns
    -----
    UserWarning
        If tables or lines of a feature have more bins in all models together than a model may
        have, or a pair more cells.  Those that differ least are then joined, and the mean is not
        exact.

    Raises
    ------
    ValueError, TypeError
        If there are fewer than two models, or they do not match; the message names the
        difference.  Models with an `init_score` are refused, and those whose features move
        thresholds.

    Notes
    -----
    InterpretML merges its EBMs in the same way.  Pairs need not be the same in all models: a model
    without a pair counts with a table of zeros.

    Examples
    --------
    >>> import properboost as pb
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> parts = [pb.ProperBoostClassifier().fit(X[k::2], y[k::2]) for k in (0, 1)]
    >>> merged = pb.merge_models(parts)
    >>> bool(merged.score(X, y) > 0.95)
    True
    """
    listed = _list(models)
    if isinstance(listed[0], OrderedClassifier):
        return _merge_ordered(listed, weights, reason)
    return _merge([_read(model, k) for k, model in enumerate(listed)], weights, reason)[0]


def _merge_ordered(
    models: Sequence[Any], weights: ArrayLike | None, reason: str | None
) -> OrderedClassifier:
    """Return the model of the mean F, with the mean thresholds."""
    for k, model in enumerate(models):
        if not isinstance(model, OrderedClassifier):
            raise TypeError(
                f"models[{k}] must be an OrderedClassifier, as models[0]; got "
                f"{type(model).__name__}"
            )
        check_fitted(model)
        if model.moving_features_:
            raise ValueError(
                f"models[{k}] must have thresholds that stay, and {model.moving_features_} move "
                "them: fit with moving_thresholds=False"
            )
    first, *others = models
    for k, other in enumerate(others, 1):
        orders = [model.ordered_classes_.tolist() for model in (first, other)]
        if orders[0] != orders[1]:
            raise ValueError(
                f"models must have the same ordered classes; those of models[0] are {orders[0]}, "
                f"those of models[{k}] {orders[1]}"
            )
    parts = [_read(model.estimator_, k) for k, model in enumerate(models)]
    inner, factors = _merge(parts, weights, reason)
    thresholds = np.array(factors) @ np.array([model.thresholds_ for model in models])
    merged: OrderedClassifier = first._around(inner, thresholds)
    return merged


def _merge(
    parts: Sequence[ProperBoostClassifier], weights: ArrayLike | None, reason: str | None
) -> tuple[ProperBoostClassifier, list[float]]:
    """Return the merged model, and the factor of each model's raw predictions in it."""
    first = parts[0]
    for k, other in enumerate(parts[1:], 1):
        _check_alike(first, other, k)
    shares = _read_weights(weights, parts)
    factors = [
        float(share * _find_ratio(first, model, k))
        for k, (share, model) in enumerate(zip(shares, parts, strict=True))
    ]
    labels = label_features(first)
    union = merge_ensembles([model.ensemble_ for model in parts], factors, labels)
    _check_size(union.ensemble)
    if union.lost:
        _warn_of_loss(union.lost, labels)
    edit = Edit(
        "merge_models",
        reason=check_reason(reason),
        weights=tuple(shares.tolist()),
        edits=tuple(model.ensemble_.edits for model in parts),
    )
    merged = _copy_shared(first, parts)
    merged.ensemble_ = replace(union.ensemble, edits=(edit,))
    merged.loss_ = first.loss_.known_by(sum(model.loss_.rows_known for model in parts))
    return merged, factors


def _list(models: Any) -> list[Any]:
    is_one = isinstance(models, ProperBoostClassifier | OrderedClassifier)
    listed = [] if is_one else list(models)
    if len(listed) < 2:
        raise ValueError(f"models must be two or more; got {len(listed) or 1}")
    return listed


def _read(model: Any, k: int) -> ProperBoostClassifier:
    """Return a fitted model that can be merged."""
    fitted = getattr(model, "best_estimator_", model)
    if not isinstance(fitted, ProperBoostClassifier):
        raise TypeError(
            f"models[{k}] must be a ProperBoostClassifier, or a search for one; got "
            f"{type(model).__name__}"
        )
    check_fitted(fitted)
    if fitted.begins_with_scores_:
        raise ValueError(f"models[{k}] must not begin with an init_score")
    return fitted


def _check_alike(first: ProperBoostClassifier, other: ProperBoostClassifier, k: int) -> None:
    """Refuse a model that does not match the first; the message names the difference."""
    aspects: dict[str, Callable[[ProperBoostClassifier], Any]] = {
        "number of features": lambda model: model.n_features_in_,
        "feature names": _list_names,
        "classes": lambda model: model.classes_.tolist(),
        "loss but for the gain": lambda model: _at_gain_1(model.loss_),
        "multiclass": lambda model: model.multiclass_,
        "temperature": lambda model: model.temperature_,
    }
    for aspect, find in aspects.items():
        value, other_value = find(first), find(other)
        if value != other_value:
            raise ValueError(
                f"models must have the same {aspect}; that of models[0] is {value!r}, that of "
                f"models[{k}] {other_value!r}"
            )


def _find_ratio(first: ProperBoostClassifier, other: ProperBoostClassifier, k: int) -> float:
    """Return the gain of the first model over another's."""
    gain, other_gain = float(first.loss_.gain), float(other.loss_.gain)
    ratio = gain / other_gain
    if not sys.float_info.min <= ratio <= sys.float_info.max:
        raise ValueError(
            "models must have gains whose ratio is a normal float64; that of models[0] is "
            f"{gain!r}, that of models[{k}] {other_gain!r}"
        )
    return ratio


def _check_size(ensemble: Ensemble) -> None:
    largest = np.abs(ensemble.intercept).max()
    if max(rounds.bound() for rounds in ensemble.models) + largest > LARGEST_RAW:
        raise ValueError(f"models must not add up to raw predictions beyond {LARGEST_RAW:g}")


def _warn_of_loss(lost: Mapping[tuple[int, ...], float], labels: Sequence[str]) -> None:
    """Warn that terms are coarser than the models', with the largest change by that."""
    names = [" with ".join(make_printable(labels[j]) for j in term) for term in lost]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    warn(
        "the models have more bins together than one model can have: in "
        f"{', '.join(names[:3])}{more} the bins or cells that differ least were joined, which "
        f"moves raw predictions from their mean by up to {sum(lost.values()):.2g}"
    )


def _copy_shared(
    first: ProperBoostClassifier, models: Sequence[ProperBoostClassifier]
) -> ProperBoostClassifier:
    """Return a copy of the first model without the attributes that the others do not share."""
    merged = copy(first)
    single = ["validation_scores_", "search_"]
    if any(model.spelling_ != first.spelling_ for model in models):
        single.append("spelling_")
    for name in single:
        merged.__dict__.pop(name, None)
    return merged


def _list_names(model: ProperBoostClassifier) -> list[str] | None:
    names = read_names(model)
    return None if names is None else list(names.values)


def _at_gain_1(loss: Any) -> Any:
    return replace(loss, gain=1.0).known_by(math.inf)


def _read_weights(
    weights: ArrayLike | None, models: Sequence[ProperBoostClassifier]
) -> NDArray[np.float64]:
    """Return the share of each model; they add up to 1."""
    if weights is None:
        values = np.array([float(model.ensemble_.bin_weights[0].sum()) for model in models])
    else:
        values = np.asarray(weights, dtype=np.float64)
        if values.shape != (len(models),):
            raise ValueError(
                f"weights must be {len(models)} numbers, one for each model; got the shape "
                f"{values.shape}"
            )
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise ValueError(f"weights must be finite and above 0; got {values.tolist()}")
    shares: NDArray[np.float64] = values / values.max()
    shares /= shares.sum()
    return shares
