"""Section 5 on the regularisation of single domains: Magic and Statlog."""

from properboost.reproduce.item import Item, Reading, Seed
from properboost.reproduce.published import Place, at_least, at_most
from properboost.reproduce.rado.domains import (
    ADABOOST,
    BEST,
    DOMAINS,
    LEFT_OUT,
    MAGIC,
    NONE,
    PROTOCOL,
    READINGS,
    REGULARIZERS,
    STATLOG,
    reduce,
)

PERCENT = "percent of the error"

FALL = ("magic, error", "falls by regularising")
RANGE = ("german, error", "worst less best regulariser")
DENSER = ("magic, coefficients", "best regulariser less none")
ERROR = ("magic, error", "best regulariser less AdaBoost")
SPARSER = ("magic, coefficients", "best regulariser less AdaBoost")


def tabulate(seed: Seed, reading: str) -> dict[Place, float]:
    """Compare the regularisers with each other, with none, and with AdaBoost."""
    numbers: dict[Place, float] = {}
    if MAGIC in seed:
        errors = reduce(seed[MAGIC], reading)
        sizes = reduce(seed[MAGIC], reading, "coefficients")
        best = min(REGULARIZERS, key=errors.__getitem__)
        unit = errors[NONE] / 100.0 if reading == PERCENT else 1.0
        numbers |= {
            FALL: (errors[NONE] - errors[best]) / unit,
            DENSER: sizes[best] - sizes[NONE],
            ERROR: errors[best] - errors[ADABOOST],
            SPARSER: sizes[best] - sizes[ADABOOST],
        }
    if STATLOG in seed:
        errors = reduce(seed[STATLOG], reading)
        regularised = [errors[name] for name in REGULARIZERS]
        unit = max(regularised) / 100.0 if reading == PERCENT else 1.0
        numbers[RANGE] = (max(regularised) - min(regularised)) / unit
    return numbers


ITEM = Item(
    title="the effect of regularising on Magic, and the best regulariser on Statlog",
    units="percentage points of error, and coefficients that are not 0",
    protocol=f"{PROTOCOL}  Statlog is german, the one two-class set of this name at hand.",
    published={
        FALL: at_least(15.0, "more than 15%"),
        RANGE: at_least(15.0, "exceeds 15%"),
        DENSER: at_least(0.0, "above 0 (less sparse, more accurate)"),
        ERROR: at_most(0.0, "at most 0 (very sparse and accurate)"),
        SPARSER: at_most(0.0, "at most 0 (very sparse and accurate)"),
    },
    experiment=DOMAINS,
    tabulate=tabulate,
    readings=(
        *READINGS,
        Reading(
            PERCENT,
            '"More than 15%" of errors in percent may be points, or a share of the larger error.',
            measured_as=BEST,
        ),
    ),
    compared="none",
    missing=LEFT_OUT,
)
