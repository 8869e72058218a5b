"""The engine's stages one by one: the only file here that reaches behind the public names.

asv times other versions too, so the imports are where they are used: each may lack something.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lib.race import WORK, Clock

FIRST_ROUNDS = 10  # with the memory that they are the first to touch


def prepare(model: Any, X: Any, y: Any) -> Any:
    """Prepare rows as `fit` does before it boosts; returns properboost.engine.local.LocalRows."""
    from properboost.engine.local import TableSource
    from properboost.parameters.declare import read_parameter
    from properboost.parameters.rows import read_binning

    table, rows, order = _sort_rows(model, X, y)
    per_bin = read_parameter(model, "weak_learner").rows_per_bin
    return TableSource(table).encode(read_binning(model, per_bin), rows, order)


def _sort_rows(model: Any, X: Any, y: Any) -> tuple[Any, Any, Any]:
    from properboost.data.frames import open_table
    from properboost.data.labels import read_rows

    table = open_table(model, X, reset=True)
    rows = read_rows(y, table.n_rows, None, None)
    return table, rows, rows.sort()


def start(
    model: Any,
    training: Any,
    *,
    gains: Sequence[float] = (1.0,),
    threads: int | None = None,
    keep_rounds: bool = True,
) -> Any:
    """Return the boosting of one model for each gain, before its first round."""
    from properboost.engine.protocols import ModelSet
    from properboost.losses import GLog
    from properboost.parameters.boosting import BoostingOptions
    from properboost.parameters.declare import read

    n = len(gains)
    rows = training if threads is None else replace(training, n_threads=threads)
    return rows.start(
        ModelSet(
            roles=np.repeat(rows.signs, n, axis=0),
            options=(read(BoostingOptions, model),) * n,
            losses=tuple(GLog(gain) for gain in gains),
            keep_rounds=keep_rounds,
        )
    )


def clock_rounds(clock: Clock, boosting: Any, n_rounds: int) -> None:
    """Time a round, as `WORK`: the mean of `n_rounds` but for the first ten."""
    if n_rounds <= FIRST_ROUNDS:
        raise ValueError(f"the first {FIRST_ROUNDS} rounds are not counted: take more")
    boosting.advance(FIRST_ROUNDS)
    with clock("rounds"):
        boosting.advance(n_rounds - FIRST_ROUNDS)
    check_rounds(boosting, n_rounds)
    clock.note(WORK, clock["rounds"] / (n_rounds - FIRST_ROUNDS))


def check_rounds(boosting: Any, n: int) -> None:
    """Raise an error if the boosting ended before round `n`, with nothing left to learn."""
    done = int(np.min(boosting.n_estimators))
    if done < n:
        raise RuntimeError(f"nothing was left to learn after {done} of {n} rounds: take more rows")


class Stages:
    """The stages of `prepare` for a table that is one array."""

    def __init__(self, model: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
        from properboost import _core

        self.max_bins = model.max_bins
        self.table = X
        _, _, self.order = _sort_rows(model, X, y)
        self.core = _core
        self.edges = self.find_edges(1)
        self.bins = _core.Bins(self.edges)
        self.codes = self.encode(1)

    def find_edges(self, threads: int) -> Any:
        """Return the edges of the columns' bins."""
        sample = self.core.RowSample(self.sampled_rows)
        sample.add(len(self.table))
        return self.core.find_edges(self.table, None, self.max_bins, sample.rows, threads)

    def encode(self, threads: int) -> Any:
        """Return the codes, in the engine's order of the rows."""
        return self.bins.encode(self.table, self.order.order, n_threads=threads)

    def count(self, threads: int) -> Any:
        """Count the rows that each code of each feature has."""
        segments, group_of = np.array([0, len(self.table)]), np.zeros(1, dtype=np.int64)
        return self.bins.weigh(self.codes, segments, group_of, 1, n_threads=threads)

    @property
    def sampled_rows(self) -> int:
        """The number of rows that `find_edges` reads."""
        from properboost.data.binning import SAMPLE_SIZE

        return min(len(self.table), SAMPLE_SIZE)
