r"""Screening on part of the rows: the loss of accuracy against all rows, and the gain in time.

    python -m benchmarks.engine.screening                     # 5 seeds, an hour
    python -m benchmarks.engine.screening --seeds 1 --kinds plain --shares 0.25
    python -m benchmarks.engine.screening --rows 1000000 --ways trees "symmetric trees" \
        --shares 0.25 0.01

Half of the columns matter.  A table has normal numbers (plain), also columns of few values and one
that sorts the rows (mixed), groups of five correlated columns (correlated), or exponential weights
(weighted).  A fit with `screening` is compared with a fit of all rows.  Trees have that of "auto",
so they need 655,360 rows or more, and their rounds are not compared:

- *loss*: its log loss on other rows over that of all rows, less one.
- *rounds*: the rounds until it is within 0.1% of the least loss of all rows, over the same number
  of the full fit; the median, which is inf where half of the fits never are.
- *agree*: the share of ten compared rounds in which it takes the same feature as all rows.
- *edge*: the share of the fall of the training loss that it misses in these rounds.
- *time*: processor time of the fit over that of all rows.

The others are means over the seeds, *loss* with its standard error.
"""

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from properboost import Calibration, ProperBoostClassifier, Tree

COLUMNS = 40
KINDS = ("plain", "mixed", "correlated", "weighted")
SHARES = (0.25, 0.01, 0.001)
SCREENING = 32_768
COMPARED_ROUNDS = 10


class Way(NamedTuple):
    """A weak learner with its settings, and how its rows are screened."""

    settings: dict[str, Any]
    screening: int | str = SCREENING
    has_features: bool = True  # one a round


_NEWTON = {"response": "newton", "learning_rate": 0.1}
WAYS = {
    "tables": Way({"weak_learner": "table"}),
    "Newton stumps": Way({"weak_learner": "stump", "response": "newton", "learning_rate": 0.3}),
    "trees": Way(
        {"weak_learner": Tree(max_leaf_nodes=31, max_features=1.0), **_NEWTON}, "auto", False
    ),
    "symmetric trees": Way(
        {
            "weak_learner": Tree(grow_policy="symmetric", max_depth=6, max_features=1.0),
            **_NEWTON,
        },
        "auto",
        False,
    ),
}


class Rows(NamedTuple):
    """A table, its labels and weights."""

    X: NDArray[np.float32]
    y: NDArray[np.bool_]
    weight: NDArray[np.float64]

    def part(self, which: slice) -> "Rows":
        """Return some of the rows."""
        return Rows(*(values[which] for values in self))


def draw(seed: int, n_rows: int, share: float, kind: str) -> Rows:
    """Draw rows of a kind with this share of positives."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, COLUMNS), dtype=np.float32)
    if kind == "correlated":
        X = 0.8 * np.repeat(X[:, :8], 5, axis=1) + 0.6 * X
    if kind == "mixed":
        for j, size in enumerate((1, 2, 4)):
            X[:, j::4] = np.clip(np.round(X[:, j::4] * size / 2), -size, size)
        X[:, 7] = np.arange(n_rows)
    weights = 0.3 * rng.normal(size=COLUMNS) * (rng.random(COLUMNS) < 0.5)
    log_odds = ((X - X.mean(axis=0)) / X.std(axis=0)) @ weights
    log_odds += 0.8 * np.abs(X[:, 0]) + 0.5 * np.sin(2 * X[:, 1])
    low, high = -30.0, 30.0
    while high - low > 1e-6:  # until the share fits
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expit(log_odds + middle).mean() < share else (low, middle)
    y = rng.random(n_rows) < expit(log_odds + low)
    weight = rng.exponential(size=n_rows) if kind == "weighted" else np.ones(n_rows)
    return Rows(X, y, weight)


def fit(
    rows: Rows,
    init_score: NDArray[np.float64] | None = None,
    screening: int | str | None = None,
    **settings: Any,
) -> tuple[ProperBoostClassifier, float]:
    """Return a model, and the processor time of its fit."""
    began = time.process_time()
    model = ProperBoostClassifier(
        early_stopping=False,
        calibration=Calibration(slope=1.0),
        n_jobs=1,
        screening=screening,
        **settings,
    )
    model.fit(rows.X, rows.y, rows.weight, init_score=init_score)
    return model, time.process_time() - began


def find_losses(model: ProperBoostClassifier, rows: Rows) -> NDArray[np.float64]:
    """Return the log loss after each round."""
    label = rows.y.astype(int)[:, None]
    return np.array(
        [
            -np.average(np.log(np.take_along_axis(p, label, axis=1)[:, 0]), weights=rows.weight)
            for p in model.staged_predict_proba(rows.X)
        ]
    )


def count_until(losses: NDArray[np.float64], goal: float) -> float:
    """Return the number of rounds until a loss is reached."""
    reached = np.flatnonzero(losses <= goal)
    return float(reached[0] + 1) if len(reached) else np.inf


def compare_rounds(
    model: ProperBoostClassifier, rows: Rows, settings: dict[str, Any]
) -> tuple[float, float]:
    """Return how often all rows take the same feature, and the share of the edge that is lost."""
    feature, risk = model.history_["feature"], model.history_["risk"]
    compared = np.unique(np.linspace(1, len(feature) - 1, COMPARED_ROUNDS).astype(int))
    same, fallen, possible = 0, 0.0, 0.0
    before = np.zeros(len(rows.y))
    for t, raw in enumerate(model.staged_decision_function(rows.X)):
        if t in compared:
            other, _ = fit(
                rows, init_score=before, n_estimators=1, gain=model.loss_.gain, **settings
            )
            same += int(other.history_["feature"][0] == feature[t])
            fallen += risk[t - 1] - risk[t]
            possible += risk[t - 1] - other.history_["risk"][0]
        before = raw
    return same / len(compared), 1.0 - fallen / possible


class Measures(NamedTuple):
    """A screened fit, measured by the fit of all rows."""

    loss: float
    rounds: float
    agree: float
    edge: float
    time: float


def compare(train: Rows, test: Rows, way: Way, rounds: int, screening: int | str) -> Measures:
    """Fit by all rows and by a screen."""
    settings = way.settings | {"n_estimators": rounds}
    full, full_seconds = fit(train, **settings)
    screened, screened_seconds = fit(train, screening=screening, **settings)
    full_losses, screened_losses = find_losses(full, test), find_losses(screened, test)
    goal = 1.001 * full_losses.min()
    agree, edge = np.nan, np.nan
    if way.has_features:
        agree, edge = compare_rounds(screened, train, way.settings)
    return Measures(
        screened_losses[-1] / full_losses[-1] - 1,
        count_until(screened_losses, goal) / count_until(full_losses, goal),
        agree,
        edge,
        screened_seconds / full_seconds,
    )


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rows", type=int, default=600_000, help="to learn from; half as many more"
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--screening", type=int, help="a number of rows for all ways")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=("tables", "Newton stumps"))
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--shares", nargs="*", type=float, default=SHARES)
    options = parser.parse_args()
    print(f"{'':36}{'loss':>18}{'rounds':>8}{'agree':>8}{'edge':>8}{'time':>8}")
    for kind in options.kinds:
        for share in options.shares:
            measures: dict[str, list[Measures]] = {name: [] for name in options.ways}
            for seed in range(options.seeds):
                rows = draw(seed, options.rows * 3 // 2, share, kind)
                train, test = rows.part(slice(options.rows)), rows.part(slice(options.rows, None))
                for name in options.ways:
                    way = WAYS[name]
                    screening = options.screening or way.screening
                    measures[name].append(compare(train, test, way, options.rounds, screening))
            for name, values in measures.items():
                mean, median = Measures(*np.mean(values, axis=0)), np.median(values, axis=0)
                error = np.std([v.loss for v in values]) / max(1, len(values) - 1) ** 0.5
                rounds = f"{mean.agree:>8.2f}{mean.edge:>+8.1%}" if WAYS[name].has_features else ""
                print(
                    f"{kind:11}{share:>7.1%} {name:17}{mean.loss:>+9.3%} ({error:.3%})"
                    f"{Measures(*median).rounds:>8.2f}{rounds:16}{mean.time:>8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
