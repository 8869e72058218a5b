"""Facts on a model, in words: its kind, training rows, size and parameters."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from properboost.data.binning import CategoricalBins, FeatureBins, NumericBins
from properboost.estimators.base import TableClassifier, describe_training, label_features
from properboost.report.content import Facts
from properboost.report.inventory import describe_edit, find_changed, list_contents
from properboost.report.wording import (
    find_unnamed,
    list_words,
    read_class_names,
    read_feature_descriptions,
)

__all__ = ["describe_model"]


def describe_model(
    model: TableClassifier,
    *,
    is_additive: bool,
    class_names: Any = None,
    feature_descriptions: Any = None,
) -> Facts:
    """Return the facts on a fitted model, which is a sum of shape functions or not.

    `class_names` and `feature_descriptions` are those of `write_report`.
    """
    contents = dict(list_contents(model))
    bins, weights = describe_training(model)
    labels = model.classes_.tolist()
    names = read_class_names(class_names, labels)
    features = tuple(label_features(model))
    rows = None if weights is None else float(np.sum(weights[0]))
    return Facts(
        estimator=type(model).__name__,
        kind=_describe_kind(contents, is_additive),
        is_boosted="n_iter" in contents,
        strangers=tuple(_list_strangers(model, contents, bins, weights, is_additive)),
        is_additive=is_additive,
        classes=tuple(labels),
        names=names,
        unnamed=find_unnamed(labels, names),
        training_rows=rows,
        features=features,
        described=read_feature_descriptions(feature_descriptions, features),
        lines=tuple(_list_lines(model, contents)),
        parameters=tuple(
            (name, " ".join(repr(value).split())) for name, value in find_changed(model).items()
        ),
        edits=tuple(map(describe_edit, getattr(model, "edits_", ()))),
    )


def _describe_kind(contents: dict[str, Any], is_additive: bool) -> str:
    """Return the way the model works, in a sentence or two."""
    if is_additive and "tables" not in contents:
        return (
            "It adds up many small trees of questions, of which none has more than three features "
            "on a path.  So it is a sum of points: for each feature, for some pairs and for some "
            "triples of features.  All of these can be drawn, and read number by number."
        )
    if is_additive:
        several = (
            "one feature, or of two together" if contents["tables"]["pairs"] else "one feature"
        )
        return (
            f"It adds up points.  A look-up table turns the value of {several} into points for or "
            "against a class, and the sum of a row's points becomes its probability.  Every table "
            "can be drawn, and read number by number."
        )
    if "coefficients" in contents:
        return (
            "It is linear: each value is multiplied by a coefficient, and the sum of all becomes "
            "the probability."
        )
    if "trees" in contents and contents["trees"]["trees"] == 1:
        return "It is one tree of questions; the leaf where a row ends has its probability."
    return (
        "It adds up many small trees of questions.  Each tree gives a row points by the leaf where "
        "it ends; the sum of the points becomes the probability.  No single drawing shows what one "
        "feature does, as it depends on the others."
    )


_SUMS = (
    (
        "Missing: where training had missing values of a feature, they have points of their own, "
        "like a category.  Where it had none, the feature is left out of the sum."
    ),
    "the feature is left out of the sum",
)
"""A sentence on missing values of a model that adds up points, and a clause on new categories."""

_QUESTIONS = (
    (
        "Missing: at a question where training had missing values, they have a branch of their "
        "own.  Where it had none, the row stops there and gets the mean of what is below."
    ),
    "the row stops at such a question and gets the mean of what is below",
)
"""The same of a model of trees, which ask questions."""


def _list_strangers(
    model: TableClassifier,
    contents: dict[str, Any],
    bins: Sequence[FeatureBins],
    weights: Any,
    is_additive: bool,
) -> Iterator[str]:
    """Yield sentences on the model's use of values that training did not have."""
    n_numeric = sum(isinstance(feature_bins, NumericBins) for feature_bins in bins)
    if "coefficients" in contents:
        yield "A number must not be missing: such rows are refused."
        if n_numeric < len(bins):
            yield "A category that training did not have adds nothing."
        return
    missing, unseen = _SUMS if is_additive and "tables" in contents else _QUESTIONS
    labels = label_features(model)
    if weights is not None:
        yield _describe_missing(labels, bins, weights)
    yield missing
    yield from _describe_categories(labels, bins, unseen)
    if n_numeric:
        yield "A number beyond all of training: it counts as the nearest one that training had."


def _describe_missing(labels: Sequence[str], bins: Sequence[FeatureBins], weights: Any) -> str:
    """Return a sentence on the features with missing values in training."""
    had = [
        f"“{label}”"
        for label, feature_bins, weight in zip(labels, bins, weights, strict=True)
        if weight[feature_bins.n_bins] > 0.0
    ]
    return f"In training, values were missing of {list_words(had) if had else 'no feature'}."


def _describe_categories(
    labels: Sequence[str], bins: Sequence[FeatureBins], unseen: str
) -> Iterator[str]:
    """Yield sentences on categories that training did not have, if features have any."""
    categorical = [
        (label, feature_bins)
        for label, feature_bins in zip(labels, bins, strict=True)
        if isinstance(feature_bins, CategoricalBins)
    ]
    if categorical:
        yield f"A category that training did not have: {unseen}."
    rare = [f"“{label}”" for label, feature_bins in categorical if feature_bins.has_rare]
    if rare:
        yield f"Rare and new categories of {list_words(rare)} count as one category."


def _list_lines(model: TableClassifier, contents: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield facts on the model, by name."""
    family = getattr(model, "family_", None)
    if family is not None:
        yield "family", str(family)
    if "loss" in contents:
        known = dict(contents["loss"])
        yield "loss", str(known.pop("name"))
        for name, value in known.items():
            yield name, f"{value:g}"
    if contents.get("multiclass") is not None:
        yield "several classes", str(contents["multiclass"])
    if "n_iter" in contents:
        unit = "cycles" if contents.get("selection") == "cyclic" else "rounds"
        yield f"{unit} of boosting", f"{contents['n_iter']:,}"
    if "tables" in contents:
        tables = contents["tables"]
        yield "entries of look-up tables", f"{tables['entries']:,}"
        for name in ("pairs", "bags"):
            if tables.get(name):
                yield name, f"{tables[name]:,}"
    if "trees" in contents:
        trees = contents["trees"]
        yield "trees", f"{trees['trees']:,} with {trees['leaves']:,} leaves"
    if "coefficients" in contents:
        yield "coefficients that are not 0", f"{contents['coefficients']:,}"
    if "features" in contents:
        n_categorical = sum(feature["type"] == "categorical" for feature in contents["features"])
        yield "features", f"{len(contents['features']):,} ({n_categorical:,} categorical)"
