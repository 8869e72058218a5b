"""Invariants of models in other systems."""

import sqlite3

import numpy as np

import properboost as pb
from fuzz.invariants.registry import Fit, can_predict, invariant

REFUSALS = ("cannot be exported", "categories", "init_score", "loss", "columns", "strings")


@invariant("SQLite predicts as the model does", share=0.1)
def _in_sqlite(fit: Fit) -> None:
    model, X = fit.model, fit.X
    if not can_predict(model) or not isinstance(X, np.ndarray) or X.dtype.kind not in "fiu":
        return
    columns = [f"c{j}" for j in range(X.shape[1])]
    try:
        query = pb.export.to_sql(
            model, dialect="sqlite", columns=columns, keep=["place"], outputs=["raw"]
        )
    except ValueError as refusal:
        if not any(word in str(refusal) for word in REFUSALS):
            raise
        return
    if len(query) > 1_000_000 or len(columns) > 500:
        return  # SQLite's limits
    connection = sqlite3.connect(":memory:")
    named = ", ".join(["place", *columns])
    connection.execute(f"CREATE TABLE rows ({named})")
    rows = [
        (place, *(None if np.isnan(x) else float(x) for x in row.astype(np.float64)))
        for place, row in enumerate(X)
    ]
    marks = ", ".join("?" * (1 + len(columns)))
    connection.executemany(f"INSERT INTO rows VALUES ({marks})", rows)
    answers = np.array(sorted(connection.execute(query)), dtype=np.float64)[:, 1:]
    np.testing.assert_array_equal(answers.reshape(fit.raw.shape), fit.raw)
