"""The cost of certainty, for losses whose finite raw predictions reach probabilities of 0 and 1."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.whole_sums import mean
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link, log_losses
from properboost.notices import warn

__all__ = ["reaches_certainty", "warn_of_certainty"]

Array = NDArray[np.float64]


def reaches_certainty(loss: MarginLoss) -> bool:
    """Return whether finite raw predictions reach the surest probabilities of the loss."""
    return bool(np.isfinite(loss.link(1.0)))


def warn_of_certainty(
    link: Link,
    raw: Array,
    class_of_row: NDArray[np.integer[Any]],
    weight: Array | None,
    shares: Array,
    rows: str,
) -> bool:
    """Warn if wrong certainties make the log loss worse than that of the classes' shares.

    Parameters
    ----------
    link : Link
        The link to probabilities, of a loss that reaches certainty.
    raw : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Raw predictions.
    class_of_row : ndarray of shape (n_rows,)
        The class of each row, by position.
    weight : ndarray of shape (n_rows,), optional
        The weight of each row.
    shares : ndarray of shape (n_classes,)
        The classes' shares of the training rows.
    rows : str
        The name of the rows, for the warning.

    Returns
    -------
    bool
        Whether there was a warning.
    """
    probability = link.probabilities(raw)
    log_loss = mean(log_losses(probability, class_of_row), weight)
    loss_of_shares = mean(-np.log(shares)[class_of_row], weight)
    if log_loss <= loss_of_shares:
        return False
    least = probability.min()
    wrong = np.count_nonzero(probability[np.arange(len(class_of_row)), class_of_row] == least)
    warn(
        f"the log loss of the {rows} rows, {log_loss:.3g}, is worse than that of the classes' "
        f"shares, {loss_of_shares:.3g}: raw predictions of the loss {link.loss.name!r} reach "
        f"the surest probabilities there are, and {wrong} rows have {least:.3g} for their own "
        "class. Use a larger gain, fewer estimators, or ProperBoostClassifierCV, which corrects "
        "probabilities by rows held out"
    )
    return True
