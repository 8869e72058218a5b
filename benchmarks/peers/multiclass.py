"""Several classes: log loss and error beside the peers, each tuned by its own cross-validation.

    python -m benchmarks.peers.multiclass                        # all sets and libraries, hours
    python -m benchmarks.peers.multiclass --sets vowel segment --contestants tables LightGBM

Every contestant chooses from a grid of the same kind and size by cross-validation on the training
rows, the number of rounds by early stopping there, and is then fitted to all of them with each
seed.  Where there are more than 50,000 rows x classes, it chooses from the first values of the
grid, by three folds.

The held-out rows are scored once for each seed, at the end.
"""

import argparse
import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import gmean
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.lib import sets
from benchmarks.lib.sets import Split

MOST_ROUNDS, PATIENCE = 1000, 30
LARGE = 50_000  # rows x classes


SETS = ("vowel", "segment", "digits", "hpc_data", "satimage", "pendigits", "letter")


def is_large(split: Split) -> bool:
    """Whether less is tried."""
    return len(split.y) * (int(split.y.max()) + 1) > LARGE


# -- contestants ----------------------------------------------------------------------------------

Fitted = Callable[[pd.DataFrame], Any]
"""Probabilities of rows."""
Contestant = Callable[[Split, int, int], Fitted]
"""Fits a model that is tuned on the rows of a split, with a seed, on so many threads."""


def search(weak_learner: str, grid: dict[str, list[Any]], **settings: Any) -> Contestant:
    """Return a search of properboost's."""

    def fit(split: Split, seed: int, n_jobs: int) -> Fitted:
        from properboost import ProperBoostClassifierCV

        lists = {name: values[:1] if is_large(split) else values for name, values in grid.items()}
        model = ProperBoostClassifierCV(
            weak_learner=weak_learner,
            cv=StratifiedKFold(3 if is_large(split) else 5, shuffle=True, random_state=seed),
            random_state=seed,
            n_jobs=n_jobs,
            **(lists | settings),
        ).fit(split.X, split.y)
        told = {*lists, "gain", "smoothing", "multiclass", "temperature"}
        chosen = {k: v for k, v in model.best_params_.items() if k in told}
        print(f"    {chosen} n_estimators {model.n_estimators_}", flush=True)
        return lambda X: np.exp(model.predict_log_proba(X))

    return fit


class Library(NamedTuple):
    """A library that stops early where it is told to."""

    make: Callable[..., Any]
    """Makes a model of so many rounds for a table."""
    fit_early: Callable[[Any, pd.DataFrame, Any, Any], int]
    """Fits it until held-out rows get no better, and returns its rounds."""


def tune(library: Library, grid: dict[str, list[Any]], most: int = MOST_ROUNDS) -> Contestant:
    """Return a library whose settings are chosen by cross-validation with early stopping."""

    def fit(split: Split, seed: int, n_jobs: int) -> Fitted:
        lists = {name: values[:1] if is_large(split) else values for name, values in grid.items()}
        folds = StratifiedKFold(3 if is_large(split) else 5, shuffle=True, random_state=seed)
        found = []
        for values in itertools.product(*lists.values()):
            setting = dict(zip(lists, values, strict=True))
            losses, rounds = [], []
            for a, b in folds.split(split.X, split.y):
                model = library.make(most, True, split.X, seed, n_jobs, **setting)
                held_out = (split.X.iloc[b], split.y[b])
                rounds.append(library.fit_early(model, split.X.iloc[a], split.y[a], held_out))
                losses.append(log_loss(held_out[1], model.predict_proba(held_out[0])))
            found.append((float(np.mean(losses)), setting, int(np.mean(rounds))))
        _, best, n = min(found, key=lambda entry: entry[0])
        print(f"    {best} rounds {n}", flush=True)
        model = library.make(n, False, split.X, seed, n_jobs, **best)
        return model.fit(split.X, split.y).predict_proba

    return fit


def make_lightgbm(
    rounds: int, _early: bool, _X: pd.DataFrame, seed: int, n_jobs: int, **setting: Any
) -> Any:
    """Make LightGBM's model."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=rounds, verbose=-1, n_jobs=n_jobs, random_state=seed, subsample_freq=1,
        **setting,
    )  # fmt: skip


def fit_lightgbm(model: Any, X: pd.DataFrame, y: Any, held_out: Any) -> int:
    """Fit it until the held-out rows get no better."""
    from lightgbm import early_stopping

    stop = [early_stopping(PATIENCE, verbose=False)]
    model.fit(X, y, eval_X=held_out[0], eval_y=held_out[1], callbacks=stop)
    return int(model.best_iteration_)


def make_xgboost(
    rounds: int, early: bool, _X: pd.DataFrame, seed: int, n_jobs: int, **setting: Any
) -> Any:
    """Make XGBoost's model."""
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=rounds, n_jobs=n_jobs, random_state=seed, enable_categorical=True,
        tree_method="hist", early_stopping_rounds=PATIENCE if early else None, **setting,
    )  # fmt: skip


def fit_xgboost(model: Any, X: pd.DataFrame, y: Any, held_out: Any) -> int:
    """Fit it until the held-out rows get no better."""
    model.fit(X, y, eval_set=[held_out], verbose=False)
    return int(model.best_iteration) + 1


def make_catboost(
    rounds: int, early: bool, X: pd.DataFrame, seed: int, n_jobs: int, **setting: Any
) -> Any:
    """Make CatBoost's model."""
    from catboost import CatBoostClassifier

    categorical = [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]
    return CatBoostClassifier(
        n_estimators=rounds, verbose=False, thread_count=n_jobs, random_seed=seed,
        allow_writing_files=False, cat_features=categorical, loss_function="MultiClass",
        early_stopping_rounds=PATIENCE if early else None, **setting,
    )  # fmt: skip


def fit_catboost(model: Any, X: pd.DataFrame, y: Any, held_out: Any) -> int:
    """Fit it until the held-out rows get no better."""
    model.fit(X, y, eval_set=held_out)
    return int(model.get_best_iteration() or 0) + 1


LIGHTGBM = Library(make_lightgbm, fit_lightgbm)
XGBOOST = Library(make_xgboost, fit_xgboost)
CATBOOST = Library(make_catboost, fit_catboost)


def at_defaults(make: Callable[[int, int], Any]) -> Contestant:
    """Return a library at its defaults."""

    def fit(split: Split, seed: int, n_jobs: int) -> Fitted:
        model = make(seed, n_jobs)
        return model.fit(split.X, split.y).predict_proba

    return fit


def quiet_catboost(seed: int, n_jobs: int) -> Any:
    """Make CatBoost's model."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        verbose=False, thread_count=n_jobs, random_seed=seed, allow_writing_files=False
    )


def chimeraboost(seed: int, _n_jobs: int) -> Any:
    """Make ChimeraBoost's model."""
    from chimeraboost import ChimeraBoostClassifier

    return ChimeraBoostClassifier(random_state=seed)


# The first value of each list is what large tables get.
OURS: dict[str, Any] = {
    "rows_per_bin": 5,
    "response": "newton",
    "l2": 0.1,
    "step": "guarded",
    "gains": [1.0],
    "learning_rate": 0.1,
}
TABLES: dict[str, Any] = {"rows_per_bin": 5, "gains": [1, 2, 4, 8, 16], "max_estimators": 150}
WIDE = {"smoothings": [0.0, 4.0, 64.0, 512.0]}
TREES: dict[str, list[Any]] = {
    "multi_strategy": ["multi_output_tree", "one_output_per_tree"],
    "subsample": [0.5, 1.0],
    "max_features": [0.4, 0.2],
    "min_child_weight": [0.01, 0.001],
    "max_leaf_nodes": [24, 8],
}
CONTESTANTS: dict[str, Contestant] = {
    "tables": search("histogram", {}, multiclass="softmax", **TABLES, **WIDE),
    "tables, canonical": search("histogram", {}, multiclass="canonical", **TABLES, **WIDE),
    "tables, one-vs-rest": search("histogram", {}, multiclass="one_vs_rest", **TABLES, **WIDE),
    "stumps": search(
        "tree",
        {"max_features": [0.4, 1.0], "subsample": [0.5, 1.0]},
        multiclass="softmax", max_leaf_nodes=2, min_child_weight=0.01, max_estimators=1000, **OURS,
    ),
    "trees": search("tree", TREES, max_estimators=MOST_ROUNDS, **OURS),
    "trees, softmax": search(
        "tree", TREES, multiclass="softmax", max_estimators=MOST_ROUNDS, **OURS
    ),
    "trees, canonical": search(
        "tree", TREES, multiclass="canonical", max_estimators=MOST_ROUNDS, **OURS
    ),
    "trees, one-vs-rest": search(
        "tree", TREES, multiclass="one_vs_rest", max_estimators=MOST_ROUNDS, **OURS
    ),
    "LightGBM, stumps": tune(
        LIGHTGBM,
        {
            "num_leaves": [2],
            "colsample_bytree": [1.0],
            "feature_fraction_bynode": [0.4, 1.0],
            "subsample": [0.5, 1.0],
            "learning_rate": [0.1],
        },
        most=1000,
    ),
    "LightGBM": tune(
        LIGHTGBM,
        {
            "subsample": [0.5, 1.0],
            "feature_fraction_bynode": [0.4, 0.2],
            "min_child_samples": [20, 5],
            "num_leaves": [24, 8],
        },
    ),
    "XGBoost": tune(
        XGBOOST,
        {
            "subsample": [0.5, 1.0],
            "colsample_bynode": [0.4, 0.2],
            "min_child_weight": [0.01, 1.0],
            "max_depth": [6, 3],
            "learning_rate": [0.1],
        },
    ),
    "CatBoost": tune(CATBOOST, {"depth": [6, 4], "rsm": [0.4, 1.0], "learning_rate": [0.1]}),
    "CatBoost, defaults": at_defaults(quiet_catboost),
    "ChimeraBoost, defaults": at_defaults(chimeraboost),
}  # fmt: skip


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    table: dict[str, dict[str, float]] = {}
    for name, contestant in itertools.product(asked.sets, asked.contestants):
        losses, errors = [], []
        begin = time.perf_counter()
        for seed in range(asked.seeds):
            split = sets.SETS[name](seed)
            fitted = CONTESTANTS[contestant](split, seed, asked.threads)
            p = np.clip(fitted(split.X_test), 1e-15, 1.0)
            p /= p.sum(axis=1, keepdims=True)
            losses.append(log_loss(split.y_test, p))
            errors.append(float(np.mean(p.argmax(axis=1) != split.y_test)))
        table.setdefault(contestant, {})[name] = float(np.mean(losses))
        spread = f"{min(losses):.4f} to {max(losses):.4f}"
        print(
            f"{name:10s} {contestant:24s} log loss {np.mean(losses):.4f} ({spread})  "
            f"error {100 * np.mean(errors):.2f}%  {time.perf_counter() - begin:.0f} s",
            flush=True,
        )
    print("\ngeometric mean of the log losses")
    for contestant, found in table.items():
        print(f"{contestant:24s} {gmean(list(found.values())):.4f}")


if __name__ == "__main__":
    main()
