"""Reports: pages on what a model is, how good it is, and what to beware of."""

from properboost.report.options import ReportOptions
from properboost.report.write import write_report

__all__ = ["ReportOptions", "write_report"]


def __dir__() -> list[str]:
    return __all__
