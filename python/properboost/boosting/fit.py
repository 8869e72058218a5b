"""Boosting all models of a fit: one for two classes, or one per class."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.boosting.averaging import average_rounds
from properboost.boosting.dealing import design_for
from properboost.boosting.engine import Training, find_signs, start
from properboost.boosting.enough_rounds import Blocks, limit_estimators
from properboost.boosting.ensemble import Fits, Rounds
from properboost.losses.probabilities import Link
from properboost.notices import warn
from properboost.parameters.shared import GROWN, SOLVED, BoostingOptions
from properboost.progress import Report

__all__ = ["Observer", "Stage", "boost", "report_from"]


@dataclass(frozen=True, eq=False)
class Stage:
    """Fits that were boosted, the models of each; what they predict; the weight of each code."""

    fits: list[list[Rounds]]
    raw: NDArray[np.float64] | None  # (n_fits, n_models, n_rows) by segment, if asked
    bin_weights: tuple[NDArray[np.float64], ...]

    def times(self, slopes: Sequence[tuple[float, ...]]) -> "Stage":
        """Return fits whose steps are multiplied, those of each model by a number of its own."""
        if all(slope == 1.0 for of_fit in slopes for slope in of_fit):
            return self
        multiplied = [
            [rounds.times(slope) for rounds, slope in zip(*both, strict=True)]
            for both in zip(self.fits, slopes, strict=True)
        ]
        return replace(self, fits=multiplied)

    def average(self, size: int) -> list[Rounds]:
        """Return the fits' mean, a model or one a class; an estimator has `size` rounds."""
        if len(self.fits) == 1:
            return self.fits[0]
        return [average_rounds(fits, size) for fits in zip(*self.fits, strict=True)]


class Observer(Protocol):
    """What sees a fit while it runs."""

    restarts: bool
    """Whether it wants all rounds after every estimator, and not only the new ones."""

    @property
    def best(self) -> int:
        """The estimators to keep."""

    def see(self, new: Fits, *, repeated: bool = False) -> bool:
        """Take rounds, by fit and model, that an estimator added; whether boosting is over.

        Estimators of an earlier fit are `repeated` first.
        """


def boost(
    options: BoostingOptions,
    link: Link,
    training: Training,
    n_estimators: int | None,
    *,
    base: NDArray[np.float64] | None = None,
    n_draws: int = 1,
    kept: NDArray[np.bool_] | None = None,
    keep_raw: bool = False,
    wants_raw: bool = False,
    earlier: Sequence[Rounds] = (),
    observer: Observer | None = None,
    report: Report | None = None,
) -> Stage:
    """Boost a model of two classes, or one a class, from `base` on, which is as `Stage.raw`.

    Do so `n_draws` times; or in bags, from the segments that ``kept[bag]`` says, with what counts
    rows less by as much as they are fewer.  Trees and monomials draw anew for each.  `keep_raw`
    keeps the raw predictions of all rows, 0 where a bag leaves them out; `wants_raw` says that the
    caller will make them.  A single fit can go on from `earlier` rounds of each model, before any
    slope.  An `observer` may end boosting, and says how many estimators are kept.  Without
    `n_estimators` models that are not finished go on.

    Raises MemoryError if there is less memory than that certainly takes.
    """
    of_fits = np.ones((n_draws, len(training.class_of)), dtype=bool) if kept is None else kept
    share = 1.0
    if kept is not None:
        share = design_for(options.weak_learner, len(kept)).share
        options = options.replace(
            min_child_weight=share * options.min_child_weight,
            l2=share * options.l2,
            linear_l2=share * options.linear_l2,
        )
    apart = options.weak_learner in GROWN
    signs = find_signs(training.class_of, len(training.classes))
    n_models, n_fits = len(signs), len(of_fits)
    together = n_models if apart else n_fits * n_models
    roles = (of_fits[:, None, :] * signs).reshape(-1, signs.shape[1])
    size = len(training.bins.widths) if options.selection == "cyclic" and not apart else 1

    def begin(first: int, rounds: Sequence[Rounds]) -> _core.Boosting:
        """Set up some models, which go on from these rounds if there are any."""
        draw = first // n_models if apart else 0
        return start(
            training if draw == 0 else replace(training, seed=(training.seed + draw) % 2**32),
            roles[first : first + together],
            [options] * together,
            [link.loss] * together,
            base=None if base is None else base.reshape(len(roles), -1)[first : first + together],
            keep_rounds=True,
            risk_of_tables=kept is None,  # a third of the time of a cycle
            raws=len(roles) if keep_raw else n_models if wants_raw else 0,
            joint_loss=link.joint_loss,
            earlier=rounds,
            repeated=max(map(len, rounds), default=0) // size,
        )

    solved = options.step in SOLVED
    firsts = range(0, len(roles), together)
    before = max(map(len, earlier), default=0) // size
    limits = limit_estimators(options, n_estimators)
    blocks = Blocks(
        limits, before, earlier, size, link,
        n_features=len(training.bins.widths),
        n_classes=len(training.classes),
        weight=share * float(training.class_weights.sum()),
    )  # fmt: skip
    # Those that are watched advance in turns; others one after the other, as each takes memory.
    raws = _Raws(len(roles), training.n_rows) if keep_raw else None
    boostings: Iterator[_core.Boosting] = (
        begin(first, earlier[first : first + together]) for first in firsts
    )
    if observer is not None:
        watched = list(boostings)
        _advance_in_turns(watched, blocks, observer, earlier, n_models, report, raws)
        boostings = iter(watched)
    models: list[Rounds] = []
    separated: set[int] = set()
    for first, boosting in zip(firsts, boostings, strict=True):
        if observer is None:
            done = first * limits[1]
            for more, which in blocks.of(boosting):
                if raws is not None:
                    raws.take_leaving(boosting, first, which)
                boosting.advance(more, which, report and report_from(report, done))
                done += more * (together if which is None else len(which))
        elif solved and observer.best < max(boosting.n_estimators):
            boosting = begin(first, ())  # later steps have changed the earlier ones
            boosting.advance(observer.best)
        found = [
            Rounds.from_native(boosting.rounds(m), with_moves=not solved) for m in range(together)
        ]
        if earlier:
            both = zip(earlier[first : first + together], found, strict=True)
            found = [Rounds.chain(own) for own in both]
        if observer is not None and max(map(len, found)) > observer.best * size:
            found = [own.first(observer.best * size) for own in found]
            if raws is not None:
                boosting = begin(first, found)
                raws.forget()
        models += found
        if raws is not None:
            raws.take(boosting, first, range(together))
        separated |= {(first + m) % n_models for m in range(together) if boosting.separated(m)}
        if report is not None and len(models[-1]):
            report(len(models) * limits[1], float(models[-1].risk[-1]))
    for m in sorted(separated):
        _warn_of_separation(options.step, training.classes, m)
    return Stage(
        [models[m : m + n_models] for m in range(0, len(models), n_models)],
        None if raws is None else raws.values.reshape(n_fits, n_models, -1),
        training.weigh_codes(boosting),
    )


class _Raws:
    """The raw predictions of all rows under each model, (n_models, n_rows).

    Models that end before others leave the engine's batches, which have none of theirs from then
    on: they are taken before.
    """

    def __init__(self, n_models: int, n_rows: int) -> None:
        self.values = np.empty((n_models, n_rows))
        self._taken: set[int] = set()

    def take(self, boosting: _core.Boosting, first: int, models: Iterable[int]) -> None:
        """Take those of models that have not left; their numbers here begin at `first`."""
        for m in models:
            if first + m not in self._taken:
                self.values[first + m] = boosting.raw(m)
                self._taken.add(first + m)

    def take_leaving(
        self, boosting: _core.Boosting, first: int, which: NDArray[np.int64] | None
    ) -> None:
        """Take those of models that leave, as only these others go on; None is all."""
        if which is not None:
            self.take(boosting, first, set(range(len(boosting.n_estimators))) - set(which.tolist()))

    def forget(self) -> None:
        """Take all anew: rounds were cut off."""
        self._taken.clear()


class _Over(Exception):  # noqa: N818  # no error: it ends a run of the engine
    pass


def _advance_in_turns(
    boostings: Sequence[_core.Boosting],
    blocks: Blocks,
    observer: Observer,
    earlier: Sequence[Rounds],
    n_models: int,
    report: Report | None,
    raws: _Raws | None,
) -> None:
    """Boost models by all blocks, or until the observer says that it is enough.

    `earlier` are the rounds of each model so far.  `raws` takes what models predict that leave.
    """
    estimators = [rounds.cut(0, len(rounds), blocks.tables) for rounds in earlier]
    for some in zip_longest(*estimators, fillvalue=range(0)):
        own = [rounds.part(t.start, t.stop) for rounds, t in zip(earlier, some, strict=True)]
        if observer.see([own], repeated=True):
            return
    which = [(boosting, m) for boosting in boostings for m in range(len(boosting.n_estimators))]
    seen = [0] * len(which)

    def look() -> tuple[bool, bool]:
        """Return whether anything is new, and whether boosting is over."""
        new = []
        for i, (boosting, m) in enumerate(which):
            rounds = Rounds.from_native(
                boosting.rounds(m, first=0 if observer.restarts else seen[i]), with_moves=True
            )
            new.append(rounds)
            seen[i] = len(rounds) if observer.restarts else seen[i] + len(rounds)
        fits = [new[i : i + n_models] for i in range(0, len(new), n_models)]
        return any(map(len, new)), observer.see(fits)

    done = 0

    def see(more: int, risk: float) -> None:
        if report is not None:
            report(done + more, risk)
        if look()[1]:
            raise _Over

    one_cohort = len(boostings) == 1 and boostings[0].cohorts == 1
    for more, models in blocks.of(boostings[0]):  # the only block, where there are several
        size = len(which) if models is None else len(models)
        if raws is not None:
            raws.take_leaving(boostings[0], 0, models)
        if one_cohort:
            try:
                boostings[0].advance(more, models, see, report_each=True)
            except _Over:
                return
            done += more * size
            continue
        for _ in range(more):
            for boosting in boostings:
                # Within a block, too, models may be finished, and leave at the next estimator.
                boosting.advance(1, models, keep_others=raws is not None)
            done += size
            if report is not None:
                report(done, math.nan)
            goes_on, over = look()
            if over or not goes_on:
                return


def _warn_of_separation(step: str, classes: NDArray[Any], model: int) -> None:
    label = classes.tolist()[1 if len(classes) == 2 else model]
    warn(
        f"step={step!r} found no finite optimal coefficients for class "
        f"{label!r}: the chosen features separate some rows by their class, or nearly so. The "
        "coefficients were kept finite by counting an error of 0 as half a row"
    )


def report_from(report: Report, before: int) -> Report:
    """Return what reports rounds that follow `before` others."""
    return lambda done, risk: report(before + done, risk)
