"""Rows as codes, with labels and weights: the data of a quantized table, in memory or mapped."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning
from properboost.data.table import CodedLabels

__all__ = ["CodedRows", "check_codes", "cut_bytes", "find_checksum", "refuse_file"]

_AT_ONCE = 2**22  # bytes: Ctrl-C takes effect between them


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Training rows as codes, with labels and weights.

    Codes are of the rows that count, in the order of `Rows.sort`; labels and weights are of all
    rows.  For mapped codes that nobody has read, `unchecked` has the file and the CRC-32 of each
    feature's codes: see `check_codes`.
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
    """Check mapped codes, which reads all of them; return the checked rows."""
    if rows.unchecked is None:
        return rows
    file, checksums = rows.unchecked
    features = zip(rows.codes, rows.binning.features, checksums, strict=True)
    for j, (codes, bins, checksum) in enumerate(features):
        # A code out of range is refused even where somebody made the checksum fit.
        if find_checksum(codes) != checksum or codes.max() >= bins.width:
            refuse_file(file, f"is damaged: the codes of feature {rows.names[j]!r} are other ones")
    return replace(rows, unchecked=None)


def cut_bytes(values: NDArray[Any]) -> Iterator[memoryview]:
    """Return the bytes of values, block by block."""
    data = np.ascontiguousarray(values).data.cast("B")
    return (data[begin : begin + _AT_ONCE] for begin in range(0, len(data), _AT_ONCE))


def find_checksum(values: NDArray[Any]) -> int:
    """Return the CRC-32 of values."""
    checksum = 0
    for block in cut_bytes(values):
        checksum = zlib.crc32(block, checksum)
    return checksum


def refuse_file(file: str, problem: str) -> NoReturn:
    """Raise a ValueError that names the file."""
    raise ValueError(f"{file}: the file {problem}")
