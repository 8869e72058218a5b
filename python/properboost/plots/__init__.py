"""Plots of fitted models (shapes, importances, contributions, reliability, ...), losses, searches.

Drawing needs matplotlib, which is imported only then: ``pip install 'properboost[plots]'``.  Every
function draws into the axes passed, or into a new figure.
"""

from typing import NoReturn

from properboost.parameters.elsewhere import PLOTS, advise_on_name
from properboost.plots.comparisons import plot_comparison, plot_critical_differences
from properboost.plots.contributions import plot_contributions
from properboost.plots.curves import plot_gain_curve, plot_omega_curve
from properboost.plots.importance import plot_importance
from properboost.plots.interactions import plot_term_function
from properboost.plots.losses import plot_loss
from properboost.plots.predictions import plot_margin_distribution, plot_reliability
from properboost.plots.searches import plot_search
from properboost.plots.shapes import plot_shape_function, plot_shape_functions
from properboost.plots.training import plot_training

__all__ = [
    "plot_comparison",
    "plot_contributions",
    "plot_critical_differences",
    "plot_gain_curve",
    "plot_importance",
    "plot_loss",
    "plot_margin_distribution",
    "plot_omega_curve",
    "plot_reliability",
    "plot_search",
    "plot_shape_function",
    "plot_shape_functions",
    "plot_term_function",
    "plot_training",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> NoReturn:
    """Answer names of other libraries' plots, and misspelt ones."""
    advice = advise_on_name(name, __all__, PLOTS)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")
