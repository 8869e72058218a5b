"""The roles of a file's columns in training: labels, weights, features.

`fit` shows its first lines before scikit-learn is imported, so this module imports no estimators.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost.cli.column_notes import advise_numbers, note_text
from properboost.cli.csv_table import FileError, Note, first_text, is_numeric, list_names
from properboost.data.spelling import PLAIN, Spelling

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = [
    "check_classes",
    "check_labels",
    "keep_counted",
    "make_features",
    "read_labels",
    "read_weights",
]

MOST_NUMBERS = 20
"""The most different numbers of a target that are classes without an option."""


def read_labels(
    column: "Series[Any]", *, many: bool = True, of: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return the classes of the rows: any, or some of these; `many` allows many numbers."""
    labels = check_labels(column)
    classes = column.unique()
    if of is not None:
        unknown = [label for label in classes.tolist() if label not in of.tolist()]
        if unknown:
            raise FileError(
                f"column {column.name!r} holds classes that training did not have: "
                f"{list_names(unknown)}"
            )
        return labels.astype(of.dtype)
    check_classes(str(column.name), classes.tolist(), len(labels), many=many)
    return labels


def check_labels(column: "Series[Any]") -> NDArray[Any]:
    """Return the cells of a column, each of which is a class."""
    missing = int(column.isna().sum())
    if missing:
        raise FileError(
            f"column {column.name!r} has missing cells ({missing:,}); rows need a class"
        )
    labels: NDArray[Any] = column.to_numpy()
    if labels.dtype.kind == "f" and np.any(labels % 1.0):
        fraction = labels[labels % 1.0 != 0.0][0]
        raise FileError(
            f"column {column.name!r} holds fractions, not classes, such as {fraction:g}: there is "
            "no regression; make classes of them, such as high and low"
        )
    if labels.dtype.kind == "f" and np.any(np.abs(labels) > 2.0**53):
        raise FileError(
            f"column {column.name!r} holds numbers of more than 15 digits, and several of them "
            "may become one class: put a letter before each to make them text"
        )
    return labels


def check_classes(name: str, classes: Sequence[Any], n_rows: int, *, many: bool) -> None:
    """Refuse a single class; refuse more than a few numbers, or texts, unless they may be `many`.

    Texts are refused where most rows have classes of their own.
    """
    if len(classes) < 2:
        raise FileError(
            f"column {name!r} holds one class only: {classes[0]!r}; a target has two or more"
        )
    if len(classes) <= MOST_NUMBERS or many:
        return
    numbers = isinstance(classes[0], float | int)
    if numbers or 2 * len(classes) > n_rows:
        what = "numbers" if numbers else "texts"
        raise FileError(
            f"column {name!r} holds {len(classes):,} different {what}, each of which would be a "
            "class; --many-classes accepts them as classes"
        )


def read_weights(
    frame: "DataFrame", name: str | None, spelling: Spelling | None
) -> tuple["DataFrame", NDArray[np.float64] | None]:
    """Return the rows that count and their weights."""
    if name is None:
        return frame, None
    frame = keep_counted(frame, name, spelling)
    if len(frame) == 0:
        raise FileError(f"column {name!r} must hold weights; all of them are 0")
    return frame, frame[name].to_numpy(dtype=np.float64)


def keep_counted(
    frame: "DataFrame", name: str | None, spelling: Spelling | None = None
) -> "DataFrame":
    """Return the rows that count, by the column of weights if there is one."""
    if name is None:
        return frame
    column = frame[name]
    if not is_numeric(column):
        row, cell = first_text(column, spelling or PLAIN)
        advice = advise_numbers(column, spelling)
        raise FileError(f"column {name!r} must hold weights; row {row} holds {cell!r}{advice}")
    if not (column >= 0.0).all():
        raise FileError(f"column {name!r} must hold weights; some are missing or below 0")
    return frame[column > 0.0]


def make_features(
    frame: "DataFrame", asked: Collection[str], spelling: Spelling | None, note: Note
) -> tuple["DataFrame", list[str]]:
    """Make categories of every text; return the features, and the categorical ones.

    `asked` are the columns that are categorical whatever they hold.  `spelling` is that of numbers
    in the file, None if they are not text there.
    """
    if frame.shape[1] == 0:
        raise FileError("no columns are left for features")
    categorical = [name for name in frame.columns if not is_numeric(frame[name])]
    for name in categorical:
        if name not in asked:
            note_text(frame[name], spelling, note)
    return frame.astype(dict.fromkeys(categorical, "category")), categorical
