"""Plots of the course of a fit: the training risk, and losses of training and validation rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.labels import find_classes
from properboost.estimators.boosted import BoostedClassifier
from properboost.losses.probabilities import log_losses
from properboost.parameters.declare import read_parameter
from properboost.plots.canvas import LINE, SECOND_LINE, find_axes, find_style, name_line, write
from properboost.scoring import name_score, spell_score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_training"]


def plot_training(
    clf: BoostedClassifier,
    ax: "Axes | None" = None,
    *,
    data: Mapping[str, tuple[Any, ArrayLike]] | None = None,
) -> "Axes":
    """Plot the losses of tables after each estimator, or the training risk after each round.

    Parameters
    ----------
    clf : boosted classifier
        The fitted model.
    ax : matplotlib axes, optional
        Where to draw.
    data : mapping of str to (X, y), optional
        Tables and their labels, by the name of their line, such as ``{"training": (X, y),
        "validation": (X_val, y_val)}``.  Lines are mean log losses, in nats.  Without it the line
        is the training risk, which the model has.  If the fit had validation rows, their score is
        a second line, with axes of its own on the right.

    Returns
    -------
    matplotlib axes
        With a line per table; or with a line, or one per class, of the training risk.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    TypeError
        If `data` is no mapping.
    ValueError
        If the model is compact, and has no rounds.
    """
    if not isinstance(data, Mapping | None):
        raise TypeError(
            "data must be a dict of names to (X, y), such as {'training': (X, y)}; got a "
            f"{type(data).__name__}"
        )
    ax = find_axes(ax)
    if data is None:
        _plot_risk(clf, ax)
        _plot_validation(clf, ax)
        return ax
    for k, (name, (X, y)) in enumerate(data.items()):
        losses = _find_losses(clf, X, y)
        style = find_style(k)
        ax.plot(np.arange(1, len(losses) + 1), losses, **style, label=name_line(name))
    ax.set_xlabel("estimators")
    ax.set_ylabel("mean log loss")
    ax.legend()
    return ax


def _find_losses(clf: BoostedClassifier, X: Any, y: ArrayLike) -> NDArray[np.float64]:
    """Return the mean log loss of rows after each estimator."""
    means = []
    codes = None
    for probability in clf.staged_predict_proba(X):
        if codes is None:
            codes = find_classes(y, len(probability), clf.classes_)
        means.append(log_losses(probability, codes).mean())
    return np.array(means)


def _plot_risk(clf: BoostedClassifier, ax: "Axes") -> None:
    """Plot the training risk after each round."""
    history = clf.history_
    multiclass = len(clf.classes_) > 2 and "class" in history  # voting classifiers have one line
    for label in clf.classes_ if multiclass else clf.classes_[-1:]:
        of_class = history["class"] == label if multiclass else slice(None)
        color = None if multiclass else LINE
        rounds, risk = history["round"][of_class], history["risk"][of_class]
        ax.plot(rounds, risk, color=color, label=name_line(str(label)))
    ax.set_xlabel("round")
    ax.set_ylabel("training risk")
    if multiclass:
        ax.legend(title="class")


def _plot_validation(clf: BoostedClassifier, ax: "Axes") -> None:
    """Plot the scores of the fit's validation rows, if it had any; log losses without a minus."""
    scores = getattr(clf, "validation_scores_", None)
    if scores is None:
        return
    n_estimators = max(1, clf.ensemble_.n_estimators)
    rounds = max(1.0, float(clf.history_["round"].max(initial=0)) / n_estimators)
    name = name_score(read_parameter(clf, "early_stopping").scoring)
    sign = -1.0 if name == "neg_log_loss" else 1.0
    right = ax.twinx()
    style: dict[str, Any] = {"color": SECOND_LINE, "linestyle": "--"}
    right.plot(rounds * np.arange(1, len(scores) + 1), sign * scores, **style)
    words = "log loss" if sign < 0.0 else name
    right.set_ylabel(f"validation {write(spell_score(words))}", color=SECOND_LINE)
    ax.yaxis.label.set_color(LINE)
