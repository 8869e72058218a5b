"""Models, and the probabilities of rows that they were not trained on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv

from properboost.data.distinct import find_distinct
from properboost.data.frames import take_rows
from properboost.data.labels import find_classes, read_groups, read_labels
from properboost.data.lending import lend
from properboost.estimators.any_classifier import require_classifier, require_fitted
from properboost.parameters.splitters import CV

__all__ = ["HeldOut", "hold_out"]

_ADVICE = ": fit it to other rows than these, or set cv=5 for models of folds"


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A model, and the probabilities of rows that it was not trained on."""

    model: Any
    rows: NDArray[np.int64]
    """The positions of the rows in the table."""
    class_of_row: NDArray[np.intp]
    probability: NDArray[np.float64]
    """Shape (n_rows, n_classes)."""


def hold_out(estimator: Any, cv: CV | None, X: Any, y: Any, groups: Any = None) -> list[HeldOut]:
    """Return the fitted `estimator` with all rows, or a model of each CV split with its fold.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted and there is no `cv`.
    ValueError
        If a split trains without a class, the folds do not have every row once, or there are
        `groups` without folds.
    """
    require_classifier("estimator", estimator)
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X must have the shape (n_rows, n_features); got {tuple(X.shape)}")
    n_rows = int(X.shape[0])
    if cv is None:
        require_fitted("estimator", estimator, _ADVICE)
        if groups is not None:
            raise ValueError("groups must be None with cv=None, because there are no folds")
        class_of_row = find_classes(y, n_rows, estimator.classes_)
        return [HeldOut(estimator, np.arange(n_rows), class_of_row, estimator.predict_proba(X))]
    labels = read_labels(y, n_rows)
    return list(_fit_folds(estimator, cv, X, labels, read_groups(groups, n_rows)))


def _fit_folds(
    estimator: Any, cv: CV, X: Any, y: NDArray[Any], groups: NDArray[Any] | None
) -> Iterator[HeldOut]:
    """Fit a clone to the training rows of each split, and predict its fold."""
    classes = find_distinct(y)
    held_out = np.zeros(len(y), dtype=np.int64)
    for k, (train, test) in enumerate(_split(cv, X, y, groups)):
        held_out[test] += 1
        _check_classes(y[train], classes, k)
        model = clone(estimator).fit(take_rows(X, train), y[train])
        probability = model.predict_proba(take_rows(X, test))
        yield HeldOut(model, test, np.searchsorted(classes, y[test]), probability)
    if np.any(held_out != 1):
        row = int(np.argmax(held_out != 1))
        raise ValueError(
            f"cv must hold out every row once; got {cv!r}, which holds out row {row} "
            f"{held_out[row]} times"
        )


def _split(
    cv: CV, X: Any, y: NDArray[Any], groups: NDArray[Any] | None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield the positions of the training rows and of the held-out rows of each split."""
    splitter = check_cv(cv, y, classifier=True)
    for train, test in splitter.split(lend(X), lend(y), lend(groups)):
        yield np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64)


def _check_classes(labels: NDArray[Any], classes: NDArray[Any], k: int) -> None:
    lacking = np.setdiff1d(classes, labels)
    if len(lacking):
        raise ValueError(
            f"cv: split {k} must train on rows of every class; it has none of "
            f"{lacking.tolist()[0]!r}: use fewer or stratified splits"
        )
