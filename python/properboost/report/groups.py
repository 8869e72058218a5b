"""Groups of rows, as by sex or age, and the model's results on each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import NumericBins
from properboost.data.features import find_feature
from properboost.data.table import CategoricalColumn, Column
from properboost.data.values import factorize
from properboost.estimators.base import (
    TableClassifier,
    describe_training,
    label_features,
    open_rows,
)
from properboost.inspection.words import describe
from properboost.report.content import Array, Estimate, Group, Grouping, Term
from properboost.report.group_findings import list_findings
from properboost.report.proportions import estimate_proportion
from properboost.report.wording import find_protected

__all__ = ["Columns", "choose_groups", "divide", "evaluate_groups"]

Columns: TypeAlias = Mapping[str, tuple[Column | CategoricalColumn, bool]]
"""Columns that define groups, by name, and whether the model uses them."""

MOST_GROUPS = 10
"""The most groups of a column; the smallest categories are united."""

MOST_RANGES = 5
MOST_COLUMNS = 6
MOST_LEVELS = 10
"""The most categories of a feature that defines groups where no name suggests one."""

_OTHERS = "{} others"

_AS_ASKED = "The groups are those of the columns named for this page."


def choose_groups(
    model: TableClassifier, X: Any, groups: Any, terms: Sequence[Term]
) -> tuple[Columns, str]:
    """Return the columns that define groups, and a sentence on their choice.

    Parameters
    ----------
    model : TableClassifier
        The model.
    X : table
        The rows.
    groups : sequence, mapping or table, or None
        The argument of `write_report`.
    terms : sequence of Term
        The terms, the most important first.
    """
    features = _GroupFeatures(model, X, terms)
    if groups is None:
        return _suggest(features, terms)
    if hasattr(groups, "keys"):
        return _read_columns(features, groups), _AS_ASKED
    if isinstance(groups, str):
        raise TypeError(f"subgroups must be a sequence of names, or a mapping; got {groups!r}")
    names = getattr(model, "feature_names_in_", None)
    n_features = len(features.labels)
    at = [find_feature(feature, names, n_features, "subgroups") for feature in groups]
    return features.take(at), _AS_ASKED


class _GroupFeatures:
    """The features of rows, and the model's use of them."""

    def __init__(self, model: TableClassifier, X: Any, terms: Sequence[Term]) -> None:
        self._table, _ = open_rows(model, X)
        self._bins, _ = describe_training(model)
        self.labels = label_features(model)
        self._used = _find_used(terms, len(self.labels))

    @property
    def n_rows(self) -> int:
        return self._table.n_rows

    def list_used(self) -> set[str]:
        """Return the names of the features that the model uses."""
        return {label for label, used in zip(self.labels, self._used, strict=True) if used}

    def has_few_categories(self, j: int) -> bool:
        """Return whether a feature is categorical, and divides rows into few groups."""
        bins = self._bins[j]
        if isinstance(bins, NumericBins):
            return False
        return 1 < len(getattr(bins, "categories", ())) <= MOST_LEVELS

    def take(self, positions: Sequence[int]) -> Columns:
        """Return some of them as columns."""
        return {self.labels[j]: (self._read(j), self._used[j]) for j in positions}

    def _read(self, j: int) -> Column | CategoricalColumn:
        is_numeric = isinstance(self._bins[j], NumericBins)
        return self._table.numeric(j) if is_numeric else self._table.categorical(j)


def _read_columns(features: _GroupFeatures, groups: Any) -> Columns:
    """Return the columns of a mapping or a table, and whether the model uses their names."""
    used = features.list_used()
    return {
        str(name): (_read(groups[name], str(name), features.n_rows), str(name) in used)
        for name in groups.keys()  # noqa: SIM118 (tables have keys, but are not their own)
    }


def _suggest(features: _GroupFeatures, terms: Sequence[Term]) -> tuple[Columns, str]:
    """Return the default features that define groups, and the sentence on them."""
    order = [term.place for term in terms if not term.is_pair] or [*range(len(features.labels))]
    suspect = {*find_protected(features.labels)}
    at = [j for j in order if j in suspect]
    how = (
        "The groups are those of the features whose names suggest that they describe who a "
        "person is"
    )
    if not at:
        at = [j for j in order if features.has_few_categories(j)]
        how = (
            "No feature has a name that suggests who a person is, so the groups are those of the "
            f"features of at most {MOST_LEVELS} categories"
        )
    if len(at) > MOST_COLUMNS:
        how += f", the {MOST_COLUMNS} most important of them"
    columns = features.take(at[:MOST_COLUMNS])
    if suspect and (both := _combine(columns)):
        how += ", and by two of them together"
        columns = {**columns, **both}
    return columns, f"{how}."


def _combine(columns: Columns) -> Columns:
    """Return the two columns of the fewest categories as one, if two have at most ten."""
    known = [
        (name, column, is_used)
        for name, (column, is_used) in columns.items()
        if isinstance(column, CategoricalColumn) and 1 < len(column.values) <= MOST_LEVELS
    ]
    two = sorted(known, key=lambda entry: len(entry[1].values))[:2]
    if len(two) < 2:
        return {}
    (name, first, is_used), (other, second, is_other) = two
    n = len(second.values)
    values = tuple(f"{describe(a)}, {describe(b)}" for a in first.values for b in second.values)
    is_known = (first.codes >= 0) & (second.codes >= 0)
    codes = np.where(is_known, first.codes * n + second.codes, -1)
    column = CategoricalColumn(codes.astype(np.int64), values)
    return {f"{name} and {other}": (column, is_used or is_other)}


def _find_used(terms: Sequence[Term], n_features: int) -> list[bool]:
    """Return whether the model uses each feature; True if unknown."""
    used = [not terms] * n_features
    for term in terms:
        if not term.is_pair:
            used[term.place] = term.importance > 0.0
    return used


def _read(values: Any, name: str, n_rows: int) -> Column | CategoricalColumn:
    column = np.asarray(values)
    if column.shape != (n_rows,):
        raise ValueError(
            f"subgroups: {name!r} must have shape ({n_rows},), as X has so many rows; got "
            f"{column.shape}"
        )
    return column if column.dtype.kind in "iuf" else factorize(column, f"subgroups: {name!r}")


def evaluate_groups(
    columns: Columns,
    probability: Array,
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    weight: Array | None,
    *,
    positive: int,
    label: str,
    confidence_level: float,
) -> list[Grouping]:
    """Return the model's results on the groups of each column.

    Parameters
    ----------
    columns : mapping
        The columns that define groups; those of one group are left out.
    probability : ndarray of shape (n_rows, n_classes)
        The predicted probabilities.
    predicted, codes : ndarray of shape (n_rows,)
        The position of the class that was predicted, and of the row's own, if known.
    weight : ndarray of shape (n_rows,), optional
        How often each row counts.
    positive : int
        The position of the class of all results, called `label` in sentences.
    confidence_level : float
        The share of intervals that hold what they are about.
    """
    weights = np.ones(len(predicted)) if weight is None else weight
    groupings = []
    for name, (column, is_used) in columns.items():
        names, place, lump = divide(column, weights)
        groups = [
            _evaluate(
                group,
                probability[place == k, positive],
                predicted[place == k],
                None if codes is None else codes[place == k],
                weights[place == k],
                positive,
                confidence_level,
            )
            for k, group in enumerate(names)
        ]
        if lump is not None:
            groups[lump] = replace(groups[lump], is_lump=True)
        if len(groups) > 1:
            findings = list_findings(groups, label, confidence_level) if codes is not None else ()
            groupings.append(Grouping(name, is_used, tuple(groups), tuple(findings)))
    return groupings


def divide(
    column: Column | CategoricalColumn, weight: Array
) -> tuple[list[str], NDArray[np.intp], int | None]:
    """Return the names of a column's groups, the group of each row, and the one of all others.

    Numbers are divided into ranges of about as many rows each, and into single values where there
    are few.  The heaviest categories come first.
    """
    lump = None
    if isinstance(column, CategoricalColumn):
        names, place, is_missing, lump = _divide_categories(column, weight)
    else:
        names, place, is_missing = _divide_numbers(np.asarray(column, dtype=np.float64))
    if is_missing.any():
        place = np.where(is_missing, len(names), place)
        names = [*names, "missing"]
    return names, place.astype(np.intp), lump


def _divide_categories(
    column: CategoricalColumn, weight: Array
) -> tuple[list[str], NDArray[np.intp], NDArray[np.bool_], int | None]:
    is_missing = column.codes < 0
    known = np.where(is_missing, 0, column.codes)
    mass = np.bincount(known, np.where(is_missing, 0.0, weight), len(column.values))
    order = [k for k in np.argsort(-mass, kind="stable").tolist() if mass[k] > 0.0]
    shown = order if len(order) <= MOST_GROUPS else order[: MOST_GROUPS - 1]
    names = [describe(column.values[k]) for k in shown]
    lump = None
    if len(shown) < len(order):
        lump = len(shown)
        names.append(_OTHERS.format(len(order) - len(shown)))
    place = np.full(len(column.values) or 1, len(shown), dtype=np.intp)
    place[shown] = np.arange(len(shown))
    return names, place[known], is_missing, lump


def _divide_numbers(
    values: Array,
) -> tuple[list[str], NDArray[np.intp], NDArray[np.bool_]]:
    is_missing = np.isnan(values)
    known = values[~is_missing]
    distinct = np.unique(known)
    if len(distinct) <= MOST_RANGES:
        return [describe(v) for v in distinct], np.searchsorted(distinct, values), is_missing
    # Edges are values: a range holds its upper end.
    shares = np.arange(1, MOST_RANGES) / MOST_RANGES
    edges = np.unique(np.quantile(known, shares, method="inverted_cdf"))
    edges = edges[edges < distinct[-1]]
    if np.all(distinct % 1.0 == 0.0):
        inner = [
            describe(b) if a + 1.0 == b else f"{describe(a + 1.0)} to {describe(b)}"
            for a, b in pairwise(edges)
        ]
        least = edges[-1] + 1.0
        last = describe(least) + (" or more" if least < distinct[-1] else "")
    else:
        inner = [f"above {describe(a)}, to {describe(b)}" for a, b in pairwise(edges)]
        last = f"above {describe(edges[-1])}"
    first = describe(edges[0]) + (" or less" if edges[0] > distinct[0] else "")
    names = [first, *inner, last]
    return names, np.searchsorted(edges, values), is_missing


def _evaluate(
    name: str,
    probability: Array,
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp] | None,
    weight: Array,
    positive: int,
    level: float,
) -> Group:
    called = predicted == positive

    def share(hits: NDArray[np.bool_], among: NDArray[np.bool_] | None = None) -> Estimate:
        rows = slice(None) if among is None else among
        return estimate_proportion(hits[rows], weight[rows], level)

    mean = float(np.average(probability, weights=weight)) if weight.sum() > 0.0 else np.nan
    total = float(weight.sum())
    if codes is None:
        return Group(name, total, share(called), mean, None, None, None, None)
    so = codes == positive
    return Group(
        name=name,
        weight=total,
        called=share(called),
        predicted=mean,
        observed=share(so),
        wrong=share(predicted != codes),
        missed=share(~called, so),
        false_alarms=share(called, ~so),
    )
