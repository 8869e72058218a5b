"""Ensembles of trees."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.table import InputTable
from properboost.models.ensemble import Ensemble, TreeExplainer, share_savings

__all__ = ["TreeEnsemble"]


class TreeEnsemble(Ensemble):
    """The ensemble of rounds of trees."""

    not_additive: ClassVar[str] = (
        "a model of trees has no shape functions: the contribution of a feature depends on the "
        "others"
    )

    @cached_property
    def _scores(self) -> _core.ForestScores:
        """The engine's trees, with the steps multiplied into their values, one forest per model."""
        forests = [rounds.forest() for rounds in self.models]
        return _core.ForestScores(self.binning.native, forests)

    def _add_rounds(self, table: InputTable, n_threads: int) -> NDArray[np.float64]:
        return self.binning.predict_raw_trees(table, self._scores, n_threads)

    def contributions(
        self, table: InputTable, n_threads: int, models: Sequence[int], explain_tree: TreeExplainer
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sums of the trees' contributions by `explain_tree`."""
        if any(rounds.lines is not None for rounds in self.models):
            raise ValueError(
                "contributions must be of a model with linear_leaves=False: the features of a "
                "leaf's line have no Shapley values that could be computed exactly in time"
            )
        codes = self.binning.encode(table, None, n_threads)
        widths = [feature.width for feature in self.binning.features]
        n_models = len(self.models)
        values = np.zeros((*codes.shape, len(models)))
        baselines = np.array([self._baseline_intercept(model) for model in models])
        for m in range(n_models) if self.joint else sorted({*models}):
            factor = np.array(models) == m
            factor = factor - (1.0 / n_models if self.joint else 0.0)
            rounds = self.models[m]
            for t in range(len(rounds)):
                added, mean = explain_tree(rounds.tree(t), rounds.table(t), widths, codes)
                values += added[..., None] * factor
                baselines += mean * factor
        return values.swapaxes(0, 1), baselines

    def importances(self) -> NDArray[np.float64]:
        """Return each feature's share of the savings of all splits of all trees."""
        return share_savings(self.models, len(self.binning.features))
