"""The most telling rows: the surest predictions, right and wrong, and the least sure ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.frames import take_rows
from properboost.estimators.base import TableClassifier
from properboost.inspection.contributions import Contributions
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.report.content import Array, ExplainedRow, WaterfallStep
from properboost.report.proportions import find_log_odds
from properboost.report.wording import count, signed

__all__ = ["choose_rows", "describe_rows"]

MOST_STEPS = 14
"""The most terms of a row in steps of their own."""

MOST_TREES = 10_000
"""The most trees, without terms, of a model whose rows are explained: more would take minutes."""

TINY = 0.005
"""Log-odds below which a term gets no step of its own."""


def choose_rows(
    probability: Array,
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    most: int,
) -> dict[str, NDArray[np.intp]]:
    """Return the positions of at most so many rows of each kind, the most telling first.

    The kinds "right" and "wrong" are the surest predictions, by predicted class in turn; without
    labels "sure" takes their place.  With two classes, "refused" and "granted" are the rows nearest
    to the limit, below and above it.  With more, "unsure" are those where the two most probable
    classes are nearest to each other.  Rows of equal probabilities count once.
    """
    sure = probability[np.arange(len(predicted)), predicted]
    two = np.sort(probability, axis=1)[:, -2:]
    lead = two[:, 1] - two[:, 0]
    every = np.arange(len(predicted))
    kinds = {"sure": every}
    if codes is not None:
        kinds = {"right": every[predicted == codes], "wrong": every[predicted != codes]}
    narrow = {"unsure": every}
    if probability.shape[1] == 2:
        narrow = {"refused": every[predicted == 0], "granted": every[predicted == 1]}
    surest = {
        kind: _take_turns(rows, -sure[rows], predicted[rows], most) for kind, rows in kinds.items()
    }
    return surest | {kind: _take_first(rows, lead[rows], most) for kind, rows in narrow.items()}


def _take_first(rows: NDArray[np.intp], key: Array, most: int) -> NDArray[np.intp]:
    """Return the different rows of the smallest keys."""
    _, first = np.unique(key, return_index=True)  # sorted, and the first row of each
    chosen: NDArray[np.intp] = rows[first[:most]]
    return chosen


def _take_turns(
    rows: NDArray[np.intp], key: Array, classes: NDArray[np.intp], most: int
) -> NDArray[np.intp]:
    """Return the rows of the smallest keys, by class in turn."""
    lots = []
    for k in np.unique(classes):
        of_class = classes == k
        first = _take_first(rows[of_class], key[of_class], most)
        lots += [
            (turn, key[int(np.searchsorted(rows, row))], row)
            for turn, row in enumerate(first.tolist())
        ]
    return np.array([row for *_, row in sorted(lots)[:most]], dtype=np.intp)


def describe_rows(
    model: TableClassifier,
    X: Any,
    chosen: dict[str, NDArray[np.intp]],
    probability: Array,
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    confidence_level: float,
) -> list[ExplainedRow]:
    """Return the predictions of rows, and the steps to them from the average row.

    Raises
    ------
    ValueError, ImportError
        If the model has no contributions, or too many trees, or they need a library that is
        missing.
    """
    if not hasattr(model, "contributions"):
        raise ValueError(f"a {type(model).__name__} has no contributions of single features")
    _check_size(model)
    kinds = [kind for kind, rows in chosen.items() for _ in rows]
    positions = np.concatenate(list(chosen.values()))
    if len(positions) == 0:
        return []
    table = take_rows(X, positions)
    explained = model.contributions(table, scale="probability")
    ends = _find_intervals(model, table, confidence_level)
    labels = model.classes_.tolist()
    described = []
    for k, (kind, row) in enumerate(zip(kinds, positions.tolist(), strict=True)):
        contributions = explained[k]
        class_label = labels.index(contributions.class_label)
        average, steps = _list_steps(contributions, confidence_level)
        described.append(
            ExplainedRow(
                kind=kind,
                number=row + 1,
                label=None if codes is None else labels[codes[row]],
                predicted=labels[predicted[row]],
                class_label=contributions.class_label,
                probability=float(probability[row, class_label]),
                interval=None if ends is None else tuple(ends[k, class_label].tolist()),
                average=average,
                steps=steps,
                additive=_adds_up(contributions),
            )
        )
    return described


def _check_size(model: Any) -> None:
    ensemble = getattr(model, "ensemble_", None)
    # Terms are explained in milliseconds, however many trees they were made of.
    if isinstance(ensemble, TreeEnsemble) and ensemble.terms is None:
        n_trees = sum(map(len, ensemble.models))
        if n_trees > MOST_TREES:
            raise ValueError(
                f"the model has {n_trees:,} trees, and this page explains rows of at most "
                f"{MOST_TREES:,}, as more would take minutes"
            )


def _find_intervals(model: Any, table: Any, confidence_level: float) -> Array | None:
    """Return the intervals of probabilities, if the model has any."""
    if not hasattr(model, "predict_interval"):
        return None
    try:
        ends: Array = model.predict_interval(table, confidence_level)
    except ValueError:
        return None
    return ends


def _list_steps(
    contributions: Contributions, confidence_level: float
) -> tuple[float, tuple[WaterfallStep, ...]]:
    """Return the average row's probability, and the steps from there to a row's."""
    lots = _divide(contributions)
    path = contributions.accumulate(0, [t for lot in lots for t in lot])
    at = find_log_odds(path)
    doubts = _Uncertainty.of(contributions, confidence_level)
    steps = []
    for lot, (a, b) in zip(lots, pairwise(np.cumsum([0, *map(len, lots)])), strict=True):
        name = _name_lot(contributions, lot)
        step = WaterfallStep(name, float(at[b] - at[a]), float(path[a]), float(path[b]))
        if len(lot) == 1:
            steps.append(doubts.add_to(step, lot[0]))
        else:
            parts = _list_parts(contributions, lot, np.diff(at[a : b + 1]))
            steps.append(replace(step, parts=tuple(parts)))
    return float(path[0]), tuple(steps)


def _divide(contributions: Contributions) -> list[list[int]]:
    """Return the terms that move the row, grouped by step.

    The largest come first, each alone; small ones share steps at the end, pairs apart from
    features.
    """
    order = contributions.rank(0)
    path = contributions.accumulate(0, order)
    moving = [t for t, a, b in zip(order.tolist(), path, path[1:], strict=False) if a != b]
    lots = [[t] for t in moving[:MOST_STEPS]]
    for is_pair in (False, True):
        small = [t for t in moving[MOST_STEPS:] if (len(contributions.terms[t]) > 1) == is_pair]
        if small:
            lots.append(small)
    return lots


@dataclass(frozen=True)
class _Uncertainty:
    """The uncertainty of each term's contribution to the log-odds, as far as it is known."""

    low: Array | None
    high: Array | None
    within_noise: NDArray[np.bool_] | None

    @classmethod
    def of(cls, contributions: Contributions, level: float) -> "_Uncertainty":
        """Return the uncertainty, with intervals of this level."""
        low, high = _find_ends(contributions, level)
        noise = contributions.within_noise
        return cls(low, high, None if noise is None else np.ravel(noise))

    def add_to(self, step: WaterfallStep, term: int) -> WaterfallStep:
        """Return the step of a term with its uncertainty."""
        return replace(
            step,
            low=None if self.low is None else float(self.low[term]),
            high=None if self.high is None else float(self.high[term]),
            within_noise=self.within_noise is not None and bool(self.within_noise[term]),
        )


def _adds_up(contributions: Contributions) -> bool:
    """Whether contributions to the log-odds do not depend on the order of terms."""
    return contributions.can_turn("log_odds") and contributions.to_scale("log_odds").additive


def _find_ends(contributions: Contributions, level: float) -> tuple[Array | None, Array | None]:
    """Return the ends of intervals of each term's contribution to the log-odds, if known."""
    if contributions.n_bags == 0 or not _adds_up(contributions):
        return None, None
    low, high = contributions.to_scale("log_odds").interval(level)
    return np.atleast_2d(low)[0], np.atleast_2d(high)[0]


def _name(contributions: Contributions, term: int) -> str:
    return f"{contributions.names[term]} = {contributions.describe_value(0, term)}"


def _name_lot(contributions: Contributions, lot: Sequence[int]) -> str:
    if len(lot) == 1:
        return _name(contributions, lot[0])
    what = ("pair", "pairs") if len(contributions.terms[lot[0]]) > 1 else ("feature", "features")
    return f"{count(len(lot), *what)} of less weight"


def _list_parts(contributions: Contributions, lot: Sequence[int], added: Array) -> Iterator[str]:
    """Yield the terms of a joint step, the largest first, without those that print as 0.00."""
    tiny = 0
    for term, value in zip(lot, added.tolist(), strict=True):
        if abs(value) < TINY:
            tiny += 1
        else:
            yield f"{_name(contributions, term)}: {signed(value)}"
    if tiny > 0:
        yield f"{tiny} of less than {TINY:g} points each"
