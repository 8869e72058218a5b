"""Looking codes up: the entry of each row's code, some rows at a time."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROWS", "find_entries"]

Entry = TypeVar("Entry", bound=np.generic)

ROWS = 2**16
"""Rows that are looked up at a time: Ctrl-C is heard between them."""


def find_entries(entries: NDArray[Entry], *codes: NDArray[np.integer[Any]]) -> NDArray[Entry]:
    """Return the entry at each code, or at the codes along the first axes of `entries`.

    This is ``entries[codes]``, by which numpy ends the process where it is refused the memory to
    convert codes of one byte.
    """
    shape, beyond = codes[0].shape, entries.shape[len(codes) :]
    flat = [own.reshape(-1) for own in codes]
    found = np.empty((len(flat[0]), *beyond), dtype=entries.dtype)
    for begin in range(0, len(found), ROWS):
        some = tuple(own[begin : begin + ROWS].astype(np.intp) for own in flat)
        found[begin : begin + ROWS] = entries[some]
    return found.reshape((*shape, *beyond))
