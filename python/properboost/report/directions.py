"""Which way a shape function goes, in a sentence."""

from typing import NamedTuple

import numpy as np
from sklearn.isotonic import isotonic_regression

from properboost.inspection.shape_functions import ShapeFunction
from properboost.report.found import FEW_ROWS, Array

__all__ = ["describe_direction"]

CLEAR = 0.95
"""Share of the variance over training rows that a curve of one direction has, if that is clear."""

VAGUE = 0.6
"""The same below which there is no direction at all."""

SOME = 0.02
"""Share of the training rows beyond a turn that is told of a curve with a clear direction."""


def describe_direction(shape: ShapeFunction) -> str:
    """Return whether more of a number makes the class more probable, or which categories do.

    How much is explained by rising or falling alone is the share of the variance over training
    rows that isotonic regression has; by a peak or a valley, that of the best two such curves.
    """
    held = np.flatnonzero(shape.weights > 0.0)
    value, weight = shape.values[held], shape.weights[held]
    if len(held) < 2 or np.ptp(value) == 0.0:
        return ""
    name = f"“{shape.class_label}”"
    if shape.kind == "categorical":
        return _compare_categories(shape, name)
    rising, falling = (_explain(sign * value, weight) for sign in (1.0, -1.0))
    word, other = ("more", "less") if rising >= falling else ("less", "more")
    most = max(rising, falling)
    if most > 1.0 - 1e-9:
        return f"The higher the value, the {word} probable {name}."
    up, down = (_find_turn(sign * value, weight) for sign in (1.0, -1.0))
    turn = max(up, down)
    where = f"“{shape.labels[held[turn.at]]}”"
    if most >= CLEAR:
        text = f"On the whole, the higher the value, the {word} probable {name}"
        explains = 1.0 - turn.share < 0.5 * (1.0 - most)
        if explains and (turn is up) == (word == "more") and turn.before > turn.after > SOME:
            text += f", up to about {where}; beyond it, {other}"
        return f"{text}."
    if turn.share >= CLEAR:
        how, rest = ("most", "less") if turn is up else ("least", "more")
        return f"On the whole, {name} is {how} probable around {where}, and {rest} on each side."
    if most >= VAGUE:
        agree = _count_agreeing(value if word == "more" else -value, weight)
        return (
            f"By and large, the higher the value, the {word} probable {name}, with turns on the "
            f"way: of two training rows whose points differ, the higher value has the "
            f"{'more' if word == 'more' else 'fewer'} points {agree:.0%} of the time."
        )
    return f"There is no one direction: {name} gets more and less probable by turns."


def _compare_categories(shape: ShapeFunction, name: str) -> str:
    held = np.flatnonzero(shape.weights >= FEW_ROWS)
    if len(held) < 2 or np.ptp(shape.values[held]) == 0.0:
        return ""
    least, most = (shape.labels[held[pick(shape.values[held])]] for pick in (np.argmin, np.argmax))
    return (
        f"Of categories with {FEW_ROWS} training rows or more, {name} is most probable with "
        f"“{most}” and least with “{least}”."
    )


def _explain(value: Array, weight: Array) -> float:
    """Return the share of the variance that the best rising curve explains."""
    return _share(value, weight, _rise(value, weight))


class _Turn(NamedTuple):
    """A curve that rises and then falls: what it explains, its top, and the shares of rows."""

    share: float
    at: int
    before: float
    after: float


def _find_turn(value: Array, weight: Array) -> _Turn:
    """Return the best curve that rises and then falls."""
    curves = [
        np.concatenate(
            [_rise(value[:k], weight[:k]), _rise(value[k:][::-1], weight[k:][::-1])[::-1]]
        )
        for k in range(len(value) + 1)
    ]
    best = max(curves, key=lambda curve: _share(value, weight, curve))
    top = np.flatnonzero(best == best.max())
    middle = np.searchsorted(weight[top].cumsum(), 0.5 * weight[top].sum())
    before, after = weight[: top[0]].sum(), weight[top[-1] + 1 :].sum()
    return _Turn(
        _share(value, weight, best),
        int(top[middle]),
        float(before / weight.sum()),
        float(after / weight.sum()),
    )


def _rise(value: Array, weight: Array) -> Array:
    """Return the best rising curve."""
    if len(value) == 0:
        return value
    fitted: Array = isotonic_regression(value, sample_weight=weight)
    return fitted


def _share(value: Array, weight: Array, curve: Array) -> float:
    """Return the share of the variance that a curve explains."""
    mean = np.average(value, weights=weight)
    return 1.0 - float(weight @ (value - curve) ** 2 / (weight @ (value - mean) ** 2))


def _count_agreeing(value: Array, weight: Array) -> float:
    """Return how often, of two rows whose values differ, the later one has the larger."""
    i, j = np.triu_indices(len(value), 1)
    both = weight[i] * weight[j]
    return float(both @ (value[i] < value[j]) / (both @ (value[i] != value[j])))
