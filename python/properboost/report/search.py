"""The candidates of a search, and the cost of simpler models, in numbers and in sentences."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from properboost.model_selection.search_record import record_search
from properboost.report.content import Rival, SearchSummary, SimplerModels
from properboost.report.wording import decimal, list_words, number, percent

__all__ = [
    "describe_cost",
    "describe_family",
    "describe_reading",
    "describe_score",
    "describe_simpler",
    "describe_unprotected",
    "is_readable_family",
    "name_score",
    "read_search",
]

_COLUMNS = ("mean_test_score", "behind", "behind_error", "candidates")


def read_search(model: Any) -> SearchSummary | None:
    """Return the summary of a search; None of a model without one."""
    is_search = hasattr(model, "cv_results_")
    record = record_search(model) if is_search else getattr(model, "search_", None)
    if record is None:
        return None
    by_family, compared = record["by_family"], record["compared"]
    unknown = [np.nan] * len(compared["name"])
    seconds = model.family_results_["seconds"] if by_family and is_search else unknown
    rivals = _list_rivals(compared, seconds)
    if by_family:
        rivals = _doubt_errors(rivals)
    return SearchSummary(
        by_family=by_family,
        rivals=tuple(sorted(rivals, key=lambda rival: -rival.score)),
        simpler=tuple(_list_simpler(rivals)) if by_family else (),
        n_candidates=record["n_candidates"],
        n_dropped=record["n_dropped"],
        n_splits=record["n_splits"],
        chosen=tuple((name, _word(value)) for name, value in record["chosen"].items()),
        scoring=record["scoring"],
        best_score=record["best_score"],
        ended=record["ended"],
        calibration=record["calibration"],
    )


def _list_rivals(compared: Mapping[str, Any], seconds: Iterable[float]) -> list[Rival]:
    """Return the candidates in their order; `seconds` are those of each."""
    columns = [compared[name] for name in ("name", *_COLUMNS, "is_chosen")]
    return [
        Rival(
            str(name), float(score), float(behind), float(error), int(n), float(time), bool(chosen)
        )
        for name, score, behind, error, n, chosen, time in zip(*columns, seconds, strict=True)
    ]


def _doubt_errors(rivals: list[Rival]) -> list[Rival]:
    """Return families without standard errors where those are not of the distance to the best.

    Earlier records had errors of the distance to the best family without pairs.
    """
    best = max(rivals, key=lambda rival: rival.score)
    return [replace(rival, error=np.nan) for rival in rivals] if np.isnan(best.error) else rivals


def _list_simpler(rivals: Sequence[Rival]) -> list[Rival]:
    """Return the families that are simpler than the chosen one, the simplest first.

    Among readable ones, and among the others, they stand in that order.
    """
    ordered = sorted(rivals, key=lambda rival: not is_readable_family(rival.name))
    chosen = [k for k, rival in enumerate(ordered) if rival.is_chosen]
    return ordered[: chosen[0]] if chosen else []


def is_readable_family(family: str) -> bool:
    """Whether the models of a family are sums of functions of at most three features."""
    words = family.split()
    return "trees" not in words or "readable" in words


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())


_TABLES = (
    "Each feature has a look-up table: its values are cut into {}, and each range has a number "
)
_ADDED = "of points.  The points of all features are added."
_TREES = (
    "Many small trees.  Each is a few questions, one after the other, and each path ends in {}.  "
    "The results of all trees are added.  "
)
_DEPENDS = "The next question depends on the answer."
_SYMMETRIC = "All rows of a tree get the same questions, whatever their answers."
_POINTS = "a number of points"
_LINES = "a sloping line in a few features, instead of one number of points"

_FEW = "A path has at most three features, so the model is a sum of maps of three or fewer."

_SENTENCES = {
    "tables": _TABLES.format("at most ten ranges a round") + _ADDED,
    "smooth tables": _TABLES.format("a range for every few rows")
    + f"{_ADDED}  Points change little from one range to the next.",
    "stumps": _TABLES.format("two ranges a round, as by “older than 30?”") + _ADDED,
    "pairs": (
        "The best of the families of look-up tables, with more tables for two features at a time, "
        "such as age and occupation together."
    ),
    "trees": _TREES.format(_POINTS) + _DEPENDS,
    "symmetric trees": _TREES.format(_POINTS) + _SYMMETRIC,
    "trees with lines": _TREES.format(_LINES) + _DEPENDS,
    "symmetric trees with lines": _TREES.format(_LINES) + _SYMMETRIC,
    "readable trees": f"{_TREES.format(_LINES)}{_DEPENDS}  {_FEW}",
    "readable symmetric trees": f"{_TREES.format(_LINES)}{_SYMMETRIC}  {_FEW}",
}


def describe_family(name: str) -> str:
    """Return the description of a family; nothing for an unknown one."""
    return _SENTENCES.get(name, "")


_NAMES = {
    "neg_log_loss": "log loss, with a minus so that larger is better",
    "neg_brier_score": "Brier score, with a minus so that larger is better",
    "roc_auc": "AUC",
    "average_precision": "average precision",
    "balanced_accuracy": "share of right predictions, averaged over the classes",
    "accuracy": "share of right predictions",
}

_SHARES = frozenset({"accuracy", "balanced_accuracy"})


def name_score(scoring: str) -> str:
    """Return the score of the comparison, in words."""
    return _NAMES.get(scoring, scoring)


def describe_score(scoring: str, score: float) -> str:
    """Return a score as a share that needs no explanation; nothing where there is none."""
    if scoring == "neg_log_loss":
        return percent(math.exp(score), 2)
    if scoring in _SHARES or scoring == "roc_auc":
        return percent(score, 2)
    return ""


def describe_cost(scoring: str, best: float, behind: float, saving: float | None) -> str:
    """Return a clause on the cost of a distance from the best score.

    `saving` is the model's advantage in log loss over no model, if known.
    """
    if behind <= 0.0:
        return "nothing"
    if scoring == "neg_log_loss":
        text = (
            f"{number(behind, 3)} of log loss: the geometric mean of the probabilities of the "
            f"right answers would be {percent(math.exp(best - behind), 2)} instead of "
            f"{percent(math.exp(best), 2)}"
        )
        if saving is not None and saving > behind:
            text += (
                f".  That is {percent(behind / saving)} of the model's advantage over no model at "
                "all"
            )
        return text
    if scoring in _SHARES:
        return f"{number(1000.0 * behind, 2)} more wrong predictions in 1,000"
    if scoring == "roc_auc":
        return (
            f"{number(behind, 3)} of AUC: of 1,000 pairs of a row of the class and another one, "
            f"{number(1000.0 * behind, 2)} more would be in the wrong order"
        )
    return f"{number(behind, 3)} of the {name_score(scoring)}"


def describe_reading(search: SearchSummary | None) -> str:
    """Return the cost of the best readable family, and how to get it; empty if none was compared.

    It is of a search that chose a model whose effects cannot be drawn.
    """
    readable = [one for one in search.rivals if is_readable_family(one.name)] if search else []
    if search is None or not search.by_family or not readable:
        return ""
    best = min(readable, key=lambda one: one.behind)
    cost = describe_cost(search.scoring, search.best_score, best.behind, None)
    chance = ", which may be chance" if best.has_error and best.behind < 2.0 * best.error else ""
    return (
        "A readable model would have drawings of every feature, of the features that act together, "
        f"and of how sure each drawing is.  The best one, of the family “{best.name}”, would cost "
        f"{cost}{chance}."
    )


def describe_simpler(models: SimplerModels | None) -> str:
    """Return a sentence on the scores of at most half of the features, and of a linear model.

    A simpler model is one that was fitted: the model itself without some of its effects is none.
    The sentence is empty where there is nothing to compare.
    """
    if models is None:
        return ""
    subsets, linear, whole = models.subsets, models.linear, models.whole
    few = [subset for subset in subsets[:-1] if 2 * subset.n_features <= subsets[-1].n_features]
    clauses = []
    if few:
        subset = few[-1]
        scores = subset.fitted
        which = (
            f"its most important feature, {subset.added[0]}, alone"
            if subset.n_features == 1
            else f"its {subset.n_features} most important features alone"
        )
        if scores is not None:
            clauses.append(f"Fitted to {which}, it would be wrong in {percent(scores.error)}")
    if linear is not None:
        how = "a" if clauses else "A"
        clauses.append(
            f"{how} logistic regression of all features{' would be wrong' * (not clauses)} in "
            f"{percent(linear.error)}"
        )
    if not clauses:
        return ""
    clauses[0] += f" of the rows instead of {percent(whole.error)}"
    return f"{'; '.join(clauses)}."


def describe_unprotected(
    names: Sequence[str], n_features: int, models: SimplerModels | None
) -> str:
    """Return the cost of leaving out these features, or advice on how to find it."""
    if len(names) == n_features:
        return "It has no other features."
    if models is None or models.unprotected is None:
        return (
            "To see the cost of leaving them out, write this page with the right answers and "
            "with training rows (--train, in Python X_train= and y_train=)."
        )
    whole, unprotected = models.whole, models.unprotected
    return (
        f"Fitted again without {list_words([f'“{name}”' for name in names], 10)}, the model would "
        f"be wrong in {percent(unprotected.error)} of the rows instead of {percent(whole.error)}; "
        f"the log loss would be {decimal(unprotected.log_loss, 4)} instead of "
        f"{decimal(whole.log_loss, 4)}."
    )
