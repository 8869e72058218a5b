"""Section 5 on rados against AdaBoost: as good, and the better the larger the domain."""

import numpy as np
from scipy import stats

from properboost.reproduce.item import Item, Seed
from properboost.reproduce.published import Place, at_most
from properboost.reproduce.rado.domains import (
    ADABOOST,
    DOMAINS,
    LEFT_OUT,
    PROTOCOL,
    READINGS,
    REGULARIZERS,
    reduce,
)

LOSS = ("error of the best regulariser less AdaBoost's", "mean over the sets")
TREND = ("error of the best regulariser less AdaBoost's", "rank correlation with rows")
DEFEATS = ("sets of 20 on which AdaBoost wins", "most, over the regularisers")


def tabulate(seed: Seed, reading: str) -> dict[Place, float]:
    """Compare the regularised versions with the best AdaBoost."""
    if not seed:
        return {}
    errors = [reduce(record, reading) for record in seed.values()]
    rados = np.array([[by_method[name] for name in REGULARIZERS] for by_method in errors])
    loss = rados - np.array([[by_method[ADABOOST]] for by_method in errors])
    least = loss.min(axis=1)
    rows = [record["rows"] for record in seed.values()]
    return {
        LOSS: float(least.mean()),
        TREND: float(stats.spearmanr(least, rows).statistic),
        DEFEATS: 20.0 * float((loss > 0.0).mean(axis=0).max()),
    }


ITEM = Item(
    title="rados compete with AdaBoost on all domains, the more so the larger they are",
    units="percentage points, a correlation, and sets of 20",
    protocol=PROTOCOL,
    published={
        LOSS: at_most(0.0, "competes or beats"),
        TREND: at_most(0.0, "the better as the domain gets bigger"),
        DEFEATS: at_most(10.0, "not the majority"),
    },
    experiment=DOMAINS,
    tabulate=tabulate,
    readings=READINGS,
    compared="none",
    missing=LEFT_OUT,
)
