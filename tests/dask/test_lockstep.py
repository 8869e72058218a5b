"""Calls of parties, and what stands for a worker that is gone."""

import asyncio

import pytest

pytest.importorskip("distributed")

from distributed.actor import ProxyRPC

from helpers.clusters import MARKS, cluster, watched
from properboost.dask.lockstep import Each, Line, call
from properboost.dask.waiting import Lost, Worker, Workers

pytestmark = MARKS


class Rpc:
    """Answers as the rpc of a worker does, or raises."""

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


def said(result, error=None):
    return {"status": "OK", "result": (result, error)}


def test_each_party_gets_its_own(workers):
    lines = [Line(worker(k), f"party-{k}", Rpc(said(k))) for k in range(2)]
    assert call(workers, lines, "ask", "what", Each(["a", "b"])) == [0, 1]
    for k, line in enumerate(lines):
        (heard,) = line.rpc.heard
        assert (heard["function"], heard["actor"]) == ("answer", f"party-{k}")
        method, *arguments = heard["args"]
        assert method == "ask"
        assert [own.data for own in arguments] == ["what", "ab"[k]]


@pytest.mark.parametrize(
    "answer",
    [
        OSError("closed"),
        Exception("KeyError('party-1')"),  # the same, as the scheduler passes it on
        KeyError("party-1"),  # a worker that was started again where the other was
        {"status": "error", "exception": RuntimeError("no new futures after shutdown")},
    ],
)
def test_workers_that_end(workers, answer):
    lines = [Line(worker(0), "party-0", Rpc(said(0))), Line(worker(1), "party-1", Rpc(answer))]
    with pytest.raises(Lost) as lost:
        call(workers, lines, "ask", "what")
    assert lost.value.workers == {worker(1)}


def test_errors_of_parties_are_raised(workers):
    lines = [Line(worker(0), "party-0", Rpc(said(None, KeyError("its own"))))]
    with pytest.raises(KeyError, match="its own"):
        call(workers, lines, "ask", "what")


def test_what_cannot_be_sent_is_raised(workers):
    lines = [Line(worker(0), "party-0", Rpc(TypeError("cannot be pickled")))]
    with pytest.raises(TypeError, match="pickled"):
        call(workers, lines, "ask", "what")


@pytest.mark.parametrize("direct", [True, False])
def test_a_worker_without_the_party(direct):
    with cluster(1) as client, watched(client):
        (address,) = client.scheduler_info(n_workers=-1)["workers"]
        rpc = client.rpc(address) if direct else ProxyRPC(client.scheduler, address)
        gone = Worker(address, "a process that was there before")
        with pytest.raises(Lost) as lost:
            call(Workers(client, 10.0), [Line(gone, "party", rpc)], "ask", "what")
        assert lost.value.workers == {gone}
