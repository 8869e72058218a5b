"""Explanations of rows by a fitted boosted classifier: contributions, and nearest changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.features import find_feature
from properboost.data.frames import take_rows
from properboost.data.labels import find_classes
from properboost.data.table import InputTable
from properboost.estimators.base import label_features
from properboost.estimators.predicting import PredictingMixin
from properboost.inspection.change_search import MOST_FEATURES, ChangeSearch
from properboost.inspection.changes import RowChanges
from properboost.inspection.contributions import Contributions, Part, make_contributions
from properboost.inspection.dashboards import make_local
from properboost.inspection.scales import Effects, EffectScale, Scale
from properboost.losses.probabilities import as_predicted, choose_classes
from properboost.models.bag_design import find_standard_error
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.terms import Features, Terms
from properboost.parameters import checks

__all__ = ["ExplainingMixin"]

By: TypeAlias = Literal["feature", "term"]


class ExplainingMixin(PredictingMixin):
    """The explanations of a fitted boosted classifier's predictions of rows."""

    n_features_in_: int

    def _terms(self) -> Terms:
        raise NotImplementedError

    def _make_scaling(self, class_: Any, scale: Scale) -> EffectScale:
        raise NotImplementedError

    def _name_scale(self, class_: Any) -> str:
        raise NotImplementedError

    def changes(
        self,
        X: Any,
        to: Any = None,
        keep: Sequence[int | str] = (),
        *,
        most_features: int = MOST_FEATURES,
    ) -> RowChanges:
        """Return the nearest changes of rows that change their predicted class.

        Parameters
        ----------
        X
            As in `contributions`.
        to : label, optional
            The class to predict, by default any other.  Rows of it do not change.
        keep : list of int or str, default=()
            Features that stay as they are.
        most_features : int, default=3
            The most features that change together.

        Returns
        -------
        RowChanges
            Fewest features first, then the least sum of distances in training ranks; a new category
            counts 1.  `is_exact` is False if nearer ones may exist.

        Raises
        ------
        ValueError, TypeError
            If a class or feature is unknown.
        """
        self._read_base(None, 0)
        return self._find_changes(
            X,
            to,
            keep,
            self.classes_.tolist(),
            lambda raw: choose_classes(as_predicted(raw)),
            most_features=most_features,
        )

    def _find_changes(
        self,
        X: Any,
        to: Any,
        keep: Sequence[int | str],
        labels: list[Any],
        choose: Callable[[NDArray[np.float64]], NDArray[np.intp]],
        cuts: NDArray[np.float64] | None = None,
        *,
        most_features: int,
    ) -> RowChanges:
        """Return the changes of `changes`, for classes that `choose` predicts.

        `cuts` are the raw predictions between ordered classes.
        """
        table, n_threads = self._open(X)
        names = getattr(self, "feature_names_in_", None)
        if to is not None and to not in labels:
            raise ValueError(f"to must be one of {labels}; got {to!r}")
        columns = [*range(self.n_features_in_)] if names is None else names.tolist()
        if isinstance(keep, str | int):
            raise TypeError(f"keep must be a list of features; got {keep!r}: write [{keep!r}]")
        fixed = {find_feature(j, names, self.n_features_in_, "keep") for j in keep}
        order = sorted({*range(self.n_features_in_)} - fixed, key=lambda j: columns[j])
        ensemble = self.ensemble_
        most = checks.integer("most_features", most_features, 1, MOST_FEATURES)
        search = ChangeSearch.of(ensemble, choose, order, n_threads, cuts, most)
        codes = ensemble.binning.encode(table, None, n_threads)
        changes, is_exact = search.run(codes, None if to is None else labels.index(to))
        return RowChanges.of(changes, ensemble.binning.features, columns, labels, is_exact=is_exact)

    def contributions(
        self, X: Any, class_: Any = None, scale: Scale = "raw", by: By | None = None
    ) -> Contributions:
        """Return the contributions of features, or of terms, to the prediction of each row.

        A term contributes its value less its mean over the training rows.  By feature, its features
        share that equally, as Shapley values do.  Trees without `terms_` have these by path
        (Lundberg et al. 2020, Nature Machine Intelligence 2).

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        class_ : label, optional
            The class; by default ``classes_[1]`` of two, and of more the predicted one.
        scale : {"raw", "log_odds", "probability"}, default="raw"
            The units, as in `shape_function`.
        by : {"feature", "term"}, optional
            The default is "term" for look-up tables, and "feature" for trees.

        Returns
        -------
        Contributions
            By rows and features, or terms; with the baseline they add up to the raw
            prediction, of joint models less its mean over classes.

        Raises
        ------
        ValueError, TypeError
            If there is no such class, scale or term.
        """
        table, n_threads = self._open(X)
        by_feature = self._is_by_feature(by)
        each = class_ is None and len(self.classes_) > 2
        chosen = [(class_, np.arange(table.n_rows))]
        if each:
            chosen = self._divide_by_class(table, n_threads)
        shares = [(rows, self._make_scaling(label, scale)) for label, rows in chosen]
        if self._needs_all_trees(shares[0][1]):
            parts = self._explain_together(table, n_threads, shares, by_feature=by_feature)
        else:
            parts = [
                self._explain(table, n_threads, *share, by_feature=by_feature) for share in shares
            ]
        ensemble, labels = self.ensemble_, label_features(self)
        features: Sequence[Features] = [(j,) for j in range(len(labels))]
        if not by_feature and ensemble.terms is not None:
            features = ensemble.terms.features
        has_errors = parts[0].effects.errors is not None
        return make_contributions(
            parts,
            table,
            ensemble.binning.features,
            names=[" and ".join(labels[j] for j in of_term) for of_term in features],
            terms=features,
            n_bags=self._terms().n_bags if has_errors else 0,
            each=each,
        )

    def _is_by_feature(self, by: By | None) -> bool:
        if by is None:
            return not isinstance(self.ensemble_, TableEnsemble)
        by_feature = checks.choice("by", by, get_args(By)) == "feature"
        if not by_feature:
            self._terms()
        return by_feature

    def _divide_by_class(
        self, table: InputTable, n_threads: int
    ) -> list[tuple[Any, NDArray[np.intp]]]:
        """Return the predicted classes, each with its rows."""
        predicted = choose_classes(self.ensemble_.raw_predictions(table, n_threads))
        rows = [np.flatnonzero(predicted == k) for k in range(len(self.classes_))]
        return [
            (label, of_class)
            for label, of_class in zip(self.classes_.tolist(), rows, strict=True)
            if len(of_class) > 0
        ]

    def _needs_all_trees(self, scaling: EffectScale) -> bool:
        """Return whether contributions to one class need the trees of all classes."""
        ensemble = self.ensemble_
        if isinstance(ensemble, TableEnsemble):
            return False
        return ensemble.joint or len(scaling.models) > 1

    def _explain_together(
        self,
        table: InputTable,
        n_threads: int,
        shares: Sequence[tuple[NDArray[np.intp], EffectScale]],
        *,
        by_feature: bool,
    ) -> list[Part]:
        """Return contributions to classes, each for its rows; trees are explained once for all."""
        models = sorted({m for _, scaling in shares for m in scaling.models})
        values, baselines = self.ensemble_.contributions(
            table, n_threads, models, by_feature=by_feature
        )
        parts = []
        for rows, scaling in shares:
            at = np.searchsorted(models, scaling.models)
            precision = self._find_row_precision(
                table, n_threads, scaling.model, rows, by_feature=by_feature
            )
            scaling = scaling.about(baselines[at])
            parts.append(_make_part(rows, scaling, values[rows][..., at], *precision))
        return parts

    def _explain(
        self,
        table: InputTable,
        n_threads: int,
        rows: NDArray[np.intp],
        scaling: EffectScale,
        *,
        by_feature: bool,
    ) -> Part:
        """Return the contributions to one class of these rows of a table."""
        if len(rows) < table.n_rows:
            table, _ = self._open(take_rows(table.source, rows))
        raw, baselines = self.ensemble_.contributions(
            table, n_threads, scaling.models, by_feature=by_feature
        )
        precision = self._find_row_precision(
            table, n_threads, scaling.model, None, by_feature=by_feature
        )
        return _make_part(rows, scaling.about(baselines), raw, *precision)

    def _find_row_precision(
        self,
        table: InputTable,
        n_threads: int,
        model: int,
        rows: NDArray[np.intp] | None,
        *,
        by_feature: bool,
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """Return the standard errors of contributions to a model, and the terms' p-values.

        Each is None if it is unknown: without bags, and p-values of features that share terms.
        """
        terms = self.ensemble_.terms
        if terms is None or terms.n_bags == 0:
            return None, None
        terms.prepare([model], n_threads, with_bags=True)
        codes = self.ensemble_.binning.encode(table, None, n_threads)
        codes = codes if rows is None else np.ascontiguousarray(codes[:, rows])
        if not by_feature or len(terms.features) == terms.n_features:
            p_values = [terms.p_value_of(model, k) for k in range(len(terms.features))]
            known = np.array([np.nan if p is None else p for p in p_values])
            return terms.look_up_errors(codes, model, n_threads), known
        if not terms.bags:
            return None, None
        of_bags = [
            bag.contribute(codes, [model], n_threads, by_feature=True)[0][..., 0]
            for bag in terms.bags
        ]
        return find_standard_error(of_bags), None

    def explain_local(
        self, X: Any, y: ArrayLike | None = None, name: str | None = None, class_: Any = None
    ) -> Any:
        """Return an explanation of rows for ``interpret.show``, InterpretML's dashboard.

        Parameters
        ----------
        X
            As in `contributions`.
        y : array-like of shape (n_rows,), optional
            Their labels.
        name : str, optional
            The title.
        class_ : label, optional
            As in `contributions`.

        Returns
        -------
        interpret.api.templates.FeatureValueExplanation
            Contributions in log-odds.

        Raises
        ------
        ImportError
            If interpret-core is missing.
        ValueError, TypeError
            If there is no such class, or `y` cannot be read.
        """
        contributions = self.contributions(X, class_, "log_odds")
        codes = None if y is None else find_classes(y, len(contributions), self.classes_)
        title = name or f"{type(self).__name__}: {self._name_scale(class_)}"
        probability = self.predict_proba(X)
        return make_local(contributions, probability, self.classes_.tolist(), codes, title)


def _make_part(
    rows: NDArray[np.intp],
    scaling: EffectScale,
    raw: NDArray[np.float64],
    errors: NDArray[np.float64] | None = None,
    p_values: NDArray[np.float64] | None = None,
) -> Part:
    """Return the contributions to one class for these rows."""
    return Part(rows, Effects(scaling, raw, errors, absolute=False), p_values)
