"""The JSON schema of model files: their fields stand in a file, parameters in declarations."""

import json
from importlib.resources import files
from typing import Any

from properboost.parameters.declare import declared
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
    for name, kind in KINDS.items():
        known = kind.estimator().get_params(deep=False)
        docs = {name: entry.doc or "" for name, entry in declared(kind.estimator).items()}
        schema["$defs"][f"parameters of {name}"] = {
            "type": "object",
            "properties": {
                parameter: {"description": " ".join(docs.get(parameter, "").split())}
                for parameter in known
            },
            "required": [*known],
            "additionalProperties": False,
        }
    return schema
