"""The cost of decisions on held-out rows: thresholds by costs, and thresholds tuned by peers.

Each set has rows held out.  On the others `LeastCostClassifier` fits its estimator once and takes
the threshold that the costs imply; scikit-learn's `TunedThresholdClassifierCV` tunes the threshold
of the same estimator to the mean cost, by five folds.  An error on a row of the rarer class costs
`--ratio` times as much.

    python -m benchmarks.peers.costs --ratio 5 20
"""

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from benchmarks.lib.cli import make_plain_parser
from benchmarks.lib.sets import SETS
from properboost import LeastCostClassifier, ProperBoostClassifier

NAMES = ("ADULT", "magic", "wa_churn", "stroke_classification", "german")


def main() -> None:
    """Print the mean costs and their ratio, by set."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--ratio", type=float, nargs="+", default=[5.0, 20.0])
    parser.add_argument("--sets", nargs="+", default=NAMES, choices=SETS, metavar="NAME")
    parser.add_argument("--pairs", type=int, default=0, help="pairs of the classifier (0)")
    parser.add_argument("--seeds", type=int, default=5, help="divisions of each set")
    arguments = parser.parse_args()
    print("set                    ratio  by costs    tuned  ratio of costs, and its standard error")
    ratios = []
    for name in arguments.sets:
        for ratio in arguments.ratio:
            costs = [measure(name, ratio, seed, arguments.pairs) for seed in range(arguments.seeds)]
            ours, tuned, error = np.mean(costs, axis=0)
            ratios.append(ours / tuned)
            words = f"{name:<22} {ratio:>5g}  {ours:>8.4f}  {tuned:>7.4f}"
            print(f"{words}  {ours / tuned:.3f}  {error / tuned:.3f}")
    print(f"geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.3f}")


def measure(name: str, ratio: float, seed: int, n_pairs: int) -> tuple[float, float, float]:
    """Return the mean cost of decisions by costs and by the tuned threshold.

    The third number is the standard error of their difference on the rows of one division, which
    is larger than that of the mean over divisions.
    """
    X, y, X_test, y_test = SETS[name](seed)
    classes, counts = np.unique(y, return_counts=True)
    rare = classes[counts.argmin()].item()
    of_class = {label: ratio if label == rare else 1.0 for label in classes.tolist()}

    def list_costs(true: np.ndarray, decided: np.ndarray) -> np.ndarray:
        return np.where(true == decided, 0.0, np.where(true == rare, ratio, 1.0))

    def find_cost(true: np.ndarray, decided: np.ndarray) -> float:
        return float(list_costs(true, decided).mean())

    base = ProperBoostClassifier(interactions=n_pairs, n_jobs=1, random_state=seed)
    ours = LeastCostClassifier(base, of_class).fit(X, y)
    scorer = make_scorer(find_cost, greater_is_better=False)
    tuned = TunedThresholdClassifierCV(base, scoring=scorer, cv=5, random_state=seed).fit(X, y)
    paid = list_costs(y_test, ours.predict(X_test))
    of_tuned = list_costs(y_test, tuned.predict(X_test))
    error = (paid - of_tuned).std() / np.sqrt(len(paid))
    return float(paid.mean()), float(of_tuned.mean()), float(error)


if __name__ == "__main__":
    main()
