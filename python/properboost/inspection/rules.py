"""Fitted rules in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import FeatureBins
from properboost.inspection.tree_words import follow_left
from properboost.models.tree import TreeNodes

__all__ = ["FittedRule", "list_rules"]


@dataclass(frozen=True)
class FittedRule:
    """One round of a model of rules; ``str`` puts it into words.

    Attributes
    ----------
    conditions : tuple of str
        The conditions under which the rule holds, one per feature.  A rule without conditions
        always holds.
    value, otherwise : float
        The rule's contributions to the raw prediction where it holds, and where it does not.  It
        does not hold for values that training did not have.
    share : float
        The share of its training rows, by sample weight, for which it holds.
    class_label : object
        The class of the raw prediction.
    """

    conditions: tuple[str, ...]
    value: float
    otherwise: float
    share: float
    class_label: Any

    def __str__(self) -> str:
        if not self.conditions:
            return f"always: {self.value:+.4g}"
        several = len(self.conditions) > 1
        words = [f"({c})" if several and ", or " in c else c for c in self.conditions]
        return f"{' and '.join(words)}: {self.value:+.4g}, otherwise {self.otherwise:+.4g}"


def list_rules(
    trees: Sequence[tuple[TreeNodes, NDArray[np.float64]]],
    features: Sequence[FeatureBins],
    names: Sequence[str],
    sign: float,
    label: Any,
) -> list[FittedRule]:
    """Return the rules of one model from its rounds' trees and the values of their nodes.

    `sign` is that of the raw prediction for the class `label`.
    """
    return [_read_rule(tree, values, features, names, sign, label) for tree, values in trees]


def _read_rule(
    tree: TreeNodes,
    values: NDArray[np.float64],
    features: Sequence[FeatureBins],
    names: Sequence[str],
    sign: float,
    label: Any,
) -> FittedRule:
    # A tree is a rule if all nodes but the left-most leaf have one value.
    if len(tree.feature) > 0:
        leaf, conditions = follow_left(tree, features, names)
        others = np.delete(values, leaf)
        if np.all(others == values[0]) or not conditions:
            weight = tree.weight.sum(axis=1)
            return FittedRule(
                conditions=tuple(conditions),
                value=sign * float(values[leaf]),
                otherwise=sign * float(values[0]),
                share=float(weight[leaf] / weight[0]) if weight[0] > 0.0 else 0.0,
                class_label=label,
            )
    raise ValueError("only a model of rules (weak_learner='rule') has rules")
