"""Rows as codes, with labels and weights: what a quantized table has, in memory or mapped."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning
from properboost.data.table import CodedLabels

__all__ = ["CodedRows", "check_codes", "cut_bytes", "find_checksum", "refuse_file"]

_AT_ONCE = 2**22  # bytes: Ctrl-C is heard between them


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Training rows as codes, with labels and weights.

    Codes are of the rows that count, sorted as `Rows.sort` sorts them by class; labels and weights
    are of all rows.  `unchecked` are the file and the CRC-32 of each feature's
    codes where the codes are mapped and have not been looked at: see `check_codes`.
    """

    names: list[str]
    labels: CodedLabels
    weight: NDArray[np.float64] | None
    binning: Binning
    max_numeric: int
    max_categories: int
    codes: NDArray[np.uint8]
    unchecked: tuple[str, list[int]] | None = None


def check_codes(rows: CodedRows) -> CodedRows:
    """Check mapped codes: this reads all of them.  Return the rows, which are known to be sound."""
    if rows.unchecked is None:
        return rows
    file, checksums = rows.unchecked
    features = zip(rows.codes, rows.binning.features, checksums, strict=True)
    for j, (codes, bins, checksum) in enumerate(features):
        # What is out of range is refused even where somebody made the checksum fit.
        if find_checksum(codes) != checksum or codes.max() >= bins.width:
            refuse_file(file, f"is damaged: the codes of feature {rows.names[j]!r} are other ones")
    return replace(rows, unchecked=None)


def cut_bytes(values: NDArray[Any]) -> Iterator[memoryview]:
    """Return the bytes of values, some at a time."""
    data = np.ascontiguousarray(values).data.cast("B")
    return (data[begin : begin + _AT_ONCE] for begin in range(0, len(data), _AT_ONCE))


def find_checksum(values: NDArray[Any]) -> int:
    """Return the CRC-32 of values."""
    found = 0
    for some in cut_bytes(values):
        found = zlib.crc32(some, found)
    return found


def refuse_file(file: str, problem: str) -> NoReturn:
    """Raise a ValueError that names the file."""
    raise ValueError(f"{file}: the file {problem}")
