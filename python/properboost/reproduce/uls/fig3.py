"""Figure 3: the construction of the Legendre dual of a raw prediction and a probability."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize_scalar

from properboost.losses import PermissibleFunction
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, Published, at_least, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FUNCTIONS = {
    "phi_mu (20)": PermissibleFunction("mu", mu=0.5),
    "phi_M (21)": PermissibleFunction("matsushita"),
    "phi_Q (22)": PermissibleFunction("entropy"),
}
"""The functions whose slope reaches all numbers."""

REACHED = 1e-5
"""The allowed distance of a numerical maximum from the dual."""

DEFINITION = "dual less the maximum of (28)"
SLOPE = "slope(x <> p) less x + slope(p) (29)"
SUM = "x <> (x' <> p) less (x + x') <> p (30)"
FALL = "least fall of a right row's weight"
CLAIMS: dict[str, Published] = {
    DEFINITION: Published("equal", -REACHED, REACHED),
    SLOPE: exactly(0.0, "equal"),
    SUM: exactly(0.0, "equal"),
    FALL: at_least(0.0, "smaller"),
}


def compare(f: PermissibleFunction) -> Record:
    """Compare duals with their definition, and with the paper's conclusions from it."""
    p, x = (
        grid.ravel() for grid in np.meshgrid(np.linspace(0.05, 0.95, 19), [-2.0, -0.3, 0.7, 1.5])
    )
    dual = f.dual(x, p)
    best = [
        minimize_scalar(
            lambda q, a=a, b=b: float(f.divergence(q, b)) - a * q,
            bounds=(0.0, 1.0),
            options={"xatol": 1e-10},
        ).x
        for a, b in zip(x, p, strict=True)
    ]
    return {
        DEFINITION: float(np.abs(dual - best).max()),
        SLOPE: float(np.abs(f.slope(dual) - x - f.slope(p)).max()),
        SUM: float(np.abs(f.dual(0.4, dual) - f.dual(0.4 + x, p)).max()),
        FALL: float((p - dual)[x < 0.0].min()),
    }


def measure(piece: Piece) -> Record:
    """Compare the duals of three functions."""
    del piece
    return {name: compare(f) for name, f in FUNCTIONS.items()}


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the distances, by function."""
    del reading
    return {
        (name, what): value
        for name, distances in seed["curves"].items()
        for what, value in distances.items()
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the construction: up from p to the slope, up by x, and back to a probability."""
    del seeds
    ax = figure.subplots()
    f, p, x = FUNCTIONS["phi_Q (22)"], 0.3, 1.5
    dual, before, after = float(f.dual(x, p)), float(f.slope(p)), float(f.slope(f.dual(x, p)))
    q = np.linspace(0.005, 0.995, 399)
    ax.plot(q, f.slope(q), label="slope of phi_Q")
    for at, height in ((p, before), (dual, after)):
        ax.plot([at, at], [-4.0, height], ":", color="#D55E00")
        ax.plot(at, height, "o", color="#D55E00")
    ax.annotate("", (0.12, after), (0.12, before), arrowprops={"arrowstyle": "->", "color": "0.3"})
    for at in (before, after):
        ax.axhline(at, color="0.8", linewidth=0.8)
    ax.annotate("x", (0.13, (before + after) / 2.0))
    ax.set_xticks([0.0, p, 0.5, dual, 1.0], ["0", "p", "1/2", "x <> p", "1"])
    ax.set_ylim(-4.0, 4.0)
    ax.set_xlabel("probability")
    ax.set_ylabel("slope")
    ax.legend()


ITEM = Item(
    title="the Legendre dual x <> p",
    units="probabilities, and slopes",
    protocol="Duals of the functions (20) to (22), mu being 1/2, at p from 0.05 to 0.95 and four "
    "x, against a numerical maximum of (28), against eqs. 29 and 30, and section 4.1.5: a row's "
    "weight falls where the newest classifier is right, x < 0.",
    published={(name, what): claim for name in FUNCTIONS for what, claim in CLAIMS.items()},
    experiment=Experiment("uls-fig3", {"curves": ()}, measure, seconds=0.5),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
