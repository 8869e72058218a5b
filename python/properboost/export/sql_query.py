"""Models as one SQL query, in double.

The query is a chain of stages, each of which adds columns to the one before: columns as numbers,
what is too deep for one expression, sums, probabilities.  A stage is materialised, so that what it
computed is not computed, nor nested, again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.export.decisions import Cut, Decision, Feature, Leaf, choose, simplify
from properboost.export.description import (
    Description,
    Linear,
    check_outputs,
    describe,
)
from properboost.export.links import CELLS_PER_OCTAVE, OCTAVES, Value, probabilities
from properboost.parameters import checks

__all__ = ["DIALECTS", "OUTPUTS", "Dialect", "to_sql"]

OUTPUTS = ("label", "probabilities", "raw")
"""What a query may return besides columns of its table."""

Dialect: TypeAlias = Literal["duckdb", "sqlite", "postgres"]

_DEEPEST = 11
"""CASEs within each other: SQLite's parser, before 3.46, keeps at most 100 symbols."""

_BITS = 62
"""Places that an integer has a bit for: to ask for a bit is faster than to look in a list."""

_MOST_TERMS = 200
"""Terms of all sums in one stage: databases allow a depth of 1,000, and 2,000 columns."""

_MOST_ARGUMENTS = 50
"""Arguments of a function: SQLite allowed 100."""

_PARSED = (1e-27, 1e27)
"""Sizes of numbers that SQLite reads exactly: their powers of ten are exact."""

_SHORT = 15
"""Characters of a number that any reader rounds to the nearest double."""


@dataclass(frozen=True)
class _Dialect:
    double: str
    text: str
    collation: str  # that compares bytes
    nan: str  # the literal; empty where NaN is NULL
    infinity: str  # the literal
    suffix: str  # of numbers, to be doubles
    greatest: str
    booleans: tuple[str, str]
    terms_apart: bool = False  # whether the terms of a sum are columns of a stage of their own
    exact: bool = True  # whether 17 digits are read as the nearest double, whatever the exponent


DIALECTS = {
    "duckdb": _Dialect(
        double="DOUBLE",
        text="VARCHAR",
        collation="",
        nan="CAST('nan' AS DOUBLE)",
        infinity="CAST('inf' AS DOUBLE)",
        suffix="",
        greatest="greatest",
        booleans=("FALSE", "TRUE"),
        terms_apart=True,  # planning takes the square of the terms of an expression otherwise
    ),
    "sqlite": _Dialect(
        double="REAL",
        text="TEXT",
        collation=" COLLATE BINARY",
        nan="",
        infinity="9e999",
        suffix="",
        greatest="max",
        booleans=("0", "1"),
        exact=False,
    ),
    "postgres": _Dialect(
        double="double precision",
        text="text",
        collation=' COLLATE "C"',
        nan="float8 'nan'",
        infinity="float8 'infinity'",
        suffix="::float8",
        greatest="greatest",
        booleans=("FALSE", "TRUE"),
    ),
}
"""What databases say differently."""


def to_sql(
    model: Any,
    *,
    dialect: Dialect = "duckdb",
    table: str | Sequence[str] = "rows",
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    outputs: Sequence[str] = ("raw", "probabilities"),
) -> str:
    """Return a fitted model as a SELECT that predicts the rows of a table.

    Parameters
    ----------
    model : classifier
        A fitted model of this package; of a search, its `best_estimator_` counts.
    dialect : {"duckdb", "sqlite", "postgres"}, default="duckdb"
        The database.
    table : str or sequence of str, default="rows"
        The table's name, or the names of its schema and its own.
    columns : sequence of str, optional
        The columns that hold the features, in their order; None takes the features' names, which
        are ``x0``, ``x1``, ... where the model was fitted without.
    keep : sequence of str, default=()
        Columns of the table that are returned first, as a key: SQL promises no order of rows.
    outputs : sequence of {"label", "probabilities", "raw"}, default=("raw", "probabilities")
        What is returned after them.  Columns are called ``label``, ``probability_<class>`` and
        ``raw``, or ``raw_<class>`` with more than two classes; with ``_`` behind where another one
        is called so.

    Returns
    -------
    str
        One SELECT, without a semicolon.

    Raises
    ------
    TypeError, ValueError
        If the model cannot be exported, or an argument is not as described; the message names what.

    Notes
    -----
    NULL and NaN are missing.  Numbers are cast to double; categories that are strings are compared
    as text, byte by byte.  Raw predictions have the bits of `decision_function`, but for a zero's
    sign.  Probabilities are within 1e-14 of `predict_proba` where the database's ``exp`` and
    ``sqrt`` round as well as C's; where one class against the rest has less than 1e-300 for all
    classes together, they are equal.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier, export
    >>> model = ProperBoostClassifier(n_estimators=1).fit([[1.0], [2.0]] * 9, [0, 1] * 9)
    >>> query = export.to_sql(model, table="visits", columns=["age"], outputs=["raw"])
    >>> print(query.splitlines()[1])
      SELECT NULLIF(CAST("age" AS DOUBLE), CAST('nan' AS DOUBLE)) AS x0 FROM "visits"
    """
    described = describe(model)
    own = DIALECTS[checks.choice("dialect", dialect, known=list(DIALECTS))]
    chosen = check_outputs(outputs, OUTPUTS)
    names = [feature.name for feature in described.features] if columns is None else list(columns)
    if len(names) != len(described.features):
        raise ValueError(
            f"columns must name {len(described.features)} columns, one per feature; got "
            f"{len(names)}"
        )
    path = [table] if isinstance(table, str) else list(table)
    source = ".".join(map(_quote_name, path))
    kept = [keep] if isinstance(keep, str) else list(keep)
    query = _Query(own, described, names, source, kept)
    raw = query.add_up()
    shares: list[str] = []
    if described.shares is not None:
        shares = query.choose_shares(described.shares)
    results: list[tuple[str, str]] = []
    for what in chosen:
        results += _list_results(query, described, what, raw, shares)
    return query.finish(results)


def _list_results(
    query: _Query, described: Description, what: str, raw: Sequence[str], shares: Sequence[str]
) -> list[tuple[str, str]]:
    """Return names and expressions of what was asked for."""
    labels = [str(own) for own in described.classes.tolist()]
    if what == "raw":
        names = ["raw"] if len(raw) == 1 else [f"raw_{own}" for own in labels]
        return list(zip(names, raw, strict=True))
    if what == "probabilities":
        found = list(shares)
        if not found:
            assert described.link is not None
            found = probabilities(described.link, _Columns(query, list(raw))).expressions
        return [(f"probability_{own}", p) for own, p in zip(labels, found, strict=True)]
    literals = [query.label(own) for own in described.classes.tolist()]
    if len(raw) == 1:
        test = f"{shares[1]} > {query.number(0.5)}" if shares else f"{raw[0]} > {query.number(0.0)}"
        return [("label", f"CASE WHEN {test} THEN {literals[1]} ELSE {literals[0]} END")]
    top = query.keep([query.greatest(raw)])[0]
    tests = [f"WHEN {own} >= {top} THEN {label}" for own, label in zip(raw, literals, strict=True)]
    return [("label", f"CASE {' '.join(tests)} END")]


def _quote_name(name: str) -> str:
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(f"names of tables and columns must be strings without NUL; got {name!r}")
    return '"' + name.replace('"', '""') + '"'


def _quote_text(text: str, column: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(
            f"a string of {column} holds what SQL texts cannot hold: a NUL character, or half of a "
            "surrogate pair"
        )
    return "'" + text.replace("'", "''") + "'"


class _Query:
    """Stages that follow each other; expressions may name the columns of those before."""

    def __init__(
        self,
        dialect: _Dialect,
        described: Description,
        names: Sequence[str],
        source: str,
        kept: Sequence[str],
    ) -> None:
        self._dialect = dialect
        self._described = described
        self._count = 0
        self._kept = list(kept)
        used = sorted({j for term in described.terms for j in _list_features(term)})
        columns = [(f"k{i}", _quote_name(name)) for i, name in enumerate(kept)]
        columns += [
            (f"x{j}", self._read(described.features[j], _quote_name(names[j]))) for j in used
        ]
        columns = columns or [("nothing", "NULL")]
        self._lasting = [name for name, _ in columns]
        shown = ", ".join(f"{what} AS {name}" for name, what in columns)
        self._stages = [f"SELECT {shown} FROM {source}"]

    # -- words -------------------------------------------------------------------------------------

    def number(self, value: float) -> str:
        """Return a double, in parentheses where it has a sign."""
        value = float(value)
        if np.isinf(value):  # an edge may be so
            return f"({'-' if value < 0.0 else ''}{self._dialect.infinity})"
        if not self._dialect.exact and value != 0.0 and not _PARSED[0] < abs(value) < _PARSED[1]:
            return self._multiply(value)
        digits = repr(value)
        if len(digits) > _SHORT:
            digits = f"{value:.17g}"
        if "e" not in digits:
            digits = f"{digits.removesuffix('.0')}e0"
        text = digits + self._dialect.suffix
        return f"({text})" if text.startswith("-") else text

    def _multiply(self, value: float) -> str:
        """Return a double as a product of integers and powers of two, which are read exactly."""
        mantissa, exponent = np.frexp(value)
        words = [f"{int(mantissa * 2.0**53)}.0"]
        left = int(exponent) - 53
        while left:
            step = max(-62, min(62, left))
            words.append(f"{'*' if step > 0 else '/'} {2 ** abs(step)}.0")
            left -= step
        return f"({' '.join(words)})"

    def label(self, value: Any) -> str:
        """Return a class's label."""
        if isinstance(value, bool):
            return self._dialect.booleans[value]
        return str(value) if isinstance(value, int) else _quote_text(str(value), "the labels")

    def greatest(self, some: Sequence[str]) -> str:
        """Return the largest of some expressions."""
        left = list(some)
        while len(left) > 1:
            few, left = left[:_MOST_ARGUMENTS], left[_MOST_ARGUMENTS:]
            left.insert(0, f"{self._dialect.greatest}({', '.join(few)})")
        return left[0]

    def _read(self, feature: Feature, column: str) -> str:
        """Return a number, or a category's place, or NULL."""
        if feature.is_text:
            text = f"CAST({column} AS {self._dialect.text}){self._dialect.collation}"
            label = f"column {feature.name!r}"
            known = [_quote_text(str(own), label) for own in feature.categories or ()]
            return self._find_place(text, known)
        number = f"CAST({column} AS {self._dialect.double})"
        if self._dialect.nan:
            number = f"NULLIF({number}, {self._dialect.nan})"
        if feature.categories is None:
            return number
        return self._find_place(number, [self._infinite(float(own)) for own in feature.categories])

    def _infinite(self, value: float) -> str:
        """Return a double that may be infinite."""
        if np.isfinite(value):
            return self.number(value)
        sign = "-" if value < 0 else ""
        if not self._dialect.nan:
            return f"({sign}9e999)"
        return f"CAST('{sign}infinity' AS {self._dialect.double})"

    def _find_place(self, value: str, known: Sequence[str]) -> str:
        tests = " ".join(f"WHEN {own} THEN {place}" for place, own in enumerate(known))
        place = f"CASE {value} {tests} ELSE {len(known)} END" if known else "0"
        return f"CASE WHEN {value} IS NULL THEN NULL ELSE {place} END"

    # -- stages ------------------------------------------------------------------------------------

    def keep(self, expressions: Sequence[str]) -> list[str]:
        """Add a stage that has these; return the names of its columns."""
        names = [self._name() for _ in expressions]
        self._add_stage(zip(names, expressions, strict=True))
        return names

    def _name(self) -> str:
        self._count += 1
        return f"c{self._count}"

    def _add_stage(
        self, columns: Iterable[tuple[str, str]], before: Sequence[str] = ("*",)
    ) -> None:
        shown = ", ".join([*before, *(f"{what} AS {name}" for name, what in columns)])
        self._stages.append(f"SELECT {shown} FROM s{len(self._stages) - 1}")

    def finish(self, results: Sequence[tuple[str, str]]) -> str:
        """Return the query that ends with these."""
        taken = {name.casefold() for name in self._kept}
        shown = [f"k{i} AS {_quote_name(name)}" for i, name in enumerate(self._kept)]
        for name, expression in results:
            name = name.replace("\0", "")
            while name.casefold() in taken:
                name += "_"
            taken.add(name.casefold())
            shown.append(f"{expression} AS {_quote_name(name)}")
        stages = [f"s{k} AS MATERIALIZED (\n  {own}\n)" for k, own in enumerate(self._stages)]
        last = len(stages) - 1
        return f"WITH {', '.join(stages)}\nSELECT {', '.join(shown)} FROM s{last}"

    # -- decisions ---------------------------------------------------------------------------------

    def say(self, decisions: Sequence[tuple[Decision, Callable[[int], str]]]) -> list[str]:
        """Return decisions as expressions; `say` of a leaf gives what it is by its number.

        What is nested too deeply becomes columns of stages that are added.
        """
        waiting: list[list[tuple[str, str]]] = []

        def visit(own: Decision, end: Callable[[int], str], depth: int) -> tuple[str, int]:
            if isinstance(own, Leaf):
                return end(own.number), 0
            if depth == _DEEPEST:
                text, level = visit(own, end, 0)
                if level == len(waiting):
                    waiting.append([])
                name = self._name()
                waiting[level].append((name, text))
                return name, level + 1
            (yes, one), (no, other) = visit(own.yes, end, depth + 1), visit(own.no, end, depth + 1)
            return f"CASE WHEN {self._test(own)} THEN {yes} ELSE {no} END", max(one, other)

        said = [visit(decision, end, 0)[0] for decision, end in decisions]
        for stage in waiting:
            self._add_stage(stage)
        return said

    def _test(self, own: Any) -> str:
        feature, x = self._described.features[own.feature], f"x{own.feature}"
        n = len(feature.codes)
        if isinstance(own, Cut):
            if own.below == n:
                return f"{x} IS NOT NULL"
            test = f"{x} <= {self._bound(feature, own.below)}"
        elif feature.categories is not None:
            members = np.flatnonzero(own.members).tolist()
            if n <= _BITS:
                test = f"(({sum(1 << k for k in members)} >> {x}) & 1) = 1"
            else:
                test = f"{x} IN ({', '.join(map(str, members))})"
        else:
            runs = []
            for begin, end in feature.places(own.members):
                ends = [f"{x} > {self._bound(feature, begin)}"] if begin else []
                ends += [f"{x} <= {self._bound(feature, end)}"] if end < n else []
                runs.append(f"({' AND '.join(ends)})")
            test = " OR ".join(runs)
        return f"{test} OR {x} IS NULL" if own.missing else test

    def _bound(self, feature: Feature, below: int) -> str:
        bound = feature.bound(below)
        return self.number(bound) if feature.categories is None else str(int(bound))

    # -- sums --------------------------------------------------------------------------------------

    def add_up(self) -> list[str]:
        """Return the raw prediction of each model."""
        described = self._described
        self._find_positions()
        sums = [self.number(0.0)] * described.n_models
        terms = [described.terms_of(m) for m in range(described.n_models)]
        longest = max(map(len, terms))
        size = max(1, _MOST_TERMS // described.n_models)
        for begin in range(0, longest, size):
            some: list[tuple[Decision, Callable[[int], str]]] = []
            parts: list[list[str | None]] = [[] for _ in sums]
            for m, own in enumerate(terms):
                for term in own[begin : begin + size]:
                    if isinstance(term, Linear):
                        parts[m].append(f"x{term.feature} * {self.number(term.coefficient)}")
                        continue
                    values = term.values[:, term.models.index(m)]
                    some.append((simplify(term.decision, values), self._say_values(values)))
                    parts[m].append(None)
                    if term.lines is not None and len(term.lines[0].feature):
                        lines = term.lines[term.models.index(m)]
                        some.append((term.decision, self._say_lines(lines)))
                        parts[m].append(None)
            words = self.say(some)
            if words and self._dialect.terms_apart:
                words = self.keep(words)
            said = iter(words)
            added = [
                " + ".join([total, *(next(said) if part is None else part for part in own)])
                for total, own in zip(sums, parts, strict=True)
            ]
            sums = [self._name() for _ in added]
            self._add_stage(zip(sums, added, strict=True), self._lasting)
        if described.intercepts is not None:
            sums = [
                f"{total} + {self.number(own)}"
                for total, own in zip(sums, described.intercepts.tolist(), strict=True)
            ]
        return self.keep(sums)

    def choose_shares(self, shares: NDArray[np.float64]) -> list[str]:
        """Return what the only term's decision says of both classes."""
        (term,) = self._described.terms
        assert not isinstance(term, Linear)
        some = [
            (simplify(term.decision, own), self._say_values(own))
            for own in np.ascontiguousarray(shares.T)
        ]
        return self.keep(self.say(some))

    def _say_values(self, values: NDArray[np.float64]) -> Callable[[int], str]:
        return lambda number: self.number(values[number])

    def _find_positions(self) -> None:
        """Add what lines ask for: where the means of bins are."""
        terms = [term for term in self._described.terms if not isinstance(term, Linear)]
        asked = sorted({int(j) for t in terms for own in t.lines or () for j in own.feature})
        if not asked:
            return

        def say(values: NDArray[np.float64]) -> Callable[[int], str]:
            return lambda code: "NULL" if np.isnan(values[code]) else self.number(values[code])

        some = []
        for j in asked:
            feature, values = self._described.features[j], self._described.positions[j]
            some.append((choose(j, feature.codes, feature.missing), say(values)))
        names = [f"z{j}" for j in asked]
        self._add_stage(zip(names, self.say(some), strict=True))
        self._lasting += names

    def _say_lines(self, lines: Any) -> Callable[[int], str]:
        def say(node: int) -> str:
            words = [self.number(0.0)]
            for t in range(int(lines.offsets[node]), int(lines.offsets[node + 1])):
                z = f"(z{lines.feature[t]} - {self.number(lines.center[t])})"
                words.append(f"coalesce({self.number(lines.slope[t])} * {z}, {self.number(0.0)})")
            return " + ".join(words)

        return say


def _list_features(term: Any) -> Iterable[int]:
    """Yield the features that a term asks for."""
    if isinstance(term, Linear):
        yield term.feature
        return
    for own in term.lines or ():
        yield from own.feature.tolist()
    waiting, seen = [term.decision], set()
    while waiting:
        own = waiting.pop()
        if isinstance(own, Leaf) or id(own) in seen:
            continue
        seen.add(id(own))
        yield own.feature
        waiting += [own.yes, own.no]


class _Columns(Value):
    """Expressions, one per class."""

    def __init__(self, query: _Query, expressions: list[str]) -> None:
        self._query, self.expressions = query, expressions

    @property
    def n(self) -> int:
        """How many they are."""
        return len(self.expressions)

    def _make(self, say: Callable[..., str], *others: _Columns | float) -> _Columns:
        """Return what `say` makes of each expression and those of the others beside it."""
        every = [self, *others]
        n = max(own.n for own in every if isinstance(own, _Columns))
        rows = [
            own.expressions * (n // own.n)
            if isinstance(own, _Columns)
            else [self._query.number(own)] * n
            for own in every
        ]
        return _Columns(self._query, [say(*some) for some in zip(*rows, strict=True)])

    def _combine(self, operator: str, other: _Columns | float) -> _Columns:
        if operator == "max":
            return self._make(lambda a, b: self._query.greatest([a, b]), other)
        return self._make(lambda a, b: f"({a} {operator} {b})", other)

    def _apply(self, function: str) -> _Columns:
        return self._make(lambda a: f"{function}({a})")

    def where_positive(self, yes: _Columns | float, no: _Columns | float) -> _Columns:
        zero = self._query.number(0.0)
        return self._make(lambda a, b, c: f"CASE WHEN {a} > {zero} THEN {b} ELSE {c} END", yes, no)

    def total(self) -> _Columns:
        kept = self.keep()
        return _Columns(self._query, [f"({' + '.join(kept.expressions)})"])

    def largest(self) -> _Columns:
        return _Columns(self._query, [self._query.greatest(self.expressions)])

    def is_top(self) -> _Columns:
        kept, top = self.keep().expressions, self.largest().keep().expressions[0]
        one, zero = self._query.number(1.0), self._query.number(0.0)
        found: list[str] = []
        for k, own in enumerate(kept):
            before = "".join(f" AND {other} < {top}" for other in kept[:k])
            found.append(f"CASE WHEN {own} >= {top}{before} THEN {one} ELSE {zero} END")
        return _Columns(self._query, found)

    def beside(self, other: _Columns) -> _Columns:
        return _Columns(self._query, self.expressions + other.expressions)

    def keep(self) -> _Columns:
        return _Columns(self._query, self._query.keep(self.expressions))

    def look_up_cubic(self, cells: NDArray[np.float64]) -> _Columns:
        number = self._query.number
        x = self.at_most(np.nextafter(2.0**OCTAVES, 0.0)).keep()
        powers = (2.0 ** np.arange(OCTAVES)).tolist()
        power = x._make(lambda a: self._bisect(a, powers, powers, number)).keep()
        within = ((x / power - 1.0) * float(CELLS_PER_OCTAVE)).keep()
        t = within._make(lambda a: f"({a} - floor({a}))").keep()
        starts = np.outer(powers, 1.0 + np.arange(CELLS_PER_OCTAVE) / CELLS_PER_OCTAVE).ravel()
        same = np.concatenate([[True], np.any(cells[1:] != cells[:-1], axis=1)])
        own_starts, own_cells = starts[same].tolist(), cells[same]

        def say(x: str, t: str) -> str:
            def polynomial(c: NDArray[np.float64]) -> str:
                words = number(c[0])
                if c[1:].any():
                    words += (
                        f" + {t} * ({number(c[1])} + {t} * ({number(c[2])} + {t} * {number(c[3])}))"
                    )
                return words

            return self._bisect(x, own_starts, list(own_cells), polynomial)

        return x._make(say, t).keep()

    def _bisect(
        self, x: str, starts: Sequence[float], ends: Sequence[Any], say: Callable[[Any], str]
    ) -> str:
        """Return the entry of the last start that x reaches, which the first one is at least."""
        if len(ends) == 1:
            return say(ends[0])
        half = len(ends) // 2
        below = self._bisect(x, starts[:half], ends[:half], say)
        above = self._bisect(x, starts[half:], ends[half:], say)
        test = f"{x} < {self._query.number(starts[half])}"
        return f"CASE WHEN {test} THEN {below} ELSE {above} END"
