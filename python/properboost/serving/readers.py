"""The reader of each kind of model file: the fields that predictions need, without parameters."""

from collections.abc import Callable, Mapping
from typing import NoReturn, get_args

from properboost.estimators.ordered_predicting import OrderedModel
from properboost.estimators.udt_predicting import Phi
from properboost.losses.builtin import GLog
from properboost.losses.probabilities import Link
from properboost.models.voting import Voting
from properboost.persistence.ensembles import INTERCEPTS, SLOPES
from properboost.persistence.fitted_models import (
    build_coupling,
    build_fitted,
    build_temperature,
    find_fields,
)
from properboost.persistence.json_node import Node
from properboost.persistence.labels import build_classes, build_names, build_two_classes
from properboost.persistence.losses import build_loss
from properboost.persistence.ordered_classes import build_order, list_order_fields
from properboost.persistence.rado_models import build_rado_model, find_rounds
from properboost.persistence.single_trees import build_bins_and_tree
from properboost.persistence.uls_models import build_uls_model
from properboost.serving.predictors import (
    BoostedPredictor,
    LinearPredictor,
    Predictor,
    TreePredictor,
)

__all__ = ["FIRST_VERSIONS", "READERS"]


def _take(node: Node, *names: str) -> dict[str, Node]:
    """Return fields of a document, which may have others."""
    fields = node.mapping()
    for name in names:
        if name not in fields:
            node.fail(f"lacks the field {name!r}")
    return {name: fields[name] for name in names}


def _take_fitted(node: Node, version: int, *others: str) -> dict[str, Node]:
    """Return the fields of a boosted model, and those of `others` that it has."""
    present = [name for name in others if name in node.mapping()]
    required = [name for name in find_fields(node, version, present) if name != "parameters"]
    return _take(node, *required)


def _read_boosted(node: Node, version: int) -> BoostedPredictor:
    others = ("multiclass", "temperature", INTERCEPTS, SLOPES, "begins_with_scores")
    fields = _take_fitted(node, version, *others)
    loss = build_loss(fields["loss"], version)
    n_classes = len(build_classes(fields["classes"]))
    coupling = build_coupling(fields.get("multiclass"), n_classes, loss)
    temperature = build_temperature(fields.get("temperature"), coupling)
    fitted, names = build_fitted(
        fields, version, loss, multiclass=coupling, temperature=temperature
    )
    predictor = BoostedPredictor(fitted, names)
    if "begins_with_scores" in fields:
        predictor.begins_with_scores_ = fields["begins_with_scores"].boolean()
    return predictor


def _read_votes(node: Node, version: int) -> BoostedPredictor:
    fields = _take_fitted(node, version, "voting")
    values = _take(fields["voting"], "by_label", "damping")
    voting = Voting(by_label=values["by_label"].boolean(), damping=values["damping"].real())
    loss = build_loss(fields["loss"], version)
    return BoostedPredictor(*build_fitted(fields, version, loss, voting.damping), voting.link)


def _read_best(read: Callable[[Node, int], Predictor]) -> Callable[[Node, int], Predictor]:
    """Return the reader of the model that a search fitted."""

    def read_best(node: Node, version: int) -> Predictor:
        best = _take(node, "best_estimator")["best_estimator"]
        if best.value is None:
            best.fail("is null: the search fitted no model (refit=False)")
        return read(best, version)

    return read_best


def _read_tree(node: Node, _: int) -> TreePredictor:
    names = ("phi", "classes", "feature_names", "categorical_from_dtype", "features", "tree")
    fields = _take(node, *names)
    values = fields["phi"].fields("phi", "mu", "zeta")
    phi: Phi = values["phi"].choice(get_args(Phi))  # type: ignore[assignment]
    binning, tree = build_bins_and_tree(fields)
    return TreePredictor(
        build_two_classes(fields["classes"]),
        binning,
        tree,
        (phi, values["mu"].real(), values["zeta"].real()),
        build_names(fields["feature_names"], len(binning.features)),
    )


def _read_uls(node: Node, _: int) -> LinearPredictor:
    classes, model = build_uls_model(node.mapping())
    return LinearPredictor(classes, model.columns, model.coefficients, Link(model.loss))


def _read_rados(node: Node, version: int) -> LinearPredictor:
    names = ("seed", "n_rados", "n_kept", "classes", "feature_names", "categories", "intercept")
    classes, model = build_rado_model(_take(node, *names, find_rounds(node, version)))
    return LinearPredictor(classes, model.columns, model.coefficients(), Link(GLog(1.0)))


def _read_ordered(node: Node, version: int) -> OrderedModel:
    fields = _take(node, *list_order_fields(node), "model")
    model = _read_boosted(fields["model"], version)
    order = build_order(fields, model.ensemble_.binning)
    if len(model.classes_) != 2 or model.begins_with_scores_:
        fields["model"].fail("must be of two classes, without initial scores")
    model.kind = "ProperBoostClassifier"
    return OrderedModel(model, *order)


def _refuse(node: Node, _: int) -> NoReturn:
    node.fail("is of a classifier around another one, which load_model reads, but no scorer")


READERS: Mapping[str, Callable[[Node, int], Predictor | OrderedModel]] = {
    "ConformalClassifier": _refuse,
    "LeastCostClassifier": _refuse,
    "OrderedClassifier": _read_ordered,
    "ProperBoostClassifier": _read_boosted,
    "ProperBoostClassifierCV": _read_best(_read_boosted),
    "ARBoostClassifier": _read_votes,
    "ARBoostClassifierCV": _read_best(_read_votes),
    "RadoBoostClassifier": _read_rados,
    "UDTClassifier": _read_tree,
    "ULSClassifier": _read_uls,
    "VennAbersClassifier": _refuse,
}
"""The reader of each kind, by its name in files."""

FIRST_VERSIONS: Mapping[str, int] = {
    "ConformalClassifier": 13,
    "LeastCostClassifier": 13,
    "OrderedClassifier": 13,
    "ProperBoostClassifier": 1,
    "ProperBoostClassifierCV": 5,
    "ARBoostClassifier": 4,
    "ARBoostClassifierCV": 5,
    "RadoBoostClassifier": 4,
    "UDTClassifier": 5,
    "ULSClassifier": 11,
    "VennAbersClassifier": 13,
}
"""The first format version of each kind."""
