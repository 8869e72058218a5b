"""Rademacher observations (rados): linear classifiers from random sums of rows.

`make_rados` turns labelled rows into rados, `combine` adds up those of separate rows, and
`RadoBoostClassifier` learns from them.  `LOSS_PAIRS` says what losses over rados have to do with
losses over rows.
"""

from properboost.rado.curve import OmegaCurve, omega_curve
from properboost.rado.estimator import RadoBoostClassifier
from properboost.rado.making import Rados, combine, make_rados
from properboost.rado.regularizers import slope_coefficients
from properboost.rado.theory import LOSS_PAIRS, LossPair, all_rados, regularize_rados

__all__ = [
    "LOSS_PAIRS",
    "LossPair",
    "OmegaCurve",
    "RadoBoostClassifier",
    "Rados",
    "all_rados",
    "combine",
    "make_rados",
    "omega_curve",
    "regularize_rados",
    "slope_coefficients",
]
