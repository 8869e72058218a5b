"""The kind of input that fits labels of a kind and their codes: the models are equal."""

import importlib.util
import io
import pickle
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

import properboost as pb
from fuzz.cases import Case, evaluate, make_model
from fuzz.fits import ALLOWED, no_foreign_warnings, phase
from fuzz.invariants.registry import can_predict
from fuzz.outcomes import Outcome
from fuzz.parameters import Shape, draw_estimator, draw_parameters, list_estimators
from fuzz.tables import draw_frame, draw_table, draw_weights
from helpers.label_kinds import KINDS, LabelKind
from properboost.data.labels import LabelReader, find_classes

__all__ = ["LabelCase", "Labels", "hold_labels"]

REFUSALS = ("label", "class", "cannot be exported", "categories", "init_score", "loss", "columns")
"""Words of which an error must have one where a model cannot be exported."""

SOFT = ("ProperBoostClassifier", "ProperBoostClassifierCV")
"""The estimators whose labels may be probabilities."""

UNPICKLABLE = r"lambda|tangent_callable"
"""A pattern of parameters that cannot be pickled: Python's lambdas and native functions."""

PIECES = [
    "", " ", "a", "A", "b", "é", "0", "1", "1.0", "-0", "nan", "None", "True", "NULL", "it's", '"',
    "\\", "\n", "\t", "\x00", "\x7f", "\ud800", "\U0001f600", ";--", "a" * 300,
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class LabelCase:
    """Case whose labels are codes 0, 1, ..., with the kind and values of the labels."""

    case: Case
    kind: str
    values: tuple[Any, ...]

    @property
    def labels(self) -> LabelKind:
        return KINDS[self.kind].of(self.values)

    @property
    def params(self) -> dict[str, str]:
        return self.case.params

    @property
    def weight(self) -> NDArray[np.float64] | None:
        return self.case.weight


class Labels:
    """Estimators fitted to labels of every kind, and to their codes."""

    name = "labels"
    share = 0.4

    def draw(self, seed: int) -> LabelCase:
        rng = np.random.default_rng([crc32(self.name.encode()), seed])
        kind = KINDS[str(rng.choice(list(KINDS)))]
        estimator = draw_estimator(rng)
        model = list_estimators()[estimator]()
        values = draw_values(rng, kind)
        n_classes = 2
        if get_tags(model).classifier_tags.multi_class and rng.random() < 0.4:
            n_classes = len(values)
        n, d = int(rng.integers(2 * n_classes, 80)), int(rng.integers(1, 5))
        frame = draw_frame(rng)
        columns, layout = draw_table(rng, n, d, frame)
        y = rng.integers(0, n_classes, n)
        y[rng.permutation(n)[:n_classes]] = np.arange(n_classes)
        weight = draw_weights(rng, n) if has_fit_parameter(model, "sample_weight") else None
        params = draw_parameters(rng, estimator, Shape(n, d, [*map(str, range(n_classes))]))
        case = Case(estimator, params, tuple(columns), y, weight, frame, layout, seed)
        return LabelCase(case, kind.name, tuple(values[:n_classes]))

    def check(self, case: LabelCase, only: str | None = None) -> Outcome:
        try:
            labels = case.labels.make(case.case.y)
        except (ValueError, TypeError, OverflowError) as error:  # a library may lack such labels
            return Outcome("not made", str(error))
        with redirect_stderr(io.StringIO()):
            return _check(case, labels)

    def digest(self, case: LabelCase) -> str | None:
        return None

    def smaller(self, case: LabelCase) -> Iterator[LabelCase]:
        usual = tuple(KINDS[case.kind].values[: len(case.values)].tolist())
        if len(usual) == len(case.values) and usual != case.values:
            yield replace(case, values=usual)
        for simple in case.case.smaller():
            n_classes = int(simple.y.max()) + 1
            if len(np.unique(simple.y)) == n_classes >= 2:
                yield replace(case, case=simple, values=case.values[:n_classes])

    def show(self, case: LabelCase, broken: str) -> str:
        """Return a test that fails as the case does."""
        lines = case.case.show()
        at = lines.index("")
        body = [line for line in lines[at + 1 :] if not line.startswith("model = ")]
        params = ", ".join(f"{name!r}: {text!r}" for name, text in case.case.params.items())
        weight = "None" if case.case.weight is None else "weight"
        body.append(
            f"hold_labels({case.kind!r}, {case.values!r}, {case.case.estimator!r}, "
            f"{{{params}}}, X, y, {weight})"
        )
        imports = [*lines[:at], "from fuzz.labels import hold_labels"]
        return "\n".join(
            [*imports, "", "", "def test_regression():", *(f"    {code}" for code in body)]
        )


def draw_values(rng: Generator, kind: LabelKind) -> list[Any]:
    """Return ascending values of a kind's labels: the usual ones, or any of the type."""
    dtype = kind.values.dtype
    if not kind.any_values or dtype.kind == "b" or rng.random() < 0.3:
        return list(kind.values.tolist())
    count = int(rng.integers(2, 5))
    distinct: set[Any] = set()
    while len(distinct) < count:
        distinct.add(_draw_value(rng, dtype))
    values = sorted(distinct)
    # NumPy's strings have no NUL at their ends.
    return sorted(set(np.array(values).tolist())) if dtype.kind == "U" else values


def _draw_value(rng: Generator, dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        near = [ends.min, ends.max, 0, 1, 2**53, 2**53 + 1, 2**60 + 1]
        value = near[rng.integers(len(near))] + int(rng.integers(-3, 4))
        return min(max(value, int(ends.min)), int(ends.max))
    if dtype.kind == "f":
        most = {2: 2.0**11, 4: 2.0**24, 8: 2.0**53}[dtype.itemsize]
        values = [float(rng.integers(-9, 9)), most, -most, most - 1.0]
        return values[rng.integers(len(values))] + 0.0
    return "".join(rng.choice(PIECES, rng.integers(1, 4)))


def hold_labels(
    kind: str,
    values: tuple[Any, ...],
    estimator: str,
    params: dict[str, str],
    X: Any,
    codes: NDArray[Any],
    weight: NDArray[np.float64] | None = None,
) -> None:
    """Check fits to labels of these values and to their codes; regression tests call it."""
    labels = KINDS[kind].of(values)
    _compare(labels, labels.make(codes), estimator, params, X, codes, weight)


def _check(case: LabelCase, labels: Any) -> Outcome:
    by_code = case.case
    try:
        X = by_code.make_table()
    except ALLOWED as error:
        return Outcome("refused", str(error))
    return _compare(
        case.labels, labels, by_code.estimator, by_code.params, X, by_code.y, by_code.weight
    )


def _compare(
    kind: LabelKind,
    labels: Any,
    estimator: str,
    params: dict[str, str],
    X: Any,
    codes: NDArray[Any],
    weight: NDArray[np.float64] | None,
) -> Outcome:
    with phase("labels in batches are those of all rows"):
        _read_in_batches(kind, labels, codes)
    with phase("fit"), no_foreign_warnings():
        by_code = _fit(estimator, params, X, codes, weight, None)
        model = _fit(estimator, params, X, labels, weight, kind.values.tolist())
        refused = [
            type(outcome).__name__ for outcome in (by_code, model) if isinstance(outcome, Exception)
        ]
        if refused:
            assert type(by_code) is type(model), f"codes: {by_code!r}; labels: {model!r}"
            return Outcome("refused", str(by_code))
    with phase("labels are classes"), no_foreign_warnings():
        places = by_code.classes_.tolist()
        expected = kind.values[places]
        assert model.classes_.tolist() == expected.tolist()
        assert [*map(type, model.classes_.tolist())] == [*map(type, expected.tolist())]
        if not can_predict(model):
            return Outcome("fitted")
        _assert_same(kind, model, by_code, X)
        np.testing.assert_array_equal(find_classes(labels, len(codes), kind.values), codes)
    if estimator in SOFT:
        with phase("probabilities are labels"), no_foreign_warnings():
            _fit_probabilities(estimator, params, X, codes, weight, by_code)
    with phase("labels are kept"), no_foreign_warnings(), tempfile.TemporaryDirectory() as folder:
        if not any(re.search(UNPICKLABLE, text) for text in params.values()):
            _assert_same(kind, pickle.loads(pickle.dumps(model)), by_code, X)
        model.save_model(Path(folder) / "model.json")
        loaded = pb.load_model(Path(folder) / "model.json")
        # The type of strings in a file need not hold longer labels without weight.
        texts = model.classes_.dtype.kind == "U"
        written = np.array(model.classes_.tolist()) if texts else model.classes_
        assert loaded.classes_.dtype == written.dtype
        _assert_same(kind, loaded, by_code, X)
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.ndim == 2:
        for name, write in EXPORTS.items():
            with phase(f"labels in {name}"), no_foreign_warnings():
                predicted = _write(write, model, np.ascontiguousarray(X))
                assert predicted is None or predicted == model.predict(X).tolist(), predicted
    return Outcome("fitted")


def _read_in_batches(kind: LabelKind, labels: Any, codes: NDArray[Any]) -> None:
    reader = LabelReader()
    cuts = [0, len(codes) // 3, len(codes)]
    numbers = [
        reader.read(labels[begin:end], end - begin) for begin, end in pairwise(cuts) if end > begin
    ]
    classes, places = reader.sort()
    assert classes.tolist() == kind.values.tolist()
    np.testing.assert_array_equal(places[np.concatenate(numbers)], codes)


def _fit(
    estimator: str,
    params: dict[str, str],
    X: Any,
    y: Any,
    weight: NDArray[np.float64] | None,
    names: list[Any] | None,
) -> Any:
    """Return a fitted model, or the error of the fit."""
    try:
        values = {name: evaluate(text) for name, text in params.items()}
        by_label = values.get("class_weight")
        if names is not None and isinstance(by_label, dict):
            values["class_weight"] = {names[k]: factor for k, factor in by_label.items()}
        model = make_model(estimator, values)
        return model.fit(X, y, *([] if weight is None else [weight]))
    except ALLOWED as error:
        return error


def _fit_probabilities(
    estimator: str,
    params: dict[str, str],
    X: Any,
    codes: NDArray[Any],
    weight: NDArray[np.float64] | None,
    by_code: Any,
) -> None:
    """Check that probabilities of 0 and 1 are labels, and that others are fitted or refused."""
    certain = np.eye(int(codes.max()) + 1)[codes]
    if len(by_code.classes_) < certain.shape[1]:  # a class without weight, which is refused
        return
    model = _fit(estimator, params, X, certain, weight, None)
    assert not isinstance(model, Exception), repr(model)
    np.testing.assert_array_equal(model.predict_proba(X), by_code.predict_proba(X))
    shared = (3.0 * certain + np.roll(certain, 1, axis=1)) / 4.0
    model = _fit(estimator, params, X, shared, weight, None)
    if isinstance(model, Exception):
        return
    assert model.classes_.tolist() == by_code.classes_.tolist()
    probability = model.predict_proba(X)
    assert probability.shape == certain.shape
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-9)


def _assert_same(kind: LabelKind, model: Any, by_code: Any, X: Any) -> None:
    np.testing.assert_array_equal(model.decision_function(X), by_code.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(X), by_code.predict_proba(X))
    predicted, codes = model.predict(X), by_code.predict(X)
    assert predicted.dtype == model.classes_.dtype
    assert predicted.tolist() == kind.values[codes].tolist()


# -- other systems --------------------------------------------------------------------------------


def _write(write: Any, model: Any, X: NDArray[np.float64]) -> list[Any] | None:
    """Return the labels that another system predicts; None where the export is refused by name."""
    try:
        return write(model, X)
    except (TypeError, ValueError) as refusal:
        if not any(word in str(refusal) for word in REFUSALS):
            raise
        return None


def _in_onnx(model: Any, X: NDArray[np.float64]) -> list[Any]:
    import onnxruntime

    graph = pb.export.to_onnx(model, outputs=["label"]).SerializeToString()
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.log_severity_level = 1, 3
    (labels,) = onnxruntime.InferenceSession(graph, settings).run(None, {"X": X})
    return labels.tolist()


def _in_sql(dialect: str, model: Any, X: NDArray[np.float64]) -> list[Any]:
    columns = [f"c{j}" for j in range(X.shape[1])]
    query = pb.export.to_sql(
        model, dialect=dialect, table="rows", columns=columns, keep=["place"], outputs=["label"]
    )
    if dialect == "sqlite":
        connection = sqlite3.connect(":memory:")
    else:
        import duckdb

        connection = duckdb.connect()
    typed = ", ".join(["place INTEGER", *(f"{name} DOUBLE" for name in columns)])
    connection.execute(f"CREATE TABLE rows ({typed})")
    rows = [(k, *(None if x != x else x for x in row)) for k, row in enumerate(X.tolist())]
    connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * (1 + X.shape[1]))})", rows)
    answers = sorted(connection.execute(query).fetchall())
    connection.close()
    return [row[1] for row in answers]


EXPORTS: dict[str, Any] = {"SQLite": lambda model, X: _in_sql("sqlite", model, X)}
if importlib.util.find_spec("duckdb"):
    EXPORTS["DuckDB"] = lambda model, X: _in_sql("duckdb", model, X)
if importlib.util.find_spec("onnx") and importlib.util.find_spec("onnxruntime"):
    EXPORTS["ONNX"] = _in_onnx
