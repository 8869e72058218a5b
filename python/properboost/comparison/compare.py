"""The comparison of two fitted classifiers on test rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.comparison.estimates import Sample, Statistic
from properboost.comparison.result import RESERVED, Columns, Comparison, Contrast
from properboost.comparison.scores import Predictions, calibrate, score
from properboost.data.labels import find_classes, read_groups
from properboost.data.weights import read_weights
from properboost.estimators.any_classifier import require_classifier, require_fitted
from properboost.parameters import checks
from properboost.parameters.elsewhere import advise_calls

__all__ = ["compare", "compare_predictions", "predict", "read_models"]

DEFAULT_NAMES = ("first", "second")


@advise_calls("compare([first, second], X_test, y_test)")
def compare(
    models: Sequence[Any] | Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_disagreements: int = 10,
    confidence_level: float = 0.95,
) -> Comparison:
    """Compare two fitted classifiers on the same test rows.

    Parameters
    ----------
    models : list of two classifiers, or dict of their names to them
        Any with `predict`, `predict_proba` and `classes_`: of this package, of scikit-learn, or a
        pipeline.  Both must have the same classes.
    X : table of shape (n_rows, n_features)
        The test rows, which neither model was fitted to or chosen by.
    y : array-like of shape (n_rows,)
        Their labels.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.
    groups : array-like of shape (n_rows,), optional
        The group of each row, such as its customer: rows of a group are not independent.
    n_disagreements : int, default=10
        The rows to list of those that the models disagree on.
    confidence_level : float, default=0.95
        The confidence level of intervals, above 0 and below 1.

    Returns
    -------
    Comparison
        Print it for its tables.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.
    sklearn.exceptions.NotFittedError
        If a model is not fitted.

    Notes
    -----
    Intervals are for new test rows, and the models are fixed.  How much both would change with
    other training rows is a question for cross-validation.

    Each score has an influence of every row, and the standard error of a difference is that of the
    sum of differences of influences: of means it is the paired t-test's, and of AUCs DeLong's [1]_.
    The Brier score of several classes is a sum over them, and their AUC the mean of each against
    the rest.

    References
    ----------
    .. [1] DeLong, DeLong and Clarke-Pearson (1988). Comparing the areas under two or more
       correlated receiver operating characteristic curves. Biometrics 44, 837-845.

    Examples
    --------
    >>> import properboost as pb
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> tables, trees = pb.ProperBoostClassifier(), pb.ProperBoostClassifier(weak_learner="tree")
    >>> models = {"tables": tables.fit(X, y), "trees": trees.fit(X, y)}
    >>> pb.compare(models, X_test, y_test).find_better("log_loss")
    'unclear'
    """
    names, pair = read_models(models)
    classes = np.asarray(pair[0].classes_)
    predictions = [predict(model, X) for model in pair]
    return compare_predictions(
        names,
        predictions,
        classes,
        y,
        sample_weight=sample_weight,
        groups=groups,
        n_disagreements=n_disagreements,
        confidence_level=confidence_level,
    )


def predict(model: Any, X: Any) -> Predictions:
    """Return a model's predictions of rows."""
    probability = np.asarray(model.predict_proba(X), dtype=np.float64)
    codes = find_classes(model.predict(X), len(probability), np.asarray(model.classes_))
    return Predictions(probability, codes)


def compare_predictions(
    names: tuple[str, str],
    predictions: Sequence[Predictions],
    classes: NDArray[Any],
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    n_disagreements: int,
    confidence_level: float,
) -> Comparison:
    """Compare two models' predictions of the same rows; the parameters are those of `compare`."""
    checks.integer("n_disagreements", n_disagreements, 0)
    checks.level("confidence_level", confidence_level)
    n_rows = len(predictions[0].probability)
    codes = find_classes(y, n_rows, classes)
    weight = read_weights(sample_weight, codes)
    weight = np.ones(n_rows) if weight is None else weight
    group_of = read_groups(groups, n_rows)
    counted = np.flatnonzero(weight > 0.0)
    units = np.arange(len(counted))
    if group_of is not None:
        units = np.unique(group_of[counted], return_inverse=True)[1]
    first, second = (
        Predictions(each.probability[counted], each.predicted[counted]) for each in predictions
    )
    codes, weight = codes[counted], weight[counted]
    sample = Sample(weight, units, confidence_level)
    distances = 0.5 * np.abs(first.probability - second.probability).sum(axis=1)
    return Comparison(
        names=names,
        contrasts=_contrast(sample, *(score(each, codes, weight) for each in (first, second))),
        calibrations=_contrast(
            sample, *(calibrate(each, codes, weight) for each in (first, second))
        ),
        decisions=_cross(first.predicted == codes, second.predicted == codes, weight),
        disagreements=_list_disagreements(
            names, (first, second), classes, codes, distances, counted, n_disagreements
        ),
        n_rows=len(counted),
        n_units=int(units.max()) + 1,
        mean_distance=float(np.average(distances, weights=weight)),
        confidence_level=confidence_level,
    )


def read_models(models: Any) -> tuple[tuple[str, str], tuple[Any, Any]]:
    """Return two names and two fitted models."""
    named = models if isinstance(models, Mapping) else None
    if named is None and not isinstance(models, list | tuple):
        raise TypeError(
            f"models must be a list of two classifiers, or a dict of their names to them; got "
            f"{models!r}"
        )
    pair = list(models if named is None else named.values())
    names = [str(name) for name in (DEFAULT_NAMES if named is None else named)]
    if len(pair) != 2 or len(set(names)) != 2:
        raise ValueError(f"models must be two, of different names; got {len(pair)}")
    if taken := RESERVED & set(names):
        raise ValueError(f"models must not have the names of columns; got {min(taken)!r}")
    for model in pair:
        require_classifier("each of models", model)
        require_fitted("each of models", model)
    first, second = (np.asarray(model.classes_).tolist() for model in pair)
    if first != second:
        raise ValueError(f"models must have the same classes; got {first} and {second}")
    return (names[0], names[1]), (pair[0], pair[1])


def _contrast(
    sample: Sample, first: Mapping[str, Statistic], second: Mapping[str, Statistic]
) -> dict[str, Contrast]:
    return {
        name: Contrast(
            sample.estimate(first[name]),
            sample.estimate(second[name]),
            sample.estimate(second[name] - first[name]),
        )
        for name in first
    }


def _cross(
    first: NDArray[np.bool_], second: NDArray[np.bool_], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weight of the rows by whether either model is right."""
    cells = np.bincount(2 * first + second, weight, 4).astype(np.float64)
    return cells.reshape(2, 2)


def _list_disagreements(
    names: tuple[str, str],
    pair: tuple[Predictions, Predictions],
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    distances: NDArray[np.float64],
    rows: NDArray[np.intp],
    most: int,
) -> Columns:
    """Return the rows that differ most, the largest distance first."""
    order = np.argsort(-distances, kind="stable")
    top = order[: min(most, np.count_nonzero(distances))]
    columns: Columns = {"row": rows[top], "distance": distances[top], "class": classes[codes[top]]}
    for name, each in zip(names, pair, strict=True):
        columns[f"predicted_{name}"] = classes[each.predicted[top]]
    for name, each in zip(names, pair, strict=True):
        columns[f"p_{name}"] = each.probability[top, codes[top]]
    return columns
