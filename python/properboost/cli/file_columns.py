"""The columns that a model needs, from files of rows for the command line."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost.cli.column_notes import advise_numbers
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
from properboost.cli.training_columns import read_labels, read_weights
from properboost.data.binning import CategoricalBins, FeatureBins
from properboost.data.spelling import PLAIN, Spelling
from properboost.estimators.boosted import BoostedClassifier
from properboost.estimators.least_cost import unwrap
from properboost.estimators.linear import LinearClassifier
from properboost.estimators.ordered_predicting import take_inner
from properboost.estimators.udt import UDTClassifier

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = [
    "LabelledFile",
    "RepeatFilter",
    "UnseenCategories",
    "arrange",
    "find_categories",
    "find_label",
    "find_text",
    "list_text",
    "note_unseen",
    "read_features",
    "read_labelled",
]


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
