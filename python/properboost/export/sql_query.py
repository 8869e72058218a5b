"""Models as one SQL query, in double.

The query is a chain of stages, each of which adds columns to the one before: columns as numbers,
what is too deep for one expression, sums, probabilities.  A stage is materialised, so that what it
computed is not computed, nor nested, again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost.export.decisions import (
    Cut,
    Decision,
    Feature,
    Leaf,
    choose,
    list_tests,
    simplify,
)
from properboost.export.description import (
    Description,
    Linear,
    Lookup,
    check_doubles,
    check_outputs,
    describe,
)
from properboost.export.links import CELLS_PER_OCTAVE, OCTAVES, Value, probabilities
from properboost.export.sql_dialects import DIALECTS, Dialect, Words
from properboost.parameters import checks

__all__ = ["DIALECTS", "OUTPUTS", "Dialect", "to_sql"]

OUTPUTS = ("label", "probabilities", "raw")
"""What a query may return besides columns of its table."""

_DEEPEST = 11
"""CASEs within each other: SQLite's parser, before 3.46, keeps at most 100 symbols."""

_BITS = 62
"""Places that an integer has a bit for: to ask for a bit is faster than to look in a list."""

_MOST_TERMS = 200
"""Terms of all sums in one stage: databases allow a depth of 1,000."""

_MOST_ARGUMENTS = 50
"""Arguments of a function: SQLite allowed 100."""

_PARSED = (1e-27, 1e27)
"""Sizes of numbers that SQLite reads exactly: their powers of ten are exact."""

_SHORT = 15
"""Characters of a number that any reader rounds to the nearest double."""

_LARGEST = 2**63 - 1
"""The largest of the integers that every database has."""

_TINIEST = 5e-324
"""The least double above 0."""

_NAME = re.compile(r"\b[ckxz][0-9]+\b")
"""What columns of stages are called: computed, kept, read, and positions."""


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
    NULL and NaN are missing.  Numbers are cast to double; a text that the database does not read as
    a number is an error.  Categories that are strings are compared as text, byte by byte, whatever
    the collation.  A column that the table lacks is an error.

    Raw predictions have the bits of `decision_function`, but for a zero's sign.  Probabilities are
    within 1e-14 of `predict_proba` where the database's ``exp`` and ``sqrt`` round as well as C's;
    where one class against the rest has less than 1e-300 for all classes together, they are equal.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier, export
    >>> model = ProperBoostClassifier(n_estimators=1).fit([[1.0], [2.0]] * 9, [0, 1] * 9)
    >>> query = export.to_sql(model, table="visits", columns=["age"], outputs=["raw"])
    >>> print(query.splitlines()[1])
      SELECT NULLIF(CAST(_r."age" AS DOUBLE), CAST('nan' AS DOUBLE)) AS x0 FROM "visits" AS _r
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
    kept = [keep] if isinstance(keep, str) else list(keep)
    query = _Query(own, described, names, path, kept)
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
    # Linear models have nothing for values that are missing or infinite: their raw prediction is
    # NULL, of which comparisons and some databases' `greatest` would make something.
    begin, end = (
        (f"CASE WHEN {raw[0]} IS NOT NULL THEN ", " END") if described.has_linear else ("", "")
    )
    if what == "probabilities":
        found = list(shares)
        if not found:
            assert described.link is not None
            found = probabilities(described.link, _Columns(query, list(raw))).expressions
        return [
            (f"probability_{own}", f"{begin}{p}{end}") for own, p in zip(labels, found, strict=True)
        ]
    literals = [query.label(own) for own in described.classes.tolist()]
    if len(raw) == 1:
        test = f"{shares[1]} > {query.number(0.5)}" if shares else f"{raw[0]} > {query.number(0.0)}"
        label = f"CASE WHEN {test} THEN {literals[1]} ELSE {literals[0]} END"
        return [("label", f"{begin}{label}{end}")]
    top = query.keep([query.greatest(raw)])[0]
    tests = [f"WHEN {own} >= {top} THEN {label}" for own, label in zip(raw, literals, strict=True)]
    return [("label", f"CASE {' '.join(tests)} END")]


class _Query:
    """Stages that follow each other; expressions may name the columns of those before."""

    def __init__(
        self,
        dialect: Words,
        described: Description,
        names: Sequence[str],
        path: Sequence[str],
        kept: Sequence[str],
    ) -> None:
        self._dialect = dialect
        self._described = described
        self._count = 0
        self._kept = list(kept)
        used = sorted({j for term in described.terms for j in _list_features(term)})
        own = [names[j] for j in used]
        self._check_names(own, names)
        self._source = self._name_source(path, own)
        columns = [(f"k{i}", self._quote_column(name)) for i, name in enumerate(kept)]
        columns += [
            (f"x{j}", self._read(described.features[j], self._quote_column(names[j]))) for j in used
        ]
        self._stages: list[list[tuple[str, str]]] = [columns or [("nothing", "NULL")]]

    # -- names of the table ------------------------------------------------------------------------

    def _check_names(self, own: Sequence[str], every: Sequence[str]) -> None:
        """Refuse columns that the database would take for each other, or for something else."""
        database, fold = self._dialect.database, self._dialect.fold
        for name in [*own, *self._kept]:
            self._dialect.quote_name(name)
        asked = {fold(name) for name in own}
        places: dict[str, str] = {}
        for name in (name for name in every if isinstance(name, str)):
            if fold(name) in places and fold(name) in asked:
                raise ValueError(
                    f"columns must differ for {database}, by more than the case of letters where "
                    f"it ignores that; got {places[fold(name)]!r} and {name!r}: call them "
                    "otherwise in the table, and name them by columns="
                )
            places[fold(name)] = name
        for name in self._kept:
            other = places.setdefault(fold(name), name)
            if other != name:
                raise ValueError(
                    f"keep must spell a column as the others do, as {database} ignores the case "
                    f"of letters; got {name!r} and {other!r}"
                )
        for name in own if not self._dialect.drops_hidden else ():
            if fold(name) in self._dialect.hidden:
                raise ValueError(
                    f"columns must not be called {name!r}: {database} takes the number of the row "
                    "where a table has no such column; call it otherwise in the table, and name it "
                    "by columns="
                )

    def _name_source(self, path: Sequence[str], own: Sequence[str]) -> str:
        """Return the table under a name of its own; stages must not be called as it is."""
        table = ".".join(map(self._dialect.quote_name, path))
        fold = self._dialect.fold
        if self._dialect.drops_hidden and {*map(fold, own)} & {*self._dialect.hidden}:
            table = f"(SELECT * FROM {table})"
        # A struct of this name would be taken for the table, or the table for a column.
        taken = {*map(fold, own), *map(fold, self._kept)}
        self._alias = "_r"
        while self._alias in taken:
            self._alias += "_"
        self._stem = "s"
        while len(path) == 1 and re.fullmatch(f"{self._stem}[0-9]+", path[0].lower()):
            self._stem += "_"
        return f"{table} AS {self._alias}"

    def _quote_column(self, name: str) -> str:
        quoted = self._dialect.quote_name(name)
        return f"{self._alias}.{quoted}" if self._dialect.qualifies else quoted

    @property
    def refuses_tiny(self) -> bool:
        """Whether products that are rounded to 0 are errors."""
        return self._dialect.underflow_fails

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
        if isinstance(value, float):
            return self.number(value)
        if isinstance(value, str):
            return self._dialect.quote_text(value, "the labels")
        if not self._dialect.large and value > _LARGEST:
            raise ValueError(
                f"the label {value!r} is beyond the integers of {self._dialect.database}, which "
                "have 64 bits with their sign: ask for other outputs, or fit with other labels"
            )
        return str(value)

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
            return self._find_place(self._read_text(feature, column), self._say_texts(feature))
        check_doubles(feature)
        number = f"CAST({column} AS {self._dialect.double})"
        if not self._dialect.casts_fail:
            number = self._check_number(number, column)
        if self._dialect.nan:
            number = f"NULLIF({number}, {self._dialect.nan})"
        if feature.categories is None:
            if self._described.has_linear:
                largest = self.number(np.inf), self.number(-np.inf)
                number = f"NULLIF(NULLIF({number}, {largest[0]}), {largest[1]})"
            return number
        return self._find_place(number, [self.number(float(own)) for own in feature.categories])

    def _check_number(self, number: str, column: str) -> str:
        """Return a number; a text that is none, of which SQLite casts makes 0, is an error.

        A comparison with a number makes numbers of texts that are such; other texts, and bytes, are
        larger than all numbers.  The error is that of the absolute value that does not exist: there
        is no function that fails as it is told to.
        """
        infinity = f"CAST({self._dialect.infinity} AS {self._dialect.double})"
        fails = f"abs(({column} IS NULL) - {_LARGEST} - 1)"
        return (
            f"CASE WHEN {column} <= {infinity} THEN {number} "
            f"WHEN {column} IS NOT NULL THEN {fails} END"
        )

    def _read_text(self, feature: Feature, column: str) -> str:
        text = f"CAST({column} AS {self._dialect.text})"
        fills = any(str(own).endswith(" ") for own in feature.categories or ())
        if fills and self._dialect.padded:
            padded = self._dialect.padded.format(column)
            text = f"CASE WHEN {padded} THEN concat({column}) ELSE {text} END"
            text = f"CASE WHEN {column} IS NOT NULL THEN {text} END"
        return f"{self._dialect.bytes.format(text)}{self._dialect.collation}"

    def _say_texts(self, feature: Feature) -> list[str]:
        place = f"column {feature.name!r}"
        return [
            self._dialect.bytes.format(self._dialect.quote_text(str(own), place))
            for own in feature.categories or ()
        ]

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

    def _add_stage(self, columns: Iterable[tuple[str, str]]) -> None:
        self._stages.append(list(columns))

    def finish(self, results: Sequence[tuple[str, str]]) -> str:
        """Return the query that ends with these."""
        if not all(_NAME.fullmatch(expression) for _, expression in results):
            names = self.keep([expression for _, expression in results])
            results = [(name, own) for (name, _), own in zip(results, names, strict=True)]
        stages = self._list_stages({expression for _, expression in results})
        last = f"{self._stem}{len(stages) - 1}"
        taken = {name.casefold() for name in self._kept}
        shown = [
            f"{last}.k{i} AS {self._dialect.quote_name(name)}" for i, name in enumerate(self._kept)
        ]
        for name, expression in results:
            shown.append(
                f"{last}.{expression} AS {self._dialect.quote_name(self._call(name, taken))}"
            )
        words = [f"{self._stem}{k} AS MATERIALIZED (\n  {own}\n)" for k, own in enumerate(stages)]
        return f"WITH {', '.join(words)}\nSELECT {', '.join(shown)} FROM {last}"

    def _call(self, name: str, taken: set[str]) -> str:
        """Return the name of a result that no other has, to which it is added."""
        for k in count():
            suffix = "_" * k if k < 8 else f"_{k}"
            found = self._dialect.cut(name, len(suffix)) + suffix
            if found.casefold() not in taken:
                break
        taken.add(found.casefold())
        return found

    def _list_stages(self, asked: set[str]) -> list[str]:
        """Return the stages, each with the columns that it or a later one needs."""
        stages = self._choose_columns(asked)
        if len(stages) > self._dialect.deepest:
            self._refuse(f"{len(stages)} stages one on the other", self._dialect.deepest)
        sources = [self._source, *(f"{self._stem}{k}" for k in range(len(stages) - 1))]
        return [self._select(stage, source) for stage, source in zip(stages, sources, strict=True)]

    def _choose_columns(self, asked: set[str]) -> list[list[tuple[str, str]]]:
        """Return names and expressions by stage; nothing stands for what the one before has.

        Stages of which nothing is asked for are left out.
        """
        order = {
            name: (k, i) for k, own in enumerate(self._stages) for i, (name, _) in enumerate(own)
        }
        needed = {*asked, *(f"k{i}" for i in range(len(self._kept)))}
        stages: list[list[tuple[str, str]]] = []
        for k, own in reversed([*enumerate(self._stages)][1:]):
            made = [(name, what) for name, what in own if name in needed]
            if not made:
                continue
            carried = sorted(needed - {name for name, _ in made}, key=order.__getitem__)
            stages.append([*((name, "") for name in carried), *made])
            words = {word for _, what in made for word in _NAME.findall(what)}
            # A label may read as the name of a column that comes later.
            needed = {*carried, *(word for word in words if order.get(word, (k,))[0] < k)}
        return [self._stages[0], *reversed(stages)]

    def _select(self, columns: Sequence[tuple[str, str]], source: str) -> str:
        if len(columns) > self._dialect.widest:
            self._refuse(f"{len(columns)} columns side by side", self._dialect.widest)
        shown = ", ".join(f"{what} AS {name}" if what else name for name, what in columns)
        return f"SELECT {shown} FROM {source}"

    def _refuse(self, size: str, most: int) -> NoReturn:
        raise ValueError(
            f"{self._described.name} cannot be exported to {self._dialect.database}: the query "
            f"would have {size}, and at most {most} can be"
        )

    # -- decisions ---------------------------------------------------------------------------------

    def say(
        self,
        decisions: Sequence[tuple[Decision, Callable[[int], str]]],
        begin: int | None = None,
    ) -> list[str]:
        """Return decisions as expressions; `say` of a leaf gives what it is by its number.

        What is nested too deeply becomes columns of stages that are added, or that are there from
        the position `begin` on.
        """
        waiting: list[list[tuple[str, str]]] = []
        said = [self._say_one(decision, end, waiting) for decision, end in decisions]
        at = len(self._stages) if begin is None else begin
        for stage in waiting:
            if at < len(self._stages):
                self._stages[at] += stage
            else:
                self._add_stage(stage)
            at += 1
        return said

    def _say_one(
        self, decision: Decision, end: Callable[[int], str], waiting: list[list[tuple[str, str]]]
    ) -> str:
        apart = _find_deep(decision)
        parts: dict[int, tuple[str, int]] = {}  # the expression, and how many stages it needs

        def look_up(own: Decision) -> tuple[str, int]:
            return (end(own.number), 0) if isinstance(own, Leaf) else parts[id(own)]

        for own in list_tests(decision):
            (yes, one), (no, other) = look_up(own.yes), look_up(own.no)
            text = f"CASE WHEN {self._test(own)} THEN {yes} ELSE {no} END"
            level = max(one, other)
            if id(own) in apart:
                if level == len(waiting):
                    waiting.append([])
                waiting[level].append((self._name(), text))
                text, level = waiting[level][-1][0], level + 1
            parts[id(own)] = text, level
        return look_up(decision)[0]

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
                bits = self._dialect.bits.format(sum(1 << k for k in members))
                test = f"(({bits} >> {x}) & 1) = 1"
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
        for begin, stop in self._divide(terms):
            sums = self._add_terms(sums, [of_model[begin:stop] for of_model in terms])
        if described.intercepts is not None:
            sums = [
                f"{total} + {self.number(own)}"
                for total, own in zip(sums, described.intercepts.tolist(), strict=True)
            ]
        return self.keep(sums)

    def _add_terms(
        self, sums: Sequence[str], terms: Sequence[Sequence[Lookup | Linear]]
    ) -> list[str]:
        """Add a stage that has each model's sum with these terms; return its columns' names."""
        decisions: list[tuple[Decision, Callable[[int], str]]] = []
        parts: list[list[str | None]] = [[] for _ in sums]  # None is what a decision says
        for m, of_model in enumerate(terms):
            for term in of_model:
                if isinstance(term, Linear):
                    parts[m].append(self.scale(f"x{term.feature}", "*", term.coefficient))
                else:
                    more = self._list_decisions(term, m)
                    decisions += more
                    parts[m] += [None] * len(more)
        words = self.say(decisions)
        if words and self._dialect.terms_apart:
            words = self.keep(words)
        said = iter(words)
        return self.keep(
            [
                " + ".join([total, *(next(said) if part is None else part for part in of_model)])
                for total, of_model in zip(sums, parts, strict=True)
            ]
        )

    def _list_decisions(
        self, term: Lookup, model: int
    ) -> list[tuple[Decision, Callable[[int], str]]]:
        """Return how a term's values in a model are looked up, and then its lines, if any."""
        k = term.models.index(model)
        values = term.values[:, k]
        decisions = [(simplify(term.decision, values), self._say_values(values))]
        if term.lines is not None and len(term.lines[k].feature):
            decisions.append((term.decision, self._say_lines(term.lines[k])))
        return decisions

    def scale(self, what: str, operator: str, number: float) -> str:
        """Return a product or a quotient that is 0, and no error, where it is rounded to 0."""
        scaled = f"{what} {operator} {self.number(number)}"
        least = _find_least(operator, abs(number)) if self._dialect.underflow_fails else _TINIEST
        if least == _TINIEST:
            return scaled
        zero = self.number(0.0)
        return f"CASE WHEN abs({what}) < {self.number(least)} THEN {zero} ELSE {scaled} END"

    def _divide(self, terms: Sequence[Sequence[Lookup | Linear]]) -> Iterator[tuple[int, int]]:
        """Yield the terms of each model, from and to, that are added in one stage."""
        size = max(1, _MOST_TERMS // len(terms))
        room = self._dialect.widest - len(self._stages[0]) - 2 * len(terms)
        counts = {id(term): _count_columns(term) for term in self._described.terms}
        begin = columns = 0
        for t in range(max(map(len, terms))):
            own = sum(counts[id(some[t])] for some in terms if t < len(some))
            if t - begin == size or (t > begin and columns + own > room):
                yield begin, t
                begin, columns = t, 0
            columns += own
        if any(terms):
            yield begin, max(map(len, terms))

    def choose_shares(self, shares: NDArray[np.float64]) -> list[str]:
        """Return what the only term's decision says of both classes."""
        (term,) = self._described.terms
        assert not isinstance(term, Linear)
        some = [
            (simplify(term.decision, own), self._say_values(own))
            for own in np.ascontiguousarray(shares.T)
        ]
        return self.keep(self.say(some, begin=1))

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
    for test in list_tests(term.decision):
        yield test.feature


def _find_least(operator: str, size: float) -> float:
    """Return the least double above 0 whose product with a size, or quotient, is not 0."""
    shrinks = size < 1.0 if operator == "*" else size > 1.0
    if not shrinks or size == 0.0 or np.isinf(size):
        return _TINIEST

    def apply(value: float) -> float:
        return value * size if operator == "*" else value / size

    # Half of the least double is rounded to 0; the first guess is some steps off at most.
    guess = np.ldexp(1.0, -500) / size if operator == "*" else np.ldexp(1.0, -500) * size
    least = max(_TINIEST, float(np.ldexp(guess, -575)))
    while apply(least) == 0.0:
        least = float(np.nextafter(least, np.inf))
    while least > _TINIEST and apply(float(np.nextafter(least, 0.0))) > 0.0:
        least = float(np.nextafter(least, 0.0))
    return least


def _find_deep(decision: Decision) -> set[int]:
    """Return which tests, by identity, are columns, so that no expression is nested too deeply."""
    heights: dict[int, int] = {}
    found = set()
    for own in list_tests(decision):
        height = 1 + max(heights.get(id(own.yes), 0), heights.get(id(own.no), 0))
        if height == _DEEPEST and own is not decision:
            found.add(id(own))
            height = 0
        heights[id(own)] = height
    return found


def _count_columns(term: Lookup | Linear) -> int:
    """Return how many columns a term of a sum takes at most."""
    if isinstance(term, Linear):
        return 0
    return (1 if term.lines is None else 2) * (1 + len(_find_deep(term.decision)))


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
        if operator in "*/" and isinstance(other, float):
            return self._make(lambda a: f"({self._query.scale(a, operator, other)})")
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
        if self._query.refuses_tiny:
            # What is left out is less than the least probability.
            cells = np.where(np.abs(cells) < 1e-290, 0.0, cells)
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
