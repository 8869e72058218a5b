"""Plain fits with every loss: held-out log loss compared with the default loss.

    python -m benchmarks.engine.plain_losses                # held-out rows, a minute
    python -m benchmarks.engine.plain_losses --folds 5      # training rows alone
    python -m benchmarks.engine.plain_losses --learners table stump tree rule

A plain fit computes its gain from the number of rows, in units of the loss margin, and trees'
shrinkage uses these units: so all losses should be regularised alike.  The last line has each
loss's log loss over that of `glog`, a geometric mean over the sets.  `share` is the log loss of the
classes' shares; ! marks a loss that is worse than that, and w a fit with a warning.

A loss is a name, optionally with a factor on the gain that is found, as `savage*0.5`.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from scipy.stats import gmean
from sklearn.metrics import log_loss

from benchmarks.lib.race import progress
from benchmarks.lib.sets import SETS, Split, divide

TEN = (
    "spambase", "pima", "german", "wdbc", "heart_cleveland", "attrition", "magic", "wa_churn",
    "credit_data", "ADULT",
)  # fmt: skip
LOSSES = ("glog", "ggauss", "glaplacian", "gboost", "alpha", "exponential", "savage", "tangent")
LEARNERS = ("table", "tree")


def fit(split: Split, loss: str, learner: str, seed: int) -> Any:
    """Return a plain fit; `loss` may have a factor on its gain."""
    from properboost import ProperBoostClassifier

    name, _, factor = loss.partition("*")
    settings = {"weak_learner": learner, "random_state": seed}
    if factor:
        plain = ProperBoostClassifier(name, n_estimators=1, **settings).fit(split.X, split.y)
        settings["gain"] = plain.loss_.gain * float(factor)
    return ProperBoostClassifier(name, **settings).fit(split.X, split.y)


def score(name: str, loss: str, learner: str, seed: int, folds: int) -> tuple[float, bool]:
    """Return the log loss, and whether a fit has warned."""
    losses, warned = [], False
    for split in divide(name, seed, folds):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            model = fit(split, loss, learner, seed)
        warned = warned or bool(caught)
        p = model.predict_proba(split.X_test)
        losses.append(log_loss(split.y_test, p, labels=model.classes_))
    return float(np.mean(losses)), warned


def find_share(name: str, seed: int, folds: int) -> float:
    """Return the log loss of the classes' shares of the rows to learn from."""
    losses = []
    for split in divide(name, seed, folds):
        shares = np.bincount(split.y) / len(split.y)
        losses.append(log_loss(split.y_test, np.tile(shares, (len(split.y_test), 1))))
    return float(np.mean(losses))


def show(learner: str, names: list[str], losses: list[str], seed: int, folds: int) -> None:
    """Print the table of a weak learner."""
    width = max(9, *(len(loss) + 2 for loss in losses))
    print(f"\n{learner:18}{'share':>9}" + "".join(f"{loss:>{width}}" for loss in losses))
    table = []
    for name in names:
        share, row, cells = find_share(name, seed, folds), [], []
        for loss in losses:
            progress(f"{learner}, {name}: {loss}")
            mean, warned = score(name, loss, learner, seed, folds)
            row.append(mean)
            cells.append(f"{mean:.4f}{'!' if mean > share else ' '}{'w' if warned else ' '}")
        progress("")
        table.append(row)
        print(f"{name:18}{share:9.4f}" + "".join(f"{cell:>{width}}" for cell in cells), flush=True)
    ratios = gmean(np.array(table) / np.array(table)[:, :1])
    print(f"{f'over {losses[0]}':27}" + "".join(f"{ratio:>{width - 2}.3f}  " for ratio in ratios))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(TEN), metavar="SET")
    parser.add_argument("--losses", nargs="+", default=list(LOSSES), metavar="LOSS")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), metavar="LEARNER")
    parser.add_argument("--seed", type=int, default=0, help="of splits and of drawn features")
    parser.add_argument("--folds", type=int, default=0, help="of the training rows; 0 holds out")
    options = parser.parse_args()
    for learner in options.learners:
        show(learner, options.sets, options.losses, options.seed, options.folds)


if __name__ == "__main__":
    main()
