"""Plots of the importances of features."""

from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.estimators.base import label_features
from properboost.parameters import checks
from properboost.plots.canvas import LINE, find_axes, set_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_importance"]


def plot_importance(clf: Any, ax: "Axes | None" = None, *, n_features: int = 20) -> "Axes":
    """Plot the importances of features as bars, the largest at the top.

    Parameters
    ----------
    clf : classifier
        A fitted model with `feature_importances_`.
    ax : matplotlib axes, optional
        Where to draw.
    n_features : int, default=20
        The most bars.

    Returns
    -------
    matplotlib axes
        With a bar per feature.  The importances of all features add up to 1.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    TypeError
        If `clf` is of a class without importances, as a pipeline is.
    AttributeError
        If the model has no importances, as a compact model of trees.

    See Also
    --------
    plot_shape_functions : The effects of features, whose size importances are.
    """
    most = checks.integer("n_features", n_features, 1, checks.LARGEST_INT)
    if not hasattr(type(clf), "feature_importances_"):
        advice = ": pass its last step, pipeline[-1]" if hasattr(clf, "steps") else ""
        raise TypeError(f"clf must have feature_importances_; got a {type(clf).__name__}{advice}")
    importances = np.asarray(clf.feature_importances_)
    shown = np.argsort(-importances, kind="stable")[:most]
    labels = label_features(clf)
    ax = find_axes(ax)
    ax.barh(np.arange(len(shown)), importances[shown], color=LINE)
    set_words(ax, "y", [labels[j] for j in shown])
    ax.invert_yaxis()
    of_all = "" if len(shown) == len(importances) else f", {len(shown)} of {len(importances)}"
    ax.set_xlabel(f"importance (share of all{of_all} features)")
    return ax
