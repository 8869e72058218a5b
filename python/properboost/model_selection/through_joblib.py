"""Candidates that joblib's workers score, where a backend is set: processes, Dask, Ray, Spark."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

import joblib

from properboost.model_selection.cv_scores import CVScores
from properboost.model_selection.race import Race

__all__ = ["has_workers", "score_outside"]

Candidate = TypeVar("Candidate", contravariant=True)


class ScoreCandidates(Protocol[Candidate]):
    """Scores candidates on all splits; workers get a copy."""

    def __call__(self, candidates: Sequence[Candidate], *, race: Race | None) -> CVScores:
        """Return their scores, and let the race see them."""


def has_workers() -> bool:
    """Whether a backend of joblib is set that has several workers."""
    return bool(joblib.effective_n_jobs(None) > 1)


def score_outside(
    candidates: Sequence[Candidate], score: ScoreCandidates[Candidate], race: Race | None
) -> CVScores:
    """Score candidates, each by a worker.

    In a race each of them is judged by what is known now: what others reach meanwhile is not.
    """
    found = joblib.Parallel()(
        joblib.delayed(_score_one)(score, candidate, None if race is None else race.alone(k))
        for k, candidate in enumerate(candidates)
    )
    if race is not None:
        for k, (_, own) in enumerate(found):
            race.take(k, own)
    return CVScores.join([own for own, _ in found])


def _score_one(
    score: ScoreCandidates[Candidate], candidate: Candidate, race: Race | None
) -> tuple[CVScores, Race | None]:
    return score([candidate], race=race), race
