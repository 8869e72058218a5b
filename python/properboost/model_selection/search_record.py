"""The record of a search, in short, which the chosen model keeps."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.model_selection.search_results import list_splits
from properboost.parameters.declare import Component, declared
from properboost.parameters.learners import WeakLearner
from properboost.persistence.json_node import plain
from properboost.scoring import name_score

__all__ = ["flatten", "is_default", "record_search"]

MOST_CANDIDATES = 12
"""The most candidates in a record without families, the best first."""


def record_search(search: Any) -> dict[str, Any]:
    """Return the record of a fitted search, without times: equal fits leave equal records."""
    results = search.cv_results_
    families = getattr(search, "family_results_", None)
    splits = list_splits(results)
    if families is None:
        compared = _compare_candidates(search, np.array([results[name] for name in splits]))
        counts = {"n_candidates": len(results["params"]), "n_dropped": 0}
    else:
        columns = ("mean_test_score", "behind", "behind_error", "candidates")
        compared = {
            "name": families["family"].astype(object),
            **{name: families[name].copy() for name in columns},
            "is_chosen": families["family"] == search.family_,
        }
        counts = {f"n_{name}": int(families[name].sum()) for name in ("candidates", "dropped")}
    return {
        "by_family": families is not None,
        "compared": compared,
        **counts,
        "n_splits": len(splits),
        "scoring": name_score(search.scoring),
        "best_score": float(search.best_score_),
        "chosen": _make_plain(flatten(getattr(search, "best_params_", {}))),
        "calibration": _make_plain(getattr(search, "calibration_", None)),
        "ended": getattr(search, "ended_", None),
    }


def flatten(params: Mapping[str, Any], *, defaults: bool = False) -> dict[str, Any]:
    """Return parameters with the fields of objects by their nested names.

    A weak learner becomes its name; other objects leave their fields alone.  Without `defaults`
    fields at their defaults are left out.
    """
    flat: dict[str, Any] = {}
    for name, value in params.items():
        if not isinstance(value, Component):
            flat[name] = value
            continue
        if isinstance(value, WeakLearner):
            flat[name] = value.name
        for field, entry in declared(type(value)).items():
            if defaults or not is_default(getattr(value, field), entry.default):
                flat[f"{name}__{field}"] = getattr(value, field)
    return flat


def is_default(value: object, default: object) -> bool:
    """Whether a value is a default, and of its type."""
    return value is default or (type(value) is type(default) and bool(value == default))


def _compare_candidates(search: Any, scores: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return the best candidates; `scores` are those in each split, (n_splits, n_candidates)."""
    results = search.cv_results_
    means = results["mean_test_score"]
    best = getattr(search, "best_index_", int(np.argmax(means)))
    n = len(scores)
    with np.errstate(invalid="ignore"):  # scores may be infinite
        behind = scores[:, [best]] - scores
        errors = behind.std(axis=0, ddof=1) / n**0.5 if n > 1 else np.full(scores.shape[1], np.nan)
    varied = [
        name for name, values in results.items()
        if name.startswith("param_") and len({repr(value) for value in values}) > 1
    ]  # fmt: skip
    listed = np.argsort(-means, kind="stable")[:MOST_CANDIDATES]
    return {
        "name": np.array([_name(results, varied, k) for k in listed], dtype=object),
        "mean_test_score": means[listed],
        "behind": behind.mean(axis=0)[listed],
        "behind_error": errors[listed],
        "candidates": np.ones(len(listed), dtype=np.int64),
        "is_chosen": listed == best,
    }


def _name(results: Mapping[str, Any], varied: Sequence[str], k: int) -> str:
    """Return the settings of candidate k that vary between candidates."""
    settings = {name.removeprefix("param_"): results[name][k] for name in varied}
    words = [
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in settings.items()
    ]
    return ", ".join(words) or f"candidate {k + 1}"


def _make_plain(value: Any) -> Any:
    """Return values as files hold them: anything but numbers, lists and dicts becomes text."""
    if isinstance(value, Mapping):
        return {name: _make_plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(entry) for entry in value]
    value = plain(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
