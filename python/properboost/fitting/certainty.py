"""Certainty: what it costs where raw predictions that are finite are as sure as can be."""

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
    """Whether raw predictions that are finite have the surest probabilities there are."""
    return bool(np.isfinite(loss.link(1.0)))


def warn_of_certainty(
    link: Link,
    raw: Array,
    own: NDArray[np.integer[Any]],
    weight: Array | None,
    shares: Array,
    what: str,
) -> bool:
    """Warn if certainties that are wrong make a log loss worse than that of the classes' shares.

    Parameters
    ----------
    link : Link
        What makes probabilities, of a loss that reaches certainty.
    raw : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Raw predictions.
    own : ndarray of shape (n_rows,)
        The class of each row, by position.
    weight : ndarray of shape (n_rows,), optional
        How often each row counts.
    shares : ndarray of shape (n_classes,)
        The classes' shares of the training rows.
    what : str
        What rows these are.

    Returns
    -------
    bool
        Whether there was a warning.
    """
    probability = link.probabilities(raw)
    found = mean(log_losses(probability, own), weight)
    of_shares = mean(-np.log(shares)[own], weight)
    if found <= of_shares:
        return False
    least = probability.min()
    wrong = np.count_nonzero(probability[np.arange(len(own)), own] == least)
    warn(
        f"the log loss of the {what} rows, {found:.3g}, is worse than that of the classes' shares, "
        f"{of_shares:.3g}: raw predictions of the loss {link.loss.name!r} reach the surest "
        f"probabilities there are, and {wrong} rows have {least:.3g} for their own class. Use a "
        "larger gain, fewer estimators, or ProperBoostClassifierCV, which corrects probabilities "
        "by rows held out"
    )
    return True
