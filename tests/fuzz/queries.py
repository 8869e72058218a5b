"""The kind of input that is exported: graphs and queries give the model's bits, or fail."""

import contextlib
import importlib.util
import io
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import properboost as pb
from fuzz.cases import Case, Column
from fuzz.fits import ALLOWED, no_foreign_warnings, phase
from fuzz.outcomes import Outcome
from fuzz.parameters import Shape, draw_estimator, draw_parameters, list_estimators
from fuzz.tables import draw_table, draw_weights
from helpers.databases import DIALECTS, find_reason, open_database, quote
from helpers.postgres_server import FOLDER, NoServerError, serve
from properboost.export.sql_dialects import DIALECTS as DIALECTS_OF

__all__ = ["Export", "Queries", "ask_database", "ask_graph"]

LONGEST = {"sqlite": 400_000, "duckdb": 40_000, "postgres": 200_000}
"""Longest queries that are run, in characters: planning of longer ones is slow."""

NEAR = 1e-14
"""Tolerance of probabilities, which docs/use/export.md promises."""

REFUSALS = (
    "cannot be exported", "no formula", "has the double of", "is no double", "strings and numbers",
    "names of tables and columns", "columns must", "keep must", "beyond the integers",
    "a string of", "no Unicode text", "is a category of column", "inputs are named by columns",
)  # fmt: skip

TOO_LARGE = "value out of range: overflow"
"""PostgreSQL's error for a quotient beyond doubles, as of temperatures next to 0."""

OF_NAMES = ("names of tables and columns", "columns must", "keep must")

LINEAR = ("RadoBoostClassifier", "ULSClassifier")
"""Estimators that accept no missing numbers."""

NAMES = [
    'a"b', "c'; --", "select", "x0", "x1", "k0", "c1", "s0", "_r", "_R", "count", "rowid", "OID",
    "ctid", "filename", "Ab", "aB", "É", "é", " ", "a.b", "%s", "$1", ":x", "?", "\\", "\t", "日本",
    "e\u0301", "raw", "label", "probability_1", "NULL", "a" * 63, "a" * 64, "b" * 62 + "é", "a\0b",
    "", "row", "rows",
]  # fmt: skip

TEXTS = [
    "a", "A", "a ", "  ", "á", "a\u0301", "it's", "\\", "\\'", "a\\b", "x0", "c1", "NULL", "nan",
    "\t", "\n", "日本", "1", "1.0", "%s", "a" * 300, "'); DROP TABLE rows; --", "", "a\0b",
]  # fmt: skip

WRONG = ["", "abc", "1,5", "12abc", "-", "1e", "2024-01-01", "$5", "(5)", "0x"]
"""Texts that no database reads as a number."""

LABELS: list[Callable[[NDArray[Any]], NDArray[Any]]] = [
    lambda codes: codes.astype(np.int64),
    lambda codes: codes.astype(np.int8) - np.int8(1),
    lambda codes: codes.astype(np.uint8),
    lambda codes: codes.astype(np.uint64) + np.uint64(2**63 - 1),
    lambda codes: np.array([-(2**63), 0, 5, 2**63 - 2, 2**63 - 1])[codes],
    lambda codes: codes.astype(np.float64),
    lambda codes: codes.astype(np.float32) * np.float32(3.0),
    lambda codes: codes.astype(np.float64) * 1e15,
    lambda codes: codes > 0,
    lambda codes: np.array(["it's", "a\\b", "c1", "x0", '"'])[codes],
    lambda codes: np.array(["", " ", "A", "a", "é" * 40], dtype=object)[codes],
]


@dataclass(frozen=True, eq=False)
class NamedColumn(Column):
    """Column of a table, its name, and its form in databases: numbers, or texts."""

    name: str = ""
    as_text: bool = False

    @property
    def is_text(self) -> bool:
        return self.values.dtype == object


@dataclass(frozen=True, eq=False)
class Export(Case):
    """Case, and the settings of its query: names of the table and its key, and outputs.

    `spoilt` is "" for a sound table. With "column" it lacks a column, and with "cell" a cell of a
    column of numbers is not a number.
    """

    frame: str | None = "pandas"
    table: str = "rows"
    key: str = "row"
    outputs: tuple[str, ...] = ("label", "raw")
    spoilt: str = ""

    def _named(self) -> Iterator[tuple[str, Column]]:
        return ((column.name, column) for column in self.columns if isinstance(column, NamedColumn))


class Queries:
    """Estimators fitted to tables with odd names, in onnxruntime and the installed databases."""

    name = "queries"
    share = 0.5

    @contextlib.contextmanager
    def serve(self) -> Iterator[None]:
        """Run one PostgreSQL server for all workers."""
        with contextlib.ExitStack() as stack:
            try:
                os.environ[FOLDER] = str(stack.enter_context(serve()))
                stack.callback(os.environ.pop, FOLDER)
            except NoServerError as reason:
                print(f"PostgreSQL is not tried: {reason}")
            yield

    def draw(self, seed: int) -> Export:
        rng = np.random.default_rng([crc32(self.name.encode()), seed])
        estimator = _draw_estimator(rng)
        n, d = int(rng.integers(4, 150)), int(rng.integers(1, 6))
        names = [str(name) for name in rng.permutation(NAMES)[: d + 2]]
        is_linear = estimator in LINEAR
        columns = tuple(_draw_column(rng, n, name, is_linear) for name in names[:d])
        model = list_estimators()[estimator]()
        several = get_tags(model).classifier_tags.multi_class
        y = _draw_labels(rng, columns, n, int(rng.choice([2, 3, 5])) if several else 2)
        labels = [repr(label) for label in dict.fromkeys(sorted(y.tolist()))]
        params = draw_parameters(rng, estimator, Shape(n, d, labels))
        for name in ("categorical_features", "monotonic_cst", "init_score"):
            params.pop(name, None)  # types decide on the columns
        if "n_estimators" in model.get_params():
            params["n_estimators"] = repr(int(rng.integers(1, 8)))
        is_weighted = rng.random() < 0.2 and has_fit_parameter(model, "sample_weight")
        weight = draw_weights(rng, n) if is_weighted else None
        return Export(
            estimator,
            params,
            columns,
            y,
            weight,
            seed=seed,
            table=str(rng.choice(["rows", "s0", "S1", names[-1]])),
            key="row" if "row" not in names and rng.random() < 0.5 else names[-2],
            outputs=("label", "raw", "probabilities") if rng.random() < 0.3 else ("label", "raw"),
            spoilt=str(rng.choice(["", "column", "cell"], p=[0.7, 0.15, 0.15])),
        )

    def check(self, case: Export, only: str | None = None) -> Outcome:
        """Fit, and compare every system with the model, or the named one."""
        # Other kinds of input check the warnings of fits.
        with phase("fit"), warnings.catch_warnings(action="ignore"), redirect_stderr(io.StringIO()):
            try:
                made = case.make()
                made.model.fit(made.X, made.y, *([] if made.weight is None else [made.weight]))
            except ALLOWED as error:
                return Outcome("refused", str(error))
        if not made.model.get_params().get("refit", True):
            return Outcome("refused", "there is no model")
        n_answers = 0
        for system in ("onnxruntime", *DIALECTS):
            name = f"{system} predicts as the model does"
            if only in (None, name):
                with phase(name), no_foreign_warnings():
                    ask = ask_graph if system == "onnxruntime" else ask_database
                    n_answers += ask(made.model, case, system)
        return Outcome("fitted" if n_answers else "refused")

    def digest(self, case: Export) -> str | None:
        return None

    def smaller(self, case: Export) -> Iterator[Export]:
        """Yield cases with fewer odd names and outputs, and the cases that any kind has."""
        for change in ({"spoilt": ""}, {"table": "rows"}, {"key": "row"}, {"outputs": ("raw",)}):
            if any(getattr(case, name) != value for name, value in change.items()):
                yield replace(case, **change)
        for j, column in enumerate(case.columns):
            assert isinstance(column, NamedColumn)
            for simple in (replace(column, name=f"f{j}"), replace(column, as_text=False)):
                if (simple.name, simple.as_text) != (column.name, column.as_text):
                    yield case._with(j, simple)
        for simple in case.smaller():
            names = {name for name, _ in simple._named()}
            if simple.frame == "pandas" and len(names) == len(simple.columns):
                yield simple

    def show(self, case: Export, broken: str) -> str:
        """Return a test that fails as the case does."""
        system = broken.partition(" ")[0]
        lines = case.show()
        at = lines.index("")
        settings = {
            name: getattr(case, name) for name in ("table", "key", "outputs", "spoilt", "seed")
        }
        columns = ", ".join(
            f"NamedColumn(np.array({c.values.tolist()!r}, dtype={c.values.dtype.str!r}), "
            f"{c.wrap!r}, {c.name!r}, {c.as_text!r})"
            for c in case.columns
            if isinstance(c, NamedColumn)
        )
        options = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        ask = "ask_graph" if system == "onnxruntime" else "ask_database"
        end = [
            f"columns = ({columns},)",
            f'case = Export("", {{}}, columns, y, {options})',
            f"{ask}(model, case, {system!r})",
        ]
        imports = [
            *lines[:at], "from numpy import inf, nan",
            "from fuzz.queries import Export, NamedColumn, ask_database, ask_graph",
        ]  # fmt: skip
        body = [f"    {line}" for line in [*lines[at + 1 :], *end]]
        return "\n".join([*imports, "", "", "def test_regression():", *body])


# -- drawing --------------------------------------------------------------------------------------


def _draw_estimator(rng: Generator) -> str:
    while True:
        name = draw_estimator(rng)
        # The best model of a search is of another estimator.
        if "cv" not in list_estimators()[name]().get_params():
            return name


def _draw_column(rng: Generator, n: int, name: str, is_finite: bool) -> NamedColumn:
    if rng.random() < 0.35:
        levels = rng.permutation(TEXTS)[: rng.integers(1, len(TEXTS))].tolist()
        if rng.random() < 0.9 and "a\0b" in levels:
            levels.remove("a\0b")
        if rng.random() < 0.1:
            levels += [f"t{k}" for k in range(rng.integers(30, 90))]
        values = np.empty(n, dtype=object)
        values[:] = [levels[k] for k in rng.integers(0, len(levels), n)] if levels else ["b"] * n
        values[rng.random(n) < rng.choice([0.0, 0.2])] = None
        return NamedColumn(values, "pd.Categorical(c)", name)
    while True:
        (column,), _ = draw_table(rng, n, 1, "pandas")
        if column.values.dtype != object:
            break
    values = column.values
    if is_finite and values.dtype.kind == "f":
        values = np.clip(np.nan_to_num(values), -1e6, 1e6).astype(values.dtype)
    wraps = ["c", "c", "c", "pd.Categorical(c)"]
    return NamedColumn(values, wraps[rng.integers(4)], name, bool(rng.random() < 0.2))


def _draw_labels(
    rng: Generator, columns: tuple[NamedColumn, ...], n: int, n_classes: int
) -> NDArray[Any]:
    """Return labels that depend on the columns, of a drawn type."""
    score = rng.normal(size=n)
    for column in columns:
        ranks = np.unique(column.values.astype(str), return_inverse=True)[1]
        score += (
            rng.choice([0.0, 3.0]) * rng.permutation(ranks.max() + 1)[ranks] / (ranks.max() + 1)
        )
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return LABELS[rng.integers(len(LABELS))](np.searchsorted(cuts, score))


def draw_rows(case: Export) -> dict[str, NDArray[Any]]:
    """Return values of each column in rows to predict: its own, and others at its edges.

    Linear models refuse missing or infinite values.
    """
    rng = np.random.default_rng([7, case.seed])
    is_linear = case.estimator in LINEAR
    rows = {}
    for name, column in case._named():
        values = column.values[:40]
        if values.dtype == object:
            new = np.empty(6, dtype=object)
            new[:] = ["unseen", "B", "a", "A", " ", None]
        elif values.dtype.kind == "f":
            with np.errstate(all="ignore"):
                near = np.nextafter(values[:9], values.dtype.type(rng.choice([-np.inf, np.inf])))
            ends = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e300, 0.1])
            with np.errstate(over="ignore"):
                new = np.concatenate([near, ends.astype(values.dtype)])
        else:
            new = values[:0]
        every = np.concatenate([values, new])
        if is_linear and every.dtype.kind == "f":
            every = every[np.isfinite(every)] if np.isfinite(every).any() else np.ones(1)
        rows[name] = every[rng.integers(0, len(every), 60)]
    return rows


# -- comparison -----------------------------------------------------------------------------------


def _is_refusal(error: Exception, words: tuple[str, ...] = REFUSALS) -> bool:
    return any(word in str(error) for word in words)


def _make_frame(case: Export, rows: dict[str, NDArray[Any]]) -> Any:
    pandas = importlib.import_module("pandas")
    return pandas.DataFrame(rows)


def ask_graph(model: Any, case: Export, system: str = "onnxruntime") -> bool:
    """Compare the answers of a graph; return whether there is one."""
    if not all(importlib.util.find_spec(name) for name in ("onnx", system)):
        return False
    runtime = importlib.import_module(system)
    rows = draw_rows(case)
    expected = _ExpectedAnswers(model, _make_frame(case, rows), case.outputs)
    try:
        graph = pb.export.to_onnx(model, outputs=case.outputs, missing="\1")
    except ValueError as error:
        if not _is_refusal(error):
            raise
        return False
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = runtime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    columns = [_as_input(column) for column in rows.values()]
    if any(column.dtype == object for column in columns):
        inputs = {name: column[:, None] for name, column in zip(rows, columns, strict=True)}
    else:
        inputs = {"X": np.column_stack(columns)}
    outputs = session.run(None, inputs)
    n = len(columns[0])
    widths = [np.reshape(output, (n, -1)).tolist() for output in outputs]
    expected.compare([[cell for part in row for cell in part] for row in zip(*widths, strict=True)])
    return True


def _as_input(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype != object:
        return values.astype(np.float64)
    filled = values.copy()
    filled[[value is None for value in values]] = "\1"
    return filled


def ask_database(model: Any, case: Export, dialect: str) -> bool:
    """Compare the answers of a query; return whether there is one."""
    if find_reason(dialect):
        return False
    rows = draw_rows(case)
    expected = _ExpectedAnswers(model, _make_frame(case, rows), case.outputs)
    columns, key, table = [*rows], case.key, case.table
    try:
        if _cannot_be([*columns, key], dialect):
            raise ValueError(f"columns must be what {dialect} has")
        query = _make_query(model, dialect, None, key, table, case.outputs)
    except ValueError as error:
        if not _is_refusal(error):
            raise
        if not _is_refusal(error, OF_NAMES):
            return False
        columns, key, table = [f"col {j}" for j in range(len(rows))], "row", "rows"
        try:
            query = _make_query(model, dialect, columns, key, table, case.outputs)
        except ValueError as other:
            if not _is_refusal(other) or _is_refusal(other, OF_NAMES):
                raise
            return False
    if len(query) > LONGEST[dialect]:
        return False
    cells = {
        name: _as_cells(column, values, dialect)
        for name, column, values in zip(columns, case.columns, rows.values(), strict=True)
    }
    cells[key] = "integer", [*range(len(rows[next(iter(rows))]))]
    cells, fails = _spoil(case, cells, columns, query)
    asked = {name: cell for name, cell in cells.items() if name == key or _asks(query, name)}
    others = {
        name: cell
        for name, cell in cells.items()
        if name not in asked and not _cannot_be([*asked, name], dialect)
    }
    cells = asked | dict([*others.items()][:1])
    if dialect == "postgres" and any(
        "\0" in str(v) for _, column_cells in cells.values() for v in column_cells
    ):
        return False  # PostgreSQL has no such texts
    with open_database(dialect) as base:
        base.fill(table, cells)
        try:
            answers, _ = base.ask(query)
        except Exception as error:
            if not fails and TOO_LARGE not in str(error):
                raise
            return fails
    assert not (fails and case.spoilt == "column"), f"an answer without a column: {answers[:3]}"
    # A database may skip terms without an effect, and their errors with them.
    expected.compare([row[1:] for row in sorted(answers)])
    return True


def _cannot_be(names: list[str], dialect: str) -> bool:
    """Return whether a table cannot have columns of these names."""
    words = DIALECTS_OF[dialect]
    try:
        folded = {words.fold(name) for name in names if words.quote_name(name)}
    except ValueError:
        return True
    hidden = set(words.hidden) if dialect == "postgres" else set()
    return len(folded) < len(names) or bool(folded & hidden)


def _make_query(
    model: Any, dialect: Any, columns: Any, key: str, table: str, outputs: tuple[str, ...]
) -> str:
    return pb.export.to_sql(
        model, dialect=dialect, columns=columns, keep=[key], table=table, outputs=outputs
    )


def _as_cells(column: Any, values: NDArray[Any], dialect: str) -> tuple[str, list[Any]]:
    """Return the type of a column in a database, and its values."""
    if values.dtype == object:
        return "text", values.tolist()
    if values.dtype.kind == "b":
        if dialect == "duckdb":
            return "BOOLEAN", values.tolist()
        return "integer", values.astype(int).tolist()
    if values.dtype.kind in "iu" and values.max() <= np.iinfo(np.int64).max:
        kind, cells = "integer", values.tolist()
    else:
        kind, cells = "number", values.astype(np.float64).tolist()
        if dialect == "sqlite" or column.as_text:
            cells = [None if cell != cell else cell for cell in cells]
    texts = [cell if cell is None else repr(cell) for cell in cells]
    # SQLite may read longer texts a digit off, and infinity not at all.
    fits = all(cell is None or (len(cell) <= 15 and "inf" not in cell) for cell in texts)
    return ("text", texts) if column.as_text and fits else (kind, cells)


def _spoil(
    case: Export, cells: dict[str, Any], columns: list[str], query: str
) -> tuple[dict[str, Any], bool]:
    """Return a table without a column or with a wrong cell, and whether the query must fail."""
    rng = np.random.default_rng([11, case.seed])
    if not case.spoilt:
        return cells, False
    spoilable = [
        name
        for name, column in zip(columns, case.columns, strict=True)
        if case.spoilt == "column" or column.values.dtype.kind in "iuf"
    ]
    if not spoilable:
        return cells, False
    name = str(rng.choice(spoilable))
    if case.spoilt == "column":
        other = next(f"other {k}" for k in range(99) if f"other {k}" not in cells)
        return {other if label == name else label: cell for label, cell in cells.items()}, _asks(
            query, name
        )
    kind, values = cells[name]
    texts = [
        value if value is None else repr(value) if kind != "text" else value for value in values
    ]
    texts[int(rng.integers(len(texts)))] = str(rng.choice(WRONG))
    return cells | {name: ("text", texts)}, _asks(query, name)


def _asks(query: str, name: str) -> bool:
    """Return whether a query reads a column as a feature."""
    types = "DOUBLE|REAL|double precision|VARCHAR|TEXT|text"
    return re.search(rf"{re.escape(quote(name))} AS ({types})\)", query) is not None


class _ExpectedAnswers:
    """Predictions of the model, and their comparison with answers."""

    def __init__(self, model: Any, frame: Any, outputs: tuple[str, ...]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raw = model.decision_function(frame)
            self._predictions = {"raw": raw.reshape(len(raw), -1), "label": model.predict(frame)}
            if "probabilities" in outputs:
                self._predictions["probabilities"] = model.predict_proba(frame)
        self._outputs = outputs

    def compare(self, rows: list[Any]) -> None:
        """Compare the answers, output by output."""
        begin = 0
        for name in self._outputs:
            right = self._predictions[name]
            end = begin + (1 if right.ndim == 1 else right.shape[1])
            came = [list(row[begin:end]) for row in rows]
            if name == "label":
                assert [answer for (answer,) in came] == right.tolist(), (
                    f"labels: {came} {right.tolist()}"
                )
            elif name == "raw":
                np.testing.assert_array_equal(np.array(came, dtype=float), right)
            else:
                assert np.abs(np.array(came, dtype=float) - right).max() <= NEAR
            begin = end
