"""The codec that writes a `ProperBoostClassifier` to a file, and reads it back."""

from collections.abc import Callable
from functools import partial
from typing import Any

from properboost.estimators.boosted_file import describe_fitted, restore
from properboost.estimators.earlier_parameters import (
    BEFORE,
    NESTED_SINCE,
    find_earlier_forms,
    make_earlier,
)
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.properboost_parameters import check_parameters
from properboost.losses.builtin import MarginLoss
from properboost.losses.custom import CustomLoss
from properboost.persistence import Codec, Node, kind
from properboost.persistence.ensembles import INTERCEPTS, SLOPES
from properboost.persistence.fitted_models import (
    build_coupling,
    build_temperature,
    find_fields,
)
from properboost.persistence.json_node import NOT_FINITE, write_reals
from properboost.persistence.labels import build_classes
from properboost.persistence.losses import build_loss, describe_loss
from properboost.persistence.parameters import (
    build_estimator,
    describe_parameters,
    find_forms,
    has_parameter,
)
from properboost.persistence.search_records import SEARCH, build_search, describe_search
from properboost.persistence.standard_errors import (
    ERROR_FIELDS,
    add_standard_errors,
    describe_standard_errors,
)

__all__ = ["FORMS", "ProperBoostFile"]

FORMS = find_earlier_forms(ProperBoostClassifier)
"""The flat names of earlier formats, and the forms of their values in files."""

_FITTED = "of the fitted loss"

SCORES, OFFSET = "validation_scores", "begins_with_scores"
"""Fields of models that were fitted with validation rows, and with an `init_score`."""


@kind("ProperBoostClassifier", ProperBoostClassifier, since=1)
class ProperBoostFile(Codec[ProperBoostClassifier]):
    """Parameters, loss, classes, bins and rounds."""

    def describe(self, model: ProperBoostClassifier) -> dict[str, Any]:
        """Return the fields of a fitted model."""
        check_parameters(model)  # they may have been set since the fit

        def refer(loss: MarginLoss) -> dict[str, Any]:
            description = describe_loss(loss)
            if description["table"] is not None and loss == model.loss_:
                description["table"] = _FITTED  # it is long, so not twice
            return description

        parameters = describe_parameters(model, ProperBoostClassifier, model.seed_, refer)
        return {
            "parameters": parameters,
            "multiclass": model.multiclass_,
            "temperature": model.temperature_,
            INTERCEPTS: list(model.ensemble_.intercepts),
            SLOPES: _list_slopes(model.ensemble_.slopes),
            **describe_fitted(model),
            **describe_standard_errors(model.ensemble_),
            **_describe_fit(model),
        }

    def build(self, node: Node, version: int) -> ProperBoostClassifier:
        """Return the fitted model that fields describe."""
        # Version 4 has the votes' field in every file.
        others = {"voting": version == 4, "multiclass": version > 5, "temperature": version > 6}
        # Files without the parameters have no such fields.
        with_calibration = version >= NESTED_SINCE or has_parameter(node, "intercept")
        others[INTERCEPTS] = others[SLOPES] = with_calibration
        with_bags = has_parameter(node, "outer_bags")
        others |= {name: with_bags and name in node.mapping() for name in ERROR_FIELDS}
        others |= {name: name in node.mapping() for name in (SCORES, OFFSET, SEARCH)}
        fields = node.fields(*find_fields(node, version, (name for name in others if others[name])))
        if "voting" in fields and fields["voting"].value is not None:
            fields["voting"].fail("must be null")
        fitted = build_loss(fields["loss"], version)

        def resolve(entry: Node) -> MarginLoss:
            as_fitted = isinstance(fitted, CustomLoss) and entry.value.get("table") == _FITTED
            return fitted if as_fitted else build_loss(entry, version)

        model = _build_unfitted(fields["parameters"], resolve, version)
        n_classes = len(build_classes(fields["classes"]))
        coupling = build_coupling(fields.get("multiclass"), n_classes, fitted)
        temperature = build_temperature(fields.get("temperature"), coupling)
        restore(model, fields, version, fitted, multiclass=coupling, temperature=temperature)
        model.ensemble_ = add_standard_errors(fields, model.ensemble_)
        if SCORES in fields:
            model.validation_scores_ = fields[SCORES].reals(also=NOT_FINITE)
            if len(model.validation_scores_) < model.ensemble_.n_estimators:
                fields[SCORES].fail("must have a score for every estimator")
        if OFFSET in fields:
            model.begins_with_scores_ = fields[OFFSET].boolean()
        if SEARCH in fields:
            model.search_ = build_search(fields[SEARCH])
        return model


def _build_unfitted(
    node: Node, resolve: Callable[[Node], MarginLoss], version: int
) -> ProperBoostClassifier:
    make: Callable[..., ProperBoostClassifier] = ProperBoostClassifier
    forms = find_forms(ProperBoostClassifier)
    if version < NESTED_SINCE:
        make, forms = partial(_make_flat, version), FORMS
    model: ProperBoostClassifier = build_estimator(node, make, check_parameters, resolve, forms)
    return model


def _make_flat(version: int, /, **flat: Any) -> ProperBoostClassifier:
    flat = {**BEFORE, **flat}
    loss = flat.get("loss")
    if version <= 4 and isinstance(loss, MarginLoss) and loss.gain != 1.0 == flat.get("gain"):
        flat["gain"] = None  # 1 was the default, which used the loss's gain
    if version <= 1:
        flat["selection"] = "greedy"  # as all models then
    if version <= 5:
        flat["multiclass"] = "one_vs_rest"  # as all models then
    return make_earlier(ProperBoostClassifier, **flat)


def _describe_fit(model: ProperBoostClassifier) -> dict[str, Any]:
    """Return the fields of validation scores, initial scores and searches, if there are any."""
    fields: dict[str, Any] = {}
    if hasattr(model, "validation_scores_"):
        fields[SCORES] = write_reals(model.validation_scores_)
    if model.begins_with_scores_:
        fields[OFFSET] = True
    if hasattr(model, "search_"):
        fields[SEARCH] = describe_search(model.search_)
    return fields


def _list_slopes(slopes: tuple[float, ...]) -> list[float]:
    return [] if set(slopes) <= {1.0} else list(slopes)
