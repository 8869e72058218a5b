"""Class probability trees: top-down induction under any permissible function."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost import _core
from properboost.data.binning import FeatureBins
from properboost.data.frames import open_table
from properboost.data.labels import read_rows, refuse_several_classes
from properboost.engine.local import TableSource
from properboost.estimators.base import TableClassifier, label_features
from properboost.estimators.udt_predicting import Phi, TreePredictingMixin
from properboost.inspection.tree_words import describe_tree
from properboost.models.tree import TreeNodes, as_shares
from properboost.parameters import checks
from properboost.parameters.checks import LARGEST_INT
from properboost.parameters.declare import check_declared, estimator, parameter, read
from properboost.parameters.kinds import RandomState
from properboost.parameters.rows import BinningOptions, BinningParameters, ClassifierParameters

__all__ = ["UDTClassifier"]


def _check_mu(name: str, value: object) -> float:
    mu = checks.between(name, value, 0.0, 1.0)
    if mu == 1.0:
        raise ValueError(f"{name} must be below 1; got 1, at which all trees are equally good")
    return mu


def _check_zeta(name: str, value: object) -> float:
    zeta = checks.between(name, value, -1e6, 0.0)
    if zeta == 0.0:
        raise ValueError(f"{name} must be below 0; got 0, where phi='gini' is its limit")
    return zeta


@estimator
class UDTClassifier(BinningParameters, ClassifierParameters, TableClassifier, TreePredictingMixin):
    """A decision tree whose leaves hold probabilities: unified top-down induction (UDT).

    The tree grows best first: it takes the split that most reduces the sum over the leaves of
    weight times -phi(p) / b_phi, among all leaves and features ([1]_, eq. 49). p is the share of
    the positive class, and phi a permissible function: convex and symmetric about 1/2.  Each split
    lowers the risk of the canonical loss that belongs to phi.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted; there must be two.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.
    tree_ : TreeNodes
        The nodes: features, branches, weights, savings.
    n_leaves_ : int
        The number of leaves.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Each feature's share of the savings of all splits.

    Notes
    -----
    *Missing values* go to the better branch of a split.  Categories are split into two sets, the
    best in the order of their shares of the positive class.  If a node had no training row with a
    row's value, the row ends there and gets that node's probability.

    A leaf with rows of one class only has probability 0 or 1.

    References
    ----------
    .. [1] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE
       Transactions on Pattern Analysis and Machine Intelligence 31(11).

    Examples
    --------
    >>> from properboost import UDTClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> UDTClassifier(max_leaf_nodes=4).fit(X, y).n_leaves_
    4
    """

    phi: Phi = parameter(
        default="matsushita",
        check=checks.one_of(Phi),
        kw_only=False,
        doc="""
        The permissible function: -sqrt(p(1-p)); -p(1-p); p log p + (1-p) log(1-p);
        -(mu + (1-mu) sqrt(p(1-p))), which grows the same trees as Matsushita's;
        2/|zeta| (log cosh(zeta/2 (p-1/2)) - log cosh(zeta/4)), whose trees become Gini's as zeta
        goes to 0.
        """,
    )
    mu: float = parameter(
        default=0.5, check=_check_mu, doc='The parameter of ``phi="mu"``, in [0, 1).'
    )
    zeta: float = parameter(
        default=-4.0, check=_check_zeta, doc='The parameter of ``phi="zeta"``, in [-1e6, 0).'
    )
    max_leaf_nodes: int | None = parameter(
        default=31,
        check=checks.either(partial(checks.integer, low=2, high=LARGEST_INT), None),
        doc="The most leaves; None sets no limit.",
    )
    max_depth: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), None),
        doc="The most splits from the root to a leaf; None sets no limit.",
    )
    min_child_weight: float = parameter(
        default=1.0,
        check=checks.non_negative,
        doc="The least weight of a child: rows, times `sample_weight` and `class_weight`.",
    )
    random_state: RandomState = parameter(
        default=None,
        doc="""
        Seed of the sample of rows that are binned (tables of more than 200,000 rows).
        """,
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels: integers, booleans or strings, two different ones.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row, finite and at least 0.

        Returns
        -------
        self : UDTClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described.
        """
        with self._restored_on_failure():
            check_declared(self)
            table = open_table(self, X, reset=True)
            rows = read_rows(
                y, table.n_rows, sample_weight, self.class_weight, self.normalize_weights
            )
            refuse_several_classes(rows.classes)
            # A tree is restrained by its size, so it may have all bins.
            options = read(BinningOptions, self, rows_per_bin=None)
            training = TableSource(table).encode(options, rows, rows.sort())
            self.tree_ = TreeNodes.from_native(
                _core.grow_tree(
                    training.dense_codes,
                    training.binning.native,
                    training.segments,
                    training.signs[0],
                    phi=self.phi,
                    parameter={"mu": self.mu, "zeta": self.zeta}.get(self.phi, 0.0),
                    weight=training.weight,
                    max_leaves=self.max_leaf_nodes or LARGEST_INT,
                    max_depth=self.max_depth or LARGEST_INT,
                    min_child_weight=self.min_child_weight,
                    n_threads=training.n_threads,
                )
            )
            self.classes_ = training.classes
            self.binning_ = training.binning
            self._phi = (self.phi, float(self.mu), float(self.zeta))
            self.seed_ = training.seed
        return self

    def _describe_training(self) -> tuple[Sequence[FeatureBins], None]:
        return self.binning_.features, None

    # -- keeping ----------------------------------------------------------------------------------

    @property
    def is_compact(self) -> bool:
        """Whether the model has only what its predictions need."""
        return not self.tree_.has_savings

    def _compacted(self) -> Self:
        return self._copy_with(tree_=self.tree_.without_savings())

    # -- explaining -------------------------------------------------------------------------------

    @property
    def n_leaves_(self) -> int:
        """The number of leaves of the tree."""
        self._check_fitted()
        return int(self.tree_.is_leaf.sum())

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's share of the savings of all splits (or all 0)."""
        self._check_fitted()
        self._check_complete("feature_importances_", AttributeError)
        return as_shares(self.tree_.savings(len(self.binning_.features), self.tree_.largest_saving))

    def describe(self) -> str:
        """Return the tree as text.

        Returns
        -------
        str
            A line per branch with its subtree below it.  Leaves show the probability of
            ``classes_[1]`` and their training weight.
        """
        self._check_fitted()
        total = self.tree_.weight.sum(axis=1)
        ends = [
            f"P({self.classes_[1]}) = {share:.4g}, weight {weight:g}"
            for share, weight in zip(self.tree_.shares()[:, 1], total, strict=True)
        ]
        return describe_tree(self.tree_, self.binning_.features, label_features(self), ends)
