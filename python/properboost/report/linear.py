"""A logistic regression on the same rows, as a linear model for comparison."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from properboost.data.binning import FeatureBins, NumericBins
from properboost.data.labels import find_classes
from properboost.data.table import InputTable
from properboost.estimators.base import TableClassifier, describe_training, open_rows
from properboost.report.content import Array, ModelScores
from properboost.report.feature_subsets import TrainingSet, score_probabilities, take_scored

__all__ = ["score_linear"]


def score_linear(
    model: TableClassifier,
    X: Any,
    codes: NDArray[np.intp],
    weight: Array | None,
    train: TrainingSet,
) -> ModelScores:
    """Return the scores of scikit-learn's logistic regression with its default penalty.

    Numbers are standardised to mean 0 and variance 1.  Missing ones get the mean and an indicator
    column.  Categories are one-hot columns; new ones are all 0.

    Parameters
    ----------
    model : TableClassifier
        The model, which says what the columns are.
    X : table
        The test rows.
    codes : ndarray of shape (n_rows,)
        The positions of their classes.
    weight : ndarray of shape (n_rows,), optional
        How often each row counts in the scores.
    train : TrainingSet
        The rows that it is fitted to.
    """
    from sklearn.exceptions import ConvergenceWarning  # a while to import
    from sklearn.linear_model import LogisticRegression

    X, codes, weight = take_scored(X, codes, weight)
    bins, _ = describe_training(model)
    rows, tested = open_rows(model, train.X)[0], open_rows(model, X)[0]
    places = find_classes(train.y, rows.n_rows, model.classes_, ("X_train", "y_train"))
    encoded, encoded_test = (
        sparse.hstack(parts, format="csr") for parts in _encode(bins, rows, tested)
    )
    linear = LogisticRegression(max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # as good as done
        linear.fit(encoded, places, train.sample_weight)
    return score_probabilities(linear.predict_proba(encoded_test), codes, weight)


def _encode(bins: Sequence[FeatureBins], *tables: InputTable) -> list[list[Any]]:
    """Return the columns of tables, standardised by the mean and variance of the first."""
    parts: list[list[Any]] = [[] for _ in tables]
    for j, feature_bins in enumerate(bins):
        if isinstance(feature_bins, NumericBins):
            columns = [np.asarray(table.numeric(j), dtype=np.float64) for table in tables]
            known = columns[0][np.isfinite(columns[0])]
            mean, scale = (known.mean(), known.std()) if len(known) else (0.0, 0.0)
            for part, values in zip(parts, columns, strict=True):
                is_known = np.isfinite(values)
                at = np.where(is_known, values - mean, 0.0) / (scale if scale > 0.0 else 1.0)
                part.append(sparse.csr_matrix(np.stack([at, ~is_known], axis=1)))
        else:
            for part, table in zip(parts, tables, strict=True):
                bin_ = feature_bins.find(table.categorical(j), table.label(j))
                known_rows = np.flatnonzero(bin_ >= 0)
                shape = (table.n_rows, feature_bins.n_bins)
                part.append(
                    sparse.csr_matrix(
                        (np.ones(len(known_rows)), (known_rows, bin_[known_rows])), shape
                    )
                )
    return parts
