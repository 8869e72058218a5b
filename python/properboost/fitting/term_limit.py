"""The limit on joint terms: a first fit without it shows which of them matter most."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from properboost.engine.protocols import TrainingRows
from properboost.fitting.boost import boost
from properboost.fitting.plan import FitPlan
from properboost.models.make_ensemble import make_ensemble
from properboost.models.terms import Features
from properboost.models.tree_ensemble import TreeEnsemble
from properboost.parameters.learners import MOST_READABLE, Tree

__all__ = ["limit_terms"]


def limit_terms(plan: FitPlan, rows: TrainingRows) -> FitPlan:
    """Return a plan whose trees combine features only as in the strongest terms of a first fit.

    The first fit is a single one, without bags and draws.  A plan without `max_terms` stays.
    """
    learner = plan.options.weak_learner
    if not isinstance(learner, Tree) or learner.max_terms is None:
        return plan
    if plan.earlier:
        raise ValueError(
            "warm_start must be False with Tree.max_terms: more rounds may have other terms"
        )
    first = replace(plan, n_draws=1, bags=None, pairs=None)
    joint = _choose(_rank_joint_terms(first, rows), learner.max_terms)
    alone = [(j,) for j in range(rows.n_combined)]
    limited = learner.replace(interaction_cst=[*joint, *alone])
    return replace(plan, options=plan.options.replace(weak_learner=limited))


def _rank_joint_terms(plan: FitPlan, rows: TrainingRows) -> list[Features]:
    """Return the features of the joint terms of a fit, the most important first."""
    stage = boost(plan.of_features(), rows)
    ensemble = make_ensemble(
        rows.binning,
        tuple(stage.fits[0]),
        stage.bin_weights,
        plan.options.selection,
        joint=bool(plan.link.joint_loss),
    )
    if not isinstance(ensemble, TreeEnsemble):
        return []  # a fit without a round has no trees
    terms = ensemble.with_grids(rows.weigh_cells).terms
    if terms is None:
        raise ValueError(
            "Tree.max_terms must be None where features of no set in interaction_cst are more than "
            f"{MOST_READABLE}: they are one more set"
        )
    terms.prepare(range(terms.n_models), rows.n_threads, with_bags=False)
    importances = terms.importances()
    ranked = np.argsort(-importances, kind="stable").tolist()
    return [
        terms.features[k] for k in ranked if len(terms.features[k]) > 1 and importances[k] > 0.0
    ]


def _choose(ranked: Sequence[Features], most: int) -> list[Features]:
    """Return the first terms within a limit, which counts the pairs within triples, too."""
    chosen: list[Features] = []
    allowed: set[Features] = set()
    for features in ranked:
        with_pairs = allowed | {features, *combinations(features, 2)}
        if len(with_pairs) <= most:
            chosen.append(features)
            allowed = with_pairs
    return chosen
