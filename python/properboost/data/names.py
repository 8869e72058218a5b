"""What models remember the columns of a table by, so that others are not taken for them.

scikit-learn remembers and compares names that are all strings.  Names of other types (integers,
floats, dates, those of several levels) are remembered here, as text, which files can hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["ColumnNames", "check_names", "keep_names", "name_columns", "read_names", "write_name"]

_MOST_SHOWN = 10

_OTHERS = "_other_names"
"""The attribute of models that has names that are no strings; they are pickled with it."""


@dataclass(frozen=True)
class ColumnNames:
    """The names of columns, in their order: as text, whatever they are.

    `are_text` says whether they are strings, which scikit-learn has in ``feature_names_in_``.
    """

    values: tuple[str, ...]
    are_text: bool = True


def name_columns(given: Sequence[Any]) -> ColumnNames | None:
    """Return names of any type; None where they are 0, 1, 2 and so on, as those of no name are."""
    are_text = _are_text(given)
    values = tuple(given if are_text else map(write_name, given))
    if not are_text and values == _positions(len(values)):
        return None
    return ColumnNames(values, are_text)


def _are_text(given: Sequence[Any]) -> bool:
    """Whether scikit-learn takes all names for strings, among which it counts no class of them."""
    return set(map(type, given)) <= {str}


def _positions(n: int) -> tuple[str, ...]:
    return tuple(map(str, range(n)))


def write_name(name: Any) -> str:
    """Return a name as text, the same for equal ones."""
    if isinstance(name, str):
        return str.__str__(name)
    if isinstance(name, tuple):  # of several levels
        return f"({', '.join(map(write_name, name))})"
    plain = name.item() if isinstance(name, np.generic) else name
    if isinstance(plain, float) and plain.is_integer():
        return str(int(plain))
    return str(plain)


def keep_names(model: Any, names: ColumnNames | None) -> None:
    """Have a model remember the columns of its fit."""
    for attribute in ("feature_names_in_", _OTHERS):
        vars(model).pop(attribute, None)
    if names is not None and names.are_text:
        model.feature_names_in_ = np.array(names.values, dtype=object)
    elif names is not None:
        setattr(model, _OTHERS, names.values)


def read_names(model: Any) -> ColumnNames | None:
    """Return what a model remembers the columns of its fit by; None is their positions."""
    if hasattr(model, "feature_names_in_"):
        return ColumnNames(tuple(map(str, model.feature_names_in_)))
    others = getattr(model, _OTHERS, None)
    return None if others is None else ColumnNames(tuple(others), are_text=False)


def check_names(model: Any, given: Sequence[Any]) -> str | None:
    """Compare the columns of a table with names with those of the fit; return a warning, if any.

    scikit-learn has compared names that are strings with such, and has warned where the ones are
    and the others are not.  An array's columns are taken by position; so are those of a table that
    was one, whose names are positions, and with a warning others of which the model knows none.
    What is refused are the columns of the fit in another order, and any others where it had names
    that are no strings.
    """
    if hasattr(model, "feature_names_in_") and _are_text(given):
        return None
    known = read_names(model)
    if known is None and given == [*range(len(given))]:  # which takes no time
        return None
    names = name_columns(given)
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
    """Return an error that tells the first column that is not the fit's."""
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
