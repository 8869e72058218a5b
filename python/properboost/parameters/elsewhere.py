"""Answers to arguments of methods, and to attributes, that only other libraries have."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

__all__ = [
    "ARGUMENTS",
    "ATTRIBUTES",
    "EXPORTS",
    "FIT_ARGUMENTS",
    "LACKING",
    "LOSSES",
    "METRICS",
    "NAMES",
    "PLOTS",
    "AdvisesMixin",
    "advise_callers",
    "advise_calls",
    "advise_on_name",
]

Method = TypeVar("Method", bound=Callable[..., Any])

ARGUMENTS = {
    "raw_score": "decision_function(X)",
    "output_margin": "decision_function(X)",
    "prediction_type": "predict(X), predict_proba(X) or decision_function(X)",
    "pred_contrib": "contributions(X)",
    "pred_contribs": "contributions(X)",
    "num_iteration": "staged_predict_proba(X)",
    "iteration_range": "staged_predict_proba(X)",
    "ntree_limit": "staged_predict_proba(X)",
    "ntree_end": "staged_predict_proba(X)",
    "threshold": "predict_proba(X)[:, 1] > threshold, or pb.LeastCostClassifier for costs",
}
"""The replacements of other libraries' arguments of predictions."""

_BY_NAME = "fit(df.drop(columns=name), df[name])"

FIT_ARGUMENTS = {
    **dict.fromkeys(("target", "target_column", "label", "labels", "label_column"), _BY_NAME),
    "validation_data": "fit(X, y, X_val=..., y_val=...)",
    "validation_split": "early_stopping=pb.EarlyStopping(validation_fraction=...)",
    **dict.fromkeys(("obj", "fobj"), "loss=pb.losses.from_functions(...), of the classifier"),
    "epochs": "n_estimators=..., of the classifier",
}
"""The replacements of arguments of `fit` that no library's words of parameters have."""

ATTRIBUTES = {
    "partial_fit": "fit with warm_start=True and a larger n_estimators, also on new rows",
    "evals_result_": "validation_scores_, and history_ of the training rows",
    "evals_result": "validation_scores_, and history_ of the training rows",
    "validation_score_": "validation_scores_",
    "train_score_": "history_['risk']",
    "loss_curve_": "history_['risk']",
    "best_iteration_": "n_iter_",
    "best_iteration": "n_iter_",
    "best_ntree_limit": "n_iter_",
    "n_estimators_": "n_iter_",
    "tree_count_": "n_iter_",
    "feature_name_": "feature_names_in_",
    "feature_names_": "feature_names_in_",
    "term_importances": "feature_importances_, and terms_",
    "booster_": "the estimator itself",
    "get_booster": "the estimator itself",
    "get_feature_importance": "feature_importances_, or contributions(X) of rows",
    "term_scores_": "shape_function(feature)",
    "eval_terms": "contributions(X)",
    "predict_with_uncertainty": "predict_interval(X), with outer_bags",
    "get_score": "feature_importances_",
    "save": "save_model(path)",
    "load": "pb.load_model(path)",
    "load_model": "pb.load_model(path)",
    "to_json": "save_model(path), whose files are JSON",
    "report": "pb.report.write_report(model, X, y, path)",
    "n_classes_": "classes_.size",
    "n_features_": "n_features_in_",
    "num_features": "n_features_in_",
    "feature_importance": "feature_importances_",
    "feature_importances": "feature_importances_",
    "feature_importance_": "feature_importances_",
    "apply": "describe_tree(k)",
    "summary": "terms_ and feature_importances_, or pb.report.write_report(model, X, y, path)",
    "explain": "contributions(X) of rows, or shape_function(feature)",
    "shap_values": "contributions(X)",
    "predict_contrib": "contributions(X)",
    "threshold": "predict_proba(X)[:, 1] > threshold, or pb.LeastCostClassifier for costs",
    "to_onnx": "pb.export.to_onnx(model)",
    "to_sql": "pb.export.to_sql(model)",
    "plot_importance": "pb.plots.plot_importance(model)",
    "plot_tree": "describe_tree(k)",
    "plot_shape_function": "pb.plots.plot_shape_function(model, feature)",
    "plot_shape_functions": "pb.plots.plot_shape_functions(model)",
    "plot": "pb.plots.plot_shape_functions(model)",
    "term_names_": "terms_",
    "dump_model": "save_model(path), whose files are JSON",
    "trees_to_dataframe": "describe_tree(k)",
    "counterfactuals": "changes(X)",
    "calibrate": "pb.plots.plot_reliability(y, p), and sklearn.calibration if that shows a need",
    "set_threshold": "predict_proba(X)[:, 1] > threshold, or pb.LeastCostClassifier for costs",
    "predict_set": "pb.ConformalClassifier(model).fit(X_new, y_new), which has predict_set",
}
"""The replacements of other libraries' attributes and methods."""

LACKING = {
    "validation_scores_": "fit(X, y, X_val=..., y_val=...) or early_stopping, which record them",
}
"""The fits that give a model an attribute which others lack."""

NAMES = {
    "load": "pb.load_model(path)",
    "save": "model.save_model(path)",
    "train": "pb.ProperBoostClassifier(...).fit(X, y)",
    "cv": "pb.ProperBoostClassifierCV(...).fit(X, y)",
    "Booster": "pb.load_model(path)",
    "Dataset": "fit(X, y) itself, or pb.QuantizedTable.from_batches(...) if memory is short",
    "DMatrix": "fit(X, y) itself, or pb.QuantizedTable.from_batches(...) if memory is short",
    "Pool": "fit(X, y) itself, or pb.QuantizedTable.from_batches(...) if memory is short",
    "read_csv": "pandas.read_csv(path)",
    **dict.fromkeys(
        (
            "CatBoostClassifier",
            "Classifier",
            "ExplainableBoostingClassifier",
            "GradientBoostingClassifier",
            "HistGradientBoostingClassifier",
            "LGBMClassifier",
            "PBClassifier",
            "ProperBoost",
            "XGBClassifier",
        ),
        "pb.ProperBoostClassifier",
    ),
    "GridSearchCV": "pb.ProperBoostClassifierCV, or that of sklearn.model_selection",
    "read_parquet": "pandas.read_parquet(path), or pb.QuantizedTable.from_batches(path, label=...)",
    "save_model": "model.save_model(path)",
    "plot_importance": "pb.plots.plot_importance(model)",
    "plot_metric": "pb.plots.plot_training(model)",
    "plot_tree": "model.describe_tree(k)",
    "DaskProperBoostClassifier": "properboost.dask.DaskProperBoostClassifier",
    "ProperBoostRegressor": "another library: properboost has no regression",
    "ProperBoostRanker": "another library: properboost has no ranking",
}
"""The replacements of other libraries' public names."""


PLOTS = {
    "plot_tree": "model.describe_tree(k)",
    **dict.fromkeys(
        ("plot_roc", "plot_roc_curve", "plot_auc"),
        "sklearn.metrics.RocCurveDisplay.from_estimator(model, X, y)",
    ),
    "plot_confusion_matrix": "sklearn.metrics.ConfusionMatrixDisplay.from_estimator(model, X, y)",
    **dict.fromkeys(("plot_calibration", "plot_calibration_curve"), "plot_reliability"),
    **dict.fromkeys(("plot_metric", "plot_history", "plot_learning_curve"), "plot_training"),
    **dict.fromkeys(("plot_pdp", "plot_partial_dependence", "plot_shape"), "plot_shape_function"),
    **dict.fromkeys(("plot_shap", "plot_waterfall"), "plot_contributions"),
}
"""The replacements of other libraries' plots."""


METRICS = {
    **dict.fromkeys(("log_loss", "logloss"), "sklearn.metrics.log_loss(y, p)"),
    **dict.fromkeys(("brier_score", "brier_score_loss"), "sklearn.metrics.brier_score_loss(y, p)"),
    **dict.fromkeys(("auc", "roc_auc", "roc_auc_score"), "sklearn.metrics.roc_auc_score(y, p)"),
    **dict.fromkeys(("accuracy", "accuracy_score"), "sklearn.metrics.accuracy_score(y, label)"),
    **dict.fromkeys(
        ("ece", "expected_calibration_error", "calibration_error"),
        "pb.plots.plot_reliability(y, p)",
    ),
}
"""The replacements of other libraries' metrics."""

LOSSES = {
    **dict.fromkeys(("LogLoss", "Logistic", "CrossEntropy", "BinaryCrossEntropy"), "GLog()"),
    **dict.fromkeys(("Focal", "FocalLoss"), "from_functions(...), for a loss of your own"),
}
"""The replacements of other libraries' losses."""

EXPORTS = {"onnx": "to_onnx(model)", "sql": "to_sql(model)", "treelite": "to_treelite(model)"}
"""The replacements of other names of exports."""


def advise_on_name(name: str, known: Sequence[str], replacements: Mapping[str, str] = NAMES) -> str:
    """Return the end of the sentence about an unknown public name; `known` are the public ones."""
    if name in replacements:
        return f": use {replacements[name]}"
    spelt = {public.lower(): public for public in known}
    near = [] if name.startswith("_") else get_close_matches(name.lower(), spelt, n=1, cutoff=0.7)
    return f": did you mean {spelt[near[0]]}?" if near else ""


def advise_callers(method: Method) -> Method:
    """Return a method whose error for an unknown keyword names the replacement."""
    known = inspect.signature(method).parameters

    @wraps(method)
    def advised(self: Any, *values: Any, **keywords: Any) -> Any:
        for name in keywords:
            if name not in known:
                called = f"{type(self).__name__}.{method.__name__}"
                advice = _advise_on_argument(self, method.__name__, name, list(known))
                raise TypeError(f"{called}() got an unexpected keyword argument {name!r}{advice}")
        return method(self, *values, **keywords)

    return cast("Method", advised)


def advise_calls(example: str) -> Callable[[Method], Method]:
    """Return a decorator of a function: a call that it cannot take is answered by an example."""

    def decorate(function: Method) -> Method:
        signature = inspect.signature(function)
        name = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def advised(*values: Any, **keywords: Any) -> Any:
            try:
                signature.bind(*values, **keywords)
            except TypeError as error:
                raise TypeError(
                    f"{name}() cannot take these arguments ({error}): write {example}"
                ) from None
            return function(*values, **keywords)

        return cast("Method", advised)

    return decorate


class AdvisesMixin:
    """A class whose error for other libraries' attributes names the replacement."""

    if not TYPE_CHECKING:  # type checkers would no longer see that an attribute is missing

        def __getattr__(self, name: str) -> Any:
            advice = ATTRIBUTES.get(name) or LACKING.get(name)
            if advice is not None:
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute {name!r}: use {advice}",
                    name=name,
                    obj=self,
                )
            # Again, because the error of a property got lost.
            return object.__getattribute__(self, name)


def _advise_on_argument(model: Any, method: str, name: str, known: Sequence[str]) -> str:
    """Return the end of the sentence about an unknown argument of a method."""
    if method != "fit":
        return f": use {ARGUMENTS[name]}" if name in ARGUMENTS else ""
    if name in ("weight", "weights"):
        return ": did you mean sample_weight?"
    if name in FIT_ARGUMENTS:
        return f": write {FIT_ARGUMENTS[name]}"
    if near := get_close_matches(name, known, n=1, cutoff=0.8):
        return f": did you mean {near[0]}?"
    parameters = model.get_params(deep=False)
    if name in parameters:
        return f": it is a parameter of {type(model).__name__}(...)"
    # By name, at an error only: servers start without the words.
    advice = import_module("properboost.parameters.words").advise(name, parameters)
    return f": {advice}" if advice else ""
