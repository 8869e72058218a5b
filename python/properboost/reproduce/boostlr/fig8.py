"""Figure 8: the weights of the alpha-tunable loss, from the logistic to the exponential one."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.losses import Alpha, Exponential, GLog
from properboost.plots import plot_loss
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, Published, at_least, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALPHAS = (0.0, 0.125, 0.25, 0.375, 0.5)
BEYOND = (0.6, 0.8, 1.2)
"""Above 1/2, where the library has no loss: eq. 53 alone."""

V = np.linspace(-12.0, 12.0, 481)


def weigh(alpha: float, v: Any) -> Any:
    """Return the weight of eq. 53 at gain 1."""
    factor = (1.0 - alpha) / (2.0 - 3.0 * alpha)
    return factor * (np.exp(-alpha * v) + np.exp(alpha * v)) / (1.0 + np.exp(v))


def measure(piece: Piece) -> Record:
    """Compare both ends with their known losses, and go beyond the upper one."""
    del piece
    logistic, exponential = GLog().weight(V), Exponential(2.0).weight(V)
    left = [float(Alpha(alpha).weight(-12.0)) for alpha in ALPHAS]
    return {
        "formula": [float(np.max(np.abs(Alpha(a).weight(V) / weigh(a, V) - 1.0))) for a in ALPHAS],
        "logistic": float(np.max(np.abs(Alpha(0.0).weight(V) / logistic - 1.0))),
        "exponential": float(np.max(np.abs(Alpha(0.5).weight(V) / exponential - 1.0))),
        "constant": float(Alpha(0.0).weight(-40.0) / Alpha(0.0).weight(-20.0)),
        "rise": float(np.diff(left).min()),
        "beyond": [float(weigh(alpha, 40.0) / weigh(alpha, 20.0)) for alpha in BEYOND],
    }


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the comparisons."""
    del reading
    comparisons = seed["curves"]
    return {
        **{
            (f"alpha {alpha:g}", "largest distance from eq. 53"): apart
            for alpha, apart in zip(ALPHAS, comparisons["formula"], strict=True)
        },
        ("alpha 0", "distance from LogitBoost's weights"): comparisons["logistic"],
        ("alpha 0", "weight at -40 / weight at -20"): comparisons["constant"],
        ("alpha 0.5", "distance from AdaBoost's weights"): comparisons["exponential"],
        ("all", "least rise of the weight at -12 with alpha"): comparisons["rise"],
        **{
            (f"alpha {alpha:g}", "weight at 40 / weight at 20"): growth
            for alpha, growth in zip(BEYOND, comparisons["beyond"], strict=True)
        },
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the weights."""
    del seeds
    ax = figure.subplots()
    losses = {f"alpha = {alpha:g}": Alpha(alpha) for alpha in ALPHAS}
    plot_loss(losses, ["weight"], [ax], margins=(-6.0, 6.0), limits={"weight": (0.0, 6.0)})
    ax.set_xlabel("normalised margin v / sigma")


def find_published() -> Mapping[Place, Published]:
    """Return the text's statements on the figure, and on alpha beyond it."""
    formula = {(f"alpha {a:g}", "largest distance from eq. 53"): exactly(0.0) for a in ALPHAS}
    beyond = {
        (f"alpha {alpha:g}", "weight at 40 / weight at 20"): at_least(
            1.0, "grows with large margins"
        )
        for alpha in BEYOND
    }
    return {
        **formula,
        ("alpha 0", "distance from LogitBoost's weights"): exactly(0.0, "equal"),
        ("alpha 0", "weight at -40 / weight at -20"): exactly(1.0, "asymptotically constant"),
        ("alpha 0.5", "distance from AdaBoost's weights"): exactly(0.0, "equal"),
        ("all", "least rise of the weight at -12 with alpha"): at_least(0.0, "interpolates"),
        **beyond,
    }


ITEM = Item(
    title="weights of the alpha-tunable loss",
    units="relative differences of weights, and weights",
    protocol=(
        "The library's loss at gain 1, at margins from -12 to 12, against eq. 53, against the "
        "logistic weights (alpha 0) and the exponential ones at gain 2 (alpha 1/2).  For alpha "
        "above 1/2, only against eq. 53; there, according to the text, rows of large positive "
        "margin can get large weight."
    ),
    published=find_published(),
    experiment=Experiment("boostlr-fig8", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
