"""Rademacher observations (rados): linear classifiers from random sums of rows.

`make_rados` turns labelled rows into rados, `combine` adds up those of separate rows, and
`RadoBoostClassifier` learns from them.
"""

from properboost.rado.estimator import RadoBoostClassifier
from properboost.rado.making import Rados, combine, make_rados
from properboost.rado.regularizers import slope_coefficients

__all__ = ["RadoBoostClassifier", "Rados", "combine", "make_rados", "slope_coefficients"]
