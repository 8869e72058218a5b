"""Fit and score a table of more than 2^31 cells, and check the result to the last row.

    python -m benchmarks.engine.large                  # 44,000,000 x 50 uint8: 4.4 GB
    python -m benchmarks.engine.large --dtype float32  # the same in 8.8 GB
    python -m benchmarks.engine.large --rows 100000    # the same checks in a second

The rows repeat a few thousand patterns, so that the right answer is known at any size: weights are
frequencies, hence the fit must be that of each pattern once, weighted by numpy's count of it.  The
rows whose cells lie beyond the 2^31-th (in a smaller table the last fortieth) have other patterns:
a value that occurs nowhere else, in the last columns, and labels that follow it.  A fit that lost
these rows, or took others for them, has another value there.

The script checks the first round against counts and the papers' formulas.  It checks every round's
feature and step and every column's shape function against the weighted fit.  The raw prediction of
every row must equal that of its pattern, bit for bit.  The exit status is 1 if anything is wrong.
"""

import sys
import time
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.lib.cli import make_plain_parser
from benchmarks.lib.memory import PeakMemory
from properboost import ProperBoostClassifier

CELLS = 2**31
BLOCK = 1_000_000  # rows made or compared at a time
VALUES = 16  # of a column; the largest occurs only in the last rows
MARKED = 2  # columns that have the largest value
PATTERNS, TAIL_PATTERNS = 8_192, 512
# The engine sums float32 in chunks; measured 2e-6 of the sum at 1,000,000 rows in one heavy bin.
TOLERANCE = 1e-5


class Table(NamedTuple):
    """The rows, and the pattern of each."""

    X: NDArray[Any]
    y: NDArray[np.uint8]
    patterns: NDArray[Any]
    of_row: NDArray[np.uint16]
    counts: NDArray[np.int64]  # (patterns, 2): rows of each label
    tail: int  # the first row that lies beyond the 2^31-th cell


def make_table(n_rows: int, n_columns: int, dtype: str, order: str) -> Table:
    """Make the table one block at a time: nothing else is as large."""
    tail = -(-CELLS // n_columns) if n_rows * n_columns > CELLS else n_rows - n_rows // 40
    random = np.random.default_rng(0)
    patterns = random.integers(0, VALUES - 1, (PATTERNS + TAIL_PATTERNS, n_columns))
    patterns[PATTERNS:, -MARKED:] = VALUES - 1
    # The effects grow towards the last columns, so that the first rounds choose those.
    effects = random.standard_normal((n_columns, VALUES)) * np.linspace(0.01, 1, n_columns)[:, None]
    effects[:, -1] = 2.0
    log_odds = effects[np.arange(n_columns), patterns].sum(axis=1)
    probability = expit(log_odds / np.sqrt(n_columns / 10))
    X = np.empty((n_rows, n_columns), dtype=dtype, order=order)  # type: ignore[call-overload]
    y = np.empty(n_rows, dtype=np.uint8)
    of_row = np.empty(n_rows, dtype=np.uint16)
    patterns = patterns.astype(dtype)
    counts = np.zeros(2 * len(patterns), dtype=np.int64)
    for begin, end in _blocks(n_rows, tail):
        here = (0, PATTERNS) if begin < tail else (PATTERNS, len(patterns))
        which = random.integers(*here, end - begin, dtype=np.uint16)
        of_row[begin:end] = which
        X[begin:end] = patterns[which]
        y[begin:end] = random.random(end - begin) < probability[which]
        counts += np.bincount(2 * which.astype(np.intp) + y[begin:end], minlength=len(counts))
    return Table(X, y, patterns, of_row, counts.reshape(-1, 2), tail)


def _blocks(n_rows: int, tail: int) -> list[tuple[int, int]]:
    bounds = sorted({*range(0, n_rows, BLOCK), tail, n_rows})
    return list(pairwise(bounds))


def check(condition: object, message: str) -> None:
    """Print the message, and exit unless `condition` holds."""
    if not condition:
        sys.exit(f"WRONG, it does not hold that {message}")
    print(f"  right: {message}", flush=True)


def check_first_round(model: ProperBoostClassifier, table: Table) -> None:
    """Compare the first round, where all weights are equal, with the counts (Algorithm 1)."""
    total = table.counts.sum()
    tables, costs = [], []
    for column in table.patterns.T.astype(np.intp):
        W = np.stack([np.bincount(column, c, minlength=VALUES) for c in table.counts.T]) / total
        e = 1 / (total * np.count_nonzero(W.sum(axis=0)))
        costs.append(np.sqrt(W[0] * W[1]).sum())
        tables.append(0.5 * np.log((W[1] + e) / (W[0] + e)))
    feature = int(np.argmin(costs))
    rounds = model.history_
    check(
        rounds["feature"][0] == feature and np.isclose(rounds["cost"][0], costs[feature]),
        f"round 1 takes column {feature}, of Z = {costs[feature]:.6f} by numpy's counts",
    )
    values = tables[feature][table.patterns[:, feature].astype(np.intp)]
    first = next(model.staged_decision_function(table.patterns))
    error = np.abs(first - rounds["step"][0] * values).max()
    check(error < TOLERANCE, f"round 1's table is that of numpy's counts (off by {error:.1e})")


def check_model(model: ProperBoostClassifier, table: Table) -> None:
    """Compare the model with the weighted fit to each pattern once."""
    weighted = ProperBoostClassifier(**model.get_params()).fit(
        np.repeat(table.patterns, 2, axis=0),
        np.tile([0, 1], len(table.patterns)),
        table.counts.ravel(),
    )
    ours, theirs = model.history_, weighted.history_
    check(
        np.array_equal(ours["feature"], theirs["feature"]),
        f"all rounds take the columns of the weighted fit: {ours['feature'].tolist()}",
    )
    error = max(
        np.abs(ours[column_name] - theirs[column_name]).max()
        for column_name in ("cost", "step", "risk")
    )
    check(error < TOLERANCE, f"costs, steps and risks are its too (off by {error:.1e})")
    values = np.arange(VALUES).astype(table.X.dtype)
    error, last = 0.0, np.zeros(VALUES)
    for j in range(table.X.shape[1]):
        marked = j >= table.X.shape[1] - MARKED
        seen = values if marked else values[:-1]
        last = model.shape_function(j)(seen)
        error = max(error, np.abs(last - weighted.shape_function(j)(seen)).max())
    check(error < TOLERANCE, f"every shape function is its too (off by {error:.1e})")
    check(last[-1] > 0.1, f"the last rows' own value in the last column has {last[-1]:+.4f}")


def check_scores(model: ProperBoostClassifier, table: Table, raw: NDArray[np.float64]) -> None:
    """Compare every row's raw prediction with its pattern's."""
    expected = model.decision_function(table.patterns)
    wrong = sum(
        int(np.count_nonzero(raw[begin:end] != expected[table.of_row[begin:end]]))
        for begin, end in _blocks(len(raw), table.tail)
    )
    check(wrong == 0, f"all {len(raw):,} rows score as their patterns do, bit for bit")
    last = model.predict_proba(table.X[table.tail :])[:, 1]
    expected = model.predict_proba(table.patterns)[:, 1][table.of_row[table.tail :]]
    check(
        np.array_equal(last, expected),
        f"so do the last {len(last):,} by themselves, as probabilities "
        f"(mean {last.mean():.3f}, labels {table.y[table.tail :].mean():.3f})",
    )


def main() -> None:
    """Make, fit, score, check."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--rows", type=int, default=44_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--dtype", default="uint8", choices=("uint8", "int8", "float32", "float64"))
    parser.add_argument("--order", default="C", choices=("C", "F"), help="row- or column-major")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=None)
    arguments = parser.parse_args()
    if arguments.rows < 10_000 or arguments.columns < MARKED:
        parser.error(f"--rows must be at least 10000 and --columns at least {MARKED}")

    table = make_table(arguments.rows, arguments.columns, arguments.dtype, arguments.order)
    n_rows, n_columns = table.X.shape
    beyond = "more" if table.X.size > CELLS else "not more"
    print(f"{n_rows:,} x {n_columns} {table.X.dtype}, {table.X.nbytes / 1e9:.2f} GB: ", end="")
    print(f"{table.X.size:,} cells, {beyond} than 2^31; {n_rows - table.tail:,} last rows")

    model = ProperBoostClassifier(
        n_estimators=arguments.rounds, n_jobs=arguments.threads, weak_learner="table"
    )
    _measure("fit", n_rows, lambda: model.fit(table.X, table.y))
    check_first_round(model, table)
    check_model(model, table)
    raw = _measure("decision_function", n_rows, lambda: model.decision_function(table.X))
    check_scores(model, table, raw)
    print("all right")


def _measure(part: str, n_rows: int, work: Any) -> Any:
    start = time.perf_counter()
    if not PeakMemory.supported:
        result = work()
        print(f"{part}: {time.perf_counter() - start:.2f} s", flush=True)
        return result
    with PeakMemory() as memory:
        result = work()
    print(
        f"{part}: {time.perf_counter() - start:.2f} s, peak {memory.peak / 1e9:.2f} GB, "
        f"{memory.extra / n_rows:.1f} bytes a row beyond the table",
        flush=True,
    )
    return result


if __name__ == "__main__":
    main()
