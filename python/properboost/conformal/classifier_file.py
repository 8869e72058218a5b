"""The codec that writes a `ConformalClassifier` to a file, and reads it back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.conformal.around_file import AROUND_FIELDS, build_around, describe_around
from properboost.conformal.calibration_scores import CalibrationScores
from properboost.conformal.classifier import ConformalClassifier
from properboost.persistence import Codec, Node, kind
from properboost.persistence.labels import build_classes, describe_classes

__all__ = ["ConformalFile"]


@kind("ConformalClassifier", ConformalClassifier, since=13)
class ConformalFile(Codec[ConformalClassifier]):
    """Parameters, models, subgroups, and the scores of the rows that each model did not see."""

    def describe(self, model: ConformalClassifier) -> dict[str, Any]:
        """Return the fields of a fitted classifier."""
        subgroups = model._subgroups
        return {
            **describe_around(model),
            "subgroups": None if subgroups is None else describe_classes(subgroups),
            "scores": [
                [scores.tolist() for scores in of_model.sorted_scores] for of_model in model._scores
            ],
        }

    def build(self, node: Node, version: int) -> ConformalClassifier:
        """Return the classifier that fields describe."""
        fields = node.fields(*AROUND_FIELDS, "subgroups", "scores")
        model = build_around(ConformalClassifier, fields, version)
        if model.conformity_score == "aps" and len(model.classes_) < 3:
            fields["parameters"].fail("has the conformity_score 'aps', which needs three classes")
        written = fields["subgroups"]
        model._subgroups = None if written.value is None else build_classes(written, least=1)
        model._scores = [
            CalibrationScores([_build_scores(cell) for cell in of_model.entries(model._n_cells)])
            for of_model in fields["scores"].entries(len(model.models_))
        ]
        return model


def _build_scores(node: Node) -> NDArray[np.float64]:
    scores = node.reals()
    if np.any(np.diff(scores) < 0.0):
        node.fail("must hold numbers in ascending order")
    return scores
