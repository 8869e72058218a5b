"""What the columns of a CSV file are to the command line: labels, weights, features."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.cli.csv_table import (
    FileError,
    first_text,
    import_pandas,
    is_numeric,
    list_names,
    read_csv,
    require,
)
from properboost.data.binning import CategoricalBins
from properboost.estimators.boosted import BoostedClassifier
from properboost.rado.estimator import RadoBoostClassifier

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["make_features", "read_features", "read_labels", "read_weights"]

Note: TypeAlias = Callable[[str], None]
"""Tells the user about something that is not an error."""


def read_labels(column: "Series[Any]") -> NDArray[Any]:
    """Return the classes of the rows."""
    missing = int(column.isna().sum())
    if missing:
        raise FileError(
            f"column {column.name!r} has missing cells ({missing:,}); rows need a class"
        )
    labels = column.to_numpy()
    if labels.dtype.kind == "f" and np.any(labels % 1.0):
        raise FileError(f"column {column.name!r} holds fractions, not classes")
    classes = column.unique()
    if len(classes) < 2:
        raise FileError(f"column {column.name!r} holds one class only: {classes[0]!r}")
    return labels


def read_weights(
    frame: "DataFrame", name: str | None
) -> tuple["DataFrame", NDArray[np.float64] | None]:
    """Return the rows that count and their weights."""
    if name is None:
        return frame, None
    column = frame[name]
    if not is_numeric(column):
        row, cell = first_text(column)
        raise FileError(f"column {name!r} must hold weights; row {row} holds {cell!r}")
    if not (column >= 0.0).all():
        raise FileError(f"column {name!r} must hold weights; some are missing or below 0")
    frame = frame[column > 0.0]
    if len(frame) == 0:
        raise FileError(f"column {name!r} must hold weights; all of them are 0")
    return frame, frame[name].to_numpy(dtype=np.float64)


def make_features(
    frame: "DataFrame", asked: Collection[str], note: Note
) -> tuple["DataFrame", list[str]]:
    """Make categories of every text; return the features, and which are categorical.

    `asked` are the columns that are to be categorical whatever they hold.
    """
    if frame.shape[1] == 0:
        raise FileError("no column is left to be a feature")
    categorical = [name for name in frame.columns if not is_numeric(frame[name])]
    for name in categorical:
        if name not in asked:
            _note_mixture(frame[name], note)
    return frame.astype(dict.fromkeys(categorical, "category")), categorical


def _note_mixture(column: "Series[Any]", note: Note) -> None:
    """Note a few words among numbers: they are more likely a slip than categories."""
    numbers = import_pandas().to_numeric(column, errors="coerce").notna()
    if 2 * numbers.sum() > column.notna().sum():
        row, cell = first_text(column)
        note(
            f"column {column.name!r} is categorical, although most cells are numbers, because row "
            f"{row} holds {cell!r}; --na reads a cell as missing"
        )


def read_features(
    model: BoostedClassifier | RadoBoostClassifier,
    file: str,
    note: Note,
    *,
    sep: str,
    na: Sequence[str] | None,
) -> "DataFrame":
    """Read the columns that a model fitted on named ones needs, in the model's order."""
    names = model.feature_names_in_
    known = _find_categories(model)
    text = [
        name
        for name, (categories, _) in known.items()
        if categories is not None and all(isinstance(c, str) for c in categories)
    ]
    frame = read_csv(file, text, sep=sep, na=na)
    require(frame, names)
    given = [name for name in frame.columns if name in set(names)]
    extra = [name for name in frame.columns if name not in set(names)]
    if extra:
        note(f"ignored, as the model does not use them: {list_names(extra)}")
    if given != list(names):
        note("the columns are in another order than in training; they are matched by name")
    for name, (categories, has_rare) in known.items():
        column = frame[name]
        if categories is None and not is_numeric(column):
            row, cell = first_text(column)
            raise FileError(
                f"column {name!r} was numeric in training, but row {row} holds {cell!r}; "
                "--na reads a cell as missing"
            )
        if categories is not None and not has_rare:
            _note_unseen(column, categories, note)
    return frame[list(names)].astype(dict.fromkeys(text, "category"))


def _find_categories(
    model: BoostedClassifier | RadoBoostClassifier,
) -> dict[str, tuple[Collection[Any] | None, bool]]:
    """Return each feature's categories, None of a number, and whether others share a bin."""
    names = [str(name) for name in model.feature_names_in_]
    if isinstance(model, RadoBoostClassifier):
        return {name: (own, False) for name, own in zip(names, model.categories_, strict=True)}
    features = zip(names, model._ensemble.binning.features, strict=True)
    return {
        name: (bins.categories, bins.has_rare)
        if isinstance(bins, CategoricalBins)
        else (None, False)
        for name, bins in features
    }


def _note_unseen(column: "Series[Any]", categories: Collection[Any], note: Note) -> None:
    unseen = column.notna() & ~column.isin(list(categories))
    if unseen.any():
        note(
            f"column {column.name!r} holds categories that training did not have ({unseen.sum():,} "
            f"cells, such as {column[unseen].iloc[0]!r}); they add 0 to the raw prediction"
        )
