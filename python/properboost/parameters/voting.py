"""Parameters of weak classifiers that vote (AR-Boost)."""

from __future__ import annotations

from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from properboost.parameters import checks
from properboost.parameters.declare import (
    Options,
    check_component,
    declared,
    parameter,
    parameters,
)
from properboost.parameters.kinds import VotingCriterion, VotingLearner, VotingMulticlass
from properboost.parameters.learners import RENAMED, Learner, Rule, Tree, WeakLearner

__all__ = ["RhoParameters", "VotingOptions", "VotingParameters", "refuse_flat_fields"]


def check_damping(name: str, value: object) -> float:
    """Return a damping, which must be below 1."""
    damping = checks.between(name, value, 0.0, 1.0)
    if damping == 1.0:
        raise ValueError(f"{name} must be below 1; got 1, at which rows never lose weight")
    return damping


OF_VOTES = ("max_leaf_nodes", "max_depth", "max_features")
"""The fields of `Tree` that weak classifiers have."""


def check_voting_learner(name: str, value: object) -> object:
    """Check the name of a weak classifier, or an object with fields that votes support."""
    if isinstance(value, Rule):
        raise ValueError(f"{name} must not be a Rule: rules have no votes")
    if not isinstance(value, WeakLearner):
        if isinstance(value, str) and RENAMED.get(value) in get_args(VotingLearner):
            raise ValueError(f"{name}={value!r} is {RENAMED[value]!r} now")
        check = partial(checks.choice, known=get_args(VotingLearner))
        return checks.or_else(check, "a Stump, Table or Tree")(name, value)
    checked = check_component(value)
    for field, entry in declared(type(checked)).items():
        if field not in OF_VOTES and getattr(checked, field) != entry.default:
            raise ValueError(
                f"ARBoostClassifier has no {field}: leave {type(value).__name__}.{field} at "
                f"{entry.default!r}; got {getattr(checked, field)!r}"
            )
    return checked


def refuse_flat_fields(model: VotingParameters) -> None:
    """Refuse flat parameters together with a `Tree`, which has them as fields."""
    learner, known = model.weak_learner, declared(VotingParameters)
    for name in OF_VOTES if isinstance(learner, Tree) else ():
        default, value = known[name].default, getattr(model, name)
        if value != default:
            raise ValueError(
                f"{name} must be {default!r} with weak_learner={learner!r}, which has its own; got "
                f"{value!r}"
            )


@parameters
class RhoParameters:
    """The rho of AR-Boost, the factor on the odds of being right; searches have a list of it."""

    rho: float = parameter(
        default=1.0,
        kw_only=False,
        check=checks.positive,
        doc="Above 0.  Cross-validate it with `ARBoostClassifierCV`.",
    )


@parameters
class VotingParameters:
    """The choice of weak classifiers, and their weights."""

    n_estimators: int = parameter(
        default=100,
        check=partial(checks.integer, low=1, high=checks.LARGEST_INT),
        doc="""
        Rounds.  Boosting stops earlier if no classifier's error is small enough, if one makes no
        errors, or if one and its negative take turns.
        """,
    )
    learning_rate: float = parameter(
        default=1.0, check=checks.positive, doc="Multiplies every alpha; above 0."
    )
    weak_learner: VotingLearner | Learner = parameter(
        default="stump",
        check=check_voting_learner,
        kind='{"stump", "tree", "table"} or object',
        doc="""
        One split of a feature, a tree that grows best split first, or a class for every bin.  A
        `Tree` has the fields `max_leaf_nodes`, `max_depth` and `max_features`, with other defaults
        than the name "tree": half of the features, and leaves by the rows.  Votes ignore its other
        fields, which must be at their defaults: branches have no least weight.
        """,
    )
    criterion: VotingCriterion = parameter(
        default="gini",
        check=checks.one_of(VotingCriterion),
        doc="""
        The measure that chooses the weak classifier: the Gini impurity, as in CART, or its error.
        """,
    )
    max_leaf_nodes: int = parameter(
        default=8,
        check=partial(checks.integer, low=2, high=128),
        doc="The most leaves of a tree, in [2, 128].",
        only_with={"weak_learner": ("tree",)},
    )
    max_depth: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=checks.LARGEST_INT), None),
        doc="The most splits from a tree's root to a leaf; None sets no limit.",
        only_with={"weak_learner": ("tree",)},
    )
    min_relative_decrease: float = parameter(
        default=0.0,
        check=partial(checks.between, low=0.0, high=1.0),
        doc="""
        A complexity limit: the least share of a node's cost, by the `criterion`, that a split of
        this node must save.  A stump or a tree without such a split predicts one class.  0
        makes every split that saves anything.  (CART's limit is relative, too, to the cost of a
        tree's root; scikit-learn's `min_impurity_decrease` is not relative.)
        """,
        only_with={"weak_learner": ("stump", "tree")},
    )
    max_features: float = parameter(
        default=1.0,
        check=checks.share,
        kind="float",
        doc="""
        The share of the features, in (0, 1], from which a round's feature, or each split of a
        tree, is chosen.  The features are drawn anew each time, one at least.  If none of them
        gives a classifier that may vote, the round adds nothing, and boosting goes on.
        """,
    )
    multiclass: VotingMulticlass = parameter(
        default="samme",
        check=checks.one_of(VotingMulticlass),
        doc="""
        The form for several classes.  "samme": a weak classifier votes for one class in each cell
        (SAMME, AR-Boost).  "one_vs_rest": it votes for or against every class (AdaBoost.MH [5]_,
        which has a copy of the training rows for each class).  With two
        classes both are the same.
        """,
    )
    mistrust: float = parameter(
        default=0.0,
        check=partial(checks.between, low=0.0, high=1e30),
        doc="""
        The C of AdaBoost_reg [6]_: the margin of a row counts as y F + C A m^2, A being the sum of
        all alphas and m the mean, by alpha, of the row's weights in all rounds; so rows that are
        wrong again and again lose weight.  alpha minimises the risk of these margins.  Weights are
        divided by their mean, so that C does not depend on the number of rows (with weights that
        add up to 1 it is n^2 times as large).  Two classes only, and rho 1.
        """,
    )
    damping: float = parameter(
        default=0.0,
        check=check_damping,
        doc="""
        The beta of WeightBoost [7]_, below 1: a round adds e^(-beta |F|) alpha h(x) where F was the
        raw prediction before it, and a row's weight is e^(-y F - beta |F|).  Two classes only.
        """,
    )


class VotingOptions(Options, RhoParameters, VotingParameters):
    """The engine's options of voting."""

    def describe_learner(self, class_weights: NDArray[np.float64]) -> dict[str, object]:
        """Return the name of the weak classifier and the fields that the engine reads."""
        learner = self.weak_learner
        name = learner if isinstance(learner, str) else learner.name
        size = learner.settle(class_weights) if isinstance(learner, Tree) else self
        fields: dict[str, object] = {"name": name, "max_features": size.max_features}
        if name == "tree":
            fields |= {"max_leaf_nodes": size.max_leaf_nodes, "max_depth": size.max_depth or 0}
            fields["min_child_weight"] = 0.0
        return fields
