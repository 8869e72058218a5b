"""The most telling rows: what the model is surest of, rightly and wrongly, and least sure of."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.frames import take_rows
from properboost.estimators.base import TableClassifier
from properboost.report.found import Array, Part, TellingRow

__all__ = ["choose_rows", "describe_rows"]

MOST_PARTS = 8
"""Contributions to a row that are told one by one."""


def choose_rows(
    probability: Array,
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    most: int,
) -> dict[str, NDArray[np.intp]]:
    """Return the positions of at most so many rows of each kind, the most telling first.

    The kinds are "right" and "wrong", of which the model is surest, and "unsure", where the two
    most probable classes are nearest to each other; without labels "sure" takes the place of the
    first two.  Rows of equal probabilities count once.
    """
    sure = probability[np.arange(len(predicted)), predicted]
    two = np.sort(probability, axis=1)[:, -2:]
    lead = two[:, 1] - two[:, 0]
    every = np.arange(len(predicted))
    kinds = {"sure": every}
    if codes is not None:
        kinds = {"right": every[predicted == codes], "wrong": every[predicted != codes]}
    found = {kind: _take_first(rows, -sure[rows], most) for kind, rows in kinds.items()}
    return found | {"unsure": _take_first(every, lead, most)}


def _take_first(rows: NDArray[np.intp], key: Array, most: int) -> NDArray[np.intp]:
    """Return the rows of least keys, all different."""
    _, first = np.unique(key, return_index=True)  # sorted, and the first row of each
    chosen: NDArray[np.intp] = rows[first[:most]]
    return chosen


def describe_rows(
    model: TableClassifier,
    X: Any,
    chosen: dict[str, NDArray[np.intp]],
    probability: Array,
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    confidence_level: float,
) -> list[TellingRow]:
    """Return what is predicted of rows, and what each feature adds to it.

    Raises
    ------
    ValueError, ImportError
        If the model has no contributions, or they need a library that is missing.
    """
    if not hasattr(model, "contributions"):
        raise ValueError(f"a {type(model).__name__} does not say what each feature adds to a row")
    kinds = [kind for kind, rows in chosen.items() for _ in rows]
    positions = np.concatenate(list(chosen.values()))
    if len(positions) == 0:
        return []
    some = take_rows(X, positions)
    told = model.contributions(some, scale="log_odds")
    ends = _find_intervals(model, some, confidence_level)
    labels = model.classes_.tolist()
    found = []
    for k, (kind, row) in enumerate(zip(kinds, positions.tolist(), strict=True)):
        own = told[k]
        spoken_for = labels.index(own.class_label)
        parts = _list_parts(own, confidence_level)
        rest = parts[MOST_PARTS:]
        found.append(
            TellingRow(
                kind=kind,
                number=row + 1,
                label=None if codes is None else labels[codes[row]],
                predicted=labels[predicted[row]],
                sureness=float(probability[row, predicted[row]]),
                spoken_for=own.class_label,
                probability=float(probability[row, spoken_for]),
                interval=None if ends is None else tuple(ends[k, spoken_for].tolist()),
                parts=tuple(parts[:MOST_PARTS]),
                rest=sum(part.added for part in rest),
                n_rest=len(rest),
                baseline=float(own.baseline),
                total=float(np.ravel(own.total)[0]),
                additive=own.additive,
            )
        )
    return found


def _find_intervals(model: Any, some: Any, confidence_level: float) -> Array | None:
    """Return the intervals of probabilities, if the model has any."""
    if not hasattr(model, "predict_interval"):
        return None
    try:
        ends: Array = model.predict_interval(some, confidence_level)
    except ValueError:
        return None
    return ends


def _list_parts(own: Any, confidence_level: float) -> Sequence[Part]:
    """Return what adds to a row, the largest first; what adds nothing is left out."""
    values = np.atleast_2d(own.values)[0]
    order = np.argsort(-np.abs(values), kind="stable")
    low = high = None
    if own.n_bags > 0 and own.standard_errors is not None:
        low, high = (np.atleast_2d(end)[0] for end in own.interval(confidence_level))
    noisy = None if own.within_noise is None else np.ravel(own.within_noise)
    return [
        Part(
            own.names[j],
            own.describe_value(0, j),
            float(values[j]),
            None if low is None else float(low[j]),
            None if high is None else float(high[j]),
            noisy is not None and bool(noisy[j]),
        )
        for j in order.tolist()
        if values[j] != 0.0
    ]
