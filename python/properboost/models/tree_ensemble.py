"""Ensembles of trees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.binning import Binning
from properboost.data.distinct import find_distinct
from properboost.data.table import InputTable
from properboost.models.bag_errors import BagErrors
from properboost.models.engine_terms import EngineTerms
from properboost.models.ensemble import Ensemble, Rounds, share_savings
from properboost.models.isotonic import regress_isotonic
from properboost.models.lay_term_grids import WeighCells, find_tree_terms, lay_term_grids
from properboost.models.table_trees import TableAxis, make_table_trees
from properboost.models.term_grid import TermGrid
from properboost.models.tree_bags import TreeBags
from properboost.models.tree_terms import TermLayout, TreesOfBag, TreeTerms

__all__ = ["TreeEnsemble"]


@dataclass(frozen=True, eq=False)
class TreeEnsemble(Ensemble):
    """The ensemble of rounds of trees.

    If no path has more than three features, the ensemble is also a sum of `terms`.
    """

    grids: tuple[TermGrid, ...] | None = None
    """The grids of terms of several features; None if their weights are unknown."""
    bags: TreeBags | None = None
    """The bags whose mean the ensemble is; None without bags."""
    origins: tuple[Binning, ...] = ()
    """The bins with the means of each model that was merged into the ensemble, by origin of rounds.
    They are empty where the lines of all trees go by the means of `binning`."""

    not_additive: ClassVar[str] = (
        "a model of trees has shape functions only if no path has more than three features: fit "
        "with weak_learner=Tree(interaction_cst=3), or less"
    )

    @property
    def _forests(self) -> list[tuple[Binning, list[_core.Forest]]]:
        """The engine's trees by origin: the bins, and one forest per model.

        The steps are multiplied into the trees' values.
        """
        return [
            (binning, [rounds.of_origin(k).forest() for rounds in self.models])
            for k, binning in enumerate(self.origins or (self.binning,))
        ]

    @cached_property
    def _scores(self) -> list[_core.ForestScores]:
        """The sums of the engine's trees, by origin."""
        return [_core.ForestScores(binning.native, forests) for binning, forests in self._forests]

    def find_bins(self, rounds: Rounds, t: int) -> Binning:
        """Return the bins of round `t` of a model, with the means that its lines go by."""
        if not self.origins:
            return self.binning
        return self.origins[0 if rounds.origin is None else rounds.origin[t]]

    @cached_property
    def terms(self) -> TreeTerms | None:
        """The terms, or None if a path has more than three features, or weights are unknown."""
        native = None if self.grids is None else self.find_native_terms()
        if native is None:
            return None
        assert self.grids is not None
        constants = np.array([_add_constants(rounds) for rounds in self.models])
        return TreeTerms(
            TermLayout(self.bin_weights, native, self.grids),
            self.joint,
            tuple((self.intercept + constants).tolist()),
            *(() if self.bags is None else (self._divide_by_bag(), self.bags.n_parts)),
        )

    def _divide_by_bag(self) -> tuple[TreesOfBag, ...]:
        """Return the trees of every bag, and its constants."""
        assert self.bags is not None
        n_bags, n_models = self.bags.n_bags, len(self.models)
        divided = []
        for bag in range(n_bags):
            are_used = [
                np.zeros(len(rounds), bool) if rounds.bag is None else rounds.bag == bag
                for rounds in self.models
            ]
            constants = [
                n_bags * _add_constants(rounds, used)
                for rounds, used in zip(self.models, are_used, strict=True)
            ]
            divided.append(
                TreesOfBag(
                    tuple(used.astype(np.uint8) for used in are_used),
                    tuple((self.bags.intercept(bag, n_models) + constants).tolist()),
                    n_bags,
                )
            )
        return tuple(divided)

    @property
    def bag_errors(self) -> BagErrors | None:
        """The standard errors by the bags whose mean the ensemble is; None without bags."""
        return None if self.bags is None else BaggedTrees(self.bags, self.binning, self.models)

    def find_native_terms(self) -> EngineTerms | None:
        """Return the engine's terms, or None if a path has more than three features."""
        return find_tree_terms(self._forests)

    def with_grids(self, weigh: WeighCells) -> Self:
        """Return the ensemble with the grids of its terms, if it has terms."""
        native = self.find_native_terms()
        if native is None:
            return self
        return replace(self, grids=lay_term_grids(native, self.binning, self.bin_weights, weigh))

    # -- edits ------------------------------------------------------------------------------------

    def with_table(self, model: int, feature: int, table: NDArray[np.float64]) -> Self:
        """Return the ensemble, compact and without bags, with another table of a feature.

        In a joint model the other models keep their differences from each other.
        """
        assert self.terms is not None
        change = table - self.terms.table_of(model, feature)
        if self.joint:
            change *= len(self.models) / (len(self.models) - 1)
        axis = self._lay_axis(feature)
        added = [_make_rounds([axis], change) if m == model else [] for m in self._places]
        return self._edit(self.models, added)

    def put_in_order(self, feature: int, direction: int) -> Self:
        """Return the ensemble with a feature's function not falling (1) or not rising (-1).

        The feature may be in no other term.  One tree takes the place of all that split it, so that
        rounding cannot change the order.
        """
        assert self.terms is not None
        table = self.terms.table_of(0, feature).copy()
        n_bins = self.binning.features[feature].n_bins
        weight = self.bin_weights[feature][:n_bins]
        table[:n_bins] = regress_isotonic(table[:n_bins], weight, direction)
        rounds = self.models[0].without_feature(feature)
        return self._edit([rounds], [_make_rounds([self._lay_axis(feature)], table)])

    def without_feature(self, feature: int) -> Self:
        """Return the ensemble, compact and without bags, without a feature and its joint terms.

        The mean of its table over the training rows moves into the intercept, and what its joint
        terms add to terms of the other features stays.
        """
        terms = self.terms
        assert terms is not None
        intercepts = self.intercept
        for m in self._places:
            intercepts[m] += terms.mean_of(m, feature)
        models = [rounds.without_feature(feature) for rounds in self.models]
        edited = self._edit(models, [self._keep_others(m, feature) for m in self._places])
        grids = tuple(grid for grid in edited.grids or () if feature not in grid.features)
        return replace(edited, grids=grids, intercepts=tuple(intercepts.tolist()))

    def _keep_others(self, model: int, feature: int) -> list[Rounds]:
        """Return rounds of what joint terms of a feature add to terms of the other features."""
        assert self.terms is not None
        rounds: list[Rounds] = []
        alone: dict[int, NDArray[np.float64]] = {}
        for others, levels, part in self.terms.list_parts_without(model, feature):
            axes = [self._lay_axis(j, level) for j, level in zip(others, levels, strict=True)]
            if len(axes) == 1:
                alone[others[0]] = alone.get(others[0], 0.0) + part[levels[0]]
            else:
                rounds += _make_rounds(axes, part)
        for j, table in alone.items():
            rounds += _make_rounds([self._lay_axis(j)], table)
        return rounds

    @property
    def _places(self) -> range:
        return range(len(self.models))

    def _lay_axis(self, feature: int, level: NDArray[np.uint8] | None = None) -> TableAxis:
        """Return a table's axis over these levels of a feature, or over its codes."""
        bins = self.binning.features[feature]
        level = np.arange(bins.width, dtype=np.uint8) if level is None else level
        return TableAxis.of(feature, bins, level, self.bin_weights[feature])

    def _edit(self, models: Sequence[Rounds], added: Sequence[Sequence[Rounds]]) -> Self:
        """Return the ensemble, compact and without bags, of these models and rounds after them."""
        edited = (
            Rounds.chain([replace(rounds.without_history(), bag=None), *of_model])
            for rounds, of_model in zip(models, added, strict=True)
        )
        return replace(self, models=tuple(edited), compact_from=self.n_estimators, bags=None)

    # -- rows -------------------------------------------------------------------------------------

    def _add_rounds(self, table: InputTable, n_threads: int) -> NDArray[np.float64]:
        first, *others = self._scores
        raw = self.binning.predict_raw_trees(table, first, n_threads, self._used)
        for scores in others:
            raw += self.binning.predict_raw_trees(table, scores, n_threads, self._used)
        return raw

    def add_up(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.float64]:
        """Return F of rows of these codes: all trees of a few rows at a time."""
        first, *others = self._scores
        raw = first.predict_codes(codes, n_threads)
        for scores in others:
            raw += scores.predict_codes(codes, n_threads)
        if self.intercepts:
            raw += self.intercept
        return raw

    @cached_property
    def _used(self) -> list[int]:
        return find_used(self.models)

    def contributions(
        self, table: InputTable, n_threads: int, models: Sequence[int], *, by_feature: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the contributions of terms, or the trees' Shapley values where there are none."""
        codes = self.binning.encode(table, None, n_threads)
        terms = self.terms
        if terms is not None:
            terms.prepare(range(len(self.models)), n_threads, with_bags=False)
            return terms.contribute(codes, models, n_threads, by_feature=by_feature)
        n_models = len(self.models)
        values = np.zeros((*codes.T.shape, len(models)))
        baselines = np.array([self._baseline_intercept(model) for model in models])
        for m in range(n_models) if self.joint else sorted({*models}):
            factor = np.array(models) == m
            factor = factor - (1.0 / n_models if self.joint else 0.0)
            for origin, binning in enumerate(self.origins or (self.binning,)):
                rounds = self.models[m].of_origin(origin)
                added, mean = rounds.contributions(codes, binning, n_threads)
                for k in np.flatnonzero(factor):
                    values[..., k] += added * factor[k]
                baselines += mean * factor
        return values, baselines

    def importances(self) -> NDArray[np.float64]:
        """Return each feature's share of the savings of all splits of all trees."""
        return share_savings(self.models, len(self.binning.features))


def find_used(models: Sequence[Rounds]) -> list[int]:
    """Return the features by which trees split, and those in lines of their leaves."""
    used: set[int] = set()
    for rounds in models:
        for nodes in (rounds.trees, rounds.lines):
            if nodes is not None:
                used.update(find_distinct(nodes.feature).tolist())
    return sorted(used - {-1})


def _make_rounds(axes: Sequence[TableAxis], table: NDArray[np.float64]) -> list[Rounds]:
    """Return rounds that add up to a table over the levels of these axes."""
    return [Rounds.of_tree(*tree) for tree in make_table_trees(axes, table)]


def _add_constants(rounds: Rounds, used: NDArray[np.bool_] | None = None) -> float:
    """Return the sum of the trees without a split, or of those of them that are used."""
    is_alone = np.diff(rounds.offsets) == 1
    alone = np.flatnonzero(is_alone if used is None else is_alone & used)
    return float(np.sum(rounds.values[rounds.offsets[alone]] * rounds.step[alone]))


@dataclass(frozen=True, eq=False)
class BaggedTrees(BagErrors):
    """The bags as models of their own, for the standard errors of predictions."""

    bags: TreeBags
    binning: Binning
    models: tuple[Rounds, ...]

    @property
    def n_bags(self) -> int:  # type: ignore[override]  # it is an attribute elsewhere
        """The number of bags."""
        return self.bags.n_bags

    def raw_predictions(self, table: InputTable, n_threads: int) -> list[NDArray[np.float64]]:
        """Return F of every bag, of shape (n_rows, n_models)."""
        raws, used = [], find_used(self.models)
        for bag in range(self.n_bags):
            forests = [_select(rounds, bag, self.n_bags).forest() for rounds in self.models]
            scores = _core.ForestScores(self.binning.native, forests)
            raw = self.binning.predict_raw_trees(table, scores, n_threads, used)
            raws.append(raw + self.bags.intercept(bag, len(self.models)))
        return raws


def _select(rounds: Rounds, bag: int, n_bags: int) -> Rounds:
    """Return the rounds of a bag, with the steps that they had there."""
    assert rounds.bag is not None
    runs = [rounds.part(t, t + 1) for t in np.flatnonzero(rounds.bag == bag).tolist()]
    if not runs:
        return rounds.part(0, 0)
    of_bag = Rounds.chain(runs)
    return replace(of_bag, step=of_bag.step * n_bags, estimator=None)
