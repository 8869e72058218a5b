"""Plots of features' contributions to the prediction of single rows."""

from typing import TYPE_CHECKING

import numpy as np

from properboost.inspection.contributions import Contributions
from properboost.inspection.scales import Scale
from properboost.parameters import checks
from properboost.plots.canvas import (
    ERROR,
    GUIDE,
    LINE,
    SECOND_LINE,
    find_axes,
    set_words,
    shorten,
    write,
    write_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_contributions"]


def plot_contributions(
    contributions: Contributions,
    row: int = 0,
    ax: "Axes | None" = None,
    *,
    scale: Scale | None = None,
    max_features: int = 10,
    confidence_level: float | None = 0.9,
) -> "Axes":
    """Plot the contribution of each feature to the prediction of one row.

    Each feature is one bar, named with the row's value, the largest in size at the top.  The title
    has the values of the average row and of this row, with two classes also as probabilities.

    If the model has bags (`outer_bags`), error bars are the intervals of single features and pairs.
    Names mark features and pairs that are within their noise as a whole.

    Parameters
    ----------
    contributions : Contributions
        The result of `contributions` of a fitted model.
    row : int, default=0
        The position of the row.
    ax : matplotlib axes, optional
        Where to draw.
    scale : {"log_odds", "probability", "raw"}, optional
        The scale of the bars.  None is the scale of `contributions`, but log-odds for raw ones of
        two classes or a softmax.
    max_features : int, default=10
        With more features, all but the largest share the last bar, which has no error bar.  Where
        effects do not add up they are left out.
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
        If there is no such row, the contributions cannot be converted to this scale
        (`Contributions.to_scale`), `max_features` is not an integer above 0, or `confidence_level`
        is not between 0 and 1.
    """
    checks.integer("row", row, 0, len(contributions) - 1)
    checks.integer("max_features", max_features, 1)
    shown_row = _convert(contributions[row], scale)
    ax = find_axes(ax)
    values = shown_row.values[0]
    order = np.argsort(-np.abs(values), kind="stable")
    shown, rest = order[:max_features], order[max_features:]
    labels, bars = [_name(shown_row, int(j)) for j in shown], values[shown]
    if confidence_level is not None and shown_row.n_bags > 0:
        low, high = shown_row.interval(confidence_level)
        reach = np.abs(np.stack([low[0, shown], high[0, shown]]) - bars)
        at = np.arange(len(bars))
        ax.errorbar(bars, at, xerr=reach, fmt="none", ecolor=ERROR, capsize=3, zorder=3)
    if len(rest) > 0 and shown_row.additive:
        labels.append(f"{len(rest)} more")
        bars = np.append(bars, values[rest].sum())
    ax.barh(np.arange(len(bars)), bars, color=np.where(bars < 0.0, SECOND_LINE, LINE).tolist())
    set_words(ax, "y", labels, most=70)
    ax.invert_yaxis()
    ax.axvline(0.0, color=GUIDE, linewidth=0.8)
    ax.set_xlabel(write_lines(shown_row.axis_label))
    ax.set_title(_describe(shown_row))
    return ax


def _convert(contributions: Contributions, scale: Scale | None) -> Contributions:
    """Return contributions on the scale to draw."""
    if scale is not None:
        return contributions.to_scale(scale)
    if contributions.scale == "raw" and contributions.can_turn("log_odds"):
        return contributions.to_scale("log_odds")
    return contributions


def _name(contributions: Contributions, term: int) -> str:
    noise = contributions.within_noise
    noisy = " (within noise)" if noise is not None and noise[term] else ""
    value = shorten(contributions.describe_value(0, term), 20)
    return f"{shorten(contributions.names[term], 28)} = {value}{noisy}"


def _describe(contributions: Contributions) -> str:
    """Return the title: the values of the average row and of the row."""
    label = write(str(contributions.class_label))
    words = f"class {label}: from {contributions.baseline:.3g} to {contributions.total[0]:.3g}"
    if contributions.scale == "probability" or not contributions.can_turn("probability"):
        return words
    p = contributions.to_scale("probability")
    return f"{words}\nprobability {p.baseline:.3g} to {p.total[0]:.3g}"
