"""Figure 7: the weights of canonical losses, by gain."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from properboost.losses import MarginLoss
from properboost.plots import plot_loss
from properboost.reproduce.boostlr.canonical import CANONICAL, with_gains
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, at_least, at_most, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = 0.05
"""A weight that counts as none."""

COLUMNS = {
    "least move": f"least move of the margin of weight {SMALL:g}, from gain to gain",
    "largest rise": "largest rise of the largest slope, from gain to gain",
    "posterior": "weight at f*(p) less 1 - p",
}


def find_reach(loss: MarginLoss) -> float:
    """Return the margin from which on a row has almost no weight."""
    return float(brentq(lambda v: float(loss.weight(v)) - SMALL, 0.0, 100.0 * loss.gain))


def measure(piece: Piece) -> Record:
    """Find the reach of the weights, their steepness, and their limits."""
    del piece
    p = np.linspace(0.001, 0.999, 999)
    measures = {}
    for name in CANONICAL:
        losses = list(with_gains(name).values())
        slopes = [loss.curvature(loss.gain * np.linspace(-5.0, 5.0, 1001)).max() for loss in losses]
        measures[name] = {
            "least move": float(np.diff([find_reach(loss) for loss in losses]).min()),
            "largest rise": float(np.diff(slopes).max()),
            "posterior": float(
                max(np.abs(loss.weight(loss.link(p)) - (1.0 - p)).max() for loss in losses)
            ),
        }
    return measures


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the measures, by loss."""
    del reading
    return {
        (name, COLUMNS[what]): value
        for name, measures in seed["curves"].items()
        for what, value in measures.items()
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the weights, a plot for each loss."""
    del seeds
    figure.set_size_inches(9.0, 7.0)
    for name, ax in zip(CANONICAL, figure.subplots(2, 2).flat, strict=True):
        plot_loss(with_gains(name), ["weight"], [ax], margins=(-6.0, 6.0))
        ax.set_title(name)


ITEM = Item(
    title="weights of canonical losses, by gain",
    units="margins, slopes and weights",
    protocol=(
        "The four losses of Table 2 at gains 0.25, 0.5, 1 and 2 (the drawn gains are not in the "
        "text).  A larger gain 'extends the region of non-zero weight away from the boundary', "
        "here that of weights above 0.05, and 'reduces the derivative amplitude'; weights "
        "converge to the probabilities of the other class."
    ),
    published={
        **{(name, COLUMNS["least move"]): at_least(0.0, "extends") for name in CANONICAL},
        **{(name, COLUMNS["largest rise"]): at_most(0.0, "reduces") for name in CANONICAL},
        **{(name, COLUMNS["posterior"]): exactly(0.0, "equal") for name in CANONICAL},
    },
    experiment=Experiment("boostlr-fig7", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
