"""Prediction sets of ``properboost predict``, by calibration rows of another file."""

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost.cli.file_columns import read_labelled
from properboost.cli.row_file import RowFileReader
from properboost.cli.shared_arguments import OptionGroup, read_level
from properboost.conformal.classifier import ConformalClassifier

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["SetColumns", "add_set_options", "check_set_options"]


def add_set_options(parser: OptionGroup) -> None:
    """Add the level of sets, and the file of the calibration rows."""
    parser.add_argument(
        "--set",
        metavar="LEVEL",
        type=read_level,
        help=(
            "add, after the predictions, whether each class is in the row's prediction set; a set "
            "has the class of its row this often, such as 0.9; needs --calibration and --target"
        ),
    )
    parser.add_argument(
        "--calibration",
        metavar="FILE",
        help=(
            "of --set: rows with classes that are new to the model, which were used neither to fit "
            "nor to choose it"
        ),
    )
    parser.add_argument(
        "--target", metavar="COL", help="of --set: the column of classes in --calibration"
    )


def check_set_options(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Refuse a level without calibration rows, and rows without a level."""
    values = {"--calibration": arguments.calibration, "--target": arguments.target}
    for option, value in values.items():
        if arguments.set is None and value is not None:
            parser.error(f"{option} needs --set")
        if arguments.set is not None and value is None:
            parser.error(f"--set needs {option}")


@dataclass(frozen=True, eq=False)
class SetColumns:
    """The columns of prediction sets, by split conformal prediction."""

    sets: ConformalClassifier
    level: float

    @classmethod
    def read(cls, arguments: argparse.Namespace, model: Any, reader: RowFileReader) -> "SetColumns":
        """Read the calibration rows, and score them."""
        rows = read_labelled(model, arguments.calibration, arguments.target, reader)
        return cls(ConformalClassifier(model).fit(rows.X, rows.labels), arguments.set)

    def make(self, X: "DataFrame") -> dict[str, NDArray[np.bool_]]:
        """Return a column for each class: whether it is in the set of each row."""
        is_in = self.sets.predict_set(X, self.level)
        return {f"set_{label}": is_in[:, k] for k, label in enumerate(self.sets.classes_)}
