"""Sources of rows that can be read more than once, batch by batch."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from properboost.batches.partition_keys import PartitionKeys
from properboost.data.frames import open_frame
from properboost.data.libraries import is_a
from properboost.data.table import InputTable
from properboost.extras import import_extra

__all__ = ["BATCH_ROWS", "BUFFER_BYTES", "comes_once", "open_source"]

BATCH_ROWS = 2**16
"""Rows that files and lazy frames are read by."""

BUFFER_BYTES = 2**18
"""Bytes that are read of each column of a file at a time."""

ALLOWED = (
    "Parquet paths, a pyarrow Dataset, a polars LazyFrame, a pandas, polars or Arrow table or a "
    "list of them, an object with __arrow_c_stream__, or a function that returns a new iterator of "
    "tables"
)

Begin: TypeAlias = Callable[[], Iterable[Any]]
"""A function that reads the batches of a source from its first row."""


def open_source(
    source: Any, columns: list[str] | None, *, once: bool = False
) -> Callable[[], Iterator[InputTable]]:
    """Return a function that reads a source from its first row, at each call or `once`.

    Batches have at least these `columns`, in any order; None is all.
    """
    if once and comes_once(source):
        scanned = is_a(source, "pyarrow.dataset", "Scanner")
        return _tables(lambda: source.to_reader() if scanned else source)
    if hasattr(source, "__dask_graph__") or comes_once(source):
        raise _refuse(source)
    for open_kind in (_open_paths, _open_dataset, _open_lazy_frame, _open_frames, _open_stream):
        begin = open_kind(source, columns)
        if begin is not None:
            return _tables(begin)
    if callable(source):
        return _tables(_calls(source))
    # The message shows types only: the contents of a source may be rows.
    entries = _list_entries(source)
    kinds = " and ".join(sorted({type(entry).__name__ for entry in entries}))
    of = f"{type(source).__name__} of " if entries is source else ""
    raise TypeError(f"source must be {ALLOWED}; got {of}{kinds}")


def comes_once(source: Any) -> bool:
    """Whether a source can be read once only."""
    return (
        isinstance(source, Iterator)
        or is_a(source, "pyarrow", "RecordBatchReader")
        or is_a(source, "pyarrow.dataset", "Scanner")
    )


# Each of these returns a function that reads sources of one kind, and None for other kinds.


def _open_paths(source: Any, columns: list[str] | None) -> Begin | None:
    paths = _list_entries(source)
    if not all(isinstance(path, str | PathLike) for path in paths):
        return None
    return _open_files([fspath(path) for path in paths], columns)


def _open_dataset(source: Any, columns: list[str] | None) -> Begin | None:
    if not is_a(source, "pyarrow.dataset", "Dataset"):
        return None
    options = _read_in_little_memory(source)
    return lambda: source.to_batches(columns=columns, **options)


def _open_lazy_frame(source: Any, columns: list[str] | None) -> Begin | None:
    if not is_a(source, "polars", "LazyFrame"):
        return None
    if not hasattr(source, "collect_batches"):
        raise TypeError("source is a LazyFrame of a polars that cannot read it in batches")
    wanted = source if columns is None else source.select(columns)
    return lambda: wanted.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)


def _open_frames(source: Any, _: list[str] | None) -> Begin | None:
    frames = _list_entries(source)
    return (lambda: frames) if all(open_frame(table) is not None for table in frames) else None


def _open_stream(source: Any, _: list[str] | None) -> Begin | None:
    if not hasattr(source, "__arrow_c_stream__"):
        return None
    arrow = import_extra("pyarrow", "reading an Arrow stream needs", "arrow")
    return lambda: arrow.RecordBatchReader.from_stream(source)


def _list_entries(source: Any) -> Sequence[Any]:
    """Return the entries of a list that is not empty; anything else is one entry."""
    return source if isinstance(source, list | tuple) and len(source) else [source]


def _open_files(paths: list[str], columns: list[str] | None) -> Begin:
    """Return a function that reads Parquet files one by one, those of a folder by name.

    Columns from the names of folders come last.
    """
    arrow = import_extra("pyarrow", "reading Parquet files needs", "arrow")
    parquet = import_extra("pyarrow.parquet", "reading Parquet files needs", "arrow")
    datasets = import_extra("pyarrow.dataset", "reading Parquet files needs", "arrow")
    opened = []
    for path in paths:
        try:
            opened.append(datasets.dataset(path, format="parquet"))
        except FileNotFoundError as error:  # its message has control characters unescaped
            raise FileNotFoundError(f"source must exist; there is no {path!r}") from error
        except arrow.ArrowInvalid as error:
            raise ValueError(
                f"source must be a Parquet file or a folder of them; got {path!r}: other files are "
                f"read in pieces, such as lambda: pandas.read_csv({path!r}, chunksize=100_000)"
            ) from error
    files = [(path, dataset.filesystem) for dataset in opened for path in dataset.files]
    keys = PartitionKeys.find([path for path, _ in files], _find_root(paths, opened))
    marks: dict[str, tuple[int, int]] = {}

    def read() -> Iterator[Any]:
        # A Dataset would read a row group at a time, however large.
        for number, (path, filesystem) in enumerate(files):
            seen = filesystem.get_file_info(path)
            mark = seen.size, seen.mtime_ns
            if marks.setdefault(path, mark) != mark:
                raise ValueError(f"source must not change while it is read; {path} did")
            with filesystem.open_input_file(path) as stream:
                file = parquet.ParquetFile(stream, buffer_size=BUFFER_BYTES, pre_buffer=False)
                for batch in file.iter_batches(BATCH_ROWS, columns=columns, use_threads=False):
                    yield keys.complete(batch, number, columns) if keys.values else batch
                del file
        arrow.default_memory_pool().release_unused()  # Arrow would keep it for another reading

    return read


def _find_root(paths: list[str], datasets: list[Any]) -> Path:
    """Return the folder below which names are keys: the path itself, or the common parent."""
    filesystems = import_extra("pyarrow.fs", "reading Parquet files needs", "arrow")
    roots = []
    for path, dataset in zip(paths, datasets, strict=True):
        location = filesystems.FileSystem.from_uri(path)[1] if "://" in path else path
        root = Path(location).parent if dataset.files == [location] else Path(location)
        roots.append(root.absolute())
    return Path(os.path.commonpath(roots))


def _read_in_little_memory(source: Any) -> dict[str, Any]:
    """Return options by which a pyarrow Dataset reads few batches ahead."""
    options: dict[str, Any] = {
        "batch_size": BATCH_ROWS,
        "batch_readahead": 1,
        "fragment_readahead": 1,
    }
    if is_a(getattr(source, "format", None), "pyarrow.dataset", "ParquetFileFormat"):
        dataset = import_extra("pyarrow.dataset", "reading Parquet files needs", "arrow")
        options["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, pre_buffer=False
        )
    return options


def _calls(function: Callable[[], Any]) -> Begin:
    """Wrap a function, and refuse it if it returns the same iterator twice."""
    earlier: list[Any] = []

    def begin() -> Iterable[Any]:
        batches = function()
        if any(batches is other for other in earlier) and isinstance(batches, Iterator):
            raise TypeError("source must return a new iterator each time; got the same one again")
        earlier.append(batches)
        if open_frame(batches) is not None or not isinstance(batches, Iterable):
            raise TypeError(
                "source must return an iterator of pandas, polars or Arrow tables; got "
                f"{type(batches).__name__}"
            )
        return batches

    return begin


def _tables(begin: Begin) -> Callable[[], Iterator[InputTable]]:
    """Return a function that opens the batches of `begin` as tables."""

    def read() -> Iterator[InputTable]:
        for batch in begin():
            table = open_frame(batch)
            if table is None:
                raise TypeError(
                    "source must give batches that are pandas, polars or Arrow tables; got "
                    f"{type(batch).__name__}"
                )
            yield table

    return read


def _refuse(source: Any) -> TypeError:
    return TypeError(
        f"source must be readable more than once; got {type(source).__module__}."
        f"{type(source).__name__}: pass a function that returns a new iterator of tables each "
        "time, or spool=True"
    )
