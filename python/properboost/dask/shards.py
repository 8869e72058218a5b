"""All shards of a fit: which worker has which partitions, and the recovery of lost workers."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from properboost.dask.all_reduce import Connection, PerShard, abandon, call, connect, run_together
from properboost.dask.on_worker import stay
from properboost.dask.worker_health import Worker, Workers, WorkersLost
from properboost.data.sorted_rows import SortedRows
from properboost.models.interactions import PairBins

__all__ = ["Shards", "Survivor"]

Answer = TypeVar("Answer")

MOST_BEGINNINGS = 10
"""Times that all workers with rows may be lost before a fit ends with an error."""


class Survivor(Protocol):
    """Models that go on with boosting after a worker was lost."""

    def remember(self, ask: Callable[..., Any] | None) -> None:
        """Fetch the rounds so far with `ask`, which calls a shard; None if no shard is left."""

    def start_again(self) -> None:
        """Set the models up on the shards again, as far as they were."""


class Shards:
    """The shards of a fit, one for each worker that has partitions.

    Where workers are lost, other workers encode their partitions again, as new shards.  Models go
    on from the last estimator that was finished.  As sums are whole numbers, no result depends on
    which worker has which rows.
    """

    def __init__(
        self,
        workers: Workers,
        encode: Callable[[Sequence[int]], list[Any]],
        sizes: Sequence[int],
        order: SortedRows,
        shard_class: type,
        describe: Callable[..., Any],
    ) -> None:
        """Place the partitions.

        `encode` returns lazy codes of partitions; `sizes` are the rows of each partition.  A shard
        is made of codes.  `describe` makes the description of its rows from their places in the
        order, their places among its partitions' rows, and the ends of segments.
        """
        self._workers, self._encode = workers, encode
        self._shard_class, self._describe = shard_class, describe
        self._order, self._segments = order.order, order.segments
        self._begins = np.cumsum([0, *sizes])
        self._partitions: list[list[int]] = []  # of each shard
        self._rows: list[NDArray[np.int64]] = []  # of each shard: places in the order
        self._connections: list[Connection] = []
        self._futures: list[Any] = []  # of each shard
        self._pairs: dict[int, tuple[PairBins, ...]] = {}
        self._numbers = itertools.count(1)
        self._survivors: WeakValueDictionary[int, Survivor] = WeakValueDictionary()
        self._forgotten: list[int] = []
        self._beginnings = 0
        while missing := self._find_missing():
            try:
                self._place(missing)
            except WorkersLost as lost:
                self._drop(lost.workers)

    @property
    def n_rows(self) -> int:
        """The rows that count."""
        return len(self._order)

    @property
    def rows(self) -> list[NDArray[np.int64]]:
        """The places of each shard's rows in the order of the engine."""
        return self._rows

    def per_shard(self, make: Callable[[NDArray[np.int64]], Any]) -> PerShard:
        """Return an argument for each shard, made of its rows' places in the order."""
        return PerShard(make(rows) for rows in self._rows)

    def new_number(self) -> int:
        """Return a number that is not in use."""
        return next(self._numbers)

    def register(self, number: int, models: Survivor) -> None:
        """Register models that have to be set up again when workers are lost."""
        self._survivors[number] = models

    def forget(self, number: int) -> None:
        """Have shards drop models before the next task."""
        self._forgotten.append(number)

    def lay(self, pairs: Sequence[PairBins]) -> int:
        """Find the codes of pairs; return the number under which shards keep them."""
        number = self.new_number()
        self._pairs[number] = tuple(pairs)
        self.ask("lay", number, self._pairs[number])
        return number

    # -- asking and running ------------------------------------------------------------------------

    def run(
        self,
        task: str,
        *arguments: Any,
        report: Callable[[int, float], None] | None = None,
        make: Callable[[], Sequence[Any]] | None = None,
    ) -> list[Any]:
        """Run a task on all shards, again where workers are lost; return the result of each.

        `make`, if there is one, makes the arguments anew each time.
        """
        while self._forgotten:
            self.ask("forget", self._forgotten.pop())
        return self._until_done(
            lambda: run_together(
                self._workers, self._connections, task,
                *(arguments if make is None else make()), report=report,
            )
        )  # fmt: skip

    def run_once(self, task: str, *arguments: Any, report: Any = None) -> list[Any]:
        """Run a task on all shards; raise WorkersLost where workers are lost."""
        return run_together(self._workers, self._connections, task, *arguments, report=report)

    def ask(self, task: str, *arguments: Any) -> list[Any]:
        """Return the result of a call of each shard."""
        return self._until_done(lambda: self._ask(task, *arguments))

    def ask_one(self, task: str, *arguments: Any) -> Any:
        """Return the result of a call of one shard, where all have the same."""
        return self._until_done(lambda: self._ask_first(task, *arguments))

    def _ask(self, task: str, *arguments: Any) -> list[Any]:
        return call(self._workers, self._connections, "ask", task, *arguments)

    def _ask_first(self, task: str, *arguments: Any) -> Any:
        return call(self._workers, self._connections[:1], "ask", task, *arguments)[0]

    def _until_done(self, ask: Callable[[], Answer]) -> Answer:
        while True:
            try:
                return ask()
            except WorkersLost as lost:
                gone = lost.workers
            self.recover(gone)

    # -- losing workers ----------------------------------------------------------------------------

    def recover(self, gone: set[Worker]) -> None:
        """Place the partitions of lost workers elsewhere, and set models up again."""
        saved: set[int] = set()  # models whose state was remembered
        while True:
            self._drop(gone)
            try:
                abandon(self._workers, self._connections)
                if not self._connections:
                    self._note_beginning()
                for number, models in list(self._survivors.items()):
                    if number not in saved:
                        models.remember(self._ask_first if self._connections else None)
                        saved.add(number)
                first_new = len(self._connections)
                if missing := self._find_missing():
                    self._place(missing)
                for number, pairs in self._pairs.items():
                    new = self._connections[first_new:]
                    call(self._workers, new, "ask", "lay", number, pairs)
                for models in list(self._survivors.values()):
                    models.start_again()
                return
            except WorkersLost as lost:
                gone = lost.workers

    def _note_beginning(self) -> None:
        """Count a loss of all workers; refuse a cluster that ends all again and again."""
        self._beginnings += 1
        if self._beginnings > MOST_BEGINNINGS:
            raise RuntimeError(
                f"all workers that had rows were lost {self._beginnings} times: keep them for as "
                "long as a fit takes (a cluster that adapts needs a minimum of workers)"
            )

    def _find_missing(self) -> list[int]:
        """Return the partitions that no shard has."""
        placed = {k for partitions in self._partitions for k in partitions}
        return [k for k in range(len(self._begins) - 1) if k not in placed]

    def _drop(self, workers: set[Worker]) -> None:
        """Give up the shards of these workers, which get no others."""
        keep = [k for k, link in enumerate(self._connections) if link.worker not in workers]
        self._connections = [self._connections[k] for k in keep]
        self._rows = [self._rows[k] for k in keep]
        self._partitions = [self._partitions[k] for k in keep]
        self._futures = [self._futures[k] for k in keep]
        self._workers.give_up(workers)

    def _place(self, partitions: Sequence[int]) -> None:
        """Encode partitions, and make a shard of those that each worker has encoded."""
        client = self._workers.client
        self._workers.choose()
        # On any worker: Dask would keep a restriction for the inputs of partitions, too.
        coded = client.compute(self._encode(partitions))
        holders = [connection.worker for connection in self._connections]
        self._workers.wait_for(coded, holders)
        who_has = client.who_has(coded)
        allowed = {worker.address: worker for worker in self._workers.choose()}
        worker_of = _deal([list(who_has[future.key]) for future in coded], list(allowed))
        placed = []
        for address in sorted(set(worker_of)):
            numbers = [k for k, w in zip(partitions, worker_of, strict=True) if w == address]
            codes = [c for c, w in zip(coded, worker_of, strict=True) if w == address]
            places, rows = self._find_places(numbers)
            segments = np.searchsorted(places, self._segments).astype(np.int64)
            about = self._describe(places, rows, segments)
            future = client.submit(
                self._shard_class,
                codes,
                actor=True,
                workers=[address],
                allow_other_workers=False,
                pure=False,
            )
            placed.append((numbers, places, future, about, allowed[address]))
        futures = [future for _, _, future, _, _ in placed]
        chosen = [worker for *_, worker in placed]
        self._workers.wait_for(futures, [*holders, *chosen], bound=True)
        ends = [(worker, future.key) for worker, future in zip(chosen, futures, strict=True)]
        connections = connect(client, ends)
        abouts = PerShard(about for *_, about, _ in placed)
        call(self._workers, connections, "prepare", abouts)
        for numbers, places, future, _, worker in placed:
            stays = client.submit(
                stay, key=f"Shard-stays-{future.key}", workers=[worker.address], pure=False
            )
            self._partitions.append(numbers)
            self._rows.append(places)
            self._futures.append((future, stays))
        self._connections += connections

    def _find_places(
        self, partitions: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places in the order of the rows of partitions, and those in the partitions."""
        sizes = np.diff(self._begins)
        is_in = np.zeros(len(sizes), dtype=bool)
        is_in[list(partitions)] = True
        local = np.cumsum(np.where(is_in, sizes, 0)) - np.where(is_in, sizes, 0)
        partition_of = np.searchsorted(self._begins, self._order, side="right") - 1
        places = np.flatnonzero(is_in[partition_of])
        at = partition_of[places]
        return places, self._order[places] - self._begins[at] + local[at]

    # -- the end -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Release everything on the workers."""
        self._survivors.clear()
        self._connections, self._futures = [], []


def _deal(holders: Sequence[Sequence[str]], allowed: Sequence[str]) -> list[str]:
    """Return the worker of each partition: the least loaded that holds it, or of all."""
    load = dict.fromkeys(allowed, 0)
    dealt = []
    for addresses in holders:
        worker = min((w for w in addresses if w in load), key=lambda w: (load[w], w), default=None)
        if worker is None:
            worker = min(load, key=lambda w: (load[w], w))
        load[worker] += 1
        dealt.append(worker)
    return dealt
