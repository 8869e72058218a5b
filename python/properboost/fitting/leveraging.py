"""ULS on a user's features: the coefficients that a round solves for, and their solution.

References
----------
.. [1] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE TPAMI 31,
   2048-2059; Fig. 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.fitting.signed_columns import SignedColumns
from properboost.losses.builtin import MarginLoss
from properboost.progress import Report

__all__ = ["ROUND_FIELDS", "Corrected", "ULSFit", "leverage"]

Array = NDArray[np.float64]
Corrected: TypeAlias = int | Literal["so_far", "all"]

ROUND_FIELDS = ("feature", "n_corrected", "edge", "weight_sum", "feature_norm", "risk", "exact")
"""The arrays of `ULSFit.rounds`."""

SETTLED = 1e-12
"""The edge that counts as 0, as a share of the largest that a feature could have."""

MOST_STEPS = 200
"""The most Newton steps of a round; it takes fewer than 20 unless the classes separate."""

DEPENDENT = 1e-10
"""The share of its curvature up to which a column seems to depend on others.

When the others have no edge left, the column has none either if it depends on them.
"""


@dataclass(frozen=True, eq=False)
class ULSFit:
    """A fit of ULS.

    Attributes
    ----------
    coefficients : ndarray of shape (n_columns,)
        alpha.
    norms : ndarray of shape (n_columns,)
        The weighted length of each column as a vector over the rows.
    rounds : dict of ndarray of shape (n_rounds,)
        ``feature``, the column of largest edge for its length; ``n_corrected``, the
        number of coefficients that the round solved for; ``edge``, the mean of their edges' sizes
        (eq. 42); ``weight_sum``, Z; ``feature_norm``, the largest of their columns' lengths;
        ``risk``, the sum of losses after the round; ``exact``, whether the risk was that of the
        rows alone.
    """

    coefficients: Array
    norms: Array
    rounds: dict[str, NDArray[Any]]


@dataclass(eq=False)
class _Risk:
    """The weighted sum of losses by margin, with a share `flip` of each row in the other class.

    Sums run over rows in their order, and no library multiplies matrices, so that bits are the same
    everywhere.
    """

    loss: MarginLoss
    counts: Array
    flip: float = 0.0
    """The weight of a row as one of the other class, besides its weight."""

    def value(self, v: Array) -> float:
        return float(np.sum(self.counts * (self.loss.loss(v) + self.flip * self._mirrored(v))))

    def weights(self, v: Array) -> Array:
        weights: Array = self.loss.weight(v)
        if self.flip:
            weights = weights - self.flip * self.loss.weight(-v)
        return self.counts * weights

    def curvatures(self, v: Array) -> Array:
        curvatures: Array = self.loss.curvature(v)
        if self.flip:
            curvatures = curvatures + self.flip * self.loss.curvature(-v)
        return self.counts * curvatures

    def _mirrored(self, v: Array) -> Array | float:
        return self.loss.loss(-v) if self.flip else 0.0


def leverage(
    signed: SignedColumns,
    counts: Array,
    loss: MarginLoss,
    corrected: Corrected,
    n_rounds: int,
    report: Report | None = None,
) -> ULSFit:
    """Minimise the sum of losses over the coefficients of columns, a few at a time.

    A round solves for the coefficients of the columns of largest edge for their length, which then
    have no edge left (eq. 35).  The rounds end where no column has an edge.

    Parameters
    ----------
    signed : SignedColumns
        y h(x), finite; the arrays are overwritten.
    counts : ndarray of shape (n_rows,)
        The weight of each row, above 0.
    loss : MarginLoss
        A convex loss of margins.
    corrected : int, "so_far" or "all"
        The number of coefficients that a round solves for; or all columns that have had the largest
        edge so far; or all columns.
    n_rounds : int
        The most rounds.
    report : callable or None, default=None
        Called with the number of rounds done and the mean loss.
    """
    norms = signed.lengths(counts)
    has_any = norms > 0.0
    signed.divide(norms)
    risk, total = _Risk(loss, counts), float(np.sum(counts))
    solver = _Solver(risk, SETTLED * total**0.5, np.zeros(len(norms)), np.zeros(len(counts)))
    chosen: dict[int, None] = {}
    rounds: dict[str, list[Any]] = {name: [] for name in ROUND_FIELDS}
    for done in range(n_rounds):
        edges = np.abs(signed.add_up(risk.weights(solver.margins)))
        if not np.any(edges > solver.settled):
            break
        order = np.argsort(-edges, kind="stable")
        chosen[int(order[0])] = None
        if corrected == "all":
            solved = np.flatnonzero(has_any)
        elif corrected == "so_far":
            solved = np.array(sorted(chosen))
        else:
            solved = np.sort(order[:corrected])
        weights = counts * loss.weight(solver.margins)
        numbers = signed.take(solved)
        seen = np.abs(np.add.reduce(numbers * weights[:, None], axis=0))
        moved = solver.solve(solved, numbers)
        if not moved:
            break  # what is left is rounding
        rounds["feature"].append(order[0])
        rounds["n_corrected"].append(len(solved))
        rounds["weight_sum"].append(np.sum(weights))
        rounds["edge"].append(np.mean(seen * norms[solved]) / rounds["weight_sum"][-1])
        rounds["feature_norm"].append(norms[solved].max())
        rounds["risk"].append(float(np.sum(counts * loss.loss(solver.margins))))
        rounds["exact"].append(risk.flip == 0.0)
        if report is not None:
            report(done + 1, rounds["risk"][-1] / total)
    coefficients = np.divide(solver.scaled, norms, out=np.zeros_like(norms), where=has_any)
    return ULSFit(coefficients, norms, _as_arrays(rounds))


def _as_arrays(rounds: dict[str, list[Any]]) -> dict[str, NDArray[Any]]:
    kinds = {"feature": np.int32, "n_corrected": np.int32, "exact": np.bool_}
    return {
        name: np.array(values, dtype=kinds.get(name, np.float64)) for name, values in rounds.items()
    }


@dataclass(eq=False)
class _Solver:
    """The coefficients so far, of columns of length 1, and their margins."""

    risk: _Risk
    settled: float
    scaled: Array
    margins: Array

    def solve(self, columns: NDArray[np.intp], numbers: Array) -> bool:
        """Find the coefficients of columns at the least risk; return whether any has changed.

        `numbers` are the rows' values of these columns, and may be overwritten.
        """
        basis: Array | None = None
        moved, last = False, np.inf
        for _ in range(MOST_STEPS):
            weights = self.risk.weights(self.margins)
            edges = np.add.reduce(numbers * weights[:, None], axis=0)
            most = float(np.abs(edges).max())
            if most <= self.settled:
                break
            curvatures = self.risk.curvatures(self.margins)
            hessian = np.array(
                [np.add.reduce(numbers * (curvatures * numbers[:, u])[:, None], axis=0)
                 for u in range(len(columns))]
            )  # fmt: skip
            step, solved = _eliminate(hessian, edges)
            stuck = np.any(solved) and float(np.abs(edges[solved]).max()) <= self.settled
            if basis is None and stuck:
                # The other columns seemed to depend on the solved ones, but still have an edge.
                basis, last = _set_apart(numbers, self.risk.counts), np.inf
                continue
            along = np.add.reduce(numbers * step, axis=1)
            if self.risk.flip == 0.0 and _hurts_no_row(along):
                # The optimal coefficients are infinite: an error of 0 counts as half a row.
                self.risk.flip = 0.5 / float(np.sum(self.risk.counts))
                continue
            rate = self._find_rate(along, float(np.sum(edges * step)))
            if rate == 0.0 or (rate == 1.0 and most > 0.5 * last and most < 1e3 * self.settled):
                break  # by rounding
            last = most
            turned = step if basis is None else np.add.reduce(basis * step, axis=1)
            self.scaled[columns] += rate * turned
            self.margins = self.margins + rate * along
            moved = True
        return moved

    def _find_rate(self, along: Array, slope: float) -> float:
        """Return the share of a step at which the risk falls enough: 1, or halved until it does."""
        before = self.risk.value(self.margins)
        rate = 1.0
        while rate > 1e-12:
            after = self.risk.value(self.margins + rate * along)
            if after <= before - 1e-4 * rate * slope + 1e-15 * abs(before):
                return rate
            rate /= 2.0
        return 0.0


def _hurts_no_row(along: Array) -> bool:
    """Return whether a direction lowers no margin, so that the risk falls along it without end."""
    return bool(along.min() >= -1e-9 * np.abs(along).max())


def _set_apart(columns: Array, counts: Array) -> Array:
    """Make columns orthonormal, in place; return the coefficients of the new in the old ones.

    A column that depends on those before it becomes 0.
    """
    basis = np.eye(columns.shape[1])
    for k, column in enumerate(columns.T):
        before = columns[:, :k]
        for _ in range(2):  # the first pass leaves rounding errors of the other columns
            shares = np.add.reduce(before * (counts * column)[:, None], axis=0)
            column -= np.add.reduce(before * shares, axis=1)
            basis[:, k] -= np.add.reduce(basis[:, :k] * shares, axis=1)
        length = float(np.sum(counts * column * column)) ** 0.5
        factor = 1.0 / length if length > SETTLED else 0.0
        column *= factor
        basis[:, k] *= factor
    return basis


def _eliminate(matrix: Array, right: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Solve equations with a positive semidefinite matrix; return whether each column is solved.

    Columns that depend on others get 0.
    """
    matrix, solution = matrix.copy(), right.copy()
    whole = np.diagonal(matrix).copy()
    left = whole > 0.0
    unsolved = np.ones(len(solution), dtype=np.bool_)
    for _ in range(len(solution)):
        diagonal = np.diagonal(matrix)
        share = np.divide(diagonal, whole, out=np.full_like(whole, -1.0), where=left)
        p = int(np.argmax(share))
        if not share[p] > DEPENDENT:
            break
        left[p] = unsolved[p] = False
        row, value = matrix[p] / matrix[p, p], solution[p] / matrix[p, p]
        factors = matrix[:, p].copy()
        factors[p] = 0.0
        matrix -= factors[:, None] * row
        solution -= factors * value
        matrix[p], solution[p] = row, value
    solution[unsolved] = 0.0
    return solution, ~unsolved
