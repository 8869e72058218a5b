"""Margin losses: a link that regularises probabilities, bound to a risk.

Besides the named losses there are custom ones: designed from a density (`from_pdf`) or from a
minimum risk (`from_risk`), defined by functions (`from_functions`), or named by a permissible
function (`Permissible`).  `check` finds their faults.  `LeastSquares` and `Hinge` are curves only,
to draw and compare; no model can be trained with them.  `QuadraticReward` and `LogarithmicReward`
pay forecasts as no loss does.
"""

from typing import NoReturn

from properboost.losses import builtin
from properboost.losses.admissible import LogarithmicReward, QuadraticReward
from properboost.losses.builtin import *  # noqa: F403
from properboost.losses.check import LossProblem, LossReport, check
from properboost.losses.classical import Hinge, LeastSquares, ModifiedLeastSquares
from properboost.losses.custom import CustomLoss, from_functions
from properboost.losses.design import Permissible, from_pdf, from_risk
from properboost.losses.permissible import PermissibleFunction
from properboost.losses.registry import LOSSES, get_loss
from properboost.losses.table import LossTable
from properboost.losses.tangent import Tangent
from properboost.parameters.elsewhere import LOSSES as ELSEWHERE
from properboost.parameters.elsewhere import advise_on_name

__all__ = [
    "LOSSES",
    "CustomLoss",
    "Hinge",
    "LeastSquares",
    "LogarithmicReward",
    "LossProblem",
    "LossReport",
    "LossTable",
    "ModifiedLeastSquares",
    "Permissible",
    "PermissibleFunction",
    "QuadraticReward",
    "Tangent",
    "check",
    "from_functions",
    "from_pdf",
    "from_risk",
    "get_loss",
]
__all__ += builtin.__all__


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> NoReturn:
    """Answer names of other libraries' losses, and misspelt ones."""
    advice = advise_on_name(name, __all__, ELSEWHERE)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")
