"""The interface of standard errors by bags."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from properboost.data.table import InputTable
from properboost.models.bag_design import find_standard_error

__all__ = ["BagErrors"]

Array = NDArray[np.float64]


class BagErrors(ABC):
    """Standard errors by the bags whose mean a model is."""

    n_bags: int

    @staticmethod
    def of(values: Sequence[Array]) -> Array:
        """Return the standard error of the mean of the bags' values."""
        return find_standard_error(values)

    @abstractmethod
    def raw_predictions(self, table: InputTable, n_threads: int) -> list[Array]:
        """Return F of every bag, of shape (n_rows, n_models)."""
