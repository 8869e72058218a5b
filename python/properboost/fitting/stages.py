"""The rounds of each stage of a plan, before they are one model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from properboost.models.ensemble import Rounds
from properboost.models.interactions import PairBins

__all__ = ["FittedStages", "Stage"]


@dataclass(frozen=True, eq=False)
class Stage:
    """The rounds of each fit and model, and the training weight of each code."""

    fits: list[list[Rounds]]
    raw: NDArray[np.float64] | None
    """The raw predictions of all rows, (n_fits, n_models, n_rows), if the plan keeps them."""
    bin_weights: tuple[NDArray[np.float64], ...]

    def times(self, slopes: Sequence[tuple[float, ...]]) -> "Stage":
        """Return fits whose steps are multiplied, those of each model by a number of its own."""
        if all(slope == 1.0 for of_fit in slopes for slope in of_fit):
            return self
        multiplied = [
            [rounds.times(slope) for rounds, slope in zip(*both, strict=True)]
            for both in zip(self.fits, slopes, strict=True)
        ]
        return replace(self, fits=multiplied)


@dataclass(frozen=True, eq=False)
class FittedStages:
    """The stage of features, and that of the pairs that were chosen after it, if there is one."""

    features: Stage
    pairs: tuple[PairBins, ...] = ()
    of_pairs: Stage | None = None
