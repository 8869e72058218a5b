"""Edits of a fitted model by a user, in place and on the model's record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.binning import NumericBins
from properboost.data.features import find_feature
from properboost.models.edits import Edit, EditMethod, check_reason, measure_change
from properboost.models.ensemble import LARGEST_RAW, Ensemble
from properboost.models.isotonic import regress_isotonic
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.terms import Terms
from properboost.models.tree_ensemble import TreeEnsemble

__all__ = ["EditingMixin"]

_Editable: TypeAlias = TableEnsemble | TreeEnsemble


class EditingMixin:
    """The methods that edit a fitted model of look-up tables, or of trees that have terms."""

    classes_: NDArray[Any]
    n_features_in_: int
    ensemble_: Ensemble

    def _check_fitted(self) -> None:
        raise NotImplementedError

    def _prepare_terms(self, models: Iterable[int] | None = None, *, with_bags: bool) -> Terms:
        raise NotImplementedError

    def _find_model(self, class_: Any) -> tuple[Any, int, float]:
        raise NotImplementedError

    @property
    def edits_(self) -> list[dict[str, Any]]:
        """The edits by a user, in order; empty if there were none.

        A dict has the `method`, `feature`, `class`, `direction` and `reason`, and the
        `largest_change` and `mean_change` of the function less its mean over the training rows.
        `merge_models` records `weights`, and the `edits` of every model.
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_)).tolist()
        return [edit.describe(names, self.classes_.tolist()) for edit in self.ensemble_.edits]

    def _record(
        self,
        method: EditMethod,
        feature: int,
        edited: _Editable,
        models: Sequence[int],
        **details: Any,
    ) -> None:
        """Take over an edited ensemble, with the change of a feature's functions in `models`."""
        before, after = self._prepare_terms(models, with_bags=False), edited.terms
        assert after is not None
        moved = [
            measure_change(
                before.table_of(m, feature), after.table_of(m, feature), before.shares_of(feature)
            )
            for m in models
        ]
        edit = Edit(
            method,
            feature,
            largest_change=max(largest for largest, _ in moved),
            mean_change=sum(mean for _, mean in moved) / len(moved),
            **details,
        )
        self._replace_ensemble(replace(edited, edits=(*self.ensemble_.edits, edit)))

    def _replace_ensemble(self, ensemble: Ensemble) -> None:
        """Set the ensemble, also of the best estimator, with which a search shares it."""
        self.ensemble_ = ensemble
        getattr(self, "best_estimator_", self).ensemble_ = ensemble

    def monotonize(
        self,
        feature: int | str,
        direction: int | str = "auto",
        *,
        reason: str | None = None,
    ) -> Self:
        """Make the raw prediction rise or fall with one feature, after the fit and in place.

        The feature gets the isotonic regression [1]_ of its shape function, by training weight.  A
        fit with `monotonic_cst` is better.

        Parameters
        ----------
        feature : int or str
            Position or name of a numeric feature that is in no joint term of `terms_`.
        direction : {"auto", 1, -1}, default="auto"
            1 if the raw prediction must not fall, -1 if it must not rise; "auto" changes less.
        reason : str, optional
            For the record (`edits_`).

        Returns
        -------
        self : object
            The model.

        Raises
        ------
        ValueError, TypeError
            If the model has more than two classes or no terms, or the feature cannot be ordered.

        References
        ----------
        .. [1] Barlow et al. (1972). Statistical inference under order restrictions.
        """
        ensemble, terms = self._open_terms()
        j = self._find_position(feature)
        label = f"feature {feature!r}"
        if len(self.classes_) > 2:
            raise ValueError(
                f"monotonize is for two classes, not {len(self.classes_)}: their probabilities add "
                "up to 1"
            )
        if not isinstance(ensemble.binning.features[j], NumericBins):
            raise ValueError(f"{label} must be numeric; it is categorical")
        is_joint = any(j in features and len(features) > 1 for features in terms.list_used())
        if is_joint or (isinstance(ensemble, TableEnsemble) and ensemble.is_in_pairs(j)):
            raise ValueError(
                f"{label} must be in no joint term: that term's table is in no order; fit with "
                "monotonic_cst, or with weak_learner='table' and no interactions"
            )
        if direction not in ("auto", 1, -1) or isinstance(direction, bool):
            raise ValueError(f"direction must be 'auto', 1 or -1; got {direction!r}")
        n_bins = ensemble.binning.features[j].n_bins
        table, weight = terms.table_of(0, j)[:n_bins], ensemble.bin_weights[j][:n_bins]
        possible = (1, -1) if direction == "auto" else (int(direction),)
        unit = np.abs(table).max() or 1.0  # squares without a unit may overflow
        changes = [
            float(np.sum(weight * ((regress_isotonic(table, weight, d) - table) / unit) ** 2))
            for d in possible
        ]
        chosen = possible[int(np.argmin(changes))]
        if (chosen * np.diff(table) < 0.0).any():
            edited = ensemble.put_in_order(j, chosen)
            details = {"direction": chosen, "reason": check_reason(reason)}
            self._record("monotonize", j, edited, [0], **details)
        return self

    def set_shape_function(
        self,
        feature: int | str,
        values: ArrayLike,
        *,
        missing_value: float | None = None,
        class_: Any = None,
        reason: str | None = None,
    ) -> Self:
        """Set the shape function of one feature, in place.

        Parameters
        ----------
        feature : int or str
            Position or name.
        values : array-like of shape (n_bins,)
            The values in each bin of its `shape_function`, in units of F.
        missing_value : float, optional
            The value where the feature is missing; the default keeps it.
        class_ : label, optional
            The class of the function; the default is ``classes_[1]`` of two.
        reason : str, optional
            For the record (`edits_`).

        Returns
        -------
        self : object
            The model, compact from then on: no `history_`, staged predictions or warm start.  It
            loses standard errors, of tables those of the feature and of importances.

        Raises
        ------
        ValueError, TypeError
            If the model has no terms, there is no such feature or class, or a value is not finite.
        """
        ensemble, terms = self._open_terms()
        j = self._find_position(feature)
        _, m, sign = self._find_model(class_)
        table = terms.table_of(m, j).copy()
        n_bins = ensemble.binning.features[j].n_bins
        table[:n_bins] = sign * _read_table("values", values, (n_bins,))
        if missing_value is not None:
            table[n_bins] = sign * float(_read_table("missing_value", missing_value, ()))
        details = {"class_index": m if len(self.classes_) > 2 else None}
        edited = ensemble.with_table(m, j, table)
        if max(rounds.bound() for rounds in edited.models) > LARGEST_RAW:
            raise ValueError(f"values must not make raw predictions beyond {LARGEST_RAW:g}")
        self._record("set_shape_function", j, edited, [m], reason=check_reason(reason), **details)
        return self

    def remove_feature(self, feature: int | str, *, reason: str | None = None) -> Self:
        """Take a feature out of the model, in place: predictions depend on it no more.

        Its mean over the training rows moves into the intercept, and its joint terms go, too.  `X`
        still has the column.  A fit without the feature is better.

        Parameters
        ----------
        feature : int or str
            Position or name.
        reason : str, optional
            For the record (`edits_`).

        Returns
        -------
        self : object
            The model, compact from then on, as after `set_shape_function`.

        Raises
        ------
        ValueError, TypeError
            If the model has no terms, or there is no such feature.
        """
        ensemble, _ = self._open_terms()
        j = self._find_position(feature)
        self._record(
            "remove_feature",
            j,
            ensemble.without_feature(j),
            range(len(ensemble.models)),
            reason=check_reason(reason),
        )
        return self

    def _open_terms(self) -> tuple[_Editable, Terms]:
        """Return the ensemble and its terms, once they are computed."""
        terms = self._prepare_terms(with_bags=False)
        assert isinstance(self.ensemble_, TableEnsemble | TreeEnsemble)
        return self.ensemble_, terms

    def _find_position(self, feature: int | str) -> int:
        return find_feature(feature, getattr(self, "feature_names_in_", None), self.n_features_in_)


def _read_table(name: str, values: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return `values` as finite numbers of this shape."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers; got {values!r}") from error
    if array.shape != shape:
        allowed = f"one number for each of the {shape[0]} bins" if shape else "one number"
        raise ValueError(f"{name} must be {allowed}; got the shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    return array
