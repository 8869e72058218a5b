"""Comparing families: their first candidates, then steps of the best, until none is better."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from properboost.model_selection.cv_scores import CVScores
from properboost.model_selection.race import Race
from properboost.model_selection.search_space import Candidate, Step

__all__ = [
    "ENDS",
    "PAIRS",
    "Compared",
    "add_pairs",
    "compare",
    "describe_families",
    "tell_families",
]

PAIRS = "pairs"
"""The family of additive models with look-up tables of pairs of features."""

ENDS = ("interrupted", "time_limit")
"""Why a comparison may end before its end."""

STEPS = {3: (2, 1), 4: (3, 2), 5: (12, 7)}
"""Times that steps are tried, and families that take them, by effort."""

Evaluate = Callable[[Sequence[Candidate], str], CVScores]
"""Takes candidates and the name of their family; returns their scores."""

Rate = Callable[[CVScores], NDArray[np.float64]]
"""Returns the best mean score of each candidate."""


class Plan(Protocol):
    """A family: its first candidates, and the steps from its best (`families.Plan`)."""

    @property
    def candidates(self) -> list[Candidate]:
        """What is compared first."""

    @property
    def name(self) -> str:
        """The family's name."""

    def list_steps(self, best: Candidate) -> list[Step]:
        """Return what is one step away from a candidate."""

    def combine(self, best: Candidate, steps: Sequence[Step]) -> Candidate | None:
        """Return a candidate that takes several steps at once, if there is one."""


@dataclass
class Compared:
    """Candidates that were compared, and what is known of them."""

    candidates: list[Candidate] = field(default_factory=list)
    parts: list[CVScores] = field(default_factory=list)
    ratings: list[float] = field(default_factory=list)
    dropped: list[bool] = field(default_factory=list)
    """Whether they stopped since they could not catch up."""
    seconds: list[float] = field(default_factory=list)
    """What each took, as its share of those that it was boosted with."""
    ended: str | None = None
    """Why the comparison ended before its end."""

    @property
    def scores(self) -> CVScores:
        """The scores of all candidates."""
        return CVScores.join(self.parts)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """What results have of each candidate."""
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
                own: NDArray[np.float64] = part.values[:, candidate]
                return own
            candidate -= part.values.shape[1]
        raise IndexError(candidate)

    def sort(self, names: Sequence[str]) -> None:
        """Put the candidates of families into the order of these names, as far as they are known.

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
        own = [k for k, c in enumerate(self.candidates) if c.family == family]
        return max(own, key=lambda k: self.ratings[k])


def compare(
    plans: Sequence[Plan], evaluate: Evaluate, rate: Rate, race: Race | None, effort: int | None
) -> Compared:
    """Compare the candidates of all families, and what steps lead to.

    Simple families come last: the others are hard to beat, so that most of a simple one's
    candidates soon cannot catch up, while they seldom keep others from going on.

    If it is interrupted, or the race is over, it returns what it has, but for an interrupt before
    any candidate is known.
    """
    comparison = _Comparison(evaluate, rate, race)
    for plan in reversed(plans):
        if not comparison.run(plan.candidates, plan.name):
            break
    known = comparison.known
    if len(plans) > 1:
        known.sort([plan.name for plan in plans])
    if known.ended is None:
        comparison.climb(plans, *STEPS.get(effort or 0, (0, 0)))
    return known


class _Comparison:
    """Candidates while they are compared; none is evaluated twice."""

    def __init__(self, evaluate: Evaluate, rate: Rate, race: Race | None) -> None:
        self._evaluate, self._rate, self._race = evaluate, rate, race
        self._tried: set[str] = set()
        self.known = Compared()

    def run(self, candidates: Sequence[Candidate], family: str, start: int | None = None) -> bool:
        """Evaluate those that are new, steps from a known one; return whether to go on."""
        known = self.known
        new = self._list_new(candidates)
        if not new or known.ended is not None:
            return known.ended is None
        if self._race is not None and known.candidates and self._race.is_over():
            known.ended = "time_limit"
            return False
        begin = time.perf_counter()
        self._begin_race(new, start)
        try:
            scores = self._evaluate(new, family)
        except KeyboardInterrupt:
            if not known.candidates:
                raise
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
        return True

    def climb(self, plans: Sequence[Plan], times: int, width: int) -> None:
        """Take steps from the best candidates of the best families, so often at most."""
        for _ in range(times):
            before = len(self.known.candidates)
            for plan in self._rank(plans)[:width]:
                if not self._step(plan):
                    return
            if len(self.known.candidates) == before:
                return

    def _list_new(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return those that were not tried; the engine takes together those of one group."""
        new = [c for c in candidates if _name(c) not in self._tried]
        first = {c.group: k for k, c in reversed([*enumerate(new)])}
        return sorted(new, key=lambda c: first[c.group])

    def _begin_race(self, new: Sequence[Candidate], start: int | None) -> None:
        if self._race is None:
            return
        if start is None:
            self._race.begin()
            return
        pace = self.known.candidates[start].pace
        self._race.begin(self.known.curves(start), [c.pace / pace for c in new])

    def _rank(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return the plans that have candidates, the best first."""
        known = self.known
        begun = [plan for plan in plans if any(c.family == plan.name for c in known.candidates)]
        return sorted(begun, key=lambda plan: -known.ratings[known.find_best(plan.name)])

    def _step(self, plan: Plan) -> bool:
        """Try steps from a family's best candidate, then all that help; return whether to go on."""
        known = self.known
        at = known.find_best(plan.name)
        steps = plan.list_steps(known.candidates[at])
        if not self.run([step.candidate for step in steps], plan.name, at):
            return False
        rated = {_name(c): r for c, r in zip(known.candidates, known.ratings, strict=True)}
        ratings = [rated.get(_name(step.candidate), -np.inf) for step in steps]
        better = [k for k, rating in enumerate(ratings) if rating > known.ratings[at]]
        if len(better) < 2:
            return True
        better.sort(key=lambda k: ratings[k])  # later steps of one ladder override earlier ones
        combined = plan.combine(known.candidates[at], [steps[k] for k in better])
        return self.run([] if combined is None else [combined], plan.name, at)


def _name(candidate: Candidate) -> str:
    """Return what tells candidates apart."""
    options, loss = vars(candidate.options), candidate.loss
    learner = candidate.options.weak_learner
    settings = {**options, "weak_learner": (learner.name, vars(learner))}
    return f"{candidate.family} {(loss, loss.gain, candidate.coupling, settings)!r}"


def describe_families(
    names: Sequence[str], found: Compared, scores: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Return what is known of each family: its best candidate, beside the best of all.

    `scores` are those of each candidate in each split, (n_candidates, n_splits).
    """
    families = [c.family for c in found.candidates]
    names = [name for name in names if name in families]
    at = [found.find_best(name) for name in names]
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
        "dropped": add_up(found.dropped),
        "seconds": add_up(found.seconds),
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
    """Return how far each is behind the best in the mean, and the standard error of that."""
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


def tell_families(results: dict[str, NDArray[Any]]) -> str:
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
