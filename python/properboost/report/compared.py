"""What a search compared before it chose the model, and what a simpler one would have cost."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from properboost.estimators.base import TableClassifier
from properboost.model_selection.compare_families import PAIRS
from properboost.model_selection.families import FAMILIES

__all__ = ["Compared", "Rival", "read_search"]

MOST_CANDIDATES = 12
"""Candidates that are listed where no families were compared."""

_SIMPLE_FIRST = [
    *(family.name for family in FAMILIES if family.additive),
    PAIRS,
    *(family.name for family in FAMILIES if not family.additive),
]


@dataclass(frozen=True)
class Rival:
    """A family of models, or a candidate: what it scored, and how far it is behind the best.

    `error` is the standard error of `behind`; NaN is not known.
    """

    name: str
    score: float
    behind: float
    error: float
    candidates: int
    seconds: float
    is_chosen: bool


@dataclass(frozen=True)
class Compared:
    """What was compared: families of models, or candidates where there were none.

    `rivals` begin with the best; `simpler` are the families that are simpler than the chosen one,
    the simplest first.
    """

    by_family: bool
    rivals: tuple[Rival, ...]
    simpler: tuple[Rival, ...]
    n_candidates: int
    n_splits: int
    chosen: tuple[tuple[str, str], ...]
    scoring: str
    best_score: float
    ended: str | None
    calibration: dict[str, Any] | None


def read_search(model: TableClassifier) -> Compared | None:
    """Return what a search compared; None where the model is none."""
    results = getattr(model, "cv_results_", None)
    if results is None:
        return None
    families = getattr(model, "family_results_", None)
    rivals = _list_candidates(model) if families is None else _list_families(model)
    rivals.sort(key=lambda rival: -rival.score)
    simpler = []
    if families is not None:
        order = {name: k for k, name in enumerate(_SIMPLE_FIRST)}
        own = order.get(str(getattr(model, "family_", None)), 0)
        simpler = [rival for rival in rivals if order[rival.name] < own]
        if rivals[0].name == PAIRS:
            # What is known of the others is how far they are behind the best family without pairs.
            rivals = [replace(rival, error=np.nan) for rival in rivals]
            simpler = [replace(rival, error=np.nan) for rival in simpler]
        simpler.sort(key=lambda rival: order[rival.name])
    scoring = getattr(model, "scoring", None)
    return Compared(
        by_family=families is not None,
        rivals=tuple(rivals[:MOST_CANDIDATES] if families is None else rivals),
        simpler=tuple(simpler),
        n_candidates=len(results["params"]),
        n_splits=sum(name.startswith("split") for name in results if "test_score" in name),
        chosen=tuple(
            (name, _word(value)) for name, value in (getattr(model, "best_params_", None) or {}).items()
        ),
        scoring="accuracy" if scoring is None else str(scoring),
        best_score=float(model.best_score_),
        ended=getattr(model, "ended_", None),
        calibration=getattr(model, "calibration_", None),
    )


def _list_families(model: Any) -> list[Rival]:
    results = model.family_results_
    columns = ("family", "mean_test_score", "behind", "behind_error", "candidates", "seconds")
    return [
        Rival(str(name), float(score), float(behind), float(error), int(n), float(seconds),
              name == model.family_)
        for name, score, behind, error, n, seconds in zip(
            *(results[column] for column in columns), strict=True
        )
    ]  # fmt: skip


def _list_candidates(model: Any) -> list[Rival]:
    results = model.cv_results_
    splits = np.array([
        values for name, values in results.items()
        if name.startswith("split") and name.endswith("test_score")
    ], dtype=np.float64)  # fmt: skip
    behind = splits[:, [model.best_index_]] - splits
    n = len(splits)
    errors = behind.std(axis=0, ddof=1) / n**0.5 if n > 1 else np.full(splits.shape[1], np.nan)
    varied = [
        name for name, values in results.items()
        if name.startswith("param_") and len({repr(value) for value in values}) > 1
    ]  # fmt: skip
    found = []
    for k, score in enumerate(results["mean_test_score"]):
        words = [f"{name.removeprefix('param_')} {_word(results[name][k])}" for name in varied]
        found.append(
            Rival(
                ", ".join(words) or f"candidate {k + 1}",
                float(score),
                float(behind[:, k].mean()),
                float(errors[k]),
                1,
                np.nan,
                k == model.best_index_,
            )
        )
    return found


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
