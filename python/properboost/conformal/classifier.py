"""Sets of classes that hold the true one with a promised frequency: conformal prediction."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.conformal.around import AroundClassifier
from properboost.conformal.calibration_scores import (
    CalibrationScores,
    count_needed,
    find_limit,
)
from properboost.conformal.held_out import HeldOut
from properboost.conformal.scores import SCORES, ScoreName, draw_uniform
from properboost.data.distinct import find_distinct
from properboost.data.labels import read_groups
from properboost.parameters import checks
from properboost.parameters.declare import estimator, parameter

__all__ = ["ConformalClassifier"]


@estimator
class ConformalClassifier(AroundClassifier):
    """Sets of classes that hold a new row's class with a promised frequency.

    At the confidence level 0.9 the set of a new row holds its class in at least nine of ten cases,
    however good or bad the probabilities are.  The promise is for rows that are exchangeable with
    the calibration rows, as independent rows of one source are, and on average over both.  It is
    not for each kind of row: see `subgroups` in `fit`.

    With ``cv=None`` (split conformal prediction [1]_) the rows of `fit` must be new to the
    `estimator`: neither its training nor its validation rows, nor rows that a search scored.  The
    object cannot check this.  With folds (CV+ [3]_) the guarantee is 1 - 2 (1 - level), less a
    little; the coverage is near the level.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of a set's columns.
    models_ : list
        The models that predict: the `estimator`, or a clone for each fold.
    n_calibration_rows_ : int or dict
        The number of calibration rows, by subgroup if there are any.

    References
    ----------
    .. [1] Sadinle, Lei and Wasserman (2019). Least ambiguous set-valued classifiers with bounded
       error levels. Journal of the American Statistical Association 114(525).
    .. [2] Romano, Sesia and Candès (2020). Classification with valid and adaptive coverage.
       NeurIPS.
    .. [3] Barber, Candès, Ramdas and Tibshirani (2021). Predictive inference with the jackknife+.
       Annals of Statistics 49(1).

    Examples
    --------
    >>> from properboost import ConformalClassifier, ProperBoostClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ProperBoostClassifier().fit(X[::2], y[::2])
    >>> sets = ConformalClassifier(model).fit(X[1::2], y[1::2])
    >>> sets.predict_set(X[:1], confidence_level=0.9)
    array([[ True, False, False]])
    """

    conformity_score: ScoreName = parameter(
        default="lac",
        check=checks.one_of(ScoreName),
        doc="""
        The conformity score.  "lac" includes each class whose probability is large enough: its sets
        are the smallest on average, and some may be empty.  "aps" [2]_ adds up classes from the
        most probable on: its sets are larger for rows whose class is uncertain.  It needs at least
        three classes.
        """,
    )
    per_class: bool = parameter(
        default=False,
        check=checks.boolean,
        doc="""
        Keep the promise for the rows of each class by themselves, by the calibration rows of that
        class: for rare classes.
        """,
    )

    def fit(self, X: Any, y: ArrayLike, *, groups: Any = None, subgroups: Any = None) -> Self:
        """Score the calibration rows, after fitting models of folds if there is a `cv`.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The calibration rows; with `cv`, also the training rows of the folds' models.
        y : array-like of shape (n_rows,)
            Their labels.
        groups : array-like of shape (n_rows,), optional
            Rows that the folds keep together, for splitters such as ``GroupKFold``.
        subgroups : array-like of shape (n_rows,), optional
            The subgroup of each row, as a region: the promise then holds within each, by its
            calibration rows alone.

        Returns
        -------
        self : ConformalClassifier

        Raises
        ------
        ValueError, TypeError
            If an argument is not allowed; the message names it.
        """
        with self._restored_on_failure():
            held_out = self._hold_out(X, y, groups)
            self._calibrate(held_out, X, subgroups)
        return self

    def _calibrate(self, held_out: list[HeldOut], X: Any, subgroups: Any) -> None:
        """Score the rows that the models did not see, and sort their scores by cell."""
        if self.conformity_score == "aps" and len(self.classes_) < 3:
            raise ValueError(
                "conformity_score must be 'lac' for two classes; got 'aps' for "
                f"{self.classes_.tolist()}"
            )
        n_rows = sum(len(part.rows) for part in held_out)
        self._subgroups, subgroup = _read_subgroups(subgroups, n_rows)
        uniform = np.zeros(n_rows) if self.conformity_score == "lac" else self._draw(held_out, X)
        self._scores = [
            CalibrationScores.of(*self._score(part, subgroup, uniform), self._n_cells)
            for part in held_out
        ]

    def _draw(self, held_out: list[HeldOut], X: Any) -> NDArray[np.float64]:
        """Return a number for each row, by the first model: a new row has one for all models."""
        only = len(held_out) == 1
        return draw_uniform(held_out[0].probability if only else self.models_[0].predict_proba(X))

    def _score(
        self, part: HeldOut, subgroup: NDArray[np.intp], uniform: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the score of each held-out row's class, and the cell that it counts in."""
        scores = SCORES[self.conformity_score](part.probability, uniform[part.rows])
        of_class = scores[np.arange(len(scores)), part.class_of_row]
        cell = subgroup[part.rows]
        return of_class, cell * len(self.classes_) + part.class_of_row if self.per_class else cell

    @property
    def _n_subgroups(self) -> int:
        return 1 if self._subgroups is None else len(self._subgroups)

    @property
    def _n_cells(self) -> int:
        """The number of sets of rows whose scores are compared."""
        return self._n_subgroups * (len(self.classes_) if self.per_class else 1)

    @property
    def n_calibration_rows_(self) -> int | dict[Any, int]:
        """The number of calibration rows, by subgroup if there are any."""
        counts = self._count_rows().reshape(self._n_subgroups, -1).sum(axis=1)
        if self._subgroups is None:
            return int(counts[0])
        return dict(zip(self._subgroups.tolist(), counts.tolist(), strict=True))

    def _count_rows(self) -> NDArray[np.int64]:
        """Return the number of calibration rows of each cell, over all models."""
        counts: NDArray[np.int64] = np.sum([scores.n_rows for scores in self._scores], axis=0)
        return counts

    def predict_set(
        self, X: Any, confidence_level: float = 0.9, *, subgroups: Any = None
    ) -> NDArray[np.bool_]:
        """Return the set of each row: the classes that its scores do not rule out.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        confidence_level : float, default=0.9
            How often a set must hold the class of its row, above 0 and below 1.
        subgroups : array-like of shape (n_rows,), optional
            The subgroup of each row, if `fit` had subgroups.

        Returns
        -------
        ndarray of bool, of shape (n_rows, n_classes)
            Whether each class is in the set, in the order of `classes_`.  A set may be empty, if
            every class is less probable than the calibration rows' own classes; it counts as a
            miss.

        Raises
        ------
        ValueError
            If an argument is not allowed, or `fit` had no row of a subgroup.
        """
        level = checks.level("confidence_level", confidence_level)
        probability = self._predict_all(X)
        cells = self._find_cells(subgroups, probability.shape[1])
        limits = self._find_limits(level, cells)
        uniform = draw_uniform(probability[0])
        below = np.zeros(probability.shape[1:], dtype=np.int64)
        for of_model, calibration in zip(probability, self._scores, strict=True):
            scores = SCORES[self.conformity_score](of_model, uniform)
            for k, cell in enumerate(cells):
                columns = slice(None) if len(cells) == 1 else slice(k, k + 1)
                below[:, columns] += calibration.count_below(scores[:, columns], cell)
        return below < limits

    def _find_cells(self, subgroups: Any, n_rows: int) -> list[NDArray[np.intp]]:
        """Return the cell in which each row's classes count: one of all, or one for each class."""
        subgroup = _find_subgroups(subgroups, n_rows, self._subgroups)
        if not self.per_class:
            return [subgroup]
        n_classes = len(self.classes_)
        return [subgroup * n_classes + k for k in range(n_classes)]

    def _find_limits(self, level: float, cells: list[NDArray[np.intp]]) -> NDArray[np.int64]:
        """Return the number of scores that exclude a class, (n_rows, 1) or (n_rows, n_classes)."""
        n_rows = self._count_rows()
        limits = np.array([find_limit(int(n), level) for n in n_rows])
        used = find_distinct(np.concatenate(cells))
        if np.any(limits[used] > n_rows[used]):
            warnings.warn(
                f"the level {level} needs at least {count_needed(level)} calibration rows, and "
                f"there are {n_rows[used].min()} in the smallest subgroup or class; until there "
                "are more, every class is in its sets: lower the level or add rows",
                stacklevel=3,
            )
        return np.stack([limits[cell] for cell in cells], axis=1)


def _read_subgroups(subgroups: Any, n_rows: int) -> tuple[NDArray[Any] | None, NDArray[np.intp]]:
    """Return the distinct subgroups, and the position of each row's."""
    entries = read_groups(subgroups, n_rows, "subgroups")
    if entries is None:
        return None, np.zeros(n_rows, dtype=np.intp)
    values, subgroup = np.unique(entries, return_inverse=True)
    return values, subgroup


def _find_subgroups(subgroups: Any, n_rows: int, known: NDArray[Any] | None) -> NDArray[np.intp]:
    """Return the position among the known ones of each row's subgroup."""
    values = read_groups(subgroups, n_rows, "subgroups")
    if known is None and values is not None:
        raise ValueError(
            f"subgroups must be None, because fit had none; got a {type(subgroups).__name__}"
        )
    if known is None or values is None:
        if known is not None:
            raise ValueError("subgroups must be given, as in fit; got None")
        return np.zeros(n_rows, dtype=np.intp)
    unknown = np.setdiff1d(values, known)
    if len(unknown):
        raise ValueError(
            f"subgroups must be among those of fit, {known.tolist()}; got {unknown.tolist()[0]!r}"
        )
    return np.searchsorted(known, values)
