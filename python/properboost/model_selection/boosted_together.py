"""Candidates boosted together: a model for every candidate, split and class."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.sorted_rows import LEARNS
from properboost.engine.protocols import CodeWeights, ModelSet
from properboost.fitting.intercept import add_intercepts
from properboost.fitting.pair_search import find_pairs, lay_grids, read_pairs
from properboost.losses.probabilities import Link
from properboost.model_selection.fits import Fits, ModelOf, Progress
from properboost.model_selection.search_space import Candidate
from properboost.model_selection.split_rows import SplitRows, count_models
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.kinds import CONDITIONAL, SOLVED
from properboost.progress import Report
from properboost.scoring import BUILT_IN, HeldOutRows, Score, read_curves

__all__ = [
    "SplitPairs",
    "boost_candidates",
    "predict_held_out",
    "time_a_round",
]

Array = NDArray[np.float64]

MARGIN_BYTES = 2**31
"""Bytes of the models that are boosted together, at `_row_bytes` a row."""

MOST_APART = 1e6
"""The largest ratio of two classes' weights at which the engine measures scores."""

TIMED = 2
"""The rounds by which the time of a fit is foreseen."""

BATCH = 16
"""Models in a batch of the engine."""


def boost_candidates(
    candidates: Sequence[Candidate], split_rows: Sequence[SplitRows], caps: Mapping[str, int]
) -> Iterator[Fits]:
    """Yield the models of as many candidates at a time as fit into memory.

    `caps` is the most estimators, by selection.  Candidates that the engine can batch are
    neighbours.
    """
    n_rows = split_rows[0].training.n_rows
    first = 0
    for (selection, *_), group in groupby(candidates, key=attrgetter("group")):
        members = list(group)
        a_model = _row_bytes(members[0].options) * n_rows
        most = max(1, MARGIN_BYTES // (a_model * count_models(split_rows)))
        size = most // BATCH * BATCH or most
        for k in range(0, len(members), size):
            part = members[k : k + size]
            yield _BoostedFits(part, range(first, first + len(part)), split_rows, caps[selection])
            first += len(part)


def _row_bytes(options: BoostingOptions) -> int:
    """Return the bytes of a row: margin, weight and curvature; doubles for solved steps."""
    return 8 + (4 if options.response == "newton" else 0) + (24 if options.step in SOLVED else 0)


class _BoostedFits(Fits):
    """Candidates that the engine batches; their models are in memory at the same time."""

    in_steps = True

    def __init__(
        self,
        candidates: Sequence[Candidate],
        numbers: range,
        split_rows: Sequence[SplitRows],
        n_estimators: int,
    ) -> None:
        self.candidates = numbers
        self.splits = range(sum(len(rows.splits) for rows in split_rows))
        self.n_estimators = n_estimators
        self.models_each = count_models(split_rows)
        rows = split_rows[0].rows
        factor = rows.factor
        self._factored = factor is not None
        # The engine's means are useless for a class whose weight vanishes beside the other's.
        apart = factor is not None and factor.max() > MOST_APART * factor.min()
        self._finds_intercepts = candidates[0].options.response == CONDITIONAL
        by_engine = len(rows.classes) == 2 and not apart and not self._finds_intercepts
        self.measured = frozenset(BUILT_IN.values()) if by_engine else frozenset()
        self._candidates = candidates
        self._split_rows = split_rows
        self._rows_of = [(rows, s) for rows in split_rows for s in range(len(rows.splits))]
        self._batches: list[_BatchModels] = []
        self._places: dict[ModelOf, tuple[_BatchModels, ModelOf]] = {}

    def advance(self, models: Sequence[ModelOf], before: int, at: int, progress: Progress) -> None:
        self._set_up([model for model in models if model not in self._places])
        for batch in self._batches:
            members = self._find(models, batch)
            progress.done += batch.advance(before, at, members, progress.from_here())

    def held_out(self, split: int) -> HeldOutRows:
        rows, s = self._rows_of[split]
        return rows.held_out[s]

    def link(self, candidate: int) -> Link:
        link = self._candidates[candidate - self.candidates.start].link(
            self._split_rows[0].training.n_threads
        )
        return replace(link, temperature=None) if self.seeks_temperature(candidate) else link

    def seeks_temperature(self, candidate: int) -> bool:
        return self._candidates[candidate - self.candidates.start].seeks_temperature

    def raw(self, candidate: int, split: int) -> Array:
        batch, place = self._places[candidate, split]
        raw = batch.raw_held_out(*place)
        if not self._finds_intercepts:
            return raw
        rows = self.held_out(split)
        return add_intercepts(self.link(candidate), raw, rows.codes, rows.weight)

    def curves(self, candidate: int, split: int, scores: Sequence[Score]) -> Array:
        batch, place = self._places[candidate, split]
        return read_curves(batch.curves(*place), self.held_out(split), self._factored, scores)

    def goes_on(self, models: Sequence[ModelOf], at: int) -> bool:
        return any(batch.has_reached(self._find(models, batch), at) for batch in self._batches)

    def _set_up(self, models: Sequence[ModelOf]) -> None:
        """Set up the models of some candidates on neighbouring splits."""
        if not models:
            return
        candidates, splits = (sorted({model[k] for model in models}) for k in range(2))
        assert len(models) == len(candidates) * len(splits)
        members = [self._candidates[c - self.candidates.start] for c in candidates]
        for rows in self._split_rows:
            begin = rows.splits.first
            there = [s for s in splits if begin <= s < begin + len(rows.splits)]
            if not there:
                continue
            part = rows.part(there[0] - begin, there[-1] + 1 - begin)
            # Candidates pause on the first splits, and may go on there later.
            batch = _BatchModels(members, part, keep_others=splits[-1] + 1 < self.splits.stop)
            self._batches.append(batch)
            for k, c in enumerate(candidates):
                self._places |= {(c, s): (batch, (k, s - there[0])) for s in there}

    def _find(self, models: Sequence[ModelOf], batch: "_BatchModels") -> list[ModelOf]:
        """Return the models of a batch, by their numbers in it."""
        places = (self._places[model] for model in models)
        return [place for owner, place in places if owner is batch]


class _BatchModels:
    """The models of candidates in one batch of splits; ``models[c, s, k]`` is the engine's number.

    It is -1 where split ``s`` trains on no row of class ``k``: the class is never predicted there.
    The classes of a joint model are neighbours, and all of them are in every split.
    """

    def __init__(
        self, candidates: Sequence[Candidate], rows: SplitRows, *, keep_others: bool = False
    ) -> None:
        """Set them up, with `keep_others` if models that pause go on later."""
        self.rows = rows
        self._keep_others = keep_others
        training = rows.training
        signs = training.signs
        shape = (len(candidates), len(rows.splits), len(signs))
        self.models = np.full(shape, -1, dtype=np.int64)
        joint_loss = Link(candidates[0].loss, candidates[0].coupling).joint_loss
        by_loss: dict[Any, list[int]] = {}
        for c, candidate in enumerate(candidates):
            by_loss.setdefault(candidate.loss.native, []).append(c)
        # The engine batches neighbours of one loss, and skips rows that no lane of a batch trains
        # on.
        roles: list[NDArray[np.int8]] = []
        owners: list[Candidate] = []
        classes: list[int] = []  # of each owner's model
        for members in by_loss.values():
            for s, in_split in enumerate(rows.segment_roles):
                role = in_split.astype(np.int8)
                if joint_loss:
                    for c in members:
                        self.models[c, s] = np.arange(len(signs)) + len(owners)
                        roles += [*(role * signs)]
                        owners += [candidates[c]] * len(signs)
                        classes += range(len(signs))
                    continue
                for k, sign in enumerate(signs):
                    if not np.any(sign[in_split == LEARNS] == 1):
                        continue
                    self.models[members, s, k] = np.arange(len(members)) + len(owners)
                    roles += [role * sign] * len(members)
                    owners += [candidates[c] for c in members]
                    classes += [k] * len(members)
        self.booster = training.start(
            ModelSet(
                roles=np.stack(roles),
                options=tuple(owner.options for owner in owners),
                losses=tuple(owner.loss for owner in owners),
                base=rows.base if rows.base is None or len(signs) == 1 else rows.base[classes],
                joint_loss=joint_loss,
                keep_rounds=False,
            )
        )
        self.estimators = np.zeros(len(owners), dtype=np.int64)

    def of_candidate(self, candidate: int) -> list[ModelOf]:
        """Return a candidate's models on all splits."""
        return [(candidate, s) for s in range(self.models.shape[1])]

    def raw(self, split: int) -> Array:
        """Return the first candidate's raw predictions of all rows, (n_classes or 1, n_rows)."""
        n_rows = self.rows.training.n_rows
        return self._of_models(0, split, n_rows, self.booster.raw)

    def raw_held_out(self, candidate: int, split: int) -> Array:
        """Return the raw predictions of the rows held out, (n_rows,) or (n_rows, n_classes)."""
        n_rows = self.rows.count_held_out(split)
        raw = self._of_models(candidate, split, n_rows, self.booster.held_out)
        return raw[0] if len(raw) == 1 else np.ascontiguousarray(raw.T)

    def _of_models(
        self, candidate: int, split: int, n_rows: int, predict: Callable[[int], Array]
    ) -> Array:
        models = self.models[candidate, split]
        raw = np.full((len(models), n_rows), -np.inf)
        for k, model in enumerate(models):
            if model >= 0:
                raw[k] = predict(int(model))
        return raw

    def curves(self, candidate: int, split: int) -> Array:
        """Return the engine's mean losses on held-out rows, two classes, after each estimator."""
        model = int(self.models[candidate, split, 0])
        curves = self.booster.curves(model)
        if self.estimators[model] > 0 and curves.shape[2] == 0:
            raise ValueError(
                "sample_weight must not be 0 in float precision, compared with the largest, on "
                f"all rows that cv holds out: split {self.rows.splits.first + split} holds out "
                "nothing"
            )
        return curves

    def still_learning(self, models: Sequence[ModelOf], at: int) -> NDArray[np.int64]:
        """Return the engine's numbers of those models that have `at` estimators."""
        numbers = np.sort(self._list_numbers(models))
        learning: NDArray[np.int64] = numbers[self.estimators[numbers] == at]
        return learning

    def _list_numbers(self, models: Sequence[ModelOf]) -> NDArray[np.int64]:
        """Return the engine's numbers of models, without classes that a split never predicts."""
        numbers = [k for model in models for k in self.models[model] if k >= 0]
        return np.array(numbers, dtype=np.int64)

    def has_reached(self, models: Sequence[ModelOf], at: int) -> bool:
        """Whether any of the models has `at` estimators or more."""
        return bool((self.estimators[self._list_numbers(models)] >= at).any())

    def advance(
        self, before: int, at: int, models: Sequence[ModelOf], report: Report | None
    ) -> int:
        """Boost those models that still learn, from `before` estimators to `at`."""
        numbers = self.still_learning(models, before)
        if len(numbers):
            self.booster.advance(at - before, numbers, report, keep_others=self._keep_others)
            self.estimators = np.asarray(self.booster.n_estimators)
        return len(numbers) * (at - before)


def predict_held_out(
    candidate: Candidate, n_estimators: int, split_rows: Sequence[SplitRows]
) -> tuple[list[HeldOutRows], list[Array]]:
    """Return the rows that each split holds out, and a candidate's raw predictions of them.

    The models of the splits are boosted once more, together: during the search no predictions are
    kept, as the winner is not known yet.
    """
    held_out, raws = [], []
    for rows in split_rows:
        models = _BatchModels([candidate], rows)
        models.advance(0, n_estimators, models.of_candidate(0), None)
        held_out += rows.held_out
        raws += [models.raw_held_out(0, s) for s in range(len(rows.splits))]
    return held_out, raws


def time_a_round(candidate: Candidate, rows: SplitRows) -> float:
    """Return the seconds of a round of a candidate's models of the first split."""
    models = _BatchModels([candidate], rows)
    models.advance(0, 1, models.of_candidate(0), None)
    begin = time.perf_counter()
    models.advance(1, 1 + TIMED, models.of_candidate(0), None)
    return (time.perf_counter() - begin) / TIMED


class SplitPairs:
    """The rows of each split with the codes of pairs of features.

    The strongest pairs of a split are found on its training rows, given the candidate's models
    after so many estimators.  The pairs' models start from these.
    """

    def __init__(
        self,
        candidate: Candidate,
        n_estimators: int,
        split_rows: Sequence[SplitRows],
        n_pairs: int,
    ) -> None:
        """Find so many pairs, at most."""
        self._strongest: list[SplitRows] = []
        self._splits: list[tuple[SplitRows, CodeWeights]] = []
        link = Link(candidate.loss, candidate.coupling)
        for rows in split_rows:
            models = _BatchModels([candidate], rows)
            models.advance(0, n_estimators, models.of_candidate(0), None)
            for s, roles in enumerate(rows.segment_roles):
                learns = roles == LEARNS
                training, raw = rows.training, models.raw(s)
                weights = training.weigh_segments(learns)
                trained = np.isfinite(raw[:, 0])
                of_split = replace(rows.part(s, s + 1), base=raw)
                self._splits.append((of_split, weights))
                if n_pairs:
                    pairs = find_pairs(
                        link, training, raw, weights, n_pairs, learns, models=trained
                    )
                    of_pairs = training.of_pairs(lay_grids(training, weights, pairs))
                    self._strongest.append(replace(of_split, training=of_pairs))

    def take_strongest(self, n: int) -> list[SplitRows]:
        """Return the rows with the codes of each split's `n` strongest pairs."""
        return [replace(rows, training=rows.training.first_pairs(n)) for rows in self._strongest]

    def take_listed(self, listed: Any) -> list[SplitRows]:
        """Return the rows with the codes of these pairs of features."""
        training = self._splits[0][0].training
        pairs = read_pairs(listed, len(training.binning.features), training.names)
        return [
            replace(rows, training=rows.training.of_pairs(lay_grids(rows.training, weights, pairs)))
            for rows, weights in self._splits
        ]
