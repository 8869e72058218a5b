"""Figure 5: common properties of all canonical losses."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from properboost.plots import plot_loss
from properboost.reproduce.boostlr.canonical import CANONICAL, with_gains
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, at_least, at_most, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = {
    "slope at 0": exactly(-0.5, "-0.5"),
    "slope far below 0": exactly(-1.0, "-1"),
    "slope far above 0": exactly(0.0, "constant"),
    "slope": at_most(0.0, "decreasing"),
    "curvature": at_least(0.0, "convex"),
    "margin of the largest curvature": exactly(0.0, "the origin"),
    "2 mu phi''(0)": exactly(1.0, "1"),
    "rho(0) phi''(0)": exactly(1.0, "1"),
    "binding function plus v": exactly(0.0, "0"),
}
FAR = 1e4
"""The margin for limits, in units of the gain: GBoost's weight falls like 1/v^2."""


def measure(piece: Piece) -> Record:
    """Evaluate every loss at every gain, and keep for each property the gain that fits it least."""
    del piece
    worst_of_loss: dict[str, dict[str, float]] = {}
    for name in CANONICAL:
        worst = worst_of_loss.setdefault(name, {})
        for loss in with_gains(name).values():
            v = loss.gain * np.linspace(-20.0, 20.0, 4001)
            curvature = loss.curvature(v)
            slopes = -loss.weight(loss.gain * np.array([-FAR, 0.0, FAR]))
            here = {
                "slope at 0": slopes[1],
                "slope far below 0": slopes[0],
                "slope far above 0": slopes[2],
                "slope": -loss.weight(v).min(),
                "curvature": curvature.min(),
                "margin of the largest curvature": v[curvature.argmax()],
                "2 mu phi''(0)": 2.0 * loss.loss_margin * loss.curvature(0.0),
                "rho(0) phi''(0)": loss.regularization_strength(0.0) * loss.curvature(0.0),
                "binding function plus v": np.abs(loss.binding(v) + v).max(),
            }
            for what, value in here.items():
                worst[what] = max(worst.get(what, value), float(value), key=partial(distance, what))
    return worst_of_loss


def distance(what: str, value: float) -> float:
    """Return the distance of a value from its claim, or its nearness to contradicting it."""
    claim = CLAIMS[what]
    if not claim.is_claim:
        return abs(value - claim.middle)
    return value if math.isinf(claim.low) else -value


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the properties, by loss."""
    del reading
    return {
        (name, what): value
        for name, values in seed["curves"].items()
        for what, value in values.items()
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the loss and the inverse link of all four at gain 1, with the loss's asymptotes."""
    del seeds
    figure.set_size_inches(9.0, 3.6)
    left, right = figure.subplots(1, 2)
    losses = {name: with_gains(name)["sigma = 1"] for name in CANONICAL}
    plot_loss(losses, ["loss", "probability"], [left, right], margins=(-6.0, 6.0))
    left.plot([-6.0, 0.0, 6.0], [6.0, 0.0, 0.0], ":", color="0.6")
    left.annotate("slope -1", (-4.0, 4.1), (5, 0), textcoords="offset points")


ITEM = Item(
    title="general properties of canonical regularisation losses",
    units="slopes and curvatures of the loss",
    protocol="The four losses of Table 2 at gains 0.25, 0.5, 1 and 2, of which the one that fits "
    "least is shown; the properties are those of Lemma 14 and of the text.  'Far' is 10,000 gains "
    "from 0.",
    published={(name, what): published for name in CANONICAL for what, published in CLAIMS.items()},
    experiment=Experiment("boostlr-fig5", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
