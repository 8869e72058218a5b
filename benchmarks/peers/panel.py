"""The panel: log loss and error beside the peers, each tuned by its own cross-validation.

    python -m benchmarks.peers.panel                              # everything, many hours
    python -m benchmarks.peers.panel --sets vowel segment --contestants tables LightGBM
    python -m benchmarks.peers.panel --report                     # what has been found so far

Every contestant chooses from a grid of the same kind and size by cross-validation on the training
rows, the number of rounds by early stopping there, and is then fitted to all of them with each
seed.  Small tables have five folds and others three; very large ones are given the first values of
the grid.

The held-out rows are scored once for each seed, at the end.  Every result is appended to a file,
and what is in it already is not done again: a run can be stopped and resumed, and several runs can
share a file.  `trees, chosen` is the one of the four forms of trees whose cross-validated loss was
the least, for each seed.
"""

import argparse
import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import gmean
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from benchmarks.lib import sets
from benchmarks.lib.sets import Split

MOST_ROUNDS, PATIENCE = 1000, 30
FIVE_FOLDS, WHOLE_GRID = 20_000, 100_000  # rows x classes, at most

TWO_CLASSES = (
    "spambase", "cells", "wa_churn", "credit_data", "magic", "LETTER.p2", "LETTER.p1",
    "nycflights", "ADULT",
)  # fmt: skip
SEVERAL_CLASSES = ("vowel", "segment", "digits", "hpc_data", "satimage", "pendigits", "letter")


def cells(split: Split) -> int:
    """Return rows x classes."""
    return len(split.y) * (int(split.y.max()) + 1)


def make_folds(split: Split, seed: int) -> StratifiedKFold:
    """Return the folds that settings are chosen by."""
    return StratifiedKFold(5 if cells(split) <= FIVE_FOLDS else 3, shuffle=True, random_state=seed)


def narrow(split: Split, grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the grid, or its first values."""
    return {name: v if cells(split) <= WHOLE_GRID else v[:1] for name, v in grid.items()}


def number_columns(split: Split) -> Split:
    """Return a split whose columns have names that every library takes."""
    names = [f"x{j}" for j in range(split.X.shape[1])]
    return split._replace(
        X=split.X.set_axis(names, axis=1), X_test=split.X_test.set_axis(names, axis=1)
    )


# -- contestants ----------------------------------------------------------------------------------


class Fitted(NamedTuple):
    """A model that was tuned and fitted to all training rows."""

    predict: Callable[[pd.DataFrame], Any]
    """Probabilities of rows."""
    chosen: dict[str, Any]
    """The settings that won."""
    loss: float | None
    """Their cross-validated log loss."""


Contestant = Callable[[Split, int, int], Fitted]
"""Fits a model that is tuned on the rows of a split, with a seed, on so many threads."""


def search(weak_learner: str, grid: dict[str, list[Any]], **settings: Any) -> Contestant:
    """Return a search of properboost's."""

    def fit(split: Split, seed: int, n_jobs: int) -> Fitted:
        from properboost import ProperBoostClassifierCV

        lists = narrow(split, grid)
        if split.y.max() == 1:
            lists.pop("multiclass", None)
        model = ProperBoostClassifierCV(
            weak_learner=weak_learner,
            cv=make_folds(split, seed),
            random_state=seed,
            n_jobs=n_jobs,
            **(lists | settings),
            effort=None,
        ).fit(split.X, split.y)
        told = {*lists, "gain", "smoothing", "multiclass", "temperature"}
        chosen = {k: v for k, v in model.best_params_.items() if k in told}
        chosen["n_estimators"] = model.n_estimators_
        return Fitted(lambda X: np.exp(model.predict_log_proba(X)), chosen, -model.best_score_)

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
        lists = narrow(split, grid)
        folds = make_folds(split, seed)
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
        loss, best, n = min(found, key=lambda entry: entry[0])
        model = library.make(n, False, split.X, seed, n_jobs, **best)
        model.fit(split.X, split.y)
        return Fitted(model.predict_proba, best | {"rounds": n}, loss)

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


def is_category(column: pd.Series) -> bool:
    """Whether a column is categorical."""
    return isinstance(column.dtype, pd.CategoricalDtype)


def as_texts(X: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose categories are texts, also where they are missing."""
    texts = [name for name in X if is_category(X[name])]
    return X.assign(
        **{name: X[name].astype(object).fillna("missing").astype(str) for name in texts}
    )


def make_catboost(
    rounds: int | None, early: bool, X: pd.DataFrame, seed: int, n_jobs: int, **setting: Any
) -> Any:
    """Make CatBoost's model."""
    from catboost import CatBoostClassifier

    stops = {"early_stopping_rounds": PATIENCE} if early else {}
    return make_pipeline(
        FunctionTransformer(as_texts),
        CatBoostClassifier(
            n_estimators=rounds, verbose=False, thread_count=n_jobs, random_seed=seed,
            allow_writing_files=False, cat_features=[name for name in X if is_category(X[name])],
            **stops, **setting,
        ),
    )  # fmt: skip


def fit_catboost(model: Any, X: pd.DataFrame, y: Any, held_out: Any) -> int:
    """Fit it until the held-out rows get no better."""
    model[-1].fit(as_texts(X), y, eval_set=(as_texts(held_out[0]), held_out[1]))
    return int(model[-1].get_best_iteration() or 0) + 1


LIGHTGBM = Library(make_lightgbm, fit_lightgbm)
XGBOOST = Library(make_xgboost, fit_xgboost)
CATBOOST = Library(make_catboost, fit_catboost)


def at_defaults(make: Callable[[pd.DataFrame, int, int], Any]) -> Contestant:
    """Return a model that nobody tunes, made for a table with a seed and threads."""

    def fit(split: Split, seed: int, n_jobs: int) -> Fitted:
        model = make(split.X, seed, n_jobs)
        model.fit(split.X, split.y)
        return Fitted(model.predict_proba, {}, None)

    return fit


def default_catboost(X: pd.DataFrame, seed: int, n_jobs: int) -> Any:
    """Make CatBoost's model."""
    return make_catboost(None, False, X, seed, n_jobs)


def default_search(effort: int) -> Callable[[pd.DataFrame, int, int], Any]:
    """Return what makes properboost's search, which compares families."""

    def make(_X: pd.DataFrame, seed: int, n_jobs: int) -> Any:
        from properboost import ProperBoostClassifierCV

        return ProperBoostClassifierCV(effort=effort, random_state=seed, n_jobs=n_jobs)

    return make


def default_trees(_X: pd.DataFrame, seed: int, n_jobs: int) -> Any:
    """Make properboost's search with trees, of this version or one without families."""
    from properboost import ProperBoostClassifierCV

    model = ProperBoostClassifierCV(weak_learner="tree", random_state=seed, n_jobs=n_jobs)
    return model.set_params(effort=None) if "effort" in model.get_params() else model


def chimeraboost(quality: int) -> Callable[[pd.DataFrame, int, int], Any]:
    """Return what makes ChimeraBoost's model, which chooses some of its settings by itself."""

    def make(X: pd.DataFrame, seed: int, n_jobs: int) -> Any:
        from chimeraboost import ChimeraBoostClassifier

        model = ChimeraBoostClassifier(
            quality=quality, random_state=seed, thread_count=n_jobs, ensemble_n_jobs=1,
            cat_features=[j for j, name in enumerate(X) if is_category(X[name])],
        )  # fmt: skip
        return make_pipeline(FunctionTransformer(as_texts), model)

    return make


# The first value of each list is what very large tables get.
NEWTON: dict[str, Any] = {
    "rows_per_bin": 5,
    "response": "newton",
    "l2": 0.1,
    "gains": [1.0],
    "learning_rate": 0.1,
    "max_estimators": MOST_ROUNDS,
}
TABLES: dict[str, Any] = {
    "rows_per_bin": 5,
    "gains": [1, 2, 4, 8, 16],
    "smoothings": [0.0, 4.0, 64.0, 512.0],
    "max_estimators": 150,
}
SMALL: dict[str, list[Any]] = {
    "multiclass": ["softmax", "one_vs_rest"],
    "max_features": [0.3, 0.8],
    "min_child_weight": [0.01, 1.0],
}
LEAVES: dict[str, list[Any]] = SMALL | {"max_leaf_nodes": [24, 8]}
LEVELS: dict[str, list[Any]] = SMALL | {"grow_policy": ["symmetric"], "max_depth": [6, 4]}
LIGHTGBM_SMALL: dict[str, list[Any]] = {
    "subsample": [0.7],
    "feature_fraction_bynode": [0.3, 0.8],
    "min_child_samples": [20, 5],
}
LIGHTGBM_LEAVES: dict[str, list[Any]] = LIGHTGBM_SMALL | {"num_leaves": [24, 8]}

FORMS = ("trees", "trees, lines", "levels", "levels, lines")
CONTESTANTS: dict[str, Contestant] = {
    "tables": search("histogram", {}, multiclass="softmax", **TABLES),
    "tables, canonical": search("histogram", {}, multiclass="canonical", **TABLES),
    "tables, one-vs-rest": search("histogram", {}, multiclass="one_vs_rest", **TABLES),
    "stumps": search("tree", SMALL, max_leaf_nodes=2, **NEWTON),
    "LightGBM, stumps": tune(LIGHTGBM, LIGHTGBM_SMALL | {"num_leaves": [2]}),
    "trees": search("tree", LEAVES, **NEWTON),
    "trees, lines": search("tree", LEAVES, linear_leaves=True, **NEWTON),
    "levels": search("tree", LEVELS, **NEWTON),
    "levels, lines": search("tree", LEVELS, linear_leaves=True, **NEWTON),
    "trees, one per class": search("tree", LEAVES, multi_strategy="one_output_per_tree", **NEWTON),
    "trees, softmax": search("tree", LEAVES, multiclass="softmax", **NEWTON),
    "trees, canonical": search("tree", LEAVES, multiclass="canonical", **NEWTON),
    "trees, one-vs-rest": search("tree", LEAVES, multiclass="one_vs_rest", **NEWTON),
    "trees, untuned": at_defaults(default_trees),
    **{f"search, effort {effort}": at_defaults(default_search(effort)) for effort in range(1, 6)},
    "LightGBM": tune(LIGHTGBM, LIGHTGBM_LEAVES),
    "LightGBM, lines": tune(LIGHTGBM, LIGHTGBM_LEAVES | {"linear_tree": [True]}),
    "XGBoost": tune(
        XGBOOST,
        {
            "subsample": [0.7],
            "colsample_bynode": [0.3, 0.8],
            "min_child_weight": [0.01, 1.0],
            "max_depth": [6, 3],
            "learning_rate": [0.1],
        },
    ),
    "CatBoost": tune(CATBOOST, {"depth": [6, 4], "rsm": [0.3, 0.8], "learning_rate": [0.1]}),
    "CatBoost, untuned": at_defaults(default_catboost),
    "ChimeraBoost, quality 3": at_defaults(chimeraboost(3)),
    "ChimeraBoost, quality 5": at_defaults(chimeraboost(5)),
}


# -- results --------------------------------------------------------------------------------------

KEY = ["set", "contestant", "seed"]


def read(path: Path) -> pd.DataFrame:
    """Return what has been found: a row for each set, contestant and seed."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = pd.DataFrame([json.loads(line) for line in lines], columns=RESULT)
    return found.drop_duplicates(KEY, keep="last")


RESULT = [*KEY, "loss", "error", "cv_loss", "seconds", "chosen"]


def measure(name: str, contestant: str, seed: int, threads: int) -> dict[str, Any]:
    """Tune, fit and score."""
    split = number_columns(sets.SETS[name](seed))
    begin = time.perf_counter()
    fitted = CONTESTANTS[contestant](split, seed, threads)
    seconds = time.perf_counter() - begin
    p = np.clip(fitted.predict(split.X_test), 1e-15, 1.0)
    p /= p.sum(axis=1, keepdims=True)
    loss = log_loss(split.y_test, p, labels=range(p.shape[1]))
    error = float(np.mean(p.argmax(axis=1) != split.y_test))
    told = {name: str(value) for name, value in fitted.chosen.items()}
    values = (name, contestant, seed, loss, error, fitted.loss, seconds, told)
    return dict(zip(RESULT, values, strict=True))


def choose_form(found: pd.DataFrame) -> pd.DataFrame:
    """Return the results of the form of trees that is best by cross-validation."""
    forms = found[found["contestant"].isin(FORMS)]
    best = [
        group.loc[group["cv_loss"].astype(float).idxmin()]
        for _, group in forms.groupby(["set", "seed"])
        if len(group) == len(FORMS)
    ]
    return pd.DataFrame(best, columns=found.columns).assign(contestant="trees, chosen")


def report(found: pd.DataFrame, names: tuple[str, ...]) -> None:
    """Print the mean log losses of some sets, and their ratios to LightGBM's in geometric mean."""
    found = found[found["set"].isin(names)]
    if found.empty:
        return
    found = pd.concat([found, choose_form(found)])
    cells = found.groupby(["contestant", "set"])
    losses = cells["loss"].mean().unstack()
    print("\nlog loss: mean, standard deviation over seeds, error in %, seconds")
    for (contestant, name), cell in cells:
        print(
            f"{name:12s} {contestant:24s} {cell['loss'].mean():.4f} +-{cell['loss'].std():.4f}  "
            f"{100 * cell['error'].mean():5.2f}%  {cell['seconds'].mean():6.0f} s  "
            f"{len(cell)} seeds"
        )
    print()
    print(losses.reindex(columns=[n for n in names if n in losses]).round(4).to_string())
    if "LightGBM" in losses.index:
        print("\nover LightGBM, geometric mean; ahead on")
        for contestant, ratios in losses.div(losses.loc["LightGBM"]).iterrows():
            ratios = ratios.dropna()
            print(f"{contestant:24s} {gmean(ratios):.3f}  {(ratios < 1).sum()} of {len(ratios)}")


def main() -> None:
    """Run it."""
    every = (*TWO_CLASSES, *SEVERAL_CLASSES)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=every, default=list(every))
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("out/panel.jsonl"))
    parser.add_argument("--report", action="store_true", help="say what has been found, and end")
    asked = parser.parse_args()
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    seeds = [] if asked.report else range(asked.seeds)
    for seed, name, contestant in itertools.product(seeds, asked.sets, asked.contestants):
        found = read(asked.results)
        if ((found[KEY] == [name, contestant, seed]).all(axis=1)).any():
            continue
        result = measure(name, contestant, seed, asked.threads)
        with asked.results.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(
            f"{name:12s} {contestant:24s} seed {seed}  log loss {result['loss']:.4f}  "
            f"error {100 * result['error']:.2f}%  {result['seconds']:.0f} s  {result['chosen']}",
            flush=True,
        )
    found = read(asked.results)
    found = found[found["set"].isin(asked.sets)]
    report(found, TWO_CLASSES)
    report(found, SEVERAL_CLASSES)


if __name__ == "__main__":
    main()
