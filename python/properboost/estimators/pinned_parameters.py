"""Pinned values of every parameter on which results of presets depend, by estimator.

Defaults may change; these do not.
"""

from typing import Any

from properboost.parameters.learners import Rule, Stump, Table, Tree
from properboost.parameters.stages import Bags, EarlyStopping, Interactions

__all__ = [
    "PINNED_BAGS",
    "PINNED_LEARNERS",
    "PINNED_PAIRS",
    "PINNED_STOPPING",
    "TABLES",
    "TREE",
    "VOTES",
]

PINNED_LEARNERS = {
    "table": Table(max_cells=None, min_saving=0.0, smoothing=0.0),
    "stump": Stump(),
    "tree": Tree(
        grow_policy="best_first",
        max_leaf_nodes=31,
        max_depth=None,
        linear_leaves=False,
        linear_l2=5.0,
        multi_strategy="multi_output_tree",
        min_child_weight=1.0,
        max_features=1.0,
        subsample=1.0,
        n_draws=1,
    ),
    "rule": Rule(
        max_conditions=2, min_child_weight=1.0, max_features=1.0, subsample=1.0, n_draws=1
    ),
}
"""The learners of names in presets."""

PINNED_PAIRS = Interactions(n_estimators=None, learning_rate=1.0, smoothing=0.2)
"""The fields of `interactions` where presets get a number of pairs, or the pairs."""

PINNED_STOPPING = EarlyStopping(
    validation_fraction=None, n_iter_no_change="auto", tol=1e-4, scoring="neg_log_loss"
)
"""The fields of `early_stopping` where presets get "auto"; True holds out a tenth of the rows."""

PINNED_BAGS = Bags(tables=True)
"""The fields of `outer_bags` where presets get a number of bags."""

TABLES: dict[str, Any] = {
    "gain": 1.0,
    "n_estimators": 100,
    "learning_rate": 1.0,
    "weak_learner": "table",
    "monotonic_cst": None,
    "interactions": 0,
    "selection": "greedy",
    "criterion": None,
    "prior": None,
    "l2": 0.0,
    "screening": None,
    "max_bins": 255,
    "rows_per_bin": 100,
    "categorical_features": "from_dtype",
    "early_stopping": "auto",
    "outer_bags": 0,
    "warm_start": False,
    "multiclass": "one_vs_rest",
    "calibration": None,
    "class_weight": None,
    "normalize_weights": False,
    "random_state": None,
}
"""The parameters of `ProperBoostClassifier`."""

VOTES: dict[str, Any] = {
    "rho": 1.0,
    "n_estimators": 100,
    "learning_rate": 1.0,
    "weak_learner": "stump",
    "criterion": "gini",
    "max_leaf_nodes": 8,
    "max_depth": None,
    "min_relative_decrease": 0.0,
    "max_features": 1.0,
    "multiclass": "samme",
    "mistrust": 0.0,
    "damping": 0.0,
    "max_bins": 255,
    "rows_per_bin": "auto",
    "categorical_features": "from_dtype",
    "class_weight": None,
    "normalize_weights": False,
    "random_state": None,
}
"""The parameters of `ARBoostClassifier`."""

TREE: dict[str, Any] = {
    "phi": "gini",
    "mu": 0.5,
    "zeta": -4.0,
    "max_leaf_nodes": 31,
    "max_depth": None,
    "min_child_weight": 1.0,
    "max_bins": 255,
    "categorical_features": "from_dtype",
    "class_weight": None,
    "normalize_weights": False,
    "random_state": None,
}
"""The parameters of `UDTClassifier`."""
