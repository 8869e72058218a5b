"""Serving: one row in, its probabilities out, with the peers.

    python -m benchmarks.peers.serve_rows                           # ADULT and LETTER, 8 minutes
    python -m benchmarks.peers.serve_rows --setting adult --repeats 2    # a quick look

Models have the libraries' defaults, on one thread, with 100 rounds of trees.  A call gets one of
the held-out rows and returns the probabilities of all classes.  The row comes as

- *numbers*: a numpy array of one row.  ADULT's categories are numbers then, and the model is fitted
  to such an array; the time of ours is that of its ``predict_proba``, compiled or not.
- *a dict*, of Python's numbers and strings.  A library that takes no dicts gets the usual
  conversion: ``pd.DataFrame([row])`` with its columns made categorical.
- *pandas*, *polars*, *Arrow*: a table of one row, its columns categorical.

A turn has `--calls` calls of each kind, but at most half a second of them; its time is the median
of its calls.  Contestants take turns, see `lib/race.py`.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

from benchmarks.lib.cli import make_parser, print_heading, start
from benchmarks.lib.libraries import Setting, limit_openmp
from benchmarks.lib.race import (
    OURS,
    Clock,
    Contestant,
    Results,
    by_name,
    find,
    print_failures,
    print_table,
    race,
    spread,
)
from benchmarks.lib.sets import SETS

ROUNDS = 100
SECONDS = 0.5  # of calls of one kind in a turn, at most
KINDS = ("numbers", "a dict", "pandas", "polars", "Arrow")
SETTINGS = {"adult": "ADULT", "letter": "letter"}


@dataclass
class Task:
    """Training rows with categories and as numbers, and single rows of every kind."""

    X: pd.DataFrame
    y: Any
    numbers: Any
    rows: dict[str, list[Any]]

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.y.max()) + 1

    def make_frame(self, row: Any) -> pd.DataFrame:
        """Return the frame that replaces a dict, for a library that takes none."""
        return pd.DataFrame([row]).astype(self.X.dtypes)


def as_numbers(X: pd.DataFrame) -> Any:
    """Return an array in which categories are their codes."""
    codes = {name: X[name].cat.codes for name in X.select_dtypes("category")}
    return X.assign(**codes).to_numpy(dtype=float)


def make_task(name: str, n_rows: int) -> Task:
    """Load a set, and take single rows of the held-out part."""
    split = SETS[name](0)
    names = [str(column) for column in split.X]
    X, X_test = split.X.set_axis(names, axis=1), split.X_test.set_axis(names, axis=1)[:n_rows]
    X_test = X_test.astype(X.dtypes)
    numbers = as_numbers(X_test)
    rows = {
        "numbers": [numbers[i : i + 1] for i in range(len(X_test))],
        "a dict": X_test.astype(object).to_dict("records"),
        "pandas": (frames := [X_test[i : i + 1] for i in range(len(X_test))]),
        "polars": [pl.from_pandas(frame) for frame in frames],
        "Arrow": [pa.Table.from_pandas(frame, preserve_index=False) for frame in frames],
    }
    return Task(X, split.y, as_numbers(X), rows)


@dataclass(frozen=True)
class Way:
    """One way to serve: `fit` returns functions that score a row of each kind."""

    name: str
    fit: Callable[[Task], dict[str, Callable[[Any], Any]]]


# -- who takes part --------------------------------------------------------------------------------


def by_kind(task: Task, numbers: Callable[[Any], Any], frame: Callable[[Any], Any]) -> Any:
    """Return the scoring functions of a library that takes no dicts."""
    return {
        "numbers": numbers,
        "a dict": lambda row: frame(task.make_frame(row)),
        "pandas": frame,
    }


def properboost() -> Iterator[Way]:
    from properboost import ProperBoostClassifier

    def fit(parameters: dict[str, Any], compiled: bool, task: Task) -> Any:
        of_numbers, model = (
            ProperBoostClassifier(n_jobs=1, **parameters).fit(X, task.y)
            for X in (task.numbers, task.X)
        )
        if not compiled:
            return by_kind(task, of_numbers.predict_proba, model.predict_proba)
        scorer = model.compile()
        return dict.fromkeys(KINDS, scorer) | {"numbers": of_numbers.predict_proba}

    learners = {
        "tables": {"weak_learner": "table"},
        "trees": {"weak_learner": "tree", "n_estimators": ROUNDS},
    }
    for name, parameters in learners.items():
        yield Way(f"{OURS}: {name}", partial(fit, parameters, False))
        yield Way(f"{OURS}: {name}, compiled", partial(fit, parameters, True))


def lightgbm() -> Iterator[Way]:
    import lightgbm as lgb

    def fit(task: Task) -> Any:
        several = {"objective": "multiclass", "num_class": task.n_classes}
        parameters = {"objective": "binary"} if task.n_classes == 2 else several
        parameters |= {"num_threads": 1, "verbose": -1}
        models = [
            lgb.train(parameters, lgb.Dataset(X, task.y), num_boost_round=ROUNDS)
            for X in (task.numbers, task.X)
        ]
        return by_kind(task, *(partial(model.predict, num_threads=1) for model in models))

    yield Way("lightgbm: predict", fit)


def xgboost() -> Iterator[Way]:
    import xgboost as xgb

    def fit(task: Task) -> Any:
        several = {"objective": "multi:softprob", "num_class": task.n_classes}
        parameters = {"objective": "binary:logistic"} if task.n_classes == 2 else several
        parameters |= {"tree_method": "hist", "nthread": 1}
        models = [
            xgb.train(
                parameters, xgb.DMatrix(X, task.y, enable_categorical=True), num_boost_round=ROUNDS
            )
            for X in (task.numbers, task.X)
        ]
        return by_kind(task, *(model.inplace_predict for model in models))

    yield Way("xgboost: inplace_predict", fit)


def scikit_learn() -> Iterator[Way]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    def fit(task: Task) -> Any:
        models = [
            HistGradientBoostingClassifier(max_iter=ROUNDS, early_stopping=False).fit(X, task.y)
            for X in (task.numbers, task.X)
        ]
        return by_kind(task, *(model.predict_proba for model in models))

    yield Way("scikit-learn: HGB", fit)


LIBRARIES = by_name(properboost, lightgbm, xgboost, scikit_learn)

# -- the race --------------------------------------------------------------------------------------


def take_turn(score: dict[str, Callable[[Any], Any]], clock: Clock, task: Task) -> None:
    """Score single rows of every kind."""
    for kind, call in score.items():
        calls: list[float] = []
        with clock(f"all of {kind}"):
            end = time.perf_counter() + SECONDS
            for row in task.rows[kind]:
                begin = time.perf_counter()
                call(row)
                calls.append(time.perf_counter() - begin)
                if begin > end:
                    break
        clock.note(kind, statistics.median(calls))


def report(results: Results) -> None:
    """Print a line for each contestant."""
    lines = []
    for name, turns in results.items():
        if not turns.failure:
            times = [spread(turns.seconds(kind), 1e-6) for kind in KINDS]
            both = zip(turns.seconds("a dict"), turns.seconds("numbers"), strict=True)
            lines.append(
                [name, *times, spread([of_dict - of_numbers for of_dict, of_numbers in both], 1e-6)]
            )
    print_table(["us (min-max)", *KINDS, "a dict beyond numbers"], lines)
    print_failures(results)


def main() -> None:
    """Race."""
    parser = make_parser(__doc__, settings=SETTINGS, default=[*SETTINGS], repeats=10, rounds=False)
    parser.add_argument("--calls", type=int, default=1000, help="a turn (default: %(default)s)")
    arguments, record = start(parser, "lightgbm", "xgboost", "scikit-learn")
    ways = find(LIBRARIES, arguments.only)
    for setting in arguments.setting:
        task = make_task(SETTINGS[setting], arguments.calls)
        shape = f"{len(task.X.columns)} columns, {task.n_classes} classes"
        print_heading(setting, shape, "1 thread", repeats=arguments.repeats)
        with limit_openmp(Setting(threads=1)):
            contestants = [Contestant(way.name, partial(take_turn, way.fit(task))) for way in ways]
            results = race(contestants, arguments.repeats, task)
        report(results)
        record.add("serving", setting, results)


if __name__ == "__main__":
    main()
