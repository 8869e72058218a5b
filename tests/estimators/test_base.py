"""What users get wrong: the error names the argument, what came and what is allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

import properboost as pb

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


def fit(x=X, y=Y, weight=None, **settings):
    return pb.ProperBoostClassifier(**{"n_estimators": 2, **settings}).fit(x, y, weight)


# -- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "logistic"}, r"loss must be one of .*'glog'.*; got 'logistic'"),
        ({"loss": 3}, "loss must be"),
        ({"loss": None}, "loss must be"),
        ({"gain": 0}, "gain must be above 0; got 0"),
        ({"gain": -1.5}, r"gain must be above 0; got -1\.5"),
        ({"gain": np.nan}, "gain must be a finite number above 0; got nan"),
        ({"gain": np.inf}, "gain must be a finite number above 0; got inf"),
        ({"gain": 10**400}, "gain must be a finite number above 0"),
        ({"gain": "1"}, r"gain must be a finite number above 0; got '1' \(str\)"),
        ({"loss": pb.losses.GLog(2.0), "gain": 1.0}, r"gain=1\.0 contradicts"),
        ({"gain": True}, r"gain must be .*; got True \(bool\)"),
        ({"loss": pb.losses.GLog(2.0), "gain": 3.0}, r"gain=3\.0 contradicts"),
        ({"n_estimators": 0}, "n_estimators must be between 1 and .*; got 0"),
        ({"n_estimators": 2.0}, r"n_estimators must be an integer .*; got 2\.0 \(float\)"),
        ({"n_estimators": 2**31}, "n_estimators must be between 1 and"),
        ({"learning_rate": 0.0}, r"learning_rate must be above 0; got 0\.0"),
        ({"learning_rate": -1.0}, "learning_rate must be above 0"),
        (
            {"weak_learner": "forest"},
            "must be one of 'histogram', 'stump', 'tree', 'monomial'; got",
        ),
        ({"weak_learner": None}, "weak_learner must be one of .*; got None"),
        ({"selection": "random"}, "selection must be one of 'greedy', 'cyclic'; got 'random'"),
        ({"selection": None}, "selection must be one of .*; got None"),
        ({"response": "probability"}, "response must be one of 'real', 'sign', 'newton', 'exact'"),
        ({"step": "armijo"}, "step must be one of 'guarded', 'unit', .*; got 'armijo'"),
        ({"prior": 0.0}, r"prior must be above 0; got 0\.0"),
        ({"prior": "auto"}, "prior must be a finite number above 0"),
        ({"smoothing": 0.26}, r"smoothing must be between 0 and 0\.25; got 0\.26"),
        ({"smoothing": -0.1}, r"smoothing must be between 0 and 0\.25"),
        ({"l2": -1}, "l2 must be at least 0; got -1"),
        ({"max_bins": 1}, "max_bins must be between 2 and 255; got 1"),
        ({"max_bins": 256}, "max_bins must be between 2 and 255; got 256"),
        ({"max_bins": 16.0}, "max_bins must be an integer between 2 and 255"),
        ({"rows_per_bin": 0}, "rows_per_bin must be above 0; got 0"),
        ({"rows_per_bin": "auto"}, "rows_per_bin must be a finite number above 0"),
        ({"categorical_features": "all"}, "categorical_features must be 'from_dtype'"),
        ({"categorical_features": [3]}, "categorical_features must be between 0 and 2; got 3"),
        ({"categorical_features": ["a"]}, "categorical_features: the name 'a' is unknown"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict; got 'even'"),
        ({"class_weight": {0: 0.0}}, r"class_weight\[0\] must be above 0; got 0\.0"),
        ({"class_weight": {0: "1"}}, r"class_weight\[0\] must be a finite number"),
        ({"class_weight": {(0,): 1.0}}, r"class_weight must have labels as keys; got \(0,\)"),
        ({"class_weight": {2: 1.0}}, r"classes, \[0, 1\], are not in class_weight"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"n_jobs": 1.5}, r"n_jobs must be None or an integer; got 1\.5"),
        ({"random_state": "seed"}, "random_state must be None, an integer or"),
        ({"random_state": -1}, "random_state must be between 0 and 4294967295; got -1"),
        ({"verbose": -1}, "verbose must be at least 0; got -1"),
        ({"verbose": None}, "verbose must be an integer"),
    ],
    ids=str,
)
def test_bad_parameters(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(**settings)


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


def test_parameters_may_be_numpy_numbers():
    model = fit(
        gain=np.float32(2.0),
        n_estimators=np.int64(3),
        learning_rate=np.int8(1),
        max_bins=np.uint8(255),
        random_state=np.int32(1),
        n_jobs=np.int64(1),
    )
    assert model.n_iter_ == 3


# -- labels ---------------------------------------------------------------------------------------


def labels(*values):
    return np.resize(np.array(values, dtype=object), 60)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y"),
        (np.where(Y, np.nan, 0.0), "Input y contains NaN"),
        (np.where(Y, np.inf, 0.0), "Input y contains infinity"),
        (X[:, 0], "Unknown label type: continuous"),
        (Y[:-1], "X has 60 rows and y 59"),
        (np.zeros(60), r"y must hold at least two classes .*; got 1 class: \[0\.0\]"),
        (np.eye(2, dtype=int)[Y], "y should be a 1d array"),
        (labels("a", None), "y must hold labels of one kind, none missing; got strings and None"),
        (labels("a", np.nan), "none missing; got strings and float"),
        (labels("a", pd.NA), "none missing; got strings and NAType"),
        (labels("a", 1), "labels of one kind, none missing; got strings and int"),
        (labels(0, 1), "Unknown label type"),
        (Y.astype("M8[D]"), "y must hold integers, booleans or strings; got labels of type date"),
        (Y.astype("S1"), "y must hold integers, booleans or strings; got labels of type .S1"),
        (Y + 1j, "Complex data not supported"),
        (3, "y"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_labels(y, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(y=y)


def test_column_vectors_of_labels_warn():
    with pytest.warns(UserWarning, match="column-vector y"):
        fit(y=Y.reshape(-1, 1))


# -- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.where(Y, np.nan, 1.0), "sample_weight contains NaN"),
        (np.where(Y, np.inf, 1.0), "sample_weight contains infinity"),
        (np.where(Y, -1.0, 1.0), "Negative values in data passed to `sample_weight`"),
        (np.ones(59), r"sample_weight.shape == \(59,\), expected \(60,\)"),
        (np.ones((60, 2)), "Sample weights must be 1D"),
        (np.zeros(60), "weights? must|sample_weight must"),
        (np.full(60, 1e308), "sample_weight must have a positive finite sum; got inf"),
        (1.0 * Y, r"two classes among the rows of positive weight; got 1 class: \[1\]"),
        (["heavy"] * 60, "could not convert string to float"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        fit(weight=weight)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_extreme_weights_give_finite_predictions(scale):
    for settings in ({}, {"response": "newton"}, {"step": "line_search"}, {"response": "exact"}):
        model = fit(weight=scale * (1 + Y), n_estimators=20, **settings)
        assert np.all(np.isfinite(model.decision_function(X)))


@given(st.lists(st.just(0.0) | st.floats(1e-60, 1e60), min_size=6, max_size=6))
def test_any_weights_give_finite_predictions_or_an_error(weights):
    x = np.arange(6.0).reshape(-1, 1)
    try:
        model = fit(x, np.arange(6) % 2, np.array(weights))
    except ValueError as error:
        assert "weight" in str(error)  # noqa: PT017
    else:
        assert np.all(np.isfinite(model.predict_proba(x)))


# -- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (sparse.csr_matrix(X), "[Ss]parse data was passed"),
        (sparse.coo_array(X), "[Ss]parse data was passed"),
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
        ("table", "Expected 2D array"),
        ([[1, 2], [3]] * 30, "inhomogeneous|sequence"),
        (pd.DataFrame(X).assign(a="text"), "Feature names are only supported|column 'a'"),
        (pd.DataFrame(X, columns=list("abc")).assign(d="text"), "column 'd' has type"),
        (pd.DataFrame({"a": pd.Series(Y, dtype=object)}), "column 'a' has type object"),
        (pd.DataFrame({"a": pd.date_range("2020", periods=60)}), "column 'a' has type datetime"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_tables(x, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(x)


def test_text_is_accepted_where_it_is_said_to_be_categorical():
    frame = pd.DataFrame({"a": np.where(Y, "x", "y")})
    with pytest.raises(ValueError, match="name it in categorical_features"):
        fit(frame)
    assert fit(frame, categorical_features=["a"]).score(frame, Y) == 1.0


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_an_unfitted_model_says_so(method):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(pb.ProperBoostClassifier(), method)(X)


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
def test_whatever_needs_a_fit_says_so(use):
    with pytest.raises(NotFittedError, match="not fitted"):
        use(pb.ProperBoostClassifier())


# -- predicting -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (X[:, :2], "X has 2 features, but ProperBoostClassifier is expecting 3 features"),
        (np.c_[X, X], "X has 6 features, but ProperBoostClassifier is expecting 3 features"),
        (X[0], "Reshape your data"),
        (X[:0], r"0 sample\(s\)"),
        (sparse.csr_matrix(X), "[Ss]parse data was passed"),
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
        (TOWNS, "column 'b' holds categories but is to be read as numbers"),
        (FRAME.assign(b="text"), "column 'b' has type"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_changed_columns(x, message):
    with pytest.raises(ValueError, match=message):
        fit(FRAME).predict(x)


def test_a_column_that_is_no_longer_categorical():
    model = fit(TOWNS)
    with pytest.raises(ValueError, match="column 'b' was categorical when the model was fitted"):
        model.predict(FRAME)
    with pytest.raises(ValueError, match=r"column 'b' were strings when .* and are numbers now"):
        model.predict(FRAME.assign(b=pd.Categorical(Y)))


def test_categories_are_not_read_as_numbers_unless_said():
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


def test_labels_in_series_of_any_library():
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    expected = fit().decision_function(X)
    for y in (
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y, dtype="boolean"),
        pl.Series(Y),
        pa.chunked_array([Y]),
        Y.tolist(),
    ):
        np.testing.assert_array_equal(fit(y=y).decision_function(X), expected)
    for y in (pd.Series(np.where(Y, "b", "a"), dtype="category"), pl.Series(np.where(Y, "b", "a"))):
        assert fit(y=y).classes_.tolist() == ["a", "b"]
