"""Table 2: the rewards of forecasts under losses, and Savage's two."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from properboost.losses import (
    Elicitation,
    Exponential,
    GLog,
    Hinge,
    LeastSquares,
    LogarithmicReward,
    ModifiedLeastSquares,
    QuadraticReward,
)
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import TIE, Place, at_least, exactly

K, L, M = 3.0, -2.0, 5.0
"""The parameters of Savage's rewards, which the paper leaves open; here classes differ."""

FIRST, SECOND = "Savage 1", "Savage 2"

REWARDS: dict[str, Elicitation] = {
    "Least squares": LeastSquares(),
    "Modified LS": ModifiedLeastSquares(),
    "SVM": Hinge(),
    "Boosting": Exponential(),
    "Log. Regression": GLog(),
    FIRST: QuadraticReward(K, L, M),
    SECOND: LogarithmicReward(K, L, M),
}

Formula = Callable[[Any], Any]


def _squares(p: Any) -> Any:
    return -4.0 * (1.0 - p) ** 2


PRINTED: dict[str, tuple[Formula, Formula, Formula]] = {
    "Least squares": (_squares, lambda p: -4.0 * p**2, lambda p: -4.0 * p * (1.0 - p)),
    "Modified LS": (_squares, lambda p: -4.0 * p**2, lambda p: -4.0 * p * (1.0 - p)),
    "SVM": (
        lambda p: np.sign(2.0 * p - 1.0) - 1.0,
        lambda p: -np.sign(2.0 * p - 1.0) - 1.0,
        lambda p: np.abs(2.0 * p - 1.0) - 1.0,
    ),
    "Boosting": (
        lambda p: -np.sqrt((1.0 - p) / p),
        lambda p: -np.sqrt(p / (1.0 - p)),
        lambda p: -2.0 * np.sqrt(p * (1.0 - p)),
    ),
    "Log. Regression": (
        np.log,
        lambda p: np.log(1.0 - p),
        lambda p: p * np.log(p) + (1.0 - p) * np.log(1.0 - p),
    ),
    FIRST: (
        lambda p: -K * (1.0 - p) ** 2 + (M + K) + L,
        lambda p: -K * p**2 + M,
        lambda p: K * p**2 + L * p + M,
    ),
    SECOND: (
        lambda p: -K * (1.0 / p + np.log(p)) + (M + K) + L,
        lambda p: -K * np.log(p) + (M + K),
        lambda p: M + L * p - K * np.log(p),
    ),
}
"""The formulas of I_1, I_-1 and J."""

COLUMNS = ("I_1", "I_-1", "J")


def measure(piece: Piece) -> Record:
    """Compare rewards with the table, and Savage's with the text."""
    del piece
    p = np.linspace(0.01, 0.99, 98)  # 1/2 is not among them
    q = p[:, None]
    distances = {}
    for name, pay in REWARDS.items():
        ours = (pay.reward(p), pay.reward(p, -1), pay.expected_reward(p))
        distances[name] = {
            column: float(np.abs(reward - formula(p)).max())
            for column, reward, formula in zip(COLUMNS, ours, PRINTED[name], strict=True)
        }
    shifted, halved = REWARDS[FIRST].divergence(p / 2 + 0.3, q / 2 + 0.3), REWARDS[SECOND]
    squares, alike = REWARDS["Least squares"], QuadraticReward(4.0, -4.0)
    return {
        "distances": distances,
        "best": {
            name: float((pay.expected_reward(p) - pay.expected_reward(p, q)).min())
            for name, pay in REWARDS.items()
        },
        "difference": float(np.abs(shifted - REWARDS[FIRST].divergence(p / 2, q / 2)).max()),
        "ratio": float(np.abs(halved.divergence(p / 2, q / 2) - halved.divergence(p, q)).max()),
        "alike": float(np.abs(squares.reward(p) - alike.reward(p)).max()),
        "asymmetry": float(
            np.abs(halved.expected_reward(p) - halved.expected_reward(1.0 - p)).max()
        ),
    }


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return distances from the table, and the numbers of the text."""
    del reading
    comparisons = seed["curves"]
    table: dict[Place, float] = {
        (name, f"largest distance of {column}"): distance
        for name, by_column in comparisons["distances"].items()
        for column, distance in by_column.items()
    }
    for name, least in comparisons["best"].items():
        table[name, "least J(p) less I(p, q) (10)"] = least
    table["Least squares", "I_1 less that of Savage 1, k = -l = 4"] = comparisons["alike"]
    table[FIRST, "divergence at other p, q of one difference"] = comparisons["difference"]
    table[SECOND, "divergence at other p, q of one ratio"] = comparisons["ratio"]
    table[SECOND, "J(p) less J(1-p), largest"] = comparisons["asymmetry"]
    return table


ITEM = Item(
    title="rewards of forecasts under losses, and Savage's own",
    units="rewards",
    protocol=(
        "I_1, I_-1 and J at 98 probabilities against the table's formulas, Savage's with k = "
        f"{K:g}, l = {L:g}, m = {M:g}; that no forecast earns more than the probability; and the "
        "text's statements on Savage's two."
    ),
    published={
        **{
            (name, f"largest distance of {column}"): exactly(0.0, "equal")
            for name in REWARDS
            for column in COLUMNS
        },
        **{
            (name, "least J(p) less I(p, q) (10)"): at_least(-TIE, "at least 0") for name in REWARDS
        },
        ("Least squares", "I_1 less that of Savage 1, k = -l = 4"): exactly(0.0, "special case"),
        (FIRST, "divergence at other p, q of one difference"): exactly(0.0, "equal"),
        (SECOND, "divergence at other p, q of one ratio"): exactly(0.0, "equal"),
        (SECOND, "J(p) less J(1-p), largest"): at_least(TIE, "not symmetric"),
    },
    experiment=Experiment("savage-table2", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
)
