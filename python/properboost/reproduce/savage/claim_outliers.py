"""Sections 1, 5 and 6: the Savage loss is less sensitive to outliers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.reproduce import data
from properboost.reproduce.item import Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import at_most
from properboost.reproduce.savage.noise import (
    LOGIT,
    READINGS,
    REAL,
    SAVAGE,
    SETS,
    Fold,
    bin_features,
    find_setting,
    make_folds,
    make_methods,
    name_share,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = (0.05, 0.4)
CONTAMINATED = (SAVAGE, LOGIT, REAL)
WEIGHT, LEARNT = ("share of the weight", "learnt by heart")
NAMES = ("histograms of 16 bins", "bins of 100 rows", "gain chosen by cross-validation")


def measure(piece: Piece) -> Record:
    """Return each method's weights and margins of one set's training rows with wrong labels."""
    table, setting = data.load(piece.part), find_setting(piece.reading)
    record: dict[str, dict[str, dict[str, float]]] = {}
    for share in SHARES:
        views: dict[str, list[dict[str, float]]] = {method: [] for method in CONTAMINATED}
        for fold in make_folds(table.y, share, piece.seed):
            X = bin_features(table, fold, setting)[fold.train]
            methods = make_methods(setting, table.categorical, piece.seed)
            for method in CONTAMINATED:
                views[method].append(_view(methods[method].fit(X, fold.labels), X, fold))
        record[name_share(share)] = {
            method: {key: float(np.mean([view[key] for view in folds])) for key in folds[0]}
            for method, folds in views.items()
        }
    return record


def _view(model: Any, X: Any, fold: Fold) -> dict[str, float]:
    margins = model.margins(X, fold.labels)
    weights = model.loss_.weight(margins)
    return {
        WEIGHT: 100.0 * float(weights[fold.wrong].sum() / weights.sum()),
        LEARNT: 100.0 * float(np.mean(margins[fold.wrong] > 0.0)),
    }


def average(seed: Seed, share: float, method: str, key: str) -> float:
    """Return the mean over the sets."""
    return float(np.mean([record[name_share(share)][method][key] for record in seed.values()]))


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return SavageBoost's share of weight on wrong labels, less the other methods'."""
    del reading
    return {
        (f"{SAVAGE} less {other}", name_share(share)): average(seed, share, SAVAGE, WEIGHT)
        - average(seed, share, other, WEIGHT)
        for other in (LOGIT, REAL)
        for share in SHARES
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the fate of wrong labels under each loss."""
    figure.set_size_inches(8.0, 3.8)
    for ax, key in zip(figure.subplots(1, 2), (WEIGHT, LEARNT), strict=True):
        for k, (share, colour) in enumerate(zip(SHARES, ("#56B4E9", "#0072B2"), strict=True)):
            values = [
                np.mean([average(seed, share, method, key) for seed in seeds])
                for method in CONTAMINATED
            ]
            places = np.arange(len(CONTAMINATED)) + 0.4 * k - 0.2
            bars = ax.bar(places, values, 0.4, color=colour, label=f"{share:.0%} wrong")
            ax.bar_label(bars, fmt="%.1f", fontsize=8)
        ax.set_xticks(np.arange(len(CONTAMINATED)), CONTAMINATED)
        ax.set_ylim(0.0, 90.0)
        ax.set_ylabel("%")
        ax.legend(loc="upper left", ncols=2, fontsize=8)
        ax.set_title(f"wrong labels: {key}")


ITEM = Item(
    title="how much the training rows with wrong labels weigh after 50 rounds",
    units="differences of shares of all weight, in %",
    protocol=(
        "The experiment of Table 4.  The share of the weight is that of the rows whose labels "
        "are wrong, on average over the sets; the picture also has how many of them are "
        "predicted as their wrong label."
    ),
    published={
        (f"{SAVAGE} less {other}", share): at_most(0.0, '"reduce the impact of outliers"')
        for other in (LOGIT, REAL)
        for share in map(name_share, SHARES)
    },
    experiment=Experiment("savage-outliers", {s: (s,) for s in SETS}, measure, seconds=1.5),
    tabulate=tabulate,
    readings=tuple(reading for reading in READINGS if reading.name in NAMES),
    compared="none",
    draw=draw,
)
