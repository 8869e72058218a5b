"""Fitted models that only predict, and so need none of scikit-learn's classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning, FeatureBins
from properboost.data.columns import LinearColumns
from properboost.data.drift import Weights, describe_drift
from properboost.data.frames import open_array, open_table
from properboost.data.names import ColumnNames, keep_names, read_names
from properboost.data.rows import RowReader
from properboost.data.table import InputTable, is_plain
from properboost.estimators.linear_predicting import LinearPredictingMixin
from properboost.estimators.predicting import PredictingMixin
from properboost.estimators.scorer import Scorer
from properboost.estimators.udt_predicting import Phi, TreePredictingMixin
from properboost.losses.probabilities import Link
from properboost.models.fitted_model import FittedModel
from properboost.models.tree import TreeNodes
from properboost.notices import warn

__all__ = ["BoostedPredictor", "LinearPredictor", "Predictor", "TreePredictor"]


class Predictor:
    """A fitted model of a file: its features and classes, and no parameters."""

    kind: str
    """The name of the estimator's class."""

    classes_: NDArray[Any]
    n_jobs: int | None = 1

    def __init__(self, n_features: int, names: ColumnNames | None) -> None:
        self.n_features_in_ = n_features
        keep_names(self, names)

    def _open(self, X: Any, *, coded: bool = False) -> tuple[InputTable, int]:
        del coded  # codes are of a fit
        array = np.asarray(X) if isinstance(X, list | tuple) else X
        if is_plain(array, 2) and array.shape[1] == self.n_features_in_:
            if hasattr(self, "feature_names_in_"):
                warn(
                    f"X does not have valid feature names, but {self.kind} was fitted with "
                    "feature names"
                )
            return open_array(array), 1
        return open_table(self, X, reset=False), 1

    def _describe_training(self) -> tuple[Sequence[FeatureBins], Weights | None]:
        """Return the bins of the features and, if known, the training weight of each code."""
        raise NotImplementedError

    def compile(self) -> Scorer:
        """Return the scorer of single rows."""
        features, _ = self._describe_training()
        reader = RowReader(features, read_names(self))
        return Scorer(self, reader.names, reader.read)

    def count_drift(self, X: Any) -> dict[str, NDArray[Any]]:
        """Count the values that training did not have, as estimators do."""
        table, _ = self._open(X)
        return describe_drift(self, table, *self._describe_training())


class BoostedPredictor(Predictor, PredictingMixin):
    """A boosted model that only predicts; with `link` its votes become probabilities by that."""

    def __init__(
        self, fitted: FittedModel, names: ColumnNames | None, link: Link | None = None
    ) -> None:
        super().__init__(len(fitted.ensemble.binning.features), names)
        fitted.move_to(self)
        self._fixed_link = link

    @property
    def _link(self) -> Link:
        return super()._link if self._fixed_link is None else self._fixed_link

    def _describe_training(self) -> tuple[Sequence[FeatureBins], Weights | None]:
        return self.ensemble_.binning.features, self.ensemble_.bin_weights


class TreePredictor(Predictor, TreePredictingMixin):
    """A tree that only predicts."""

    def __init__(
        self,
        classes: NDArray[Any],
        binning: Binning,
        tree: TreeNodes,
        phi: tuple[Phi, float, float],
        names: ColumnNames | None,
    ) -> None:
        super().__init__(len(binning.features), names)
        self.classes_, self.binning_, self.tree_, self._phi = classes, binning, tree, phi

    def _describe_training(self) -> tuple[Sequence[FeatureBins], None]:
        return self.binning_.features, None


class LinearPredictor(Predictor, LinearPredictingMixin):
    """A linear model that only predicts."""

    def __init__(
        self,
        classes: NDArray[Any],
        columns: LinearColumns,
        coefficients: NDArray[np.float64],
        link: Link,
    ) -> None:
        super().__init__(len(columns.categories), columns.column_names)
        self.classes_ = classes
        self.columns, self.link = columns, link
        self._set_theta(coefficients)

    @property
    def _columns(self) -> LinearColumns:
        return self.columns

    @property
    def _link(self) -> Link:
        return self.link

    def _describe_training(self) -> tuple[Sequence[FeatureBins], None]:
        return self.columns.features, None
