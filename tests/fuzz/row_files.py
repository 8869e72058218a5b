"""The kind of input that is a file of rows for the command line: CSV, Parquet, folders and Arrow.

A table is written in a random way, with or without a flaw.  ``properboost fit`` must make the model
file of a fit in Python to the table itself, byte for byte.  ``predict`` must write a line for each
row, with the bits of that model.  A flaw must be refused by name, or noted.
"""

import csv
import io
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from unittest import mock
from zlib import crc32

import numpy as np

from fuzz.fits import phase
from fuzz.outcomes import Outcome
from fuzz.rows_written import FLAWS, FileForm, WrittenFile, draw_way, write

__all__ = ["FileCase", "RowFiles"]

FITTED = "fit makes the model of the table"
PREDICTED = "predict writes a line for each row, with the model's bits"
REFUSED = "a flaw is named"

NAMES = ("a", "b c", "x,y", 'q"', "ü", "n\nl", " s", "1", "p;q", "A", "t\tb", "$x_1$")
TEXTS = ("north", "a,b", 'q"x', "line\nbreak", "é", " x", "TRUE", "1a", "#c", "x;y", "|", "end\r",
         "user001", "NA ", "<b>", "=1+1", "2024-01-31", "y" * 70, "01", "1.5", "1,5", '5" pipe',
         "1e5")  # fmt: skip
FARTHER = ("→", "𝄞", "日本")
LABELS = {
    "text": ("u", "v", "w,x", "TRUE"),
    "whole": (0, 1, 7),
    "truth": (False, True),
    "number": (0.0, 1.0),
}
SMALL_BATCHES = 16  # rows; tables then have several batches


PLAIN = FileForm()
Columns = dict[str, tuple[str, tuple[Any, ...]]]


@dataclass(frozen=True, eq=False)
class FileCase:
    """Table, its target and weights, new rows of it, and the forms of both files.

    `columns` are a kind (whole, number, truth or text) and values by name. `rows` are the places of
    the new rows among them; `order` shuffles their columns, and `extra` adds one.
    """

    columns: Columns
    target: str
    counts: str | None
    rows: tuple[int, ...]
    fitted: FileForm = PLAIN
    predicted: FileForm = PLAIN
    order: int = 0
    extra: bool = False
    params: dict[str, str] = field(default_factory=dict)
    weight: None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.columns[self.target][1])

    @property
    def features(self) -> list[str]:
        """Columns that are neither the target nor the weights."""
        return [name for name in self.columns if name not in (self.target, self.counts)]


class RowFiles:
    """Tables that the command line reads."""

    name = "row_files"
    share = 0.5

    def draw(self, seed: int) -> FileCase:
        rng = np.random.default_rng([crc32(self.name.encode()), seed])
        n, d = int(rng.integers(4, 45)), int(rng.integers(1, 5))
        names = [str(name) for name in rng.permutation(np.array(NAMES, dtype=object))[: d + 2]]
        kinds = ["whole", "number", "text", "text"]
        with_truths = rng.random() < 0.2
        columns = {
            name: _draw_column(
                rng, "truth" if with_truths and k == 0 else kinds[rng.integers(4)], n
            )
            for k, name in enumerate(names[:d])
        }
        target, counts = names[d], None
        kind = [*LABELS][rng.integers(4)]
        values = LABELS[kind][: rng.integers(2, 5)]
        labels = [values[k] for k in rng.integers(len(values), size=n)]
        labels[:2] = values[:2]
        columns[target] = kind, tuple(labels)
        if rng.random() < 0.2:
            counts = names[d + 1]
            weights = rng.integers(0, 3, n)
            weights[:2] = 1
            columns[counts] = "whole", tuple(weights.tolist())
        order = [str(name) for name in rng.permutation(np.array([*columns], dtype=object))]
        columns = {name: columns[name] for name in order}
        # Truth values are text in CSV, and numbers elsewhere.
        alike = with_truths or kind == "truth"
        keys = [name for name, (kind, v) in columns.items() if kind in ("whole", "text") and any(v)]
        fitted = draw_way(rng, columns, keys)
        rows = tuple(rng.integers(0, n, rng.integers(1, 40)).tolist())
        order, extra = int(rng.integers(2**31)) * (rng.random() < 0.5), bool(rng.random() < 0.3)
        new = {name: columns[name] for name in columns if name not in (target, counts)}
        if extra:
            new["extra"] = columns[target]
        while True:
            predicted = draw_way(rng, _take(new, rows), [k for k in keys if k in new])
            if not alike or (predicted.kind == "csv") == (fitted.kind == "csv"):
                break
        if fitted.kind == predicted.kind == "csv":
            if predicted.flaw == "spelled" and fitted.spelling:
                predicted = replace(predicted, flaw=None)
            same = ["missing"]  # other texts of missing cells would be most of a column
            if predicted.flaw != "spelled":
                same += ["decimal", "thousands", "unit", "brackets"]
            predicted = replace(predicted, **{name: getattr(fitted, name) for name in same})
        if fitted.flaw is not None:
            predicted = replace(predicted, flaw=None)
        return FileCase(columns, target, counts, rows, fitted, predicted, order, extra)

    def check(self, case: FileCase, only: str | None = None) -> Outcome:
        if any(kind == "text" and not _is_text(values) for kind, values in case.columns.values()):
            return Outcome("refused", "text that is all numbers is not text in CSV")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            table = write(folder, "rows", case.columns, case.fitted)
            output = str(folder / "model.json")
            words = ["fit", table.file, "--target", case.target, "--output", output]
            words += ["--effort", "none", "--n-estimators", "2", "--rows-per-bin", "none"]
            words += ["--test-size", "0", "--jobs", "1", "--many-classes", *table.options]
            words += [] if case.counts is None else ["--sample-weight", case.counts]
            status, out, err = call(words, table.stdin)
            if case.fitted.flaw is not None:
                # Any label is valid, so the target has no flaws.
                with phase(REFUSED):
                    check_flaw(
                        case.fitted,
                        status,
                        err,
                        _take(case.columns, range(case.n_rows), case.target),
                    )
                return Outcome("refused", err)
            with phase(FITTED):
                model = expected_model(case, table)
                if isinstance(model, str):
                    assert status == 1, f"{err}: a fit in Python is refused: {model}"
                    return Outcome("refused", err)
                assert status == 0, err
                assert f"{len(table.frame):,} rows" in out or case.counts is not None, out
                check_blank(case.fitted, case.n_rows, len(case.columns), err)
                saved = Path(output).read_bytes()
                model.save_model(output)
                assert saved == Path(output).read_bytes(), "the model is another one"
            return self.predict(case, model, folder, output)

    def predict(self, case: FileCase, model: Any, folder: Path, output: str) -> Outcome:
        """Predict new rows with a model, and check the file."""
        way = case.predicted
        rng = np.random.default_rng(case.order)
        names = [*case.features, *(["extra"] if case.extra else [])]
        if case.order:
            names = [str(name) for name in rng.permutation(np.array(names, dtype=object))]
        known = case.columns | {"extra": case.columns[case.target]}
        new = _take({name: known[name] for name in names}, case.rows)
        table = write(folder, "new", new, replace(way, in_batches=False))
        status, out, err = call(["predict", output, table.file, *table.options], table.stdin)
        if way.flaw is not None:
            with phase(REFUSED):
                check_flaw(way, status, err, _take(new, range(len(case.rows)), "extra"), out)
            return Outcome("refused", err)
        with phase(PREDICTED):
            assert status == 0, err
            header, *rows = csv.reader(io.StringIO(out, newline=""))
            assert len(rows) == len(case.rows), f"{len(rows)} lines of {len(case.rows)} rows"
            assert header[0] == "class"
            assert ("ignored, because the model does not use them: 'extra'" in err) == case.extra, (
                err
            )
            check_blank(way, len(case.rows), len(new), err)
            X = make_features(case, table)
            X = X[list(model.feature_names_in_)]
            probability = model.predict_proba(X)
            written = np.array([[float(cell) for cell in row[1:]] for row in rows])
            np.testing.assert_array_equal(written, probability)
            assert [row[0] for row in rows] == [str(label) for label in model.predict(X)]
        return Outcome("fitted")

    def digest(self, case: FileCase) -> str | None:
        return None

    def smaller(self, case: FileCase) -> Iterator[FileCase]:
        n = case.n_rows
        for rows_left in (
            range(n // 2),
            range(n // 2, n),
            *([*range(k), *range(k + 1, n)] for k in range(n)),
        ):
            if n > 2 and len(rows_left) >= 2:
                place = {row: k for k, row in enumerate(rows_left)}
                rows = tuple(place[row] for row in case.rows if row in place) or (0,)
                yield replace(case, columns=_take(case.columns, rows_left), rows=rows)
        if len(case.rows) > 1:
            yield replace(case, rows=case.rows[: len(case.rows) // 2])
            yield replace(case, rows=case.rows[len(case.rows) // 2 :])
        for name in case.features if len(case.features) > 1 else []:
            keys = {*case.fitted.keys, *case.predicted.keys}
            if name not in keys:
                rest = {other: column for other, column in case.columns.items() if other != name}
                yield replace(case, columns=rest)
        if case.counts is not None:
            rest = {other: c for other, c in case.columns.items() if other != case.counts}
            yield replace(case, columns=rest, counts=None)
        if case.order or case.extra:
            yield replace(case, order=0)
            yield replace(case, extra=False)
        for which in ("fitted", "predicted"):
            way = getattr(case, which)
            for setting in fields(FileForm):
                value = getattr(PLAIN, setting.name)
                if setting.name != "flaw" and getattr(way, setting.name) != value:
                    yield replace(case, **{which: replace(way, **{setting.name: value})})

    def show(self, case: FileCase, broken: str) -> str:
        return "\n".join(
            [
                "from fuzz.row_files import FileCase, RowFiles",
                "from fuzz.rows_written import FileForm",
                "",
                "",
                "def test_regression():",
                f'    """{broken}."""',
                "    case = FileCase(",
                *(
                    f"        {name}={getattr(case, name)!r},"
                    for name in ("columns", "target", "counts", "rows", "order", "extra")
                ),
                *(
                    f"        {name}={_show(getattr(case, name))},"
                    for name in ("fitted", "predicted")
                ),
                "    )",
                "    RowFiles().check(case)",
            ]
        )


def _show(way: FileForm) -> str:
    settings = {f.name: getattr(way, f.name) for f in fields(FileForm)}
    changed = {name: value for name, value in settings.items() if value != getattr(PLAIN, name)}
    return f"FileForm({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


def _take(columns: Columns, rows: Any, but: str | None = None) -> Columns:
    """Return these rows of all columns but one."""
    return {
        name: (kind, tuple(values[i] for i in rows))
        for name, (kind, values) in columns.items()
        if name != but
    }


def _is_text(values: Any) -> bool:
    """Return whether values are texts that no spelling reads as numbers."""
    return any(v is not None and any(c.isalpha() and c != "e" for c in v) for v in values)


def _draw_column(rng: np.random.Generator, kind: str, n: int) -> tuple[str, tuple[Any, ...]]:
    if kind == "whole":
        most = [3, 100, 10**4, 10**7][rng.integers(4)]
        values: list[Any] = rng.integers(-most, most, n).tolist()
    elif kind == "number":
        scale = [1.0, 1e3, 1e5][rng.integers(3)]
        values = (rng.normal(size=n) * scale).round(int(rng.integers(1, 4))).tolist()
        values = [0.125 * round(8 * v) for v in values] if rng.random() < 0.3 else values
        values = [v + 0.0 for v in values]  # this removes -0
    elif kind == "truth":
        values = (rng.random(n) < 0.5).tolist()
    else:
        texts = TEXTS + (FARTHER if rng.random() < 0.3 else ())
        words = rng.permutation(np.array(texts, dtype=object))[: rng.integers(2, 6)].tolist()
        values = [str(words[k]) for k in rng.integers(len(words), size=n)]
    if rng.random() < 0.4:
        for i in np.flatnonzero(rng.random(n) < 0.3).tolist():
            values[i] = None
    if kind == "text" and not _is_text(values):
        values[0] = "north"
    return kind, tuple(values)


# -- running commands -----------------------------------------------------------------------------


def call(words: list[str], stdin: bytes) -> tuple[int, str, str]:
    """Run a command in this process; return its exit status, stdout and stderr."""
    from properboost.__main__ import main
    from properboost.cli import parquet_parts

    out, err = io.StringIO(), io.StringIO()
    standard_input = mock.Mock(buffer=io.BytesIO(stdin))
    with (
        warnings.catch_warnings(),
        redirect_stdout(out),
        redirect_stderr(err),
        mock.patch.object(sys, "stdin", standard_input),
        mock.patch.object(parquet_parts, "BATCH_ROWS", SMALL_BATCHES),
    ):
        warnings.simplefilter("default")
        try:
            status = main(words)
        except SystemExit as error:
            status = int(error.code or 0)
    return status, out.getvalue(), err.getvalue()


def make_features(case: FileCase, table: WrittenFile) -> Any:
    """Return the features as the command line reads them: text is a category."""
    typed = not table.file.endswith((".csv", "-", ".gz", ".bz2", ".xz", ".zip"))
    X = table.frame[[name for name in table.frame.columns if name in case.features]].copy()
    for name in X.columns:
        if X[name].dtype != object:
            continue
        if typed and case.columns[name][0] == "truth":
            X[name] = X[name].astype(float)
        else:
            X[name] = X[name].astype("category")
    return X


def expected_model(case: FileCase, table: WrittenFile) -> Any:
    """Return the model of the table, or the message if there is none."""
    import properboost as pb
    from properboost.data.spelling import Spelling

    counts = None if case.counts is None else table.frame[case.counts].to_numpy(dtype=float)
    counted = slice(None) if counts is None else counts > 0
    X = make_features(case, table)[counted]
    X = X.apply(lambda c: c.cat.remove_unused_categories() if c.dtype == "category" else c)
    y = table.frame[case.target].to_numpy()[counted]
    if case.columns[case.target][0] == "truth" and isinstance(y[0], bool):
        y = y.astype(bool)
    categorical = [name for name in X.columns if X[name].dtype == "category"]
    model = pb.ProperBoostClassifier(
        n_estimators=2,
        rows_per_bin=None,
        n_jobs=1,
        categorical_features=categorical,
    )
    try:
        with warnings.catch_warnings(action="ignore"):
            model.fit(X, y, None if counts is None else counts[counted])
    except ValueError as error:
        return str(error)
    way = case.fitted
    if way.kind == "csv":
        units = (way.unit,) if way.unit else ()
        na = ("?",) if way.missing == "?" else None
        model.spelling_ = Spelling(way.decimal, way.thousands, units, way.brackets, na)
    return model


def check_blank(way: FileForm, n_rows: int, n_columns: int, err: str) -> None:
    """Check that blank lines among rows are noted, and no others."""
    if way.kind == "csv" and n_columns > 1:
        noted = any(row < n_rows for row in way.blank)
        assert ("blank lines are left out" in err) == noted, err


def check_flaw(way: FileForm, status: int, err: str, columns: Columns, out: str = "") -> None:
    """Check that a flaw is refused by name, and a slip of spelling at least noted.

    `columns` are those that must be numbers where they are, and `out` the output before the
    refusal.
    """
    assert way.flaw is not None
    if way.flaw == "spelled":
        numbers = [values for kind, values in columns.values() if kind in ("whole", "number")]
        if not any(value is not None for values in numbers for value in values):
            return
    else:
        assert status == 1, f"status {status}: {err}"
        assert out == "" or way.kind != "csv", "something was written before the refusal"
    assert re.search(FLAWS[way.flaw], err), err
