"""The SQL dialects of databases: their words, their limits and their readings of values."""

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

__all__ = ["DIALECTS", "LARGEST", "Dialect", "Syntax"]

_PARSED = (1e-27, 1e27)
"""The range of numbers that SQLite reads exactly, because their powers of ten are exact."""

_SHORT = 15
"""Characters of a number that any reader rounds to the nearest double."""

LARGEST = 2**63 - 1
"""The largest of the integers that every database has."""

Dialect: TypeAlias = Literal["duckdb", "sqlite", "postgres"]


@dataclass(frozen=True)
class Syntax:
    """The words, the limits and the readings of values of one database."""

    database: str
    double: str
    text: str
    collation: str  # that compares bytes
    nan: str  # the literal; empty where NaN is NULL
    infinity: str  # the literal
    suffix: str  # of numbers, to be doubles
    greatest: str
    booleans: tuple[str, str]
    bytes: str = "{}"  # what texts become where no collation compares bytes
    padded: str = ""  # a test of whether a column's type pads texts with spaces, which a cast drops
    bits: str = "{}"  # an integer that is shifted by up to 62
    terms_apart: bool = False  # whether the terms of a sum are columns of a stage of their own
    compares_constants: bool = False  # whether each operand that is constant is compared with all
    exact: bool = True  # whether 17 digits are read as the nearest double, whatever the exponent
    large: bool = True  # whether integers beyond 64 bits exist
    casts_fail: bool = True  # whether the cast of a text that is no number is an error
    underflow_fails: bool = False  # whether a product that rounds to 0 is an error
    escapes: bool = False  # whether a setting gives backslashes in texts a meaning
    folds: bool = True  # whether names that differ in the case of ASCII letters are equal
    qualifies: bool = True  # whether a qualified name can only be that of a column
    hidden: tuple[str, ...] = ()  # columns that tables have but do not show
    drops_hidden: bool = True  # whether a subquery drops them
    longest: int | None = None  # bytes of a name
    widest: int = 10**9  # columns side by side
    deepest: int = 950  # stages one on the other: the planner recurses for each

    def quote_name(self, name: str) -> str:
        """Return the name of a table or column, or refuse it."""
        if not isinstance(name, str) or not name or "\0" in name or not _is_unicode(name):
            raise ValueError(
                "names of tables and columns must be strings of Unicode, without NUL, that are not "
                f"empty; got {name!r}"
            )
        if self.longest and len(name.encode()) > self.longest:
            raise ValueError(
                f"names of tables and columns must have at most {self.longest} bytes, to which "
                f"{self.database} cuts them; got {name!r}: name features by columns="
            )
        return '"' + name.replace('"', '""') + '"'

    def quote_text(self, text: str, place: str) -> str:
        """Return a string's literal; `place` is for the message of a refusal."""
        if "\0" in text or not _is_unicode(text):
            raise ValueError(
                f"a string of {place} must not hold a NUL character or half of a surrogate pair, "
                "which SQL texts cannot hold"
            )
        quoted = "'" + text.replace("'", "''") + "'"
        if self.escapes and "\\" in text:
            return "E" + quoted.replace("\\", "\\\\")
        return quoted

    def write_number(self, value: float) -> str:
        """Return a double's literal, in parentheses where it has a sign."""
        value = float(value)
        if np.isinf(value):  # the edges of bins may be infinite
            return f"({'-' if value < 0.0 else ''}{self.infinity})"
        if not self.exact and value != 0.0 and not _PARSED[0] < abs(value) < _PARSED[1]:
            return _multiply(value)
        digits = repr(value)
        # The shortest digits may lie next to the middle of two doubles, where readers that round
        # twice take the wrong one.
        if len(digits) > _SHORT or not self.exact:
            digits = f"{value:.17g}"
        if "e" not in digits:
            digits = f"{digits.removesuffix('.0')}e0"
        text = digits + self.suffix
        return f"({text})" if text.startswith("-") else text

    def write_label(self, value: Any) -> str:
        """Return the literal of a class's label."""
        if isinstance(value, bool):
            return self.booleans[value]
        if isinstance(value, float):
            return self.write_number(value)
        if isinstance(value, str):
            return self.quote_text(value, "the labels")
        if not self.large and value > LARGEST:
            raise ValueError(
                f"the label {value!r} is beyond the integers of {self.database}, which have 64 "
                "bits with their sign: choose other outputs, or fit with other labels"
            )
        return str(value)

    def fold(self, name: str) -> str:
        """Return a name in the form that equal names of a column share."""
        return re.sub("[A-Z]", lambda letter: letter[0].lower(), name) if self.folds else name

    def cut(self, name: str, size: int) -> str:
        """Return a name of a result, with room for `size` more bytes."""
        name = name.replace("\0", "").encode("utf-8", "replace").decode()
        if self.longest:
            name = name.encode()[: self.longest - size].decode(errors="ignore")
        return name


DIALECTS = {
    "duckdb": Syntax(
        database="DuckDB",
        double="DOUBLE",
        text="VARCHAR",
        collation="",
        nan="CAST('nan' AS DOUBLE)",
        infinity="CAST('inf' AS DOUBLE)",
        suffix="",
        greatest="greatest",
        booleans=("FALSE", "TRUE"),
        bytes="encode({})",
        terms_apart=True,  # otherwise planning takes time quadratic in the terms of an expression
        hidden=("rowid", "filename", "file_row_number", "file_index"),
    ),
    "sqlite": Syntax(
        database="SQLite",
        double="REAL",
        text="TEXT",
        collation=" COLLATE BINARY",
        nan="",
        infinity="9e999",
        suffix="",
        greatest="max",
        booleans=("0", "1"),
        compares_constants=True,
        exact=False,
        large=False,
        casts_fail=False,
        hidden=("rowid", "oid", "_rowid_"),
        drops_hidden=False,
        widest=2000,
    ),
    "postgres": Syntax(
        database="PostgreSQL",
        double="double precision",
        text="text",
        collation=' COLLATE "C"',
        nan="float8 'nan'",
        infinity="float8 'infinity'",
        suffix="::float8",
        greatest="greatest",
        booleans=("FALSE", "TRUE"),
        padded="pg_typeof({}) = 'pg_catalog.bpchar'::regtype",
        bits="{}::bigint",
        underflow_fails=True,
        escapes=True,
        folds=False,
        qualifies=False,  # r."count" is count(r) where r has no such column
        hidden=("tableoid", "ctid", "xmin", "cmin", "xmax", "cmax"),
        longest=63,
        widest=1664,
        deepest=5000,
    ),
}
"""The dialects, by name."""


def _multiply(value: float) -> str:
    """Return a double as a product of integers and powers of two, which are read exactly."""
    mantissa, exponent = np.frexp(value)
    words = [f"{int(mantissa * 2.0**53)}.0"]
    left = int(exponent) - 53
    while left:
        step = max(-62, min(62, left))
        words.append(f"{'*' if step > 0 else '/'} {2 ** abs(step)}.0")
        left -= step
    return f"({' '.join(words)})"


def _is_unicode(text: str) -> bool:
    """Whether a string has no half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
