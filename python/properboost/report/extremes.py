"""Rows of which the model is surer than its training rows can show."""

import numpy as np
from numpy.typing import NDArray

from properboost.report.found import Array, Caution, Extremes
from properboost.report.words import count, percent, precise

__all__ = ["describe_extremes", "find_extremes", "list_extremes"]

FEWEST = 100.0
"""Training rows from which on it is said what they can show."""


def find_extremes(
    probability: Array,
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    training_rows: float | None,
) -> Extremes | None:
    """Return the rows where all but the predicted class have less than one of the training rows.

    None if there are none, or if it is not known how many rows training had.
    """
    if training_rows is None or training_rows < FEWEST:
        return None
    others = probability.copy()
    others[np.arange(len(predicted)), predicted] = 0.0
    is_extreme = others.sum(axis=1) < 1.0 / training_rows
    if not is_extreme.any():
        return None
    wrong = None if codes is None else int(np.count_nonzero(is_extreme & (predicted != codes)))
    return Extremes(1.0 - 1.0 / training_rows, int(np.count_nonzero(is_extreme)), wrong)


def describe_extremes(found: Extremes, n_rows: int, training_rows: float) -> str:
    """Return sentences on such rows."""
    text = (
        f"In {found.n_rows:,} of {count(n_rows, 'row', 'rows')} the model gives its answer a "
        f"probability above {precise(found.limit)}.  That is less than one exception in all of its "
        f"{training_rows:,.0f} training rows, so they cannot show that exceptions are so rare: "
        "read such a probability as “nearly sure”, and not as a number."
    )
    if found.n_wrong is not None:
        share = percent(found.n_wrong / found.n_rows)
        text += f"  Predicted wrongly: {found.n_wrong:,} of these {found.n_rows:,} ({share})."
    return text


def list_extremes(
    found: Extremes | None, n_rows: int, training_rows: float | None
) -> list[Caution]:
    """Return what to say of such rows, if there are any."""
    if found is None or training_rows is None:
        return []
    return [
        Caution(
            "Surer than its training rows can show",
            describe_extremes(found, n_rows, training_rows),
        )
    ]
