"""The codec that writes a `VennAbersClassifier` to a file, and reads it back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.conformal.around_file import AROUND_FIELDS, build_around, describe_around
from properboost.conformal.venn_abers import VennAbersTable
from properboost.conformal.venn_abers_classifier import VennAbersClassifier
from properboost.persistence import Codec, Node, kind

__all__ = ["VennAbersFile"]


@kind("VennAbersClassifier", VennAbersClassifier, since=13)
class VennAbersFile(Codec[VennAbersClassifier]):
    """Parameters, models, and the tables of each."""

    def describe(self, model: VennAbersClassifier) -> dict[str, Any]:
        """Return the fields of a fitted classifier."""
        return {
            **describe_around(model),
            "tables": [[_describe_table(table) for table in tables] for tables in model._tables],
        }

    def build(self, node: Node, version: int) -> VennAbersClassifier:
        """Return the classifier that fields describe."""
        fields = node.fields(*AROUND_FIELDS, "tables")
        model = build_around(VennAbersClassifier, fields, version)
        model._tables = [
            [_build_table(table) for table in tables.entries(len(model._table_classes))]
            for tables in fields["tables"].entries(len(model.models_))
        ]
        return model


def _describe_table(table: VennAbersTable) -> dict[str, Any]:
    return {
        "scores": table.scores.tolist(),
        "p0": table.lower.tolist(),
        "p1": table.upper.tolist(),
    }


def _build_table(node: Node) -> VennAbersTable:
    fields = node.fields("scores", "p0", "p1")
    scores = fields["scores"].reals()
    if np.any(np.diff(scores) <= 0.0):
        fields["scores"].fail("must hold different numbers in ascending order")
    p0, p1 = (_build_steps(fields[name], len(scores) + 1) for name in ("p0", "p1"))
    if np.any(p0 >= 1.0):
        fields["p0"].fail("must hold numbers below 1")
    if np.any(p1 <= 0.0):
        fields["p1"].fail("must hold numbers above 0")
    return VennAbersTable(scores, p0, p1)


def _build_steps(node: Node, length: int) -> NDArray[np.float64]:
    steps = node.reals(length)
    if np.any(np.diff(steps) < 0.0) or steps[0] < 0.0 or steps[-1] > 1.0:
        node.fail("must hold probabilities in ascending order")
    return steps
