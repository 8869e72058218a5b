"""The names by which models recognise the columns of a table.

scikit-learn stores and compares names that are all strings.  This module stores names of other
types (integers, floats, dates, names of several levels) as text, which files can hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "ColumnNames",
    "are_names_of",
    "check_names",
    "copy_features",
    "has_names",
    "keep_features",
    "keep_names",
    "name_columns",
    "read_names",
    "write_name",
]

_MOST_SHOWN = 10

_OTHERS = "_other_names"
"""The models' attribute for names that are no strings; pickles include it."""


@dataclass(frozen=True)
class ColumnNames:
    """The names of columns in their order, as text, whatever their type.

    `are_text` is whether they are strings, which scikit-learn stores in ``feature_names_in_``.
    """

    values: tuple[str, ...]
    are_text: bool = True


def name_columns(names: Sequence[Any]) -> ColumnNames | None:
    """Return names of any type; None for 0, 1, 2 and so on, as in a table without names."""
    are_text = _are_text(names)
    values = tuple(names if are_text else map(write_name, names))
    if not are_text and values == _positions(len(values)):
        return None
    return ColumnNames(values, are_text)


def _are_text(names: Sequence[Any]) -> bool:
    """Whether scikit-learn takes all names for strings; it takes no derived class for one."""
    return set(map(type, names)) <= {str}


def _positions(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(n)))


def write_name(name: Any) -> str:
    """Return a name as text, the same for equal names."""
    if isinstance(name, str):
        return str.__str__(name)
    if isinstance(name, tuple):  # of several levels
        return f"({', '.join(map(write_name, name))})"
    plain = name.item() if isinstance(name, np.generic) else name
    if isinstance(plain, float) and plain.is_integer():
        return str(int(plain))
    return str(plain)


def keep_names(model: Any, names: ColumnNames | None) -> None:
    """Store the names of a fit's columns in a model."""
    for attribute in ("feature_names_in_", _OTHERS):
        vars(model).pop(attribute, None)
    if names is not None and names.are_text:
        model.feature_names_in_ = np.array(names.values, dtype=object)
    elif names is not None:
        setattr(model, _OTHERS, names.values)


def keep_features(model: Any, n_features: int, names: ColumnNames | None) -> None:
    """Store the number of a fit's features in a model, and their names, if any."""
    model.n_features_in_ = n_features
    keep_names(model, names)


def copy_features(model: Any, other: Any) -> None:
    """Store the number and names of the features of another model."""
    keep_features(model, other.n_features_in_, read_names(other))


def has_names(model: Any) -> bool:
    """Whether the columns of a model's fit had names that are strings."""
    return "feature_names_in_" in vars(model)


def are_names_of(model: Any, names: Sequence[Any]) -> bool:
    """Whether names are those of a model's fit, in their order, and all strings."""
    return has_names(model) and _are_text(names) and model.feature_names_in_.tolist() == list(names)


def read_names(model: Any) -> ColumnNames | None:
    """Return a model's names of the columns of its fit; None if it has their positions only."""
    if has_names(model):
        return ColumnNames(tuple(map(str, model.feature_names_in_)))
    others = getattr(model, _OTHERS, None)
    return None if others is None else ColumnNames(tuple(others), are_text=False)


def check_names(model: Any, frame_names: Sequence[Any]) -> str | None:
    """Compare the columns of a table with names with those of the fit; return a warning, if any.

    scikit-learn has compared strings with strings, and has warned where only one side has strings.
    Columns of an array are taken by position, and so are those of a table whose names are
    positions.  Other names are taken by position, with a warning, where the fit had none.  Columns
    of the fit in another order are refused; so are all other names where the fit's were no strings.
    """
    if has_names(model) and _are_text(frame_names):
        return None
    known = read_names(model)
    if known is None and frame_names == [*range(len(frame_names))]:  # a quick check
        return None
    names = name_columns(frame_names)
    columns = _positions(model.n_features_in_) if names is None else names.values
    expected = _positions(model.n_features_in_) if known is None else known.values
    if columns == expected:
        return None
    must_agree = known is not None and not known.are_text
    if must_agree or sorted(columns) == sorted(expected):
        raise _refuse(columns, expected)
    if known is None and names is not None and not names.are_text:
        return (
            f"X has columns with the names {_show(columns)}, and the model was fitted without "
            "names: they are taken by their positions"
        )
    return None


def _refuse(columns: tuple[str, ...], expected: tuple[str, ...]) -> ValueError:
    """Return an error that names the first column that is not the fit's."""
    pairs = enumerate(zip(columns, expected, strict=True))
    k, (column, wanted) = next((k, pair) for k, pair in pairs if pair[0] != pair[1])
    return ValueError(
        f"X must have the columns of the fit in their order, {_show(expected)}; column {k} is "
        f"{column} and was {wanted}: pass them so, or an array, whose columns are taken by their "
        "positions"
    )


def _show(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_MOST_SHOWN])
    return f"{shown} and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else shown
