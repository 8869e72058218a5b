"""Boosted look-up tables under proper margin losses whose regularisation gain is tuned."""

from properboost import _core, datasets, diagnostics, export, losses, metrics, plots, rado
from properboost import _registered as _registered
from properboost._core import __version__
from properboost.estimators.arboost import ARBoostClassifier
from properboost.estimators.base import load_model
from properboost.estimators.presets import (
    CART,
    SAMME,
    ULS,
    AdaBoost,
    AdaBoostMH,
    AdaBoostReg,
    EpsilonBoost,
    L1Boost,
    LogitBoost,
    RealBoost,
    SavageBoost,
    WeightBoost,
)
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.scorer import Scorer
from properboost.estimators.udt import UDTClassifier
from properboost.inspection.contributions import Contributions
from properboost.inspection.rules import Rule
from properboost.inspection.shape_functions import ShapeFunction
from properboost.model_selection.arboost_cv import ARBoostClassifierCV
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.parameters.checks import count_threads
from properboost.rado import RadoBoostClassifier

__all__ = [
    "CART",
    "SAMME",
    "ULS",
    "ARBoostClassifier",
    "ARBoostClassifierCV",
    "AdaBoost",
    "AdaBoostMH",
    "AdaBoostReg",
    "Contributions",
    "EpsilonBoost",
    "L1Boost",
    "LogitBoost",
    "ProperBoostClassifier",
    "ProperBoostClassifierCV",
    "RadoBoostClassifier",
    "RealBoost",
    "Rule",
    "SavageBoost",
    "Scorer",
    "ShapeFunction",
    "UDTClassifier",
    "WeightBoost",
    "__version__",
    "datasets",
    "diagnostics",
    "export",
    "load_model",
    "losses",
    "metrics",
    "plots",
    "rado",
    "show_config",
]


def __dir__() -> list[str]:
    return __all__


def show_config() -> None:
    """Print the version, the threads a fit uses by default, and what the engine runs on."""
    threads = count_threads(None) if _core.has_openmp else 1
    openmp = "yes" if _core.has_openmp else "no (built without it: everything runs on one thread)"
    print(f"properboost {__version__}\n  threads: {threads}\n  OpenMP: {openmp}")
    print(f"  instruction set: {_core.instruction_set}")
