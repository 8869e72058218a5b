"""Scoring of candidates by joblib's workers, where a backend is set: Dask, Ray, Spark, ..."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

import joblib

from properboost.model_selection.cv_scores import CVScores
from properboost.model_selection.race import Race

__all__ = ["has_workers", "score_outside"]

Candidate = TypeVar("Candidate", contravariant=True)


class ScoreCandidates(Protocol[Candidate]):
    """Function that scores candidates on all splits; workers get a copy of it."""

    def __call__(self, candidates: Sequence[Candidate], *, race: Race | None) -> CVScores:
        """Return their scores, and record them in the race."""


def has_workers() -> bool:
    """Whether a backend of joblib is set that has several workers."""
    return bool(joblib.effective_n_jobs(None) > 1)


def score_outside(
    candidates: Sequence[Candidate], score: ScoreCandidates[Candidate], race: Race | None
) -> CVScores:
    """Score candidates, each by a worker.

    In a race each is compared with the scores so far: those that others reach meanwhile are
    unknown.
    """
    scored = joblib.Parallel()(
        joblib.delayed(_score_one)(score, candidate, None if race is None else race.alone(k))
        for k, candidate in enumerate(candidates)
    )
    if race is not None:
        for k, (_, branch) in enumerate(scored):
            race.take(k, branch)
    return CVScores.join([scores for scores, _ in scored])


def _score_one(
    score: ScoreCandidates[Candidate], candidate: Candidate, race: Race | None
) -> tuple[CVScores, Race | None]:
    return score([candidate], race=race), race
