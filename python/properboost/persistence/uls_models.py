"""The JSON form of universal linear separators."""

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from properboost.models.uls_model import ULSModel
from properboost.parameters.kinds import Permissible
from properboost.persistence.columns import build_columns
from properboost.persistence.json_node import Node
from properboost.persistence.labels import build_two_classes

__all__ = ["build_uls_model"]

_REALS = ("edge", "weight_sum", "feature_norm", "risk")

_LARGEST = 1e300
"""The largest sum of coefficients, and the largest length."""


def build_uls_model(fields: Mapping[str, Node]) -> tuple[NDArray[Any], ULSModel]:
    """Return the classes and the model of the fields of a document."""
    classes = build_two_classes(fields["classes"])
    columns = build_columns(fields)
    n = len(columns)
    if n == 0:
        fields["categories"].fail("must give at least one column")
    coefficients = fields["coefficients"].reals(n)
    with np.errstate(over="ignore"):
        if not np.abs(coefficients).sum() <= _LARGEST:
            fields["coefficients"].fail(f"must not add up to more than {_LARGEST:g}")
    total = fields["total"].real()
    if not 0.0 < total <= _LARGEST:
        fields["total"].fail(f"must be above 0 and at most {_LARGEST:g}")
    n_rounds = fields["n_rounds"].integer(0, 2**31 - 1)
    norms, rounds = None, None
    if fields["norms"].value is not None or fields["rounds"].value is not None:
        norms = _build_sizes(fields["norms"], n)
        rounds = _build_rounds(fields["rounds"], n, n_rounds)
    phi: Permissible = fields["phi"].choice(get_args(Permissible))  # type: ignore[assignment]
    return classes, ULSModel(phi, columns, coefficients, total, norms, rounds, n_rounds)


def _build_sizes(node: Node, length: int) -> NDArray[np.float64]:
    sizes = node.reals(length)
    if np.any((sizes < 0.0) | (sizes > _LARGEST)):
        node.fail(f"must hold numbers from 0 to {_LARGEST:g}")
    return sizes


def _build_rounds(node: Node, n_columns: int, n_rounds: int) -> dict[str, NDArray[Any]]:
    fields = node.fields("feature", "n_corrected", *_REALS, "exact")
    feature = fields["feature"].integers(0, n_columns - 1)
    corrected = fields["n_corrected"].integers(1, n_columns)
    for name, values in (("feature", feature), ("n_corrected", corrected)):
        if len(values) != n_rounds:
            fields[name].fail(f"must have {n_rounds} entries, one for each round")
    rounds: dict[str, NDArray[Any]] = {
        "feature": feature.astype(np.int32),
        "n_corrected": corrected.astype(np.int32),
        **{name: _build_sizes(fields[name], n_rounds) for name in _REALS},
    }
    exact = [entry.boolean() for entry in fields["exact"].entries()]
    if len(exact) != n_rounds:
        fields["exact"].fail(f"must have {n_rounds} entries, one for each round")
    rounds["exact"] = np.array(exact, dtype=np.bool_)
    return rounds
