"""Log-odds of shares."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

__all__ = ["find_log_odds"]

_INSIDE = 1e-15
"""How far shares are kept from 0 and 1, where they have no log-odds."""


def find_log_odds(share: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return the log-odds of shares, which are finite."""
    found: NDArray[np.float64] = logit(np.clip(share, _INSIDE, 1.0 - _INSIDE))
    return found
