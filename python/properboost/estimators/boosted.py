"""A fitted boosted classifier: its intervals, explanations and record of rounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from properboost.data.binning import FeatureBins
from properboost.data.features import find_feature
from properboost.data.frames import take_rows
from properboost.data.labels import find_classes
from properboost.data.table import InputTable
from properboost.estimators.base import TableClassifier, label_features
from properboost.estimators.predicting import PredictingMixin
from properboost.inspection.change_search import ChangeSearch
from properboost.inspection.changes import RowChanges
from properboost.inspection.contributions import Contributions, Part, make_contributions
from properboost.inspection.dashboards import make_global, make_local
from properboost.inspection.intervals import Precision, count_errors
from properboost.inspection.rules import FittedRule, list_rules
from properboost.inspection.scales import Effects, EffectScale, Scale, check_scale
from properboost.inspection.shape_functions import (
    InteractionFunction,
    ShapeFunction,
    make_interaction,
    make_shape,
)
from properboost.inspection.term_list import Term, list_terms
from properboost.inspection.tree_words import describe_line, describe_tree
from properboost.losses.probabilities import choose_classes
from properboost.models.bag_design import find_standard_error
from properboost.models.interactions import PairBins
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.terms import Features, Terms
from properboost.parameters import checks
from properboost.parameters.elsewhere import AdvisesMixin
from properboost.parameters.rows import ClassifierParameters

__all__ = ["BoostedClassifier"]

By: TypeAlias = Literal["feature", "term"]


class BoostedClassifier(ClassifierParameters, TableClassifier, PredictingMixin, AdvisesMixin):
    """A fitted boosted classifier, with predictions, explanations and files."""

    validation_scores_: NDArray[np.float64]
    search_: dict[str, Any]
    seed_: int

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def _describe_training(self) -> tuple[Sequence[FeatureBins], Sequence[NDArray[np.float64]]]:
        return self.ensemble_.binning.features, self.ensemble_.bin_weights

    # -- keeping ----------------------------------------------------------------------------------

    @property
    def is_compact(self) -> bool:
        """Whether the model has only what its predictions need."""
        return self.ensemble_.is_compact

    def _compacted(self) -> Self:
        compact = copy(self)
        compact.__dict__.pop("validation_scores_", None)
        compact.ensemble_ = self.ensemble_.compacted()
        return compact

    @property
    def intercept_(self) -> float | NDArray[np.float64]:
        """The constant in every raw prediction, or one for each class."""
        self._check_fitted()
        intercept = self.ensemble_.intercept
        return float(intercept[0]) if len(intercept) == 1 and len(self.classes_) == 2 else intercept

    @property
    def slope_(self) -> float | NDArray[np.float64]:
        """The factor of all steps, or one for each class."""
        self._check_fitted()
        slope = np.array(self.ensemble_.slopes or np.ones(len(self.ensemble_.models)))
        return float(slope[0]) if len(slope) == 1 and len(self.classes_) == 2 else slope

    def predict_interval(self, X: Any, confidence_level: float = 0.9) -> NDArray[np.float64]:
        """Return a confidence interval for each probability.

        It is an interval for the mean of fits to other rows of the same source, and not for the
        true probability.  Its half-width is a t quantile times the standard error by the bags.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        confidence_level : float, default=0.9
            The share of such intervals that cover their target, in (0, 1).

        Returns
        -------
        ndarray of shape (n_rows, n_classes, 2)
            The ends of the intervals.

        Raises
        ------
        ValueError
            If the model has no bags (`outer_bags`), or keeps no tables of theirs.
        """
        table, n_threads = self._open(X, coded=True)
        spread = self.ensemble_.bag_errors
        if spread is None:
            raise ValueError(
                "predict_interval needs a model that was fitted with outer_bags, of look-up tables "
                "or of trees with at most three features on a path, as with "
                "Tree(interaction_cst=3)"
            )
        link, reach = self._link, count_errors(spread.n_bags, confidence_level)
        raw = self.ensemble_.raw_predictions(table, n_threads)
        raws = spread.raw_predictions(table, n_threads)
        if raw.shape[1] == 1:  # the link is monotone, and its tails are exact
            error = spread.of(raws)
            low, high = (link.probabilities((raw + side * error)[:, 0]) for side in (-reach, reach))
            ends = np.stack([low, high], axis=2)
            ends[:, 0] = ends[:, 0, ::-1]  # it falls where the other rises
            return ends
        logits = [link.log_odds(bag_raw) for bag_raw in raws]
        error, middle = spread.of(logits), link.log_odds(raw)
        return np.stack([expit(middle - reach * error), expit(middle + reach * error)], axis=2)

    # -- explaining -------------------------------------------------------------------------------

    @property
    def n_iter_(self) -> int:
        """The number of rounds, or of cycles over the features, of the longest model."""
        self._check_fitted()
        return self.ensemble_.n_estimators

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """The rounds: arrays of equal length, ready for ``pandas.DataFrame``.

        ``class`` is the label that the round predicts.  ``feature`` is a position; those of
        `pairs_` follow the features', and -1 is a tree.  ``cost`` is the criterion that chose it,
        ``step`` multiplies its table, and ``risk`` is the mean training loss after it.  With
        validation rows there is ``validation_score``, too.
        """
        self._check_fitted()
        self._check_complete("history_", AttributeError)
        models = self.ensemble_.models
        rounds = [len(model) for model in models]
        history = {
            "class": np.repeat(self.classes_[-len(models) :], rounds),
            "round": np.concatenate([np.arange(1, n + 1) for n in rounds]),
            "feature": np.concatenate([model.feature for model in models]),
            "cost": np.concatenate([model.cost for model in models]),
            "step": np.concatenate([model.step for model in models]),
            "risk": np.concatenate([model.risk for model in models]),
        }
        if hasattr(self, "validation_scores_"):
            scores = [np.empty(len(model)) for model in models]
            for score, stage in zip(self.validation_scores_, self.ensemble_.stages(), strict=False):
                for model_scores, rounds_of_stage in zip(scores, stage, strict=True):
                    model_scores[rounds_of_stage.start : rounds_of_stage.stop] = score
            history["validation_score"] = np.concatenate(scores)
        return history

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importance of each feature; they add up to 1 (or are all 0).

        For trees it is the feature's share of the savings of all splits.  For look-up tables it is
        the mean absolute deviation of its shape function over the training rows, and half of that
        of its pairs.
        """
        self._check_fitted()
        if not isinstance(self.ensemble_, TableEnsemble):
            self._check_complete("feature_importances_", AttributeError)
        return self.ensemble_.importances()

    @property
    def importance_errors_(self) -> NDArray[np.float64]:
        """The standard errors of `feature_importances_` and, after them, of `pair_importances_`.

        They come from bags, see `outer_bags`; they are NaN once a user has set a table.
        """
        self._check_fitted()
        ensemble = self.ensemble_
        if not isinstance(ensemble, TableEnsemble) or ensemble.standard_errors is None:
            raise AttributeError(
                "importance_errors_ needs a model of look-up tables that was fitted with outer_bags"
            )
        return ensemble.standard_errors.importance_errors()

    @property
    def pairs_(self) -> list[tuple[Any, Any]]:
        """The pairs of features that have look-up tables, by position or name.

        The strongest come first, unless a user listed the pairs.
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        label = (lambda j: j) if names is None else (lambda j: str(names[j]))
        return [(label(pair.first), label(pair.second)) for pair in self._pairs()]

    def _pairs(self) -> tuple[PairBins, ...]:
        return self.ensemble_.pairs if isinstance(self.ensemble_, TableEnsemble) else ()

    @property
    def pair_importances_(self) -> NDArray[np.float64]:
        """The importance of each of `pairs_`, on the scale of `feature_importances_`."""
        self._check_fitted()
        ensemble = self.ensemble_
        if not isinstance(ensemble, TableEnsemble):
            # As of any attribute that is not there: scikit-learn's view of a model lists them all.
            raise AttributeError(
                "pair_importances_ is of look-up tables; joint effects of trees are in terms_"
            )
        if not ensemble.pairs:
            return np.empty(0)
        importances: NDArray[np.float64] = ensemble.term_importances()
        return importances[len(ensemble.binning.features) :]

    def _tables(self) -> TableEnsemble:
        self._check_fitted()
        if not isinstance(self.ensemble_, TableEnsemble):
            raise ValueError("explain_global is for look-up tables; this model is of trees")
        return self.ensemble_

    def _terms(self) -> Terms:
        self._check_fitted()
        terms = self.ensemble_.terms
        if terms is None:
            raise ValueError(self.ensemble_.not_additive)
        return terms

    def _prepare_terms(self, models: Iterable[int] | None = None, *, with_bags: bool) -> Terms:
        """Return the terms, once all threads have computed the tables of models, or of all."""
        terms = self._terms()
        models = range(terms.n_models) if models is None else models
        terms.prepare(models, checks.count_threads(self.n_jobs), with_bags=with_bags)
        return terms

    @property
    def terms_(self) -> list[Term]:
        """The terms of the model: the functions of one to three features that it adds up.

        The most important come first.  A `Term` has its `features` and its `importance`: the
        standard deviation of its part of the raw prediction.  With bags it has a `p_value`, the
        smallest of any class.  Look-up tables have terms, and so do trees whose paths have at most
        three features, as with ``Tree(interaction_cst=3)``.
        """
        self._check_fitted()
        if self.ensemble_.terms is None:
            # As of any attribute that is not there: scikit-learn's view of a model lists them all.
            raise AttributeError(self.ensemble_.not_additive)
        terms = self._prepare_terms(with_bags=True)
        return list_terms(terms, getattr(self, "feature_names_in_", None))

    def term_function(
        self, features: Any, class_: Any = None, scale: Scale = "raw"
    ) -> ShapeFunction | InteractionFunction:
        """Return the function of one term: the joint part of its features in the prediction.

        Parameters
        ----------
        features : int, str, or sequence of these
            The positions or names of the features of one of `terms_`, in any order.
        class_, scale
            As in `shape_function`.

        Returns
        -------
        ShapeFunction or InteractionFunction
            The function of one feature, or of several without the parts of fewer.

        Raises
        ------
        ValueError, TypeError
            If the model has no terms or not this one, or there is no such class or scale.
        """
        terms = self._terms()
        names = getattr(self, "feature_names_in_", None)
        listed = [features] if isinstance(features, str | int | np.integer) else [*features]
        positions = tuple(sorted(find_feature(f, names, self.n_features_in_) for f in listed))
        if positions not in terms.place:
            raise ValueError(
                f"the model has no term of {' and '.join(map(repr, listed))}; see terms_"
            )
        term = terms.place[positions]
        scaling = self._scale_function(term, class_, scale)
        precision = self._find_precision(scaling.model, term)
        if len(positions) > 1:
            return make_interaction(
                self.ensemble_,
                term,
                labels=label_features(self),
                named=names is not None,
                scaling=scaling,
                precision=precision,
            )
        return make_shape(
            self.ensemble_.binning.features[term],
            np.stack([terms.table_of(m, term) for m in scaling.models]),
            terms.weights_of(term),
            terms.shares_of(term),
            feature=term,
            name=None if names is None else str(names[term]),
            scaling=scaling,
            precision=precision,
        )

    def changes(self, X: Any, to: Any = None, keep: Sequence[int | str] = ()) -> RowChanges:
        """Return the nearest changes of rows that would change their predicted class.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        to : label, optional
            The class to predict; the default is any other.  Rows that have it have no change.
        keep : list of int or str, default=()
            The positions or names of features that stay as they are.

        Returns
        -------
        RowChanges
            Fewest features first, at most three; then the least sum of distances in training
            ranks, where a new category counts 1.  With `terms_` none nearer is missed.

        Raises
        ------
        ValueError, TypeError
            If there is no such class or feature.
        """
        table, n_threads = self._open(X)
        self._read_base(None, table.n_rows)
        labels, names = self.classes_.tolist(), getattr(self, "feature_names_in_", None)
        if to is not None and to not in labels:
            raise ValueError(f"to must be one of {labels}; got {to!r}")
        columns = [*range(self.n_features_in_)] if names is None else names.tolist()
        if isinstance(keep, str | int):
            raise TypeError(f"keep must be a list of features; got {keep!r}: write [{keep!r}]")
        fixed = {find_feature(j, names, self.n_features_in_, "keep") for j in keep}
        order = sorted({*range(self.n_features_in_)} - fixed, key=lambda j: columns[j])
        ensemble = self.ensemble_
        search = ChangeSearch.of(
            ensemble, lambda raw: choose_classes(self._decide(raw)), order, n_threads
        )
        codes = ensemble.binning.encode(table, None, n_threads)
        changes = search.run(codes, None if to is None else labels.index(to))
        return RowChanges.of(
            changes, ensemble.binning.features, columns, labels, is_exact=search.is_exact
        )

    def _find_precision(self, model: int, term: int) -> Precision | None:
        """Return the precision of a term's table, or None if it is unknown."""
        terms = self._prepare_terms([model], with_bags=True)
        errors, p_value = terms.errors_of(model, term), terms.p_value_of(model, term)
        if errors is None or p_value is None:
            return None
        return Precision(errors, p_value, terms.n_bags)

    def _scale_function(self, term: int, class_: Any, scale: Scale) -> EffectScale:
        """Return the scaling of a term's function."""
        if class_ is None and len(self.classes_) > 2:
            class_ = self._rank_classes(term)[0]
        scaling = self._make_scaling(class_, scale)
        terms = self._prepare_terms(scaling.models, with_bags=False)
        return scaling.about(np.array([terms.find_average(m) for m in scaling.models]))

    def _make_scaling(self, class_: Any, scale: Scale) -> EffectScale:
        label, model, sign = self._find_model(class_)
        n_models = len(self.ensemble_.models)
        position = model if n_models > 1 else int(sign > 0.0)
        return EffectScale(check_scale(scale), self._link, label, position, n_models)

    def _rank_classes(self, term: int) -> list[Any]:
        """Return the classes in the order of a term's effect, the largest first."""
        terms = self._prepare_terms(with_bags=False)
        shares, moved = terms.shares_of(term), []
        for m in range(len(self.ensemble_.models)):
            changes = np.abs(terms.table_of(m, term) - terms.mean_of(m, term))
            moved.append(-float(np.sum(shares * changes)))
        labels = self.classes_.tolist()[-len(moved) :]
        return [labels[k] for k in np.argsort(moved, kind="stable")]

    def shape_function(
        self, feature: int | str, class_: Any = None, scale: Scale = "raw"
    ) -> ShapeFunction:
        """Return the shape function of one feature: its part of the prediction.

        Parameters
        ----------
        feature : int or str
            Position or name.
        class_ : label, optional
            The class; the default is ``classes_[1]`` of two, and of more the one with the largest
            effect.
        scale : {"raw", "log_odds", "probability"}, default="raw"
            The part of the raw prediction F; or of the log-odds of the average row; or the
            probability of a row that is average otherwise.

        Returns
        -------
        ShapeFunction
            Values and training weights by bin; you can call it with values of the feature.

        Raises
        ------
        ValueError, TypeError
            If there is no such feature, class or scale, or the model has no terms.
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        function = self.term_function(
            find_feature(feature, names, self.n_features_in_), class_, scale
        )
        assert isinstance(function, ShapeFunction)
        return function

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
            return terms.look_up_errors(codes, model), known
        if not terms.bags:
            return None, None
        of_bags = [
            bag.contribute(codes, [model], n_threads, by_feature=True)[0][..., 0]
            for bag in terms.bags
        ]
        return find_standard_error(of_bags), None

    def explain_global(self, name: str | None = None, class_: Any = None) -> Any:
        """Return an explanation of the model for ``interpret.show``, InterpretML's dashboard.

        Parameters
        ----------
        name : str, optional
            The title.
        class_ : label, optional
            As in `shape_function`.

        Returns
        -------
        interpret.api.templates.FeatureValueExplanation
            Importances, and functions in log-odds, with intervals if there are bags.

        Raises
        ------
        ImportError
            If interpret-core is missing.
        ValueError
            If the model is of trees, or there is no such class.
        """
        ensemble = self._tables()
        features = range(self.n_features_in_)
        shapes = [self.shape_function(j, class_, "log_odds") for j in features]
        pairs = [
            function
            for pair in self._pairs()
            if isinstance(
                function := self.term_function((pair.first, pair.second), class_, "log_odds"),
                InteractionFunction,
            )
        ]
        title = name or f"{type(self).__name__}: {self._name_scale(class_)}"
        return make_global(shapes, pairs, ensemble.term_importances(), title)

    def explain_local(
        self, X: Any, y: ArrayLike | None = None, name: str | None = None, class_: Any = None
    ) -> Any:
        """Return an explanation of rows for ``interpret.show``, InterpretML's dashboard.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
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

    def _name_scale(self, class_: Any) -> str:
        if class_ is None and len(self.classes_) > 2:
            return "log-odds"
        return f"log-odds of {self._find_model(class_)[0]}"

    def describe_tree(self, number: int, class_: Any = None) -> str:
        """Return the tree of one round as text, with the values of its leaves.

        Parameters
        ----------
        number : int
            The round, from 1 on.
        class_ : label, optional
            The class; the default is ``classes_[1]`` of two.

        Returns
        -------
        str
            A line per branch.  Leaves show their part of the raw prediction; lines have slopes
            times features' distances from their means.

        Raises
        ------
        ValueError
            If the model is not of trees, or has no such round or class.

        Examples
        --------
        >>> from properboost import ProperBoostClassifier, Tree
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> tree = Tree(max_leaf_nodes=2, max_features=1.0)
        >>> print(ProperBoostClassifier(weak_learner=tree).fit(X, y).describe_tree(1))
        worst perimeter <= 106.1
        |   +0.144
        106.1 < worst perimeter
        |   -0.09603
        """
        self._check_fitted()
        _, model, sign = self._find_model(class_)
        rounds = self.ensemble_.models[model]
        if rounds.trees is None:
            raise ValueError("describe_tree is for models of trees")
        number = checks.integer("number", number, 1, len(rounds))
        features, names = self.ensemble_.binning.features, label_features(self)
        lines = rounds.lines_of(number - 1)
        ends = [f"{sign * value:+.4g}" for value in rounds.table(number - 1)]
        if lines is not None:
            signed = lines.times(np.full(len(ends), sign))
            ends = [
                f"{end}{describe_line(signed, k, features, names)}" for k, end in enumerate(ends)
            ]
        return describe_tree(rounds.tree(number - 1), features, names, ends)

    def rules(self, class_: Any = None) -> list[FittedRule]:
        """Return the rules of a model of rules, one per round.

        Parameters
        ----------
        class_ : label, optional
            The class; the default is ``classes_[1]`` of two.

        Returns
        -------
        list of FittedRule
            By round; the raw prediction is `intercept_` plus the sum of their values.

        Raises
        ------
        ValueError
            If the model is not of rules or was edited, or there is no such class.

        Examples
        --------
        >>> from properboost import ProperBoostClassifier
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = ProperBoostClassifier(weak_learner="rule", response="sign").fit(X, y)
        >>> print(model.rules()[0])
        106.1 < worst perimeter and 20.44 < worst texture: -1, otherwise +1
        """
        self._check_fitted()
        if self.ensemble_.edits:
            raise ValueError("rules() is of models as they were fitted; this one was edited")
        label, model, sign = self._find_model(class_)
        rounds, features = self.ensemble_.models[model], self.ensemble_.binning.features
        trees = [(rounds.tree(t), rounds.table(t)) for t in range(len(rounds))]
        return list_rules(trees, features, label_features(self), sign, label)

    def _find_model(self, class_: Any) -> tuple[Any, int, float]:
        """Return a class's label, its model, and the sign of its raw prediction."""
        labels = self.classes_.tolist()
        if len(labels) == 2 and class_ is None:
            return labels[1], 0, 1.0
        if class_ not in labels:
            raise ValueError(f"class_ must be one of {labels}; got {class_!r}")
        k = labels.index(class_)
        if len(labels) == 2:
            return labels[k], 0, 1.0 if k == 1 else -1.0
        return labels[k], k, 1.0


def _make_part(
    rows: NDArray[np.intp],
    scaling: EffectScale,
    raw: NDArray[np.float64],
    errors: NDArray[np.float64] | None = None,
    p_values: NDArray[np.float64] | None = None,
) -> Part:
    """Return the contributions to one class for these rows."""
    return Part(rows, Effects(scaling, raw, errors, absolute=False), p_values)
