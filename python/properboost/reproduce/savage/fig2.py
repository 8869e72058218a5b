"""Figure 2: the errors of four methods on Liver disorder, by share of wrong labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from properboost.reproduce.item import Item, Seed
from properboost.reproduce.published import at_least
from properboost.reproduce.savage.noise import (
    ADA,
    LEVELS,
    LIVER,
    LOGIT,
    METHODS,
    READINGS,
    REAL,
    SAVAGE,
    name_share,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAIRS = ((REAL, SAVAGE), (ADA, SAVAGE), (LOGIT, SAVAGE), (ADA, REAL), (REAL, LOGIT))
ALL = "mean of all levels"


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return differences of errors, at each level and on average."""
    del reading
    numbers = {}
    for more, less in PAIRS:
        row = f"{more} less {less}"
        differences = [errors[more] - errors[less] for errors in seed["bupa"].values()]
        for share, difference in zip(LEVELS, differences, strict=True):
            numbers[row, name_share(share)] = difference
        numbers[row, ALL] = float(np.mean(differences))
    return numbers


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the errors by share of wrong labels."""
    ax = figure.subplots()
    styles = zip(METHODS, ("o-", "s--", "^-.", "D:"), strict=True)
    colours = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
    for (method, style), colour in zip(styles, colours, strict=True):
        errors = [[levels[method] for levels in seed["bupa"].values()] for seed in seeds]
        ax.plot(
            100.0 * np.array(LEVELS), np.mean(errors, axis=0), style, color=colour, label=method
        )
    ax.set_xlabel("wrong labels in training (%)")
    ax.set_ylabel("error (%)")
    ax.set_title("Liver disorder")
    ax.legend()


ITEM = Item(
    title="errors of four methods on Liver disorder, by share of wrong labels in training",
    units="differences of errors in %",
    protocol=(
        "The experiment of Table 4 on bupa, at more levels.  The figure's curves are not in the "
        "paper's text; section 7 compares the methods on all sets: RealBoost and AdaBoost are "
        "worse than SavageBoost at all levels, LogitBoost where contamination is significant; of "
        "these three AdaBoost is worst and LogitBoost best."
    ),
    published={
        (f"{REAL} less {SAVAGE}", "0%"): at_least(0.0, "above 0"),
        (f"{REAL} less {SAVAGE}", "5%"): at_least(0.0, "above 0"),
        (f"{REAL} less {SAVAGE}", "40%"): at_least(0.0, "above 0"),
        (f"{REAL} less {SAVAGE}", ALL): at_least(0.0, "above 0"),
        (f"{ADA} less {SAVAGE}", "0%"): at_least(0.0, "above 0"),
        (f"{ADA} less {SAVAGE}", "5%"): at_least(0.0, "above 0"),
        (f"{ADA} less {SAVAGE}", "40%"): at_least(0.0, "above 0"),
        (f"{ADA} less {SAVAGE}", ALL): at_least(0.0, "above 0"),
        (f"{LOGIT} less {SAVAGE}", "40%"): at_least(0.0, "above 0"),
        (f"{ADA} less {REAL}", ALL): at_least(0.0, "above 0"),
        (f"{REAL} less {LOGIT}", ALL): at_least(0.0, "above 0"),
    },
    experiment=LIVER,
    tabulate=tabulate,
    readings=READINGS,
    compared="none",
    draw=draw,
)
