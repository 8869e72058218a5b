"""Chance in the choice of features: how often is the informative column chosen first?

    python -m benchmarks.engine.selection                  # 200 draws each, half an hour
    python -m benchmarks.engine.selection --draws 20

A flag is 1 for .55 of one class and .50 of the other, among 49 columns of 255 values of noise; or a
column of 255 values has the flag's edge, among 49 flags.  Tables of every bin by
`selection="greedy"` and "unbiased", and tables of few cells at the defaults, are compared with the
choice of the smallest p-value of Pearson's test.
"""

import argparse
from typing import Any

import numpy as np
from scipy.stats import chi2

from properboost import ProperBoostClassifier, Table

ROWS, COLUMNS, VALUES = 1_000_000, 50, 255
SHARES = (0.25, 0.01, 0.001)
KINDS = {"flag": "a flag among 255 values", "wide": "255 values among flags"}
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"selection": "greedy", "weak_learner": Table(max_cells=None)},
    "unbiased": {"selection": "unbiased", "weak_learner": Table(max_cells=None)},
    "defaults": {"weak_learner": "table"},
}


def draw(rng: np.random.Generator, share: float, wide: bool) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows whose column 0 depends on the class; it is the wide one or the flag."""
    y = np.arange(ROWS) < round(share * ROWS)
    raised = rng.random(ROWS) < np.where(y, 0.55, 0.5)
    X = np.empty((ROWS, COLUMNS), np.uint8, order="F")
    for j in range(1, COLUMNS):
        X[:, j] = rng.integers(0, 2 if wide else VALUES, ROWS, dtype=np.uint8)
    half = VALUES // 2
    if wide:
        low, high = rng.integers(0, half, ROWS), rng.integers(half, VALUES, ROWS)
        X[:, 0] = np.where(raised, high, low)
    else:
        X[:, 0] = raised
    return X, y


def find_smallest_p_value(X: np.ndarray, y: np.ndarray) -> int:
    """Return the column whose Pearson test has the smallest p-value."""
    log_p = []
    for column in X.T:
        positive = np.bincount(column[y], minlength=VALUES)
        every = positive + np.bincount(column[~y], minlength=VALUES)
        present = every > 0
        expected = every[present] * y.mean()
        statistic = np.sum((positive[present] - expected) ** 2 / expected) / (1 - y.mean())
        log_p.append(chi2.logsf(statistic, present.sum() - 1))
    return int(np.argmin(log_p))


def choose_first(way: str, X: np.ndarray, y: np.ndarray, n_jobs: int) -> int:
    """Return the column of a model's first round."""
    model = ProperBoostClassifier(n_estimators=1, n_jobs=n_jobs, **WAYS[way])
    return int(model.fit(X, y).history_["feature"][0])


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--shares", nargs="*", type=float, default=SHARES, help="of positives")
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    print("share of the draws in which the informative column is chosen first")
    for kind in options.kinds:
        for share in options.shares:
            hits = dict.fromkeys((*options.ways, "smallest p-value"), 0)
            for seed in range(options.draws):
                X, y = draw(np.random.default_rng(seed), share, kind == "wide")
                for way in options.ways:
                    hits[way] += choose_first(way, X, y, options.threads) == 0
                hits["smallest p-value"] += find_smallest_p_value(X, y) == 0
            figures = "  ".join(f"{way} {n / options.draws:.3f}" for way, n in hits.items())
            print(f"{KINDS[kind]}, {share:6.1%} positive: {figures}", flush=True)


if __name__ == "__main__":
    main()
