"""Figure 6: canonical losses, their inverse links and regularisation strengths, by gain."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import erf

from properboost.plots import plot_loss
from properboost.reproduce.boostlr.canonical import CANONICAL, GAINS, with_gains
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, at_least, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

K = np.sqrt(np.pi) / 4.0

TABLE_2: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "GLog": (
        lambda u: np.log(1.0 + np.exp(-u)),
        lambda u: np.exp(u) / (1.0 + np.exp(u)),
        lambda u: (1.0 + np.exp(u)) ** 2 / np.exp(u),
    ),
    "GBoost": (
        lambda u: (np.sqrt(4.0 + u**2) - u) / 2.0,
        lambda u: 0.5 + u / (2.0 * np.sqrt(4.0 + u**2)),
        lambda u: 0.5 * (4.0 + u**2) ** 1.5,
    ),
    "GGauss": (
        lambda u: u / 2.0 * (erf(K * u) - 1.0) + 2.0 / np.pi * np.exp(-((K * u) ** 2)),
        lambda u: 0.5 * (1.0 + erf(K * u)),
        lambda u: 4.0 * np.exp((K * u) ** 2),
    ),
    "GLaplacian": (
        lambda u: np.exp(-np.abs(u) / 2.0) + (np.abs(u) - u) / 2.0,
        lambda u: 0.5 * (1.0 + np.sign(u) * (1.0 - np.exp(-np.abs(u) / 2.0))),
        lambda u: 4.0 * np.exp(np.abs(u) / 2.0),
    ),
}
"""Loss / sigma, inverse link and strength / sigma as printed, in u = v / sigma."""

U = np.linspace(-8.0, 8.0, 321)


def measure(piece: Piece) -> Record:
    """Compare the losses with Table 2, and with each other from gain to gain."""
    del piece
    comparisons = {}
    for name, (phi, inverse_link, strength) in TABLE_2.items():
        losses = list(with_gains(name).values())
        apart = []
        for loss in losses:
            v, sigma = loss.gain * U, loss.gain
            apart += [
                np.abs(loss.loss(v) / sigma - phi(U)).max(),
                np.abs(loss.probability(v) - inverse_link(U)).max(),
                np.abs(loss.regularization_strength(v) / (sigma * strength(U)) - 1.0).max(),
            ]
        margins = [loss.loss_margin for loss in losses]
        strengths = np.array([loss.regularization_strength(0.0) for loss in losses])
        least = [loss.regularization_strength(loss.gain * U).min() for loss in losses]
        comparisons[name] = {
            "table": float(max(apart)),
            "margins": [float(m) for m in margins],
            "rise": float(np.diff(strengths).min()),
            "bound": float(min(np.array(least) - 2.0 * np.array(margins))),
        }
    return comparisons


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return margins relative to those at gain 1, and the comparisons."""
    del reading
    table: dict[Place, float] = {}
    for name, comparison in seed["curves"].items():
        unit_margin = comparison["margins"][GAINS.index(1.0)]
        for gain, margin in zip(GAINS, comparison["margins"], strict=True):
            table[name, f"mu at gain {gain:g} / mu at gain 1"] = margin / unit_margin
        table[name, "largest distance from Table 2"] = comparison["table"]
        table[name, "least rise of rho(0) with the gain"] = comparison["rise"]
        table[name, "least rho(v) less 2 mu"] = comparison["bound"]
    return table


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw a row of plots for each loss: loss, inverse link, strength."""
    del seeds
    figure.set_size_inches(10.0, 11.0)
    grid = figure.subplots(len(CANONICAL), 3)
    panels = ["loss", "probability", "regularization_strength"]
    for name, row in zip(CANONICAL, grid, strict=True):
        plot_loss(
            with_gains(name), panels, list(row), limits={"regularization_strength": (0.0, 20.0)}
        )
        row[1].set_title(name)
        row[1].set_ylabel("inverse link")
        row[2].set_ylabel("strength rho(v)")


ITEM = Item(
    title="loss, inverse link and regularisation strength of canonical losses, by gain",
    units="ratios and differences",
    protocol=(
        "The library's losses at gains 0.25, 0.5, 1 and 2 (the drawn gains are not in the text), "
        "at margins up to 8 gains, against Table 2 as printed, and against the text on the gain: "
        "mu at gain sigma is sigma times mu (Definition 3), the strength rises with it, and rho "
        "is nowhere below 2 mu (eq. 27)."
    ),
    published={
        **{
            (name, f"mu at gain {gain:g} / mu at gain 1"): exactly(gain)
            for name in CANONICAL
            for gain in GAINS
        },
        **{(name, "largest distance from Table 2"): exactly(0.0, "equal") for name in CANONICAL},
        **{
            (name, "least rise of rho(0) with the gain"): at_least(0.0, "rises")
            for name in CANONICAL
        },
        **{(name, "least rho(v) less 2 mu"): exactly(0.0, "at least 0") for name in CANONICAL},
    },
    experiment=Experiment("boostlr-fig6", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
    draw=draw,
)
