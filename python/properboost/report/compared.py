"""What a search compared before it chose the model, and what a simpler one would have cost."""

from dataclasses import replace
from typing import Any

import numpy as np

from properboost.report.found import Compared, Rival

__all__ = ["is_additive", "read_search"]

MOST_CANDIDATES = 12
"""Candidates that are listed where no families were compared."""

def read_search(model: Any) -> Compared | None:
    """Return what a search compared; None where the model is none."""
    results = getattr(model, "cv_results_", None)
    if results is None:
        return None
    families = getattr(model, "family_results_", None)
    rivals = _list_candidates(model) if families is None else _list_families(model)
    rivals.sort(key=lambda rival: -rival.score)
    simpler = []
    if families is not None:
        names = [str(name) for name in families["family"]]  # simple ones first, pairs at the end
        order = {name: (not is_additive(name), k) for k, name in enumerate(names)}
        own = order.get(str(model.family_), (False, -1))
        simpler = [rival for rival in rivals if order[rival.name] < own]
        if np.isnan(rivals[0].error):
            # Once errors were known only beside the best family without pairs: those are others.
            rivals = [replace(rival, error=np.nan) for rival in rivals]
            simpler = [replace(rival, error=np.nan) for rival in simpler]
        simpler.sort(key=lambda rival: order[rival.name])
    scoring = getattr(model, "scoring", None)
    chosen = getattr(model, "best_params_", None) or {}
    return Compared(
        by_family=families is not None,
        rivals=tuple(rivals[:MOST_CANDIDATES] if families is None else rivals),
        simpler=tuple(simpler),
        n_candidates=_count(model, "candidates", len(results["params"])),
        n_dropped=_count(model, "dropped", 0),
        n_splits=sum(name.startswith("split") for name in results if "test_score" in name),
        chosen=tuple((name, _word(value)) for name, value in chosen.items()),
        scoring="accuracy" if scoring is None else str(scoring),
        best_score=float(model.best_score_),
        ended=getattr(model, "ended_", None),
        calibration=getattr(model, "calibration_", None),
    )


def is_additive(family: str) -> bool:
    """Whether the models of a family are sums of functions of a feature, or of two."""
    return "trees" not in family.split()


def _count(model: Any, column: str, otherwise: int) -> int:
    """Return the sum of a column of families, those of pairs included."""
    families = getattr(model, "family_results_", None)
    return otherwise if families is None else int(families[column].sum())


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
    best = getattr(model, "best_index_", int(np.argmax(results["mean_test_score"])))
    behind = splits[:, [best]] - splits
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
                k == best,
            )
        )
    return found


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
