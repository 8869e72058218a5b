"""Ensembles of trees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.binning import Binning
from properboost.data.table import InputTable
from properboost.models.bag_errors import BagErrors
from properboost.models.ensemble import Ensemble, Rounds, share_savings
from properboost.models.lay_term_grids import WeighCells, find_tree_terms, lay_term_grids
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

    not_additive: ClassVar[str] = (
        "a model of trees has shape functions only if no path has more than three features: fit "
        "with weak_learner=Tree(interaction_cst=3), or less"
    )

    @cached_property
    def _scores(self) -> _core.ForestScores:
        """The engine's trees, with the steps multiplied into their values, one forest per model."""
        forests = [rounds.forest() for rounds in self.models]
        return _core.ForestScores(self.binning.native, forests)

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
            () if self.bags is None else self._divide_by_bag(),
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

    def find_native_terms(self) -> _core.Terms | None:
        """Return the engine's terms, or None if a path has more than three features."""
        return find_tree_terms(self.binning, [rounds.forest() for rounds in self.models])

    def with_grids(self, weigh: WeighCells) -> Self:
        """Return the ensemble with the grids of its terms, if it has terms."""
        native = self.find_native_terms()
        if native is None:
            return self
        return replace(self, grids=lay_term_grids(native, self.binning, self.bin_weights, weigh))

    def _add_rounds(self, table: InputTable, n_threads: int) -> NDArray[np.float64]:
        return self.binning.predict_raw_trees(table, self._scores, n_threads)

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
            added, mean = self.models[m].contributions(codes, self.binning, n_threads)
            for k in np.flatnonzero(factor):
                values[..., k] += added * factor[k]
            baselines += mean * factor
        return values, baselines

    def importances(self) -> NDArray[np.float64]:
        """Return each feature's share of the savings of all splits of all trees."""
        return share_savings(self.models, len(self.binning.features))


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
        raws = []
        for bag in range(self.n_bags):
            forests = [_select(rounds, bag, self.n_bags).forest() for rounds in self.models]
            scores = _core.ForestScores(self.binning.native, forests)
            raw = self.binning.predict_raw_trees(table, scores, n_threads)
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
