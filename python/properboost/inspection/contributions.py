"""Contributions: the parts of features and terms in the prediction of single rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import CategoricalBins, FeatureBins
from properboost.data.table import InputTable
from properboost.extras import import_extra
from properboost.inspection.html import draw_contributions
from properboost.inspection.intervals import NOISE_LEVEL, IntervalMixin
from properboost.inspection.scales import Effects, EffectScale, Scale, check_scale
from properboost.inspection.words import describe

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Contributions", "Part", "make_contributions", "read_columns"]


@dataclass(frozen=True, eq=False)
class Contributions(IntervalMixin):
    """Contributions of features, or of terms of several, to the predictions of rows.

    They are relative to the *average row*, whose raw predictions are the means over the training
    rows.  On scales that are `additive`, ``baseline + values.sum(axis=1)`` is `total`, the model's
    prediction for the row; in a joint model the raw prediction is less its mean over the classes.
    On other scales, each value is the change that the term alone makes to the average row.

    Indexing selects rows, as in an array: ``contributions[3]``, ``contributions[:10]``.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_terms)
        The contributions of features, or of terms, on the scale.
    baseline : float, or ndarray of shape (n_rows,)
        The average row's value on the scale; for trees grown from a part of the rows
        (`subsample`), that part's average.  It is one number per row where each row has its class.
    names : tuple of str, of length n_terms
        The names of the columns of `values`: the features' names, or their positions.
    class_label : object, or ndarray of shape (n_rows,)
        The class that is predicted, for all rows or for each.
    total : ndarray of shape (n_rows,)
        The rows' predictions on the scale: the raw prediction, log-odds or probability.
    scale : {"raw", "log_odds", "probability"}
        The scale of the values.
    additive : bool
        Whether `baseline` and the values of a row add up to its `total`.
    terms : tuple of tuple of int, of length n_terms
        The positions of each term's features.
    columns : tuple of ndarray of shape (n_rows,), of length n_features
        The rows' values as the user passed them; None is a missing category.
    standard_errors : ndarray of shape (n_rows, n_terms), or None
        The standard errors of `values`, if the model has bags (`outer_bags`) and the scale is
        additive.  They are NaN where no training row had a pair's value, missing or a category.
    p_values : ndarray of shape (n_terms,), or (n_rows, n_terms), or None
        The probability of a term's function as large by chance alone, see `ShapeFunction`; for
        each row's class where each row has its class.
    n_bags : int
        The number of bags behind the intervals; 0 if there are none.
    """

    values: NDArray[np.float64]
    baseline: Any
    names: tuple[str, ...]
    class_label: Any
    total: NDArray[np.float64]
    scale: Scale
    additive: bool
    terms: tuple[tuple[int, ...], ...]
    columns: tuple[NDArray[Any], ...] = field(repr=False)
    standard_errors: NDArray[np.float64] | None
    p_values: NDArray[np.float64] | None
    n_bags: int
    _parts: tuple[Part, ...] = field(repr=False)

    @property
    def within_noise(self) -> NDArray[np.bool_] | None:
        """Whether each term's function may well be as large by chance; None without bags.

        This concerns the whole function, while the interval concerns one row.
        """
        return None if self.p_values is None else self.p_values > NOISE_LEVEL

    @property
    def axis_label(self) -> str:
        """The label of an axis of `values`."""
        scaling = self._parts[0].effects.scaling
        if self._each:
            scaling = replace(scaling, label="the class predicted")
        return scaling.describe(absolute=False)

    @property
    def _each(self) -> bool:
        """Whether each row has a class of its own."""
        return isinstance(self.baseline, np.ndarray)

    def _find_ends(self, reach: float) -> tuple[NDArray[np.float64], ...]:
        low, high = np.empty_like(self.values), np.empty_like(self.values)
        for part in self._parts:
            low[part.rows], high[part.rows] = part.effects.find_ends(reach)
        return low, high

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Self:
        """Return the contributions of one row, or of some rows: a slice, positions or a mask."""
        is_one = isinstance(rows, int | np.integer)
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        parts = []
        for part in self._parts:
            places = np.flatnonzero(np.isin(chosen, part.rows))
            effects = part.effects.take(np.searchsorted(part.rows, chosen[places]))
            parts.append(replace(part, rows=places, effects=effects))
        nonempty = [part for part in parts if len(part.rows) > 0] or parts[:1]
        return type(self)(
            **_add_parts(nonempty, len(chosen), each=self._each and not is_one),
            names=self.names,
            terms=self.terms,
            columns=tuple(column[chosen] for column in self.columns),
            n_bags=self.n_bags,
        )

    def to_scale(self, scale: Scale) -> Self:
        """Return the same contributions on another scale.

        Parameters
        ----------
        scale : {"raw", "log_odds", "probability"}
            The scale.

        Returns
        -------
        Contributions

        Raises
        ------
        ValueError, TypeError
            If there is no such scale, or if it needs all classes' contributions, which these do not
            hold: then use the model's ``contributions(X, scale=...)``.  Raw contributions suffice
            with two classes, and for the log-odds of a softmax.
        """
        if not self.can_turn(scale):
            raise ValueError(
                f"scale={scale!r} needs the contributions to all classes; call the model's "
                f"contributions(X, scale={scale!r})"
            )
        parts = [replace(part, effects=part.effects.on(scale)) for part in self._parts]
        return replace(self, **_add_parts(parts, len(self), each=self._each))

    def can_turn(self, scale: Scale) -> bool:
        """Return whether `to_scale` can convert these contributions to a scale.

        Parameters
        ----------
        scale : {"raw", "log_odds", "probability"}
            The scale.

        Returns
        -------
        bool
            Whether they hold all that the scale needs.

        Raises
        ------
        ValueError, TypeError
            If there is no such scale.
        """
        scaling = self._parts[0].effects.scaling
        return scaling.on(check_scale(scale)).models == scaling.models

    @property
    def data(self) -> NDArray[np.object_]:
        """The rows' values as the user passed them, (n_rows, n_features)."""
        data = np.empty((len(self), len(self.columns)), dtype=object)
        for j, column in enumerate(self.columns):
            data[:, j] = column
        return data

    def describe_value(self, row: int, term: int) -> str:
        """Return a row's value of a term in words: ``37``, ``missing``, of a pair ``37, Private``.

        Parameters
        ----------
        row, term : int
            Positions in `values`.

        Returns
        -------
        str
        """
        return ", ".join(describe(self.columns[j][row]) for j in self.terms[term])

    def accumulate(self, row: int, order: Sequence[int] | NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a row's prediction as its terms are added, one after the other.

        Parameters
        ----------
        row : int
            The row's position.
        order : sequence of int
            The positions of the terms, all or some.

        Returns
        -------
        ndarray of shape (len(order) + 1,)
            On the scale: the average row's, then after each of the terms.
        """
        raw, scaling = self._find_row(row)
        raw = raw[list(order)]
        steps = np.concatenate([np.zeros((1, raw.shape[-1])), np.cumsum(raw, axis=0)])
        return scaling.find(steps)

    def rank(self, row: int) -> NDArray[np.intp]:
        """Return the terms by how far they move a row's raw predictions, the farthest first.

        With several classes, where the scale needs all of them, the order is by the move of the
        class's prediction against the mean of the others'.

        Parameters
        ----------
        row : int
            The row's position.

        Returns
        -------
        ndarray of shape (n_terms,)
            The positions of the terms.
        """
        raw, scaling = self._find_row(row)
        moved = raw[:, scaling.models.index(scaling.model)] - (
            raw.mean(axis=1) if raw.shape[1] > 1 else 0.0
        )
        order: NDArray[np.intp] = np.argsort(-np.abs(moved), kind="stable")
        return order

    def _find_row(self, row: int) -> tuple[NDArray[np.float64], EffectScale]:
        """Return a row's effects in each model, (n_terms, n_models), and its scaling."""
        at = int(np.arange(len(self))[row])
        part = next(part for part in self._parts if at in part.rows)
        return part.effects.raw[int(np.searchsorted(part.rows, at))], part.effects.scaling

    def _list_values(self, term: int) -> NDArray[Any]:
        """Return each row's value of a term: of a feature as passed, of a pair in words."""
        if len(self.terms[term]) == 1:
            return self.columns[self.terms[term][0]]
        return np.array([self.describe_value(i, term) for i in range(len(self))], dtype=object)

    def to_frame(self, confidence_level: float = 0.9) -> DataFrame:
        """Return a pandas frame with one line for each row and term.

        Parameters
        ----------
        confidence_level : float, default=0.9
            The share of the intervals that hold the true value.

        Returns
        -------
        pandas.DataFrame
            ``row`` is a position, ``class`` the class that is predicted, ``term`` a name,
            ``value`` the row's value of the feature, ``contribution`` its contribution.  A model
            with bags also has ``low`` and ``high``, the ends of the interval, and
            ``within_noise`` if terms have p-values.

        Raises
        ------
        ImportError
            If pandas is missing.
        ValueError, TypeError
            If `confidence_level` is not between 0 and 1.
        """
        pandas = import_extra("pandas", "frames of contributions need", "frames")
        n_rows, n_terms = self.values.shape
        value = np.empty((n_rows, n_terms), dtype=object)
        for term in range(n_terms):
            value[:, term] = self._list_values(term)
        label = np.empty(n_rows, dtype=object)
        label[:] = self.class_label if self._each else [self.class_label] * n_rows
        columns: dict[str, Any] = {
            "row": np.repeat(np.arange(n_rows), n_terms),
            "class": pandas.Series(np.repeat(label, n_terms)).infer_objects(),
            "term": np.tile(np.array(self.names, dtype=object), n_rows),
            "value": value.ravel(),
            "contribution": self.values.ravel(),
        }
        if self.n_bags > 0:
            low, high = self.interval(confidence_level)
            columns |= {"low": low.ravel(), "high": high.ravel()}
        if self.within_noise is not None:
            noise = np.broadcast_to(self.within_noise, self.values.shape)
            columns["within_noise"] = noise.ravel()
        frame: DataFrame = pandas.DataFrame(columns)
        return frame

    def to_shap(self) -> Any:
        """Return a ``shap.Explanation``, for the plots of shap.

        Returns
        -------
        shap.Explanation
            Its ``values``, ``base_values``, ``data`` and ``feature_names`` are the contributions,
            the baseline, the rows' values (of pairs in words) and the terms' names.

        Raises
        ------
        ImportError
            If shap is missing.
        ValueError
            If contributions do not add up on the scale.
        """
        if not self.additive:
            raise ValueError(
                f"a shap.Explanation adds up, which contributions with scale={self.scale!r} do not "
                "here; take those with scale='raw'"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # shap's import warns
            shap = import_extra("shap", "explanations of its kind need", "explain")
        values = [self._list_values(term) for term in range(len(self.terms))]
        kind = float if all(column.dtype.kind in "biuf" for column in values) else object
        return shap.Explanation(
            values=self.values.copy(),
            base_values=np.broadcast_to(self.baseline, len(self)).copy(),
            data=np.array(values, dtype=kind).T.reshape(self.values.shape),
            feature_names=list(self.names),
        )

    def _repr_html_(self) -> str:
        return draw_contributions(self)


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of one predicted class: their positions, which ascend, and effects (n, n_terms)."""

    rows: NDArray[np.intp]
    effects: Effects
    p_values: NDArray[np.float64] | None


def make_contributions(
    parts: Sequence[Part],
    table: InputTable,
    features: Sequence[FeatureBins],
    *,
    names: Sequence[str],
    terms: Sequence[tuple[int, ...]],
    n_bags: int,
    each: bool,
) -> Contributions:
    """Build the contributions of all rows of a table; with `each`, every row has its class."""
    return Contributions(
        **_add_parts(parts, table.n_rows, each=each),
        names=tuple(names),
        terms=tuple(terms),
        columns=read_columns(table, features),
        n_bags=n_bags,
    )


def _add_parts(parts: Sequence[Part], n_rows: int, *, each: bool) -> dict[str, Any]:
    """Return the fields of contributions of all rows together."""
    first = parts[0].effects
    fields: dict[str, Any] = {
        "scale": first.scaling.scale,
        "additive": first.scaling.additive,
        "_parts": tuple(parts),
        "standard_errors": None,
        "p_values": parts[0].p_values,
    }
    if not each:
        return fields | {
            "values": first.values,
            "baseline": first.scaling.baseline,
            "class_label": first.scaling.label,
            "total": first.total,
            "standard_errors": first.standard_errors,
        }
    n_terms = first.raw.shape[1]
    values, labels = np.empty((n_rows, n_terms)), np.empty(n_rows, dtype=object)
    baseline, total, errors, p_values = (
        np.empty(n_rows), np.empty(n_rows), np.empty_like(values), np.empty_like(values),
    )  # fmt: skip
    for part in parts:
        rows, effects = part.rows, part.effects
        values[rows], total[rows] = effects.values, effects.total
        baseline[rows] = effects.scaling.baseline
        labels[rows] = [effects.scaling.label] * len(rows)
        if part.p_values is not None:
            p_values[rows] = part.p_values
        if effects.standard_errors is not None:
            errors[rows] = effects.standard_errors
    return fields | {
        "values": values,
        "baseline": baseline,
        "class_label": labels,
        "total": total,
        "standard_errors": None if first.standard_errors is None else errors,
        "p_values": None if fields["p_values"] is None else p_values,
    }


def read_columns(table: InputTable, features: Sequence[FeatureBins]) -> tuple[NDArray[Any], ...]:
    """Return copies of the columns: their numbers, or their categories and None."""
    whole = (
        None if table.array is None else np.array(table.array)
    )  # one copy is faster than one per strided column
    columns: list[NDArray[Any]] = []
    for j, bins in enumerate(features):
        if isinstance(bins, CategoricalBins):
            column = table.categorical(j)
            categories = np.empty(len(column.values) + 1, dtype=object)
            categories[:-1], categories[-1] = list(column.values), None
            columns.append(categories[column.codes])
        else:
            columns.append(np.array(table.numeric(j)) if whole is None else whole[:, j])
    return tuple(columns)
