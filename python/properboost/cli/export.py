"""``properboost export``: a model in the language of another system."""

import argparse
import io
import sys
from collections.abc import Callable
from typing import Any

from properboost.cli.csv_table import FileError
from properboost.cli.model_file import load_classifier
from properboost.cli.shared_arguments import add_force, add_model, misuse_if_wrong
from properboost.cli.shared_work import check_output
from properboost.export.description import check_outputs
from properboost.export.onnx_graph import OUTPUTS, to_onnx
from properboost.export.sql_query import DIALECTS, to_sql
from properboost.export.treelite_model import to_treelite
from properboost.whole_file import write_whole

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
SQL is text, and goes to stdout without --output; ONNX and treelite's
checkpoints are bytes, and need --output.  ONNX needs onnx (pip install
'properboost[onnx]'), and treelite needs treelite ('properboost[treelite]').

examples:
  properboost export model.json --to onnx --output model.onnx
  properboost export model.json --to sql --table visits --keep id > model.sql
  properboost export model.json --to sql --dialect sqlite --outputs label raw
  properboost export model.json --to treelite --output model.treelite
"""


def _make_onnx(model: Any, **options: Any) -> bytes:
    content: bytes = to_onnx(model, **options).SerializeToString()
    return content


def _make_sql(model: Any, **options: Any) -> bytes:
    return f"{to_sql(model, **options)}\n".encode()


def _make_treelite(model: Any) -> bytes:
    content: bytes = to_treelite(model).serialize_bytes()
    return content


_FORMATS: dict[str, tuple[Callable[..., bytes], tuple[str, ...]]] = {
    "onnx": (_make_onnx, ("outputs", "missing")),
    "sql": (_make_sql, ("outputs", "dialect", "table", "columns", "keep")),
    "treelite": (_make_treelite, ()),
}
"""The functions that make the content of a file, and their options."""

_OPTIONS: dict[str, dict[str, Any]] = {
    "outputs": {
        "choices": OUTPUTS,
        "nargs": "+",
        "help": (
            "of onnx and sql: the outputs, in this order (default: label probabilities of onnx, "
            "raw probabilities of sql)"
        ),
    },
    "missing": {
        "metavar": "TEXT",
        "help": "of onnx: the text that stands for a missing category (default: the empty one)",
    },
    "dialect": {"choices": list(DIALECTS), "help": "of sql: the database (default: duckdb)"},
    "table": {
        "metavar": "NAME",
        "nargs": "+",
        "help": "of sql: the table, or its schema and the table (default: rows)",
    },
    "columns": {
        "metavar": "COL",
        "nargs": "+",
        "help": "of sql: the columns that hold the features (default: those of their names)",
    },
    "keep": {
        "metavar": "COL",
        "nargs": "+",
        "help": "of sql: columns of the table that are returned first, as a key",
    },
}


def _print(content: bytes) -> None:
    """Write UTF-8 to stdout, as to files: databases read it, whatever the terminal's encoding."""
    sys.stdout.flush()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    else:  # something in Python that takes texts
        print(content.decode(), end="")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the model, the format, and the options of formats."""
    add_model(parser)
    parser.add_argument("--to", choices=list(_FORMATS), required=True, help="the format")
    parser.add_argument(
        "--output", metavar="FILE", default="-", help="the file (default: stdout, of sql)"
    )
    add_force(parser)
    for name, settings in _OPTIONS.items():
        parser.add_argument(f"--{name}", default=argparse.SUPPRESS, **settings)


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Export the model."""
    make, taken = _FORMATS[arguments.to]
    options = {name: value for name, value in vars(arguments).items() if name in _OPTIONS}
    foreign = options.keys() - {*taken}
    if foreign:
        parser.error(f"--{min(foreign)} cannot be combined with --to {arguments.to}")
    if "outputs" in options:
        with misuse_if_wrong(parser):
            check_outputs(options["outputs"], OUTPUTS)
    if arguments.output != "-":
        check_output(arguments)
    elif arguments.to != "sql":
        parser.error(f"--to {arguments.to} needs --output, because its format is not text")
    model = load_classifier(arguments.model, ordered=True)
    try:
        content = make(model, **options)
    except (TypeError, ValueError) as error:
        raise FileError(f"{arguments.model}: {error}") from error
    if arguments.output == "-":
        _print(content)
    else:
        write_whole(arguments.output, [content])
