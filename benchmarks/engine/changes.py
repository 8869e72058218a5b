"""The nearest changes of rows (`changes`): time, and the misses of the search without terms.

First the seconds for rows of ADULT, by model, and how many features change.  Then 200 rows of six
features of at most 16 values: every change of up to three features is predicted, and compared with
the answer.  Last the search of models without terms, run on models with terms, whose nearest
changes are known: the rows where it finds none, or one farther off.

    python -m benchmarks.engine.changes
"""

import time
from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd

from benchmarks.lib.cli import make_plain_parser
from benchmarks.lib.sets import SETS
from properboost import ProperBoostClassifier, Tree
from properboost.estimators.base import open_rows
from properboost.inspection.change_search import ChangeSearch
from properboost.losses.probabilities import choose_classes

MODELS = {
    "tables": {},
    "10 pairs": {"interactions": 10},
    "symmetric trees of 3 features": {
        "weak_learner": Tree(interaction_cst=3, grow_policy="symmetric", max_depth=3)
    },
    "the same with lines": {
        "weak_learner": Tree(interaction_cst=3, grow_policy="symmetric", linear_leaves=True)
    },
    "trees": {"weak_learner": "tree"},
}
CAPITAL = ["capital-gain", "capital-loss"]


def main() -> None:
    """Print the three tables."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--rows", type=int, default=1000, help="rows of ADULT")
    arguments = parser.parse_args()
    X, y, X_test, _ = SETS["ADULT"](0)
    models = {
        name: ProperBoostClassifier(n_jobs=1, **settings).fit(X, y)
        for name, settings in MODELS.items()
    }
    for name, model in models.items():
        for keep in ((), CAPITAL):
            measure_time(name, model, X_test.iloc[: arguments.rows], keep)
    compare_with_all()
    for name in ("tables", "10 pairs"):
        count_misses(name, models[name], X_test.iloc[:200])


def measure_time(name: str, model: ProperBoostClassifier, rows: pd.DataFrame, keep: list) -> None:
    """Print the seconds, and how many rows change in how many features."""
    start = time.process_time()
    changes = model.changes(rows, keep=keep)
    seconds = time.process_time() - start
    sizes = Counter(0 if change is None else len(change.features) for change in changes)
    without = " without capital" if keep else ""
    counts = ", ".join(f"{sizes[n]} {n or 'none'}" for n in (1, 2, 3, 0))
    exact = "exact" if changes.is_exact else "search"
    print(f"{name}{without}: {len(rows)} rows in {seconds:.2f} s ({exact}; features: {counts})")


def compare_with_all() -> None:
    """Print how many of 200 rows have the nearest of all changes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 16, (4000, 6)).astype(float)
    raw = 0.3 * X[:, 0] + 0.02 * X[:, 1] * X[:, 2] - 0.2 * X[:, 3]
    raw -= 0.05 * (X[:, 4] - 8) * (X[:, 5] > 7)
    y = raw + rng.logistic(size=4000) > 3.5
    model = ProperBoostClassifier(
        n_jobs=1, rows_per_bin=None, interactions=3, weak_learner="table"
    ).fit(X, y)
    rows = X[np.abs(model.decision_function(X)) > 2.0][:200]
    changes, right = model.changes(rows, keep=[0]), Counter()
    ranks = [np.cumsum(share) - share / 2 for share in map(list_shares, X.T)]
    for row, change in zip(rows, changes, strict=True):
        size, distance = find_nearest(model, row, ranks)
        same = size == 0 if change is None else size == len(change.features)
        near = change is None or abs(change.distance - distance) < 1e-9
        right[same and near, size] += 1
    print(f"nearest of all changes, (it is, features): rows: {dict(right)}")


def list_shares(column: np.ndarray) -> np.ndarray:
    """Return the share of each of 16 values."""
    return np.bincount(column.astype(int), minlength=16) / len(column)


def find_nearest(
    model: ProperBoostClassifier, row: np.ndarray, ranks: list[np.ndarray]
) -> tuple[int, float]:
    """Return the features and the distance of the nearest change but of the first feature."""
    before = model.predict(row[None])[0]
    for size in (1, 2, 3):
        least = np.inf
        for chosen in combinations(range(1, 6), size):
            values = np.array([*product(range(16), repeat=size)], dtype=float)
            values = values[(values != row[[*chosen]]).all(axis=1)]
            copies = np.tile(row, (len(values), 1))
            copies[:, chosen] = values
            values = values[model.predict(copies) != before]
            if len(values):
                moves = [
                    np.abs(ranks[j][values[:, k].astype(int)] - ranks[j][int(row[j])])
                    for k, j in enumerate(chosen)
                ]
                least = min(least, float(np.sum(moves, axis=0).min()))
        if least < np.inf:
            return size, least
    return 0, np.inf


def count_misses(name: str, model: ProperBoostClassifier, rows: pd.DataFrame) -> None:
    """Print in how many rows the search of models without terms misses the nearest change."""
    table, n_threads = open_rows(model, rows)
    columns = [str(column) for column in rows]
    fixed = {columns.index(column) for column in CAPITAL}
    order = sorted({*range(len(columns))} - fixed, key=columns.__getitem__)
    exact = ChangeSearch.of(
        model.ensemble_, lambda raw: choose_classes(raw[:, 0]), order, n_threads
    )
    search = ChangeSearch(exact.predict, exact.choose, exact.distances, exact.order, None)
    codes = model.ensemble_.binning.encode(table, None, n_threads)
    nearest, hits = exact.run(codes, None), search.run(codes, None)
    pairs = [(best, hit) for best, hit in zip(nearest, hits, strict=True) if best]
    none = sum(hit is None for _, hit in pairs)
    farther = sum(hit is not None and hit.rank > best.rank for best, hit in pairs)
    print(f"search on {name}: of {len(pairs)} rows {none} without, {farther} with one farther off")


if __name__ == "__main__":
    main()
