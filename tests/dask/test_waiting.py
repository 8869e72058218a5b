"""The workers of a cluster as a fit sees them: which may be used, and which are given up."""

import time

import numpy as np
import pytest

import properboost as pb
from helpers.clusters import MARKS, cluster, file_of, watched

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from properboost.dask import DaskProperBoostClassifier, fleet, waiting  # noqa: E402
from properboost.dask.on_scheduler import Taken  # noqa: E402
from properboost.dask.waiting import Lost, Worker, Workers  # noqa: E402

pytestmark = MARKS


class Clock:
    """Stands for time, which passes where it is waited for."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(waiting.time, "monotonic", lambda: self.now)


class Scheduler:
    """Stands for a client: what its scheduler says of workers is set here."""

    def __init__(self, clock):
        self.clock, self.workers, self.holders = clock, {}, set()
        self.taken, self.submitted, self.passed = [], [], []
        self.only_queued = False

    def run(self, address, process=None, status="running", heard=None):
        heard = self.clock.now if heard is None else heard
        self.workers[address] = (process or f"process of {address}", status, heard)

    def run_on_scheduler(self, function, *arguments):
        if function is waiting.take_away:
            self.taken.append(arguments[1])
            return Taken([], [], [], [], [])
        if function is waiting.let_pass:
            self.passed.append(self.clock.now)
            return []
        states = [
            (address, *own, self.clock.now - own[-1]) for address, own in self.workers.items()
        ]
        holders = {self.workers[own][0] for own in self.holders if own in self.workers}
        return states, holders, self.only_queued

    def submit(self, function, **_):
        self.submitted.append(function)

    def sync(self, *_):
        self.clock.now += 0.5
        return []


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture
def scheduler(clock):
    return Scheduler(clock)


@pytest.fixture
def workers(scheduler):
    own = Workers(scheduler, 10.0)
    own._import_on = own._ready.update  # as if each had imported the package at once
    return own


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
    """A scheduler that was busy itself has not read yet what workers have sent meanwhile."""
    scheduler.run("a")
    clock.now += 10.5
    workers.look()
    assert not workers.is_gone(worker("a"))
    scheduler.run("a")  # what was sent
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
    """One that adapts starts workers for tasks, and for nothing else."""
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
    care = waiting._Care(workers, ["key"], set(), bound=False)
    scheduler.holders = {"a"}
    for _ in range(30):
        clock.now += 1.0
        scheduler.run("a")
        scheduler.run("b", status="paused")
        assert not care.look_after()  # c is silent
    assert not workers._given_up
    scheduler.holders = {"b", "c"}
    care.look_after()
    assert workers._given_up == {worker("b"), worker("c")}
    [taken] = scheduler.taken
    assert set(taken) == {"process of b", "process of c"}


def test_what_is_bound_to_a_worker_begins_anew_without_it(scheduler, workers, clock):
    scheduler.run("a")
    care = waiting._Care(workers, ["key"], set(), bound=True)
    scheduler.holders = {"a"}
    workers.look()
    clock.now += 11.0
    care.look_after()
    clock.now += 1.0
    with pytest.raises(Lost) as lost:
        care.look_after()
    assert lost.value.workers == {worker("a")}


def test_what_only_queues_for_the_deadline_is_let_pass_from_then_on(scheduler, workers, clock):
    care = waiting._Care(workers, ["key"], set(), bound=False)
    begun = clock.now
    for second in range(30):
        scheduler.run("a")
        scheduler.only_queued = second not in (5, 20)  # others may let something pass at times
        care.look_after()
        clock.now += 1.0
    assert [now - begun for now in scheduler.passed] == [17, 18, 19, *range(21, 30)]


# -- in a cluster ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    with cluster(2) as own:
        yield own


def rows(n=600):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0.0).astype(int)


def set_status(name, dask_worker=None):
    from distributed import Status

    dask_worker.memory_manager.memory_pause_fraction = False  # which would run it again
    dask_worker.status = Status[name]


class Pause:
    """Pauses workers when parties are about to be made, or before."""

    def __init__(self, monkeypatch, client, number):
        self.client = client
        self.workers = sorted(client.scheduler_info(n_workers=-1)["workers"])[:number]
        plain = fleet._deal

        def deal(*arguments):
            self.set("paused")
            return plain(*arguments)

        monkeypatch.setattr(fleet, "_deal", deal)

    def set(self, name):
        self.client.run(set_status, name, workers=self.workers)


def test_a_paused_worker_gets_no_party(monkeypatch, client, tmp_path):
    X, y = rows()
    expected = file_of(pb.ProperBoostClassifier(n_estimators=10).fit(X, y), tmp_path)
    pause = Pause(monkeypatch, client, 1)
    model = DaskProperBoostClassifier(client=client, n_estimators=10, deadline=1.5)
    begun = time.monotonic()
    try:
        with watched(client):
            model.fit(da.from_array(X, chunks=(100, -1)), y)
        assert time.monotonic() - begun > 1.5
        with watched(client):  # one that is paused from the beginning is waited for by nobody
            model.fit(da.from_array(X, chunks=(100, -1)), y)
    finally:
        pause.set("running")
    assert file_of(model.to_local(), tmp_path) == expected


def count(state, dask_scheduler=None):
    return sum(task.state == state for task in dask_scheduler.tasks.values())


def test_tasks_of_others_do_not_pass_a_queue_for_ever(client):
    """Dask gives workers what is bound to them at once, and queued tasks when they have no other.

    Without `let_pass` these are done when the tasks of others are.
    """
    addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
    with watched(client), distributed.Client(client.scheduler.address, set_as_default=False) as own:

        def keep_busy(n):
            return [
                task
                for address in addresses
                for task in own.map(time.sleep, [0.1] * n, pure=False, workers=[address])
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
        own.cancel([*before, *after])


def test_what_was_moved_to_workers_that_are_gone_is_moved_on(client):
    """Dask keeps a task for the workers that it was moved to, and waits for them."""
    future = client.submit(pow, 2, 3, pure=False, workers=["tcp://127.0.0.1:1"])
    care = waiting._Care(Workers(client, 10.0), [future.key], set(), bound=False)
    care._restricted = [future.key]
    with watched(client, 30.0), care:
        while not future.done():
            care.look_after()
            time.sleep(0.1)
    assert future.result() == 8


def test_paused_workers_alone(monkeypatch, client):
    X, y = rows()
    pause = Pause(monkeypatch, client, 2)
    model = DaskProperBoostClassifier(client=client, n_estimators=10, deadline=1.0)
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

    monkeypatch.setattr(waiting, "make_import", make)
    X, y = rows()
    with pytest.raises(RuntimeError, match="workers must have properboost, as the client has; it"):
        DaskProperBoostClassifier(client=client).fit(da.from_array(X, chunks=(100, -1)), y)
