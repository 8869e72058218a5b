"""Ways to write a table as a file for the command line, and the table that must be read."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

__all__ = ["FLAWS", "FileForm", "Table", "WrittenFile", "draw_way", "write"]

Values = tuple[Any, ...]
Table = Mapping[str, tuple[str, Values]]
"""Columns by name: a kind (whole, number, truth or text), and values, None where missing."""

FLAWS = {
    "short": r"line \d+ has \d+ cells?, and",
    "long": r"line \d+ has \d+ cells, and",
    "cut": r"line \d+ has [12] cells?, and",
    "nul": r"line \d+ holds a NUL",
    "bytes": r"line \d+ is not UTF-8, which was tried: byte .*--encoding",
    "twice": "more than once",
    "nameless": "has no name",
    "headless": "there are no rows|the file is empty",
    "open quote": "EOF inside string|line .* cells?, and",
    "spelled": "although|holds '.*reads that as|fractions|different texts|one class",
    "parts": "its columns are|lacks the column",
    "folders": "its folders give the column",
}
"""Flaws of files, and patterns of their messages."""

OF_FOLDERS = ("parts", "folders")


@dataclass(frozen=True)
class FileForm:
    """Form of a table's file; the defaults are the plainest form.

    `blank` are the rows of a CSV file before which a line has only `blanks`, and `keys` the columns
    in the names of folders. `bare` quotes are not quoted, and `form` is a format of numbers. `seed`
    chooses the types of Parquet's columns and the place of a flaw.
    """

    kind: str = "csv"
    sep: str = ","
    end: str = "\n"
    quoted: bool = False
    bare: bool = False
    form: str = ""
    before: int = 0
    encoding: str = "utf-8"
    packing: str = ""
    ended: bool = True
    trailing: bool = False
    blank: tuple[int, ...] = ()
    blanks: str = ""
    missing: str = ""
    decimal: str = "."
    thousands: str | None = None
    unit: str = ""
    behind: bool = False
    brackets: bool = False
    stdin: bool = False
    keys: tuple[str, ...] = ()
    parts: int = 1
    in_batches: bool = False
    flaw: str | None = None
    seed: int = 0

    @property
    def spelling(self) -> list[str]:
        """Options for the spelling of numbers."""
        options = [] if self.decimal == "." else ["--decimal", self.decimal]
        options += [] if self.thousands is None else ["--thousands", self.thousands]
        options += ["--units", self.unit] if self.unit else []
        return options + (["--brackets"] if self.brackets else [])


@dataclass(frozen=True)
class WrittenFile:
    """File, the options that read it, the content of stdin, and the expected table."""

    file: str
    options: list[str]
    stdin: bytes
    frame: Any


# -- ways -----------------------------------------------------------------------------------------


def draw_way(rng: np.random.Generator, table: Table, keys: Sequence[str]) -> FileForm:
    """Return a way in which such a table can be written; `keys` may be names of folders."""

    def one(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    n_rows = len(next(iter(table.values()))[1])
    seed = int(rng.integers(2**31))
    if rng.random() < 0.4 and find_spec("pyarrow"):
        kind = one("parquet", "parquet", "arrow", "folder", "folder", "folder")
        chosen: tuple[str, ...] = ()
        if kind == "folder" and keys:
            most = min(3, len(table))  # a file without columns has no rows
            chosen = tuple(rng.permutation(list(keys))[: rng.integers(most)].tolist())
        flaw = one(None, None, None, None, "parts", "folders") if kind == "folder" else None
        if (flaw == "parts" and len(table) < 3) or (flaw == "folders" and not chosen):
            flaw = None
        return FileForm(
            kind, keys=chosen, parts=int(rng.integers(1, 4)), flaw=flaw, seed=seed,
            in_batches=kind == "parquet" and bool(rng.random() < 0.5),
        )  # fmt: skip
    sep = one(",", ",", ";", "\t", "|")
    spelling: dict[str, Any] = {}
    if rng.random() < 0.5:
        decimal, thousands = one((",", None), (".", ","), (",", "."), (",", " "), (".", "'"))
        unit = one("", "", "$", "%", "€", "EUR")
        spelling = {
            "decimal": decimal, "thousands": thousands, "unit": unit,
            "behind": bool(rng.random() < 0.5), "brackets": bool(rng.random() < 0.3),
        }  # fmt: skip
    several = len(table) > 1
    flaw = None
    if rng.random() < 0.25:
        flaw = one(*(name for name in FLAWS if name not in OF_FOLDERS))
        if flaw in ("short", "cut", "twice", "nameless") and not several:
            flaw = "long"
        if flaw == "spelled":
            spelling |= {"decimal": ",", "thousands": None, "unit": "%"}
    blank = ()
    if several and rng.random() < 0.3:
        blank = tuple(sorted(set(rng.integers(0, n_rows + 1, rng.integers(1, 4)).tolist())))
    texts = "".join(v for _, values in table.values() for v in values if isinstance(v, str))
    western = ["cp1252"] if all(ord(c) < 256 for c in texts) else []
    encoding = one("utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", *western)
    return FileForm(
        sep=sep,
        end=one("\n", "\n", "\r\n", "\r"),
        quoted=bool(rng.random() < 0.3),
        bare=bool(rng.random() < 0.3),
        form=one("", "", "", "+", " {} ", "{}e0", "{}E+00"),
        before=int(rng.integers(4)) if rng.random() < 0.1 else 0,
        encoding="utf-8" if flaw == "bytes" else encoding,
        packing=one("", "", "", ".gz", ".bz2", ".xz", ".zip"),
        ended=bool(rng.random() < 0.8),
        # A line that lacks a cell and ends with a separator has all its cells, the last one empty.
        trailing=bool(rng.random() < 0.15) and flaw not in ("short", "cut"),
        blank=blank,
        blanks=one("", "", "", " ", "  ", "" if sep == "\t" else "\t "),
        missing=one("", "", "NA", "null", "?"),
        stdin=bool(rng.random() < 0.15),
        flaw=flaw,
        seed=seed,
        **spelling,
    )


def write(folder: Path, name: str, table: Table, way: FileForm) -> WrittenFile:
    """Write a table into a folder."""
    makers = {"csv": _write_csv, "arrow": _write_arrow, "parquet": _write_arrow}
    return makers.get(way.kind, _write_folder)(folder, name, table, way)


# -- CSV ------------------------------------------------------------------------------------------


def _write_csv(folder: Path, name: str, table: Table, way: FileForm) -> WrittenFile:
    rng = np.random.default_rng(way.seed)
    names = [*table]
    n_rows = len(table[names[0]][1])
    rows = [
        [_spell(table[n][0], table[n][1][i], way) for n in names] for i in range(n_rows)
    ]  # fmt: skip
    lines = [[*names], *rows]
    at = int(rng.integers(1, len(lines)))
    place = int(rng.integers(len(names)))
    match way.flaw:
        case "short":
            lines[at] = [lines[at][0] or "x", *lines[at][1:-1]]  # the line must not be blank
        case "long":
            lines[at] = [*lines[at], "9"]
        case "cut":
            lines[-1] = [lines[-1][0] or "x"]
        case "nul":
            lines[at][place] += "a\0b"
        case "twice":
            lines[0][-1] = lines[0][0]
        case "nameless":
            lines[0][place] = ""
        case "headless":
            lines = lines[: 1 if n_rows % 2 else 0]
    written = [_join(line, way, header=k == 0) for k, line in enumerate(lines)]
    if way.flaw == "open quote":
        written[-1] = '"' + written[-1].replace('"', "")
    for row in reversed(way.blank):
        written.insert(min(row, len(written) - 1) + 1, way.blanks)
    written = [way.blanks] * way.before + written
    text = way.end.join(written)
    # A blank last line that is a row has an end, as all others have.
    if way.ended or (written and not written[-1].strip()):
        text += way.end if written else ""
    data = text.encode(way.encoding)
    if way.flaw == "bytes":
        data = data.rstrip(b"\r\n") + b"\xe9\n"
    file = f"{name}.csv{way.packing}"
    if way.stdin:
        file, packed = "-", data
    else:
        packed = _pack(data, way.packing)
        (folder / file).write_bytes(packed)
    options = [] if way.sep == "," else ["--sep", way.sep]
    if way.encoding in ("utf-16-be", "cp1252"):
        options += ["--encoding", way.encoding]
    if way.missing == "?":
        options += ["--na", "?"]
    if way.flaw != "spelled":
        options += way.spelling
    return WrittenFile(
        "-" if way.stdin else str(folder / file), options, data if way.stdin else b"",
        _read_plainly(table, lambda kind, values, _: _as_in_csv(kind, values, way)),
    )  # fmt: skip


def _spell(kind: str, value: Any, way: FileForm) -> str:
    if value is None:
        return way.missing
    if kind == "truth":
        return "TRUE" if value else "false"
    if kind == "text":
        return str(value)
    if not way.spelling and way.form == "+":
        return f"{value:+}"
    if not way.spelling:
        return way.form.format(repr(value)) if way.form else repr(value)
    text = f"{abs(Decimal(repr(value))):,f}"
    whole, point, rest = text.partition(".")
    text = whole.replace(",", way.thousands or "") + (way.decimal + rest if point else "")
    if way.unit:
        text = f"{text} {way.unit}" if way.behind else f"{way.unit}{text}"
    if value < 0:
        text = f"({text})" if way.brackets else f"-{text}"
    return text


def _join(cells: Sequence[str], way: FileForm, *, header: bool) -> str:
    special = f"{way.sep}\r\n"
    written = [
        '"' + cell.replace('"', '""') + '"'
        if way.quoted
        or any(c in special for c in cell)
        or ('"' in cell and not (way.bare and cell[0] != '"'))
        else cell
        for cell in cells
    ]
    line = way.sep.join(written) + (way.sep if way.trailing and not header else "")
    # A line of blanks alone is no row of several columns, so it is quoted.
    return '""' + line if len(cells) > 1 and not line.strip(" \t") and way.sep not in line else line


def _pack(data: bytes, packing: str) -> bytes:
    if packing == ".zip":
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("rows.csv", data)
        return packed.getvalue()
    pack = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    return pack[packing](data)


# -- Parquet and Arrow ----------------------------------------------------------------------------


def _write_arrow(folder: Path, name: str, table: Table, way: FileForm) -> WrittenFile:
    from pyarrow import feather, parquet

    rows = _make_arrow(table, way.seed)
    file = folder / f"{name}.{way.kind}"
    if way.kind == "arrow":
        feather.write_feather(rows, file, compression="uncompressed", chunksize=5)
    else:
        parquet.write_table(rows, file, row_group_size=1 + way.seed % 20)
    options = ["--in-batches"] if way.in_batches else []
    return WrittenFile(
        str(file), options, b"", _read_plainly(table, lambda *_: _from_arrow(rows, *_))
    )


def _make_arrow(table: Table, seed: int) -> Any:
    """Return an Arrow table whose column types can hold the values."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    columns = {}
    for name, (kind, values) in table.items():
        there = [value for value in values if value is not None]
        if kind == "whole":
            types = [pa.int64(), pa.float64(), pa.decimal128(30, 0)]
            types += [pa.int16()] if all(abs(v) < 2**15 for v in there) else []
            types += [pa.uint32()] if all(0 <= v < 2**32 for v in there) else []
        elif kind == "number":
            types = [pa.float64(), pa.float64(), pa.decimal128(38, 12)]
            types += [pa.float32()] if all(np.float32(v) == v for v in there) else []
        elif kind == "truth":
            types = [pa.bool_()]
        else:
            text = pa.large_string() if rng.random() < 0.3 else pa.string()
            types = [text, pa.dictionary(pa.int32(), text)]
        chosen = types[rng.integers(len(types))]
        made = [Decimal(repr(v)) if pa.types.is_decimal(chosen) and v is not None else v
                for v in values]  # fmt: skip
        columns[name] = (
            pa.array(made, pa.string()).dictionary_encode().cast(chosen)
            if (pa.types.is_dictionary(chosen))
            else pa.array(made, chosen)
        )
    return pa.table(columns)


def _write_folder(folder: Path, name: str, table: Table, way: FileForm) -> WrittenFile:
    """Write a few parts for each combination of keys, which are read in the order of paths."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = _make_arrow(table, way.seed)
    n_rows = len(rows)
    root = folder / name
    files: dict[tuple[str, ...], list[int]] = {}
    for i in range(n_rows):
        folders = [_name_folder(key, table[key][1][i]) for key in way.keys]
        files.setdefault((*folders, f"part-{i % way.parts}.parquet"), []).append(i)
    inside = rows.drop_columns(list(way.keys)) if way.keys else rows
    for parts, places in files.items():
        path = root.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(inside.take(pa.array(places)), path, row_group_size=7)
    (root / "_SUCCESS").write_bytes(b"")
    if way.flaw == "parts":
        fewer = inside.select(inside.column_names[:-1]).slice(0, 1)
        path = root.joinpath(*next(iter(files))[:-1], "z.parquet")
        parquet.write_table(fewer, path)
    elif way.flaw == "folders":
        parquet.write_table(inside.slice(0, 1), root / "z.parquet")
    order = [i for parts in sorted(files, key=lambda parts: Path(*parts)) for i in files[parts]]
    names = [*inside.column_names, *way.keys]
    sorted_rows = {n: (table[n][0], tuple(table[n][1][i] for i in order)) for n in names}
    taken = rows.take(pa.array(order, pa.int64()))

    def make(kind: str, values: Values, name: str) -> Any:
        return _as_key(kind, values) if name in way.keys else _from_arrow(taken, kind, values, name)

    return WrittenFile(str(root), [], b"", _read_plainly(sorted_rows, make))


def _name_folder(key: str, value: Any) -> str:
    text = "__HIVE_DEFAULT_PARTITION__" if value is None else quote(str(value), safe="")
    return f"{quote(key, safe='')}={text}"


# -- expected tables ------------------------------------------------------------------------------


def _read_plainly(table: Table, make: Any) -> Any:
    import pandas as pd

    return pd.DataFrame({name: make(kind, values, name) for name, (kind, values) in table.items()})


def _as_in_csv(kind: str, values: Values, way: FileForm) -> Any:
    import pandas as pd

    if kind == "truth":
        values = tuple(None if v is None else "TRUE" if v else "false" for v in values)
    if kind in ("truth", "text"):
        return pd.Series(list(values), dtype=object)
    if kind == "whole" and None not in values and (way.spelling or "0" not in way.form):
        return pd.Series(list(values), dtype=np.int64)
    return pd.Series([np.nan if v is None else v for v in values], dtype=np.float64)


def _as_key(kind: str, values: Values) -> Any:
    import pandas as pd

    column = _as_in_csv(kind, values, FileForm())
    whole = column.dtype == np.int64
    return column.astype(np.int32) if whole else pd.Series(column)


def _from_arrow(rows: Any, kind: str, values: Values, name: str) -> Any:
    import pandas as pd
    import pyarrow as pa

    type_ = rows[name].type
    if kind in ("text", "truth"):
        return pd.Series(list(values), dtype=object)
    if pa.types.is_decimal(type_) or None in values:
        type_ = pa.float32() if type_ == pa.float32() else pa.float64()
    return pd.Series([np.nan if v is None else v for v in values], dtype=type_.to_pandas_dtype())
