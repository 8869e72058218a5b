"""Plots of the joint contribution of two features."""

from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.estimators.boosted import BoostedClassifier
from properboost.inspection.scales import Scale
from properboost.inspection.shape_functions import PairFunction
from properboost.plots.canvas import (
    LINE,
    SECOND_LINE,
    find_axes,
    import_matplotlib,
    set_words,
    write,
    write_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_pair_function"]


def plot_pair_function(
    clf: BoostedClassifier,
    first: int | str,
    second: int | str,
    class_: Any = None,
    ax: "Axes | None" = None,
    *,
    scale: Scale = "log_odds",
    confidence_level: float | None = 0.9,
) -> "Axes":
    """Plot the contribution of two features together, beyond their contributions alone.

    One field per cell: blue where the pair adds to the prediction of the class, orange where it
    subtracts, and white where training had no rows.  Stronger colours are larger values.  Where
    effects add up the mean of every row and of every column is 0, by training weight.

    If the model has bags (`outer_bags`), white stripes mark cells whose interval holds the value
    that leaves the average row as it is.  The title marks a pair within its noise as a whole.

    Parameters
    ----------
    clf : boosted classifier
        The fitted model.
    first, second : int or str
        Positions or names of the features of one of its ``pairs_``; the first goes upwards.
    class_ : label, optional
        The class of the prediction.  With two classes it defaults to ``classes_[1]``, with more to
        the one that the pair moves most.
    ax : matplotlib axes, optional
        Where to draw.
    scale : {"log_odds", "probability", "raw"}, default="log_odds"
        The scale of the values, see `ProperBoostClassifier.shape_function`.  The axis names it.
    confidence_level : float or None, default=0.9
        The share of the intervals that hold the true value; None leaves out the stripes.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError, TypeError
        If the model has no look-up table for the pair, there is no such feature, class or scale, or
        `confidence_level` is not between 0 and 1.
    """
    function = clf.pair_function(first, second, class_, scale)
    values = np.where(function.weights > 0.0, function.values, np.nan)
    largest = float(np.nanmax(np.abs(values - function.average)))
    ax = find_axes(ax)
    colours = import_matplotlib("colors").LinearSegmentedColormap.from_list(
        "", [SECOND_LINE, "0.97", LINE]
    )
    low, high = function.average - largest, function.average + largest
    image = ax.imshow(values, cmap=colours, vmin=low, vmax=high, origin="lower", aspect="auto")
    set_words(ax, "y", function.levels[0])
    set_words(ax, "x", function.levels[1])
    names = [write(name) for name in function.labels]
    ax.set_ylabel(names[0])
    ax.set_xlabel(names[1])
    label = write_lines(function.axis_label)
    if confidence_level is not None and function.n_bags > 0:
        _stripe_noise(ax, function, confidence_level)
        label += f"\n(white stripes: the interval contains {function.average:.2g})"
    ax.figure.colorbar(image, ax=ax).set_label(label)
    noise = f"\nwithin noise (p = {function.p_value:.2f})" if function.within_noise else ""
    ax.set_title(" and ".join(names) + noise)
    return ax


def _stripe_noise(ax: "Axes", function: PairFunction, confidence_level: float) -> None:
    """Stripe the cells with training rows whose interval holds no change."""
    low, high = function.interval(confidence_level)
    shown = (function.weights > 0.0) & (low <= function.average) & (high >= function.average)
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    cells = import_matplotlib("collections").PolyCollection(
        np.argwhere(shown)[:, None, ::-1] + corners,
        facecolor="none",
        edgecolor="white",
        linewidth=0,
        hatch="///",
    )
    ax.add_collection(cells, autolim=False)
