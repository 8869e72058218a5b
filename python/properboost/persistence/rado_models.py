"""The JSON form of linear models from rados."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.models.rado_model import RadoModel
from properboost.persistence.columns import build_columns
from properboost.persistence.json_node import Node
from properboost.persistence.labels import build_two_classes

__all__ = ["COEFFICIENTS", "build_rado_model", "find_rounds"]

_ROUNDS = ("feature", "edge", "step", "penalty", "log_rado_loss")
COEFFICIENTS = {"feature": "feature", "value": "step"}
"""The fields of compact models in place of rounds, and their names in rounds."""

_LARGEST_COEFFICIENT = 1e300


def find_rounds(node: Node, version: int) -> str:
    """Return the name of the field with the rounds, or with what compact models have instead."""
    return "coefficients" if version > 7 and "coefficients" in node.mapping() else "rounds"


def build_rado_model(fields: Mapping[str, Node]) -> tuple[NDArray[Any], RadoModel]:
    """Return the classes and the model of the fields of a document."""
    classes, columns = build_two_classes(fields["classes"]), build_columns(fields)
    if "coefficients" in fields:
        rounds = _build_coefficients(fields["coefficients"], len(columns))
        n_kept = fields["n_kept"].integer(len(rounds["feature"]), 2**31 - 1)
    else:
        rounds = _build_rounds(fields["rounds"], len(columns))
        n_kept = fields["n_kept"].integer(0, len(rounds["feature"]))
    n_rados = fields["n_rados"].integer(1, 2**53)
    seed = None if fields["seed"].value is None else fields["seed"].integer(0, 2**32 - 1)
    return classes, RadoModel(columns, rounds, n_kept, n_rados, seed)


def _build_rounds(node: Node, n_columns: int) -> dict[str, NDArray[Any]]:
    optional = ("training_error",) if "training_error" in node.mapping() else ()
    fields = node.fields(*_ROUNDS, *optional)
    feature = fields["feature"].integers(0, n_columns - 1)
    rounds: dict[str, NDArray[Any]] = {"feature": feature.astype(np.int32)}
    for name in (*_ROUNDS[1:], *optional):
        rounds[name] = fields[name].reals(len(feature))
    _check_steps(fields["step"], rounds["step"])
    return rounds


def _build_coefficients(node: Node, n_columns: int) -> dict[str, NDArray[Any]]:
    fields = node.fields(*COEFFICIENTS)
    feature = fields["feature"].integers(0, n_columns - 1)
    if np.any(np.diff(feature) <= 0):
        fields["feature"].fail("must be in strictly ascending order")
    values = fields["value"].reals(len(feature))
    if np.any(values == 0.0):
        fields["value"].fail("must hold no 0")
    _check_steps(fields["value"], values)
    return {"feature": feature.astype(np.int32), "step": values}


def _check_steps(node: Node, steps: NDArray[np.float64]) -> None:
    with np.errstate(over="ignore"):
        total = np.abs(steps).sum()
    if not total <= _LARGEST_COEFFICIENT:
        node.fail(f"must not add up to coefficients beyond {_LARGEST_COEFFICIENT:g}")
