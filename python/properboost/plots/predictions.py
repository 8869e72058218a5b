"""Plots of predictions against labels: their calibration and their margins."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from properboost.metrics import margin_distribution
from properboost.plots.canvas import GUIDE, find_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_margin_distribution", "plot_reliability"]

_DIAGONAL = "perfect"


def plot_reliability(
    y: ArrayLike,
    probability: ArrayLike,
    ax: "Axes | None" = None,
    *,
    label: str | None = None,
    n_bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
    pos_label: Any = None,
    **line: Any,
) -> "Axes":
    """Plot the share of positive rows against the predicted probability.

    Calibrated probabilities lie on the diagonal.  Called again with the same axes, it adds a line.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The rows' labels, of two classes.
    probability : array-like of shape (n_rows,)
        Predicted probabilities of the positive class: one column of ``predict_proba``.
    ax : matplotlib axes, optional
        Where to draw.
    label : str, optional
        The line's name in the legend, in which ``$`` begins a formula.
    n_bins : int, default=10
        The number of bins of the probabilities; empty ones have no point.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equally many rows.
    pos_label : label, optional
        The positive class; needed unless the labels are 0 and 1, or -1 and 1.
    **line
        Passed to ``Axes.plot``: ``color``, ``marker`` and the like.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        If the labels are not of two classes, or a probability is outside [0, 1].
    """
    from sklearn.calibration import calibration_curve

    observed, predicted = calibration_curve(
        y, probability, n_bins=n_bins, strategy=strategy, pos_label=pos_label
    )
    ax = find_axes(ax)
    if _DIAGONAL not in ax.get_legend_handles_labels()[1]:
        ax.plot([0.0, 1.0], [0.0, 1.0], ":", color=GUIDE, label=_DIAGONAL)
    style: dict[str, Any] = {"marker": "o", "markersize": 4}
    ax.plot(predicted, observed, label=label, **(style | line))
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("share of positive rows")
    ax.set_aspect("equal", adjustable="box")
    ax.legend()
    return ax


def plot_margin_distribution(
    margins: ArrayLike,
    ax: "Axes | None" = None,
    *,
    label: str | None = None,
    sample_weight: ArrayLike | None = None,
    **line: Any,
) -> "Axes":
    """Plot the cumulative distribution of margins.

    The height of the line at a margin is the share of rows whose margin does not exceed it (Nock
    and Nielsen 2009, section 5); its height at the grey line at 0 is the share of errors.  Called
    again with the same axes, it adds a line.

    Parameters
    ----------
    margins : array-like of shape (n_rows,)
        Margins: those of ``clf.margins(X, y, normalized=True)`` are in [-1, 1], and models of
        different losses can be compared.
    ax : matplotlib axes, optional
        Where to draw.
    label : str, optional
        The line's name in the legend, in which ``$`` begins a formula.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.
    **line
        Passed to ``Axes.plot``: ``color``, ``linestyle`` and the like.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        If there are no margins, or one is not finite.
    """
    at, shares = margin_distribution(margins, sample_weight=sample_weight)
    # Normalised margins have their whole range.
    first, last = (-1.0, 1.0) if np.abs(at).max() <= 1.0 else (at[0], at[-1])
    ax = find_axes(ax)
    if not ax.lines:
        ax.axvline(0.0, color=GUIDE, linewidth=0.8)
    style: dict[str, Any] = {"drawstyle": "steps-post", "label": label}
    ax.plot([first, *at, last], [0.0, *shares, 1.0], **(style | line))
    ax.set_xlabel("margin")
    ax.set_ylabel("share of rows up to the margin")
    ax.margins(x=0.0)
    ax.set_ylim(0.0, 1.0)
    if label is not None:
        ax.legend()
    return ax
