"""Inventory of a fitted model: its loss, tables, trees, features and parameters."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from properboost.data.binning import Binning, FeatureBins, NumericBins
from properboost.estimators.base import label_features
from properboost.models.ensemble import Ensemble
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.tree import TreeNodes
from properboost.persistence.json_node import write_real

__all__ = ["describe_edit", "find_changed", "list_contents"]


def list_contents(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield the facts on a fitted model besides its parameters, by name."""
    if hasattr(model, "cv_results_"):
        yield (
            "search",
            {
                "candidates": len(model.cv_results_["params"]),
                "best_score": write_real(model.best_score_),
                "chosen": getattr(model, "best_params_", None)
                or model.best_estimator_.get_params(),
            },
        )
    elif record := getattr(model, "search_", None):
        yield (
            "search",
            {
                "candidates": record["n_candidates"],
                "best_score": write_real(record["best_score"]),
                "chosen": record["chosen"],
            },
        )
    if hasattr(model, "ensemble_"):
        loss = model.loss_
        yield "loss", {"name": loss.name, "gain": loss.gain, **loss.parameters}
        yield "multiclass", model.multiclass_
        yield "intercept", np.atleast_1d(model.intercept_).tolist()
        yield "selection", model.ensemble_.selection
        yield "n_iter", model.n_iter_
        yield from _list_ensemble(model.ensemble_)
        if edits := getattr(model, "edits_", []):
            yield "edits", edits
        yield "features", _list_features(model, model.ensemble_.binning)
    elif hasattr(model, "tree_"):
        yield "trees", _count_nodes([model.tree_])
        yield "features", _list_features(model, model.binning_)
    elif hasattr(model, "coef_names_"):
        yield "n_iter", model.n_iter_
        if hasattr(model, "n_rados_"):
            yield "rados", model.n_rados_
        yield "coefficients", int(np.count_nonzero(model.coef_))
        yield (
            "features",
            [
                _describe_column(name, categories)
                for name, categories in zip(label_features(model), model.categories_, strict=True)
            ],
        )


def _list_ensemble(ensemble: Ensemble) -> Iterator[tuple[str, Any]]:
    trees = [rounds.trees for rounds in ensemble.models if rounds.trees is not None]
    if trees:
        counts = _count_nodes(trees)
        counts["trees"] = sum(len(rounds) for rounds in ensemble.models)
        yield "trees", counts
        return
    entries = sum(len(rounds.values) for rounds in ensemble.models)
    tables: dict[str, Any] = {"tables": sum(map(len, ensemble.models)), "entries": entries}
    if isinstance(ensemble, TableEnsemble):
        tables["pairs"] = len(ensemble.pairs)
        tables["bags"] = 0 if ensemble.standard_errors is None else ensemble.standard_errors.n_bags
    yield "tables", tables


def _count_nodes(trees: list[TreeNodes]) -> dict[str, int]:
    nodes = sum(len(tree.feature) for tree in trees)
    leaves = sum(int(tree.is_leaf.sum()) for tree in trees)
    return {"trees": len(trees), "nodes": nodes, "leaves": leaves}


def _list_features(model: Any, binning: Binning) -> list[dict[str, Any]]:
    return [
        _describe_bins(name, bins)
        for name, bins in zip(label_features(model), binning.features, strict=True)
    ]


def _describe_bins(name: str, bins: FeatureBins) -> dict[str, Any]:
    if isinstance(bins, NumericBins):
        return {"name": name, "type": "numeric", "bins": bins.n_bins}
    return _describe_column(name, bins.categories)


def _describe_column(name: str, categories: tuple[Any, ...] | None) -> dict[str, Any]:
    if categories is None:
        return {"name": name, "type": "numeric"}
    return {"name": name, "type": "categorical", "categories": len(categories)}


def find_changed(model: Any) -> dict[str, Any]:
    """Return the parameters that differ from the defaults."""
    defaults = type(model)().get_params(deep=False)
    parameters = model.get_params(deep=False)
    return {
        name: parameters[name]
        for name in parameters
        if repr(parameters[name]) != repr(defaults[name])
    }


def describe_edit(edit: dict[str, Any]) -> str:
    """Return an entry of a model's record of edits (`edits_`) in words."""
    feature = edit.get("feature")
    match edit["method"]:
        case "monotonize":
            done = f"{feature} made to {'rise' if edit['direction'] > 0 else 'fall'}"
        case "set_shape_function":
            done = f"effect of {feature} set by hand"
            done += f" for class {edit['class']}" if "class" in edit else ""
        case "remove_feature":
            done = f"{feature} removed"
        case _:
            weights = ", ".join(f"{weight:.3g}" for weight in edit["weights"])
            earlier = sum(map(len, edit["edits"]))
            edited = f", which had {earlier} edits" if earlier else ""
            done = f"{len(edit['weights'])} models merged, with weights {weights}{edited}"
    if "mean_change" in edit:
        done += (
            f"; raw predictions moved by {edit['mean_change']:.3g} in the mean and "
            f"{edit['largest_change']:.3g} at most"
        )
    return f"{done}; reason: {edit['reason']}" if "reason" in edit else done
