"""Figure 11: the average rank of each gain of GLog, over ten data sets."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from properboost.metrics import average_ranks
from properboost.reproduce.boostlr.ten_sets import (
    MEASURES,
    READINGS,
    SETS,
    TEN_SETS,
    UP_TO_10,
    by_gain,
)
from properboost.reproduce.item import Item, Seed
from properboost.reproduce.published import Place, at_least, read_off

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {"cross-entropy": "calibration", "errors": "classification"}


def find_ranks(seed: Seed, measured: str) -> NDArray[np.float64]:
    """Return the average rank of each gain up to 10."""
    scores = [by_gain(seed, part, "GLog", measured)[: len(UP_TO_10)] for part in SETS]
    return average_ranks(np.transpose(scores))


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the ranks of several gains, and the gain of the best rank."""
    del reading
    numbers: dict[Place, float] = {}
    if len(seed) < len(SETS):
        return numbers
    for measured in MEASURES:
        ranks = find_ranks(seed, measured)
        for gain in (1, 4, 5, 6):
            numbers[f"gain {gain}", f"{NAMES[measured]} rank"] = ranks[UP_TO_10.index(gain)]
        numbers["gain of the best rank", NAMES[measured]] = UP_TO_10[ranks.argmin()]
    return numbers


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw both curves, with the range of all repetitions."""
    for ax, measured in zip(figure.subplots(1, 2, sharey=True), NAMES, strict=True):
        whole = [seed for seed in seeds if len(seed) == len(SETS)]
        if whole:
            ranks = np.array([find_ranks(seed, measured) for seed in whole])
            ax.fill_between(UP_TO_10, ranks.min(axis=0), ranks.max(axis=0), alpha=0.15, lw=0)
            ax.plot(UP_TO_10, ranks.mean(axis=0), "o-", ms=4, color="#0072B2")
        ax.set_xlabel("gain of GLog")
        ax.set_title(NAMES[measured])
        ax.grid(alpha=0.3)
    figure.axes[0].set_ylabel("average rank of 17 gains")


ITEM = Item(
    title="the average rank of 17 gains of GLog on ten data sets",
    units="ranks, 1 for the best of 17; gains",
    protocol=(
        "The fits of Table 3 with 17 gains from 0.3 to 10 (the paper does not list them), ranked "
        "on each set by the mean on the test folds.  The figure's numbers are those in the text: "
        "the range for gains from 4 to 6, and the rank of gain 1."
    ),
    published={
        ("gain 1", "calibration rank"): at_least(9.5, "more than 9.5"),
        ("gain 4", "calibration rank"): read_off(6.5, 7.5),
        ("gain 5", "calibration rank"): read_off(6.5, 7.5),
        ("gain 6", "calibration rank"): read_off(6.5, 7.5),
        ("gain 1", "classification rank"): read_off(8.5, 9.5),
        ("gain 4", "classification rank"): read_off(5.5, 6.5),
        ("gain 5", "classification rank"): read_off(5.5, 6.5),
        ("gain 6", "classification rank"): read_off(5.5, 6.5),
        ("gain of the best rank", "calibration"): read_off(4, 6),
        ("gain of the best rank", "classification"): read_off(4, 6),
    },
    experiment=TEN_SETS,
    tabulate=tabulate,
    readings=READINGS,
    compared="columns",
    draw=draw,
)
