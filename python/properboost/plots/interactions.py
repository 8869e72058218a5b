"""Plots of the joint contribution of two or three features, as maps."""

from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.estimators.boosted import BoostedClassifier
from properboost.inspection.scales import Scale
from properboost.inspection.shape_functions import (
    InteractionFunction,
    InteractionMap,
    ShapeFunction,
)
from properboost.plots.canvas import (
    LINE,
    SECOND_LINE,
    find_axes,
    import_matplotlib,
    set_words,
    write,
    write_lines,
)
from properboost.plots.shapes import plot_shape_function

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["plot_term_function"]


def plot_term_function(
    clf: BoostedClassifier,
    features: Any,
    class_: Any = None,
    ax: Any = None,
    *,
    scale: Scale = "log_odds",
    confidence_level: float | None = 0.9,
) -> Any:
    """Plot the function of a term: a curve, a map, or a row of maps.

    One feature is drawn as by `plot_shape_function`.  Two are a map with a field per cell: blue
    where the term adds to the prediction of the class, orange where it subtracts, and white where
    training had no rows.  Stronger colours are larger values.  Three have a map for each range of
    the feature with the fewest levels, in the same colours; a cell is the mean over the range, by
    training weight.

    If the model has bags (`outer_bags`), white stripes mark the cells of two features whose
    interval holds the value that leaves the average row as it is.  The title marks a term within
    its noise as a whole.

    Parameters
    ----------
    clf : boosted classifier
        The fitted model.
    features : int, str, or sequence of these
        The features of one of its ``terms_``; the first goes upwards.
    class_ : label, optional
        The class of the prediction.  With two classes it defaults to ``classes_[1]``, with more to
        the one that the term moves most.
    ax : matplotlib axes, or a sequence of these, optional
        Where to draw; three features need one for each map.
    scale : {"log_odds", "probability", "raw"}, default="log_odds"
        The scale of the values, see `ProperBoostClassifier.shape_function`.  The axis names it.
    confidence_level : float or None, default=0.9
        The share of the intervals that hold the true value, for one or two features; None leaves
        them out.

    Returns
    -------
    matplotlib axes, or an array of them

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError, TypeError
        If the model has no such term, there is no such feature, class or scale, `ax` has not one
        place for each map, or `confidence_level` is not between 0 and 1.
    """
    function = clf.term_function(features, class_, scale)
    if isinstance(function, ShapeFunction):
        return plot_shape_function(
            clf,
            function.feature,
            class_,
            ax,
            scale=scale,
            confidence_level=confidence_level,
        )
    if len(function.features) == 2:
        return _plot_pair(function, ax, confidence_level)
    maps = function.to_maps()
    if ax is None:
        pyplot = import_matplotlib("pyplot")
        size = (1.5 + 2.6 * len(maps), 4.2)
        _, ax = pyplot.subplots(1, len(maps), figsize=size, squeeze=False, layout="constrained")
    places = np.ravel(ax)
    if len(places) != len(maps):
        raise ValueError(f"ax must be {len(maps)} axes, one for each map; got {len(places)}")
    largest = _find_largest(function)
    for k, (place, shown) in enumerate(zip(places, maps, strict=True)):
        image = _draw_map(place, function, shown, largest, with_rows=k == 0)
        place.set_title(write(shown.title or ""), fontsize="small")
    figure = places[0].figure
    figure.colorbar(image, ax=list(places)).set_label(write_lines(function.axis_label))
    figure.suptitle(_name(function))
    return places


def _plot_pair(
    function: InteractionFunction, ax: "Axes | None", confidence_level: float | None
) -> "Axes":
    (shown,) = function.to_maps()
    ax = find_axes(ax)
    image = _draw_map(ax, function, shown, _find_largest(function))
    label = write_lines(function.axis_label)
    if confidence_level is not None and function.n_bags > 0:
        _stripe_noise(ax, function, confidence_level)
        label += f"\n(white stripes: the interval contains {function.average:.2g})"
    ax.figure.colorbar(image, ax=ax).set_label(label)
    ax.set_title(_name(function))
    return ax


def _find_largest(function: InteractionFunction) -> float:
    """Return the largest change that maps show, which has the strongest colour."""
    changes = [
        np.abs(shown.values - function.average)[shown.weights > 0.0] for shown in function.to_maps()
    ]
    return max(float(change.max(initial=0.0)) for change in changes) or 1.0


def _draw_map(
    ax: "Axes",
    function: InteractionFunction,
    shown: InteractionMap,
    largest: float,
    *,
    with_rows: bool = True,
) -> "AxesImage":
    values = np.where(shown.weights > 0.0, shown.values, np.nan)
    colours = import_matplotlib("colors").LinearSegmentedColormap.from_list(
        "", [SECOND_LINE, "0.97", LINE]
    )
    low, high = function.average - largest, function.average + largest
    image = ax.imshow(values, cmap=colours, vmin=low, vmax=high, origin="lower", aspect="auto")
    first, second = shown.axes
    set_words(ax, "x", shown.levels[1])
    ax.set_xlabel(write(function.labels[second]))
    if with_rows:
        set_words(ax, "y", shown.levels[0])
        ax.set_ylabel(write(function.labels[first]))
    else:
        ax.set_yticks([])
    return image


def _name(function: InteractionFunction) -> str:
    noise = f"\nwithin noise (p = {function.p_value:.2f})" if function.within_noise else ""
    return " and ".join(map(write, function.labels)) + noise


def _stripe_noise(ax: "Axes", function: InteractionFunction, confidence_level: float) -> None:
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
