"""Search for the nearest codes of up to three features that give a row another class.

A prediction depends on a row by its codes alone, so there are finitely many changes.  A change of
fewer features is nearer; among as many, one with a smaller sum of distances; then the features'
order decides.  Distances are whole multiples of `UNIT`, so that equal sums are equal.

Where no term of the model has two of the changed features, the raw prediction moves by the sum of
what each feature moves it alone.  Where one has, the joint effect of these features comes from the
term's cells, too.  Both make the search exact, and a bound of these effects leaves out most sets of
features.  Where joint effects are too many, or the model has no terms, the search is not exact: it
tries the options of each feature that no other beats alone, of the `WIDTH` features that move a row
most.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.data.binning import FeatureBins, NumericBins, RestoredTable
from properboost.inspection.code_change import UNIT, CodeChange
from properboost.models.ensemble import Ensemble
from properboost.models.term_cells import TermCells

__all__ = ["MOST_FEATURES", "ChangeSearch", "find_distances"]

MOST_FEATURES = 3
"""The most features that change together."""

WIDTH = 8
"""The features that may change together where a search is not exact."""

MOST_CELLS = 2**24
"""The most sums of leaves in the cells of all terms that an exact search computes."""

MOST_JOINT = 2**27
"""The most joint effects of a row's codes that an exact search computes: they take seconds."""

MOST_COPIES = 2**15
"""The most copies of a row, for each set of features, that another search predicts."""

ROUNDING = 1e-9
"""The least lead, relative to raw predictions, that sums of effects must have."""

_AT_ONCE = 2**18
"""Copies of a row that are predicted at once."""

Codes: TypeAlias = NDArray[np.uint8]
Reals: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

Predict: TypeAlias = Callable[[Codes], Reals]
"""Function of codes, (n_features, n), that returns raw predictions, (n, n_models)."""


def find_distances(bins: FeatureBins, weights: Reals) -> Whole:
    """Return the distance from each code to each other one, in units; -1 where it may not move.

    Only bins with training rows are moved to, and rows whose value is missing or unseen stay, as do
    those in the bin that rare categories share.
    """
    known = np.zeros(bins.width, dtype=bool)
    n_bins = bins.n_bins if isinstance(bins, NumericBins) else len(bins.categories)
    known[:n_bins] = True
    filled = known & (weights > 0.0)
    distances = np.full((bins.width, bins.width), -1, dtype=np.int64)
    if not filled.any():
        return distances
    if isinstance(bins, NumericBins):
        shares = np.where(known, weights, 0.0) / weights[known].sum()
        middle = np.cumsum(shares) - 0.5 * shares
        between = np.rint(np.abs(middle[:, None] - middle) / UNIT).astype(np.int64)
    else:
        between = np.full(distances.shape, round(1.0 / UNIT), dtype=np.int64)
    may = known[:, None] & filled & ~np.eye(len(known), dtype=bool)
    distances[may] = between[may]
    return distances


@dataclass(frozen=True, eq=False)
class _Options:
    """The other codes of one feature, with their distances and what they gain on every rival.

    `gains` has the shape (n, n_rivals).
    """

    feature: int
    codes: NDArray[np.intp]
    distances: Whole
    gains: Reals

    def take(self, places: NDArray[np.intp]) -> "_Options":
        """Return the options at these places."""
        return _Options(
            self.feature, self.codes[places], self.distances[places], self.gains[places]
        )

    def thin(self) -> "_Options":
        """Return the options, the nearest first, without those that another one beats."""
        order = np.lexsort([self.codes, *-self.gains.T, self.distances])
        if self.gains.shape[1] == 2 and np.array_equal(self.gains[:, 0], -self.gains[:, 1]):
            # A row between two cuts may go too far, so that only equal moves beat each other.
            moved = self.gains[order, 0]
            _, first = np.unique(moved, return_index=True)
            return self.take(order[np.sort(first[moved[first] != 0.0])])
        if self.gains.shape[1] == 1:
            gained = self.gains[order, 0]
            before = np.maximum.accumulate(np.append(0.0, gained[:-1]))
            return self.take(order[gained > before])
        best: list[int] = []
        for place in order.tolist():
            gains = self.gains[place]
            if (gains > 0.0).any() and not any(
                (self.gains[other] >= gains).all() for other in best
            ):
                best.append(place)
        return self.take(np.array(best, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class ChangeSearch:
    """A search for the changes of rows.

    Attributes
    ----------
    predict : callable
        The raw predictions of codes.
    choose : callable
        The predicted classes of raw predictions.
    distances : sequence of ndarray
        Those of `find_distances`, by feature.
    order : sequence of int
        The features that may change, in the order that decides ties.
    cells : sequence of TermCells, or None
        The terms of several features; None if the model has no terms, or too many cells.
    cuts : ndarray, optional
        The ascending raw predictions between ordered classes, of a model with one.
    most_features : int
        The most features that change together.
    """

    predict: Predict
    choose: Callable[[Reals], NDArray[np.intp]]
    distances: Sequence[Whole]
    order: Sequence[int]
    cells: Sequence[TermCells] | None
    cuts: Reals | None = None
    most_features: int = MOST_FEATURES
    _cells_of: dict[tuple[int, ...], list[TermCells]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        ensemble: Ensemble,
        choose: Callable[[Reals], NDArray[np.intp]],
        order: Sequence[int],
        n_threads: int,
        cuts: Reals | None = None,
        most_features: int = MOST_FEATURES,
    ) -> "ChangeSearch":
        """Return a search for the changes that an ensemble's predictions follow."""
        features, terms = ensemble.binning.features, ensemble.terms
        weights = ensemble.bin_weights

        def predict(codes: Codes) -> Reals:
            rows = np.arange(codes.shape[1])
            return ensemble.raw_predictions(RestoredTable(codes, rows, features, None), n_threads)

        return cls(
            predict,
            choose,
            [find_distances(*of_feature) for of_feature in zip(features, weights, strict=True)],
            order,
            None if terms is None else terms.list_cells(MOST_CELLS, n_threads),
            cuts,
            most_features,
        )

    def count_classes(self, n_models: int) -> int:
        """Return the number of classes of a model with so many raw predictions."""
        if self.cuts is not None:
            return len(self.cuts) + 1
        return 2 if n_models == 1 else n_models

    @cached_property
    def joint(self) -> set[tuple[int, ...]]:
        """The sets of features that terms join: those of each term, and the sets within these."""
        return {
            part
            for of_term in self.cells or ()
            for size in range(2, len(of_term.features) + 1)
            for part in combinations(of_term.features, size)
        }

    def find_cells(self, features: tuple[int, ...]) -> list[TermCells]:
        """Return the terms that have all these features."""
        if features not in self._cells_of:
            self._cells_of[features] = [
                of_term for of_term in self.cells or () if {*features} <= {*of_term.features}
            ]
        return self._cells_of[features]

    def run(self, codes: Codes, target: int | None) -> tuple[list[CodeChange | None], bool]:
        """Return the nearest change of each row to a class, and whether none nearer is missed.

        The class None is any other.
        """
        raw = self.predict(codes)
        predicted = self.choose(raw)
        n_classes = self.count_classes(raw.shape[1])
        singles = [self._change_alone(codes, j) for j in self.order]
        changes, is_exact = [], True
        others = range(n_classes) if target is None else [target]
        for row in range(len(raw)):
            of_row = [single[row] for single in singles]
            searches = [
                _Row(self, codes[:, row], raw[row], to, of_row)
                for to in others
                if to != predicted[row]
            ]
            change, none_missed = _find_nearest(searches, self.most_features)
            changes.append(change)
            is_exact = is_exact and none_missed
        return changes, is_exact

    def _change_alone(self, codes: Codes, feature: int) -> list[tuple[NDArray[np.intp], Reals]]:
        """Return the other codes of one feature in each row, and the raw predictions with them."""
        present = codes[feature].astype(np.intp)
        options = [np.flatnonzero(row >= 0) for row in self.distances[feature]]
        counts = np.array([len(options[code]) for code in present])
        copies = np.repeat(codes, counts, axis=1)
        copies[feature] = np.concatenate([options[code] for code in present])
        raw = self.predict(copies) if counts.sum() else np.empty((0, 1))
        parts = np.split(raw, np.cumsum(counts)[:-1])
        return [(options[code], part) for code, part in zip(present, parts, strict=True)]


@dataclass(frozen=True, eq=False)
class _Row:
    """The search for the nearest change of one row to one class."""

    of: ChangeSearch
    codes: Codes
    raw: Reals
    to: int
    singles: Sequence[tuple[NDArray[np.intp], Reals]]
    _joint: dict[tuple[int, ...], Reals] = field(default_factory=dict)
    _most: dict[tuple[int, ...], Reals] = field(default_factory=dict)
    _slack: dict[tuple[int, ...], Reals] = field(default_factory=dict)
    """By pair, what its best options gain less the sum of the most that each part gains."""

    def lead(self, raw: Reals) -> Reals:
        """Return the lead of the class over each rival, (..., n_rivals).

        The rivals of ordered classes are those below and those above; their cuts are `_far`.
        """
        if self.of.cuts is not None:
            last = len(self.of.cuts)
            sides = [raw] * (self.to > 0) + [-raw] * (self.to < last)
            return np.concatenate(sides, axis=-1)
        if raw.shape[-1] == 1:
            return raw if self.to == 1 else -raw
        lead: Reals = raw[..., [self.to]] - np.delete(raw, self.to, axis=-1)
        return lead

    @property
    def _far(self) -> Reals | float:
        """The lead over each rival that a class needs, which is 0 but for ordered classes."""
        cuts, to = self.of.cuts, self.to
        return 0.0 if cuts is None else np.append(cuts[:to][-1:], -cuts[to : to + 1])

    @property
    def _need(self) -> Reals:
        """The gain on each rival that a change must exceed."""
        least = ROUNDING * (1.0 + float(np.abs(self.raw).max()))
        need: Reals = least + self._far - self.lead(self.raw)
        return need

    @cached_property
    def every(self) -> list[_Options]:
        """The options of each feature that has any."""
        every = []
        for feature, (codes, raw) in zip(self.of.order, self.singles, strict=True):
            if len(codes):
                distances = self.of.distances[feature][self.codes[feature], codes]
                gains = self.lead(raw) - self.lead(self.raw)
                every.append(_Options(feature, codes, distances, gains))
        return every

    def change_one(self, best: CodeChange | None) -> CodeChange | None:
        """Return the nearest change of one feature, or `best` if none is nearer."""
        for feature, (codes, raw) in zip(self.of.order, self.singles, strict=True):
            if len(codes) == 0:
                continue
            turned = np.flatnonzero(self.of.choose(raw) == self.to)
            if len(turned):
                distances = self.of.distances[feature][self.codes[feature], codes]
                first = turned[np.argmin(distances[turned])]
                change = (feature,), (int(codes[first]),), (int(distances[first]),)
                best = _nearer(best, CodeChange(*change, self.to))
        return best

    def change_several(self, size: int, best: CodeChange | None) -> tuple[CodeChange | None, bool]:
        """Return the nearest change of so many features, or `best`, and whether none is missed."""
        is_exact = self._may_compute(size)
        for options in self._list_sets(size, is_exact=is_exact):
            best = _nearer(best, self._try(options, best, is_exact=is_exact))
        return best, is_exact

    def _may_compute(self, size: int) -> bool:
        """Return whether all joint effects of up to so many features can be computed."""
        counts = {options.feature: len(options.codes) for options in self.every}
        n_joint = sum(
            math.prod(counts.get(j, 0) for j in part) for part in self.of.joint if len(part) <= size
        )
        # The search for every class computes the effects on all classes.
        return self.of.cells is not None and n_joint * len(self.raw) ** 2 <= MOST_JOINT

    def _list_sets(self, size: int, *, is_exact: bool) -> Iterator[list[_Options]]:
        """Yield the features that may change together, each with its options."""
        thin = {options.feature: options.thin() for options in self.every}
        every = self.every if is_exact else _take_widest(self.every, thin)
        need = self._need
        for features in combinations(every, size):
            touched = self._find_touched(features) if is_exact else set()
            options = [o if o.feature in touched else thin[o.feature] for o in features]
            if any(len(o.codes) == 0 for o in options):
                continue
            if not is_exact:
                options = self._limit(options)
            if not is_exact or (self._bound(options) > need).all():
                yield options

    def _bound(self, options: Sequence[_Options]) -> Reals:
        """Return a bound of what these features gain together on each rival."""
        parts = self._list_joint([o.feature for o in options])
        most = [o.gains.max(axis=0) for o in options]
        most += [self._bound_joint(part, options) for part in parts]
        slack = [self._slack[part] for part in parts if part in self._slack]
        bound: Reals = np.sum(most, axis=0) + (np.min(slack, axis=0) if slack else 0.0)
        return bound

    def _bound_joint(self, part: tuple[int, ...], options: Sequence[_Options]) -> Reals:
        """Return a bound of what some features gain together beyond fewer of them."""
        if part not in self._most:
            inside = [o for o in options if o.feature in part]
            if len(part) > 2:  # their cells would take longer than the sets of features do
                bounds = [of_term.bound(len(part)) for of_term in self.of.find_cells(part)]
                self._most[part] = self._lead_at_most(np.sum(bounds, axis=0))
            else:
                joint = self._find_joint(part, inside)
                most = self._most[part] = joint.max(axis=(0, 1))
                best = (_add_outer([o.gains for o in inside]) + joint).max(axis=(0, 1))
                tops = [most, *(o.gains.max(axis=0) for o in inside)]
                self._slack[part] = best - np.sum(tops, axis=0)
        return self._most[part]

    def _lead_at_most(self, moved: Reals) -> Reals:
        """Return the most that leads move if no raw prediction moves farther than these."""
        if len(moved) == 1:  # in either direction
            return np.repeat(moved, self.lead(moved).shape[-1])
        both: Reals = moved[self.to] + np.delete(moved, self.to)
        return both

    def _limit(self, options: list[_Options]) -> list[_Options]:
        """Return the options, or evenly spaced ones of them if they combine to too many copies."""
        most = MOST_COPIES / len(self.raw) ** 2
        if math.prod(len(o.codes) for o in options) <= most:
            return options
        side = max(2, int(most ** (1.0 / len(options))))
        return [
            o.take(np.unique(np.linspace(0, len(o.codes) - 1, side).round().astype(np.intp)))
            for o in options
        ]

    def _find_touched(self, features: Sequence[_Options]) -> set[int]:
        """Return the features that share a term with another one of these."""
        joint = self._list_joint([options.feature for options in features])
        return {j for part in joint for j in part}

    def _list_joint(self, features: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the sets of these features whose joint effect is not the sum of smaller ones."""
        inside = sorted(features)
        sizes = range(2, len(inside) + 1)
        parts = (part for size in sizes for part in combinations(inside, size))
        return [part for part in parts if part in self.of.joint]

    def _try(
        self, options: Sequence[_Options], best: CodeChange | None, *, is_exact: bool
    ) -> CodeChange | None:
        """Return the nearest change of these features; None if none turns the row."""
        limit = np.iinfo(np.int64).max
        if best is not None and len(best.features) == len(options):
            limit = best.rank[1]
        total = _add_outer([o.distances for o in options])
        near = total < limit
        if not near.any():
            return None
        if is_exact:
            gains = _add_outer([o.gains for o in options])
            for part in self._list_joint([o.feature for o in options]):
                gains = gains + self._find_joint(part, options)
            places = np.flatnonzero(near & (gains > self._need).all(axis=-1))
        else:
            places = np.flatnonzero(near)
            raw = self._predict(options, total.shape, places)
            places = places[self.of.choose(raw) == self.to]
        if len(places) == 0:
            return None
        first = int(places[np.argmin(total.ravel()[places])])
        at = np.unravel_index(first, total.shape)
        return CodeChange(
            tuple(o.feature for o in options),
            tuple(int(o.codes[k]) for o, k in zip(options, at, strict=True)),
            tuple(int(o.distances[k]) for o, k in zip(options, at, strict=True)),
            self.to,
        )

    def _find_joint(self, part: tuple[int, ...], options: Sequence[_Options]) -> Reals:
        """Return what some features gain together beyond smaller sets, in the shape of all."""
        if part not in self._joint:
            inside = {o.feature: o.codes for o in options if o.feature in part}
            together = [
                of_term.interact(self.codes, [*inside], [*inside.values()])
                for of_term in self.of.find_cells(part)
            ]
            self._joint[part] = self.lead(np.sum(together, axis=0))
        axes = [slice(None) if o.feature in part else None for o in options]
        return self._joint[part][(*axes, slice(None))]

    def _predict(
        self, options: Sequence[_Options], shape: tuple[int, ...], places: NDArray[np.intp]
    ) -> Reals:
        """Return the raw predictions of the copies at these places of all combinations."""
        parts = []
        for begin in range(0, len(places), _AT_ONCE):
            at = np.unravel_index(places[begin : begin + _AT_ONCE], shape)
            copies = np.repeat(self.codes[:, None], len(at[0]), axis=1)
            for o, chosen in zip(options, at, strict=True):
                copies[o.feature] = o.codes[chosen]
            parts.append(self.of.predict(copies))
        return np.concatenate(parts)


def _find_nearest(searches: Sequence[_Row], most: int) -> tuple[CodeChange | None, bool]:
    """Return the nearest change of a row to any of several classes, and whether none is missed."""
    best: CodeChange | None = None
    for search in searches:
        best = search.change_one(best)
    is_exact = True
    for size in range(2, most + 1):
        if best is not None:
            break
        for search in searches:
            best, none_missed = search.change_several(size, best)
            is_exact = is_exact and none_missed
    return best, is_exact


def _nearer(best: CodeChange | None, other: CodeChange | None) -> CodeChange | None:
    """Return the nearer of two changes; of equal ones the first."""
    if best is None or other is None:
        return other if best is None else best
    return other if other.rank < best.rank else best


def _add_outer(parts: Sequence[NDArray]) -> NDArray:  # type: ignore[type-arg]
    """Return the sums of one entry of each part, on an axis for each; others come after these."""
    n = len(parts)

    def spread(part: NDArray, axis: int) -> NDArray:  # type: ignore[type-arg]
        shape = [1] * n
        shape[axis] = len(part)
        return part.reshape(*shape, *part.shape[1:])

    return reduce(np.add, [spread(part, axis) for axis, part in enumerate(parts)])


def _take_widest(every: Sequence[_Options], thin: Mapping[int, _Options]) -> list[_Options]:
    """Return the `WIDTH` features that move a row most."""
    reach = {j: float(o.gains.max(initial=0.0)) for j, o in thin.items()}
    wide = sorted(reach, key=lambda j: -reach[j])[:WIDTH]
    return [options for options in every if options.feature in wide]
