"""Cross-validation in lanes: a model for every configuration, split and class, boosted together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.boosting.engine import (
    Training,
    find_pairs,
    find_sides,
    lay_grids,
    reorder,
    start,
)
from properboost.data.labels import Rows, SortedRows
from properboost.estimators.properboost import SOLVED
from properboost.losses import MarginLoss
from properboost.model_selection.cv_splits import TEST, TRAIN, SplitGroup
from properboost.model_selection.scoring import BUILT_IN, HeldOut, Score
from properboost.progress import Report

__all__ = [
    "Configuration",
    "SplitRows",
    "arrange",
    "count_models",
    "cross_validate",
    "split_pairs",
]

Array = NDArray[np.float64]

PATIENCE = 20
"""A configuration goes on for so many estimators after its last improvement, at least ..."""

PATIENCE_SHARE = 0.5
"""... and for this share of those it had then: whoever learns slowly is waited for."""

TOLERANCE = 1e-4
"""What counts as an improvement, as a share of the score."""

MARGIN_BYTES = 2**31
"""What the lanes of one pass may hold, if they are more than fit, at `_row_bytes` a lane."""

PACK = 16
"""Lanes that the engine takes together."""


@dataclass(frozen=True)
class Configuration:
    """Settings that the search compares.

    `params` says them in the words of `settings`, the `ProperBoostClassifier` that has them all.
    """

    loss: MarginLoss
    settings: Any
    params: dict[str, Any]

    @property
    def selection(self) -> str:
        """How features are selected."""
        name: str = self.settings.selection
        return name


@dataclass(frozen=True, eq=False)
class SplitRows:
    """The rows in the order that a group of splits needs."""

    rows: Rows
    order: SortedRows
    group: SplitGroup
    training: Training
    base: NDArray[np.float64] | None = None
    """The raw predictions, (n_models, n_rows), that a lone split's models start from, or 0."""

    @property
    def n_splits(self) -> int:
        """Splits of the group."""
        return len(self.group.roles)

    @cached_property
    def held_out(self) -> list[HeldOut]:
        """The rows that each split tests on, in the order in which the engine predicts them."""
        return [self._held_out(s) for s in range(self.n_splits)]

    def _held_out(self, split: int) -> HeldOut:
        tested = self.group.roles[split, self.order.part_of] == TEST
        held = self.order.order[np.repeat(tested, np.diff(self.order.segments))]
        weight = self.rows.weight
        return HeldOut(held, self.rows.codes[held], None if weight is None else weight[held])


def arrange(
    rows: Rows, groups: Sequence[SplitGroup], order: SortedRows, training: Training
) -> Iterator[SplitRows]:
    """Yield the rows for each group of splits; `order` and `training` are those of the first."""
    yield SplitRows(rows, order, groups[0], training)
    for group in groups[1:]:
        other = rows.sort(group.part, group.roles.shape[1])
        yield SplitRows(rows, other, group, reorder(training, order, other))


def cross_validate(
    configurations: Sequence[Configuration],
    split_rows: Sequence[SplitRows],
    score: Score,
    caps: Mapping[str, int],
    *,
    stop_early: bool,
    report: Report | None,
) -> tuple[Array, Array]:
    """Return score and log loss of each configuration in each split after each estimator.

    `caps` is the most estimators, by selection; configurations of one selection are neighbours.
    Of shape (n_configurations, n_splits, estimators run); NaN where there is none.  More is better
    in both.  A built-in score of two classes is known after every estimator, any other after 1, 2,
    3, 4, 5, 6, 8, 10, 12, 15 and so on.
    """
    models_each = count_models(split_rows)
    n_rows = split_rows[0].training.codes.shape[1]
    a_model = _row_bytes(configurations[0].settings.step) * n_rows
    most = max(1, MARGIN_BYTES // (a_model * models_each))
    size = most // PACK * PACK or most
    parts = []
    done = 0
    for selection, group in groupby(configurations, key=lambda c: c.selection):
        same = list(group)
        cap = caps[selection]
        for first in range(0, len(same), size):
            some = same[first : first + size]
            a_pass = _Pass(some, split_rows, score)
            parts.append(a_pass.boost(cap, stop_early, _Progress(report, done)))
            done += len(some) * models_each * cap
    longest = max(part.shape[3] for part in parts)
    padded = [
        np.pad(part, [(0, 0)] * 3 + [(0, longest - part.shape[3])], constant_values=np.nan)
        for part in parts
    ]
    scores, log_losses = np.concatenate(padded, axis=1)
    return scores, log_losses


def _row_bytes(step: str) -> int:
    """Return what a row of a lane takes: margin and weight, and doubles where steps are solved."""
    return 32 if step in SOLVED else 8


def make_schedule(cap: int) -> Iterator[int]:
    """Yield the numbers of estimators at which scores are looked at, the last of them `cap`."""
    at = 0
    while at < cap:
        at = min(cap, max(at + 1, round(1.25 * at)))
        yield at


def count_models(split_rows: Sequence[SplitRows]) -> int:
    """Return how many models a configuration has: one for each split and class."""
    n_classes = len(split_rows[0].rows.classes)
    return sum(rows.n_splits for rows in split_rows) * (1 if n_classes == 2 else n_classes)


class _Progress:
    """Tells how far all passes are, and the best mean score so far."""

    def __init__(self, report: Report | None, done: int) -> None:
        self.report = report
        self.done = done
        self.best = -np.inf

    def from_here(self) -> Report | None:
        """Return what the engine calls; None where there is nothing to show."""
        report, done, best = self.report, self.done, self.best
        if report is None or best == -np.inf:
            return None
        return lambda more, _: report(done + more, best)

    def show(self) -> None:
        if self.report is not None and self.best > -np.inf:
            self.report(self.done, self.best)


class _Pass:
    """Configurations of one selection, whose lanes are held at the same time."""

    def __init__(
        self,
        configurations: Sequence[Configuration],
        split_rows: Sequence[SplitRows],
        score: Score,
    ) -> None:
        self.configurations = configurations
        self.score = score
        self.groups = [_Lanes(configurations, rows) for rows in split_rows]
        self.models_each = count_models(split_rows)
        self.column = None
        rows = split_rows[0].rows
        # The engine's means are weighted with the classes' factors, which no score should be.
        if len(rows.classes) == 2 and rows.factor is None:
            self.column = next((k for k, s in enumerate(BUILT_IN.values()) if s is score), None)

    def boost(self, cap: int, stop_early: bool, progress: _Progress) -> Array:
        """Boost every configuration for `cap` estimators, or until it improves no more.

        Returns scores and log losses, stacked.
        """
        n_splits = sum(lanes.rows.n_splits for lanes in self.groups)
        watches = [_Watch() for _ in self.configurations]
        active = list(range(len(self.configurations)))
        blocks: list[Array] = []
        before, first_done = 0, progress.done
        # Where nothing is to be looked at on the way, the engine goes through at once.
        at_once = not stop_early and self.column is not None and progress.report is None
        for at in [cap] if at_once else make_schedule(cap):
            for lanes in self.groups:
                progress.done += lanes.advance(before, at, active, progress.from_here())
            block = np.full((2, len(self.configurations), n_splits, at - before), np.nan)
            for c in active:
                for lanes in self.groups:
                    for s in range(lanes.rows.n_splits):
                        k = lanes.rows.group.first + s
                        block[:, c, k] = self._look(lanes, c, s, before, at)
                if not at_once:
                    watches[c].see(before, *block[:, c].mean(axis=1))
            blocks.append(block)
            before = at
            progress.best = max([progress.best, *(watches[c].score.best for c in active)])
            if stop_early:
                active = [c for c in active if not watches[c].is_over(at) and self._goes_on(c, at)]
            # What has stopped counts as done.
            stopped = len(self.configurations) - len(active)
            progress.done = first_done + self.models_each * (stopped * cap + len(active) * at)
            progress.show()
            if not active:
                break
        return np.concatenate(blocks, axis=3)

    def _goes_on(self, c: int, at: int) -> bool:
        """Whether any model of a configuration still learns."""
        return any(lanes.still_learning([c], at).size > 0 for lanes in self.groups)

    def _look(
        self, lanes: "_Lanes", c: int, split: int, before: int, at: int
    ) -> tuple[Array, Array]:
        """Return score and log loss after estimators `before` + 1 to `at`, NaN where unknown."""
        loss, held_out = self.configurations[c].loss, lanes.rows.held_out[split]
        models = lanes.lanes[c, split]
        log_loss = BUILT_IN["neg_log_loss"]
        if self.column is not None and lanes.estimators[models[0]] > 0:
            curves = lanes.boosting.curves(int(models[0]))
            # A model that learns no more stays as it is.
            taken = np.minimum(np.arange(before, at), curves.shape[1] - 1)
            values = curves[self.column, taken]
            return 1.0 - values if self.column == 1 else -values, -curves[0, taken]
        raw = np.full((len(held_out.rows), len(models)), -np.inf)
        for k, model in enumerate(models):
            if model >= 0:
                raw[:, k] = lanes.boosting.held_out(int(model))
        raw = raw[:, 0] if raw.shape[1] == 1 else raw
        value = self.score(held_out, loss, raw)
        other = value if self.score is log_loss else log_loss(held_out, loss, raw)
        # Without any estimator it has been the same all along.
        scores, log_losses = (
            np.full(at - before, np.nan if self.column is None else v) for v in (value, other)
        )
        scores[-1], log_losses[-1] = value, other
        return scores, log_losses


class _Lanes:
    """The models of a pass in one group of splits; ``lanes[c, s, k]`` is the engine's number.

    It is -1 where split ``s`` trains on no row of class ``k`` of several: nothing is this class.
    """

    def __init__(self, configurations: Sequence[Configuration], rows: SplitRows) -> None:
        self.rows = rows
        training, group = rows.training, rows.group
        sides = find_sides(training.class_of, len(training.classes))
        self.lanes = np.full((len(configurations), rows.n_splits, len(sides)), -1, dtype=np.int64)
        by_loss: dict[Any, list[int]] = {}
        for c, configuration in enumerate(configurations):
            by_loss.setdefault(configuration.loss.native, []).append(c)
        # The engine packs neighbours of one loss, and passes over what none of a pack trains on.
        roles: list[NDArray[np.int8]] = []
        owners: list[Configuration] = []
        classes: list[int] = []  # of each owner's model
        in_group = group.roles[:, rows.order.part_of]
        for members in by_loss.values():
            for s, in_split in enumerate(in_group):
                role = np.select([in_split == TRAIN, in_split == TEST], [1, 2]).astype(np.int8)
                for k, side in enumerate(sides):
                    if not np.any(side[in_split == TRAIN] == 1):
                        continue
                    self.lanes[members, s, k] = np.arange(len(members)) + len(owners)
                    roles += [role * side] * len(members)
                    owners += [configurations[c] for c in members]
                    classes += [k] * len(members)
        self.boosting = start(
            training,
            np.stack(roles),
            [owner.settings for owner in owners],
            [owner.loss for owner in owners],
            base=rows.base if rows.base is None or len(sides) == 1 else rows.base[classes],
            keep_rounds=False,
        )
        self.estimators = np.zeros(len(owners), dtype=np.int64)

    def raw(self, split: int) -> NDArray[np.float64]:
        """Return what the first configuration predicts of all rows, (n_classes or 1, n_rows)."""
        n_rows = self.rows.training.codes.shape[1]
        models = self.lanes[0, split]
        raw = np.full((len(models), n_rows), -np.inf)
        for k, model in enumerate(models):
            if model >= 0:
                raw[k] = self.boosting.raw(int(model))
        return raw

    def still_learning(self, some: Sequence[int], at: int) -> NDArray[np.int64]:
        """Return the models of some configurations that have as many estimators as were asked."""
        models = np.sort(self.lanes[some].ravel())
        models = models[models >= 0]
        learning: NDArray[np.int64] = models[self.estimators[models] == at]
        return learning

    def advance(self, before: int, at: int, active: Sequence[int], report: Report | None) -> int:
        """Boost what is active and still learns from `before` estimators to `at`."""
        models = self.still_learning(active, before)
        if len(models):
            self.boosting.advance(at - before, models, report)
            self.estimators = np.asarray(self.boosting.n_estimators)
        return len(models) * (at - before)


def split_pairs(
    configuration: Configuration,
    n_estimators: int,
    split_rows: Sequence[SplitRows],
    n_pairs: int,
) -> list[SplitRows]:
    """Return the rows of each split with the codes of its own strongest pairs.

    Pairs are those that its training rows ask for once this configuration has so many estimators;
    its models start from there.
    """
    found = []
    for rows in split_rows:
        lanes = _Lanes([configuration], rows)
        lanes.advance(0, n_estimators, [0], None)
        for s in range(rows.n_splits):
            learns = rows.group.roles[s, rows.order.part_of] == TRAIN
            training, raw = rows.training, lanes.raw(s)
            weights = training.weigh_segments(learns)
            trained = np.isfinite(raw[:, 0])
            pairs = find_pairs(
                configuration.loss, training, raw, weights, n_pairs, learns, models=trained
            )
            group = replace(
                rows.group, first=rows.group.first + s, roles=rows.group.roles[s : s + 1]
            )
            of_pairs = training.of_pairs(lay_grids(training, weights, pairs))
            found.append(replace(rows, group=group, training=of_pairs, base=raw))
    return found


class _Watch:
    """Sees when neither the score nor the log loss of a configuration improves any more.

    The log loss keeps boosting on while a score that knows labels only has not moved yet.
    """

    def __init__(self) -> None:
        self.score = _Best()
        self.log_loss = _Best()

    def see(self, before: int, score: Array, log_loss: Array) -> None:
        for k, (value, other) in enumerate(zip(score, log_loss, strict=True)):
            self.score.see(before + k + 1, value)
            self.log_loss.see(before + k + 1, other)

    def is_over(self, at: int) -> bool:
        last = max(self.score.at, self.log_loss.at)
        return at - last >= max(PATIENCE, PATIENCE_SHARE * last)


class _Best:
    """The last value that was better, by the tolerance, than the one before; NaN never is."""

    def __init__(self) -> None:
        self.best = -np.inf
        self.at = 0

    def see(self, at: int, value: float) -> None:
        margin = TOLERANCE * abs(self.best) if np.isfinite(self.best) else 0.0
        if value > self.best + margin:
            self.best, self.at = float(value), at
