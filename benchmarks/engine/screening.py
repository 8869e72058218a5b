"""Features that race on some of the rows: what is lost against all rows, and what time is gained.

    python -m benchmarks.engine.screening                     # 5 seeds, an hour
    python -m benchmarks.engine.screening --seeds 1 --kinds plain --shares 0.25

Half of the columns say something.  A table is of normal numbers (plain), also of columns of few
values and one that rows are sorted by (mixed), of groups of five correlated columns (correlated),
or has exponential weights (weighted).  Beside a fit of all rows stands one with `screening`:

- *loss*: its log loss on other rows over that of all rows, less one.
- *rounds*: after how many it is within 0.1% of the least loss of all rows, over after how many
  these are; the median, which is inf where half of the fits are never so near.
- *agree*: how often, of ten rounds along the way, it takes the feature that all rows would.
- *edge*: by how much less the training loss falls in these rounds, in all, than by that feature.
- *time*: processor time of the fit over that of all rows.

All else are means over the seeds, *loss* with its standard error.
"""

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import log_loss

from properboost import Calibration, ProperBoostClassifier

COLUMNS = 40
KINDS = ("plain", "mixed", "correlated", "weighted")
SHARES = (0.25, 0.01, 0.001)
WAYS: dict[str, dict[str, Any]] = {
    "tables": {},
    "Newton stumps": {"weak_learner": "stump", "response": "newton", "learning_rate": 0.3},
}
LOOKS = 10


class Rows(NamedTuple):
    """A table, its labels and weights."""

    X: NDArray[np.float32]
    y: NDArray[np.bool_]
    weight: NDArray[np.float64]

    def part(self, which: slice) -> "Rows":
        """Return some of the rows."""
        return Rows(*(own[which] for own in self))


def draw(seed: int, n_rows: int, share: float, kind: str) -> Rows:
    """Draw rows of a kind with so many positive ones among them."""
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
    while high - low > 1e-6:  # until the share is right
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expit(log_odds + middle).mean() < share else (low, middle)
    y = rng.random(n_rows) < expit(log_odds + low)
    weight = rng.exponential(size=n_rows) if kind == "weighted" else np.ones(n_rows)
    return Rows(X, y, weight)


def fit(
    rows: Rows,
    init_score: NDArray[np.float64] | None = None,
    screening: int | None = None,
    **settings: Any,
) -> tuple[ProperBoostClassifier, float]:
    """Return a model, and the processor time it took."""
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
    found = [
        log_loss(rows.y, p, sample_weight=rows.weight) for p in model.staged_predict_proba(rows.X)
    ]
    return np.array(found)


def count_until(losses: NDArray[np.float64], goal: float) -> float:
    """Return after how many rounds a loss is reached."""
    reached = np.flatnonzero(losses <= goal)
    return float(reached[0] + 1) if len(reached) else np.inf


def look_at_rounds(
    model: ProperBoostClassifier, rows: Rows, way: dict[str, Any]
) -> tuple[float, float]:
    """Return how often all rows would have taken the same feature, and the share of edge lost."""
    feature, risk = model.history_["feature"], model.history_["risk"]
    wanted = np.unique(np.linspace(1, len(feature) - 1, LOOKS).astype(int))
    same, fallen, could = 0, 0.0, 0.0
    before = np.zeros(len(rows.y))
    for t, raw in enumerate(model.staged_decision_function(rows.X)):
        if t in wanted:
            other, _ = fit(rows, init_score=before, n_estimators=1, gain=model.loss_.gain, **way)
            same += int(other.history_["feature"][0] == feature[t])
            fallen += risk[t - 1] - risk[t]
            could += risk[t - 1] - other.history_["risk"][0]
        before = raw
    return same / len(wanted), 1.0 - fallen / could


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rows", type=int, default=600_000, help="to learn from; half as many more"
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--screening", type=int, default=32_768)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=KINDS)
    parser.add_argument("--shares", nargs="*", type=float, default=SHARES)
    asked = parser.parse_args()
    print(f"{'':36}{'loss':>18}{'rounds':>8}{'agree':>8}{'edge':>8}{'time':>8}")
    for kind in asked.kinds:
        for share in asked.shares:
            found: dict[str, list[tuple[float, ...]]] = {way: [] for way in WAYS}
            for seed in range(asked.seeds):
                rows = draw(seed, asked.rows * 3 // 2, share, kind)
                train, test = rows.part(slice(asked.rows)), rows.part(slice(asked.rows, None))
                for name, way in WAYS.items():
                    settings = way | {"n_estimators": asked.rounds}
                    every, seconds = fit(train, **settings)
                    some, own_seconds = fit(train, screening=asked.screening, **settings)
                    losses, own = find_losses(every, test), find_losses(some, test)
                    goal = 1.001 * losses.min()
                    rounds = count_until(own, goal) / count_until(losses, goal)
                    agree, edge = look_at_rounds(some, train, way)
                    found[name].append(
                        (own[-1] / losses[-1] - 1, rounds, agree, edge, own_seconds / seconds)
                    )
            for name, values in found.items():
                mean, median = np.mean(values, axis=0), np.median(values, axis=0)
                error = np.std([v[0] for v in values]) / max(1, len(values) - 1) ** 0.5
                print(
                    f"{kind:11}{share:>7.1%} {name:17}{mean[0]:>+9.3%} ({error:.3%})"
                    f"{median[1]:>8.2f}{mean[2]:>8.2f}{mean[3]:>+8.1%}{mean[4]:>8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
