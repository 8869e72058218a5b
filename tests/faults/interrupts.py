"""Ctrl-C at random moments of long calls: how long they go on, and what they leave behind.

    python tests/faults/interrupts.py --moments 500 [--rows 600000]

Each call is timed once, then interrupted again and again, as Ctrl-C would, at moments that are
spread evenly over its time.  It must raise KeyboardInterrupt, the model must be what it was, and
what the call returns afterwards must have the same bits as before.
"""

import argparse
import gc
import random
import signal
import statistics
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import properboost as pb
from properboost import rado

N_JOBS = 2


@dataclass
class LongCall:
    """Long call, and a function that returns the state it must leave unchanged."""

    name: str
    call: Callable[[], object]
    state: Callable[[], np.ndarray]


@dataclass
class Interruptions:
    """Outcome of the interruptions of a case, with delays in seconds."""

    name: str
    seconds: float
    delays: list[float]
    finished: int
    """Number of calls that ended before the interrupt."""
    slowest: str
    """Line that the slowest interrupt reached."""


def make_rows(rows: int, features: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=rows) > 0
    return X, y


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt in this thread after this many seconds, as Ctrl-C does.

    Test tools install callbacks of the garbage collector, which swallow exceptions.
    """
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        gc.callbacks.extend(callbacks)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def interrupt(case: LongCall, moments: int, random_moments: random.Random) -> Interruptions:
    """Interrupt a case at this many moments."""
    before = case.state()
    begin = time.perf_counter()
    case.call()
    seconds = time.perf_counter() - begin
    expected = case.state()
    delays, finished, slowest = [], 0, ""
    for k in range(moments):
        moment = seconds * (k + random_moments.random()) / moments
        begin = time.perf_counter()
        try:
            with interrupted_after(max(moment, 1e-5)):
                case.call()
            finished += 1
            expected = case.state()
        except KeyboardInterrupt as error:
            delays.append(time.perf_counter() - begin - moment)
            if delays[-1] == max(delays):
                frame = traceback.extract_tb(error.__traceback__)[-1]
                slowest = f"{frame.filename.rpartition('/')[2]}:{frame.lineno} at {moment:.2f} s"
            if not same_bits(case.state(), expected):
                raise AssertionError(f"{case.name}: the model is not what it was") from None
    case.call()
    if not same_bits(case.state(), expected):
        raise AssertionError(f"{case.name}: the next call does not give the same bits")
    assert before.shape == expected.shape
    return Interruptions(case.name, seconds, delays, finished, slowest)


def fitted_state(model: Any, X: np.ndarray) -> Callable[[], np.ndarray]:
    few = X[:500]
    return lambda: np.asarray(model.decision_function(few))


CASES = 22
"""Number of cases that `make_cases` yields."""


def make_cases(rows: int) -> Iterator[LongCall]:
    """Yield long calls over tables of about this many rows."""
    X, y = make_rows(rows, 50)
    few = max(1000, rows // 20)

    def nothing() -> np.ndarray:
        return np.zeros(0)

    trees = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=60, n_jobs=N_JOBS)
    trees.fit(X[:few], y[:few])
    yield LongCall("predict, trees", lambda: trees.predict_proba(X), fitted_state(trees, X))
    yield LongCall(
        "staged predictions, trees",
        lambda: [None for _ in trees.staged_decision_function(X[: rows // 4])],
        fitted_state(trees, X),
    )
    tables = pb.ProperBoostClassifier(
        n_estimators=5, interactions=4, n_jobs=N_JOBS, weak_learner="table"
    )
    tables.fit(X[:few], y[:few])
    yield LongCall("predict, tables", lambda: tables.predict_proba(X), fitted_state(tables, X))
    yield LongCall("contributions", lambda: tables.contributions(X), fitted_state(tables, X))
    lines = pb.ProperBoostClassifier(
        weak_learner=pb.Tree(linear_leaves=True), n_estimators=60, n_jobs=N_JOBS
    )
    lines.fit(X[:few], y[:few])
    half = X[: rows // 2]
    yield LongCall(
        "contributions, trees", lambda: lines.contributions(half), fitted_state(lines, X)
    )
    yield LongCall(
        "staged predictions, tables",
        lambda: [None for _ in tables.staged_decision_function(X[: rows // 8])],
        fitted_state(tables, X),
    )
    classes = np.digitize(X[:, 0], np.linspace(-2.0, 2.0, 9))
    joint = pb.ProperBoostClassifier("ggauss", n_estimators=4, n_jobs=N_JOBS, weak_learner="table")
    joint.fit(X[:few], classes[:few])
    yield LongCall("fit, classes", lambda: joint.fit(X, classes), fitted_state(joint, X))
    yield LongCall("predict, classes", lambda: joint.predict_proba(X), fitted_state(joint, X))
    wide_rows = 5 * rows // 2
    many, labels = make_rows(wide_rows, 60)
    binned = pb.ProperBoostClassifier(n_estimators=1, n_jobs=N_JOBS, weak_learner="table").fit(
        many[:few], labels[:few]
    )

    def bin_rows() -> None:
        binned.fit(many, labels)

    yield LongCall("binning", bin_rows, fitted_state(binned, many))
    grown = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=10, n_jobs=N_JOBS)
    grown.fit(X[:few], y[:few])
    yield LongCall("fit, trees", lambda: grown.fit(X, y), fitted_state(grown, X))
    paired = pb.ProperBoostClassifier(
        n_estimators=4, interactions=5, n_jobs=N_JOBS, weak_learner="table"
    )
    paired.fit(X[:few], y[:few])
    yield LongCall("fit, pairs", lambda: paired.fit(X, y), fitted_state(paired, X))
    search = pb.ProperBoostClassifierCV(max_estimators=4, n_jobs=N_JOBS, effort=None).fit(
        X[:few], y[:few]
    )
    tenth = rows // 10
    yield LongCall("search", lambda: search.fit(X[:tenth], y[:tenth]), fitted_state(search, X))
    scored = pb.ProperBoostClassifierCV(
        max_estimators=4, scoring="roc_auc", n_jobs=N_JOBS, effort=None
    )
    scored.fit(X[:few], y[:few])
    yield LongCall(
        "search, scorer", lambda: scored.fit(X[:tenth], y[:tenth]), fitted_state(scored, X)
    )
    udt = pb.UDTClassifier(max_leaf_nodes=200, n_jobs=N_JOBS).fit(X[:few], y[:few])
    yield LongCall("UDT, fit", lambda: udt.fit(X, y), fitted_state(udt, X))
    yield LongCall("UDT, predict", lambda: udt.predict_proba(X), fitted_state(udt, X))
    ar = pb.ARBoostClassifier(n_estimators=20, n_jobs=N_JOBS).fit(X[:few], y[:few])
    yield LongCall("AR-Boost, predict", lambda: ar.predict(X), fitted_state(ar, X))
    yield LongCall("AR-Boost, fit", lambda: ar.fit(X, y), fitted_state(ar, X))
    yield LongCall("making rados", lambda: rado.make_rados(X, y, 200, n_jobs=N_JOBS), nothing)
    linear = pb.RadoBoostClassifier(n_estimators=2000, n_rados=2000, n_jobs=N_JOBS)
    linear.fit(X[:few], y[:few])
    yield LongCall("rado boosting", lambda: linear.fit(X[:few], y[:few]), fitted_state(linear, X))
    part = slice(0, max(500, rows // 50))
    yield LongCall(
        "gain_curve",
        lambda: pb.diagnostics.gain_curve(
            X[part], y[part], n_repeats=2, n_estimators=5, n_jobs=N_JOBS
        ),
        nothing,
    )
    probability = trees.predict_proba(X)[:, 1]
    yield LongCall(
        "metrics",
        lambda: pb.metrics.margin_distribution(pb.metrics.normalized_margins(y, probability)),
        nothing,
    )
    named = np.where(X[:, :2] > 0.0, "a", "b").astype(object)
    mixed = np.concatenate([named, X[:, 2:6].astype(object)], axis=1)
    typed = pb.ProperBoostClassifier(
        n_estimators=2, categorical_features=[0, 1], n_jobs=N_JOBS, weak_learner="table"
    ).fit(mixed[:few], y[:few])
    yield LongCall("predict, objects", lambda: typed.predict(mixed), fitted_state(typed, mixed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=500, help="in all")
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--only", default="", help="cases whose names begin so")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    random_moments = random.Random(arguments.seed)
    each = -(-arguments.moments // (1 if arguments.only else CASES))
    print(f"{'call':28} {'seconds':>8} {'moments':>8} {'median':>8} {'largest':>8}")
    for case in make_cases(arguments.rows):
        if not case.name.startswith(arguments.only):
            continue
        o = interrupt(case, each, random_moments)
        median, largest = (f(o.delays or [0.0]) for f in (statistics.median, max))
        print(
            f"{o.name:28} {o.seconds:8.2f} {len(o.delays):8} {median:8.3f} {largest:8.3f}",
            o.slowest,
            flush=True,
        )


if __name__ == "__main__":
    main()
