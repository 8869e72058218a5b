"""Figure 2: the loss margin is where the quadratic expansion of a loss at 0 is least."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from properboost.losses import Exponential, GLog, LossCurve
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSSES = {"exponential": Exponential(), "logistic": GLog()}
MARGINS = {"exponential": 1.0, "logistic": 2.0}
"""The loss margins of section 4.3."""


def expand(loss: LossCurve) -> "np.polynomial.Polynomial":
    """Return the quadratic expansion of a loss at 0, from its values alone."""
    v = 0.01 * np.arange(-4, 5)
    through = np.polynomial.Polynomial.fit(v, loss.loss(v), 8).convert()
    return np.polynomial.Polynomial(through.coef[:3])


def measure(piece: Piece) -> Record:
    """Find the minimum of each expansion."""
    del piece
    return {name: float(expand(loss).deriv().roots()[0]) for name, loss in LOSSES.items()}


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return these places, and their distances from -phi'(0)/phi''(0)."""
    del reading
    least = seed["curves"]
    return {
        **{(name, "minimum of the expansion"): least[name] for name in LOSSES},
        **{(name, "less mu of eq. 25"): least[name] - LOSSES[name].loss_margin for name in LOSSES},
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the losses with their expansions."""
    figure.set_size_inches(9.0, 3.6)
    for ax, (name, loss) in zip(figure.subplots(1, 2), LOSSES.items(), strict=True):
        v = np.linspace(-2.0, 4.0, 401)
        ax.plot(v, loss.loss(v), label=f"{name} loss")
        ax.plot(v, expand(loss)(v), "--", label="quadratic expansion at 0")
        mu = seeds[0]["curves"][name]
        ax.plot(mu, expand(loss)(mu), "o", color="0.3", label=f"least at mu = {mu:.3g}")
        ax.set_ylim(0.0, 4.0)
        ax.set_xlabel("margin v")
        ax.legend()


ITEM = Item(
    title="the loss margin mu",
    units="margins",
    protocol=(
        "A polynomial through values of the loss near 0 gives its quadratic expansion; the place "
        "of its minimum is compared with section 4.3, and with eq. 25."
    ),
    published={
        **{(n, "minimum of the expansion"): exactly(mu, f"{mu:g}") for n, mu in MARGINS.items()},
        **{(name, "less mu of eq. 25"): exactly(0.0, "equal") for name in LOSSES},
    },
    experiment=Experiment("boostlr-fig2", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
