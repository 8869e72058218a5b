"""A fitted model ready for serving: single rows in, probabilities out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scorer"]


class Scorer:
    """A scorer of single rows that predicts as a fitted model, without the cost of a table.

    `compile` of a fitted classifier makes it, and `load_scorer` of a model file.  It keeps the
    model as it was then: neither `fit` nor `set_params` nor `monotonize` changes it.  Calls do not
    change it either, so threads may share it; each call runs on the thread that makes it.  It can
    be pickled.

    Rows are what its methods' `X` may be:

    - a dict, or another mapping, from the names of features to values (from their positions, where
      the model was fitted without names).  Every feature must be there, with None or NaN where its
      value is missing; other keys are ignored.  Numbers may be Python's or numpy's, categories are
      strings, or numbers where the model was fitted on such;
    - a list of such mappings;
    - a table of one row of pandas, polars or Arrow; its values count, and not the types of its
      columns; the columns must be those of the fit, in their order;
    - any other table that the model predicts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    feature_names_in_ : list
        The keys of a row: the features' names, or their positions.  Names that are no strings
        stand here as text, and are keys as they are, too.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = ProperBoostClassifier().fit(X, y)
    >>> scorer = model.compile()
    >>> row = X.iloc[0].to_dict()
    >>> scorer(row) == model.predict_proba(X[:1])[0]
    array([ True,  True])
    >>> int(scorer.predict(row)[0])
    0
    """

    def __init__(self, model: Any, names: list[Any], read: Callable[[Any], Any]) -> None:
        """Take a fitted model, the keys of rows, and the function that reads rows."""
        self._model = _freeze(model)
        self._names = names
        self._read = read

    @property
    def model(self) -> Any:
        """The model that predicts, which nothing changes."""
        return self._model

    def of_model(self, model: Any) -> Scorer:
        """Return the scorer of a model that takes the same rows, such as one around this one's."""
        return Scorer(model, self._names, self._read)

    def __repr__(self) -> str:
        n_features, n_classes = len(self._names), len(self.classes_)
        name = getattr(self._model, "kind", type(self._model).__name__)
        article = "an" if name[0] in "AEO" else "a"
        return f"<scorer of {article} {name}: {n_features} features, {n_classes} classes>"

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        labels: NDArray[Any] = self._model.classes_
        return labels

    @property
    def feature_names_in_(self) -> list[Any]:
        """The keys of a row: the features' names, or their positions."""
        return self._names.copy()

    def __call__(self, row: Any) -> NDArray[np.float64]:
        """Return the probabilities of one row.

        Parameters
        ----------
        row : mapping, or table of one row
            The row.

        Returns
        -------
        ndarray of shape (n_classes,)
            ``predict_proba(row)[0]``.

        Raises
        ------
        ValueError
            If a feature is missing, a value is not one of its feature's, or it is not one row; the
            message names the feature.
        """
        probability = self.predict_proba(row)
        if len(probability) != 1:
            raise ValueError(f"row must be one row; got {len(probability)}: use predict_proba")
        only: NDArray[np.float64] = probability[0]
        return only

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes, bit for bit those of the model.

        Parameters
        ----------
        X : mapping, list of mappings, or table
            The rows; a mapping is one.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        probability: NDArray[np.float64] = self._model.predict_proba(self._read(X))
        return probability

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the raw predictions F, bit for bit those of the model.

        Parameters
        ----------
        X : mapping, list of mappings, or table
            The rows; a mapping is one.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_classes) with more than two classes
        """
        raw: NDArray[np.float64] = self._model.decision_function(self._read(X))
        return raw

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels.

        Parameters
        ----------
        X : mapping, list of mappings, or table
            The rows; a mapping is one.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        labels: NDArray[Any] = self._model.predict(self._read(X))
        return labels

    def count_drift(self, X: Any) -> dict[str, NDArray[Any]]:
        """Count, feature by feature, the values that training did not have.

        Parameters
        ----------
        X : mapping, list of mappings, or table
            The rows; a mapping is one.

        Returns
        -------
        dict of ndarray of shape (n_features,)
            As the model's method of this name returns.
        """
        counts: dict[str, NDArray[Any]] = self._model.count_drift(self._read(X))
        return counts


def _freeze(model: Any) -> Any:
    """Return a copy of the model with read-only copies of its arrays, on one thread.

    Its methods replace its other attributes and do not change them in place.
    """
    frozen = copy.copy(model)
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray):
            locked = value.copy()
            locked.flags.writeable = False
            setattr(frozen, name, locked)
    frozen.n_jobs = 1
    return frozen
