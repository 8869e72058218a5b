"""``properboost merge``: one model whose raw predictions are the mean of those of several."""

import argparse
import math
import re

from properboost.cli.csv_table import FileError
from properboost.cli.shared_arguments import add_force
from properboost.cli.shared_work import check_output, note, show
from properboost.estimators.base import load_model
from properboost.estimators.merging import merge_models

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
The models must be of the same columns, classes and loss.  The merged model is
compact, and keeps a record of what went into it, which inspect shows.

examples:
  properboost merge north.json south.json --output both.json
  properboost merge a.json b.json c.json --weights 3 1 1 --output all.json.gz
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the models, and what each of them counts."""
    parser.add_argument(
        "models", metavar="MODEL", nargs="+", help="models saved by fit or save_model; two or more"
    )
    parser.add_argument(
        "--weights",
        metavar="W",
        nargs="+",
        type=_weight,
        help="what each model counts, of which only ratios matter (default: its training rows)",
    )
    parser.add_argument("--reason", metavar="TEXT", help="why they are merged, for the record")
    parser.add_argument(
        "--output",
        metavar="FILE",
        required=True,
        help="the merged model, packed by gzip if it ends with .gz",
    )
    add_force(parser)


def _weight(text: str) -> float:
    weight = float(text)
    if not 0.0 < weight < math.inf:
        raise argparse.ArgumentTypeError(f"must be finite and above 0; got {text}")
    return weight


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Merge and save."""
    files, weights = arguments.models, arguments.weights
    if len(files) < 2:
        parser.error("there must be two models or more; got 1")
    if weights is not None and len(weights) != len(files):
        parser.error(
            f"--weights must be {len(files)} numbers, one for each model; got {len(weights)}"
        )
    check_output(arguments)
    models = [load_model(file) for file in files]
    if len({model.spelling_ for model in models}) > 1:
        note(
            "the models were fitted to files that spell numbers in different ways, of which the "
            "merged one remembers none: give predict --decimal, --thousands, --units and --brackets"
        )
    try:
        merged = merge_models(models, weights, reason=arguments.reason)
    except (TypeError, ValueError) as error:
        # It calls them by their numbers, of which the user has seen none.
        message = re.sub(r"\bmodels\[(\d+)\]", lambda found: files[int(found[1])], str(error))
        raise FileError(message) from error
    merged.save_model(arguments.output)
    (edit,) = merged.edits_
    shares = ", ".join(f"{share:.4g}" for share in edit["weights"])
    show(f"The merged model, with the weights {shares}, is in {arguments.output}.")
