"""Section 7 on Table 4: comparisons of the methods' errors."""

from properboost.reproduce.item import Item, Seed
from properboost.reproduce.published import at_least, read_off
from properboost.reproduce.savage.noise import (
    ADA,
    LOGIT,
    NOISE,
    READINGS,
    REAL,
    SAVAGE,
    SHARES,
    name_share,
)


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return the others' mean errors over the sets less SavageBoost's, and LogitBoost's lead."""
    del reading
    differences = {}
    for share in map(name_share, SHARES):

        def mean(method: str, share: str = share) -> float:
            return sum(float(record[share][method]) for record in seed.values()) / len(seed)

        for other in (LOGIT, REAL, ADA):
            differences[f"{other} less {SAVAGE}", share] = mean(other) - mean(SAVAGE)
        differences[f"{REAL} less {LOGIT}", share] = mean(REAL) - mean(LOGIT)
        differences[f"{ADA} less {REAL}", share] = mean(ADA) - mean(REAL)
    return differences


ITEM = Item(
    title="differences of the mean errors of Table 4",
    units="differences of mean errors in %",
    protocol="The experiment of Table 4.  Each repetition draws other folds and wrong labels, so "
    "the spread is of these and not of other data sets.",
    published={
        (f"{REAL} less {SAVAGE}", "0%"): at_least(0.0, '"generally better results"'),
        (f"{REAL} less {SAVAGE}", "5%"): at_least(0.0, '"at all contamination levels"'),
        (f"{REAL} less {SAVAGE}", "40%"): at_least(0.0, '"at all contamination levels"'),
        (f"{ADA} less {SAVAGE}", "0%"): at_least(0.0, '"generally better results"'),
        (f"{ADA} less {SAVAGE}", "5%"): at_least(0.0, '"at all contamination levels"'),
        (f"{ADA} less {SAVAGE}", "40%"): at_least(0.0, '"at all contamination levels"'),
        (f"{LOGIT} less {SAVAGE}", "0%"): at_least(0.0, '20.96 - 19.22, "comparable"'),
        (f"{LOGIT} less {SAVAGE}", "5%"): at_least(0.0, '22.04 - 19.91, "comparable"'),
        (f"{LOGIT} less {SAVAGE}", "40%"): read_off(5.5, 6.5),
        (f"{REAL} less {LOGIT}", "0%"): at_least(0.0, '"LogitBoost producing the best"'),
        (f"{REAL} less {LOGIT}", "5%"): at_least(0.0, '"LogitBoost producing the best"'),
        (f"{REAL} less {LOGIT}", "40%"): at_least(0.0, '"LogitBoost producing the best"'),
        (f"{ADA} less {REAL}", "0%"): at_least(0.0, '"AdaBoost ... the worst"'),
        (f"{ADA} less {REAL}", "5%"): at_least(0.0, '"AdaBoost ... the worst"'),
        (f"{ADA} less {REAL}", "40%"): at_least(0.0, '"AdaBoost ... the worst"'),
    },
    experiment=NOISE,
    tabulate=tabulate,
    readings=READINGS,
    compared="none",
)
