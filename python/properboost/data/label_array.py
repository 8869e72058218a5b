"""Labels of any type as an array of a plain one: booleans, integers, floats or strings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.libraries import is_a, is_missing, is_wide, make_objects
from properboost.data.table import is_plain

__all__ = ["read_label_array"]

_ALLOWED = "integers, booleans or strings"

_FAMILIES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("strings", (str,)),
    ("bool", (bool, np.bool_)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating)),
)
"""The kinds of objects that labels may be, with their names in messages; the first one counts."""

_PANDAS = (
    ("pandas", "Series"),
    ("pandas", "Index"),
    ("pandas", "DataFrame"),
    ("pandas.api.extensions", "ExtensionArray"),
)


def read_label_array(y: Any, name: str = "y") -> NDArray[Any]:
    """Return labels as an array of a type in which to compare, store and predict them.

    The type is NumPy's of at most 64 bits, or objects that are all `str`.  Objects of derived
    classes become `str`, because NumPy compares, cuts and writes them by their ``__str__``.  A
    converted label equals the original; labels without such a type are refused.  Whether floats
    are finite and whole is not checked.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Labels: an array, a list, or a column of pandas, polars or Arrow.
    name : str, default="y"
        The labels' name in error messages.

    Returns
    -------
    ndarray of shape (n_rows,)

    Raises
    ------
    ValueError, TypeError
        If they do not have one dimension, or have none of these types.
    """
    from sklearn.utils.validation import column_or_1d  # on use: servers have no labels

    if isinstance(y, str):
        raise ValueError(
            f"{name} must hold a label for each row; got the text {y!r}: if it names a column of a "
            f"table df, write fit(df.drop(columns={y!r}), df[{y!r}])"
        )
    labels: NDArray[Any] = y
    if not is_plain(y, 1):
        array = _make_array(y, name)
        _refuse_columns(getattr(array, "shape", ()), name)
        labels = column_or_1d(array, warn=True)
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    if labels.dtype == object:
        labels = _read_objects(labels.tolist(), name)
    if labels.dtype.kind not in "biufOU":
        raise ValueError(f"{name} must hold {_ALLOWED}; got labels of type {labels.dtype}")
    if labels.dtype.kind == "f" and labels.dtype.itemsize > 8:
        return _as_double(labels, name)
    return labels if labels.dtype.isnative else labels.astype(labels.dtype.newbyteorder("="))


def _refuse_columns(shape: tuple[int, ...], name: str) -> None:
    """Refuse labels of several columns, with the lines for both meanings of columns."""
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"{name} should be a 1d array, got an array of shape {shape} instead: several labels "
            "of a row need sklearn.multioutput.MultiOutputClassifier(model), and a column for each "
            f"class becomes labels by numpy.argmax({name}, axis=1); ProperBoostClassifier and "
            "ProperBoostClassifierCV can fit probabilities"
        )


def _make_array(y: Any, name: str) -> Any:
    """Return labels in a form that scikit-learn converts without changing them."""
    if isinstance(y, np.ma.MaskedArray):
        if np.ma.is_masked(y):
            raise ValueError(f"{name} must hold no missing labels; got a masked array with some")
        return np.asarray(y)
    if any(is_a(y, library, kind) for library, kind in _PANDAS):
        # scikit-learn would make floats of the nullable types; pandas keeps their values.
        return np.asarray(y)
    if is_a(y, "polars", "Series") and is_wide(y):
        return make_objects(y.to_list())
    if isinstance(y, list | tuple):
        array, values = np.asarray(y), list(y)
        whole = array.dtype.kind == "f" and all(isinstance(v, int | np.integer) for v in values)
        if array.ndim == 1 and (whole or array.tolist() != values):
            # Numbers became strings, large integers floats, or a class has its own __str__.
            return make_objects(values)
        return array
    return y


def _read_objects(values: list[Any], name: str) -> NDArray[Any]:
    """Return objects of one kind as an array of its type."""
    types = set(map(type, values))
    if types == {str}:
        return make_objects(values)
    family = {kind: _find_family(kind) for kind in types}
    kinds = {*family.values()}
    if len(kinds) > 1 or any(is_missing(value) for value in values if family[type(value)] is None):
        raise _refuse_kinds(values, family, name)
    kind = kinds.pop() if kinds else "strings"
    if kind == "strings":  # the text itself, whatever a derived class prints
        return make_objects([str.__str__(value) for value in values])
    if kind == "bool":
        return np.array(values, dtype=bool)
    if kind == "int":
        return _as_integers([int(value) for value in values], name)
    if kind == "float":
        return np.array(values)
    others = ", ".join(sorted(other.__name__ for other in types))
    raise ValueError(
        f"{name} must hold {_ALLOWED}; got labels of type {others}: make strings or integers of "
        "them, as .astype(str) or .astype(int) do"
    )


def _find_family(kind: type) -> str | None:
    return next((name for name, classes in _FAMILIES if issubclass(kind, classes)), None)


def _refuse_kinds(values: list[Any], family: dict[type, str | None], name: str) -> ValueError:
    """Return an error that names the several kinds of labels."""
    families = ("strings", "int")
    others = {kind.__name__ for kind, known in family.items() if known not in families}
    kinds = [*(known for known in families if known in family.values()), *sorted(others)]
    missing = sum(map(is_missing, values))
    remedy = f"; leave out the {missing:,} rows without a label" if missing else ""
    return ValueError(
        f"{name} must hold labels of one kind, none missing; got {' and '.join(kinds)}{remedy}"
    )


def _as_integers(values: list[int], name: str) -> NDArray[Any]:
    """Return integers in a type of 64 bits."""
    low, high = min(values), max(values)
    if low >= -(2**63) and high < 2**63:
        return np.array(values, dtype=np.int64)
    if low >= 0 and high < 2**64:
        return np.array(values, dtype=np.uint64)
    raise ValueError(
        f"{name} must hold integers of 64 bits; got some from {low} to {high}: make strings of them"
    )


def _as_double(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Return wider floats as float64, and refuse those that would change."""
    with np.errstate(over="ignore"):
        converted = labels.astype(np.float64)
    changed = (converted != labels) & ~np.isnan(labels)
    if changed.any():
        raise ValueError(
            f"{name} must hold labels that float64 has; got {labels[changed][0]!s} of type "
            f"{labels.dtype}: make integers or strings of them"
        )
    return converted
