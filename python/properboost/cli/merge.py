"""``properboost merge``: one model whose raw predictions are the mean of those of several."""

import argparse
import math
import re

from properboost.cli.csv_table import FileError
from properboost.cli.model_file import load_classifier
from properboost.cli.output import note, show
from properboost.cli.shared_arguments import add_force
from properboost.cli.shared_work import check_output
from properboost.estimators.merging import merge_models
from properboost.estimators.ordered_predicting import take_inner

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
The models must have the same columns, classes and loss.  The merged model is
compact, and keeps a record of its parts, which inspect shows.

examples:
  properboost merge north.json south.json --output both.json
  properboost merge a.json b.json c.json --weights 3 1 1 --output all.json.gz
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the models, and their weights."""
    parser.add_argument(
        "models", metavar="MODEL", nargs="+", help="two or more models saved by fit or save_model"
    )
    parser.add_argument(
        "--weights",
        metavar="W",
        nargs="+",
        type=_weight,
        help="the weight of each model; only ratios matter (default: its training rows)",
    )
    parser.add_argument("--reason", metavar="TEXT", help="the reason for the merge, for the record")
    parser.add_argument(
        "--output",
        metavar="FILE",
        required=True,
        help="the file of the merged model, packed by gzip if its name ends with .gz",
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
    models = [load_classifier(file, ordered=True) for file in files]
    if len({model.spelling_ for model in models}) > 1:
        note(
            "the models were fitted to files that spell numbers in different ways, and the "
            "merged one has none of these: pass --decimal, --thousands, --units and --brackets "
            "to predict"
        )
    try:
        merged = merge_models(models, weights, reason=arguments.reason)
    except (TypeError, ValueError) as error:
        # The error has the models' numbers, but the user knows only the files.
        message = re.sub(r"\bmodels\[(\d+)\]", lambda match: files[int(match[1])], str(error))
        raise FileError(message) from error
    merged.save_model(arguments.output)
    (edit,) = take_inner(merged).edits_
    shares = ", ".join(f"{share:.4g}" for share in edit["weights"])
    show(f"Wrote the merged model, with the weights {shares}, to {arguments.output}.")
