"""The roles of a file's columns for the command line: labels, weights, features."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost.cli.column_notes import advise_numbers, note_text
from properboost.cli.csv_table import (
    FileError,
    Note,
    first_text,
    is_numeric,
    list_names,
    name_source,
    require,
)
from properboost.cli.row_file import RowFileReader
from properboost.data.binning import CategoricalBins, FeatureBins
from properboost.data.spelling import PLAIN, Spelling
from properboost.estimators.boosted import BoostedClassifier
from properboost.estimators.least_cost import unwrap
from properboost.estimators.linear import LinearClassifier
from properboost.estimators.ordered_predicting import take_inner
from properboost.estimators.udt import UDTClassifier

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = [
    "LabelledFile",
    "RepeatFilter",
    "UnseenCategories",
    "arrange",
    "check_classes",
    "check_labels",
    "find_categories",
    "find_label",
    "find_text",
    "keep_counted",
    "list_text",
    "make_features",
    "note_unseen",
    "read_features",
    "read_labelled",
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


def read_features(
    model: BoostedClassifier | LinearClassifier | UDTClassifier,
    file: str,
    reader: RowFileReader,
    note: Note,
) -> Iterator["DataFrame"]:
    """Read the columns that a model needs by name, in the model's order."""
    known = find_categories(model)
    note_once, unseen, spelling = (
        RepeatFilter(note),
        UnseenCategories(model),
        reader.spelling_of(file),
    )
    for frame in reader.read_batches(file, find_text(known), is_needed=known.__contains__):
        X = arrange(frame, known, spelling, note_once)
        unseen.add(X)
        yield X
    unseen.report(note)


class RepeatFilter:
    """A filter that notes every message once."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._noted: set[str] = set()

    def __call__(self, message: str) -> None:
        """Note a message unless it was noted before."""
        if message not in self._noted:
            self._noted.add(message)
            self._note(message)


@dataclass(frozen=True, eq=False)
class LabelledFile:
    """Rows of a file with a model's columns, their classes, and their weights if there are any."""

    X: "DataFrame"
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None


def read_labelled(
    model: Any, file: str, target: str, reader: RowFileReader, weights: str | None = None
) -> LabelledFile:
    """Read the columns that a model needs, and the columns of the classes and of the weights."""
    known = find_categories(model)
    named = [target] if weights is None else [target, weights]
    for name in named:
        if name in known:
            raise FileError(f"column {name!r} is a feature of the model")
    frame = reader.read(
        file,
        list_text(known, model.classes_, target),
        is_needed={*known, *named}.__contains__,
        labels=target,
    )
    try:
        require(frame, [*known, *named])
    except FileError as error:  # commands read several files
        raise FileError(f"{name_source(file)}: {error}") from error
    spelling = reader.spelling_of(file)
    frame, weight = read_weights(frame, weights, spelling)
    X = arrange(frame.drop(columns=named), known, spelling, reader.note)
    return LabelledFile(X, read_labels(frame[target], of=model.classes_), weight)


def find_label(text: str | None, classes: NDArray[Any], option: str) -> Any:
    """Return the label with this text; None of None."""
    if text is None:
        return None
    for label in classes.tolist():
        if str(label) == text:
            return label
    raise FileError(f"{option} must be one of {list_names(classes.tolist())}; got {text!r}")


def list_text(
    known: Mapping[str, Collection[Any] | None], classes: NDArray[Any], target: str | None
) -> list[str]:
    """Return the columns to read as text, with that of the classes if these are text."""
    labels = [target] if target is not None and classes.dtype.kind in "OU" else []
    return [*find_text(known), *labels]


def find_text(known: Mapping[str, Collection[Any] | None]) -> list[str]:
    """Return the features whose categories are text."""
    return [
        name
        for name, categories in known.items()
        if categories is not None and all(isinstance(c, str) for c in categories)
    ]


def arrange(
    frame: "DataFrame",
    known: Mapping[str, Collection[Any] | None],
    spelling: Spelling | None,
    note: Note,
) -> "DataFrame":
    """Return these features in their order; `known` has their categories, None of a number.

    `spelling` is that of numbers in the file, None if they are not text there.
    """
    require(frame, known)
    needed = [name for name in frame.columns if name in known]
    extra = [name for name in frame.columns if name not in known]
    if extra:
        note(f"ignored, because the model does not use them: {list_names(extra)}")
    if needed != list(known):
        note("the columns are in another order than in training; they are matched by name")
    for name, categories in known.items():
        if categories is None and not is_numeric(frame[name]):
            row, cell = first_text(frame[name], spelling or PLAIN)
            advice = advise_numbers(frame[name], spelling)
            if not advice and spelling is not None:
                advice = "; --na reads a cell as missing"
            raise FileError(
                f"column {name!r} was numeric in training, but row {row} holds {cell!r}{advice}"
            )
    return frame[list(known)].astype(dict.fromkeys(find_text(known), "category"))


def note_unseen(
    model: BoostedClassifier | LinearClassifier | UDTClassifier, X: "DataFrame", note: Note
) -> None:
    """Note the categories that training did not have, and that share no bin with rare ones."""
    unseen = UnseenCategories(model)
    unseen.add(X)
    unseen.report(note)


class UnseenCategories:
    """A count of categories that training did not have, and that share no bin with rare ones."""

    def __init__(self, model: BoostedClassifier | LinearClassifier | UDTClassifier) -> None:
        sharing = _find_rare(model)
        self._known = {
            name: list(categories)
            for name, categories in find_categories(model).items()
            if categories is not None and name not in sharing
        }
        self._unseen: dict[str, tuple[int, Any]] = {}

    def add(self, X: "DataFrame") -> None:
        """Count some rows."""
        for name, categories in self._known.items():
            column = X[name]
            unseen = column.notna() & ~column.isin(categories)
            if unseen.any():
                before, example = self._unseen.get(name, (0, column[unseen].iloc[0]))
                self._unseen[name] = before + int(unseen.sum()), example

    def report(self, note: Note) -> None:
        """Note the counts."""
        for name in self._known:
            if name in self._unseen:
                count, example = self._unseen[name]
                note(
                    f"column {name!r} holds categories that training did not have ({count:,} "
                    f"cells, such as {example!r}); they add 0 to the raw prediction"
                )


def find_categories(
    model: BoostedClassifier | LinearClassifier | UDTClassifier,
) -> dict[str, Collection[Any] | None]:
    """Return each feature's categories, None of a number."""
    model = take_inner(unwrap(model))
    names = [str(name) for name in model.feature_names_in_]
    if isinstance(model, LinearClassifier):
        return dict(zip(names, model.categories_, strict=True))
    return {
        name: bins.categories if isinstance(bins, CategoricalBins) else None
        for name, bins in zip(names, _find_bins(model), strict=True)
    }


def _find_rare(model: BoostedClassifier | LinearClassifier | UDTClassifier) -> set[str]:
    """Return the features whose rare categories share a bin."""
    model = take_inner(unwrap(model))
    if isinstance(model, LinearClassifier):
        return set()
    bins_of = zip(model.feature_names_in_, _find_bins(model), strict=True)
    return {
        str(name) for name, bins in bins_of if isinstance(bins, CategoricalBins) and bins.has_rare
    }


def _find_bins(model: BoostedClassifier | UDTClassifier) -> tuple[FeatureBins, ...]:
    binning = model.binning_ if isinstance(model, UDTClassifier) else model.ensemble_.binning
    return binning.features
