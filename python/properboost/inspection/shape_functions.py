"""Shape functions: the contribution of a feature, or a pair, to the prediction, bin by bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.binning import Binning, CategoricalBins, FeatureBins, NumericBins
from properboost.data.frames import factorize
from properboost.data.table import Category
from properboost.inspection.html import draw_grid, draw_shape
from properboost.inspection.intervals import NOISE_LEVEL, IntervalMixin, Precision
from properboost.inspection.scales import Effects, EffectScale, Scale
from properboost.inspection.words import label_bins, label_level
from properboost.models.interactions import PairBins, look_up

__all__ = ["PairFunction", "ShapeFunction", "make_pair_function", "make_shape", "rename_class"]


class _Effect(IntervalMixin):
    """A function with a test of whether chance alone would make it as large."""

    p_value: float | None
    scale: Scale
    average: float
    _effects: Effects

    @property
    def within_noise(self) -> bool | None:
        """Whether a function as large may well be chance: its `p_value` is above 0.1.

        None if the model has no bags.
        """
        return None if self.p_value is None else self.p_value > NOISE_LEVEL

    @property
    def additive(self) -> bool:
        """Whether effects add up on the scale.

        If not, the function is the change, or the value, of the average row alone.
        """
        return self._effects.scaling.additive

    @property
    def baseline(self) -> float:
        """The average row's value on the scale: its raw prediction, log-odds or probability."""
        return self._effects.scaling.baseline

    @property
    def axis_label(self) -> str:
        """The label of an axis of `values`."""
        return self._effects.scaling.describe(absolute=True)


@dataclass(frozen=True, eq=False)
class ShapeFunction(_Effect):
    """The contribution of one feature to the prediction, as a function of its value.

    On the raw scale, the raw prediction of a row is the sum of its features' shape functions, of
    its pairs', and of the intercept; in a joint model of several classes, the raw prediction less
    its mean over the classes.

    On the other scales a function refers to the *average row*, whose raw predictions are the means
    over the training rows.  In log-odds it is the feature's addition to those of the average row;
    if it is `additive`, `baseline` and the functions of all features and pairs add up to the
    log-odds of any row.  As a probability it is that of an otherwise average row.

    Attributes
    ----------
    feature : int
        The feature's position.
    name : str or None
        Its name, if the model was fitted on named columns.
    class_label : object
        The class that is predicted.
    kind : {"numeric", "categorical"}
        The kind of the feature.
    edges : ndarray of shape (n_bins - 1,) or None
        For a numeric feature: bin ``k`` holds the values ``edges[k-1] < x <= edges[k]``.
    categories : tuple or None
        For a categorical feature: bin ``k`` holds ``categories[k]``.  Where the rarest categories
        share a bin, it comes after them and unseen categories belong to it.
    has_rare : bool
        Whether there is such a bin.
    values : ndarray of shape (n_bins,)
        The function in each bin, on the scale.
    missing_value : float
        The function where the feature is missing.
    weights : ndarray of shape (n_bins,)
        The training weight (the rows, without sample weights) in each bin.
    missing_weight : float
        The training weight of missing values.
    standard_errors : ndarray of shape (n_bins,), or None
        If the model has bags (`outer_bags`) and the scale is `additive`: the standard error of the
        function less its mean over the training rows, in each bin.  It measures how fits to other
        rows of the same source would vary, and not how far the function is from the truth.  Where
        the interval holds `average`, a bin may be like the average row.
    missing_standard_error : float or None
        The same where the feature is missing.
    p_value : float or None
        The probability of a function as large by chance alone, by its mean square over the
        training rows.  Above 0.1 the effect is `within_noise`: do not interpret its shape.
    n_bags : int
        The number of bags behind the intervals; 0 if there are none.
    scale : {"raw", "log_odds", "probability"}
        The scale of the values.
    average : float
        The value that leaves the average row as it is: on the raw scale the function's mean over
        the training rows, 0 in log-odds, and `baseline` among probabilities.
    unseen_value : float
        The function of a category that training did not have, unless the rarest share a bin.
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
    standard_errors: NDArray[np.float64] | None
    missing_standard_error: float | None
    p_value: float | None
    n_bags: int
    scale: Scale
    average: float
    unseen_value: float
    _effects: Effects = field(repr=False)

    @property
    def label(self) -> str:
        """The feature's name, or words for its position."""
        return f"feature {self.feature}" if self.name is None else self.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The bins in words: ``25.5 to 37.5``, ``> 60``, ``Private``."""
        return label_bins(self._bins)

    @property
    def _bins(self) -> FeatureBins:
        if self.edges is not None:
            return NumericBins(self.edges)
        return CategoricalBins(self.categories or (), self.has_rare)

    def _find_ends(self, reach: float) -> tuple[NDArray[np.float64], ...]:
        low, high = self._effects.find_ends(reach)
        return low[: len(self.values)], high[: len(self.values)]

    def missing_interval(self, confidence_level: float = 0.9) -> tuple[float, float]:
        """Return the ends of an interval for `missing_value`.

        Parameters
        ----------
        confidence_level : float, default=0.9
            As in `interval`.

        Returns
        -------
        low, high : float

        Raises
        ------
        ValueError
            If the model has no bags, or the level is not between 0 and 1.
        """
        reach = self._count_errors(confidence_level)
        if self.missing_standard_error is not None:
            error = reach * self.missing_standard_error
            return self.missing_value - error, self.missing_value + error
        low, high = self._effects.find_ends(reach)
        return float(low[-1]), float(high[-1])

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Evaluate the function at values of the feature.

        Parameters
        ----------
        x : array-like
            Numbers, or categories; NaN (and None among categories) is missing.

        Returns
        -------
        ndarray of the shape of `x`
            On the raw scale unseen categories give 0, unless the rarest share a bin.
        """
        table = np.concatenate([self.values, [self.missing_value, self.unseen_value]])
        values: NDArray[np.float64] = table[_find_codes(self._bins, x, self.feature)]
        return values

    def _repr_html_(self) -> str:
        return draw_shape(self)


@dataclass(frozen=True, eq=False)
class PairFunction(_Effect):
    """The contribution of two features together, beyond their contributions alone.

    On scales that are not `additive` it is the change that the pair alone makes to the average row.

    Attributes
    ----------
    features : tuple of two int
        The features' positions.
    names : tuple of two str, or None
        Their names, if the model was fitted on named columns.
    class_label : object
        The class that is predicted.
    levels : tuple of two tuples of str
        The rows and the columns of `values` in words: the bins of either feature, of which
        neighbours (or rare categories) share a level where there are many.
    values : ndarray of shape (n_levels_first, n_levels_second)
        The function, on the scale.  If it is `additive`, its mean over every row and every column
        is 0 by training weight.
    weights : ndarray of shape (n_levels_first, n_levels_second)
        The training weight (the rows, without sample weights) of each cell.
    standard_errors : ndarray of shape (n_levels_first, n_levels_second), or None
        The standard errors of `values`, if the model has bags; see `ShapeFunction`.
    p_value : float or None
        As in `ShapeFunction`.
    n_bags : int
        The number of bags behind the intervals; 0 if there are none.
    scale : {"raw", "log_odds", "probability"}
        The scale of the values.
    average : float
        The value that leaves the average row as it is: 0, or `baseline` among probabilities.
    """

    features: tuple[int, int]
    names: tuple[str, str] | None
    class_label: Any
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    standard_errors: NDArray[np.float64] | None
    p_value: float | None
    n_bags: int
    scale: Scale
    average: float
    _moved: tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...] = field(repr=False)
    """By model, the main effects that were moved into the features' functions."""
    _pair: PairBins = field(repr=False)
    _bins: tuple[FeatureBins, FeatureBins] = field(repr=False)
    _effects: Effects = field(repr=False)

    @property
    def labels(self) -> tuple[str, str]:
        """The features' names, or words for their positions."""
        first, second = self.features
        return self.names or (f"feature {first}", f"feature {second}")

    @property
    def label(self) -> str:
        """Both features' names."""
        return " and ".join(self.labels)

    def __call__(self, first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
        """Evaluate the function at values of the two features.

        Parameters
        ----------
        first, second : array-like of one shape
            Numbers, or categories; NaN (and None among categories) is missing.

        Returns
        -------
        ndarray of that shape
            Where training had no rows with these values, the pair adds 0 in total: the main effect
            that was moved into the other feature's shape function is subtracted again.
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
        grids = np.moveaxis(self._effects.raw, -1, 0)
        raw = [look_up(grid, moved, a, b) for grid, moved in zip(grids, self._moved, strict=True)]
        return self._effects.find(np.stack(raw, axis=-1))

    def _find_ends(self, reach: float) -> tuple[NDArray[np.float64], ...]:
        return self._effects.find_ends(reach)

    def _repr_html_(self) -> str:
        return draw_grid(self)


Function = TypeVar("Function", ShapeFunction, PairFunction)


def rename_class(function: Function, name: str) -> Function:
    """Return a function with another name of its class."""
    effects = function._effects
    scaling = replace(effects.scaling, label=name)
    return replace(function, class_label=name, _effects=replace(effects, scaling=scaling))


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
    tables: NDArray[np.float64],
    weight: NDArray[np.float64],
    moved: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    *,
    labels: Sequence[str],
    named: bool,
    scaling: EffectScale,
    precision: Precision | None = None,
) -> PairFunction:
    """Build the function of a pair from look-up tables, a row for each model, and weight, by code.

    `moved` has the main effects that were moved out of each look-up table; `labels` are the
    features' names if they are `named`, else words for their positions.
    """
    shape = (pair.n_first, pair.n_second)
    bins = (binning.features[pair.first], binning.features[pair.second])
    levels = tuple(
        tuple(
            label_level(feature_bins, np.flatnonzero(level == k).tolist())
            for k in range(int(level.max()) + 1)
        )
        for feature_bins, level in zip(bins, (pair.first_level, pair.second_level), strict=True)
    )
    errors = None if precision is None else precision.errors[: pair.n_cells].reshape(shape).copy()
    grids = np.moveaxis(tables[:, : pair.n_cells].reshape(-1, *shape), 0, -1).copy()
    effects = Effects(scaling, grids, errors, absolute=True)
    return PairFunction(
        features=(pair.first, pair.second),
        names=(labels[pair.first], labels[pair.second]) if named else None,
        class_label=scaling.label,
        levels=(levels[0], levels[1]),
        values=effects.values,
        weights=weight[: pair.n_cells].reshape(shape).copy(),
        standard_errors=effects.standard_errors,
        p_value=None if precision is None else precision.p_value,
        n_bags=0 if precision is None else precision.n_bags,
        scale=scaling.scale,
        average=scaling.baseline if scaling.scale == "probability" else 0.0,
        _moved=tuple(moved),
        _pair=pair,
        _bins=bins,
        _effects=effects,
    )


def make_shape(
    bins: FeatureBins,
    tables: NDArray[np.float64],
    weight: NDArray[np.float64],
    shares: NDArray[np.float64],
    *,
    feature: int,
    name: str | None,
    scaling: EffectScale,
    precision: Precision | None = None,
) -> ShapeFunction:
    """Build the shape function of a feature from look-up tables, a row for each model, by code.

    `shares` are those of the codes in the training weight.
    """
    n = bins.n_bins
    raw = scaling.sign * tables[scaling.models.index(scaling.model)]
    means = (tables @ shares)[:, None]
    errors = None if precision is None else precision.errors[: n + 1].copy()
    effects = Effects(scaling, (tables[:, : n + 1] - means).T.copy(), errors, absolute=True)
    if scaling.scale == "raw":  # here look-up tables include an intercept
        values, unseen, average = raw[: n + 1].copy(), 0.0, float(raw @ shares)
    else:
        values, unseen = effects.values, float(effects.find(-means[:, 0]))
        average = scaling.baseline if scaling.scale == "probability" else 0.0
    errors = effects.standard_errors
    return ShapeFunction(
        feature=feature,
        name=name,
        class_label=scaling.label,
        kind="numeric" if isinstance(bins, NumericBins) else "categorical",
        edges=bins.edges.copy() if isinstance(bins, NumericBins) else None,
        categories=bins.categories if isinstance(bins, CategoricalBins) else None,
        has_rare=isinstance(bins, CategoricalBins) and bins.has_rare,
        values=values[:n],
        missing_value=float(values[n]),
        weights=weight[:n].copy(),
        missing_weight=float(weight[n]),
        standard_errors=None if errors is None else errors[:n],
        missing_standard_error=None if errors is None else float(errors[n]),
        p_value=None if precision is None else precision.p_value,
        n_bags=0 if precision is None else precision.n_bags,
        scale=scaling.scale,
        average=average,
        unseen_value=unseen,
        _effects=effects,
    )
