"""The boosting loop of joint models: one raw prediction per class, all moved by one step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from helpers.reference.boosting import find_table
from helpers.reference.joint import FORMS, weights_of
from helpers.reference.lines import add_lines, fit_lines, largest_values
from helpers.reference.losses import make_loss
from helpers.reference.rounds import Round
from helpers.reference.settings import TIE, Training, TreeSettings
from helpers.reference.steps import step_size
from helpers.reference.trees import grow_shared_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helpers.reference.bins import Array, Codes, FeatureBins
    from helpers.reference.lines import Line


class JointLoss:
    """Joint loss on rows of these classes; raw predictions are (rows, classes)."""

    def __init__(self, joint_loss: str, name: str, gain: float, classes: Array) -> None:
        self.gain = gain
        self.form = FORMS[joint_loss](name)
        self.classes = classes

    def weights(self, raw: Array, chosen: Array | slice = slice(None)) -> Array:
        """Return the weights of the chosen rows."""
        return weights_of(
            self.form.log_probabilities(raw[chosen] / self.gain), self.classes[chosen]
        )

    def curvatures(self, raw: Array) -> Array:
        """Return the Hessian's diagonal."""
        return self.form.curvatures(raw / self.gain) / self.gain

    def losses(self, raw: Array) -> Array:
        return self.gain * self.form.loss(raw / self.gain, self.classes)


def fit_joint(
    codes: Codes,
    bins: Sequence[FeatureBins],
    classes: Array,
    sample_weight: Array | None = None,
    *,
    joint_loss: str,
    loss: str,
    gain: float = 1.0,
    n_estimators: int,
    selection: str = "greedy",
    shared_trees: bool = False,
    **settings: Any,
) -> list[list[Round]]:
    """Boost; return the rounds of each class, equally many.  The settings are those of `fit`.

    With `shared_trees` one tree, grown by the sum of the classes' costs, serves them all; else in
    each round every class finds a feature and a table from its own weights, 1 - p for its own
    rows and p for the others'; all tables then move by one step.  Newton divides by the Hessian's
    diagonal over `share`, and an exact value is `share` of its class's minimiser: (K - 1) / K,
    which makes two classes the binary model, or a half where no step is shortened.
    """
    n_classes = int(classes.max()) + 1
    weight = np.ones(len(classes)) if sample_weight is None else sample_weight
    joint = JointLoss(joint_loss, loss, gain, classes)
    defaults = {
        "learner": "table", "response": "real", "step": "guarded", "learning_rate": 1.0,
        "prior": None, "smoothing": 0.0, "smoothing_in_score": True, "l2": 0.0, "tie": TIE,
        "tree": TreeSettings(), "selection": selection, "max_cells": None, "min_saving": 0.0,
    }  # fmt: skip
    y = np.where(np.eye(n_classes, dtype=bool)[classes], 1.0, -1.0)
    trainings = [
        Training(codes, bins, y[:, k], weight, make_loss(loss, gain),
                 **(defaults | settings))
        for k in range(n_classes)
    ]  # fmt: skip
    share = 0.5 if trainings[0].step == "unit" else (n_classes - 1) / n_classes
    raw = np.zeros((len(classes), n_classes))
    whole = selection != "cyclic" or trainings[0].learner == "tree"
    turns = [range(len(bins))] if whole else [range(j, j + 1) for j in range(len(bins))]
    rounds_of_classes: list[list[Round]] = [[] for _ in trainings]
    for e in range(n_estimators):
        moved = False
        for candidates in turns:
            w, added = joint.weights(raw), np.zeros_like(raw)
            newton = trainings[0].response == "newton"
            curvature = joint.curvatures(raw) / share if newton else np.zeros_like(raw)
            grown = None
            if shared_trees:
                scaled = weight[:, None]
                grown = grow_shared_tree(trainings, scaled * w, scaled * curvature, e + 1)
            cuts = []
            for k, t in enumerate(trainings):

                def weigh(chosen: Array, z: float, raw: Array = raw, k: int = k) -> Array:
                    shifted = raw.copy()
                    shifted[:, k] += z / share
                    return joint.weights(shifted, chosen)[:, k]

                args = (weight * w[:, k], weight * curvature[:, k], weigh, candidates, e + 1)
                cut, table = find_table(t, *args, grown)
                g = table[cut.codes]
                lines: list[Line] = []
                if cut.tree is not None and t.tree.linear_leaves:
                    lines = fit_lines(
                        t, weight * w[:, k], weight * curvature[:, k], cut.tree, table
                    )
                    g = g + add_lines(cut.tree, lines, t.codes, t.bins)
                if (weight * t.y * g * w[:, k]).sum() > 0 and not cut.candidate.within_chance:
                    added[:, k] = g
                else:
                    table, lines = 0.0 * table, []
                cuts.append((cut, table, lines))
            a = 0.0
            if added.any():
                moved = True

                def slope(a: float, raw: Array = raw, added: Array = added) -> float:
                    per_row = (y * added * joint.weights(raw + a * added)).sum(axis=1)
                    return float((weight * per_row).sum())

                largest = max(np.abs(table).max() for _, table, _ in cuts)
                for t, (cut, table, lines) in zip(trainings, cuts, strict=True):
                    if cut.tree is not None:
                        largest = max([largest, *largest_values(t, cut.tree, table, lines)])
                a = step_size(trainings[0], slope, largest)
            raw = raw + a * added
            risk = float((weight * joint.losses(raw)).sum() / weight.sum())
            for k, (cut, table, lines) in enumerate(cuts):
                step = a if table.any() or lines else 0.0
                args = (cut.feature, cut.candidate.score, step, table, risk, cut.tree)
                done = Round(*args, lines, bins)
                rounds_of_classes[k].append(replace(done))
        if not moved and not (trainings[0].tree.leaves_to_chance or trainings[0].screening):
            for of_class in rounds_of_classes:
                del of_class[-len(turns) :]
            break
    return rounds_of_classes
