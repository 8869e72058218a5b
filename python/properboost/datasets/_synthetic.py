"""Data with known true probabilities."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from properboost.parameters.checks import integer

# Both coordinates of the mean of class 1; class 0 is at the origin.
SHIFT = 0.7416


def make_two_gaussians(
    n_samples: int | tuple[int, int] = 1000,
    *,
    random_state: int | np.random.RandomState | None = None,
    return_probability: bool = False,
) -> tuple[Any, ...]:
    """Make the two-class Gaussian problem of the BoostLR paper, whose Bayes error is 30%.

    Class 0 has mean (0, 0), class 1 has mean (m, m) with m = 0.7416, both have the identity as
    covariance and the same prior.  So the log-odds of class 1 at x are m (x1 + x2) - m^2.

    Parameters
    ----------
    n_samples : int or pair of int, default=1000
        All rows, half of them of each class (an odd row goes to class 0), or the rows of class 0
        and of class 1.
    random_state : int, RandomState or None, default=None
        Seed of the draws and of the order of the rows.
    return_probability : bool, default=False
        Return the true probabilities as well.

    Returns
    -------
    X : float array of shape (n_rows, 2)
        The points, in random order.
    y : int array of shape (n_rows,)
        The classes.
    probability : float array of shape (n_rows,)
        The true probability of class 1 given each point, under equal priors whatever the class
        sizes are.  Only with `return_probability`.

    Raises
    ------
    ValueError
        If a size is negative or there is no row at all.
    TypeError
        If `n_samples` is neither a whole number nor a pair of them.

    Notes
    -----
    Source: H. Masnadi-Shirazi and N. Vasconcelos (2015), "A View of Margin Losses as Regularizers
    of Probability Estimates", Journal of Machine Learning Research 16, section 7.1.

    Examples
    --------
    >>> from properboost.datasets import make_two_gaussians
    >>> X, y, p = make_two_gaussians((5, 5), random_state=0, return_probability=True)
    >>> X.shape, y.sum()
    ((10, 2), np.int64(5))
    """
    sizes = _class_sizes(n_samples)
    random = check_random_state(random_state)
    y = random.permutation(np.repeat(np.arange(2), sizes))
    X = random.standard_normal((len(y), 2)) + SHIFT * y[:, np.newaxis]
    if not return_probability:
        return X, y
    return X, y, expit(SHIFT * X.sum(axis=1) - SHIFT**2)


def _class_sizes(n_samples: object) -> tuple[int, int]:
    """Return the number of rows of each class."""
    if not isinstance(n_samples, tuple | list) or len(n_samples) != 2:
        total = integer("n_samples, where it is no pair,", n_samples, 1)
        return total - total // 2, total // 2
    zeros, ones = (integer("each of n_samples", size, 0) for size in n_samples)
    if zeros + ones == 0:
        raise ValueError(f"n_samples must be at least one row; got {n_samples!r}")
    return zeros, ones
