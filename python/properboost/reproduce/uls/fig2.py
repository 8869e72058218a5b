"""Figure 2: permissible functions' conjugates, which are losses, and their slopes."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from properboost.losses import PermissibleFunction
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, at_least, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FUNCTIONS = {
    "phi_mu (20)": PermissibleFunction("mu", mu=0.5),
    "phi_M (21)": PermissibleFunction("matsushita"),
    "phi_Q (22)": PermissibleFunction("entropy"),
    "phi_B (23)": PermissibleFunction("gini"),
}
"""Functions from the bottommost to the topmost, as in the paper, which leaves mu open."""

ZETA = PermissibleFunction("zeta", zeta=-20.0)
BOUNDED = "phi_zeta (24)"

CLAIMS = {
    "phi*(x) less phi*(-x) + x (13)": exactly(0.0, "equal"),
    "phi*(0) plus phi(1/2) (14)": exactly(0.0, "0"),
    "phi*(x) far below 0 less a (15)": exactly(0.0, "equal"),
    "F(0)": exactly(1.0, "1"),
    "F far below 0 over the asymptote -x/b": exactly(1.0, "equal"),
    "least F less the 0/1 loss (18)": at_least(0.0),
    "slope(p) plus slope(1-p)": exactly(0.0, "symmetric"),
}
FAR = 1e8


def compare(f: PermissibleFunction) -> Record:
    """Return the distances of a function from the statements of section 3.1."""
    x, p = np.linspace(-6.0, 6.0, 241), np.linspace(0.001, 0.999, 999)
    return {
        "phi*(x) less phi*(-x) + x (13)": float(np.abs(f.conjugate(x) - f.conjugate(-x) - x).max()),
        "phi*(0) plus phi(1/2) (14)": float(f.conjugate(0.0) + f.value(0.5)),
        "phi*(x) far below 0 less a (15)": float(f.conjugate(-FAR) - f.at_ends),
        "F(0)": float(f.surrogate(0.0)),
        "F far below 0 over the asymptote -x/b": float(f.surrogate(-FAR) / (FAR / f.depth)),
        "least F less the 0/1 loss (18)": float((f.surrogate(x) - (x < 0.0)).min()),
        "slope(p) plus slope(1-p)": float(np.abs(f.slope(p) + f.slope(1.0 - p)).max()),
    }


def measure(piece: Piece) -> Record:
    """Compare all functions with section 3.1, and find their arrangement."""
    del piece
    p = np.linspace(0.005, 0.495, 99)
    scaled = [-f.value(p) / f.value(0.5) for f in FUNCTIONS.values()]
    zeta = 0.5 * ZETA.value(p) / -float(ZETA.value(0.5))
    return {
        "functions": {name: compare(f) for name, f in FUNCTIONS.items()},
        "gaps": [float((upper - lower).min()) for lower, upper in itertools.pairwise(scaled)],
        "zeta above": float((zeta - 2.0 * FUNCTIONS["phi_B (23)"].value(p)).min()),
        "zeta below": float((-p - zeta).min()),
    }


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the distances, by function."""
    del reading
    curves = seed["curves"]
    names = list(FUNCTIONS)
    table = {
        (name, what): value
        for name, properties in curves["functions"].items()
        for what, value in properties.items()
    }
    for name, gap in zip(names[1:], curves["gaps"], strict=True):
        table[name, "least height above the one before"] = gap
    table[BOUNDED, "least height above 2 phi_B"] = curves["zeta above"]
    table[BOUNDED, "least depth below -min(p, 1-p)"] = curves["zeta below"]
    return table


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw conjugates with their asymptotes on the left, slopes on the right."""
    del seeds
    figure.set_size_inches(10.0, 4.2)
    left, right = figure.subplots(1, 2)
    x, p = np.linspace(-2.0, 2.0, 401), np.linspace(0.001, 0.999, 999)
    for name, f in FUNCTIONS.items():
        inside = np.abs(x) <= 1.0 if f.phi == "gini" else np.ones_like(x, bool)
        (line,) = left.plot(x[inside], f.conjugate(-x)[inside], label=name)
        colour = line.get_color()
        left.plot(
            [-2.0, 0.0, 2.0], [2.0 + f.at_ends, f.at_ends, f.at_ends], ":", color=colour, lw=0.8
        )
        right.plot(p, f.slope(p), color=colour, label=name)
    right.plot(p, ZETA.slope(p), "--", color="0.3", label=BOUNDED)
    left.set_xlabel("x")
    left.set_ylabel("phi*(-x)")
    right.set_xlabel("p")
    right.set_ylabel("slope of phi")
    right.set_ylim(-2.5, 2.5)
    left.legend()
    right.legend()


ITEM = Item(
    title="conjugates phi*(-x) and slopes of permissible functions",
    units="values of the functions",
    protocol="The functions (20) to (23), mu being 1/2, which the paper leaves open, against eqs. "
    "13 to 18; 'far' is 1e8.  They are 'arranged from the bottommost to the topmost', scaled to -1 "
    "at 1/2.  phi_zeta, zeta being -20, scaled to -1/2, lies strictly between 2 phi_B and -min(p, "
    "1-p).",
    published={
        **{(name, what): claim for name in FUNCTIONS for what, claim in CLAIMS.items()},
        **{
            (name, "least height above the one before"): at_least(0.0, "topmost last")
            for name in list(FUNCTIONS)[1:]
        },
        (BOUNDED, "least height above 2 phi_B"): at_least(0.0, "strictly in between"),
        (BOUNDED, "least depth below -min(p, 1-p)"): at_least(0.0, "strictly in between"),
    },
    experiment=Experiment("uls-fig2", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
