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

    def combine(self, best: Candidate, steps: Sequence[Step]) -> Candidate:
        """Return a candidate that takes several steps at once."""


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
    found = Compared()
    tried: set[str] = set()

    def run(candidates: Sequence[Candidate], family: str, known: int | None = None) -> bool:
        """Evaluate those that are new, steps from a known one; returns whether to go on."""
        own = [c for c in candidates if _name(c) not in tried]
        first = {c.group: k for k, c in reversed([*enumerate(own)])}
        own.sort(key=lambda c: first[c.group])
        if not own or found.ended is not None:
            return found.ended is None
        if race is not None and found.candidates and race.is_over():
            found.ended = "time_limit"
            return False
        begin = time.perf_counter()
        if race is not None:
            if known is None:
                race.begin()
            else:
                pace = found.candidates[known].pace
                race.begin(found.curves(known), [c.pace / pace for c in own])
        try:
            scores = evaluate(own, family)
        except KeyboardInterrupt:
            if not found.candidates:
                raise
            found.ended = "interrupted"
            return False
        seconds = (time.perf_counter() - begin) / len(own)
        tried.update(map(_name, own))
        found.candidates += own
        found.parts.append(scores)
        found.ratings += rate(scores).tolist()
        found.seconds += [seconds] * len(own)
        found.dropped += [race is not None and k in race.dropped for k in range(len(own))]
        return True

    for plan in reversed(plans):
        if not run(plan.candidates, plan.name):
            break
    if len(plans) > 1:
        found.sort([plan.name for plan in plans])
    if found.ended is not None:
        return found
    times, width = STEPS.get(effort or 0, (0, 0))
    for _ in range(times):
        before = len(found.candidates)
        known = [plan for plan in plans if any(c.family == plan.name for c in found.candidates)]
        ranked = sorted(known, key=lambda plan: -found.ratings[found.find_best(plan.name)])
        for plan in ranked[:width]:
            name = plan.name
            at = found.find_best(name)
            steps = plan.list_steps(found.candidates[at])
            if not run([step.candidate for step in steps], name, at):
                return found
            rated = {_name(c): r for c, r in zip(found.candidates, found.ratings, strict=True)}
            better = [
                s for s in steps if rated.get(_name(s.candidate), -np.inf) > found.ratings[at]
            ]
            better.sort(
                key=lambda step: rated[_name(step.candidate)]
            )  # of one ladder the last wins
            combined = plan.combine(found.candidates[at], better)
            if len(better) > 1 and not run([combined], name, at):
                return found
        if len(found.candidates) == before:
            break
    return found


def _name(candidate: Candidate) -> str:
    """Return what tells candidates apart."""
    own = (
        candidate.loss,
        candidate.loss.gain,
        candidate.coupling,
        sorted(candidate.options.__dict__.items()),
    )
    return f"{candidate.family} {own!r}"


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
