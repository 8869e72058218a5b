"""Training rows whose codes are on workers, and a booster over them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from properboost.dask.shards import Shards
from properboost.dask.worker_health import WorkersLost
from properboost.data.sorted_rows import HELD_OUT, SortedRows
from properboost.engine.local import LocalRows
from properboost.engine.protocols import CodeWeights, ModelSet, TrainingRows
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.interactions import PairBins
from properboost.models.term_grid import TermGrid, weigh_cells

__all__ = ["ClusterRows"]


@dataclass(frozen=True, eq=False)
class ClusterRows(TrainingRows):
    """Training rows whose codes are in `shards`.

    `sizes` are those of all segments; these rows are in the segments where `has_segment`.
    """

    shards: Shards
    sizes: NDArray[np.int64]
    place: Callable[[dict[str, Any], SortedRows], "ClusterRows"]
    """Function that places rows with these fields of `TrainingRows` on workers, in an order."""
    has_segment: NDArray[np.bool_] | None = None
    """Whether each segment is among these rows; None is all."""
    codes_number: int = 0
    """The number under which shards keep the codes."""

    @property
    def can_be_copied(self) -> bool:
        """Whether another process can boost models over a copy of these rows."""
        return False

    def of_pairs(self, pairs: Sequence[PairBins]) -> Self:
        """Return the same rows with the codes of pairs of these features."""
        return replace(self, codes_number=self.shards.lay(pairs), pairs=tuple(pairs))

    def first_pairs(self, n: int) -> Self:
        """Return the same rows with the codes of the first `n` of these pairs."""
        return self if n == len(self.pairs or ()) else self.of_pairs((self.pairs or ())[:n])

    def of_segments(self, taken: NDArray[np.bool_]) -> Self:
        """Return the rows of a part of the segments, in the same order."""
        everywhere = np.ones(len(self.sizes), dtype=bool)
        has_segment = everywhere if self.has_segment is None else self.has_segment.copy()
        has_segment[has_segment] = taken
        of_rows = np.repeat(taken, np.diff(self.segments))
        return replace(self, has_segment=has_segment, **self._part_of(of_rows))

    def reorder(self, order: SortedRows) -> Self:
        """Return the same rows, sorted in another order."""
        everywhere = np.ones(len(order.class_of), dtype=bool)
        described = self._sorted_as(order, everywhere)[1]
        return cast("Self", self.place({**self._list_fields(), **described}, order))

    def bring(self, order: SortedRows, taken: NDArray[np.bool_]) -> LocalRows:
        """Return the rows of some segments of another order, in this process."""
        described = self._sorted_as(order, taken)[1]
        numbers = described["numbers"]
        codes = np.empty((len(self.bins.widths), len(numbers)), dtype=np.uint8)
        for at, values in self.shards.ask("take", self.codes_number, numbers):
            codes[:, at] = values
        return LocalRows(**{**self._list_fields(), **described}, codes=codes)

    def _list_fields(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(TrainingRows)}

    def gather(self, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes of these features, a row each."""
        by_shard = self.shards.ask("gather", self.codes_number, tuple(features))
        return self.join(by_shard, np.empty((len(features), self.shards.n_rows), dtype=np.uint8))

    def hash_codes(self) -> NDArray[np.uint64]:
        """Return a number for each row, the same for rows of equal codes."""
        by_shard = [hashes[None] for hashes in self.shards.ask("hash_codes", self.codes_number)]
        hashes = self.join(by_shard, np.empty((1, self.shards.n_rows), dtype=np.uint64))
        return cast("NDArray[np.uint64]", hashes[0])

    def weigh_groups(self, group_of: NDArray[np.int64], n_groups: int) -> list[CodeWeights]:
        """Return the weight that codes have in groups of segments; -1 is no group."""
        if self.has_segment is not None:
            everywhere = np.full(len(self.has_segment), -1)
            everywhere[self.has_segment] = group_of
            group_of = everywhere
        weights = self.shards.run("weigh", self.codes_number, group_of, n_groups)[0]
        return [self._split(of_group) for of_group in weights]

    def weigh_cells(self, grids: Sequence[TermGrid]) -> list[NDArray[np.float64]]:
        """Return the weight of each cell of grids over these features, in the order of cells."""
        if self.weight is None and self.has_segment is None:
            by_shard = self.shards.ask("count_cells", self.codes_number, tuple(grids))
            return [np.sum(of_grid, axis=0) for of_grid in zip(*by_shard, strict=True)]
        # Sums of weights are exact where they are added up together.
        weights = []
        for grid in grids:
            here = grid.over(range(len(grid.features)))
            weights += weigh_cells([here], self.gather(grid.features), self.weight, self.n_threads)
        return weights

    def add_up(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return the raw predictions of an ensemble over these features, (n_rows, n_models)."""
        by_shard = [raw.T for raw in self.shards.ask("add_up", ensemble)]
        raw = self.join(by_shard, np.empty((len(by_shard[0]), self.shards.n_rows)))
        return np.ascontiguousarray(raw.T)

    def start(self, models: ModelSet) -> "ClusterBooster":
        """Set up models over these rows."""
        return ClusterBooster(self, models)

    def join(self, by_shard: Sequence[NDArray[Any]], all_rows: NDArray[Any]) -> NDArray[Any]:
        """Return the values that shards return of their rows, joined: (n, n_rows)."""
        for places, values in zip(self.shards.rows, by_shard, strict=True):
            all_rows[:, places] = values
        if self.has_segment is None:
            return all_rows
        return all_rows[:, np.repeat(self.has_segment, self.sizes)]


class _BegunAgain(Exception):  # noqa: N818  # no error: the estimator is reported once it is back
    """The loss of all rounds of models while an estimator was reported."""


class ClusterBooster:
    """Models that shards boost together: the `Booster` of rows on workers.

    Where workers are lost, models go on from their last estimator.  They begin again where models
    that are boosted one after the other have different numbers of estimators.
    """

    def __init__(self, rows: ClusterRows, models: ModelSet) -> None:
        self._shards, self._rows, self._models = rows.shards, rows, models
        shared = models.options[0]
        cyclic = shared.selection == "cyclic"
        self._tables = len(rows.bins.widths) if cyclic else 1  # of an estimator
        self._repeated = models.n_repeated
        self._saved_rounds: list[Rounds] = []  # of each model, before a worker was lost
        self._calls: list[tuple[int, Any, bool]] = []  # of `advance`, that were done
        self._is_reporting = self._has_begun_again = False
        self._number = self._shards.new_number()
        self._shards.run("start", make=self._describe)
        self._shards.register(self._number, self)

    def __del__(self) -> None:
        if hasattr(self, "_number"):
            self._shards.forget(self._number)

    def _describe(self) -> tuple[Any, ...]:
        models = replace(
            self._models, base=None, earlier=self._all_rounds(), n_repeated=self._repeated
        )
        return (
            self._number,
            self._rows.codes_number,
            self._rows.seed,
            models,
            None
            if self._models.base is None
            else self._shards.per_shard(self._models.describe_base),
        )

    def _all_rounds(self) -> tuple[Rounds, ...]:
        """Return the rounds from which the models go on."""
        earlier = self._models.earlier
        if not self._saved_rounds:
            return tuple(earlier)
        if not any(map(len, earlier)):
            return tuple(self._saved_rounds)
        return tuple(Rounds.chain(both) for both in zip(earlier, self._saved_rounds, strict=True))

    # -- members of a `Booster` --------------------------------------------------------------------

    @property
    def n_estimators(self) -> NDArray[np.int64]:
        """The number of estimators of each model."""
        return cast("NDArray[np.int64]", self._get("n_estimators"))

    @property
    def code_counts(self) -> NDArray[np.int64]:
        """Rows of each code, features side by side; all 0 before the first `advance`."""
        return cast("NDArray[np.int64]", self._get("code_counts"))

    @property
    def cohorts(self) -> int:
        """Groups of models that advance in step."""
        return int(self._get("cohorts"))

    def separated(self, model: int) -> bool:
        """Whether a step that solves for coefficients has no finite optimum."""
        return bool(self._get("separated", model))

    def held_out(self, model: int) -> NDArray[np.float64]:
        """Return the raw predictions of the rows that the model is scored on."""
        is_held_out = np.repeat(np.abs(self._models.roles[model]) == HELD_OUT, self._rows.sizes)
        raw = np.empty(self._shards.n_rows)
        by_shard = self._read(self._shards.ask, "get", self._number, "held_out", model)
        for places, values in zip(self._shards.rows, by_shard, strict=True):
            raw[places[is_held_out[places]]] = values
        held_out: NDArray[np.float64] = raw[is_held_out]
        return held_out

    def curves(self, model: int) -> NDArray[np.float64]:
        """Return the means of these rows' losses after each estimator, (3, 3, n_estimators)."""
        return cast("NDArray[np.float64]", self._get("curves", model))

    def rounds(self, model: int, *, first: int = 0) -> Rounds:
        """Return a model's rounds from `first` on, with how far each moved the margins."""
        while True:
            saved = self._saved_rounds
            before = saved[model] if saved else None
            n = 0 if before is None else len(before)
            arguments = self._number, model, max(0, first - n)
            new: Rounds = self._read(self._shards.ask_one, "rounds", *arguments)
            if saved is not self._saved_rounds:  # a worker was lost meanwhile
                continue
            if before is None or first >= n:
                return new
            return Rounds.chain([before.part(first, n), new])

    def raw(self, model: int) -> NDArray[np.float64]:
        """Return the raw predictions of all rows."""
        raws = self._read(self._shards.ask, "get", self._number, "raw", model)
        by_shard = [raw[None] for raw in raws]
        raw = np.empty((1, self._shards.n_rows))
        return cast("NDArray[np.float64]", self._rows.join(by_shard, raw)[0])

    def advance(
        self,
        n_estimators: int,
        models: NDArray[np.int64] | None = None,
        progress: Callable[[int, float], None] | None = None,
        *,
        report_each: bool = False,  # noqa: ARG002  # shards would not report at the same time
        keep_others: bool = False,
    ) -> None:
        """Boost these models by up to `n_estimators` more, while an estimator helps."""
        begun = int(self.n_estimators.max())
        reported = skipped = 0

        def report(done: int, risk: float) -> None:
            nonlocal reported, skipped
            skipped += 1
            if skipped > reported and progress is not None:
                self._is_reporting = True
                try:
                    progress(done, risk)
                finally:
                    self._is_reporting = False
                reported = skipped

        more = n_estimators
        while more > 0:
            try:
                reports = progress is not None
                self._shards.run_once(
                    "advance", self._number, more, models, reports, keep_others, report=report
                )
                break
            except (WorkersLost, _BegunAgain) as lost:
                self._has_begun_again = False
                if isinstance(lost, WorkersLost):
                    self._shards.recover(lost.workers)
                done = int(self.n_estimators.max()) - begun
                more, skipped = n_estimators - done, min(done, reported)
                if done > reported:  # the last estimator was finished, and not reported
                    report(done, math.nan)
        self._calls.append((n_estimators, models, keep_others))

    def _get(self, name: str, *arguments: Any) -> Any:
        return self._read(self._shards.ask_one, "get", self._number, name, *arguments)

    def _read(self, ask: Callable[..., Any], *arguments: Any) -> Any:
        """Return an answer of shards, unless it is of models that have begun again."""
        answer = ask(*arguments)
        if self._has_begun_again:
            raise _BegunAgain
        return answer

    # -- when workers are lost ---------------------------------------------------------------------

    def remember(self, ask: Callable[..., Any] | None) -> None:
        """Fetch the rounds so far from a shard, if one is left."""
        counts = np.arange(2) if ask is None else ask("get", self._number, "n_estimators")
        if ask is None or not self._models.keep_rounds or counts.min() < counts.max():
            self._has_begun_again = self._is_reporting
            self._saved_rounds, self._repeated = [], self._models.n_repeated
            return
        n = int(counts[0]) - self._repeated
        new = [
            ask("rounds", self._number, m, 0).first(n * self._tables)
            for m in range(len(self._models.losses))
        ]
        if self._saved_rounds:
            new = [Rounds.chain(both) for both in zip(self._saved_rounds, new, strict=True)]
        self._saved_rounds, self._repeated = new, int(counts[0])

    def start_again(self) -> None:
        """Set the models up on the shards again, as far as they were."""
        self._shards.run_once("start", *self._describe())
        if self._repeated == self._models.n_repeated:
            for n, models, keep_others in self._calls:
                self._shards.run_once("advance", self._number, n, models, False, keep_others)
