"""Table 3: from the best reward and the link to the loss."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from properboost.losses import (
    Exponential,
    GLog,
    Hinge,
    LeastSquares,
    LossCurve,
    ModifiedLeastSquares,
)
from properboost.reproduce.item import CURVES, Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, exactly
from properboost.reproduce.savage import table2

LOSSES: dict[str, LossCurve] = {
    "Least squares": LeastSquares(),
    "Modified LS": ModifiedLeastSquares(),
    "SVM": Hinge(),
    "Boosting": Exponential(),
    "Log. Regression": GLog(),
}

INVERSE_LINKS: dict[str, Callable[[Any], Any]] = {
    "Least squares": lambda v: 0.5 * (v + 1.0),
    "Boosting": lambda v: expit(2.0 * v),
    "Log. Regression": expit,
}
"""The inverse links: "f* is not invertible for the SVM and modified LS methods"."""

PRINTED: dict[str, Callable[[Any], Any]] = {
    "Least squares": lambda v: (1.0 - v) ** 2,
    "Modified LS": lambda v: np.maximum(1.0 - v, 0.0) ** 2,
    "SVM": lambda v: np.maximum(1.0 - v, 0.0),
    "Boosting": lambda v: np.exp(-v),
    "Log. Regression": lambda v: np.logaddexp(0.0, -v),
}
"""The formulas of phi."""

STEP = 1e-5
"""The step of the differences of J."""


def derive(loss: LossCurve, v: Any) -> Any:
    """Return phi by eq. 21, from J and the inverse link alone."""
    p = loss.probability(v)
    rise = loss.expected_reward(p + STEP) - loss.expected_reward(p - STEP)
    return -loss.expected_reward(p) - (1.0 - p) * rise / (2.0 * STEP)


def measure(piece: Piece) -> Record:
    """Compare with the table."""
    del piece
    p, v = np.linspace(0.01, 0.99, 99), np.linspace(-0.95, 0.95, 39)
    distances = {}
    for name, loss in LOSSES.items():
        best = table2.PRINTED[name][2](p)
        distances[name] = {"J": float(np.abs(loss.expected_reward(p) - best).max())}
        made = loss.loss(v)
        if name in INVERSE_LINKS:
            apart = np.abs(loss.probability(v) - INVERSE_LINKS[name](v))
            distances[name]["inverse link"] = float(apart.max())
            made = derive(loss, v)
        distances[name]["phi"] = float(np.abs(made - PRINTED[name](v)).max())
    return distances


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return distances from the table."""
    del reading
    return {
        (name, f"largest distance of {column}"): distance
        for name, by_column in seed["curves"].items()
        for column, distance in by_column.items()
    }


ITEM = Item(
    title="losses from the best reward and the link",
    units="rewards, probabilities, losses",
    protocol="J at 99 probabilities, the inverse link and phi at 39 margins from -0.95 to 0.95 "
    "against the table's formulas.  Where there is an inverse link, phi is made of it and of J by "
    "eq. 21, with J' by differences.",
    published={
        (name, f"largest distance of {column}"): exactly(0.0, "equal")
        for name in LOSSES
        for column in ("J", "inverse link", "phi")
        if column != "inverse link" or name in INVERSE_LINKS
    },
    experiment=Experiment("savage-table3", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(CURVES,),
    compared="none",
)
