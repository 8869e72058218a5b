"""Shape functions: what one feature, or a pair, adds to the raw prediction, bin by bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.boosting.interactions import PairBins, look_up
from properboost.boosting.tree import describe_codes
from properboost.data.binning import Binning, CategoricalBins, FeatureBins, NumericBins
from properboost.data.frames import factorize
from properboost.data.table import Category
from properboost.inspection.intervals import NOISE_LEVEL, Precision, WithInterval

__all__ = ["PairFunction", "ShapeFunction", "make_pair_function", "make_shape"]


class _Effect(WithInterval):
    """A function that is larger than chance would make it, or is not."""

    p_value: float | None

    @property
    def within_noise(self) -> bool | None:
        """Whether a function as large may well be chance: its `p_value` is above 0.1.

        None if the model has no bags.
        """
        return None if self.p_value is None else self.p_value > NOISE_LEVEL


@dataclass(frozen=True, eq=False)
class ShapeFunction(_Effect):
    """What one feature adds to the raw prediction.

    The raw prediction of a row is the sum of its features' shape functions, and of its pairs'; in a
    joint model of several classes, the raw prediction less its mean over the classes.

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
        For a numeric feature: bin ``k`` holds the values ``edges[k-1] < x <= edges[k]``.
    categories : tuple or None
        For a categorical feature: bin ``k`` holds ``categories[k]``.  Where the rarest categories
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
    standard_errors : ndarray of shape (n_bins,), or None
        If the model has bags (`outer_bags`): the standard error of the function less its mean over
        the training rows, in each bin.  It is about what fits to other rows of the same source
        would say, and not about what is true.  Where the interval holds that mean, a bin may be
        like the average row.
    missing_standard_error : float or None
        The same where the feature is missing.
    p_value : float or None
        How probable it is that the function is as large by mere chance, by its mean square over the
        training rows.  Above 0.1 the effect is `within_noise`: do not read a story into its shape.
    n_bags : int
        How many bags standard errors are of; 0 if there are none.
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
    standard_errors: NDArray[np.float64] | None = None
    missing_standard_error: float | None = None
    p_value: float | None = None
    n_bags: int = 0

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
        bins: FeatureBins = CategoricalBins(self.categories or (), self.has_rare)
        if self.edges is not None:
            bins = NumericBins(self.edges)
        table = np.concatenate([self.values, [self.missing_value, 0.0]])
        values: NDArray[np.float64] = table[_find_codes(bins, x, self.feature)]
        return values


@dataclass(frozen=True, eq=False)
class PairFunction(_Effect):
    """What two features together add to the raw prediction, beyond what each adds alone.

    Attributes
    ----------
    features : tuple of two int
        The features' positions.
    names : tuple of two str, or None
        Their names, if the model was fitted on named columns.
    class_label : object
        The class the raw prediction speaks for.
    levels : tuple of two tuples of str
        What each row, and each column, of `values` stands for, in words: the bins of either
        feature, of which neighbours (or rare categories) share a level where there are many.
    values : ndarray of shape (n_levels_first, n_levels_second)
        The function, in units of the raw prediction.  By training weight its mean over every row
        and every column is 0.
    weights : ndarray of shape (n_levels_first, n_levels_second)
        The training weight (the rows, without sample weights) of each cell.
    standard_errors : ndarray of shape (n_levels_first, n_levels_second), or None
        Those of `values`, of a model that has bags; see `ShapeFunction`.
    p_value : float or None
        As a `ShapeFunction` has it.
    n_bags : int
        How many bags standard errors are of; 0 if there are none.
    """

    features: tuple[int, int]
    names: tuple[str, str] | None
    class_label: Any
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    _effects: tuple[NDArray[np.float64], NDArray[np.float64]] = field(repr=False)
    _pair: PairBins = field(repr=False)
    _bins: tuple[FeatureBins, FeatureBins] = field(repr=False)
    standard_errors: NDArray[np.float64] | None = None
    p_value: float | None = None
    n_bags: int = 0

    def __call__(self, first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
        """Evaluate the function at values of the two features.

        Parameters
        ----------
        first, second : array-like of one shape
            Numbers, or categories; NaN (and None among categories) is missing.

        Returns
        -------
        ndarray of that shape
            Where training had no rows with these values, the pair adds 0 in all: the part of its
            effect that was moved into the other feature's shape function is subtracted again.
        """
        a, b = (
            level[_find_codes(bins, x, feature)]
            for level, bins, x, feature in zip(
                (self._pair.first_level, self._pair.second_level),
                self._bins,
                (first, second),
                self.features,
                strict=True,
            )
        )
        return look_up(self.values, self._effects, a, b)


def _find_codes(bins: FeatureBins, x: ArrayLike, feature: int) -> NDArray[np.intp]:
    """Return the code of each value: missing is the number of bins, unseen one more."""
    array = np.asarray(x)
    if isinstance(bins, NumericBins):
        numbers = array.astype(np.float64)
        return np.where(np.isnan(numbers), bins.n_bins, np.searchsorted(bins.edges, numbers))
    assigned = bins.assign(factorize(array.ravel(), f"feature {feature}"))
    codes = np.where(assigned < 0, bins.n_bins - 1 - assigned, assigned)
    return codes.reshape(array.shape)


def make_pair_function(
    pair: PairBins,
    binning: Binning,
    table: NDArray[np.float64],
    weight: NDArray[np.float64],
    effects: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    labels: Sequence[str],
    named: bool,
    class_label: Any,
    precision: Precision | None = None,
) -> PairFunction:
    """Build the function of a pair from its look-up table and weight, with one entry per code.

    `effects` is what was moved out of the look-up table; `labels` are the features' names if they
    are `named`, else words for their positions.
    """
    features = (pair.first, pair.second)
    shape = (pair.n_first, pair.n_second)
    bins = (binning.features[pair.first], binning.features[pair.second])
    words = [labels[j] for j in features]
    levels = tuple(
        tuple(
            describe_codes(own, np.flatnonzero(level == k).tolist(), word)
            for k in range(int(level.max()) + 1)
        )
        for own, level, word in zip(bins, (pair.first_level, pair.second_level), words, strict=True)
    )
    return PairFunction(
        features=features,
        names=(words[0], words[1]) if named else None,
        class_label=class_label,
        levels=(levels[0], levels[1]),
        values=table[: pair.n_cells].reshape(shape).copy(),
        weights=weight[: pair.n_cells].reshape(shape).copy(),
        _effects=effects,
        _pair=pair,
        _bins=bins,
        standard_errors=None
        if precision is None
        else precision.errors[: pair.n_cells].reshape(shape).copy(),
        p_value=None if precision is None else precision.p_value,
        n_bags=0 if precision is None else precision.n_bags,
    )


def make_shape(
    bins: FeatureBins,
    table: NDArray[np.float64],
    weight: NDArray[np.float64],
    *,
    feature: int,
    name: str | None,
    class_label: Any,
    precision: Precision | None = None,
) -> ShapeFunction:
    """Build the shape function of a feature from its look-up table and weight, by code."""
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
        standard_errors=None if precision is None else precision.errors[:n].copy(),
        missing_standard_error=None if precision is None else float(precision.errors[n]),
        p_value=None if precision is None else precision.p_value,
        n_bags=0 if precision is None else precision.n_bags,
    )
