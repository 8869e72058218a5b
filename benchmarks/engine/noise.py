"""What says nothing: noise categories beside features that matter, and labels permuted.

    python -m benchmarks.engine.noise                      # 5 draws of both, minutes
    python -m benchmarks.engine.noise --only categories --selection greedy

A draw of noise categories fits 5,000 rows twice, without and with two columns of 50 and of 3,000
levels that are drawn evenly: rows of ADULT's training part, scored on the others of it; and rows of
six normal columns, the log-odds being 2 x1 x2, scored on 50,000.  Reported is the log loss with the
categories over that without.

A draw of permuted labels is a stratified five-fold cross-validation.  Reported is the log loss over
that of the share of all rows, the best of constants, and in how many draws it is better than that
by more than two standard errors of the mean of the rows' differences.
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
    """Draw rows of ADULT's training part; the others are to be scored."""
    whole = SETS["ADULT"](0)
    order = np.random.default_rng(seed).permutation(len(whole.y))
    train, test = order[:ROWS], order[ROWS:]
    return Split(whole.X.iloc[train], whole.y[train], whole.X.iloc[test], whole.y[test])


def draw_product(seed: int) -> Split:
    """Draw rows whose class is by x1 x2, beside four columns of noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(11 * ROWS, 6)), columns=[f"x{j}" for j in range(1, 7)])
    y = (rng.random(len(X)) < expit(2 * X["x1"] * X["x2"])).astype(int).to_numpy()
    return Split(X[:ROWS], y[:ROWS], X[ROWS:], y[ROWS:])


TABLES: dict[str, Callable[[int], Split]] = {"ADULT": draw_adult, "x1 x2": draw_product}


def with_noise(X: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return a table with columns of categories that say nothing."""
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
    found = noisy.predict_proba(with_noise(split.X_test, 2 * seed + 1))
    return log_loss(split.y_test, found) / log_loss(split.y_test, plain)


def gain_of_nothing(
    make: Callable[[], Any], X: pd.DataFrame, y: Any, seed: int
) -> tuple[float, float]:
    """Return the log loss over the share's with labels permuted, and the deviate of "better"."""
    y = np.random.default_rng(seed).permutation(y)
    constant = -np.log(np.bincount(y) / len(y))[y]
    loss = np.empty(len(y))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        p = fit_to_few(make(), X.iloc[train], y[train]).predict_proba(X.iloc[test])
        loss[test] = -np.log(p[np.arange(len(test)), y[test]])
    saved = constant - loss
    error = saved.std(ddof=1) / np.sqrt(len(saved))
    return loss.mean() / constant.mean(), saved.mean() / error if error > 0 else 0.0


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--only", choices=("categories", "labels"))
    parser.add_argument("--learners", nargs="*", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--selection", help="instead of the default")
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()

    def maker(name: str, seed: int) -> Callable[[], Any]:
        given = {"selection": asked.selection} if asked.selection else {}
        return lambda: LEARNERS[name](seed).set_params(n_jobs=asked.threads, **given)

    if asked.only != "labels":
        print(f"log loss with noise categories over that without, {ROWS:,} rows")
        for table, draw in TABLES.items():
            splits = [draw(seed) for seed in range(asked.draws)]
            for name in asked.learners:
                ratios = [rise(maker(name, s), split, s) for s, split in enumerate(splits)]
                print(f"{table:8s}{name:10s}{describe(ratios, 4)}", flush=True)
    if asked.only != "categories":
        print("labels permuted: cross-validated log loss over the share's")
        for table in SETS_OF_LABELS:
            whole = SETS[table](0)
            X, y = whole.X[:ROWS], whole.y[:ROWS]
            for name in asked.learners:
                found = [gain_of_nothing(maker(name, s), X, y, s) for s in range(asked.draws)]
                ratios, better = zip(*found, strict=True)
                print(
                    f"{table:8s}{name:10s}{describe(ratios, 4)}; "
                    f"better by two standard errors in {sum(z > 2 for z in better)} draws",
                    flush=True,
                )


if __name__ == "__main__":
    main()
