"""Test that rados of Dask collections do not depend on the partitions."""

import numpy as np
import pandas as pd
import pytest

from helpers.clusters import MARKS, cluster
from properboost import rado

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
delayed = pytest.importorskip("dask").delayed

from properboost.dask import make_rados  # noqa: E402

pytestmark = MARKS


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    return X, np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")


def assert_same(one, other):
    np.testing.assert_allclose(one.values, other.values, rtol=1e-12, atol=1e-12)
    assert one.columns == other.columns
    assert one.row_ranges == other.row_ranges
    assert one.classes.tolist() == other.classes.tolist()
    assert one.seed == other.seed


@pytest.mark.parametrize("sizes", [(300,), (100, 0, 199, 1), (1,) * 3 + (297,)], ids=str)
def test_partitions_add_up(rows, sizes):
    X, y = rows
    local = rado.make_rados(X, y, 20, 5, intercept=True)
    parts = da.from_array(X, chunks=(sizes, (2, 2)))
    rados = make_rados(parts, y, 20, 5, intercept=True)
    assert_same(rados, local)
    again = make_rados(parts, da.from_array(y, chunks=150), 20, 5, intercept=True)
    np.testing.assert_array_equal(again.values, rados.values)


def test_a_partition_may_lack_a_class_and_categories(rows):
    X, y = rows
    order = np.argsort(y, kind="stable")
    frame = pd.DataFrame({"a": X[order, 0], "b": np.digitize(X[order, 1], [-1.0, 0.0, 1.0])})
    frame["b"] = pd.Series(np.array(["u", "q", "z", "d"])[frame["b"]], index=frame.index)
    frame.loc[:200, "b"] = frame.loc[:200, "b"].replace("d", "u")
    labels = pd.Series(y[order])
    local = rado.make_rados(frame, labels, 8, 0, categorical_features=["b"])
    rados = make_rados(
        dd.from_pandas(frame, npartitions=5), dd.from_pandas(labels, npartitions=5), 8, 0,
        categorical_features=["b"],
    )  # fmt: skip
    assert_same(rados, local)
    assert rados.feature_names == ("a", "b=d", "b=q", "b=u", "b=z")


def test_a_classifier_learns_from_those_of_workers(rows):
    X, y = rows
    with cluster(2) as client:
        rados = make_rados(da.from_array(X, chunks=(70, -1)), y, 50, 1, client=client)
    model = rado.RadoBoostClassifier().fit_rados(rados)
    local = rado.RadoBoostClassifier().fit_rados(rado.make_rados(X, y, 50, 1))
    np.testing.assert_allclose(model.decision_function(X), local.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda X, y: (X.compute(), y), TypeError, "X must be a Dask array or data frame"),
        (lambda X, y: (X, y[:-1]), ValueError, "y must have an entry for each of the 300 rows"),
        (lambda X, _: (X, np.arange(300) % 3), ValueError, "y has 3 classes"),
        (lambda X, _: (X, np.zeros(300, int)), ValueError, "y must hold two classes; got only"),
        (lambda X, y: (X[:0], y[:0]), ValueError, "X must have at least one row"),
        (lambda X, y: (da.where(X > 2, np.nan, X), y), ValueError, "X must hold finite numbers"),
    ],
)
def test_what_is_wrong_is_named(rows, change, error, message):
    X, y = change(da.from_array(rows[0], chunks=(120, -1)), rows[1])
    with pytest.raises(error, match=message):
        make_rados(X, y, 4)


def test_columns_that_differ_are_refused(rows):
    X, y = rows
    frames = [pd.DataFrame(X[:150, :2], columns=list(names)) for names in ("ab", "cb")]
    parts = [delayed(frame) for frame in frames]
    other = dd.from_delayed(parts, meta=frames[0].iloc[:0], verify_meta=False)
    with pytest.raises(ValueError, match=r"the same columns in each partition.*a \(numeric\)"):
        make_rados(other, dd.from_pandas(pd.Series(y), npartitions=2), 4)
