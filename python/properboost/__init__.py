"""Boosted look-up tables under proper margin losses whose regularisation gain is tuned."""

from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from properboost import (
    _core,
    batches,
    datasets,
    diagnostics,
    export,
    losses,
    metrics,
    plots,
    rado,
)
from properboost._core import __version__
from properboost.batches.quantized_table import QuantizedTable
from properboost.conformal import classifier_file, venn_abers_file
from properboost.conformal.classifier import ConformalClassifier
from properboost.conformal.venn_abers_classifier import VennAbersClassifier
from properboost.estimators import arboost_file, properboost_file, udt_file, uls_file
from properboost.estimators.arboost import ARBoostClassifier
from properboost.estimators.base import load_model
from properboost.estimators.merging import merge_models
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
from properboost.estimators.uls import ULSClassifier
from properboost.inspection.contributions import Contributions
from properboost.inspection.rules import FittedRule
from properboost.inspection.shape_functions import (
    InteractionFunction,
    ShapeFunction,
    TermFunction,
)
from properboost.inspection.term_list import Term
from properboost.model_selection import arboost_cv_file, search_cv_file
from properboost.model_selection.arboost_cv import ARBoostClassifierCV
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.parameters import declare, words
from properboost.parameters.checks import count_threads
from properboost.parameters.learners import Rule, Stump, Table, Tree
from properboost.parameters.stages import Bags, Calibration, EarlyStopping, Interactions
from properboost.rado import RadoBoostClassifier, estimator_file

if TYPE_CHECKING:
    from properboost import report

__all__ = [
    "CART",
    "SAMME",
    "ULS",
    "ARBoostClassifier",
    "ARBoostClassifierCV",
    "AdaBoost",
    "AdaBoostMH",
    "AdaBoostReg",
    "Bags",
    "Calibration",
    "ConformalClassifier",
    "Contributions",
    "EarlyStopping",
    "EpsilonBoost",
    "FittedRule",
    "InteractionFunction",
    "Interactions",
    "L1Boost",
    "LogitBoost",
    "ProperBoostClassifier",
    "ProperBoostClassifierCV",
    "QuantizedTable",
    "RadoBoostClassifier",
    "RealBoost",
    "Rule",
    "SavageBoost",
    "Scorer",
    "ShapeFunction",
    "Stump",
    "Table",
    "Term",
    "TermFunction",
    "Tree",
    "UDTClassifier",
    "ULSClassifier",
    "VennAbersClassifier",
    "WeightBoost",
    "__version__",
    "batches",
    "datasets",
    "diagnostics",
    "export",
    "load_model",
    "losses",
    "merge_models",
    "metrics",
    "plots",
    "rado",
    "report",
    "show_config",
]

# Importing a kind's file format registers its reader and writer.
_FILES = (
    arboost_cv_file,
    arboost_file,
    classifier_file,
    estimator_file,
    properboost_file,
    search_cv_file,
    udt_file,
    uls_file,
    venn_abers_file,
)


declare.set_adviser(words.advise)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import `report` on first use: few need it, and it takes a fifth of the time of all else."""
    if name != "report":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def _hide_inner_names() -> None:
    """Restrict `dir` and completion of the public modules to their public names, too."""
    for name, module in globals().items():
        if name in __all__ and isinstance(module, ModuleType):
            vars(module)["__dir__"] = partial(list, module.__all__)


_hide_inner_names()


def show_config() -> None:
    """Print the version, the default number of threads, and the engine's instruction set."""
    threads = count_threads(None) if _core.has_openmp else 1
    openmp = "yes" if _core.has_openmp else "no (built without it: everything runs on one thread)"
    print(f"properboost {__version__}\n  threads: {threads}\n  OpenMP: {openmp}")
    print(f"  instruction set: {_core.instruction_set}")
