"""Test a fit's view of the workers of a cluster: the usable ones, and those that it gives up."""

import time

import numpy as np
import pytest

import properboost as pb
from helpers.clusters import MARKS, cluster, file_of, watched

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from properboost.dask import DaskProperBoostClassifier, shards, worker_health  # noqa: E402
from properboost.dask.on_scheduler import Reassignment  # noqa: E402
from properboost.dask.worker_health import Worker, Workers, WorkersLost  # noqa: E402

pytestmark = MARKS


class FakeClock:
    """Stand-in for the clock, which waiting moves on."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(worker_health.time, "monotonic", lambda: self.now)


class Scheduler:
    """Stand-in for a client, with the states of workers that tests set."""

    def __init__(self, clock):
        self.clock, self.workers, self.holders = clock, {}, set()
        self.taken, self.submitted, self.passed = [], [], []
        self.only_queued = False

    def run(self, address, process=None, status="running", heard=None):
        heard = self.clock.now if heard is None else heard
        self.workers[address] = (process or f"process of {address}", status, heard)

    def run_on_scheduler(self, function, *arguments):
        if function is worker_health.take_away:
            self.taken.append(arguments[1])
            return Reassignment([], [], [], [], [])
        if function is worker_health.let_pass:
            self.passed.append(self.clock.now)
            return []
        states = [
            (address, *state, self.clock.now - state[-1]) for address, state in self.workers.items()
        ]
        holders = {self.workers[key][0] for key in self.holders if key in self.workers}
        return states, holders, self.only_queued

    def submit(self, function, **_):
        self.submitted.append(function)

    def sync(self, *_):
        self.clock.now += 0.5
        return []


@pytest.fixture
def clock(monkeypatch):
    return FakeClock(monkeypatch)


@pytest.fixture
def scheduler(clock):
    return Scheduler(clock)


@pytest.fixture
def workers(scheduler):
    pool = Workers(scheduler, 10.0)
    pool._import_on = pool._ready.update  # as if each worker had imported the package
    return pool


def worker(address, process=None):
    return Worker(address, process or f"process of {address}")


def test_a_process_that_comes_back_at_its_address_is_another_worker(scheduler, workers):
    scheduler.run("a")
    assert workers.choose() == [worker("a")]
    workers.give_up({worker("a")})
    assert not workers.is_gone(worker("a"))
    scheduler.run("a", "another")
    assert workers.choose() == [worker("a", "another")]
    assert workers.is_gone(worker("a"))


@pytest.mark.parametrize("status", ["paused", "closing_gracefully"])
def test_only_running_workers_get_something_new(scheduler, workers, status):
    scheduler.run("a", status=status)
    scheduler.run("b")
    assert workers.choose() == [worker("b")]


def test_a_worker_is_silent_after_the_deadline_at_the_second_look(scheduler, workers, clock):
    """A scheduler that was busy may not have read yet what workers sent."""
    scheduler.run("a")
    clock.now += 10.5
    workers.look()
    assert not workers.is_gone(worker("a"))
    scheduler.run("a")  # the message that the scheduler had not read
    clock.now += 1.0
    workers.look()
    assert not workers.is_gone(worker("a"))
    clock.now += 10.5
    for gone in (False, True):
        workers.look()
        assert workers.is_gone(worker("a")) == gone
        clock.now += 1.0


def test_errors_come_by_the_deadline_since_a_worker_could_last_be_used(scheduler, workers, clock):
    scheduler.run("a")
    workers.look()
    begun = clock.now
    workers.give_up({worker("a")})
    with pytest.raises(RuntimeError, match="all workers were lost, and no other came in 10 sec"):
        workers.choose()
    assert 10.0 < clock.now - begun < 13.0
    workers = Workers(scheduler, 10.0)
    scheduler.run("a", status="paused")
    begun = clock.now
    with pytest.raises(RuntimeError, match=r"not paused for 10 seconds.*memory_limit"):
        workers.choose()
    assert 10.0 < clock.now - begun < 13.0


def test_a_cluster_without_workers_gets_a_task(scheduler, workers):
    """An adaptive cluster starts workers for tasks alone."""
    plain = scheduler.sync

    def sync(*arguments):
        scheduler.run("a")
        return plain(*arguments)

    scheduler.sync = sync
    assert workers.choose() == [worker("a")]
    assert len(scheduler.submitted) == 1
    workers.choose()
    assert len(scheduler.submitted) == 1


def test_workers_that_hold_nothing_of_this_fit_are_left_alone(scheduler, workers, clock):
    scheduler.run("a")
    scheduler.run("b", status="paused")
    scheduler.run("c")
    care = worker_health._Supervision(workers, ["key"], set(), bound=False)
    scheduler.holders = {"a"}
    for _ in range(30):
        clock.now += 1.0
        scheduler.run("a")
        scheduler.run("b", status="paused")
        assert not care.look_after()  # c stays silent
    assert not workers.given_up
    scheduler.holders = {"b", "c"}
    care.look_after()
    assert workers.given_up == {worker("b"), worker("c")}
    [taken] = scheduler.taken
    assert set(taken) == {"process of b", "process of c"}


def test_what_is_bound_to_a_worker_begins_anew_without_it(scheduler, workers, clock):
    scheduler.run("a")
    care = worker_health._Supervision(workers, ["key"], set(), bound=True)
    scheduler.holders = {"a"}
    workers.look()
    clock.now += 11.0
    care.look_after()
    clock.now += 1.0
    with pytest.raises(WorkersLost) as lost:
        care.look_after()
    assert lost.value.workers == {worker("a")}


def test_what_only_queues_for_the_deadline_is_let_pass_from_then_on(scheduler, workers, clock):
    care = worker_health._Supervision(workers, ["key"], set(), bound=False)
    begun = clock.now
    for second in range(30):
        scheduler.run("a")
        # Tasks of others may let one pass now and then.
        scheduler.only_queued = second not in (5, 20)
        care.look_after()
        clock.now += 1.0
    assert [now - begun for now in scheduler.passed] == [17, 18, 19, *range(21, 30)]


# -- in a cluster ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    with cluster(2) as connected:
        yield connected


def rows(n=600):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0.0).astype(int)


def set_status(name, dask_worker=None):
    from distributed import Status

    # Else the monitor of memory would unpause it.
    dask_worker.memory_manager.memory_pause_fraction = False
    dask_worker.status = Status[name]


class Pause:
    """Pause of some workers, when shards are about to be made or before."""

    def __init__(self, monkeypatch, client, number):
        self.client = client
        self.workers = sorted(client.scheduler_info(n_workers=-1)["workers"])[:number]
        plain = shards._deal

        def deal(*arguments):
            self.set("paused")
            return plain(*arguments)

        monkeypatch.setattr(shards, "_deal", deal)

    def set(self, name):
        self.client.run(set_status, name, workers=self.workers)


def test_a_paused_worker_gets_no_shard(monkeypatch, client, tmp_path):
    X, y = rows()
    expected = file_of(
        pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X, y), tmp_path
    )
    pause = Pause(monkeypatch, client, 1)
    model = DaskProperBoostClassifier(
        client=client, n_estimators=10, deadline=1.5, weak_learner="table"
    )
    begun = time.monotonic()
    try:
        with watched(client):
            model.fit(da.from_array(X, chunks=(100, -1)), y)
        assert time.monotonic() - begun > 1.5
        with watched(client):  # no fit waits for a worker that was paused before
            model.fit(da.from_array(X, chunks=(100, -1)), y)
    finally:
        pause.set("running")
    assert file_of(model.to_local(), tmp_path) == expected


def count(state, dask_scheduler=None):
    return sum(task.state == state for task in dask_scheduler.tasks.values())


def test_tasks_of_others_do_not_pass_a_queue_for_ever(client):
    """Bound tasks of others start at once; queued ones wait for a worker without any.

    Without `let_pass` the queued tasks would start only after the tasks of others.
    """
    addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
    with (
        watched(client),
        distributed.Client(client.scheduler.address, set_as_default=False) as stranger,
    ):

        def keep_busy(n):
            return [
                task
                for address in addresses
                for task in stranger.map(time.sleep, [0.1] * n, pure=False, workers=[address])
            ]

        before = keep_busy(60)
        while client.run_on_scheduler(count, "processing") < 60:
            time.sleep(0.02)
        make = dask.delayed(pow, pure=False)
        futures = client.compute([make(2, k) for k in range(8)])
        while client.run_on_scheduler(count, "queued") < 8:
            time.sleep(0.02)
        after = keep_busy(300)
        Workers(client, 0.5).wait_for(futures)
        assert client.gather(futures) == [2**k for k in range(8)]
        assert any(task.status == "pending" for task in after)
        stranger.cancel([*before, *after])


def test_what_was_moved_to_workers_that_are_gone_is_moved_on(client):
    """Dask keeps a moved task for its new workers, and waits for them."""
    future = client.submit(pow, 2, 3, pure=False, workers=["tcp://127.0.0.1:1"])
    care = worker_health._Supervision(Workers(client, 10.0), [future.key], set(), bound=False)
    care._restricted = [future.key]
    with watched(client, 30.0), care:
        while not future.done():
            care.look_after()
            time.sleep(0.1)
    assert future.result() == 8


def test_paused_workers_alone(monkeypatch, client):
    X, y = rows()
    pause = Pause(monkeypatch, client, 2)
    model = DaskProperBoostClassifier(
        client=client, n_estimators=10, deadline=1.0, weak_learner="table"
    )
    try:
        with watched(client), pytest.raises(RuntimeError, match=r"not paused for 1 seconds: "):
            model.fit(da.from_array(X, chunks=(100, -1)), y)
    finally:
        pause.set("running")


def test_workers_that_lack_the_package(monkeypatch, client):
    def make():
        async def load():
            raise ImportError("No module named 'properboost'")

        return load

    monkeypatch.setattr(worker_health, "make_import", make)
    X, y = rows()
    with pytest.raises(RuntimeError, match="workers must have properboost, as the client has; it"):
        DaskProperBoostClassifier(client=client, weak_learner="table").fit(
            da.from_array(X, chunks=(100, -1)), y
        )
