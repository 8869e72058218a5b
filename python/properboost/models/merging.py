"""Merging models into their weighted mean, over bins that separate what any model separates."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from properboost.models.ensemble import Ensemble
from properboost.models.merged_bins import MergedEnsemble
from properboost.models.merged_tables import merge_tables
from properboost.models.merged_trees import merge_trees
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.tables_as_trees import convert_tables
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.models.united_bins import unite_bins

__all__ = ["merge_ensembles"]


def merge_ensembles(
    ensembles: Sequence[Ensemble], factors: Sequence[float], labels: Sequence[str]
) -> MergedEnsemble:
    """Return the sum of ensembles of the same number of models, each times its factor.

    If any is of trees, the sum is.

    Raises
    ------
    ValueError
        If a feature is of another kind in another model, or trees separate too many bins.
    """
    compact: list[Ensemble] = [ensemble.compacted() for ensemble in ensembles]
    trees = _list_trees(compact)
    compact = list(trees or compact)
    united = [unite_bins(compact, j, label) for j, label in enumerate(labels)]
    intercepts = sum(
        factor * ensemble.intercept for factor, ensemble in zip(factors, ensembles, strict=True)
    )
    if trees:
        mean = merge_trees(trees, factors, united, labels)
    else:
        tables = [ensemble for ensemble in compact if isinstance(ensemble, TableEnsemble)]
        mean = merge_tables(tables, factors, united)
    merged = replace(
        mean.ensemble,
        intercepts=tuple(np.asarray(intercepts).tolist()),
        compact_from=max(ensemble.n_estimators for ensemble in ensembles),
    )
    return replace(mean, ensemble=merged)


def _list_trees(ensembles: Sequence[Ensemble]) -> list[TreeEnsemble]:
    """Return all ensembles as trees, if any of them is of trees; none otherwise."""
    if all(isinstance(ensemble, TableEnsemble) for ensemble in ensembles):
        return []
    return [
        convert_tables(ensemble) if isinstance(ensemble, TableEnsemble) else ensemble
        for ensemble in ensembles
        if isinstance(ensemble, TableEnsemble | TreeEnsemble)
    ]
