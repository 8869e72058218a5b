"""Neighbouring ranges of a number to which a shape function gives the same points."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from properboost.inspection.shape_functions import ShapeFunction
from properboost.inspection.words import label_range

__all__ = ["Plateau", "count_few", "list_plateaus"]


@dataclass(frozen=True)
class Plateau:
    """Bins from the first to the last, the points of each, and the training rows of all."""

    first: int
    last: int
    value: float
    rows: float
    label: str


def list_plateaus(shape: ShapeFunction) -> list[Plateau]:
    """Return the plateaus with training rows; of categories, each by itself."""
    held = np.flatnonzero(shape.weights > 0.0)
    if shape.kind != "numeric":
        return [
            Plateau(k, k, float(shape.values[k]), float(shape.weights[k]), shape.labels[k])
            for k in held.tolist()
        ]
    assert shape.edges is not None
    begins = np.flatnonzero(np.diff(shape.values[held], prepend=np.nan) != 0.0)
    return [
        Plateau(
            first := int(held[a]),
            last := int(held[b - 1]),
            float(shape.values[first]),
            float(shape.weights[held[a:b]].sum()),
            label_range(shape.edges, first, last),
        )
        for a, b in pairwise([*begins.tolist(), len(held)])
    ]


def count_few(shape: ShapeFunction, few: float) -> tuple[int, int]:
    """Return how many plateaus have fewer training rows than so many, and how many there are."""
    found = list_plateaus(shape)
    return sum(own.rows < few for own in found), len(found)
