"""Serving starts: the processor time of a process until its first score, with the peers.

    python -m benchmarks.peers.first_score                  # half a minute

Each model has 100 trees at the library's defaults, fitted to made-up numbers.  A process imports
what it needs, loads the model's file and scores one row; its time is that of the processor, from
start to end.  Contestants take turns, and a median is of their turns.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from properboost import ProperBoostClassifier

N_ROWS, N_FEATURES = 20_000, 14
ROW = [0.1] * N_FEATURES

OF_LIGHTGBM = f"""
import lightgbm, numpy
lightgbm.Booster(model_file=sys.argv[1]).predict(numpy.array([{ROW}]))
"""

OF_XGBOOST = f"""
import numpy, xgboost
model = xgboost.Booster()
model.load_model(sys.argv[1])
model.inplace_predict(numpy.array([{ROW}]))
"""

Numbers = NDArray[np.float64]


def _save_ours(X: Numbers, y: Numbers, path: Path) -> None:
    ProperBoostClassifier(weak_learner="tree").fit(X, y).save_model(path)


def _save_lightgbm(X: Numbers, y: Numbers, path: Path) -> None:
    from lightgbm import LGBMClassifier

    LGBMClassifier(verbose=-1).fit(X, y).booster_.save_model(path)


def _save_xgboost(X: Numbers, y: Numbers, path: Path) -> None:
    from xgboost import XGBClassifier

    XGBClassifier().fit(X, y).save_model(path)


CONTESTANTS: dict[str, tuple[Callable[[Numbers, Numbers, Path], None], str]] = {
    "properboost, load_scorer": (
        _save_ours,
        f"import properboost as pb\npb.load_scorer(sys.argv[1]).predict_proba([{ROW}])",
    ),
    "properboost, load_model": (
        _save_ours,
        f"import properboost as pb\npb.load_model(sys.argv[1]).predict_proba([{ROW}])",
    ),
    "LightGBM": (
        _save_lightgbm,
        OF_LIGHTGBM,
    ),
    "XGBoost": (
        _save_xgboost,
        OF_XGBOOST,
    ),
}


def measure(code: str, path: Path) -> float:
    """Return the processor seconds of a process that runs a server's first lines."""

    def read() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = read()
    subprocess.run([sys.executable, "-c", f"import sys\n{code}", str(path)], check=True)
    return read() - before


def main() -> None:
    """Fit and save the models, and print the medians of turns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.logistic(size=N_ROWS) > 0.0).astype(float)
    times: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{k}.json" for k, name in enumerate(CONTESTANTS)}
        for name, (save, _) in CONTESTANTS.items():
            save(X, y, paths[name])
        for _ in range(repeats):
            for name, (_, code) in CONTESTANTS.items():
                times[name].append(measure(code, paths[name]))
    for name, seconds in times.items():
        print(f"{name:26s} {statistics.median(seconds):.2f} s")


if __name__ == "__main__":
    main()
