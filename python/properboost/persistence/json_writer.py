"""A writer of JSON as bytes, in small pieces, between which Ctrl-C interrupts."""

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["write_json"]

_MOST = 2**14
"""The most values that one call encodes, which takes a few uninterrupted milliseconds."""

_ascii = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_plain = json.JSONEncoder(ensure_ascii=False).encode


def write_json(document: Any) -> Iterator[bytes]:
    """Yield the pieces of a document, in ASCII, without blanks and with a line feed at the end."""
    for text in _write(document):
        yield text.encode("ascii")
    yield b"\n"


def _write(value: Any) -> Iterator[str]:
    if _count(value) <= _MOST:
        yield _encode(value)
    elif isinstance(value, dict):
        for k, (key, entry) in enumerate(value.items()):
            yield f"{',' if k else '{'}{_encode(key)}:"
            yield from _write(entry)
        yield "}"
    else:
        for k, run in enumerate(_cut(value)):
            yield "," if k else "["
            if len(run) > 1:
                yield _encode(run)[1:-1]
            else:
                yield from _write(run[0])
        yield "]"


def _encode(value: Any) -> str:
    text = _ascii(value)
    # Two halves of a surrogate pair have the same escapes as the character of the pair.
    if r"\ud" in text and _plain(json.loads(text)) != _plain(value):
        raise ValueError(
            "names, categories and labels must not hold both halves of a surrogate pair as two "
            "characters, which a file would join: join them before the fit, by "
            "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'surrogatepass')"
        )
    return text


def _count(value: Any, most: int = _MOST) -> int:
    """Return the number of values in a value, or any number above `most` if it is more."""
    if isinstance(value, dict):
        inner = [entry for entry in value.values() if isinstance(entry, list | dict)]
    elif isinstance(value, list):  # its entries are of one kind
        inner = value if value and isinstance(value[0], list | dict) else []
    else:
        return 1
    total = len(value)
    for entry in inner:
        if total > most:
            break
        total += _count(entry, most - total)
    return total


def _cut(values: list[Any]) -> Iterator[list[Any]]:
    """Yield runs of entries to encode together; a large entry is a run by itself."""
    if not isinstance(values[0], list | dict):
        yield from (values[begin : begin + _MOST] for begin in range(0, len(values), _MOST))
        return
    begin, total = 0, 0
    for k, entry in enumerate(values):
        n = _count(entry)
        if total + n > _MOST and k > begin:
            yield values[begin:k]
            begin, total = k, 0
        total += n
    yield values[begin:]
