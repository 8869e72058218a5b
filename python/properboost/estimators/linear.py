"""The base of linear classifiers, over numbers, indicators of categories, and an intercept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from properboost.data.binning import FeatureBins
from properboost.data.names import keep_features
from properboost.data.table import Category
from properboost.estimators.base import TableClassifier
from properboost.estimators.linear_predicting import LinearPredictingMixin

__all__ = ["LinearClassifier"]


class LinearClassifier(TableClassifier, LinearPredictingMixin):
    """A linear classifier of two classes; subclasses compute its coefficients."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        tags.classifier_tags.multi_class = False
        # scikit-learn's checks have blobs on one side of 0, which planes near 0 do not separate.
        tags.classifier_tags.poor_score = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _set_coefficients(self, theta: NDArray[np.float64]) -> None:
        """Set the coefficients, and the features."""
        columns = self._columns
        self._set_theta(theta)
        keep_features(self, len(columns.categories), columns.column_names)

    def _describe_training(self) -> tuple[Sequence[FeatureBins], None]:
        return self._columns.features, None

    # -- explaining -------------------------------------------------------------------------------

    @property
    def sparse_coef_(self) -> Any:
        """`coef_` as a sparse array."""
        self._check_fitted()
        return csr_array(self.coef_)

    @property
    def coef_names_(self) -> tuple[str, ...]:
        """The names of the coefficients: features, or ``feature=category``."""
        self._check_fitted()
        return self._columns.labels[: self.coef_.shape[1]]

    @property
    def categories_(self) -> tuple[tuple[Category, ...] | None, ...]:
        """The categories of each feature, None of a number."""
        self._check_fitted()
        return self._columns.categories
