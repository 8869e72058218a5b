"""Features that chance favours: how often is the column that says something chosen first?

    python -m benchmarks.engine.selection                  # 200 draws each, half an hour
    python -m benchmarks.engine.selection --draws 20

A flag is 1 for .55 of one class and .50 of the other, among 49 columns of 255 values that say
nothing; or a column of 255 values has the flag's edge, among 49 flags.  Tables of every bin by
`selection="greedy"` and "unbiased", and tables of few cells at the defaults, stand beside the
smallest p-value of Pearson's test of each column.
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
    "defaults": {},
}


def draw(rng: np.random.Generator, share: float, wide: bool) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows whose column 0 says something of the class; it is the wide one or the flag."""
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
        kept = every > 0
        expected = every[kept] * y.mean()
        statistic = np.sum((positive[kept] - expected) ** 2 / expected) / (1 - y.mean())
        log_p.append(chi2.logsf(statistic, kept.sum() - 1))
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
    asked = parser.parse_args()
    print("share of the draws in which the column that says something is chosen first")
    for kind in asked.kinds:
        for share in asked.shares:
            found = dict.fromkeys((*asked.ways, "smallest p-value"), 0)
            for seed in range(asked.draws):
                X, y = draw(np.random.default_rng(seed), share, kind == "wide")
                for way in asked.ways:
                    found[way] += choose_first(way, X, y, asked.threads) == 0
                found["smallest p-value"] += find_smallest_p_value(X, y) == 0
            figures = "  ".join(f"{way} {n / asked.draws:.3f}" for way, n in found.items())
            print(f"{KINDS[kind]}, {share:6.1%} positive: {figures}", flush=True)


if __name__ == "__main__":
    main()
