"""The regularisers of `RadoBoostClassifier`: checks, and the engine's form."""

import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from properboost import _core
from properboost.parameters import checks

__all__ = ["Regularizer", "Term", "find_terms", "slope_coefficients"]

Regularizer: TypeAlias = (
    Literal["ridge", "lasso", "linf", "slope", "elasticnet"] | Mapping[str, float] | None
)

Term: TypeAlias = tuple[str, float, NDArray[np.float64] | None]
"""The name of a regulariser, its factor, and its parameter."""

ELASTIC_NET = "elasticnet"


def check_regularizer(
    regularizer: Regularizer, omega: float, l1_ratio: float, q: float
) -> dict[str, float]:
    """Return the factor of each regulariser."""
    omega = checks.non_negative("omega", omega)
    l1_ratio = checks.between("l1_ratio", l1_ratio, 0.0, 1.0)
    _check_q(q)
    known = _core.regularizer_names()
    if regularizer is None:
        return {}
    if isinstance(regularizer, Mapping):
        shares = {
            checks.choice("regularizer's key", name, known): checks.non_negative(
                f"regularizer[{name!r}]", share
            )
            for name, share in regularizer.items()
        }
    else:
        name = checks.choice("regularizer", regularizer, [*known, ELASTIC_NET])
        mixed = {"lasso": l1_ratio, "ridge": 1.0 - l1_ratio}
        shares = mixed if name == ELASTIC_NET else {name: 1.0}
    factors = {name: omega * share for name, share in shares.items() if omega * share > 0.0}
    for name, factor in factors.items():
        if factor == math.inf:
            raise ValueError(
                f"omega times regularizer[{name!r}] must be finite; got {omega:g} times "
                f"{shares[name]:g}"
            )
    return factors


def find_terms(
    factors: Mapping[str, float], q: float, ridge_matrix: ArrayLike | None, n_columns: int
) -> list[Term]:
    """Return the regularisers of a model of `n_columns` columns."""
    known: dict[str, NDArray[np.float64] | None] = {}
    if "ridge" in factors:
        known["ridge"] = check_matrix(ridge_matrix, n_columns)
    if "slope" in factors:
        known["slope"] = slope_coefficients(q, n_columns)
    return [(name, factor, known.get(name)) for name, factor in factors.items()]


def slope_coefficients(q: float, n_columns: int) -> NDArray[np.float64]:
    """Return SLOPE's xi_k = Phi^-1(1 - k q / (2 d)) for k = 1 ... d, in descending order.

    Parameters
    ----------
    q : float
        The target false discovery rate, in (0, 1).
    n_columns : int
        d, the number of coefficients, at least 1.

    Returns
    -------
    ndarray of shape (n_columns,)

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or q / (2 d) is 0 in float64.
    """
    _check_q(q)
    tail = q / (2.0 * checks.integer("n_columns", n_columns, 1)) * np.arange(1, n_columns + 1)
    if tail[0] == 0.0:
        raise ValueError(
            f"q must be above 0 when divided by 2 n_columns, {2 * n_columns}; got {q!r}"
        )
    quantiles: NDArray[np.float64] = norm.isf(tail)
    return quantiles


def _check_q(q: float) -> None:
    if not 0.0 < checks.between("q", q, 0.0, 1.0) < 1.0:
        raise ValueError(f"q must be above 0 and below 1; got {q!r}")


def check_matrix(matrix: Any, n_columns: int) -> NDArray[np.float64] | None:
    """Return the matrix of a ridge, symmetric and positive definite; None is the identity."""
    if matrix is None:
        return None
    gamma = checks.numbers_of("ridge_matrix", matrix)
    if gamma.shape != (n_columns, n_columns):
        raise ValueError(
            f"ridge_matrix must have shape {(n_columns, n_columns)}, a row and a column for each "
            f"coefficient; got {gamma.shape}"
        )
    if not np.all(np.isfinite(gamma)):
        raise ValueError("ridge_matrix must hold finite numbers")
    if not np.allclose(gamma, gamma.T, rtol=1e-12, atol=1e-12 * np.abs(gamma).max()):
        raise ValueError("ridge_matrix must be symmetric")
    try:
        np.linalg.cholesky(gamma)
    except np.linalg.LinAlgError as error:
        least = float(np.linalg.eigvalsh(gamma)[0])
        raise ValueError(
            f"ridge_matrix must be positive definite; its least eigenvalue is {least:g}"
        ) from error
    return gamma
