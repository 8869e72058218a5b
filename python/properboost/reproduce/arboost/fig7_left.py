"""Figure 7, left: test errors on six sets of two classes."""

from properboost.reproduce.arboost.bars import draw_bars
from properboost.reproduce.arboost.uci_sets import (
    LEFT,
    ROUNDS_AND_GRIDS,
    SMALL_TREES,
    STUMPS,
    TREES,
    TWO_CLASSES,
)
from properboost.reproduce.item import Item, Seed
from properboost.reproduce.published import TIE, at_least, printed, read_off

RIVALS = ("epsilon-boost", "L1-boost", "Weight Decay", "WeightBoost")


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return the errors on spambase, and differences on all sets."""
    del reading
    numbers = {}
    for name, errors in seed.items():
        ours, ada = errors["AR-Boost"], errors["AdaBoost"]
        numbers[name, "CART less AdaBoost"] = errors["CART"] - ada
        numbers[name, "best rival less AR-Boost"] = min(errors[m] for m in RIVALS) - ours
        numbers[name, "fall from AdaBoost to AR-Boost, in percent of it"] = 100 * (ada - ours) / ada
        numbers |= {(name, method): error for method, error in errors.items()}
    return {place: round(number, 9) for place, number in numbers.items()}  # 0 is a tie


ITEM = Item(
    title="test errors on six sets of two classes",
    units="percent, and differences in points",
    protocol="As many training rows as in Table 1, drawn anew; the rest are for testing.  "
    f"{ROUNDS_AND_GRIDS}; so are those of the rivals.  Weight Decay is AdaBoost_reg.",
    published={
        ("spambase", "AR-Boost"): printed("4.91"),
        ("spambase", "Weight Decay"): printed("4.5"),
        ("spambase", "WeightBoost"): printed("4.2"),
        ("wpbc", "fall from AdaBoost to AR-Boost, in percent of it"): read_off(32.5, 35.0),
        **{
            (name, "best rival less AR-Boost"): at_least(TIE, "AR-Boost is better")
            for name in TWO_CLASSES
            if name != "spambase"
        },
        **{
            (name, "CART less AdaBoost"): at_least(TIE, "AdaBoost is better")
            for name in TWO_CLASSES
        },
    },
    experiment=LEFT,
    tabulate=tabulate,
    readings=(STUMPS, SMALL_TREES, TREES),
    draw=draw_bars,
    missing={"the other bars": "the paper prints no more of their heights"},
)
