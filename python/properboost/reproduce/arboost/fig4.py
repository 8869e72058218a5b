"""Figure 4: the cost of a round's step, for classifiers of different errors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import at_least, at_most, printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RHO = 6.0
ERRORS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
WORST = RHO / (1.0 + RHO)


def cost(alpha: Any, error: float) -> Any:
    """Return f(alpha) of the caption, with lambda = log(rho)/2."""
    return (1.0 - error) * np.exp(-alpha) + error * np.exp(alpha) / RHO


def find_step(error: float) -> float:
    """Return the step of least cost, found numerically."""
    return float(minimize_scalar(lambda alpha: cost(alpha, error), (0.0, 1.0)).x)


def measure(piece: Piece) -> Record:
    """Find the steps of classifiers of all errors."""
    del piece
    steps = {f"{error:g}": find_step(error) for error in ERRORS}
    return {"steps": steps, "step at worst": find_step(WORST)}


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return steps, and their largest rise with the error."""
    del reading
    steps = list(seed["curves"]["steps"].values())
    return {
        ("least step", "error below rho/(1 + rho)"): min(steps),
        ("largest rise of the step", "with the error"): max(np.diff(steps)),
        ("step", "error rho/(1 + rho)"): seed["curves"]["step at worst"],
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the curves and their minima."""
    ax = figure.subplots()
    alphas = np.linspace(-0.5, 3.5, 200)
    for error, step in zip(ERRORS, seeds[0]["curves"]["steps"].values(), strict=True):
        colour = "#009E73" if error < 0.5 else "#D55E00"
        ax.plot(alphas, cost(alphas, error), "--" if error < 0.5 else "-", color=colour, lw=1)
        ax.plot(step, cost(step, error), "o", color=colour)
        ax.annotate(f"{error:g}", (alphas[-1], cost(alphas[-1], error)), fontsize=8)
    ax.set_xlabel("step alpha")
    ax.set_ylabel("f(alpha), rho = 6")
    ax.set_title("Errors below 1/2 (dashed) and from 1/2 on, with the best steps")


ITEM = Item(
    title="the objective of a round for weak classifiers of different errors, rho = 6",
    units="steps alpha",
    protocol="f(alpha) = (1 - e) exp(-alpha) + e exp(alpha - 2 lambda), minimised numerically.",
    published={
        ("least step", "error below rho/(1 + rho)"): at_least(0.0, "above 0"),
        ("largest rise of the step", "with the error"): at_most(0.0, "falls"),
        ("step", "error rho/(1 + rho)"): printed("0.000"),
    },
    experiment=Experiment("arboost-fig4", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
