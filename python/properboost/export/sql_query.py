"""Models as one SQL query, in double.

The query is a chain of stages, each of which adds columns to the one before: columns as numbers,
parts of expressions that are too deep, sums, probabilities.  The database materialises each stage,
so that later stages neither compute nor nest its expressions again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost.export.decisions import (
    CodedColumn,
    Cut,
    Decision,
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
from properboost.export.links import (
    CELLS_PER_OCTAVE,
    OCTAVES,
    Value,
    ordered_probabilities,
    probabilities,
)
from properboost.export.sql_dialects import DIALECTS, LARGEST, Dialect, Syntax
from properboost.losses.ordered_link import OrderedLink
from properboost.parameters import checks
from properboost.parameters.elsewhere import advise_calls

__all__ = ["DIALECTS", "OUTPUTS", "Dialect", "to_sql"]

OUTPUTS = ("label", "probabilities", "raw")
"""The possible results of a query besides columns of its table."""

_DEEPEST = 11
"""The most nested CASEs: SQLite's parser, before 3.46, holds at most 100 symbols."""

_BITS = 62
"""Places that an integer has a bit for: a test of a bit is faster than a search in a list."""

_MOST_TERMS = 200
"""Terms of all sums in one stage: databases allow a depth of 1,000."""

_MOST_ARGUMENTS = 50
"""Arguments of a function: SQLite allowed 100."""

_TINIEST = 5e-324
"""The least double above 0."""

_NAME = re.compile(r"\b[ckxz][0-9]+\b")
"""The names of stages' columns: computed (c), of `keep` (k), read (x), and positions (z)."""


@advise_calls("pathlib.Path('model.sql').write_text(to_sql(model))")
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
        The database.  Each reads only its own queries: in SQLite, one for DuckDB ends in "no such
        function: greatest".
    table : str or sequence of str, default="rows"
        The table's name, or the names of its schema and its own.
    columns : sequence of str, optional
        The columns of the features, in their order; None stands for the features' names, which are
        ``x0``, ``x1``, ... where the model was fitted without names.
    keep : sequence of str, default=()
        Columns of the table that are returned first, as a key: SQL promises no order of rows.
    outputs : sequence of {"label", "probabilities", "raw"}, default=("raw", "probabilities")
        The results after them.  Columns are named ``label``, ``probability_<class>`` and ``raw``,
        or ``raw_<class>`` with more than two classes; names that are taken end with ``_``.

    Returns
    -------
    str
        One SELECT, without a semicolon.

    Raises
    ------
    TypeError, ValueError
        If the model cannot be exported, or an argument is not as described; the message names it.

    Notes
    -----
    NULL and NaN are missing.  Numbers are cast to double; a text that the database does not read as
    a number is an error.  String categories are compared byte by byte, whatever the collation.  A
    column that the table lacks is an error.

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
    syntax = DIALECTS[checks.choice("dialect", dialect, known=list(DIALECTS))]
    chosen = check_outputs(outputs, OUTPUTS)
    names = [feature.name for feature in described.features] if columns is None else list(columns)
    if len(names) != len(described.features):
        raise ValueError(
            f"columns must name {len(described.features)} columns, one per feature; got "
            f"{len(names)}"
        )
    path = [table] if isinstance(table, str) else list(table)
    key_columns = [keep] if isinstance(keep, str) else list(keep)
    query = _Query(syntax, described, names, path, key_columns)
    raw = query.add_up()
    shares: list[str] = []
    if described.shares is not None:
        shares = query.choose_shares(described.shares)
    results: list[tuple[str, str]] = []
    for output in chosen:
        results += _list_results(query, described, output, raw, shares)
    return query.finish(results)


def _list_results(
    query: _Query, described: Description, output: str, raw: Sequence[str], shares: Sequence[str]
) -> list[tuple[str, str]]:
    """Return names and expressions of an output."""
    labels = [str(label) for label in described.classes.tolist()]
    if output == "raw":
        raw = raw[:1] if described.n_moves else raw
        names = ["raw"] if len(raw) == 1 else [f"raw_{label}" for label in labels]
        return list(zip(names, raw, strict=True))
    if isinstance(described.link, OrderedLink):
        return _list_ordered(query, described, output, raw)
    # Missing or infinite values have no prediction in linear models: it is NULL, but comparisons
    # and some databases' `greatest` would turn NULL into a value.
    begin, end = (
        (f"CASE WHEN {raw[0]} IS NOT NULL THEN ", " END") if described.has_linear else ("", "")
    )
    if output == "probabilities":
        class_probabilities = list(shares)
        if not class_probabilities:
            assert described.link is not None
            class_probabilities = probabilities(
                described.link, _Columns(query, list(raw))
            ).expressions
        return [
            (f"probability_{label}", f"{begin}{p}{end}")
            for label, p in zip(labels, class_probabilities, strict=True)
        ]
    literals = [query.label(label) for label in described.classes.tolist()]
    if len(raw) == 1:
        test = f"{shares[1]} > {query.number(0.5)}" if shares else f"{raw[0]} > {query.number(0.0)}"
        label = f"CASE WHEN {test} THEN {literals[1]} ELSE {literals[0]} END"
        return [("label", f"{begin}{label}{end}")]
    return [("label", _choose_label(query, raw, literals))]


def _list_ordered(
    query: _Query, described: Description, output: str, raw: Sequence[str]
) -> list[tuple[str, str]]:
    """Return names and expressions of the label, or of the probabilities, of ordered classes."""
    assert isinstance(described.link, OrderedLink)
    assert described.ranks is not None
    labels = described.classes.tolist()
    ordered = ordered_probabilities(
        described.link, _Columns(query, list(raw)), described.n_moves
    ).keep()
    if output == "probabilities":
        by_label = ordered.take(described.ranks).expressions
        return [(f"probability_{label}", p) for label, p in zip(labels, by_label, strict=True)]
    in_order = [query.label(labels[k]) for k in np.argsort(described.ranks).tolist()]
    return [("label", _choose_label(query, ordered.expressions, in_order))]


def _choose_label(query: _Query, scores: Sequence[str], literals: Sequence[str]) -> str:
    """Return the expression of the label whose score is the largest, the first of equals."""
    top = query.keep([query.greatest(scores)])[0]
    tests = [
        f"WHEN {score} >= {top} THEN {label}" for score, label in zip(scores, literals, strict=True)
    ]
    return f"CASE {' '.join(tests)} END"


class _Query:
    """A query under construction: stages of expressions over the columns of earlier stages."""

    def __init__(
        self,
        dialect: Syntax,
        described: Description,
        names: Sequence[str],
        path: Sequence[str],
        key_columns: Sequence[str],
    ) -> None:
        self._dialect = dialect
        self._described = described
        self._count = 0
        self._key_columns = list(key_columns)
        used = sorted({described.feature_of(j) for t in described.terms for j in _list_features(t)})
        used_names = [names[j] for j in used]
        self._check_names(used_names, names)
        self._source = self._name_source(path, used_names)
        columns = [(f"k{i}", self._quote_column(name)) for i, name in enumerate(key_columns)]
        columns += [
            (f"x{j}", self._read(described.features[j], self._quote_column(names[j]))) for j in used
        ]
        self._stages: list[list[tuple[str, str]]] = [columns or [("c0", "NULL")]]

    # -- names of the table ------------------------------------------------------------------------

    def _check_names(self, used_names: Sequence[str], names: Sequence[str]) -> None:
        """Refuse columns that the database would confuse with each other or with hidden ones."""
        database, fold = self._dialect.database, self._dialect.fold
        for name in [*used_names, *self._key_columns]:
            self._dialect.quote_name(name)
        asked = {fold(name) for name in used_names}
        places: dict[str, str] = {}
        for name in (name for name in names if isinstance(name, str)):
            if fold(name) in places and fold(name) in asked:
                raise ValueError(
                    f"columns must differ for {database}, by more than the case of letters where "
                    f"it ignores that; got {places[fold(name)]!r} and {name!r}: call them "
                    "otherwise in the table, and name them by columns="
                )
            places[fold(name)] = name
        for name in self._key_columns:
            other = places.setdefault(fold(name), name)
            if other != name:
                raise ValueError(
                    f"keep must spell a column as the others do, as {database} ignores the case "
                    f"of letters; got {name!r} and {other!r}"
                )
        for name in used_names if not self._dialect.drops_hidden else ():
            if fold(name) in self._dialect.hidden:
                raise ValueError(
                    f"columns must not be called {name!r}: {database} takes the number of the row "
                    "where a table has no such column; call it otherwise in the table, and name it "
                    "by columns="
                )

    def _name_source(self, path: Sequence[str], used_names: Sequence[str]) -> str:
        """Return the table under an alias; choose a free alias and a free stem of stages' names."""
        table = ".".join(map(self._dialect.quote_name, path))
        fold = self._dialect.fold
        if self._dialect.drops_hidden and {*map(fold, used_names)} & {*self._dialect.hidden}:
            table = f"(SELECT * FROM {table})"
        # A column with the alias's name could be confused with the table.
        taken = {*map(fold, used_names), *map(fold, self._key_columns)}
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
        """Whether the database raises an error for products that round to 0."""
        return self._dialect.underflow_fails

    # -- words -------------------------------------------------------------------------------------

    def number(self, value: float) -> str:
        """Return a double, in parentheses where it has a sign."""
        return self._dialect.write_number(value)

    def label(self, value: Any) -> str:
        """Return a class's label."""
        return self._dialect.write_label(value)

    def greatest(self, expressions: Sequence[str]) -> str:
        """Return the largest of these expressions."""
        left = list(expressions)
        while len(left) > 1:
            few, left = left[:_MOST_ARGUMENTS], left[_MOST_ARGUMENTS:]
            left.insert(0, f"{self._dialect.greatest}({', '.join(few)})")
        return left[0]

    def _read(self, feature: CodedColumn, column: str) -> str:
        """Return the expression that reads a column: a number, or a category's place, or NULL."""
        if feature.is_text:
            return self._find_place(self._read_text(feature, column), self._quote_texts(feature))
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
        return self._find_place(
            number, [self.number(float(category)) for category in feature.categories]
        )

    def _check_number(self, number: str, column: str) -> str:
        """Return a number, with an error for other texts, which SQLite would cast to 0.

        A comparison converts texts that are numbers; other texts, and bytes, compare larger than
        all numbers.  The error is that of an absolute value beyond 64 bits, because SQLite has no
        function that raises errors.
        """
        infinity = f"CAST({self._dialect.infinity} AS {self._dialect.double})"
        fails = f"abs(({column} IS NULL) - {LARGEST} - 1)"
        return (
            f"CASE WHEN {column} <= {infinity} THEN {number} "
            f"WHEN {column} IS NOT NULL THEN {fails} END"
        )

    def _read_text(self, feature: CodedColumn, column: str) -> str:
        text = f"CAST({column} AS {self._dialect.text})"
        fills = any(str(category).endswith(" ") for category in feature.categories or ())
        if fills and self._dialect.padded:
            padded = self._dialect.padded.format(column)
            text = f"CASE WHEN {padded} THEN concat({column}) ELSE {text} END"
            text = f"CASE WHEN {column} IS NOT NULL THEN {text} END"
        return f"{self._dialect.bytes.format(text)}{self._dialect.collation}"

    def _quote_texts(self, feature: CodedColumn) -> list[str]:
        place = f"column {feature.name!r}"
        return [
            self._dialect.bytes.format(self._dialect.quote_text(str(category), place))
            for category in feature.categories or ()
        ]

    def _find_place(self, value: str, known: Sequence[str]) -> str:
        tests = " ".join(f"WHEN {literal} THEN {place}" for place, literal in enumerate(known))
        place = f"CASE {value} {tests} ELSE {len(known)} END" if known else "0"
        return f"CASE WHEN {value} IS NULL THEN NULL ELSE {place} END"

    # -- stages ------------------------------------------------------------------------------------

    def keep(self, expressions: Sequence[str]) -> list[str]:
        """Add a stage with these columns; return their names."""
        names = [self._name() for _ in expressions]
        self._add_stage(zip(names, expressions, strict=True))
        return names

    def _name(self) -> str:
        self._count += 1
        return f"c{self._count}"

    def _add_stage(self, columns: Iterable[tuple[str, str]]) -> None:
        self._stages.append(list(columns))

    def finish(self, results: Sequence[tuple[str, str]]) -> str:
        """Return the query with these results."""
        if not all(_NAME.fullmatch(expression) for _, expression in results):
            names = self.keep([expression for _, expression in results])
            results = [(name, column) for (name, _), column in zip(results, names, strict=True)]
        stages = self._list_stages({expression for _, expression in results})
        last = f"{self._stem}{len(stages) - 1}"
        taken = {name.casefold() for name in self._key_columns}
        shown = [
            f"{last}.k{i} AS {self._dialect.quote_name(name)}"
            for i, name in enumerate(self._key_columns)
        ]
        for name, expression in results:
            shown.append(
                f"{last}.{expression} AS {self._dialect.quote_name(self._call(name, taken))}"
            )
        words = [
            f"{self._stem}{k} AS MATERIALIZED (\n  {select}\n)" for k, select in enumerate(stages)
        ]
        return f"WITH {', '.join(words)}\nSELECT {', '.join(shown)} FROM {last}"

    def _call(self, name: str, taken: set[str]) -> str:
        """Return a free name of a result, and add it to those taken."""
        for k in count():
            suffix = "_" * k if k < 8 else f"_{k}"
            free = self._dialect.cut(name, len(suffix)) + suffix
            if free.casefold() not in taken:
                break
        taken.add(free.casefold())
        return free

    def _list_stages(self, asked: set[str]) -> list[str]:
        """Return the stages, each with the columns that it or a later stage needs."""
        stages = self._choose_columns(asked)
        if len(stages) > self._dialect.deepest:
            self._refuse(f"{len(stages)} stages one on the other", self._dialect.deepest)
        sources = [self._source, *(f"{self._stem}{k}" for k in range(len(stages) - 1))]
        return [self._select(stage, source) for stage, source in zip(stages, sources, strict=True)]

    def _choose_columns(self, asked: set[str]) -> list[list[tuple[str, str]]]:
        """Return names and expressions by stage; "" stands for a column of the stage before.

        Stages that nobody needs are left out.
        """
        order = {
            name: (k, i)
            for k, stage in enumerate(self._stages)
            for i, (name, _) in enumerate(stage)
        }
        needed = {*asked, *(f"k{i}" for i in range(len(self._key_columns)))}
        stages: list[list[tuple[str, str]]] = []
        for k, stage in reversed([*enumerate(self._stages)][1:]):
            made = [(name, expression) for name, expression in stage if name in needed]
            if not made:
                continue
            carried = sorted(needed - {name for name, _ in made}, key=order.__getitem__)
            stages.append([*((name, "") for name in carried), *made])
            words = {word for _, expression in made for word in _NAME.findall(expression)}
            # A label may read as the name of a column that comes later.
            needed = {*carried, *(word for word in words if order.get(word, (k,))[0] < k)}
        return [self._stages[0], *reversed(stages)]

    def _select(self, columns: Sequence[tuple[str, str]], source: str) -> str:
        if len(columns) > self._dialect.widest:
            self._refuse(f"{len(columns)} columns side by side", self._dialect.widest)
        shown = ", ".join(
            f"{expression} AS {name}" if expression else name for name, expression in columns
        )
        return f"SELECT {shown} FROM {source}"

    def _refuse(self, size: str, most: int) -> NoReturn:
        raise ValueError(
            f"{self._described.name} cannot be exported to {self._dialect.database}: the query "
            f"would have {size}, and at most {most} can be"
        )

    # -- decisions ---------------------------------------------------------------------------------

    def write(
        self,
        decisions: Sequence[tuple[Decision, Callable[[int], str]]],
        begin: int | None = None,
    ) -> list[str]:
        """Return decisions as expressions; each has a function from a leaf's number to its text.

        Parts that are nested too deeply become columns of new stages, or of the existing stages
        from the position `begin` on.
        """
        waiting: list[list[tuple[str, str]]] = []
        expressions = [self._write_one(decision, end, waiting) for decision, end in decisions]
        at = len(self._stages) if begin is None else begin
        for stage in waiting:
            if at < len(self._stages):
                self._stages[at] += stage
            else:
                self._add_stage(stage)
            at += 1
        return expressions

    def _write_one(
        self, decision: Decision, end: Callable[[int], str], waiting: list[list[tuple[str, str]]]
    ) -> str:
        apart = _find_deep(decision)
        parts: dict[int, tuple[str, int]] = {}  # the expression, and how many stages it needs

        def look_up(node: Decision) -> tuple[str, int]:
            return (end(node.number), 0) if isinstance(node, Leaf) else parts[id(node)]

        for node in list_tests(decision):
            (yes, one), (no, other) = look_up(node.yes), look_up(node.no)
            text = f"CASE WHEN {self._test(node)} THEN {yes} ELSE {no} END"
            level = max(one, other)
            if id(node) in apart:
                if level == len(waiting):
                    waiting.append([])
                waiting[level].append((self._name(), text))
                text, level = waiting[level][-1][0], level + 1
            parts[id(node)] = text, level
        return look_up(decision)[0]

    def _test(self, test: Any) -> str:
        feature, x = self._described.features[test.feature], f"x{test.feature}"
        n = len(feature.codes)
        if isinstance(test, Cut):
            if test.below == n:
                return f"{x} IS NOT NULL"
            condition = f"{x} <= {self._bound(feature, test.below)}"
        elif feature.categories is not None:
            members = np.flatnonzero(test.members).tolist()
            if n <= _BITS:
                bits = self._dialect.bits.format(sum(1 << k for k in members))
                condition = f"(({bits} >> {x}) & 1) = 1"
            else:
                condition = f"{x} IN ({', '.join(map(str, members))})"
        else:
            runs = []
            for begin, end in feature.places(test.members):
                ends = [f"{x} > {self._bound(feature, begin)}"] if begin else []
                ends += [f"{x} <= {self._bound(feature, end)}"] if end < n else []
                runs.append(f"({' AND '.join(ends)})")
            condition = " OR ".join(runs)
        return f"{condition} OR {x} IS NULL" if test.missing else condition

    def _bound(self, feature: CodedColumn, below: int) -> str:
        bound = feature.bound(below)
        return self.number(bound) if feature.categories is None else str(int(bound))

    # -- sums --------------------------------------------------------------------------------------

    def add_up(self) -> list[str]:
        """Return the raw prediction of each model."""
        described = self._described
        self._find_positions()
        n_models = described.n_models
        sums = [self.number(0.0)] * (n_models * described.n_sums)
        terms = [described.terms_of(m) for m in range(len(sums))]
        for begin, stop in self._divide(terms):
            sums = self._add_terms(sums, [of_model[begin:stop] for of_model in terms])
        sums = [" + ".join(sums[m::n_models]) for m in range(n_models)]
        if described.intercepts is not None:
            sums = [
                f"{total} + {self.number(intercept)}"
                for total, intercept in zip(sums, described.intercepts.tolist(), strict=True)
            ]
        return self.keep(sums)

    def _add_terms(
        self, sums: Sequence[str], terms: Sequence[Sequence[Lookup | Linear]]
    ) -> list[str]:
        """Add a stage with each model's sum including these terms; return its columns' names."""
        words_of_parts = self._write_parts(terms)
        if self._dialect.terms_apart and any(words_of_parts):
            columns = iter(self.keep([word for of_model in words_of_parts for word in of_model]))
            words_of_parts = [[next(columns) for _ in of_model] for of_model in words_of_parts]
        return self.keep(
            [
                " + ".join([total, *of_model])
                for total, of_model in zip(sums, words_of_parts, strict=True)
            ]
        )

    def _write_parts(self, terms: Sequence[Sequence[Lookup | Linear]]) -> list[list[str]]:
        """Return the expressions whose sum each model's terms are."""
        leaves = self._find_leaves([term for of_model in terms for term in of_model])
        decisions: list[tuple[Decision, Callable[[int], str]]] = []
        # None stands for a decision's expression.
        parts: list[list[str | None]] = [[] for _ in terms]
        for m, of_model in enumerate(terms):
            for term in of_model:
                if isinstance(term, Linear):
                    parts[m].append(self.scale(f"x{term.feature}", "*", term.coefficient))
                elif id(term) in leaves:
                    parts[m] += leaves[id(term)].write(self, term, m)
                else:
                    more = self._list_decisions(term, m)
                    decisions += more
                    parts[m] += [None] * len(more)
        words = iter(self.write(decisions))
        return [[next(words) if part is None else part for part in of_model] for of_model in parts]

    def _find_leaves(self, terms: Sequence[Lookup | Linear]) -> dict[int, _Leaves]:
        """Return the leaves of trees with lines by identity, if the dialect needs their numbers."""
        if not self._dialect.compares_constants:
            return {}
        lined = {
            id(term): term for term in terms if isinstance(term, Lookup) and term.lines is not None
        }
        return dict(zip(lined, self._number_leaves([*lined.values()]), strict=True))

    def _list_decisions(
        self, term: Lookup, model: int
    ) -> list[tuple[Decision, Callable[[int], str]]]:
        """Return the decisions of a term's values in a model, and of its lines, if any."""
        k = term.models.index(model)
        values = term.values[:, k]
        decisions = [(simplify(term.decision, values), self._write_values(values))]
        if term.lines is not None and len(term.lines[k].feature):
            decisions.append((term.decision, self._write_lines(term.lines[k])))
        return decisions

    def _number_leaves(self, terms: Sequence[Lookup]) -> list[_Leaves]:
        """Add a stage with the number of each tree's leaf, which the tree's models share."""
        numbers = [_list_leaves(term.decision) for term in terms]
        places = [{number: k for k, number in enumerate(of_tree)} for of_tree in numbers]
        decisions = [
            (term.decision, lambda number, place=place: str(place[number]))
            for term, place in zip(terms, places, strict=True)
        ]
        names = self.keep(self.write(decisions)) if decisions else []
        return [_Leaves(name, of_tree) for name, of_tree in zip(names, numbers, strict=True)]

    def scale(self, what: str, operator: str, number: float) -> str:
        """Return a product or a quotient that is 0, without an error, where it rounds to 0."""
        scaled = f"{what} {operator} {self.number(number)}"
        least = _find_least(operator, abs(number)) if self._dialect.underflow_fails else _TINIEST
        if least == _TINIEST:
            return scaled
        zero = self.number(0.0)
        return f"CASE WHEN abs({what}) < {self.number(least)} THEN {zero} ELSE {scaled} END"

    def _divide(self, terms: Sequence[Sequence[Lookup | Linear]]) -> Iterator[tuple[int, int]]:
        """Yield ranges of the models' terms, begin and end, one for each stage."""
        size = max(1, _MOST_TERMS // len(terms))
        room = self._dialect.widest - len(self._stages[0]) - 2 * len(terms)
        counts = {id(term): _count_columns(term) for term in self._described.terms}
        begin = columns = 0
        for t in range(max(map(len, terms))):
            more = sum(counts[id(of_model[t])] for of_model in terms if t < len(of_model))
            if t - begin == size or (t > begin and columns + more > room):
                yield begin, t
                begin, columns = t, 0
            columns += more
        if any(terms):
            yield begin, max(map(len, terms))

    def choose_shares(self, shares: NDArray[np.float64]) -> list[str]:
        """Return the probabilities of both classes by the only term's decision."""
        (term,) = self._described.terms
        assert not isinstance(term, Linear)
        decisions = [
            (simplify(term.decision, values), self._write_values(values))
            for values in np.ascontiguousarray(shares.T)
        ]
        return self.keep(self.write(decisions, begin=1))

    def _write_values(self, values: NDArray[np.float64]) -> Callable[[int], str]:
        return lambda number: self.number(values[number])

    def _find_positions(self) -> None:
        """Add the columns that lines need: the positions of the means of bins."""
        terms = [term for term in self._described.terms if not isinstance(term, Linear)]
        asked = sorted({int(j) for t in terms for lines in t.lines or () for j in lines.feature})
        if not asked:
            return

        def write(values: NDArray[np.float64]) -> Callable[[int], str]:
            return lambda code: "NULL" if np.isnan(values[code]) else self.number(values[code])

        decisions = []
        for j in asked:
            position, at = self._described.feature_of(j), self._described.positions[j]
            feature = self._described.features[position]
            decisions.append((choose(position, feature.codes, feature.missing), write(at)))
        names = [f"z{j}" for j in asked]
        self._add_stage(zip(names, self.write(decisions), strict=True))

    def _write_lines(self, lines: Any) -> Callable[[int], str]:
        def write(node: int) -> str:
            words = [self.number(0.0)]
            for t in range(int(lines.offsets[node]), int(lines.offsets[node + 1])):
                z = f"(z{lines.feature[t]} - {self.number(lines.center[t])})"
                words.append(f"coalesce({self.number(lines.slope[t])} * {z}, {self.number(0.0)})")
            return " + ".join(words)

        return write


@dataclass(frozen=True)
class _Leaves:
    """The leaves of a tree by their place, which a column has, and the number of each leaf.

    Values and lines choose their constants by the leaf.  So a line multiplies once for all leaves,
    and no constant is an operand.
    """

    column: str
    numbers: list[int]

    def write(self, query: _Query, term: Lookup, model: int) -> list[str]:
        """Return the expressions of the values in a model, and of the lines, if any."""
        k = term.models.index(model)
        parts = [self._choose([query.number(term.values[node, k]) for node in self.numbers])]
        assert term.lines is not None
        lines = term.lines[k]
        sizes = np.diff(lines.offsets)[self.numbers]
        zero, products = query.number(0.0), []
        for r in range(int(sizes.max(initial=0))):
            slopes, places, centers = [], [], []
            for node, size in zip(self.numbers, sizes.tolist(), strict=True):
                t = int(lines.offsets[node]) + r
                slopes.append(query.number(lines.slope[t]) if r < size else zero)
                places.append(f"z{lines.feature[t]}" if r < size else "NULL")
                centers.append(query.number(lines.center[t]) if r < size else zero)
            z = f"{self._choose(places)} - {self._choose(centers)}"
            products.append(f"coalesce({self._choose(slopes)} * ({z}), {zero})")
        return [*parts, f"({' + '.join(products)})"] if products else parts

    def _choose(self, words: Sequence[str], begin: int = 0) -> str:
        """Return the word of the leaf, the first of `words` having the place `begin`."""
        if len({*words}) == 1:
            return words[0]
        half = len(words) // 2
        below, above = self._choose(words[:half], begin), self._choose(words[half:], begin + half)
        return f"CASE WHEN {self.column} < {begin + half} THEN {below} ELSE {above} END"


def _list_leaves(decision: Decision) -> list[int]:
    """Return the numbers of a decision's leaves, in ascending order."""
    if isinstance(decision, Leaf):
        return [decision.number]
    ends = (end for test in list_tests(decision) for end in (test.yes, test.no))
    return sorted({end.number for end in ends if isinstance(end, Leaf)})


def _list_features(term: Any) -> Iterable[int]:
    """Yield the features that a term needs."""
    if isinstance(term, Linear):
        yield term.feature
        return
    for lines in term.lines or ():
        yield from lines.feature.tolist()
    for test in list_tests(term.decision):
        yield test.feature


def _find_least(operator: str, size: float) -> float:
    """Return the least positive double whose product with a size, or quotient, is not 0."""
    shrinks = size < 1.0 if operator == "*" else size > 1.0
    if not shrinks or size == 0.0 or np.isinf(size):
        return _TINIEST

    def apply(value: float) -> float:
        return value * size if operator == "*" else value / size

    # Half of the least double rounds to 0; the first guess is a few steps off at most.
    guess = np.ldexp(1.0, -500) / size if operator == "*" else np.ldexp(1.0, -500) * size
    least = max(_TINIEST, float(np.ldexp(guess, -575)))
    while apply(least) == 0.0:
        least = float(np.nextafter(least, np.inf))
    while least > _TINIEST and apply(float(np.nextafter(least, 0.0))) > 0.0:
        least = float(np.nextafter(least, 0.0))
    return least


def _find_deep(decision: Decision) -> set[int]:
    """Return the tests, by identity, that become columns to limit the nesting of expressions."""
    heights: dict[int, int] = {}
    deep = set()
    for test in list_tests(decision):
        height = 1 + max(heights.get(id(test.yes), 0), heights.get(id(test.no), 0))
        if height == _DEEPEST and test is not decision:
            deep.add(id(test))
            height = 0
        heights[id(test)] = height
    return deep


def _count_columns(term: Lookup | Linear) -> int:
    """Return the largest number of columns of a term of a sum."""
    if isinstance(term, Linear):
        return 0
    return (1 if term.lines is None else 2) * (1 + len(_find_deep(term.decision)))


class _Columns(Value):
    """Expressions, one per class."""

    def __init__(self, query: _Query, expressions: list[str]) -> None:
        self._query, self.expressions = query, expressions

    @property
    def n(self) -> int:
        """The number of expressions."""
        return len(self.expressions)

    def make(self, write: Callable[..., str], *others: _Columns | float) -> _Columns:
        """Return what `say` makes of each expression and those of the others beside it."""
        operands = [self, *others]
        n = max(operand.n for operand in operands if isinstance(operand, _Columns))
        rows = [
            operand.expressions * (n // operand.n)
            if isinstance(operand, _Columns)
            else [self._query.number(operand)] * n
            for operand in operands
        ]
        return _Columns(self._query, [write(*row) for row in zip(*rows, strict=True)])

    def _combine(self, operator: str, other: _Columns | float) -> _Columns:
        if operator == "max":
            return self.make(lambda a, b: self._query.greatest([a, b]), other)
        if operator in "*/" and isinstance(other, float):
            return self.make(lambda a: f"({self._query.scale(a, operator, other)})")
        return self.make(lambda a, b: f"({a} {operator} {b})", other)

    def apply(self, function: str) -> _Columns:
        return self.make(lambda a: f"{function}({a})")

    def where_positive(self, yes: _Columns | float, no: _Columns | float) -> _Columns:
        zero = self._query.number(0.0)
        return self.make(lambda a, b, c: f"CASE WHEN {a} > {zero} THEN {b} ELSE {c} END", yes, no)

    def total(self) -> _Columns:
        columns = self.keep()
        return _Columns(self._query, [f"({' + '.join(columns.expressions)})"])

    def largest(self) -> _Columns:
        return _Columns(self._query, [self._query.greatest(self.expressions)])

    def is_top(self) -> _Columns:
        columns, top = self.keep().expressions, self.largest().keep().expressions[0]
        one, zero = self._query.number(1.0), self._query.number(0.0)
        indicators: list[str] = []
        for k, column in enumerate(columns):
            before = "".join(f" AND {other} < {top}" for other in columns[:k])
            indicators.append(f"CASE WHEN {column} >= {top}{before} THEN {one} ELSE {zero} END")
        return _Columns(self._query, indicators)

    def beside(self, other: _Columns) -> _Columns:
        return _Columns(self._query, self.expressions + other.expressions)

    def less_each(self, numbers: NDArray[np.float64]) -> _Columns:
        (only,) = self.keep().expressions
        return _Columns(self._query, [f"({only} - {self._query.number(t)})" for t in numbers])

    def take(self, places: NDArray[np.intp]) -> _Columns:
        return _Columns(self._query, [self.expressions[k] for k in places.tolist()])

    def keep(self) -> _Columns:
        return _Columns(self._query, self._query.keep(self.expressions))

    def look_up_cubic(self, cells: NDArray[np.float64]) -> _Columns:
        number = self._query.number
        if self._query.refuses_tiny:
            # Smaller coefficients are below the least probability.
            cells = np.where(np.abs(cells) < 1e-290, 0.0, cells)
        x = self.at_most(np.nextafter(2.0**OCTAVES, 0.0)).keep()
        powers = (2.0 ** np.arange(OCTAVES)).tolist()
        power = x.make(lambda a: self._bisect(a, powers, powers, number)).keep()
        within = ((x / power - 1.0) * float(CELLS_PER_OCTAVE)).keep()
        t = within.make(lambda a: f"({a} - floor({a}))").keep()
        starts = np.outer(powers, 1.0 + np.arange(CELLS_PER_OCTAVE) / CELLS_PER_OCTAVE).ravel()
        same = np.concatenate([[True], np.any(cells[1:] != cells[:-1], axis=1)])
        used_starts, used_cells = starts[same].tolist(), cells[same]

        def write(x: str, t: str) -> str:
            def polynomial(c: NDArray[np.float64]) -> str:
                words = number(c[0])
                if c[1:].any():
                    words += (
                        f" + {t} * ({number(c[1])} + {t} * ({number(c[2])} + {t} * {number(c[3])}))"
                    )
                return words

            return self._bisect(x, used_starts, list(used_cells), polynomial)

        return x.make(write, t).keep()

    def _bisect(
        self, x: str, starts: Sequence[float], ends: Sequence[Any], write: Callable[[Any], str]
    ) -> str:
        """Return the entry of the last start that x reaches; it always reaches the first."""
        if len(ends) == 1:
            return write(ends[0])
        half = len(ends) // 2
        below = self._bisect(x, starts[:half], ends[:half], write)
        above = self._bisect(x, starts[half:], ends[half:], write)
        test = f"{x} < {self._query.number(starts[half])}"
        return f"CASE WHEN {test} THEN {below} ELSE {above} END"
