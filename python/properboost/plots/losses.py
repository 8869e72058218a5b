"""Plots of losses: their weights, inverse links, minimum risks and so on."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from properboost.losses.builtin import LossCurve
from properboost.parameters import checks
from properboost.plots.canvas import STYLES, import_matplotlib, name_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_loss"]

_PANELS = {
    "loss": "loss phi(v)",
    "weight": "weight -phi'(v)",
    "curvature": "curvature phi''(v)",
    "probability": "probability, the inverse link of v",
    "minimum_risk": "minimum risk C*(p)",
    "regularization_strength": "regularisation strength rho(v)",
    "binding": "binding function beta(v)",
    "link": "link f*(p)",
}
"""The drawable methods of a loss, with the labels of their values."""

_OF_PROBABILITY = ("minimum_risk", "link")


def plot_loss(
    losses: LossCurve | Sequence[LossCurve] | Mapping[str, LossCurve],
    panels: Sequence[str] = ("loss", "weight", "probability", "minimum_risk"),
    axes: "Sequence[Axes] | None" = None,
    *,
    margins: tuple[float, float] = (-4.0, 4.0),
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> "list[Axes]":
    """Plot losses: their weights, inverse links, minimum risks and so on.

    Parameters
    ----------
    losses : loss, sequence of losses or mapping of str to loss
        The losses, in a mapping with names for the legend, in which ``$`` begins a formula;
        otherwise the legend has the shortest words that distinguish the losses.  Curves that cannot
        be trained, such as `properboost.losses.Hinge`, are drawn too; where they have no
        probability they have no line.
    panels : sequence of str, default=("loss", "weight", "probability", "minimum_risk")
        The losses' methods, each of which gets a plot: these, ``"curvature"``,
        ``"regularization_strength"``, ``"binding"``, ``"link"``.
    axes : sequence of matplotlib axes, optional
        Where to draw, as many as there are panels.
    margins : pair of float, default=(-4, 4)
        The range of the margin.
    limits : mapping of str to pair of float, optional
        The range of the values of a panel, for values that would dwarf the others.

    Returns
    -------
    list of matplotlib axes
        One for each panel; the first has the legend.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        If there is no panel, or no such panel, `margins` do not rise, or there are not as many axes
        as panels.

    Examples
    --------
    >>> from properboost.losses import GLog, Savage
    >>> from properboost.plots import plot_loss
    >>> axes = plot_loss([GLog(), Savage()], ["weight", "binding"])  # doctest: +SKIP
    """
    known = partial(checks.choice, known=list(_PANELS))
    panels = checks.entries("panels", panels, known)
    first, last = (checks.finite("margins", end) for end in margins)
    if not first < last:
        raise ValueError(f"margins must rise; got {margins!r}")
    named = _name_losses(losses)
    if axes is None:
        columns = min(len(panels), 3) if len(panels) != 4 else 2
        rows = -(-len(panels) // columns)
        _, grid = import_matplotlib("pyplot").subplots(
            rows, columns, figsize=(3.8 * columns, 3.2 * rows), squeeze=False, layout="constrained"
        )
        axes = grid.ravel()[: len(panels)]
        for ax in grid.ravel()[len(panels) :]:
            ax.set_axis_off()
    if len(axes) != len(panels):
        raise ValueError(f"axes must be {len(panels)}, one for each panel; got {len(axes)}")
    v = np.linspace(first, last, 801)
    p = np.linspace(0.0, 1.0, 801)
    for ax, panel in zip(axes, panels, strict=True):
        at = p if panel in _OF_PROBABILITY else v
        for k, (label, loss) in enumerate(named.items()):
            values = getattr(loss, panel)(at)
            ax.plot(at, np.where(np.isfinite(values), values, np.nan), STYLES[k % 4], label=label)
        ax.set_xlabel("probability p" if panel in _OF_PROBABILITY else "margin v")
        ax.set_ylabel(_PANELS[panel])
        ax.margins(x=0.0)
        if limits is not None and panel in limits:
            ax.set_ylim(limits[panel])
    if len(named) > 1 and len(axes) > 0:
        axes[0].legend(fontsize="small")
    return list(axes)


def _name_losses(
    losses: LossCurve | Sequence[LossCurve] | Mapping[str, LossCurve],
) -> Mapping[str, LossCurve]:
    """Return losses by their names in the legend."""
    if isinstance(losses, Mapping):
        return losses
    several = [losses] if isinstance(losses, LossCurve) else list(losses)
    if len({loss.gain for loss in several}) == 1 < len({loss.name for loss in several}):
        names = [loss.name.replace("_", " ") for loss in several]
        if len(set(names)) == len(names):
            return dict(zip(map(name_line, names), several, strict=True))
    return {name_line(repr(loss)): loss for loss in several}
