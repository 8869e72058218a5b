"""The libraries that are compared: the settings at which they do the same work, once for all.

All have the same number of rounds, bins, threads and leaves a tree.  Two leaves mean depth 1; for
more, CatBoost also has a way that grows whole levels.  All use every row and column, without early
stopping, a minimum leaf size or logging, and without regularisation where the library allows it.
A setting may have each tree grown from a share of the rows, drawn for it.
Each runs at its fastest setting that does this work; where that depends on the table, several
ways of the library take part.

A library is imported on first use: one that is missing is only left out.
"""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lib import engine
from benchmarks.lib.data import Problem, load
from benchmarks.lib.race import OURS, by_name


@dataclass(frozen=True)
class Setting:
    """A table and the settings that all libraries share."""

    data: str = "gaussian"
    rows: int | None = None  # of a synthetic table; of a real one the first, or all
    columns: int = 50
    bins: int = 255
    threads: int = 2
    rounds: int = 100
    leaves: int = 2
    learning_rate: float = 1.0
    levels: int | None = None  # of trees that split whole levels, where these are asked for
    sample: float = 1.0  # the share of the rows that each tree is grown from
    parameters: dict[str, Any] = field(default_factory=dict)  # of properboost alone

    def load(self, *, test: bool = False) -> Problem:
        """Return the training rows or those held out."""
        return load(self.data, self.rows, self.columns, test=test)


def _nothing(setting: Setting) -> AbstractContextManager[Any]:  # noqa: ARG001
    return nullcontext()


@dataclass(frozen=True)
class Way:
    """One way in which a library fits and scores a table.

    `bin` returns the library's format of binned rows, if binning can run alone.  `fit` gets these
    bins if it `takes_bins`, and otherwise the rows, which it bins itself.  `score` returns raw
    predictions.  `limit` is entered around everything, for a library without a parameter for
    threads.  `takes_part` returns whether the way fits a setting.
    """

    name: str
    fit: Callable[[Setting, Any], Any]
    score: Callable[[Setting, Any, Any], NDArray[Any]]
    bin: Callable[[Setting, Problem], Any] | None = None
    takes_bins: bool = True
    limit: Callable[[Setting], AbstractContextManager[Any]] = _nothing
    takes_part: Callable[[Setting], bool] = lambda _: True


# -- properboost -----------------------------------------------------------------------------------


def as_published(**parameters: Any) -> dict[str, Any]:
    """Return these parameters over those of the papers, whatever the defaults are."""
    published: dict[str, Any] = {"gain": 1.0, "selection": "greedy"}
    if parameters.get("weak_learner", "table") == "table":
        published |= {"weak_learner__max_cells": None, "weak_learner__smoothing": 0.0}
    return published | parameters


def make_properboost(setting: Setting, *, at_defaults: bool = False, **parameters: Any) -> Any:
    """Make an unfitted model; at the defaults only the setting is passed."""
    from properboost import ProperBoostClassifier

    model = ProperBoostClassifier(
        n_estimators=setting.rounds,
        max_bins=setting.bins,
        n_jobs=setting.threads,
        weak_learner="table",
    )
    if at_defaults:
        return model.set_params(**parameters)
    if parameters.get("response") == "newton":
        # Newton's values are steps already, and the peers' steps have no guard either.
        parameters = {"step": "unit", "learning_rate": setting.learning_rate, **parameters}
    parameters = as_published(**parameters)
    if parameters.get("weak_learner") == "tree":
        size: dict[str, Any] = {"weak_learner__max_leaf_nodes": setting.leaves}
        if parameters.get("weak_learner__grow_policy") == "symmetric":
            size = {"weak_learner__max_depth": setting.levels}
        parameters |= size | {
            "selection": "unbiased",
            "weak_learner__min_child_weight": 0.0,
            "weak_learner__max_features": 1.0,
            "weak_learner__subsample": setting.sample,
        }
    return model.set_params(**parameters)


def properboost_way(name: str, **parameters: Any) -> Way:
    """Return the way with these parameters; it bins as `fit` does before it boosts."""
    names_lines = "weak_learner__linear_leaves" in parameters

    def bin_rows(setting: Setting, problem: Problem) -> Any:
        return engine.prepare(make_properboost(setting, **parameters), *problem)

    def fit(setting: Setting, problem: Problem) -> Any:
        return make_properboost(setting, **parameters).fit(*problem)

    def score(setting: Setting, model: Any, X: Any) -> NDArray[Any]:  # noqa: ARG001
        return model.decision_function(X)

    def takes_part(setting: Setting) -> bool:
        if setting.sample < 1.0 and ("screening" in parameters or setting.leaves == 2):
            return False  # a screen is a sample already, and tables have all rows
        if setting.levels is not None:
            return names_lines
        grows = parameters.get("weak_learner") == "tree" and not names_lines
        return (setting.leaves > 2) == grows

    return Way(f"{OURS}: {name}", fit, score, bin_rows, takes_bins=False, takes_part=takes_part)


def properboost() -> Iterator[Way]:
    import properboost  # noqa: F401 - is it here?

    yield properboost_way("table, real", weak_learner="table", response="real")
    yield properboost_way("stump, real", weak_learner="stump", response="real")
    yield properboost_way("stump, newton", weak_learner="stump", response="newton")
    for name, parameters in {
        "table": {}, "stump, newton": {"weak_learner": "stump", "response": "newton"},
    }.items():  # fmt: skip
        yield properboost_way(f"{name}, defaults", at_defaults=True, **parameters)
        yield properboost_way(
            f"{name}, defaults, all rows", at_defaults=True, screening=None, **parameters
        )
    screens: dict[str, Any] = {"screening": 32_768, "selection": "unbiased"}
    yield properboost_way("table, real, screens", weak_learner="table", response="real", **screens)
    yield properboost_way(
        "stump, newton, screens", weak_learner="stump", response="newton", **screens
    )
    yield properboost_way("tree, real", weak_learner="tree", response="real")
    yield properboost_way("tree, newton", weak_learner="tree", response="newton")
    screens["screening"] = 131_072
    yield properboost_way(
        "tree, newton, screens", weak_learner="tree", response="newton", **screens
    )
    for name, grow_policy in {"leaves": "best_first", "levels": "symmetric"}.items():
        for lines, by_screen in itertools.product((False, True), (False, True)):
            yield properboost_way(
                name + (", lines" if lines else "") + (", screens" if by_screen else ""),
                weak_learner="tree", response="newton", weak_learner__grow_policy=grow_policy,
                weak_learner__linear_leaves=lines, **(screens if by_screen else {}),
            )  # fmt: skip


# -- LightGBM --------------------------------------------------------------------------------------


def lightgbm_parameters(setting: Setting, **extra: Any) -> dict[str, Any]:
    if setting.sample < 1.0:
        extra |= {"bagging_fraction": setting.sample, "bagging_freq": 1}
    return {
        "objective": "binary",
        "num_leaves": setting.leaves,
        "learning_rate": setting.learning_rate,
        "max_bin": setting.bins,
        "num_threads": setting.threads,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "verbose": -1,
        **extra,
    }


def lightgbm_dataset(setting: Setting, problem: Problem, **extra: Any) -> Any:
    """Bin the rows; categories are those of the frame."""
    import lightgbm as lgb

    return lgb.Dataset(*problem, params=lightgbm_parameters(setting, **extra)).construct()


# Told which way to go, it need not try both.
LIGHTGBM_WAYS: dict[str, dict[str, Any]] = {
    "by column": {"force_col_wise": True},
    "by row": {"force_row_wise": True},
    # Gradients of a few bits: its fastest mode for large tables, approximate.
    "quantized": {"force_col_wise": True, "use_quantized_grad": True},
    # Its lines need the floats as well as the bins.
    "lines": {"linear_tree": True},
}


def lightgbm() -> Iterator[Way]:
    import lightgbm as lgb

    def make(name: str, extra: dict[str, Any]) -> Way:
        def bin_rows(setting: Setting, problem: Problem) -> Any:
            return lightgbm_dataset(setting, problem, **extra)

        def fit(setting: Setting, data: Any) -> Any:
            parameters = lightgbm_parameters(setting, **extra)
            return lgb.train(parameters, data, num_boost_round=setting.rounds)

        def score(setting: Setting, model: Any, X: Any) -> NDArray[Any]:
            return model.predict(X, raw_score=True, num_threads=setting.threads)

        def takes_part(setting: Setting) -> bool:
            return setting.levels is not None or "linear_tree" not in extra

        return Way(f"lightgbm: {name}", fit, score, bin_rows, takes_part=takes_part)

    for name, extra in LIGHTGBM_WAYS.items():
        yield make(name, extra)


# -- XGBoost ---------------------------------------------------------------------------------------


def xgboost_parameters(setting: Setting, **extra: Any) -> dict[str, Any]:
    if setting.sample < 1.0:
        extra["subsample"] = setting.sample
    by_leaves = {"max_depth": 0, "max_leaves": setting.leaves, "grow_policy": "lossguide"}
    return {
        "objective": "binary:logistic",
        "tree_method": "hist",
        **({"max_depth": 1} if setting.leaves == 2 else by_leaves),
        "eta": setting.learning_rate,
        "max_bin": setting.bins,
        "nthread": setting.threads,
        "lambda": 0.0,
        "min_child_weight": 0.0,
        "verbosity": 0,
        **extra,
    }


def xgboost_bins(setting: Setting, problem: Problem, ref: Any = None) -> Any:
    """Bin the rows, with the frame's categories; held-out rows get the training rows' bins."""
    import xgboost as xgb

    return xgb.QuantileDMatrix(
        *problem,
        max_bin=setting.bins,
        nthread=setting.threads,
        ref=ref,
        enable_categorical=True,
    )


def xgboost() -> Iterator[Way]:
    import xgboost as xgb

    def train(setting: Setting, data: Any) -> Any:
        return xgb.train(xgboost_parameters(setting), data, num_boost_round=setting.rounds)

    def fit_rows(setting: Setting, problem: Problem) -> Any:
        data = xgb.DMatrix(*problem, nthread=setting.threads, enable_categorical=True)
        return train(setting, data)

    def score(setting: Setting, model: Any, X: Any) -> NDArray[Any]:  # noqa: ARG001
        # With the threads it was trained with.
        return model.inplace_predict(X, predict_type="margin")

    yield Way("xgboost: QuantileDMatrix", train, score, xgboost_bins)
    yield Way("xgboost: DMatrix", fit_rows, score, takes_bins=False)


# -- CatBoost --------------------------------------------------------------------------------------


def catboost_parameters(setting: Setting, **extra: Any) -> dict[str, Any]:
    if setting.sample < 1.0:
        drawn = {"bootstrap_type": "Bernoulli", "sampling_frequency": "PerTree"}
        extra |= {**drawn, "subsample": setting.sample}
    if extra.pop("by_leaves", False):
        extra |= {"grow_policy": "Lossguide", "max_leaves": setting.leaves}
    else:
        extra["depth"] = max(
            1, setting.leaves.bit_length() - 1
        )  # no more leaves than the setting's
    return {
        "iterations": setting.rounds,
        "learning_rate": setting.learning_rate,
        "border_count": setting.bins - 1,
        "thread_count": setting.threads,
        "bootstrap_type": "No",
        "random_strength": 0,
        "leaf_estimation_iterations": 1,
        "l2_leaf_reg": 0,
        "one_hot_max_size": setting.bins,  # otherwise statistics of the labels, slower
        "score_function": "L2",
        "boosting_type": "Plain",
        "allow_writing_files": False,
        "logging_level": "Silent",
        **extra,
    }


def catboost_rows(X: Any) -> tuple[Any, list[str]]:
    """Return rows in CatBoost's form, categories as integers, and the names of these columns."""
    if not hasattr(X, "select_dtypes"):
        return X, []
    categories = list(X.select_dtypes("category"))
    return X.assign(**{name: X[name].cat.codes for name in categories}), categories


def catboost_pool(setting: Setting, problem: Problem, **borders: Any) -> Any:
    """Bin the rows."""
    import catboost as cb

    X, categories = catboost_rows(problem.X)
    pool = cb.Pool(X, problem.y, cat_features=categories, thread_count=setting.threads)
    with _bound_to(setting.threads):
        pool.quantize(border_count=setting.bins - 1, **borders)
    return pool


@contextmanager
def _bound_to(n: int) -> Iterator[None]:
    """Bind the threads started inside to `n` processors: quantizing would use all of them."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:n])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


# Borders of equal width are fast to compute, and useless on a heavy-tailed column.
CATBOOST_WAYS: dict[str, dict[str, Any]] = {
    "its borders": {},
    "equal widths": {"feature_border_type": "Uniform"},
    "equal widths, by leaves": {"feature_border_type": "Uniform", "by_leaves": True},
}


def catboost() -> Iterator[Way]:
    import catboost as cb

    def make(name: str, borders: dict[str, Any]) -> Way:
        def bin_rows(setting: Setting, problem: Problem) -> Any:
            quantization = {key: value for key, value in borders.items() if key != "by_leaves"}
            return catboost_pool(setting, problem, **quantization)

        def fit(setting: Setting, data: Any) -> Any:
            return cb.CatBoostClassifier(**catboost_parameters(setting, **borders)).fit(data)

        def score(setting: Setting, model: Any, X: Any) -> NDArray[Any]:
            rows, _ = catboost_rows(X)
            return model.predict(
                rows, prediction_type="RawFormulaVal", thread_count=setting.threads
            )

        def takes_part(setting: Setting) -> bool:
            return setting.leaves > 2 or "by_leaves" not in borders

        return Way(f"catboost: {name}", fit, score, bin_rows, takes_part=takes_part)

    for name, borders in CATBOOST_WAYS.items():
        yield make(name, borders)


# -- scikit-learn ----------------------------------------------------------------------------------


def make_sklearn(setting: Setting) -> Any:
    """Make an unfitted HistGradientBoostingClassifier, with the frame's categories."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=setting.rounds,
        max_leaf_nodes=setting.leaves,
        learning_rate=setting.learning_rate,
        max_bins=setting.bins,
        min_samples_leaf=1,
        categorical_features="from_dtype",
        early_stopping=False,
        random_state=0,
    )


def limit_openmp(setting: Setting) -> AbstractContextManager[Any]:
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=setting.threads, user_api="openmp")


def _bin_sklearn(setting: Setting, problem: Problem) -> Any:
    """Bin as `fit` does before it boosts; there is no public name for it."""
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

    model = make_sklearn(setting)
    X, categories = model._preprocess_X(problem.X, reset=True)
    mapper = _BinMapper(
        n_bins=setting.bins + 1,  # one for missing values
        is_categorical=model._is_categorical_remapped,
        known_categories=categories,
        random_state=0,
        n_threads=setting.threads,
    )
    return mapper.fit_transform(X)


def scikit_learn() -> Iterator[Way]:
    import sklearn  # noqa: F401 - raises ImportError where it is missing

    def fit(setting: Setting, problem: Problem) -> Any:
        return make_sklearn(setting).fit(*problem)

    def score(setting: Setting, model: Any, X: Any) -> NDArray[Any]:  # noqa: ARG001
        return model.decision_function(X)

    def takes_part(setting: Setting) -> bool:
        return setting.sample == 1.0  # it draws no rows

    yield Way(
        "scikit-learn: HGB", fit, score, _bin_sklearn, takes_bins=False, limit=limit_openmp,
        takes_part=takes_part,
    )  # fmt: skip


# -- bonsai ----------------------------------------------------------------------------------------


def bonsai() -> Iterator[Way]:
    """Yield its growth by levels and by leaves, for trees; it takes no categories here.

    Without a maximum depth its tree is one leaf; the number of leaves bounds the depth.
    """
    import bonsai as library

    def make(name: str, grower: str) -> Way:
        def bin_rows(setting: Setting, problem: Problem) -> Any:
            labels = np.asarray(problem.y, np.float32)
            return library.Dataset(
                problem.X, labels, max_bin=setting.bins, n_threads=setting.threads
            )

        def fit(setting: Setting, data: Any) -> Any:
            parameters = {
                "dispatch.objective_name": "logloss",
                "dispatch.grower_name": grower,
                "booster.n_iters": setting.rounds,
                "booster.learning_rate": setting.learning_rate,
                "parallel.n_threads": setting.threads,
                "tree.max_depth": setting.levels or setting.leaves,
                "tree.max_leaves": setting.leaves,
                "tree.lambda_l2": 0.0,
                "tree.min_child_hess": 0.0,
                "tree.min_data_in_leaf": 1,
            }
            if setting.sample < 1.0:
                parameters |= {
                    "dispatch.sampler_name": "bernoulli",
                    "sampler.subsample": setting.sample,
                }
            return library.train(parameters, data)

        def score(setting: Setting, model: Any, X: Any) -> NDArray[Any]:  # noqa: ARG001
            from scipy.special import logit

            return logit(model.predict(X))  # it has no name for raw predictions

        def takes_part(setting: Setting) -> bool:
            asked = setting.levels is not None or (name == "leaves" and setting.leaves > 2)
            return asked and setting.data == "gaussian"

        return Way(f"bonsai: {name}", fit, score, bin_rows, takes_part=takes_part)

    for name, grower in {"levels": "levelwise", "leaves": "leafwise"}.items():
        yield make(name, grower)


LIBRARIES = by_name(properboost, lightgbm, xgboost, catboost, scikit_learn, bonsai)


def find_way(name: str) -> Way:
    """Return the way of that name; a name begins with its library."""
    [way] = [way for way in LIBRARIES[name.partition(":")[0]]() if way.name == name]
    return way


def probability(raw: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probabilities of raw predictions: all here fit the logistic loss."""
    from scipy.special import expit

    return expit(np.asarray(raw, dtype=np.float64))
