"""Digests of partitions: whether a collection that is read again gives the same rows.

Rows are read several times, and again where a worker is lost.  A collection that draws or orders
them anew each time would give a model of rows that never were.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.libraries import is_a

__all__ = ["check_digest", "find_digest"]

BLOCK = 8192
"""Words of 8 bytes whose sum is found at once: they stay in the processor's cache."""

PIECE = 2**20
"""Bytes of an array that are laid out row by row at once."""


def find_digest(*values: Any) -> bytes:
    """Return a digest of arrays, tables, columns and None, of their values in their order.

    It does not depend on how they lie in memory, nor on an index.
    """
    digest = hashlib.blake2b(digest_size=16)
    for own in values:
        if is_a(own, "pandas", "DataFrame"):
            for _, column in own.items():
                _add_column(digest, column)
        else:
            _add_column(digest, own)
    return digest.digest()


def check_digest(before: bytes, now: bytes, what: str, number: int) -> None:
    """Refuse a partition that was another one before."""
    if before != now:
        raise ValueError(
            f"{what} must be the same each time a collection is read; partition {number} had other "
            "rows, or another order of them, when it was read again: persist the collection, or "
            "have what makes it give the same each time (a seed, a sort)"
        )


def _add_column(digest: Any, column: Any) -> None:
    digest.update(f"{getattr(column, 'shape', None)} ".encode())
    if column is None:
        return
    dtype = getattr(column, "dtype", None)
    if is_a(dtype, "pandas", "CategoricalDtype"):
        own = column.array if hasattr(column, "array") else column
        _add_array(digest, np.asarray(own.codes))
        _add_objects(digest, own.categories.tolist())
        return
    if not isinstance(dtype, np.dtype):  # of a library: nullable, or text
        _add_objects(digest, list(column))
        return
    array = np.asarray(column)
    if dtype.kind in ("O", "T"):
        _add_objects(digest, array.ravel().tolist())
        return
    digest.update(str(dtype).encode())
    _add_array(digest, array)


def _add_objects(digest: Any, values: list[Any]) -> None:
    digest.update("\x1f".join(map(str, values)).encode("utf-8", "surrogatepass"))


def _add_array(digest: Any, array: NDArray[Any]) -> None:
    """Add the bytes of an array, row by row."""
    if array.size == 0:
        return
    rows = max(1, PIECE // (array[:1].size * array.itemsize))
    for begin in range(0, len(array), rows):
        piece = np.ascontiguousarray(array[begin : begin + rows])
        data = piece.reshape(-1).view(np.uint8)
        whole = len(data) // 8 * 8
        digest.update(_add_up(data[:whole].view(np.uint64)).tobytes())
        digest.update(data[whole:].tobytes())


def _add_up(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a sum of each block's words times odd factors, each place having its own.

    That takes a fraction of the time of a cryptographic hash, as nobody forges rows here.
    """
    sums = np.empty(-(-len(words) // BLOCK), dtype=np.uint64)
    mixed = np.empty(BLOCK, dtype=np.uint64)
    for k in range(len(sums)):
        some = words[k * BLOCK : (k + 1) * BLOCK]
        own = mixed[: len(some)]
        # Small numbers as floats differ in their upper half alone, whose products would overflow.
        np.right_shift(some, np.uint64(32), out=own)
        np.bitwise_xor(own, some, out=own)
        np.multiply(own, FACTORS[: len(some)], out=own)
        sums[k] = np.add.reduce(own)
    return sums


def _make_factors() -> NDArray[np.uint64]:
    """Return odd numbers that are the same with every NumPy: the mixing of splitmix64."""
    bits = np.arange(1, BLOCK + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (bits ^ (bits >> np.uint64(31))) | np.uint64(1)


FACTORS = _make_factors()
