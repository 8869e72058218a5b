"""The outcomes of the same hostile inputs for properboost and its peers.

    python -m benchmarks.peers.hostile                      # 20 inputs of each kind, 30 minutes
    python -m benchmarks.peers.hostile --inputs 3 --only properboost XGBoost

Every input has a new process, on one thread, at the library's defaults but for its number of
estimators.  The outcome is one of these:

- *good*: a model as good as without the hostility: a log loss on clean rows at most 10% higher
  (50% where values are lost);
- *warned*: a model, and a warning;
- *error*: a Python exception; the right answer to an input without a meaning;
- *silent*: a worse model, or invalid probabilities, or a model of a wrong input, without a warning;
- *crash*: the process ended;  *hang*: nothing for 60 seconds, after Ctrl-C for 5.

An input of a kind marked * should be rejected: for these, any model without a warning is *silent*.
"""

import argparse
import os
import pickle
import select
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

ROWS = 400
SLOW = (30_000, 20, 100_000)
"""Rows, columns and estimators of a fit that Ctrl-C ends."""

LOST = ("infinities among the values", "missing values")

OUTCOMES = ("good", "warned", "error", "silent", "crash", "hang")


# -- libraries ------------------------------------------------------------------------------------


def properboost(n_estimators: int, **settings: Any) -> Any:
    from properboost import ProperBoostClassifier

    return ProperBoostClassifier(n_estimators=n_estimators, weak_learner="table", **settings)


def lightgbm(n_estimators: int, **settings: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=n_estimators, verbose=-1, **settings)


def xgboost(n_estimators: int, **settings: Any) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=n_estimators, **settings)


def catboost(n_estimators: int, **settings: Any) -> Any:
    from catboost import CatBoostClassifier

    settings = {"thread_count" if k == "n_jobs" else k: v for k, v in settings.items()}
    return CatBoostClassifier(
        n_estimators=n_estimators, verbose=False, allow_writing_files=False, **settings
    )


def hgb(n_estimators: int, **settings: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    settings.pop("n_jobs", None)
    return HistGradientBoostingClassifier(max_iter=n_estimators, early_stopping=False, **settings)


def ebm(n_estimators: int, **settings: Any) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(
        max_rounds=n_estimators,
        outer_bags=1,
        interactions=0,
        early_stopping_rounds=0,
        **settings,
    )


LIBRARIES: dict[str, tuple[str, Callable[..., Any]]] = {
    "properboost": ("properboost", properboost),
    "LightGBM": ("lightgbm", lightgbm),
    "XGBoost": ("xgboost", xgboost),
    "CatBoost": ("catboost", catboost),
    "HGB": ("scikit-learn", hgb),
    "EBM": ("interpret-core", ebm),
}


def save(model: Any, path: str) -> None:
    """Write a model in the library's format."""
    if hasattr(model, "booster_"):
        model.booster_.save_model(path)
    else:
        model.save_model(path)


def load(name: str, path: str, X: Any) -> Any:
    """Read a model file, and predict."""
    if name == "properboost":
        from properboost import load_model

        return load_model(path).predict_proba(X)[:, 1]
    if name == "LightGBM":
        from lightgbm import Booster

        return Booster(model_file=path).predict(X)
    model = LIBRARIES[name][1](1)
    model.load_model(path)
    return model.predict_proba(X)[:, 1]


SAVED = {"properboost": ".json", "LightGBM": ".txt", "XGBoost": ".json", "CatBoost": ".cbm"}
"""The suffixes of the libraries' model files."""

LEFT_OUT = {("EBM", "a million threads"): "a process for each, which stopped the machine"}
"""Attempts that are left out, and why."""


# -- inputs ---------------------------------------------------------------------------------------


def make_rows(rng: np.random.Generator, n: int = ROWS, d: int = 4) -> tuple[Any, Any]:
    """Make clean rows and their labels."""
    X = rng.normal(size=(n, d))
    return X, (2 * X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=n) > 0).astype(int)


Input = tuple[Any, Any, Any, dict[str, Any], Any]
"""A table, labels, weights, settings, and a function that changes clean rows like the table."""


def _same(X: Any) -> Any:
    return X


def of_weights(make: Callable[[np.random.Generator], Any]) -> Callable[..., Input]:
    """Return a function that makes inputs with hostile weights."""

    def build(rng: np.random.Generator, X: Any, y: Any) -> Input:
        return X, y, np.broadcast_to(make(rng), len(y)).copy(), {}, _same

    return build


def of_tables(change: Callable[[np.random.Generator, Any], Any]) -> Callable[..., Input]:
    """Return a function that makes inputs with a hostile table, and clean rows changed alike."""

    def build(rng: np.random.Generator, X: Any, y: Any) -> Input:
        seed = int(rng.integers(2**31))

        def again(table: Any) -> Any:
            return change(np.random.default_rng(seed), table.copy())

        return again(X), y, None, {}, again

    return build


def of_labels(change: Callable[[np.random.Generator, Any], Any]) -> Callable[..., Input]:
    """Return a function that makes inputs with hostile labels."""
    return lambda rng, X, y: (X, change(rng, y), None, {}, _same)


def of_settings(make: Callable[[np.random.Generator], dict[str, Any]]) -> Callable[..., Input]:
    """Return a function that makes inputs with hostile settings."""
    return lambda rng, X, y: (X, y, None, make(rng), _same)


def _scale_columns(rng: np.random.Generator, X: Any) -> Any:
    return X * 10.0 ** rng.uniform(-300, 300, X.shape[1])


def _add_useless(rng: np.random.Generator, X: Any) -> Any:
    useless = [np.nan, np.inf, -np.inf, 0.0, 1e308, 5e-324]
    return np.column_stack([X, *(np.full(len(X), v) for v in rng.choice(useless, 3))])


def _put(values: list[float], share: float) -> Callable[[np.random.Generator, Any], Any]:
    def change(rng: np.random.Generator, X: Any) -> Any:
        X[rng.random(X.shape) < share] = rng.choice(values)
        return X

    return change


def _put_in_three(rng: np.random.Generator, y: Any, value: Any) -> Any:
    y = y.astype(type(value) if isinstance(value, float) else object)
    y[rng.integers(len(y), size=3)] = value
    return y


KINDS: dict[str, Callable[..., Input]] = {
    "weights that sum to 1": of_weights(lambda _: 1.0 / ROWS),
    "weights of 1e-300 to 1e-30": of_weights(lambda rng: 10.0 ** rng.uniform(-300, -30)),
    "weights of 1e30 to 1e300": of_weights(lambda rng: 10.0 ** rng.uniform(30, 300)),
    "columns times 1e-300 to 1e300": of_tables(_scale_columns),
    "columns of one value, missing, infinite": of_tables(_add_useless),
    "infinities among the values": of_tables(_put([np.inf, -np.inf], 0.02)),
    "missing values": of_tables(_put([np.nan], 0.05)),
    "a million threads": of_settings(lambda rng: {"n_jobs": int(10 ** rng.uniform(4, 6))}),
    "weights below 0 *": of_weights(lambda rng: _put_in_three(rng, np.ones(ROWS), -1.0)),
    "weights missing *": of_weights(lambda rng: _put_in_three(rng, np.ones(ROWS), np.nan)),
    "infinite weights *": of_weights(lambda rng: _put_in_three(rng, np.ones(ROWS), np.inf)),
    "weights all 0 *": of_weights(lambda _: 0.0),
    "labels missing *": of_labels(lambda rng, y: _put_in_three(rng, y, float("nan"))),
    "labels that are no classes *": of_labels(lambda rng, y: y + rng.normal(size=len(y))),
    "a learning rate of no sense *": of_settings(
        lambda rng: {"learning_rate": float(rng.choice([-1.0, 0.0, np.nan, np.inf, -1e300]))}
    ),
    "text among the values *": of_tables(
        lambda rng, X: np.where(rng.random(X.shape) < 0.01, "much", X.astype(object))
    ),
}


# -- trying ---------------------------------------------------------------------------------------


def log_loss(y: Any, p: Any) -> float:
    """Return the mean log loss; infinite for invalid probabilities."""
    if not (np.isfinite(p).all() and (p >= 0).all() and (p <= 1).all()):
        return np.inf
    return float(-np.mean(np.log(np.clip(np.where(y == 1, p, 1 - p), 1e-15, 1.0))))


def fit(make: Callable[..., Any], X: Any, y: Any, weight: Any, settings: dict[str, Any]) -> Any:
    """Fit a model of 50 estimators."""
    model = make(50, **settings)
    return model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)


def try_fit(kind: str, name: str, seed: int) -> str:
    """Try a hostile fit, in this process."""
    rng = np.random.default_rng(seed)
    (X, y), clean = make_rows(rng), make_rows(rng)
    make = LIBRARIES[name][1]
    with warnings.catch_warnings(action="ignore"):
        best = log_loss(clean[1], fit(make, X, y, None, {}).predict_proba(clean[0])[:, 1])
    table, labels, weight, settings, change = KINDS[kind](rng, X, y)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            model = fit(make, table, labels, weight, settings)
            predicted = model.predict_proba(change(clean[0]))[:, 1]
        except Exception:
            return "error"
    if any(not issubclass(w.category, DeprecationWarning | FutureWarning) for w in warned):
        return "warned"
    most = best * (1.5 if kind in LOST else 1.1)
    good = not kind.endswith("*") and log_loss(clean[1], predicted) <= most
    return "good" if good else "silent"


def try_file(name: str, seed: int) -> str:
    """Flip a bit of a model file, or truncate it, and load it."""
    rng = np.random.default_rng(seed)
    X, y = make_rows(rng)
    model = fit(LIBRARIES[name][1], X, y, None, {})
    before = model.predict_proba(X)[:, 1]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / f"model{SAVED[name]}")
        save(model, path)
        content = bytearray(Path(path).read_bytes())
        if rng.random() < 0.3:
            content = content[: rng.integers(len(content))]
        else:
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        Path(path).write_bytes(bytes(content))
        try:
            after = load(name, path, X)
        except Exception:
            return "error"
    return "good" if np.array_equal(before, after) else "silent"


def try_saving(name: str, seed: int) -> str:
    """Save two models to one path from two threads, and read it meanwhile."""
    rng = np.random.default_rng(seed)
    X, y = make_rows(rng)
    models = [fit(LIBRARIES[name][1], X[k:], y[k:], None, {}) for k in (0, 50)]
    expected = [model.predict_proba(X)[:, 1] for model in models]
    outcome, done = ["good"], threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / f"model{SAVED[name]}")
        save(models[0], path)

        def write(model: Any) -> None:
            try:
                for _ in range(100):
                    save(model, path)
            except Exception:
                outcome[0] = "error"

        threads = [threading.Thread(target=write, args=(model,)) for model in models]
        reader = threading.Thread(target=read, args=(name, path, X, expected, outcome, done))
        for thread in (*threads, reader):
            thread.start()
        for thread in threads:
            thread.join()
        done.set()
        reader.join()
    return outcome[0]


def read(
    name: str, path: str, X: Any, expected: Any, outcome: list[str], done: threading.Event
) -> None:
    """Load a model again and again while it is written."""
    while not done.is_set():
        try:
            predicted = load(name, path, X)
        except Exception:
            outcome[0] = "error"
        else:
            if not any(
                np.allclose(predicted, probabilities, atol=1e-6) for probabilities in expected
            ):
                outcome[0] = "silent"


def try_interrupt(name: str, seed: int) -> str:
    """Fit until Ctrl-C, which comes from outside."""
    rng = np.random.default_rng(seed)
    n, d, n_estimators = SLOW
    X, y = make_rows(rng, n, d)
    try:
        LIBRARIES[name][1](n_estimators).fit(X, y)
    except KeyboardInterrupt:
        return "good"
    except BaseException:
        return "error"
    return "silent"  # the fit ended, or ignored the signal


OTHERS: dict[str, Callable[[str, int], str]] = {
    "model files with a wrong bit, or cut off": try_file,
    "two threads that save to one path": try_saving,
    "Ctrl-C while fitting": try_interrupt,
}


def in_child(attempt: Callable[[], str], interrupt: bool) -> str:
    """Return the outcome of an attempt in a new process."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)  # together with the processes that it starts
        os.close(ours)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            os.write(theirs, pickle.dumps(attempt()))
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        if interrupt and not select.select([ours], [], [], 1.0)[0]:
            os.kill(child, signal.SIGINT)
        if not select.select([ours], [], [], 5.0 if interrupt else 60.0)[0]:
            return "hang"
        sent = os.read(ours, 1000)
        return pickle.loads(sent) if sent else "crash"
    finally:
        os.close(ours)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=20, help="inputs of each kind (20)")
    parser.add_argument("--only", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    totals = {}
    for name in options.only:
        package, make = LIBRARIES[name]
        try:
            print(f"\n{name} {version(package)}", flush=True)
        except PackageNotFoundError:
            print(f"{name}: not installed")
            continue
        make(1)  # imported here, once for all its processes
        total: Counter[str] = Counter()
        for kind in [*KINDS, *OTHERS]:
            if kind in OTHERS and name not in SAVED and OTHERS[kind] is not try_interrupt:
                continue
            if (name, kind) in LEFT_OUT:
                print(f"  {kind:42s} not tried: {LEFT_OUT[name, kind]}", flush=True)
                continue
            counts: Counter[str] = Counter()
            start = time.perf_counter()
            for seed in range(options.inputs):
                attempt = partial(OTHERS.get(kind, partial(try_fit, kind)), name, seed)
                counts[in_child(attempt, kind == "Ctrl-C while fitting")] += 1
            total += counts
            shown = ", ".join(f"{counts[o]} {o}" for o in OUTCOMES if counts[o])
            print(f"  {kind:42s} {shown}  ({time.perf_counter() - start:.0f} s)", flush=True)
        totals[name] = total
    print(f"\n{'in all':14s}" + "".join(f"{o:>8s}" for o in OUTCOMES))
    for name, total in totals.items():
        print(f"{name:14s}" + "".join(f"{total[o]:8d}" for o in OUTCOMES))


if __name__ == "__main__":
    sys.exit(main())
