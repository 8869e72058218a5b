"""Figure 3: the choice of rho on the diabetes set, and errors by round."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split

from properboost.reproduce import data
from properboost.reproduce.item import Experiment, Item, Piece, Reading, Record, Seed
from properboost.reproduce.pinned_votes import make_votes
from properboost.reproduce.published import TIE, at_most, printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RHOS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)

STUMPS = Reading("stumps", "Figures 1 and 5 have decision stumps; this one names none.")
LIMITED = Reading(
    "stumps with CART's limit",
    "Figure 5 reproduces with it: no split that lowers the impurity by less than 3%.",
)
SMALL_TREES = Reading("trees of 8 leaves", "As in Figure 7, whose errors stumps do not reach.")
TREES = Reading("trees of 32 leaves", "As in Figure 7, whose errors stumps do not reach.")

LEARNERS: dict[str, dict[str, Any]] = {
    STUMPS.name: {},
    LIMITED.name: {"min_relative_decrease": 0.03},
    SMALL_TREES.name: {"weak_learner": "tree", "max_leaf_nodes": 8},
    TREES.name: {"weak_learner": "tree", "max_leaf_nodes": 32},
}


def measure(piece: Piece) -> Record:
    """Return errors in percent: of five folds by rho, and by round at rho 4."""
    table = data.load("pima")
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, train_size=531, stratify=table.y, random_state=piece.seed
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=piece.seed)
    weak = LEARNERS[piece.reading]
    by_rho = [
        100 * (1 - cross_val_score(make_votes(rho=rho, n_jobs=1, **weak), X, y, cv=folds).mean())
        for rho in RHOS
    ]
    model = make_votes(rho=4.0, n_jobs=1, **weak).fit(X, y)
    train, test = (
        [100 * float(np.mean(predicted != labels)) for predicted in model.staged_predict(rows)]
        for rows, labels in ((X, y), (X_test, y_test))
    )
    return {"by rho": by_rho, "train": train, "test": test}


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return the best rho, and the change of the test error after the least training error."""
    del reading
    curves = seed["diabetes"]
    least = int(np.argmin(curves["train"]))
    return {
        ("rho", "of least cross-validated error"): RHOS[int(np.argmin(curves["by rho"]))],
        ("test error", "change after the least training error"): curves["test"][-1]
        - curves["test"][least],
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw errors by rho, and by round; the mean of the seeds, but rounds of the first."""
    figure.set_size_inches(9.0, 4.0)
    left, right = figure.subplots(1, 2)
    left.plot(RHOS, np.mean([seed["diabetes"]["by rho"] for seed in seeds], axis=0), "o-")
    left.set_xlabel("rho")
    left.set_ylabel("error of five folds, percent")
    for name, style in (("train", "--"), ("test", "-")):
        errors = seeds[0]["diabetes"][name]
        marker = "o" if len(errors) < 5 else ""  # boosting may end soon
        rounds = np.arange(1, len(errors) + 1)
        right.plot(rounds, errors, style, marker=marker, label=f"{name}, rho 4")
    right.set_xlabel("round")
    right.set_ylabel("error, percent")
    right.legend()


ITEM = Item(
    title="diabetes: cross-validated errors by rho, and errors by round at rho 4",
    units="rho, and points of error",
    protocol="531 rows for training, drawn anew.  rho is one of 1, 1.5, 2, 3, 4, 5, 6, 8 and 10; "
    "100 rounds.",
    published={
        ("rho", "of least cross-validated error"): printed("4"),
        ("test error", "change after the least training error"): at_most(-TIE, "it decreases"),
    },
    experiment=Experiment("arboost-fig3", {"diabetes": ("pima",)}, measure, seconds=1.0),
    tabulate=tabulate,
    readings=(STUMPS, LIMITED, SMALL_TREES, TREES),
    compared="none",
    draw=draw,
    missing={"the errors themselves": "the paper prints none of them"},
)
