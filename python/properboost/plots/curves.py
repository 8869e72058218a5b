"""Plots of curves over rows or regularisation."""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from properboost.plots.canvas import GUIDE, LINE, SECOND_LINE, find_axes, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_gain_curve", "plot_omega_curve"]


class _GainCurve(Protocol):
    """The part of a `properboost.diagnostics.GainCurve` that plots show."""

    @property
    def sizes(self) -> NDArray[np.int64]: ...
    @property
    def gains(self) -> NDArray[np.float64]: ...
    @property
    def grid(self) -> NDArray[np.float64]: ...
    @property
    def as_good(self) -> NDArray[np.bool_]: ...
    @property
    def best_gains(self) -> NDArray[np.float64]: ...
    @property
    def best_scores(self) -> NDArray[np.float64]: ...
    @property
    def loss(self) -> str: ...
    @property
    def n_estimators(self) -> int: ...
    @property
    def scoring(self) -> str: ...


class _OmegaCurve(Protocol):
    """The part of a `properboost.rado.OmegaCurve` that plots show."""

    @property
    def omegas(self) -> NDArray[np.float64]: ...
    @property
    def errors(self) -> NDArray[np.float64]: ...
    @property
    def n_coefficients(self) -> NDArray[np.int64]: ...
    @property
    def best_omega(self) -> float: ...
    @property
    def regularizer(self) -> str: ...


def plot_gain_curve(curve: _GainCurve, ax: "Axes | None" = None) -> "Axes":
    """Plot the best gain, and the score with it, against the number of training rows.

    Points are the best gains of single repeats; the band spans the gains that are as good as the
    best of all repeats together.

    Parameters
    ----------
    curve : GainCurve
        The result of `properboost.diagnostics.gain_curve`.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        Those of the gain; the score has axes of its own on the right.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    """
    ax = find_axes(ax)
    sizes, repeats = curve.sizes, curve.gains.shape[1]
    ends = np.array([curve.grid[good][[0, -1]] for good in curve.as_good])
    ax.fill_between(sizes, *ends.T, color=LINE, alpha=0.15, linewidth=0, label="as good")
    if repeats > 1:
        points: dict[str, Any] = {"marker": "o", "ms": 3, "alpha": 0.4, "linestyle": "none"}
        ax.plot(np.repeat(sizes, repeats), curve.gains.ravel(), color=LINE, **points)
    ax.plot(sizes, curve.best_gains, marker="o", color=LINE, label="best gain")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_ylim(min(ends.min(), curve.gains.min()) / 1.5, max(ends.max(), curve.gains.max()) * 1.5)
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda gain, _: f"{gain:g}")
    ax.set_xlabel("training rows")
    ax.set_ylabel(f"gain of {write(curve.loss)} ({curve.n_estimators} estimators)", color=LINE)
    right = ax.twinx()
    style: dict[str, Any] = {"color": SECOND_LINE, "marker": "s", "ms": 4, "linestyle": "--"}
    right.plot(sizes, curve.best_scores, **style)
    right.set_ylabel(write(curve.scoring), color=SECOND_LINE)
    lines, names = ax.get_legend_handles_labels()
    above: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 3}
    ax.legend([*lines, *right.lines], [*names, "score"], frameon=False, **above)
    return ax


def plot_omega_curve(curve: _OmegaCurve, ax: "Axes | None" = None) -> "Axes":
    """Plot held-out error and the number of coefficients against omega.

    Lines are means over the folds; the band is a standard error of the mean on either side.

    Parameters
    ----------
    curve : OmegaCurve
        The result of `properboost.rado.omega_curve`.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        Those of the error; the number of coefficients has axes of its own on the right.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    """
    ax = find_axes(ax)
    mean, folds = curve.errors.mean(axis=1), curve.errors.shape[1]
    deviation = curve.errors.std(axis=1, ddof=min(1, folds - 1)) / np.sqrt(folds)
    low, high = mean - deviation, mean + deviation
    ax.fill_between(curve.omegas, low, high, color=LINE, alpha=0.15, linewidth=0)
    ax.plot(curve.omegas, mean, marker="o", color=LINE, label="error")
    ax.axvline(curve.best_omega, color=GUIDE, linewidth=0.8)
    above = curve.omegas[curve.omegas > 0.0]
    if len(above) == len(curve.omegas):
        ax.set_xscale("log")
    elif len(above) > 0:  # 0 is in the part that is linear
        ax.set_xscale("symlog", linthresh=above[0])
    ax.set_xlabel(f"omega of {write(curve.regularizer)}")
    ax.set_ylabel("held-out error", color=LINE)
    right = ax.twinx()
    style: dict[str, Any] = {"color": SECOND_LINE, "marker": "s", "ms": 4, "linestyle": "--"}
    right.plot(curve.omegas, curve.n_coefficients.mean(axis=1), **style)
    right.set_ylabel("coefficients that are not 0", color=SECOND_LINE)
    return ax
