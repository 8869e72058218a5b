"""Cross-validation: candidates are fitted on splits, scored on the rows held out, and compared.

How models are fitted differs from family to family: each has `Fits` of its own.  Splits, scores,
stopping, progress, results and the choice of the best are the same for all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.labels import Rows
from properboost.fitting.patience import Patience
from properboost.losses.probabilities import Link
from properboost.model_selection.cv_scores import CVScores, lengthen, mean_scores
from properboost.model_selection.cv_splits import CVSplit, SplitBatch, find_splits
from properboost.model_selection.fits import Fits, ModelOf, Progress
from properboost.model_selection.race import Race
from properboost.model_selection.temperature import fit_temperature
from properboost.parameters.checks import LARGEST_INT
from properboost.parameters.kinds import CV, Scoring
from properboost.progress import Report
from properboost.scoring import HeldOut, Score, find_score, name_score

__all__ = [
    "CVTask",
    "MakePatience",
    "check_found",
    "cross_validate",
    "describe_results",
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


def read_task(X: Any, rows: Rows, *, cv: CV, scoring: Scoring, groups: ArrayLike | None) -> CVTask:
    """Check `cv`, `scoring` and `groups`, the parameters that every search has."""
    score = find_score(scoring, rows.classes, X)
    return CVTask(rows, find_splits(cv, X, rows, groups), score, name_score(scoring))


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
    if race is not None and race.leaders is not None:
        progress.best = float(race.leaders[0].mean())
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
    """Fit all candidates with `n_estimators`, or until they improve no more; return the scores.

    In a race they run on the first splits first, and only those that may yet win on the others.
    One-vs-rest candidates, whose temperature is fitted to all splits together, run on all at once.
    """
    run = _Run(fits, scores, stop, progress, race)
    active = list(fits.candidates)
    if race is not None and stop is not None:
        first = fits.splits[: race.choose_first(len(fits.splits))]
        apart = [c for c in active if not fits.seeks_temperature(c)]
        if first and apart:
            run.go(apart, first)
            if race.is_over():
                active = [race.find_first(apart)]
            else:
                race.drop_behind(apart)
                active = [c for c in active if c not in race.dropped]
    run.go(active, fits.splits)
    run.tell(fits.candidates)
    return run.found


class _Run:
    """Candidates that are fitted together, and scored on the way."""

    def __init__(
        self,
        fits: Fits,
        scores: Sequence[Score],
        stop: MakePatience | None,
        progress: Progress,
        race: Race | None,
    ) -> None:
        self._fits = fits
        self._scores = scores
        self._stop = stop
        self._progress = progress
        self._race = race
        self._watched = stop is not None or progress.report is not None
        self._measured = fits.measured.issuperset(scores)
        self._first_done = progress.done
        n_candidates, n_splits = len(fits.candidates), len(fits.splits)
        self._reached = np.zeros((n_candidates, n_splits), dtype=np.int64)
        self._fitted: dict[int, float] = {}  # the temperature of each candidate so far
        self._values = np.full((len(scores), n_candidates, n_splits, 0), np.nan)
        self._temperatures = np.full((n_candidates, 0), np.nan)

    @property
    def found(self) -> CVScores:
        """What is known of all candidates."""
        return CVScores(self._values, self._temperatures)

    def go(self, active: Sequence[int], splits: Sequence[int]) -> None:
        """Fit candidates on splits until they improve no more; what is fitted there is not again.

        In a race some of them are dropped on the way.
        """
        fits = self._fits
        watches = {c: (self._stop or _never_over)(len(self._scores)) for c in active}
        columns = [s - fits.splits.start for s in splits]
        if self._race is not None:
            self._race.enter(columns)
        on_all = len(splits) == len(fits.splits)
        before = 0
        for at in self._schedule():
            if not active:
                break
            self._advance([(c, s) for c in active for s in splits], before, at)
            self._show_scores(active, columns, watches, before, at)
            before = at
            if on_all:  # on fewer, scores are no one's to compare with
                best = (watches[c].best for c in active)
                self._progress.best = max([self._progress.best, *best])
            active = self._list_going_on(active, splits, watches, at)
            self.tell({*fits.candidates} - {*active} if on_all else ())

    def _schedule(self) -> Iterable[int]:
        """Return the numbers of estimators at which models are scored.

        Without scores on the way, models are fitted in one go.
        """
        most = self._fits.n_estimators
        at_once = not self._fits.in_steps or (self._measured and not self._watched)
        return [most] if at_once else make_schedule(most)

    def _show_scores(
        self,
        active: Sequence[int],
        columns: Sequence[int],
        watches: Mapping[int, Patience],
        before: int,
        at: int,
    ) -> None:
        """Show candidates' new scores on these splits to what may end or drop them."""
        for c in active:
            scores = self._values[:, c - self._fits.candidates.start, columns]
            if self._watched:
                watches[c].see(before, scores[..., before:at].mean(axis=1))
            if self._race is not None:
                self._race.see(c, at, scores[..., at - 1].copy())

    def _list_going_on(
        self,
        active: Sequence[int],
        splits: Sequence[int],
        watches: Mapping[int, Patience],
        at: int,
    ) -> Sequence[int]:
        """Return the candidates that may still improve; a race drops those that cannot win."""
        fits, race = self._fits, self._race
        if self._stop is None:
            return active
        learning = [
            c for c in active
            if not watches[c].is_over(at) and fits.goes_on([(c, s) for s in splits], at)
        ]  # fmt: skip
        if race is None:
            return learning
        lost = {c for c in learning if race.is_lost(c, fits.n_estimators)}
        race.dropped |= lost
        return [] if race.is_over() else [c for c in learning if c not in lost]

    def _advance(self, models: Sequence[ModelOf], before: int, at: int) -> None:
        """Fit models, and score those that were not fitted so far before."""
        fits = self._fits
        first_candidate, first_split = fits.candidates.start, fits.splits.start
        new = [
            (c, s) for c, s in models if self._reached[c - first_candidate, s - first_split] < at
        ]
        fits.advance(new, before, at, self._progress)
        more = max(at - self._values.shape[3], 0)
        self._values = lengthen(self._values, self._values.shape[3] + more)
        self._temperatures = lengthen(self._temperatures, self._temperatures.shape[1] + more)
        for c, s in new:
            c_at, s_at = c - first_candidate, s - first_split
            self._reached[c_at, s_at] = at
            if not fits.seeks_temperature(c):
                self._values[:, c_at, s_at, before:at] = _look(
                    fits, self._scores, self._measured, c, s, before, at
                )
        for c in dict.fromkeys(c for c, _ in new):
            if fits.seeks_temperature(c):
                both = _look_both_ways(fits, self._scores, c, self._fitted.get(c, 1.0))
                better, self._temperatures[c - first_candidate, at - 1] = both.better
                self._values[:, c - first_candidate, :, at - 1] = better
                self._fitted[c] = both.temperature or 1.0

    def tell(self, ended: Iterable[int]) -> None:
        """Show how far the models are; what has ended counts as done."""
        fits = self._fits
        rounds = self._reached.copy()
        for c in ended:
            rounds[c - fits.candidates.start] = fits.n_estimators
        done = fits.models_each * int(rounds.sum()) // len(fits.splits)
        self._progress.done = self._first_done + done
        self._progress.show()


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
    known = [value for value, hidden in zip(values, masked, strict=True) if not hidden]
    are_numbers = all(isinstance(value, bool | int | float | np.number) for value in known)
    dtype = np.array(known).dtype if are_numbers else np.dtype(object)
    # What is masked is saved, too, and must not be what memory happened to hold.
    data = np.full(len(values), None if dtype.kind == "O" else 0, dtype=dtype)
    for k in np.flatnonzero(~np.array(masked)).tolist():
        data[k] = values[k]
    return np.ma.MaskedArray(data, mask=masked)
