"""An engineer serves a model: strings, dicts, single rows, threads, drift."""

import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
from sklearn.base import clone

import properboost as pb


def test_strings_come_in_where_categories_were_fitted(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    strings = X.astype({"town": "str"})
    np.testing.assert_array_equal(model.predict_proba(strings), model.predict_proba(X))


def test_strings_come_from_polars_and_arrow(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    rows = pl.from_pandas(X.astype({"town": "str"}))
    np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(X))
    np.testing.assert_array_equal(model.predict_proba(rows.to_arrow()), model.predict_proba(X))


def test_strings_come_in_an_array_of_objects():
    X = np.array([["Ulm"], ["Bonn"]] * 30, dtype=object)
    model = pb.ProperBoostClassifier(categorical_features=[0]).fit(X, X[:, 0] == "Ulm")
    assert model.predict(np.array([["Ulm"], ["Rome"]], dtype=object)).tolist() == [True, False]


def test_a_category_that_training_did_not_have_is_no_error(customers):
    model = pb.ProperBoostClassifier().fit(*customers)
    p = model.predict_proba(pd.DataFrame({"age": [40], "town": ["Rome"], "visits": [3]}))
    assert np.isfinite(p).all()


def test_a_dict_in_and_probabilities_out(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    scorer = model.compile()
    leaves, stays = scorer({"age": 23, "town": "Ulm", "visits": 0})
    assert leaves > 0.5 > stays
    np.testing.assert_array_equal([leaves, stays], model.predict_proba(X[:1])[0])


def test_i_load_a_scorer_where_nothing_else_is_needed(customers, tmp_path):
    model = pb.ProperBoostClassifier().fit(*customers)
    model.save_model(tmp_path / "model.json")
    scorer = pb.load_scorer(tmp_path / "model.json")
    row = {"age": 23, "town": "Ulm", "visits": 0}
    np.testing.assert_array_equal(scorer(row), model.compile()(row))


def test_a_dict_of_a_web_request_has_other_keys_too(customers):
    scorer = pb.ProperBoostClassifier().fit(*customers).compile()
    row = {"visits": 3, "town": None, "age": None, "request": "a7"}
    assert scorer(row).shape == (2,)


def test_a_list_of_dicts(customers):
    scorer = pb.ProperBoostClassifier().fit(*customers).compile()
    rows = [{"age": 23, "town": "Ulm", "visits": 0}, {"age": 61, "town": "Bonn", "visits": 11}]
    assert scorer.predict_proba(rows).shape == (2, 2)
    assert scorer.predict(rows).tolist() == ["leaves", "stays"]


def test_a_frame_of_one_row(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    scorer = model.compile()
    np.testing.assert_array_equal(scorer(X.iloc[[7]]), model.predict_proba(X.iloc[[7]])[0])


def test_many_threads_share_one_scorer(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    scorer = model.compile()
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    with ThreadPoolExecutor(4) as pool:
        probabilities = [*pool.map(scorer, rows)]
    np.testing.assert_array_equal(probabilities, model.predict_proba(X))


def test_i_serve_a_search(cancer):
    X, y = cancer
    search = pb.ProperBoostClassifierCV({"gain": 2}, effort=None).fit(X, y)
    np.testing.assert_array_equal(search.compile()(X[:1]), search.predict_proba(X[:1])[0])


def test_a_scorer_does_not_change_when_the_model_is_fitted_again(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    scorer = model.compile()
    row = {"age": 23, "town": "Ulm", "visits": 0}
    before = scorer(row)
    model.fit(X, y[::-1])
    np.testing.assert_array_equal(scorer(row), before)


def test_i_count_what_training_had_not(customers):
    model = pb.ProperBoostClassifier().fit(*customers)
    new = pd.DataFrame({"age": [19, 40], "town": ["Rome", "Ulm"], "visits": [99, None]})
    drift = pd.DataFrame(model.count_drift(new)).set_index("feature")
    assert drift.loc["age", "below"] == 1
    assert drift.loc["town", "unseen"] == 1
    assert drift.loc["visits", "above"] == 1
    assert drift.loc["visits", "missing"] == 1


def test_numbers_that_come_as_other_types_are_the_same_numbers(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier().fit(X, y)
    rounded = X.round().astype("int64")
    np.testing.assert_array_equal(
        model.predict_proba(rounded), model.predict_proba(rounded.astype("float32"))
    )


def test_pickles_and_copies_predict_the_same(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier().fit(X, y)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()


def test_a_scorer_goes_to_another_process(customers):
    scorer = pb.ProperBoostClassifier().fit(*customers).compile()
    row = {"age": 40, "town": "Kiel", "visits": 2}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(scorer))(row), scorer(row))


def test_grades_are_served_without_scikit_learn_and_from_a_database(wine, tmp_path):
    X, _ = wine
    grades = np.array(["plain", "good", "fine"])[np.digitize(X.pop("alcohol"), [12.5, 13.3])]
    model = pb.OrderedClassifier(classes=["plain", "good", "fine"]).fit(X, grades)
    model.save_model(tmp_path / "grades.json")
    scorer = pb.load_scorer(tmp_path / "grades.json")
    np.testing.assert_array_equal(scorer(X.iloc[0].to_dict()), model.predict_proba(X[:1])[0])
    with closing(sqlite3.connect(":memory:")) as database:
        X.assign(bottle=range(len(X))).to_sql("wines", database, index=False)
        options = {"dialect": "sqlite", "table": "wines", "keep": ["bottle"]}
        query = pb.export.to_sql(model, **options, outputs=["label"])
        answers = pd.read_sql(query, database).set_index("bottle").sort_index()
    assert answers["label"].tolist() == model.predict(X).tolist()
