"""All parties: which workers have which partitions, and what happens when one of them is lost."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from properboost.dask.lockstep import Each, Line, abandon, call, connect, run_together
from properboost.dask.on_worker import stay
from properboost.dask.waiting import Lost, Worker, Workers
from properboost.data.labels import SortedRows
from properboost.models.interactions import PairBins

__all__ = ["Fleet", "Survivor"]

Found = TypeVar("Found")

MOST_BEGINNINGS = 10
"""How often all workers with rows may be lost before a fit ends with an error."""


class Survivor(Protocol):
    """Models that are boosted, and go on after a worker was lost."""

    def remember(self, ask: Callable[..., Any] | None) -> None:
        """Take what the models have found so far, which a party is asked for, if one is left."""

    def start_again(self) -> None:
        """Set the models up, as far as they were, on parties that are new or know nothing."""


class Fleet:
    """Parties, one for each worker that has partitions.

    Where workers are lost, their partitions are encoded again elsewhere and become new parties;
    models go on from the last estimator that was finished.  As sums are whole numbers, nothing
    depends on who has which rows.
    """

    def __init__(
        self,
        workers: Workers,
        encode: Callable[[Sequence[int]], list[Any]],
        sizes: Sequence[int],
        order: SortedRows,
        party: type,
        describe: Callable[..., Any],
    ) -> None:
        """Place the partitions.

        `encode` returns what encodes some partitions, as Dask collections; `sizes` are their rows.
        A `party` is made of codes, and told about its rows by what `describe` makes of their places
        in the order, of those among its partitions' rows, and of the ends of segments.
        """
        self._workers, self._encode = workers, encode
        self._party, self._describe = party, describe
        self._order, self._segments = order.order, order.segments
        self._begins = np.cumsum([0, *sizes])
        self._partitions: list[list[int]] = []  # of each party
        self._rows: list[NDArray[np.int64]] = []  # of each party: places in the order
        self._lines: list[Line] = []
        self._futures: list[Any] = []  # of each party
        self._pairs: dict[int, tuple[PairBins, ...]] = {}
        self._numbers = itertools.count(1)
        self._survivors: WeakValueDictionary[int, Survivor] = WeakValueDictionary()
        self._forgotten: list[int] = []
        self._beginnings = 0
        while missing := self._find_missing():
            try:
                self._place(missing)
            except Lost as lost:
                self._drop(lost.workers)

    @property
    def n_rows(self) -> int:
        """The rows that count."""
        return len(self._order)

    @property
    def rows(self) -> list[NDArray[np.int64]]:
        """Where the rows of each party are in the order of the engine."""
        return self._rows

    def each(self, make: Callable[[NDArray[np.int64]], Any]) -> Each:
        """Return an argument for each party, made of its rows' places in the order."""
        return Each(make(rows) for rows in self._rows)

    def new_number(self) -> int:
        """Return a number that nothing has."""
        return next(self._numbers)

    def register(self, number: int, models: Survivor) -> None:
        """Keep models up to date when workers are lost."""
        self._survivors[number] = models

    def forget(self, number: int) -> None:
        """Have parties forget models, when they are next asked to run something."""
        self._forgotten.append(number)

    def lay(self, pairs: Sequence[PairBins]) -> int:
        """Find the codes of pairs; return the number of the training of these."""
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
        """Run a task of all parties, again where workers are lost; return what each returns.

        `make`, if there is one, makes the arguments anew each time.
        """
        while self._forgotten:
            self.ask("forget", self._forgotten.pop())
        return self._until_done(
            lambda: run_together(
                self._workers, self._lines, task,
                *(arguments if make is None else make()), report=report,
            )
        )  # fmt: skip

    def run_once(self, task: str, *arguments: Any, report: Any = None) -> list[Any]:
        """Run a task of all parties; raises Lost where workers are lost."""
        return run_together(self._workers, self._lines, task, *arguments, report=report)

    def ask(self, task: str, *arguments: Any) -> list[Any]:
        """Return what each party says by itself."""
        return self._until_done(lambda: self._ask(task, *arguments))

    def ask_one(self, task: str, *arguments: Any) -> Any:
        """Return what a party says that all would say."""
        return self._until_done(lambda: self._ask_first(task, *arguments))

    def _ask(self, task: str, *arguments: Any) -> list[Any]:
        return call(self._workers, self._lines, "ask", task, *arguments)

    def _ask_first(self, task: str, *arguments: Any) -> Any:
        return call(self._workers, self._lines[:1], "ask", task, *arguments)[0]

    def _until_done(self, ask: Callable[[], Found]) -> Found:
        while True:
            try:
                return ask()
            except Lost as lost:
                gone = lost.workers
            self.recover(gone)

    # -- losing workers ----------------------------------------------------------------------------

    def recover(self, gone: set[Worker]) -> None:
        """Place the partitions of lost workers elsewhere, and set models up as far as they were."""
        known: set[int] = set()  # models whose state was remembered
        while True:
            self._drop(gone)
            try:
                abandon(self._workers, self._lines)
                if not self._lines:
                    self._note_beginning()
                for number, models in list(self._survivors.items()):
                    if number not in known:
                        models.remember(self._ask_first if self._lines else None)
                        known.add(number)
                first_new = len(self._lines)
                if missing := self._find_missing():
                    self._place(missing)
                for number, pairs in self._pairs.items():
                    new = self._lines[first_new:]
                    call(self._workers, new, "ask", "lay", number, pairs)
                for models in list(self._survivors.values()):
                    models.start_again()
                return
            except Lost as lost:
                gone = lost.workers

    def _note_beginning(self) -> None:
        """Note that nobody is left; a cluster that ends all workers again and again is named."""
        self._beginnings += 1
        if self._beginnings > MOST_BEGINNINGS:
            raise RuntimeError(
                f"all workers that had rows were lost {self._beginnings} times: keep them for as "
                "long as a fit takes (a cluster that adapts needs a minimum of workers)"
            )

    def _find_missing(self) -> list[int]:
        """Return the partitions that no party has."""
        held = {k for own in self._partitions for k in own}
        return [k for k in range(len(self._begins) - 1) if k not in held]

    def _drop(self, workers: set[Worker]) -> None:
        """Give up the parties of these workers, which get no others."""
        keep = [k for k, line in enumerate(self._lines) if line.worker not in workers]
        self._lines = [self._lines[k] for k in keep]
        self._rows = [self._rows[k] for k in keep]
        self._partitions = [self._partitions[k] for k in keep]
        self._futures = [self._futures[k] for k in keep]
        self._workers.give_up(workers)

    def _place(self, partitions: Sequence[int]) -> None:
        """Encode partitions, and make parties of those that each worker has encoded."""
        client = self._workers.client
        self._workers.choose()
        # Anywhere: Dask would keep a restriction for what partitions are made of, too.
        coded = client.compute(self._encode(partitions))
        parties_of = [line.worker for line in self._lines]
        self._workers.wait_for(coded, parties_of)
        who_has = client.who_has(coded)
        allowed = {own.address: own for own in self._workers.choose()}
        party_of = _deal([list(who_has[own.key]) for own in coded], list(allowed))
        parties = []
        for address in sorted(set(party_of)):
            own = [k for k, w in zip(partitions, party_of, strict=True) if w == address]
            codes = [c for c, w in zip(coded, party_of, strict=True) if w == address]
            places, rows = self._find_places(own)
            segments = np.searchsorted(places, self._segments).astype(np.int64)
            about = self._describe(places, rows, segments)
            future = client.submit(
                self._party,
                codes,
                actor=True,
                workers=[address],
                allow_other_workers=False,
                pure=False,
            )
            parties.append((own, places, future, about, allowed[address]))
        futures = [future for _, _, future, _, _ in parties]
        chosen = [worker for *_, worker in parties]
        self._workers.wait_for(futures, [*parties_of, *chosen], bound=True)
        ends = [(worker, future.key) for worker, future in zip(chosen, futures, strict=True)]
        lines = connect(client, ends)
        abouts = Each(about for *_, about, _ in parties)
        call(self._workers, lines, "prepare", abouts)
        for own, places, future, _, worker in parties:
            stays = client.submit(
                stay, key=f"Party-stays-{future.key}", workers=[worker.address], pure=False
            )
            self._partitions.append(own)
            self._rows.append(places)
            self._futures.append((future, stays))
        self._lines += lines

    def _find_places(
        self, partitions: Sequence[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where rows of partitions are in the order, and which of their rows these are."""
        sizes = np.diff(self._begins)
        own = np.zeros(len(sizes), dtype=bool)
        own[list(partitions)] = True
        local = np.cumsum(np.where(own, sizes, 0)) - np.where(own, sizes, 0)
        partition_of = np.searchsorted(self._begins, self._order, side="right") - 1
        places = np.flatnonzero(own[partition_of])
        at = partition_of[places]
        return places, self._order[places] - self._begins[at] + local[at]

    # -- the end -----------------------------------------------------------------------------------

    def close(self) -> None:
        """Let the workers forget everything."""
        self._survivors.clear()
        self._lines, self._futures = [], []


def _deal(holders: Sequence[Sequence[str]], allowed: Sequence[str]) -> list[str]:
    """Return the worker that gets each partition: one that has it."""
    load = dict.fromkeys(allowed, 0)
    dealt = []
    for own in holders:
        worker = min((w for w in own if w in load), key=lambda w: (load[w], w), default=None)
        if worker is None:
            worker = min(load, key=lambda w: (load[w], w))
        load[worker] += 1
        dealt.append(worker)
    return dealt
