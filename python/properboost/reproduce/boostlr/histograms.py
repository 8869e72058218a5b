"""What the paper leaves open about its weak learners: how histograms are cut, how far steps go."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from properboost.reproduce.item import Reading

__all__ = ["EVEN", "HISTOGRAMS", "Setting", "setting_of"]


@dataclass(frozen=True)
class Setting:
    """Histograms and steps, as one reading has them.

    Attributes
    ----------
    n_bins : int
        Bins of a numeric feature; a category always has a bin of its own.
    equal_width : bool, default=True
        Whether the bins divide the range of the training rows evenly; otherwise they have as many
        training rows each.
    step : {"unit", "guarded"}, default="unit"
        The step rule.
    """

    n_bins: int
    equal_width: bool = True
    step: Literal["unit", "guarded"] = "unit"

    @property
    def parameters(self) -> dict[str, Any]:
        """What the estimator is told: bins of equal width are cut beforehand, by `cut`."""
        n_bins = 255 if self.equal_width else self.n_bins
        return {"max_bins": n_bins, "rows_per_bin": None, "step": self.step}

    def cut(
        self,
        X: NDArray[np.float64],
        train: NDArray[np.intp] | slice,
        categorical: Sequence[bool],
    ) -> NDArray[np.float64]:
        """Return a table whose numeric cells are the numbers of their bins, if of equal width.

        Rows beyond the range of the training rows are in the outermost bins; missing cells stay so.
        """
        if not self.equal_width:
            return X
        numeric = ~np.asarray(categorical, dtype=bool)
        low, high = np.nanmin(X[train], axis=0), np.nanmax(X[train], axis=0)
        width = np.where(high > low, high - low, 1.0) / self.n_bins
        bins = np.clip(np.floor((X - low) / width), 0, self.n_bins - 1)
        return np.where(numeric, bins, X)


EVEN = "16 bins of equal width"

SETTINGS = {
    EVEN: Setting(16),
    "8 bins of equal width": Setting(8),
    "16 bins of equal counts": Setting(16, equal_width=False),
    "guarded steps": Setting(16, step="guarded"),
}

HISTOGRAMS = (
    Reading(
        EVEN,
        "The paper does not say how its histograms are cut.  A histogram's bins are of equal "
        "width, as they are in a work that it cites (Wu et al., 2004); with 16 of them two rounds "
        "on ten rows err by about 20%, as the text on Figure 9 has it.  Steps are those of "
        "Algorithm 1, which adds each weak learner in full.",
    ),
    Reading("8 bins of equal width", "The paper does not give the number of bins."),
    Reading("16 bins of equal counts", "The paper does not say that bins have equal widths."),
    Reading(
        "guarded steps",
        "The weak learner of largest correlation with the weights has no length, and Algorithm 1 "
        "gives it none.  Steps that would go beyond the least risk end there.",
    ),
)
"""Readings that any experiment with histograms can have."""


def setting_of(reading: str) -> Setting:
    """Return the histograms and steps of a reading; those about other things have the first."""
    return SETTINGS.get(reading, SETTINGS[EVEN])
