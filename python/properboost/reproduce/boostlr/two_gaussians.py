"""GLog on two Gaussian classes (section 7.1)."""

import numpy as np
from numpy.typing import NDArray

from properboost.estimators.properboost import ProperBoostClassifier
from properboost.reproduce.boostlr.histograms import HistogramSetting
from properboost.reproduce.pinned_tables import make_tables

__all__ = ["GAINS", "fit_glog"]

GAINS = tuple(0.5 * 2.0**k for k in range(12))
"""Gains from 0.5 to 1,024; the paper has [0.5, 1000]."""


def fit_glog(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    gain: float,
    rounds: int,
    setting: HistogramSetting,
) -> ProperBoostClassifier:
    """Fit GLog to rows that are cut into bins."""
    return make_tables(gain=gain, n_estimators=rounds, n_jobs=1, **setting.parameters).fit(X, y)
