"""Quantized tables as files: a JSON header, then labels, weights and codes, feature by feature.

    magic (8 bytes), format version (4), length of the header (8), digest of these and of the
    header (16), header; then each part from the next multiple of `ALIGNMENT` on

In format 1 the codes of a class are in the order of its rows; they are put into memory in another.

Numbers are little-endian, of one byte where a code is one.  The header has the size and the CRC-32
of every part.  Nothing in a file is ever executed, and all of it is checked, except
mapped codes (see `CodedRows`).
"""

import hashlib
import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.batches.coded_rows import (
    CodedRows,
    check_codes,
    cut_bytes,
    find_checksum,
    refuse_file,
)
from properboost.data.binning import MAX_CATEGORIES, Binning, NumericBins
from properboost.data.sorted_rows import count_rows
from properboost.data.table import CodedLabels
from properboost.persistence.bins import build_bins, describe_bins
from properboost.persistence.json_node import Node
from properboost.persistence.json_reader import read_json
from properboost.persistence.json_writer import write_json
from properboost.persistence.labels import build_classes, build_names, describe_classes
from properboost.whole_file import AnyPath, write_whole

__all__ = ["read", "write"]

MAGIC = b"\x89pbtable"
VERSION = 2
ALIGNMENT = 64  # of parts; float64 takes 8

_START = struct.Struct("<8sIQ16s")
_MOST_ROWS = 2**48
_LABEL_BYTES = (1, 2, 4, 8)

# -- writing --------------------------------------------------------------------------------------


def write(rows: CodedRows, path: AnyPath) -> None:
    """Write rows, or leave what was there before."""
    write_whole(path, _make(check_codes(rows)))


def _make(rows: CodedRows) -> Iterator[bytes | memoryview]:
    labels = rows.labels.codes.astype(rows.labels.codes.dtype.newbyteorder("<"), copy=False)
    parts: list[NDArray[Any]] = [labels]
    if rows.weight is not None:
        parts.append(rows.weight.astype("<f8", copy=False))
    parts.append(rows.codes)
    header = b"".join(
        write_json(
            {
                "library_version": _core.__version__,
                "rows": len(labels),
                "classes": describe_classes(rows.labels.values),
                "labels": {"bytes": labels.dtype.itemsize, "checksum": find_checksum(labels)},
                "weights": None if rows.weight is None else {"checksum": find_checksum(parts[1])},
                "names": rows.names,
                "categorical_from_dtype": rows.binning.from_dtype,
                "features": [describe_bins(bins) for bins in rows.binning.features],
                "max_numeric": rows.max_numeric,
                "max_categories": rows.max_categories,
                "codes": {
                    "rows": rows.codes.shape[1],
                    "checksums": [find_checksum(codes) for codes in rows.codes],
                },
            }
        )
    )
    begin = _START.pack(MAGIC, VERSION, len(header), b"")[:-16]
    yield begin + _digest(begin, header) + header
    at = _START.size + len(header)
    for part in parts:
        yield bytes(-at % ALIGNMENT)
        at += -at % ALIGNMENT + part.nbytes
        for vector in part if part.ndim == 2 else [part]:
            yield from cut_bytes(vector)


def _digest(begin: bytes, header: bytes) -> bytes:
    return hashlib.blake2b(begin + header, digest_size=16).digest()


# -- reading --------------------------------------------------------------------------------------


def read(path: AnyPath, *, mapped: bool) -> CodedRows:
    """Read a file, or map it: codes are then read when they are needed."""
    file = os.fsdecode(path)
    with Path(file).open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        version, header = _read_header(file, stream, size)
        parts = _FileParts(file, stream, _START.size + len(header), size, mapped)
        try:
            document = read_json(BytesIO(header))
        except ValueError as error:
            raise ValueError(f"{file}: not a quantized table: {error}") from error
        rows = _build(Node(document, file), parts)
        return _sort_again(check_codes(rows)) if version == 1 else rows


def _sort_again(rows: CodedRows) -> CodedRows:
    """Return rows of format 1 with their codes in the order of the current format."""
    all_rows = count_rows(rows.labels, rows.weight)
    counted = len(all_rows.classes) > all_rows.codes
    before = np.flatnonzero(counted)[np.argsort(all_rows.codes[counted], kind="stable")]
    codes = np.empty_like(rows.codes)
    codes[:, all_rows.find_places()[before]] = rows.codes
    return replace(rows, codes=codes)


def _read_header(file: str, stream: IO[bytes], size: int) -> tuple[int, bytes]:
    begin = stream.read(_START.size)
    if not begin.startswith(MAGIC):
        refuse_file(file, "is not a quantized table: it does not begin as one")
    if len(begin) < _START.size:
        refuse_file(file, "is cut off within the header")
    _, version, length, digest = _START.unpack(begin)
    if version > VERSION:
        refuse_file(file, f"has the format version {version}: this library reads up to {VERSION}")
    if version < 1:
        refuse_file(file, f"has the format version {version}, which there is not")
    if length > size - _START.size:
        refuse_file(file, "is cut off within the header")
    header = stream.read(length)
    if _digest(begin[:-16], header) != digest:
        refuse_file(file, "is damaged: its header is another one than was written")
    return version, header


class _FileParts:
    """The parts of a file, one after the other."""

    def __init__(self, file: str, stream: IO[bytes], at: int, size: int, mapped: bool) -> None:
        self.file = file
        self.mapped = mapped
        self._stream, self._at, self._size = stream, at, size
        self._map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if mapped else None

    def take(self, kind: str, count: int) -> NDArray[Any]:
        """Return the next part: `count` numbers of a kind."""
        begin = self._at + -self._at % ALIGNMENT
        dtype = np.dtype(kind)
        self._at = begin + count * dtype.itemsize
        if self._at > self._size:
            refuse_file(self.file, f"is cut off: it has {self._size} bytes, and more are to come")
        values: NDArray[Any]
        if self._map is not None:
            values = np.frombuffer(self._map, dtype, count, begin)
        else:
            values = np.empty(count, dtype)
            self._stream.seek(begin)
            for block in cut_bytes(values):
                if self._stream.readinto(block) < len(block):  # type: ignore[attr-defined]
                    refuse_file(self.file, "is cut off: it has become shorter")
        return values if dtype.isnative else values.astype(dtype.newbyteorder("="))

    def end(self) -> None:
        """Refuse bytes after the last part."""
        if self._at != self._size:
            refuse_file(self.file, f"must have {self._at} bytes; it has {self._size}")


def _build(node: Node, parts: _FileParts) -> CodedRows:
    fields = node.fields(
        "library_version", "rows", "classes", "labels", "weights", "names",
        "categorical_from_dtype", "features", "max_numeric", "max_categories", "codes",
    )  # fmt: skip
    fields["library_version"].string()
    n_rows = fields["rows"].integer(1, _MOST_ROWS)
    values = build_classes(fields["classes"])
    binning = build_bins(fields["features"], fields["categorical_from_dtype"].boolean())
    names = build_names(fields["names"], len(binning.features))
    if names is None or not names.are_text:
        fields["names"].fail("must be a list")
    max_numeric = fields["max_numeric"].integer(2, 255)
    max_categories = fields["max_categories"].integer(2, MAX_CATEGORIES)
    _check_bins(fields["features"], binning, max_numeric, max_categories)
    of_labels = fields["labels"].fields("bytes", "checksum")
    n_bytes = of_labels["bytes"].integer(1, 8)
    if n_bytes not in _LABEL_BYTES:
        of_labels["bytes"].fail(f"must be one of {list(_LABEL_BYTES)}")
    codes = parts.take(f"<u{n_bytes}", n_rows)
    _check_sum(of_labels["checksum"], codes)
    if codes.max() >= len(values):
        of_labels["checksum"].fail(f"is of labels that are not below {len(values)}")
    weight, n_counted = None, n_rows
    if fields["weights"].value is not None:
        checksum = fields["weights"].fields("checksum")["checksum"]
        weight = parts.take("<f8", n_rows)
        _check_sum(checksum, weight)
        if not (np.isfinite(weight).all() and (weight >= 0.0).all()):
            checksum.fail("is of weights that are not finite or below 0")
        n_counted = int(np.count_nonzero(weight))
    of_codes = fields["codes"].fields("rows", "checksums")
    if of_codes["rows"].integer(1, n_rows) != n_counted:
        of_codes["rows"].fail(f"must be {n_counted}, the rows of positive weight")
    n_features = len(binning.features)
    checksums = of_codes["checksums"].integers(0, 2**32 - 1).tolist()
    if len(checksums) != n_features:
        of_codes["checksums"].fail(f"must have {n_features} entries")
    rows = CodedRows(
        names=list(names.values),
        labels=CodedLabels(values, codes),
        weight=weight,
        binning=binning,
        max_numeric=max_numeric,
        max_categories=max_categories,
        codes=parts.take("u1", n_features * n_counted).reshape(n_features, n_counted),
        unchecked=(node.file, checksums),
    )
    parts.end()
    return rows if parts.mapped else check_codes(rows)


def _check_bins(node: Node, binning: Binning, max_numeric: int, max_categories: int) -> None:
    for entry, bins in zip(node.entries(), binning.features, strict=True):
        numeric = isinstance(bins, NumericBins)
        if bins.n_bins > (max_numeric if numeric else max_categories):
            entry.fail("must not have more bins than max_numeric or max_categories")
        if isinstance(bins, NumericBins) and (bins.means is not None) != binning.has_means:
            entry.fail("must have means if another numeric feature has, and only then")


def _check_sum(node: Node, values: NDArray[Any]) -> None:
    if find_checksum(values) != node.integer(0, 2**32 - 1):
        node.fail("is not that of the contents: the file is damaged")
