"""The codec that writes an `ARBoostClassifier` to a file, and reads it back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from properboost.estimators.arboost import (
    ARBoostClassifier,
    VotingClassifier,
    check_voting,
)
from properboost.estimators.boosted_file import describe_fitted, restore
from properboost.losses.builtin import Exponential
from properboost.models.voting import Voting
from properboost.parameters.kinds import VotingMulticlass
from properboost.persistence import Codec, Node, kind
from properboost.persistence.fitted_models import find_fields
from properboost.persistence.labels import build_classes
from properboost.persistence.losses import build_loss
from properboost.persistence.parameters import build_estimator, describe_parameters

__all__ = ["ARBoostFile", "replace_old_values"]

_OLD_VALUES: Mapping[str, VotingMulticlass] = {"classes": "samme", "labels": "one_vs_rest"}


def replace_old_values(model: VotingClassifier) -> None:
    """Replace the values of `multiclass` and weak learner in older files by today's."""
    for old, new in _OLD_VALUES.items():
        if model.multiclass == old:
            model.multiclass = new
    if model.weak_learner == "histogram":
        model.weak_learner = "table"


@kind("ARBoostClassifier", ARBoostClassifier, since=4)
class ARBoostFile(Codec[ARBoostClassifier]):
    """Parameters, votes, classes, bins and rounds."""

    def describe(self, model: ARBoostClassifier) -> dict[str, Any]:
        """Return the fields of a fitted model."""
        check_voting(model)  # they may have been set since the fit
        return {
            "parameters": describe_parameters(model, ARBoostClassifier, model.seed_),
            "voting": asdict(model._voting),
            **describe_fitted(model),
        }

    def build(self, node: Node, version: int) -> ARBoostClassifier:
        """Return the fitted model that fields describe."""
        fields = node.fields(*find_fields(node, version, ["voting"]))
        loss = build_loss(fields["loss"], version)
        if loss != Exponential():
            fields["loss"].fail("must be exponential, of gain 1, for classifiers that vote")

        def check(model: ARBoostClassifier) -> None:
            replace_old_values(model)
            check_voting(model)

        model = build_estimator(fields["parameters"], ARBoostClassifier, check)
        voting = _build_voting(fields["voting"], len(build_classes(fields["classes"])))
        model._set_voting(voting)
        return restore(model, fields, version, loss, voting.damping)


def _build_voting(node: Node, n_classes: int) -> Voting:
    fields = node.fields("rho", "by_label", "mistrust", "damping")
    values = {name: fields[name].value for name in ("rho", "mistrust", "damping")}
    try:
        check_voting(ARBoostClassifier(**values))
    except (TypeError, ValueError) as error:
        node.fail(f"has a value that is not allowed: {error}")
    if values["damping"] > 0.0 and n_classes > 2:
        fields["damping"].fail("must be 0 with more than two classes")
    return Voting(by_label=fields["by_label"].boolean(), **values)
