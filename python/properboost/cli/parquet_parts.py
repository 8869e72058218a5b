"""Parquet files and folders of them, batch by batch, for the command line."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from properboost.batches.partition_keys import PartitionKeys
from properboost.batches.sources import BATCH_ROWS, BUFFER_BYTES
from properboost.cli.arrow_table import (
    PARQUET,
    find_categories,
    find_names,
    find_strings,
    import_pyarrow,
    make_frame,
    name_errors,
)
from properboost.cli.csv_table import FileError, import_pandas, list_names
from properboost.engine.available_memory import find_available

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["ParquetParts"]

_CELL = 32
"""Peak bytes of a cell where all rows are in memory."""

Mark = tuple[int, int]


@dataclass(frozen=True)
class ParquetParts:
    """A Parquet file, or those of a folder by their paths, of the same columns.

    `marks` are their sizes and times of change: a file that changes meanwhile is refused.  `keys`
    are columns in the names of folders, and come last.
    """

    file: str
    paths: tuple[Path, ...]
    marks: tuple[Mark, ...]
    keys: PartitionKeys
    schema: Any
    n_rows: int

    @classmethod
    def open(cls, file: str) -> "ParquetParts":
        """Find the files, and compare their columns."""
        import_pyarrow()
        from pyarrow import parquet

        whole = Path(file)
        paths = [whole]
        if whole.is_dir():
            inside = (path.relative_to(whole) for path in whole.rglob(f"*{PARQUET}"))
            parts = sorted(p for p in inside if not any(n[0] in "._" for n in p.parts))
            paths = [whole / path for path in parts]
            if not paths:
                raise FileError(f"{file}: the folder holds no file whose name ends with {PARQUET}")
        keys = PartitionKeys.find([*map(str, paths)], whole if whole.is_dir() else whole.parent)
        schema, n_rows, marks = None, 0, []
        for path in paths:
            marks.append(_mark(path))
            with name_errors(str(path)), path.open("rb") as stream:
                opened = parquet.ParquetFile(stream)
                columns = opened.schema_arrow
                n_rows += opened.metadata.num_rows
            if schema is None:
                schema = columns
            elif not columns.equals(schema):
                raise FileError(f"{path}: {_compare(columns, schema, paths[0])}")
        if n_rows == 0:
            raise FileError(f"{file}: there are no rows")
        return cls(file, tuple(paths), tuple(marks), keys, keys.add_to(schema), n_rows)

    @property
    def names(self) -> list[str]:
        """The columns."""
        return find_names(self.schema, self.file)

    def exceed_memory(self, n_needed: int) -> bool:
        """Whether `n_needed` columns would hardly fit into memory."""
        least = min((memory.size for memory in find_available()), default=None)
        return least is not None and self.n_rows * n_needed * _CELL > least

    def read(
        self,
        text: Collection[str],
        *,
        is_needed: Callable[[str], bool],
        labels: str | None = None,
        categories: bool = False,
    ) -> Iterator["DataFrame"]:
        """Read the rows as `row_file.RowFileReader.read` does, some at a time, numbered from 0 on.

        With `categories`, strings are text even where a batch has none.
        """
        import_pyarrow()
        from pyarrow import Table, parquet

        columns = {name: is_needed(name) for name in self.names}
        needed = [name for name, is_read in columns.items() if is_read]
        texts = {*text}
        if categories:
            texts |= {*find_categories(self.schema), *find_strings(self.schema)} - {labels}
        begin = 0
        for number, (path, mark) in enumerate(zip(self.paths, self.marks, strict=True)):
            with name_errors(str(path)), path.open("rb") as stream:
                if _mark(path) != mark:
                    raise FileError(f"{path}: the file has changed since it was first read")
                file = parquet.ParquetFile(stream, buffer_size=BUFFER_BYTES, pre_buffer=False)
                for rows in file.iter_batches(BATCH_ROWS, columns=needed, use_threads=False):
                    table = Table.from_batches([self.keys.complete(rows, number, needed, texts)])
                    frame = make_frame(table, str(path), texts, columns=columns, labels=labels)
                    frame.index += begin
                    begin += len(frame)
                    yield frame
        if begin != self.n_rows:
            raise FileError(f"{self.file}: {begin:,} rows were read of {self.n_rows:,}")

    def sample(
        self,
        most: int,
        text: Collection[str],
        *,
        is_needed: Callable[[str], bool],
        labels: str | None = None,
    ) -> "DataFrame":
        """Return so many rows, drawn at random, or all if there are fewer, in their order."""
        drawn = np.arange(self.n_rows)
        if most < self.n_rows:
            random = np.random.default_rng(0)
            drawn = np.sort(random.choice(self.n_rows, most, replace=False, shuffle=False))
        parts, begin = [], 0
        for frame in self.read(text, is_needed=is_needed, labels=labels):
            first, last = np.searchsorted(drawn, [begin, begin + len(frame)])
            parts.append(frame.iloc[drawn[first:last] - begin])
            begin += len(frame)
        whole: DataFrame = import_pandas().concat(parts, ignore_index=True)
        return whole


def _mark(path: Path) -> Mark:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _compare(schema: Any, first: Any, path: Path) -> str:
    """Return the difference between a file's columns and those of the first file."""
    if schema.names != first.names:
        return (
            f"its columns are {list_names(schema.names)}, and those of {path} "
            f"{list_names(first.names)}"
        )
    pairs = zip(schema, first, strict=True)
    name, kind, before = next(
        ((a.name, a.type, b.type) for a, b in pairs if not a.equals(b)), ("", "", "")
    )
    if not name:
        return f"the types of its columns differ from those of {path}"
    return f"column {name!r} holds {kind}, and that of {path} {before}"
