"""Merging look-up tables: their weighted mean over bins and cells that a model may have."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    CategoricalBins,
    FeatureBins,
    NumericBins,
)
from properboost.data.distinct import find_distinct
from properboost.models.ensemble import Rounds
from properboost.models.interactions import MOST_CELLS, PairBins
from properboost.models.joined_bins import (
    find_exponent,
    find_heaviest,
    group_values,
    join_neighbours,
    number_groups,
    scale_to_1,
)
from properboost.models.merged_bins import MOST_BINS, Codes, MergedEnsemble, UnitedBins
from properboost.models.table_ensemble import TableEnsemble

__all__ = ["merge_tables"]

Array = NDArray[np.float64]


def merge_tables(
    ensembles: Sequence[TableEnsemble], factors: Sequence[float], united: Sequence[UnitedBins]
) -> MergedEnsemble:
    """Return the mean of look-up tables, coarser where a model may not have all bins or cells."""
    sums = [
        np.stack([ensemble.sums_of(m) for m in range(len(ensemble.models))])
        for ensemble in ensembles
    ]
    grids = [_merge_pair(key, ensembles, factors, sums, united) for key in _list_pairs(ensembles)]
    features = [
        _merge_feature(j, feature, _add_tables(j, ensembles, factors, sums, feature.codes), grids)
        for j, feature in enumerate(united)
    ]
    pairs = [_thin_pair(grid, features[grid.first], features[grid.second]) for grid in grids]
    lost: dict[tuple[int, ...], float] = {
        (pair.first, pair.second): pair.lost for pair in pairs if pair.lost > 0.0
    }
    lost |= {(j,): feature.lost for j, feature in enumerate(features) if feature.lost > 0.0}
    bins = tuple(feature.bins for feature in features)
    merged = TableEnsemble(
        Binning(bins, ensembles[0].binning.from_dtype),
        tuple(_list_rounds(m, features, pairs) for m in range(len(sums[0]))),
        tuple(feature.weight for feature in features),
        joint=ensembles[0].joint,
        pairs=tuple(pair.to_bins(bins) for pair in pairs),
        pair_weights=tuple(_append_others(pair.weight) for pair in pairs),
    )
    return MergedEnsemble(merged, lost)


@dataclass(frozen=True, eq=False)
class _Feature:
    """The merged tables of a feature, over bins that a model may have.

    `values` are by model and `weight` by code.  `codes` has a united code of each code, the one of
    most weight where several are joined, and `group` the code of each united one.
    """

    bins: FeatureBins
    values: Array
    weight: Array
    codes: NDArray[np.intp]
    group: NDArray[np.intp]
    lost: float


def _add_tables(
    j: int,
    ensembles: Sequence[TableEnsemble],
    factors: Sequence[float],
    sums: Sequence[Array],
    codes: Sequence[Codes],
) -> Array:
    """Return the sum of a feature's tables in every model, by united code."""
    values = np.zeros((len(sums[0]), len(codes[0])))
    for ensemble, table, factor, places in zip(ensembles, sums, factors, codes, strict=True):
        first, end = ensemble.offsets[j : j + 2]
        values += factor * table[:, first:end][:, places]
    return values


def _merge_feature(j: int, united: UnitedBins, values: Array, pairs: Sequence["_Grid"]) -> _Feature:
    """Return a feature's tables, over fewer bins where a model may not have all united ones."""
    levels = [pair.levels_of(j) for pair in pairs if j in (pair.first, pair.second)]
    weight = np.sum(united.weights, axis=0)
    group, bins = _thin(united.bins, values, levels, weight)
    means, joined = group_values(values, weight, group)
    moved = np.abs(values - means[:, group]).max(initial=0.0)
    return _Feature(bins, means, joined, find_heaviest(group, weight), group, float(moved))


def _list_rounds(m: int, features: Sequence[_Feature], pairs: Sequence["_Grid"]) -> Rounds:
    """Return a round for each feature and pair whose table in a model is not 0."""
    tables = [feature.values[m] for feature in features]
    tables += [_append_others(pair.values[m]) for pair in pairs]
    terms = [term for term, table in enumerate(tables) if table.any()]
    return Rounds.of_tables(np.array(terms, dtype=np.int32), [tables[term] for term in terms])


def _append_others(cells: Array) -> Array:
    """Return a pair's cells in a row, then 0 for the two codes that follow them."""
    return np.append(cells.ravel(), [0.0, 0.0])


def _thin(
    bins: FeatureBins, values: Array, levels: Sequence[NDArray[np.int16]], weight: Array
) -> tuple[NDArray[np.intp], FeatureBins]:
    """Return the coarser code of every code, and bins that a model may have."""
    codes = np.arange(bins.width)
    if isinstance(bins, CategoricalBins):
        if bins.n_bins <= MAX_CATEGORIES:
            return codes, bins
        n = len(bins.categories)
        heaviest = np.sort(np.argsort(-weight[:n], kind="stable")[: MAX_CATEGORIES - 1])
        group = np.full(bins.width, MAX_CATEGORIES - 1)
        group[heaviest] = np.arange(len(heaviest))
        group[bins.n_bins] = MAX_CATEGORIES
        group[bins.n_bins + 1] = MAX_CATEGORIES + 1
        return group, CategoricalBins(tuple(bins.categories[k] for k in heaviest), has_rare=True)
    n = bins.n_bins
    of_pairs = np.zeros(n - 1, dtype=bool)
    for level in levels:
        of_pairs |= np.diff(level[:n]) != 0
    different = of_pairs | np.any(values[:, 1:n] != values[:, : n - 1], axis=0)
    starts = np.concatenate([[0], 1 + np.flatnonzero(different)])
    if len(starts) > MOST_BINS:
        # Pairs keep their levels if there is room, for their values are not among these.
        stays = np.append(True, of_pairs)[starts]
        stays &= stays.sum() <= MOST_BINS
        starts = join_neighbours(values[:, :n], weight[:n], starts, MOST_BINS, stays)
    if len(starts) == n:
        return codes, bins
    return number_groups(starts, n), replace(bins, edges=bins.edges[starts[1:] - 1])


# -- pairs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Grid:
    """A pair's merged table: levels by code, the values of every model, and weights."""

    first: int
    second: int
    levels: tuple[NDArray[np.int16], NDArray[np.int16]]
    values: Array
    weight: Array
    lost: float = 0.0

    def levels_of(self, j: int) -> NDArray[np.int16]:
        """Return the levels of one of the features."""
        return self.levels[0 if j == self.first else 1]

    def to_bins(self, features: Sequence[FeatureBins]) -> PairBins:
        """Return the levels over these features' bins."""
        ordered = []
        for j, level in zip((self.first, self.second), self.levels, strict=True):
            bins = features[j]
            numeric = isinstance(bins, NumericBins)
            ordered.append(int(level[: bins.n_bins].max(initial=-1)) + 1 if numeric else 0)
        return PairBins(self.first, self.second, *self.levels, (ordered[0], ordered[1]))


def _list_pairs(ensembles: Sequence[TableEnsemble]) -> list[tuple[int, int]]:
    return list(
        dict.fromkeys((p.first, p.second) for ensemble in ensembles for p in ensemble.pairs)
    )


def _merge_pair(
    key: tuple[int, int],
    ensembles: Sequence[TableEnsemble],
    factors: Sequence[float],
    sums: Sequence[Array],
    united: Sequence[UnitedBins],
) -> _Grid:
    """Return a pair's table; a coarser one has its main effects moved to the features."""
    members = [
        (i, p)
        for i, ensemble in enumerate(ensembles)
        for p, pair in enumerate(ensemble.pairs)
        if (pair.first, pair.second) == key
    ]
    levels, origins = zip(
        *(_unite_levels(united[j], side, members, ensembles) for side, j in enumerate(key)),
        strict=True,
    )
    is_coarser = len(origins[0]) * len(origins[1]) > MOST_CELLS
    values = np.zeros((len(sums[0]), len(origins[0]), len(origins[1])))
    weight, apart = np.zeros(values.shape[1:]), np.zeros(len(values))
    for k, (i, p) in enumerate(members):
        ensemble, parts = ensembles[i], []
        for side, j in enumerate(key):
            level, known = levels[side], levels[side] >= 0
            level_weight = np.bincount(
                level[known], united[j].weights[i][known], len(origins[side])
            )
            parts.append(_find_parts(origins[side][:, k], level_weight.astype(np.float64)))
        at = np.ix_(origins[0][:, k], origins[1][:, k])
        inside = (origins[0][:, k, None] >= 0) & (origins[1][:, k] >= 0)
        of_pair = ensemble.cells_of(ensemble.pair_weights[p], p, 0)[at]
        weight += np.where(inside, of_pair * parts[0][:, None] * parts[1], 0.0)
        for m, of_model in enumerate(sums[i]):
            if is_coarser:
                effects = ensemble.move_effects(of_model, p)
                apart[m] += factors[i] * _find_largest(effects, ensemble.pairs[p], key, united, i)
            values[m] += np.where(inside, factors[i] * ensemble.cells_of(of_model, p)[at], 0.0)
    grid = _Grid(*key, levels, values, weight, float(apart.max()))
    return _coarsen(grid, [united[j].bins for j in key]) if is_coarser else grid


def _find_largest(
    effects: tuple[Array, Array],
    pair: PairBins,
    key: tuple[int, int],
    united: Sequence[UnitedBins],
    i: int,
) -> float:
    """Return the largest main effect of a pair that a row gets if its other value has no level.

    Such rows had 0 from the pair, as those with unseen categories.
    """
    largest = 0.0
    others = (pair.second_level, key[1]), (pair.first_level, key[0])
    for effect, (level, j) in zip(effects, others, strict=True):
        if np.any(level[united[j].codes[i]] < 0):
            largest = max(largest, float(np.abs(effect).max()))
    return largest


def _find_parts(origin: NDArray[np.int16], weight: Array) -> Array:
    """Return the share that each merged level has of a model's level, by training weight."""
    places = np.maximum(origin, 0)
    total = np.bincount(places, weight)[places]
    weight = np.where(total > 0.0, weight, 1.0)  # where the model had no row
    parts: Array = weight / np.bincount(places, weight)[places]
    return parts


def _unite_levels(
    united: UnitedBins,
    side: int,
    members: Sequence[tuple[int, int]],
    ensembles: Sequence[TableEnsemble],
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the merged level of each united code, and the models' levels of each merged one."""
    levels_of_models = []
    for i, p in members:
        pair = ensembles[i].pairs[p]
        level = (pair.first_level, pair.second_level)[side]
        levels_of_models.append(level[united.codes[i]])
    stacked = np.stack(levels_of_models, axis=1)
    known = [tuple(row) for row in stacked.tolist() if max(row) >= 0]
    place = {row: k for k, row in enumerate(dict.fromkeys(known))}
    levels = np.array([place.get(tuple(row), -1) for row in stacked.tolist()], dtype=np.int16)
    return levels, np.array(list(place), dtype=np.int16).reshape(len(place), len(members))


def _coarsen(grid: _Grid, bins: Sequence[FeatureBins]) -> _Grid:
    """Join the neighbouring levels that lose least until a model may have all cells."""
    exponent = find_exponent(grid.values)
    values, levels = np.ldexp(grid.values, -exponent), list(grid.levels)
    places = [np.arange(n) for n in grid.weight.shape]
    weight = scale_to_1(grid.weight)
    weight += 1e-9 * (weight.sum() or 1.0) / weight.size
    while weight.size > MOST_CELLS:
        losses = []
        for side in range(2):
            side_losses = _find_losses(
                np.moveaxis(values, 1 + side, 0), np.moveaxis(weight, side, 0)
            )
            if isinstance(bins[side], NumericBins):  # where missing values may come last
                side_losses[int(levels[side][: bins[side].n_bins].max(initial=-1)) :] = np.inf
            losses.append(side_losses)
        side = int(np.argmin([side_losses.min(initial=np.inf) for side_losses in losses]))
        k = int(np.argmin(losses[side]))
        starts = np.delete(np.arange(weight.shape[side]), k + 1)
        joined = np.add.reduceat(weight, starts, axis=side)
        values = np.add.reduceat(values * weight, starts, axis=1 + side) / joined
        weight = joined
        levels[side] = (levels[side] - (levels[side] > k)).astype(np.int16)
        places[side] = places[side] - (places[side] > k)
    values = np.ldexp(values, exponent)
    moved = np.abs(grid.values - values[:, places[0]][:, :, places[1]])
    weight = np.zeros(weight.shape)
    np.add.at(weight, np.ix_(*places), grid.weight)
    lost = grid.lost + float(moved.max(initial=0.0))
    return replace(grid, values=values, weight=weight, levels=(levels[0], levels[1]), lost=lost)


def _thin_pair(grid: _Grid, first: _Feature, second: _Feature) -> _Grid:
    """Return a pair's table by the codes of its features, whose bins may have been joined.

    A joined bin has the level of the united code that it stands for.  A level that no bin has any
    more is left out, and its weight moves to that of a bin with which its own was joined.
    """
    if all(len(feature.codes) == len(feature.group) for feature in (first, second)):
        return grid
    levels, places, ways = [], [], []
    for level, feature in zip(grid.levels, (first, second), strict=True):
        of_code = level[feature.codes]
        used = find_distinct(of_code[of_code >= 0])
        new_level = np.append(np.full(int(level.max(initial=-1)) + 1, -1), -1)
        new_level[used] = np.arange(len(used))
        levels.append(new_level[of_code].astype(np.int16))
        places.append(used)
        way = np.full(len(new_level) - 1, -1)
        way[level[level >= 0]] = new_level[of_code[feature.group]][level >= 0]
        way[used] = np.arange(len(used))
        ways.append(way)
    weight = np.zeros((len(places[0]) + 1, len(places[1]) + 1))
    np.add.at(weight, np.ix_(*ways), grid.weight)
    moved = 0.0
    for values in np.pad(grid.values, ((0, 0), (0, 1), (0, 1))):  # level -1 has the value 0
        former = values[np.ix_(*grid.levels)]
        now = [
            level[feature.codes[feature.group]]
            for level, feature in zip(grid.levels, (first, second), strict=True)
        ]
        moved = max(moved, float(np.abs(former - values[np.ix_(*now)]).max()))
    return replace(
        grid,
        levels=(levels[0], levels[1]),
        values=grid.values[:, places[0]][:, :, places[1]],
        weight=weight[:-1, :-1],
        lost=grid.lost + moved,
    )


def _find_losses(values: Array, weight: Array) -> Array:
    """Return the squared loss if a level and the next one share their mean.

    `values` are of shape (n_levels, n_models, n_others), and weights of (n_levels, n_others).
    """
    both = weight[:-1] * weight[1:] / (weight[:-1] + weight[1:])
    lost: Array = np.sum(both[:, None, :] * np.diff(values, axis=0) ** 2, axis=(1, 2))
    return lost
