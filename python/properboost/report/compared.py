"""What a search compared before it chose the model, and what a simpler one would have cost."""

from dataclasses import replace
from typing import Any

import numpy as np

from properboost.model_selection.search_record import record_search
from properboost.report.found import Compared, Rival

__all__ = ["is_additive", "read_search"]

_COLUMNS = ("mean_test_score", "behind", "behind_error", "candidates")


def read_search(model: Any) -> Compared | None:
    """Return what a search compared; None where the model is none, and was chosen by none."""
    is_search = hasattr(model, "cv_results_")
    record = record_search(model) if is_search else getattr(model, "search_", None)
    if record is None:
        return None
    by_family, compared = record["by_family"], record["compared"]
    names = [str(name) for name in compared["name"]]
    seconds = model.family_results_["seconds"] if by_family and is_search else [np.nan] * len(names)
    own = [
        Rival(name, float(score), float(behind), float(error), int(n), float(time), bool(chosen))
        for name, score, behind, error, n, time, chosen in zip(
            names,
            *(compared[column] for column in _COLUMNS),
            seconds,
            compared["is_chosen"],
            strict=True,
        )
    ]
    if by_family and np.isnan(max(own, key=lambda rival: rival.score).error):
        # Once errors were known only beside the best family without pairs: those are others.
        own = [replace(rival, error=np.nan) for rival in own]
    simpler = []
    if by_family:  # simple ones stand first, pairs at the end
        ranks = [(not is_additive(rival.name), k) for k, rival in enumerate(own)]
        least = min((r for r, rival in zip(ranks, own, strict=True) if rival.is_chosen), default=())
        before = [pair for pair in zip(ranks, own, strict=True) if pair[0] < least]
        simpler = [rival for _, rival in sorted(before, key=lambda pair: pair[0])]
    return Compared(
        by_family=by_family,
        rivals=tuple(sorted(own, key=lambda rival: -rival.score)),
        simpler=tuple(simpler),
        n_candidates=record["n_candidates"],
        n_dropped=record["n_dropped"],
        n_splits=record["n_splits"],
        chosen=tuple((name, _word(value)) for name, value in record["chosen"].items()),
        scoring=record["scoring"],
        best_score=record["best_score"],
        ended=record["ended"],
        calibration=record["calibration"],
    )


def is_additive(family: str) -> bool:
    """Whether the models of a family are sums of functions of a feature, or of two."""
    return "trees" not in family.split()


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
