"""Boosted classifiers for tabular data, with calibrated probabilities and readable models.

Begin with these, each of which has its own ``help``::

    ProperBoostClassifierCV(effort=2).fit(X, y)       # a search that chooses a model
    ProperBoostClassifier().fit(X, y)                 # one fit; .predict_proba(X)
    model.save_model("model.json"), load_model(...)   # load_scorer(...) for servers
    model.shape_function("age"), model.contributions(X)
    report.write_report(model, X, y, "report.html")   # a page on a model
    compare([first, second], X, y)                    # two models on test rows

The modules are `plots`, `export`, `report`, `metrics`, `losses`, `datasets`, `diagnostics`,
`batches` and `rado`; ``properboost --help`` lists the commands of the shell.

Names are imported on their first use, so that `load_scorer` starts without scikit-learn, and
the shell's first line comes without NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from properboost import _core
from properboost._core import __version__
from properboost.parameters.elsewhere import advise_on_name

if TYPE_CHECKING:
    from properboost import (
        batches,
        datasets,
        diagnostics,
        export,
        losses,
        metrics,
        plots,
        rado,
        report,
    )
    from properboost.batches.quantized_table import QuantizedTable
    from properboost.comparison.compare import compare
    from properboost.comparison.result import Comparison
    from properboost.conformal.classifier import ConformalClassifier
    from properboost.conformal.venn_abers_classifier import VennAbersClassifier
    from properboost.estimators.arboost import ARBoostClassifier
    from properboost.estimators.base import load_model
    from properboost.estimators.least_cost import LeastCostClassifier
    from properboost.estimators.merging import merge_models
    from properboost.estimators.ordered import OrderedClassifier
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
    from properboost.inspection.changes import FeatureChange, RowChange, RowChanges
    from properboost.inspection.contributions import Contributions
    from properboost.inspection.rules import FittedRule
    from properboost.inspection.shape_functions import (
        InteractionFunction,
        ShapeFunction,
        TermFunction,
    )
    from properboost.inspection.term_list import Term
    from properboost.model_selection.arboost_cv import ARBoostClassifierCV
    from properboost.model_selection.search_cv import ProperBoostClassifierCV
    from properboost.parameters.learners import Rule, Stump, Table, Tree
    from properboost.parameters.stages import Bags, Calibration, EarlyStopping, Interactions
    from properboost.rado import RadoBoostClassifier
    from properboost.serving.load import load_scorer

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
    "Comparison",
    "ConformalClassifier",
    "Contributions",
    "EarlyStopping",
    "EpsilonBoost",
    "FeatureChange",
    "FittedRule",
    "InteractionFunction",
    "Interactions",
    "L1Boost",
    "LeastCostClassifier",
    "LogitBoost",
    "OrderedClassifier",
    "ProperBoostClassifier",
    "ProperBoostClassifierCV",
    "QuantizedTable",
    "RadoBoostClassifier",
    "RealBoost",
    "RowChange",
    "RowChanges",
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
    "compare",
    "datasets",
    "diagnostics",
    "export",
    "load_model",
    "load_scorer",
    "losses",
    "merge_models",
    "metrics",
    "plots",
    "rado",
    "report",
    "show_config",
]

_MODULES = (
    "batches",
    "datasets",
    "diagnostics",
    "export",
    "losses",
    "metrics",
    "plots",
    "rado",
    "report",
)

_HOMES = {
    "QuantizedTable": "batches.quantized_table",
    "compare": "comparison.compare",
    "Comparison": "comparison.result",
    "ConformalClassifier": "conformal.classifier",
    "VennAbersClassifier": "conformal.venn_abers_classifier",
    "ARBoostClassifier": "estimators.arboost",
    "load_model": "estimators.base",
    "LeastCostClassifier": "estimators.least_cost",
    "merge_models": "estimators.merging",
    "OrderedClassifier": "estimators.ordered",
    "AdaBoost": "estimators.presets",
    "AdaBoostMH": "estimators.presets",
    "AdaBoostReg": "estimators.presets",
    "CART": "estimators.presets",
    "EpsilonBoost": "estimators.presets",
    "L1Boost": "estimators.presets",
    "LogitBoost": "estimators.presets",
    "RealBoost": "estimators.presets",
    "SAMME": "estimators.presets",
    "SavageBoost": "estimators.presets",
    "ULS": "estimators.presets",
    "WeightBoost": "estimators.presets",
    "ProperBoostClassifier": "estimators.properboost",
    "Scorer": "estimators.scorer",
    "UDTClassifier": "estimators.udt",
    "ULSClassifier": "estimators.uls",
    "FeatureChange": "inspection.changes",
    "RowChange": "inspection.changes",
    "RowChanges": "inspection.changes",
    "Contributions": "inspection.contributions",
    "FittedRule": "inspection.rules",
    "InteractionFunction": "inspection.shape_functions",
    "ShapeFunction": "inspection.shape_functions",
    "TermFunction": "inspection.shape_functions",
    "Term": "inspection.term_list",
    "ARBoostClassifierCV": "model_selection.arboost_cv",
    "ProperBoostClassifierCV": "model_selection.search_cv",
    "Rule": "parameters.learners",
    "Stump": "parameters.learners",
    "Table": "parameters.learners",
    "Tree": "parameters.learners",
    "Bags": "parameters.stages",
    "Calibration": "parameters.stages",
    "EarlyStopping": "parameters.stages",
    "Interactions": "parameters.stages",
    "RadoBoostClassifier": "rado",
    "load_scorer": "serving.load",
}
"""The module of each other name, below this package."""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name on its first use."""
    if name in _MODULES or name == "dask":  # which is not in __all__, because it needs an extra
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        advice = advise_on_name(name, __all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def show_config() -> None:
    """Print the version, the default number of threads, and the engine's instruction set."""
    from properboost.parameters.checks import count_threads  # on use, because it needs NumPy

    threads = count_threads(None) if _core.has_openmp else 1
    openmp = "yes" if _core.has_openmp else "no (built without it: everything runs on one thread)"
    print(f"properboost {__version__}\n  threads: {threads}\n  OpenMP: {openmp}")
    print(f"  instruction set: {_core.instruction_set}")
