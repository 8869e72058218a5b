"""Values of columns: numbers in types that the engine reads, and categories in plain Python."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.libraries import is_missing, make_objects
from properboost.data.refusals import ColumnError, Fault, Library, refuse_column
from properboost.data.table import CategoricalColumn, Category, Column, ColumnKind

__all__ = [
    "NEVER_NUMBERS",
    "clean_categories",
    "factorize",
    "fill_missing",
    "find_kind_of_objects",
    "make_numbers",
    "make_real",
    "refuse_categories",
    "sort_categories",
]

# numpy would silently convert them to floats: '1.5', or a date to days.
NEVER_NUMBERS = (str, bytes, np.datetime64, np.timedelta64)
"""Types of values that are refused in numeric columns."""


def make_real(values: Column, label: str | None = None) -> Column:
    """Return real numbers in a type that the engine reads, converted if need be.

    Without a `label`, `values` are all columns.
    """
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    if values.dtype.kind == "f" and values.dtype.itemsize == 2:
        return values.astype(np.float32)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            converted = values.astype(np.float64)
        _refuse_overflow(converted, values, label)
        return converted
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def make_numbers(
    values: Column, label: str, library: Library = "numpy", name: object = None
) -> Column:
    """Return a column as numbers; an error names the column and the library of its table."""
    if values.dtype.kind in "biuf":
        return make_real(values, label)
    if (fault := _find_fault(values)) is not None:
        raise refuse_column(library, label, name, values.dtype, fault)
    try:
        with np.errstate(over="ignore"):
            converted = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X: {label} holds a value that is not a number: {error}") from error
    except OverflowError as error:
        raise ValueError(f"X: {label} holds an integer beyond float64: {error}") from error
    _refuse_overflow(converted, values, label)
    return converted


def _find_fault(values: Column) -> Fault | None:
    """Return the reason why an array that is not of numbers cannot be read as such, by its type."""
    if values.dtype != object:
        faults: dict[str, Fault] = {"U": "text", "M": "datetime", "m": "duration"}
        return faults.get(values.dtype.kind, "other")
    types = set(map(type, values.tolist()))
    if any(issubclass(t, date) for t in types):
        return "dates as objects"
    if not any(issubclass(t, NEVER_NUMBERS) for t in types):
        return None
    if not any(issubclass(t, str) for t in types):
        return "other"
    return "text" if find_kind_of_objects(values) == "text" else "mixed"


def find_kind_of_objects(values: Column) -> ColumnKind:
    """Return what a column of objects holds."""
    objects = values.tolist()
    types = set(map(type, objects))
    if not any(issubclass(t, str) for t in types):
        return "missing" if all(map(is_missing, objects)) else "numbers"
    rest = (value for value in objects if not isinstance(value, str))
    return "text" if all(map(is_missing, rest)) else "numbers"


def fill_missing(values: NDArray[np.object_]) -> NDArray[np.object_]:
    """Return objects with NaN in the place of each library's mark of missing values."""
    if not any(t.__name__ == "NAType" for t in set(map(type, values.tolist()))):
        return values
    return make_objects([np.nan if is_missing(value) else value for value in values.tolist()])


def _refuse_overflow(converted: NDArray[np.float64], values: Column, label: str | None) -> None:
    """Refuse numbers that became infinite."""
    lost = np.isinf(converted)
    lost[lost] = values[lost] != converted[lost]
    if lost.any():
        if label is None:
            label = f"column {np.argwhere(lost)[0][1]}"
        raise ValueError(f"X: {label} holds a number beyond float64: {values[lost][0]!s}")


def factorize(values: Column, label: str) -> CategoricalColumn:
    """Return the distinct values of a column in ascending order, and which one each row holds."""
    if values.dtype.kind in "biuf":
        numbers, codes = np.unique(values, return_inverse=True)
        return clean_categories(codes.astype(np.int64), numbers.tolist(), label)
    if values.dtype.kind in "OUT":
        index: dict[Any, int] = {}
        try:
            codes = np.fromiter(
                (index.setdefault(v, len(index)) for v in values.tolist()), np.int64, len(values)
            )
        except TypeError as error:  # unhashable
            raise TypeError(f"X: {label}: {error}") from error
        codes, distinct = sort_categories(codes, list(map(_plain, index)))
        return clean_categories(codes, distinct, label)
    raise _not_categories(label, str(values.dtype))


def sort_categories(
    codes: NDArray[np.int64], values: list[Any]
) -> tuple[NDArray[np.int64], list[Any]]:
    """Order the categories by value instead of by first appearance."""

    def key(k: int) -> tuple[bool, Any]:
        value = values[k]
        if isinstance(value, str):
            return True, value
        return False, value if isinstance(value, int | float) and not is_missing(value) else 0

    order = sorted(range(len(values)), key=key)
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    return rank[codes], [values[k] for k in order]


def clean_categories(
    codes: NDArray[np.int64], values: Iterable[Any], label: str
) -> CategoricalColumn:
    """Return categories of plain Python, all different; missing ones get code -1."""
    code_of: dict[Category, int] = {}
    new_code = []
    for value in values:
        if is_missing(value):
            new_code.append(-1)
            continue
        plain = _plain(value)
        if not isinstance(plain, str | int | float):
            raise _not_categories(label, type(plain).__name__)
        new_code.append(code_of.setdefault(plain, len(code_of)))  # dictionaries may repeat values
    if len(code_of) < len(new_code):
        codes = np.array([*new_code, -1], dtype=np.int64)[codes]  # code -1 reads the last
    return CategoricalColumn(codes, tuple(code_of))


def _plain(value: Any) -> Any:
    """Return a category as a plain Python value; decimals as integers or floats."""
    if isinstance(value, np.generic) and not isinstance(value, np.str_):
        return value.item()
    if type(value) in (str, int, float, bool):
        return value
    if isinstance(value, str):  # for example a member of an Enum, whose str is another text
        return str.__str__(value)
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    return float(value) if isinstance(value, Decimal) and not value.is_nan() else value


def refuse_categories(label: str) -> ColumnError:
    """Return the error of a column of categories that is read as numbers."""
    return ColumnError(
        f"X: {label} holds categories where numbers are expected: fit with "
        "categorical_features='from_dtype', or name the column there; predict with the same kind "
        "of column"
    )


def _not_categories(label: str, kind: str) -> ColumnError:
    return ColumnError(
        f"X: {label} holds {kind}; categories must be strings, numbers or booleans: make strings "
        "of them, as pandas' .astype(str).astype('category') does"
    )
