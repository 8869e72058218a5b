"""Somebody's rows are in Dask collections."""

import pytest

import properboost as pb
from helpers.clusters import MARKS, cluster

frames = pytest.importorskip("dask.dataframe")

pytestmark = MARKS


def test_the_error_names_the_classifiers_that_fit_my_collections(cancer):
    X, y = cancer
    rows, labels = (frames.from_pandas(part, npartitions=2) for part in (X, y))
    with pytest.raises(TypeError, match=r"properboost\.dask has classifiers of Dask collections"):
        pb.ProperBoostClassifier().fit(rows, labels)
    with cluster(1):
        model = pb.dask.DaskProperBoostClassifier(n_estimators=20).fit(rows, labels)
    assert model.score(X, y) > 0.95
