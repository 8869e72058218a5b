"""Log loss at the defaults, compared with LightGBM's and logistic regression's.

    python -m benchmarks.peers.defaults                         # held-out rows, minutes
    python -m benchmarks.peers.defaults --half development --folds 5    # training rows alone

With `--folds` the models are cross-validated on the training rows: defaults are chosen this way.
Without, the held-out rows are scored.  The two halves of the sets are reported apart
(benchmarks/lib/sets.py); the problems on letters count as one set.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import gmean
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from benchmarks.lib.learners import LEARNERS, plain
from benchmarks.lib.outside import OUTSIDE
from benchmarks.lib.race import progress
from benchmarks.lib.sets import CONFIRMATION, DEVELOPMENT, LETTERS, SETS, divide
from properboost import Tree

HALVES = {"development": DEVELOPMENT, "confirmation": CONFIRMATION}
PARTS = HALVES | {"outside": OUTSIDE}


def search(seed: int) -> Any:
    """Return a `ProperBoostClassifierCV`."""
    from properboost import ProperBoostClassifierCV

    return ProperBoostClassifierCV(random_state=seed)


def lightgbm(seed: int) -> Any:
    """Return LightGBM, on numbered columns: it rejects some names."""
    from lightgbm import LGBMClassifier

    numbered = FunctionTransformer(
        lambda X: X.set_axis([f"x{j}" for j in range(X.shape[1])], axis=1)
    )
    return make_pipeline(numbered, LGBMClassifier(random_state=seed, verbose=-1))


def logistic_regression(_seed: int) -> Any:
    """Return a logistic regression on standardised columns and indicators of categories."""
    categories = make_column_selector(dtype_include="category")
    numbers = make_column_selector(dtype_exclude="category")
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), categories),
    )
    return make_pipeline(columns, LogisticRegression())


CONTESTANTS: dict[str, Callable[[int], Any]] = {
    **{name: LEARNERS[name] for name in ("tables", "stumps", "trees")},
    "tables, bags": plain(weak_learner="table", outer_bags=16),
    "stumps, bags": plain(weak_learner="stump", outer_bags=16),
    "trees, bags": plain(weak_learner="tree", outer_bags=16),
    "trees, draws": plain(weak_learner=Tree(n_draws=8)),
    "search": search,
    "LightGBM": lightgbm,
    "logistic": logistic_regression,
}


def score(make: Callable[[int], Any], name: str, seed: int, folds: int) -> float:
    """Return the log loss."""
    losses = []
    for split in divide(name, seed, folds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "Found unknown categories")
            model = make(seed).fit(split.X, split.y)
            p = model.predict_proba(split.X_test)
        losses.append(log_loss(split.y_test, p, labels=model.classes_))
    return float(np.mean(losses))


def score_all(
    names: Sequence[str], contestants: Sequence[str], seeds: int, folds: int
) -> pd.DataFrame:
    """Return the log losses, a row per set; published splits have several seeds as well."""
    table = pd.DataFrame(index=list(names), columns=list(contestants), dtype=float)
    for name in names:
        for contestant in contestants:
            begin = time.perf_counter()
            progress(f"{name}: {contestant}")
            make = CONTESTANTS[contestant]
            losses = [score(make, name, seed, folds) for seed in range(seeds)]
            table.loc[name, contestant] = np.mean(losses)
            table.loc[name, f"{contestant} +-"] = np.std(losses)
            table.loc[name, f"{contestant} s"] = (time.perf_counter() - begin) / seeds
    progress("")
    return table


def count_letters_once(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return ratios with a single row for all problems on letters."""
    unit = ["LETTER" if name in LETTERS else name for name in ratios.index]
    return ratios.groupby(unit).agg(gmean)


def report(table: pd.DataFrame, contestants: Sequence[str]) -> None:
    """Print the log losses, then geometric means of ratios between contestants."""
    for name, row in table.iterrows():
        figures = "".join(f"{row[c]:>9.4f} +-{row[f'{c} +-']:.4f}" for c in contestants)
        print(f"{name:24s}{figures}")
    for peer in (c for c in ("LightGBM", "logistic") if c in contestants):
        ratios = count_letters_once(table[list(contestants)].div(table[peer], axis=0))
        figures = "".join(f"{gmean(ratios[c]):>17.3f}" for c in contestants)
        print(f"{f'over {peer}, {len(ratios)} sets':24s}{figures}")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=PARTS, nargs="+", default=list(HALVES))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--folds", type=int, default=0)
    options = parser.parse_args()
    for half in options.half:
        names = [name for name in PARTS[half] if name in options.sets]
        if names:
            table = score_all(names, options.contestants, options.seeds, options.folds)
            print(f"\n{half:24s}" + "".join(f"{c:>17}" for c in options.contestants))
            report(table, options.contestants)


if __name__ == "__main__":
    main()
