"""Fitted models for other systems: ONNX, SQL and treelite."""

from properboost.export.description import encode_rows
from properboost.export.onnx_graph import to_onnx
from properboost.export.pipelines import register
from properboost.export.sql_query import to_sql
from properboost.export.treelite_model import to_treelite

__all__ = ["encode_rows", "register", "to_onnx", "to_sql", "to_treelite"]


def __dir__() -> list[str]:
    return __all__
