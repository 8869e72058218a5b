"""Losses of rows, and losses of rados that equal them: the rado paper's Table 1 and Theorem 7.

Both come from games (section 2), in which an adversary weighs the rows, or their subsets, at the
cost of a generator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax, xlogy

from properboost.parameters import checks

__all__ = [
    "LOSS_PAIRS",
    "LossPair",
    "all_rados",
    "read_matrix",
    "read_vector",
    "regularize_rados",
    "subset_matrix",
]

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
        """Return the loss over rows that is equivalent to a loss over all rados (Theorem 6).

        Parameters
        ----------
        rado_loss : float
            The result of `rado_loss`: above 0 for the logistic loss, at least 0 for the ReLU.
        n_rows : int
            The number of rows.
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
        """Return a_e, the share of a regulariser of the rows for the rados (Theorem 7).

        Parameters
        ----------
        mu_e : float, default=1.0
            Above 0.

        Returns
        -------
        float
        """
        return self._share * checks.positive("mu_e", mu_e)

    # -- the games (section 2) --------------------------------------------------------------------

    def rado_generator(self, q: ArrayLike, n_rows: int) -> Floats:
        """Return phi_r, the cost to the adversary of the weight of a subset (Table 1).

        Parameters
        ----------
        q : array-like
            Weights of subsets of the rows.
        n_rows : int
            The number of rows, on which only the unhinged loss's depends.

        Returns
        -------
        ndarray or float
            Infinite at weights that are not allowed.
        """
        weights = checks.numbers_of("q", q)
        return self._generate(weights, checks.integer("n_rows", n_rows, 1))[()]

    def example_generator(self, p: ArrayLike, n_rows: int) -> Floats:
        """Return phi_e: the symmetrisation phi_r(p) + phi_r(1 - p) (Definition 3 and Lemma 4).

        Parameters
        ----------
        p : array-like
            Weights of rows.
        n_rows : int
            As for `rado_generator`.

        Returns
        -------
        ndarray or float
            Infinite at weights that are not allowed.
        """
        weights = checks.numbers_of("p", p)
        return self.rado_generator(weights, n_rows) + self.rado_generator(1.0 - weights, n_rows)

    def game_mu(self, n_rows: int, mu_e: float = 1.0) -> float:
        """Return the mu_r with which the two generators are proportionate (Definition 1).

        Parameters
        ----------
        n_rows : int
            The number of rows.
        mu_e : float, default=1.0
            Above 0.

        Returns
        -------
        float
            `mu_e`, but 2^(n_rows - 1) times as much for the square loss.  (The losses of Table 1
            have means in place of these sums, so that there the two are equal.)
        """
        mu_e = checks.positive("mu_e", mu_e)
        return mu_e * self._game_ratio(checks.integer("n_rows", n_rows, 1))

    def example_game(self, p: ArrayLike, z: ArrayLike, mu_e: float = 1.0) -> float:
        """Return L_e(p, z) = sum p_i z_i + mu_e sum phi_e(p_i) (eq. 1).

        Parameters
        ----------
        p : array-like of shape (n_rows,)
            The adversary's weights of the rows.
        z : array-like of shape (n_rows,)
            The learner's margins.
        mu_e : float, default=1.0
            Above 0.

        Returns
        -------
        float
        """
        margins = _margins(z)
        weights = _weights("p", p, len(margins))
        paid = self.example_generator(weights, len(margins)).sum()
        return float(weights @ margins + checks.positive("mu_e", mu_e) * paid)

    def rado_game(self, q: ArrayLike, z: ArrayLike, mu_r: float = 1.0) -> float:
        """Return L_r(q, z) = sum_I q_I sum_I z_i + mu_r sum_I phi_r(q_I) (eq. 2).

        Parameters
        ----------
        q : array-like of shape (2 ** n_rows,)
            The adversary's weights of the subsets, in the order of `all_rados`.
        z : array-like of shape (n_rows,)
            The learner's margins.
        mu_r : float, default=1.0
            Above 0.

        Returns
        -------
        float
        """
        margins = _margins(z)
        sums = _sum_subsets(margins)
        weights = _weights("q", q, len(sums))
        paid = self.rado_generator(weights, len(margins)).sum()
        return float(weights @ sums + checks.positive("mu_r", mu_r) * paid)

    def example_weights(self, z: ArrayLike, mu_e: float = 1.0) -> Floats:
        """Return p*(z), the weights of rows that make L_e least (eq. 3).

        Parameters
        ----------
        z : array-like of shape (n_rows,)
            The learner's margins.
        mu_e : float, default=1.0
            Above 0.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._answer_rows(_margins(z), checks.positive("mu_e", mu_e))

    def rado_weights(self, z: ArrayLike, mu_r: float = 1.0) -> Floats:
        """Return q*(z), the weights of subsets, adding up to 1, that make L_r least (eq. 4).

        Generators are proportionate if and only if ``subset_matrix(n_rows) @ q*`` is p* (Theorem 2,
        where they are strictly convex).

        Parameters
        ----------
        z : array-like of shape (n_rows,)
            The learner's margins.
        mu_r : float, default=1.0
            Above 0.

        Returns
        -------
        ndarray of shape (2 ** n_rows,)
            In the order of `all_rados`.
        """
        return self._answer_rados(_sum_subsets(_margins(z)), checks.positive("mu_r", mu_r))

    @abstractmethod
    def _generate(self, q: Floats, n_rows: int) -> Floats: ...

    def _game_ratio(self, n_rows: int) -> float:  # noqa: ARG002 -- of the square loss only
        return 1.0

    @abstractmethod
    def _answer_rows(self, z: Floats, mu_e: float) -> Floats: ...

    @abstractmethod
    def _answer_rados(self, sums: Floats, mu_r: float) -> Floats: ...

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

    def _generate(self, q: Floats, _: int) -> Floats:
        return np.where(q < 0.0, np.inf, xlogy(np.maximum(q, 0.0), np.maximum(q, 0.0)) - q)

    def _answer_rows(self, z: Floats, mu_e: float) -> Floats:
        p: Floats = expit(-z / mu_e)
        return p

    def _answer_rados(self, sums: Floats, mu_r: float) -> Floats:
        q: Floats = softmax(-sums / mu_r)
        return q


class _Square(LossPair):
    name, rado_name, same_mu, _share = "square", "mean-variance", True, 0.25

    def _of_rows(self, z: Floats) -> float:
        return float(np.square(1.0 + z).sum())

    def _of_rados(self, z: Floats) -> float:
        return float(z.mean() + z.var())

    def _to_rows(self, rado_loss: float, n_rows: int, _: float) -> float:
        return n_rows + 4.0 * rado_loss

    def _generate(self, q: Floats, _: int) -> Floats:
        return 0.5 * np.square(q)

    def _game_ratio(self, n_rows: int) -> float:
        return 2.0 ** (n_rows - 1)

    def _answer_rows(self, z: Floats, mu_e: float) -> Floats:
        return 0.5 - z / (2.0 * mu_e)

    def _answer_rados(self, sums: Floats, mu_r: float) -> Floats:
        q: Floats = 1.0 / len(sums) - (sums - sums.mean()) / mu_r
        return q


class _ReLU(LossPair):
    name, rado_name, same_mu, _share = "relu", "relu", False, 1.0

    def _of_rows(self, z: Floats) -> float:
        return float(np.maximum(0.0, z).sum())

    def _of_rados(self, z: Floats) -> float:
        return max(0.0, float(z.max()))

    def _to_rows(self, rado_loss: float, _: int, ratio: float) -> float:
        return ratio * checks.non_negative("rado_loss", rado_loss)

    def _generate(self, q: Floats, _: int) -> Floats:
        return np.where((q >= 0.0) & (q <= 1.0), 0.0, np.inf)

    def _answer_rows(self, z: Floats, _: float) -> Floats:
        return np.where(z == 0.0, 0.5, z < 0.0)

    def _answer_rados(self, sums: Floats, _: float) -> Floats:
        least = sums == sums.min()
        q: Floats = least / least.sum()
        return q


class _Unhinged(LossPair):
    name, rado_name, same_mu, _share = "unhinged", "unhinged", False, 0.5

    def _of_rows(self, z: Floats) -> float:
        return float(z.sum())

    def _of_rados(self, z: Floats) -> float:
        return float(z.mean())

    def _to_rows(self, rado_loss: float, _: int, ratio: float) -> float:
        return 2.0 * ratio * rado_loss

    def _generate(self, q: Floats, n_rows: int) -> Floats:
        return np.where((q >= 0.5**n_rows) & (q <= 0.5), 0.0, np.inf)

    def _answer_rows(self, z: Floats, _: float) -> Floats:
        return np.full_like(z, 0.5)

    def _answer_rados(self, sums: Floats, _: float) -> Floats:
        return np.full_like(sums, 1.0 / len(sums))


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
    matrix = read_matrix("edges", edges)
    n_rows, n_columns = matrix.shape
    most = (_MOST_CELLS // n_columns).bit_length() - 1
    if n_rows > most:
        raise ValueError(
            f"edges of {n_columns} columns must be of {most} rows at most; got {n_rows}"
        )
    rados = np.zeros((2**n_rows, n_columns))
    for i, edge in enumerate(matrix):
        rados[2**i : 2 ** (i + 1)] = rados[: 2**i] + edge
    return rados


def subset_matrix(n_rows: int) -> Floats:
    """Return the membership of rows in subsets: the paper's G_m, its rows from last to first.

    Parameters
    ----------
    n_rows : int
        m, from 1 to 20.

    Returns
    -------
    ndarray of shape (n_rows, 2 ** n_rows)
        Zeros and ones; ``subset_matrix(m).T @ edges`` is ``all_rados(edges)``.
    """
    m = checks.integer("n_rows", n_rows, 1, 20)
    return all_rados(np.eye(m)).T


def regularize_rados(
    rados: ArrayLike, theta: ArrayLike, penalty: float, rado_share: float = 1.0
) -> Floats:
    """Return regularised rados: pi - a_e Omega(theta) theta / |theta|^2 (Theorem 7).

    Their loss is equivalent to the loss over rows plus Omega(theta).

    Parameters
    ----------
    rados : array-like of shape (n_rados, n_columns)
        All rados, the empty one included.
    theta : array-like of shape (n_columns,)
        The linear classifier.
    penalty : float
        Omega(theta), at least 0.
    rado_share : float, default=1.0
        a_e, the result of `LossPair.rado_share`, above 0.

    Returns
    -------
    ndarray of shape (n_rados, n_columns)
        For theta = 0 the rados themselves.
    """
    matrix, vector = read_matrix("rados", rados), read_vector(theta, "rados", rados)
    share = checks.positive("rado_share", rado_share)
    total = share * checks.non_negative("penalty", penalty)
    length = float(vector @ vector)
    return matrix if length == 0.0 else matrix - total / length * vector


def _scores(theta: ArrayLike, vectors: ArrayLike, argument: str, name: str, mu: float) -> Floats:
    scores: Floats = read_matrix(argument, vectors) @ read_vector(theta, argument, vectors)
    return -scores / checks.positive(name, mu)


def read_matrix(argument: str, values: Any) -> Floats:
    """Return finite numbers of two dimensions."""
    matrix = checks.numbers_of(argument, values)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"{argument} must have two dimensions and not be empty; got shape {matrix.shape}"
        )
    if not np.all(np.isfinite(matrix)):
        raise ValueError(f"{argument} must hold finite numbers; got NaN or infinity")
    return matrix


def read_vector(theta: ArrayLike, argument: str, vectors: ArrayLike) -> Floats:
    """Return a linear classifier with as many entries as edge vectors or rados have."""
    vector = checks.numbers_of("theta", theta)
    n_columns = read_matrix(argument, vectors).shape[1]
    if vector.shape != (n_columns,):
        raise ValueError(
            f"theta must have {n_columns} entries, as {argument} have; got shape {vector.shape}"
        )
    if not np.all(np.isfinite(vector)):
        raise ValueError("theta must hold finite numbers; got NaN or infinity")
    return vector


def _margins(z: ArrayLike) -> Floats:
    margins = checks.numbers_of("z", z)
    if margins.ndim != 1 or len(margins) == 0 or not np.all(np.isfinite(margins)):
        raise ValueError("z must hold finite numbers, one for each row")
    return margins


def _weights(name: str, values: ArrayLike, n: int) -> Floats:
    weights = checks.numbers_of(name, values)
    if weights.shape != (n,):
        raise ValueError(f"{name} must have {n} entries; got shape {weights.shape}")
    return weights


def _sum_subsets(z: Floats) -> Floats:
    return all_rados(z[:, None])[:, 0]
