"""Look-up of codes: the entry of each row's code, block by block."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROWS", "find_entries"]

Entry = TypeVar("Entry", bound=np.generic)

ROWS = 2**16
"""Rows that are looked up at a time: Ctrl-C takes effect between blocks."""


def find_entries(entries: NDArray[Entry], *codes: NDArray[np.integer[Any]]) -> NDArray[Entry]:
    """Return the entry at each code, or at the codes along the first axes of `entries`.

    This is ``entries[codes]``; but numpy, without the memory to convert codes of one byte, ends
    the process.
    """
    shape, beyond = codes[0].shape, entries.shape[len(codes) :]
    flat = [axis.reshape(-1) for axis in codes]
    picked = np.empty((len(flat[0]), *beyond), dtype=entries.dtype)
    for begin in range(0, len(picked), ROWS):
        block = tuple(axis[begin : begin + ROWS].astype(np.intp) for axis in flat)
        picked[begin : begin + ROWS] = entries[block]
    return picked.reshape((*shape, *beyond))
