"""The codec that writes a `LeastCostClassifier` to a file, and reads it back."""

from typing import Any

from properboost.estimators.costs import read_costs
from properboost.estimators.least_cost import LeastCostClassifier, find_saved
from properboost.persistence import Codec, Node, kind
from properboost.persistence.json_node import write_reals
from properboost.persistence.registry import KINDS, find_kind

__all__ = ["LeastCostFile"]

KIND = "LeastCostClassifier"


@kind(KIND, LeastCostClassifier, since=13)
class LeastCostFile(Codec[LeastCostClassifier]):
    """The costs as a matrix, and the fitted classifier within."""

    def describe(self, model: LeastCostClassifier) -> dict[str, Any]:
        """Return the fields of a classifier with costs."""
        inner = find_saved(model)
        known = find_kind(inner)
        costs = None
        if model.costs is not None:
            costs = [write_reals(row) for row in read_costs(model.costs, model.classes_)]
        return {"costs": costs, "kind": known.name, "model": known.codec.describe(inner)}

    def build(self, node: Node, version: int) -> LeastCostClassifier:
        """Return the classifier that fields describe."""
        fields = node.fields("costs", "kind", "model")
        others = [name for name, known in KINDS.items() if name != KIND and known.since <= version]
        known = KINDS[fields["kind"].choice(others)]
        inner = known.codec.build(fields["model"], version)
        n_classes, costs = len(inner.classes_), fields["costs"]
        matrix = None if costs.value is None else costs.matrix(n_classes, n_classes)
        model = LeastCostClassifier(inner, matrix)
        try:
            read_costs(matrix, inner.classes_)
        except ValueError as error:
            costs.fail(str(error))
        return model
