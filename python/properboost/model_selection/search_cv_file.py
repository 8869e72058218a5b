"""The codec that writes a `ProperBoostClassifierCV` to a file, and reads it back."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from properboost.data.names import keep_features, read_names
from properboost.estimators.earlier_parameters import NESTED_SINCE
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.properboost_file import FORMS, ProperBoostFile
from properboost.model_selection.compare_families import ENDS, PAIRS
from properboost.model_selection.earlier_search import (
    drop_ineffective,
    find_forms_of_search,
    make_earlier_search,
    nest_chosen,
    nest_columns,
)
from properboost.model_selection.families import NAMES, check_search
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.model_selection.search_record import record_search
from properboost.model_selection.search_space import N_GAINS
from properboost.models.fitted_model import FittedModel
from properboost.persistence import Codec, Node, kind
from properboost.persistence.json_node import write_real
from properboost.persistence.labels import (
    build_classes,
    build_names,
    describe_classes,
    describe_names,
)
from properboost.persistence.losses import LossList
from properboost.persistence.parameters import (
    build_estimator,
    describe_parameters,
    find_forms,
    has_parameter,
)
from properboost.persistence.results import (
    build_columns,
    build_curves,
    build_value,
    describe_columns,
    describe_curves,
    describe_value,
)
from properboost.persistence.search_records import SEARCH

__all__ = ["ProperBoostCVFile"]

_MOST_CANDIDATES = 2**13
"""The most candidates in a file: each is checked, and a small file must not cause much work."""

_MOST_TRIED = 2**10
"""The most candidates in a file of an earlier format, checked once for each parameter."""


def _read_factor(node: Node) -> float:
    value = node.real()
    if not 0.0 < value < math.inf:
        node.fail("must be a finite number above 0")
    return value


_CHOSEN: Mapping[str, Callable[[Node], Any]] = {
    "gain": _read_factor,
    "n_estimators": lambda node: node.integer(1, 2**31 - 1),
    "best_index": lambda node: node.integer(0, 2**31 - 1),
}
"""The chosen values, with their readers; attributes have an underscore after the name."""

_FORMERLY_CHOSEN = ("alpha", "smoothing", "prior", "selection")
"""Further entries of earlier files, which `best_params_` holds now."""

_FIELDS = (
    "parameters",
    "losses",
    "seed",
    "classes",
    "n_features",
    "feature_names",
    "found",
    "best_score",
    "best_params",
    "cv_results",
    "interaction_results",
    "best_estimator",
)
_CURVES = "validation_curves"
"""The field that compact files lack."""


@kind("ProperBoostClassifierCV", ProperBoostClassifierCV)
class ProperBoostCVFile(Codec[ProperBoostClassifierCV]):
    """Parameters, the results of the search, and the model fitted to all rows, if there is one."""

    def describe(self, model: ProperBoostClassifierCV) -> dict[str, Any]:
        """Return the fields of a search."""
        losses = LossList()
        parameters = describe_parameters(model, ProperBoostClassifierCV, model.seed_, losses.refer)
        parameters["space"] = describe_value(model.space, losses)
        if _count_candidates(model.space) > _MOST_CANDIDATES:
            raise ValueError(
                f"a search of more than {_MOST_CANDIDATES} candidates cannot be saved; what it "
                "chose can: best_estimator_"
            )
        check_search(model)  # they may have been set since the fit
        pairs = getattr(model, "interaction_results_", None)
        families = model.family_results_
        best = getattr(model, "best_estimator_", None)
        fields = {
            "parameters": parameters,
            "seed": model.seed_,
            "classes": describe_classes(model.classes_),
            "n_features": model.n_features_in_,
            "feature_names": describe_names(read_names(model)),
            "found": {name: describe_value(getattr(model, f"{name}_"), losses) for name in _CHOSEN},
            "best_score": write_real(model.best_score_),
            "best_params": describe_value(model.best_params_, losses),
            "cv_results": describe_columns(model.cv_results_, losses),
            "calibration": describe_value(getattr(model, "calibration_", None), losses),
            "family": describe_value(model.family_, losses),
            "ended": describe_value(model.ended_, losses),
            "family_results": None if families is None else describe_columns(families, losses),
            "interaction_results": None if pairs is None else describe_columns(pairs, losses),
            **({} if model.is_compact else {_CURVES: describe_curves(model.validation_curves_)}),
            "best_estimator": None if best is None else _describe_best(best),
        }
        return {"losses": losses.describe(), **fields}

    def build(self, node: Node, version: int) -> ProperBoostClassifierCV:
        """Return the search that fields describe."""
        calibrates = has_parameter(node, "calibrate")
        compares = has_parameter(node, "effort")
        fields = node.fields(
            *_FIELDS,
            *([_CURVES] if version < 8 or _CURVES in node.mapping() else []),
            *(["calibration"] if calibrates else []),
            *(["family", "ended", "family_results"] if compares else []),
        )
        losses = LossList.build(fields["losses"], version)
        model = _build_unfitted(fields["parameters"], losses, version)
        model.seed_ = fields["seed"].integer(0, 2**32 - 1)
        model.classes_ = build_classes(fields["classes"])
        n_features = fields["n_features"].integer(1, 2**31 - 1)
        keep_features(model, n_features, build_names(fields["feature_names"], n_features))
        _set_winner(model, fields, losses, version)
        model.calibration_ = model.held_out_scores_ = None
        if calibrates:
            model.calibration_ = _build_calibration(fields["calibration"], losses)
        model.family_ = model.ended_ = model.family_results_ = None
        if compares:
            _set_families(model, fields, losses)
        if fields["interaction_results"].value is not None:
            pairs = build_columns(fields["interaction_results"], losses)
            model.interaction_results_ = pairs if version >= NESTED_SINCE else nest_columns(pairs)
        _set_curves(model, fields)
        if fields["best_estimator"].value is not None:
            _set_best(model, fields["best_estimator"], version)
        return model


def _set_winner(
    model: ProperBoostClassifierCV, fields: Mapping[str, Node], losses: LossList, version: int
) -> None:
    """Set the results of the candidates, and the winner."""
    is_flat = version < NESTED_SINCE
    of_winner = fields["found"].fields(*_CHOSEN, *(_FORMERLY_CHOSEN if is_flat else ()))
    for name, read in _CHOSEN.items():
        setattr(model, f"{name}_", read(of_winner[name]))
    model.best_score_ = fields["best_score"].real()
    chosen = build_value(fields["best_params"], losses)
    if not isinstance(chosen, dict) or (is_flat and not chosen.keys() <= FORMS.keys()):
        fields["best_params"].fail("must hold entries, of parameters' names")
    columns = build_columns(fields["cv_results"], losses)
    try:
        model.best_params_ = nest_chosen(chosen, model) if is_flat else chosen
        model.cv_results_ = nest_columns(columns) if is_flat else columns
    except (AttributeError, TypeError, ValueError) as error:
        fields["best_params"].fail(f"and cv_results must be those of a search: {error}")
    n_candidates = len(next(iter(columns.values())))
    if model.best_index_ >= n_candidates:
        of_winner["best_index"].fail(f"must be below {n_candidates}")


def _set_families(
    model: ProperBoostClassifierCV, fields: Mapping[str, Node], losses: LossList
) -> None:
    """Set the results of the families that were compared."""
    names = [*(name for name in NAMES if name is not None), PAIRS]
    model.family_ = _or_none(fields["family"], names)
    model.ended_ = _or_none(fields["ended"], ENDS)
    if fields["family_results"].value is not None:
        model.family_results_ = build_columns(fields["family_results"], losses)


def _set_curves(model: ProperBoostClassifierCV, fields: Mapping[str, Node]) -> None:
    """Set the scores after each estimator, if the file has them."""
    model._validation_curves = None
    if _CURVES in fields:
        model._validation_curves = build_curves(fields[_CURVES], 3)
        n_candidates = len(next(iter(model.cv_results_.values())))
        if len(model.validation_curves_) != n_candidates:
            fields[_CURVES].fail(f"must be of {n_candidates} candidates")


def _build_unfitted(node: Node, losses: LossList, version: int) -> ProperBoostClassifierCV:
    def check(model: ProperBoostClassifierCV) -> None:
        n_candidates = _count_candidates(model.space)
        if n_candidates > _MOST_CANDIDATES:
            raise ValueError(f"space has more than {_MOST_CANDIDATES} candidates")
        try:
            check_search(model)
        except (TypeError, ValueError):
            if version >= NESTED_SINCE or n_candidates > _MOST_TRIED:
                raise
            drop_ineffective(model)
            check_search(model)

    if version < NESTED_SINCE:
        # Up to version 5 each class had a model against the rest.
        fixed = {"multiclass": "one_vs_rest"} if version <= 5 else {}
        make_flat = partial(make_earlier_search, ProperBoostClassifierCV, fixed)
        forms = find_forms_of_search(ProperBoostClassifierCV)
        return build_estimator(node, make_flat, check, losses.resolve, forms)
    written = node.mapping().get("space")
    space = None if written is None else build_value(written, losses)
    make = partial(_make_search, space)
    return build_estimator(node, make, check, losses.resolve, find_forms(ProperBoostClassifierCV))


def _make_search(space: Any, /, **parameters: Any) -> ProperBoostClassifierCV:
    return ProperBoostClassifierCV(**{**parameters, "space": space})


def _or_none(node: Node, names: Sequence[str]) -> str | None:
    return None if node.value is None else node.choice(names)


def _build_calibration(node: Node, losses: LossList) -> dict[str, Any] | None:
    value = build_value(node, losses)
    if value is not None and not isinstance(value, dict):
        node.fail("must be null or hold entries")
    return value


def _count_candidates(space: Any) -> int:
    """Return the number of a space's candidates, with pairs or without, whichever is larger."""
    searched = space if isinstance(space, dict) else {}
    sizes = {name: len(values) for name, values in searched.items() if isinstance(values, list)}
    for_pairs = [name for name in sizes if name.startswith("interactions")]
    n_for_pairs = math.prod(sizes.pop(name) for name in for_pairs)
    if "gain" not in searched:
        sizes["gain"] = N_GAINS
    return max(n_for_pairs, math.prod(sizes.values()))


def _describe_best(best: ProperBoostClassifier) -> dict[str, Any]:
    """Return the fields of the chosen model, without those of the search."""
    return {k: v for k, v in ProperBoostFile().describe(best).items() if k != SEARCH}


def _set_best(model: ProperBoostClassifierCV, node: Node, version: int) -> None:
    best = ProperBoostFile().build(node, version)
    try:
        best.search_ = record_search(model)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        node.fail(f"is of a search whose results lack something, or have something else: {error!r}")
    if best.is_compact != model.is_compact:
        node.fail("must have rounds where, and only where, there are validation_curves")
    same = best.classes_.dtype == model.classes_.dtype
    same &= best.classes_.tolist() == model.classes_.tolist()
    same &= best.n_features_in_ == model.n_features_in_
    same &= read_names(best) == read_names(model)
    if not same:
        node.fail("must have the classes and features of the search")
    model.best_estimator_ = best
    FittedModel.of(best).move_to(model)
