"""Values and columns of table libraries, without importing any of these."""

import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["is_a", "is_missing", "is_wide", "make_objects"]


def is_a(value: object, library: str, name: str) -> bool:
    """Whether a value is of a class of a library, without importing it."""
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, name, ()))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or a library's mark of missing values."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and bool(value != value)


def is_wide(column: Any) -> bool:
    """Whether a polars column holds integers of a type that NumPy does not have."""
    return str(column.dtype) in ("Int128", "UInt128")


def make_objects(values: Sequence[Any]) -> NDArray[np.object_]:
    """Return an array of the values as they are, also where they are sequences."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
