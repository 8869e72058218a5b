"""Shape functions: what one feature adds to the raw prediction, bin by bin."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.binning import CategoricalBins, FeatureBins, NumericBins
from properboost.table import Category, factorize

__all__ = ["ShapeFunction"]


@dataclass(frozen=True, eq=False)
class ShapeFunction:
    """One feature's part of the raw prediction.

    The raw prediction of a row is the sum of its features' shape functions.

    Attributes
    ----------
    feature : int
        The feature's position.
    name : str or None
        Its name, if the model was fitted on named columns.
    class_label : object
        The class the raw prediction speaks for.
    kind : {"numeric", "categorical"}
        How the feature is cut.
    edges : ndarray of shape (n_bins - 1,) or None
        Of a numeric feature: bin ``k`` holds the values ``edges[k-1] < x <= edges[k]``.
    categories : tuple or None
        Of a categorical feature: bin ``k`` holds ``categories[k]``.  Where the rarest categories
        share a bin, it comes after them and unseen categories belong to it.
    has_rare : bool
        Whether there is such a bin.
    values : ndarray of shape (n_bins,)
        The function in each bin, in units of the raw prediction.
    missing_value : float
        The function where the feature is missing.
    weights : ndarray of shape (n_bins,)
        The training weight (the rows, without sample weights) in each bin.
    missing_weight : float
        The training weight of missing values.
    """

    feature: int
    name: str | None
    class_label: Any
    kind: Literal["numeric", "categorical"]
    edges: NDArray[np.float64] | None
    categories: tuple[Category, ...] | None
    has_rare: bool
    values: NDArray[np.float64]
    missing_value: float
    weights: NDArray[np.float64]
    missing_weight: float

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Evaluate the function at values of the feature.

        Parameters
        ----------
        x : array-like
            Numbers, or categories; NaN (and None among categories) is missing.

        Returns
        -------
        ndarray of the shape of `x`
            Unseen categories give 0, unless the rarest share a bin.
        """
        array = np.asarray(x)
        table = np.append(self.values, self.missing_value)
        if self.edges is not None:
            numbers = array.astype(np.float64)
            missing = len(self.values)
            return table[np.where(np.isnan(numbers), missing, np.searchsorted(self.edges, numbers))]
        bins = CategoricalBins(self.categories or (), self.has_rare)
        assigned = bins.assign(factorize(array.ravel(), f"feature {self.feature}"))
        return np.where(assigned == -2, 0.0, table[assigned]).reshape(array.shape)


def make_shape(
    bins: FeatureBins,
    table: NDArray[np.float64],
    weight: NDArray[np.float64],
    *,
    feature: int,
    name: str | None,
    class_label: Any,
) -> ShapeFunction:
    """Build the shape function of a feature from its look-up table and weight, both a code each."""
    n = bins.n_bins
    return ShapeFunction(
        feature=feature,
        name=name,
        class_label=class_label,
        kind="numeric" if isinstance(bins, NumericBins) else "categorical",
        edges=bins.edges.copy() if isinstance(bins, NumericBins) else None,
        categories=bins.categories if isinstance(bins, CategoricalBins) else None,
        has_rare=isinstance(bins, CategoricalBins) and bins.has_rare,
        values=table[:n].copy(),
        missing_value=float(table[n]),
        weights=weight[:n].copy(),
        missing_weight=float(weight[n]),
    )
