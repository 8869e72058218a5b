"""Plots of shape functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost.estimators.boosted import BoostedClassifier
from properboost.inspection.bin_ends import find_bin_ends
from properboost.inspection.scales import Scale
from properboost.inspection.shape_functions import ShapeFunction
from properboost.parameters import checks
from properboost.plots.canvas import (
    BAND,
    ERROR,
    FAINT,
    GUIDE,
    LINE,
    find_axes,
    find_style,
    import_matplotlib,
    name_line,
    set_words,
    write,
    write_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_shape_function", "plot_shape_functions"]

_WIDE = 100.0
"""The least ratio of the last edge to the first on a logarithmic axis."""

_NOISE = "within noise"

_MOST_BANDS = 3
"""The most classes with bands; more would hide each other."""


def plot_shape_function(
    clf: BoostedClassifier,
    feature: int | str,
    class_: Any = None,
    ax: "Axes | None" = None,
    *,
    scale: Scale = "log_odds",
    max_classes: int = 6,
    max_categories: int = 20,
    confidence_level: float | None = 0.9,
) -> "Axes":
    """Plot the contribution of one feature to the prediction.

    A numeric feature is a line of steps from bin to bin, above the distribution of its training
    rows (grey, not to scale); a dashed line is the contribution of a missing value, if training had
    any.  The axis is logarithmic where most rows have the lowest value and others far larger ones.
    A categorical feature has one bar per category, the largest value at the top.

    With more than two classes each has a line, or a mark for each category.  Bands are drawn of
    three classes at most.

    If the model has bags (`outer_bags`), a band shows the function's interval, and error bars those
    of categories and of missing values.  A dotted line is the value that leaves the average row as
    it is, where that is not 0: where the interval holds it, there may be no effect.  The title, or
    the legend, marks a function that is within its noise as a whole.

    Parameters
    ----------
    clf : boosted classifier
        The fitted model.
    feature : int or str
        Position or name of the feature.
    class_ : label, optional
        The class of the prediction.  With two classes it defaults to ``classes_[1]``.  With more,
        the default draws those whose predictions the feature moves most.
    ax : matplotlib axes, optional
        Where to draw.
    scale : {"log_odds", "probability", "raw"}, default="log_odds"
        The scale of the values, see `ProperBoostClassifier.shape_function`.  The axis names it.
    max_classes : int, default=6
        The most classes that are drawn.
    max_categories : int, default=20
        With more categories, only those with most training weight are drawn; the title has the
        numbers.
    confidence_level : float or None, default=0.9
        The share of the intervals that hold the true value; None leaves them out.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError, TypeError
        If there is no such feature, class or scale, a number is not an integer above 0, or
        `confidence_level` is not between 0 and 1.
    """
    checks.integer("max_classes", max_classes, 1)
    checks.integer("max_categories", max_categories, 1)
    shapes = _find_shapes(clf, feature, class_, scale, max_classes)
    ax = find_axes(ax)
    ax.set_title(_draw_shapes(ax, clf, shapes, max_categories, confidence_level, ""))
    return ax


def plot_shape_functions(
    clf: BoostedClassifier,
    n_features: int = 6,
    class_: Any = None,
    *,
    scale: Scale = "log_odds",
    n_columns: int = 3,
    max_classes: int = 6,
    max_categories: int = 20,
    confidence_level: float | None = 0.9,
) -> "Figure":
    """Plot the shape functions of the most important features, each to its own scale.

    Parameters
    ----------
    clf : boosted classifier
        The fitted model.
    n_features : int, default=6
        The most features; they are chosen and ordered by ``feature_importances_``, which is in the
        titles.
    class_ : label, optional
        As in `plot_shape_function`.
    scale : {"log_odds", "probability", "raw"}, default="log_odds"
        As in `plot_shape_function`.
    n_columns : int, default=3
        Plots side by side.
    max_classes : int, default=6
        As in `plot_shape_function`.
    max_categories : int, default=20
        As in `plot_shape_function`.
    confidence_level : float or None, default=0.9
        As in `plot_shape_function`.

    Returns
    -------
    matplotlib figure
        A new one.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError, TypeError
        If there is no such class or scale, a number is not an integer above 0, or
        `confidence_level` is not between 0 and 1.
    """
    checks.integer("n_features", n_features, 1)
    checks.integer("n_columns", n_columns, 1)
    checks.integer("max_classes", max_classes, 1)
    checks.integer("max_categories", max_categories, 1)
    importances = clf.feature_importances_
    features = np.argsort(-importances, kind="stable")[:n_features]
    columns = min(n_columns, len(features))
    rows = -(-len(features) // columns)
    figure, grid = import_matplotlib("pyplot").subplots(
        rows, columns, figsize=(4.2 * columns, 3.2 * rows), squeeze=False, layout="constrained"
    )
    for feature, ax in zip(features, grid.flat, strict=False):
        shapes = _find_shapes(clf, int(feature), class_, scale, max_classes)
        share = f": {importances[feature]:.0%} of importance"
        title = _draw_shapes(ax, clf, shapes, max_categories, confidence_level, share)
        ax.set_title(title, fontsize="medium")
    for ax in grid.flat[len(features) :]:
        ax.set_axis_off()
    drawn: Figure = figure
    return drawn


def _find_shapes(
    clf: BoostedClassifier, feature: int | str, class_: Any, scale: Scale, most: int
) -> list[ShapeFunction]:
    """Return a feature's functions of the chosen class, or of the classes that it moves most."""
    if class_ is not None or len(clf.classes_) == 2:
        return [clf.shape_function(feature, class_, scale)]
    shapes = [clf.shape_function(feature, label, scale) for label in clf.classes_.tolist()]
    first = np.argsort([-_measure(shape) for shape in shapes], kind="stable")[:most]
    return [shapes[k] for k in np.sort(first)]


def _measure(shape: ShapeFunction) -> float:
    """Return the mean move of rows by a function, up to a factor that classes share."""
    known = float(shape.weights @ np.abs(shape.values - shape.average))
    return known + shape.missing_weight * abs(shape.missing_value - shape.average)


@dataclass(frozen=True)
class _ClassCurve:
    """A function of one class, with its style and its name in the legend."""

    shape: ShapeFunction
    style: dict[str, Any]
    name: str


def _draw_shapes(
    ax: "Axes",
    clf: BoostedClassifier,
    shapes: Sequence[ShapeFunction],
    max_categories: int,
    confidence_level: float | None,
    more: str,
) -> str:
    """Draw one feature's functions of several classes; return a title that includes `more`."""
    first = shapes[0]
    level = confidence_level if _has_bands(shapes) else None
    _draw_guides(ax, shapes, level)
    curves = _style(shapes, clf.classes_.tolist())
    title = write(first.label)
    if first.kind == "numeric":
        _draw_numbers(ax, curves, level)
    else:
        shown, present = _draw_categories(ax, curves, max_categories, level)
        if shown < present:
            title += f" ({shown} of {present} categories)"
    _write_axis(ax, shapes)
    _draw_legend(ax, len(shapes))
    return title + write(more) + _describe_noise(shapes)


def _has_bands(shapes: Sequence[ShapeFunction]) -> bool:
    """Whether the functions have intervals, few enough not to hide each other."""
    first = shapes[0]
    return first.n_bags > 0 and (first.kind != "numeric" or len(shapes) <= _MOST_BANDS)


def _draw_guides(ax: "Axes", shapes: Sequence[ShapeFunction], level: float | None) -> None:
    """Draw a line at 0, and dotted ones at the values that leave the average row as it is."""
    draw_line = ax.axhline if shapes[0].kind == "numeric" else ax.axvline
    if shapes[0].scale != "probability":
        draw_line(0.0, color=GUIDE, linewidth=0.8)
    for shape in shapes:
        if shape.average != 0.0 and (level is not None or shape.scale == "probability"):
            draw_line(shape.average, color=GUIDE, linestyle=":", linewidth=1.2)


def _style(shapes: Sequence[ShapeFunction], labels: Sequence[Any]) -> list[_ClassCurve]:
    """Return the curves of functions; a single one needs no name."""
    if len(shapes) == 1 and len(labels) <= 2:
        return [_ClassCurve(shapes[0], {"color": LINE}, "")]
    styles = [find_style(labels.index(shape.class_label)) for shape in shapes]
    names = [_name(shape) for shape in shapes] if len(shapes) > 1 else [""]
    return [_ClassCurve(*parts) for parts in zip(shapes, styles, names, strict=True)]


def _draw_numbers(ax: "Axes", curves: Sequence[_ClassCurve], level: float | None) -> None:
    """Draw the functions of a numeric feature."""
    for curve in curves:
        _draw_steps(ax, curve, level)
    _draw_density(ax, curves[0].shape)
    _draw_missing(ax, curves, level)
    _spread_out(ax, curves[0].shape)


def _write_axis(ax: "Axes", shapes: Sequence[ShapeFunction]) -> None:
    """Write the label of the functions' values at their axis."""
    first = shapes[0]
    label = first.axis_label if len(shapes) == 1 else _name_axis(first)
    (ax.set_ylabel if first.kind == "numeric" else ax.set_xlabel)(write_lines(label))


def _draw_legend(ax: "Axes", n_curves: int) -> None:
    """Draw a legend if anything has a name."""
    if not ax.get_legend_handles_labels()[1]:
        return
    if n_curves == 1:
        ax.legend()
    else:
        ax.legend(fontsize="x-small", ncols=1 + n_curves // 4)


def _describe_noise(shapes: Sequence[ShapeFunction]) -> str:
    """Return a line for a single function within noise; with more, the legend marks them."""
    first = shapes[0]
    if len(shapes) > 1 or not first.within_noise:
        return ""
    return f"\n{_NOISE} (p = {first.p_value:.2f})"


def _name(shape: ShapeFunction) -> str:
    name = name_line(str(shape.class_label))
    return f"{name} ({_NOISE})" if shape.within_noise else name


def _name_axis(shape: ShapeFunction) -> str:
    """Return the axis label of several classes."""
    label = shape.axis_label
    return label.replace(f" of {shape.class_label}", " of the class", 1)


def _find_bins(shape: ShapeFunction) -> tuple[NDArray[np.float64], slice]:
    return find_bin_ends(np.empty(0) if shape.edges is None else shape.edges)


def _draw_steps(ax: "Axes", curve: _ClassCurve, level: float | None) -> None:
    shape, style = curve.shape, curve.style
    edges, bins = _find_bins(shape)
    values = shape.values[bins]
    ax.plot(edges, [*values, values[-1]], drawstyle="steps-post", label=curve.name or None, **style)
    if level is not None:
        low, high = (ends[bins] for ends in shape.interval(level))
        band = import_matplotlib("patches").StepPatch(
            high, edges, baseline=low, fill=True, color=style["color"], **BAND
        )
        ax.add_patch(band)


def _draw_missing(ax: "Axes", curves: Sequence[_ClassCurve], level: float | None) -> None:
    """Draw the values of missing values as level lines, if training had any."""
    if curves[0].shape.missing_weight == 0.0:
        return
    for k, curve in enumerate(curves):
        shape, color = curve.shape, curve.style["color"]
        name = "missing" if k == 0 else None
        ax.axhline(shape.missing_value, linestyle="--", linewidth=1.0, color=color, label=name)
        if level is not None:
            # At the right end of the axes, whatever the feature's values are.
            at = [0.985 - 0.02 * k] * 2
            ax.plot(
                at,
                shape.missing_interval(level),
                marker="_",
                color=ERROR if len(curves) == 1 else color,
                transform=ax.get_yaxis_transform(),
            )


def _draw_density(ax: "Axes", shape: ShapeFunction) -> None:
    """Draw the distribution of the training rows along the lower edge of the axes."""
    edges, bins = _find_bins(shape)
    density = shape.weights[bins] / np.diff(edges)
    patch = import_matplotlib("patches").StepPatch(
        0.15 * density / density.max() if density.max() > 0.0 else density,
        edges,
        fill=True,
        facecolor=FAINT,
        edgecolor="none",
        zorder=0,
        transform=ax.get_xaxis_transform(),
    )
    ax.add_artist(patch)  # unlike add_patch, it leaves the limits of the axes alone


def _spread_out(ax: "Axes", shape: ShapeFunction) -> None:
    """Use a logarithmic axis where most rows have the lowest value and the rest are far apart."""
    edges = shape.edges
    if edges is None or len(edges) < 2 or not edges[-1] < np.finfo(np.float64).max:
        return
    if edges[0] <= 0.0 or edges[-1] < _WIDE * edges[0]:
        return
    if shape.weights[0] > 0.5 * shape.weights.sum():
        powers = 10.0 ** np.arange(np.ceil(np.log10(edges[0])), np.log10(edges[-1]))
        ax.set_xscale("symlog", linthresh=edges[0])
        ax.set_xticks([0.0, *powers], ["0", *(f"{power:,g}" for power in powers)])
        ax.set_xlim(0.0, 1.5 * edges[-1])


def _draw_categories(
    ax: "Axes", curves: Sequence[_ClassCurve], most: int, level: float | None
) -> tuple[int, int]:
    """Draw the categories; return the numbers of those drawn and of all."""
    first = curves[0].shape
    words, weights = list(first.labels), first.weights[: len(first.labels)]
    if first.missing_weight > 0.0:
        words, weights = [*words, "missing"], np.append(weights, first.missing_weight)
    # With several classes, the one that moves rows most decides the order.
    strongest = max((curve.shape for curve in curves), key=_measure)
    drawn = np.argsort(-weights, kind="stable")[:most]
    drawn = drawn[np.argsort(_list_values(strongest)[drawn], kind="stable")]
    if len(curves) == 1:
        _draw_bars(ax, curves[0], drawn)
    offsets = np.linspace(0.3, -0.3, len(curves)) if len(curves) > 1 else [0.0]
    for curve, offset in zip(curves, offsets, strict=True):
        at = np.arange(len(drawn)) + offset
        if len(curves) > 1:
            _draw_marks(ax, curve, drawn, at)
        if level is not None:
            _draw_errors(ax, curve, drawn, at, level, is_alone=len(curves) == 1)
    set_words(ax, "y", [words[k] for k in drawn])
    return len(drawn), len(words)


def _list_values(shape: ShapeFunction) -> NDArray[np.float64]:
    """Return the values of the categories, then that of missing values."""
    return np.append(shape.values[: len(shape.labels)], shape.missing_value)


def _draw_bars(ax: "Axes", curve: _ClassCurve, drawn: NDArray[np.intp]) -> None:
    """Draw categories as bars from 0, or from the average where values are probabilities."""
    shape = curve.shape
    left = shape.average if shape.scale == "probability" else 0.0
    widths = _list_values(shape)[drawn] - left
    ax.barh(np.arange(len(drawn)), widths, left=left, color=curve.style["color"])


def _draw_marks(
    ax: "Axes", curve: _ClassCurve, drawn: NDArray[np.intp], at: NDArray[np.float64]
) -> None:
    """Draw categories as marks at these heights."""
    marker = "o" if curve.style["linestyle"] == "-" else "s"
    values = _list_values(curve.shape)[drawn]
    ax.plot(values, at, marker, color=curve.style["color"], ms=4, label=curve.name)


def _draw_errors(
    ax: "Axes",
    curve: _ClassCurve,
    drawn: NDArray[np.intp],
    at: NDArray[np.float64],
    level: float,
    *,
    is_alone: bool,
) -> None:
    """Draw the intervals of categories as error bars at these heights."""
    values = _list_values(curve.shape)[drawn]
    reach = np.abs(_find_ends(curve.shape, level)[:, drawn] - values)
    bars: dict[str, Any] = {"ecolor": ERROR, "capsize": 3}
    if not is_alone:
        bars = {"ecolor": curve.style["color"]}
    ax.errorbar(values, at, xerr=reach, fmt="none", zorder=3, **bars)


def _find_ends(shape: ShapeFunction, level: float) -> NDArray[np.float64]:
    """Return the intervals of the categories, then that of missing values."""
    low, high = shape.interval(level)
    n = len(shape.labels)
    ends = zip((low[:n], high[:n]), shape.missing_interval(level), strict=True)
    return np.stack([np.append(*pair) for pair in ends])
