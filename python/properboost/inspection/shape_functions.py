"""Functions of terms: what one feature, or several together, add to the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.binning import CategoricalBins, FeatureBins, NumericBins
from properboost.data.table import Category
from properboost.data.values import factorize
from properboost.inspection.html import draw_grid, draw_shape
from properboost.inspection.intervals import NOISE_LEVEL, IntervalMixin, Precision
from properboost.inspection.scales import Effects, EffectScale, Scale
from properboost.inspection.words import label_bins, label_level
from properboost.models.ensemble import Ensemble

__all__ = [
    "InteractionFunction",
    "InteractionMap",
    "ShapeFunction",
    "TermFunction",
    "make_interaction",
    "make_shape",
    "rename_class",
]


class TermFunction(IntervalMixin):
    """The contribution of a term to the prediction: of one feature, or of several together.

    A `ShapeFunction` is that of one feature, an `InteractionFunction` that of two or three.  Both
    have a test of whether chance alone would make the function as large.
    """

    class_label: Any
    weights: NDArray[np.float64]
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
class ShapeFunction(TermFunction):
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
    def features(self) -> tuple[int]:
        """The feature's position, as the only one of a term."""
        return (self.feature,)

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


class InteractionMap(NamedTuple):
    """A map of two features: the cells of a function of two, or of a part of one of three."""

    title: str | None
    """The range of the third feature, or None."""
    axes: tuple[int, int]
    """The places of the two features in the function's `features`."""
    levels: tuple[tuple[str, ...], tuple[str, ...]]
    """The levels of both features in words."""
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    ends: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    """The ends of the cells' intervals, if the model has bags."""


@dataclass(frozen=True, eq=False)
class InteractionFunction(TermFunction):
    """The contribution of two or three features together, beyond that of fewer of them.

    On scales that are not `additive` it is the change that the term alone makes to the average row.

    Attributes
    ----------
    features : tuple of int
        The features' positions.
    names : tuple of str, or None
        Their names, if the model was fitted on named columns.
    class_label : object
        The class that is predicted.
    levels : tuple of tuples of str
        The levels of every axis of `values` in words: the bins of a feature, of which neighbours
        (or categories) share a level where the model does not separate them, or where there are
        many.
    values : ndarray of shape (n_levels_first, n_levels_second[, n_levels_third])
        The function, on the scale.  If it is `additive`, its mean over every slice is 0 by training
        weight.
    weights : ndarray of the shape of `values`
        The training weight (the rows, without sample weights) of each cell.
    standard_errors : ndarray of the shape of `values`, or None
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

    features: tuple[int, ...]
    names: tuple[str, ...] | None
    class_label: Any
    levels: tuple[tuple[str, ...], ...]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    standard_errors: NDArray[np.float64] | None
    p_value: float | None
    n_bags: int
    scale: Scale
    average: float
    _codes: tuple[tuple[tuple[int, ...], ...], ...] = field(repr=False)
    """The codes of every level, by axis."""
    _ensemble: Ensemble = field(repr=False)
    _effects: Effects = field(repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The features' names, or words for their positions."""
        return self.names or tuple(f"feature {j}" for j in self.features)

    @property
    def label(self) -> str:
        """The names of all features."""
        return " and ".join(self.labels)

    def __call__(self, *columns: ArrayLike) -> NDArray[np.float64]:
        """Evaluate the function at values of the features.

        Parameters
        ----------
        *columns : array-likes of one shape
            Numbers, or categories, of every feature; NaN (and None among categories) is missing.

        Returns
        -------
        ndarray of that shape
            The exact function, even where `values` are means of cells.  Where training had no rows
            with these values, a pair of look-up tables adds 0 in total: the main effect that was
            moved into the other feature's shape function is subtracted again.

        Raises
        ------
        TypeError, ValueError
            If there is not one array for each feature, or they differ in shape.
        """
        if len(columns) != len(self.features):
            raise TypeError(
                f"{self.label} needs one array for each of its {len(self.features)} features; got "
                f"{len(columns)}"
            )
        ensemble, terms = self._ensemble, self._ensemble.terms
        assert terms is not None
        of_features = [
            _find_codes(ensemble.binning.features[j], x, j)
            for j, x in zip(self.features, columns, strict=True)
        ]
        of_features = list(np.broadcast_arrays(*of_features))
        codes = np.zeros((terms.n_features, of_features[0].size), dtype=np.uint8)
        for j, of_feature in zip(self.features, of_features, strict=True):
            codes[j] = of_feature.ravel()
        models = self._effects.scaling.models
        raw = terms.evaluate(codes, models, 1)[terms.place[self.features]]
        return self._effects.find(raw.reshape(*of_features[0].shape, len(models)))

    def to_maps(
        self, most: int = 4, most_levels: int = 256, confidence_level: float = 0.9
    ) -> list[InteractionMap]:
        """Return maps of two features that show the function.

        A function of two features is one map.  One of three is a map for each range of the feature
        that has the fewest levels.  Where levels are joined, cells are means by training weight.
        So are the ends of their intervals, which are then a little too wide.

        Parameters
        ----------
        most : int, default=4
            The most ranges.
        most_levels : int, default=256
            The most levels of a map's rows and columns; neighbours are joined where there are more.
        confidence_level : float, default=0.9
            As in `interval`, which needs bags.

        Returns
        -------
        list of InteractionMap
        """
        thinnest = int(np.argmin(self.values.shape)) if self.values.ndim == 3 else None
        ends = self.interval(confidence_level) if self.n_bags > 0 else ()
        grids, weights, words = [self.values, *ends], self.weights, []
        for axis, n_levels in enumerate(self.values.shape):
            runs = _join_levels(weights, axis, most if axis == thinnest else most_levels)
            codes = [
                sorted(code for level in self._codes[axis][begin:end] for code in level)
                for begin, end in pairwise(runs)
            ]
            bins = self._ensemble.binning.features[self.features[axis]]
            words.append(tuple(label_level(bins, of_level) for of_level in codes))
            if len(codes) < n_levels:
                grids = [_average(grid, weights, axis, runs) for grid in grids]
                weights = np.add.reduceat(weights, runs[:-1], axis=axis)
        if thinnest is None:
            return [_make_map(None, (0, 1), words, grids, weights)]
        others = [axis for axis in range(3) if axis != thinnest]
        return [
            _make_map(
                f"{self.labels[thinnest]}: {title}",
                (others[0], others[1]),
                words,
                [np.moveaxis(grid, thinnest, 0)[k] for grid in grids],
                np.moveaxis(weights, thinnest, 0)[k],
            )
            for k, title in enumerate(words[thinnest])
        ]

    def _find_ends(self, reach: float) -> tuple[NDArray[np.float64], ...]:
        return self._effects.find_ends(reach)

    def _repr_html_(self) -> str:
        return draw_grid(self)


Function = TypeVar("Function", ShapeFunction, InteractionFunction)


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


def make_interaction(
    ensemble: Ensemble,
    term: int,
    *,
    labels: Sequence[str],
    named: bool,
    scaling: EffectScale,
    precision: Precision | None = None,
) -> InteractionFunction:
    """Build the function of a term of several features; levels without weight are left out.

    `labels` are the features' names if they are `named`, else words for their positions.
    """
    terms = ensemble.terms
    assert terms is not None
    features, weights = terms.features[term], terms.weights_of(term)
    shown = [_find_weighted(weights, axis) for axis in range(weights.ndim)]
    cells = np.ix_(*shown)
    codes = tuple(
        tuple(tuple(np.flatnonzero(of_code == k).tolist()) for k in levels)
        for of_code, levels in zip(terms.levels_of(term), shown, strict=True)
    )
    words = tuple(
        tuple(label_level(ensemble.binning.features[j], level) for level in of_feature)
        for j, of_feature in zip(features, codes, strict=True)
    )
    errors = None if precision is None else precision.errors[cells]
    grids = np.stack([terms.table_of(m, term)[cells] for m in scaling.models], axis=-1)
    effects = Effects(scaling, grids, errors, absolute=True)
    return InteractionFunction(
        features=features,
        names=tuple(labels[j] for j in features) if named else None,
        class_label=scaling.label,
        levels=words,
        values=effects.values,
        weights=weights[cells],
        standard_errors=effects.standard_errors,
        p_value=None if precision is None else precision.p_value,
        n_bags=0 if precision is None else precision.n_bags,
        scale=scaling.scale,
        average=scaling.baseline if scaling.scale == "probability" else 0.0,
        _codes=codes,
        _ensemble=ensemble,
        _effects=effects,
    )


def _join_levels(weights: NDArray[np.float64], axis: int, most: int) -> list[int]:
    """Return the ends of at most `most` runs of levels of about the same weight, from 0 on."""
    n_levels = weights.shape[axis]
    if n_levels <= most:
        return [*range(n_levels + 1)]
    others = tuple(a for a in range(weights.ndim) if a != axis)
    heaviness = np.cumsum(weights.sum(axis=others))
    goals = heaviness[-1] * np.arange(1, most) / most
    ends = np.unique(1 + np.searchsorted(heaviness, goals))
    return [0, *ends[ends < n_levels].tolist(), n_levels]


def _average(
    values: NDArray[np.float64], weights: NDArray[np.float64], axis: int, runs: Sequence[int]
) -> NDArray[np.float64]:
    """Return the means of runs of levels of an axis."""
    total = np.add.reduceat(weights, runs[:-1], axis=axis)
    sums = np.add.reduceat(weights * values, runs[:-1], axis=axis)
    return np.divide(sums, total, out=np.zeros_like(sums), where=total > 0.0)


def _make_map(
    title: str | None,
    axes: tuple[int, int],
    words: Sequence[tuple[str, ...]],
    grids: Sequence[NDArray[np.float64]],
    weights: NDArray[np.float64],
) -> InteractionMap:
    """Return a map of values, which the ends of their intervals follow if there are any."""
    levels = (words[axes[0]], words[axes[1]])
    ends = (grids[1], grids[2]) if len(grids) > 1 else None
    return InteractionMap(title, axes, levels, grids[0], weights, ends)


def _find_weighted(weights: NDArray[np.float64], axis: int) -> NDArray[np.intp]:
    """Return the levels of an axis that have training weight; all if none has."""
    others = tuple(a for a in range(weights.ndim) if a != axis)
    weighted = np.flatnonzero(weights.sum(axis=others))
    return weighted if len(weighted) else np.arange(weights.shape[axis])


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
