"""Files of models: versioned JSON, every field of which is checked on loading.

A file has the results of a fit: parameters, loss, classes, bins and rounds.  Its content is never
executed.  It has no derived numbers, so that the loaded model predicts bit for bit as the saved
one.  Numbers have the digits that give the same float64 back; infinite ones are strings.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from properboost import _core
from properboost.data.spelling import PLAIN, Spelling
from properboost.persistence.gzipped import MAGIC, UnpackedFile, pack
from properboost.persistence.json_node import Node
from properboost.persistence.json_reader import read_json
from properboost.persistence.json_writer import write_json
from properboost.persistence.registry import KINDS, find_kind
from properboost.whole_file import AnyPath, write_whole

__all__ = ["FORMAT", "VERSION", "Document", "ModelFile", "open_document", "read", "save"]

FORMAT = "properboost model"

VERSION = 13
"""The version of the format.

Version 1 had greedy selection only; 2 no trees or pairs; 3 no custom losses, votes or rados; 4 no
searches or UDTClassifier; 5 no joint models; 6 no temperatures; 7 no compact models; 11 flat
parameters; 12 no means of lines.
"""

_GZIP = ".gz"
"""The suffix that makes `save` pack a file; `read` recognizes packed files by content."""

_SPELLING = "spelling"
"""The field of models whose training file had an unusual spelling of numbers."""

_SPELLING_SINCE = 11
"""The first format version with that field."""

_HEADER = {"format": 1, "format_version": 1, "library_version": 1, "estimator": 1, "compact": 8}
"""The fields of every file, and the first format version of each."""


@dataclass(frozen=True)
class Document:
    """A model file that was opened: its header, and the fields of the model."""

    fields: Node
    header: Mapping[str, Node]
    kind: str
    version: int
    packed: bool


@dataclass(frozen=True)
class ModelFile:
    """A model that was read from a file, and the file's header.

    Attributes
    ----------
    model : TableClassifier
        The fitted estimator.
    kind : str
        The name under which its class is registered.
    version : int
        The version of the format.
    library_version : str
        The version of properboost that wrote the file.
    packed : bool
        Whether the file is gzip.
    """

    model: Any
    kind: str
    version: int
    library_version: str
    packed: bool


def save(model: Any, path: AnyPath) -> None:
    """Write a fitted model, packed if the path ends with ``.gz``."""
    kind = find_kind(model)
    document = {
        "format": FORMAT,
        "format_version": VERSION,
        "library_version": _core.__version__,
        "estimator": kind.name,
        "compact": model.is_compact,
        **({} if model.spelling_ == PLAIN else {_SPELLING: model.spelling_.describe()}),
        **kind.codec.describe(model),
    }
    content = write_json(document)
    write_whole(path, pack(content) if os.fsdecode(path).endswith(_GZIP) else content)


def read(path: AnyPath) -> ModelFile:
    """Read a fitted estimator from a file, by the codec registered for its kind."""
    document = open_document(path, {name: kind.since for name, kind in KINDS.items()})
    header = document.header
    library_version = header["library_version"].string()
    model = KINDS[document.kind].codec.build(document.fields, document.version)
    if _SPELLING in header:
        model.spelling_ = _build_spelling(header[_SPELLING])
    compact = header["compact"].boolean() if "compact" in header else False
    if compact != model.is_compact:
        document.fields.fail(
            f"is of a {'full' if compact else 'compact'} model, against its field 'compact'"
        )
    return ModelFile(model, document.kind, document.version, library_version, document.packed)


def open_document(path: AnyPath, first_versions: Mapping[str, int]) -> Document:
    """Read a file's JSON, and check its header; kinds have a first format version each."""
    document, packed = _read_document(os.fsdecode(path))
    version = _check_format(document)
    header = _read_header(document, version)
    known = [name for name, since in first_versions.items() if since <= version]
    kind = header["estimator"].choice(known)
    rest = {name: value for name, value in document.object().items() if name not in header}
    return Document(Node(rest, document.file), header, kind, version, packed)


def _read_document(file: str) -> tuple[Node, bool]:
    """Return the JSON of a file, and whether it is packed."""
    with Path(file).open("rb") as stream:
        packed = stream.peek(len(MAGIC)).startswith(MAGIC)
        try:
            document = read_json(UnpackedFile(stream) if packed else stream)
        except ValueError as error:
            raise ValueError(f"{file}: not a properboost model: {error}") from error
    return Node(document, file), packed


def _read_header(document: Node, version: int) -> dict[str, Node]:
    """Return the fields of every estimator, and the spelling if there is one."""
    fields = document.mapping()
    names = [name for name, since in _HEADER.items() if since <= version]
    for name in names:
        if name not in fields:
            document.fail(f"lacks the field {name!r}")
    if _SPELLING in fields and version >= _SPELLING_SINCE:
        names.append(_SPELLING)
    return {name: fields[name] for name in names}


def _build_spelling(node: Node) -> Spelling:
    """Return the spelling of cells, of which at least one part is unusual."""
    fields = node.mapping()
    parts: dict[str, Any] = {}
    for name, entry in node.fields(*(name for name in PLAIN.names if name in fields)).items():
        match name:
            case "units" | "na":
                parts[name] = tuple(text.string() for text in entry.entries())
            case "brackets":
                parts[name] = entry.boolean()
            case _:
                parts[name] = entry.string()
    try:
        spelling = Spelling.of(parts)
    except ValueError as error:
        node.fail(f"must be a spelling of numbers: {error}")
    if spelling.describe().keys() != parts.keys() or not parts:
        node.fail("must hold only values that differ from the defaults")
    return spelling


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
