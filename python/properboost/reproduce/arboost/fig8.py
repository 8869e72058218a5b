"""Figure 8: test errors where labels for training are flipped."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from properboost.reproduce.arboost.bars import put_bars
from properboost.reproduce.arboost.uci_sets import (
    NOISE,
    ROUNDS_AND_GRIDS,
    SMALL_TREES,
    STUMPS,
    TREES,
)
from properboost.reproduce.item import Item, Seed
from properboost.reproduce.published import TIE, at_least

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVELS = ("10%", "20%", "30%")


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return AR-Boost's lead in test errors, as the mean of the sets."""
    del reading
    leads = {
        (level, f"{rival} less AR-Boost"): float(
            np.mean([record[level][rival] - record[level]["AR-Boost"] for record in seed.values()])
        )
        for level in LEVELS
        for rival in ("CART", "AdaBoost")
    }
    for rival in ("CART", "AdaBoost"):
        column = f"{rival} less AR-Boost"
        leads["growth from 10% to 30%", column] = leads["30%", column] - leads["10%", column]
    return {place: round(number, 9) for place, number in leads.items()}  # 0 is a tie


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the bars of each level side by side."""
    figure.set_size_inches(12.0, 4.0)
    axes = figure.subplots(1, len(LEVELS), sharey=True)
    for ax, level in zip(axes, LEVELS, strict=True):
        put_bars(ax, [{name: record[level] for name, record in seed.items()} for seed in seeds])
        ax.set_title(f"{level} of the labels for training flipped", fontsize=10)
        ax.label_outer()
    axes[0].legend(fontsize=8)


ITEM = Item(
    title="test errors with flipped labels, two classes",
    units="points of error, the mean of the sets",
    protocol="Each label for training is flipped with the probability; tests have the true ones.  "
    f"As many training rows as in Table 1, drawn anew.  {ROUNDS_AND_GRIDS}.",
    published={
        (row, f"{rival} less AR-Boost"): at_least(TIE, text)
        for row, text in (
            *((level, "AR-Boost is better") for level in LEVELS),
            ("growth from 10% to 30%", "more pronounced"),
        )
        for rival in ("CART", "AdaBoost")
    },
    experiment=NOISE,
    tabulate=tabulate,
    readings=(STUMPS, SMALL_TREES, TREES),
    compared="none",
    draw=draw,
    missing={"the bars": "the paper prints none of their heights"},
)
