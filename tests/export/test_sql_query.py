import sqlite3

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import properboost as pb
from helpers.data_files import need
from helpers.exports import MODELS, find_edge_rows, fit, make_frame, make_rows
from properboost import export
from properboost.datasets._adult import ADULT
from properboost.export.decisions import measure_depth
from properboost.export.description import describe
from properboost.export.sql_query import to_sql

OUTPUTS = ("label", "raw", "probabilities")
TABLE = 'my "table"'


def run(dialect, query, table):
    """Rows by the first column, and the names of all."""
    if dialect == "duckdb":
        connection = pytest.importorskip("duckdb").connect()
        connection.register(TABLE, table)
    else:
        connection = sqlite3.connect(":memory:")
        table.to_sql(TABLE, connection, index=False)
    cursor = connection.execute(query)
    rows, names = sorted(cursor.fetchall()), [own[0] for own in cursor.description]
    connection.close()
    return rows, names


def check(model, X, dialect, **options):
    table = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).add_prefix("x")
    table = table.reset_index(drop=True)
    table.insert(0, "row", np.arange(len(table)))
    query = to_sql(model, dialect=dialect, table=TABLE, keep=["row"], outputs=OUTPUTS, **options)
    rows, names = run(dialect, query, table)
    expected = model.decision_function(X)
    n_raw = expected.reshape(len(rows), -1).shape[1]
    raw = np.array([row[2 : 2 + n_raw] for row in rows], dtype=float)
    np.testing.assert_array_equal(raw.reshape(expected.shape), expected)
    p = np.array([row[2 + n_raw :] for row in rows])
    assert np.abs(p - model.predict_proba(X)).max() <= 1e-14
    assert [row[1] for row in rows] == model.predict(X).tolist()
    return names


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_raw_predictions_have_the_bits(name, n_classes):
    check(*fit(n_classes, **MODELS[name]), "sqlite")


@pytest.mark.parametrize("name", ["tables", "lines"])
def test_raw_predictions_have_the_bits_in_duckdb(name):
    check(*fit(3, n_estimators=3, **MODELS[name]), "duckdb")


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_links(dialect):
    for loss in ("ggauss", "gboost", "tangent"):
        check(*fit(2, loss=loss, gain=0.1, n_estimators=2), dialect)
    check(*fit(3, multiclass="one_vs_rest", gain=0.1), dialect)


def test_joint_canonical():
    check(*fit(3, loss="glaplacian", gain=0.1, n_estimators=3), "sqlite")


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_other_estimators(dialect):
    X, y = make_rows(2)
    for model in (pb.ARBoostClassifier(n_estimators=5), pb.UDTClassifier(max_leaf_nodes=6)):
        model.fit(X, y)
        check(model, find_edge_rows(model, X), dialect)
    finite = np.clip(np.nan_to_num(X), -5.0, 5.0)
    check(pb.RadoBoostClassifier(n_rados=200, n_estimators=50).fit(finite, y), finite, dialect)


@pytest.mark.parametrize(
    ("name", "dialect"),
    [*((name, "sqlite") for name in MODELS), ("pairs", "duckdb"), ("trees", "duckdb")],
)
def test_categories_and_hostile_names(name, dialect):
    table, y, new = make_frame()
    model = pb.ProperBoostClassifier(n_estimators=8, **MODELS[name]).fit(table, y)
    names = check(model, new, dialect)
    assert names == ["row", "label", "raw", "probability_ja", "probability_no'n"]


def test_adult():
    """A real table with categories and missing values."""
    need(*ADULT.files)
    X, y = pb.datasets.load_adult(subset="train", dropna=False, return_X_y=True)
    new = pb.datasets.load_adult(subset="test", dropna=False, return_X_y=True)[0][:300]
    model = pb.ProperBoostClassifier(n_estimators=20, interactions=5).fit(X[:3000], y[:3000])
    check(model, new.astype(dict.fromkeys(new.select_dtypes("category"), object)), "sqlite")


def test_columns_may_be_called_otherwise():
    model, X = fit()
    table = pd.DataFrame(X, columns=["x3", "x2", "x1", "x0"])
    named = to_sql(model, dialect="sqlite", table=TABLE, columns=list(table), outputs="raw")
    rows, _ = run("sqlite", named, table)
    np.testing.assert_array_equal(rows, np.sort(model.decision_function(X))[:, None])


def test_names_that_are_taken_get_an_underscore():
    model, X = fit()
    table = pd.DataFrame(X).add_prefix("x").assign(RAW=1)
    query = to_sql(model, dialect="sqlite", table=TABLE, keep=["RAW"], outputs=["raw"])
    assert run("sqlite", query, table)[1] == ["RAW", "raw_"]


def test_deep_trees_and_many_terms():
    X, y = make_rows(2, 60)
    model = pb.ProperBoostClassifier(
        weak_learner="tree", n_estimators=205, max_leaf_nodes=30, min_child_weight=0.0
    ).fit(X, y)
    assert max(measure_depth(term.decision) for term in describe(model).terms) > 12
    check(model, X, "sqlite")


numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(numbers, min_size=50, max_size=50))
@settings(max_examples=10, deadline=None)
def test_numbers_are_read_exactly(some):
    described = describe(fit()[0])
    for dialect in ("sqlite", "duckdb"):
        query = export.sql_query._Query(
            export.sql_query.DIALECTS[dialect], described, ["a", "b", "c", "d"], "t", []
        )
        words = f"SELECT 0, {', '.join(map(query.number, some))}"
        (row,), _ = run(dialect, words, pd.DataFrame({"a": [1]}))
        assert list(row[1:]) == some


def test_postgres_says_it_its_own_way():
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
        model = pb.ProperBoostClassifier(n_estimators=2, categorical_features=[0]).fit(X, y)
        with pytest.raises(ValueError, match="a string of column 'x0' holds"):
            to_sql(model)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_edges_may_be_infinite(dialect):
    X = np.array([[-np.inf], [1.0], [np.inf], [-1e308], [np.nan]] * 8)
    model = pb.ProperBoostClassifier(n_estimators=3, rows_per_bin=None).fit(
        X, np.tile([0, 1, 1, 0, 1], 8)
    )
    assert np.isinf(model.shape_function(0).edges).any()
    check(model, X, dialect)
