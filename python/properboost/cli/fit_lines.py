"""Lines that ``properboost fit`` prints on rows and scores."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from properboost.visible import make_printable

__all__ = [
    "NONE_HELD_OUT",
    "ClassCounts",
    "RowSummary",
    "describe_rows",
    "describe_scores",
    "score_folds",
    "show_scores",
]

NONE_HELD_OUT = "held out: none, because --test-size is 0"


class ClassCounts(NamedTuple):
    """The number of rows of each class, and their weight."""

    rows: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, codes: NDArray[Any], weight: NDArray[np.float64] | None) -> "ClassCounts":
        """Return the counts of rows, by the place of each one's class."""
        return cls(np.bincount(codes), np.bincount(codes, weight).astype(np.float64))


class RowSummary(NamedTuple):
    """The first lines' content: classes, their counts, and the numbers of features."""

    classes: Sequence[Any]
    counts: ClassCounts
    n_features: int
    n_categorical: int


def describe_rows(summary: RowSummary, source: str, target: str) -> str:
    """Return the first lines: rows, features and classes."""
    classes, counts, n_features, n_categorical = summary
    named = [f"{label} ({n:,} rows)" for label, n in zip(classes, counts.rows, strict=True)]
    if len(classes) > 10:
        named[10:] = [f"and {len(classes) - 10} more"]
    lines = [
        (
            f"{source}: {int(counts.rows.sum()):,} rows, {n_features} features "
            f"({n_categorical} categorical)"
        ),
        f"classes of {target}: {', '.join(named)}",
    ]
    return "\n".join(map(make_printable, lines))


def show_scores(name: str, n_rows: int, loss: float, accuracy: float) -> str:
    """Return a line of the report's table."""
    return f"{name:<13}{n_rows:>11,}{loss:>11.4f}{accuracy:>11.4f}"


def describe_scores(counts: ClassCounts, scores: Sequence[str]) -> str:
    """Return the table of scores, first those of the shares of the classes."""
    n_rows, shares = int(counts.rows.sum()), counts.weights / counts.weights.sum()
    lines = [
        f"{'':<13}{'rows':>11}{'log loss':>11}{'accuracy':>11}",
        show_scores("class shares", n_rows, -float(shares @ np.log(shares)), float(shares.max())),
        *scores,
    ]
    return "\n".join(lines)


def score_folds(model: Any) -> list[str]:
    """Return the report's line on the rows that a search held out, if there was one."""
    scores = getattr(model, "held_out_scores_", None)
    if scores is None:
        return []
    name = f"{model.n_splits_} folds" if model.n_splits_ > 1 else "one fold"
    return [show_scores(name, scores["rows"], scores["log_loss"], scores["accuracy"])]
