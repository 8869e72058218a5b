"""The terms of an ensemble of trees whose paths have at most three features.

Such an ensemble is a sum of functions of one, two and three features.  They are purified
(Lengerich et al. 2020): no term explains what fewer features explain.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.models.bag_design import BagDesign, design
from properboost.models.engine_terms import EngineTerms
from properboost.models.term_cells import TermCells
from properboost.models.term_grid import Spread, TermGrid, count_levels, find_way
from properboost.models.terms import ROWS, Features, Terms

__all__ = ["PurifiedTerms", "TreeTerms", "TreesOfBag"]

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]
Level = NDArray[np.uint8]


LIGHT = 2.0**-60
"""The share of the largest weight of a term's cells below which a cell counts as empty."""


@dataclass(frozen=True, eq=False)
class TermLayout:
    """The terms of an ensemble of trees: one for each feature, then those of several features.

    `grids` are those of terms of several features; smaller sets come first.
    """

    bin_weights: tuple[Array, ...]
    native: EngineTerms
    grids: tuple[TermGrid, ...]
    _spreads: dict[tuple[int, int], Spread] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.bin_weights)

    @cached_property
    def features(self) -> list[Features]:
        """The features of each term."""
        return [*((j,) for j in range(self.n_features)), *(grid.features for grid in self.grids)]

    @cached_property
    def place(self) -> dict[Features, int]:
        """The position of the term of each set of features."""
        return {features: k for k, features in enumerate(self.features)}

    def weights_of(self, term: int) -> Array:
        """Return the training weight of each entry of a term's table."""
        if term < self.n_features:
            return self.bin_weights[term]
        return self.grids[term - self.n_features].weights

    def levels_of(self, term: int) -> Sequence[Level]:
        """Return the level of each code of each feature of a term of several."""
        return self.grids[term - self.n_features].levels

    def list_terms(self, size: int) -> list[int]:
        """Return the terms of so many features."""
        return [k for k, features in enumerate(self.features) if len(features) == size]

    # -- sums of leaves ---------------------------------------------------------------------------

    def add_up_cells(
        self, model: int, used: NDArray[np.uint8] | None, n_threads: int
    ) -> list[Array]:
        """Return the sums of a model's leaves in each cell of each term; None uses all trees."""
        values = [np.zeros(self.weights_of(k).shape) for k in range(len(self.features))]
        sums = self.native.add_up_cells(
            model, self._native_grids, self._weights_by_code, used, n_threads
        )
        for k, total in zip(self.native_places, sums, strict=True):
            values[k] += total.reshape(values[k].shape)
        return values

    @cached_property
    def finest_levels(self) -> list[tuple[Level, ...]]:
        """The level of each code of each feature of the engine's terms, as trees separate them."""
        return self.native.find_levels()

    def add_up_levels(
        self, model: int, used: NDArray[np.uint8] | None, n_threads: int
    ) -> list[Array]:
        """Return the sums of a model's leaves by cell of each term's finest levels."""
        grids = [
            _core.TermGrid(list(features), list(levels))
            for features, levels in zip(self.native.features, self.finest_levels, strict=True)
        ]
        sums = self.native.add_up_cells(model, grids, self._weights_by_code, used, n_threads)
        shapes = map(count_levels, self.finest_levels)
        return [of_term.reshape(shape) for of_term, shape in zip(sums, shapes, strict=True)]

    @cached_property
    def native_places(self) -> list[int]:
        """The position of each of the engine's terms."""
        return [self.place[features] for features in self.native.features]

    @cached_property
    def _native_grids(self) -> list[_core.TermGrid]:
        by_code = [
            _core.TermGrid([j], [np.arange(len(weight), dtype=np.uint8)])
            for j, weight in enumerate(self.bin_weights)
        ]
        grids = [*by_code, *(grid.native for grid in self.grids)]
        return [grids[k] for k in self.native_places]

    @cached_property
    def _weights_by_code(self) -> Array:
        weights = np.zeros((self.n_features, 256))
        for of_feature, weight in zip(weights, self.bin_weights, strict=True):
            of_feature[: len(weight)] = weight
        return weights

    # -- parts that move --------------------------------------------------------------------------

    def without(self, term: int, axis: int) -> int:
        """Return the term of the features of another one, but for that of an axis."""
        features = self.features[term]
        return self.place[features[:axis] + features[axis + 1 :]]

    def shape_parts(self, term: int, parts: Sequence[Array]) -> list[Array]:
        """Return the parts of a term in the shapes of its grid without each axis."""
        shape = self.grids[term - self.n_features].shape
        return [part.reshape(shape[:axis] + shape[axis + 1 :]) for axis, part in enumerate(parts)]

    def move(self, term: int, axis: int, part: Array) -> Array:
        """Return a part of a term in the cells of the term without the feature of an axis."""
        if (term, axis) not in self._spreads:
            self._spreads[term, axis] = self._find_spread(term, axis)
        return self._spreads[term, axis].apply(part)

    def _find_spread(self, term: int, axis: int) -> Spread:
        grid, to = self.grids[term - self.n_features], self.without(term, axis)
        levels = grid.levels[:axis] + grid.levels[axis + 1 :]
        if to < self.n_features:
            return Spread((levels[0].astype(np.intp),))
        finer = self.grids[to - self.n_features]
        return Spread(
            tuple(
                find_way(fine, level, self.bin_weights[j])
                for j, level, fine in zip(finer.features, levels, finer.levels, strict=True)
            )
        )


@dataclass(frozen=True, eq=False)
class PurifiedTerms:
    """The purified tables of one model, and the parts that moved between terms.

    ``tables[k]`` is that of term `k`, in the shape of its grid, or by code of a feature.
    ``parts[k][axis]`` is the part of term `k` that moved to the term without the feature of that
    axis; terms that are 0 have none.
    """

    tables: tuple[Array, ...]
    parts: dict[int, list[Array]]


@dataclass(frozen=True, eq=False)
class TreesOfBag:
    """The trees of a bag among those of all: by model, whether a tree is used, and the constant."""

    used: tuple[NDArray[np.uint8], ...]
    constants: tuple[float, ...]
    n_bags: int


@dataclass(frozen=True, eq=False)
class TreeTerms(Terms):
    """The terms of an ensemble of trees: one for each feature, then those of several features."""

    layout: TermLayout
    joint: bool
    constants: tuple[float, ...]
    """The sum of each model's intercept and trees without a split."""
    divided: tuple[TreesOfBag, ...] = ()
    """The trees of every bag whose mean the ensemble is."""
    n_parts: int = 0
    """The parts of the rows of which these bags left out one of every four."""
    bag: TreesOfBag | None = None
    """The bag of which these are the terms; None for the terms of all trees."""
    _purified: dict[int, PurifiedTerms] = field(default_factory=dict, init=False, repr=False)
    _common: list[Array] = field(default_factory=list, init=False, repr=False)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.layout.n_features

    @property
    def n_models(self) -> int:  # type: ignore[override]  # it is an attribute elsewhere
        """The number of models."""
        return len(self.constants)

    @cached_property
    def bags(self) -> list["TreeTerms"]:
        """The terms of every bag."""
        return [replace(self, bag=bag, constants=bag.constants, divided=()) for bag in self.divided]

    @property
    def bag_design(self) -> BagDesign:
        """The parts of the rows that each bag learnt from."""
        return design(self.n_bags, self.n_parts)

    @property
    def features(self) -> list[Features]:
        """The features of each term."""
        return self.layout.features

    def table_of(self, model: int, term: int) -> Array:
        """Return the table of a term in one model: by code, or in the shape of its levels."""
        return self.purified(model).tables[term]

    def weights_of(self, term: int) -> Array:
        """Return the training weight of each entry of a term's table."""
        return self.layout.weights_of(term)

    def levels_of(self, term: int) -> Sequence[Level]:
        """Return the level of each code of each feature of a term of several."""
        return self.layout.levels_of(term)

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
        layout, values = self.layout, self._add_up_cells(model, n_threads)
        if self.joint:
            for value, common in zip(values, self._find_common(n_threads), strict=True):
                value -= common
        parts: dict[int, list[Array]] = {}
        for size in (3, 2):
            terms = [k for k in layout.list_terms(size) if values[k].any()]
            weights = [_drop_light(layout.weights_of(k)) for k in terms]
            purified = _core.purify([values[k] for k in terms], weights, n_threads)
            for k, (table, moved) in zip(terms, purified, strict=True):
                values[k], parts[k] = table, layout.shape_parts(k, moved)
                for axis, part in enumerate(parts[k]):
                    values[layout.without(k, axis)] += layout.move(k, axis, part)
        return PurifiedTerms(tuple(values), parts)

    def _add_up_cells(self, model: int, n_threads: int) -> list[Array]:
        """Return the sums of a model's leaves in each cell of each term."""
        values = self.layout.add_up_cells(model, self._used(model), n_threads)
        for value in values:
            value *= self._factor
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

    def list_cells(self, most: int, n_threads: int) -> list[TermCells] | None:
        """Return terms of several features by cell; None if that were more than `most` sums.

        The cells are those that the trees separate, so none is coarser than predictions.
        """
        layout = self.layout
        shapes = map(count_levels, layout.finest_levels)
        n_cells = sum(math.prod(shape) for shape in shapes if len(shape) > 1)
        if self.n_models * n_cells > most:
            return None
        of_models = [
            layout.add_up_levels(model, self._used(model), n_threads)
            for model in range(self.n_models)
        ]
        terms = zip(layout.native.features, layout.finest_levels, *of_models, strict=True)
        return [
            TermCells(tuple(features), levels, self._factor * np.stack(tables, axis=-1))
            for features, levels, *tables in terms
            if len(features) > 1
        ]

    def _used(self, model: int) -> NDArray[np.uint8] | None:
        return None if self.bag is None else self.bag.used[model]

    @property
    def _factor(self) -> float:
        """The factor of all trees: those of a bag are divided by the number of bags."""
        return 1.0 if self.bag is None else self.bag.n_bags

    def list_parts_without(
        self, model: int, feature: int
    ) -> Iterator[tuple[Features, Sequence[Level], Array]]:
        """Yield what purification moved from joint terms of a feature to terms without it.

        Each has the other features, the level of each of their codes, and a table over these.
        """
        for k, parts in self.purified(model).parts.items():
            features, levels = self.features[k], tuple(self.levels_of(k))
            if feature in features:
                axis = features.index(feature)
                yield (
                    features[:axis] + features[axis + 1 :],
                    levels[:axis] + levels[axis + 1 :],
                    parts[axis],
                )

    # -- rows -------------------------------------------------------------------------------------

    def evaluate(self, codes: Codes, models: Sequence[int], n_threads: int) -> NDArray[np.float64]:
        """Return the terms' values for rows of these codes, (n_terms, n_rows, n_models).

        They are exact even where a term's table is coarser.
        """
        layout = self.layout
        values = np.zeros((len(self.features), codes.shape[1], len(models)))
        for m in range(self.n_models) if self.joint else sorted({*models}):
            factor = (np.array(models) == m) - (1.0 / self.n_models if self.joint else 0.0)
            rows = self._factor * layout.native.add_up_rows(m, codes, self._used(m), n_threads)
            for k, of_term in zip(layout.native_places, rows, strict=True):
                values[k] += of_term[:, None] * factor
        for at, m in enumerate(models):
            for k, to, moved in self._look_up_parts(codes, self.purified(m)):
                values[k, :, at] -= moved
                values[to, :, at] += moved
        return values

    def look_up_errors(self, codes: Codes, model: int, n_threads: int) -> Array:
        """Return the standard errors of the terms' values, (n_rows, n_terms).

        They are of exact values where a joint term's table is coarser.  They are NaN where the
        table has no entry for a row.
        """
        errors = super().look_up_errors(codes, model, n_threads)
        joint = [k for k, features in enumerate(self.features) if len(features) > 1]
        noises = [self.noise_of(model, k) for k in joint]
        for begin in range(0, codes.shape[1], ROWS):
            rows = slice(begin, begin + ROWS)
            block = np.ascontiguousarray(codes[:, rows])
            values = [bag.evaluate(block, [model], n_threads)[joint, :, 0] for bag in self.bags]
            for at, (k, noise) in enumerate(zip(joint, noises, strict=True)):
                exact = noise.find_errors([of_bag[at] for of_bag in values])
                errors[rows, k] = np.where(errors[rows, k] > 0.0, exact, errors[rows, k])
        return errors

    def _look_up_parts(
        self, codes: Codes, purified: PurifiedTerms
    ) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
        """Yield a term, the one to which a part of it moves, and that part for rows."""
        layout = self.layout
        for k, parts in purified.parts.items():
            levels = [
                level[codes[j]]
                for j, level in zip(self.features[k], layout.levels_of(k), strict=True)
            ]
            for axis, part in enumerate(parts):
                yield k, layout.without(k, axis), part[tuple(levels[:axis] + levels[axis + 1 :])]


def _drop_light(weights: Array) -> Array:
    """Return weights, without those next to nothing beside the largest, which nothing resolves."""
    return np.where(weights < LIGHT * weights.max(initial=0.0), 0.0, weights)
