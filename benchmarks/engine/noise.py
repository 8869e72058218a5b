"""Data without information: noise categories among real features, and permuted labels.

    python -m benchmarks.engine.noise                      # 5 draws of both, minutes
    python -m benchmarks.engine.noise --only categories --selection greedy

A draw of noise categories fits 5,000 rows twice: without and with two columns of 50 and of 3,000
levels, drawn evenly.  The rows are of ADULT's training part, scored on the rest of it; or they have
six normal columns and log-odds 2 x1 x2, scored on 50,000.  The report has the log loss with the
categories over that without.

A draw of permuted labels is a stratified five-fold cross-validation.  The report has the log loss
over that of the best constant, the share of all rows.  It also counts the draws in which the model
is better by more than two standard errors of the mean of the rows' differences.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.lib.learners import LEARNERS, describe, fit_to_few
from benchmarks.lib.sets import SETS, Split

ROWS, LEVELS = 5_000, (50, 3_000)
SETS_OF_LABELS = ("ADULT", "german", "pima", "sonar", "wdbc")


def draw_adult(seed: int) -> Split:
    """Draw rows of ADULT's training part; the rest is for scoring."""
    whole = SETS["ADULT"](0)
    order = np.random.default_rng(seed).permutation(len(whole.y))
    train, test = order[:ROWS], order[ROWS:]
    return Split(whole.X.iloc[train], whole.y[train], whole.X.iloc[test], whole.y[test])


def draw_product(seed: int) -> Split:
    """Draw rows whose class depends on x1 x2, with four columns of noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(11 * ROWS, 6)), columns=[f"x{j}" for j in range(1, 7)])
    y = (rng.random(len(X)) < expit(2 * X["x1"] * X["x2"])).astype(int).to_numpy()
    return Split(X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:])


TABLES: dict[str, Callable[[int], Split]] = {"ADULT": draw_adult, "x1 x2": draw_product}


def with_noise(X: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return a table with columns of random categories."""
    rng = np.random.default_rng(seed)
    noise = {
        f"noise of {n} levels": pd.Categorical(
            [f"level {level}" for level in rng.integers(n, size=len(X))]
        )
        for n in LEVELS
    }
    return X.assign(**noise)


def rise(make: Callable[[], Any], split: Split, seed: int) -> float:
    """Return the log loss with noise categories over that without."""
    plain = fit_to_few(make(), split.X, split.y).predict_proba(split.X_test)
    noisy = fit_to_few(make(), with_noise(split.X, 2 * seed), split.y)
    predicted = noisy.predict_proba(with_noise(split.X_test, 2 * seed + 1))
    return log_loss(split.y_test, predicted) / log_loss(split.y_test, plain)


def judge_permuted(
    make: Callable[[], Any], X: pd.DataFrame, y: Any, seed: int
) -> tuple[float, float]:
    """Return the log loss over the share's with permuted labels, and the deviate of "better"."""
    y = np.random.default_rng(seed).permutation(y)
    constant = -np.log(np.bincount(y) / len(y))[y]
    loss = np.empty(len(y))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        p = fit_to_few(make(), X.iloc[train], y[train]).predict_proba(X.iloc[test])
        loss[test] = -np.log(p[np.arange(len(test)), y[test]])
    reduction = constant - loss
    error = reduction.std(ddof=1) / np.sqrt(len(reduction))
    return loss.mean() / constant.mean(), reduction.mean() / error if error > 0 else 0.0


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--only", choices=("categories", "labels"))
    parser.add_argument("--learners", nargs="*", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--selection", help="instead of the default")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    def maker(name: str, seed: int) -> Callable[[], Any]:
        settings = {"selection": options.selection} if options.selection else {}
        return lambda: LEARNERS[name](seed).set_params(n_jobs=options.threads, **settings)

    if options.only != "labels":
        print(f"log loss with noise categories over that without, {ROWS:,} rows")
        for table, draw in TABLES.items():
            splits = [draw(seed) for seed in range(options.draws)]
            for name in options.learners:
                ratios = [rise(maker(name, s), split, s) for s, split in enumerate(splits)]
                print(f"{table:8s}{name:10s}{describe(ratios, 4)}", flush=True)
    if options.only != "categories":
        print("labels permuted: cross-validated log loss over the share's")
        for table in SETS_OF_LABELS:
            whole = SETS[table](0)
            X, y = whole.X[:ROWS], whole.y[:ROWS]
            for name in options.learners:
                draws = [judge_permuted(maker(name, s), X, y, s) for s in range(options.draws)]
                ratios, better = zip(*draws, strict=True)
                print(
                    f"{table:8s}{name:10s}{describe(ratios, 4)}; "
                    f"better by two standard errors in {sum(z > 2 for z in better)} draws",
                    flush=True,
                )


if __name__ == "__main__":
    main()
