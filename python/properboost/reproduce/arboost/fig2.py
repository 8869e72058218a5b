"""Figure 2: AR-Boost's loss compared with the customary ones."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.losses import Exponential, GLog
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import at_most, printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RHO = 4.0
"""The paper's best on diabetes; the figure names none."""

MARGINS = np.linspace(-2.0, 2.0, 401)


def arboost(v: Any) -> Any:
    """Return exp(-v - lambda |y - h|) where the newest classifier h decides the margin's sign."""
    return np.exp(-v) * np.where(v < 0.0, 1.0 / RHO, 1.0)


LOSSES: Mapping[str, Callable[[Any], Any]] = {
    "misclassification": lambda v: np.where(v < 0.0, 1.0, 0.0),
    "exponential": Exponential().loss,
    "logistic, in bits": lambda v: GLog().loss(2.0 * v) / np.log(2.0),
    "squared": lambda v: (1.0 - v) ** 2,
    "hinge": lambda v: np.maximum(0.0, 1.0 - v),
    "AR-Boost, rho 4": arboost,
}


def measure(piece: Piece) -> Record:
    """Compare the loss with the exponential one."""
    del piece
    right, wrong = MARGINS[MARGINS >= 0.0], MARGINS[MARGINS < 0.0]
    ada = Exponential()
    squared = LOSSES["squared"](right[right >= 1.0])
    return {
        "right": float(np.max(np.abs(arboost(right) - ada.loss(right)))),
        "wrong": float(np.max(arboost(wrong) / ada.loss(wrong))),
        "squared": float(np.max(-np.diff(squared))),
    }


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return the differences of the losses."""
    del reading
    comparisons = seed["curves"]
    return {
        ("AR-Boost's loss less AdaBoost's", "no error"): comparisons["right"],
        ("AR-Boost's loss, as a multiple of AdaBoost's", "an error"): comparisons["wrong"],
        ("largest fall of the squared loss", "margins above 1"): comparisons["squared"],
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the losses by their margin."""
    del seeds
    ax = figure.subplots()
    for name, loss in LOSSES.items():
        ours = name.startswith("AR")
        colour = "#D55E00" if ours else None
        ax.plot(MARGINS, loss(MARGINS), lw=2 if ours else 1, color=colour, label=name)
    ax.set_ylim(0.0, 5.0)
    ax.set_xlabel("margin y f(x)")
    ax.set_ylabel("loss")
    ax.legend(fontsize=9)


ITEM = Item(
    title="common losses of two classes, and AR-Boost's",
    units="losses and ratios of them",
    protocol="Curves by formula, for margins from -2 to 2, where h has the sign of f.",
    published={
        ("AR-Boost's loss less AdaBoost's", "no error"): printed("0.000"),
        ("AR-Boost's loss, as a multiple of AdaBoost's", "an error"): at_most(1.0, "less"),
        ("largest fall of the squared loss", "margins above 1"): at_most(0.0, "it increases"),
    },
    experiment=Experiment("arboost-fig2", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
