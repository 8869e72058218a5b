"""Digests of partitions: whether a collection gives the same rows when it is read again.

A fit reads rows several times, and once more where a worker is lost.  A collection that draws or
orders rows anew each time would yield a model of rows that never existed.
"""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.libraries import is_a

__all__ = ["check_digest", "find_digest"]

BLOCK = 8192
"""Words of 8 bytes in a sum: so many stay in the processor's cache."""

PIECE = 2**20
"""Bytes of an array that are copied into row order at a time."""


def find_digest(*values: Any) -> bytes:
    """Return a digest of the values of arrays, tables, columns and None, in their order.

    The layout in memory does not change it, nor does an index.
    """
    digest = hashlib.blake2b(digest_size=16)
    for value in values:
        if is_a(value, "pandas", "DataFrame"):
            for _, column in value.items():
                _add_column(digest, column)
        else:
            _add_column(digest, value)
    return digest.digest()


def check_digest(before: bytes, now: bytes, what: str, number: int) -> None:
    """Refuse a partition whose digest has changed."""
    if before != now:
        raise ValueError(
            f"{what} must be the same each time a collection is read; partition {number} had "
            "other rows, or another order of them, when it was read again: persist the "
            "collection, or make it repeatable (a seed, a sort)"
        )


def _add_column(digest: Any, column: Any) -> None:
    digest.update(f"{getattr(column, 'shape', None)} ".encode())
    if column is None:
        return
    dtype = getattr(column, "dtype", None)
    if is_a(dtype, "pandas", "CategoricalDtype"):
        categorical = column.array if hasattr(column, "array") else column
        _add_array(digest, np.asarray(categorical.codes))
        _add_objects(digest, categorical.categories.tolist())
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
    """Return the sum of each block's words, each multiplied by the odd factor of its place.

    Nobody forges rows here, so a sum will do: it takes a fraction of a cryptographic hash's time.
    """
    sums = np.empty(-(-len(words) // BLOCK), dtype=np.uint64)
    buffer = np.empty(BLOCK, dtype=np.uint64)
    for k in range(len(sums)):
        block = words[k * BLOCK : (k + 1) * BLOCK]
        mixed = buffer[: len(block)]
        # Small numbers, as floats, differ in their upper half alone, whose products would overflow.
        np.right_shift(block, np.uint64(32), out=mixed)
        np.bitwise_xor(mixed, block, out=mixed)
        np.multiply(mixed, FACTORS[: len(block)], out=mixed)
        sums[k] = np.add.reduce(mixed)
    return sums


def _make_factors() -> NDArray[np.uint64]:
    """Return odd numbers that are the same with every NumPy: the mixing of splitmix64."""
    bits = np.arange(1, BLOCK + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (bits ^ (bits >> np.uint64(31))) | np.uint64(1)


FACTORS = _make_factors()
