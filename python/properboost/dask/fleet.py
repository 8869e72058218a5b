"""All parties: which workers have which partitions, and what happens when one of them is lost."""

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from properboost.boosting.interactions import PairBins
from properboost.dask.lockstep import Each, Line, abandon, call, connect, run_together
from properboost.dask.waiting import Lost, list_workers, remove_workers, wait_for
from properboost.data.labels import SortedRows

__all__ = ["Fleet", "Survivor"]

Found = TypeVar("Found")


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
        client: Any,
        encode: Callable[[Sequence[int]], list[Any]],
        sizes: Sequence[int],
        order: SortedRows,
        party: type,
        describe: Callable[..., Any],
        deadline: float,
    ) -> None:
        """Place the partitions.

        `encode` returns what encodes some partitions, as Dask collections; `sizes` are their rows.
        A `party` is made of codes, and told about its rows by what `describe` makes of their places
        in the order, of those among its partitions' rows, and of the ends of segments.
        """
        self._client, self._encode = client, encode
        self._party, self._describe = party, describe
        self._order, self._segments = order.order, order.segments
        self._begins = np.cumsum([0, *sizes])
        self._deadline = deadline
        self._excluded: set[str] = set()
        self._partitions: list[list[int]] = []  # of each party
        self._rows: list[NDArray[np.int64]] = []  # of each party: places in the order
        self._lines: list[Line] = []
        self._futures: list[Any] = []
        self._pairs: dict[int, tuple[PairBins, ...]] = {}
        self._numbers = itertools.count(1)
        self._survivors: WeakValueDictionary[int, Survivor] = WeakValueDictionary()
        self._forgotten: list[int] = []
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
                self._client, self._lines, self._deadline, task,
                *(arguments if make is None else make()), report=report,
            )
        )  # fmt: skip

    def run_once(self, task: str, *arguments: Any, report: Any = None) -> list[Any]:
        """Run a task of all parties; raises Lost where workers are lost."""
        return run_together(
            self._client, self._lines, self._deadline, task, *arguments, report=report
        )

    def ask(self, task: str, *arguments: Any) -> list[Any]:
        """Return what each party says by itself."""
        return self._until_done(lambda: self._ask(task, *arguments))

    def ask_one(self, task: str, *arguments: Any) -> Any:
        """Return what a party says that all would say."""
        return self._until_done(lambda: self._ask_first(task, *arguments))

    def _ask(self, task: str, *arguments: Any) -> list[Any]:
        return call(self._client, self._lines, self._deadline, "ask", task, *arguments)

    def _ask_first(self, task: str, *arguments: Any) -> Any:
        return call(self._client, self._lines[:1], self._deadline, "ask", task, *arguments)[0]

    def _until_done(self, ask: Callable[[], Found]) -> Found:
        while True:
            try:
                return ask()
            except Lost as lost:
                gone = lost.workers
            self.recover(gone)

    # -- losing workers ----------------------------------------------------------------------------

    def recover(self, gone: set[str]) -> None:
        """Place the partitions of lost workers elsewhere, and set models up as far as they were."""
        known: set[int] = set()  # models whose state was remembered
        while True:
            self._drop(gone)
            try:
                abandon(self._client, self._lines, self._deadline)
                for number, models in list(self._survivors.items()):
                    if number not in known:
                        models.remember(self._ask_first if self._lines else None)
                        known.add(number)
                first_new = len(self._lines)
                if missing := self._find_missing():
                    self._place(missing)
                for number, pairs in self._pairs.items():
                    new = self._lines[first_new:]
                    call(self._client, new, self._deadline, "ask", "lay", number, pairs)
                for models in list(self._survivors.values()):
                    models.start_again()
                return
            except Lost as lost:
                gone = lost.workers

    def _find_missing(self) -> list[int]:
        """Return the partitions that no party has."""
        held = {k for own in self._partitions for k in own}
        return [k for k in range(len(self._begins) - 1) if k not in held]

    def _drop(self, workers: set[str]) -> None:
        """Give up the parties of these workers, which get no others."""
        self._excluded |= workers
        keep = [k for k, line in enumerate(self._lines) if line.worker not in workers]
        self._lines = [self._lines[k] for k in keep]
        self._rows = [self._rows[k] for k in keep]
        self._partitions = [self._partitions[k] for k in keep]
        self._futures = [self._futures[k] for k in keep]
        # A frozen worker would be waited for, and may have the only copy of a partition.
        remove_workers(self._client, workers)

    def _place(self, partitions: Sequence[int]) -> None:
        """Encode partitions, and make parties of those that each worker has encoded."""
        allowed = self._list_workers()
        # Anywhere: Dask would keep a restriction for what partitions are made of, too.
        coded = self._client.compute(self._encode(partitions))
        holders = self._wait_for(coded, allowed)
        party_of = _deal(holders, allowed)
        parties = []
        for worker in sorted(set(party_of)):
            own = [k for k, w in zip(partitions, party_of, strict=True) if w == worker]
            codes = [c for c, w in zip(coded, party_of, strict=True) if w == worker]
            places, rows = self._find_places(own)
            segments = np.searchsorted(places, self._segments).astype(np.int64)
            about = self._describe(places, rows, segments)
            future = self._client.submit(
                self._party,
                codes,
                actor=True,
                workers=[worker],
                allow_other_workers=False,
                pure=False,
            )
            parties.append((own, places, future, about))
        self._wait_for([future for _, _, future, _ in parties], sorted(set(party_of)))
        lines = connect(self._client, [future.result() for _, _, future, _ in parties])
        abouts = Each(about for *_, about in parties)
        call(self._client, lines, self._deadline, "prepare", abouts)
        for own, places, future, _ in parties:
            self._partitions.append(own)
            self._rows.append(places)
            self._futures.append(future)
        self._lines += lines

    def _list_workers(self) -> list[str]:
        """Return the workers that may get partitions; some may be about to come."""
        end = time.monotonic() + self._deadline
        while True:
            living = list_workers(self._client, self._deadline)
            if allowed := [worker for worker in living if worker not in self._excluded]:
                return allowed
            if time.monotonic() > end:
                raise RuntimeError(
                    f"all workers were lost, and no other came in {self._deadline:g} seconds"
                    if self._excluded
                    else "the cluster has no worker"
                )
            time.sleep(0.2)

    def _wait_for(self, futures: Sequence[Any], others: Sequence[str]) -> list[list[str]]:
        """Wait for futures, which these and all parties' workers make; return who has each."""
        expected = {*others, *(line.worker for line in self._lines)}
        wait_for(self._client, futures, self._deadline, expected)
        found = self._client.who_has(list(futures))
        return [list(found[future.key]) for future in futures]

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
