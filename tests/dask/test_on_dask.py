"""Test clients of every kind, and scikit-learn's tools around classifiers with a client."""

import asyncio
import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score

import properboost as pb
from helpers.clusters import MARKS, cluster

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed")

from properboost.dask import (  # noqa: E402
    DaskProperBoostClassifier,
    DaskProperBoostClassifierCV,
)

pytestmark = MARKS


@pytest.fixture(scope="module")
def client():
    with cluster(2) as connected:
        yield connected


def rows(n=240, n_classes=2):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 3))
    return X, np.searchsorted([0.0, 1.0][: n_classes - 1], X[:, 0] + rng.normal(size=n))


@pytest.mark.parametrize("kind", [DaskProperBoostClassifier, DaskProperBoostClassifierCV])
def test_clones_and_copies_have_the_same_client(client, kind):
    model = kind(client=client, deadline=7.0)
    for same in (clone(model), copy.copy(model), copy.deepcopy(model)):
        assert type(same) is kind
        assert same.client is client
        assert same.get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(model)).client is None  # a client cannot be pickled
    X, y = rows()
    model = DaskProperBoostClassifier(client=client, n_estimators=2, weak_learner="table")
    model.fit(da.from_array(X, chunks=(80, -1)), y)
    assert not hasattr(clone(model), "classes_")
    np.testing.assert_array_equal(copy.deepcopy(model).predict(X), model.predict(X))


def test_searches_and_scores_of_scikit_learn(client):
    X, y = rows()
    lazy = da.from_array(X, chunks=(80, -1))
    grid = {"gain": [0.3, 1.0]}
    local = GridSearchCV(
        pb.ProperBoostClassifier(n_estimators=4, weak_learner="table"), grid, cv=3
    ).fit(X, y)
    model = DaskProperBoostClassifier(client=client, n_estimators=4, weak_learner="table")
    for labels in (y, da.from_array(y, chunks=80)):
        search = GridSearchCV(model, grid, cv=3).fit(lazy, labels)
        assert search.best_params_ == local.best_params_
        for name in ("mean_test_score", "std_test_score"):
            np.testing.assert_array_equal(search.cv_results_[name], local.cv_results_[name])
    np.testing.assert_array_equal(
        cross_val_score(model, lazy, y, scoring="neg_log_loss", cv=3),
        cross_val_score(local.estimator, X, y, scoring="neg_log_loss", cv=3),
    )


LABELS = {
    "numbers": lambda y: y,
    "text": lambda y: np.array(["no", "yes", "perhaps"])[y],
    "categories": lambda y: pd.Series(np.array(["no", "yes", "so"])[y], dtype="category"),
    "nullable": lambda y: pd.Series(y, dtype="Int64"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_scores_are_those_in_memory(client, kind):
    X, y = rows(n_classes=3)
    y = LABELS[kind](y)
    weight = np.random.default_rng(2).uniform(size=len(y))
    frame = pd.DataFrame(X, columns=list("abc"))
    lazy = dd.from_pandas(frame, npartitions=3)
    series = dd.from_pandas(pd.Series(y), npartitions=3)
    model = DaskProperBoostClassifier(client=client, n_estimators=3, weak_learner="table").fit(
        lazy, series
    )
    local = model.to_local()
    assert model.score(lazy, series) == local.score(frame, y)
    weights = dd.from_pandas(pd.Series(weight), npartitions=3)
    assert model.score(lazy, series, weights) == local.score(frame, y, weight)
    assert model.score(frame, y) == local.score(frame, y)


def test_scores_of_searches_and_of_unknown_sizes(client):
    X, y = rows()
    lazy = da.from_array(X, chunks=(100, -1))
    search = DaskProperBoostClassifierCV(
        client=client, effort=None, space={"gain": [1.0], "n_estimators": 3}, cv=2
    ).fit(lazy, y)
    expected = accuracy_score(y, search.predict(X))
    assert search.score(lazy, y) == search.to_local().score(X, y) == expected
    positive = lazy[lazy[:, 0] > 0.0]
    labels = da.from_array(y, chunks=100)[lazy[:, 0] > 0.0]
    assert search.score(positive, labels) == search.to_local().score(X[X[:, 0] > 0], y[X[:, 0] > 0])
    with pytest.raises(TypeError, match="y must be a Dask collection where the partitions of X"):
        search.score(positive, y)
    with pytest.raises(ValueError, match="y must have an entry for each of the 240 rows"):
        search.score(lazy, y[:-1])


def test_addresses_of_schedulers(client):
    X, y = rows()
    lazy = da.from_array(X, chunks=(100, -1))
    address = client.scheduler.address
    model = DaskProperBoostClassifier(client=address, n_estimators=3, weak_learner="table")
    assert clone(model).client == address
    expected = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    np.testing.assert_array_equal(
        model.fit(lazy, y).decision_function(X), expected.decision_function(X)
    )
    assert model.score(lazy, y) == expected.score(X, y)
    assert distributed.get_client() is client  # the fixture's client is still the default
    with pytest.raises(ValueError, match="client must be the address of a scheduler; none answers"):
        DaskProperBoostClassifier(client="nowhere", weak_learner="table").fit(lazy, y)


@pytest.mark.parametrize("address", ["nowhere", "tcp://127.0.0.1:1"])
def test_clients_that_cannot_connect_are_closed(address, monkeypatch):
    """The collector finalised one while the next client started, and both waited without end."""
    clients = []

    class RecordedClient(distributed.Client):
        def __init__(self, *arguments, **options):
            clients.append(self)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(distributed, "Client", RecordedClient)
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "100ms"}),
        pytest.raises((OSError, ValueError), match="none answers at"),
    ):
        DaskProperBoostClassifier(client=address, weak_learner="table").fit(
            da.zeros((9, 2), chunks=3), np.arange(9) % 2
        )
    assert [client.status for client in clients] == ["closed"]


def test_asynchronous_clients_are_refused_by_name(client):
    X, y = rows()
    lazy = da.from_array(X, chunks=(100, -1))
    address = client.scheduler.address

    async def fit():
        async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
            model = DaskProperBoostClassifier(client=client, n_estimators=3, weak_learner="table")
            with pytest.raises(TypeError, match="that waits; got an asynchronous one"):
                model.fit(lazy, y)
            with pytest.raises(TypeError, match="pass the address of its scheduler, and call fit"):
                await asyncio.to_thread(model.fit, lazy, y)
            model.client = address  # the message proposes this
            return await asyncio.to_thread(model.fit, lazy, y)

    assert asyncio.run(fit()).score(lazy, y) > 0.5


def test_what_is_no_client_is_refused_by_name(client):
    X, y = rows()
    lazy = da.from_array(X, chunks=(100, -1))
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client, .* LocalCluster"):
        DaskProperBoostClassifier(client=client.cluster, weak_learner="table").fit(lazy, y)
    closed = distributed.Client(client.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(ValueError, match=r"client must be connected to .* that is closed"):
        DaskProperBoostClassifier(client=closed, weak_learner="table").fit(lazy, y)
