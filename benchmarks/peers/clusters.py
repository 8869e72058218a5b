"""Fits of Dask arrays on a cluster of this machine: properboost, xgboost.dask and lightgbm.dask.

    python -m benchmarks.peers.clusters                        # 2,000,000 x 50, some minutes
    python -m benchmarks.peers.clusters --rows 200000 --repeats 1 --only '*table*'  # a quick look
    python -m benchmarks.peers.clusters --parties 2 10 50 100  # the cost of calls to that many

The workers are processes with one thread each, and have the rows, in chunks, before the clock runs.
A fit starts there and ends at a model in this process.  All have 100 rounds of depth 1, the same
number of bins and the same learning rate, see `lib/libraries.py`; "stump, newton" is the algorithm
of the peers, "table, real" is another.  Each of our fits also runs in this process, on the same
rows with one thread; the script checks that both give the same bits.

The second table has the times of a round.  "beyond half" is a round on the cluster less a share of
one in memory: a half where there are two workers.  It is the cost of calls to the workers, and of
their waits for one another.  "trips" are the calls of a round.  A bare trip is a call to actors of
as many workers, each of which gets and returns as many bytes as a round of tables shares.  It is
compared with a call of a single actor through Dask's interface, which only returns them.

With `--parties` that many such actors, spread over the workers, replace the fits.
"client, CPU" is the processor time of this process, which more machines do not reduce.

Run it on an idle machine with a processor for each worker, see `peers/fit.py`.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.data import Problem, log_loss
from benchmarks.lib.libraries import (
    Setting,
    lightgbm_parameters,
    make_properboost,
    probability,
    xgboost_parameters,
)
from benchmarks.lib.race import (
    OURS,
    WORK,
    Clock,
    Contestant,
    Results,
    by_name,
    find,
    number,
    print_against_ours,
    print_table,
    race,
    spread,
)

TALL = Setting(rows=2_000_000)
CHUNKS = 4  # of each worker
CALLS = 100  # of which the median is a bare trip
WAYS = {
    "table, real": {"weak_learner": "table", "response": "real"},
    "stump, newton": {"weak_learner": "stump", "response": "newton"},
}


class Task(NamedTuple):
    """The training rows on the cluster and here, and the held-out rows."""

    client: Any
    X: Any
    y: Any
    train: Problem
    test: Problem


class Predictions(NamedTuple):
    """The log loss on held-out rows, and raw predictions of some of them."""

    log_loss: float
    raw: NDArray[Any]


def spread_rows(client: Any, rows: Problem, workers: list[str]) -> tuple[Any, Any]:
    """Return arrays whose chunks lie on the workers in turn."""
    import dask.array as da
    from distributed import wait

    def place(values: NDArray[Any]) -> Any:
        cuts = np.array_split(values, CHUNKS * len(workers))
        futures = [
            client.scatter(cut, workers=[workers[k % len(workers)]]) for k, cut in enumerate(cuts)
        ]
        parts = [
            da.from_delayed(future, cut.shape, cut.dtype)
            for future, cut in zip(futures, cuts, strict=True)
        ]
        array = client.persist(da.concatenate(parts))
        wait(array)
        return array

    return place(rows.X), place(rows.y)


# -- the contestants -------------------------------------------------------------------------------


@dataclass
class BoostingWatch:
    """The seconds of the rounds and the number of calls, measured behind the public names."""

    seconds: float = 0.0
    calls: int = 0

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Replace the functions that boost and that call workers."""
        from properboost.dask import all_reduce
        from properboost.fitting import run

        boost, call = run.boost, all_reduce.call

        def timed(*arguments: Any, **settings: Any) -> Any:
            started = time.perf_counter()
            try:
                return boost(*arguments, **settings)
            finally:
                self.seconds += time.perf_counter() - started

        def counted(*arguments: Any) -> Any:
            self.calls += arguments[2] == "go_on"
            return call(*arguments)

        with patch.object(run, "boost", timed), patch.object(all_reduce, "call", counted):
            yield


def _judge(raw: NDArray[Any], task: Task) -> Predictions:
    return Predictions(log_loss(task.test.y, probability(raw)), raw[:1000])


def properboost(setting: Setting) -> Iterator[Contestant]:
    from properboost.dask import DaskProperBoostClassifier

    def turn(
        settings: dict[str, Any], on_cluster: bool, clock: Clock, task: Task
    ) -> Callable[[], Predictions]:
        watch = BoostingWatch()
        model = make_properboost(replace(setting, threads=1), **settings)
        rows = (task.train.X, task.train.y)
        if on_cluster:
            model = DaskProperBoostClassifier(client=task.client, **model.get_params(deep=False))
            rows = (task.X, task.y)
        with watch.watch(), clock(WORK):
            model.fit(*rows)
        clock.note("boosting", watch.seconds)
        clock.note("calls", watch.calls)
        return lambda: _judge(model.decision_function(task.test.X), task)

    for name, settings in WAYS.items():
        yield Contestant(f"{OURS}: {name}, Dask", partial(turn, settings, True))
        yield Contestant(f"{OURS}: {name}, one", partial(turn, settings, False))


def xgboost_dask(setting: Setting) -> Iterator[Contestant]:
    import xgboost as xgb
    from xgboost import dask as dxgb

    parameters = xgboost_parameters(setting)
    del parameters["nthread"]  # that of the worker

    def turn(clock: Clock, task: Task) -> Callable[[], Predictions]:
        with clock(WORK):
            rows = dxgb.DaskQuantileDMatrix(task.client, task.X, task.y, max_bin=setting.bins)
            model = dxgb.train(task.client, parameters, rows, setting.rounds)["booster"]
        test = xgb.DMatrix(task.test.X)
        return lambda: _judge(model.predict(test, output_margin=True), task)

    yield Contestant("xgboost.dask", turn)


def lightgbm_dask(setting: Setting) -> Iterator[Contestant]:
    from lightgbm import DaskLGBMClassifier

    parameters = lightgbm_parameters(setting, force_col_wise=True)
    names = {"min_data_in_leaf": "min_child_samples", "min_sum_hessian_in_leaf": "min_child_weight"}
    parameters = {names.get(name, name): value for name, value in parameters.items()}
    del parameters["num_threads"]  # that of the worker

    def turn(clock: Clock, task: Task) -> Callable[[], Predictions]:
        with clock(WORK):
            model = DaskLGBMClassifier(
                client=task.client, n_estimators=setting.rounds, tree_learner="data", **parameters
            ).fit(task.X, task.y)
        local = model.to_local()
        return lambda: _judge(local.predict(task.test.X, raw_score=True), task)

    yield Contestant("lightgbm.dask", turn)


# -- trips -----------------------------------------------------------------------------------------


class Echo:
    """An actor that does nothing."""

    def __init__(self, n: int) -> None:
        self.numbers = np.arange(n, dtype=np.int64)

    def give(self) -> NDArray[np.int64]:
        """Return the numbers."""
        return self.numbers

    def answer(self, _method: str, *_: Any) -> tuple[NDArray[np.int64], None]:
        """Take arguments and return the numbers, as a shard answers."""
        return self.numbers, None


@dataclass
class Trip:
    """Medians of one call: seconds, processor time of this process, seconds to add up answers."""

    seconds: float
    client: float
    adding: float


def make_actors(client: Any, n: int, n_numbers: int) -> dict[Any, str]:
    """Return the futures of actors, spread over the workers, with the workers' addresses."""
    from distributed import wait

    addresses = list(client.scheduler_info(n_workers=-1)["workers"])
    actors = {}
    for k in range(n):
        address = addresses[k % len(addresses)]
        future = client.submit(Echo, n_numbers, actor=True, workers=[address], pure=False)
        actors[future] = address
    wait(list(actors))
    return actors


def time_trips(client: Any, n: int, n_numbers: int) -> Trip:
    """Return the times of calls of actors, as rounds call them."""
    from properboost.dask.all_reduce import call, connect
    from properboost.dask.worker_health import Worker, Workers

    actors = make_actors(client, n, n_numbers)
    connections = connect(
        client, [(Worker(address, ""), future.key) for future, address in actors.items()]
    )
    workers = Workers(client, deadline=60.0)
    sums = np.arange(n_numbers, dtype=np.int64)
    trips = []
    for _ in range(CALLS):
        started, cpu = time.perf_counter(), time.process_time()
        answers = call(workers, connections, "trade", sums)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        started = time.perf_counter()
        np.add.reduce(answers)
        trips.append((seconds, cpu, time.perf_counter() - started))
    workers.close()
    return Trip(*map(statistics.median, zip(*trips, strict=True)))


def time_single(client: Any, n_numbers: int) -> float:
    """Return the seconds of a call of one actor by Dask's interface."""
    (future,) = make_actors(client, 1, n_numbers)
    actor = future.result()
    seconds = []
    for _ in range(CALLS):
        started = time.perf_counter()
        actor.give().result()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


# -- the report ------------------------------------------------------------------------------------


def report_rounds(results: Results, client: Any, setting: Setting, n_workers: int) -> None:
    """Print the times of a round, and of bare trips."""
    n_numbers = 2 * setting.columns * setting.bins
    lines = []
    for name in WAYS:
        there, here = (results.get(f"{OURS}: {name}, {where}") for where in ("Dask", "one"))
        if there is None or here is None or there.failure or here.failure:
            continue
        same = np.array_equal(there.outcome.raw, here.outcome.raw)
        pairs = zip(there.seconds("boosting"), here.seconds("boosting"), strict=True)
        beyond = [1e3 * (a - b / n_workers) / setting.rounds for a, b in pairs]
        lines.append(
            [
                name,
                *(
                    spread(turns.seconds("boosting"), setting.rounds / 1e3)
                    for turns in (there, here)
                ),
                spread(beyond),
                number(there.median("calls") / setting.rounds),
                "yes" if same else "NO",
            ]
        )
    if not lines:
        return
    share = "half" if n_workers == 2 else f"1/{n_workers}"
    print("\nA round, ms\n")
    print_table(["", "Dask", "one thread", f"beyond {share}", "trips", "same bits"], lines)
    trip, single = time_trips(client, n_workers, n_numbers), time_single(client, n_numbers)
    print(
        f"a bare trip: {1e3 * trip.seconds:.2f} ms to {n_workers} actors that get and return "
        f"{8 * n_numbers / 1e3:.0f} KB; {1e3 * single:.2f} ms to one by Dask's interface"
    )


def report_parties(client: Any, setting: Setting, parties: list[int]) -> None:
    """Print the cost of calls by the number of parties."""
    n_numbers = 2 * setting.columns * setting.bins
    lines = []
    for n in parties:
        trip = time_trips(client, n, n_numbers)
        parts = (trip.seconds, trip.client, trip.adding)
        lines.append([str(n), *(number(1e3 * seconds) for seconds in parts)])
    print(f"\nOne call, {8 * n_numbers / 1e3:.0f} KB to each and back, ms\n")
    print_table(["parties", "all", "client, CPU", "adding up"], lines)


def main() -> None:
    """Race, and print the parts of a round."""
    from distributed import Client, LocalCluster

    parser = make_parser(__doc__, repeats=3)
    parser.add_argument("--learning-rate", type=float,
                        help="of all but tables (default: 1)")  # fmt: skip
    parser.add_argument("--parties", type=int, nargs="+", default=[],
                        help="time calls to this many parties instead")  # fmt: skip
    arguments, record = start(parser, "distributed", "xgboost", "lightgbm")
    for setting in blocks(TALL, arguments, "learning_rate"):
        n = setting.threads
        cluster = LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            if arguments.parties:
                report_parties(client, setting, arguments.parties)
                continue
            libraries = by_name(properboost, xgboost_dask, lightgbm_dask)
            contestants = find(
                {name: partial(library, setting) for name, library in libraries.items()},
                arguments.only,
            )
            train, test = setting.load(), replace(setting, rows=200_000).load(test=True)
            workers = list(client.scheduler_info(n_workers=-1)["workers"])
            X, y = spread_rows(client, train, workers)
            print_heading(
                f"{setting.data} {len(train.y):,} x {setting.columns} float32",
                f"{CHUNKS * n} chunks on {n} workers of one thread, {setting.bins} bins, "
                f"{setting.rounds} rounds, learning rate {setting.learning_rate:g}",
                repeats=arguments.repeats,
            )
            task = Task(client, X, y, train, test)
            results = race(contestants, arguments.repeats, task)
            print_against_ours(
                results, n, {"log loss": lambda predictions: f"{predictions.log_loss:.4f}"}
            )
            report_rounds(results, client, setting, n)
            record.add(setting.data, setting, results)


if __name__ == "__main__":
    main()
