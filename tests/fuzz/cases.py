"""Inputs of estimators: table, labels, sample weights and parameters, with their code.

All that needs code (a layout, a column's type, a loss) is stored as an expression. So a case can be
sent to another process, made smaller, and printed as code.
"""

import ast
import functools
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FIRST", "Case", "CaseObjects", "Column", "evaluate", "make_model"]

IMPORTS = {
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "pl": "import polars as pl",
    "pa": "import pyarrow as pa",
    "sparse": "from scipy import sparse",
    "special": "from scipy import special",
    "stats": "from scipy import stats",
    "model_selection": "from sklearn import model_selection",
    "pb": "import properboost as pb",
    "losses": "from properboost import losses",
    "custom_losses": "from helpers import custom_losses",
}
"""Names that expressions may use, and the imports of tests with them."""

LAYOUTS = {
    "X": "as it comes",
    "np.asfortranarray(X)": "columns one after the other",
    "np.repeat(X, 2, axis=0)[::2]": "rows with gaps",
    "np.repeat(X, 3, axis=1)[:, 1::3]": "columns with gaps",
    "X[::-1].copy()[::-1]": "negative strides",
    "np.broadcast_to(X, X.shape)": "read-only",
    "X.astype(X.dtype.newbyteorder())": "the other order of bytes",
    "X.astype(object)": "Python objects",
    "X.tolist()": "lists",
}
"""Expressions over the array ``X``, simplest first."""

STRANGE = {
    "X[:, 0]": "one dimension",
    "X[None]": "three dimensions",
    "X[:, :0]": "no column",
    "X[:-1]": "fewer rows than labels",
    "X.astype(str)": "text",
    "X.astype(complex)": "complex numbers",
    "X.astype('M8[s]')": "dates",
    "np.ma.masked_array(X)": "a masked array",
    "sparse.csr_array(X)": "a sparse array",
    "pd.DataFrame(X).iloc[:, [0, 0]]": "two columns of one name",
    "pd.concat({'a': pd.DataFrame(X)}, axis=1)": "names of two levels",
    "pd.DataFrame(X, index=X[:, 0].astype(float))": "an index that is not the rows' numbers",
    "None": "nothing",
}
"""Expressions over ``X`` for inputs that most estimators refuse."""

FIRST = "first"
"""Stand-in for the name of a parameter that is given by position."""

FRAMES = {
    "pandas": ("pd.DataFrame", "dict"),
    "polars": ("pl.DataFrame", "dict"),
    "pyarrow": ("pa.table", "dict"),
}


@functools.cache
def _scope() -> dict[str, Any]:
    scope: dict[str, Any] = {}
    for line in IMPORTS.values():
        try:
            exec(line, scope)
        except ImportError:  # libraries that are not installed are not drawn
            continue
    return scope


@functools.lru_cache(maxsize=512)
def _evaluate_once(expression: str) -> Any:
    return eval(expression, _scope())


def evaluate(expression: str, **names: Any) -> Any:
    """Return the value of an expression; losses, which are slow to make, are made once."""
    if not names and expression.startswith("losses."):
        return _evaluate_once(expression)
    return eval(expression, _scope() | names)


def make_model(estimator: str, values: Mapping[str, Any]) -> Any:
    """Return an estimator; nested names are set afterwards, as constructors have none."""
    flat = {name: value for name, value in values.items() if "__" not in name}
    first = [flat.pop(FIRST)] if FIRST in flat else []
    model = getattr(importlib.import_module("properboost"), estimator)(*first, **flat)
    return model.set_params(**{name: value for name, value in values.items() if "__" in name})


@dataclass(frozen=True, eq=False)
class Column:
    """Column of a table; `wrap` is an expression over its values, the array ``c``."""

    values: NDArray[Any]
    wrap: str = "c"

    def take(self, rows: NDArray[np.int64]) -> "Column":
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class CaseObjects:
    """Objects of a case."""

    model: Any
    X: Any
    y: Any
    weight: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Case:
    """Name of an estimator, its parameters as expressions, and the rows it is fitted to.

    Names of parameters may be nested, as `set_params` takes them. `frame` is a table library of
    `FRAMES`; without one the columns, of one type, are an array of the layout `layout`. `seed`
    decides on the checks.
    """

    estimator: str
    params: dict[str, str]
    columns: tuple[Column, ...]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    frame: str | None = None
    layout: str = "X"
    seed: int = 0

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def values(self) -> dict[str, Any]:
        """Parameters as objects."""
        return {name: evaluate(text) for name, text in self.params.items()}

    def make(self) -> CaseObjects:
        """Make the estimator, the table, labels and weights."""
        model = make_model(self.estimator, self.values)
        return CaseObjects(model, self.make_table(), self.y.copy(), _copy(self.weight))

    def make_table(self) -> Any:
        if self.frame is None:
            X = np.column_stack([column.values for column in self.columns])
            return evaluate(self.layout, X=X)
        make, _ = FRAMES[self.frame]
        columns = {name: evaluate(c.wrap, c=c.values) for name, c in self._named()}
        return evaluate(f"{make}(columns)", columns=columns)

    def _named(self) -> Iterator[tuple[str, Column]]:
        return ((f"f{j}", column) for j, column in enumerate(self.columns))

    # -- smaller cases ----------------------------------------------------------------------------

    def take(self, rows: NDArray[np.int64]) -> "Case":
        columns = tuple(column.take(rows) for column in self.columns)
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, columns=columns, y=self.y[rows], weight=weight)

    def smaller(self) -> Iterator["Case"]:
        """Yield simpler cases, those that save most first."""
        if self.n_rows > 50:  # all checks are slow then
            yield from self._fewer_rows()
        for name in self.params:
            yield replace(self, params={k: v for k, v in self.params.items() if k != name})
        yield from self._fewer_rows()
        for j in range(len(self.columns) if len(self.columns) > 1 else 0):
            yield replace(self, columns=self.columns[:j] + self.columns[j + 1 :])
        if self.weight is not None:
            yield replace(self, weight=None)
            for simple in (np.sign(self.weight), np.round(self.weight)):
                if not np.array_equal(simple, self.weight):
                    yield replace(self, weight=simple)
        if self.layout != "X":
            yield replace(self, layout="X")
        if self.frame is not None:
            if all(c.values.dtype == self.columns[0].values.dtype for c in self.columns):
                yield replace(self, frame=None)
            for j, column in enumerate(self.columns):
                if column.wrap != "c":
                    yield self._with(j, replace(column, wrap="c"))
        for name, text in self.params.items():
            for simple in _simpler_values(text):
                yield replace(self, params=self.params | {name: simple})
        classes, codes = np.unique(self.y, return_inverse=True)
        if len(classes) > 2:
            yield replace(self, y=classes[np.minimum(codes, len(classes) - 2)])
        if self.y.dtype != np.int64:
            yield replace(self, y=codes.astype(np.int64))
        for j, column in enumerate(self.columns):
            for values in _simpler_columns(column.values):
                if self.frame is not None or values.dtype == column.values.dtype:
                    yield self._with(j, replace(column, values=values))

    def _fewer_rows(self) -> Iterator["Case"]:
        n, size = self.n_rows, self.n_rows // 2
        rows = np.arange(n)
        while size >= 1:
            # Many rows are halved only; of few rows single ones are left out, too.
            for start in range(0, n, size) if n // size <= 64 else ():
                if size < n:
                    yield self.take(np.delete(rows, slice(start, start + size)))
            size //= 2

    def _with(self, j: int, column: Column) -> "Case":
        return replace(self, columns=(*self.columns[:j], column, *self.columns[j + 1 :]))

    # -- output -----------------------------------------------------------------------------------

    def show(self) -> list[str]:
        """Return the lines of code that make the case, imports first."""
        weight = "" if self.weight is None else ", weight"
        flat, nested = (
            [
                text if name == FIRST else f"{name}={text}"
                for name, text in self.params.items()
                if ("__" in name) == is_nested
            ]
            for is_nested in (False, True)
        )
        fields = f".set_params({', '.join(nested)})" if nested else ""
        lines = [*self._show_table(), f"y = {_show_array(self.y)}"]
        if self.weight is not None:
            lines.append(f"weight = {_show_array(self.weight)}")
        made = f"pb.{self.estimator}({', '.join(flat)}){fields}"
        lines.append(f"model = {made}.fit(X, y{weight})")
        text = "\n".join(lines)
        used = [line for name, line in IMPORTS.items() if f"{name}." in text]
        return [*used, "", *lines]

    def _show_table(self) -> list[str]:
        if self.frame is None:
            X = np.column_stack([column.values for column in self.columns])
            return [
                f"X = {_show_array(X)}",
                *([f"X = {self.layout}"] if self.layout != "X" else []),
            ]
        make, _ = FRAMES[self.frame]
        shown = [
            f"    {name!r}: {_insert(c.wrap, _show_array(c.values))}," for name, c in self._named()
        ]
        return [f"X = {make}({{", *shown, "})"]


def _copy(array: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    return None if array is None else array.copy()


def _insert(wrap: str, values: str) -> str:
    return values if wrap == "c" else f"(lambda c: {wrap})({values})"


def _show_array(array: NDArray[Any]) -> str:
    text = _show_values(array.tolist())
    plain = {"int64": text, "float64": text, "bool": text}.get(array.dtype.name)
    if plain is not None and (array.dtype.kind != "f" or "." in text or "nan" in text):
        return f"np.array({plain})"
    kind = "object" if array.dtype == object else f'"{array.dtype.str}"'
    return f"np.array({text}, dtype={kind})"


def _show_values(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_show_values, values))}]"
    if isinstance(values, float) and not np.isfinite(values):
        return {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}[str(values)]
    return repr(values)


def _simpler_values(text: str) -> Iterator[str]:
    """Yield expressions with fewer entries or fields, and numbers of fewer digits."""
    yield from map(ast.unparse, _simplify(ast.parse(text, mode="eval").body))


PARTS: dict[type, tuple[str, ...]] = {
    ast.Dict: ("keys", "values"), ast.List: ("elts",), ast.Call: ("keywords",),
}  # fmt: skip
"""Fields of a node that list its entries; entries of the last one may become simpler."""


def _simplify(node: Any) -> Iterator[Any]:
    if isinstance(node, ast.keyword):
        yield from (ast.keyword(node.arg, simple) for simple in _simplify(node.value))
        return
    lists = {name: getattr(node, name) for name in PARTS.get(type(node), ())}
    if lists:
        name, entries = list(lists.items())[-1]
        for k in range(len(entries) if len(entries) > 1 or not isinstance(node, ast.List) else 0):
            yield _change(node, {name: [*old[:k], *old[k + 1 :]] for name, old in lists.items()})
        for k, entry in enumerate(entries):
            for simple in _simplify(entry):
                yield _change(node, {name: [*entries[:k], simple, *entries[k + 1 :]]})
        return
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return
    if isinstance(value, int) and not isinstance(value, bool) and value > 1:
        for number in dict.fromkeys((1, 2, value // 2, value - 1)):
            if number < value:
                yield ast.Constant(number)
    elif isinstance(value, float) and np.isfinite(value) and value:
        for digits in (1, 2, 3):
            if (shorter := float(f"{value:.{digits - 1}e}")) != value:
                yield ast.Constant(shorter)


def _change(node: Any, fields: dict[str, list[Any]]) -> Any:
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def _simpler_columns(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield values of fewer digits, down to their ranks."""
    if values.dtype.kind in "fiu":
        distinct, ranks = np.unique(values, return_inverse=True)
        with np.errstate(all="ignore"):
            small = ranks.astype(values.dtype)
        if len(distinct) < 100 and not np.array_equal(small, values, equal_nan=True):
            yield small
    if values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            for simple in (np.nan_to_num(values), np.round(values), np.round(values, 1)):
                if not np.array_equal(simple, values, equal_nan=True):
                    yield simple
