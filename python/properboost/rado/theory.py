"""Losses of rows, and losses of rados that equal them: the rado paper's Table 1 and Theorem 7."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.parameters import checks

__all__ = ["LOSS_PAIRS", "LossPair", "all_rados", "regularize_rados"]

Floats = NDArray[np.float64]

_MOST_CELLS = 2**27  # of all rados: 1 GiB


class LossPair(ABC):
    """A loss over rows and one over all their rados, each a function of the other ([1]_, Table 1).

    Rows are edge vectors y_i x_i, and ``all_rados(edges)`` their rados.  Both are functions of z:
    -theta . (y_i x_i) / mu_e for rows, and -theta . pi / mu_r for rados.

    Notes
    -----
    Two rows of the printed table hold as follows: the mean-variance loss has no mu_r before its
    variance, and the unhinged loss has a_e = mu_e / 2.

    References
    ----------
    .. [1] Nock (2016). On regularizing Rademacher observation losses. NIPS.
    """

    name: str
    """Name of the loss over rows."""
    rado_name: str
    """Name of the loss over rados."""
    same_mu: bool
    """Whether mu_e and mu_r must be equal."""
    _share: float  # a_e / mu_e

    def example_loss(self, theta: ArrayLike, edges: ArrayLike, mu_e: float = 1.0) -> float:
        """Return the loss over rows.

        Parameters
        ----------
        theta : array-like of shape (n_columns,)
            The linear classifier.
        edges : array-like of shape (n_rows, n_columns)
            Edge vectors y_i x_i.
        mu_e : float, default=1.0
            Above 0.

        Returns
        -------
        float
        """
        return self._of_rows(_scores(theta, edges, "edges", "mu_e", mu_e))

    def rado_loss(self, theta: ArrayLike, rados: ArrayLike, mu_r: float = 1.0) -> float:
        """Return the loss over rados.

        Parameters
        ----------
        theta : array-like of shape (n_columns,)
            The linear classifier.
        rados : array-like of shape (n_rados, n_columns)
            All rados of the rows, the empty one included.
        mu_r : float, default=1.0
            Above 0.

        Returns
        -------
        float
        """
        return self._of_rados(_scores(theta, rados, "rados", "mu_r", mu_r))

    def to_example_loss(
        self, rado_loss: float, n_rows: int, mu_e: float = 1.0, mu_r: float = 1.0
    ) -> float:
        """Return the loss over rows that goes with a loss over all their rados (Theorem 6).

        Parameters
        ----------
        rado_loss : float
            What `rado_loss` returned: above 0 for the logistic loss, at least 0 for the ReLU.
        n_rows : int
            How many rows there are.
        mu_e, mu_r : float, default=1.0
            Above 0; equal for the logistic and the square loss.

        Returns
        -------
        float
        """
        ratio = checks.positive("mu_r", mu_r) / checks.positive("mu_e", mu_e)
        if self.same_mu and mu_e != mu_r:
            raise ValueError(f"mu_e and mu_r must be equal; got {mu_e!r} and {mu_r!r}")
        rado_loss = checks.finite("rado_loss", rado_loss)
        return self._to_rows(rado_loss, checks.integer("n_rows", n_rows, 1), ratio)

    def rado_share(self, mu_e: float = 1.0) -> float:
        """Return a_e: how much of a regulariser of the rows the rados get (Theorem 7).

        Parameters
        ----------
        mu_e : float, default=1.0
            Above 0.

        Returns
        -------
        float
        """
        return self._share * checks.positive("mu_e", mu_e)

    @abstractmethod
    def _of_rows(self, z: Floats) -> float: ...

    @abstractmethod
    def _of_rados(self, z: Floats) -> float: ...

    @abstractmethod
    def _to_rows(self, rado_loss: float, n_rows: int, ratio: float) -> float: ...


class _Logistic(LossPair):
    name, rado_name, same_mu, _share = "logistic", "exponential", True, 1.0

    def _of_rows(self, z: Floats) -> float:
        return float(np.logaddexp(0.0, z).sum())

    def _of_rados(self, z: Floats) -> float:
        return float(np.exp(z).sum())

    def _to_rows(self, rado_loss: float, _: int, __: float) -> float:
        return float(np.log(checks.positive("rado_loss", rado_loss)))


class _Square(LossPair):
    name, rado_name, same_mu, _share = "square", "mean-variance", True, 0.25

    def _of_rows(self, z: Floats) -> float:
        return float(np.square(1.0 + z).sum())

    def _of_rados(self, z: Floats) -> float:
        return float(z.mean() + z.var())

    def _to_rows(self, rado_loss: float, n_rows: int, _: float) -> float:
        return n_rows + 4.0 * rado_loss


class _ReLU(LossPair):
    name, rado_name, same_mu, _share = "relu", "relu", False, 1.0

    def _of_rows(self, z: Floats) -> float:
        return float(np.maximum(0.0, z).sum())

    def _of_rados(self, z: Floats) -> float:
        return max(0.0, float(z.max()))

    def _to_rows(self, rado_loss: float, _: int, ratio: float) -> float:
        return ratio * checks.non_negative("rado_loss", rado_loss)


class _Unhinged(LossPair):
    name, rado_name, same_mu, _share = "unhinged", "unhinged", False, 0.5

    def _of_rows(self, z: Floats) -> float:
        return float(z.sum())

    def _of_rados(self, z: Floats) -> float:
        return float(z.mean())

    def _to_rows(self, rado_loss: float, _: int, ratio: float) -> float:
        return 2.0 * ratio * rado_loss


LOSS_PAIRS: Mapping[str, LossPair] = MappingProxyType(
    {pair.name: pair for pair in (_Logistic(), _Square(), _ReLU(), _Unhinged())}
)
"""The pairs of Table 1, by the name of the loss over rows."""


def all_rados(edges: ArrayLike) -> Floats:
    """Return all rados of a few rows: the sums of every subset, from none to all of them.

    Parameters
    ----------
    edges : array-like of shape (n_rows, n_columns)
        Edge vectors y_i x_i, so few that their rados are at most 2**27 numbers (1 GiB): 27 rows of
        one column, 24 rows of eight.

    Returns
    -------
    ndarray of shape (2 ** n_rows, n_columns)
        Row I is the sum of the edge vectors whose bits are set in I.
    """
    given = _matrix("edges", edges)
    n_rows, n_columns = given.shape
    most = (_MOST_CELLS // n_columns).bit_length() - 1
    if n_rows > most:
        raise ValueError(
            f"edges of {n_columns} columns must be of {most} rows at most; got {n_rows}"
        )
    rados = np.zeros((2**n_rows, n_columns))
    for i, edge in enumerate(given):
        rados[2**i : 2 ** (i + 1)] = rados[: 2**i] + edge
    return rados


def regularize_rados(
    rados: ArrayLike, theta: ArrayLike, penalty: float, rado_share: float = 1.0
) -> Floats:
    """Return regularised rados: pi - a_e Omega(theta) theta / |theta|^2 (Theorem 7).

    Their loss belongs to the loss over rows plus Omega(theta).

    Parameters
    ----------
    rados : array-like of shape (n_rados, n_columns)
        All rados, the empty one included.
    theta : array-like of shape (n_columns,)
        The linear classifier.
    penalty : float
        Omega(theta), at least 0.
    rado_share : float, default=1.0
        a_e, what `LossPair.rado_share` returns, above 0.

    Returns
    -------
    ndarray of shape (n_rados, n_columns)
        For theta = 0 the rados themselves.
    """
    given, vector = _matrix("rados", rados), _vector(theta, "rados", rados)
    share = checks.positive("rado_share", rado_share)
    total = share * checks.non_negative("penalty", penalty)
    length = float(vector @ vector)
    return given if length == 0.0 else given - total / length * vector


def _scores(theta: ArrayLike, vectors: ArrayLike, argument: str, name: str, mu: float) -> Floats:
    scores: Floats = _matrix(argument, vectors) @ _vector(theta, argument, vectors)
    return -scores / checks.positive(name, mu)


def _matrix(argument: str, values: Any) -> Floats:
    matrix = checks.numbers_of(argument, values)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"{argument} must have two dimensions and not be empty; got shape {matrix.shape}"
        )
    if not np.all(np.isfinite(matrix)):
        raise ValueError(f"{argument} must hold finite numbers; got NaN or infinity")
    return matrix


def _vector(theta: ArrayLike, argument: str, vectors: ArrayLike) -> Floats:
    vector = checks.numbers_of("theta", theta)
    n_columns = _matrix(argument, vectors).shape[1]
    if vector.shape != (n_columns,):
        raise ValueError(
            f"theta must have {n_columns} entries, as {argument} have; got shape {vector.shape}"
        )
    if not np.all(np.isfinite(vector)):
        raise ValueError("theta must hold finite numbers; got NaN or infinity")
    return vector
