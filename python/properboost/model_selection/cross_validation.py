"""Cross-validation: it fits candidates on splits and scores them on the held-out rows.

Each search has its way to fit models, a subclass of `Fits`.  All share splits, scores, stopping,
progress, results and the choice of the best.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.sorted_rows import Rows
from properboost.fitting.patience import Patience
from properboost.losses.probabilities import Link
from properboost.model_selection.cv_scores import CVScores, lengthen, mean_scores
from properboost.model_selection.cv_splits import CVSplit, SplitBatch, find_splits
from properboost.model_selection.fits import Fits, ModelOf, Progress
from properboost.model_selection.race import Race
from properboost.model_selection.temperature import fit_temperature
from properboost.parameters.checks import LARGEST_INT
from properboost.parameters.kinds import Scoring
from properboost.parameters.splitters import CV
from properboost.progress import Report
from properboost.scoring import HeldOutRows, Score, find_score, name_score

__all__ = [
    "CVTask",
    "MakePatience",
    "check_best_score",
    "cross_validate",
    "describe_results",
    "read_task",
]

Array = NDArray[np.float64]

MakePatience = Callable[[int], Patience]
"""Function of the number of watched scores."""


@dataclass(frozen=True, eq=False)
class CVTask:
    """The task on which candidates are compared: rows, splits of them, and a score."""

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
    """Check `cv`, `scoring` and `groups`, the parameters of every search."""
    score = find_score(scoring, rows.classes, X, needs_weights=rows.row_of is not None)
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

    `stop` makes the rule that ends a candidate that improves no more; without it, all go on to the
    end.  Scores that fits measure are known after every estimator.  Others are known after 1, 2, 3,
    4, 5, 6, 8, 10, 12, 15 and so on, or only at the end where fits cannot pause.

    One-vs-rest candidates of several classes are scored both ways: with probabilities divided by
    their sum, and with a softmax whose temperature is fitted to the raw predictions of all splits'
    held-out rows.  The better mean of the first score decides.
    """
    progress = Progress(report)
    if race is not None and race.leaders is not None:
        progress.best = float(race.leaders[0].mean())
    parts: list[tuple[range, range, CVScores]] = []
    for fits in batches:
        if parts and race is not None and race.ends_group():
            break
        parts.append((fits.candidates, fits.splits, _run(fits, scores, stop, progress, race)))
        del fits  # before the next fits take their memory
    longest = max(part.values.shape[3] for _, _, part in parts)
    values = np.full((len(scores), n_candidates, n_splits, longest), np.nan)
    temperatures = np.full((n_candidates, longest), np.nan)
    for candidates, splits, part in parts:
        block = values[:, candidates.start : candidates.stop, splits.start : splits.stop]
        run = part.values.shape[3]
        block[..., :run] = part.values
        temperatures[candidates.start : candidates.stop, :run] = part.temperatures
    return CVScores(values, temperatures)


def make_schedule(most: int) -> Iterator[int]:
    """Yield the numbers of estimators at which models are scored, the last of them `most`."""
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

    In a race they run on the first splits first; only those that may yet win run on the others.
    One-vs-rest candidates run on all at once, as their temperature is fitted to all splits
    together.
    """
    run = _Run(fits, scores, stop, progress, race)
    active = list(fits.candidates)
    if race is not None and stop is not None:
        first = fits.splits[: race.choose_first(len(fits.splits))]
        apart = [c for c in active if not fits.seeks_temperature(c)]
        if first and apart:
            run.go(apart, first)
            if race.ends_group():
                active = [race.find_first(apart)]
            else:
                race.drop_behind(apart)
                active = [c for c in active if c not in race.dropped]
    run.go(active, fits.splits)
    run.show_progress(fits.candidates)
    return run.scores


class _Run:
    """A run of candidates that are fitted together, with scores on the way."""

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
    def scores(self) -> CVScores:
        """The scores of all candidates so far, NaN where a candidate was not scored."""
        return CVScores(self._values, self._temperatures)

    def go(self, active: Sequence[int], splits: Sequence[int]) -> None:
        """Fit candidates on splits until they improve no more; skip models that are fitted.

        In a race some of them are dropped on the way.
        """
        fits = self._fits
        watches = {c: (self._stop or _never_over)(len(self._scores)) for c in active}
        columns = [s - fits.splits.start for s in splits]
        if self._race is not None:
            self._race.enter(columns)
        on_all = len(splits) == len(fits.splits)
        before, pace = 0, 0.0
        for at in self._schedule():
            if not active or self._lacks(pace * (at - before)):
                break
            begin = time.perf_counter()
            self._advance([(c, s) for c in active for s in splits], before, at)
            self._show_scores(active, columns, watches, before, at)
            steps_before, before = before, at
            if on_all:  # scores on fewer splits are not comparable
                best = (watches[c].best for c in active)
                self._progress.best = max([self._progress.best, *best])
            n_models = len(active)
            active = self._list_going_on(active, splits, watches, at)
            pace = (time.perf_counter() - begin) / (at - steps_before) * len(active) / n_models
            self.show_progress({*fits.candidates} - {*active} if on_all else ())

    def _lacks(self, seconds: float) -> bool:
        """Whether a race would be over before the next scores are known, `seconds` from now."""
        return seconds > 0.0 and self._race is not None and self._race.ends_group(seconds)

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
        """Pass candidates' new scores on these splits to the rules that may end or drop them."""
        for c in active:
            scores = self._values[:, c - self._fits.candidates.start, columns]
            if self._watched:
                watches[c].add(before, scores[..., before:at].mean(axis=1))
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
        return [] if race.ends_group() else [c for c in learning if c not in lost]

    def _advance(self, models: Sequence[ModelOf], before: int, at: int) -> None:
        """Fit models up to `at` estimators, and score those that are new there."""
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
                self._values[:, c_at, s_at, before:at] = _score_steps(
                    fits, self._scores, self._measured, c, s, before, at
                )
        for c in dict.fromkeys(c for c, _ in new):
            if fits.seeks_temperature(c):
                both = _score_couplings(fits, self._scores, c, self._fitted.get(c, 1.0))
                better, self._temperatures[c - first_candidate, at - 1] = both.better
                self._values[:, c - first_candidate, :, at - 1] = better
                self._fitted[c] = both.temperature or 1.0

    def show_progress(self, ended: Iterable[int]) -> None:
        """Show the progress of the models; candidates that have ended count as done."""
        fits = self._fits
        rounds = self._reached.copy()
        for c in ended:
            rounds[c - fits.candidates.start] = fits.n_estimators
        done = fits.models_each * int(rounds.sum()) // len(fits.splits)
        self._progress.done = self._first_done + done
        self._progress.show()


_never_over: MakePatience = partial(Patience, n_iter_no_change=LARGEST_INT, tol=0.0)


def _score_steps(
    fits: Fits,
    scores: Sequence[Score],
    measured: bool,
    candidate: int,
    split: int,
    before: int,
    at: int,
) -> Array:
    """Return the scores after estimators `before` + 1 to `at`, NaN where unknown."""
    if measured:
        curves = fits.curves(candidate, split, scores)
        if curves.shape[1] > 0:
            # A model that learns no more keeps its scores.
            taken: Array = curves[:, np.minimum(np.arange(before, at), curves.shape[1] - 1)]
            return taken
    values = _score(scores, fits.held_out(split), fits.link(candidate), fits.raw(candidate, split))
    # A model without estimators has the same score at every number.
    looked = np.repeat(
        values[:, None] if measured else np.full((len(scores), 1), np.nan), at - before, axis=1
    )
    looked[:, -1] = values
    return looked


@dataclass(frozen=True, eq=False)
class _CouplingScores:
    """Scores (n_scores, n_splits) of a one-vs-rest candidate: divided by the sum, and softmax."""

    divided: Array
    softmax: Array
    temperature: float | None

    @property
    def better(self) -> tuple[Array, float]:
        """The scores of the better mean, in the first score that differs, and their temperature."""
        means = [tuple(mean_scores(values)) for values in (self.divided, self.softmax)]
        if self.temperature is None or means[1] <= means[0]:
            return self.divided, np.nan
        return self.softmax, self.temperature


def _score_couplings(
    fits: Fits, scores: Sequence[Score], candidate: int, start: float
) -> _CouplingScores:
    """Return the scores of a one-vs-rest candidate, whose temperature is fitted from `start` on."""
    link = fits.link(candidate)
    rows = [fits.held_out(split) for split in fits.splits]
    raws = [fits.raw(candidate, split) for split in fits.splits]
    divided = np.stack(
        [_score(scores, split, link, raw) for split, raw in zip(rows, raws, strict=True)], axis=1
    )
    weights = [split.weight for split in rows if split.weight is not None]
    with np.errstate(over="ignore"):
        pooled = 0.5 * np.concatenate(raws) / link.loss.gain  # twice the gain may overflow
    temperature = fit_temperature(
        pooled,
        np.concatenate([split.codes for split in rows]),
        np.concatenate(weights) if weights else None,
        start,
    )
    if temperature is None:
        return _CouplingScores(divided, divided, None)
    link = replace(link, temperature=temperature)
    softmax = np.stack(
        [_score(scores, split, link, raw) for split, raw in zip(rows, raws, strict=True)], axis=1
    )
    return _CouplingScores(divided, softmax, temperature)


def _score(scores: Sequence[Score], held_out: HeldOutRows, link: Link, raw: Array) -> Array:
    """Return every score of the rows that a split holds out."""
    known = {score: score(held_out, link, raw) for score in dict.fromkeys(scores)}
    return np.array([known[score] for score in scores])


# -- results --------------------------------------------------------------------------------------


def check_best_score(mean: float, scoring: Scoring) -> None:
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

    `columns` holds each candidate's values of the columns ``param_...``; missing ones are masked.
    `more` are further columns.
    """
    results: dict[str, Any] = {"params": list(params)}
    for name in dict.fromkeys(name for entries in columns for name in entries):
        results[f"param_{name}"] = _make_column(
            [entries.get(name) for entries in columns], [name not in entries for entries in columns]
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
    """Return a masked column: of numbers if all unmasked values are numbers, else of objects."""
    known = [value for value, hidden in zip(values, masked, strict=True) if not hidden]
    are_numbers = all(isinstance(value, bool | int | float | np.number) for value in known)
    dtype = np.array(known).dtype if are_numbers else np.dtype(object)
    # Masked values are saved, too, and must not be leftovers in memory.
    data = np.full(len(values), None if dtype.kind == "O" else 0, dtype=dtype)
    for k in np.flatnonzero(~np.array(masked)).tolist():
        data[k] = values[k]
    return np.ma.MaskedArray(data, mask=masked)
