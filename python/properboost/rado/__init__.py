"""Rademacher observations (rados): linear classifiers from random sums of rows.

`make_rados` turns labelled rows into rados, `combine` adds up those of separate rows, and
`RadoBoostClassifier` learns from them.  `LOSS_PAIRS` has the losses over rados that are equivalent
to losses over rows.  `loss_bound` is the decrease of the loss that the theorems guarantee, and
`ridge_omega`, `lasso_omega` and `slope_q` are their conditions.
"""

from properboost.rado.bounds import (
    lasso_omega,
    loss_bound,
    ridge_edge,
    ridge_omega,
    slope_q,
    slope_share,
)
from properboost.rado.curve import OmegaCurve, omega_curve
from properboost.rado.estimator import RadoBoostClassifier
from properboost.rado.rados import Rados, combine, make_rados
from properboost.rado.regularizers import slope_coefficients
from properboost.rado.theory import (
    LOSS_PAIRS,
    LossPair,
    all_rados,
    regularize_rados,
    subset_matrix,
)

__all__ = [
    "LOSS_PAIRS",
    "LossPair",
    "OmegaCurve",
    "RadoBoostClassifier",
    "Rados",
    "all_rados",
    "combine",
    "lasso_omega",
    "loss_bound",
    "make_rados",
    "omega_curve",
    "regularize_rados",
    "ridge_edge",
    "ridge_omega",
    "slope_coefficients",
    "slope_q",
    "slope_share",
    "subset_matrix",
]


def __dir__() -> list[str]:
    return __all__
