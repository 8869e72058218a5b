"""The search for AR-Boost's rho, by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from properboost.data.frames import open_table
from properboost.data.labels import read_rows
from properboost.data.sorted_rows import HELD_OUT, LEARNS, SortedRows
from properboost.engine.local import LocalRows, TableSource
from properboost.estimators.arboost import (
    ARBoostClassifier,
    VotingClassifier,
    boost_votes,
    check_voting,
    describe_votes,
    find_rows_per_bin,
    is_binary,
)
from properboost.losses.probabilities import as_predicted
from properboost.model_selection.cross_validation import (
    CVTask,
    check_best_score,
    cross_validate,
    describe_results,
    read_task,
)
from properboost.model_selection.cv_scores import find_best, mean_scores
from properboost.model_selection.fits import Fits, SplitFits
from properboost.models.fitted_model import FittedModel
from properboost.parameters import checks
from properboost.parameters.declare import estimator, parameter
from properboost.parameters.kinds import Scoring
from properboost.parameters.rows import read_binning
from properboost.parameters.splitters import CV
from properboost.progress import show_progress
from properboost.scoring import HeldOutRows

__all__ = ["ARBoostClassifierCV", "read_parameters"]

RHOS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""The values of "auto": the paper's examples lie between 4 and 6."""


def _read_rhos(name: str, value: object) -> list[float]:
    return checks.auto_or_list(name, value, checks.positive) or list(RHOS)


@estimator
class ARBoostClassifierCV(VotingClassifier):
    """AR-Boost with rho chosen by cross-validation, refitted to all rows.

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

    References
    ----------
    .. [5] Schapire and Singer (1999). Improved boosting algorithms using confidence-rated
       predictions. Machine Learning 37.
    .. [6] Raetsch, Onoda and Mueller (2001). Soft margins for AdaBoost. Machine Learning 42.
    .. [7] Jin, Liu, Si, Carbonell and Hauptmann (2003). A new boosting algorithm using
       input-dependent regularizer. ICML.

    Examples
    --------
    >>> from properboost import ARBoostClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ARBoostClassifierCV(rhos=[1.0, 3.0], n_estimators=20).fit(X, y).rho_ in (1.0, 3.0)
    True
    """

    rhos: Literal["auto"] | Sequence[float] = parameter(
        default="auto",
        kw_only=False,
        check=_read_rhos,
        kind='list of float or "auto"',
        doc="""
        Values to try.  "auto" is 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8 and 10.  Among equally good ones
        the first is taken.
        """,
    )
    cv: CV = parameter(
        default=5,
        check=lambda _, value: value,  # rows are needed to judge it
        kind="int, splitter or iterable",
        form="not saved",
        doc="""
        As in scikit-learn's searches; a number means stratified folds.  Bins are found once, from
        all rows, never from labels.
        """,
    )
    scoring: Scoring = parameter(
        default="accuracy",
        check=lambda _, value: value,  # classes are needed to judge it
        kind="str, callable or None",
        form="not saved",
        doc="""
        As in `ProperBoostClassifierCV`: a scorer's name, or a callable (estimator, X, y) -> float.
        """,
    )

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | float | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
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
        groups : array-like of shape (n_rows,), optional
            The group of each row, for splitters that keep groups together.

        Returns
        -------
        self : ARBoostClassifierCV

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described.
        MemoryError
            If the system has less memory left than the fit needs.
        """
        with self._restored_on_failure():
            rhos, plain = read_parameters(self)
            table = open_table(self, X, reset=True)
            rows = read_rows(
                y, table.n_rows, sample_weight, self.class_weight, self.normalize_weights
            )
            self._check_classes(rows)
            task = read_task(table.source, rows, cv=self.cv, scoring=self.scoring, groups=groups)
            order = rows.sort()
            training = TableSource(table).encode(
                read_binning(plain, find_rows_per_bin(plain)), rows, order
            )
            training = training.as_dense()
            models = [clone(plain).set_params(rho=rho) for rho in rhos]
            total = self.n_estimators * len(models) * task.n_splits
            shown = f"best {task.score_name}"
            with show_progress(self.verbose, total, "searching", shown) as report:
                scores = cross_validate(
                    _fit_on_splits(models, task, order, training),
                    len(models),
                    task.n_splits,
                    [task.score],
                    report=report,
                ).values[0, :, :, -1]
            means = mean_scores(scores)
            chosen = find_best(means)
            check_best_score(means[chosen], self.scoring)
            params = [{"rho": rho} for rho in rhos]
            self.cv_results_ = describe_results(params, params, scores)
            self.best_score_ = float(means[chosen])
            best = models[chosen]
            best._fit_to(training)
            self._give_features_to(best)
            self.best_estimator_ = best
            self._set_voting(best._voting)
            return FittedModel.of(best).move_to(self)

    def _compacted(self) -> Self:
        return self._copy_around(self.best_estimator_)


def read_parameters(search: ARBoostClassifierCV) -> tuple[list[float], ARBoostClassifier]:
    """Check every parameter that does not depend on the data.

    Returns the values of rho, and the model without one of them.
    """
    rhos = _read_rhos("rhos", search.rhos)
    parameters = search.get_params(deep=False)
    passed_on = {k: v for k, v in parameters.items() if k not in ("rhos", "cv", "scoring")}
    plain = ARBoostClassifier(**passed_on)
    check_voting(plain)
    if is_binary(search) and rhos != [1.0] and search.mistrust > 0.0:
        raise ValueError(f"rhos must be [1] with mistrust={search.mistrust!r}; got {rhos!r}")
    return rhos, plain


def _fit_on_splits(
    models: Sequence[ARBoostClassifier], task: CVTask, order: SortedRows, training: LocalRows
) -> Iterator[Fits]:
    """Yield the models on each split, with rows taken from the codes of all rows."""
    links = [describe_votes(model, len(training.classes)).link for model in models]
    for split in task.splits():
        role = split.role[order.order]
        held_out = HeldOutRows.of(task.rows, order.order[role == HELD_OUT])
        train = training.of_rows(role == LEARNS)
        codes = np.compress(role == HELD_OUT, training.dense_codes, axis=1)
        fit = partial(_fit, models, train, codes)
        yield SplitFits(split.index, held_out, links, models[0].n_estimators, fit)


def _fit(
    models: Sequence[ARBoostClassifier],
    training: LocalRows,
    held_out: NDArray[np.uint8],
    candidate: int,
) -> NDArray[np.float64]:
    """Fit one of the models; return its raw predictions of the rows with the codes `held_out`."""
    model = models[candidate]
    ensemble, _ = boost_votes(model, training)
    return as_predicted(ensemble.of_codes(held_out, training.n_threads))
