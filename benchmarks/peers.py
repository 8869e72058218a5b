"""Fit and score the same table with properboost and its peers, side by side.

    python benchmarks/peers.py                              # 1,000,000 x 50, a few minutes
    python benchmarks/peers.py --setting tall64 wide small  # other tables and bins
    python benchmarks/peers.py --rows 100000 --only 'xgboost*' 'properboost*'

All are given 100 rounds of depth 1 (two leaves a tree), the same number of bins and threads, the
same learning rate, no row or column sampling, no early stopping and no minimum leaf size.  Each
peer runs at its fastest setting that does this work, with no logging; where that depends on the
table (LightGBM's two ways to walk it, XGBoost's two kinds of matrix) all take part, and "the
fastest peer" is the fastest of everything that is not properboost.

What is timed starts at the user's array (float32 in row-major order; LETTER and ADULT are float64)
and ends at a fitted model: each library's own data format is built inside the timing, in the form
it likes best, and the part of the time that took is shown where the library does it separately.
Prediction goes from an array of as many rows to the probabilities.

The contestants take turns: one warm-up turn each, then `--repeats` rounds in which each has one
turn.  So a disturbance of the machine falls on all of them, and each round gives one ratio of
times; medians are reported, with the smallest and the largest.  Where the processor time of a fit
shows that a library used more threads than it was given, its line says so.

Run it on an idle machine.  The OpenMP threads of the peers spin while they wait, and on a busy
machine they wait for each other's turn on a processor: they lose far more by it than properboost,
whose threads sleep, so that the ratios flatter it.  The share of the machine that other processes
took is printed, with a warning where it matters.

"log loss" is on held-out rows.  Stumps with Newton's response are the algorithm of the peers, so
they have to reach the same log loss; the other two are different models, with `learning_rate=1`:
real is another value in the leaves, and a table is not a stump (it has a value for every bin,
which is far more fit, and more to overfit, for the same rounds).
"""

import argparse
import gc
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Problem, load_adult, load_letter, log_loss, make_synthetic

OURS = "properboost"
PAUSE = 0.1  # seconds between turns: an OpenMP runtime's threads spin for a while after their work

TOO_MUCH = 0.05  # of the machine, taken by other processes


@dataclass(frozen=True)
class Setting:
    """A table and what is asked of everyone."""

    data: str = "synthetic"
    rows: int = 1_000_000
    columns: int = 50
    bins: int = 255
    threads: int = 2
    rounds: int = 100
    learning_rate: float = 1.0

    def load(self, *, test: bool) -> Problem:
        """Return the training rows or those held out."""
        if self.data == "letter":
            return load_letter(test=test)
        if self.data == "adult":  # as numbers: everyone has a way of their own with categories
            return load_adult(test=test, as_frame=False)
        return make_synthetic(self.rows, self.columns, mixed=self.data == "mixed", test=test)


TALL = Setting()
SETTINGS = {
    "tall": TALL,
    "tall64": replace(TALL, bins=64),
    "tall1": replace(TALL, threads=1),
    "mixed": replace(TALL, data="mixed"),
    "wide": replace(TALL, rows=20_000, columns=2_000),
    "small": replace(TALL, data="letter"),
    "adult": replace(TALL, data="adult"),
}


def _nothing(setting: Setting) -> AbstractContextManager[Any]:  # noqa: ARG001
    return nullcontext()


@dataclass(frozen=True)
class Contestant:
    """One way to fit and to score a table.

    `prepare` makes the library's data format, if it has one that can be made ahead; it gets the
    arrays, and `fit` what it returned.  `limit` is entered around both and `predict`, for a library
    that takes no number of threads.
    """

    name: str
    prepare: Callable[[Setting, Problem], Any] | None
    fit: Callable[[Setting, Any], Any]
    predict: Callable[[Setting, Any, NDArray[Any]], NDArray[Any]]
    limit: Callable[[Setting], AbstractContextManager[Any]] = _nothing


# -- the contestants: a function a library, which imports it ---------------------------------------


def properboost() -> Iterator[Contestant]:
    from properboost import ProperBoostClassifier

    def make(name: str, weak_learner: str, response: str) -> Contestant:
        def fit(setting: Setting, problem: Problem) -> Any:
            return ProperBoostClassifier(
                weak_learner=weak_learner,
                response=response,
                # Newton's values are steps already, and the peers' are not guarded either.
                step="unit" if response == "newton" else "guarded",
                n_estimators=setting.rounds,
                learning_rate=setting.learning_rate if response == "newton" else 1.0,
                max_bins=setting.bins,
                categorical_features=None,
                n_jobs=setting.threads,
            ).fit(problem.X, problem.y)

        def predict(setting: Setting, model: Any, X: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
            return model.predict_proba(X)[:, 1]

        return Contestant(f"{OURS}: {name}", None, fit, predict)

    yield make("stump, newton", "stump", "newton")
    yield make("stump, real", "stump", "real")
    yield make("table, real", "histogram", "real")


def lightgbm() -> Iterator[Contestant]:
    import lightgbm as lgb

    def make(name: str, **extra: Any) -> Contestant:
        def parameters(setting: Setting) -> dict[str, Any]:
            return {
                "objective": "binary",
                "num_leaves": 2,
                "learning_rate": setting.learning_rate,
                "max_bin": setting.bins,
                "num_threads": setting.threads,
                "min_data_in_leaf": 1,
                "min_sum_hessian_in_leaf": 0.0,
                "verbose": -1,
                **extra,
            }

        def prepare(setting: Setting, problem: Problem) -> Any:
            return lgb.Dataset(problem.X, problem.y, params=parameters(setting)).construct()

        def fit(setting: Setting, data: Any) -> Any:
            return lgb.train(parameters(setting), data, num_boost_round=setting.rounds)

        def predict(setting: Setting, model: Any, X: NDArray[Any]) -> NDArray[Any]:
            return model.predict(X, num_threads=setting.threads)

        return Contestant(f"lightgbm: {name}", prepare, fit, predict)

    # Told which way to go, it need not try both.
    yield make("by column", force_col_wise=True)
    yield make("by row", force_row_wise=True)
    # Gradients of a few bits: its fastest mode for large tables, approximate.
    yield make("quantized", force_col_wise=True, use_quantized_grad=True)


def xgboost() -> Iterator[Contestant]:
    import xgboost as xgb

    def quantile_matrix(setting: Setting, problem: Problem) -> Any:
        return xgb.QuantileDMatrix(
            problem.X, problem.y, max_bin=setting.bins, nthread=setting.threads
        )

    def plain_matrix(setting: Setting, problem: Problem) -> Any:
        return xgb.DMatrix(problem.X, problem.y, nthread=setting.threads)

    def fit(setting: Setting, data: Any) -> Any:
        parameters = {
            "objective": "binary:logistic",
            "tree_method": "hist",
            "max_depth": 1,
            "eta": setting.learning_rate,
            "max_bin": setting.bins,
            "nthread": setting.threads,
            "lambda": 0.0,
            "min_child_weight": 0.0,
            "verbosity": 0,
        }
        return xgb.train(parameters, data, num_boost_round=setting.rounds)

    def predict(setting: Setting, model: Any, X: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
        return model.inplace_predict(X)  # with the threads it was trained with

    yield Contestant("xgboost: QuantileDMatrix", quantile_matrix, fit, predict)
    yield Contestant("xgboost: DMatrix", plain_matrix, fit, predict)


def catboost() -> Iterator[Contestant]:
    import catboost as cb

    def prepare(setting: Setting, problem: Problem) -> Any:
        return cb.Pool(problem.X, problem.y, thread_count=setting.threads)

    def make(name: str, **extra: Any) -> Contestant:
        def fit(setting: Setting, data: Any) -> Any:
            model = cb.CatBoostClassifier(
                iterations=setting.rounds,
                depth=1,
                learning_rate=setting.learning_rate,
                border_count=setting.bins - 1,
                thread_count=setting.threads,
                bootstrap_type="No",
                random_strength=0,
                leaf_estimation_iterations=1,
                l2_leaf_reg=0,
                score_function="L2",
                boosting_type="Plain",
                allow_writing_files=False,
                logging_level="Silent",
                **extra,
            )
            return model.fit(data)

        def predict(setting: Setting, model: Any, X: NDArray[Any]) -> NDArray[Any]:
            return model.predict_proba(X, thread_count=setting.threads)[:, 1]

        return Contestant(f"catboost: {name}", prepare, fit, predict)

    yield make("its borders")
    # Bins of equal width are quickly found, and of no use on a heavy-tailed column.
    yield make("equal widths", feature_border_type="Uniform")


def sklearn() -> Iterator[Contestant]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    def fit(setting: Setting, problem: Problem) -> Any:
        model = HistGradientBoostingClassifier(
            max_iter=setting.rounds,
            max_leaf_nodes=2,
            learning_rate=setting.learning_rate,
            max_bins=setting.bins,
            min_samples_leaf=1,
            categorical_features=None,
            early_stopping=False,
        )
        return model.fit(problem.X, problem.y)

    def predict(setting: Setting, model: Any, X: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG001
        return model.predict_proba(X)[:, 1]

    def limit(setting: Setting) -> AbstractContextManager[Any]:
        return threadpool_limits(limits=setting.threads, user_api="openmp")

    yield Contestant("scikit-learn HGB", None, fit, predict, limit)


LIBRARIES = (properboost, lightgbm, xgboost, catboost, sklearn)


def find_contestants(only: list[str]) -> list[Contestant]:
    """Return the contestants whose libraries are here, and say which are not."""
    found = []
    for library in LIBRARIES:
        name = library.__name__
        try:
            import_module(name)
            contestants = list(library())
        except ImportError as error:
            if name == OURS:
                raise
            print(f"missing: {name} ({error})")
            continue
        print(f"{name} {version(name)}")
        found += [c for c in contestants if not only or any(fnmatch(c.name, p) for p in only)]
    return found


def version(name: str) -> str:
    # Where a distribution is not called what its module is.
    for distribution in (name, f"{name}-cpu", f"scikit-{name.removeprefix('sk')}"):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return str(import_module(name).__version__)


# -- the race --------------------------------------------------------------------------------------


@dataclass
class Turns:
    """What one contestant's turns took, in seconds."""

    fit: list[float] = field(default_factory=list)  # from the array to the model
    prepare: list[float] = field(default_factory=list)  # the part of it before the rounds
    predict: list[float] = field(default_factory=list)
    processors: list[float] = field(default_factory=list)  # busy on average during the fit
    others: list[float] = field(default_factory=list)  # processor time of other processes in it
    log_loss: float = float("nan")


def take_turn(
    contestant: Contestant, setting: Setting, train: Problem, test: Problem, turns: Turns | None
) -> None:
    """Fit and predict once, and note it in `turns`."""
    gc.collect()
    time.sleep(PAUSE)
    with contestant.limit(setting):
        machine = machine_time()
        busy, start = time.process_time(), time.perf_counter()
        data = train if contestant.prepare is None else contestant.prepare(setting, train)
        prepared = time.perf_counter()
        model = contestant.fit(setting, data)
        busy, end = time.process_time() - busy, time.perf_counter()
        machine = machine_time() - machine
        del data
        time.sleep(PAUSE)
        asked = time.perf_counter()
        probability = contestant.predict(setting, model, test.X)
        answered = time.perf_counter()
    if turns is None:
        return
    turns.fit.append(end - start)
    if contestant.prepare is not None:
        turns.prepare.append(prepared - start)
    turns.predict.append(answered - asked)
    turns.processors.append(busy / (end - start))
    turns.others.append(machine - busy)
    if not turns.log_loss >= 0.0:
        turns.log_loss = log_loss(test.y, probability)


def race(
    contestants: list[Contestant], setting: Setting, train: Problem, test: Problem, repeats: int
) -> dict[str, Turns]:
    """Let the contestants take turns."""
    results = {c.name: Turns() for c in contestants}
    for r in range(repeats + 1):  # the first is the warm-up
        for c in contestants:
            progress(f"{'warm-up' if r == 0 else f'{r}/{repeats}'}: {c.name}")
            take_turn(c, setting, train, test, results[c.name] if r else None)
    progress("")
    return results


def machine_time() -> float:
    """Return the processor time, in seconds, of all processes so far; NaN where it is not known."""
    path = Path("/proc/stat")
    if not path.exists():
        return float("nan")
    user, nice, system, _, _, irq, softirq, steal = map(int, path.read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:60}\r", end="", file=sys.stderr, flush=True)


# -- the report ------------------------------------------------------------------------------------


def report(results: dict[str, Turns], setting: Setting) -> None:
    """Print a line for each contestant."""
    peers = [name for name in results if not name.startswith(OURS)]
    fastest = {
        what: min(peers, key=lambda name: statistics.median(getattr(results[name], what)))
        if peers
        else None
        for what in ("fit", "predict")
    }
    print(f"{'':26} {'fit, s (min-max)':>22} {'data':>6} {'times as fast':>20}", end="")
    print(f" {'log loss':>9} {'CPUs':>5} {'predict, ms (min-max)':>22} {'times as fast':>20}")
    for name, turns in results.items():
        line = [
            f"{name:26}",
            f"{spread(turns.fit, 1, 3):>22}",
            f"{statistics.median(turns.prepare):6.2f}" if turns.prepare else f"{'':6}",
            f"{_ratio(results, fastest['fit'], turns, 'fit'):>20}",
            f"{turns.log_loss:9.4f}",
            f"{statistics.median(turns.processors):5.2f}",
            f"{spread(turns.predict, 1e3, 1):>22}",
            f"{_ratio(results, fastest['predict'], turns, 'predict'):>20}",
        ]
        if min(turns.processors) > setting.threads + 0.1:
            line.append("  uses more threads than it was given")
        print(" ".join(line))
    if peers:
        print(f'"times as fast" as the fastest peer: {fastest["fit"]} (fit), ', end="")
        print(f"{fastest['predict']} (predict); the median of the rounds' ratios")
    time_of_fits = sum(sum(turns.fit) for turns in results.values())
    others = sum(sum(turns.others) for turns in results.values())
    share = others / (time_of_fits * (os.cpu_count() or 1))
    if share == share:  # not NaN
        print(f"other processes took {max(0.0, share):.0%} of the machine during the fits", end="")
        print(": TOO MUCH, the ratios are not fair" if share > TOO_MUCH else "")


def spread(seconds: list[float], unit: float, digits: int) -> str:
    median, low, high = (unit * f(seconds) for f in (statistics.median, min, max))
    return f"{median:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def _ratio(results: dict[str, Turns], fastest: str | None, turns: Turns, what: str) -> str:
    if fastest is None:
        return ""
    pairs = zip(getattr(results[fastest], what), getattr(turns, what), strict=True)
    return spread([peer / own for peer, own in pairs], 1, 2)


def processor() -> str:
    path = Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Fit and score the same table with properboost and its peers, side by side.",
        epilog="What a setting leaves open to the options below is taken from them if given.",
    )
    parser.add_argument("--setting", nargs="+", default=["tall"], choices=SETTINGS, metavar="NAME",
                        help=f"one or more of {', '.join(SETTINGS)} (default: tall)")  # fmt: skip
    parser.add_argument("--rows", type=int, help="of the synthetic tables")
    parser.add_argument("--columns", type=int, help="of the synthetic tables")
    parser.add_argument("--bins", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--learning-rate", type=float,
                        help="of everyone but real stumps and tables (default: 1, at which 100 "
                        "stumps fit best; times do not depend on it)")  # fmt: skip
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN",
                        help="contestants, as in --only 'xgboost*' 'properboost*'")  # fmt: skip
    parser.add_argument("--json", type=Path, help="write all the times to this file")
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats must be at least 1")
    return arguments


def main() -> None:
    """Race, for each setting."""
    arguments = _arguments()
    options = ("rows", "columns", "bins", "threads", "rounds", "learning_rate")
    given = {o: getattr(arguments, o) for o in options if getattr(arguments, o) is not None}
    print(f"{processor()}, {os.cpu_count()} processors, ", end="")
    print(f"Python {platform.python_version()}, numpy {np.__version__}")
    contestants = find_contestants(arguments.only)
    if not contestants:
        sys.exit(f"no contestant matches {' '.join(arguments.only)}")
    record = {}
    for name in arguments.setting:
        setting = replace(SETTINGS[name], **given)
        train, test = setting.load(test=False), setting.load(test=True)
        rows, columns = train.X.shape
        print(f"\n{name}: {setting.data} {rows:,} x {columns} {train.X.dtype}, ", end="")
        print(f"{len(test.y):,} held out; {setting.bins} bins, {setting.threads} threads, ", end="")
        print(f"{setting.rounds} rounds, learning rate {setting.learning_rate:g}; ", end="")
        print(f"median of {arguments.repeats} interleaved turns", flush=True)
        results = race(contestants, setting, train, test, arguments.repeats)
        report(results, setting)
        record[name] = {"setting": vars(setting), "turns": {k: vars(t) for k, t in results.items()}}
        del train, test
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
