"""What ``properboost inspect`` tells of a model file: what it is, and not what it predicts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from properboost.boosting.ensemble import Ensemble, TableEnsemble
from properboost.boosting.tree import Tree
from properboost.data.binning import Binning, FeatureBins, NumericBins
from properboost.estimators.base import TableClassifier
from properboost.estimators.boosted import BoostedClassifier
from properboost.estimators.udt import UDTClassifier
from properboost.model_selection.arboost_cv import ARBoostClassifierCV
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.persistence.files import read
from properboost.persistence.json_node import write_real
from properboost.rado.estimator import RadoBoostClassifier

__all__ = ["describe_summary", "summarize"]

_MOST_CLASSES = 10


def summarize(path: str) -> dict[str, Any]:
    """Return what a model file holds: values that JSON knows, or that `str` shows well."""
    file = read(path)
    model = file.model
    summary: dict[str, Any] = {
        "file": path,
        "bytes": Path(path).stat().st_size,
        "gzip": file.packed,
        "compact": model._is_compact,
        "estimator": file.kind,
        "format_version": file.version,
        "library_version": file.library_version,
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
    }
    return summary | dict(_list_contents(model)) | {"parameters": _find_changed(model)}


def _list_contents(model: TableClassifier) -> Iterator[tuple[str, Any]]:
    """Yield what is known of a model besides its parameters."""
    if isinstance(model, ProperBoostClassifierCV | ARBoostClassifierCV):
        yield (
            "search",
            {
                "candidates": len(model.cv_results_["params"]),
                "best_score": write_real(model.best_score_),
                "chosen": getattr(model, "best_params_", None)
                or model.best_estimator_.get_params(),
            },
        )
    if isinstance(model, BoostedClassifier) and hasattr(model, "_ensemble"):
        loss = model.loss_
        yield "loss", {"name": loss.name, "gain": loss.gain, **loss.parameters}
        yield "multiclass", model.multiclass_
        yield "intercept", np.atleast_1d(model.intercept_).tolist()
        yield "selection", model._ensemble.selection
        yield "n_iter", model.n_iter_
        yield from _list_ensemble(model._ensemble)
        if getattr(model, "edits_", []):
            yield "edits", model.edits_
        yield "features", _list_features(model, model._ensemble.binning)
    elif isinstance(model, UDTClassifier):
        yield "trees", _count_nodes([model.tree_])
        yield "features", _list_features(model, model._binning)
    elif isinstance(model, RadoBoostClassifier):
        yield "n_iter", model.n_iter_
        yield "rados", model.n_rados_
        yield "coefficients", int(np.count_nonzero(model.coef_))
        yield (
            "features",
            [
                _describe_column(name, categories)
                for name, categories in zip(model._feature_labels(), model.categories_, strict=True)
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
        tables["bags"] = 0 if ensemble.spread is None else ensemble.spread.n_bags
    yield "tables", tables


def _count_nodes(trees: list[Tree]) -> dict[str, int]:
    nodes = sum(len(tree.feature) for tree in trees)
    leaves = sum(int(tree.is_leaf.sum()) for tree in trees)
    return {"trees": len(trees), "nodes": nodes, "leaves": leaves}


def _list_features(model: TableClassifier, binning: Binning) -> list[dict[str, Any]]:
    return [
        _describe_bins(name, bins)
        for name, bins in zip(model._feature_labels(), binning.features, strict=True)
    ]


def _describe_bins(name: str, bins: FeatureBins) -> dict[str, Any]:
    if isinstance(bins, NumericBins):
        return {"name": name, "type": "numeric", "bins": bins.n_bins}
    return _describe_column(name, bins.categories)


def _describe_column(name: str, categories: tuple[Any, ...] | None) -> dict[str, Any]:
    if categories is None:
        return {"name": name, "type": "numeric"}
    return {"name": name, "type": "categorical", "categories": len(categories)}


def _find_changed(model: TableClassifier) -> dict[str, Any]:
    """Return the parameters that are not the defaults."""
    defaults = type(model)().get_params(deep=False)
    own = model.get_params(deep=False)
    return {name: own[name] for name in own if repr(own[name]) != repr(defaults[name])}


# -- in words -------------------------------------------------------------------------------------


def describe_summary(summary: dict[str, Any]) -> str:
    """Return a summary in words, a line for each thing that is known."""
    states = [
        name
        for name, is_so in (("compact", summary["compact"]), ("gzip", summary["gzip"]))
        if is_so
    ]
    written = f"format {summary['format_version']}, by properboost {summary['library_version']}"
    lines = [
        f"{summary['file']}: {summary['estimator']} ({written})",
        _line("file", ", ".join([f"{summary['bytes']:,} bytes", *states])),
    ]
    lines += [_line(*line) for line in _list_lines(summary)]
    if "features" in summary:
        features = summary["features"]
        n_categorical = sum(feature["type"] == "categorical" for feature in features)
        lines.append(_line("features", f"{len(features)} ({n_categorical} categorical)"))
        lines += [f"  {_describe_feature(feature)}" for feature in features]
    if "edits" in summary:
        lines.append(_line("edits", f"{len(summary['edits'])}"))
        lines += [f"  {_describe_edit(edit)}" for edit in summary["edits"]]
    changed = summary["parameters"]
    title = "all are the defaults" if not changed else "other than the defaults"
    lines.append(_line("parameters", title))
    lines += [f"  {name}={' '.join(repr(value).split())}" for name, value in changed.items()]
    return "\n".join(map(_escape, lines))


def _escape(line: str) -> str:
    """Return a line without what a terminal would obey: names are a stranger's."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


def _line(name: str, text: str) -> str:
    return f"{name:<13}{text}"


def _list_lines(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    classes = summary["classes"]
    if classes is not None:
        shown = ", ".join(map(repr, classes[:_MOST_CLASSES]))
        more = f" and {len(classes) - _MOST_CLASSES} more" if len(classes) > _MOST_CLASSES else ""
        yield "classes", f"{len(classes)}: {shown}{more}"
    if "search" in summary:
        search = summary["search"]
        yield (
            "search",
            f"{search['candidates']:,} candidates, best score {float(search['best_score']):.6g}",
        )
    if "loss" in summary:
        known = [f"{name} {value:g}" for name, value in summary["loss"].items() if name != "name"]
        yield "loss", ", ".join([summary["loss"]["name"], *known])
    if summary.get("multiclass") is not None:
        yield "multiclass", summary["multiclass"]
    if "n_iter" in summary:
        unit = "cycles" if summary.get("selection") == "cyclic" else "rounds"
        yield unit, f"{summary['n_iter']:,}"
    if "tables" in summary:
        tables = summary["tables"]
        some = [f"{tables[name]:,} {name}" for name in ("pairs", "bags") if tables.get(name)]
        held = [f"{tables['tables']:,} with {tables['entries']:,} entries", *some]
        yield "tables", ", ".join(held)
    if "trees" in summary:
        trees = summary["trees"]
        yield (
            "trees",
            f"{trees['trees']:,} with {trees['nodes']:,} nodes, {trees['leaves']:,} of them leaves",
        )
    if "coefficients" in summary:
        yield "coefficients", f"{summary['coefficients']:,}, from {summary['rados']:,} rados"


def _describe_edit(edit: dict[str, Any]) -> str:
    known = {name: own for name, own in edit.items() if name not in ("method", "edits")}
    shown = [
        f"{name} {own:.4g}" if isinstance(own, float) else f"{name} {own}"
        for name, own in known.items()
    ]
    return f"{edit['method']}: {', '.join(shown)}"


def _describe_feature(feature: dict[str, Any]) -> str:
    counts = [f"{feature[name]} {name}" for name in ("bins", "categories") if name in feature]
    return f"{feature['name']}: {', '.join([feature['type'], *counts])}"
