"""Reports: pages on what a model is, how good it is, and what to beware of.

Names are imported on their first use, since commands that write no page list importances, too.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from properboost.parameters.elsewhere import advise_on_name

if TYPE_CHECKING:
    from properboost.report.options import ReportOptions
    from properboost.report.write import write_report

__all__ = ["ReportOptions", "write_report"]

_HOMES = {"ReportOptions": "options", "write_report": "write"}
"""The module of each name, below this package."""


class _ReportModule(ModuleType):
    """Module that answers a call by the function to write."""

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "pb.report is a module: write pb.report.write_report(model, X_test, y_test, "
            '"report.html")'
        )


sys.modules[__name__].__class__ = _ReportModule


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name on its first use."""
    if name not in _HOMES:
        advice = advise_on_name(name, __all__, {})
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
