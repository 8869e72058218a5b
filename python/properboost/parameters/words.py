"""Other libraries' keywords, and their replacements here.

`WORDS` serves the messages about unknown keywords and docs/reference/parameters.md.
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import NamedTuple, TypeGuard

__all__ = [
    "CLASSES",
    "IN_SEARCHES",
    "LIBRARIES",
    "MOVED",
    "OBJECTS",
    "OF_SEARCHES",
    "RENAMED",
    "VALUES",
    "WORDS",
    "Keyword",
    "advise",
    "advise_on_value",
]

LIBRARIES = {
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "sklearn": "scikit-learn",
    "ebm": "InterpretML",
}
"""The names of the libraries; scikit-learn's keywords are those of its histogram booster."""


@dataclass(frozen=True)
class Keyword:
    """A keyword of another library."""

    library: str
    word: str
    advice: str
    """The code to write here: keywords, or a call; empty if there is no counterpart."""
    note: str = ""
    """The difference, or a replacement, with code in backticks."""


def _row(advice: str, note: str = "", **words: str) -> list[Keyword]:
    """Return the libraries' keywords, separated by spaces, that have the same replacement."""
    return [
        Keyword(library, word, advice, note)
        for key, library in LIBRARIES.items()
        for word in words.get(key, "").split()
    ]


# fmt: off
WORDS: tuple[Keyword, ...] = (
    # -- rounds and losses
    *_row("n_estimators=...",
          lightgbm="n_estimators num_iterations num_iteration n_iter num_trees num_tree num_rounds "
          "num_round nrounds num_boost_round max_iter",
          xgboost="n_estimators num_boost_round",
          catboost="iterations n_estimators num_boost_round num_trees", sklearn="max_iter"),
    *_row("n_estimators=...",
          'with `selection="cyclic"` cycles over the features, as theirs are', ebm="max_rounds"),
    *_row("learning_rate=...", "look-up tables take steps of 1, which `gain=...` restrains",
          lightgbm="learning_rate eta shrinkage_rate", xgboost="learning_rate eta",
          catboost="learning_rate eta", sklearn="learning_rate", ebm="learning_rate"),
    *_row("loss=...", '"glog" is the logistic loss; there is no regression and no ranking',
          lightgbm="objective objective_type application", xgboost="objective",
          catboost="loss_function objective", sklearn="loss", ebm="objective"),
    *_row("", "classes are those of `y`, and `multiclass=...` couples their models",
          lightgbm="num_class num_classes", xgboost="num_class",
          catboost="classes_count class_names"),
    *_row('weak_learner="tree"', "the trees of gbdt; there is no dart and no rf",
          lightgbm="boosting boosting_type boost"),
    *_row('weak_learner="tree"', "the trees of gbtree; there is no dart and no gblinear",
          xgboost="booster"),
    *_row("", "there is no ordered boosting",
          catboost="boosting_type"),
    *_row("", "no round is ever dropped",
          lightgbm="drop_rate rate_drop max_drop skip_drop", xgboost="rate_drop skip_drop"),
    *_row("", "`screening=...` chooses splits by rows that are drawn by weight",
          lightgbm="data_sample_strategy top_rate other_rate"),
    *_row("weak_learner=pb.Tree(n_draws=...)", "a mean of whole fits, not of the trees of a round",
          xgboost="num_parallel_tree"),
    *_row('calibration=pb.Calibration(intercept="share")',
          "it is added when boosting is over, which begins with 0",
          lightgbm="boost_from_average", catboost="boost_from_average"),

    # -- trees and tables
    *_row("weak_learner=pb.Tree(max_leaf_nodes=...)",
          lightgbm="num_leaves num_leaf max_leaves max_leaf max_leaf_nodes", xgboost="max_leaves",
          catboost="max_leaves num_leaves", sklearn="max_leaf_nodes"),
    *_row("weak_learner=pb.Table(max_cells=...)", ebm="max_leaves"),
    *_row("weak_learner=pb.Tree(max_depth=...)",
          lightgbm="max_depth", xgboost="max_depth", sklearn="max_depth"),
    *_row('weak_learner=pb.Tree(grow_policy="symmetric", max_depth=...)', "at most 7",
          catboost="depth max_depth"),
    *_row("weak_learner=pb.Tree(grow_policy=...)",
          '"best_first" is lossguide, "symmetric" CatBoost\'s default; there is no depthwise',
          xgboost="grow_policy", catboost="grow_policy"),
    *_row("weak_learner=pb.Tree(min_child_weight=...) or pb.Rule(min_child_weight=...)",
          'a sum of the loss\'s weights, and of curvatures with `response="newton"`',
          lightgbm="min_sum_hessian_in_leaf min_child_weight min_sum_hessian min_hessian",
          xgboost="min_child_weight"),
    *_row("", "cells of look-up tables have no least weight; `prior=...` restrains light ones",
          ebm="min_hessian"),
    *_row("weak_learner=pb.Tree(min_child_weight=...)", "a least weight, not a number of rows",
          lightgbm="min_data_in_leaf min_child_samples min_samples_leaf min_data_per_leaf min_data",
          catboost="min_data_in_leaf min_child_samples", sklearn="min_samples_leaf"),
    *_row("rows_per_bin=...", "it limits how many bins there are; one may have fewer rows",
          lightgbm="min_data_in_bin", ebm="min_samples_leaf"),
    *_row("", "a node is split where that saves anything; `pb.Tree(max_leaf_nodes=...)` limits it, "
          "and `pb.Table(min_saving=...)` the cuts of look-up tables",
          lightgbm="min_gain_to_split min_split_gain", xgboost="gamma min_split_loss"),
    *_row('response="newton", l2=...', "other responses have `prior=...`",
          lightgbm="lambda_l2 reg_lambda lambda l2_regularization", xgboost="reg_lambda lambda",
          catboost="l2_leaf_reg reg_lambda", sklearn="l2_regularization", ebm="reg_lambda"),
    *_row("", "there is no L1 penalty; `gain=...` and `prior=...` restrain values",
          lightgbm="lambda_l1 reg_alpha l1_regularization", xgboost="reg_alpha", ebm="reg_alpha"),
    *_row("", (
        "there is no L1 penalty; a loss has its own alpha: `loss=pb.losses.get_loss(\"alpha\", "
        "alpha=...)`"
    ), xgboost="alpha"),
    *_row("", "values have no bound; `prior=...` draws them to 0",
          lightgbm="max_delta_step max_tree_output max_leaf_output", xgboost="max_delta_step",
          ebm="max_delta_step"),
    *_row("weak_learner=pb.Tree(subsample=...) or pb.Rule(subsample=...)",
          lightgbm="bagging_fraction subsample sub_row bagging", xgboost="subsample",
          catboost="subsample"),
    *_row("", "`pb.Tree(subsample=...)` draws rows anew for every tree, all alike",
          lightgbm="bagging_freq subsample_freq", xgboost="sampling_method",
          catboost="bootstrap_type bagging_temperature sampling_frequency mvs_reg"),
    *_row("weak_learner=pb.Tree(max_features=...) or pb.Rule(max_features=...)",
          "features are drawn for every split, and not for a whole tree",
          lightgbm="feature_fraction colsample_bytree sub_feature",
          xgboost="colsample_bytree colsample_bylevel"),
    *_row("weak_learner=pb.Tree(max_features=...) or pb.Rule(max_features=...)",
          lightgbm="feature_fraction_bynode colsample_bynode sub_feature_bynode",
          xgboost="colsample_bynode", catboost="rsm colsample_bylevel", sklearn="max_features"),
    *_row("", "every cut of a feature is compared; `pb.Tree(max_features=...)` draws features",
          lightgbm="extra_trees extra_tree", catboost="random_strength"),
    *_row("weak_learner=pb.Tree(linear_leaves=...)", lightgbm="linear_tree linear_trees"),
    *_row("weak_learner=pb.Tree(linear_leaves=True, linear_l2=...)", "as a number of rows",
          lightgbm="linear_lambda"),
    *_row("", "`prior=...` draws the value of a leaf to 0, and not to that of its parent",
          lightgbm="path_smooth"),
    *_row("criterion=...", "None compares splits by the response's own cost",
          catboost="score_function"),
    *_row("response=...", '"newton" is a Newton step', catboost="leaf_estimation_method"),
    *_row('response="exact"', "the least risk of each cell", catboost="leaf_estimation_iterations"),
    *_row("weak_learner=pb.Tree(multi_strategy=...)", xgboost="multi_strategy"),
    *_row("monotonic_cst=...", "two classes only",
          lightgbm="monotone_constraints monotone_constraint monotonic_cst",
          xgboost="monotone_constraints", catboost="monotone_constraints", sklearn="monotonic_cst",
          ebm="monotone_constraints"),
    *_row("weak_learner=pb.Tree(interaction_cst=[...])",
          "sets of features that may share a path, or the most features on one",
          lightgbm="interaction_constraints", xgboost="interaction_constraints",
          sklearn="interaction_cst"),
    *_row("interactions=...", "the number of pairs, or the pairs; not a share", ebm="interactions"),
    *_row("weak_learner=pb.Table(smoothing=...)", "a spread over bins, not a number of rounds",
          ebm="smoothing_rounds"),
    *_row("interactions=pb.Interactions(smoothing=...)",
          "a spread over cells, not a number of rounds", ebm="interaction_smoothing_rounds"),
    *_row("selection=...", '"cyclic" takes each feature in turn; the others compare them',
          ebm="greedy_ratio cyclic_progress"),
    *_row("outer_bags=...", "0, or 4 to 64", ebm="outer_bags"),
    *_row("", "`outer_bags=...` has no bags inside bags", ebm="inner_bags"),

    # -- columns and bins
    *_row("max_bins=...", "at most 255",
          lightgbm="max_bin max_bins", xgboost="max_bin", catboost="border_count max_bin",
          sklearn="max_bins", ebm="max_bins"),
    *_row("", "the grid of a pair has at most 254 cells", ebm="max_interaction_bins"),
    *_row("", "bins are found from 200,000 rows where there are more",
          lightgbm="bin_construct_sample_cnt subsample_for_bin"),
    *_row("", "numbers are cut at quantiles", catboost="feature_border_type"),
    *_row("", "features are always cut into bins", xgboost="tree_method"),
    *_row("categorical_features=...", "by default the columns of a categorical type and of text",
          lightgbm="categorical_feature categorical_features cat_feature categorical_column",
          xgboost="enable_categorical feature_types", catboost="cat_features",
          sklearn="categorical_features", ebm="feature_types"),
    *_row("", 'every category has a bin, up to 254; `selection="unbiased"` allows for their number',
          lightgbm="max_cat_threshold max_cat_to_onehot cat_smooth cat_l2 min_data_per_group",
          xgboost="max_cat_threshold max_cat_to_onehot",
          catboost="one_hot_max_size max_ctr_complexity simple_ctr combinations_ctr",
          ebm="cat_smooth gain_scale min_cat_samples"),
    *_row("", "NaN, None and NA are missing, with a bin of their own or in the better branch",
          lightgbm="use_missing zero_as_missing", xgboost="missing", catboost="nan_mode",
          ebm="missing"),
    *_row("", "names are those of the columns of `X`",
          lightgbm="feature_name", catboost="feature_names", ebm="feature_names"),
    *_row("", "leave the columns out of `X`",
          lightgbm="ignore_column ignore_feature", catboost="ignored_features", ebm="exclude"),
    *_row("", "features have no weights",
          lightgbm="feature_contri feature_penalty", xgboost="feature_weights",
          catboost="feature_weights"),

    # -- classes and rows
    *_row("class_weight=...", "by label; it shifts probabilities",
          lightgbm="class_weight", catboost="class_weights", sklearn="class_weight"),
    *_row("class_weight={positive: ...}",
          "positive is the label of the positive class; it shifts probabilities",
          lightgbm="scale_pos_weight", xgboost="scale_pos_weight", catboost="scale_pos_weight"),
    *_row('class_weight="balanced"', "it shifts probabilities",
          lightgbm="is_unbalance unbalance unbalanced_sets", catboost="auto_class_weights"),
    *_row("fit(X, y, sample_weight=...)", "a weight of 2 is the row twice",
          lightgbm="sample_weight", xgboost="sample_weight", catboost="sample_weight",
          sklearn="sample_weight", ebm="sample_weight"),
    *_row("fit(X, y, init_score=...)", "raw predictions row by row, also at `predict`",
          lightgbm="init_score", xgboost="base_margin base_score", catboost="baseline",
          ebm="init_score"),

    # -- stopping and going on
    *_row("fit(X, y, X_val=..., y_val=...)", "one set",
          lightgbm="eval_set", xgboost="eval_set", catboost="eval_set"),
    *_row("fit(X, y, X_val=..., y_val=...)", sklearn="X_val y_val"),
    *_row("fit(X, y, X_val=..., y_val=..., sample_weight_val=...)",
          lightgbm="eval_sample_weight", xgboost="sample_weight_eval_set",
          sklearn="sample_weight_val"),
    *_row("early_stopping=pb.EarlyStopping(n_iter_no_change=...)",
          "`fit` takes `X_val` and `y_val`, or `validation_fraction=...` holds rows out",
          lightgbm="early_stopping_rounds early_stopping_round n_iter_no_change",
          xgboost="early_stopping_rounds", catboost="early_stopping_rounds od_wait",
          ebm="early_stopping_rounds"),
    *_row("early_stopping=pb.EarlyStopping(n_iter_no_change=...)", sklearn="n_iter_no_change"),
    *_row("early_stopping=...", '"auto" stops where `fit` has validation rows, True holds rows out',
          sklearn="early_stopping"),
    *_row("early_stopping=...", "the rounds up to the best score stay, or with False all",
          catboost="use_best_model"),
    *_row("", "`pb.EarlyStopping(n_iter_no_change=...)` is the only rule",
          catboost="od_type od_pval"),
    *_row("early_stopping=pb.EarlyStopping(validation_fraction=...)",
          catboost="eval_fraction", sklearn="validation_fraction", ebm="validation_size"),
    *_row("early_stopping=pb.EarlyStopping(tol=...)", "a share of the best score",
          lightgbm="early_stopping_min_delta", sklearn="tol", ebm="early_stopping_tolerance"),
    *_row("early_stopping=pb.EarlyStopping(scoring=...)", "a scorer; more is better",
          lightgbm="metric metrics eval_metric", xgboost="eval_metric", catboost="eval_metric",
          sklearn="scoring"),
    *_row("warm_start=True", "`fit` goes on from the model, up to `n_estimators` in all",
          lightgbm="init_model", xgboost="xgb_model", catboost="init_model"),
    *_row("warm_start=...", sklearn="warm_start"),
    *_row("set_callbacks(...)", "those of scikit-learn, from version 1.9 on",
          lightgbm="callbacks", xgboost="callbacks", catboost="callbacks", ebm="callback"),

    # -- running
    *_row("n_jobs=...",
          lightgbm="n_jobs num_threads num_thread nthread nthreads", xgboost="n_jobs nthread",
          catboost="thread_count", ebm="n_jobs"),
    *_row("", "there is no GPU; `n_jobs=...` sets the number of threads",
          lightgbm="device_type device", xgboost="device", catboost="task_type devices"),
    *_row("random_state=...",
          lightgbm="random_state random_seed seed bagging_seed feature_fraction_seed",
          xgboost="random_state seed", catboost="random_seed random_state", sklearn="random_state",
          ebm="random_state"),
    *_row("", "fits repeat, to the last bit", lightgbm="deterministic"),
    *_row("verbose=...", "1 shows the rounds",
          lightgbm="verbosity verbose", xgboost="verbosity",
          catboost="verbose logging_level", sklearn="verbose"),
    *_row("verbose=0", "the default", catboost="silent"),
    *_row("", "a fit writes no files", catboost="allow_writing_files train_dir save_snapshot"),
    *_row("", "`feature_importances_` are of one kind",
          lightgbm="importance_type", xgboost="importance_type"),
)
# fmt: on

RENAMED = {"histogram": "table", "monomial": "rule"}
"""The earlier names of learners."""

VALUES = {
    **RENAMED,
    **dict.fromkeys(("log_loss", "logloss", "binary_logloss", "cross_entropy"), "glog"),
    **dict.fromkeys(("logistic", "deviance", "binary", "binary:logistic", "Logloss"), "glog"),
    **dict.fromkeys(("multiclass", "multi:softprob", "multi:softmax", "MultiClass"), "glog"),
    "lossguide": "best_first",
    "Lossguide": "best_first",
    "SymmetricTree": "symmetric",
}
"""The names of values in other libraries and earlier versions."""

REGRESSION = (
    "squared_error", "absolute_error", "mse", "mae", "rmse", "RMSE", "MAE", "l1", "l2", "poisson",
    "quantile", "huber", "regression", "reg:squarederror", "reg:linear",
)  # fmt: skip
"""The losses of regression in other libraries."""

MOVED = {
    "max_literals": "weak_learner=pb.Rule(max_conditions=...)",
    "interaction_rate": "interactions=pb.Interactions(learning_rate=...)",
    "interaction_estimators": "interactions=pb.Interactions(n_estimators=...)",
    "interaction_smoothing": "interactions=pb.Interactions(smoothing=...)",
    "bag_tables": "outer_bags=pb.Bags(tables=...)",
    "warm_start_bins": 'warm_start="new_bins"',
    "gains": "gain=...",
    "priors": "prior=...",
    "smoothings": "weak_learner=pb.Table(smoothing=...)",
    "alphas": 'loss=pb.losses.get_loss("alpha", alpha=...)',
}
"""The earlier names of parameters."""

ELSEWHERE = {
    **dict.fromkeys(("estimator", "base_estimator"), "weak_learner=..."),
    **dict.fromkeys(
        ("patience", "rounds", "stopping_rounds"),
        "early_stopping=pb.EarlyStopping(n_iter_no_change=...)",
    ),
}
"""The parameters of other ensembles of scikit-learn, and of callbacks that stop a fit."""

TIMES = ("max_time", "time_budget", "timeout", "max_runtime_secs", "time_left_for_this_task")
"""The names of a limit on time in other searches."""

OF_SEARCHES = {
    "n_iter": 'for fewer candidates use effort=..., for fewer rounds space={"n_estimators": [...]}',
    "n_trials": "for fewer candidates use effort=...",
    "n_candidates": "for fewer candidates use effort=...",
    "param_grid": "write space={...}",
    "param_distributions": "write space={...}",
    **dict.fromkeys(TIMES, "write time_limit=..., in seconds"),
}
"""The parameters of other searches, and their replacements in one of this package."""

OBJECTS = {
    "weak_learner": ("Table", "Stump", "Tree", "Rule"),
    "interactions": ("Interactions",),
    "early_stopping": ("EarlyStopping",),
    "outer_bags": ("Bags",),
    "calibration": ("Calibration",),
}
"""The classes of the objects that parameters may be, by name; see `flat.OWNERS`."""

CLASSES = tuple(cls for classes in OBJECTS.values() for cls in classes)

IN_SEARCHES = {
    "early_stopping": "cv=... chooses the held-out rows",
    "X_val": "cv=... chooses the held-out rows",
    "calibration": "calibrate=... finds slope, intercept and temperature",
    "warm_start": "every search begins anew",
    "callbacks": "candidates are boosted together, without callbacks",
    "estimator": "a search creates its classifiers",
    "base_estimator": "a search creates its classifiers",
    "init_score": "every fit of a search begins with 0",
}
"""The replacements of parameters that no search space may have, and of arguments of `fit`."""


def advise_on_value(value: str, known: Collection[str]) -> str:
    """Return the end of the sentence about an unknown value of a parameter."""
    if VALUES.get(value) in known:
        return f", which is {VALUES[value]!r} here"
    return ": there is no regression here" if value in REGRESSION else ""


def advise(name: str, known: Collection[str], value: object = None) -> str:
    """Return a sentence with the replacement of an unknown keyword, or an empty one.

    `known` are the parameters of an estimator or of a search, or the fields of an object that a
    parameter may be; or the possible values of a parameter, if `name` is a value.  `value` is that
    of the parameter before the "__" of a nested name in `set_params`.
    """
    if VALUES.get(name) in known:
        return f"{name!r} is {VALUES[name]!r} here"
    owner, _, field = name.partition("__")
    if field:
        return _advise_on_nested(owner, field, known, value)
    if "space" in known and (instead := IN_SEARCHES.get(name) or OF_SEARCHES.get(name)):
        return instead
    ours = _advise_on_place(name, known)
    if ours:
        return ours
    return (
        _advise_on_keyword(name, known)
        or _advise_on_search(name, known)
        or _guess(name, known)
        or _list_known(known)
    )


def nest(name: str, known: Collection[str]) -> str:
    """Return the end of a sentence with the nested name of an object's field, or an empty one."""
    for owner, classes in OBJECTS.items():
        of = [cls for cls in classes if name in _list_fields(cls)]
        if of and owner in known and "early_stopping" in known:
            cls = getattr(import_module("properboost"), of[0])
            part = repr(cls.name) if hasattr(cls, "name") else f"pb.{of[0]}()"
            return f", or in set_params and grids {owner}__{name}=... of {owner}={part}"
    return ""


def _advise_on_keyword(name: str, known: Collection[str]) -> str:
    """Return the sentence about a keyword of other libraries, or an empty one."""
    answers: dict[tuple[str, str], list[str]] = {}
    for word in WORDS:
        if word.word == name:
            answers.setdefault((word.advice, word.note), []).append(f"{word.library}'s")
    sentences = [
        _advise_on_counterpart(f"{_join(libraries)} {name}", *answer, known)
        for answer, libraries in answers.items()
    ]
    return "; ".join(filter(None, sentences))


def _advise_on_search(name: str, known: Collection[str]) -> str:
    """Return the sentence about a parameter of a search that a classifier got, or an empty one."""
    name = "time_limit" if name in TIMES else name
    search = import_module("properboost").ProperBoostClassifierCV
    if "early_stopping" not in known or name not in inspect.signature(search).parameters:
        return ""
    return f"a search has it: pb.ProperBoostClassifierCV({name}=...)"


def _advise_on_nested(owner: str, field: str, known: Collection[str], value: object) -> str:
    """Return the sentence about an unknown nested name."""
    if "space" in known and (owner == "space" or owner not in known):
        return _advise_on_space(field if owner == "space" else f"{owner}__{field}", known)
    if owner not in known:
        return ""
    code = " or ".join(_translate_all(_list_places(field), known))
    objects = OBJECTS.get(owner, ()) if "early_stopping" in known else ()
    owners = [cls for cls in objects if field in _list_fields(cls)]
    if owners and value is not None:
        names = [getattr(import_module("properboost"), cls).name for cls in owners]
        return f"set {owner}={' or '.join(map(repr, names))}, too"
    if owners:
        return f"write {code}, or set_params({owner}__{field}=...)"
    return f"write {code}" if code else _guess_field(owner, field, objects)


def _advise_on_space(name: str, known: Collection[str]) -> str:
    """Return the sentence about a name that belongs in the space of a search."""
    owner, _, field = name.partition("__")
    if not field or owner in IN_SEARCHES or owner not in _list_flat():
        return advise(owner, known)
    objects = OBJECTS.get(owner, ())
    if any(field in _list_fields(cls) for cls in objects):
        return f'write space={{"{name}": [...]}}'
    return _guess_field(owner, field, objects)


def _guess_field(owner: str, field: str, objects: Iterable[str]) -> str:
    """Return a question about the nearest field of a parameter's objects, or all of them."""
    fields = list(dict.fromkeys(name for cls in objects for name in _list_fields(cls)))
    for near in difflib.get_close_matches(field, fields, n=1, cutoff=0.8):
        return f"did you mean {owner}__{near}?"
    return f"the fields of {owner} are {_join(fields)}" if fields else ""


def _is_of_object(known: Collection[str]) -> bool:
    """Return whether these are the fields of an object that a parameter may be."""
    return any(set(known) == set(_list_fields(cls)) for cls in CLASSES)


def _list_known(known: Collection[str]) -> str:
    """Return a sentence that lists the fields of an object, if `known` are those."""
    if not _is_of_object(known):
        return ""
    return f"its fields are {_join(list(known))}" if known else "it has no fields"


def _advise_on_place(name: str, known: Collection[str]) -> str:
    """Return the sentence about a name of this package that belongs elsewhere, or an empty one."""
    code = " or ".join(_translate_all(_list_places(name), known))
    if code:
        return f"write {code}"
    instead = [_find_replacement(place, known) for place in _list_places(name)]
    if any(instead):
        return " and ".join(filter(None, instead))
    if not _is_of_object(known):
        return ""
    if name in MOVED:
        return f"the classifier has it: {MOVED[name]}"
    if name in _list_flat():
        return f"{name} is a parameter of the classifier"
    owners = [f"pb.{cls}" for cls in CLASSES if name in _list_fields(cls)]
    return f"{name} is a field of {_join(owners)}" if owners else ""


def _advise_on_counterpart(subject: str, advice: str, note: str, known: Collection[str]) -> str:
    """Return the sentence about a keyword of other libraries; empty if it has no counterpart."""
    code, instead = _translate(advice, known), _find_replacement(advice, known)
    plain = note.replace("`", "")
    if code:
        # The notes describe the classifier.
        return f"{subject} is {code} here" + (f": {plain}" if plain and not instead else "")
    if not advice and ("early_stopping" in known or "space" in known):
        instead = plain
    return f"{subject} has no counterpart here: {instead}" if instead else ""


def _guess(name: str, known: Collection[str]) -> str:
    """Return a question about the nearest name to a misspelt one."""
    fields = [field for cls in CLASSES for field in _list_fields(cls)]
    words = [word.word for word in WORDS]
    names = dict.fromkeys([*known, *_list_flat(), *fields, *(() if name in words else words)])
    for near in difflib.get_close_matches(name, names, cutoff=0.8):
        if near in known:
            return f"did you mean {near}?"
        code = " or ".join(_translate_all(_list_places(near), known))
        advice = f"Write {code}" if code else _advise_on_keyword(near, known)
        if advice:
            return f"did you mean {near}? {advice}"
    return ""


def _join(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


# -- names here ------------------------------------------------------------------------------------

# They are imported at an error only, because the modules that declare them import this one.


def _list_flat() -> Mapping[str, object]:
    """Return the parameters of the classifier."""
    return inspect.signature(import_module("properboost").ProperBoostClassifier).parameters


def _list_fields(cls: str) -> Mapping[str, object]:
    """Return the fields of a class of objects."""
    return inspect.signature(getattr(import_module("properboost"), cls)).parameters


def _list_places(name: str) -> Iterator[str]:
    """Yield the code for a name of this package in the classifier."""
    if name in MOVED or name in ELSEWHERE:
        yield MOVED.get(name) or ELSEWHERE[name]
    if name in _list_flat():
        yield f"{name}=..."
        return
    for parameter, classes in OBJECTS.items():
        objects = [f"pb.{cls}({name}=...)" for cls in classes if name in _list_fields(cls)]
        if objects:
            yield f"{parameter}={' or '.join(objects)}"


# -- advice for other classes ----------------------------------------------------------------------


def _translate_all(places: Iterable[str], known: Collection[str]) -> list[str]:
    return [code for code in (_translate(place, known) for place in places) if code]


class _Entry(NamedTuple):
    """The code of a keyword for another class: parameters, and entries of a search space."""

    flat: list[str]
    whole: list[str]
    nested: list[str]


def _translate(advice: str, known: Collection[str]) -> str:
    """Return advice about the classifier, translated for a class of these parameters, or ""."""
    call = _parse(advice)
    if call.args:
        return advice if _has_method(advice, known) else ""
    translated = [_Entry([], [], [])]
    for keyword in call.keywords:
        entry = _translate_entry(advice, keyword, known)
        if entry is None:
            return ""
        translated.append(entry)
    flat, whole, nested = (
        list(chain.from_iterable(codes)) for codes in zip(*translated, strict=True)
    )
    spaces = [f"space={{{', '.join(items)}}}" for items in (whole, nested) if items]
    return ", ".join(filter(None, (*flat, " or ".join(spaces))))


def _has_method(advice: str, known: Collection[str]) -> bool:
    """Return whether a class of these parameters has the method of an advice."""
    if "early_stopping" in known:
        return True
    return "space" in known and "sample_weight" in advice and not _find_replacement(advice, known)


def _translate_entry(advice: str, keyword: ast.keyword, known: Collection[str]) -> _Entry | None:
    name = str(keyword.arg)
    objects = [node for node in ast.walk(keyword.value) if _is_object(node)]
    fields = list(dict.fromkeys(str(e.arg) for node in objects for e in node.keywords))
    if name in known and (not objects or "early_stopping" in known):
        return _Entry([f"{name}={_read(advice, keyword.value)}"], [], [])
    if objects and _are_flat(fields, known):
        return _Entry([f"{field}=..." for field in fields], [], [])
    if "space" in known and name in _list_flat() and name not in IN_SEARCHES:
        whole = _write_entry(advice, name, objects, keyword.value)
        return _Entry([], [whole], [f'"{name}__{field}": [...]' for field in fields])
    return None


def _are_flat(fields: Sequence[str], known: Collection[str]) -> bool:
    """Return whether a class has these fields of an object as parameters, as UDT has a tree's."""
    return all(field in known and field not in _list_flat() for field in fields)


def _write_entry(advice: str, name: str, objects: Sequence[ast.expr], value: ast.expr) -> str:
    """Return the entry of a space for a parameter of the classifier."""
    choices = ", ".join(_read(advice, node) for node in objects or (value,))
    is_one = len(objects) == 1 or _is_fixed(value)
    return f'"{name}": {choices}' if is_one else f'"{name}": [{choices}]'


def _find_replacement(advice: str, known: Collection[str]) -> str:
    """Return the replacement in a search of a parameter of the classifier, or ""."""
    names = [str(node.arg) for node in ast.walk(_parse(advice)) if isinstance(node, ast.keyword)]
    return next((IN_SEARCHES[n] for n in names if n in IN_SEARCHES and "space" in known), "")


def _parse(advice: str) -> ast.Call:
    call = ast.parse(f"_({advice})", mode="eval").body
    assert isinstance(call, ast.Call)
    return call


def _read(advice: str, node: ast.AST) -> str:
    return str(ast.get_source_segment(f"_({advice})", node))


def _is_object(node: ast.AST) -> TypeGuard[ast.Call]:
    """Return whether a node makes an object that a parameter may be, as ``pb.Tree(...)``."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).removeprefix("pb.") in CLASSES


def _is_fixed(value: ast.AST) -> bool:
    return isinstance(value, ast.Constant) and value.value is not ...
