"""A shard: a worker's part of the rows, and the engine that runs on them.

All shards run the same task at the same time.  Where the engine sums over rows, a shard sends its
partial sums, and goes on with the totals over all shards.
"""

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.dask.all_reduce import STOP, Message
from properboost.data.binning import Binning
from properboost.engine.local import LocalBooster, LocalRows, Peers
from properboost.engine.protocols import BoostingStopped, ModelSet
from properboost.models.ensemble import Rounds
from properboost.models.interactions import PairBins
from properboost.models.term_grid import TermGrid

__all__ = ["Shard", "ShardRows"]


@dataclass(frozen=True, eq=False)
class ShardRows:
    """The rows of a shard: `places` of those that count, in the order of the engine.

    A place is a row's position in the shard's partitions, one after the other.  Segments are those
    of all rows; a shard may have no row of a segment.
    """

    classes: NDArray[Any]
    binning: Binning
    places: NDArray[np.int64]
    segments: NDArray[np.int64]
    class_of: NDArray[np.intp]
    weight: NDArray[np.float64] | None
    numbers: NDArray[np.int64]
    class_weights: NDArray[np.float64]
    rows_of_class: NDArray[np.int64]
    names: Sequence[str] | None


class _Abandoned(BaseException):  # no error: nobody waits for the task any more
    pass


class _Exchange:
    """A thread that runs one task at a time, and queues for its messages and their answers.

    Tasks have growing numbers, as calls may arrive in another order than they were made in.
    """

    def __init__(self) -> None:
        self._number = self._ended = 0
        self._messages: SimpleQueue[Message] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def begin(self, number: int, task: Callable[[], Any]) -> Message:
        """Begin a task; return its first message."""
        if number <= self._ended:
            return _refuse(number)
        self.abandon(number - 1)
        self._number = number
        self._thread = threading.Thread(target=self._run, args=(task,), daemon=True)
        self._thread.start()
        return self._messages.get()

    def go_on(self, number: int, answer: Any) -> Message:
        """Answer a task; return its next message."""
        if number <= self._ended or number != self._number:
            return _refuse(number)
        self._answers.put(answer)
        return self._messages.get()

    def abandon(self, number: int) -> None:
        """End the task that waits for an answer, if any, and all tasks up to a number."""
        self._ended = number
        if self._thread is not None and self._thread.is_alive():
            self._answers.put(_Abandoned)
            self._thread.join()
        self._messages, self._answers = SimpleQueue(), SimpleQueue()

    def send(self, *message: Any) -> Any:
        """Send a message, in the task's thread; return the answer."""
        self._messages.put(message)
        answer = self._answers.get()
        if answer is _Abandoned:
            raise _Abandoned
        return answer

    def all_reduce(self, sums: NDArray[np.int64], largest: NDArray[np.float64]) -> None:
        """Replace these numbers by their totals over all shards, in place."""
        sums[:], largest[:] = self.send("all_reduce", sums, largest)

    def _run(self, task: Callable[[], Any]) -> None:
        try:
            self._messages.put(("done", task()))
        except _Abandoned:
            pass
        except BaseException as error:  # the client gets it
            self._messages.put(("failed", error))


def _refuse(number: int) -> Message:
    return "failed", RuntimeError(f"task {number} was given up")


class _Engine:
    """The engine of a shard: rows with the codes of features or of pairs, and models over them."""

    def __init__(self, codes: Sequence[NDArray[np.uint8]], rows: ShardRows) -> None:
        codes_in_order = np.empty((len(rows.binning.features), len(rows.places)), dtype=np.uint8)
        n_rows = sum(part.shape[1] for part in codes)
        if len(rows.places) and not 0 <= rows.places.min() <= rows.places.max() < n_rows:
            raise IndexError(f"places must be those of {n_rows} rows")
        for j, column in enumerate(codes_in_order):
            # mode="clip": NumPy would buffer the output if it had to check places.
            np.concatenate([part[j] for part in codes]).take(rows.places, out=column, mode="clip")
        self.exchange = _Exchange()
        training = LocalRows(
            classes=rows.classes,
            binning=rows.binning,
            codes=codes_in_order,
            segments=rows.segments,
            class_of=rows.class_of,
            weight=rows.weight,
            seed=0,
            n_threads=_count_threads(),
            names=rows.names,
            numbers=rows.numbers,
            pairs=None,
            peers=Peers(self.exchange.all_reduce, rows.class_weights, rows.rows_of_class),
        )
        self._rows = {0: training}
        self._boosters: dict[int, LocalBooster] = {}

    # -- tasks of all shards together -------------------------------------------------------------

    def start(
        self,
        number: int,
        codes: int,
        seed: int,
        models: ModelSet,
        base: NDArray[np.float64] | None,
    ) -> None:
        """Set up models over rows with the codes of this number."""
        rows = self._rows[codes].with_seed(seed)
        self._boosters[number] = rows.start(replace(models, base=base))

    def advance(
        self, number: int, n_estimators: int, models: Any, reports: bool, keep_others: bool
    ) -> None:
        """Boost models."""

        def report(done: int, risk: float) -> None:
            if self.exchange.send("report", done, risk) == STOP:
                raise BoostingStopped

        with suppress(BoostingStopped):
            self._boosters[number].advance(
                n_estimators,
                models,
                report if reports else None,
                report_each=reports,
                keep_others=keep_others,
            )

    def weigh(self, codes: int, group_of: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
        """Return the weight of each code in groups of segments, over all shards."""
        weights = self._rows[codes].weigh_groups(group_of, n_groups)
        return np.stack([np.concatenate(of_group) for of_group in weights])

    # -- tasks of a shard by itself ----------------------------------------------------------------

    def lay(self, number: int, pairs: Sequence[PairBins]) -> None:
        """Find the codes of pairs."""
        self._rows[number] = self._rows[0].of_pairs(pairs)

    def gather(self, codes: int, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes of some features."""
        return self._rows[codes].gather(features)

    def hash_codes(self, codes: int) -> NDArray[np.uint64]:
        """Return a number for each row, the same for rows of equal codes."""
        return self._rows[codes].hash_codes()

    def take(
        self, codes: int, numbers: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the places among `numbers` of the rows that are here, and their codes."""
        rows = self._rows[codes]
        _, at, places = np.intersect1d(
            numbers, rows.numbers, assume_unique=True, return_indices=True
        )
        return at, rows.dense_codes.take(places, axis=1)

    def count_cells(self, codes: int, grids: Sequence[TermGrid]) -> list[NDArray[np.float64]]:
        """Return the number of rows in each cell of grids."""
        return self._rows[codes].weigh_cells(grids)

    def add_up(self, ensemble: Any) -> NDArray[np.float64]:
        """Return the raw predictions of an ensemble."""
        return self._rows[0].add_up(ensemble)

    def rounds(self, number: int, model: int, first: int) -> Rounds:
        """Return the rounds of a model."""
        return self._boosters[number].rounds(model, first=first)

    def get(self, number: int, name: str, *arguments: Any) -> Any:
        """Return the value of a property or of a method of models."""
        attribute = getattr(self._boosters[number], name)
        return attribute(*arguments) if callable(attribute) else attribute

    def forget(self, number: int) -> None:
        """Drop models."""
        self._boosters.pop(number, None)


class Shard:
    """The rows of some partitions, and the engine that runs on them."""

    def __init__(self, codes: Sequence[NDArray[np.uint8]]) -> None:
        self._codes: Sequence[NDArray[np.uint8]] = codes

    def answer(self, method: str, *arguments: Any) -> tuple[Any, Exception | None]:
        """Return the result and the error of a method: errors that it raises are the worker's."""
        try:
            return getattr(self, method)(*arguments), None
        except Exception as error:
            return None, error

    def prepare(self, rows: ShardRows) -> None:
        """Take the rows out of the partitions' codes, and drop these."""
        self._engine = _Engine(self._codes, rows)
        self._codes = ()

    def begin(self, number: int, task: str, *arguments: Any) -> Message:
        """Begin a task of all shards together; return its first message."""
        method = getattr(self._engine, task)
        return self._engine.exchange.begin(number, lambda: method(*arguments))

    def go_on(self, number: int, answer: Any) -> Message:
        """Answer the task; return its next message."""
        return self._engine.exchange.go_on(number, answer)

    def abandon(self, number: int) -> None:
        """End the task that waits for an answer, if any, and all tasks up to a number."""
        self._engine.exchange.abandon(number)

    def ask(self, task: str, *arguments: Any) -> Any:
        """Return the result of a task by itself, perhaps while another waits for an answer."""
        return getattr(self._engine, task)(*arguments)

    def __del__(self) -> None:
        if hasattr(self, "_engine"):
            self._engine.exchange.abandon(sys.maxsize)  # a client that is gone answers no more


def _count_threads() -> int:
    """Return the number of threads that the worker gives to tasks."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:  # not in a worker
        return 1
