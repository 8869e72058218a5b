"""Test errors of use: the message names the argument, the value, and what is allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

import properboost as pb
from helpers.small_problem import X, Y, fit

pd = pytest.importorskip("pandas")


# -- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("learning_rate", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize("gain", [1e-300, 1e-30, 1e30, 1e300])
def test_extreme_steps_give_finite_predictions_or_an_error(gain, learning_rate):
    for choices in (
        {},
        {"response": "newton"},
        {"step": "line_search"},
        {"loss": "savage"},
        {"selection": "cyclic"},
    ):
        try:
            model = fit(n_estimators=20, gain=gain, learning_rate=learning_rate, **choices)
        except (RuntimeError, ValueError) as error:
            assert "smaller" in str(error)  # noqa: PT017
        else:
            assert np.all(np.isfinite(model.decision_function(X)))
            assert np.all(np.isfinite(model.predict_proba(X)))


# -- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_extreme_weights_give_finite_predictions(scale):
    for settings in ({}, {"response": "newton"}, {"step": "line_search"}, {"response": "exact"}):
        model = fit(weight=scale * (1 + Y), n_estimators=20, **settings)
        assert np.all(np.isfinite(model.decision_function(X)))


@given(st.lists(st.just(0.0) | st.floats(1e-60, 1e60), min_size=6, max_size=6))
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_any_weights_give_finite_predictions_or_an_error(weights):
    x = np.arange(6.0).reshape(-1, 1)
    try:
        model = fit(x, np.arange(6) % 2, np.array(weights))
    except ValueError as error:
        assert "weight" in str(error)  # noqa: PT017
    else:
        assert np.all(np.isfinite(model.predict_proba(x)))


@pytest.mark.parametrize("learner", ["table", "stump", "tree", "rule"])
@pytest.mark.parametrize("gain", [1e3, 1e17, 1e27])
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_all_that_a_fit_keeps_is_finite_and_can_be_saved(learner, gain, tmp_path):
    rng = np.random.default_rng(0)
    settings = {"response": "newton", "step": "line_search", "n_estimators": 20}
    for weight in (10.0 ** rng.uniform(-300, 300, len(Y)), np.full(len(Y), 1e303), None):
        for rate in (1.0, 1e8):
            model = fit(
                weight=weight, weak_learner=learner, gain=gain, learning_rate=rate, **settings
            )
            assert all(np.isfinite(values).all() for values in model.history_.values())
            assert np.isfinite(model.feature_importances_).all()
            model.save_model(tmp_path / "model.json")
            loaded = pb.load_model(tmp_path / "model.json")
            np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


# -- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (sparse.csr_matrix(X.astype(complex)), "Complex data not supported"),
        (sparse.csr_matrix((60, 0)), r"0 feature\(s\)"),
        (X[:, 0], "Reshape your data"),
        (X[0, 0], "Expected 2D array"),
        (X.reshape(60, 3, 1), "Found array with dim 3"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((60, 0)), r"0 feature\(s\)"),
        (X + 1j, "Complex data not supported"),
        (X.astype(str), "column 0 has type"),
        (X.astype("M8[s]"), "column 0 has type datetime64"),
        (np.ma.masked_array(X), "X is a masked array"),
        (None, "None|NoneType"),
        ("table", "X must be a table in memory; got builtins.str"),
        ([[1, 2], [3]] * 30, "inhomogeneous|sequence"),
        (pd.DataFrame(X).assign(a="text"), "Feature names are only supported|column 'a'"),
        (pd.DataFrame(X, columns=list("abc")).assign(d=1j), "column 'd' has type complex"),
        (pd.DataFrame({"a": [1.0, "text"] * 30}, dtype=object), "'a' has type object and holds"),
        (pd.DataFrame({"a": pd.date_range("2020", periods=60)}), "column 'a' has type datetime"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_tables(x, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(x)


def test_text_is_categorical_unless_types_do_not_decide():
    frame = pd.DataFrame({"a": np.where(Y, "x", "y")})
    with pytest.raises(ValueError, match="name the column there"):
        fit(frame, categorical_features=None)
    typed = fit(frame.astype("category"))
    for named in ({}, {"categorical_features": ["a"]}):
        np.testing.assert_array_equal(
            fit(frame, **named).predict_proba(frame), typed.predict_proba(frame)
        )


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_an_unfitted_model_is_refused_by_name(method):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(pb.ProperBoostClassifier(weak_learner="table"), method)(X)


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.n_iter_,
        lambda model: model.history_,
        lambda model: model.feature_importances_,
        lambda model: model.shape_function(0),
        lambda model: model.save_model("never.json"),
        lambda model: next(model.staged_predict(X)),
        lambda model: model.margins(X, Y),
    ],
)
def test_methods_that_need_a_fit_are_refused_before(use):
    with pytest.raises(NotFittedError, match="not fitted"):
        use(pb.ProperBoostClassifier(weak_learner="table"))


# -- predicting -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (X[:, :2], "X has 2 features, but ProperBoostClassifier is expecting 3 features"),
        (np.c_[X, X], "X has 6 features, but ProperBoostClassifier is expecting 3 features"),
        (X[0], "Reshape your data"),
        (X[:0], r"0 sample\(s\)"),
        (sparse.csr_matrix(X[:, :2]), "X has 2 features, but ProperBoostClassifier is expecting 3"),
        (X.astype(str), "column 0 has type"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_bad_tables_to_predict(x, message, method):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(fit(), method)(x)


FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
TOWNS = FRAME.assign(b=pd.Categorical(np.where(Y, "Ulm", "Bonn")))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (FRAME[["b", "a", "c"]], "must be in the same order"),
        (FRAME[["a", "b"]], "Feature names seen at fit time, yet now missing:\n- c"),
        (FRAME.assign(d=0.0), "Feature names unseen at fit time:\n- d"),
        (FRAME.rename(columns={"a": "z"}), "Feature names unseen at fit time:\n- z"),
        (TOWNS, "column 'b' holds categories where numbers are expected"),
        (FRAME.assign(b="text"), "column 'b' has type"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_changed_columns(x, message):
    with pytest.raises(ValueError, match=message):
        fit(FRAME).predict(x)


STRINGS = {
    "pandas": lambda X: X,
    "pandas object": lambda X: X.astype({"b": object}),
    "pandas string": lambda X: X.astype({"b": "string[python]"}),
    "pandas string of arrow": lambda X: _needs("pyarrow") and X.astype({"b": "string[pyarrow]"}),
    "polars": lambda X: _needs("polars").from_pandas(X),
    "polars categorical": lambda X: _needs("polars").from_pandas(X.astype({"b": "category"})),
    "arrow": lambda X: _needs("pyarrow").Table.from_pandas(X, preserve_index=False),
    "arrow large": lambda X: _as_large_string(_needs("pyarrow"), X),
    "array": lambda X: X.to_numpy(dtype=object),
}
_needs = pytest.importorskip


def _as_large_string(pa, X):
    table = pa.Table.from_pandas(X, preserve_index=False)
    return table.set_column(1, "b", table["b"].cast(pa.large_string()))


@pytest.mark.parametrize("kind", STRINGS)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.filterwarnings("ignore:in round .* the features separate rows")
def test_known_categories_may_come_as_strings(kind):
    town = np.where(Y, "Ulm", "Bonn").astype(object)
    town[:3] = ["Rome", None, None]
    texts = FRAME.assign(b=pd.Series(town, dtype="str"))
    for model in (
        fit(TOWNS),
        fit(TOWNS, weak_learner="tree"),
        pb.RadoBoostClassifier(n_estimators=9).fit(TOWNS, Y),
        pb.ULSClassifier(n_estimators=1).fit(TOWNS, Y),
        pb.UDTClassifier().fit(TOWNS, Y),
    ):
        np.testing.assert_array_equal(
            model.predict_proba(STRINGS[kind](texts)),
            model.predict_proba(texts.astype({"b": "category"})),
        )


def test_numbers_as_categories_may_come_as_numbers():
    whole = FRAME.assign(b=pd.Categorical(Y))
    expected = fit(whole).predict_proba(whole)
    for column in (Y, Y.astype(float), Y.astype(bool)):
        np.testing.assert_array_equal(fit(whole).predict_proba(FRAME.assign(b=column)), expected)
    with pytest.raises(ValueError, match=r"were numbers when .* are strings now: convert"):
        fit(whole).predict(FRAME.assign(b=Y.astype(str)))


def test_a_column_of_numbers_stays_one():
    for column in (Y.astype(str), Y.astype(object).astype(str)):
        with pytest.raises(ValueError, match=r"'b' has type .* predicts from numbers only"):
            fit(FRAME).predict(FRAME.assign(b=column))


def test_drift_by_feature():
    model = fit(TOWNS.assign(c=np.arange(60.0)))
    rows = pd.DataFrame({"a": [np.nan] * 3, "b": ["Ulm", "Rome", None], "c": [-1.0, 5.0, 99.0]})
    drift = model.count_drift(rows)
    assert drift.pop("feature").tolist() == ["a", "b", "c"]
    assert {name: counts.tolist() for name, counts in drift.items()} == {
        "unseen": [0.0, 1.0, 0.0],
        "rare": [0.0, 0.0, 0.0],
        "below": [0.0, 0.0, 1.0],
        "above": [0.0, 0.0, 1.0],
        "missing": [3.0, 1.0, 0.0],
    }
    assert not pd.DataFrame(model.count_drift(TOWNS[:0:-1].assign(c=3.0))).to_numpy()[:, 1:].any()


def test_drift_of_models_without_bins_has_what_is_known():
    rado = pb.RadoBoostClassifier(n_estimators=9).fit(TOWNS, Y)
    drift = rado.count_drift(TOWNS[:2].assign(b=["Rome", None]))
    np.testing.assert_array_equal(drift["below"], [np.nan, 0.0, np.nan])
    assert drift["unseen"][1] == 1.0
    assert np.isnan(drift["missing"][1])
    assert fit(X).count_drift(X)["feature"].tolist() == [0, 1, 2]


def test_a_column_that_cannot_be_read_as_the_fitted_categories():
    model = fit(TOWNS)
    with pytest.raises(ValueError, match=r"column 'b' were strings when .* and are numbers now"):
        model.predict(FRAME)
    with pytest.raises(ValueError, match=r"column 'b' were strings when .* and are numbers now"):
        model.predict(FRAME.assign(b=pd.Categorical(Y)))


def test_categories_are_read_as_numbers_only_if_declared():
    for settings in ({"categorical_features": None}, {"categorical_features": ["a"]}):
        with pytest.raises(ValueError, match="column 'b' holds categories"):
            fit(TOWNS, **settings)


def test_names_that_come_or_go_only_warn():
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        fit(X).predict(FRAME)
    with pytest.warns(UserWarning, match="was fitted with feature names"):
        fit(FRAME).predict(X)


# -- odd but allowed ------------------------------------------------------------------------------


def test_constant_and_missing_columns_are_allowed():
    x = np.column_stack([X[:, 0], np.full(60, 3.0), np.full(60, np.nan)])
    model = fit(x, n_estimators=10)
    assert model.feature_importances_[1:].tolist() == [0.0, 0.0]
    plain = fit(x[:, :1], n_estimators=10)
    np.testing.assert_array_equal(plain.decision_function(x[:, :1]), model.decision_function(x))


def test_two_rows_are_enough():
    model = fit([[0.0], [1.0]], ["a", "b"])
    assert model.predict([[0.0], [1.0]]).tolist() == ["a", "b"]
