"""Fitted models for other systems: ONNX, SQL and treelite."""

from properboost.export.description import encode_rows
from properboost.export.onnx_graph import to_onnx

__all__ = ["encode_rows", "to_onnx"]
