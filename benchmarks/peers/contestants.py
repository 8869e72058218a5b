"""The contestants of the panel: searches of properboost, and peers, tuned or not.

A contestant gets a task, the rows to learn from with a seed, and returns a fitted model.  It makes
all choices on those rows.
"""

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import loguniform, randint, uniform
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import ParameterSampler, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
    TargetEncoder,
)

from benchmarks.lib.sets import Split

MOST_ROUNDS, PATIENCE = 1000, 30
FIVE_FOLDS, WHOLE_GRID = 20_000, 100_000  # rows x classes, at most
SETTINGS, SEEDS = 30, 8  # of a random search, and of the mean of its refits
MOST_CATEGORIES, SMOOTH = 254, 10.0  # without an encoder, and the rows that it adds to each


class Task(NamedTuple):
    """The input of a contestant."""

    split: Split
    seed: int
    threads: int
    seconds: float = np.inf
    """Processor time after which a random search tries no further setting."""


Predict = Callable[[pd.DataFrame], Any]
"""A function that returns the probabilities of rows."""


@dataclass
class Fitted:
    """A model that was tuned and fitted to all training rows."""

    predict: Predict
    chosen: dict[str, Any]
    """The settings that won."""
    loss: float | None
    """Their cross-validated log loss."""
    find_others: Callable[[], Mapping[str, Predict]] = field(default=dict)
    """A function that returns further models of the same search, by name."""


Contestant = Callable[[Task], Fitted]


def cells(split: Split) -> int:
    """Return rows x classes."""
    return len(split.y) * (int(split.y.max()) + 1)


def make_folds(split: Split, seed: int) -> StratifiedKFold:
    """Return the folds for the choice of settings."""
    return StratifiedKFold(5 if cells(split) <= FIVE_FOLDS else 3, shuffle=True, random_state=seed)


def narrow(split: Split, grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the grid, or its first values."""
    return {name: v if cells(split) <= WHOLE_GRID else v[:1] for name, v in grid.items()}


# -- tuned by a grid ------------------------------------------------------------------------------


def search(
    weak_learner: str, grid: dict[str, list[Any]], max_estimators: int, **settings: Any
) -> Contestant:
    """Return a search of properboost: the grid is narrowed, and other settings are not."""

    def fit(task: Task) -> Fitted:
        from properboost import ProperBoostClassifier, ProperBoostClassifierCV

        split = task.split
        lists = narrow(split, grid)
        if split.y.max() == 1:
            lists.pop("multiclass", None)
        space = lists | settings
        model = ProperBoostClassifierCV(
            {"weak_learner": weak_learner, **space},
            rows_per_bin=5,
            max_estimators=max_estimators,
            cv=make_folds(split, task.seed),
            random_state=task.seed,
            n_jobs=task.threads,
            effort=None,
        ).fit(split.X, split.y)
        named = {name for name, values in space.items() if isinstance(values, list)}
        named |= {"gain", "multiclass", "calibration__temperature", "n_estimators"}
        params = ProperBoostClassifier(**model.best_params_).get_params()
        chosen = {name: value for name, value in params.items() if name in named}
        return Fitted(lambda X: np.exp(model.predict_log_proba(X)), chosen, -model.best_score_)

    return fit


def couple(joint: Contestant, apart: Contestant) -> Contestant:
    """Return the better by cross-validation: a joint model, or each class against the rest.

    With two classes, and on narrowed grids, it is the joint model.
    """

    def fit(task: Task) -> Fitted:
        has_both = task.split.y.max() > 1 and cells(task.split) <= WHOLE_GRID
        ways = [joint, apart] if has_both else [joint]
        return min((way(task) for way in ways), key=lambda fitted: fitted.loss)

    return fit


class Library(NamedTuple):
    """A library with optional early stopping."""

    make: Callable[..., Any]
    """A function that makes a model for a table, with a number of rounds."""
    fit_early: Callable[[Any, pd.DataFrame, Any, Any], int]
    """A function that fits it until held-out rows get no better, and returns its rounds."""


def tune(library: Library, grid: dict[str, list[Any]], most: int = MOST_ROUNDS) -> Contestant:
    """Return a library whose settings are chosen by cross-validation with early stopping."""

    def fit(task: Task) -> Fitted:
        lists = narrow(task.split, grid)
        folds = make_folds(task.split, task.seed)
        candidates = [
            try_setting(library, dict(zip(lists, values, strict=True)), task, folds, most)
            for values in itertools.product(*lists.values())
        ]
        best = min(candidates, key=lambda candidate: candidate.loss)
        model = refit(library, best, task, task.seed)
        return Fitted(model.predict_proba, best.setting | {"rounds": best.rounds}, best.loss)

    return fit


class TriedSetting(NamedTuple):
    """A setting, its mean log loss over folds, and their models."""

    loss: float
    setting: dict[str, Any]
    rounds: int
    models: list[Any]


def try_setting(
    library: Library, setting: dict[str, Any], task: Task, folds: StratifiedKFold, most: int
) -> TriedSetting:
    """Fit a setting to each fold's training rows until its held-out rows get no better."""
    X, y = task.split.X, task.split.y
    losses, rounds, models = [], [], []
    for a, b in folds.split(X, y):
        model = library.make(most, True, X, task.seed, task.threads, **setting)
        held_out = (X.iloc[b], y[b])
        rounds.append(library.fit_early(model, X.iloc[a], y[a], held_out))
        losses.append(log_loss(held_out[1], model.predict_proba(held_out[0])))
        models.append(model)
    return TriedSetting(float(np.mean(losses)), setting, int(np.mean(rounds)), models)


def refit(library: Library, tried: TriedSetting, task: Task, seed: int) -> Any:
    """Fit a setting to all rows."""
    X, y = task.split.X, task.split.y
    model = library.make(tried.rounds, False, X, seed, task.threads, **tried.setting)
    return model.fit(X, y)


def average(models: list[Any]) -> Predict:
    """Return a function that returns the mean of models' probabilities."""
    return lambda X: np.mean([model.predict_proba(X) for model in models], axis=0)


def tune_randomly(library: Library, space: dict[str, Any]) -> Contestant:
    """Return a library tuned by a random search with five folds, within the task's time."""

    def fit(task: Task) -> Fitted:
        folds = StratifiedKFold(5, shuffle=True, random_state=task.seed)
        begin = time.process_time()
        best: TriedSetting | None = None
        n = 0
        for setting in ParameterSampler(space, SETTINGS, random_state=task.seed):
            tried = try_setting(library, setting, task, folds, MOST_ROUNDS)
            best = tried if best is None or tried.loss < best.loss else best
            n += 1
            if time.process_time() - begin > task.seconds:
                break
        assert best is not None
        won = best
        model = refit(library, won, task, task.seed)

        def find_others() -> dict[str, Predict]:
            more = [refit(library, won, task, task.seed + k) for k in range(1, SEEDS)]
            return {"mean of folds": average(won.models), "mean of seeds": average([model, *more])}

        chosen = {k: f"{v:.3g}" if isinstance(v, float) else v for k, v in won.setting.items()}
        chosen |= {"rounds": won.rounds, "settings": n}
        return Fitted(model.predict_proba, chosen, won.loss, find_others)

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


def make_sklearn(
    rounds: int, _early: bool, _X: pd.DataFrame, seed: int, _n_jobs: int, **setting: Any
) -> Any:
    """Make scikit-learn's model; the caller limits its threads."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=rounds, early_stopping=_early, n_iter_no_change=PATIENCE, random_state=seed,
        categorical_features="from_dtype", **setting,
    )  # fmt: skip


def fit_sklearn(model: Any, X: pd.DataFrame, y: Any, held_out: Any) -> int:
    """Fit it until the held-out rows get no better."""
    model.fit(X, y, X_val=held_out[0], y_val=held_out[1])
    return max(1, int(model.n_iter_) - PATIENCE)


LIGHTGBM = Library(make_lightgbm, fit_lightgbm)
XGBOOST = Library(make_xgboost, fit_xgboost)
CATBOOST = Library(make_catboost, fit_catboost)
SKLEARN = Library(make_sklearn, fit_sklearn)

LEARNING_RATES = loguniform(0.03, 0.2)
LIGHTGBM_SPACE: dict[str, Any] = {
    "learning_rate": LEARNING_RATES,
    "num_leaves": randint(4, 65),
    "min_child_samples": randint(2, 61),
    "feature_fraction_bynode": uniform(0.2, 0.8),
    "subsample": uniform(0.5, 0.5),
    "reg_lambda": loguniform(1e-3, 10.0),
}
XGBOOST_SPACE: dict[str, Any] = {
    "learning_rate": LEARNING_RATES,
    "max_depth": randint(2, 9),
    "min_child_weight": loguniform(0.01, 20.0),
    "colsample_bynode": uniform(0.2, 0.8),
    "subsample": uniform(0.5, 0.5),
    "reg_lambda": loguniform(1e-3, 10.0),
}
CATBOOST_SPACE: dict[str, Any] = {
    "learning_rate": LEARNING_RATES,
    "depth": randint(3, 9),
    "l2_leaf_reg": loguniform(0.5, 20.0),
    "random_strength": loguniform(0.1, 10.0),
    "rsm": uniform(0.3, 0.7),
}
SKLEARN_SPACE: dict[str, Any] = {
    "learning_rate": LEARNING_RATES,
    "max_leaf_nodes": randint(4, 65),
    "min_samples_leaf": randint(2, 61),
    "max_features": uniform(0.2, 0.8),
    "l2_regularization": loguniform(1e-3, 10.0),
}


# -- not tuned ------------------------------------------------------------------------------------


def at_defaults(make: Callable[[Task], Any]) -> Contestant:
    """Return a model without tuning."""

    def fit(task: Task) -> Fitted:
        model = make(task)
        model.fit(task.split.X, task.split.y)
        return Fitted(model.predict_proba, {}, None)

    return fit


def default_catboost(task: Task) -> Any:
    """Make CatBoost's model."""
    return make_catboost(None, False, task.split.X, task.seed, task.threads)


def default_lightgbm(task: Task) -> Any:
    """Make LightGBM's model, of 100 rounds."""
    return make_lightgbm(100, False, task.split.X, task.seed, task.threads)


def default_model(task: Task) -> Any:
    """Make properboost's model."""
    from properboost import ProperBoostClassifier

    return ProperBoostClassifier(random_state=task.seed, n_jobs=task.threads)


def default_trees(task: Task) -> Any:
    """Make properboost's search with trees alone."""
    from properboost import ProperBoostClassifierCV

    return ProperBoostClassifierCV(
        {"weak_learner": "tree"}, effort=None, random_state=task.seed, n_jobs=task.threads
    )


def count_terms(model: Any) -> int | None:
    """Return the most terms that a class needs for 95% of their variance; None if unreadable."""
    terms = model.ensemble_.terms
    if terms is None:
        return None
    counts = []
    for m in range(terms.n_models):
        variances = np.square([terms.deviation_of(m, k) for k in range(len(terms.features))])
        shares = np.cumsum(np.sort(variances)[::-1]) / max(variances.sum(), 1e-300)
        counts.append(int(np.sum(shares < 0.95)) + 1)
    return max(counts)


def compare_families(**settings: Any) -> Contestant:
    """Return properboost's search, which compares families; the others are each family's best."""

    def fit(task: Task) -> Fitted:
        from properboost import ProperBoostClassifierCV

        seed_and_threads = {"random_state": task.seed, "n_jobs": task.threads}
        search = ProperBoostClassifierCV(**settings, **seed_and_threads).fit(
            task.split.X, task.split.y
        )

        def find_others() -> dict[str, Predict]:
            from properboost import ProperBoostClassifier

            families, results = search.family_results_, search.cv_results_
            others = {}
            for name, k in zip(families["family"], families["best_index"], strict=True):
                if k < 0:  # pairs: the results have only the winner's
                    continue
                params = results["params"][k] | {"n_estimators": int(results["n_estimators"][k])}
                model = ProperBoostClassifier(**seed_and_threads, **params)
                others[str(name)] = model.fit(task.split.X, task.split.y).predict_proba
            return others

        chosen = {"family": search.family_, "rounds": search.n_estimators_}
        chosen |= {"terms": count_terms(search)}
        return Fitted(search.predict_proba, chosen, -search.best_score_, find_others)

    return fit


def encode_identifiers(contestant: Contestant) -> Contestant:
    """Return a contestant that gets the mean label of a category in columns of many values.

    The means of training rows are out of fold, as scikit-learn's are.
    """

    def fit(task: Task) -> Fitted:
        X, y = task.split.X, task.split.y
        many = [name for name in X if is_category(X[name]) and X[name].nunique() > MOST_CATEGORIES]
        folds = StratifiedKFold(5, shuffle=True, random_state=task.seed)
        encoder = make_column_transformer(
            (TargetEncoder(smooth=SMOOTH, cv=folds), many),
            remainder="passthrough",
            verbose_feature_names_out=False,
        ).set_output(transform="pandas")
        encoded = task.split._replace(X=encoder.fit_transform(X, y))
        fitted = contestant(task._replace(split=encoded))
        return Fitted(lambda X: fitted.predict(encoder.transform(X)), fitted.chosen, fitted.loss)

    return fit


def chimeraboost(quality: int) -> Callable[[Task], Any]:
    """Return a function that makes ChimeraBoost's model; it chooses some settings itself."""

    def make(task: Task) -> Any:
        from chimeraboost import ChimeraBoostClassifier

        X = task.split.X
        model = ChimeraBoostClassifier(
            quality=quality, random_state=task.seed, thread_count=task.threads, ensemble_n_jobs=1,
            cat_features=[j for j, name in enumerate(X) if is_category(X[name])],
        )  # fmt: skip
        return make_pipeline(FunctionTransformer(as_texts), model)

    return make


def make_perpetual(task: Task) -> Any:
    """Make Perpetual's model; its budget is the only choice."""
    from perpetual import PerpetualClassifier

    return PerpetualClassifier(num_threads=task.threads, seed=task.seed)


def make_ebm(**settings: Any) -> Callable[[Task], Any]:
    """Return a function that makes InterpretML's additive model."""

    def make(task: Task) -> Any:
        from interpret.glassbox import ExplainableBoostingClassifier

        model = ExplainableBoostingClassifier(
            random_state=task.seed, n_jobs=task.threads, **settings
        )
        return make_pipeline(FunctionTransformer(as_texts), model)

    return make


def make_t_boost(task: Task) -> Any:
    """Make t-boost's model of tables of up to three features, without a choice of settings."""
    from t_boost import TBoostClassifier

    X = task.split.X
    categories = [j for j, name in enumerate(X) if is_category(X[name])]
    model = TBoostClassifier(
        seed=task.seed, n_jobs=task.threads, categorical_features=categories or None
    )
    return make_pipeline(FunctionTransformer(as_texts), model)


def make_columns(X: pd.DataFrame) -> Any:
    """Make a transformer to numbers: categories to indicators, missing values to medians."""
    texts = [name for name in X if is_category(X[name])]
    numbers = [name for name in X if name not in texts]
    known = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    return ColumnTransformer(
        [("numbers", known, numbers), ("texts", OneHotEncoder(handle_unknown="ignore"), texts)]
    )


def make_logistic_regression(task: Task) -> Any:
    """Make a logistic regression whose penalty is chosen by cross-validation."""
    model = LogisticRegressionCV(
        Cs=10, cv=5, scoring="neg_log_loss", max_iter=2000, n_jobs=task.threads,
        l1_ratios=(0.0,), use_legacy_attributes=False,
    )  # fmt: skip
    return make_pipeline(make_columns(task.split.X), model)


def make_random_forest(task: Task) -> Any:
    """Make a random forest with several rows a leaf: their shares are probabilities."""
    model = RandomForestClassifier(
        500, min_samples_leaf=3, n_jobs=task.threads, random_state=task.seed
    )
    return make_pipeline(make_columns(task.split.X), model)


# -- all of them ----------------------------------------------------------------------------------

# Very large tables get the first value of each list.
NEWTON: dict[str, Any] = {
    "max_estimators": MOST_ROUNDS,
    "response": "newton",
    "l2": 0.1,
    "gain": [1.0],
    "learning_rate": 0.1,
}
TABLES: dict[str, Any] = {
    "max_estimators": 150,
    "gain": [1, 2, 4, 8, 16],
    "weak_learner__smoothing": [0.0, 4.0, 64.0, 512.0],
    "weak_learner__max_cells": [None, 10],
}
SMALL: dict[str, list[Any]] = {
    "multiclass": ["softmax", "one_vs_rest"],
    "weak_learner__max_features": [0.3, 0.8],
    "weak_learner__min_child_weight": [0.01, 1.0],
}
LEAVES: dict[str, list[Any]] = SMALL | {"weak_learner__max_leaf_nodes": [24, 8]}
LEVELS: dict[str, list[Any]] = SMALL | {
    "weak_learner__grow_policy": ["symmetric"],
    "weak_learner__max_depth": [6, 4],
}
LINES: dict[str, Any] = NEWTON | {"weak_learner__linear_leaves": True}
LIGHTGBM_SMALL: dict[str, list[Any]] = {
    "subsample": [0.7],
    "feature_fraction_bynode": [0.3, 0.8],
    "min_child_samples": [20, 5],
}
LIGHTGBM_LEAVES: dict[str, list[Any]] = LIGHTGBM_SMALL | {"num_leaves": [24, 8]}

STRATEGIES = ["multi_output_tree", "one_output_per_tree"]
FORMS = ("trees", "trees, lines", "levels", "levels, lines")
CONTESTANTS: dict[str, Contestant] = {
    "tables": search("table", {}, multiclass="softmax", **TABLES),
    "tables, canonical": search("table", {}, multiclass="canonical", **TABLES),
    "tables, one-vs-rest": search("table", {}, multiclass="one_vs_rest", **TABLES),
    "stumps": search(
        "tree",
        SMALL,
        weak_learner__max_leaf_nodes=2,
        weak_learner__multi_strategy=STRATEGIES,
        **NEWTON,
    ),
    "LightGBM, stumps": tune(LIGHTGBM, LIGHTGBM_SMALL | {"num_leaves": [2]}),
    "trees": search("tree", LEAVES, **NEWTON),
    "trees, lines": search("tree", LEAVES, **LINES),
    "levels": search("tree", LEVELS, **NEWTON),
    "levels, lines": search("tree", LEVELS, **LINES),
    "trees, one per class": couple(
        search(
            "tree",
            LEAVES,
            multiclass="softmax",
            weak_learner__multi_strategy="one_output_per_tree",
            **NEWTON,
        ),
        search("tree", LEAVES, multiclass="one_vs_rest", **NEWTON),
    ),
    "trees, softmax": search("tree", LEAVES, multiclass="softmax", **NEWTON),
    "trees, canonical": search("tree", LEAVES, multiclass="canonical", **NEWTON),
    "trees, one-vs-rest": search("tree", LEAVES, multiclass="one_vs_rest", **NEWTON),
    "untuned": at_defaults(default_model),
    "trees, untuned": at_defaults(default_trees),
    **{f"search, effort {effort}": compare_families(effort=effort) for effort in range(1, 6)},
    **{
        f"search, encoded, effort {effort}": encode_identifiers(compare_families(effort=effort))
        for effort in (2, 3)
    },
    "search, readable": compare_families(readable=True),
    "search, readable, effort 2": compare_families(readable=True, effort=2),
    **{
        f"search, no limit, effort {effort}": compare_families(
            effort=effort, space={"weak_learner__interaction_cst": None}
        )
        for effort in (2, 3)
    },
    "search, readable, no pairs": compare_families(readable=True, space={"interactions": 0}),
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
    "LightGBM, untuned": at_defaults(default_lightgbm),
    "LightGBM, random": tune_randomly(LIGHTGBM, LIGHTGBM_SPACE),
    "XGBoost, random": tune_randomly(XGBOOST, XGBOOST_SPACE),
    "CatBoost, random": tune_randomly(CATBOOST, CATBOOST_SPACE),
    "HGB, random": tune_randomly(SKLEARN, SKLEARN_SPACE),
    "Perpetual": at_defaults(make_perpetual),
    "EBM": at_defaults(make_ebm()),
    "EBM, no pairs": at_defaults(make_ebm(interactions=0)),
    "t-boost": at_defaults(make_t_boost),
    "logistic regression": at_defaults(make_logistic_regression),
    "random forest": at_defaults(make_random_forest),
    "ChimeraBoost, quality 3": at_defaults(chimeraboost(3)),
    "ChimeraBoost, quality 5": at_defaults(chimeraboost(5)),
}
