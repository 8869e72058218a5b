"""Export: the predictions of ONNX, SQL and treelite against `decision_function`, and their times.

    python -m benchmarks.peers.export                                  # 20 minutes
    python -m benchmarks.peers.export --setting adult --repeats 2 --rows 1000    # a quick look

ADULT has categories and missing values; LETTER has 26 classes.  Each model predicts the held-out
rows (the first `--rows` of them) in onnxruntime, DuckDB, SQLite and treelite's reference (GTIL), on
one thread, in turns with `decision_function`.  A line has the largest differences of raw
predictions and of probabilities, the time of all rows and, where there is such a call, of one.
SQL's time is that of the whole query, its planning included; queries beyond `LARGEST` are not run.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.lib.cli import make_parser, print_heading, start
from benchmarks.lib.sets import SETS, Split
from properboost import ProperBoostClassifier, Tree, export
from properboost.datasets import load_adult

SETTINGS = {"adult": "ADULT, with missing values", "letter": "letter"}
MODELS: dict[str, dict[str, Any]] = {
    "tables": {"weak_learner": "table"},
    "20 pairs": {"interactions": 20},
    "100 trees": {"weak_learner": "tree", "n_estimators": 100},
    "100 symmetric trees": {
        "weak_learner": Tree(grow_policy="symmetric", max_depth=6), "n_estimators": 100,
    },
    "100 trees with lines": {"weak_learner": Tree(linear_leaves=True), "n_estimators": 100},
}  # fmt: skip
CALLS = 200
LARGEST = {
    "duckdb": 2_000_000,
    "sqlite": 30_000_000,
}  # characters; DuckDB plans longer ones for minutes

Predictions = tuple[Any, Any]  # raw predictions, and probabilities if there are any
Way = tuple[str, Callable[[], Predictions], Callable[[], Predictions] | None, int]


def in_onnxruntime(model: Any, X: pd.DataFrame) -> Iterator[Way]:
    import onnxruntime

    graph = export.to_onnx(model, outputs=("raw", "probabilities")).SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options)

    def give(rows: pd.DataFrame) -> dict[str, Any]:
        if [column.name for column in session.get_inputs()] == ["X"]:
            return {"X": rows.to_numpy(dtype=np.float64)}
        return {
            name: column.astype(object).where(column.notna(), "").to_numpy(dtype=object)[:, None]
            if isinstance(column.dtype, pd.CategoricalDtype)
            else column.to_numpy(dtype=np.float64)[:, None]
            for name, column in rows.items()
        }

    every, one = give(X), give(X[:1])
    yield (
        "onnxruntime",
        lambda: session.run(None, every),
        lambda: session.run(None, one),
        len(graph),
    )


def in_sql(dialect: str, model: Any, X: pd.DataFrame) -> Iterator[Way]:
    plain = X.astype(dict.fromkeys(X.select_dtypes("category"), object)).reset_index(drop=True)
    plain.insert(0, "row_number", np.arange(len(plain)))
    query = export.to_sql(model, dialect=dialect, table="rows", keep=["row_number"])
    if len(query) > LARGEST[dialect]:
        raise ValueError(f"{dialect}'s query has {len(query) / 1e6:.1f} MB, and is not run")
    if dialect == "duckdb":
        import duckdb

        connection: Any = duckdb.connect()
        connection.execute("SET threads = 1")
        connection.register("rows", plain)
    else:
        connection = sqlite3.connect(":memory:")
        plain.to_sql("rows", connection, index=False)
    n_raw = len(model.classes_) if len(model.classes_) > 2 else 1

    def run() -> Predictions:
        answer = np.array(sorted(connection.execute(query).fetchall()), dtype=np.float64)[:, 1:]
        raw = answer[:, :n_raw]
        return raw if n_raw > 1 else raw[:, 0], answer[:, n_raw:]

    yield {"duckdb": "DuckDB", "sqlite": "SQLite"}[dialect], run, None, len(query)


def in_treelite(model: Any, X: pd.DataFrame) -> Iterator[Way]:
    import treelite

    trees = export.to_treelite(model)
    rows = export.encode_rows(model, X)

    def run(part: Any) -> Predictions:
        raw = treelite.gtil.predict(trees, part, nthread=1)
        return raw.reshape((len(part), -1) if len(model.classes_) > 2 else -1), None

    size = len(trees.serialize_bytes())
    yield "treelite (GTIL)", lambda: run(rows), lambda: run(rows[:1]), size


def ours(model: Any, X: pd.DataFrame) -> Iterator[Way]:
    def run(rows: pd.DataFrame) -> Predictions:
        return model.decision_function(rows), model.predict_proba(rows)

    scorer = model.compile()
    row = X[:1].to_dict("records")[0]
    one = lambda: (scorer.decision_function(row), scorer.predict_proba(row))  # noqa: E731
    yield "properboost", lambda: run(X), one, 0


def load(setting: str) -> Split:
    """Return training and test rows; ADULT's usual ones lack the rows with missing values."""
    if setting == "letter":
        return SETS[setting](0)
    train, test = (
        load_adult(subset=subset, dropna=False, return_X_y=True) for subset in ("train", "test")
    )
    return Split(*train, *test)


def clock(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main() -> None:
    parser = make_parser(__doc__, settings=SETTINGS, default=[*SETTINGS], repeats=3, rounds=False)
    arguments, _ = start(parser, "onnx", "onnxruntime", "duckdb", "treelite")
    for setting in arguments.setting:
        split = load(setting)
        names = [str(column) for column in split.X]
        train = split.X.set_axis(names, axis=1)
        X = split.X_test.set_axis(names, axis=1).astype(train.dtypes)[: arguments.rows]
        print_heading(SETTINGS[setting], f"{len(X)} rows; 1 thread", repeats=arguments.repeats)
        print("| model | in | largest difference of raw predictions | of probabilities "
              "| all rows, ms | one row, us | KB |\n|---|---|---|---|---|---|---|")  # fmt: skip
        for name, parameters in MODELS.items():
            model = ProperBoostClassifier(n_jobs=1, **parameters).fit(train, split.y)
            ways: list[Way] = [*ours(model, X)]
            for make in (in_onnxruntime, lambda m, x: in_sql("duckdb", m, x),
                         lambda m, x: in_sql("sqlite", m, x), in_treelite):  # fmt: skip
                try:
                    ways += make(model, X)
                except ValueError as error:
                    print(f"| {name} | {str(error).partition(':')[0]} | | | | | |")
            expected = ways[0][1]()
            predictions = [way[1]() for way in ways]
            every = [[clock(way[1]) for way in ways] for _ in range(arguments.repeats)]
            for (title, _, one, size), (raw, p), times in zip(
                ways, predictions, zip(*every, strict=True), strict=True
            ):
                differences = [
                    "" if a is None else f"{np.abs(a - b).max():.1g}"
                    for a, b in zip((raw, p), expected, strict=True)
                ]
                single = (
                    "" if one is None else f"{1e6 * median(clock(one) for _ in range(CALLS)):.0f}"
                )
                print(f"| {name} | {title} | {' | '.join(differences)} | {1e3 * median(times):.0f} "
                      f"| {single} | {size / 1e3:.0f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
