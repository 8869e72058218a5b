"""Readings of the paper's weak learners: the contents of a histogram, and the size of steps.

The first reading was fixed, and committed, before it was run.  Its words are the paper's: section
7.1 has "histogram-based weak learners (Masnadi-Shirazi and Vasconcelos, 2011; Rasolzadeh et al.,
2006; Wu et al., 2004)".  In these works on detection a weak learner is half the log-ratio of two
histograms, one of each class, and each histogram is a density: its weights add up to 1 in every
round.  The number of bins is taken from the text on Figure 9.  The reading is not blind, though: a
check had compared it with Tables 3 to 6 and Figures 11 and 12 by other code.  So its seeds are new,
and nobody had looked at Table 7 and Figures 9 and 10.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from properboost.reproduce.item import Reading

__all__ = [
    "CONDITIONAL",
    "CONDITIONAL_8",
    "EVEN",
    "NEW_SEEDS",
    "SIGNS",
    "HistogramSetting",
    "list_histograms",
    "setting_of",
]


@dataclass(frozen=True)
class HistogramSetting:
    """The histograms and steps of one reading.

    Attributes
    ----------
    n_bins : int
        Bins of a numeric feature; each category has its bin.
    equal_width : bool, default=True
        Whether the bins divide the range of the training rows evenly; otherwise they have as many
        training rows each.
    step : {"unit", "guarded"}, default="unit"
        The step rule.
    response : {"real", "conditional", "sign"}, default="real"
        The value of a bin: half the log-ratio of the classes' weights, of their densities, or the
        sign of the weights' difference.
    """

    n_bins: int
    equal_width: bool = True
    step: Literal["unit", "guarded"] = "unit"
    response: Literal["real", "conditional", "sign"] = "real"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator: `cut` cuts bins of equal width beforehand."""
        n_bins = 255 if self.equal_width else self.n_bins
        return {
            "max_bins": n_bins,
            "rows_per_bin": None,
            "step": self.step,
            "response": self.response,
        }

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


CONDITIONAL = "class-conditional, 16 bins"
CONDITIONAL_8 = "class-conditional, 8 bins"
SIGNS = "tables of +1 and -1"
EVEN = "16 bins of equal width"

NEW_SEEDS = 1_000
"""The first seed of the readings that were chosen by the results of seeds from 0 on."""

SETTINGS = {
    CONDITIONAL: HistogramSetting(16, response="conditional"),
    CONDITIONAL_8: HistogramSetting(8, response="conditional"),
    SIGNS: HistogramSetting(16, response="sign"),
    EVEN: HistogramSetting(16),
    "8 bins of equal width": HistogramSetting(8),
    "16 bins of equal counts": HistogramSetting(16, equal_width=False),
    "guarded steps": HistogramSetting(16, step="guarded"),
}

HISTOGRAMS = (
    Reading(
        CONDITIONAL,
        "The paper has no definition of its histograms.  In the works that it cites for them (Wu "
        "et al., 2004; Rasolzadeh et al., 2006) each class has one, whose weights add up to 1 in "
        "every round, and a bin's value is half the log-ratio of the two.  Bins are of equal "
        "width, as they are there; with 16 of them two rounds on ten rows err by about 20%, as "
        "the text on Figure 9 has it.  Steps are those of Algorithm 1, which adds each weak "
        "learner in full.",
        first_seed=NEW_SEEDS,
    ),
    Reading(CONDITIONAL_8, "The paper does not give the number of bins.", first_seed=NEW_SEEDS),
    Reading(
        SIGNS,
        "Algorithm 1 takes the weak learner of largest correlation with the weights.  Among "
        "look-up tables of +1 or -1 in each of 16 bins it is the one that agrees with the sign "
        "of the weights' difference, and it is added in full.",
        first_seed=NEW_SEEDS,
    ),
    Reading(
        EVEN,
        "One histogram may hold both classes' weights as they are: a bin's value is half the "
        "log-ratio of these, as in confidence-rated boosting.",
    ),
    Reading(
        "8 bins of equal width",
        "Both classes' weights as they are; the paper does not give the number of bins.",
    ),
    Reading(
        "16 bins of equal counts",
        "Both classes' weights as they are; equal widths of bins are not in the paper.",
    ),
    Reading(
        "guarded steps",
        "Both classes' weights as they are.  The weak learner of largest correlation with the "
        "weights has no length, and Algorithm 1 gives it none.  Steps that would go beyond the "
        "least risk end there.",
    ),
)
"""Readings for any experiment with histograms."""


def list_histograms(seeds: int) -> tuple[Reading, ...]:
    """Return these readings; one with 8 bins, and the former first one, have as many seeds."""
    full = (CONDITIONAL_8, EVEN)
    return tuple(
        replace(reading, seeds=seeds) if reading.name in full else reading for reading in HISTOGRAMS
    )


def setting_of(reading: str) -> HistogramSetting:
    """Return the histograms and steps of a reading; readings of other details have the first."""
    return SETTINGS.get(reading, SETTINGS[CONDITIONAL])
