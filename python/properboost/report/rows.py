"""The most telling rows: what the model is surest of, rightly and wrongly, and least sure of."""

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
from properboost.report.content import Array, TellingRow, WaterfallStep
from properboost.report.proportions import find_log_odds
from properboost.report.wording import count, signed

__all__ = ["choose_rows", "describe_rows"]

MOST_STEPS = 14
"""Terms of a row that are told one by one."""

MOST_TREES = 10_000
"""Trees of a model whose rows are explained: more would take minutes."""

TINY = 0.005
"""Log-odds that are not told one by one."""


def choose_rows(
    probability: Array,
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    most: int,
) -> dict[str, NDArray[np.intp]]:
    """Return the positions of at most so many rows of each kind, the most telling first.

    The kinds are "right" and "wrong", of which the model is surest, the surest of each predicted
    class in turn; without labels "sure" takes their place.  With two classes, "refused" and
    "granted" are those that are nearest to the other class and were not called the second one, or
    were.  With more, "unsure" are those where the two most probable classes are nearest to each
    other.  Rows of equal probabilities count once.
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
    """Return the rows of least keys, all different."""
    _, first = np.unique(key, return_index=True)  # sorted, and the first row of each
    chosen: NDArray[np.intp] = rows[first[:most]]
    return chosen


def _take_turns(
    rows: NDArray[np.intp], key: Array, classes: NDArray[np.intp], most: int
) -> NDArray[np.intp]:
    """Return the rows of least keys, those of each class in turn."""
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
) -> list[TellingRow]:
    """Return what is predicted of rows, and the steps that lead there from the average row.

    Raises
    ------
    ValueError, ImportError
        If the model has no contributions, or too many trees, or they need a library that is
        missing.
    """
    if not hasattr(model, "contributions"):
        raise ValueError(f"a {type(model).__name__} does not say what each feature adds to a row")
    _check_size(model)
    kinds = [kind for kind, rows in chosen.items() for _ in rows]
    positions = np.concatenate(list(chosen.values()))
    if len(positions) == 0:
        return []
    table = take_rows(X, positions)
    told = model.contributions(table, scale="probability")
    ends = _find_intervals(model, table, confidence_level)
    labels = model.classes_.tolist()
    described = []
    for k, (kind, row) in enumerate(zip(kinds, positions.tolist(), strict=True)):
        contributions = told[k]
        spoken_for = labels.index(contributions.class_label)
        average, steps = _list_steps(contributions, confidence_level)
        described.append(
            TellingRow(
                kind=kind,
                number=row + 1,
                label=None if codes is None else labels[codes[row]],
                predicted=labels[predicted[row]],
                spoken_for=contributions.class_label,
                probability=float(probability[row, spoken_for]),
                interval=None if ends is None else tuple(ends[k, spoken_for].tolist()),
                average=average,
                steps=steps,
                additive=_adds_up(contributions),
            )
        )
    return described


def _check_size(model: Any) -> None:
    ensemble = getattr(model, "ensemble_", None)
    if isinstance(ensemble, TreeEnsemble):
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
    """Return the average row's probability, and the steps from there to the one row's."""
    lots = _divide(contributions)
    path = contributions.accumulate(0, [t for lot in lots for t in lot])
    at = find_log_odds(path)
    doubts = _Doubts.of(contributions, confidence_level)
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
    """Return the terms that move the row, those of each step together.

    The largest come first, each alone; small ones are put together at the end, pairs apart from
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
class _Doubts:
    """How sure it is what each term adds to the log-odds, as far as that is known."""

    low: Array | None
    high: Array | None
    within_noise: NDArray[np.bool_] | None

    @classmethod
    def of(cls, contributions: Contributions, level: float) -> "_Doubts":
        """Return what is known, with intervals of this level."""
        low, high = _find_ends(contributions, level)
        noise = contributions.within_noise
        return cls(low, high, None if noise is None else np.ravel(noise))

    def add_to(self, step: WaterfallStep, term: int) -> WaterfallStep:
        """Return the step of a term with what is known of it."""
        return replace(
            step,
            low=None if self.low is None else float(self.low[term]),
            high=None if self.high is None else float(self.high[term]),
            within_noise=self.within_noise is not None and bool(self.within_noise[term]),
        )


def _adds_up(contributions: Contributions) -> bool:
    """Whether what terms add to the log-odds does not depend on their order."""
    return contributions.can_turn("log_odds") and contributions.to_scale("log_odds").additive


def _find_ends(contributions: Contributions, level: float) -> tuple[Array | None, Array | None]:
    """Return the ends of intervals of what each term adds to the log-odds, if known."""
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
    """Yield what a step of several is made of, the largest first, but not what would be 0.00."""
    tiny = 0
    for term, value in zip(lot, added.tolist(), strict=True):
        if abs(value) < TINY:
            tiny += 1
        else:
            yield f"{_name(contributions, term)}: {signed(value)}"
    if tiny > 0:
        yield f"{tiny} of less than {TINY:g} points each"
