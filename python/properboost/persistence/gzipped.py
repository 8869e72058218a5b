"""gzip, with limits on the unpacked size of a small file.

Unpacking can turn one byte into a thousand.  Here it yields at most `MOST_TIMES` as many bytes, and
`MOST_MORE` besides: a larger file of a stranger is refused before it takes memory.  No file that
would be refused is written.
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Protocol

__all__ = ["MAGIC", "MOST_MORE", "MOST_TIMES", "Readable", "UnpackedFile", "pack"]

MAGIC = b"\x1f\x8b"
"""The first bytes of gzip files."""

MOST_TIMES = 100
"""The most unpacked bytes per packed one; models of stumps, which repeat values, have about 80."""

MOST_MORE = 2**24
"""The unpacked bytes allowed beyond that, 16 MiB."""

MOST_IN_ALL = 2**32
"""The most unpacked bytes in all, 4 GiB."""

_WBITS = 31  # the format gzip, with a header without time and name
_LEVEL = 6
_AT_ONCE = 2**16  # bytes per read


class Readable(Protocol):
    """An object from which bytes can be read."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, and none at the end."""


def pack(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a gzip file; the same content makes the same bytes.

    Raises
    ------
    ValueError
        If reading might refuse the file.
    """
    deflate = zlib.compressobj(_LEVEL, wbits=_WBITS)
    n_packed = n_unpacked = 0
    for piece in pieces:
        n_unpacked += len(piece)
        # When a reader gets to this piece, it has read all that was packed before.
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


class UnpackedFile:
    """The unpacked content of a gzip file, as a readable file.

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
        """Return at most `size` bytes, and none at the end.

        Raises
        ------
        ValueError
            If the file is damaged, cut off, too long, or unpacks to too much.
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
