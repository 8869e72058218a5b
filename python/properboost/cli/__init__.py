"""The command line: its table of contents.

Each command is a file: its help text, its options, and what it does.

Files of rows are read so that fitting and predicting see the same cells: a column of numbers is
numeric, any other is categorical with its cells as strings, and nothing else is guessed.
"""

from properboost.cli import (
    demo,
    export,
    fit,
    inspect,
    merge,
    predict,
    report,
    reproduce,
    schema,
)
from properboost.cli.commands import COMMANDS, Command, main

__all__ = ["main"]

# Entered here, since `commands`, which has `main`, would be too far above what commands import.
COMMANDS |= {
    "demo": Command("", "compare tuned gains with the classical losses", demo),
    "reproduce": Command(
        " [ITEM ...]", "compute the papers' tables and figures beside what was published", reproduce
    ),
    "fit": Command(" FILE --target COL", "fit a classifier to a file of rows", fit),
    "predict": Command(" MODEL FILE", "predict the rows of a file", predict),
    "report": Command(" MODEL FILE", "write a page on a model and test rows", report),
    "export": Command(" MODEL --to FORMAT", "write a model as ONNX, SQL or treelite", export),
    "merge": Command(" MODEL MODEL ... --output FILE", "merge models into one", merge),
    "inspect": Command(" MODEL", "tell what a model file holds", inspect),
    "schema": Command("", "print the JSON schema of model files", schema),
}
