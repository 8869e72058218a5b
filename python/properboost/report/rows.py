"""The most telling rows: what the model is surest of, rightly and wrongly, and least sure of."""

from collections.abc import Iterator, Sequence
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
    """Return the average row's probability, and the steps from there to the one row's.

    The largest come first; small ones are put together at the end, pairs apart from features.
    """
    order = contributions.rank(0)
    path = contributions.accumulate(0, order)
    moving = [t for t, a, b in zip(order.tolist(), path, path[1:], strict=False) if a != b]
    shown, small = moving[:MOST_STEPS], moving[MOST_STEPS:]
    lots = [[t] for t in shown]
    if len(small) == 1:
        lots.append(small)
    else:
        of_pairs = [
            [t for t in small if (len(contributions.terms[t]) > 1) == two] for two in (False, True)
        ]
        lots += [lot for lot in of_pairs if lot]
    path = contributions.accumulate(0, [t for lot in lots for t in lot])
    ends = np.cumsum([0, *map(len, lots)])
    at = find_log_odds(path)
    low, high = _find_ends(contributions, confidence_level)
    noisy = None if contributions.within_noise is None else np.ravel(contributions.within_noise)
    steps = []
    for lot, a, b in zip(lots, ends, ends[1:], strict=False):
        t = lot[0] if len(lot) == 1 else None
        added = np.diff(at[a : b + 1])
        steps.append(
            WaterfallStep(
                name=_name(contributions, t) if t is not None else _name_lot(contributions, lot),
                added=float(at[b] - at[a]),
                before=float(path[a]),
                after=float(path[b]),
                low=None if t is None or low is None else float(low[t]),
                high=None if t is None or high is None else float(high[t]),
                within_noise=t is not None and noisy is not None and bool(noisy[t]),
                parts=() if t is not None else tuple(_list_parts(contributions, lot, added)),
            )
        )
    return float(path[0]), tuple(steps)


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
