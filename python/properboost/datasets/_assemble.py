"""From the cells of a table to the result of a loader."""

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from properboost.parameters.checks import choice

from . import _locate, _tables
from ._record import MISSING, Record

Dataset: TypeAlias = Bunch | tuple[Any, Any]


def load_rows(record: Record, subset: str) -> _tables.Table:
    """Return the rows of one part of a set, from the first place that has them.

    Parameters
    ----------
    record : Record
        The set.
    subset : {"train", "test", "all"}
        The part; a set that comes undivided has "all" only.

    Returns
    -------
    list of list of str
        One list of cells a row, without the damaged rows.
    """
    choice("subset", subset, record.subsets)
    files = record.files
    if len(files) == 2:
        files = {"train": files[:1], "test": files[1:], "all": files}[subset]
    rows = [row for file in files for row in _locate.load(file, record.columns)]
    if record.malformed:
        rows = [row for number, row in enumerate(rows) if number not in record.malformed]
    return leading(rows, record.train_rows, subset)


def leading(rows: _tables.Table, train_rows: int | None, subset: str) -> _tables.Table:
    """Return the part of a table whose leading rows are for training."""
    if train_rows is None or subset == "all":
        return rows
    return rows[:train_rows] if subset == "train" else rows[train_rows:]


def assemble(
    record: Record, rows: _tables.Table, *, dropna: bool, return_X_y: bool, as_frame: bool
) -> Dataset:
    """Turn cells into numbers, categories and classes.

    Parameters
    ----------
    record : Record
        The set.
    rows : list of list of str
        Its cells.  A row without a class is left out.
    dropna : bool
        Leave out the rows in which a feature is missing.
    return_X_y : bool
        Return data and target only.
    as_frame : bool
        Return a DataFrame and a Series instead of arrays.

    Returns
    -------
    Bunch or tuple of (data, target)
        The result that the loaders document.

    Raises
    ------
    ImportError
        If `as_frame` is true and pandas is missing.
    """
    pandas = _pandas() if as_frame else None
    codes = {label: code for code, labels in enumerate(record.classes.values()) for label in labels}
    place = record.columns.index(record.target)
    rows = [row for row in rows if row[place] != MISSING]
    cells = dict(zip(record.columns, zip(*rows, strict=True), strict=True))
    target = np.array([codes[label] for label in cells[record.target]], dtype=np.int64)
    data = np.empty((len(rows), len(record.features)))
    for j, feature in enumerate(record.features):
        data[:, j] = _numbers(cells[feature], record.categories.get(feature))
    if dropna:
        complete = ~np.isnan(data).any(axis=1)
        data, target = data[complete], target[complete]

    description = _describe(record, data, target)
    names = list(record.features)
    X: Any = data
    y: Any = target
    frame: Any = None
    if pandas is not None:
        X = pandas.DataFrame(
            {
                name: _column(pandas, data[:, j], record.categories.get(name))
                for j, name in enumerate(names)
            }
        )
        y = pandas.Series(target, name=record.target)
        frame = pandas.concat([X, y], axis=1)
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        frame=frame,
        feature_names=names,
        target_names=np.array(list(record.classes)),
        categories={name: list(values) for name, values in record.categories.items()},
        DESCR=description,
    )


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas: pip install 'properboost[datasets]', or as_frame=False"
        ) from error
    return pandas


def _numbers(cells: Iterable[str], categories: tuple[str, ...] | None) -> list[float]:
    """Return a column as numbers, a category as its place in the list, NaN where it is missing."""
    if categories is None:
        return [math.nan if cell == MISSING else float(cell) for cell in cells]
    codes = {category: float(code) for code, category in enumerate(categories)}
    return [math.nan if cell == MISSING else codes[cell] for cell in cells]


def _column(pandas: Any, numbers: NDArray[np.float64], categories: tuple[str, ...] | None) -> Any:
    """Return a column of a DataFrame."""
    if categories is None:
        return numbers
    codes = np.where(np.isnan(numbers), -1, numbers).astype(np.int64)  # -1 is missing
    return pandas.Categorical.from_codes(codes, categories=list(categories))


def _describe(record: Record, data: NDArray[np.float64], target: NDArray[np.int64]) -> str:
    """Describe the set as it has been loaded."""
    numeric = len(record.features) - len(record.categories)
    missing = int(np.isnan(data).sum())
    kinds = f"{numeric} numeric, {len(record.categories)} categorical"
    lines = [
        record.title,
        "=" * len(record.title),
        "",
        f"{len(data)} rows, {data.shape[1]} features ({kinds}), {missing} missing cells.",
        "",
        f"Target `{record.target}`:",
    ]
    counts = np.bincount(target, minlength=len(record.classes))
    for code, (name, labels) in enumerate(record.classes.items()):
        written = ", ".join(labels)
        lines.append(f"  {code} = {name} (at the source: {written}): {counts[code]} rows")
    if record.dropped:
        lines += ["", "Columns of the source that are not features:"]
        lines += [f"  {column}: {reason}" for column, reason in record.dropped.items()]
    if record.malformed:
        numbers = ", ".join(str(number + 1) for number in record.malformed)
        lines += ["", f"Rows of the source left out as damaged: {numbers} (counted from 1)."]
    if record.note:
        lines += ["", record.note]
    lines += ["", f"Source: {record.source}"]
    return "\n".join(lines) + "\n"
