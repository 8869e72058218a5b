"""Permutation importance: the log loss that the shuffled values of a feature add."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.table import RowTable
from properboost.estimators.base import TableClassifier
from properboost.losses.probabilities import log_losses
from properboost.report.content import Array, Term
from properboost.report.counterfactuals import read_rows

__all__ = ["score_shuffles"]

MOST_ROWS, FEWEST_ROWS = 4_000, 500
"""The most test rows whose values are shuffled; of more, so many at equal distances."""

WORK = 30_000
"""Rows times features above which there are fewer rows: models may have thousands of trees."""

MOST_FEATURES = 50
"""The most features that are shuffled; the most important ones."""


def score_shuffles(
    model: TableClassifier,
    X: Any,
    codes: NDArray[np.intp],
    weight: Array | None,
    terms: Sequence[Term],
    random_state: int,
) -> dict[int, float]:
    """Return the log loss that one shuffle of each feature adds, by the feature's place.

    Features that the model does not use have none.  Source: L. Breiman, Random forests, Machine
    Learning 45 (2001).

    Parameters
    ----------
    model : TableClassifier
        The model.
    X : table
        The test rows.
    codes : ndarray of shape (n_rows,)
        The positions of their classes.
    weight : ndarray of shape (n_rows,), optional
        How often each row counts.
    terms : sequence of Term
        The terms, the most important first.
    random_state : int
        The seed by which values are shuffled.
    """
    places = [term.place for term in terms if not term.is_pair and term.importance > 0.0]
    places = places[:MOST_FEATURES]
    most = min(MOST_ROWS, max(FEWEST_ROWS, WORK // max(len(places), 1)))
    numbers = np.unique(np.linspace(0, len(codes) - 1, min(len(codes), most)).astype(np.intp))
    raw, _ = read_rows(model, X, numbers, [])
    codes, weight = codes[numbers], None if weight is None else weight[numbers]
    if weight is not None and not weight.any():
        return {}

    def score(rows: Array) -> float:
        losses = log_losses(model.predict_proba(RowTable(rows)), codes)
        return float(np.average(losses, weights=weight))

    before, draws = score(raw), np.random.default_rng(random_state)
    added = {}
    for place in places:
        shuffled = raw.copy()
        shuffled[:, place] = draws.permutation(raw[:, place])
        added[place] = score(shuffled) - before
    return added
