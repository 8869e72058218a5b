"""SQLite, DuckDB and PostgreSQL for tests: a table goes in, and answers to queries come out."""

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
    """Private database; for PostgreSQL, temporary tables that no other connection sees."""

    def __init__(self, dialect, connection):
        self.dialect, self.connection = dialect, connection

    def fill(self, name, columns):
        """Make a table of columns, each a type and values.

        The types "number", "integer" and "text" have a name in every database; other types are
        passed on as they are.
        """
        known = TYPES[self.dialect]
        shown = ", ".join(
            f"{quote(column)} {known.get(kind, kind)}" for column, (kind, _) in columns.items()
        )
        temporary = "TEMP " if self.dialect == "postgres" else ""
        self.connection.execute(f"CREATE {temporary}TABLE {quote(name)} ({shown})")
        values = [cells for _, cells in columns.values()]
        if self.dialect == "postgres":
            with self.connection.cursor().copy(f"COPY {quote(name)} FROM STDIN") as copy:
                for row in zip(*values, strict=True):
                    copy.write_row(row)
        elif self.dialect == "duckdb":  # DuckDB runs a transaction for each statement of one row
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
        return cursor.fetchall(), [column[0] for column in cursor.description]


def quote(name):
    """Return the quoted name of a table or column."""
    return '"' + name.replace('"', '""') + '"'


def list_columns(frame):
    """Return the columns of a pandas table as `Database.fill` takes them; missing are None."""
    columns = {}
    for name, column in frame.items():
        kind = {"f": "number", "i": "integer", "b": "integer"}.get(column.dtype.kind, "text")
        values = column.astype(object).where(column.notna(), None).tolist()
        if column.dtype.kind == "b":
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
        # Prepared plans would fail on a table of other columns.
        connection = client.connect(
            host=folder, user="postgres", dbname="postgres", autocommit=True, prepare_threshold=None
        )
    try:
        yield Database(dialect, connection)
    finally:
        connection.close()


@functools.cache
def find_reason(dialect):
    """Return why the database is not available; None if it is."""
    try:
        with open_database(dialect):
            return None
    except (ImportError, NoServerError) as error:
        return f"there is no {dialect}: {error}"


def skip_without(dialect):
    """Skip the test if the database is not available."""
    if reason := find_reason(dialect):
        pytest.skip(reason)
