"""Test fits whose workers die or freeze: the same bytes, or an error in time."""

import contextlib
import os
import signal
import time

import numpy as np
import pytest

import properboost as pb
from helpers.clusters import MARKS, cluster, file_of, watched

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from properboost.dask import DaskProperBoostClassifier, all_reduce, shards  # noqa: E402

pytestmark = MARKS

DEADLINE = 6.0  # on a busy machine, the scheduler may not hear of workers for seconds


class Workers:
    """Three workers; a new cluster has them where a killed worker was not restarted."""

    def __init__(self):
        self.stack = contextlib.ExitStack()
        self.client = None

    def get(self):
        end = time.monotonic() + 8.0
        while self.client is not None and time.monotonic() < end:
            with contextlib.suppress(OSError):  # a killed worker may still be listed
                if len(self.client.run(os.getpid)) == 3:
                    return self.client
            time.sleep(0.05)
        self.stack.close()
        self.client = self.stack.enter_context(cluster(3, processes=True))
        return self.client


@pytest.fixture(scope="module")
def workers():
    pool = Workers()
    with pool.stack:
        yield pool


@pytest.fixture
def client(workers):
    return workers.get()


def rows(n=900):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0.0).astype(int)


class Strike:
    """Strike that kills or freezes workers with shards just before the n-th call."""

    def __init__(self, monkeypatch, client, at, number, all_of_them=False):
        self.left, self.number, self.all, self.struck = at, number, all_of_them, []
        plain = all_reduce.call

        def call(workers, connections, *arguments):
            self.left -= 1
            if self.left == 0:
                struck = [
                    connection.worker.address
                    for connection in (connections if self.all else connections[-1:])
                ]
                self.struck = list(client.run(os.getpid, workers=struck).values())
                for pid in self.struck:
                    os.kill(pid, self.number)
            return plain(workers, connections, *arguments)

        monkeypatch.setattr(all_reduce, "call", call)
        monkeypatch.setattr(shards, "call", call)


SETTINGS = {
    "tables": {"weak_learner": "table", "n_estimators": 12},
    "trees": {"n_estimators": 3, "weak_learner": "tree"},
    "classes": {"weak_learner": "table", "n_estimators": 5, "multiclass": "one_vs_rest"},
    "pairs": {
        "weak_learner": "table",
        "n_estimators": 4,
        "interactions": [(0, 1)],
        "calibration": pb.Calibration(intercept="share"),
    },
    "cyclic": {"weak_learner": "table", "n_estimators": 3, "selection": "cyclic"},
}


# The calls of a fit: prepare, begin and go_on of "start", the models' sums, begin and go_on of
# "advance".
@pytest.mark.parametrize(
    ("name", "at"),
    [("tables", 1), ("tables", 3), ("tables", 12), ("trees", 25), ("classes", 14), ("pairs", 30),
     ("cyclic", 12)],
)  # fmt: skip
def test_a_worker_that_is_killed(monkeypatch, client, tmp_path, name, at):
    X, y = rows()
    if name == "classes":
        y = y + (X[:, 1] > 1.0)
    settings = SETTINGS[name]
    expected = file_of(pb.ProperBoostClassifier(**settings).fit(X, y), tmp_path)
    strike = Strike(monkeypatch, client, at, signal.SIGKILL)
    model = DaskProperBoostClassifier(client=client, deadline=30.0, **settings)
    with watched(client):
        model.fit(da.from_array(X, chunks=(150, -1)), y)
    assert strike.struck
    assert file_of(model.to_local(), tmp_path) == expected


def test_early_stopping_goes_on(monkeypatch, client, tmp_path):
    X, y = rows()
    settings = {
        "n_estimators": 30,
        "early_stopping": pb.EarlyStopping(validation_fraction=0.1, n_iter_no_change=4),
    }
    local = pb.ProperBoostClassifier(**settings).fit(X, y, X_val=X, y_val=1 - y)
    strike = Strike(monkeypatch, client, 20, signal.SIGKILL)
    model = DaskProperBoostClassifier(client=client, **settings)
    lazy = da.from_array(X, chunks=(150, -1))
    with watched(client):
        model.fit(lazy, y, X_val=lazy, y_val=1 - y)
    assert strike.struck
    np.testing.assert_array_equal(model.validation_scores_, local.validation_scores_)
    assert file_of(model.to_local(), tmp_path) == file_of(local, tmp_path)


def find_last_heard(dask_scheduler=None):
    return min(worker.last_seen for worker in dask_scheduler.workers.values())


def test_a_worker_that_is_frozen(monkeypatch, client, tmp_path):
    X, y = rows()
    settings = {"n_estimators": 12}
    expected = file_of(pb.ProperBoostClassifier(**settings).fit(X, y), tmp_path)
    strike = Strike(monkeypatch, client, 9, signal.SIGSTOP)
    heard = client.run_on_scheduler(find_last_heard)  # this is some time before the fit
    try:
        model = DaskProperBoostClassifier(client=client, deadline=DEADLINE, **settings)
        with watched(client):
            model.fit(da.from_array(X, chunks=(150, -1)), y)
        seconds = time.time() - heard
    finally:
        for pid in strike.struck:
            os.kill(pid, signal.SIGKILL)
    assert strike.struck
    assert seconds > DEADLINE
    assert file_of(model.to_local(), tmp_path) == expected


def test_scattered_chunks_of_a_frozen_worker(client):
    """No worker can compute scattered chunks again."""
    X, y = rows(300)
    where = sorted(client.run(os.getpid).items())
    # With a hash, equal chunks would share a key, and the other worker would have a copy.
    parts = [client.scatter(X, workers=[address], hash=False) for address, _ in where[:2]]
    lazy = da.concatenate([da.from_delayed(dask.delayed(part), X.shape, float) for part in parts])
    _, frozen = where[0]
    os.kill(frozen, signal.SIGSTOP)
    try:
        model = DaskProperBoostClassifier(
            client=client, n_estimators=12, deadline=2.0, weak_learner="table"
        )
        begun = time.monotonic()
        with watched(client), pytest.raises(RuntimeError, match="chunks that were scattered"):
            model.fit(lazy, np.concatenate([y, y]))
        assert time.monotonic() - begun < 20.0  # a busy machine needs this long
    finally:
        os.kill(frozen, signal.SIGKILL)


def hold(seconds):
    """Sleep while holding the GIL, as many extensions do."""
    import ctypes

    ctypes.PyDLL(None).usleep(int(1e6 * seconds))
    return os.getpid()


def test_a_worker_that_others_hold_up_is_left_alone(client, tmp_path):
    """This fit gives the blocked worker up; the worker lives, and the blocking task runs once."""
    X, y = rows()
    expected = file_of(
        pb.ProperBoostClassifier(n_estimators=12, weak_learner="table").fit(X, y), tmp_path
    )
    lazy = client.persist(da.from_array(X, chunks=(150, -1)))
    # Every worker has rows then.
    DaskProperBoostClassifier(client=client, n_estimators=1, weak_learner="table").fit(lazy, y)
    before = client.run(os.getpid)
    deadline = 3.0
    with distributed.Client(client.cluster, set_as_default=False) as other:
        blocked = sorted(before)[-1]
        task = other.submit(hold, 3.0 * deadline, workers=[blocked], pure=False)
        while not client.run_on_scheduler(find_processing, task.key):
            time.sleep(0.01)
        model = DaskProperBoostClassifier(
            client=client, n_estimators=12, deadline=deadline, weak_learner="table"
        )
        with watched(client):
            model.fit(lazy, y)
        assert not task.done()
        assert file_of(model.to_local(), tmp_path) == expected
        assert task.result() == before[blocked]
    assert client.run(os.getpid) == before


def find_processing(key, dask_scheduler=None):
    return key in dask_scheduler.tasks and dask_scheduler.tasks[key].state == "processing"


@pytest.mark.parametrize("at", [25, 26, 29])
def test_all_workers_that_have_rows(monkeypatch, client, tmp_path, at):
    """The model begins anew on workers without rows or new ones; watchers see each score once.

    Every third of these calls is one of a watcher, for which the rounds must come back first.
    """
    X, y = rows()
    settings = {
        "n_estimators": 12,
        "weak_learner": "table",
        "early_stopping": pb.EarlyStopping(validation_fraction=0.1, n_iter_no_change=12),
    }
    local = pb.ProperBoostClassifier(**settings).fit(X, y, X_val=X, y_val=y)
    strike = Strike(monkeypatch, client, at, signal.SIGKILL, all_of_them=True)
    model = DaskProperBoostClassifier(client=client, deadline=60.0, **settings)
    with watched(client):
        model.fit(da.from_array(X, chunks=(900, -1)), y, X_val=X, y_val=y)
    assert len(strike.struck) == 1
    np.testing.assert_array_equal(model.validation_scores_, local.validation_scores_)
    assert file_of(model.to_local(), tmp_path) == file_of(local, tmp_path)


def find_bound(dask_scheduler=None):
    return [str(key) for key, task in dask_scheduler.tasks.items() if task.worker_restrictions]


def test_shards_alone_are_bound_to_workers(monkeypatch, client):
    """Dask never drops a task's binding, and partitions must outlive any worker."""
    X, y = rows()
    strike = Strike(monkeypatch, client, 12, signal.SIGKILL)
    plain, bound = shards.call, []

    def call(*arguments):
        bound.append(client.run_on_scheduler(find_bound))
        return plain(*arguments)

    monkeypatch.setattr(all_reduce, "call", call)
    monkeypatch.setattr(shards, "call", call)
    model = DaskProperBoostClassifier(
        client=client, n_estimators=6, deadline=30.0, weak_learner="table"
    )
    with watched(client):
        model.fit(da.from_array(X, chunks=(150, -1)) + 0.0, y)
    assert strike.struck
    assert max(map(len, bound)) >= 3
    assert all(name.startswith("Shard-") for names in bound for name in names)


def find_idle(dask_scheduler=None):
    return dask_scheduler.workers_to_close(n=3)


def test_workers_with_rows_are_not_idle(monkeypatch, client):
    """An adaptive cluster would close idle workers."""
    X, y = rows()
    plain, idle = shards.call, []

    def call(*arguments):
        end = time.monotonic() + 5.0  # the tasks that keep workers busy must have started
        while (workers := client.run_on_scheduler(find_idle)) and time.monotonic() < end:
            time.sleep(0.01)
        idle.append(workers)
        return plain(*arguments)

    monkeypatch.setattr(all_reduce, "call", call)
    model = DaskProperBoostClassifier(
        client=client, n_estimators=2, deadline=30.0, weak_learner="table"
    )
    with watched(client):
        model.fit(client.persist(da.from_array(X, chunks=(150, -1))), y)
        assert set(map(tuple, idle)) == {()}
        while len(client.run_on_scheduler(find_idle)) < 3:  # workers are idle again after the fit
            time.sleep(0.01)


def let_go_of_all(client):
    client.cluster.scale(0)
    limit = time.monotonic() + 60.0
    while client.scheduler_info()["workers"]:
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_no_worker_is_there():
    X, y = rows()
    with cluster(1) as client:
        let_go_of_all(client)
        model = DaskProperBoostClassifier(
            client=client, n_estimators=12, deadline=2.0, weak_learner="table"
        )
        with pytest.raises(RuntimeError, match=r"the cluster had no worker for 2 seconds"):
            model.fit(da.from_array(X, chunks=(150, -1)), y)


def test_no_worker_is_left(monkeypatch):
    X, y = rows()
    left = 9
    plain = all_reduce.call

    def call(workers, *arguments):
        nonlocal left
        left -= 1
        if left == 0:
            let_go_of_all(workers.client)
        return plain(workers, *arguments)

    with cluster(1) as client:
        monkeypatch.setattr(all_reduce, "call", call)
        monkeypatch.setattr(shards, "call", call)
        model = DaskProperBoostClassifier(
            client=client, n_estimators=12, deadline=2.0, weak_learner="table"
        )
        with pytest.raises(
            RuntimeError, match=r"all workers were lost, and no other came in 2 seconds"
        ):
            model.fit(da.from_array(X, chunks=(150, -1)), y)
    assert not hasattr(model, "classes_")
