"""The base of every classifier, which reads tables of any kind."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from properboost.data.binning import CodedTable, FeatureBins
from properboost.data.drift import Weights, describe_drift
from properboost.data.frames import open_table
from properboost.data.label_array import read_label_array
from properboost.data.names import copy_features, read_names
from properboost.data.rows import RowReader
from properboost.data.spelling import PLAIN, Spelling
from properboost.data.table import InputTable
from properboost.estimators.scorer import Scorer
from properboost.parameters import checks
from properboost.parameters.flat import refuse_flat_state
from properboost.parameters.rows import RunParameters
from properboost.persistence import files
from properboost.whole_file import AnyPath

__all__ = [
    "SavingMixin",
    "TableClassifier",
    "describe_training",
    "label_features",
    "load_model",
    "open_rows",
]


class SavingMixin:
    """A fitted classifier that can be written to a file."""

    spelling_: Spelling = PLAIN
    """The spelling of numbers in the text file of the training rows."""

    def __sklearn_is_fitted__(self) -> bool:
        raise NotImplementedError

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )

    @contextmanager
    def _restored_on_failure(self) -> Iterator[None]:
        """Restore the previous model, with its column names, if a fit fails or is interrupted."""
        before = self.__dict__.copy()
        self.__dict__.pop("spelling_", None)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def save_model(self, path: AnyPath, *, compact: bool = False) -> None:
        """Write the fitted model to a JSON file, for `properboost.load_model`.

        Parameters
        ----------
        path : str, bytes or path
            The file, packed by gzip if its name ends with ``.gz``.  An existing one stays until the
            new one is complete.
        compact : bool, default=False
            Leave out all that predictions and explanations do not need, as `history_`, staged
            predictions and a warm start do.

        Raises
        ------
        ValueError, TypeError
            If files cannot hold a parameter.
        OSError
            If the file cannot be written.
        """
        self._check_can_be_saved()
        checks.boolean("compact", compact)
        files.save(self._compacted() if compact else self, path)

    def _check_can_be_saved(self) -> None:
        self._check_fitted()

    @property
    def is_compact(self) -> bool:
        """Whether the model came from a compact file."""
        return False

    def _compacted(self) -> Self:
        """Return a copy of the fitted model with only what predictions need."""
        raise NotImplementedError

    def _copy_with(self, **attributes: Any) -> Self:
        """Return a copy with other values of these attributes."""
        other = copy(self)
        vars(other).update(attributes)
        return other


def check_fitted(model: Any) -> None:
    """Raise NotFittedError if a classifier is not fitted."""
    model._check_fitted()


def check_can_be_saved(model: Any) -> None:
    """Raise an error if no file can hold a classifier as it is."""
    model._check_can_be_saved()


Saved = TypeVar("Saved", bound=SavingMixin)


def make_compact(model: Saved) -> Saved:
    """Return a copy of a fitted classifier with only what predictions need."""
    return model._compacted()


class TableClassifier(RunParameters, SavingMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of tables with missing values and categories."""

    classes_: NDArray[Any]
    feature_names_in_: NDArray[np.object_]
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags

    def __setstate__(self, state: dict[str, Any]) -> None:
        refuse_flat_state(type(self), state)
        super().__setstate__(state)

    def _open(self, X: Any, *, coded: bool = False) -> tuple[InputTable, int]:
        """Return the rows to predict as a table, and the number of threads.

        With `coded`, `X` may be codes instead of values.
        """
        self._check_fitted()
        if coded and isinstance(X, CodedTable):
            X.set_features(self, reset=False)
            X.check_bins(self._describe_training()[0], "the model")
            table = X.restore()
        else:
            table = open_table(self, X, reset=False)
        return table, checks.count_threads_of(table.n_rows, self.n_jobs)

    def _give_features_to(self, other: "TableClassifier") -> None:
        """Set the number and names of another model's features to this one's."""
        copy_features(other, self)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of rows whose label is predicted.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels.
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.

        Returns
        -------
        float
        """
        # scikit-learn compares neither objects that are numbers nor pandas' nullable types.
        return float(super().score(X, read_label_array(y), sample_weight))

    # -- serving ----------------------------------------------------------------------------------

    def _describe_training(self) -> tuple[Sequence[FeatureBins], Weights | None]:
        """Return the bins of the features and, if known, the training weight of each code."""
        raise NotImplementedError

    def compile(self) -> Scorer:
        """Return a scorer of single rows: dicts, or tables of one row.

        Returns
        -------
        Scorer
            It predicts as the model does now, bit for bit.  Threads may share it, and you can
            pickle it.

        See Also
        --------
        properboost.load_scorer : The scorer of a model file, in a process without scikit-learn.
        """
        self._check_fitted()
        features, _ = self._describe_training()
        reader = RowReader(features, read_names(self))
        scorer = Scorer(getattr(self, "best_estimator_", self), reader.names, reader.read)
        scorer.predict_proba(reader.make_row())  # computes the cached properties
        return scorer

    def count_drift(self, X: Any) -> dict[str, NDArray[Any]]:
        """Count, feature by feature, the values that training did not have.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        dict of ndarray of shape (n_features,)
            Ready for ``pandas.DataFrame``: ``feature``, and numbers of rows.  ``unseen`` counts new
            categories, ``rare`` those in the bin that rare ones share, ``below`` and ``above``
            numbers beyond the training ones, ``missing`` missing values where training had none.
            They are NaN where unknown.
        """
        table, _ = self._open(X)
        features, weights = self._describe_training()
        return describe_drift(self, table, features, weights)

    # -- keeping ----------------------------------------------------------------------------------

    def _check_complete(self, request: str, error: type[Exception] = ValueError) -> None:
        """Raise an error with the name of a `request` that compact models cannot serve."""
        if self.is_compact:
            raise error(f"{request} is not available: the model was saved compact, or edited")


def load_model(path: AnyPath) -> TableClassifier:
    """Read a model from a file of the method `save_model`.

    Parameters
    ----------
    path : str, bytes or path
        The file, which may be packed by gzip, whatever it is called.

    Returns
    -------
    TableClassifier
        The fitted estimator, of the class that was saved, with its parameters.  Its predictions are
        bit for bit those of the saved one.  A search comes back with its results.  A model from a
        compact file (`save_model`) refuses by name what it lacks.

    Raises
    ------
    ValueError
        If the file is not a model this version can read; the message names the file and the field.
    OSError
        If the file cannot be read at all.
    """
    model: TableClassifier = files.read(path).model
    return model


def label_features(model: Any) -> list[str]:
    """Return the names of a fitted model's features, or "feature 0" and so on."""
    positions = [f"feature {j}" for j in range(model.n_features_in_)]
    return [str(name) for name in getattr(model, "feature_names_in_", positions)]


def describe_training(
    model: TableClassifier,
) -> tuple[Sequence[FeatureBins], Weights | None]:
    """Return the bins of a model's features and, if known, the training weight of each code."""
    return model._describe_training()


def open_rows(model: TableClassifier, X: Any, *, coded: bool = False) -> tuple[InputTable, int]:
    """Return rows to predict as a table, and the threads; with `coded`, `X` may be codes."""
    return model._open(X, coded=coded)
