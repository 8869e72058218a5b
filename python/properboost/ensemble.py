"""The fitted ensemble: rounds of look-up tables, which add up to one table a feature."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.binning import Binning
from properboost.table import Table

__all__ = ["LARGEST_RAW", "Ensemble", "Rounds"]

LARGEST_RAW = 1e300
"""Raw predictions beyond this are refused, so that no sum of them overflows."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """What boosting found for one model, a row a round.

    Round `t` looks a row's code of ``feature[t]`` up in ``values[offsets[t]:offsets[t + 1]]`` and
    adds it, times ``step[t]``, to the raw prediction.  ``score`` is what the feature was chosen by,
    ``risk`` the training risk after the round.
    """

    feature: NDArray[np.int32]
    score: NDArray[np.float64]
    step: NDArray[np.float64]
    risk: NDArray[np.float64]
    offsets: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def from_native(cls, rounds: _core.Rounds) -> "Rounds":
        """Take over what the engine returned."""
        return cls(**{f.name: getattr(rounds, f.name) for f in fields(cls)})

    def __len__(self) -> int:
        return len(self.feature)

    def bound(self) -> float:
        """Return what no raw prediction can exceed in size; infinite if that overflows."""
        if len(self) == 0:
            return 0.0
        with np.errstate(over="ignore"):
            largest = np.maximum.reduceat(np.abs(self.values), self.offsets[:-1])
            return float(np.sum(np.abs(self.step) * largest))

    def table(self, t: int) -> NDArray[np.float64]:
        """Return what round `t` adds to the raw prediction, by code of its feature."""
        values: NDArray[np.float64] = self.values[self.offsets[t] : self.offsets[t + 1]]
        return values * float(self.step[t])


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The rounds of every model over one binning; `bin_weights` holds each code's training weight.

    A binary classifier has one model, a multiclass one a model a class.  With cyclic selection an
    estimator is a cycle: a round for every feature, in turn.
    """

    binning: Binning
    models: tuple[Rounds, ...]
    bin_weights: tuple[NDArray[np.float64], ...]
    selection: str = "greedy"

    @property
    def rounds_per_estimator(self) -> int:
        """Rounds that count as one estimator."""
        return len(self.binning.features) if self.selection == "cyclic" else 1

    @property
    def n_estimators(self) -> int:
        """Estimators of the model that has most."""
        return max(map(len, self.models)) // self.rounds_per_estimator

    @cached_property
    def tables(self) -> NDArray[np.float64]:
        """The rounds added up: (n_models, all codes), the features side by side."""
        offsets = self.binning.offsets
        tables = np.zeros((len(self.models), offsets[-1]))
        for table, rounds in zip(tables, self.models, strict=True):
            for t, feature in enumerate(rounds.feature):
                table[offsets[feature] : offsets[feature + 1]] += rounds.table(t)
        return tables

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def table_of(self, model: int, feature: int) -> NDArray[np.float64]:
        """Return the look-up table of one feature of one model."""
        offsets = self.binning.offsets
        return self.tables[model, offsets[feature] : offsets[feature + 1]]

    def raw_predictions(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        """Return F, of shape (n_rows, n_models)."""
        return self.binning.score(table, self.tables, n_threads)

    def staged_raw_predictions(self, table: Table, n_threads: int) -> Iterator[NDArray[np.float64]]:
        """Yield F after one estimator, two, ...; a model that stopped early stays as it is."""
        codes = self.binning.encode(table, None, n_threads)
        raw = np.zeros((table.n_rows, len(self.models)))
        size = self.rounds_per_estimator
        for first in range(0, self.n_estimators * size, size):
            for m, rounds in enumerate(self.models):
                for t in range(first, min(first + size, len(rounds))):
                    raw[:, m] += rounds.table(t)[codes[rounds.feature[t]]]
            yield raw.copy()

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
        total = deviations.sum()
        return deviations / total if total > 0.0 else deviations


def _spread(table: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    share = weight / weight.sum()
    return float(np.sum(share * np.abs(table - np.sum(share * table))))
