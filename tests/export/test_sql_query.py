import enum
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.data_files import need
from helpers.databases import DIALECTS, list_columns, open_database, skip_without
from helpers.exports import (
    MODELS,
    find_edge_rows,
    find_raw,
    fit,
    fit_edited_trees,
    fit_merged_lines,
    fit_ordered,
    make_frame,
    make_rows,
)
from properboost import export
from properboost.datasets._adult import ADULT
from properboost.export.decisions import measure_depth
from properboost.export.description import describe
from properboost.export.sql_query import to_sql

OUTPUTS = ("label", "raw", "probabilities")
TABLE = 'my "table"'

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def run(dialect, query, columns, table=TABLE):
    """Return the rows, sorted by the first column, and the names of all columns."""
    skip_without(dialect)
    with open_database(dialect) as base:
        base.fill(table, columns)
        rows, names = base.ask(query)
        return sorted(rows), names


def check(model, X, dialect, **options):
    table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).add_prefix("x")
    table = table.reset_index(drop=True)
    table.insert(0, "row", np.arange(len(table)))
    query = to_sql(model, dialect=dialect, table=TABLE, keep=["row"], outputs=OUTPUTS, **options)
    rows, names = run(dialect, query, list_columns(table))
    expected = find_raw(model, X)
    n_raw = expected.reshape(len(rows), -1).shape[1]
    raw = np.array([row[2 : 2 + n_raw] for row in rows], dtype=float)
    np.testing.assert_array_equal(raw.reshape(expected.shape), expected)
    p = np.array([row[2 + n_raw :] for row in rows])
    assert np.abs(p - model.predict_proba(X)).max() <= 1e-14
    assert [row[1] for row in rows] == model.predict(X).tolist()
    return names


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_raw_predictions_have_the_bits(name, n_classes, dialect):
    check(*fit(n_classes, **MODELS[name]), dialect)


@pytest.mark.parametrize("name", ["tables", "lines"])
def test_raw_predictions_have_the_bits_in_duckdb(name):
    check(*fit(3, n_estimators=3, **MODELS[name]), "duckdb")


@every_dialect
def test_links(dialect):
    for loss in ("ggauss", "gboost", "tangent"):
        check(*fit(2, loss=loss, gain=0.1, n_estimators=2), dialect)
    check(*fit(3, multiclass="one_vs_rest", gain=0.1), dialect)


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_joint_canonical(dialect):
    check(*fit(3, loss="glaplacian", gain=0.1, n_estimators=3), dialect)


@every_dialect
def test_ordered_classes(dialect):
    names = check(*fit_ordered(4, named=True), dialect)
    labels = ["excellent", "good", "it's fair", "poor"]
    assert names[-4:] == [f"probability_{label}" for label in labels]
    check(*fit_ordered(3, loss="ggauss", gain=0.1, weak_learner="tree"), dialect)
    check(*fit_ordered(4, moving=True, weak_learner="table"), dialect)
    check(*fit_ordered(2), dialect)


@every_dialect
def test_other_estimators(dialect):
    X, y = make_rows(2)
    for model in (pb.ARBoostClassifier(n_estimators=5), pb.UDTClassifier(max_leaf_nodes=6)):
        model.fit(X, y)
        check(model, find_edge_rows(model, X), dialect)
    finite = np.clip(np.nan_to_num(X), -5.0, 5.0)
    check(pb.RadoBoostClassifier(n_rados=200, n_estimators=50).fit(finite, y), finite, dialect)


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        *((name, system) for name in MODELS for system in ("sqlite", "postgres")),
        ("pairs", "duckdb"),
        ("trees", "duckdb"),
    ],
)
def test_categories_and_hostile_names(name, dialect):
    table, y, new = make_frame()
    model = pb.ProperBoostClassifier(n_estimators=8, **MODELS[name]).fit(table, y)
    names = check(model, new, dialect)
    assert names == ["row", "label", "raw", "probability_ja", "probability_no'n"]


@pytest.mark.parametrize("n_classes", [2, 3])
@every_dialect
def test_merged_models_with_lines(dialect, n_classes):
    check(*fit_merged_lines(n_classes), dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_trees_that_were_edited(dialect):
    check(*fit_edited_trees(), dialect)


@every_dialect
def test_neither_features_nor_keys_are_needed(dialect):
    X = np.ones((40, 1))
    model = pb.ProperBoostClassifier(n_estimators=3, n_jobs=1).fit(X, np.arange(40) % 4 == 0)
    query = to_sql(model, dialect=dialect, table=TABLE, outputs=["raw"])
    rows, names = run(dialect, query, list_columns(pd.DataFrame({"x0": X[:, 0]})))
    assert rows == [(raw,) for raw in model.decision_function(X)]
    assert names == ["raw"]


def test_adult():
    """ADULT is a real table with categories and missing values."""
    need(*ADULT.files)
    X, y = pb.datasets.load_adult(subset="train", dropna=False, return_X_y=True)
    new = pb.datasets.load_adult(subset="test", dropna=False, return_X_y=True)[0][:300]
    model = pb.ProperBoostClassifier(n_estimators=20, interactions=5, weak_learner="table").fit(
        X[:3000], y[:3000]
    )
    new = new.astype(dict.fromkeys(new.select_dtypes("category"), object))
    for dialect in ("sqlite", "postgres"):
        check(model, new, dialect)


# -- names -----------------------------------------------------------------------------------------


def make_named(*names, n=60):
    """Return a model that depends on each of these columns, and its rows."""
    X = np.random.default_rng(1).normal(size=(n, len(names)))
    table = pd.DataFrame(X, columns=list(names))
    model = pb.ProperBoostClassifier(n_estimators=20, rows_per_bin=None, weak_learner="table")
    return model.fit(table, X.sum(axis=1) > 0), table


def test_columns_may_be_called_otherwise():
    model, X = fit()
    table = pd.DataFrame(X, columns=["x3", "x2", "x1", "x0"])
    named = to_sql(model, dialect="sqlite", table=TABLE, columns=list(table), outputs="raw")
    rows, _ = run("sqlite", named, list_columns(table))
    np.testing.assert_array_equal(rows, np.sort(model.decision_function(X))[:, None])


def test_names_that_are_taken_get_an_underscore():
    model, X = fit()
    table = pd.DataFrame(X).add_prefix("x").assign(RAW=1)
    query = to_sql(model, dialect="sqlite", table=TABLE, keep=["RAW"], outputs=["raw"])
    assert run("sqlite", query, list_columns(table))[1] == ["RAW", "raw_"]


@every_dialect
@pytest.mark.parametrize(
    "name",
    ["x0", "x1", "s0", "_r", "count", "ROWID", "oid", "ctid", "filename", "row_to_json", TABLE],
)
def test_a_column_that_is_not_there_is_an_error(dialect, name):
    """Such a name means no text, no alias, no function and no row number of the database."""
    skip_without(dialect)
    model, table = make_named("age", name)
    columns = list_columns(table.rename(columns={name: "other"}))
    options = {"dialect": dialect, "table": TABLE, "outputs": ["raw"]}
    if dialect == "sqlite" and name in ("ROWID", "oid"):
        with pytest.raises(ValueError, match=f"columns must not be called '{name}'"):
            to_sql(model, **options)
        options["columns"] = ["age", "renamed"]
    query = to_sql(model, **options)
    with open_database(dialect) as base:
        base.fill(TABLE, columns)
        with pytest.raises(Exception, match=r"no such column|does not (have|exist)"):
            base.ask(query)


@every_dialect
def test_a_key_that_is_not_there_is_an_error(dialect):
    skip_without(dialect)
    model, table = make_named("age", "income")
    for name in ("id", "k0", "count"):
        query = to_sql(model, dialect=dialect, table=TABLE, keep=[name], outputs=["raw"])
        with open_database(dialect) as base:
            base.fill(TABLE, list_columns(table))
            with pytest.raises(Exception, match=r"no such column|does not (have|exist)"):
                base.ask(query)


@every_dialect
def test_tables_and_keys_are_called_as_parts_of_the_query(dialect):
    model, table = make_named("c1", "x1", "_r", "s0")
    expected = model.decision_function(table)
    columns = list_columns(table)
    for k, table_name in enumerate(("s0", "S1", "_r", "k0")):
        keep = ["c1", "s0", "_r", "x1"][k:]
        query = to_sql(
            model, dialect=dialect, table=table_name, keep=keep, outputs=["raw", "label"]
        )
        rows, names = run(dialect, query, columns, table_name)
        assert names == [*keep, "raw", "label"]
        order = np.argsort(table[keep[0]], kind="stable")
        np.testing.assert_array_equal([row[-2] for row in rows], expected[order])
        for j, name in enumerate(keep):
            np.testing.assert_array_equal([row[j] for row in rows], table[name][order])


@every_dialect
def test_names_that_differ_by_case(dialect):
    model, table = make_named("Age", "age", "Éa", "éa")
    if dialect == "postgres":
        check(model, table, dialect)
        return
    with pytest.raises(ValueError, match=r"columns must differ for .*'Age' and 'age'"):
        to_sql(model, dialect=dialect)
    with pytest.raises(ValueError, match=r"columns must differ for .*'a' and 'A'"):
        to_sql(model, dialect=dialect, columns=["a", "b", "A", "c"])
    named = ["Age", "age 2", "Éa", "éa"]
    query = to_sql(model, dialect=dialect, table=TABLE, columns=named, outputs=["raw"])
    rows, _ = run(dialect, query, list_columns(table.set_axis(named, axis=1)))
    np.testing.assert_array_equal(rows, np.sort(model.decision_function(table))[:, None])
    query = to_sql(model, dialect=dialect, columns=named, keep=["Age", "ID"])
    assert '_r."ID"' in query
    with pytest.raises(ValueError, match=r"keep must spell a column as the others do.*'AGE'"):
        to_sql(model, dialect=dialect, columns=named, keep=["AGE"])


@every_dialect
def test_a_column_is_not_two_features(dialect):
    model, _ = make_named("a", "b")
    with pytest.raises(ValueError, match=r"columns must differ for .*got 'c' and 'c'"):
        to_sql(model, dialect=dialect, columns=["c", "c"])


def test_postgres_cuts_long_names():
    long = "a" * 62
    model, table = make_named(f"{long}1", f"{long}é")
    with pytest.raises(
        ValueError, match=r"at most 63 bytes, to which PostgreSQL cuts them; got 'a*é'"
    ):
        to_sql(model, dialect="postgres")
    for options in ({"keep": ["k" * 64]}, {"table": "t" * 64}):
        with pytest.raises(ValueError, match="at most 63 bytes"):
            to_sql(model, dialect="postgres", columns=["a", "b"], **options)
    check(model, table, "duckdb")
    check(model, table, "sqlite")

    y = np.array([f"{'é' * 40}{k}" for k in range(3)])[np.arange(60) % 3]
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(table, y)
    named = table.set_axis(["a", "b"], axis=1)
    query = to_sql(model, dialect="postgres", table=TABLE, columns=["a", "b"], outputs=["raw"])
    rows, names = run("postgres", query, list_columns(named))
    assert len(set(names)) == 3
    assert max(len(name.encode()) for name in names) <= 63
    np.testing.assert_array_equal(rows, sorted(model.decision_function(table).tolist()))


def test_half_a_surrogate_pair_is_no_name():
    model, _ = make_named("a", "b")
    for wrong in ("\ud800", "", "a\0b", 3):
        with pytest.raises(ValueError, match="names of tables and columns must be"):
            to_sql(model, columns=[wrong, "b"])
    y = np.array(["\ud800\0", "b"])[np.arange(60) % 2]
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(
        np.arange(60.0)[:, None], y
    )
    assert 'AS "probability_?"' in to_sql(model)
    with pytest.raises(ValueError, match="a string of the labels must not hold"):
        to_sql(model, outputs=["label"])


# -- texts and numbers of columns ------------------------------------------------------------------


ANY_CASE = (
    "CREATE COLLATION IF NOT EXISTS any_case (provider=icu, locale='und-u-ks-level2', "
    "deterministic=false)"
)
COLLATIONS = {
    "sqlite": ("", "TEXT COLLATE NOCASE", "TEXT"),
    "duckdb": ("", "VARCHAR COLLATE NOCASE", "VARCHAR"),
    "postgres": (ANY_CASE, "text COLLATE any_case", "text"),
}


@every_dialect
def test_categories_are_compared_by_their_bytes(dialect):
    skip_without(dialect)
    texts = ["A", "a", "a ", "á", "a\u0301", "a\\b", "it's", ""]
    table = pd.DataFrame({"c": pd.Categorical(texts * 20, categories=texts)})
    y = np.isin(np.arange(160) % 8, [1, 3, 5, 7])
    model = pb.ProperBoostClassifier(n_estimators=9, rows_per_bin=None, weak_learner="table").fit(
        table, y
    )
    query = to_sql(model, dialect=dialect, table=TABLE, outputs=["raw"])
    expected = dict(zip(texts, model.decision_function(table[:8]).tolist(), strict=True))
    unseen = pd.DataFrame({"c": ["AA", "Á", None]}, dtype=object)
    expected |= dict(zip(unseen["c"], model.decision_function(unseen).tolist(), strict=True))
    begin, *kinds = COLLATIONS[dialect]
    for kind in kinds:
        with open_database(dialect) as base:
            if begin:
                base.connection.execute(begin)
            if dialect == "duckdb":
                base.connection.execute("SET default_collation = 'nocase'")
            base.fill(TABLE, {"c": (kind, [*expected])})
            assert sorted(base.ask(query)[0]) == sorted((raw,) for raw in expected.values())


@pytest.mark.parametrize("setting", ["on", "off"])
def test_postgres_reads_backslashes_as_they_are(setting):
    skip_without("postgres")
    texts = ["a\\b", "a\\\\b", "a\b", "\\'"]
    labels = np.array(["\\n", "\n"])
    table = pd.DataFrame({"c": pd.Categorical(texts * 20, categories=texts)})
    y = labels[np.arange(80) % 2]
    model = pb.ProperBoostClassifier(n_estimators=9, rows_per_bin=None, weak_learner="table").fit(
        table, y
    )
    query = to_sql(model, dialect="postgres", table=TABLE, outputs=["label"], keep=["c"])
    with open_database("postgres") as base:
        base.fill(TABLE, {"c": ("text", texts)})
        base.connection.execute(f"SET standard_conforming_strings = {setting}")
        assert dict(base.ask(query)[0]) == dict(zip(texts, y, strict=False))


@pytest.mark.parametrize("spaces", [0, 2])
def test_postgres_texts_of_a_fixed_size(spaces):
    """Categories end in spaces, as clients read them; else trailing spaces do not count."""
    skip_without("postgres")
    texts = [f"{text}{' ' * spaces}" for text in ("ab", "cd")] + ["abcd"]
    table = pd.DataFrame({"c": pd.Categorical(texts * 30, categories=texts)})
    model = pb.ProperBoostClassifier(n_estimators=9, rows_per_bin=None, weak_learner="table")
    model.fit(table, np.arange(90) % 3 == 1)
    query = to_sql(model, dialect="postgres", table=TABLE, outputs=["raw"])
    with open_database("postgres") as base:
        base.fill(TABLE, {"c": ("character(4)", texts)})
        expected = sorted((raw,) for raw in model.decision_function(table[:3]).tolist())
        assert sorted(base.ask(query)[0]) == expected


NUMBERS = [" 1.5 ", "1e5", ".5", "-2", "+1", "9007199254740993"]
NO_NUMBERS = ["", "abc", "1,5", "12abc", "2024-01-01", "-", "1e", "true"]


@every_dialect
def test_texts_in_columns_of_numbers(dialect):
    """Texts that the database reads as numbers are these numbers; others give errors."""
    skip_without(dialect)
    model, _ = make_named("a", "b")
    query = to_sql(model, dialect=dialect, table=TABLE, outputs=["raw"])
    table = pd.DataFrame({"a": [float(text) for text in NUMBERS], "b": 0.5})
    with open_database(dialect) as base:
        base.fill(TABLE, {"a": ("text", NUMBERS), "b": ("number", [0.5] * len(NUMBERS))})
        expected = sorted((raw,) for raw in model.decision_function(table).tolist())
        assert sorted(base.ask(query)[0]) == expected
    for text in NO_NUMBERS:
        with open_database(dialect) as base:
            base.fill(TABLE, {"a": ("text", ["1", text]), "b": ("number", [0.5, 0.5])})
            with pytest.raises(
                Exception, match=r"invalid input|Could not convert|integer overflow"
            ):
                base.ask(query)


def test_sqlite_columns_without_a_type():
    """In SQLite values have types, and columns need none."""
    model, _ = make_named("a", "b")
    query = to_sql(model, dialect="sqlite", table=TABLE, outputs=["raw"])
    cells = [1, 1.5, True, "1.25", None, np.inf, -np.inf, 2**53 + 1]
    numbers = pd.DataFrame({"a": [1, 1.5, 1, 1.25, np.nan, np.inf, -np.inf, 2.0**53], "b": 0.0})
    expected = sorted((raw,) for raw in model.decision_function(numbers).tolist())
    for kind in ("", "BLOB", "NUMERIC"):
        columns = {"a": (kind, cells), "b": ("REAL", [0.0] * len(cells))}
        assert run("sqlite", query, columns)[0] == expected
    for cell in (b"1", b"", "", "x"):
        with pytest.raises(Exception, match="integer overflow"):
            run("sqlite", query, {"a": ("", [cell]), "b": ("REAL", [0.0])})


@every_dialect
@pytest.mark.parametrize("kind", ["integer", "decimal(18, 3)", "real", "number"])
def test_types_of_numbers(dialect, kind):
    rng = np.random.default_rng(3)
    whole = kind == "integer"
    x = rng.integers(-(2**60), 2**60, 300) if whole else rng.normal(size=300).round(3)
    if kind == "real" and dialect != "sqlite":
        x = x.astype(np.float32)
    model = pb.ProperBoostClassifier(n_estimators=9, rows_per_bin=None, weak_learner="table")
    model.fit(x[:, None], x > np.median(x))
    query = to_sql(model, dialect=dialect, table=TABLE, outputs=["raw"], keep="row")
    columns = {"row": ("integer", [*range(300)]), "x0": (kind, x.tolist())}
    rows, _ = run(dialect, query, columns)
    np.testing.assert_array_equal([row[1] for row in rows], model.decision_function(x[:, None]))


def test_integers_that_doubles_merge_are_no_categories():
    y = np.arange(80) % 2
    for category in (2**53, -(2**60), 2**63):
        table = pd.DataFrame({"c": pd.Categorical([category, 1] * 40)})
        model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(table, y)
        with pytest.raises(ValueError, match=f"{category} of column 'c' has the double of other"):
            to_sql(model)
    largest = pd.DataFrame({"c": pd.Categorical([2**53 - 1, 1] * 40)})
    check(
        pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(largest, y),
        largest.astype(int),
        "sqlite",
    )


@every_dialect
def test_categories_of_more_places_than_a_small_integer_has_bits(dialect):
    texts = [f"c{k:02}" for k in range(45)]
    table = pd.DataFrame({"c": pd.Categorical(texts * 8, categories=texts)})
    y = ~np.isin(np.arange(360) % 45, [1, 4, 9, 11])
    model = pb.ProperBoostClassifier(
        weak_learner=pb.Tree(max_leaf_nodes=2, min_child_weight=0.0), n_estimators=2
    ).fit(table, y)
    (bits,) = set(re.findall(r"\(\(([0-9]+)\S* >> x0\) & 1\) = 1", to_sql(model, dialect=dialect)))
    assert int(bits) < 2**31  # a constant without a type has 32 bits
    check(model, table.astype(object), dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_edges_may_be_infinite(dialect):
    X = np.array([[-np.inf], [1.0], [np.inf], [-1e308], [np.nan]] * 8)
    model = pb.ProperBoostClassifier(n_estimators=3, rows_per_bin=None, weak_learner="table").fit(
        X, np.tile([0, 1, 1, 0, 1], 8)
    )
    assert np.isinf(model.shape_function(0).edges).any()
    check(model, X, dialect)


# -- labels ----------------------------------------------------------------------------------------


class Mark(str, enum.Enum):  # noqa: UP042 -- which prints as its name
    BAD = "bad"
    GOOD = "good"


def label_rows(dialect, labels, n_classes=2):
    """Return the labels that a query gives, and those of the model."""
    x = np.repeat(np.arange(float(n_classes)), 20)
    y = labels[np.repeat(np.arange(n_classes), 20)]
    model = pb.ProperBoostClassifier(n_estimators=3, rows_per_bin=None, weak_learner="table").fit(
        x[:, None], y
    )
    query = to_sql(model, dialect=dialect, table=TABLE, outputs=["label"], keep=["x0"])
    rows, _ = run(dialect, query, {"x0": ("number", x.tolist())})
    return [row[1] for row in rows], model.predict(x[:, None]).tolist()


@every_dialect
@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([False, True]), bool),
        (np.array([-1, 1], dtype=np.int8), int),
        (np.array([0, 255], dtype=np.uint8), int),
        (np.array([-(2**63), 2**63 - 1]), int),
        (np.array([1, 2**63 - 1], dtype=np.uint64), int),
        (np.array([0.0, 1.0]), float),
        (np.array([-3.0, 1e15]), float),
        (np.array([1.0, 16777216.0], dtype=np.float32), float),
        (np.array([1.0, 2.0], dtype=np.float16), float),
        (np.array([1.0, 2.0], dtype=np.longdouble), float),
        (np.array(["0", "1"]), str),
        (np.array(["it's", "\\x0b"], dtype=object), str),
    ],
)
def test_labels_have_the_type_of_predict(dialect, labels, kind):
    came, right = label_rows(dialect, labels)
    assert came == right
    if dialect != "sqlite" or kind is not bool:  # SQLite has integers only
        assert {type(label) for label in came} == {kind}


@every_dialect
def test_labels_of_several_classes(dialect):
    came, right = label_rows(dialect, np.array([0.0, 1.0, 2.0]), 3)
    assert came == right


@every_dialect
def test_labels_beyond_64_bits(dialect):
    labels = np.array([2**63 + 1, 2**64 - 1], dtype=np.uint64)
    if dialect == "sqlite":
        with pytest.raises(
            ValueError, match="label 9223372036854775809 is beyond the integers of SQL"
        ):
            label_rows(dialect, labels)
        return
    came, right = label_rows(dialect, labels)
    assert came == right


def test_a_subclass_of_strings_is_its_text():
    labels = np.empty(2, dtype=object)
    labels[:] = list(Mark)
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(
        np.arange(60.0)[:, None], ["b", "g"] * 30
    )
    model.classes_ = labels
    query = to_sql(model, outputs=["label", "probabilities"])
    assert "THEN 'good' ELSE 'bad' END" in query
    assert 'AS "probability_good"' in query


# -- size ------------------------------------------------------------------------------------------


def test_deep_trees_and_many_terms():
    X, y = make_rows(2, 60)
    model = pb.ProperBoostClassifier(
        weak_learner=pb.Tree(max_leaf_nodes=30, min_child_weight=0.0), n_estimators=205
    ).fit(X, y)
    assert max(measure_depth(term.decision) for term in describe(model).terms) > 12
    check(model, X, "sqlite")


def fit_chain(n):
    """Fit a tree of 12 n rows, each of which ends one test deeper than the last."""
    X = np.concatenate([np.where(np.arange(12) == j, np.arange(n)[:, None], n) for j in range(12)])
    model = pb.UDTClassifier(max_leaf_nodes=None, min_child_weight=0.0)
    return model.fit(X, np.arange(12 * n) % 2), X.astype(float)


@every_dialect
def test_trees_deeper_than_functions_call_each_other(dialect):
    # DuckDB plans deep queries for seconds.
    model, X = fit_chain(250 if dialect == "sqlite" else 30)
    assert model.tree_.depth > (2900 if dialect == "sqlite" else 200)
    columns = list_columns(pd.DataFrame(X[::7]).add_prefix("x"))
    query = to_sql(model, dialect=dialect, table=TABLE, outputs=["raw", "probabilities"])
    rows, _ = run(dialect, query, columns)
    raw, p = model.decision_function(X[::7]), model.predict_proba(X[::7])
    assert rows == sorted(zip(raw.tolist(), *p.T.tolist(), strict=True))


def test_what_is_too_large_for_a_database_is_refused(monkeypatch):
    dialects = export.sql_query.DIALECTS
    assert dialects["duckdb"].deepest < 1000  # DuckDB's default limit
    monkeypatch.setitem(dialects, "sqlite", replace(dialects["sqlite"], deepest=20))
    words = "UDTClassifier cannot be exported to SQLite: the query would have .* stages one on the"
    with pytest.raises(ValueError, match=words):
        to_sql(fit_chain(30)[0], dialect="sqlite")
    monkeypatch.undo()
    model, X = fit(3, weak_learner=pb.Tree(min_child_weight=0.0))
    for system, widest in (("postgres", 20), ("duckdb", 8)):
        monkeypatch.setitem(dialects, system, replace(dialects[system], widest=widest))
    check(model, X, "postgres")  # each of more stages has fewer terms
    with pytest.raises(ValueError, match=r"columns side by side, and at most 8 can be"):
        to_sql(model)


def test_no_constant_of_a_line_is_an_operand_in_sqlite():
    """SQLite compares it with all other constants, in time quadratic in their number."""
    model, _ = fit(3, **MODELS["lines"])
    operand = re.compile(r"[0-9)] \* \(z[0-9]|z[0-9]+ - \(?[0-9]")
    assert not operand.search(to_sql(model, dialect="sqlite"))
    assert operand.search(to_sql(model, dialect="duckdb"))


def test_postgres_has_forms_of_its_own():
    model, _ = fit()
    query = to_sql(model, dialect="postgres", table=("public", "rows"))
    assert 'FROM "public"."rows"' in query
    assert "NULLIF(CAST(\"x2\" AS double precision), float8 'nan')" in query
    assert "::float8" in query


def test_arguments_are_named():
    model, _ = fit()
    for options, words in (
        ({"dialect": "oracle"}, "dialect must be"),
        ({"columns": ["a"]}, "columns must name 4 columns, one per feature; got 1"),
        ({"table": "a\0b"}, "names of tables and columns"),
        ({"outputs": ["margin"]}, "outputs must be"),
    ):
        with pytest.raises(ValueError, match=words):
            to_sql(model, **options)


def test_texts_that_sql_cannot_hold_are_refused():
    y = np.arange(80) % 2
    for category in ("a\0b", "\ud800"):
        X = np.array([[category], ["b"]] * 40, dtype=object)
        model = pb.ProperBoostClassifier(
            n_estimators=2, categorical_features=[0], weak_learner="table"
        ).fit(X, y)
        with pytest.raises(ValueError, match="a string of column 'x0' must not hold"):
            to_sql(model)


@every_dialect
def test_linear_models_have_nothing_for_values_that_are_not_finite(dialect):
    """The model refuses missing values, and no label or probability may be made of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = pb.RadoBoostClassifier(n_rados=200, n_estimators=50).fit(X, X.sum(axis=1) > 0.0)
    assert np.all(model.coef_ != 0.0)
    query = to_sql(model, dialect=dialect, table=TABLE, outputs=OUTPUTS, keep=["row"])
    strange = [None, np.inf, -np.inf, 0.5, 5e-324]
    columns = {
        "row": ("integer", [*range(5)]),
        "x0": ("number", strange),
        "x1": ("number", [0.25] * 5),
    }
    rows, _ = run(dialect, query, columns)
    assert [row[1:] for row in rows[:3]] == [(None,) * 4] * 3
    fine = np.array([[0.5, 0.25], [5e-324, 0.25]])
    assert [row[1] for row in rows[3:]] == model.predict(fine).tolist()
    assert [row[2] for row in rows[3:]] == model.decision_function(fine).tolist()


@every_dialect
def test_products_may_be_too_small_for_doubles(dialect):
    model = pb.RadoBoostClassifier(n_rados=200, n_estimators=50)
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 9) * 1e6
    model.fit(X, X[:, 0] > 0.0)
    assert 0.0 < abs(model.coef_[0, 0]) < 1e-3
    tiny = np.array([5e-324, -5e-324, 1e-320, 1e-315, -1e-310, 0.0])[:, None]
    check(model, tiny, dialect)
