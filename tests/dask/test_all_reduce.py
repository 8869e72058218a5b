"""Test calls of shards, and the errors that mean a lost worker."""

import asyncio

import pytest

pytest.importorskip("distributed")

from distributed.actor import ProxyRPC

from helpers.clusters import MARKS, cluster, watched
from properboost.dask.all_reduce import Connection, PerShard, call
from properboost.dask.worker_health import Worker, Workers, WorkersLost

pytestmark = MARKS


class Rpc:
    """Stand-in for the rpc of a worker, which answers or raises."""

    def __init__(self, answer):
        self.answer, self.heard = answer, []

    async def actor_execute(self, **call):
        self.heard.append(call)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def workers():
    loop = asyncio.new_event_loop()

    class Client:
        def sync(self, function, *arguments):
            return loop.run_until_complete(function(*arguments))

    yield Workers(Client(), 1.0)
    loop.close()


def worker(k):
    return Worker(f"tcp://127.0.0.1:{k}", f"Worker-{k}")


def answering(result, error=None):
    return {"status": "OK", "result": (result, error)}


def test_each_shard_gets_its_argument(workers):
    connections = [Connection(worker(k), f"shard-{k}", Rpc(answering(k))) for k in range(2)]
    assert call(workers, connections, "ask", "what", PerShard(["a", "b"])) == [0, 1]
    for k, connection in enumerate(connections):
        (heard,) = connection.rpc.heard
        assert (heard["function"], heard["actor"]) == ("answer", f"shard-{k}")
        method, *arguments = heard["args"]
        assert method == "ask"
        assert [argument.data for argument in arguments] == ["what", "ab"[k]]


@pytest.mark.parametrize(
    "answer",
    [
        OSError("closed"),
        Exception("KeyError('shard-1')"),  # the scheduler passes a KeyError on as this
        KeyError("shard-1"),  # a new worker has the address, but no shard
        {"status": "error", "exception": RuntimeError("no new futures after shutdown")},
    ],
)
def test_workers_that_end(workers, answer):
    connections = [
        Connection(worker(0), "shard-0", Rpc(answering(0))),
        Connection(worker(1), "shard-1", Rpc(answer)),
    ]
    with pytest.raises(WorkersLost) as lost:
        call(workers, connections, "ask", "what")
    assert lost.value.workers == {worker(1)}


def test_errors_of_shards_are_raised(workers):
    connections = [Connection(worker(0), "shard-0", Rpc(answering(None, KeyError("its own"))))]
    with pytest.raises(KeyError, match="its own"):
        call(workers, connections, "ask", "what")


def test_what_cannot_be_sent_is_raised(workers):
    connections = [Connection(worker(0), "shard-0", Rpc(TypeError("cannot be pickled")))]
    with pytest.raises(TypeError, match="pickled"):
        call(workers, connections, "ask", "what")


@pytest.mark.parametrize("direct", [True, False])
def test_a_worker_without_the_shard(direct):
    with cluster(1) as client, watched(client):
        (address,) = client.scheduler_info(n_workers=-1)["workers"]
        rpc = client.rpc(address) if direct else ProxyRPC(client.scheduler, address)
        gone = Worker(address, "a process that was there before")
        with pytest.raises(WorkersLost) as lost:
            call(Workers(client, 10.0), [Connection(gone, "shard", rpc)], "ask", "what")
        assert lost.value.workers == {gone}
