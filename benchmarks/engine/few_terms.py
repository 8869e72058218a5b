"""The log loss of trees by the most joint terms that they may have (`Tree.max_terms`).

    python -m benchmarks.engine.few_terms --picture docs/few_terms.png

Without a limit, trees with at most three features on a path have many joint terms.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.lib.cli import make_parser
from benchmarks.lib.sets import SETS
from properboost import ProperBoostClassifier, Tree

NAMES = ("magic", "spambase", "segment", "ADULT", "wa_churn")
COUNTS = (0, 3, 5, 10, 20, 40, 80)
LEARNER = Tree(grow_policy="symmetric", interaction_cst=3, linear_leaves=True)


def measure(name: str, seed: int) -> tuple[int, list[float]]:
    """Return the joint terms without a limit, and the log losses by `COUNTS` and without one."""
    split = SETS[name](seed)

    def fit(learner: Tree) -> tuple[ProperBoostClassifier, float]:
        model = ProperBoostClassifier(
            weak_learner=learner, n_estimators=200, n_jobs=1, random_state=seed
        ).fit(split.X, split.y)
        return model, log_loss(split.y_test, model.predict_proba(split.X_test))

    first, without_limit = fit(LEARNER)
    joint = [term for term in first.terms_ if len(term.features) > 1]
    losses = [fit(LEARNER.replace(max_terms=n_terms))[1] for n_terms in COUNTS]
    return len(joint), [*losses, without_limit]


def draw(path: Path, curves: dict[str, np.ndarray]) -> None:
    """Draw the log loss over that without a limit, by the number of joint terms."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for name, losses in curves.items():
        axes.plot(range(len(COUNTS)), losses[:-1] / losses[-1], marker="o", label=name)
    axes.axhline(1.0, color="0.5", lw=0.8)
    axes.set_xticks(range(len(COUNTS)), map(str, COUNTS))
    axes.set_xlabel("Joint terms that trees may have")
    axes.set_ylabel("Log loss, over that without a limit")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print a table, and draw the picture if a file is named."""
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--picture", type=Path, help="file to draw into; needs matplotlib")
    args: argparse.Namespace = parser.parse_args()
    warnings.simplefilter("ignore")
    curves = {}
    print("| set | joint terms | " + " | ".join(map(str, COUNTS)) + " | no limit |")
    print("|" + "---|" * (len(COUNTS) + 3))
    for name in NAMES:
        results = [measure(name, seed) for seed in range(1 if name == "ADULT" else args.seeds)]
        curves[name] = np.mean([losses for _, losses in results], axis=0)
        n_joint = int(np.median([n for n, _ in results]))
        cells = " | ".join(f"{loss:.4f}" for loss in curves[name])
        print(f"| {name} | {n_joint} | {cells} |", flush=True)
    if args.picture is not None:
        draw(args.picture, curves)


if __name__ == "__main__":
    main()
