"""The command line, ``properboost`` or ``python -m properboost``: its table of contents."""

import sys
from collections.abc import Sequence

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
from properboost.cli.commands import Command, run

__all__ = ["COMMANDS", "main"]

COMMANDS = {
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
"""The commands, in the order of the help.  Each is a file: its help, its options, what it does."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process by default.

    Returns
    -------
    int
        The exit status: 0, or 1 if something is wrong with a file, a column or the data, or
        there is too little memory.  What is wrong is one line on stderr.

    Raises
    ------
    SystemExit
        With status 2 if the arguments are wrong, with status 0 after ``--help`` and ``--version``.
    """
    return run(COMMANDS, argv)


if __name__ == "__main__":
    sys.exit(main())
