"""The parts of a fitted boosted classifier: importances, terms and their functions, and trees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.features import find_feature
from properboost.estimators.base import label_features
from properboost.estimators.predicting import PredictingMixin
from properboost.inspection.dashboards import make_global
from properboost.inspection.intervals import Precision
from properboost.inspection.rules import FittedRule, list_rules
from properboost.inspection.scales import EffectScale, Scale, check_scale
from properboost.inspection.shape_functions import (
    InteractionFunction,
    ShapeFunction,
    make_interaction,
    make_shape,
)
from properboost.inspection.term_list import Term, list_terms
from properboost.inspection.tree_words import describe_line, describe_tree
from properboost.models.interactions import PairBins
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.terms import Terms
from properboost.parameters import checks

__all__ = ["DescribingMixin", "prepare_terms"]


class DescribingMixin(PredictingMixin):
    """The description of a fitted boosted classifier by the parts that it adds up."""

    n_features_in_: int

    def _check_fitted(self) -> None:
        raise NotImplementedError

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importance of each feature; they add up to 1 (or are all 0).

        For trees it is the feature's share of the savings of all splits.  For look-up tables it is
        the mean absolute deviation of its shape function over the training rows, and half of that
        of its pairs.
        """
        self._check_fitted()
        if not isinstance(self.ensemble_, TableEnsemble):
            if self.ensemble_.is_compact and self.ensemble_.terms is not None:
                raise AttributeError(
                    "feature_importances_ is not available: the model was saved compact, edited or "
                    "merged; terms_ has the importance of each term"
                )
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
                "importance_errors_ needs a model of look-up tables that was fitted with "
                "outer_bags; terms_ has the standard errors of terms of trees, too"
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
        features = self.ensemble_.find_bins(rounds, number - 1).features
        names = label_features(self)
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
        class_
            As in `describe_tree`.

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


def prepare_terms(model: DescribingMixin, *, with_bags: bool) -> Terms:
    """Return a model's terms, once all threads have computed their tables."""
    return model._prepare_terms(with_bags=with_bags)
