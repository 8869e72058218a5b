"""gzip, with limits on what a small file may turn into.

Unpacking can make a thousand bytes of one.  Here it makes at most `MOST_TIMES` as many, besides
`MOST_MORE`: a stranger's file that would make more is refused before memory is taken for it.  What
would be refused is not written.
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Protocol

__all__ = ["MAGIC", "MOST_MORE", "MOST_TIMES", "Readable", "Unpacked", "pack"]

MAGIC = b"\x1f\x8b"
"""What gzip files begin with."""

MOST_TIMES = 100
"""Unpacked bytes to a packed one; models of stumps, which repeat their values, have some 80."""

MOST_MORE = 2**24
"""Unpacked bytes beyond that, 16 MiB."""

MOST_IN_ALL = 2**32
"""Unpacked bytes, 4 GiB."""

_WBITS = 31  # of gzip, whose header has no time and no name
_LEVEL = 6
_AT_ONCE = 2**16  # bytes that are read


class Readable(Protocol):
    """What bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """Return so many bytes or fewer, none at the end."""


def pack(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a gzip file; the same content makes the same bytes.

    Raises
    ------
    ValueError
        If reading might refuse it.
    """
    deflate = zlib.compressobj(_LEVEL, wbits=_WBITS)
    n_packed = n_unpacked = 0
    for piece in pieces:
        n_unpacked += len(piece)
        # Reading has then taken no less than what was packed before this piece.
        if _is_too_much(n_unpacked, n_packed):
            raise ValueError(
                f"gzip makes the model more than {MOST_TIMES} times smaller, which load_model "
                "refuses: save it without the suffix .gz"
            )
        packed = deflate.compress(piece)
        n_packed += len(packed)
        yield packed
    yield deflate.flush()


def _is_too_much(n_unpacked: int, n_packed: int) -> bool:
    return n_unpacked > min(MOST_IN_ALL, MOST_MORE + MOST_TIMES * n_packed)


class Unpacked:
    """What a gzip file holds, as a file that can be read from.

    Parameters
    ----------
    file : binary file
        The gzip file.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._inflate = zlib.decompressobj(wbits=_WBITS)
        self._n_packed = self._n_unpacked = 0

    def read(self, size: int, /) -> bytes:
        """Return so many bytes or fewer, none at the end.

        Raises
        ------
        ValueError
            If the file is damaged, is cut off or goes on, or holds too much.
        """
        unpacked = b""
        while not unpacked and not self._inflate.eof:
            packed = self._inflate.unconsumed_tail
            if not packed:
                packed = self._file.read(_AT_ONCE)
                self._n_packed += len(packed)
            try:
                unpacked = self._inflate.decompress(packed, size)
            except zlib.error as error:
                raise ValueError(f"it is damaged gzip: {error}") from None
            if not packed and not unpacked:
                raise ValueError("it is gzip that is cut off")
        self._n_unpacked += len(unpacked)
        if _is_too_much(self._n_unpacked, self._n_packed):
            raise ValueError(
                f"{self._n_packed:,} bytes of gzip hold more than {self._n_unpacked:,}, which is "
                f"more than {MOST_TIMES} times as many"
            )
        if self._inflate.eof and (self._inflate.unused_data or self._file.read(1)):
            raise ValueError("it is gzip that goes on after its end")
        return unpacked
