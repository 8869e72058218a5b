"""The fitted ensemble: what each round added, and the raw predictions they add up to.

Look-up tables add up to one table a feature; trees stay as they are.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.binning import Binning
from properboost.table import Table
from properboost.trees import Tree, as_shares

__all__ = ["LARGEST_RAW", "Ensemble", "Rounds", "TableEnsemble", "TreeEnsemble", "make_ensemble"]

LARGEST_RAW = 1e300
"""Raw predictions beyond this are refused, so that no sum of them overflows."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """What boosting found for one model, a row a round.

    Round `t` looks a row's code of ``feature[t]`` up in ``values[offsets[t]:offsets[t + 1]]`` and
    adds it, times ``step[t]``, to the raw prediction.  ``score`` is what the feature was chosen by,
    ``risk`` the training risk after the round.  Where a round added a tree its feature is -1, and
    the code a node of `trees`, which `offsets` cuts, too; a node's weight is the training rows'.
    """

    feature: NDArray[np.int32]
    score: NDArray[np.float64]
    step: NDArray[np.float64]
    risk: NDArray[np.float64]
    offsets: NDArray[np.int64]
    values: NDArray[np.float64]
    trees: Tree | None = None

    @classmethod
    def from_native(cls, rounds: _core.Rounds) -> "Rounds":
        """Take over what the engine returned."""
        found = {f.name: getattr(rounds, f.name) for f in fields(cls)}
        trees = found["trees"]
        found["trees"] = None if trees is None else Tree.from_native(trees)
        return cls(**found)

    def __len__(self) -> int:
        return len(self.feature)

    def bound(self) -> float:
        """Return what no raw prediction can exceed in size; infinite if that overflows."""
        if len(self) == 0:
            return 0.0
        with np.errstate(over="ignore"):
            largest = np.maximum.reduceat(np.abs(self.values), self.offsets[:-1])
            return float(np.sum(np.abs(self.step) * largest))

    def find_codes(
        self, t: int, codes: NDArray[np.uint8], n_threads: int
    ) -> NDArray[np.integer[Any]]:
        """Return what round `t` looks up, a row each: its feature's codes, or its tree's nodes."""
        if self.trees is None:
            own: NDArray[np.uint8] = codes[self.feature[t]]
            return own
        tree = self.trees.part(int(self.offsets[t]), int(self.offsets[t + 1]))
        return tree.native.find_nodes(codes, n_threads)

    def forest(self) -> _core.Forest:
        """Return the trees as the engine scores them."""
        trees = Tree.without_nodes() if self.trees is None else self.trees
        values = self.values * np.repeat(self.step, np.diff(self.offsets))
        return _core.Forest(
            trees.feature, trees.left, trees.goes_left, trees.goes_right, self.offsets, values
        )

    def table(self, t: int) -> NDArray[np.float64]:
        """Return what round `t` adds to the raw prediction, by code of its feature."""
        values: NDArray[np.float64] = self.values[self.offsets[t] : self.offsets[t + 1]]
        return values * float(self.step[t])


@dataclass(frozen=True, eq=False)
class Ensemble(ABC):
    """The rounds of every model over one binning; `bin_weights` holds each code's training weight.

    A binary classifier has one model, a multiclass one a model a class.
    """

    binning: Binning
    models: tuple[Rounds, ...]
    bin_weights: tuple[NDArray[np.float64], ...]
    selection: str = "greedy"

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def rounds_per_estimator(self) -> int:
        """Rounds that count as one estimator."""
        return 1

    @property
    def n_estimators(self) -> int:
        """Estimators of the model that has most."""
        return max(map(len, self.models)) // self.rounds_per_estimator

    @abstractmethod
    def raw_predictions(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        """Return F, of shape (n_rows, n_models)."""

    def staged_raw_predictions(self, table: Table, n_threads: int) -> Iterator[NDArray[np.float64]]:
        """Yield F after one estimator, two, ...; a model that stopped early stays as it is."""
        codes = self.binning.encode(table, None, n_threads)
        raw = np.zeros((table.n_rows, len(self.models)))
        size = self.rounds_per_estimator
        for first in range(0, self.n_estimators * size, size):
            for m, rounds in enumerate(self.models):
                for t in range(first, min(first + size, len(rounds))):
                    raw[:, m] += rounds.table(t)[rounds.find_codes(t, codes, n_threads)]
            yield raw.copy()

    @abstractmethod
    def importances(self) -> NDArray[np.float64]:
        """Return how much each feature matters, adding up to 1; all zero if none does."""


class TableEnsemble(Ensemble):
    """Rounds of look-up tables.  With cyclic selection an estimator has one for every feature."""

    @property
    def rounds_per_estimator(self) -> int:
        """Rounds that count as one estimator."""
        return len(self.binning.features) if self.selection == "cyclic" else 1

    @cached_property
    def tables(self) -> NDArray[np.float64]:
        """The rounds added up: (n_models, all codes), the features side by side."""
        offsets = self.binning.offsets
        tables = np.zeros((len(self.models), offsets[-1]))
        for table, rounds in zip(tables, self.models, strict=True):
            for t, feature in enumerate(rounds.feature):
                table[offsets[feature] : offsets[feature + 1]] += rounds.table(t)
        return tables

    def table_of(self, model: int, feature: int) -> NDArray[np.float64]:
        """Return the look-up table of one feature of one model."""
        offsets = self.binning.offsets
        return self.tables[model, offsets[feature] : offsets[feature + 1]]

    def raw_predictions(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        """Return F, of shape (n_rows, n_models): one look-up a feature."""
        return self.binning.score(table, self.tables, n_threads)

    def importances(self) -> NDArray[np.float64]:
        """Mean absolute deviation of each feature's table over the training rows, adding up to 1.

        Averaged over the models; all zero if no table varies.
        """
        deviations = np.array(
            [
                np.mean([_spread(self.table_of(m, j), w) for m in range(len(self.models))])
                for j, w in enumerate(self.bin_weights)
            ]
        )
        return as_shares(deviations)


class TreeEnsemble(Ensemble):
    """Rounds of trees."""

    @cached_property
    def forests(self) -> list[_core.Forest]:
        """The engine's trees, whose values the steps are multiplied into, a forest a model."""
        return [rounds.forest() for rounds in self.models]

    def raw_predictions(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        """Return F, of shape (n_rows, n_models): the sum of the trees."""
        return self.binning.score_trees(table, self.forests, n_threads)

    def importances(self) -> NDArray[np.float64]:
        """Share of each feature's splits in what all splits of all trees took from the cost."""
        saved = np.zeros(len(self.binning.features))
        for rounds in self.models:
            if rounds.trees is not None:
                saved += rounds.trees.savings(len(saved))
        return as_shares(saved)


def make_ensemble(
    binning: Binning,
    models: tuple[Rounds, ...],
    bin_weights: tuple[NDArray[np.float64], ...],
    selection: str,
) -> Ensemble:
    """Return the ensemble of these rounds: of trees if there are any."""
    trees = any(rounds.trees is not None for rounds in models)
    kind = TreeEnsemble if trees else TableEnsemble
    return kind(binning, models, bin_weights, selection)


def _spread(table: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    share = weight / weight.sum()
    return float(np.sum(share * np.abs(table - np.sum(share * table))))
