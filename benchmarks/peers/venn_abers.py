"""Venn-Abers probabilities beside temperature scaling: log loss, and calibration slopes.

Each split of a set holds out a quarter of its rows at random.  A plain model is fitted to half of
the others, and the other half calibrates it: by Venn-Abers tables, or by one temperature.  The
cross way gets all of them, with five folds, beside one plain fit to all.  A slope is that of a
logistic regression of labels on log-odds, for sets of two classes.  Simulations count how often the
true probability is between p0 and p1.
"""

import warnings

import numpy as np
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.lib.cli import make_plain_parser, print_machine
from benchmarks.lib.sets import SETS, Split
from benchmarks.peers.prediction_sets import load
from properboost import ProperBoostClassifier, VennAbersClassifier

NAMES = (
    "heart_cleveland", "german", "pima", "attrition", "credit_data", "stroke_classification",
    "magic", "ADULT", "vowel", "satimage",
)  # fmt: skip
LEAST = 1e-7


def calibrate(rows: Split, model: ProperBoostClassifier) -> dict[str, np.ndarray]:
    """Return the probabilities of the test rows, by way."""
    X, X_new, y, y_new = train_test_split(
        rows.X, rows.y, test_size=0.5, stratify=rows.y, random_state=0
    )
    fitted = clone(model).fit(X, y)
    temperature = CalibratedClassifierCV(FrozenEstimator(fitted), method="temperature")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    ways = {
        "half of the rows": fitted,
        "temperature": temperature.fit(X_new, y_new),
        "Venn-Abers": VennAbersClassifier(fitted).fit(X_new, y_new),
        "all rows": clone(model).fit(rows.X, rows.y),
        "cross Venn-Abers": VennAbersClassifier(model, cv=folds).fit(rows.X, rows.y),
    }
    return {way: model.predict_proba(rows.X_test) for way, model in ways.items()}


def find_slope(y: np.ndarray, probability: np.ndarray) -> float:
    """Return the calibration slope of two classes; NaN of several."""
    if probability.shape[1] > 2:
        return np.nan
    log_odds = logit(probability[:, 1:].clip(LEAST, 1.0 - LEAST))
    return float(LogisticRegression(C=np.inf).fit(log_odds, y).coef_.item())


def simulate(n: int, n_simulations: int) -> float:
    """Return the share of rows whose true probability is between p0 and p1, of n that calibrate."""
    inside = []
    for seed in range(n_simulations):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2 * n + 2_000, 4))
        true = expit(2.0 * X[:, 0] + np.sin(3.0 * X[:, 1]))
        y = rng.random(len(X)) < true
        model = ProperBoostClassifier(n_jobs=1, weak_learner="table").fit(X[:n], y[:n])
        calibrated = VennAbersClassifier(model).fit(X[n : 2 * n], y[n : 2 * n])
        p0, p1 = calibrated.predict_multiprobability(X[2 * n :]).T
        inside.append(np.mean((p0 <= true[2 * n :]) & (true[2 * n :] <= p1)))
    return float(np.mean(inside))


def main() -> None:
    """Print a line for each set, and one for each size of the simulation."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--sets", nargs="+", default=NAMES, choices=SETS, metavar="NAME")
    parser.add_argument("--splits", type=int, default=10)
    options = parser.parse_args()
    print_machine("scikit-learn")
    warnings.simplefilter("ignore")
    losses: dict[str, list[float]] = {}
    slopes: dict[str, list[float]] = {}
    for name in options.sets:
        X, y, categories = load(name)
        model = ProperBoostClassifier(
            n_jobs=1, categorical_features=categories, weak_learner="table"
        )
        figures: dict[str, list] = {}
        for seed in range(options.splits):
            parts = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
            rows = Split(parts[0], parts[2], parts[1], parts[3])
            for way, p in calibrate(rows, model).items():
                loss = log_loss(rows.y_test, p.clip(LEAST, 1.0))
                figures.setdefault(way, []).append((loss, find_slope(rows.y_test, p)))
        means = {way: np.mean(of_way, axis=0) for way, of_way in figures.items()}
        for way, (loss, slope) in means.items():
            losses.setdefault(way, []).append(loss)
            slopes.setdefault(way, []).append(slope)
        shown = ", ".join(f"{way} {loss:.4f} ({slope:.2f})" for way, (loss, slope) in means.items())
        print(f"{name:22s} {shown}", flush=True)
    for way, of_way in losses.items():
        base = losses["half of the rows" if way != "cross Venn-Abers" else "all rows"]
        ratio = np.exp(np.mean(np.log(of_way) - np.log(base)))
        print(f"{way:18s} log loss {ratio:.4f} of the plain fit's, mean |log slope| "
              f"{np.nanmean(np.abs(np.log(slopes[way]))):.3f}")  # fmt: skip
    for n in (100, 300, 1_000, 3_000, 10_000):
        print(f"{n:6,} rows calibrate: true probability between p0 and p1 in {simulate(n, 10):.3f}")


if __name__ == "__main__":
    main()
