"""Test scorers: they predict with the model's bits, for every model and from any thread."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import properboost as pb
from helpers.models import LEARNERS
from helpers.searches import QUICK

pd = pytest.importorskip("pandas")


def boosted(**settings):
    return lambda: pb.ProperBoostClassifier(**{"n_estimators": 5, "max_bins": 16, **settings})


MODELS = {
    **{name: boosted(**settings) for name, settings in LEARNERS.items()},
    "lines": boosted(weak_learner=pb.Tree(linear_leaves=True, max_features=1.0)),
    "bags": boosted(outer_bags=4),
    "savage": boosted(loss="savage"),
    "own bins for few categories": boosted(max_bins=2),
    "search": lambda: pb.ProperBoostClassifierCV(effort=None, **QUICK),
    "votes": lambda: pb.ARBoostClassifier(n_estimators=5),
    "votes of trees": lambda: pb.ARBoostClassifier(n_estimators=5, weak_learner="tree"),
    "damped votes": lambda: pb.ARBoostClassifier(n_estimators=5, damping=0.1),
    "votes, search": lambda: pb.ARBoostClassifierCV(n_estimators=5, rhos=[1.0, 2.0], cv=2),
    "preset": lambda: pb.LogitBoost(n_estimators=5),
    "probability tree": lambda: pb.UDTClassifier(max_leaf_nodes=6),
    "rados": lambda: pb.RadoBoostClassifier(n_estimators=20),
    "linear": lambda: pb.ULSClassifier(n_estimators=20),
}
LINEAR = ("rados", "linear")
SEVERAL = {
    "softmax": boosted(multiclass="softmax"),
    "canonical": boosted(multiclass="canonical"),
    "one against the rest": boosted(multiclass="one_vs_rest"),
    "softmax of trees": boosted(weak_learner="tree", multiclass="softmax"),
    "shared trees": boosted(
        weak_learner=pb.Tree(multi_strategy="multi_output_tree"), multiclass="softmax"
    ),
    "pairs": boosted(interactions=2),
    "SAMME": lambda: pb.SAMME(n_estimators=5),
    "yes or no": lambda: pb.ARBoostClassifier(n_estimators=5, multiclass="one_vs_rest"),
}
EVERY = [(name, 2) for name in MODELS] + [(name, 3) for name in SEVERAL]

TOWNS = ["Bonn", "Kiel", "Ulm"]


@cache
def make_table(n_classes=2, n=150):
    """Return rows and labels; `fit` drops some values for models that accept missing ones."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n).round(1),
            "town": pd.Categorical(rng.choice(TOWNS, n)),
            "visits": rng.poisson(3, n),
            "floor": pd.Categorical(rng.integers(0, 3, n)),
        }
    )
    raw = 0.1 * (X["age"] - 40) + (X["town"] == "Ulm") + rng.logistic(size=n)
    y = np.array(["no", "yes", "perhaps"])[
        np.searchsorted(np.quantile(raw, np.arange(1, n_classes) / n_classes), raw)
    ]
    return X, y


@cache
def fit(name, n_classes=2):
    X, y = make_table(n_classes)
    if name not in LINEAR:
        X = X.assign(age=X["age"].where(X["age"] < 50), town=X["town"].where(X["age"] > 30))
    return (MODELS if n_classes == 2 else SEVERAL)[name]().fit(X, y)


@cache
def compile_model(name, n_classes):
    return fit(name, n_classes).compile()


def draw_rows(*, missing):
    """Return a strategy for rows of values that training had, and of others."""
    gap = st.sampled_from([None, float("nan")]) if missing else st.nothing()
    row = {
        "age": st.floats(-1e300, 1e300) | st.sampled_from([39.9, 40.1]) | gap,
        "town": st.sampled_from([*TOWNS, "Rome"]) | st.none(),
        "visits": st.integers(-5, 2**53) | gap,
        "floor": st.sampled_from([0, 1, 2.0, True, 7]) | st.none(),
    }
    return st.lists(st.fixed_dictionaries(row), min_size=1, max_size=3)


def as_frame(rows):
    """Return the same rows as a table with columns of numbers and of objects."""
    frame = pd.DataFrame(rows, columns=["age", "town", "visits", "floor"], dtype=object)
    return frame.astype({"age": float, "visits": float})


def assert_same(scorer, model, rows, X):
    np.testing.assert_array_equal(scorer.predict_proba(rows), model.predict_proba(X))
    np.testing.assert_array_equal(scorer.decision_function(rows), model.decision_function(X))
    np.testing.assert_array_equal(scorer.predict(rows), model.predict(X))


@pytest.mark.parametrize(("name", "n_classes"), EVERY)
def test_rows_have_the_bits_of_the_model(name, n_classes):
    model, scorer = fit(name, n_classes), compile_model(name, n_classes)

    @given(draw_rows(missing=name not in LINEAR))
    @settings(max_examples=12, deadline=None)
    def check(rows):
        X = as_frame(rows)
        assert_same(scorer, model, rows, X)
        first = X[:1]
        assert_same(scorer, model, rows[0], first)
        assert_same(scorer, model, first, first)
        np.testing.assert_array_equal(scorer(rows[0]), model.predict_proba(first)[0])
        for column, counts in model.count_drift(X).items():
            np.testing.assert_array_equal(scorer.count_drift(rows)[column], counts)

    check()


# -- inputs ---------------------------------------------------------------------------------------

LIBRARIES = {
    "pandas": lambda X: X,
    "polars": lambda X: pytest.importorskip("polars").from_pandas(X),
    "pyarrow": lambda X: pytest.importorskip("pyarrow").Table.from_pandas(X, preserve_index=False),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_of_every_library(library):
    X, _ = make_table()
    X = X.astype({"town": "str", "floor": int})
    model, scorer = fit("table"), compile_model("table", 2)
    for n in (1, 3):
        assert_same(scorer, model, LIBRARIES[library](X[:n]), X[:n])


def test_arrays_and_positions():
    X, y = make_table()
    numbers = X[["age", "visits"]].to_numpy(dtype=float)
    model = boosted()().fit(numbers, y)
    scorer = model.compile()
    assert scorer.feature_names_in_ == [0, 1]
    assert_same(scorer, model, numbers[:2], numbers[:2])
    assert_same(scorer, model, {0: 40.0, 1: 3}, [[40.0, 3.0]])


ROW = {"age": 40.0, "town": "Ulm", "visits": 3, "floor": 1}


def test_a_call_takes_one_row():
    scorer = compile_model("table", 2)
    assert scorer(ROW).shape == (2,)
    with pytest.raises(ValueError, match="row must be one row; got 2: use predict_proba"):
        scorer([ROW, ROW])


def test_errors_are_those_of_the_model():
    scorer, (X, _) = compile_model("table", 2), make_table()
    with pytest.raises(ValueError, match="it lacks 'town'"):
        scorer({"age": 40.0, "visits": 3, "floor": 1})
    with pytest.raises(ValueError, match="column 'age' must be a number; got '40'"):
        scorer(ROW | {"age": "40"})
    with pytest.raises(ValueError, match="same order"):
        scorer(X.iloc[:1, ::-1])


def test_rados_refuse_missing_numbers():
    with pytest.raises(ValueError, match="holds NaN or infinity"):
        compile_model("rados", 2)(ROW | {"age": None})


def test_only_fitted_models_can_be_compiled():
    with pytest.raises(ValueError, match="not fitted yet"):
        pb.ProperBoostClassifier(weak_learner="table").compile()


# -- a snapshot -----------------------------------------------------------------------------------


def test_it_stays_as_it_was_compiled():
    X, y = make_table()
    for name in ("table", "search", "rados", "probability tree"):
        model = copy.deepcopy(fit(name))
        scorer = model.compile()
        before = scorer(ROW)
        if name == "table":
            model.monotonize("age", -1)
        if name in LINEAR:
            model.coef_ *= 2.0
        model.classes_[:] = "none"
        assert scorer.predict(ROW)[0] in ("no", "yes")
        np.testing.assert_array_equal(scorer(ROW), before)
        model.fit(X, np.where(y == "yes", "no", "yes"))
        np.testing.assert_array_equal(scorer(ROW), before)
        assert scorer.classes_.tolist() == ["no", "yes"]
        with pytest.raises(ValueError, match="read-only"):
            scorer.classes_[0] = "none"


@pytest.mark.parametrize("name", ["table", "tree", "search", "rados", "probability tree"])
def test_scorers_can_be_pickled(name):
    scorer = compile_model(name, 2)
    twin = pickle.loads(pickle.dumps(scorer))
    assert repr(twin) == repr(scorer)
    assert "4 features, 2 classes" in repr(twin)
    np.testing.assert_array_equal(twin(ROW), scorer(ROW))


def test_loaded_models_make_the_same_scorers(tmp_path):
    for name in ("pairs", "search", "rados", "probability tree"):
        fit(name).save_model(tmp_path / "model.json")
        scorer = pb.load_model(tmp_path / "model.json").compile()
        np.testing.assert_array_equal(scorer(ROW), compile_model(name, 2)(ROW))
        for column, counts in fit(name).count_drift(make_table()[0]).items():
            again = scorer.count_drift(make_table()[0])[column]
            np.testing.assert_array_equal(again, counts)


@pytest.mark.parametrize("name", ["table", "tree", "rados", "probability tree"])
def test_threads_share_a_scorer(name):
    # Threads make the first calls of this scorer, and thus its caches, at the same time.
    scorer = fit(name).compile()
    rows = make_table()[0].astype(object).to_dict("records")
    expected = fit(name).predict_proba(make_table()[0])
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(scorer, rows * 4))
    np.testing.assert_array_equal(answers, np.tile(expected, (4, 1)))
