"""Table 1: permissible functions, their surrogates, and the probabilities that match."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from properboost.losses import PermissibleFunction
from properboost.reproduce.item import Experiment, Item, Piece, Reading, Record, Seed
from properboost.reproduce.published import Place, exactly

MU = 0.5
"""The value of mu, which the paper leaves open."""

ENTROPY = "phi_Q (22)"

FUNCTIONS = {
    "phi_mu (20)": PermissibleFunction("mu", mu=MU),
    "phi_M (21)": PermissibleFunction("matsushita"),
    ENTROPY: PermissibleFunction("entropy"),
    "phi_B (23)": PermissibleFunction("gini"),
}

Formula = Callable[[Any], Any]

PRINTED: dict[str, tuple[float, float, Formula, Formula]] = {
    "phi_mu (20)": (
        MU,
        0.0,
        lambda v: (-v + np.sqrt((1.0 - MU) ** 2 + v**2)) / (1.0 - MU),
        lambda v: 0.5 * (1.0 + v / np.sqrt((1.0 - MU) ** 2 + v**2)),
    ),
    "phi_M (21)": (
        0.0,
        0.0,
        lambda v: -v + np.sqrt(1.0 + v**2),
        lambda v: 0.5 * (1.0 + v / np.sqrt(1.0 + v**2)),
    ),
    ENTROPY: (0.0, 0.0, lambda v: np.logaddexp(0.0, -v), expit),
    "phi_B (23)": (0.0, 1.0, lambda v: (1.0 - v) ** 2, lambda v: 0.5 * (1.0 + v)),
}
"""The table's a, one over the largest slope (0 where im is R), F and the probability."""

AS_PRINTED = Reading(
    "as Table 1 prints them",
    "F is (phi*(-y*H) - a) / b, as in its column, with b of each function.",
    random=False,
)
NO_FACTOR = Reading(
    "the entropy's F without 1/b",
    "The table prints log(1 + exp(-y*H)) for the entropy, whose b is log 2; eq. 16 divides by it.",
    random=False,
)

COLUMNS = ("a", "1 over the largest slope", "largest distance of F", "largest distance of Pr")


def measure(piece: Piece) -> Record:
    """Compare functions with the table."""
    comparisons = {}
    for name, function in FUNCTIONS.items():
        bounded = PRINTED[name][1] > 0.0
        v = np.linspace(-1.0, 1.0, 201) if bounded else np.linspace(-8.0, 8.0, 1601)
        _, _, surrogate, probability = PRINTED[name]
        factor = function.depth if name == ENTROPY and piece.reading == NO_FACTOR.name else 1.0
        comparisons[name] = [
            function.at_ends,
            float(1.0 / function.slope(1.0)),
            float(np.abs(factor * function.surrogate(v) - surrogate(v)).max()),
            float(np.abs(function.inverse_slope(v) - probability(v)).max()),
        ]
    return comparisons


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the comparisons."""
    del reading
    return {
        (name, column): number
        for name, by_column in seed["curves"].items()
        for column, number in zip(COLUMNS, by_column, strict=True)
    }


ITEM = Item(
    title="permissible functions, their surrogates and the matching probabilities",
    units="values of the functions",
    protocol=f"a, the slope's image, F and the probability against the table's formulas, at 1,601 "
    f"margins from -8 to 8 (201 from -1 to 1 for phi_B); mu is {MU:g}.",
    published={
        (name, column): exactly(number, text)
        for name, (at_ends, bound, _, _) in PRINTED.items()
        for column, number, text in zip(
            COLUMNS,
            (at_ends, bound, 0.0, 0.0),
            (f"{at_ends:g}", "[-1, 1]" if bound else "R", "equal", "equal"),
            strict=True,
        )
    },
    experiment=Experiment("uls-table1", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(AS_PRINTED, NO_FACTOR),
    compared="none",
)
