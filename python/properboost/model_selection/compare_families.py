"""The comparison of families: first candidates, then steps from the best while they help."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from properboost.model_selection.cv_scores import CVScores, mean_scores
from properboost.model_selection.race import Race
from properboost.model_selection.search_space import Candidate, Step

__all__ = [
    "ENDS",
    "PAIRS",
    "CandidateRecord",
    "add_pairs",
    "compare",
    "describe_families",
    "format_families",
]

PAIRS = "pairs"
"""The family of additive models with look-up tables of pairs of features."""

ENDS = ("interrupted", "time_limit")
"""The reasons for which a comparison may end early."""


class Climb(NamedTuple):
    """The steps from the best candidates."""

    sweeps: int
    """Rounds of steps, ..."""
    families: int
    """... and families that take them."""


CLIMBS = {3: Climb(2, 1), 4: Climb(2, 2), 5: Climb(3, 4)}
"""The steps by effort: later rounds change those settings alone whose steps helped before."""

FAR_ERRORS, FAR_SHARE = 2.0, 0.05
"""The standard errors and the share of the best score by which a candidate is far behind it.

No steps and no pairs make up for both: on folds of development sets none did.
"""

Evaluate = Callable[[Sequence[Candidate], str], CVScores]
"""Function that takes candidates and the name of their family, and returns their scores."""

Rate = Callable[[CVScores], NDArray[np.float64]]
"""Function that returns the best mean score of each candidate."""


class ComparedFamily(Protocol):
    """A family: its first candidates, and the steps from its best (`families.FamilyPlan`)."""

    @property
    def candidates(self) -> list[Candidate]:
        """The first candidates."""

    @property
    def name(self) -> str:
        """The family's name."""

    @property
    def is_readable(self) -> bool:
        """Whether its models are sums of functions of at most three features."""

    @property
    def rung(self) -> int:
        """The least effort with which it is compared."""

    def list_steps(self, best: Candidate) -> list[Step]:
        """Return the candidates one step away from a candidate."""

    def combine(self, best: Candidate, steps: Sequence[Step]) -> Candidate | None:
        """Return a candidate that takes several steps at once, if there is one."""


@dataclass
class CandidateRecord:
    """Compared candidates, with their scores and times."""

    candidates: list[Candidate] = field(default_factory=list)
    parts: list[CVScores] = field(default_factory=list)
    ratings: list[float] = field(default_factory=list)
    dropped: list[bool] = field(default_factory=list)
    """Whether each stopped because it could not catch up."""
    seconds: list[float] = field(default_factory=list)
    """Seconds of each, as its share of the candidates boosted with it."""
    ended: str | None = None
    """The reason for which the comparison ended early, if it did."""

    @property
    def scores(self) -> CVScores:
        """The scores of all candidates."""
        return CVScores.join(self.parts)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of results on each candidate."""
        names = [str(candidate.family) for candidate in self.candidates]
        return {
            "family": np.array(names, dtype=object),
            "dropped": np.array(self.dropped),
            "seconds": np.array(self.seconds),
        }

    def curves(self, candidate: int) -> NDArray[np.float64]:
        """Return the scores of a candidate, (n_scores, n_splits, estimators run)."""
        for part in self.parts:
            if candidate < part.values.shape[1]:
                curves: NDArray[np.float64] = part.values[:, candidate]
                return curves
            candidate -= part.values.shape[1]
        raise IndexError(candidate)

    def sort(self, names: Sequence[str]) -> None:
        """Sort the candidates by their families, in the order of these names.

        Where candidates have equal scores, the first counts.
        """
        sizes = [part.values.shape[1] for part in self.parts]
        starts = [0, *np.cumsum(sizes)]
        families = [str(self.candidates[k].family) for k in starts[:-1]]
        order = sorted(range(len(sizes)), key=lambda k: names.index(families[k]))
        places = [at for k in order for at in range(starts[k], starts[k + 1])]
        self.parts = [self.parts[k] for k in order]
        self.candidates = [self.candidates[at] for at in places]
        self.ratings = [self.ratings[at] for at in places]
        self.dropped = [self.dropped[at] for at in places]
        self.seconds = [self.seconds[at] for at in places]

    def find_best(self, family: str | None) -> int:
        """Return the best candidate of a family."""
        members = [k for k, c in enumerate(self.candidates) if c.family == family]
        return max(members, key=lambda k: self.ratings[k])

    def is_far_behind(self, candidate: int) -> bool:
        """Whether steps could not make a candidate the best."""
        best = int(np.argmax(self.ratings))
        of_best, of_candidate = (self._score_splits(k) for k in (best, candidate))
        behind = of_best - of_candidate
        if np.isnan(behind).any():
            return False
        noise = FAR_ERRORS * float(_find_errors(behind[None])[0]) if len(behind) > 1 else 0.0
        return bool(behind.mean() > max(noise, FAR_SHARE * abs(of_best.mean())))

    def _score_splits(self, candidate: int) -> NDArray[np.float64]:
        """Return the scores of a candidate on each split, where their mean is best."""
        curves = self.curves(candidate)[0]
        scores: NDArray[np.float64] = curves[:, int(np.argmax(mean_scores(curves[None])[0]))]
        return scores


def compare(
    plans: Sequence[ComparedFamily],
    evaluate: Evaluate,
    rate: Rate,
    race: Race | None,
    effort: int | None,
    *,
    by_effort: bool = False,
    may_go_on: Callable[[CandidateRecord], bool] | None = None,
) -> CandidateRecord:
    """Compare the first candidates of all families, and those of steps from the best.

    Simple families come last: after the others, most of a simple one's candidates soon cannot catch
    up.  In the other order, they would seldom stop the others.  If the time is limited, families of
    a low effort come first, because they leave a good model when it is over.  Those of a
    greater effort than 1 follow while `may_go_on`, which takes the record so far.

    An interrupt, or the end of the race, ends the comparison with the results so far.  An interrupt
    before the first result is raised.
    """
    comparison = _Comparison(evaluate, rate, race)
    climb = CLIMBS.get(effort or 0, Climb(0, 0))
    in_order = sorted(plans, key=attrgetter("rung")) if by_effort else [*reversed(plans)]
    for plan in in_order:
        may_be_over = by_effort and plan.rung > 1 and comparison.known.candidates
        if may_go_on is not None and may_be_over and not may_go_on(comparison.known):
            comparison.known.ended = "time_limit"
            break
        is_last = plan is in_order[-1] and climb.sweeps == 0
        if not comparison.run(plan.candidates, plan.name, is_last=is_last):
            break
    known = comparison.known
    if len(plans) > 1:
        known.sort([plan.name for plan in plans])
    if known.ended is None:
        comparison.climb(plans, climb)
    return known


class _Comparison:
    """A running comparison, which evaluates no candidate twice."""

    def __init__(self, evaluate: Evaluate, rate: Rate, race: Race | None) -> None:
        self._evaluate, self._rate, self._race = evaluate, rate, race
        self._tried: set[str] = set()
        self._helpful: dict[str, set[str]] = {}
        self.known = CandidateRecord()

    def run(
        self,
        candidates: Sequence[Candidate],
        family: str,
        start: int | None = None,
        *,
        is_last: bool = False,
    ) -> bool:
        """Evaluate new candidates, or steps from the one at `start`; return whether to go on.

        The last candidates may take all of the time that is left.
        """
        known = self.known
        new = self._list_new(candidates)
        if not new or known.ended is not None:
            return known.ended is None
        if self._race is not None and known.candidates and self._race.is_over():
            known.ended = "time_limit"
            return False
        begin = time.perf_counter()
        self._begin_race(new, start, is_last=is_last)
        try:
            scores = self._evaluate(new, family)
        except KeyboardInterrupt as error:
            if not known.candidates:
                raise KeyboardInterrupt("before the first candidates were finished") from error
            known.ended = "interrupted"
            return False
        seconds = (time.perf_counter() - begin) / len(new)
        dropped = set() if self._race is None else self._race.dropped
        self._tried.update(map(_name, new))
        known.candidates += new
        known.parts.append(scores)
        known.ratings += self._rate(scores).tolist()
        known.seconds += [seconds] * len(new)
        known.dropped += [k in dropped for k in range(len(new))]
        if self._race is not None and self._race.is_over():
            known.ended = "time_limit"
        return known.ended is None

    def climb(self, plans: Sequence[ComparedFamily], climb: Climb) -> None:
        """Take steps from the best candidates of the best families.

        The best readable family takes steps, too, so that what reading costs is not overstated,
        unless it is far behind.
        """
        for sweep in range(climb.sweeps):
            before = len(self.known.candidates)
            ranked = self._rank(plans)
            stepping = ranked[: climb.families]
            if not any(plan.is_readable for plan in stepping):
                readable = [plan for plan in ranked if plan.is_readable]
                stepping += [plan for plan in readable[:1] if not self._is_far_behind(plan)]
            for plan in stepping:
                if not self._step(plan, narrows=sweep > 0):
                    return
            if len(self.known.candidates) == before:
                return

    def _is_far_behind(self, plan: ComparedFamily) -> bool:
        return self.known.is_far_behind(self.known.find_best(plan.name))

    def _list_new(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates not tried yet, those that the engine batches side by side."""
        new = [c for c in candidates if _name(c) not in self._tried]
        first = {c.group: k for k, c in reversed([*enumerate(new)])}
        return sorted(new, key=lambda c: first[c.group])

    def _begin_race(self, new: Sequence[Candidate], start: int | None, *, is_last: bool) -> None:
        if self._race is None:
            return
        if start is None:
            self._race.begin(is_last=is_last)
            return
        pace = self.known.candidates[start].pace
        self._race.begin(self.known.curves(start), [c.pace / pace for c in new])

    def _rank(self, plans: Sequence[ComparedFamily]) -> list[ComparedFamily]:
        """Return the plans that have candidates, the best first."""
        known = self.known
        begun = [plan for plan in plans if any(c.family == plan.name for c in known.candidates)]
        return sorted(begun, key=lambda plan: -known.ratings[known.find_best(plan.name)])

    def _step(self, plan: ComparedFamily, *, narrows: bool) -> bool:
        """Try steps from a family's best candidate, then helpful ones together.

        If it `narrows`, steps of settings that did not help before are left out.
        """
        known = self.known
        at = known.find_best(plan.name)
        steps = plan.list_steps(known.candidates[at])
        if narrows and plan.name in self._helpful:
            steps = [step for step in steps if self._helpful[plan.name] & {*step.settings}]
        if not self.run([step.candidate for step in steps], plan.name, at):
            return False
        better = self._list_better(steps, known.ratings[at])
        self._helpful[plan.name] = {name for step in better for name in step.settings}
        if len(better) < 2:
            return True
        combined = plan.combine(known.candidates[at], better)
        return self.run([] if combined is None else [combined], plan.name, at)

    def _list_better(self, steps: Sequence[Step], rating: float) -> list[Step]:
        """Return the steps of a higher rating, the best last: it overrides those of its ladder."""
        known = self.known
        rated = {_name(c): r for c, r in zip(known.candidates, known.ratings, strict=True)}
        ratings = [rated.get(_name(step.candidate), -np.inf) for step in steps]
        better = sorted((r, k) for k, r in enumerate(ratings) if r > rating)
        return [steps[k] for _, k in better]


def _name(candidate: Candidate) -> str:
    """Return a text that identifies a candidate."""
    options, loss = vars(candidate.options), candidate.loss
    learner = candidate.options.weak_learner
    settings = {**options, "weak_learner": (learner.name, vars(learner))}
    return f"{candidate.family} {(loss, loss.gain, candidate.coupling, settings)!r}"


def describe_families(
    names: Sequence[str], summary: CandidateRecord, scores: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Return the results of each family: its best candidate, compared with the best of all.

    `scores` are those of each candidate in each split, (n_candidates, n_splits).
    """
    families = [c.family for c in summary.candidates]
    names = [name for name in names if name in families]
    at = [summary.find_best(name) for name in names]
    means = scores.mean(axis=1)[at]

    def add_up(values: Sequence[float]) -> NDArray[np.float64]:
        sums = [
            sum(v for v, f in zip(values, families, strict=True) if f == name) for name in names
        ]
        return np.array(sums)

    return {
        "family": np.array(names, dtype=object),
        "mean_test_score": means,
        "standard_error": _find_errors(scores[at]),
        **_find_distances(means, scores[at]),
        "candidates": add_up([1] * len(families)),
        "dropped": add_up(summary.dropped),
        "seconds": add_up(summary.seconds),
        "best_index": np.array(at),
    }


def add_pairs(
    results: dict[str, NDArray[Any]],
    scores: NDArray[np.float64],
    of_pairs: NDArray[np.float64],
    **known: Any,
) -> dict[str, NDArray[Any]]:
    """Return the results of families with those of pairs.

    `scores` are those of each family's best candidate in each split, (n_families, n_splits),
    `of_pairs` those of the best pairs, and `known` their other columns.
    """
    joined = np.vstack([scores, of_pairs])
    more = {
        "family": PAIRS,
        "standard_error": _find_errors(joined)[-1],
        "behind": np.nan,
        "behind_error": np.nan,
        "best_index": -1,
        **known,
    }
    all_of_them = {name: np.append(values, more[name]) for name, values in results.items()}
    return all_of_them | _find_distances(all_of_them["mean_test_score"], joined)


def _find_distances(
    means: NDArray[np.float64], scores: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return the mean distance of each from the best, and its standard error."""
    best = np.nanargmax(means)
    return {
        "behind": means[best] - means,
        "behind_error": _find_errors(scores[best] - scores),
    }


def _find_errors(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return standard errors of means over the splits, the second axis; NaN of one split."""
    n_splits = values.shape[1]
    if n_splits < 2:
        return np.full(len(values), np.nan)
    errors: NDArray[np.float64] = values.std(axis=1, ddof=1) / n_splits**0.5
    return errors


def format_families(results: dict[str, NDArray[Any]]) -> str:
    """Return the results of families as a text, the best first."""
    lines = [f"{'family':<27}{'score':>9}{'behind':>9}{'+-':>8}{'candidates':>16}{'seconds':>9}"]
    for k in np.argsort(-results["mean_test_score"], kind="stable"):
        of = f"{results['candidates'][k]} ({results['dropped'][k]} dropped)"
        numbers = (results[name][k] for name in ("mean_test_score", "behind", "behind_error"))
        score, behind, error = (f"{number:.4f}" if number == number else "" for number in numbers)
        lines.append(
            f"{results['family'][k]:<27}{score:>9}{behind:>9}{error:>8}{of:>16}"
            f"{results['seconds'][k]:>9.1f}"
        )
    return "\n".join(lines)
