"""JSON as bytes, piece by piece: Ctrl-C is heard between two pieces, and no piece is large."""

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["write_json"]

_MOST = 2**14
"""Values encoded by one call, which nothing interrupts: a few milliseconds' work."""

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
    # Escapes of two halves are those of the one character that they are halves of.
    if r"\ud" in text and _plain(json.loads(text)) != _plain(value):
        raise ValueError(
            "names, categories and labels must not hold both halves of a surrogate pair as two "
            "characters, which a file would join: join them before the fit, by "
            "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'surrogatepass')"
        )
    return text


def _count(value: Any, most: int = _MOST) -> int:
    """Return how many values a value holds, or more than `most` if it is more."""
    if isinstance(value, dict):
        inner = [entry for entry in value.values() if isinstance(entry, list | dict)]
    elif isinstance(value, list):  # whose entries are of one kind
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
    """Yield runs of entries to encode together; a large one is alone."""
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
