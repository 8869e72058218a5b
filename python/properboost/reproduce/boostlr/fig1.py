"""Figure 1: the logistic loss with its margin, its inverse link and the growth rate of that."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from properboost.losses import GLog
from properboost.plots import plot_loss
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, at_least, at_most, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOGISTIC = "logistic loss"


def measure(piece: Piece) -> Record:
    """Evaluate the logistic loss between 0 and its margin, and its inverse link everywhere."""
    del piece
    loss = GLog()
    v = np.linspace(-20.0, 20.0, 4001)
    growth = 1.0 / loss.regularization_strength(v)
    return {
        "margin": loss.loss_margin,
        "least penalty": float(loss.loss(np.linspace(0.0, loss.loss_margin, 1001)[1:-1]).min()),
        "growth": float(growth.max()),
        "fastest at": float(v[growth.argmax()]),
        "half the strength": float(loss.regularization_strength(0.0)) / 2.0,
    }


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the numbers that the text mentions."""
    del reading
    curves = seed["curves"]
    return {
        (LOGISTIC, "loss margin mu"): curves["margin"],
        (LOGISTIC, "least penalty, 0 < v < mu"): curves["least penalty"],
        (LOGISTIC, "largest growth rate"): curves["growth"],
        (LOGISTIC, "margin of the largest growth rate"): curves["fastest at"],
        (LOGISTIC, "rho(0)/2 less mu"): curves["half the strength"] - curves["margin"],
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the loss with its margin on the left, and the inverse link with its growth rate."""
    figure.set_size_inches(9.0, 3.6)
    left, right = figure.subplots(1, 2)
    mu = seeds[0]["curves"]["margin"]
    plot_loss(GLog(), ["loss", "probability"], [left, right], margins=(-6.0, 6.0))
    left.axvline(mu, color="0.6", linestyle=":")
    left.annotate("loss margin mu", (mu, 4.0), (5, 0), textcoords="offset points")
    v = np.linspace(-6.0, 6.0, 401)
    right.plot(v, 1.0 / GLog().regularization_strength(v), color="#D55E00", label="growth rate")
    right.lines[0].set_label("inverse link")
    right.set_ylabel("inverse link, growth rate")
    right.legend()


ITEM = Item(
    title="the logistic loss, its margin, and its inverse link",
    units="margins, losses, and rates of the inverse link",
    protocol="Curves of the library's glog at gain 1.  The published values are from the text.",
    published={
        (LOGISTIC, "loss margin mu"): exactly(2.0, "2"),
        (LOGISTIC, "least penalty, 0 < v < mu"): at_least(0.0, "non-zero"),
        (LOGISTIC, "largest growth rate"): at_most(1.0, "smaller than one"),
        (LOGISTIC, "margin of the largest growth rate"): exactly(0.0, "the origin"),
        (LOGISTIC, "rho(0)/2 less mu"): exactly(0.0, "equal"),
    },
    experiment=Experiment("boostlr-fig1", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
