"""``properboost inspect``: the contents of a model file, without predictions."""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from properboost.cli.column_notes import name_options
from properboost.cli.output import show
from properboost.cli.shared_arguments import add_model
from properboost.conformal.around import AroundClassifier
from properboost.data.spelling import PLAIN, Spelling
from properboost.estimators.costs import read_costs
from properboost.estimators.least_cost import unwrap
from properboost.estimators.ordered import OrderedClassifier
from properboost.parameters.declare import Component
from properboost.parameters.flat import take_apart
from properboost.persistence.files import read
from properboost.report.inventory import describe_edit, find_changed, list_contents
from properboost.visible import make_printable

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
Nothing is predicted: all facts come from the file.

examples:
  properboost inspect model.json.gz
  properboost inspect model.json --json | jq .parameters
"""

_MOST_CLASSES = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the model, and the form of its description."""
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(arguments: argparse.Namespace, _parser: argparse.ArgumentParser) -> None:
    """Print the contents of the file."""
    summary = _summarize(arguments.model)
    if arguments.json:
        print(json.dumps(summary, indent=1, default=_spell_out))
    else:
        show(_describe(summary))


def _spell_out(value: Any) -> Any:
    """Return an object's fields under the name of its class, and any other value as text."""
    return dict([take_apart(value)]) if isinstance(value, Component) else str(value)


def _summarize(path: str) -> dict[str, Any]:
    """Return the contents of a model file, with values that JSON lacks, too."""
    file = read(path)
    model = file.model
    summary: dict[str, Any] = {
        "file": path,
        "bytes": Path(path).stat().st_size,
        "gzip": file.packed,
        "compact": model.is_compact,
        "estimator": file.kind,
        "format_version": file.version,
        "library_version": file.library_version,
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
    }
    if model.spelling_ != PLAIN:
        summary["spelling"] = model.spelling_.describe()
    inner = unwrap(model)
    if inner is not model:
        matrix = read_costs(model.costs, model.classes_)
        summary["costs"] = {"of": type(inner).__name__, "matrix": matrix.tolist()}
    described = inner
    if isinstance(inner, AroundClassifier):
        described = inner.models_[0]
        summary["models"] = {"of": type(described).__name__, "models": len(inner.models_)}
    if isinstance(inner, OrderedClassifier):
        inner = described = inner.estimator_
        summary["thresholds"] = model.thresholds_.tolist()
        summary["ordered_classes"] = model.ordered_classes_.tolist()
        summary["moving_features"] = model.moving_features_
    return summary | dict(list_contents(described)) | {"parameters": find_changed(inner)}


# -- in words -------------------------------------------------------------------------------------


def _describe(summary: dict[str, Any]) -> str:
    """Return a summary in words, a line for each fact."""
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
        lines += [f"  {describe_edit(edit)}" for edit in summary["edits"]]
    changed = summary["parameters"]
    title = "all are the defaults" if not changed else "other than the defaults"
    lines.append(_line("parameters", title))
    lines += [f"  {name}={' '.join(repr(value).split())}" for name, value in changed.items()]
    return "\n".join(map(make_printable, lines))


def _line(name: str, text: str) -> str:
    return f"{name:<13}{text}"


def _list_lines(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the lines on known facts, by name."""
    for part, tell in _PARTS.items():
        if summary.get(part) is not None:
            yield tell(summary)


def _describe_classes(summary: dict[str, Any]) -> tuple[str, str]:
    classes = summary["classes"]
    shown = ", ".join(map(repr, classes[:_MOST_CLASSES]))
    more = f" and {len(classes) - _MOST_CLASSES} more" if len(classes) > _MOST_CLASSES else ""
    return "classes", f"{len(classes)}: {shown}{more}"


def _describe_spelling(summary: dict[str, Any]) -> tuple[str, str]:
    return "cells", name_options(Spelling.of(summary["spelling"]))


def _describe_costs(summary: dict[str, Any]) -> tuple[str, str]:
    costs = summary["costs"]
    rows = "; ".join(" ".join(f"{cost:g}" for cost in row) for row in costs["matrix"])
    return "costs", f"{rows} (of decisions, a row for each class), around a {costs['of']}"


def _describe_models(summary: dict[str, Any]) -> tuple[str, str]:
    models = summary["models"]
    return "models", f"{models['models']}, of {models['of']}; the first has what follows"


def _describe_thresholds(summary: dict[str, Any]) -> tuple[str, str]:
    numbers = [f"{threshold:.4g}" for threshold in summary["thresholds"]]
    order = " < ".join(map(str, summary["ordered_classes"]))
    moving = ", ".join(map(str, summary["moving_features"]))
    moved = f", moved by {moving}" if moving else ""
    return "thresholds", f"{', '.join(numbers)}, between {order}{moved}"


def _describe_search(summary: dict[str, Any]) -> tuple[str, str]:
    search = summary["search"]
    score = float(search["best_score"])
    return "search", f"{search['candidates']:,} candidates, best score {score:.6g}"


def _describe_loss(summary: dict[str, Any]) -> tuple[str, str]:
    known = [f"{name} {value:g}" for name, value in summary["loss"].items() if name != "name"]
    return "loss", ", ".join([summary["loss"]["name"], *known])


def _describe_multiclass(summary: dict[str, Any]) -> tuple[str, str]:
    return "multiclass", summary["multiclass"]


def _describe_length(summary: dict[str, Any]) -> tuple[str, str]:
    unit = "cycles" if summary.get("selection") == "cyclic" else "rounds"
    return unit, f"{summary['n_iter']:,}"


def _describe_tables(summary: dict[str, Any]) -> tuple[str, str]:
    tables = summary["tables"]
    more = [f"{tables[name]:,} {name}" for name in ("pairs", "bags") if tables.get(name)]
    size = f"{tables['tables']:,} with {tables['entries']:,} entries"
    return "tables", ", ".join([size, *more])


def _describe_trees(summary: dict[str, Any]) -> tuple[str, str]:
    trees = summary["trees"]
    size = f"{trees['trees']:,} with {trees['nodes']:,} nodes"
    return "trees", f"{size}, {trees['leaves']:,} of them leaves"


def _describe_coefficients(summary: dict[str, Any]) -> tuple[str, str]:
    source = f", from {summary['rados']:,} rados" if "rados" in summary else ""
    return "coefficients", f"{summary['coefficients']:,}{source}"


_PARTS: dict[str, Callable[[dict[str, Any]], tuple[str, str]]] = {
    "classes": _describe_classes,
    "spelling": _describe_spelling,
    "costs": _describe_costs,
    "models": _describe_models,
    "thresholds": _describe_thresholds,
    "search": _describe_search,
    "loss": _describe_loss,
    "multiclass": _describe_multiclass,
    "n_iter": _describe_length,
    "tables": _describe_tables,
    "trees": _describe_trees,
    "coefficients": _describe_coefficients,
}
"""The parts of a summary that have a line, in their order, and the writers of these."""


def _describe_feature(feature: dict[str, Any]) -> str:
    counts = [f"{feature[name]} {name}" for name in ("bins", "categories") if name in feature]
    return f"{feature['name']}: {', '.join([feature['type'], *counts])}"
