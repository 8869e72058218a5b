"""Overconfidence: rows of a higher probability than the training rows support."""

import numpy as np
from numpy.typing import NDArray

from properboost.report.content import NOTABLE_SHARE, Array, Caution, Overconfidence
from properboost.report.wording import count, percent, precise

__all__ = ["describe_overconfidence", "find_overconfidence", "list_overconfidence"]

FEWEST_TRAINING_ROWS = 100.0
"""The fewest training rows for a statement on overconfidence."""


def find_overconfidence(
    probability: Array,
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    training_rows: float | None,
) -> Overconfidence | None:
    """Return the rows where all other classes have the probability of less than a training row.

    None if there are none, or if the number of training rows is unknown.
    """
    if training_rows is None or training_rows < FEWEST_TRAINING_ROWS:
        return None
    others = probability.copy()
    others[np.arange(len(predicted)), predicted] = 0.0
    is_sure = others.sum(axis=1) < 1.0 / training_rows
    if not is_sure.any():
        return None
    wrong = None if codes is None else int(np.count_nonzero(is_sure & (predicted != codes)))
    return Overconfidence(1.0 - 1.0 / training_rows, int(np.count_nonzero(is_sure)), wrong)


def describe_overconfidence(rows: Overconfidence, n_rows: int, training_rows: float) -> str:
    """Return sentences on rows of too high a probability."""
    text = (
        f"In {rows.n_rows:,} of {count(n_rows, 'row', 'rows')} the model gives its answer a "
        f"probability above {precise(rows.limit)}.  That is less than one exception in all of its "
        f"{training_rows:,.0f} training rows, so they cannot show that exceptions are so rare: "
        "read such a probability as “nearly sure”, and not as a number."
    )
    if rows.n_wrong is not None:
        share = percent(rows.n_wrong / rows.n_rows)
        text += f"  Predicted wrongly: {rows.n_wrong:,} of these {rows.n_rows:,} ({share})."
    return text


def list_overconfidence(
    rows: Overconfidence | None, n_rows: int, training_rows: float | None
) -> list[Caution]:
    """Return the caution on rows of too high a probability, if there are any."""
    if rows is None or training_rows is None:
        return []
    if rows.n_rows < NOTABLE_SHARE * n_rows and not rows.n_wrong:
        return []
    return [
        Caution(
            "Surer than its training rows can show",
            describe_overconfidence(rows, n_rows, training_rows),
        )
    ]
