"""The total variation of shape functions: a search's look-up tables and an EBM's, on ADULT.

    python -m benchmarks.peers.variation                   # some minutes

All are fitted to the training rows without pairs: the default search among readable models, and
InterpretML's ExplainableBoostingClassifier with one bag and with its default of 14.  The report has
the total variation of four numeric features, the sum of all steps up and down, in log-odds.  It is
measured between neighbours of all training values, so at every cut of any model.  The log loss is
that of the test rows.
"""

import argparse
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logit
from sklearn.metrics import log_loss

from benchmarks.lib.sets import SETS

FEATURES = ("age", "hours-per-week", "fnlwgt", "capital-gain")


def make_models(seed: int, threads: int) -> dict[str, Any]:
    """Return the contestants."""
    from interpret.glassbox import ExplainableBoostingClassifier

    from properboost import ProperBoostClassifierCV

    def ebm(**settings: Any) -> Any:
        return ExplainableBoostingClassifier(
            interactions=0, n_jobs=threads, random_state=seed, **settings
        )

    return {
        "search, readable": ProperBoostClassifierCV(
            {"interactions": 0}, readable=True, n_jobs=threads, random_state=seed
        ),
        "EBM, one bag": ebm(outer_bags=1),
        "EBM": ebm(),
    }


def find_variation(model: Any, X: pd.DataFrame, feature: str) -> float:
    """Return the total variation of an additive model's log-odds along a feature."""
    values = np.unique(X[feature])
    rows = X.iloc[np.zeros(len(values), int)].assign(**{feature: values})
    return float(np.abs(np.diff(logit(model.predict_proba(rows)[:, 1]))).sum())


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    split = SETS["ADULT"](0)
    print(f"{'':18s}{'log loss':>10s}" + "".join(f"{name:>16s}" for name in FEATURES))
    for name, model in make_models(options.seed, options.threads).items():
        model.fit(split.X, split.y)
        loss = log_loss(split.y_test, model.predict_proba(split.X_test))
        variations = "".join(f"{find_variation(model, split.X, f):16.1f}" for f in FEATURES)
        print(f"{name:18s}{loss:10.4f}{variations}", flush=True)


if __name__ == "__main__":
    main()
