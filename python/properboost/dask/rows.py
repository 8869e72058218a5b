"""Rows whose codes are in a cluster, and models over them, as boosting sees them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.boosting.engine import Predictor, Training
from properboost.boosting.ensemble import Rounds
from properboost.boosting.interactions import PairBins
from properboost.dask.fleet import Fleet
from properboost.dask.waiting import Lost
from properboost.data.labels import SortedRows
from properboost.losses.builtin import MarginLoss
from properboost.parameters.shared import GROWN, BoostingOptions

__all__ = ["RowsInCluster"]

HELD_OUT = 2
"""The size of the role of a segment that a model is scored on."""


@dataclass(frozen=True, eq=False)
class RowsInCluster:
    """Rows of a fleet, with the codes of features or of pairs: `boosting.engine.Elsewhere`.

    `sizes` are those of all segments, of which some are `kept`.  `training` is the number that
    parties know the codes by.
    """

    fleet: Fleet
    sizes: NDArray[np.int64]
    n_features: int
    reorder: Callable[[Training, SortedRows], Training]
    """Makes a training of the same rows in another order."""
    training: int = 0
    kept: NDArray[np.bool_] | None = None
    """None is all."""

    def of_pairs(self, pairs: Sequence[PairBins]) -> "RowsInCluster":
        """Return the same rows with the codes of pairs of these features."""
        number = self.fleet.lay(pairs)
        return replace(self, training=number, n_features=len(pairs))

    def of_segments(self, taken: NDArray[np.bool_]) -> "RowsInCluster":
        """Return the rows of some of the segments."""
        kept = np.ones(len(self.sizes), dtype=bool) if self.kept is None else self.kept.copy()
        kept[kept] = taken
        return replace(self, kept=kept)

    def gather(self, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes of some features, (n, n_rows)."""
        found = self.fleet.ask("gather", self.training, tuple(features))
        return self.join(found, np.empty((len(features), self.fleet.n_rows), dtype=np.uint8))

    def weigh(self, group_of: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
        """Return the weight that each code holds in groups of segments, -1 being none."""
        if self.kept is not None:
            everywhere = np.full(len(self.kept), -1)
            everywhere[self.kept] = group_of
            group_of = everywhere
        held: NDArray[np.float64] = self.fleet.run("weigh", self.training, group_of, n_groups)[0]
        return held

    def add_up(self, ensemble: Predictor) -> NDArray[np.float64]:
        """Return the raw predictions of an ensemble, (n_rows, n_models)."""
        found = [own.T for own in self.fleet.ask("add_up", ensemble)]
        raw = self.join(found, np.empty((len(found[0]), self.fleet.n_rows)))
        return np.ascontiguousarray(raw.T)

    def start(
        self,
        roles: NDArray[np.int8],
        options: Sequence[BoostingOptions],
        losses: Sequence[MarginLoss],
        base: NDArray[np.float64] | None,
        **settings: Any,
    ) -> _core.Boosting:
        """Set up models over these rows."""
        models = _Models(self, roles, tuple(options), tuple(losses), base, settings)
        return cast("_core.Boosting", models)

    def join(self, found: Sequence[NDArray[Any]], all_rows: NDArray[Any]) -> NDArray[Any]:
        """Return what parties have found for their rows, (n, n_rows)."""
        for rows, own in zip(self.fleet.rows, found, strict=True):
            all_rows[:, rows] = own
        if self.kept is None:
            return all_rows
        return all_rows[:, np.repeat(self.kept, self.sizes)]


class _Models:
    """What `_core.Boosting` is, of models that parties boost together.

    Where workers are lost, models go on from their last estimator; or from the first, where those
    that are boosted one after the other have come differently far.
    """

    def __init__(
        self,
        rows: RowsInCluster,
        roles: NDArray[np.int8],
        options: tuple[BoostingOptions, ...],
        losses: tuple[MarginLoss, ...],
        base: NDArray[np.float64] | None,
        settings: dict[str, Any],
    ) -> None:
        self._fleet, self._rows = rows.fleet, rows
        self._roles, self._options, self._losses, self._base = roles, options, losses, base
        self._settings = dict(settings)
        self._seed = self._settings.pop("seed")
        cyclic = options[0].selection == "cyclic" and options[0].weak_learner not in GROWN
        self._size = rows.n_features if cyclic else 1
        self._earlier: Sequence[Rounds] = self._settings.pop("earlier")
        self._repeated = self._first = int(self._settings.pop("repeated"))
        self._found: list[Rounds] = []  # of each model, before a worker was lost
        self._calls: list[tuple[int, Any, bool]] = []  # of `advance`, that were done
        self._number = self._fleet.new_number()
        self._fleet.run("start", make=self._describe)
        self._fleet.register(self._number, self)

    def __del__(self) -> None:
        if hasattr(self, "_number"):
            self._fleet.forget(self._number)

    def _describe(self) -> tuple[Any, ...]:
        base = self._base
        return (
            self._number,
            self._rows.training,
            self._roles,
            None if base is None else self._fleet.each(lambda rows: base[:, rows]),
            self._options,
            self._losses,
            self._seed,
            {**self._settings, "earlier": self._all_rounds(), "repeated": self._repeated},
        )

    def _all_rounds(self) -> tuple[Rounds, ...]:
        """Return the rounds that the models go on from."""
        if not self._found:
            return tuple(self._earlier)
        if not any(map(len, self._earlier)):
            return tuple(self._found)
        both = zip(self._earlier, self._found, strict=True)
        return tuple(Rounds.chain(own) for own in both)

    # -- what `_core.Boosting` has -----------------------------------------------------------------

    @property
    def n_estimators(self) -> NDArray[np.int64]:
        return cast("NDArray[np.int64]", self._get("n_estimators"))

    @property
    def code_counts(self) -> NDArray[np.int64]:
        return cast("NDArray[np.int64]", self._get("code_counts"))

    @property
    def cohorts(self) -> int:
        return int(self._get("cohorts"))

    def separated(self, model: int) -> bool:
        return bool(self._get("separated", model))

    def held_out(self, model: int) -> NDArray[np.float64]:
        is_held = np.repeat(np.abs(self._roles[model]) == HELD_OUT, self._rows.sizes)
        raw = np.empty(self._fleet.n_rows)
        found = self._fleet.ask("get", self._number, "held_out", model)
        for rows, own in zip(self._fleet.rows, found, strict=True):
            raw[rows[is_held[rows]]] = own
        held: NDArray[np.float64] = raw[is_held]
        return held

    def curves(self, model: int) -> NDArray[np.float64]:
        return cast("NDArray[np.float64]", self._get("curves", model))

    def rounds(self, model: int, *, first: int = 0) -> Rounds:
        while True:
            found = self._found
            before = found[model] if found else None
            n = 0 if before is None else len(before)
            new: Rounds = self._fleet.ask_one("rounds", self._number, model, max(0, first - n))
            if found is not self._found:  # a worker was lost meanwhile
                continue
            if before is None or first >= n:
                return new
            return Rounds.chain([before.part(first, n), new])

    def raw(self, model: int) -> NDArray[np.float64]:
        found = [own[None] for own in self._fleet.ask("get", self._number, "raw", model)]
        raw = np.empty((1, self._fleet.n_rows))
        return cast("NDArray[np.float64]", self._rows.join(found, raw)[0])

    def advance(
        self,
        n_estimators: int,
        models: NDArray[np.int64] | None = None,
        progress: Callable[[int, float], None] | None = None,
        *,
        report_each: bool = False,  # noqa: ARG002  # parties would not report at the same time
        keep_others: bool = False,
    ) -> None:
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
        """Take what the models have found so far, which a party is asked for, if one is left."""
        counts = np.arange(2) if ask is None else ask("get", self._number, "n_estimators")
        if ask is None or not self._settings["keep_rounds"] or counts.min() < counts.max():
            self._found, self._repeated = [], self._first
            return
        n = int(counts[0]) - self._repeated
        new = [
            ask("rounds", self._number, m, 0).first(n * self._size)
            for m in range(len(self._losses))
        ]
        if self._found:
            new = [Rounds.chain(own) for own in zip(self._found, new, strict=True)]
        self._found, self._repeated = new, int(counts[0])

    def start_again(self) -> None:
        """Set the models up, as far as they were, on parties that are new or know nothing."""
        self._fleet.run_once("start", *self._describe())
        if self._repeated == self._first:
            for n, models, keep_others in self._calls:
                self._fleet.run_once("advance", self._number, n, models, False, keep_others)
