"""SQLite, DuckDB and PostgreSQL: a table goes in, and what a query says of it comes out."""

import contextlib
import functools
import importlib
import sqlite3

import pytest

from helpers.postgres_server import NoServerError, find_server

__all__ = [
    "DIALECTS",
    "Database",
    "find_reason",
    "list_columns",
    "open_database",
    "skip_without",
]

DIALECTS = ("sqlite", "duckdb", "postgres")

TYPES = {
    "sqlite": {"number": "REAL", "integer": "INTEGER", "text": "TEXT"},
    "duckdb": {"number": "DOUBLE", "integer": "BIGINT", "text": "VARCHAR"},
    "postgres": {"number": "double precision", "integer": "bigint", "text": "text"},
}


class Database:
    """A database of its own; of PostgreSQL, tables that nobody else sees."""

    def __init__(self, dialect, connection):
        self.dialect, self.connection = dialect, connection

    def fill(self, name, columns):
        """Make a table of columns, each a type and values.

        The types "number", "integer" and "text" are every database's; others are as it says them.
        """
        known = TYPES[self.dialect]
        shown = ", ".join(
            f"{quote(own)} {known.get(kind, kind)}" for own, (kind, _) in columns.items()
        )
        kept = "TEMP " if self.dialect == "postgres" else ""
        self.connection.execute(f"CREATE {kept}TABLE {quote(name)} ({shown})")
        values = [own for _, own in columns.values()]
        if self.dialect == "postgres":
            with self.connection.cursor().copy(f"COPY {quote(name)} FROM STDIN") as copy:
                for row in zip(*values, strict=True):
                    copy.write_row(row)
        elif self.dialect == "duckdb":  # which takes a statement for a row to be one of its own
            marks = ", ".join("unnest(?)" for _ in values)
            self.connection.execute(f"INSERT INTO {quote(name)} SELECT {marks}", values)
        else:
            marks = ", ".join("?" for _ in values)
            self.connection.executemany(
                f"INSERT INTO {quote(name)} VALUES ({marks})", zip(*values, strict=True)
            )

    def ask(self, query):
        """Return the rows and the names of their columns."""
        options = {"binary": True} if self.dialect == "postgres" else {}
        cursor = self.connection.execute(query, **options)
        return cursor.fetchall(), [own[0] for own in cursor.description]


def quote(name):
    """Return the name of a table or column."""
    return '"' + name.replace('"', '""') + '"'


def list_columns(frame):
    """Return the columns of a pandas table as `Database.fill` takes them; missing are None."""
    columns = {}
    for name, own in frame.items():
        kind = {"f": "number", "i": "integer", "b": "integer"}.get(own.dtype.kind, "text")
        values = own.astype(object).where(own.notna(), None).tolist()
        if own.dtype.kind == "b":
            values = [int(value) for value in values]
        columns[name] = kind, values
    return columns


@contextlib.contextmanager
def open_database(dialect):
    """Yield an empty database.

    Raises
    ------
    ImportError, NoServerError
        If it is not there.
    """
    if dialect == "sqlite":
        connection = sqlite3.connect(":memory:")
    elif dialect == "duckdb":
        connection = importlib.import_module("duckdb").connect()
    else:
        client = importlib.import_module("psycopg")
        folder = str(find_server())
        # Plans that are kept say that a table of other columns is wrong.
        connection = client.connect(
            host=folder, user="postgres", dbname="postgres", autocommit=True, prepare_threshold=None
        )
    try:
        yield Database(dialect, connection)
    finally:
        connection.close()


@functools.cache
def find_reason(dialect):
    """Return why there is no such database; None if there is."""
    try:
        with open_database(dialect):
            return None
    except (ImportError, NoServerError) as error:
        return f"there is no {dialect}: {error}"


def skip_without(dialect):
    """Skip the test if there is no such database."""
    if reason := find_reason(dialect):
        pytest.skip(reason)
