"""What the scores of a search are in plain terms, and what a difference of two of them is."""

import math

from properboost.report.words import number, percent

__all__ = ["describe_cost", "describe_score", "name_score"]

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
    """Return the score by which candidates were compared, in words."""
    return _NAMES.get(scoring, scoring)


def describe_score(scoring: str, score: float) -> str:
    """Return a score as a share that needs no explanation; nothing where there is none."""
    if scoring == "neg_log_loss":
        return percent(math.exp(score), 2)
    if scoring in _SHARES or scoring == "roc_auc":
        return percent(score, 2)
    return ""


def describe_cost(scoring: str, best: float, behind: float, saving: float | None) -> str:
    """Return what it costs to be behind the best score, in a clause.

    `saving` is by how much the model's log loss is smaller than that of no model, if known.
    """
    if behind <= 0.0:
        return "nothing"
    if scoring == "neg_log_loss":
        text = (
            f"{number(behind, 3)} of log loss: the probability that it gives to the right answer, "
            f"in the geometric mean, would be {percent(math.exp(best - behind), 2)} in place of "
            f"{percent(math.exp(best), 2)}"
        )
        if saving is not None and saving > behind:
            text += (
                f".  That is {percent(behind / saving)} of what the model gains over no model at "
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
