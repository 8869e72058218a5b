"""The theorems on Omega-R.AdaBoost: bounds on the rado loss, and their conditions.

The loss is the mean of exp(-theta . pi) over the rados, times the exponential of the regulariser;
it is 1 for theta = 0.  gamma_WL, here `weak_edge`, is the least edge of any round.

References
----------
.. [1] Nock (2016). On regularizing Rademacher observation losses. NIPS; Theorems 9 to 11.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from properboost.parameters import checks
from properboost.rado.regularizers import check_matrix, slope_coefficients
from properboost.rado.theory import read_matrix, read_vector

__all__ = ["lasso_omega", "loss_bound", "ridge_edge", "ridge_omega", "slope_q", "slope_share"]

Floats = NDArray[np.float64]

_LIMITS = {"ridge": 1.0 / 5.0, "lasso": 3.0 / 11.0, "linf": 3.0 / 11.0, "slope": 3.0 / 11.0}
"""The upper limits of a (of SLOPE's the paper has its value)."""


def loss_bound(
    regularizer: str, n_rounds: int, weak_edge: float, a: float, n_norm_rounds: int | None = None
) -> float:
    """Return an upper bound on the logarithm of the regularised rado loss after `n_rounds`.

    Parameters
    ----------
    regularizer : {"ridge", "lasso", "linf", "slope"}
        The theorem: 9, 10, 10 or 11.
    n_rounds : int
        T, at least 0.
    weak_edge : float
        gamma_WL, from 0 to 1: no round's edge was smaller.
    a : float
        The theorem's constant, above 0, and below 1/5 for ``"ridge"`` and 3/11 for others; for
        ``"slope"`` it is what `slope_share` returns.
    n_norm_rounds : int, optional
        T*, the number of rounds that moved the coefficient of largest size; for ``"linf"``.

    Returns
    -------
    float
        -T' gamma_WL^2 / 2 (eqs. 22, 24 and 25).  T' is a T for ``"ridge"`` and ``"slope"``, a
        gamma_WL T for ``"lasso"``, and (T - T*) + a gamma_WL T* for ``"linf"``.

    Examples
    --------
    >>> from properboost import rado
    >>> round(rado.loss_bound("ridge", 100, 0.3, 1 / 7), 6)
    -0.642857
    """
    checks.choice("regularizer", regularizer, list(_LIMITS))
    rounds = checks.integer("n_rounds", n_rounds, 0)
    edge = checks.between("weak_edge", weak_edge, 0.0, 1.0)
    share = _check_a(regularizer, a)
    if (n_norm_rounds is not None) != (regularizer == "linf"):
        raise ValueError(
            "n_norm_rounds must be a number with regularizer='linf' and None otherwise; got "
            f"{n_norm_rounds!r}"
        )
    if n_norm_rounds is not None:
        at_norm = checks.integer("n_norm_rounds", n_norm_rounds, 0, rounds)
        counted = (rounds - at_norm) + share * edge * at_norm
    else:
        counted = share * rounds * (edge if regularizer == "lasso" else 1.0)
    return -counted * edge**2 / 2.0


def ridge_omega(
    rados: ArrayLike, n_rounds: int, a: float = 1.0 / 7.0, ridge_matrix: ArrayLike | None = None
) -> float:
    """Return the upper limit of omega with the ridge (Theorem 9, eq. 21).

    Parameters
    ----------
    rados : array-like of shape (n_rados, n_columns)
        No column may be 0 throughout.
    n_rounds : int
        T, at least 1.
    a : float, default=1/7
        Above 0 and below 1/5.  A larger a gives a better bound, which holds for smaller edges only
        (`ridge_edge`).
    ridge_matrix : array-like of shape (n_columns, n_columns), optional
        Gamma, symmetric and positive definite; the identity by default.

    Returns
    -------
    float
        2 a min_k max_j pi_jk^2 / (T lambda), lambda being the matrix's largest eigenvalue.
    """
    largest = _largest_entries(rados)
    rounds, share = checks.integer("n_rounds", n_rounds, 1), _check_a("ridge", a)
    matrix = check_matrix(ridge_matrix, len(largest))
    eigenvalue = 1.0 if matrix is None else float(np.linalg.eigvalsh(matrix)[-1])
    return 2.0 * share * float(largest.min()) ** 2 / (rounds * eigenvalue)


def ridge_edge(a: float = 1.0 / 7.0) -> float:
    """Return the largest edge with which Theorem 9 holds: its gamma, to which edges are clamped.

    Parameters
    ----------
    a : float, default=1/7
        Above 0 and below 1/5.

    Returns
    -------
    float
        Where log(1 - r^2) + a (log((1 + r)/(1 - r))^2 + r^2) turns positive: 0.98369 at 1/7
        and 0.99944 at 1/10; the paper has 0.98 and 0.999.
    """
    share = _check_a("ridge", a)

    def excess(u: float) -> float:  # r = tanh(u/2)
        half = u / 2.0
        log_cosh = half + math.log1p(math.exp(-u)) - math.log(2.0)
        return -2.0 * log_cosh + share * (u * u + math.tanh(half) ** 2)

    nearly_none = 1e-3
    if excess(nearly_none) >= 0.0:
        return 0.0
    return math.tanh(brentq(excess, nearly_none, 1.0 / share) / 2.0)


def lasso_omega(rados: ArrayLike, weak_edge: float, a: float) -> float:
    """Return the omega that the lasso or the largest coefficient requires (Theorem 10, eq. 23).

    Parameters
    ----------
    rados : array-like of shape (n_rados, n_columns)
        No column may be 0 throughout.
    weak_edge : float
        gamma_WL, from 0 to 1.
    a : float
        Above 0 and below 3/11.

    Returns
    -------
    float
        a gamma_WL min_k max_j abs(pi_jk).
    """
    edge = checks.between("weak_edge", weak_edge, 0.0, 1.0)
    return _check_a("lasso", a) * edge * float(_largest_entries(rados).min())


def slope_q(rados: ArrayLike, weak_edge: float, theta: ArrayLike) -> float:
    """Return the lower limit of SLOPE's q (Theorem 11, condition (ii)); omega is 1.

    Parameters
    ----------
    rados : array-like of shape (n_rados, n_columns)
        No column may be 0 throughout.
    weak_edge : float
        gamma_WL, from 0 to 1.
    theta : array-like of shape (n_columns,)
        The classifier; the sizes of its coefficients order the columns.

    Returns
    -------
    float
        2 max_k (1 - Phi(3 gamma_WL / 11 max_j abs(pi_jk))) d / k.  If it is 1 or more, no q
        is large enough.
    """
    edge = checks.between("weak_edge", weak_edge, 0.0, 1.0)
    order = np.argsort(-np.abs(read_vector(theta, "rados", rados)), kind="stable")
    largest = _largest_entries(rados)[order]
    ranks = np.arange(1, len(largest) + 1)
    tails = ndtr(-3.0 * edge / 11.0 * largest)
    return float(2.0 * np.max(tails * len(largest) / ranks))


def slope_share(rados: ArrayLike, weak_edge: float, q: float) -> float:
    """Return SLOPE's constant a (Theorem 11).

    Parameters
    ----------
    rados : array-like of shape (n_rados, n_columns)
        No column may be 0 throughout.
    weak_edge : float
        gamma_WL, from 0 to 1.
    q : float
        At least `slope_q`.

    Returns
    -------
    float
        The smaller of 3 gamma_WL / 11 and xi_1 / min_k max_j abs(pi_jk).
    """
    edge = checks.between("weak_edge", weak_edge, 0.0, 1.0)
    largest = _largest_entries(rados)
    first = float(slope_coefficients(q, len(largest))[0])
    return min(3.0 * edge / 11.0, first / float(largest.min()))


def _check_a(regularizer: str, a: float) -> float:
    share = checks.positive("a", a)
    most = _LIMITS[regularizer]
    if regularizer == "slope":
        return checks.between("a", share, 0.0, most)
    if not share < most:
        raise ValueError(f"a must be below {most:.4g} with regularizer={regularizer!r}; got {a!r}")
    return share


def _largest_entries(rados: ArrayLike) -> Floats:
    largest: Floats = np.abs(read_matrix("rados", rados)).max(axis=0)
    if not np.all(largest > 0.0):
        raise ValueError(f"rados must not be 0 in a whole column; column {largest.argmin()} is")
    return largest
