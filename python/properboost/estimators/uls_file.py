"""The codec that writes a `ULSClassifier` to a file, and reads it back."""

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from properboost.estimators.uls import ULSClassifier, ULSModel
from properboost.parameters.declare import check_declared
from properboost.parameters.kinds import Permissible
from properboost.persistence import Codec, Node, kind
from properboost.persistence.columns import COLUMN_FIELDS, build_columns, describe_columns
from properboost.persistence.labels import build_classes, describe_classes
from properboost.persistence.parameters import build_estimator, describe_parameters

__all__ = ["ULSFile"]

_FIELDS = (
    "parameters",
    "phi",
    "classes",
    *COLUMN_FIELDS,
    "coefficients",
    "total",
    "n_rounds",
    "norms",
    "rounds",
)
_REALS = ("edge", "weight_sum", "feature_norm", "risk")

_LARGEST = 1e300
"""The largest sum of coefficients, and the largest length."""


@kind("ULSClassifier", ULSClassifier, since=11)
class ULSFile(Codec[ULSClassifier]):
    """Parameters, the permissible function, classes, columns, coefficients and rounds."""

    def describe(self, model: ULSClassifier) -> dict[str, Any]:
        """Return the fields of a fitted model."""
        check_declared(model)  # they may have been set since the fit
        fitted = model._model
        rounds = fitted.rounds
        return {
            "parameters": describe_parameters(model, ULSClassifier, 0),
            "phi": fitted.phi,
            "classes": describe_classes(model.classes_),
            **describe_columns(fitted.columns),
            "coefficients": fitted.coefficients.tolist(),
            "total": fitted.total,
            "n_rounds": fitted.n_rounds,
            "norms": None if fitted.norms is None else fitted.norms.tolist(),
            "rounds": None
            if rounds is None
            else {name: values.tolist() for name, values in rounds.items()},
        }

    def build(self, node: Node, version: int) -> ULSClassifier:
        """Return the fitted model that fields describe."""
        del version  # there is only one
        fields = node.fields(*_FIELDS)
        model = build_estimator(fields["parameters"], ULSClassifier, check_declared)
        classes = build_classes(fields["classes"])
        if len(classes) != 2:
            fields["classes"].fail("must hold two labels")
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
        uls = ULSModel(phi, columns, coefficients, total, norms, rounds, n_rounds)
        return model._set_fitted(classes, uls)


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
