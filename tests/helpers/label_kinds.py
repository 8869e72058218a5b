"""The table of all kinds of labels, which every test of labels uses.

A kind makes labels of codes 0, 1, ... and has the ``classes_`` that a model must have then. Kinds
of a library that is not installed are left out.
"""

import enum
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KINDS", "LabelKind"]


class Grade(str, enum.Enum):  # noqa: UP042 -- what services had before StrEnum
    """Enum whose members print as ``Grade.GOOD``."""

    BAD = "bad"
    GOOD = "good"
    UGLY = "ugly"


class StrictGrade(enum.StrEnum):
    BAD = "bad"
    GOOD = "good"
    UGLY = "ugly"


class Place(enum.IntEnum):
    FIRST = 1
    SECOND = 2
    THIRD = 3


class SameText(str):
    """String class whose members all print as the same text."""

    __slots__ = ()

    def __str__(self) -> str:
        return "text"


WORDS = ("bad", "good", "ugly")
LARGE = (2**60, 2**60 + 1, 2**60 + 2)
LARGEST = (2**63, 2**63 + 1, 2**64 - 1)


@dataclass(frozen=True, eq=False)
class LabelKind:
    """Labels of one kind: `wrap` makes them of the `values`, which ``classes_`` must be.

    With `any_values` the values may be others of the same type.
    """

    name: str
    values: NDArray[Any]
    wrap: Callable[[NDArray[Any]], Any]
    needs: tuple[str, ...] = ()
    any_values: bool = True

    def of(self, values: Sequence[Any]) -> "LabelKind":
        """Return the kind with these values, which ascend."""
        kind = "U" if self.values.dtype.kind == "U" else self.values.dtype
        return replace(self, values=np.array(list(values), dtype=kind))

    @property
    def most(self) -> int:
        """Number of classes for which there are labels."""
        return len(self.values)

    def make(self, codes: NDArray[np.integer[Any]]) -> Any:
        """Return the labels of rows of these classes, by position."""
        return self.wrap(self.values[codes])

    def classes(self, n_classes: int) -> NDArray[Any]:
        """Return the ``classes_`` that a model must have."""
        return self.values[:n_classes]

    def check(self, classes: NDArray[Any]) -> None:
        """Fail unless these are the classes of a model of this kind, in value and type."""
        expected = self.classes(len(classes))
        assert classes.dtype.kind == expected.dtype.kind, (classes.dtype, expected.dtype)
        assert expected.dtype.kind == "U" or classes.dtype == expected.dtype
        assert [*map(type, classes.tolist())] == [*map(type, expected.tolist())]
        assert classes.tolist() == expected.tolist()


def _same(labels: NDArray[Any]) -> Any:
    return labels


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _members(members: type) -> Callable[[NDArray[Any]], Any]:
    """Return a function that makes objects of a class of the values."""
    return lambda labels: _objects([members(value) for value in labels.tolist()])


def _pandas(dtype: Any) -> Callable[[NDArray[Any]], Any]:
    def wrap(labels: NDArray[Any]) -> Any:
        import pandas as pd

        return pd.Series(labels.tolist(), dtype=dtype, index=np.arange(len(labels)) + 7)

    return wrap


def _pandas_dictionary(labels: NDArray[Any]) -> Any:
    import pandas as pd
    import pyarrow as pa

    return pd.Series(pa.array(labels.tolist()).dictionary_encode(),
                     dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))  # fmt: skip


def _category_of(dtype: Any) -> Callable[[NDArray[Any]], Any]:
    return lambda labels: _pandas(dtype)(labels).astype("category")


def _polars(dtype: str) -> Callable[[NDArray[Any]], Any]:
    def wrap(labels: NDArray[Any]) -> Any:
        import polars as pl

        return pl.Series(labels.tolist(), dtype=getattr(pl, dtype))

    return wrap


def _arrow(labels: NDArray[Any]) -> Any:
    import pyarrow as pa

    return pa.chunked_array([labels[:1].tolist(), labels[1:].tolist()])


def _arrow_dictionary(labels: NDArray[Any]) -> Any:
    return _arrow(labels).dictionary_encode()


BOOLEANS = np.array([False, True])
SMALL = np.array([-1, 0, 7])
TEXTS = np.array(WORDS, dtype=object)

_ALL = [
    # NumPy's types
    LabelKind("bool", BOOLEANS, _same),
    LabelKind("int64", SMALL, _same),
    LabelKind("int8", SMALL.astype(np.int8), _same),
    LabelKind("uint8", np.array([0, 3, 200], dtype=np.uint8), _same),
    LabelKind("int16, other order of bytes", SMALL.astype(np.int16),
              lambda labels: labels.astype(labels.dtype.newbyteorder())),
    LabelKind("large integers", np.array(LARGE), _same),
    LabelKind("uint64 within int64", np.array([1, 5, 2**62], dtype=np.uint64), _same),
    LabelKind("uint64 beyond int64", np.array(LARGEST, dtype=np.uint64), _same),
    LabelKind("float64", np.array([0.0, 1.0, 2.0]), _same),
    LabelKind("float32", np.array([-1.0, 0.0, 2.0], dtype=np.float32), _same),
    LabelKind("float16", np.array([0.0, 1.0, 2.0], dtype=np.float16), _same),
    LabelKind("longdouble", np.array([0.0, 1.0, 2.0]), lambda labels: labels.astype(np.longdouble)),
    LabelKind("str", np.array(WORDS), _same),
    LabelKind("StringDType", TEXTS, lambda labels: labels.astype(np.dtypes.StringDType())),
    # objects
    LabelKind("objects: str", TEXTS, _same),
    LabelKind("objects: NumPy's str", TEXTS, _members(np.str_)),
    LabelKind("objects: (str, Enum)", TEXTS, _members(Grade), any_values=False),
    LabelKind("objects: StrEnum", TEXTS, _members(StrictGrade), any_values=False),
    LabelKind("objects: a str with its __str__", TEXTS, _members(SameText)),
    LabelKind("objects: bool", BOOLEANS, lambda labels: labels.astype(object)),
    LabelKind("objects: NumPy's bool", BOOLEANS, _members(np.bool_)),
    LabelKind("objects: int", np.array(LARGE), lambda labels: labels.astype(object)),
    LabelKind("objects: NumPy's int", SMALL, _members(np.int16)),
    LabelKind("objects: IntEnum", np.array([1, 2, 3]), _members(Place), any_values=False),
    LabelKind("objects: int beyond int64", np.array(LARGEST, dtype=np.uint64),
              lambda labels: labels.astype(object)),
    LabelKind("objects: float", np.array([0.0, 1.0, 2.0]), lambda labels: labels.astype(object)),
    # lists
    LabelKind("list: bool", BOOLEANS, lambda labels: labels.tolist()),
    LabelKind("list: int", np.array(LARGE), lambda labels: labels.tolist()),
    LabelKind("list: int beyond int64", np.array([5, *LARGEST[:2]], dtype=np.uint64),
              lambda labels: labels.tolist()),
    LabelKind("list: str", np.array(WORDS), lambda labels: labels.tolist()),
    LabelKind("list: (str, Enum)", TEXTS, lambda labels: [Grade(v) for v in labels],
              any_values=False),
    # pandas
    LabelKind("pandas: bool", BOOLEANS, _pandas("bool"), ("pandas",)),
    LabelKind("pandas: boolean", BOOLEANS, _pandas("boolean"), ("pandas",)),
    LabelKind("pandas: Int64", np.array(LARGE), _pandas("Int64"), ("pandas",)),
    LabelKind("pandas: Int8", SMALL.astype(np.int8), _pandas("Int8"), ("pandas",)),
    LabelKind("pandas: UInt64", np.array(LARGEST, dtype=np.uint64), _pandas("UInt64"),
              ("pandas",)),
    LabelKind("pandas: Float64", np.array([0.0, 1.0, 2.0]), _pandas("Float64"), ("pandas",)),
    LabelKind("pandas: string", TEXTS, _pandas("string"), ("pandas",)),
    LabelKind("pandas: category of str", TEXTS, _category_of("object"), ("pandas",)),
    LabelKind("pandas: category of boolean", BOOLEANS, _category_of("boolean"), ("pandas",)),
    LabelKind("pandas: category of Int64", np.array(LARGE), _category_of("Int64"), ("pandas",)),
    LabelKind("pandas: bool[pyarrow]", BOOLEANS, _pandas("bool[pyarrow]"), ("pandas", "pyarrow")),
    LabelKind("pandas: int64[pyarrow]", np.array(LARGE), _pandas("int64[pyarrow]"),
              ("pandas", "pyarrow")),
    LabelKind("pandas: uint64[pyarrow]", np.array(LARGEST, dtype=np.uint64),
              _pandas("uint64[pyarrow]"), ("pandas", "pyarrow")),
    LabelKind("pandas: double[pyarrow]", np.array([0.0, 1.0, 2.0]), _pandas("double[pyarrow]"),
              ("pandas", "pyarrow")),
    LabelKind("pandas: string[pyarrow]", TEXTS, _pandas("string[pyarrow]"), ("pandas", "pyarrow")),
    LabelKind("pandas: dictionary[pyarrow]", TEXTS, _pandas_dictionary, ("pandas", "pyarrow")),
    # polars and Arrow
    LabelKind("polars: Boolean", BOOLEANS, _polars("Boolean"), ("polars",)),
    LabelKind("polars: Int64", np.array(LARGE), _polars("Int64"), ("polars",)),
    LabelKind("polars: UInt64", np.array(LARGEST, dtype=np.uint64), _polars("UInt64"),
              ("polars",)),
    LabelKind("polars: Int128", np.array(LARGE), _polars("Int128"), ("polars",)),
    LabelKind("polars: Categorical", TEXTS, _polars("Categorical"), ("polars",)),
    LabelKind("Arrow: bool", BOOLEANS, _arrow, ("pyarrow",)),
    LabelKind("Arrow: int64", np.array(LARGE), _arrow, ("pyarrow",)),
    LabelKind("Arrow: string", TEXTS, _arrow, ("pyarrow",)),
    LabelKind("Arrow: dictionary", TEXTS, _arrow_dictionary, ("pyarrow",)),
]  # fmt: skip

KINDS = {
    kind.name: kind for kind in _ALL if all(importlib.util.find_spec(name) for name in kind.needs)
}
"""Kinds by name; tests take them from here, so that a new kind is tried everywhere."""
