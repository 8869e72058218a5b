"""Table 4: four losses with tuned gains against AdaBoost and LogitBoost, on ten data sets."""

from collections.abc import Mapping

import numpy as np

from properboost.metrics import drop, quantized_entropy, win_counts
from properboost.reproduce.boostlr.histograms import CONDITIONAL
from properboost.reproduce.boostlr.ten_sets import (
    BY_GAINS,
    LOSSES,
    MEASURES,
    READINGS,
    SETS,
    TEN_SETS,
    at_chosen_gains,
    at_gain,
    by_gain,
    gains_of,
    read_sets,
)
from properboost.reproduce.item import Item, Reading, Seed
from properboost.reproduce.published import Place, read_table

HINDSIGHT = "gain of hindsight"
AS_HEADED = "columns 4 and 5 as headed"

ERRORS = read_sets(
    """
AdaBoost | 11.4 | 11.4 | 9.4 | 6.4 | 14 | 28 | 6.6 | 21.8 | 41.2 | 28.2
LogitBoost | 11.6 | 12.4 | 10 | 6.6 | 13.4 | 48.6 | 6.8 | 21.2 | 39.6 | 28.4
GLog | 11.2 | 11.4 | 8 | 5.6 | 12.4 | 11.8 | 7 | 18.8 | 38.2 | 27
GBoost | 12.6 | 11.6 | 21 | 18.6 | 17.6 | 7.2 | 6 | 21.8 | 37.6 | 28.6
GGauss | 13.6 | 14.4 | 9 | 6 | 13 | 8.8 | 7.6 | 18.4 | 38.4 | 30.6
GLaplace | 12 | 12.8 | 9 | 5 | 12.4 | 8.2 | 6.6 | 20.8 | 40.6 | 31.6
""",
    "errors",
)

EXCHANGED = (*SETS[:3], SETS[4], SETS[3], *SETS[5:])
"""The lower half's columns: by Tables 3 and 5 those headed #4 and #5 are exchanged."""

CROSS_ENTROPY = read_sets(
    """
AdaBoost | 4.59 | 4.19 | 5.47 | 3.94 | 5.77 | 3.61 | 4.71 | 3.48 | 3.442 | 3.461
LogitBoost | 4.75 | 3.85 | 5.47 | 3.861 | 5.65 | 3.57 | 4.64 | 3.426 | 3.438 | 3.48
GLog | 4.20 | 3.46 | 4.59 | 3.80 | 5.42 | 3.67 | 3.89 | 3.421 | 3.40 | 3.49
GBoost | 3.77 | 4.60 | 5.33 | 3.69 | 5.21 | 3.65 | 3.83 | 3.406 | 3.41 | 3.44
GGauss | 4.07 | 3.44 | 4.70 | 3.71 | 5.49 | 3.62 | 3.87 | 3.429 | 3.439 | 3.53
GLaplace | 3.81 | 3.48 | 4.58 | 3.76 | 5.31 | 3.63 | 3.81 | 3.41 | 3.42 | 3.45
""",
    "cross-entropy",
    EXCHANGED,
)

BY_SET = {
    **read_sets("losses | 1 | 1 | 3 | 3 | 3 | 4 | 2 | 3 | 3 | 1", "wins by errors"),
    **read_sets(
        "drop, % | 1.7 | 0 | 14.9 | 21.9 | 7.5 | 74.3 | 9.1 | 13.2 | 5.0 | 4.2", "drop in errors"
    ),
    **read_sets(
        "losses | 4 | 3 | 4 | 4 | 4 | 0 | 4 | 3 | 3 | 2", "wins by cross-entropy", EXCHANGED
    ),
    **read_sets(
        "drop, % | 64.52 | 76.53 | 41.56 | 30.18 | 19.11 | -6.50 | 62.76 | 22.23 | 28.52 | 13.01",
        "drop in cross-entropy",
        EXCHANGED,
    ),
}

WINS = read_table("""
 | W1 by errors | W2 by errors | W1 by cross-entropy | W2 by cross-entropy
AdaBoost | | 1 | | 0
LogitBoost | | 0 | | 1
GLog | 9 | 5 | 8 | 1
GBoost | 3 | 3 | 8 | 4
GGauss | 6 | 1 | 6 | 1
GLaplace | 6 | 2 | 9 | 2
""")

BASELINES = ("AdaBoost", "LogitBoost")
METHODS = (*BASELINES, *LOSSES)


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the errors and cross-entropies of the methods, their wins, and the drops."""
    numbers: dict[Place, float] = {}
    gains = gains_of(reading)
    for measured, floor in zip(MEASURES, (0.0, quantized_entropy()), strict=True):
        columns = []
        for part in seed:
            column = {
                "AdaBoost": by_gain(seed, part, "AdaBoost", measured)[0],
                "LogitBoost": at_gain(seed, part, "GLog", measured, 1),
            }
            for loss in LOSSES:
                if reading == HINDSIGHT:
                    column[loss] = by_gain(seed, part, loss, measured)[: len(gains)].min()
                else:
                    column[loss] = at_chosen_gains(seed, part, loss, measured, gains)
            head = _head(part, measured, reading)
            for method, value in column.items():
                numbers[method, f"{head}, {measured}"] = value
            old = min(column[method] for method in BASELINES)
            new = [column[loss] for loss in LOSSES]
            numbers["losses", f"{head}, wins by {measured}"] = sum(v <= old for v in new)
            saved = 100.0 * drop(min(new), old, floor)
            numbers["drop, %", f"{head}, drop in {measured}"] = saved
            columns.append([column[method] for method in METHODS])
        if len(columns) < len(SETS):
            continue  # the wins are over all ten
        scores = np.transpose(columns)
        for place, rivals in (("W1", (0, 1)), ("W2", None)):
            wins = win_counts(scores, rivals=rivals)
            for method, count in zip(METHODS, wins, strict=True):
                numbers[method, f"{place} by {measured}"] = float(count)
    return numbers


def _head(part: str, measured: str, reading: str) -> str:
    """Return the column of a set."""
    as_headed = reading == AS_HEADED and measured == "cross-entropy"
    return EXCHANGED[SETS.index(part)] if as_headed else part


ITEM = Item(
    title="four losses whose gain a validation fold chooses, on ten data sets",
    units="errors per test fold; cross-entropies in bits; numbers of wins; drops in percent",
    protocol="As Table 3, but each pair's validation fold chooses the gain: that of least errors "
    "for the upper half, of least cross-entropy for the lower one (the least of those that tie).  "
    "W1 counts the sets on which a loss is not worse than AdaBoost and LogitBoost, W2 those on "
    "which no method is better; a set's wins are the losses that are not worse than both.  "
    "The fourth and the fifth column of the lower half are exchanged in the paper, as its Tables "
    "3 and 5 show; here they have the sets that they belong to.",
    published={**ERRORS, **CROSS_ENTROPY, **BY_SET, **WINS},
    experiment=TEN_SETS,
    tabulate=tabulate,
    readings=(
        *READINGS,
        *BY_GAINS,
        Reading(
            HINDSIGHT,
            "The paper speaks of cross-validation, but Table 3 uses the gain of least error on the "
            "rows that it reports.",
            measured_as=CONDITIONAL,
        ),
        Reading(
            AS_HEADED,
            "The lower half's columns belong to the sets whose numbers head them.",
            measured_as=CONDITIONAL,
        ),
    ),
    compared="columns",
)
