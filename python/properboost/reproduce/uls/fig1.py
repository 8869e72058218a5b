"""Figure 1: the loss of a prediction in [0, 1], the Bregman divergence of Matsushita's function."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from properboost.losses import PermissibleFunction
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, at_least, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MATSUSHITA = PermissibleFunction("matsushita")
LOSS = "D(y || H) of Matsushita's function"


def measure(piece: Piece) -> Record:
    """Search a grid for violations of assumptions A1 to A3."""
    del piece
    y, H = np.meshgrid(np.linspace(0.0, 1.0, 101), np.linspace(0.001, 0.999, 999))
    loss = MATSUSHITA.divergence(y, H)
    shares, predictions = np.linspace(0.01, 0.99, 99), np.linspace(0.001, 0.999, 999)
    positive = MATSUSHITA.divergence(1.0, predictions)
    negative = MATSUSHITA.divergence(0.0, predictions)
    mean = shares[:, None] * positive + (1.0 - shares[:, None]) * negative
    return {
        "least": float(loss.min()),
        "asymmetry": float(np.abs(loss - loss[::-1, ::-1]).max()),
        "bias": float(np.abs(predictions[mean.argmin(axis=1)] - shares).max()),
        "right": float(MATSUSHITA.divergence([0.0, 0.3, 1.0], [0.0, 0.3, 1.0]).max()),
    }


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the properties of Lemma 1."""
    del reading
    properties = seed["curves"]
    return {
        (LOSS, "least value (A1)"): properties["least"],
        (LOSS, "best constant prediction less the share of positives (A2)"): properties["bias"],
        (LOSS, "l(y, H) less l(1-y, 1-H) (A3)"): properties["asymmetry"],
        (LOSS, "l(y, y)"): properties["right"],
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the surface."""
    del seeds
    ax = figure.add_subplot(projection="3d")
    y, H = np.meshgrid(np.linspace(0.0, 1.0, 41), np.linspace(0.01, 0.99, 41))
    ax.plot_surface(y, H, MATSUSHITA.divergence(y, H), cmap="viridis")
    ax.set_xlabel("y")
    ax.set_ylabel("H")
    ax.set_title("D(y || H)")


ITEM = Item(
    title="the loss l(y, H) = D(y || H) of Matsushita's permissible function",
    units="losses and probabilities",
    protocol=(
        "The divergence on a grid of y and H, with the assumptions of Lemma 1: at least 0, "
        "proper (the best constant prediction is the share of positives, on a grid that holds "
        "it), symmetric."
    ),
    published={
        (LOSS, "least value (A1)"): at_least(0.0),
        (LOSS, "best constant prediction less the share of positives (A2)"): exactly(0.0, "equal"),
        (LOSS, "l(y, H) less l(1-y, 1-H) (A3)"): exactly(0.0, "equal"),
        (LOSS, "l(y, y)"): exactly(0.0, "0"),
    },
    experiment=Experiment("uls-fig1", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
