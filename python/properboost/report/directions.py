"""The direction of a shape function, in a sentence."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from properboost.inspection.shape_functions import ShapeFunction
from properboost.inspection.words import label_range
from properboost.report.content import Array
from properboost.report.wording import list_words, precise

__all__ = ["describe_direction"]

CLEAR = 0.95
"""Share of the variance over training rows above which one direction is clear."""

VAGUE = 0.6
"""The same share, below which there is no direction."""

TREND = 1.0 / 6.0
"""The least rise or fall by and large, as a share of all ups and downs of a curve."""

BEYOND_TURN = 0.02
"""Share of the training rows beyond a turn, from which a clear curve's turn is mentioned."""

ENOUGH = 100
"""The fewest training rows of a category in a sentence."""

MOST_STRETCHES = 5
"""The most steps in the sentence on a curve without a clear direction."""


def describe_direction(shape: ShapeFunction, shares: Array) -> str:
    """Return a sentence on the values of a feature that make the class more probable.

    `shares` are the probabilities of an otherwise average row.

    The share explained by rising or falling alone is that of the variance over training rows under
    isotonic regression.  With a peak or a valley, it is that of the best two such curves.
    """
    curve = _FilledCurve.of(shape)
    if len(curve.filled) < 2 or np.ptp(curve.value) == 0.0:
        return ""
    name = f"“{shape.class_label}”"
    if shape.kind == "categorical":
        return _compare_categories(shape, name)
    rising, falling = (_explain(sign * curve.value, curve.weight) for sign in (1.0, -1.0))
    way = _Way("more", "less", rising) if rising >= falling else _Way("less", "more", falling)
    if way.share > 1.0 - 1e-9:
        return f"The higher the value, the {way.word} probable {name}."
    peak, valley = (_find_turn(sign * curve.value, curve.weight) for sign in (1.0, -1.0))
    turn = max(peak, valley)
    if way.share >= CLEAR:
        # A rising curve's turn is mentioned if it is a peak, a falling one's if it is a valley.
        fits = (turn is peak) == (way.word == "more")
        return _describe_way(curve, name, way, turn if fits else None)
    if turn.share >= CLEAR:
        how, rest = ("most", "less") if turn is peak else ("least", "more")
        where = curve.name_range(turn.first, turn.last)
        return f"On the whole, {name} is {how} probable around {where}, and {rest} on each side."
    return _describe_stretches(curve, name, way, shares[curve.filled])


def _find_trend(curve: "_FilledCurve", way: "_Way") -> float:
    """Return how far the best curve of one direction goes, as a share of all ups and downs."""
    sign = 1.0 if way.word == "more" else -1.0
    rise = _rise(sign * curve.value, curve.weight)
    return float((rise[-1] - rise[0]) / np.abs(np.diff(curve.value)).sum())


class _FilledCurve(NamedTuple):
    """A shape function in the bins with training rows."""

    shape: ShapeFunction
    filled: NDArray[np.intp]
    value: Array
    weight: Array

    @classmethod
    def of(cls, shape: ShapeFunction) -> "_FilledCurve":
        """Return the curve of a shape function."""
        filled = np.flatnonzero(shape.weights > 0.0)
        return cls(shape, filled, shape.values[filled], shape.weights[filled])

    def name_range(self, first: int, last: int) -> str:
        """Return the values from a filled bin to another, in words."""
        edges = self.shape.edges
        assert edges is not None
        return f"“{label_range(edges, int(self.filled[first]), int(self.filled[last]))}”"


class _Way(NamedTuple):
    """The effect of a larger value on the class, its opposite, and the share that it explains."""

    word: str
    other: str
    share: float


def _describe_way(curve: _FilledCurve, name: str, way: _Way, turn: "_Turn | None") -> str:
    """Describe a curve with one clear direction, and its turn if that explains the rest."""
    text = f"On the whole, the higher the value, the {way.word} probable {name}"
    if turn is None:
        return f"{text}."
    explains = 1.0 - turn.share < 0.5 * (1.0 - way.share)
    if explains and turn.before > turn.after > BEYOND_TURN:
        where = curve.name_range(turn.first, turn.last)
        text += f", up to about {where}; beyond that it is {way.other} probable than there"
    return f"{text}."


def _describe_stretches(curve: _FilledCurve, name: str, way: _Way, shares: Array) -> str:
    """Describe a curve without a clear direction, in rough steps."""
    if way.share >= VAGUE and _find_trend(curve, way) >= TREND:
        text = (
            f"By and large, the higher the value, the {way.word} probable {name}, but not evenly."
        )
    else:
        text = (
            f"There is no single direction: {name} becomes more and less probable in turn, "
            f"between {precise(float(shares.min()))} and {precise(float(shares.max()))}."
        )
    steps = []
    for first, last in _cut_into_stretches(curve.value, curve.weight):
        part = slice(first, last + 1)
        share = float(np.average(shares[part], weights=curve.weight[part]))
        steps.append(f"{precise(share)} at {curve.name_range(first, last)}")
    return f"{text}  In rough steps, the probability is {list_words(steps, MOST_STRETCHES)}."


def _compare_categories(shape: ShapeFunction, name: str) -> str:
    frequent = np.flatnonzero(shape.weights >= ENOUGH)
    value = shape.values[frequent]
    if len(frequent) < 3 or np.ptp(value) == 0.0:
        return ""
    least, most = (
        list_words([f"“{shape.labels[k]}”" for k in frequent[value == end]], 3)
        for end in (value.min(), value.max())
    )
    return (
        f"All else equal, {name} is most probable with {most} and least with {least} (of "
        f"categories with {ENOUGH} training rows or more)."
    )


def _explain(value: Array, weight: Array) -> float:
    """Return the share of the variance that the best rising curve explains."""
    return _share(value, weight, _rise(value, weight))


class _Turn(NamedTuple):
    """A curve that rises and then falls: its explained share, its top, and the rows beside it."""

    share: float
    first: int
    last: int
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
    before, after = weight[: top[0]].sum(), weight[top[-1] + 1 :].sum()
    return _Turn(
        _share(value, weight, best),
        int(top[0]),
        int(top[-1]),
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


def _cut_into_stretches(value: Array, weight: Array) -> list[tuple[int, int]]:
    """Return the first and last bins of few stretches.

    Their means explain most of the variance, or the most that so few can.
    """
    n = len(value)
    rows, sums, squares = (
        np.concatenate([[0.0], np.cumsum(weight * value**power)]) for power in range(3)
    )
    # lost[i, j]: the squares around the mean of bins i to j - 1.
    lost = np.full((n + 1, n + 1), np.inf)
    i, j = np.triu_indices(n + 1, 1)
    lost[i, j] = squares[j] - squares[i] - (sums[j] - sums[i]) ** 2 / (rows[j] - rows[i])
    best = lost[0].copy()
    begins: list[NDArray[np.intp]] = []
    while len(begins) < min(MOST_STRETCHES, n) - 1 and best[n] > (1.0 - CLEAR) * lost[0, n]:
        through = best[:, None] + lost
        begins.append(through.argmin(axis=0))
        best = through.min(axis=0)
    ends = [n]
    for begin in reversed(begins):
        ends.append(int(begin[ends[-1]]))
    ends.append(0)
    return [(a, b - 1) for b, a in reversed([*pairwise(ends)])]
