"""Changes of ``properboost predict``: the new values that would turn each row."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.cli.csv_table import import_pandas
from properboost.cli.file_columns import find_categories, find_label
from properboost.cli.output import note
from properboost.cli.shared_arguments import OptionGroup
from properboost.inspection.changes import RowChanges

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["ChangeColumns", "add_change_options", "check_change_options"]


def add_change_options(parser: OptionGroup) -> None:
    """Add the option of changes, and those of how rows may change."""
    parser.add_argument(
        "--changes",
        action="store_true",
        help=(
            "add, after the predictions, the nearest change that gives each row another class: "
            "that class, and the new values of one to three features"
        ),
    )
    parser.add_argument(
        "--to", metavar="LABEL", help="of --changes: the class to reach (default: any other)"
    )
    parser.add_argument(
        "--keep", metavar="COL", nargs="+", help="of --changes: features that stay as they are"
    )


def check_change_options(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Refuse options of changes without changes."""
    for option, value in (("--to", arguments.to), ("--keep", arguments.keep)):
        if value is not None and not arguments.changes:
            parser.error(f"{option} needs --changes")


@dataclass(eq=False)
class ChangeColumns:
    """The columns of changes, and a count of the rows that have none."""

    find: Callable[..., RowChanges]
    categories: dict[str, Any]
    labels: list[Any]
    to: Any
    keep: list[str]
    n_missed: int = 0
    is_exact: bool = True

    @classmethod
    def of(
        cls, arguments: argparse.Namespace, model: Any, find: Callable[..., RowChanges]
    ) -> "ChangeColumns":
        """Return the columns of a model's changes, which `find` finds."""
        to = find_label(arguments.to, model.classes_, "--to")
        labels = model.classes_.tolist()
        return cls(find, find_categories(model), labels, to, arguments.keep or [])

    def make(self, X: "DataFrame") -> dict[str, Any]:
        """Return the class after the change, and each feature's new value, empty without one."""
        changes = self.find(X, to=self.to, keep=self.keep)
        self.n_missed += changes.n_missed
        self.is_exact = changes.is_exact
        categorical = import_pandas().Categorical
        after = [None if change is None else change.to for change in changes]
        columns = {"changed_class": categorical(after, self.labels)}
        for name, values in self._list_values(changes).items():
            categories = self.categories[name]
            columns[f"change_{name}"] = (
                np.array(values, dtype=np.float64)
                if categories is None
                else categorical(values, list(categories))
            )
        return columns

    def _list_values(self, changes: RowChanges) -> dict[str, list[Any]]:
        """Return the new values of each feature, None where it stays."""
        values: dict[str, list[Any]] = {name: [None] * len(changes) for name in self.categories}
        for row, change in enumerate(changes):
            for feature in () if change is None else change.features:
                values[str(feature.feature)][row] = feature.value
        return values

    def report(self) -> None:
        """Note the rows without a change, and whether changes are the nearest ones."""
        if self.n_missed:
            already = "" if self.to is None else f"are {self.to!r} already, or "
            note(f"{self.n_missed:,} rows {already}have no change of at most three features")
        if not self.is_exact:
            note("a search made the changes of several features: some rows may have nearer ones")
