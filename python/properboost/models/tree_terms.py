"""The terms of an ensemble of trees whose paths have at most three features.

Such an ensemble is a sum of functions of one, two and three features.  They are purified
(Lengerich et al. 2020): no term explains what fewer features explain.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.binning import Binning, NumericBins
from properboost.models.term_grid import TermGrid, coarsen, find_parts, refine
from properboost.models.terms import Features, Terms

__all__ = [
    "PurifiedTerms",
    "TreeTerms",
    "TreesOfBag",
    "WeighCells",
    "find_tree_terms",
    "lay_term_grids",
]

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

WeighCells = Callable[[Sequence[TermGrid]], Sequence[Array]]
"""A function that returns the training weight of every cell of grids."""


@dataclass(frozen=True, eq=False)
class PurifiedTerms:
    """The purified tables of one model, and the parts that moved between terms.

    ``tables[k]`` is that of term `k`, in the shape of its grid, or by code of a feature.
    ``parts[k][axis]`` is the part of term `k` that moved to the term without the feature of that
    axis.
    """

    tables: tuple[Array, ...]
    parts: dict[int, list[Array]]


@dataclass(frozen=True, eq=False)
class _Spread:
    """The levels of a part, by axis, in each level of the term to which it moves.

    An axis has the level that each level is in, or the share of each that is in every other.
    """

    ways: tuple[NDArray[np.intp] | Array, ...]

    def apply(self, part: Array) -> Array:
        """Return a part in the cells of the term to which it moves."""
        for axis, way in enumerate(self.ways):
            moved = np.moveaxis(part, axis, 0)
            if way.ndim == 1:
                moved = moved[way.astype(np.intp, copy=False)]
            else:
                moved = (way.reshape(*way.shape, *[1] * (part.ndim - 1)) * moved[None]).sum(axis=1)
            part = np.moveaxis(moved, 0, axis)
        return part


def _find_way(shares: Array) -> NDArray[np.intp] | Array:
    """Return the level that each level is in, if all are within one, else the shares."""
    is_within = bool((shares.max(axis=1) == 1.0).all())
    return shares.argmax(axis=1) if is_within else shares


@dataclass(frozen=True, eq=False)
class TreesOfBag:
    """The trees of a bag among those of all: by model, whether a tree is used, and the constant."""

    used: tuple[NDArray[np.uint8], ...]
    constants: tuple[float, ...]
    n_bags: int


@dataclass(frozen=True, eq=False)
class TreeTerms(Terms):
    """The terms of an ensemble of trees: one for each feature, then those of several features."""

    binning: Binning
    bin_weights: tuple[Array, ...]
    native: _core.Terms
    grids: tuple[TermGrid, ...]
    """The grids of terms of several features; smaller sets come first."""
    joint: bool
    constants: tuple[float, ...]
    """The sum of each model's intercept and trees without a split."""
    divided: tuple[TreesOfBag, ...] = ()
    """The trees of every bag whose mean the ensemble is."""
    bag: TreesOfBag | None = None
    """The bag of which these are the terms; None for the terms of all trees."""
    _purified: dict[int, PurifiedTerms] = field(default_factory=dict, init=False, repr=False)
    _common: list[Array] = field(default_factory=list, init=False, repr=False)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.bin_weights)

    @property
    def n_models(self) -> int:  # type: ignore[override]  # it is an attribute elsewhere
        """The number of models."""
        return len(self.constants)

    @cached_property
    def bags(self) -> list["TreeTerms"]:
        """The terms of every bag."""
        return [replace(self, bag=bag, constants=bag.constants, divided=()) for bag in self.divided]

    @cached_property
    def features(self) -> list[Features]:
        """The features of each term."""
        return [*((j,) for j in range(self.n_features)), *(grid.features for grid in self.grids)]

    def table_of(self, model: int, term: int) -> Array:
        """Return the table of a term in one model: by code, or in the shape of its levels."""
        return self.purified(model).tables[term]

    def weights_of(self, term: int) -> Array:
        """Return the training weight of each entry of a term's table."""
        if term < self.n_features:
            return self.bin_weights[term]
        return self.grids[term - self.n_features].weights

    def levels_of(self, term: int) -> Sequence[NDArray[np.integer]]:
        """Return the level of each code of each feature of a term of several."""
        return self.grids[term - self.n_features].levels

    def find_constant(self, model: int) -> float:
        """Return the constant of one model, in a joint model less its mean over the models."""
        constants = np.array(self.constants)
        return float(constants[model] - (constants.mean() if self.joint else 0.0))

    # -- tables -----------------------------------------------------------------------------------

    def purified(self, model: int, n_threads: int = 1) -> PurifiedTerms:
        """Return the purified tables of one model, computed once."""
        if model not in self._purified:
            self._purified[model] = self._purify(model, n_threads)
        return self._purified[model]

    def prepare(self, models: Iterable[int], n_threads: int, *, with_bags: bool) -> None:
        """Compute the tables of these models, and those of their bags, by this many threads."""
        for model in models:
            self.purified(model, n_threads)
        for bag in self.bags if with_bags else ():
            bag.prepare(models, n_threads, with_bags=False)

    def _purify(self, model: int, n_threads: int) -> PurifiedTerms:
        values = self._add_up_cells(model, n_threads)
        if self.joint:
            for value, common in zip(values, self._find_common(n_threads), strict=True):
                value -= common
        parts: dict[int, list[Array]] = {}
        for size in (3, 2):
            terms = [k for k, features in enumerate(self.features) if len(features) == size]
            weights = [self.weights_of(k) for k in terms]
            purified = _core.purify([values[k] for k in terms], weights, n_threads)
            for k, (table, moved) in zip(terms, purified, strict=True):
                values[k], parts[k] = table, self._shape_parts(k, moved)
                for axis, part in enumerate(parts[k]):
                    values[self._without(k, axis)] += self._spreads[k, axis].apply(part)
        return PurifiedTerms(tuple(values), parts)

    def _add_up_cells(self, model: int, n_threads: int) -> list[Array]:
        """Return the sums of a model's leaves in each cell of each term."""
        values = [np.zeros(self.weights_of(k).shape) for k in range(len(self.features))]
        sums = self.native.add_up_cells(
            model, self._native_grids, self._weights_by_code, self._used(model), n_threads
        )
        for k, total in zip(self._native_places, sums, strict=True):
            values[k] = self._factor * total.reshape(values[k].shape)
        return values

    def _find_common(self, n_threads: int) -> list[Array]:
        """Return the mean of the models' sums, which terms of a joint model leave out."""
        if not self._common:
            total = self._add_up_cells(0, n_threads)
            for model in range(1, self.n_models):
                for value, added in zip(total, self._add_up_cells(model, n_threads), strict=True):
                    value += added
            self._common.extend(value / self.n_models for value in total)
        return self._common

    def _used(self, model: int) -> NDArray[np.uint8] | None:
        return None if self.bag is None else self.bag.used[model]

    @property
    def _factor(self) -> float:
        """The factor of all trees: those of a bag are divided by the number of bags."""
        return 1.0 if self.bag is None else self.bag.n_bags

    @cached_property
    def _native_places(self) -> list[int]:
        return [self.place[features] for features in self.native.features]

    @cached_property
    def _native_grids(self) -> list[_core.TermGrid]:
        by_code = [
            _core.TermGrid([j], [np.arange(bins.width, dtype=np.uint8)])
            for j, bins in enumerate(self.binning.features)
        ]
        grids = [*by_code, *(grid.native for grid in self.grids)]
        return [grids[k] for k in self._native_places]

    @cached_property
    def _weights_by_code(self) -> Array:
        weights = np.zeros((self.n_features, 256))
        for of_feature, weight in zip(weights, self.bin_weights, strict=True):
            of_feature[: len(weight)] = weight
        return weights

    def _without(self, term: int, axis: int) -> int:
        """Return the term of the features of another one, but for that of an axis."""
        features = self.features[term]
        return self.place[features[:axis] + features[axis + 1 :]]

    def _shape_parts(self, term: int, parts: Sequence[Array]) -> list[Array]:
        shape = self.grids[term - self.n_features].shape
        return [part.reshape(shape[:axis] + shape[axis + 1 :]) for axis, part in enumerate(parts)]

    @cached_property
    def _spreads(self) -> dict[tuple[int, int], "_Spread"]:
        """The way from a term, without the feature of an axis, to the term of the others."""
        return {
            (k, axis): self._find_spread(k, axis)
            for k, features in enumerate(self.features)
            for axis in range(len(features))
            if len(features) > 1
        }

    def _find_spread(self, term: int, axis: int) -> "_Spread":
        grid, to = self.grids[term - self.n_features], self._without(term, axis)
        levels = grid.levels[:axis] + grid.levels[axis + 1 :]
        if to < self.n_features:
            return _Spread((levels[0].astype(np.intp),))
        finer = self.grids[to - self.n_features]
        return _Spread(
            tuple(
                _find_way(find_parts(fine, level, self.bin_weights[j]))
                for j, level, fine in zip(finer.features, levels, finer.levels, strict=True)
            )
        )

    # -- rows -------------------------------------------------------------------------------------

    def evaluate(self, codes: Codes, models: Sequence[int], n_threads: int) -> NDArray[np.float64]:
        """Return the terms' values for rows of these codes, (n_terms, n_rows, n_models).

        They are exact even where a term's table is coarser.
        """
        values = np.zeros((len(self.features), codes.shape[1], len(models)))
        for m in range(self.n_models) if self.joint else sorted({*models}):
            factor = (np.array(models) == m) - (1.0 / self.n_models if self.joint else 0.0)
            rows = self._factor * self.native.add_up_rows(m, codes, self._used(m), n_threads)
            for k, of_term in zip(self._native_places, rows, strict=True):
                values[k] += of_term[:, None] * factor
        for at, m in enumerate(models):
            for k, to, moved in self._look_up_parts(codes, self.purified(m)):
                values[k, :, at] -= moved
                values[to, :, at] += moved
        return values

    def _look_up_parts(
        self, codes: Codes, purified: PurifiedTerms
    ) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield a term, the one to which a part of it moves, and that part for rows."""
        for k, parts in purified.parts.items():
            grid = self.grids[k - self.n_features]
            levels = [level[codes[j]] for j, level in zip(grid.features, grid.levels, strict=True)]
            for axis, part in enumerate(parts):
                yield k, self._without(k, axis), part[tuple(levels[:axis] + levels[axis + 1 :])]


def find_tree_terms(binning: Binning, forests: Sequence[_core.Forest]) -> _core.Terms | None:
    """Return the terms of forests, or None if a path has more than three features."""
    return _core.find_terms(binning.native, list(forests))


def lay_term_grids(
    native: _core.Terms, binning: Binning, bin_weights: Sequence[Array], weigh: WeighCells
) -> tuple[TermGrid, ...]:
    """Return a grid for each term of several features, and for each pair within one of three."""
    levels: dict[Features, list[tuple[NDArray[np.uint8], ...]]] = {}
    for features, of_term in zip(native.features, native.find_levels(), strict=True):
        for size in (2, 3):
            for axes in combinations(range(len(features)), size):
                subset = tuple(features[axis] for axis in axes)
                levels.setdefault(subset, []).append(tuple(of_term[axis] for axis in axes))
    grids = []
    for features in sorted(levels, key=lambda features: (len(features), features)):
        refined = [refine(of_axis) for of_axis in zip(*levels[features], strict=True)]
        bins = [binning.features[j] for j in features]
        kinds = [(of_axis.n_bins, isinstance(of_axis, NumericBins)) for of_axis in bins]
        coarse = coarsen(refined, kinds, [bin_weights[j] for j in features])
        grids.append(TermGrid(features, coarse, np.empty(0)))
    weights = weigh(grids)
    return tuple(
        TermGrid(grid.features, grid.levels, weight.reshape(grid.shape))
        for grid, weight in zip(grids, weights, strict=True)
    )
