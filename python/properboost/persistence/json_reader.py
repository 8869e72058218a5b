"""A reader of untrusted JSON, which scans bytes before it parses them, piece by piece.

The scan finds the depth of nested values, and the commas at which the text can be cut.  Every piece
is parsed as a complete document: the brackets that are open at its ends are added.  The result is
then joined to the earlier pieces.  So Ctrl-C interrupts between two pieces, and text that is nested
too deep is refused before it takes memory.
"""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost.persistence.gzipped import Readable

__all__ = ["MOST_CONTAINERS", "MOST_DEPTH", "MOST_KEYS", "read_json"]

MOST_DEPTH = 64
"""The most levels of nested values; models need a dozen."""

MOST_KEYS = 2**16
"""The most keys of an object; models need one per column in the results of a search."""

MOST_CONTAINERS = 3 / 8
"""The most lists and objects per byte: a list of one digit within another has 2 in 6 bytes.

Lists of nothing but lists would take far more memory than their text.
"""

_AT_ONCE = 2**18  # bytes of a piece, whose parsing cannot be interrupted
_FEW = 1000  # lists and objects that may be empty
_BLANKS = b" \t\r\n"
_QUOTE = ord('"')
_CONTINUED = "(continued)"  # the key of a value that began in the piece before

Container = list[Any] | dict[str, Any]


def read_json(file: Readable) -> Any:
    """Return the object of a file in UTF-8, whose keys, also of nested objects, occur once.

    NaN and infinity are refused, although Python's parser accepts them.

    Raises
    ------
    ValueError
        If the file has anything else, is nested too deep or has too many keys.
    """
    document = _Document()
    block = file.read(_AT_ONCE)
    while following := file.read(_AT_ONCE):
        document.add(block)
        block = following
    document.add(block, is_last=True)
    return document.value


class _Document:
    """A document that is parsed piece by piece."""

    def __init__(self) -> None:
        self.value: Any = None
        self._scan = _Scan()
        self._waiting: list[bytes] = []  # the bytes after the last cut
        self._n_parsed = 0  # bytes
        self._before = ""  # the kinds of the containers that were open at the last cut: [ and {
        self._open: list[Container] = []  # these containers
        self._decode = json.JSONDecoder(
            object_pairs_hook=_make_object, parse_constant=_refuse_constant
        ).decode

    def add(self, block: bytes, *, is_last: bool = False) -> None:
        """Take the next bytes, and parse up to the last comma at which they can be cut."""
        end = self._scan.scan(block)
        if is_last:
            self._parse(block, "")
        elif end is None:
            self._waiting.append(block)
        else:
            self._parse(block[:end], self._scan.find_open(end))
            self._waiting.append(block[end + 1 :])
            self._n_parsed += 1

    def _parse(self, block: bytes, after: str) -> None:
        """Parse the waiting bytes and `block`; at its end containers like `after` are open."""
        piece = b"".join([*self._waiting, block])
        head = "".join(f'{{"{_CONTINUED}":' if kind == "{" else kind for kind in self._before[:-1])
        head += self._before[-1:]
        tail = after[::-1].translate({ord("["): "]", ord("{"): "}"})
        try:
            value = self._decode(f"{head}{piece.decode()}{tail}")
        except json.JSONDecodeError as error:
            near = max(0, self._n_parsed + error.pos - len(head))
            raise ValueError(f"{error.msg} near byte {near}") from None
        self._waiting.clear()
        self._n_parsed += len(piece)
        if self._before:
            self._join(value)
        else:
            self.value = value
        self._before = after
        self._open = []
        for _ in after:
            last = _last(self._open[-1]) if self._open else self.value
            self._open.append(last)
        if after and not self._open[-1]:
            raise ValueError(f"Expecting a value before byte {self._n_parsed}")

    def _join(self, value: Container) -> None:
        """Add the entries of a piece to the containers that were open before it."""
        *outer, innermost = self._open
        for container in outer:
            # The first entry continues the container's last one.
            first = value.pop(0) if isinstance(value, list) else value.pop(_CONTINUED)
            _extend(container, value)
            value = first
        if not value:
            raise ValueError(f"Expecting a value before byte {self._n_parsed}")
        _extend(innermost, value)


class _Scan:
    """The scan of bytes, block by block, for strings and open containers."""

    def __init__(self) -> None:
        self._in_string = False
        self._escaped = False  # the next byte
        self._begun = self._ended = False
        self._open = ""  # the kinds of the containers that were open before the last block: [ and {
        self._places: NDArray[np.intp] = np.empty(0, dtype=np.intp)  # of its brackets
        self._kinds = b""
        self._depths: NDArray[np.intp] = self._places  # after each
        self._n_bytes = self._n_containers = 0  # so far

    def scan(self, block: bytes) -> int | None:
        """Return the place of the last comma between two entries in a block, if it has one."""
        self._open = self.find_open(None)
        if self._escaped:
            block = b"_" + block[1:]
        if b"\\" in block:  # after this, no quote in it is a part of a string
            block = block.replace(rb"\\", b"__").replace(rb"\"", b"__")
        self._escaped = block.endswith(b"\\")
        values = np.frombuffer(block, dtype=np.uint8)
        quotes = np.flatnonzero(values == _QUOTE)
        in_string = self._in_string
        self._in_string = (in_string + len(quotes)) % 2 == 1
        # The brackets are 0x5b, 0x5d, 0x7b and 0x7d.
        places = np.flatnonzero(((values - 0x5B) & 0xDD) == 0)
        self._places = places[(np.searchsorted(quotes, places) + in_string) % 2 == 0]
        kinds = values[self._places]
        self._kinds = kinds.tobytes()
        self._depths = len(self._open) + np.cumsum(np.where(kinds & 0x02, 1, -1))
        self._n_bytes += len(block)
        self._n_containers += int(np.count_nonzero(kinds & 0x02))
        self._check(block)
        return self._find_comma(block, quotes, in_string)

    def _check(self, block: bytes) -> None:
        rest = block.lstrip(_BLANKS)
        if not self._begun and rest:
            self._begun = True
            if not rest.startswith(b"{"):
                raise ValueError("it does not hold an object")
        if self._ended and rest:
            raise ValueError("Extra data")
        if np.any(self._depths > MOST_DEPTH):
            raise ValueError(f"it is nested more than {MOST_DEPTH} deep")
        if self._n_containers > MOST_CONTAINERS * self._n_bytes + _FEW:
            raise ValueError("it holds too many lists and objects that are almost empty")
        ends = np.flatnonzero(self._depths <= 0)
        if len(ends):
            self._ended = True
            if block[int(self._places[ends[0]]) + 1 :].strip(_BLANKS):
                raise ValueError("Extra data")

    def _find_comma(self, block: bytes, quotes: NDArray[np.intp], in_string: bool) -> int | None:
        end = len(block)
        while (place := block.rfind(b",", 0, end)) >= 0:
            before = int(np.searchsorted(quotes, place))
            if (before + in_string) % 2 == 0:
                return place
            if before == 0:  # in a string that began in an earlier block
                return None
            end = int(quotes[before - 1])
        return None

    def find_open(self, place: int | None) -> str:
        """Return the kinds of the containers that are open at a place in the block, or after it."""
        n = len(self._places) if place is None else int(np.searchsorted(self._places, place))
        if n == 0:
            return self._open
        depths = self._depths[:n]
        kinds = np.frombuffer(self._kinds, dtype=np.uint8)[:n]
        still_open = self._open[: depths.min()]
        for level in range(len(still_open) + 1, int(depths[-1]) + 1):
            opened = np.flatnonzero((depths == level) & (kinds & 0x02 > 0))[-1]
            still_open += chr(kinds[opened])
        return still_open


def _last(container: Container) -> Any:
    return container[-1] if isinstance(container, list) else next(reversed(container.values()))


def _extend(container: Container, entries: Container) -> None:
    if isinstance(container, list):
        container.extend(entries)
        return
    assert isinstance(entries, dict)
    for key in entries:
        if key in container:
            _refuse_key(key)
    container.update(entries)
    _check_size(container)


def _make_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        known: set[str] = set()
        for key, _ in pairs:
            if key in known:
                _refuse_key(key)
            known.add(key)
    _check_size(entries)
    return entries


def _check_size(entries: dict[str, Any]) -> None:
    if len(entries) > MOST_KEYS:
        raise ValueError(f"it holds an object of more than {MOST_KEYS} keys")


def _refuse_key(key: str) -> NoReturn:
    raise ValueError(f"it holds an object with the key {key[:50]!r} twice")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed")
