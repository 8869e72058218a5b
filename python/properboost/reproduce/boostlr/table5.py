"""Table 5: probabilities through the tuned loss's link, and through the link of gain 1."""

from collections.abc import Mapping

from properboost.reproduce.boostlr.histograms import CONDITIONAL
from properboost.reproduce.boostlr.ten_sets import (
    BY_GAINS,
    READINGS,
    SHRINKAGE,
    TEN_SETS,
    at_chosen_gains,
    at_gain,
    gains_of,
    read_sets,
)
from properboost.reproduce.item import Item, Reading, Seed
from properboost.reproduce.published import Place

SHRUNK_SUM = "the sum that is shrunk"

FIXED = read_sets(
    """
BoostLR | 4.13 | 3.91 | 4.56 | 5.37 | 3.47 | 3.58 | 3.73 | 3.84 | 3.65 | 4.13
shrinkage | 4.65 | 4.49 | 5.30 | 5.74 | 4.63 | 4.97 | 4.16 | 4.35 | 4.97 | 4.19
""",
    "gain 10",
)

CHOSEN = read_sets(
    """
BoostLR | 4.19 | 3.89 | 4.59 | 5.38 | 3.46 | 3.45 | 3.80 | 3.62 | 3.40 | 3.53
shrinkage | 4.66 | 4.52 | 5.30 | 5.70 | 3.85 | 3.42 | 3.87 | 3.59 | 3.43 | 3.46
""",
    "chosen gain",
)


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the cross-entropies of both."""
    numbers: dict[Place, float] = {}
    gains = [gain for gain in gains_of(reading) if gain >= 1]  # a learning rate is at most 1
    links = {"BoostLR": "GLog", "shrinkage": "GLog" if reading == SHRUNK_SUM else SHRINKAGE}
    for part in seed:
        for method, link in links.items():
            fixed = at_gain(seed, part, link, "cross-entropy", 10)
            chosen = at_chosen_gains(seed, part, link, "cross-entropy", gains)
            numbers[method, f"{part}, gain 10"] = fixed
            numbers[method, f"{part}, chosen gain"] = chosen
    return numbers


ITEM = Item(
    title="calibration with the loss's own link, and with shrinkage's",
    units="cross-entropies in bits",
    protocol="GLog on the pairs of Table 3; both methods have the same classifier.  BoostLR's "
    "probabilities come through its link (eq. 51), shrinkage's are those of the same sum through "
    "the link of gain 1 (eq. 12).  The chosen gain, from 1 to 10, has the least cross-entropy on "
    "the validation fold, for each method by itself; a learning rate is 1 / gain.",
    published=FIXED | CHOSEN,
    experiment=TEN_SETS,
    tabulate=tabulate,
    readings=(
        *READINGS,
        *BY_GAINS,
        Reading(
            SHRUNK_SUM,
            "Shrinkage adds learning rate times weak learner (eq. 50).  With that sum in eq. 12 "
            "its probabilities are BoostLR's.",
            measured_as=CONDITIONAL,
        ),
    ),
    compared="columns",
)
