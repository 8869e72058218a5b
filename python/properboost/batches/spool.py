"""A spool: a nameless file of batches that come once, so that they can be read again."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import IO, Any

from properboost.batches.sources import comes_once
from properboost.data.libraries import is_a
from properboost.extras import import_extra

__all__ = ["spooled"]


@contextmanager
def spooled(source: Any, spool: bool | str | PathLike[str]) -> Iterator[Any]:
    """Return a source that can be read again, as long as this lasts.

    `spool` is where batches are kept that come once: a folder, or True for the temporary one.
    """
    if not isinstance(spool, bool | str | PathLike):
        raise TypeError(f"spool must be True, False or a folder; got {spool!r}")
    if spool is False or not comes_once(source):
        yield source
        return
    folder = None if spool is True else fspath(spool)
    # The file has no name, so nothing is left whatever ends this process.
    with tempfile.TemporaryFile(dir=folder, prefix="properboost-") as file:
        try:
            kinds = [_write(batch, file) for batch in _batches(source)]
            file.flush()
        except OSError as error:
            if error.errno is not None and error.filename is None:
                error.filename = folder or tempfile.gettempdir()
            raise
        yield lambda: _read(file, kinds)


def _batches(source: Any) -> Any:
    return source.to_reader() if is_a(source, "pyarrow.dataset", "Scanner") else source


def _write(batch: Any, file: IO[bytes]) -> str:
    """Write a batch with its own schema; return the library that it is of."""
    arrow = import_extra("pyarrow", "a spool needs", "arrow")
    ipc = import_extra("pyarrow.ipc", "a spool needs", "arrow")
    if is_a(batch, "pandas", "DataFrame"):
        kind, table = "pandas", arrow.Table.from_pandas(batch, preserve_index=False)
    elif is_a(batch, "polars", "DataFrame"):
        kind, table = "polars", batch.to_arrow()
    elif is_a(batch, "pyarrow", "Table"):
        kind, table = "pyarrow", batch
    elif is_a(batch, "pyarrow", "RecordBatch"):
        kind, table = "pyarrow", arrow.Table.from_batches([batch])
    else:
        raise TypeError(
            "source must give batches that are pandas, polars or Arrow tables; got "
            f"{type(batch).__name__}"
        )
    with ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return kind


def _read(file: IO[bytes], kinds: list[str]) -> Iterator[Any]:
    """Yield the batches as they were."""
    ipc = import_extra("pyarrow.ipc", "a spool needs", "arrow")
    file.seek(0)
    for kind in kinds:
        table = ipc.open_stream(file).read_all()
        if kind == "pandas":
            table = table.to_pandas()
        elif kind == "polars":
            table = import_extra("polars", "a spool of its tables needs", "arrow").from_arrow(table)
        yield table
