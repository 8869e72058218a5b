"""Cross-validation: candidates are fitted on splits, scored on the rows held out, and compared.

How models are fitted differs from family to family: each has `Fits` of its own.  Splits, scores,
stopping, progress, results and the choice of the best are the same for all.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.boosting.patience import Patience
from properboost.data.labels import Rows
from properboost.data.table import Table
from properboost.losses.probabilities import Link
from properboost.model_selection.cv_splits import CVSplit, SplitBatch, find_splits
from properboost.model_selection.race import Race
from properboost.model_selection.temperature import fit_temperature
from properboost.parameters.kinds import CV, Scoring
from properboost.parameters.shared import LARGEST_INT
from properboost.progress import Report
from properboost.scoring import HeldOut, Score, find_score, name_score

__all__ = [
    "CVScores",
    "CVTask",
    "Fits",
    "MakePatience",
    "Progress",
    "SplitFits",
    "check_found",
    "cross_validate",
    "describe_results",
    "find_best",
    "mean_scores",
    "read_task",
]

Array = NDArray[np.float64]

MakePatience = Callable[[int], Patience]
"""Takes the number of scores that are watched."""


@dataclass(frozen=True, eq=False)
class CVTask:
    """What candidates are compared on: rows, splits of them, and a score."""

    rows: Rows
    split_batches: list[SplitBatch]
    score: Score
    score_name: str

    @property
    def n_splits(self) -> int:
        """Splits of all batches."""
        return sum(map(len, self.split_batches))

    def splits(self) -> Iterator[CVSplit]:
        """Yield one split after the other."""
        for batch in self.split_batches:
            yield from batch


def read_task(
    table: Table, rows: Rows, *, cv: CV, scoring: Scoring, groups: ArrayLike | None
) -> CVTask:
    """Check `cv`, `scoring` and `groups`, the parameters that every search has."""
    score = find_score(scoring, rows.classes, table.source)
    return CVTask(rows, find_splits(cv, table, rows, groups), score, name_score(scoring))


@dataclass(frozen=True, eq=False)
class CVScores:
    """What cross-validation finds."""

    values: Array
    """Every score of each candidate in each split after each estimator, shape (n_scores,
    n_candidates, n_splits, estimators run), with NaN for none.  More is better."""
    temperatures: Array
    """The temperature with which a one-vs-rest candidate has these scores, shape (n_candidates,
    estimators run); NaN where probabilities are divided by their sum, and where there are none."""

    @classmethod
    def join(cls, parts: Sequence["CVScores"]) -> "CVScores":
        """Put the scores of some candidates after those of others, on the same splits."""
        longest = max(part.values.shape[3] for part in parts)
        return cls(
            np.concatenate([_lengthen(part.values, longest) for part in parts], axis=1),
            np.concatenate([_lengthen(part.temperatures, longest) for part in parts]),
        )


def _lengthen(values: Array, size: int) -> Array:
    """Return values with NaN at the end of the last axis."""
    more = [(0, 0)] * (values.ndim - 1) + [(0, size - values.shape[-1])]
    return np.pad(values, more, constant_values=np.nan)


class Progress:
    """Tells how far a search is, and the best mean score so far."""

    def __init__(self, report: Report | None) -> None:
        self.report = report
        self.done = 0
        self.best = -np.inf

    def from_here(self) -> Report | None:
        """Return what the engine calls; None where there is nothing to show."""
        report, done, best = self.report, self.done, self.best
        if report is None or best == -np.inf:
            return None
        return lambda more, _: report(done + more, best)

    def show(self) -> None:
        """Tell it now."""
        if self.report is not None and self.best > -np.inf:
            self.report(self.done, self.best)


class Fits(ABC):
    """Models of some candidates on some splits, which are fitted together.

    Candidates and splits have the numbers that they have in the whole search.
    """

    candidates: range
    splits: range
    n_estimators: int
    """Estimators of each model, at most."""
    models_each: int
    """Models of a candidate: one or more for each split."""
    in_steps: bool
    """Whether fits can stop to be scored, and go on."""
    measured: frozenset[Score]
    """Scores that fitting measures after every estimator."""

    @abstractmethod
    def advance(self, active: Sequence[int], before: int, at: int, progress: Progress) -> None:
        """Take the models of some candidates from `before` estimators to `at`."""

    @abstractmethod
    def held_out(self, split: int) -> HeldOut:
        """Return the rows that a split holds out."""

    @abstractmethod
    def link(self, candidate: int) -> Link:
        """Return what makes a candidate's probabilities."""

    @abstractmethod
    def raw(self, candidate: int, split: int) -> Array:
        """Return a model's raw predictions of the rows held out, in their order."""

    def curves(self, candidate: int, split: int, scores: Sequence[Score]) -> Array:
        """Return measured scores after each estimator, (n_scores, n); none if a model has none."""
        raise NotImplementedError

    def goes_on(self, candidate: int, at: int) -> bool:
        """Whether any model of a candidate with `at` estimators can still learn."""
        raise NotImplementedError


class SplitFits(Fits):
    """Models of all candidates on one split, each fitted from beginning to end."""

    models_each = 1
    in_steps = False
    measured = frozenset()

    def __init__(
        self,
        split: CVSplit,
        held_out: HeldOut,
        links: Sequence[Link],
        n_estimators: int,
        fit: Callable[[int], Array],
    ) -> None:
        """Take the link of each candidate; `fit` returns its raw predictions of `held_out`."""
        self.candidates = range(len(links))
        self.splits = range(split.index, split.index + 1)
        self.n_estimators = n_estimators
        self._held_out = {split.index: held_out}
        self._links = links
        self._fit = fit
        self._raw: dict[tuple[int, int], Array] = {}

    def advance(self, active: Sequence[int], before: int, at: int, progress: Progress) -> None:
        """Fit some candidates."""
        for candidate in active:
            self._raw[candidate, self.splits.start] = self._fit(candidate)
            progress.done += at - before
            progress.show()

    def held_out(self, split: int) -> HeldOut:
        """Return the rows that the split holds out."""
        return self._held_out[split]

    def link(self, candidate: int) -> Link:
        """Return a candidate's link."""
        return self._links[candidate]

    def raw(self, candidate: int, split: int) -> Array:
        """Return what a fitted candidate predicts."""
        return self._raw[candidate, split]


def cross_validate(
    batches: Iterable[Fits],
    n_candidates: int,
    n_splits: int,
    scores: Sequence[Score],
    *,
    stop: MakePatience | None = None,
    report: Report | None = None,
    race: Race | None = None,
) -> CVScores:
    """Score each candidate in each split after each estimator.

    `stop` makes what says that a candidate improves no more; without, all go on to the end.
    Scores that fits measure are known after every estimator; others after 1, 2, 3, 4, 5, 6, 8, 10,
    12, 15 and so on, or at the end only where fits cannot go on.

    One-vs-rest candidates of several classes are scored both ways: with probabilities divided by
    their sum, and with a softmax whose temperature is fitted to the raw predictions of all splits'
    held-out rows.  The way of the better mean first score counts.
    """
    progress = Progress(report)
    parts: list[tuple[range, range, CVScores]] = []
    for fits in batches:
        if parts and race is not None and race.is_over():
            break
        parts.append((fits.candidates, fits.splits, _run(fits, scores, stop, progress, race)))
        del fits  # before the next ones take their memory
    longest = max(part.values.shape[3] for _, _, part in parts)
    values = np.full((len(scores), n_candidates, n_splits, longest), np.nan)
    temperatures = np.full((n_candidates, longest), np.nan)
    for candidates, splits, part in parts:
        own = values[:, candidates.start : candidates.stop, splits.start : splits.stop]
        run = part.values.shape[3]
        own[..., :run] = part.values
        temperatures[candidates.start : candidates.stop, :run] = part.temperatures
    return CVScores(values, temperatures)


def make_schedule(most: int) -> Iterator[int]:
    """Yield the numbers of estimators at which scores are looked at, the last of them `most`."""
    at = 0
    while at < most:
        at = min(most, max(at + 1, round(1.25 * at)))
        yield at


def _run(
    fits: Fits,
    scores: Sequence[Score],
    stop: MakePatience | None,
    progress: Progress,
    race: Race | None,
) -> CVScores:
    """Fit all candidates with `n_estimators`, or until they improve no more; return the scores."""
    watches = {c: (stop or _never_over)(len(scores)) for c in fits.candidates}
    active = list(fits.candidates)
    fitted: dict[int, float] = {}  # the temperature of each candidate so far
    blocks: list[CVScores] = []
    before, first_done = 0, progress.done
    watched = stop is not None or progress.report is not None
    measured = fits.measured.issuperset(scores)
    # Without scores on the way, models are fitted in one go.
    at_once = not fits.in_steps or (measured and not watched)
    for at in [fits.n_estimators] if at_once else make_schedule(fits.n_estimators):
        fits.advance(active, before, at, progress)
        shape = (len(scores), len(fits.candidates), len(fits.splits), at - before)
        block = CVScores(np.full(shape, np.nan), np.full((shape[1], shape[3]), np.nan))
        for c in active:
            own = block.values[:, c - fits.candidates.start]
            if fits.link(c).multiclass == "one_vs_rest":
                both = _look_both_ways(fits, scores, c, fitted.get(c, 1.0))
                own[..., -1], block.temperatures[c - fits.candidates.start, -1] = both.better
                fitted[c] = both.temperature or 1.0
            else:
                for k, split in enumerate(fits.splits):
                    own[:, k] = _look(fits, scores, measured, c, split, before, at)
            if watched:
                watches[c].see(before, own.mean(axis=1))
            if race is not None:
                race.see(c, at, own[..., -1].mean(axis=1))
        blocks.append(block)
        before = at
        progress.best = max([progress.best, *(watches[c].best for c in active)])
        if stop is not None:
            active = [c for c in active if not watches[c].is_over(at) and fits.goes_on(c, at)]
            if race is not None:
                lost = {c for c in active if race.is_lost(c, fits.n_estimators)}
                race.dropped |= lost
                active = [c for c in active if c not in lost and not race.is_over()]
        # What has stopped counts as done.
        stopped = len(fits.candidates) - len(active)
        rounds = stopped * fits.n_estimators + len(active) * at
        progress.done = first_done + fits.models_each * rounds
        progress.show()
        if not active:
            break
    return CVScores(
        np.concatenate([block.values for block in blocks], axis=3),
        np.concatenate([block.temperatures for block in blocks], axis=1),
    )


_never_over: MakePatience = partial(Patience, n_iter_no_change=LARGEST_INT, tol=0.0)


def _look(
    fits: Fits,
    scores: Sequence[Score],
    measured: bool,
    candidate: int,
    split: int,
    before: int,
    at: int,
) -> Array:
    """Return the scores after estimators `before` + 1 to `at`, NaN where they are not known."""
    if measured:
        found = fits.curves(candidate, split, scores)
        if found.shape[1] > 0:
            # A model that learns no more stays as it is.
            taken: Array = found[:, np.minimum(np.arange(before, at), found.shape[1] - 1)]
            return taken
    values = _score(scores, fits.held_out(split), fits.link(candidate), fits.raw(candidate, split))
    # A model without estimators has the same score at every number.
    looked = np.repeat(
        values[:, None] if measured else np.full((len(scores), 1), np.nan), at - before, axis=1
    )
    looked[:, -1] = values
    return looked


@dataclass(frozen=True, eq=False)
class _BothWays:
    """Scores (n_scores, n_splits) of a one-vs-rest candidate: divided by the sum, and softmax."""

    divided: Array
    softmax: Array
    temperature: float | None

    @property
    def better(self) -> tuple[Array, float]:
        """The scores whose means are better, the first that differs, and their temperature."""
        means = [tuple(mean_scores(values)) for values in (self.divided, self.softmax)]
        if self.temperature is None or means[1] <= means[0]:
            return self.divided, np.nan
        return self.softmax, self.temperature


def _look_both_ways(fits: Fits, scores: Sequence[Score], candidate: int, start: float) -> _BothWays:
    """Return the scores of a one-vs-rest candidate; its temperature is sought from `start` on."""
    link = fits.link(candidate)
    rows = [fits.held_out(split) for split in fits.splits]
    raws = [fits.raw(candidate, split) for split in fits.splits]
    divided = np.stack(
        [_score(scores, own, link, raw) for own, raw in zip(rows, raws, strict=True)], axis=1
    )
    weights = [own.weight for own in rows if own.weight is not None]
    with np.errstate(over="ignore"):
        pooled = np.concatenate(raws) / (2.0 * link.loss.gain)
    temperature = fit_temperature(
        pooled,
        np.concatenate([own.codes for own in rows]),
        np.concatenate(weights) if weights else None,
        start,
    )
    if temperature is None:
        return _BothWays(divided, divided, None)
    link = replace(link, temperature=temperature)
    softmax = np.stack(
        [_score(scores, own, link, raw) for own, raw in zip(rows, raws, strict=True)], axis=1
    )
    return _BothWays(divided, softmax, temperature)


def _score(scores: Sequence[Score], held_out: HeldOut, link: Link, raw: Array) -> Array:
    """Return every score of the rows that a split holds out."""
    known = {score: score(held_out, link, raw) for score in dict.fromkeys(scores)}
    return np.array([known[score] for score in scores])


# -- what is found --------------------------------------------------------------------------------


def mean_scores(scores: Array) -> Array:
    """Return the means over the splits, the second axis; -inf where a split's is not known."""
    means: Array = scores.mean(axis=1)
    return np.where(np.isnan(means), -np.inf, means)


def find_best(means: Array, preference: Array | None = None) -> int:
    """Return where means are largest; of several places, the first where `preference` is."""
    tied = np.flatnonzero(means == means.max())
    return int(tied[0] if preference is None else tied[preference[tied].argmax()])


def check_found(mean: float, scoring: Scoring) -> None:
    """Refuse a search whose best candidate has no score."""
    if mean == -np.inf:
        raise ValueError(f"scoring={scoring!r} gave no finite score in all splits")


def describe_results(
    params: Sequence[dict[str, Any]],
    columns: Sequence[Mapping[str, Any]],
    scores: Array,
    more: Mapping[str, NDArray[Any]] | None = None,
) -> dict[str, Any]:
    """Return results in the form of scikit-learn's searches, from scores (candidates, splits).

    `columns` holds what each candidate has of the columns ``param_...``; where it lacks one, that
    is masked.  `more` are further columns.
    """
    results: dict[str, Any] = {"params": list(params)}
    for name in dict.fromkeys(name for own in columns for name in own):
        results[f"param_{name}"] = _make_column(
            [own.get(name) for own in columns], [name not in own for own in columns]
        )
    results.update(more or {})
    for k, column in enumerate(scores.T):
        results[f"split{k}_test_score"] = column.copy()
    means = scores.mean(axis=1)
    results["mean_test_score"] = means
    results["std_test_score"] = scores.std(axis=1)
    ranked = mean_scores(scores)
    rank = 1 + np.sum(ranked[:, None] < ranked, axis=1)
    results["rank_test_score"] = rank.astype(np.int32)
    return results


def _make_column(values: Sequence[Any], masked: Sequence[bool]) -> np.ma.MaskedArray[Any, Any]:
    """Return a column: of numbers if all that are not masked are numbers, else of objects."""
    known = np.array([value for value, hidden in zip(values, masked, strict=True) if not hidden])
    dtype = known.dtype if known.ndim == 1 and known.dtype.kind in "biuf" else np.dtype(object)
    # What is masked is saved, too, and must not be what memory happened to hold.
    data = np.full(len(values), None if dtype.kind == "O" else 0, dtype=dtype)
    data[~np.array(masked)] = known
    return np.ma.MaskedArray(data, mask=masked)
