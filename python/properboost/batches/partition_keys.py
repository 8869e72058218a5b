"""Columns from the names of folders, as in ``region=north/rows.parquet``."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from properboost.extras import import_extra

__all__ = ["PartitionKeys"]

_MISSING = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"-?[0-9]+")
_LEAST, _LARGEST = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class PartitionKeys:
    """The values of keys in the folders of files, one value per key and file.

    A key is a column of integers if all its values fit 32 bits; otherwise it holds categories.
    pyarrow types keys in the same way.

    Attributes
    ----------
    paths : tuple of str
        The files, for errors.
    values : dict of str to tuple
        For each key, its text in the folders of each file; None is missing.
    """

    paths: tuple[str, ...]
    values: dict[str, tuple[str | None, ...]]

    @classmethod
    def find(cls, paths: Sequence[str], root: str | Path) -> "PartitionKeys":
        """Read the names of the folders between a root and each of the files.

        Raises
        ------
        ValueError
            If folders have other keys than those of the first file, one twice, or one that is no
            text; the message names the file.
        """
        known: list[dict[str, str | None]] = []
        for path in paths:
            inside = Path(path).absolute().relative_to(Path(root).absolute())
            known.append(_read_folders(path, inside.parts[:-1]))
            if known[-1].keys() != known[0].keys():
                raise ValueError(
                    f"{path}: its folders give the columns {[*known[-1]]}, and those of "
                    f"{paths[0]} {[*known[0]]}"
                )
        names = known[0] if known else {}
        return cls(tuple(paths), {name: tuple(keys[name] for keys in known) for name in names})

    def add_to(self, schema: Any) -> Any:
        """Return a schema with the keys that it lacks."""
        arrow = _import_arrow()
        for name in self.values:
            if name not in schema.names:
                schema = schema.append(arrow.field(name, self._find_type(name)))
        return schema

    def complete(
        self,
        batch: Any,
        number: int,
        wanted: Collection[str] | None = None,
        texts: Collection[str] = (),
    ) -> Any:
        """Return a batch of rows of the file of this number with the columns that it lacks.

        Parameters
        ----------
        batch : RecordBatch
            The rows.
        number : int
            The place of their file among the paths.
        wanted : collection of str, optional
            The columns that are wanted; the default is all.
        texts : collection of str
            The keys whose values are text, whatever they look like.

        Raises
        ------
        ValueError
            If a file has a key's column, and that holds something else.
        """
        arrow = _import_arrow()
        arrays, schema = [*batch.columns], batch.schema
        for name, values in self.values.items():
            if name in schema.names:
                _compare(self.paths[number], name, batch.column(name), values[number])
            elif wanted is None or name in wanted:
                kind = _text_type(arrow) if name in texts else self._find_type(name)
                arrays.append(self._repeat(name, number, kind, batch.num_rows))
                schema = schema.append(arrow.field(name, kind))
        if not arrays:
            return batch  # of columns none are wanted, but there are rows
        return arrow.RecordBatch.from_arrays(arrays, schema=schema)

    def _find_type(self, name: str) -> Any:
        arrow = _import_arrow()
        there = [text for text in self.values[name] if text is not None]
        are_whole = there and all(
            _WHOLE.fullmatch(text) and _LEAST <= int(text) <= _LARGEST for text in there
        )
        return arrow.int32() if are_whole else _text_type(arrow)

    def _repeat(self, name: str, number: int, kind: Any, n_rows: int) -> Any:
        """Return the column of a key."""
        arrow = _import_arrow()
        text = self.values[name][number]
        if kind == arrow.int32():
            return arrow.repeat(arrow.scalar(None if text is None else int(text), kind), n_rows)
        # All batches have the same categories, in the same order, whatever is read first.
        categories = sorted({value for value in self.values[name] if value is not None})
        place = arrow.scalar(None if text is None else categories.index(text), arrow.int32())
        return arrow.DictionaryArray.from_arrays(
            arrow.repeat(place, n_rows), arrow.array(categories, arrow.string())
        )


def _import_arrow() -> Any:
    return import_extra("pyarrow", "reading Parquet files needs", "arrow")


def _text_type(arrow: Any) -> Any:
    return arrow.dictionary(arrow.int32(), arrow.string())


def _read_folders(path: str, folders: Sequence[str]) -> dict[str, str | None]:
    """Return the keys of a file's folders, in their order."""
    keys: dict[str, str | None] = {}
    for folder in folders:
        key, equals, value = folder.partition("=")
        if not equals or not key:
            continue
        try:
            name, text = (unquote_to_bytes(part).decode("utf-8") for part in (key, value))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: the folder {folder!r} must name a text of UTF-8") from error
        if name in keys:
            raise ValueError(f"{path}: its folders give the column {name!r} twice")
        keys[name] = None if value == _MISSING else text
    return keys


def _compare(path: str, name: str, column: Any, text: str | None) -> None:
    """Refuse a column that differs from the folder's value."""
    arrow = _import_arrow()
    compute = import_extra("pyarrow.compute", "reading Parquet files needs", "arrow")
    kind = column.type
    if arrow.types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if text is None:
        same = column.null_count == len(column)
    else:
        try:
            expected = arrow.scalar(text).cast(kind)
        except (arrow.ArrowException, ValueError):
            same = False
        else:
            equal = compute.equal(column, expected)
            same = column.null_count == 0 and bool(compute.all(equal, min_count=0).as_py())
    if not same:
        raise ValueError(
            f"{path}: the column {name!r} must hold the value in the name of its folder, "
            f"{'nothing' if text is None else repr(text)}"
        )
