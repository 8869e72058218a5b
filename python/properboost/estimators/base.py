"""The base of every classifier: it reads tables of any kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from properboost.data.frames import open_table
from properboost.data.table import Table
from properboost.parameters import checks
from properboost.parameters.shared import RunParameters
from properboost.persistence import files
from properboost.whole_file import AnyPath

__all__ = ["TableClassifier", "load_model"]


class TableClassifier(RunParameters, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of tables with missing values and categories."""

    classes_: NDArray[Any]
    feature_names_in_: NDArray[np.object_]
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        raise NotImplementedError

    @contextmanager
    def _restored_on_failure(self) -> Iterator[None]:
        """Restore the previous model, with its column names, if a fit fails or is interrupted."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )

    def _open(self, X: Any) -> tuple[Table, int]:
        """Return the rows to predict, and the threads to do it with."""
        self._check_fitted()
        return open_table(self, X, reset=False), checks.count_threads(self.n_jobs)

    def _set_features(self, n_features: int, names: NDArray[np.object_] | None) -> None:
        """Set what is known of the features: how many they are, and their names, if any."""
        self.n_features_in_ = n_features
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names

    def _set_features_of(self, other: "TableClassifier") -> None:
        """Set the features that another model was fitted to."""
        self._set_features(other.n_features_in_, getattr(other, "feature_names_in_", None))

    def _feature_labels(self) -> list[str]:
        """Return the features' names, or words for their positions."""
        positions = [f"feature {j}" for j in range(self.n_features_in_)]
        return [str(name) for name in getattr(self, "feature_names_in_", positions)]

    # -- keeping ----------------------------------------------------------------------------------

    def save_model(self, path: AnyPath) -> None:
        """Write the fitted model to a JSON file, for `properboost.load_model`.

        Parameters
        ----------
        path : str, bytes or path
            The file.  An existing one is replaced once the new one is complete and on the disk, and
            keeps its mode; the link stays where it is a symbolic one.  Pipes and devices, as
            ``/dev/stdout``, are written to.

        Raises
        ------
        ValueError, TypeError
            If a parameter is not allowed, or files cannot hold it; the message names it.
        OSError
            If the file cannot be written, which leaves the one before as it was.

        Notes
        -----
        A model of a class derived from one of the package's is saved as that class, with the
        parameters that it has, unless the derived class is registered (`persistence.kind`).

        Files hold no code.  Where a search was given a splitter, ready-made splits or a function
        that scores, the loaded search has their description in `cv` or `scoring`: set the parameter
        before you fit again.
        """
        self._check_can_be_saved()
        files.save(self, path)

    def _check_can_be_saved(self) -> None:
        self._check_fitted()


def load_model(path: AnyPath) -> TableClassifier:
    """Read a model that was written by the method `save_model` of an estimator.

    Parameters
    ----------
    path : str, bytes or path
        The file.

    Returns
    -------
    TableClassifier
        The fitted estimator, of the class that was saved, with its parameters.  Its predictions are
        bit for bit those of the one that was saved.  A search comes back with its results.

    Raises
    ------
    ValueError
        If the file is not a model this version can read; the message names the file and the field.
    OSError
        If it cannot be read at all.
    """
    model: TableClassifier = files.load(path)
    return model
