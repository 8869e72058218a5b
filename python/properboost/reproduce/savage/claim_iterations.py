"""Section 7: SavageBoost needs 25 iterations where RealBoost needs 45 and LogitBoost 50."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.reproduce import data
from properboost.reproduce.item import Experiment, Item, Piece, Reading, Record, Seed
from properboost.reproduce.published import read_table
from properboost.reproduce.savage.noise import (
    LOGIT,
    REAL,
    ROUNDS,
    SAVAGE,
    SETS,
    NoiseSetting,
    bin_features,
    count_wrong,
    make_folds,
    make_methods,
    split_tuning,
)

TEST = Reading(
    "least error in cross-validation",
    'An iteration is required as long as it lowers the error: "early stopping problems".',
)
TUNING = Reading(
    "least error on tuning rows",
    "As it would be found without test rows: on a quarter of those to train on, in each fold.",
)
RISK = Reading(
    "the training risk settles",
    '"Converged" may mean the risk: 99% of its fall in 50 iterations is over.',
)
LABELS = Reading(
    "the training error settles",
    '"Converged" may mean the training error: its least value is reached.',
)


def measure(piece: Piece) -> Record:
    """Return the rounds that each method needs on one set, without wrong labels."""
    table, setting = data.load(piece.part), NoiseSetting()
    counts = {method: np.zeros(ROUNDS, int) for method in (SAVAGE, LOGIT, REAL)}
    required: dict[str, list[int]] = {method: [] for method in counts}
    for fold in make_folds(table.y, 0.0, piece.seed):
        X = bin_features(table, fold, setting)
        test, train, labels = X[fold.test], X[fold.train], fold.labels
        if piece.reading == TUNING.name:
            learn, tuning = split_tuning(labels, piece.seed)
            test, test_labels = train[tuning], labels[tuning]
            train, labels = train[learn], labels[learn]
        else:
            test_labels = table.y[fold.test]
        methods = make_methods(setting, table.categorical, piece.seed)
        for method in counts:
            model = methods[method].fit(train, labels)
            if piece.reading == RISK.name:
                required[method].append(find_settled(model))
            elif piece.reading == LABELS.name:
                required[method].append(first_least(count_wrong(model, train, labels)))
            else:
                wrong = count_wrong(model, test, test_labels)
                counts[method] += wrong
                required[method].append(first_least(wrong))
    if piece.reading == TEST.name:  # the error is that of all folds
        return {method: first_least(wrong) for method, wrong in counts.items()}
    return {method: float(np.mean(rounds)) for method, rounds in required.items()}


def first_least(values: NDArray[Any]) -> int:
    """Return the first round with the least value."""
    return int(np.argmin(values)) + 1


def find_settled(model: Any) -> int:
    """Return the first round after which 1% or less of the risk's fall is left."""
    risk = model.history_["risk"]
    start = float(model.loss_.loss(0.0))
    return int(np.argmax(risk - risk[-1] <= 0.01 * (start - risk[-1]))) + 1


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return the mean over the sets."""
    del reading
    return {
        (method, "iterations"): float(np.mean([record[method] for record in seed.values()]))
        for method in (SAVAGE, REAL, LOGIT)
    }


ITEM = Item(
    title="iterations required without wrong labels, of 50 that are allowed",
    units="boosting rounds, a mean over ten sets",
    protocol="The experiment of Table 4 without wrong labels.",
    published=read_table("""
                | iterations
    SavageBoost | 25
    RealBoost   | 45
    LogitBoost  | 50
    """),
    experiment=Experiment(
        "savage-iterations", {name: (name,) for name in SETS}, measure, seconds=0.6
    ),
    tabulate=tabulate,
    readings=(TEST, TUNING, RISK, LABELS),
    compared="columns",
)
