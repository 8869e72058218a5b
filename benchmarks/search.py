"""Search for the best setting by cross-validation with properboost and its peers, side by side.

    python benchmarks/search.py                                    # ADULT and LETTER.p2, minutes
    python benchmarks/search.py --setting large --values 16        # 200,000 x 50, most of an hour
    python benchmarks/search.py --only 'lightgbm*' '*greedy*'      # some of the lines
    python benchmarks/search.py --rows 1000 --repeats 1            # a quick look

All search the same folds: `--values` settings x `--folds` folds x `--rounds` rounds of depth 1 (two
leaves a tree), with the same number of bins and threads, no row or column sampling, no early
stopping, no minimum leaf size, and no final fit on all rows.  The peers search a learning rate,
properboost the gain.  Its selections are two lines: a greedy round is one table, as a round of the
peers is one tree; a cyclic one is a table for every feature, so that 100 cycles are far more fit
than 100 rounds, and another amount of work (`--cycles` gives it another number of them).

Each peer takes part in several ways, because which is fastest depends on the table; "the fastest
peer" is the fastest of all these:

- its own cross-validation: `lgb.cv` and `xgb.cv` with one binned or plain matrix for all values,
  `GridSearchCV` for scikit-learn;
- "folds": each fold's training and held-out rows are put into the library's binned format once,
  for all values (LightGBM: subsets of one binned Dataset; XGBoost: a QuantileDMatrix a fold;
  CatBoost: slices of one quantized Pool);
- "weights": one binned matrix of all rows for all folds and values, held-out rows with weight 0;
- "at once": folds, and as many models at a time as there are threads, each on one thread;
- "at the end": the same without a look at the held-out rows before the last round.

What is timed starts at the user's array or DataFrame (with its categories declared, in the setting
`adult`) and ends when the best value is known: making the library's format, fitting and scoring.

"log loss" is the held-out log loss of the best value, the mean of the folds.  Whoever scores each
round reports that of the best round too; GridSearchCV and "at the end" know that of the last round
only.  The column "last round" is there for all, so it is what is to be compared: peers that do the
same work have to reach nearly the same.

The contestants take turns: one warm-up turn each, with two values, then `--repeats` rounds in which
each has one turn.  Medians are reported with the smallest and the largest, and the ratio of times
to properboost's is the median of the rounds' ratios.  Run it on an idle machine, see `peers.py`.
"""

import argparse
import gc
import json
import math
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from benchmarks.data import Problem, load_adult, log_loss
from peers import (
    OURS,
    PAUSE,
    TOO_MUCH,
    Setting,
    machine_time,
    processor,
    progress,
    spread,
    version,
)

# Of the peers, some of which warn beyond 1.  Times do not depend on it.
RATES = (0.05, 1.0)
# Of properboost: from the least that regularises GLog's probabilities up.
GAINS = (0.25, 64.0)

Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class SearchSetting(Setting):
    """A table and the size of the search."""

    values: int = 10
    folds: int = 5
    cycles: int | None = None  # of cyclic selection; as many as rounds
    first_rows: int | None = None  # all

    def load(self, *, test: bool = False) -> Problem:
        """Return the rows that are searched."""
        frame = self.data == "adult frame"
        X, y = load_adult(test=test) if frame else super().load(test=test)
        return Problem(X[: self.first_rows], y[: self.first_rows])

    def split(self, problem: Problem) -> Splits:
        """Return the folds."""
        splitter = StratifiedKFold(self.folds, shuffle=True, random_state=0)
        return list(splitter.split(np.empty(len(problem.y)), problem.y))

    def rates(self) -> list[float]:
        """Return the learning rates that peers search."""
        return np.geomspace(*RATES, self.values).tolist()

    def gains(self) -> list[float]:
        """Return the gains that properboost searches."""
        return np.geomspace(*GAINS, self.values).tolist()


LARGE = SearchSetting(rows=200_000)
SETTINGS = {
    "adult": replace(LARGE, data="adult frame"),
    "adultnumbers": replace(LARGE, data="adult"),
    "letter": replace(LARGE, data="letter"),
    "large": LARGE,
    "mixed": replace(LARGE, data="mixed"),
}


class Task(NamedTuple):
    """The rows and the folds."""

    problem: Problem
    splits: Splits

    def part(self, rows: NDArray[np.intp]) -> Problem:
        """Return some of the rows."""
        X, y = self.problem
        return Problem(X.iloc[rows] if hasattr(X, "iloc") else X[rows], y[rows])


@dataclass
class Found:
    """What a turn found."""

    log_loss: float
    last: float = float("nan")  # the least log loss after the last round
    value: float | None = None
    rounds: int | None = None
    remark: str = ""

    @property
    def note(self) -> str:
        """In words, what the log loss belongs to."""
        value = "" if self.value is None else f"{self.value:.3g}"
        rounds = "" if self.rounds is None else f"round {self.rounds}"
        return ", ".join(filter(None, (value, rounds, self.remark)))


@dataclass(frozen=True)
class Contestant:
    """One way to do the work.

    `run` is timed; `judge` turns what it returned into what was found; `prepare` comes before.  All
    get the setting and the task.
    """

    name: str
    run: Callable[[Any, Any], Any]
    judge: Callable[[Any, Any, Any], Found] = lambda setting, task, result: result  # noqa: ARG005
    prepare: Callable[[Any, Any], None] | None = None


def best_of_curves(values: Sequence[float], curves: Sequence[Any]) -> Found:
    """Find the best value and round, given the folds' mean log loss after each round."""
    length = max(len(c) for c in curves)  # shorter where nothing was left to learn
    table = np.array([np.pad(c, (0, length - len(c)), mode="edge") for c in curves])
    v, r = np.unravel_index(np.argmin(table), table.shape)
    return Found(float(table[v, r]), float(table[:, -1].min()), values[v], int(r) + 1)


def best_of_ends(values: Sequence[float], log_losses: Sequence[float]) -> Found:
    """Find the best value, given the folds' mean log loss after the last round."""
    v = int(np.argmin(log_losses))
    return Found(float(log_losses[v]), float(log_losses[v]), values[v])


def mean_curve(folds: Sequence[Any]) -> NDArray[np.float64]:
    """Return the mean of the folds' curves."""
    length = max(len(c) for c in folds)
    return np.mean([np.pad(c, (0, length - len(c)), mode="edge") for c in folds], axis=0)


def search_folds(
    setting: SearchSetting,
    n_folds: int,
    score: Callable[[int, float], Any],
    *,
    at_once: int,
    end: bool,
) -> Found:
    """Search with `score(fold, rate)`, which returns a curve, or one log loss if `end`.

    `at_once` of them are called at a time, by threads: the libraries release the GIL.
    """
    rates = setting.rates()
    tasks = [(k, rate) for rate in rates for k in range(n_folds)]
    with ThreadPoolExecutor(at_once) as pool:
        call = map if at_once == 1 else pool.map
        curves = list(call(lambda task: score(*task), tasks))
    means = [mean_curve(curves[i : i + n_folds]) for i in range(0, len(tasks), n_folds)]
    if end:
        return best_of_ends(rates, [float(curve[-1]) for curve in means])
    return best_of_curves(rates, means)


# -- the contestants: a function a library, which imports it ---------------------------------------


def properboost() -> Iterator[Contestant]:
    from properboost import ProperBoostClassifierCV

    def make(selection: str) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> Any:
            cycles = setting.rounds if setting.cycles is None else setting.cycles
            model = ProperBoostClassifierCV(
                loss="glog",
                gains=setting.gains(),
                cv=task.splits,
                scoring="neg_log_loss",
                selection=selection,
                n_estimators=setting.rounds if selection == "greedy" else cycles,
                max_bins=setting.bins,
                n_jobs=setting.threads,
                refit=False,
            )
            with warnings.catch_warnings():  # where the best is the last of them, the line says so
                warnings.filterwarnings("ignore", message="the chosen gain")
                return model.fit(*task.problem)

        def judge(setting: SearchSetting, task: Task, model: Any) -> Found:  # noqa: ARG001
            means = -model.validation_curves_.mean(axis=1)
            return best_of_curves(setting.gains(), list(means))

        return Contestant(f"{OURS}: {selection}", run, judge)

    yield make("greedy")
    yield make("cyclic")


def lightgbm() -> Iterator[Contestant]:
    import lightgbm as lgb

    def parameters(setting: SearchSetting, **extra: Any) -> dict[str, Any]:
        return {
            "objective": "binary",
            "metric": "binary_logloss",
            "num_leaves": 2,
            "max_bin": setting.bins,
            "num_threads": setting.threads,
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 0.0,
            "verbose": -1,
            **extra,
        }

    def bin_rows(setting: SearchSetting, task: Task, extra: dict[str, Any]) -> Any:
        X, y = task.problem
        return lgb.Dataset(X, y, params=parameters(setting, **extra)).construct()

    def train(
        setting: SearchSetting, data: Any, held_out: Any, rate: float, extra: dict[str, Any]
    ) -> list[float]:
        record: dict[str, Any] = {}
        lgb.train(
            parameters(setting, learning_rate=rate, **extra),
            data,
            num_boost_round=setting.rounds,
            valid_sets=[held_out],
            valid_names=["valid"],
            callbacks=[lgb.record_evaluation(record)],
        )
        return record["valid"]["binary_logloss"]

    def make_its_own(name: str, **extra: Any) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> Found:
            data = bin_rows(setting, task, extra)
            curves = [
                lgb.cv(
                    parameters(setting, learning_rate=rate, **extra),
                    data,
                    num_boost_round=setting.rounds,
                    folds=task.splits,
                )["valid binary_logloss-mean"]
                for rate in setting.rates()
            ]
            return best_of_curves(setting.rates(), curves)

        return Contestant(f"lightgbm: {name}", run)

    def log_loss_at_the_end(
        setting: SearchSetting, data: Any, held_out: Any, rate: float, extra: dict[str, Any]
    ) -> list[float]:
        model = lgb.Booster(parameters(setting, learning_rate=rate, **extra), data)
        model.add_valid(held_out, "valid")
        for _ in range(setting.rounds):
            if model.update():  # nothing is left to learn
                break
        [(_, _, log_loss, _)] = model.eval_valid()
        return [log_loss]

    def make_folds(
        name: str, *, at_once: bool = False, end: bool = False, **extra: Any
    ) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> Found:
            data = bin_rows(setting, task, extra)
            folds = [
                (data.subset(rows).construct(), data.subset(held_out).construct())
                for rows, held_out in task.splits
            ]
            one = {**extra, "num_threads": 1} if at_once else extra
            score = log_loss_at_the_end if end else train
            return search_folds(
                setting,
                len(folds),
                lambda k, rate: score(setting, *folds[k], rate, one),
                at_once=setting.threads if at_once else 1,
                end=end,
            )

        return Contestant(f"lightgbm: {name}", run)

    def weights(setting: SearchSetting, task: Task) -> Found:
        extra = {"force_col_wise": True}
        data = bin_rows(setting, task, extra)
        held_out = [data.subset(rows).construct() for _, rows in task.splits]
        curves: list[list[Any]] = [[] for _ in setting.rates()]
        for (_, rows), judge in zip(task.splits, held_out, strict=True):
            data.set_weight(_weight_without(rows, task))
            for of_rate, rate in zip(curves, setting.rates(), strict=True):
                of_rate.append(train(setting, data, judge, rate, extra))
        return best_of_curves(setting.rates(), [mean_curve(c) for c in curves])

    # Told which way to go, it need not try both.
    by_column, by_row = {"force_col_wise": True}, {"force_row_wise": True}
    yield make_its_own("lgb.cv", **by_column)
    yield make_its_own("lgb.cv, by row", **by_row)
    yield make_folds("folds", **by_column)
    yield make_folds("folds, by row", **by_row)
    yield make_folds("folds, at once", at_once=True, **by_column)
    yield make_folds("folds, at once, by row", at_once=True, **by_row)
    yield make_folds("folds, at once, at the end", at_once=True, end=True, **by_column)
    yield make_folds("folds, at once, at the end, by row", at_once=True, end=True, **by_row)
    # Gradients of a few bits: its fastest mode for large tables, approximate.
    yield make_folds("folds, quantized", use_quantized_grad=True, **by_column)
    yield Contestant("lightgbm: weights", weights)


def xgboost() -> Iterator[Contestant]:
    import xgboost as xgb

    def parameters(setting: SearchSetting, **extra: Any) -> dict[str, Any]:
        return {
            "objective": "binary:logistic",
            "eval_metric": "logloss",
            "tree_method": "hist",
            "max_depth": 1,
            "max_bin": setting.bins,
            "nthread": setting.threads,
            "lambda": 0.0,
            "min_child_weight": 0.0,
            "verbosity": 0,
            **extra,
        }

    def bin_rows(setting: SearchSetting, problem: Problem, ref: Any = None) -> Any:
        return xgb.QuantileDMatrix(
            problem.X,
            problem.y,
            max_bin=setting.bins,
            nthread=setting.threads,
            ref=ref,
            enable_categorical=True,
        )

    def train(
        setting: SearchSetting, data: Any, held_out: Any, rate: float, **extra: Any
    ) -> list[float]:
        record: dict[str, Any] = {}
        xgb.train(
            parameters(setting, eta=rate, **extra),
            data,
            num_boost_round=setting.rounds,
            evals=[(held_out, "valid")],
            evals_result=record,
            verbose_eval=False,
        )
        return record["valid"]["logloss"]

    def its_own(setting: SearchSetting, task: Task) -> Found:
        X, y = task.problem
        data = xgb.DMatrix(X, y, nthread=setting.threads, enable_categorical=True)
        curves = [
            xgb.cv(
                parameters(setting, eta=rate),
                data,
                num_boost_round=setting.rounds,
                folds=task.splits,
                as_pandas=False,
            )["test-logloss-mean"]
            for rate in setting.rates()
        ]
        return best_of_curves(setting.rates(), curves)

    def bin_folds(setting: SearchSetting, task: Task) -> list[tuple[Any, Any]]:
        folds = []
        for rows, held_out in task.splits:
            data = bin_rows(setting, task.part(rows))
            folds.append((data, bin_rows(setting, task.part(held_out), ref=data)))
        return folds

    def make_folds(name: str, *, at_once: bool = False, end: bool = False) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> Found:
            folds = bin_folds(setting, task)
            threads = 1 if at_once else setting.threads

            def score(k: int, rate: float) -> list[float]:
                data, held_out = folds[k]
                if not end:
                    return train(setting, data, held_out, rate, nthread=threads)
                given = parameters(setting, eta=rate, nthread=threads)
                model = xgb.train(given, data, num_boost_round=setting.rounds)
                return [log_loss(held_out.get_label(), model.predict(held_out))]

            at_a_time = setting.threads if at_once else 1
            return search_folds(setting, len(folds), score, at_once=at_a_time, end=end)

        return Contestant(f"xgboost: {name}", run)

    def weights(setting: SearchSetting, task: Task) -> Found:
        data = bin_rows(setting, task.problem)
        curves: list[list[Any]] = [[] for _ in setting.rates()]
        for _, rows in task.splits:
            held_out = bin_rows(setting, task.part(rows), ref=data)
            data.set_weight(_weight_without(rows, task))
            for of_rate, rate in zip(curves, setting.rates(), strict=True):
                of_rate.append(train(setting, data, held_out, rate))
        return best_of_curves(setting.rates(), [mean_curve(c) for c in curves])

    yield Contestant("xgboost: xgb.cv", its_own)
    yield make_folds("folds")
    yield make_folds("folds, at once", at_once=True)
    yield make_folds("folds, at once, at the end", at_once=True, end=True)
    yield Contestant("xgboost: weights", weights)


def catboost() -> Iterator[Contestant]:
    import catboost as cb

    def make_pool(setting: SearchSetting, problem: Problem) -> Any:
        X, y = problem
        categories = []
        if hasattr(X, "select_dtypes"):
            categories = list(X.select_dtypes("category"))
            X = X.assign(**{name: X[name].cat.codes for name in categories})
        pool = cb.Pool(X, y, cat_features=categories, thread_count=setting.threads)
        pool.quantize(border_count=setting.bins - 1)  # with as many threads as processors
        return pool

    def make_folds(name: str, *, at_once: bool = False, end: bool = False) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> Found:
            data = make_pool(setting, task.problem)
            folds = [(data.slice(rows), data.slice(held_out)) for rows, held_out in task.splits]

            def score(k: int, rate: float) -> list[float]:
                model = cb.CatBoostClassifier(
                    iterations=setting.rounds,
                    depth=1,
                    learning_rate=rate,
                    border_count=setting.bins - 1,
                    thread_count=1 if at_once else setting.threads,
                    bootstrap_type="No",
                    random_strength=0,
                    leaf_estimation_iterations=1,
                    l2_leaf_reg=1,  # 0 ends in an internal error when a leaf gets pure
                    one_hot_max_size=setting.bins,  # otherwise statistics of the labels, slower
                    score_function="L2",
                    boosting_type="Plain",
                    use_best_model=False,
                    metric_period=setting.rounds if end else 1,
                    allow_writing_files=False,
                    logging_level="Silent",
                )
                model.fit(folds[k][0], eval_set=folds[k][1])
                return model.evals_result_["validation"]["Logloss"][-1 if end else None :]

            at_a_time = setting.threads if at_once else 1
            return search_folds(setting, len(folds), score, at_once=at_a_time, end=end)

        return Contestant(f"catboost: {name}", run)

    yield make_folds("folds")
    yield make_folds("folds, at once", at_once=True)
    yield make_folds("folds, at once, at the end", at_once=True, end=True)


def sklearn() -> Iterator[Contestant]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import GridSearchCV
    from threadpoolctl import threadpool_limits

    def make(name: str, *, at_once: bool) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> Found:
            X, y = task.problem
            model = HistGradientBoostingClassifier(
                max_iter=setting.rounds,
                max_leaf_nodes=2,
                max_bins=setting.bins,
                min_samples_leaf=1,
                categorical_features="from_dtype" if hasattr(X, "dtypes") else None,
                early_stopping=False,
            )
            search = GridSearchCV(
                model,
                {"learning_rate": setting.rates()},
                scoring="neg_log_loss",
                cv=task.splits,
                refit=False,
                n_jobs=setting.threads if at_once else 1,  # processes, a thread each
                error_score="raise",
            )
            with nullcontext() if at_once else threadpool_limits(setting.threads, "openmp"):
                search.fit(X, y)
            return best_of_ends(setting.rates(), -search.cv_results_["mean_test_score"])

        return Contestant(f"scikit-learn: {name}", run)

    yield make("GridSearchCV", at_once=False)
    yield make("GridSearchCV, at once", at_once=True)


def _weight_without(rows: NDArray[np.intp], task: Task) -> NDArray[np.float32]:
    weight = np.ones(len(task.problem.y), dtype=np.float32)
    weight[rows] = 0
    return weight


LIBRARIES = {f.__name__: f for f in (properboost, lightgbm, xgboost, catboost, sklearn)}


def find_contestants(
    libraries: dict[str, Callable[[], Iterator[Contestant]]], only: list[str]
) -> list[Contestant]:
    """Return the contestants whose libraries are here, and say which are not."""
    found = []
    for name, library in libraries.items():
        try:
            import_module(name)
            contestants = list(library())
        except ImportError as error:
            print(f"missing: {name} ({error})")
            continue
        print(f"{name} {version(name)}")
        found += [c for c in contestants if not only or any(fnmatch(c.name, p) for p in only)]
    return found


# -- the race --------------------------------------------------------------------------------------


@dataclass
class Turns:
    """What one contestant's turns took, and what it found."""

    seconds: list[float] = field(default_factory=list)
    processors: list[float] = field(default_factory=list)  # busy on average
    others: list[float] = field(default_factory=list)  # processor time of processes not its own
    found: Found | None = None


def take_turn(contestant: Contestant, setting: Any, task: Any, turns: Turns | None) -> None:
    """Do the work once, and note it in `turns`."""
    if contestant.prepare is not None:
        contestant.prepare(setting, task)
    gc.collect()
    time.sleep(PAUSE)
    machine, busy = machine_time(), _tree_time()
    start = time.perf_counter()
    result = contestant.run(setting, task)
    seconds = time.perf_counter() - start
    busy, machine = _tree_time() - busy, machine_time() - machine
    if turns is None:
        return
    turns.seconds.append(seconds)
    turns.processors.append(busy / seconds)
    turns.others.append(machine - busy)
    if turns.found is None:
        turns.found = contestant.judge(setting, task, result)


def race(
    contestants: list[Contestant], setting: Any, task: Any, warm_up: tuple[Any, Any], repeats: int
) -> dict[str, Turns]:
    """Let the contestants take turns, after one each with the setting and task of `warm_up`."""
    results = {c.name: Turns() for c in contestants}
    for r in range(repeats + 1):
        for c in contestants:
            progress(f"{f'{r}/{repeats}' if r else 'warm-up'}: {c.name}")
            if r == 0:
                take_turn(c, *warm_up, None)
            else:
                take_turn(c, setting, task, results[c.name])
    progress("")
    return results


def _tree_time() -> float:
    """Return the processor time of this process and all below it."""
    proc = Path("/proc")
    if not (proc / "self" / "stat").exists():
        return time.process_time()
    parents, times = {}, {}
    for path in proc.glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(path.parent.name)] = int(fields[1])
        times[int(path.parent.name)] = sum(map(int, fields[11:15]))
    tree = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in tree} - tree:
        tree |= more
    below = sum(times.get(p, 0) for p in tree - {os.getpid()})
    return time.process_time() + below / os.sysconf("SC_CLK_TCK")  # coarse for those below


# -- the report ------------------------------------------------------------------------------------


def report(results: dict[str, Turns], threads: int) -> None:
    """Print a line for each contestant, with the ratio of its time to each of properboost's."""
    ours = [name for name in results if name.startswith(OURS)]
    peers = [name for name in results if name not in ours]
    against = ours or [_fastest(results, peers)]
    width = max(map(len, results))
    ends = any(turns.found and not math.isnan(turns.found.last) for turns in results.values())
    print(f"{'':{width}} {'seconds (min-max)':>22}", end="")
    for name in against:
        print(f" {'/ ' + name.removeprefix(f'{OURS}: '):>20}", end="")
    print(f" {'log loss':>9}{' last round' if ends else ''} {'CPUs':>5}  best")
    for name, turns in results.items():
        line = [f"{name:{width}}", f"{spread(turns.seconds, 1, 3):>22}"]
        for base in against:
            pairs = zip(turns.seconds, results[base].seconds, strict=True)
            line.append(f"{spread([a / b for a, b in pairs], 1, 2):>20}")
        found = turns.found or Found(float("nan"))
        line.append(f"{found.log_loss:9.4f}")
        if ends:
            line.append(f"{found.last:10.4f}")
        line.append(f"{statistics.median(turns.processors):5.2f}  {found.note}")
        if min(turns.processors) > threads + 0.1:
            line.append("  uses more threads than it was given")
        print(" ".join(line).rstrip())
    if peers:
        print(f"the fastest peer: {_fastest(results, peers)}")
    others = sum(sum(turns.others) for turns in results.values())
    spent = sum(sum(turns.seconds) for turns in results.values())
    share = others / (spent * (os.cpu_count() or 1))
    if not math.isnan(share):
        print(f"other processes took {max(0.0, share):.0%} of the machine", end="")
        print(": TOO MUCH, the ratios are not fair" if share > TOO_MUCH else "")


def _fastest(results: dict[str, Turns], names: Iterable[str]) -> str:
    return min(names, key=lambda name: statistics.median(results[name].seconds))


def print_machine() -> None:
    """Say what the numbers were measured on."""
    print(f"{processor()}, {os.cpu_count()} processors, ", end="")
    print(f"Python {platform.python_version()}, numpy {np.__version__}")


def write_json(path: Path | None, record: dict[str, Any]) -> None:
    """Write settings and turns, by the name of the setting."""
    if path is not None:
        content = {
            name: {
                "setting": vars(setting),
                "turns": {
                    k: {**vars(t), "found": t.found and vars(t.found)} for k, t in results.items()
                },
            }
            for name, (setting, results) in record.items()
        }
        path.write_text(json.dumps(content, indent=1) + "\n")


def make_parser(
    description: str, settings: Iterable[str], default: list[str]
) -> argparse.ArgumentParser:
    """Return a parser of the options that all such scripts have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--setting", nargs="+", default=default, choices=settings, metavar="NAME",
                        help=f"one or more of {', '.join(settings)} "
                        f"(default: {' '.join(default)})")  # fmt: skip
    parser.add_argument("--rows", type=int, help="of the synthetic tables; of others, the first")
    parser.add_argument("--columns", type=int, help="of the synthetic tables")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN",
                        help="contestants, as in --only 'xgboost*' 'properboost*'")  # fmt: skip
    parser.add_argument("--json", type=Path, help="write all the times to this file")
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the options."""
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats must be at least 1")
    return arguments


def main() -> None:
    """Race, for each setting."""
    parser = make_parser(
        "Search for the best setting by cross-validation with properboost and its peers.",
        SETTINGS,
        ["adult", "letter"],
    )
    parser.add_argument("--values", type=int, help="learning rates or gains (default: 10)")
    parser.add_argument("--folds", type=int)
    parser.add_argument("--bins", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--cycles", type=int, help="of cyclic selection (default: --rounds)")
    arguments = parse(parser)
    options = ("rows", "columns", "threads", "values", "folds", "bins", "rounds", "cycles")
    given = {o: getattr(arguments, o) for o in options if getattr(arguments, o) is not None}
    if arguments.rows is not None:
        given["first_rows"] = arguments.rows
    print_machine()
    contestants = find_contestants(LIBRARIES, arguments.only)
    if not contestants:
        sys.exit(f"no contestant matches {' '.join(arguments.only)}")
    record = {}
    for name in arguments.setting:
        setting = replace(SETTINGS[name], **given)
        problem = setting.load()
        rows, columns = problem.X.shape
        print(f"\n{name}: {setting.data} {rows:,} x {columns}, {setting.values} values x ", end="")
        print(f"{setting.folds} folds x {setting.rounds} rounds; {setting.bins} bins, ", end="")
        print(f"{setting.threads} threads; median of {arguments.repeats} interleaved turns",
              flush=True)  # fmt: skip
        task = Task(problem, setting.split(problem))
        warm_up = replace(setting, values=2), task
        results = race(contestants, setting, task, warm_up, arguments.repeats)
        report(results, setting.threads)
        record[name] = setting, results
    write_json(arguments.json, record)


if __name__ == "__main__":
    main()
