"""Predictions of a single tree: the shares of its nodes, and their links."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning
from properboost.data.table import InputTable
from properboost.models.tree import TreeNodes

__all__ = ["Phi", "TreePredictingMixin"]

Phi: TypeAlias = Literal["matsushita", "gini", "entropy", "mu", "zeta"]


class TreePredictingMixin:
    """The predictions of a fitted tree."""

    classes_: NDArray[Any]
    binning_: Binning
    tree_: TreeNodes
    _phi: tuple[Phi, float, float]
    """The permissible function, and its parameters mu and zeta."""

    def _open(self, X: Any, *, coded: bool = False) -> tuple[InputTable, int]:
        raise NotImplementedError

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the node at which each row ends.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows,)
            A leaf of `tree_`, or the node beyond which a row's values were not seen in training.
        """
        table, n_threads = self._open(X, coded=True)
        codes = self.binning_.encode(table, None, n_threads)
        return self.tree_.native.find_nodes(codes, n_threads)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            The classes' shares of the training weight at the node where the row ends.
        """
        nodes = self.apply(X)
        probability: NDArray[np.float64] = self.tree_.shares()[nodes]
        return probability

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the links of the probabilities: phi'(p), the leaves of a boosted tree.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows,)
            The link of the probability of ``classes_[1]``: positive where that is above 1/2.
            Unbounded links are infinite at 0 and 1, so the probability stays half a training row
            away from both.
        """
        nodes = self.apply(X)
        raw: NDArray[np.float64] = self._links()[nodes]
        return raw

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows, with the columns the model was fitted on.

        Returns
        -------
        ndarray of shape (n_rows,)
            ``classes_[1]`` where its probability is above 1/2.
        """
        probability = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[(probability[:, 1] > 0.5).astype(np.intp)]
        return labels

    def _links(self) -> NDArray[np.float64]:
        """Return phi'(p) of each node."""
        p = self.tree_.shares()[:, 1]
        phi, mu, zeta = self._phi
        if phi == "gini":
            return 2.0 * p - 1.0
        if phi == "zeta":
            return np.tanh(-zeta / 2.0 * (p - 0.5))
        # As for boosting's steps: with less than two rows' weight the range would be empty.
        half_a_row = 0.5 / np.clip(self.tree_.weight[0].sum(), 2.0, 2.0**52)
        p = np.clip(p, half_a_row, 1.0 - half_a_row)
        if phi == "entropy":
            return np.log(p) - np.log1p(-p)
        return (1.0 - mu if phi == "mu" else 1.0) * (p - 0.5) / np.sqrt(p * (1.0 - p))
