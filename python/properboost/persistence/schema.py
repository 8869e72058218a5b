"""The JSON schema of model files: a schema file, with the declared parameters added."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from properboost.parameters.declare import declared
from properboost.parameters.flat import COMPONENTS
from properboost.persistence.files import VERSION
from properboost.persistence.registry import KINDS

__all__ = ["model_schema"]


def model_schema() -> dict[str, Any]:
    """Return the schema of the files that this version of the library writes.

    Returns
    -------
    dict
        JSON Schema 2020-12.  It has every field of every kind of model and allows no other.  Only
        `load_model` checks which lengths and numbers belong together, and which values of a
        parameter are allowed.
    """
    text = files("properboost.persistence").joinpath("model.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    schema["properties"]["format_version"] = {"const": VERSION}
    schema["$defs"]["object"] = {"oneOf": [_describe_kind(kind) for kind in COMPONENTS.values()]}
    for name, kind in KINDS.items():
        if declared(kind.estimator):
            schema["$defs"][f"parameters of {name}"] = _describe_parameters(kind.estimator)
    return schema


def _describe_kind(kind: type) -> dict[str, Any]:
    """Return the schema of an object in a file: its fields under the name of its class."""
    return _require({kind.__name__: _describe_parameters(kind)})


def _describe_parameters(owner: type) -> dict[str, Any]:
    docs = {name: " ".join((p.doc or "").split()) for name, p in declared(owner).items()}
    return _require({name: {"description": doc} for name, doc in docs.items()})


def _require(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
