"""Counterfactuals: values of one feature that would change a row's predicted class.

The flip rate of a feature is the share of the rows whose predicted class changes when this feature
alone changes.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import NumericBins
from properboost.data.table import CategoricalColumn, RowTable
from properboost.estimators.base import (
    TableClassifier,
    describe_training,
    label_features,
    open_rows,
)
from properboost.inspection.words import describe
from properboost.report.content import (
    FEW_ROWS,
    Array,
    Counterfactual,
    Counterfactuals,
    ExplainedRow,
    FlipRate,
    Grouping,
    Term,
)
from properboost.report.wording import find_protected, list_words

__all__ = ["VariedFeature", "add_counterfactuals", "add_flip_rates", "read_rows"]

MOST_CHANGES = 3

MOST_FEATURES = 50
"""The most features with other values to try; the most important ones."""

MOST_NUMBERS = 128
"""The most numbers of a feature to try; of more, those nearest to the edges of bins.

Models look up bins, so two numbers of one bin make no difference.
"""

MOST_CATEGORIES = 4
"""Categories that are named."""

CATEGORY = 1.0 / 3.0
"""The size of a change of category.

That of a number is the share of the test rows that it passes: between two rows drawn at random, a
third of all.
"""

MOST_FLIP_ROWS = 2_000
"""The most rows of a flip rate; of more, so many at equal distances."""

MOST_FLIP_VALUES = 10
"""Values of a flip rate: the most frequent categories, or numbers that divide the rows."""

ENOUGH, ENOUGH_SHARE = 100, 0.01
"""The training rows of a category in a flip rate, or this share of all if that is fewer."""

Codes: TypeAlias = NDArray[np.intp]
"""Classes, by their positions."""


def add_counterfactuals(
    model: TableClassifier, X: Any, rows: Sequence[ExplainedRow], terms: Sequence[Term]
) -> list[ExplainedRow]:
    """Return the rows with the single changes that would change their predicted class.

    Copies of the row get the values of other rows, and the model predicts them.  Missing and unseen
    values are neither tried nor replaced.

    Parameters
    ----------
    model : TableClassifier
        The model.
    X : table
        The test rows.
    rows : sequence of ExplainedRow
        The explained rows.
    terms : sequence of Term
        The terms, the most important first; without any, every feature may change.
    """
    if not rows:
        return []
    places = [term.place for term in terms if not term.is_pair and term.importance > 0.0]
    if not terms:
        places = list(range(model.n_features_in_))
    numbers = np.array([row.number - 1 for row in rows])
    raw, features = read_rows(model, X, numbers, places[:MOST_FEATURES])
    return [
        replace(row, counterfactuals=_find_counterfactuals(model, features, values))
        for row, values in zip(rows, raw, strict=True)
    ]


@dataclass(frozen=True)
class VariedFeature(ABC):
    """A feature with other values to try."""

    place: int
    name: str
    is_protected: bool
    column: Array
    """The known values of all rows, ascending."""

    weights: Array | None
    """The training rows of each bin, if known."""

    def count(self, first: int, last: int) -> float | None:
        """Return the number of training rows in these bins, if known."""
        return None if self.weights is None else float(self.weights[first : last + 1].sum())

    @abstractmethod
    def sample_values(self, most: int) -> Array:
        """Return so many values that represent those of all rows."""

    @abstractmethod
    def list_sampled(self, values: Array) -> tuple[str, ...]:
        """Return the values of `sample_values` in words."""

    @abstractmethod
    def list_values(self, present: float) -> Array:
        """Return the values to try, ascending, with the present one among them."""

    @abstractmethod
    def change(self, present: float, values: Array, into: Codes, before: int) -> Counterfactual:
        """Return the smallest change; ``into[k]`` is the class that ``values[k]`` leads to."""


@dataclass(frozen=True)
class _VariedNumber(VariedFeature):
    edges: Array
    """The edges of bins; a bin holds its upper edge."""

    def sample_values(self, most: int) -> Array:
        if len(self.column) == 0:
            return self.column
        shares = (np.arange(most) + 0.5) / most
        return np.unique(np.quantile(self.column, shares, method="nearest"))

    def list_sampled(self, values: Array) -> tuple[str, ...]:
        return tuple(map(describe, values))

    def list_values(self, present: float) -> Array:
        values = np.unique(self.column)
        if len(values) > MOST_NUMBERS:
            bins = np.searchsorted(self.edges, values)
            begins = np.flatnonzero(np.diff(bins, prepend=-1))
            values = values[np.union1d(begins, np.append(begins[1:], len(values)) - 1)]
        return np.union1d(values, present)

    def change(self, present: float, values: Array, into: Codes, before: int) -> Counterfactual:
        # Half of the rows with the value of either end count as passed.
        ends = [np.searchsorted(self.column, values, side) for side in ("left", "right")]
        at = 0.5 * (ends[0] + ends[1])
        passed = np.abs(at - at[np.searchsorted(values, present)])
        turned = np.flatnonzero(into != before)
        first = int(turned[np.argmin(passed[turned])])
        step = 1 if values[first] > present else -1
        beyond = into[first:] if step > 0 else into[first::-1]
        n_same = int(np.argmin(np.append(beyond == into[first], False)))
        last = first + step * (n_same - 1)
        words = describe(values[first])
        if words == describe(values[first - step]):
            words = str(float(values[first]))
        if n_same == len(beyond) > 1:  # one value has none beyond it
            words += " or more" if step > 0 else " or less"
        elif n_same > 1:
            words = " to ".join([words, describe(values[last])][::step])
        return Counterfactual(
            name=self.name,
            values=words,
            present=describe(present),
            to=int(into[first]),
            size=float(passed[first]) / len(self.column),
            is_protected=self.is_protected,
            rows=self.count(*np.searchsorted(self.edges, np.sort(values[[first, last]])).tolist()),
        )


@dataclass(frozen=True)
class _VariedCategory(VariedFeature):
    words: tuple[str, ...]
    """The categories of each bin, in words."""

    def sample_values(self, most: int) -> Array:
        values, rows = np.unique(self.column, return_counts=True)
        if self.weights is not None:
            least = max(FEW_ROWS, min(ENOUGH, ENOUGH_SHARE * float(self.weights.sum())))
            is_known = self.weights[values.astype(np.intp)] >= least
            values, rows = values[is_known], rows[is_known]
        return values[np.argsort(-rows, kind="stable")[:most]]

    def list_sampled(self, values: Array) -> tuple[str, ...]:
        return tuple(self.words[int(value)] for value in values)

    def list_values(self, present: float) -> Array:
        return np.union1d(self.column, present)

    def change(self, present: float, values: Array, into: Codes, before: int) -> Counterfactual:
        rows = np.searchsorted(self.column, values, "right") - np.searchsorted(self.column, values)
        turned = into != before
        to = int(np.bincount(into[turned], rows[turned]).argmax())
        order = [k for k in np.argsort(-rows, kind="stable").tolist() if into[k] == to]
        return Counterfactual(
            name=self.name,
            values=list_words([self.words[int(values[k])] for k in order], MOST_CATEGORIES, "or"),
            present=self.words[int(present)],
            to=to,
            size=CATEGORY,
            is_protected=self.is_protected,
            rows=self.count(int(values[order[0]]), int(values[order[0]])),
        )


def read_rows(
    model: TableClassifier, X: Any, numbers: NDArray[np.intp], places: Sequence[int]
) -> tuple[Array, list[VariedFeature]]:
    """Return some rows as numbers and bins of categories, and the features that may change."""
    table, _ = open_rows(model, X)
    bins, weights = describe_training(model)
    names = label_features(model)
    protected = {*find_protected(names)}
    raw = np.empty((len(numbers), table.n_features))
    features: dict[int, VariedFeature] = {}
    for j, feature_bins in enumerate(bins):
        about = (j, names[j], j in protected)
        rows = None if weights is None else np.asarray(weights[j])
        if isinstance(feature_bins, NumericBins):
            values = np.asarray(table.numeric(j))
            if j in places:
                known = np.sort(values[~np.isnan(values)]).astype(np.float64)
                features[j] = _VariedNumber(*about, known, rows, feature_bins.edges)
        else:
            column = table.categorical(j)
            values = feature_bins.find(column, table.label(j))
            if j in places:
                words = _name_bins(column, values, feature_bins.n_bins)
                known = np.sort(values[values >= 0]).astype(np.float64)
                features[j] = _VariedCategory(*about, known, rows, words)
        raw[:, j] = values[numbers]
    return raw, [features[j] for j in places]


def _name_bins(column: CategoricalColumn, bins: NDArray[np.int32], n_bins: int) -> tuple[str, ...]:
    """Return the rows' categories in each bin, in words; rare categories share one."""
    members: list[list[str]] = [[] for _ in range(n_bins)]
    codes, first = np.unique(column.codes, return_index=True)
    for code, row in zip(codes.tolist(), first.tolist(), strict=True):
        if bins[row] >= 0:
            members[int(bins[row])].append(describe(column.values[code]))
    return tuple(list_words(words, MOST_CATEGORIES, "or") if words else "" for words in members)


def _find_counterfactuals(
    model: TableClassifier, features: Sequence[VariedFeature], row: Array
) -> Counterfactuals:
    """Return the counterfactuals of a row, the smallest change first."""
    known = [
        feature
        for feature in features
        if (row[feature.place] >= 0.0 if isinstance(feature, _VariedCategory) else True)
        and not np.isnan(row[feature.place])
    ]
    tried = [feature.list_values(row[feature.place]) for feature in known]
    ends = np.cumsum([1, *map(len, tried)])
    copies = np.tile(row, (ends[-1], 1))  # the first is the row itself
    for feature, values, (start, stop) in zip(known, tried, pairwise(ends), strict=True):
        copies[start:stop, feature.place] = values
    into = np.searchsorted(model.classes_, model.predict(RowTable(copies)))
    before = int(into[0])
    changes = [
        feature.change(float(row[feature.place]), values, into[start:stop], before)
        for feature, values, (start, stop) in zip(known, tried, pairwise(ends), strict=True)
        if np.any(into[start:stop] != before)
    ]
    changes.sort(key=lambda change: change.size)
    free = [change for change in changes if not change.is_protected]
    return Counterfactuals(
        offered=tuple(free[:MOST_CHANGES]),
        more=tuple(change.name for change in free[MOST_CHANGES:]),
        protected=tuple(change for change in changes if change.is_protected),
        n_tried=len(known),
    )


def add_flip_rates(
    model: TableClassifier, X: Any, groupings: Sequence[Grouping], n_rows: int
) -> list[Grouping]:
    """Return groupings with the counterfactual flip rates of their features.

    A row counts if any of the values changes its predicted class.  Groups without a feature of the
    model have none.
    """
    labels = list(label_features(model))
    asked = {grouping.name for grouping in groupings if grouping.is_used} & set(labels)
    if not asked:
        return list(groupings)
    numbers = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MOST_FLIP_ROWS)).astype(np.intp))
    raw, features = read_rows(model, X, numbers, [labels.index(name) for name in asked])
    rates = {feature.name: _find_flip_rate(model, raw, feature) for feature in features}
    return [replace(grouping, flips=rates.get(grouping.name)) for grouping in groupings]


def _find_flip_rate(model: TableClassifier, raw: Array, feature: VariedFeature) -> FlipRate | None:
    """Return the share of the rows whose predicted class any value of a feature changes."""
    values = feature.sample_values(MOST_FLIP_VALUES)
    if len(values) < 2:
        return None
    before = model.predict(RowTable(raw))
    turned = np.zeros(len(raw), dtype=bool)
    for value in values:
        others = raw.copy()
        others[:, feature.place] = value
        turned |= model.predict(RowTable(others)) != before
    return FlipRate(float(turned.mean()), len(raw), feature.list_sampled(values))
