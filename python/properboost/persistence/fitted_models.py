"""The fields of fitted boosted models in documents, apart from their parameters."""

import math
from collections.abc import Iterable

from properboost.data.names import ColumnNames
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.models.fitted_model import FittedModel
from properboost.parameters.kinds import Coupling
from properboost.persistence.edits import RECORD
from properboost.persistence.ensembles import COMPACT_FROM, ENSEMBLE_FIELDS, build_ensemble
from properboost.persistence.json_node import Node
from properboost.persistence.labels import build_classes, build_names
from properboost.persistence.origins import ORIGINS
from properboost.persistence.terms import BAG_INTERCEPTS, BAG_PARTS, TERMS

__all__ = ["build_coupling", "build_fitted", "build_temperature", "find_fields"]

_FIELDS = {"parameters": 1, "loss": 1, "seed": 1, "classes": 1, "feature_names": 1}


def find_fields(node: Node, version: int, others: Iterable[str] = ()) -> list[str]:
    """Return the fields of a document of this version, and the `others`."""
    since = {**_FIELDS, **ENSEMBLE_FIELDS}
    of_trees = (TERMS, BAG_INTERCEPTS, BAG_PARTS, ORIGINS)
    names = ((COMPACT_FROM, 8), (RECORD, 8), *((name, 13) for name in of_trees))
    present = node.mapping()
    optional = [name for name, first in names if version >= first and name in present]
    return [*(name for name, first in since.items() if version >= first), *optional, *others]


def build_fitted(
    fields: dict[str, Node],
    version: int,
    loss: MarginLoss,
    damping: float = 0.0,
    multiclass: Coupling | None = None,
    temperature: float | None = None,
) -> tuple[FittedModel, ColumnNames | None]:
    """Return the fitted model of the fields, and the names of its features."""
    classes = build_classes(fields["classes"])
    seed = fields["seed"].integer(0, 2**32 - 1)
    ensemble = build_ensemble(
        fields, version, len(classes), damping, joint=bool(Link(loss, multiclass).joint_loss)
    )
    names = build_names(fields["feature_names"], len(ensemble.binning.features))
    return FittedModel(classes, loss, ensemble, seed, multiclass, temperature), names


def build_coupling(node: Node | None, n_classes: int, loss: MarginLoss) -> Coupling | None:
    """Return the coupling of a fitted model's classes; files before version 6 have none."""
    if n_classes == 2:
        if node is not None and node.value is not None:
            node.fail("must be null with two classes")
        return None
    if node is None:
        return "one_vs_rest"
    known: tuple[Coupling, ...] = (*loss.joint_forms, "one_vs_rest")
    return known[known.index(node.choice(known))]


def build_temperature(node: Node | None, coupling: Coupling | None) -> float | None:
    """Return the temperature of a fitted model; files before version 7 have none."""
    if node is None or node.value is None:
        return None
    if coupling != "one_vs_rest":
        node.fail("must be null unless classes are learnt one against the rest")
    temperature = node.real()
    if not 0.0 < temperature < math.inf:
        node.fail("must be a finite number above 0")
    return temperature
