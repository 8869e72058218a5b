"""The report of ``properboost fit``: the rows, the scores and the important features."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

from properboost.cli.fit_lines import NONE_HELD_OUT, show_scores
from properboost.cli.fit_rows import TrainingFrame
from properboost.estimators.boosted import BoostedClassifier
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.rado.estimator import RadoBoostClassifier
from properboost.visible import make_printable

if TYPE_CHECKING:
    from properboost.report.content import Term

__all__ = ["describe_choice", "evaluate", "hold_out"]

MOST_LISTED = 10
"""The most features that are listed, and joint effects."""

Model: TypeAlias = BoostedClassifier | RadoBoostClassifier


def hold_out(model: Model, rows: TrainingFrame, share: float) -> str:
    """Return the report's line on rows that a model has not seen."""
    if share == 0.0:
        return NONE_HELD_OUT
    classes, counts = np.unique(rows.labels, return_counts=True)
    if counts.min() < 2:
        return f"held out: none, because class {classes[counts.argmin()]!s} has one row only"
    try:
        fitted, held_out = train_test_split(
            np.arange(len(rows.labels)), test_size=share, stratify=rows.labels, random_state=0
        )
    except ValueError:  # fewer rows on one side than there are classes
        return "held out: none, because there are too few rows"
    trial = clone(model)
    rows.take(fitted).fit(trial)
    unseen = rows.take(held_out)
    return _scores("held out", unseen, trial.classes_, trial.predict_proba(unseen.X))


def evaluate(model: Model, rows: TrainingFrame, name: str = "other file") -> str:
    """Return the report's line on the rows of another file, or on others."""
    return _scores(name, rows, model.classes_, model.predict_proba(rows.X))


def _scores(
    name: str, rows: TrainingFrame, classes: NDArray[Any], probability: NDArray[np.float64]
) -> str:
    _, labels, weight = rows
    loss = log_loss(labels, probability, sample_weight=weight, labels=classes)
    accuracy = accuracy_score(labels, classes[probability.argmax(1)], sample_weight=weight)
    return show_scores(name, len(labels), loss, accuracy)


def describe_choice(model: Model) -> str:
    """Return the lines on the choice of a search, and on the important features."""
    return "\n".join(map(make_printable, [*_describe_search(model), *_describe_features(model)]))


def _describe_features(model: Model) -> list[str]:
    """Return the lines of the report on the most important features."""
    if isinstance(model, RadoBoostClassifier):
        coefficients = model.coef_[0]
        order = np.argsort(-np.abs(coefficients), kind="stable")[:10]
        named = [(coefficients[k], model.coef_names_[k]) for k in order if coefficients[k] != 0.0]
        return ["coefficient  column", *(f"{theta:>11.4g}  {name}" for theta, name in named)]
    from properboost.report.effects import list_terms  # after the fit, for which a user waits

    terms = list_terms(model)
    lines = _list_importances("feature", [term for term in terms if not term.is_pair])
    joint = [term for term in terms if term.is_pair]
    if joint:
        title = "joint effect (each of its features has an equal share of it, too)"
        lines += ["", *_list_importances(title, joint)]
    if any(term.error is not None for term in terms):
        lines += ["", *_ERRORS]
    return lines


_ERRORS = (
    "+- is the standard error of the size, and not of the shape.  The bags cannot",
    "distinguish what may be chance from no effect: do not interpret its shape.",
)


def _list_importances(title: str, terms: "list[Term]") -> list[str]:
    """Return a line for each of the most important terms, with its error over bags."""
    lines = []
    for term in terms[:MOST_LISTED]:
        error = "" if term.error is None else f" +-{term.error:<6.1%}"
        noise = "  (may be chance)" if term.within_noise else ""
        lines.append(f"{term.importance:>10.1%}{error}  {term.name}{noise}")
    width = 10 + (9 if any(term.error is not None for term in terms) else 0)
    return [f"{'importance':<{width}}  {title}", *lines]


def _describe_search(model: Model) -> list[str]:
    """Return the lines of the report on the choice of a search."""
    if not isinstance(model, ProperBoostClassifierCV):
        return []
    unit = "cycles" if model.ensemble_.selection == "cyclic" else "rounds"
    chosen = f"gain {model.gain_:g}, {model.n_estimators_:,} {unit}"
    score = f"(log loss {-model.best_score_:.4f})"
    how = f"by {model.n_splits_}-fold cross-validation"
    lines = [
        (
            f"chosen {how if model.n_splits_ > 1 else 'on a fifth of the rows held out'} {score}: "
            f"{chosen}"
        )
    ]
    if model.family_results_ is not None:
        lines = [f"{lines[0]}, of {model.family_}", "", *model.describe_search().splitlines()]
    calibration = model.calibration_
    if calibration is not None and calibration["kept"]:
        kind = "temperature" if "temperature" in calibration else "slope"
        what = (
            f"{kind} {calibration[kind]:g} and intercepts"
            if len(model.classes_) > 2
            else (f"slope {calibration['slope']:g} and intercept {calibration['intercept']:g}")
        )
        lines.append(
            f"calibrated on the rows held out (log loss {-calibration['gain']:+.4f}): {what}"
        )
    return [*lines, ""]
