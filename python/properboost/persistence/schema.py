"""The JSON schema of model files: their fields stand in a file, parameters in declarations."""

import json
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
        JSON Schema 2020-12.  It knows every field of every kind of model and allows no other.  What
        it cannot say is left to `load_model`: which lengths and numbers belong together, and what
        values of a parameter are allowed.
    """
    text = files("properboost.persistence").joinpath("model.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    schema["properties"]["format_version"] = {"const": VERSION}
    schema["$defs"]["object"] = {"oneOf": [_describe_kind(kind) for kind in COMPONENTS.values()]}
    for name, kind in KINDS.items():
        schema["$defs"][f"parameters of {name}"] = _describe_parameters(kind.estimator)
    return schema


def _describe_kind(kind: type) -> dict[str, Any]:
    """Return the schema of what stands for an object: its fields by the name of its class."""
    fields = {kind.__name__: _describe_parameters(kind)}
    return {
        "type": "object",
        "properties": fields,
        "required": [*fields],
        "additionalProperties": False,
    }


def _describe_parameters(owner: type) -> dict[str, Any]:
    known = {name: " ".join((p.doc or "").split()) for name, p in declared(owner).items()}
    return {
        "type": "object",
        "properties": {name: {"description": doc} for name, doc in known.items()},
        "required": [*known],
        "additionalProperties": False,
    }
