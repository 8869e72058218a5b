"""The kind of input that leaves Python: graphs and queries give the model's bits, or fail."""

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
"""Characters of queries that are run: what is longer takes long to plan."""

NEAR = 1e-14
"""Between probabilities: what docs/export.md promises."""

REFUSALS = (
    "cannot be exported", "no formula", "has the double of", "is no double", "strings and numbers",
    "names of tables and columns", "columns must", "keep must", "beyond the integers",
    "a string of", "no Unicode text", "is a category of column", "inputs are named by columns",
)  # fmt: skip

TOO_LARGE = "value out of range: overflow"
"""What PostgreSQL says of a quotient beyond doubles, as of temperatures next to 0."""

OF_NAMES = ("names of tables and columns", "columns must", "keep must")

LINEAR = ("RadoBoostClassifier", "ULSClassifier")
"""Estimators of which no number may be missing."""

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
class Titled(Column):
    """A column of a table, its name, and what holds it in databases: their numbers, or texts."""

    name: str = ""
    as_text: bool = False

    @property
    def is_text(self) -> bool:
        return self.values.dtype == object


@dataclass(frozen=True, eq=False)
class Export(Case):
    """A case, and how a query is asked for: a table's name and its key's, and what is returned.

    `spoilt` is "" where the table is as it should be; with "column" it lacks a column, and with
    "cell" a cell of a column of numbers is a text that is none.
    """

    frame: str | None = "pandas"
    table: str = "rows"
    key: str = "row"
    outputs: tuple[str, ...] = ("label", "raw")
    spoilt: str = ""

    def _named(self) -> Iterator[tuple[str, Column]]:
        return ((column.name, column) for column in self.columns if isinstance(column, Titled))


class Queries:
    """Estimators fitted to tables of odd names, in onnxruntime and the databases that are there."""

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
            params.pop(name, None)  # columns are what their types say
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
        """Fit, and compare what every system gives, or the one that is named."""
        # What fits warn of is the matter of other kinds.
        with phase("fit"), warnings.catch_warnings(action="ignore"), redirect_stderr(io.StringIO()):
            try:
                made = case.make()
                made.model.fit(made.X, made.y, *([] if made.weight is None else [made.weight]))
            except ALLOWED as error:
                return Outcome("refused", str(error))
        if not made.model.get_params().get("refit", True):
            return Outcome("refused", "there is no model")
        said = 0
        for system in ("onnxruntime", *DIALECTS):
            name = f"{system} gives what the model gives"
            if only in (None, name):
                with phase(name), no_foreign_warnings():
                    ask = ask_graph if system == "onnxruntime" else ask_database
                    said += ask(made.model, case, system)
        return Outcome("fitted" if said else "refused")

    def digest(self, case: Export) -> str | None:
        return None

    def smaller(self, case: Export) -> Iterator[Export]:
        """Yield cases of fewer odd names and outputs, and those that any case has."""
        for change in ({"spoilt": ""}, {"table": "rows"}, {"key": "row"}, {"outputs": ("raw",)}):
            if any(getattr(case, name) != value for name, value in change.items()):
                yield replace(case, **change)
        for j, column in enumerate(case.columns):
            assert isinstance(column, Titled)
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
        given = {
            name: getattr(case, name) for name in ("table", "key", "outputs", "spoilt", "seed")
        }
        columns = ", ".join(
            f"Titled(np.array({c.values.tolist()!r}, dtype={c.values.dtype.str!r}), {c.wrap!r}, "
            f"{c.name!r}, {c.as_text!r})"
            for c in case.columns
            if isinstance(c, Titled)
        )
        options = ", ".join(f"{name}={value!r}" for name, value in given.items())
        ask = "ask_graph" if system == "onnxruntime" else "ask_database"
        end = [
            f"columns = ({columns},)",
            f'case = Export("", {{}}, columns, y, {options})',
            f"{ask}(model, case, {system!r})",
        ]
        imports = [*lines[:at], "from numpy import inf, nan",
                   "from fuzz.queries import Export, Titled, ask_database, ask_graph"]  # fmt: skip
        body = [f"    {line}" for line in [*lines[at + 1 :], *end]]
        return "\n".join([*imports, "", "", "def test_found():", *body])


# -- drawing --------------------------------------------------------------------------------------


def _draw_estimator(rng: Generator) -> str:
    while True:
        name = draw_estimator(rng)
        if "cv" not in list_estimators()[name]().get_params():  # whose best model is one of these
            return name


def _draw_column(rng: Generator, n: int, name: str, is_finite: bool) -> Titled:
    if rng.random() < 0.35:
        levels = rng.permutation(TEXTS)[: rng.integers(1, len(TEXTS))].tolist()
        if rng.random() < 0.9 and "a\0b" in levels:
            levels.remove("a\0b")
        if rng.random() < 0.1:
            levels += [f"t{k}" for k in range(rng.integers(30, 90))]
        values = np.empty(n, dtype=object)
        values[:] = [levels[k] for k in rng.integers(0, len(levels), n)] if levels else ["b"] * n
        values[rng.random(n) < rng.choice([0.0, 0.2])] = None
        return Titled(values, "pd.Categorical(c)", name)
    while True:
        (column,), _ = draw_table(rng, n, 1, "pandas")
        if column.values.dtype != object:
            break
    values = column.values
    if is_finite and values.dtype.kind == "f":
        values = np.clip(np.nan_to_num(values), -1e6, 1e6).astype(values.dtype)
    wraps = ["c", "c", "c", "pd.Categorical(c)"]
    return Titled(values, wraps[rng.integers(4)], name, bool(rng.random() < 0.2))


def _draw_labels(
    rng: Generator, columns: tuple[Titled, ...], n: int, n_classes: int
) -> NDArray[Any]:
    """Return labels that depend on the columns, of a type that is drawn."""
    score = rng.normal(size=n)
    for column in columns:
        ranks = np.unique(column.values.astype(str), return_inverse=True)[1]
        score += (
            rng.choice([0.0, 3.0]) * rng.permutation(ranks.max() + 1)[ranks] / (ranks.max() + 1)
        )
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return LABELS[rng.integers(len(LABELS))](np.searchsorted(cuts, score))


def draw_rows(case: Export) -> dict[str, NDArray[Any]]:
    """Return the values of each column in rows to predict: its own, and others at its edges.

    Linear models refuse what is missing or infinite.
    """
    rng = np.random.default_rng([7, case.seed])
    is_linear = case.estimator in LINEAR
    found = {}
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
        found[name] = every[rng.integers(0, len(every), 60)]
    return found


# -- asking ---------------------------------------------------------------------------------------


def _is_refusal(error: Exception, words: tuple[str, ...] = REFUSALS) -> bool:
    return any(word in str(error) for word in words)


def _make_frame(case: Export, rows: dict[str, NDArray[Any]]) -> Any:
    pandas = importlib.import_module("pandas")
    return pandas.DataFrame(rows)


def ask_graph(model: Any, case: Export, system: str = "onnxruntime") -> bool:
    """Compare what a graph gives; return whether there is one."""
    if not all(importlib.util.find_spec(name) for name in ("onnx", system)):
        return False
    runtime = importlib.import_module(system)
    rows = draw_rows(case)
    expected = _Expected(model, _make_frame(case, rows), case.outputs)
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
    columns = [_as_input(own) for own in rows.values()]
    if any(own.dtype == object for own in columns):
        given = {name: own[:, None] for name, own in zip(rows, columns, strict=True)}
    else:
        given = {"X": np.column_stack(columns)}
    found = session.run(None, given)
    n = len(columns[0])
    widths = [np.reshape(own, (n, -1)).tolist() for own in found]
    expected.compare([[cell for part in row for cell in part] for row in zip(*widths, strict=True)])
    return True


def _as_input(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype != object:
        return values.astype(np.float64)
    filled = values.copy()
    filled[[own is None for own in values]] = "\1"
    return filled


def ask_database(model: Any, case: Export, dialect: str) -> bool:
    """Compare what a query gives; return whether there is one."""
    if find_reason(dialect):
        return False
    rows = draw_rows(case)
    expected = _Expected(model, _make_frame(case, rows), case.outputs)
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
        name: _as_cells(own, values, dialect)
        for name, own, values in zip(columns, case.columns, rows.values(), strict=True)
    }
    cells[key] = "integer", [*range(len(rows[next(iter(rows))]))]
    cells, fails = _spoil(case, cells, columns, query)
    asked = {name: own for name, own in cells.items() if name == key or _asks(query, name)}
    others = {
        name: own
        for name, own in cells.items()
        if name not in asked and not _cannot_be([*asked, name], dialect)
    }
    cells = asked | dict([*others.items()][:1])
    if dialect == "postgres" and any("\0" in str(v) for _, own in cells.values() for v in own):
        return False  # which has no such texts
    with open_database(dialect) as base:
        base.fill(table, cells)
        try:
            found, _ = base.ask(query)
        except Exception as error:
            if not fails and TOO_LARGE not in str(error):
                raise
            return fails
    assert not (fails and case.spoilt == "column"), f"an answer without a column: {found[:3]}"
    # A database may leave out what makes no difference, with the error that it would be.
    expected.compare([row[1:] for row in sorted(found)])
    return True


def _cannot_be(names: list[str], dialect: str) -> bool:
    """Whether a table cannot have columns of these names."""
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
            cells = [None if own != own else own for own in cells]
    texts = [own if own is None else repr(own) for own in cells]
    # Longer ones SQLite may read a digit off, and infinity it does not read.
    fits = all(own is None or (len(own) <= 15 and "inf" not in own) for own in texts)
    return ("text", texts) if column.as_text and fits else (kind, cells)


def _spoil(
    case: Export, cells: dict[str, Any], columns: list[str], query: str
) -> tuple[dict[str, Any], bool]:
    """Return a table that lacks a column or has a wrong cell, and whether that must fail."""
    rng = np.random.default_rng([11, case.seed])
    if not case.spoilt:
        return cells, False
    some = [
        name
        for name, own in zip(columns, case.columns, strict=True)
        if case.spoilt == "column" or own.values.dtype.kind in "iuf"
    ]
    if not some:
        return cells, False
    name = str(rng.choice(some))
    if case.spoilt == "column":
        other = next(f"other {k}" for k in range(99) if f"other {k}" not in cells)
        return {other if own == name else own: kept for own, kept in cells.items()}, _asks(
            query, name
        )
    kind, values = cells[name]
    texts = [own if own is None else repr(own) if kind != "text" else own for own in values]
    texts[int(rng.integers(len(texts)))] = str(rng.choice(WRONG))
    return cells | {name: ("text", texts)}, _asks(query, name)


def _asks(query: str, name: str) -> bool:
    """Whether a query reads a column as a feature."""
    types = "DOUBLE|REAL|double precision|VARCHAR|TEXT|text"
    return re.search(rf"{re.escape(quote(name))} AS ({types})\)", query) is not None


class _Expected:
    """What the model gives."""

    def __init__(self, model: Any, frame: Any, outputs: tuple[str, ...]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            raw = model.decision_function(frame)
            self._given = {"raw": raw.reshape(len(raw), -1), "label": model.predict(frame)}
            if "probabilities" in outputs:
                self._given["probabilities"] = model.predict_proba(frame)
        self._outputs = outputs

    def compare(self, rows: list[Any]) -> None:
        """Compare rows of outputs, one after the other."""
        begin = 0
        for name in self._outputs:
            right = self._given[name]
            end = begin + (1 if right.ndim == 1 else right.shape[1])
            came = [list(row[begin:end]) for row in rows]
            if name == "label":
                assert [own for (own,) in came] == right.tolist(), (
                    f"labels: {came} {right.tolist()}"
                )
            elif name == "raw":
                np.testing.assert_array_equal(np.array(came, dtype=float), right)
            else:
                assert np.abs(np.array(came, dtype=float) - right).max() <= NEAR
            begin = end
