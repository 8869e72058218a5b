"""Training rows whose codes are in a cluster, and models over them, as boosting sees them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from properboost.dask.fleet import Fleet
from properboost.dask.waiting import Lost
from properboost.data.labels import SortedRows
from properboost.engine.protocols import CodeWeights, ModelSet, TrainingRows
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.interactions import PairBins

__all__ = ["ClusterRows"]

HELD_OUT = 2
"""The size of the role of a segment that a model is scored on."""


@dataclass(frozen=True, eq=False)
class ClusterRows(TrainingRows):
    """Training rows whose codes are with the parties of a fleet.

    `sizes` are those of all segments, of which these rows are the ones where `is_kept`.
    """

    fleet: Fleet
    sizes: NDArray[np.int64]
    place: Callable[[dict[str, Any], SortedRows], "ClusterRows"]
    """Places rows with these fields of `TrainingRows` in the cluster, in an order."""
    is_kept: NDArray[np.bool_] | None = None
    """None is all."""
    codes_number: int = 0
    """The number that parties know the codes by."""

    @property
    def can_be_copied(self) -> bool:
        """Whether another process can boost models over a copy of these rows."""
        return False

    def of_pairs(self, pairs: Sequence[PairBins]) -> Self:
        """Return the same rows with the codes of pairs of these features."""
        return replace(self, codes_number=self.fleet.lay(pairs), pairs=tuple(pairs))

    def first_pairs(self, n: int) -> Self:
        """Return the same rows with the codes of the first `n` of these pairs."""
        return self if n == len(self.pairs or ()) else self.of_pairs((self.pairs or ())[:n])

    def of_segments(self, taken: NDArray[np.bool_]) -> Self:
        """Return the rows of a part of the segments, in the same order."""
        everywhere = np.ones(len(self.sizes), dtype=bool)
        is_kept = everywhere if self.is_kept is None else self.is_kept.copy()
        is_kept[is_kept] = taken
        of_rows = np.repeat(taken, np.diff(self.segments))
        return replace(self, is_kept=is_kept, **self._part_of(of_rows))

    def reorder(self, order: SortedRows) -> Self:
        """Return the same rows, sorted in another order."""
        same = {field.name: getattr(self, field.name) for field in fields(TrainingRows)}
        return cast("Self", self.place({**same, **self._sorted_as(order)[1]}, order))

    def gather(self, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes of these features, a row each."""
        of_parties = self.fleet.ask("gather", self.codes_number, tuple(features))
        return self.join(of_parties, np.empty((len(features), self.fleet.n_rows), dtype=np.uint8))

    def weigh_groups(self, group_of: NDArray[np.int64], n_groups: int) -> list[CodeWeights]:
        """Return the weight that codes have in groups of segments; -1 is no group."""
        if self.is_kept is not None:
            everywhere = np.full(len(self.is_kept), -1)
            everywhere[self.is_kept] = group_of
            group_of = everywhere
        weights = self.fleet.run("weigh", self.codes_number, group_of, n_groups)[0]
        return [self._split(of_group) for of_group in weights]

    def add_up(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return the raw predictions of an ensemble over these features, (n_rows, n_models)."""
        of_parties = [raw.T for raw in self.fleet.ask("add_up", ensemble)]
        raw = self.join(of_parties, np.empty((len(of_parties[0]), self.fleet.n_rows)))
        return np.ascontiguousarray(raw.T)

    def start(self, models: ModelSet) -> "ClusterBooster":
        """Set up models over these rows."""
        return ClusterBooster(self, models)

    def join(self, of_parties: Sequence[NDArray[Any]], all_rows: NDArray[Any]) -> NDArray[Any]:
        """Return what parties return of their rows, (n, n_rows)."""
        for places, values in zip(self.fleet.rows, of_parties, strict=True):
            all_rows[:, places] = values
        if self.is_kept is None:
            return all_rows
        return all_rows[:, np.repeat(self.is_kept, self.sizes)]


class ClusterBooster:
    """Models that parties boost together: a `Booster` of rows in a cluster.

    Where workers are lost, models go on from their last estimator; or from the first, where those
    that are boosted one after the other have come differently far.
    """

    def __init__(self, rows: ClusterRows, models: ModelSet) -> None:
        self._fleet, self._rows, self._models = rows.fleet, rows, models
        shared = models.options[0]
        cyclic = shared.selection == "cyclic"
        self._tables = len(rows.bins.widths) if cyclic else 1  # of an estimator
        self._repeated = models.n_repeated
        self._saved_rounds: list[Rounds] = []  # of each model, before a worker was lost
        self._calls: list[tuple[int, Any, bool]] = []  # of `advance`, that were done
        self._number = self._fleet.new_number()
        self._fleet.run("start", make=self._describe)
        self._fleet.register(self._number, self)

    def __del__(self) -> None:
        if hasattr(self, "_number"):
            self._fleet.forget(self._number)

    def _describe(self) -> tuple[Any, ...]:
        models = replace(
            self._models, base=None, earlier=self._all_rounds(), n_repeated=self._repeated
        )
        return (
            self._number,
            self._rows.codes_number,
            self._rows.seed,
            models,
            None if self._models.base is None else self._fleet.each(self._models.describe_base),
        )

    def _all_rounds(self) -> tuple[Rounds, ...]:
        """Return the rounds that the models go on from."""
        earlier = self._models.earlier
        if not self._saved_rounds:
            return tuple(earlier)
        if not any(map(len, earlier)):
            return tuple(self._saved_rounds)
        return tuple(Rounds.chain(both) for both in zip(earlier, self._saved_rounds, strict=True))

    # -- what a `Booster` has ----------------------------------------------------------------------

    @property
    def n_estimators(self) -> NDArray[np.int64]:
        """The estimators that each model has."""
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
        is_held = np.repeat(np.abs(self._models.roles[model]) == HELD_OUT, self._rows.sizes)
        raw = np.empty(self._fleet.n_rows)
        of_parties = self._fleet.ask("get", self._number, "held_out", model)
        for places, values in zip(self._fleet.rows, of_parties, strict=True):
            raw[places[is_held[places]]] = values
        held_out: NDArray[np.float64] = raw[is_held]
        return held_out

    def curves(self, model: int) -> NDArray[np.float64]:
        """Return the means of these rows' losses after each estimator, (3, 3, n_estimators)."""
        return cast("NDArray[np.float64]", self._get("curves", model))

    def rounds(self, model: int, *, first: int = 0) -> Rounds:
        """Return the rounds of a model from this one on, and how far each moved the margins."""
        while True:
            saved = self._saved_rounds
            before = saved[model] if saved else None
            n = 0 if before is None else len(before)
            new: Rounds = self._fleet.ask_one("rounds", self._number, model, max(0, first - n))
            if saved is not self._saved_rounds:  # a worker was lost meanwhile
                continue
            if before is None or first >= n:
                return new
            return Rounds.chain([before.part(first, n), new])

    def raw(self, model: int) -> NDArray[np.float64]:
        """Return the raw predictions of all rows."""
        of_parties = [raw[None] for raw in self._fleet.ask("get", self._number, "raw", model)]
        raw = np.empty((1, self._fleet.n_rows))
        return cast("NDArray[np.float64]", self._rows.join(of_parties, raw)[0])

    def advance(
        self,
        n_estimators: int,
        models: NDArray[np.int64] | None = None,
        progress: Callable[[int, float], None] | None = None,
        *,
        report_each: bool = False,  # noqa: ARG002  # parties would not report at the same time
        keep_others: bool = False,
    ) -> None:
        """Boost these models by up to so many more estimators, while one helps."""
        begun = int(self.n_estimators.max())
        reported = skipped = 0

        def report(done: int, risk: float) -> None:
            nonlocal reported, skipped
            skipped += 1
            if skipped > reported and progress is not None:
                reported = skipped
                progress(done, risk)

        more = n_estimators
        while more > 0:
            try:
                reports = progress is not None
                self._fleet.run_once(
                    "advance", self._number, more, models, reports, keep_others, report=report
                )
                break
            except Lost as lost:
                self._fleet.recover(lost.workers)
                done = int(self.n_estimators.max()) - begun
                more, skipped = n_estimators - done, min(done, reported)
                if done > reported:  # the last estimator was finished, and not reported
                    report(done, math.nan)
        self._calls.append((n_estimators, models, keep_others))

    def _get(self, name: str, *arguments: Any) -> Any:
        return self._fleet.ask_one("get", self._number, name, *arguments)

    # -- when workers are lost ---------------------------------------------------------------------

    def remember(self, ask: Callable[..., Any] | None) -> None:
        """Take the rounds that models have so far from a party, if one is left."""
        counts = np.arange(2) if ask is None else ask("get", self._number, "n_estimators")
        if ask is None or not self._models.keep_rounds or counts.min() < counts.max():
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
        """Set the models up, as far as they were, on parties that are new or know nothing."""
        self._fleet.run_once("start", *self._describe())
        if self._repeated == self._models.n_repeated:
            for n, models, keep_others in self._calls:
                self._fleet.run_once("advance", self._number, n, models, False, keep_others)
