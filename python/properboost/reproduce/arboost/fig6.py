"""Figure 6: the bound on the training error, by the goodness of weak classifiers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Published, at_least, at_most, printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RHOS = (1.0, 2.0, 4.0, 6.0, 10.0)
ROUNDS = 10
STEP = 0.01


def bound(rho: float, gamma: Any, rounds: int = ROUNDS) -> Any:
    """Return eq. 4."""
    slope = (rho**2 - 1.0) / (2.0 * rho)
    bend = (rho + 1.0) ** 2 / (2.0 * rho)
    return np.exp(rounds * (slope * gamma - bend * gamma**2))


def turn(rho: float) -> float:
    """Return the gamma beyond which errors fall exponentially."""
    return (rho - 1.0) / (rho + 1.0)


def measure(piece: Piece) -> Record:
    """Return the bound at, below and beyond that gamma."""
    del piece
    return {
        f"{rho:g}": {
            "at": float(bound(rho, turn(rho))),
            "below": float(bound(rho, turn(rho) - STEP)),
            "beyond": float(bound(rho, turn(rho) + STEP)),
            "twice": float(bound(rho, turn(rho) + STEP, 2 * ROUNDS)),
        }
        for rho in RHOS
    }


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return bounds, and their ratio for twice as many rounds."""
    del reading
    numbers: dict[tuple[str, str], float] = {}
    for rho, bounds in seed["curves"].items():
        numbers[f"rho {rho}", "bound at (rho - 1)/(rho + 1)"] = bounds["at"]
        numbers[f"rho {rho}", "bound beyond it"] = bounds["beyond"]
        numbers[f"rho {rho}", "its square, over the bound of twice as many rounds"] = (
            bounds["beyond"] ** 2 / bounds["twice"]
        )
        if rho != "1":
            numbers[f"rho {rho}", "bound below it"] = bounds["below"]
    return numbers


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the bound by gamma."""
    del seeds
    ax = figure.subplots()
    for rho in RHOS:
        gamma = np.linspace(0.0, rho / (rho + 1.0), 300)
        ax.plot(gamma, bound(rho, gamma), "--" if rho == 1.0 else "-", label=f"rho {rho:g}")
    ax.axhline(1.0, color="0.7", lw=0.8)
    ax.set_yscale("log")
    ax.set_ylim(1e-4, None)
    ax.set_xlabel("goodness gamma of the weak classifiers")
    ax.set_ylabel(f"bound on the training error, {ROUNDS} rounds")
    ax.legend(fontsize=9)


def _publish(rho: float) -> dict[tuple[str, str], Published]:
    row = f"rho {rho:g}"
    below = {} if rho == 1.0 else {(row, "bound below it"): at_least(1.0, "says nothing")}
    return below | {
        (row, "bound at (rho - 1)/(rho + 1)"): printed("1.000"),
        (row, "bound beyond it"): at_most(1.0, "falls"),
        (row, "its square, over the bound of twice as many rounds"): printed("1.000"),
    }


ITEM = Item(
    title="the upper bound on the training error by the goodness of weak classifiers",
    units="bounds and ratios of them",
    protocol=(
        f"Eq. 4 by formula, {ROUNDS} rounds, at gamma = (rho - 1)/(rho + 1) and {STEP} below and "
        "beyond.  The library's tests check the bound on fits."
    ),
    published={place: number for rho in RHOS for place, number in _publish(rho).items()},
    experiment=Experiment("arboost-fig6", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
