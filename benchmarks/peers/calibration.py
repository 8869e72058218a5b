"""The calibration of probabilities on held-out rows: bins and slopes with intervals, with peers'.

    python -m benchmarks.peers.calibration                          # everything, half an hour
    python -m benchmarks.peers.calibration --sets magic --contestants plain LightGBM
    python -m benchmarks.peers.calibration --picture docs/calibration.png

All models have their defaults; properboost takes part with a plain fit of look-up tables, of trees,
and with its default search.  The held-out rows are scored once.  A result is enough for a
reliability diagram: ten bins of equally many rows by predicted probability, each with its rows, the
sum of their probabilities and the number of positive ones.  It also has the log loss, and the slope
and intercept of a logistic regression of labels on log-odds with their standard errors (Cox 1958):
a slope below 1 means that the probabilities are too extreme.

Every result is appended to a file, and results that are there already are not computed again.
`tools/write_calibration.py` makes the tables of docs/evidence/calibration.md from it.
"""

import argparse
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from benchmarks.lib import sets
from benchmarks.peers.contestants import (
    Task,
    default_catboost,
    make_ebm,
    make_lightgbm,
    make_logistic_regression,
    make_random_forest,
    make_xgboost,
)
from benchmarks.peers.panel import number_columns

RESULTS = Path(__file__).with_name("calibration.jsonl")
TABLES = ("ADULT", "magic", "LETTER.p2", "spambase", "lending_club", "wa_churn", "credit_data")
N_BINS = 10


def plain(**settings: Any) -> Callable[[Task], Any]:
    """Return a function that makes a `ProperBoostClassifier`."""

    def make(task: Task) -> Any:
        from properboost import ProperBoostClassifier

        return ProperBoostClassifier(random_state=task.seed, n_jobs=task.threads, **settings)

    return make


def search(task: Task) -> Any:
    """Make a `ProperBoostClassifierCV`."""
    from properboost import ProperBoostClassifierCV

    return ProperBoostClassifierCV(random_state=task.seed, n_jobs=task.threads)


def untuned(make: Callable[..., Any]) -> Callable[[Task], Any]:
    """Return a function that makes a library's model at its defaults, which are 100 rounds."""
    return lambda task: make(100, False, task.split.X, task.seed, task.threads)


def make_hgb(task: Task) -> Any:
    """Make scikit-learn's model, which stops early by default on many rows."""
    return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=task.seed)


CONTESTANTS: dict[str, Callable[[Task], Any]] = {
    "search": search,
    "plain": plain(),
    "tables": plain(weak_learner="table"),
    "trees": plain(weak_learner="tree"),
    "EBM": make_ebm(),
    "CatBoost": default_catboost,
    "LightGBM": untuned(make_lightgbm),
    "XGBoost": untuned(make_xgboost),
    "HGB": make_hgb,
    "random forest": make_random_forest,
    "logistic regression": make_logistic_regression,
}


def fit_slope(p: Any, y: Any) -> dict[str, float]:
    """Return slope and intercept of labels on log-odds, each with its standard error."""
    log_odds = np.log(p / (1.0 - p))
    design = np.column_stack([log_odds, np.ones(len(p))])

    def find_loss(coefficients: Any) -> tuple[float, Any]:
        F = design @ coefficients
        return float(np.mean(np.logaddexp(0.0, F) - y * F)), design.T @ (expit(F) - y) / len(y)

    coefficients = minimize(find_loss, [1.0, 0.0], jac=True).x
    q = expit(design @ coefficients)
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ (design * (q * (1 - q))[:, np.newaxis]))))
    return {
        "slope": float(coefficients[0]), "slope_error": float(errors[0]),
        "intercept": float(coefficients[1]), "intercept_error": float(errors[1]),
    }  # fmt: skip


def fill_bins(p: Any, y: Any) -> list[tuple[int, float, int]]:
    """Return rows, sum of probabilities and positive rows, of bins of equally many rows."""
    order = np.argsort(p, kind="stable")
    return [
        (len(rows), float(p[rows].sum()), int(y[rows].sum()))
        for rows in np.array_split(order, N_BINS)
    ]


def measure(name: str, contestant: str, threads: int) -> dict[str, Any]:
    """Fit to the training rows of a set, and score the held-out rows."""
    split = number_columns(sets.SETS[name](0))
    with threadpool_limits(threads):
        model = CONTESTANTS[contestant](Task(split, 0, threads)).fit(split.X, split.y)
        p = np.clip(model.predict_proba(split.X_test)[:, 1].astype(np.float64), 1e-7, 1 - 1e-7)
    return {
        "set": name,
        "contestant": contestant,
        "rows": len(p),
        "loss": log_loss(split.y_test, p),
        **fit_slope(p, split.y_test),
        "bins": fill_bins(p, split.y_test),
    }


def read(path: Path) -> pd.DataFrame:
    """Return the results in a file: a row for each set and contestant."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    results = pd.DataFrame([json.loads(line) for line in lines])
    return results.drop_duplicates(["set", "contestant"], keep="last") if lines else results


def draw(results: pd.DataFrame, path: Path) -> None:
    """Draw the error of probabilities, by bin, with 95% intervals."""
    import matplotlib.pyplot as plt
    from scipy.stats import beta

    shown = ["search", "plain", "LightGBM", "random forest"]
    names = [name for name in TABLES if name in set(results["set"])]
    figure, panels = plt.subplots(
        len(shown), len(names), figsize=(2.1 * len(names), 1.9 * len(shown)),
        sharex=True, sharey=True, layout="constrained", squeeze=False,
    )  # fmt: skip
    for (i, contestant), (j, name) in itertools.product(enumerate(shown), enumerate(names)):
        result = results[(results["set"] == name) & (results["contestant"] == contestant)].iloc[0]
        n, p, positive = np.array(result["bins"]).T
        low = np.where(positive > 0, beta.ppf(0.025, positive, n - positive + 1), 0.0)
        high = np.where(positive < n, beta.ppf(0.975, positive + 1, n - positive), 1.0)
        ax = panels[i, j]
        ax.axhline(0.0, color="0.6", linestyle=":", linewidth=1)
        ends = 100 * np.array([(positive - n * low) / n, (n * high - positive) / n])
        color = "#0072B2" if i < 2 else "#D55E00"
        ax.errorbar(
            100 * p / n, 100 * (positive - p) / n, ends, fmt="o", markersize=3, color=color,
            elinewidth=1,
        )  # fmt: skip
        if i == 0:
            ax.set_title(name, fontsize=9)
        if j == 0:
            ax.set_ylabel(contestant, fontsize=9)
        ax.tick_params(labelsize=7)
    panels[0, 0].set(xlim=(-4, 104), ylim=(-16, 16))
    figure.supxlabel("mean predicted probability of a bin, %", fontsize=9)
    figure.supylabel("share of positive rows less that, points", fontsize=9)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=sets.SETS, default=TABLES)
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--picture", type=Path, help="draw the results so far, and end")
    options = parser.parse_args()
    if options.picture:
        draw(read(options.results), options.picture)
        return
    for contestant, name in itertools.product(options.contestants, options.sets):
        results = read(options.results)
        if (
            len(results)
            and ((results["set"] == name) & (results["contestant"] == contestant)).any()
        ):
            continue
        result = measure(name, contestant, options.threads)
        with options.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        print(
            f"{name:12s} {contestant:20s} log loss {result['loss']:.4f}  "
            f"slope {result['slope']:.3f} +-{result['slope_error']:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
