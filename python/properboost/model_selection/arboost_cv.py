"""The search for AR-Boost's rho, by cross-validation."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from properboost import parameters
from properboost.boosting.engine import prepare
from properboost.data.frames import open_table
from properboost.data.labels import read_rows
from properboost.estimators.arboost import ARBoostClassifier, check_voting
from properboost.model_selection.cv_splits import TEST, TRAIN, find_splits
from properboost.model_selection.scoring import HeldOut, find_score
from properboost.progress import show_progress

__all__ = ["ARBoostClassifierCV"]

RHOS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""What "auto" tries: the paper's examples lie between 4 and 6."""


class ARBoostClassifierCV(ARBoostClassifier):
    """AR-Boost whose rho is chosen by cross-validation, and then fitted to all rows.

    Parameters
    ----------
    rhos : list of float or "auto", default="auto"
        What is tried.  "auto" is 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8 and 10.  Of equally good ones the
        first is taken.
    cv : int, splitter or iterable, default=5
        As in scikit-learn's searches; a number means stratified folds.  Bins are found once, from
        all rows, never from labels.
    scoring : str, callable or None, default="accuracy"
        As in `ProperBoostClassifierCV`: a scorer's name, or a callable (estimator, X, y) -> float.
    **parameters
        Those of `ARBoostClassifier` other than `rho`.

    Attributes
    ----------
    rho_ : float
        The one that was chosen.
    best_score_ : float
        Its mean score over the splits.
    best_estimator_ : ARBoostClassifier
        The model, without the search.
    cv_results_ : dict
        The scores of all, named as `sklearn.model_selection.GridSearchCV` does.

    Examples
    --------
    >>> from properboost import ARBoostClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ARBoostClassifierCV(rhos=[1.0, 3.0], n_estimators=20).fit(X, y).rho_ in (1.0, 3.0)
    True
    """

    best_estimator_: ARBoostClassifier
    best_score_: float
    cv_results_: dict[str, Any]

    def __init__(
        self,
        rhos: Any = "auto",
        *,
        cv: Any = 5,
        scoring: Any = "accuracy",
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        weak_learner: str = "stump",
        criterion: str = "gini",
        max_leaf_nodes: int = 8,
        max_depth: int | None = None,
        multiclass: str = "classes",
        mistrust: float = 0.0,
        damping: float = 0.0,
        max_bins: int = 255,
        rows_per_bin: Any = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.rhos = rhos
        self.cv = cv
        self.scoring = scoring
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.weak_learner = weak_learner
        self.criterion = criterion
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.multiclass = multiclass
        self.mistrust = mistrust
        self.damping = damping
        self.max_bins = max_bins
        self.rows_per_bin = rows_per_bin
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Choose rho by cross-validation, and fit with it to all rows.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels: integers, booleans or strings, at least two different ones.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts, finite and at least 0; in the scores, too, where they take
            weights.

        Returns
        -------
        self : ARBoostClassifierCV

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described; the message names it.
        """
        with self._restored_on_failure():
            rhos = parameters.auto_or_list("rhos", self.rhos, parameters.positive) or list(RHOS)
            own = self.get_params(deep=False)
            passed_on = {k: v for k, v in own.items() if k not in ("rhos", "cv", "scoring")}
            plain = ARBoostClassifier(**passed_on)
            check_voting(plain)
            if self._is_binary() and rhos != [1.0] and self.mistrust > 0.0:
                raise ValueError(f"rhos must be [1] with mistrust={self.mistrust!r}; got {rhos!r}")
            table = open_table(self, X, reset=True)
            rows = read_rows(y, table.n_rows, sample_weight, self.class_weight)
            self._check_classes(rows)
            score = find_score(self.scoring, rows.classes, table.source)
            splits = find_splits(self.cv, table, rows, None)
            order = rows.sort()
            training = prepare(plain._with_bins(), table, rows, order)
            models = [clone(plain).set_params(rho=rho) for rho in rhos]
            roles = [
                group.roles[s, group.part][order.order]
                for group in splits
                for s in range(len(group.roles))
            ]
            scores = np.empty((len(rhos), len(roles)))
            n_rounds = self.n_estimators * len(models)
            with show_progress(self.verbose, n_rounds * (len(roles) + 1), "searching") as report:
                for k, role in enumerate(roles):
                    held_out = order.order[role == TEST]
                    weight = None if rows.weight is None else rows.weight[held_out]
                    tested = HeldOut(held_out, rows.codes[held_out], weight)
                    some = training.of_rows(role == TRAIN)
                    codes = np.compress(role == TEST, training.codes, axis=1)
                    for c, model in enumerate(models):
                        ensemble = model._boost(some)
                        raw = ensemble.of_codes(codes, training.n_threads)
                        voting = model._describe_votes(len(training.classes))
                        scores[c, k] = score(tested, voting.link, self._decide(raw))
                        if report is not None:
                            done = k * n_rounds + (c + 1) * self.n_estimators
                            report(done, float(scores[: c + 1, k].max()))
            means = scores.mean(axis=1)
            best = models[int(means.argmax())].set_params(verbose=self.verbose)
            best._set_votes(training, best._boost(training))
            best.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                best.feature_names_in_ = self.feature_names_in_
            self.best_estimator_ = best
            self.best_score_ = float(means.max())
            self.cv_results_ = _describe_scores(rhos, scores)
            self._set_voting(best._voting)
            return self._set_fitted(best.loss_, best.classes_, best._ensemble, best._seed)

    def _as_classifier(self) -> Any:
        return self.best_estimator_


def _describe_scores(rhos: list[float], scores: NDArray[np.float64]) -> dict[str, Any]:
    means = scores.mean(axis=1)
    rank = 1 + np.sum(means[:, None] < means, axis=1)
    return {
        "params": [{"rho": rho} for rho in rhos],
        "param_rho": np.ma.array(rhos),
        **{f"split{k}_test_score": column.copy() for k, column in enumerate(scores.T)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": rank.astype(np.int32),
    }
