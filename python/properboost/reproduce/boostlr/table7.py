"""Table 7: the gain and its benefit, as LETTER.p2 has fewer training rows."""

from collections.abc import Mapping

import numpy as np

from properboost.reproduce import data
from properboost.reproduce.boostlr.histograms import setting_of
from properboost.reproduce.boostlr.large_sets import (
    BY_ERROR,
    BY_LOG_LOSS,
    FIRST_ROWS,
    HINDSIGHT,
    LOSSES,
    OTHERS,
    choose,
    divide_anew,
    try_gains,
)
from properboost.reproduce.item import Experiment, Item, Piece, Record, Seed
from properboost.reproduce.pinned_search import make_search
from properboost.reproduce.published import Place, read_table

FACTORS = {"DIV1": 1, "DIV2": 2, "DIV4": 4}


def measure(piece: Piece) -> Record:
    """Try all gains on a random part of the training rows."""
    table = data.load("LETTER.p2")
    anew = piece.reading == BY_ERROR.name
    train, test = divide_anew(table, piece.seed) if anew else data.divide(table)
    drawn = np.random.default_rng(piece.seed).permutation(train)
    part = np.sort(drawn[: len(train) // FACTORS[piece.part]])
    return try_gains(make_search, table, part, test, setting_of(piece.reading), piece.seed)


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the gains, and the errors that they save against the exponential loss."""
    numbers: dict[Place, float] = {}
    for part, record in seed.items():
        for loss in LOSSES:
            gain, errors = choose(dict(record), loss, reading)
            numbers[f"{loss}, errors saved", part] = record["Exponential"] - errors
            numbers[f"{loss}, gain", part] = gain
    return numbers


ITEM = Item(
    title="gains, and errors saved against the exponential loss, by number of training rows",
    units="errors on 16,000 test rows; gains",
    protocol="LETTER.p2 as in Table 6, trained on all 4,000 rows (DIV1), a random half (DIV2) and "
    "a random quarter (DIV4), each repetition on another division.",
    published=read_table("""
 | DIV1 | DIV2 | DIV4
GLog, errors saved | 109 | 179 | 260
GLog, gain | 0.5 | 1.66 | 2
GLaplacian, errors saved | 96 | 178 | 186
GLaplacian, gain | 0.3 | 1 | 2
"""),
    experiment=Experiment(
        "boostlr-table7", dict.fromkeys(FACTORS, ("LETTER.p2",)), measure, seconds=1, seeds=30
    ),
    tabulate=tabulate,
    readings=(BY_ERROR, BY_LOG_LOSS, HINDSIGHT, FIRST_ROWS, *OTHERS),
)
