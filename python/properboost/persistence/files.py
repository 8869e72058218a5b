"""Files: versioned JSON, every field of which is checked on loading.

A file holds what `fit` left: parameters, loss, classes, bins and rounds.  Nothing in it is ever
executed, and nothing derived is stored, so that what is loaded predicts bit for bit what was saved.
Numbers are written with the digits that give the same float64 back; infinite ones are strings.
"""

import os
from pathlib import Path
from typing import Any

from properboost import _core
from properboost.persistence.json_node import Node
from properboost.persistence.json_reader import read_json
from properboost.persistence.json_writer import write_json
from properboost.persistence.registry import KINDS, find_kind
from properboost.whole_file import AnyPath, write_whole

__all__ = ["FORMAT", "VERSION", "load", "save"]

FORMAT = "properboost model"

VERSION = 7
"""Version 1 had greedy selection only, 2 no trees or pairs, 3 no custom losses, votes or rados, 4
no searches or UDTClassifier, 5 no joint models, and 6 no temperatures."""

_HEADER = ("format", "format_version", "library_version", "estimator")


def save(model: object, path: AnyPath) -> None:
    """Write a fitted model."""
    kind = find_kind(model)
    document = {
        "format": FORMAT,
        "format_version": VERSION,
        "library_version": _core.__version__,
        "estimator": kind.name,
        **kind.codec.describe(model),
    }
    write_whole(path, write_json(document))


def load(path: AnyPath) -> Any:
    """Read a fitted model: an estimator of the class that is registered under the file's name."""
    file = os.fsdecode(path)
    with Path(file).open("rb") as stream:
        try:
            document = read_json(stream)
        except ValueError as error:
            raise ValueError(f"{file}: not a properboost model: {error}") from error
    node = Node(document, file)
    version = _check_format(node)
    fields = node.mapping()
    for name in _HEADER:
        if name not in fields:
            node.fail(f"lacks the field {name!r}")
    fields["library_version"].string()
    known = [kind.name for kind in KINDS.values() if kind.since <= version]
    kind = KINDS[fields["estimator"].choice(known)]
    rest = {name: value for name, value in document.items() if name not in _HEADER}
    return kind.codec.build(Node(rest, node.file), version)


def _check_format(document: Node) -> int:
    """Return the version of the format."""
    if not isinstance(document.value, dict) or document.value.get("format") != FORMAT:
        document.fail(f"is not a properboost model: its format must be {FORMAT!r}")
    fields = document.mapping()
    if "format_version" not in fields:
        document.fail("lacks the field 'format_version'")
    version = fields["format_version"].integer(1, 2**31)
    if version > VERSION:
        fields["format_version"].fail(f"is {version}: this library reads up to {VERSION}")
    return version
