"""Test fits: scikit-learn's checks, weights, missing values, repeatability, memory."""

import copy
import os
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import properboost as pb
from helpers.checks import run_check
from helpers.models import same_model
from properboost.data import binning

pd = pytest.importorskip("pandas")

CONFIGURATIONS = [
    pb.ProperBoostClassifier(n_estimators=10, weak_learner="table"),
    pb.ProperBoostClassifier(
        pb.losses.GBoost(2.0), n_estimators=5, response="exact", max_bins=16, weak_learner="table"
    ),
    pb.ProperBoostClassifier(
        "ggauss", n_estimators=10, class_weight="balanced", n_jobs=1, weak_learner="table"
    ),
    pb.AdaBoost(n_estimators=10),
    pb.RealBoost(n_estimators=10),
    pb.LogitBoost(n_estimators=10, l2=1.0),
    pb.SavageBoost(n_estimators=10),
    pb.ProperBoostClassifier(n_estimators=5, selection="cyclic", weak_learner="table"),
    pb.ProperBoostClassifier(n_estimators=5, weak_learner="tree"),
]


@parametrize_with_checks([pb.ProperBoostClassifier(weak_learner="table"), *CONFIGURATIONS])
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
@pytest.mark.filterwarnings("ignore:class_weight makes rows count")
def test_scikit_learn_checks(estimator, check):
    run_check(estimator, check)


def test_no_check_need_be_skipped():
    """scikit-learn runs the checks skipped above if this variable is set before scipy's import."""
    code = """
from properboost import *
from sklearn.utils.estimator_checks import estimator_checks_generator
n = 0
for estimator in (
    ProperBoostClassifier(n_estimators=3),
    ProperBoostClassifierCV({"gain": [0.5, 2], "n_estimators": 3}, cv=2),
):
    for instance, check in estimator_checks_generator(estimator):
        if "array_api" in check.func.__name__:
            check(instance)
            n += 1
print(n)
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, timeout=300)
    assert int(done.stdout) >= 2


# -- the model ------------------------------------------------------------------------------------


# A tag of the estimator waives scikit-learn's check of accuracy; here are its thresholds.
@pytest.mark.parametrize("model", CONFIGURATIONS, ids=str)
def test_blobs_are_separated(model):
    X, y = make_blobs(n_samples=300, random_state=0)
    assert clone(model).fit(X, y).score(X, y) > 0.83


def test_unseen_rows_are_predicted_well(binary):
    X, y = binary
    every_bin = {"weak_learner": pb.Table(max_cells=None), "max_bins": 16, "rows_per_bin": None}
    model = pb.ProperBoostClassifier(gain=4.0, n_estimators=50, **every_bin)
    assert model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    model = pb.ProperBoostClassifier(gain=4.0, n_estimators=50, weak_learner="table").fit(
        X[::2], y[::2]
    )
    assert model.score(X[1::2], y[1::2]) > 0.88
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < 0.25


@pytest.mark.parametrize("gain", [0.5, 2.0, 3.0])
@pytest.mark.parametrize("response", ["real", "sign"])
@pytest.mark.parametrize("step", ["unit", "guarded"])
def test_gain_is_the_inverse_of_the_learning_rate(binary, gain, response, step):
    """Algorithm 1 at gain s is gain 1 at learning rate 1/s, in other units."""
    X, y = binary
    settings = {"loss": "gboost", "response": response, "step": step, "n_estimators": 15}
    settings["weak_learner"] = "table"
    a = pb.ProperBoostClassifier(gain=gain, **settings).fit(X, y)
    b = pb.ProperBoostClassifier(learning_rate=1 / gain, gain=1.0, **settings).fit(X, y)
    np.testing.assert_array_equal(a.history_["feature"], b.history_["feature"])
    F_a, F_b = a.decision_function(X), b.decision_function(X)
    p_a, p_b = a.predict_proba(X), b.predict_proba(X)
    if gain == 3.0:  # 1/3 is rounded, and margins are float32
        np.testing.assert_allclose(F_a, gain * F_b, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(p_a, p_b, atol=1e-6)
    else:
        np.testing.assert_array_equal(F_a, gain * F_b)
        np.testing.assert_array_equal(p_a, p_b)


def test_a_loss_object_carries_its_gain(binary):
    X, y = binary
    by_name = pb.ProperBoostClassifier(
        "gboost", gain=2.0, n_estimators=5, weak_learner="table"
    ).fit(X, y)
    by_object = pb.ProperBoostClassifier(
        pb.losses.GBoost(2.0), n_estimators=5, weak_learner="table"
    ).fit(X, y)
    assert same_model(by_name, by_object)
    assert by_name.loss_ == by_object.loss_ == pb.losses.GBoost(2.0)


def test_many_classes():
    X, y = pb.datasets.load_letter(subset="train", return_X_y=True)
    settings = {
        "loss": "gboost",
        "gain": 2.0,
        "n_estimators": 20,
        "weak_learner": pb.Table(max_cells=None),
    }
    model = pb.ProperBoostClassifier(multiclass="one_vs_rest", **settings).fit(X, y)
    assert model.score(X, y) > 0.75
    assert model.decision_function(X).shape == (4000, 26)
    history = pd.DataFrame(model.history_)
    assert history.groupby("class").size().tolist() == [20] * 26
    # Each class's model is that of its own binary problem.
    one = pb.ProperBoostClassifier(**settings).fit(X, y == 14)
    several = model.decision_function(X)[:, 14]
    np.testing.assert_allclose(one.decision_function(X), several, rtol=1e-4, atol=1e-4)
    history = history[history["class"] == model.classes_[14]]
    np.testing.assert_array_equal(history["feature"], one.history_["feature"])


@pytest.mark.parametrize("weak_learner", ["table", "tree"])
def test_few_rows_of_many_classes_are_each_their_binary_problem(iris, weak_learner):
    X, y = iris
    settings = {"weak_learner": weak_learner, "n_estimators": 10, "gain": 1.0}
    model = pb.ProperBoostClassifier(multiclass="one_vs_rest", **settings).fit(X, y)
    for k in range(3):
        one = pb.ProperBoostClassifier(**settings).fit(X, y == k)
        np.testing.assert_allclose(one.decision_function(X), model.decision_function(X)[:, k])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, 25),
        ({"weak_learner": pb.Table(max_cells=None)}, 5),
        ({"weak_learner": "stump"}, 25),
        ({"rows_per_bin": 50}, 10),
        ({"rows_per_bin": None}, 60),
        ({"max_bins": 3}, 3),
    ],
)
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_few_rows_have_few_bins(settings, expected):
    X = np.tile(np.arange(60.0), 9).reshape(-1, 1)[:500]
    y = X[:, 0] > 20
    model = pb.ProperBoostClassifier(n_estimators=1, **settings).fit(X, y)
    assert len(model.shape_function(0).values) == expected
    halves = model.fit(np.repeat(X, 2, axis=0), np.repeat(y, 2), np.full(1000, 0.5))
    assert len(halves.shape_function(0).values) == expected


@pytest.mark.parametrize(("rows", "expected"), [(900, 3), (9_900, 3), (10_100, 4), (40_100, 6)])
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_more_rows_have_more_cells(rows, expected):
    """Rows count by sample weight; with few rows, sums are smoothed."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2_000, 2))
    y = np.sin(3 * X[:, 0]) + 0.3 * rng.normal(size=2_000) > 0
    weight = np.full(2_000, rows / 2_000)
    settings = {"n_estimators": 4, "rows_per_bin": 20}
    by_rule = pb.ProperBoostClassifier(**settings).fit(X, y, weight)
    named = pb.ProperBoostClassifier(
        weak_learner=pb.Table(max_cells=expected, smoothing=0.1 if rows < 5_000 else 0.0),
        **settings,
    ).fit(X, y, weight)
    assert same_model(by_rule, named)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [([500, 500], 12), ([900, 100], 6), ([2000, 1500], 31), ([400, 300, 350], 11), ([60] * 8, 8)],
)
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_few_rows_of_a_class_have_small_trees(sizes, expected):
    rng = np.random.default_rng(4)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(y), 3)) + 0.3 * y[:, None]
    settings = {"weak_learner": "tree", "n_estimators": 3}
    model = pb.ProperBoostClassifier(**settings).fit(X, y)
    raw = model.decision_function(X)
    named, fewer = (
        clone(model).set_params(weak_learner__max_leaf_nodes=leaves).fit(X, y)
        for leaves in (expected, expected - 1)
    )
    np.testing.assert_array_equal(raw, named.decision_function(X))
    assert np.any(raw != fewer.decision_function(X))
    # Rows count by sample weight.
    settings |= {"rows_per_bin": None, "multiclass": "one_vs_rest"}
    twice = pb.ProperBoostClassifier(**settings).fit(X, y, np.full(len(y), 2.0))
    by_hand = pb.ProperBoostClassifier(**settings).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    np.testing.assert_allclose(
        twice.decision_function(X), by_hand.decision_function(X), rtol=0, atol=1e-5
    )


# -- missing values and categories ----------------------------------------------------------------


def test_informative_missing_values_are_learnt():
    x = np.r_[np.linspace(0, 1, 50), np.full(50, np.nan)].reshape(-1, 1)
    y = np.isnan(x[:, 0])
    for settings in ({}, {"weak_learner": "stump"}, {"weak_learner": "tree"}):
        model = pb.ProperBoostClassifier(n_estimators=5, max_bins=4, **settings).fit(x, y)
        assert model.score(x, y) == 1.0


def test_infinite_values_are_ordered_values():
    x = np.r_[np.full(20, -np.inf), np.zeros(20), np.full(20, np.inf)].reshape(-1, 1)
    y = np.repeat([0, 1, 0], 20)
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(x, y)
    assert model.score(x, y) == 1.0
    assert model.predict([[-1e300], [1e300]]).tolist() == [1, 1]


def test_unseen_categories_fall_into_the_shared_bin():
    rng = np.random.default_rng(0)
    town = rng.choice(["a", "b", "c", "d", "e"], 500, p=[0.4, 0.4, 0.1, 0.05, 0.05])
    y = np.isin(town, ["a", "c"])
    frame = pd.DataFrame({"town": pd.Categorical(town)})
    model = pb.ProperBoostClassifier(n_estimators=3, max_bins=3, weak_learner="table").fit(frame, y)
    shape = model.shape_function("town")
    assert shape.categories == ("a", "b")
    assert shape.has_rare
    new = pd.DataFrame({"town": pd.Categorical(["new", "d"])})
    np.testing.assert_array_equal(model.decision_function(new), [shape.values[2]] * 2)
    assert shape("new") == shape("d") == shape.values[2] != 0.0


def test_every_kind_of_table_gives_the_same_model(mixed):
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    X, y, _ = mixed
    model = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table")
    expected = clone(model).fit(X, y)
    raw = expected.decision_function(X)
    polars = pl.from_pandas(X)
    assert isinstance(polars["town"].dtype, pl.Categorical | pl.Enum)
    for frame in (polars, pa.Table.from_pandas(X), X.convert_dtypes()):
        other = clone(model).fit(frame, y)
        assert same_model(expected, other)
        np.testing.assert_array_equal(other.decision_function(frame), raw)
        np.testing.assert_array_equal(expected.decision_function(frame), raw)
        assert other.feature_names_in_.tolist() == ["age", "town", "visits"]
    listed = clone(model).set_params(categorical_features=[1])
    array = X.astype(object).to_numpy()
    assert same_model(expected, listed.fit(array, y))
    np.testing.assert_array_equal(listed.decision_function(array), raw)
    codes = np.column_stack([X["age"], X["town"].cat.codes.replace(-1, np.nan), X["visits"]])
    assert same_model(expected, listed.fit(codes, y))
    np.testing.assert_array_equal(listed.decision_function(codes), raw)


@pytest.mark.parametrize("dtype", ["f4", "i8", "u1", "?", "f2", "g"])
def test_arrays_of_any_real_type_and_layout(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2 if dtype == "?" else 9, (300, 4))
    y = X[:, 0] + X[:, 1] + rng.normal(size=300) > X[:, 0].mean() * 2
    expected = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(
        X.astype(float), y
    )
    for layout in (
        X.astype(dtype),
        np.asfortranarray(X.astype(dtype)),
        np.repeat(X.astype(dtype), 2, axis=1)[:, ::2],
        X.astype(dtype)[::-1][::-1],
    ):
        assert same_model(
            expected, pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(layout, y)
        )
        np.testing.assert_array_equal(
            expected.decision_function(layout), expected.decision_function(X)
        )


# -- repeatability --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"weak_learner": "stump", "response": "newton"},
        {"selection": "cyclic"},
        {"weak_learner": pb.Tree(max_leaf_nodes=6, max_features=0.6, subsample=0.7)},
    ],
    ids=str,
)
def test_the_model_does_not_depend_on_threads_or_runs(settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 5)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nansum(X, axis=1) + rng.normal(size=len(X)) > 0
    weight = rng.random(len(X))
    fits = [
        pb.ProperBoostClassifier(n_estimators=5, n_jobs=n_jobs, **settings).fit(X, y, weight)
        for n_jobs in (1, 2, 3, 1, None)
    ]
    for other in fits[1:]:
        assert same_model(fits[0], other)
        np.testing.assert_array_equal(fits[0].predict_proba(X), other.predict_proba(X))


def test_rows_in_any_order_within_a_class_give_close_models(mixed):
    X, y, _ = mixed
    order = np.random.default_rng(0).permutation(len(X))
    a = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X, y)
    b = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X.iloc[order], y[order])
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-4, atol=1e-5)


def test_random_state_is_the_seed_of_the_sample_of_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_500, 1))
    y = X[:, 0] + rng.normal(size=len(X)) > 0

    def edges(random_state):
        model = pb.ProperBoostClassifier(
            n_estimators=1, random_state=random_state, weak_learner="table"
        ).fit(X, y)
        return model.shape_function(0).edges

    np.testing.assert_array_equal(edges(None), edges(None))
    np.testing.assert_array_equal(edges(7), edges(7))
    assert not np.array_equal(edges(7), edges(8))
    generator = np.random.RandomState(7)
    assert not np.array_equal(edges(generator), edges(generator))


def test_copies_and_pickles_predict_the_same(mixed):
    X, y, _ = mixed
    model = pb.ProperBoostClassifier(
        pb.losses.Alpha(0.3, 2.0), n_estimators=5, weak_learner="table"
    ).fit(X, y)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
        assert twin.get_params() == model.get_params()
        assert same_model(model, twin)


def test_a_failed_fit_leaves_the_previous_model(binary):
    X, y = binary
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="1 class"):
        model.fit(X[:, :3], np.zeros(len(X)))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.n_features_in_ == X.shape[1]

    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    model.fit(frame, y)
    before = model.predict_proba(frame)
    with pytest.raises(ValueError, match="1 class"):
        model.fit(frame[["b", "a"]], np.zeros(len(X)))
    np.testing.assert_array_equal(model.predict_proba(frame), before)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict_proba(frame[["b", "a"]])

    new = pb.ProperBoostClassifier(weak_learner="table")
    with pytest.raises(ValueError, match="1 class"):
        new.fit(X, np.zeros(len(X)))
    assert not hasattr(new, "n_features_in_")


def test_it_works_in_pipelines_and_searches(binary):
    X, y = binary
    search = GridSearchCV(
        make_pipeline(
            StandardScaler(),
            pb.ProperBoostClassifier(n_estimators=5, max_bins=16, weak_learner="table"),
        ),
        {"properboostclassifier__gain": [0.5, 2.0], "properboostclassifier__loss": ["glog"]},
        cv=2,
        scoring="neg_log_loss",
    )
    assert search.fit(X, y).best_score_ > -0.4


# -- memory ---------------------------------------------------------------------------------------


def peak_bytes(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["array", "float32", "pandas", "nullable"])
def test_tables_are_never_copied_as_a_whole(kind, monkeypatch):
    n, d = 100_000, 20
    X = np.random.default_rng(0).integers(0, 9, (n, d)).astype(float)
    y = X[:, 0] > 4
    table = {
        "array": lambda: X,
        "float32": lambda: X.astype(np.float32),
        "pandas": lambda: pd.DataFrame(X, columns=[f"x{j}" for j in range(d)]),
        "nullable": lambda: pd.DataFrame({f"x{j}": pd.array(X[:, j]) for j in range(d)}),
    }[kind]()
    monkeypatch.setattr(binning, "COPY_BYTES", 8 * n * 2)  # room for two columns
    model = pb.ProperBoostClassifier(n_estimators=2, n_jobs=1, weak_learner="table")
    codes = n * d
    assert peak_bytes(lambda: model.fit(table, y)) < codes + 60 * n
    assert peak_bytes(lambda: model.predict_proba(table)) < 60 * n
