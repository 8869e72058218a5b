"""Boosting the models of one stage of a fit: one for two classes, or one per class."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.engine.protocols import Booster, BoostingStopped, ModelSet, TrainingRows
from properboost.fitting.enough_rounds import Blocks
from properboost.fitting.plan import StagePlan
from properboost.fitting.stages import Stage
from properboost.models.ensemble import Fits, Rounds
from properboost.notices import warn
from properboost.parameters.kinds import SOLVED
from properboost.parameters.learners import Tree
from properboost.progress import Report

__all__ = ["Observer", "boost", "report_from"]


class Observer(Protocol):
    """An observer of a fit while it runs, which may end it."""

    restarts: bool
    """Whether `see` takes all rounds after every estimator, and not only the new ones."""

    @property
    def best(self) -> int:
        """The number of estimators to keep."""

    def see(self, new: Fits, *, repeated: bool = False) -> bool:
        """Take the rounds of an estimator, by fit and model; return whether boosting is over.

        Estimators of an earlier fit come first, with `repeated`.
        """


def boost(
    plan: StagePlan,
    rows: TrainingRows,
    observer: Observer | None = None,
    report: Report | None = None,
) -> Stage:
    """Boost the models of a stage.

    An `observer` may end boosting, and then its `best` is the number of estimators that stay.

    Raises MemoryError if there is less memory than boosting certainly takes.
    """
    run = _StageRun(plan, rows)
    # Observed models advance in turns.  Others advance one after the other, and a booster is set up
    # when the one before is done, because each takes memory.
    boosters: Iterator[Booster] = (run.begin(first, run.earlier_of(first)) for first in run.firsts)
    if observer is not None:
        observed = list(boosters)
        _Turns(run, observed, observer, report).run()
        boosters = iter(observed)
    models: list[Rounds] = []
    separated: set[int] = set()
    for first, booster in zip(run.firsts, boosters, strict=True):
        if observer is None:
            run.advance(booster, first, report)
        rounds, last = run.finish(booster, first, observer)
        models += rounds
        if run.raws is not None:
            run.raws.take(last, first, range(run.together))
        separated |= {(first + m) % run.n_models for m in range(run.together) if last.separated(m)}
        if report is not None and len(models[-1]):
            report(len(models) * plan.limits[1], float(models[-1].risk[-1]))
    for m in sorted(separated):
        _warn_of_separation(plan.options.step, rows.classes, m)
    return Stage(
        [models[m : m + run.n_models] for m in range(0, len(models), run.n_models)],
        None if run.raws is None else run.raws.values.reshape(plan.n_fits, run.n_models, -1),
        rows.weigh_codes(last),
    )


class _StageRun:
    """A stage while it runs: the models of all fits, in one or several boosters.

    A booster has the models of all fits, or of one fit where every fit draws rows or features anew.
    """

    def __init__(self, plan: StagePlan, rows: TrainingRows) -> None:
        self.plan, self.rows = plan, rows
        signs = rows.signs
        in_fits = np.ones((plan.n_fits, len(rows.class_of)), dtype=bool)
        if plan.bags is not None:
            in_fits = plan.bags.segments
        self._roles = (in_fits[:, None, :] * signs).reshape(-1, signs.shape[1])
        self._draws_anew = plan.options.weak_learner.is_grown
        self.n_models, self.n_all = len(signs), len(self._roles)
        self.together = self.n_models if self._draws_anew else self.n_all
        self.firsts = range(0, self.n_all, self.together)
        cyclic = plan.options.selection == "cyclic"
        self.tables = len(rows.bins.widths) if cyclic else 1
        self.is_solved = plan.options.step in SOLVED
        self.raws = _Raws(self.n_all, rows.n_rows) if plan.keep_raw else None

    @cached_property
    def blocks(self) -> Blocks:
        """The blocks of estimators by which models advance."""
        plan, rows, learner = self.plan, self.rows, self.plan.options.weak_learner
        return Blocks(
            plan.limits, self._count(plan.earlier), plan.earlier, self.tables,
            tree=learner if isinstance(learner, Tree) else None,
            link=plan.link,
            n_features=len(rows.bins.widths),
            n_classes=len(rows.classes),
            weight=plan.bag_share * float(rows.class_weights.sum()),
        )  # fmt: skip

    def earlier_of(self, first: int) -> Sequence[Rounds]:
        """Return the rounds from which the models of a booster go on."""
        return self.plan.earlier[first : first + self.together]

    def begin(self, first: int, rounds: Sequence[Rounds] = ()) -> Booster:
        """Set up a booster of the models from `first` on, which go on from these rounds, if any."""
        plan = self.plan
        draw = first // self.n_models if self._draws_anew else 0
        rows = self.rows
        if draw > 0:
            rows = rows.with_seed((rows.seed + draw) % 2**32)
        base = plan.base
        if base is not None:
            base = base.reshape(self.n_all, -1)[first : first + self.together]
        return rows.start(
            ModelSet(
                roles=self._roles[first : first + self.together],
                options=(plan.options_of_fits,) * self.together,
                losses=(plan.link.loss,) * self.together,
                base=base,
                joint_loss=plan.link.joint_loss,
                # The risk after each table takes a third of the time of a cycle.
                risk_of_tables=plan.bags is None,
                raws=self.n_all if plan.keep_raw else 0,
                raws_after=self.n_models if plan.needs_raw else 0,
                earlier=tuple(rounds),
                n_repeated=self._count(rounds),
            )
        )

    def advance(self, booster: Booster, first: int, report: Report | None) -> None:
        """Boost models without an observer by all their estimators."""
        done = first * self.plan.limits[1]
        for more, which in self.blocks.of(booster):
            if self.raws is not None:
                self.raws.take_leaving(booster, first, which)
            booster.advance(more, which, report and report_from(report, done))
            done += more * (self.together if which is None else len(which))

    def finish(
        self, booster: Booster, first: int, observer: Observer | None
    ) -> tuple[list[Rounds], Booster]:
        """Return the rounds of models to keep, and a booster with these rounds only."""
        most = None if observer is None else observer.best
        if most is not None and self.is_solved and most < max(booster.n_estimators):
            booster = self.begin(first)  # later steps have changed the earlier ones
            booster.advance(most)
        rounds = self._read_rounds(booster, first)
        if most is not None and max(map(len, rounds)) > most * self.tables:
            rounds = [of_model.first(most * self.tables) for of_model in rounds]
            if self.raws is not None:
                booster = self.begin(first, rounds)
                self.raws.forget()
        return rounds, booster

    def _read_rounds(self, booster: Booster, first: int) -> list[Rounds]:
        """Return the rounds of all models of a booster, with the earlier ones first."""
        rounds = [booster.rounds(m) for m in range(self.together)]
        if self.is_solved:  # no warm start goes on from these
            return [replace(of_model, moves=None) for of_model in rounds]
        if not self.plan.earlier:
            return rounds
        return [Rounds.chain(both) for both in zip(self.earlier_of(first), rounds, strict=True)]

    def _count(self, rounds: Sequence[Rounds]) -> int:
        """Return the number of estimators in the rounds of models."""
        return max(map(len, rounds), default=0) // self.tables


class _Raws:
    """The raw predictions of all rows under each model, (n_models, n_rows).

    A model that ends before others leaves the engine's batch, which then forgets its raw
    predictions.  So they are taken before.
    """

    def __init__(self, n_models: int, n_rows: int) -> None:
        self.values = np.empty((n_models, n_rows))
        self._taken: set[int] = set()

    def take(self, booster: Booster, first: int, models: Iterable[int]) -> None:
        """Take the raw predictions of models that have not left; model 0 is at `first`."""
        for m in models:
            if first + m not in self._taken:
                self.values[first + m] = booster.raw(m)
                self._taken.add(first + m)

    def take_leaving(self, booster: Booster, first: int, which: NDArray[np.int64] | None) -> None:
        """Take the raw predictions of the models that leave: none, or all but `which`."""
        if which is not None:
            self.take(booster, first, set(range(len(booster.n_estimators))) - set(which.tolist()))

    def forget(self) -> None:
        """Forget what was taken, because rounds were cut off."""
        self._taken.clear()


class _Turns:
    """Models that advance in turns, one estimator each, with an observer of all of them."""

    def __init__(
        self,
        run: _StageRun,
        boosters: Sequence[Booster],
        observer: Observer,
        report: Report | None,
    ) -> None:
        self._run, self._boosters = run, boosters
        self._observer, self._report = observer, report
        self._models = [(b, m) for b in boosters for m in range(len(b.n_estimators))]
        self._n_seen = [0] * len(self._models)

    def run(self) -> None:
        """Boost models by all blocks, or until the observer ends boosting."""
        if self._repeat():
            return
        done = 0
        in_step = len(self._boosters) == 1 and self._boosters[0].cohorts == 1
        # Where there are several boosters, there is one block only.
        for more, which in self._run.blocks.of(self._boosters[0]):
            if self._run.raws is not None:
                self._run.raws.take_leaving(self._boosters[0], 0, which)
            size = len(self._models) if which is None else len(which)
            advance = self._advance_in_step if in_step else self._advance_apart
            if advance(more, which, done, size):
                return
            done += more * size

    def _repeat(self) -> bool:
        """Show the estimators of an earlier fit; return whether boosting is over."""
        earlier, tables = self._run.plan.earlier, self._run.tables
        estimators = [rounds.cut(0, len(rounds), tables) for rounds in earlier]
        for of_models in zip_longest(*estimators, fillvalue=range(0)):
            new = [r.part(t.start, t.stop) for r, t in zip(earlier, of_models, strict=True)]
            if self._observer.see([new], repeated=True):
                return True
        return False

    def _advance_in_step(
        self, more: int, which: NDArray[np.int64] | None, done: int, _size: int
    ) -> bool:
        """Boost models that the engine boosts in step; return whether boosting is over."""

        def see(newly_done: int, risk: float) -> None:
            if self._report is not None:
                self._report(done + newly_done, risk)
            if self._look()[1]:
                raise BoostingStopped

        try:
            self._boosters[0].advance(more, which, see, report_each=True)
        except BoostingStopped:
            return True
        return False

    def _advance_apart(
        self, more: int, which: NDArray[np.int64] | None, done: int, size: int
    ) -> bool:
        """Boost models by an estimator at a time; return whether boosting is over."""
        keep_others = self._run.raws is not None
        for _ in range(more):
            for booster in self._boosters:
                # Models may finish within a block, and leave at the next estimator.
                booster.advance(1, which, keep_others=keep_others)
            done += size
            if self._report is not None:
                self._report(done, math.nan)
            is_new, over = self._look()
            if over or not is_new:
                return True
        return False

    def _look(self) -> tuple[bool, bool]:
        """Show what is new; return whether anything is, and whether boosting is over."""
        new = []
        for i, (booster, m) in enumerate(self._models):
            restarts = self._observer.restarts
            rounds = booster.rounds(m, first=0 if restarts else self._n_seen[i])
            new.append(rounds)
            self._n_seen[i] = len(rounds) if restarts else self._n_seen[i] + len(rounds)
        n_models = self._run.n_models
        fits = [new[i : i + n_models] for i in range(0, len(new), n_models)]
        return any(map(len, new)), self._observer.see(fits)


def _warn_of_separation(step: str, classes: NDArray[Any], model: int) -> None:
    label = classes.tolist()[1 if len(classes) == 2 else model]
    warn(
        f"step={step!r} found no finite optimal coefficients for class "
        f"{label!r}: the chosen features separate some rows by their class, or nearly so. The "
        "coefficients were kept finite by counting an error of 0 as half a row"
    )


def report_from(report: Report, before: int) -> Report:
    """Return a report that counts rounds from `before` on."""
    return lambda done, risk: report(before + done, risk)
