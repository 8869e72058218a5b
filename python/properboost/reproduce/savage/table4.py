"""Table 4: wins and mean errors of four methods on ten sets with wrong labels."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from properboost.metrics import win_counts
from properboost.reproduce.item import Item, Seed
from properboost.reproduce.published import read_table
from properboost.reproduce.savage.noise import METHODS, NOISE, READINGS, SHARES, name_share

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def find_errors(seed: Seed, share: float) -> NDArray[np.float64]:
    """Return the errors (%) of the methods on the sets, (n_methods, n_sets)."""
    records = [record[name_share(share)] for record in seed.values()]
    return np.array([[record[method] for record in records] for method in METHODS])


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return wins, ties counting for each, and means over the sets."""
    del reading
    numbers: dict[tuple[str, str], float] = {}
    for share in SHARES:
        errors = find_errors(seed, share)
        for k, (method, wins) in enumerate(zip(METHODS, win_counts(errors), strict=True)):
            numbers[method, f"{name_share(share)}, wins"] = float(wins)
            numbers[method, f"{name_share(share)}, error"] = float(errors[k].mean())
    return numbers


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the mean errors next to the published ones."""
    figure.set_size_inches(9.0, 3.8)
    for ax, share in zip(figure.subplots(1, len(SHARES)), SHARES, strict=True):
        ours = np.mean([find_errors(seed, share).mean(axis=1) for seed in seeds], axis=0)
        column = f"{name_share(share)}, error"
        theirs = [PUBLISHED[method, column].middle for method in METHODS]
        places = np.arange(len(METHODS))
        ax.bar(places - 0.2, theirs, 0.4, color="#999999", label="published")
        ax.bar(places + 0.2, ours, 0.4, color="#0072B2", label="ours")
        ax.set_xticks(places, [method.removesuffix("Boost") for method in METHODS])
        ax.set_ylim(0.0, 55.0)  # room for the legend
        ax.set_ylabel("mean error (%)")
        ax.set_title(f"{name_share(share)} wrong labels")
        ax.legend(loc="upper left", ncols=2, fontsize=8)


PUBLISHED = read_table("""
            | 0%, wins | 0%, error | 5%, wins | 5%, error | 40%, wins | 40%, error
SavageBoost | 4        | 19.22     | 4        | 19.91     | 6         | 25.9
LogitBoost  | 4        | 20.96     | 4        | 22.04     | 3         | 31.73
RealBoost   | 2        | 23.99     | 2        | 25.34     | 0         | 33.18
AdaBoost    | 0        | 24.58     | 0        | 26.45     | 1         | 38.22
""")

ITEM = Item(
    title="wins of ten and mean error of four methods, by share of wrong labels in training",
    units="errors in %, and numbers of sets",
    protocol="5-fold cross-validation on ten UCI sets; a share of the labels to train on is made "
    "wrong, those to test on are as they are; 50 rounds.",
    published=PUBLISHED,
    experiment=NOISE,
    tabulate=tabulate,
    readings=READINGS,
    compared="columns",
    draw=draw,
)
