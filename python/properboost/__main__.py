"""The commands of the command line, ``properboost`` or ``python -m properboost``."""

import sys
from collections.abc import Sequence

from properboost.cli.commands import Command, run

__all__ = ["COMMANDS", "main"]

_LISTED = (
    Command("demo", "", "compare tuned gains with the classical losses"),
    Command(
        "reproduce",
        " [ITEM ...]",
        "compute the papers' tables and figures, and compare them with the published ones",
    ),
    Command("fit", " FILE --target COL", "fit a classifier to a file of rows"),
    Command("predict", " MODEL FILE", "predict the rows of a file"),
    Command("compare", " FIRST SECOND FILE --target COL", "compare two models on test rows"),
    Command("report", " MODEL FILE", "write a report page on a model and its test rows"),
    Command("export", " MODEL --to FORMAT", "write a model as ONNX, SQL or treelite"),
    Command("merge", " MODEL MODEL ... --output FILE", "merge models into one"),
    Command("inspect", " MODEL", "describe the contents of a model file"),
    Command("schema", "", "print the JSON schema of model files"),
)

COMMANDS = {command.name: command for command in _LISTED}
"""The commands, in the order of the help; each has a file with its help, options and action."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; the default is those of the process.

    Returns
    -------
    int
        The exit status: 0, or 1 for an error in a file, a column or the data, or for too little
        memory.  The error is one line on stderr.

    Raises
    ------
    SystemExit
        With status 2 if the arguments are wrong, with status 0 after ``--help`` and ``--version``.
    """
    return run(COMMANDS, argv)


if __name__ == "__main__":
    sys.exit(main())
