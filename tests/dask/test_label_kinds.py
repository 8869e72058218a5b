"""Test that labels of every kind in partitions give the model of all rows together."""

import numpy as np
import pytest

import properboost as pb
from helpers.clusters import MARKS, cluster, file_of
from helpers.label_kinds import KINDS

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

from properboost.dask import DaskProperBoostClassifier  # noqa: E402
from properboost.dask.partition_scan import scan_labels  # noqa: E402
from properboost.dask.table import _join_labels  # noqa: E402

pytestmark = MARKS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
CODES = np.digitize(X[:, 0], [-0.5, 0.5])

FITTED = [
    "bool",
    "large integers",
    "uint64 beyond int64",
    "float64",
    "longdouble",
    "objects: (str, Enum)",
    "objects: int",
    "list: (str, Enum)",
    "pandas: boolean",
    "pandas: Int64",
    "pandas: string[pyarrow]",
    "pandas: bool[pyarrow]",
    "polars: UInt64",
]
"""Kinds that are tried on a cluster, because reading, cutting or sending them differs."""


@pytest.fixture(scope="module")
def client():
    with cluster(2) as connected:
        yield connected


def codes_of(kind):
    return CODES if kind.most == 3 else np.minimum(CODES, 1)


@pytest.mark.parametrize("name", KINDS)
def test_partitions_are_joined(name):
    kind = KINDS[name]
    codes = codes_of(kind)
    parts = [
        scan_labels(X[begin : begin + 50], kind.make(codes[begin : begin + 50]), None)
        for begin in (0, 50, 100)
    ]
    labels, _ = _join_labels(parts)
    if kind.values.dtype.kind != "U":
        assert labels.values.dtype == kind.values.dtype
    assert labels.values.tolist() == kind.values.tolist()
    np.testing.assert_array_equal(labels.codes, codes)


def collections_of(kind):
    """Return the rows as collections, of pandas where the labels are pandas'."""
    y = kind.make(codes_of(kind))
    if isinstance(y, pd.Series):
        frame = pd.DataFrame(X, columns=["a", "b"])
        rows = dd.from_pandas(frame.assign(y=y.array), npartitions=3)
        return frame, rows[["a", "b"]], rows["y"]
    rows = da.from_array(X, chunks=(50, -1))
    return X, rows, da.from_array(y, chunks=50) if isinstance(y, np.ndarray) else y


@pytest.mark.parametrize("name", [name for name in FITTED if name in KINDS])
def test_fits(client, tmp_path, name):
    kind = KINDS[name]
    local, rows, y = collections_of(kind)
    expected = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(
        local, kind.make(codes_of(kind))
    )
    model = DaskProperBoostClassifier(client=client, n_estimators=2, weak_learner="table").fit(
        rows, y
    )
    kind.check(model.classes_)
    assert file_of(model.to_local(), tmp_path) == file_of(expected, tmp_path)
    predicted = model.predict(rows).compute()
    assert predicted.dtype == model.classes_.dtype
    assert predicted.tolist() == expected.predict(local).tolist()


def test_names_that_are_no_strings_are_those_in_memory(client, tmp_path):
    for columns in ([7, 3], [1, 0], [0, 1], ["a", "b"]):
        frame = pd.DataFrame(X, columns=columns)
        expected = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table")
        expected.fit(frame, CODES > 0, X_val=frame, y_val=CODES > 0)
        rows = dd.from_pandas(frame, npartitions=2)
        y = dd.from_pandas(pd.Series(CODES > 0), npartitions=2)
        model = DaskProperBoostClassifier(client=client, n_estimators=2, weak_learner="table")
        model.fit(rows, y, X_val=rows, y_val=y)
        assert file_of(model.to_local(), tmp_path) == file_of(expected, tmp_path)
        with pytest.raises(ValueError, match=r"columns of the fit|feature names should match"):
            model.predict(rows[columns[::-1]]).compute()
