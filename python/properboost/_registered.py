"""Registers what writes and reads each kind of estimator, where it is imported."""

from properboost.estimators import arboost_file, properboost_file, udt_file
from properboost.model_selection import arboost_cv_file, search_cv_file
from properboost.rado import estimator_file

__all__ = [
    "arboost_cv_file",
    "arboost_file",
    "estimator_file",
    "properboost_file",
    "search_cv_file",
    "udt_file",
]
