"""Figure 1: the losses of Table 1 and the Savage loss, and their minimum risks."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.integrate import quad

from properboost.losses import (
    Exponential,
    GLog,
    Hinge,
    LeastSquares,
    LossCurve,
    ModifiedLeastSquares,
    Savage,
)
from properboost.plots import plot_loss
from properboost.reproduce.item import Experiment, Item, Piece, Reading, Record, Seed
from properboost.reproduce.published import Place, at_least, at_most, exactly

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAVAGE = "Savage"

LOSSES: dict[str, LossCurve] = {
    "least squares": LeastSquares(),
    "modified least squares": ModifiedLeastSquares(),
    "SVM": Hinge(),
    "boosting": Exponential(),
    "logistic regression": GLog(),
    SAVAGE: Savage(),
}

PRINTED: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "least squares": (lambda v: (1.0 - v) ** 2, lambda p: 4.0 * p * (1.0 - p)),
    "modified least squares": (
        lambda v: np.maximum(1.0 - v, 0.0) ** 2,
        lambda p: 4.0 * p * (1.0 - p),
    ),
    "SVM": (lambda v: np.maximum(1.0 - v, 0.0), lambda p: 1.0 - np.abs(2.0 * p - 1.0)),
    "boosting": (lambda v: np.exp(-v), lambda p: 2.0 * np.sqrt(p * (1.0 - p))),
    "logistic regression": (
        lambda v: np.log(1.0 + np.exp(-v)),
        lambda p: -p * np.log(p) - (1.0 - p) * np.log(1.0 - p),
    ),
    SAVAGE: (lambda v: 1.0 / (1.0 + np.exp(2.0 * v)) ** 2, lambda p: p * (1.0 - p)),
}
"""The formulas of Table 1, eq. 26 and its risk."""

ORDER = ("SVM", "least squares", "logistic regression", "boosting")
"""'The approximation error is smallest for the SVM, followed by ...'"""

NEAR = ("loss", "weight", "curvature")
"""The functions in which the Savage loss is 'very similar' to least squares for small |v|."""

AS_PRINTED = Reading(
    "as Table 1 has them",
    "According to the text, the figure has the losses of Table 1, whose risks and losses differ "
    "in scale.",
    random=False,
)
ONE_SCALE = Reading(
    "on one scale",
    "Risks approximate min(p, 1-p) where they are scaled to 1/2 at 1/2, the value of min(p, 1-p) "
    "there; and the Savage loss comes of least squares with k = -l = 1, a quarter of Table 1's.",
    random=False,
)


def find_distance(loss: LossCurve, *, one_scale: bool) -> float:
    """Return the area between a minimum risk and that of the 0-1 loss."""
    scale = 0.5 / float(loss.minimum_risk(0.5)) if one_scale else 1.0
    area, _ = quad(lambda p: abs(scale * float(loss.minimum_risk(p)) - p), 0.0, 0.5)
    return 2.0 * area


def measure(piece: Piece) -> Record:
    """Evaluate losses far below 0 and near it, and the distances of minimum risks from 0-1's."""
    one_scale = piece.reading == ONE_SCALE.name
    v, p = np.linspace(-4.0, 4.0, 801), np.linspace(0.001, 0.999, 999)
    savage, squares = LOSSES[SAVAGE], LOSSES["least squares"]
    share = 0.25 if one_scale else 1.0
    return {
        "formula": {
            name: float(
                max(
                    np.abs(loss.loss(v) - PRINTED[name][0](v)).max(),
                    np.abs(loss.minimum_risk(p) - PRINTED[name][1](p)).max(),
                )
            )
            for name, loss in LOSSES.items()
        },
        "growth": {
            name: float(loss.loss(-40.0) - loss.loss(-20.0)) for name, loss in LOSSES.items()
        },
        "least curvature": {name: float(loss.curvature(v).min()) for name, loss in LOSSES.items()},
        "near 0": [
            float(getattr(savage, what)(0.0) - share * getattr(squares, what)(0.0)) for what in NEAR
        ],
        "distance": {name: find_distance(LOSSES[name], one_scale=one_scale) for name in ORDER},
    }


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the numbers that the text mentions."""
    del reading
    curves = seed["curves"]
    table: dict[Place, float] = {}
    for name in LOSSES:
        table[name, "largest distance from Table 1"] = curves["formula"][name]
        table[name, "rise of the loss from -20 to -40"] = curves["growth"][name]
        table[name, "least curvature"] = curves["least curvature"][name]
    for what, apart in zip(NEAR, curves["near 0"], strict=True):
        table[SAVAGE, f"{what} at 0 less that of least squares"] = apart
    for nearer, farther in itertools.pairwise(ORDER):
        more = curves["distance"][farther] - curves["distance"][nearer]
        table[farther, "distance from 0-1's risk less that of the one before"] = more
    return table


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw losses on the left and minimum risks on the right, with those of the 0-1 loss."""
    del seeds
    figure.set_size_inches(11.0, 4.4)
    left, right = figure.subplots(1, 2)
    limits = {"loss": (-0.1, 4.0)}
    plot_loss(LOSSES, ["loss", "minimum_risk"], [left, right], margins=(-6.0, 3.0), limits=limits)
    left.plot([-6.0, 0.0, 0.0, 3.0], [1.0, 1.0, 0.0, 0.0], color="0.6", label="0-1")
    right.plot([0.0, 0.5, 1.0], [0.0, 0.5, 0.0], color="0.6")
    left.legend().remove()
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=7)


ITEM = Item(
    title="losses and minimum risks of the methods in the text",
    units="losses, risks, and areas between risks",
    protocol=(
        "Losses at margins from -4 to 4 and minimum risks, against Table 1 and eq. 26; also the "
        "text's statements on them far below 0 and near 0, and on how near the risks are to that "
        "of the 0-1 loss, min(p, 1-p): the area between."
    ),
    published={
        **{(name, "largest distance from Table 1"): exactly(0.0, "equal") for name in LOSSES},
        **{
            (name, "rise of the loss from -20 to -40"): at_least(0.0, "infinite weight")
            for name in LOSSES
            if name != SAVAGE
        },
        (SAVAGE, "rise of the loss from -20 to -40"): exactly(0.0, "constant"),
        **{(name, "least curvature"): at_least(0.0, "convex") for name in LOSSES if name != SAVAGE},
        (SAVAGE, "least curvature"): at_most(0.0, "not convex"),
        **{
            (SAVAGE, f"{what} at 0 less that of least squares"): exactly(0.0, "very similar")
            for what in NEAR
        },
        **{
            (name, "distance from 0-1's risk less that of the one before"): at_least(
                0.0, f"{before} nearer"
            )
            for before, name in itertools.pairwise(ORDER)
        },
    },
    experiment=Experiment("savage-fig1", {"curves": ()}, measure, seconds=0.1),
    tabulate=tabulate,
    readings=(AS_PRINTED, ONE_SCALE),
    compared="none",
    draw=draw,
)
