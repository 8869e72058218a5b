"""Test that models of Dask collections are those of the same rows in memory, byte for byte."""

import threading
from dataclasses import replace

import numpy as np
import pytest

import properboost as pb
from helpers.clusters import MARKS, cluster, file_of

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

from properboost.dask import DaskProperBoostClassifier  # noqa: E402
from properboost.estimators import learner_choice  # noqa: E402
from properboost.parameters import boosting  # noqa: E402

pytestmark = MARKS


@pytest.fixture(scope="module")
def client():
    with cluster(3) as connected:
        yield connected


def rows(n=1200, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.searchsorted([0.0] if n_classes == 2 else [-0.7, 0.7], score)


FITS = {
    "tables": {"weak_learner": "table", "n_estimators": 20},
    "unbounded": {"weak_learner": "table", "n_estimators": 8, "loss": "exponential"},
    "cyclic": {"weak_learner": "table", "n_estimators": 3, "selection": "cyclic"},
    "stumps": {"n_estimators": 10, "weak_learner": "stump", "response": "newton"},
    "rules": {"n_estimators": 5, "weak_learner": "rule"},
    "trees": {"n_estimators": 4, "weak_learner": "tree"},
    "whole levels": {"n_estimators": 4, "weak_learner": pb.Tree(grow_policy="symmetric")},
    "lines": {
        "n_estimators": 3, "weak_learner": pb.Tree(linear_leaves=True), "response": "newton",
    },
    "draws": {
        "n_estimators": 2, "weak_learner": pb.Tree(max_features=0.5, subsample=0.6, n_draws=2),
        "random_state": 3,
    },
    "bags": {"weak_learner": "table", "n_estimators": 4, "outer_bags": 4},
    "terms of trees": {
        "n_estimators": 4, "weak_learner": pb.Tree(interaction_cst=3, linear_leaves=True),
    },
    "bags of trees": {
        "n_estimators": 3, "weak_learner": pb.Tree(interaction_cst=2), "outer_bags": 4,
    },
    "screens": {"weak_learner": "table", "n_estimators": 6, "screening": 60},
    "screens of trees": {"n_estimators": 4, "screening": 80, "weak_learner": "tree"},
    "pairs": {"weak_learner": "table", "n_estimators": 5, "interactions": 2},
    "enough rounds": {"weak_learner": "table", "gain": 8.0, "rows_per_bin": 300},
    "given pairs": {"weak_learner": "table", "n_estimators": 5, "interactions": [(0, 1), (1, 2)]},
    "an intercept": {
        "weak_learner": "table", "n_estimators": 5,
        "calibration": pb.Calibration(intercept="share"),
    },
    "bags of pairs with intercepts": {
        "n_estimators": 3, "interactions": 1, "outer_bags": 4,
        "calibration": pb.Calibration(intercept="share"),
    },
}  # fmt: skip


def assert_same(client, tmp_path, X, y, weight=None, chunks=(1200, 500, 170), **settings):
    local = pb.ProperBoostClassifier(**settings).fit(X, y, weight)
    expected = file_of(local, tmp_path)
    for size in chunks:
        model = DaskProperBoostClassifier(client=client, **settings)
        model.fit(da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size), weight)
        assert file_of(model.to_local(), tmp_path) == expected


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", FITS)
def test_partitions_and_workers_do_not_matter(client, tmp_path, name, weighted):
    X, y = rows()
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(y)) if weighted else None
    assert_same(client, tmp_path, X, y, weight, chunks=(500,) if weighted else (1200, 170),
                **FITS[name])  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        {"n_estimators": 4},
        {"n_estimators": 4, "multiclass": "one_vs_rest", "class_weight": "balanced"},
        {"n_estimators": 3, "weak_learner": pb.Tree(multi_strategy="multi_output_tree")},
        {"n_estimators": 3, "weak_learner": pb.Tree(subsample=0.7)},
        {"n_estimators": 3, "weak_learner": pb.Tree(interaction_cst="pairwise")},
        {"n_estimators": 3, "interactions": 1},
        {"n_estimators": 3, "screening": 60, "weak_learner": "stump", "response": "newton"},
        {"n_estimators": 3, "screening": 90, "weak_learner": pb.Tree(linear_leaves=True)},
        {"n_estimators": 3, "selection": "cyclic", "outer_bags": 4},
    ],
    ids=str,
)
def test_several_classes(client, tmp_path, settings):
    X, y = rows(n_classes=3)
    assert_same(client, tmp_path, X, y, chunks=(400,), **settings)


@pytest.mark.parametrize("most_rows", [10_000, 300])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_weak_learner_is_chosen_as_in_memory(
    client, tmp_path, monkeypatch, n_classes, most_rows
):
    monkeypatch.setattr(learner_choice, "MOST_ROWS", most_rows)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = np.searchsorted([0.0] if n_classes == 2 else [-0.3, 0.3], X[:, 0] * X[:, 1])
    weight = rng.choice([0.0, 1.0, 2.0], 900)
    assert_same(client, tmp_path, X, y, weight, chunks=(400,), n_estimators=20)
    model = DaskProperBoostClassifier(client=client, n_estimators=20)
    model.fit(da.from_array(X, chunks=(400, -1)), y, weight)
    assert model.weak_learner_ == boosting.CHOICE.tree


@pytest.mark.parametrize("learner", ["table", "stump"])
def test_screens_by_default(client, tmp_path, monkeypatch, learner):
    """Tall tables are screened here as in memory; 1000 rows are tall here."""
    for name, value in (("SCREEN", 60), ("LEAST_SCREENED", 1000), ("LEAST_OF_CLASS", 100)):
        monkeypatch.setattr(boosting, name, value)
    X, y = rows()
    # A race drops none of only 4 features.
    X = np.hstack([X, np.random.default_rng(3).normal(size=(len(X), 8))])
    settings = {"n_estimators": 8, "weak_learner": learner, "screening": "auto"}
    assert_same(client, tmp_path, X, y, chunks=(1200, 500), **settings)
    fits = [
        pb.ProperBoostClassifier(**settings | {"screening": screening})
        .fit(X, y)
        .decision_function(X)
        for screening in ("auto", 60, None)
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_parts_that_are_empty_of_one_row_and_of_one_class(client, tmp_path):
    X, y = rows()
    order = np.argsort(y, kind="stable")  # most partitions have rows of one class then
    X, y = X[order], y[order]
    local = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X, y)
    chunks = (1, 399, 0, 400, 0, 300, 100)
    model = DaskProperBoostClassifier(client=client, n_estimators=10, weak_learner="table")
    model.fit(da.from_array(X, chunks=(chunks, -1)), da.from_array(y, chunks=(chunks,)))
    expected = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X, y)
    assert file_of(model.to_local(), tmp_path) == file_of(expected, tmp_path)
    np.testing.assert_array_equal(model.to_local().predict_proba(X), local.predict_proba(X))


def frame(n=900):
    rng = np.random.default_rng(2)
    town = rng.choice(["Bonn", "Jena", "Kiel", "Ulm"], n)
    x = rng.normal(size=n)
    y = np.where(x + (town == "Ulm") + rng.normal(size=n) > 0.3, "yes", "no")
    town[-20:] = "Trier"  # only the last partition has this category
    columns = {"x": x.astype(np.float32), "town": town, "k": rng.integers(0, 5, n)}
    return pd.DataFrame(columns).astype({"town": "category"}), pd.Series(y, name="y")


def test_frames_with_categories(client, tmp_path):
    X, y = frame()
    local = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X, y)
    for n in (1, 4):
        model = DaskProperBoostClassifier(client=client, n_estimators=10, weak_learner="table")
        model.fit(dd.from_pandas(X, npartitions=n), dd.from_pandas(y, npartitions=n))
        assert file_of(model.to_local(), tmp_path) == file_of(local, tmp_path)
    # Text has the same categories, also where a partition has none of it.
    text = X.astype({"town": object})
    text.loc[200:219, "town"] = None
    local_text = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(text, y)
    parts = [text[:200], text[200:220], text[220:]]
    lazy = dd.from_map(lambda part: part, parts, meta=text.iloc[:0])
    labels = dd.from_map(lambda part: part, [y[:200], y[200:220], y[220:]], meta=y.iloc[:0])
    model = DaskProperBoostClassifier(client=client, n_estimators=10, weak_learner="table").fit(
        lazy, labels
    )
    assert file_of(model.to_local(), tmp_path) == file_of(local_text, tmp_path)
    # Each partition has only the categories of its rows.
    parts = [X[:300], X[300:880], X[880:]]
    frames = [part.assign(town=part["town"].astype(str).astype("category")) for part in parts]
    lazy = dd.from_map(lambda part: part, frames, meta=frames[0].iloc[:0])
    labels = dd.from_map(lambda part: part, [y[:300], y[300:880], y[880:]], meta=y.iloc[:0])
    model = DaskProperBoostClassifier(client=client, n_estimators=10, weak_learner="table").fit(
        lazy, labels
    )
    assert file_of(model.to_local(), tmp_path) == file_of(local, tmp_path)
    np.testing.assert_array_equal(model.predict(lazy).compute(), local.predict(X))


def test_early_stopping(client, tmp_path):
    X, y = rows()
    X_held_out, y_held_out = rows(seed=9)
    settings = {
        "n_estimators": 60,
        "early_stopping": pb.EarlyStopping(validation_fraction=0.1, n_iter_no_change=5),
    }
    settings |= {"learning_rate": 0.5, "gain": 1.0}
    local = pb.ProperBoostClassifier(**settings)
    local.fit(X, y, X_val=X_held_out, y_val=y_held_out)
    model = DaskProperBoostClassifier(client=client, **settings)
    model.fit(
        da.from_array(X, chunks=(300, -1)),
        da.from_array(y, chunks=300),
        X_val=da.from_array(X_held_out, chunks=(500, -1)),
        y_val=da.from_array(y_held_out, chunks=500),
    )
    assert model.n_iter_ < 60
    np.testing.assert_array_equal(model.validation_scores_, local.validation_scores_)
    assert file_of(model.to_local(), tmp_path) == file_of(local, tmp_path)


def test_predictions_are_lazy(client):
    X, y = rows(n_classes=3)
    lazy = da.from_array(X, chunks=(500, -1))
    model = DaskProperBoostClassifier(client=client, n_estimators=3, weak_learner="table").fit(
        lazy, y
    )
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        predictions = getattr(model, method)(lazy)
        expected = getattr(model.to_local(), method)(X)
        assert isinstance(predictions, da.Array)
        assert predictions.shape == expected.shape
        assert predictions.dtype == expected.dtype
        np.testing.assert_array_equal(predictions.compute(), expected)
        np.testing.assert_array_equal(getattr(model, method)(X), expected)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"step": "totally_corrective"}, "step must not be 'totally_corrective'"),
        ({"warm_start": True}, "warm_start must be False"),
        ({"early_stopping": True}, "needs X_val and y_val"),
        ({"deadline": 0.0}, "deadline must be"),
    ],
)
def test_what_is_not_there_is_refused_by_name(client, settings, error):
    X, y = rows(60)
    model = DaskProperBoostClassifier(client=client, **settings)
    with pytest.raises(ValueError, match=error):
        model.fit(da.from_array(X, chunks=(20, -1)), y)


def test_errors_of_the_rows_name_what_is_wrong(client):
    X, y = rows(60)
    lazy = da.from_array(X, chunks=(20, -1))
    model = DaskProperBoostClassifier(client=client, weak_learner="table")
    with pytest.raises(TypeError, match="X must be a Dask array or data frame; got a ndarray"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="y must hold at least two classes"):
        model.fit(lazy, np.zeros(60, dtype=int))
    with pytest.raises(ValueError, match="y must have an entry for each of the 60 rows"):
        model.fit(lazy, y[:50])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        model.fit(lazy, y, np.full(60, -1.0))
    assert not hasattr(model, "classes_")


def from_parts(parts, meta):
    return dd.from_map(lambda part: part, parts, meta=meta, enforce_metadata=False)


def test_partitions_must_be_of_the_same_columns(client):
    X, y = frame(90)
    labels = from_parts([y[:40], y[40:]], y[:0])
    model = DaskProperBoostClassifier(client=client, weak_learner="table")
    with pytest.raises(ValueError, match="the same columns in all partitions"):
        model.fit(from_parts([X[:40], X[40:][["town", "x", "k"]]], X[:0]), labels)
    with pytest.raises(ValueError, match="columns of the same types in all partitions"):
        model.fit(from_parts([X[:40], X[40:].astype({"k": "category"})], X[:0]), labels)
    with pytest.raises(ValueError, match="X and y must have as many rows in each partition"):
        model.fit(from_parts([X[:40], X[40:]], X[:0]), from_parts([y[:30], y[30:]], y[:0]))
    parts = from_parts([X[:40], X[40:]], X[:0])
    with pytest.raises(ValueError, match="y_val must hold labels among"):
        model.fit(parts, labels, X_val=parts, y_val=labels + "?")


def test_workers_must_have_the_version_of_the_client(client, monkeypatch):
    from properboost.dask import partition_scan, table

    def look(*arguments):
        return replace(partition_scan.scan_labels(*arguments), version="0.0.1")

    monkeypatch.setattr(table, "scan_labels", look)
    X, y = rows(60)
    with pytest.raises(RuntimeError, match=r"workers must have properboost .*; some have 0.0.1"):
        DaskProperBoostClassifier(client=client, weak_learner="table").fit(
            da.from_array(X, chunks=(20, -1)), y
        )


def test_losses_must_be_sendable(client):
    X, y = rows(60)
    lock = threading.Lock()  # a lock cannot be pickled

    def weight(u):
        with lock:
            return 1.0 / (1.0 + np.exp(u))

    loss = pb.losses.from_functions(weight, tabulate=False)
    model = DaskProperBoostClassifier(client=client, loss=loss, weak_learner="table")
    with pytest.raises(TypeError, match="loss must be one that can be pickled"):
        model.fit(da.from_array(X, chunks=(20, -1)), y)


def test_there_must_be_a_client(monkeypatch):
    def find():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("distributed.get_client", find)
    X, y = rows(60)
    with pytest.raises(ValueError, match="client must be given"):
        DaskProperBoostClassifier(weak_learner="table").fit(da.from_array(X, chunks=(20, -1)), y)


def test_two_fits_at_once(client, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    X, y = rows()
    lazy = da.from_array(X, chunks=(300, -1))
    expected = file_of(
        pb.ProperBoostClassifier(n_estimators=15, weak_learner="table").fit(X, y), tmp_path
    )

    def fit(_):
        return DaskProperBoostClassifier(client=client, n_estimators=15, weak_learner="table").fit(
            lazy, y
        )

    with ThreadPoolExecutor(2) as pool:
        for model in pool.map(fit, range(2)):
            assert file_of(model.to_local(), tmp_path) == expected
