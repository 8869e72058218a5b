"""scikit-learn's pipelines as ONNX graphs, through skl2onnx."""

from __future__ import annotations

from typing import Any

from properboost.export.description import describe, read_classes
from properboost.export.onnx_graph import Input, make_graph, read_pipeline_classes
from properboost.extras import import_extra
from properboost.persistence.registry import KINDS

__all__ = ["register"]

_KINDS = {
    "FloatTensorType": "FLOAT",
    "DoubleTensorType": "DOUBLE",
    "Int64TensorType": "INT64",
    "Int32TensorType": "INT32",
    "BooleanTensorType": "BOOL",
    "StringTensorType": "STRING",
}
"""ONNX's names of the types of skl2onnx's variables."""


def register() -> None:
    """Register the classifiers of this package with skl2onnx, which then converts their pipelines.

    Afterwards ``skl2onnx.to_onnx`` takes pipelines that end with one, such as a `StandardScaler`
    and a `ProperBoostClassifier`.  Inputs may be doubles, floats, integers, booleans and, for
    categories, strings.  The classifier computes in double; a step before it that computes in
    float passes rounded numbers.  With ``options={id(pipeline): {"zipmap": False}}`` probabilities
    are doubles; the dictionaries that skl2onnx makes otherwise hold floats.

    Raises
    ------
    ImportError
        If skl2onnx is not installed: ``pip install 'properboost[onnx]'``.

    Examples
    --------
    >>> from properboost import export
    >>> export.register()  # doctest: +SKIP
    >>> skl2onnx.to_onnx(pipeline, X[:1].astype(float))  # doctest: +SKIP
    """
    skl2onnx = import_extra("skl2onnx", "register needs", "onnx")
    types = import_extra("skl2onnx.common.data_types", "register needs", "onnx")
    helpers = import_extra("skl2onnx.helpers", "register needs", "onnx")
    onnx = import_extra("onnx", "register needs", "onnx")
    options = {
        "zipmap": [True, False, "columns"],
        "raw_scores": [True, False],
        "nocl": [True, False],
        "output_class_labels": [True, False],
    }

    def find_shapes(operator: Any) -> None:
        model = operator.raw_operator
        n_rows = operator.inputs[0].get_first_dimension()
        classes = read_pipeline_classes(read_classes(model.classes_))
        label = types.StringTensorType if classes.dtype == object else types.Int64TensorType
        operator.outputs[0].type = label([n_rows])
        in_maps = operator.scope_inst.get_options(model, {"zipmap": True})["zipmap"] is True
        kind = types.FloatTensorType if in_maps else types.DoubleTensorType
        operator.outputs[1].type = kind([n_rows, len(classes)])

    def convert(scope: Any, operator: Any, container: Any) -> None:
        model = operator.raw_operator
        description = describe(model)
        chosen = container.get_options(model, {"raw_scores": False, "zipmap": True})
        inputs = []
        left = len(description.features)
        for k, variable in enumerate(operator.inputs):
            width = variable.get_second_dimension() or left
            left -= width
            inputs.append(Input(f"input_{k}", width, _KINDS[type(variable.type).__name__]))
        outputs = ("label", "raw" if chosen["raw_scores"] else "probabilities")
        kind = "FLOAT" if chosen["zipmap"] is True else "DOUBLE"
        graph = make_graph(onnx, description, inputs, outputs, "", scores=kind)
        helpers.add_onnx_graph(scope, operator, container, graph)

    for kind in KINDS.values():
        estimator = kind.estimator
        alias = f"properboost{estimator.__name__}"
        skl2onnx.update_registered_converter(
            estimator, alias, find_shapes, convert, options=options, overwrite=True
        )
