"""Refusals of columns: all those of a table in one message, each with the line that mends it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, TypeAlias

__all__ = ["ColumnError", "Fault", "Library", "refuse_column", "refuse_together"]

Library: TypeAlias = Literal["numpy", "pandas", "polars", "pyarrow"]
"""The library of a table."""

Fault: TypeAlias = Literal[
    "date", "datetime", "duration", "text", "mixed", "dates as objects", "other"
]
"""The reason why a column is neither numbers nor categories."""

_MOST_SHOWN = 20

_MUST = "; columns must hold numbers, booleans, text or categories"


class ColumnError(ValueError):
    """An error of one column, or of several; others of the table may have errors, too."""


@contextmanager
def refuse_together(columns: Iterable[int], read: Callable[[int], object]) -> Iterator[None]:
    """Extend the error of one column to all columns that `read` refuses."""
    try:
        yield
    except ColumnError as first:
        raise _join([*_find_errors(columns, read)] or [first]) from None


def _find_errors(columns: Iterable[int], read: Callable[[int], object]) -> Iterator[ColumnError]:
    """Yield the error of each column that cannot be read."""
    for j in columns:
        try:
            read(j)
        except ColumnError as error:
            yield error
        except (TypeError, ValueError):
            continue  # an error of a value, which follows once the types are right


def _join(errors: list[ColumnError]) -> ColumnError:
    """Return one error with the lines of all."""
    if len(errors) == 1:
        return errors[0]
    reasons = [str(error).removeprefix("X: ").replace(_MUST, "") for error in errors]
    lines = [f"- {reason}" for reason in reasons[:_MOST_SHOWN]]
    if len(errors) > _MOST_SHOWN:
        lines.append(f"- and {len(errors) - _MOST_SHOWN} more")
    return ColumnError("\n".join([f"X: {len(errors)} columns cannot be read{_MUST}:", *lines]))


def refuse_column(
    library: Library, label: str, name: object, kind: object, fault: Fault
) -> ColumnError:
    """Return the error of a column of type `kind`, with the line that mends it."""
    advice = _ADVICE[library].get(fault, _ADVICE[library]["other"])(_quote(name))
    if fault == "text" and library == "numpy":  # all columns have one type, so none is named
        return ColumnError(
            f"X: {label} has type {kind} where numbers are expected: if it holds numbers as text, "
            f"{advice}; if categories, X = X.astype(object), with categorical_features="
            "'from_dtype'; a model that was fitted on numbers predicts from numbers only"
        )
    if fault == "text":
        return ColumnError(
            f"X: {label} has type {kind} where numbers are expected: fit with "
            "categorical_features='from_dtype', or name the column there; if it holds numbers as "
            f"text, {advice}; a model that was fitted on numbers predicts from numbers only"
        )
    holds = {"mixed": " and holds text among other values"}.get(fault, "")
    return ColumnError(f"X: {label} has type {kind}{holds}{_MUST}: {advice}")


def _quote(name: object) -> str:
    return repr(name)


# -- the lines that mend --------------------------------------------------------------------------

Advise: TypeAlias = Callable[[str], str]


def _part_pandas(*parts: str) -> Advise:
    def advise(name: str) -> str:
        columns = ", ".join(f"{_extend(name, part)}: X[{name}].dt.{part}" for part in parts)
        return f"X = X.assign(**{{{columns}}}).drop(columns={name})"

    return advise


def _part_polars(*parts: str) -> Advise:
    def advise(name: str) -> str:
        columns = ", ".join(f"X[{name}].dt.{p}().alias({_extend(name, p)})" for p in parts)
        return f"X = X.with_columns({columns}).drop({name})"

    return advise


def _part_arrow(*parts: str) -> Advise:
    def advise(name: str) -> str:
        columns = "".join(
            f".append_column({_extend(name, p)}, pyarrow.compute.{p}(X[{name}]))" for p in parts
        )
        return f"X = X{columns}.drop_columns({name})"

    return advise


def _extend(name: str, part: str) -> str:
    """Return a quoted name with the part of a date."""
    return f"{name[:-1]}_{part}{name[-1]}" if name.endswith(("'", '"')) else repr(f"{name}_{part}")


def _after_pandas_reads_dates(name: str) -> str:
    parts = _part_pandas("year", "month", "day_of_week")(name)
    return f"X[{name}] = pandas.to_datetime(X[{name}]); {parts}"


_ADVICE: Mapping[Library, Mapping[Fault, Advise]] = {
    "numpy": {
        "datetime": lambda _: (
            "make numbers of it, such as (X - numpy.datetime64('2020')) / numpy.timedelta64(1, 'D')"
        ),
        "duration": lambda _: "X = X / numpy.timedelta64(1, 's')",
        "text": lambda _: "X = X.astype(float)",
        "other": lambda _: "pass X as a pandas, polars or Arrow table, whose columns have types",
    },
    "pandas": {
        "date": _part_pandas("year", "month", "day_of_week"),
        "datetime": _part_pandas("year", "month", "day_of_week", "hour"),
        "duration": lambda name: f"X[{name}] = X[{name}].dt.total_seconds()",
        "text": lambda name: f"X[{name}] = pandas.to_numeric(X[{name}])",
        "mixed": lambda name: f"X[{name}] = X[{name}].map(str, na_action='ignore')",
        "dates as objects": _after_pandas_reads_dates,
        "other": lambda name: f"X = X.drop(columns={name})",
    },
    "polars": {
        "date": _part_polars("year", "month", "weekday"),
        "datetime": _part_polars("year", "month", "weekday", "hour"),
        "duration": lambda name: f"X = X.with_columns(X[{name}].dt.total_seconds())",
        "text": lambda name: f"X = X.with_columns(X[{name}].cast(polars.Float64))",
        "other": lambda name: f"X = X.drop({name})",
    },
    "pyarrow": {
        "date": _part_arrow("year", "month", "day_of_week"),
        "datetime": _part_arrow("year", "month", "day_of_week", "hour"),
        "duration": lambda name: (
            f"X = X.append_column({_extend(name, 'number')}, "
            f"X[{name}].cast('int64')).drop_columns({name})"
        ),
        "text": lambda name: (
            f"X = X.append_column({_extend(name, 'number')}, "
            f"X[{name}].cast('double')).drop_columns({name})"
        ),
        "other": lambda name: f"X = X.drop_columns({name})",
    },
}
"""The line that mends each fault, from the quoted name of the column."""
