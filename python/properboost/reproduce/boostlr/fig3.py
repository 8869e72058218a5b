"""Figure 3: link, slope of the minimum risk, and the binding function that joins them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.losses import Exponential, GBoost, GGauss, GLaplacian, GLog, MarginLoss
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, at_most, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSSES: dict[str, MarginLoss] = {
    "AdaBoost": Exponential(),
    "LogitBoost": GLog(),
    "GBoost": GBoost(),
    "GGauss": GGauss(),
    "GLaplacian": GLaplacian(),
}
FORMULAS = {"AdaBoost": "e^-v - e^v", "LogitBoost": "-v"}
"""The binding functions of eqs. 42 and 43."""

V = np.linspace(-6.0, 6.0, 241)
FAR = {"AdaBoost": -300.0}
"""The margin for limits, if not -1,000,000, where e^-v overflows."""


def differ(loss: MarginLoss, p: Any) -> Any:
    """Return the slope of the minimum risk, by differences."""
    step = 1e-4 * np.minimum(p, 1.0 - p)
    return (loss.minimum_risk(p + step) - loss.minimum_risk(p - step)) / (2.0 * step)


def compare(loss: MarginLoss, far: float, formula: Any) -> Record:
    """Return the distances of a binding function from the paper's statements."""
    beta = loss.binding(V)
    slope = differ(loss, loss.probability(V))
    h = 1e-5
    steepness = float(loss.binding(h) - loss.binding(-h)) / (2.0 * h)
    rho = float(loss.regularization_strength(0.0))
    distances = {
        "from C*'": float(np.max(np.abs(beta - slope) / (1.0 + np.abs(slope)))),
        "odd": float(np.max(np.abs(beta + loss.binding(-V)))),
        "largest rise": float(np.diff(beta).max()),
        "far": float(loss.loss(far) / loss.binding(far)),
        "slope at 0": float(-loss.weight(0.0)) - steepness / 2.0,
        "curvature at 0": float(loss.curvature(0.0)) + steepness / rho,
    }
    if formula is not None:
        distances["from the formula"] = float(np.max(np.abs(beta - formula)))
    return distances


def measure(piece: Piece) -> Record:
    """Compare the binding functions of all losses with the paper's statements."""
    del piece
    formulas = {"AdaBoost": np.exp(-V) - np.exp(V), "LogitBoost": -V}
    return {
        name: compare(loss, FAR.get(name, -1e6), formulas.get(name))
        for name, loss in LOSSES.items()
    }


NAMES = {
    "from C*'": "distance from C*' at the inverse link (eq. 34)",
    "odd": "beta(v) + beta(-v) (Lemma 12)",
    "largest rise": "largest rise (Lemma 12)",
    "far": "phi/beta far below 0 (Lemma 13)",
    "slope at 0": "phi'(0) less beta'(0)/2 (Lemma 13)",
    "curvature at 0": "phi''(0) plus beta'(0)/rho(0) (Lemma 13)",
    "from the formula": "distance from eq. 42 or 43",
}


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the distances, by loss."""
    del reading
    return {
        (name, NAMES[what]): value
        for name, distances in seed["curves"].items()
        for what, value in distances.items()
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the three functions, those of the exponential loss and of a canonical one."""
    del seeds
    figure.set_size_inches(10.0, 3.6)
    axes = figure.subplots(1, 3)
    p, v = np.linspace(0.002, 0.998, 801), np.linspace(-3.0, 3.0, 401)
    for style, name in (("-", "AdaBoost"), ("--", "LogitBoost")):
        loss = LOSSES[name]
        axes[0].plot(p, loss.link(p), style, label=name)
        axes[1].plot(p, differ(loss, p), style)
        axes[2].plot(v, loss.binding(v), style)
    titles = ("link f*(p)", "slope of the risk C*'(p)", "binding function beta(v)")
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
        ax.set_xlabel("margin v" if ax is axes[2] else "probability p")
        ax.set_ylim(-6.0, 6.0)
    axes[0].legend()


def claim(what: str, name: str) -> Any:
    """Return the paper's statement on a loss's binding function."""
    if what == "largest rise":
        return at_most(0.0, "decreasing")
    if what == "far":
        return exactly(1.0, "equal in the limit")
    if what == "from the formula":
        return exactly(0.0, FORMULAS[name])
    return exactly(0.0, "0" if what == "odd" else "equal")


ITEM = Item(
    title="link, risk derivative and binding function of proper losses",
    units="values of the binding function, and of the loss",
    protocol=(
        "The binding functions of five losses at gain 1, at margins from -6 to 6, against the "
        "slope of their minimum risks by differences (relative to 1 + its size), against eqs. 42 "
        "and 43, and against Lemmas 12 and 13, which hold for every binding function."
    ),
    published={
        (name, NAMES[what]): claim(what, name)
        for name in LOSSES
        for what in NAMES
        if what != "from the formula" or name in FORMULAS
    },
    experiment=Experiment("boostlr-fig3", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
