"""Fitted models for other systems: ONNX, SQL and treelite."""

from typing import NoReturn

from properboost.export.description import encode_rows
from properboost.export.onnx_graph import to_onnx
from properboost.export.pipelines import register
from properboost.export.sql_query import to_sql
from properboost.export.treelite_model import to_treelite
from properboost.parameters.elsewhere import EXPORTS, advise_on_name

__all__ = ["encode_rows", "register", "to_onnx", "to_sql", "to_treelite"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> NoReturn:
    """Answer names of other libraries' exports, and misspelt ones."""
    advice = advise_on_name(name, __all__, EXPORTS)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")
