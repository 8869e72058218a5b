"""``properboost inspect``: what a model file holds, and not what it predicts."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from properboost.cli.column_notes import name_options
from properboost.cli.shared_arguments import add_model
from properboost.cli.shared_work import show
from properboost.data.spelling import PLAIN, Spelling
from properboost.persistence.files import read
from properboost.report.inventory import describe_edit, find_changed, list_contents
from properboost.visible import make_printable

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
Nothing is predicted: what is told is in the file.

examples:
  properboost inspect model.json.gz
  properboost inspect model.json --json | jq .parameters
"""

_MOST_CLASSES = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the model, and how it is described."""
    add_model(parser)
    parser.add_argument("--json", action="store_true", help="write JSON")


def run(arguments: argparse.Namespace, _parser: argparse.ArgumentParser) -> None:
    """Tell what the file holds."""
    summary = _summarize(arguments.model)
    if arguments.json:
        print(json.dumps(summary, indent=1, default=str))
    else:
        show(_describe(summary))


def _summarize(path: str) -> dict[str, Any]:
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
    if model._spelling != PLAIN:
        summary["spelling"] = model._spelling.describe()
    return summary | dict(list_contents(model)) | {"parameters": find_changed(model)}


# -- in words -------------------------------------------------------------------------------------


def _describe(summary: dict[str, Any]) -> str:
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
        lines += [f"  {describe_edit(edit)}" for edit in summary["edits"]]
    changed = summary["parameters"]
    title = "all are the defaults" if not changed else "other than the defaults"
    lines.append(_line("parameters", title))
    lines += [f"  {name}={' '.join(repr(value).split())}" for name, value in changed.items()]
    return "\n".join(map(make_printable, lines))


def _line(name: str, text: str) -> str:
    return f"{name:<13}{text}"


def _list_lines(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    classes = summary["classes"]
    if classes is not None:
        shown = ", ".join(map(repr, classes[:_MOST_CLASSES]))
        more = f" and {len(classes) - _MOST_CLASSES} more" if len(classes) > _MOST_CLASSES else ""
        yield "classes", f"{len(classes)}: {shown}{more}"
    if "spelling" in summary:
        yield "numbers", name_options(Spelling.of(summary["spelling"]))
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
        source = f", from {summary['rados']:,} rados" if "rados" in summary else ""
        yield "coefficients", f"{summary['coefficients']:,}{source}"


def _describe_feature(feature: dict[str, Any]) -> str:
    counts = [f"{feature[name]} {name}" for name in ("bins", "categories") if name in feature]
    return f"{feature['name']}: {', '.join([feature['type'], *counts])}"
