"""ADULT with few of its positives: does a model predict more than their share?

    python -m benchmarks.engine.rare                       # plain fits, 20 draws, minutes
    python -m benchmarks.engine.rare --models search       # the default search, 15 minutes

A draw holds out a quarter of ADULT's training rows, and drops other positives until their share is
1% or 0.1%.  All held-out rows are scored; weights give their positives the same share.  The report
has the log loss over that of the training share: at 1 the model is no better than that constant.
"""

import argparse
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks.lib.learners import LEARNERS, describe, fit_to_few
from properboost import ProperBoostClassifierCV
from properboost.datasets import load_adult

SHARES = (0.01, 0.001)
MODELS = {**LEARNERS, "search": lambda seed: ProperBoostClassifierCV(random_state=seed)}


def find_ratio(model: Any, X: Any, y: Any, share: float, seed: int) -> float:
    """Return a model's log loss over that of the training share, in one draw."""
    train, test = train_test_split(np.arange(len(y)), stratify=y, random_state=seed)
    positive = np.flatnonzero(y[train])
    n_positive = round(share / (1.0 - share) * (len(train) - len(positive)))
    dropped = np.random.default_rng(seed).permutation(positive)[n_positive:]
    train = np.delete(train, dropped)
    training_share = y[train].mean()
    odds = training_share / (1.0 - training_share) / (y[test].mean() / (1.0 - y[test].mean()))
    weight = np.where(y[test] == 1, odds, 1.0)
    p = fit_to_few(model, X.iloc[train], y[train]).predict_proba(X.iloc[test])[:, 1]
    constant = np.full(len(test), training_share)
    return log_loss(y[test], p, sample_weight=weight) / log_loss(
        y[test], constant, sample_weight=weight
    )


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--shares", nargs="*", type=float, default=SHARES)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS)[:-1])
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    X, y = load_adult(return_X_y=True)
    y = np.asarray(y)
    for share in options.shares:
        for name in options.models:
            ratios = [
                find_ratio(MODELS[name](seed).set_params(n_jobs=options.threads), X, y, share, seed)
                for seed in range(options.draws)
            ]
            print(
                f"{share:.1%}: {name:<10} {describe(ratios, 3)}, {options.draws} draws", flush=True
            )


if __name__ == "__main__":
    main()
