"""Rados and their boosting against the same in NumPy.

    python -m benchmarks.engine.rados                            # both, 5 turns: some minutes
    python -m benchmarks.engine.rados --only make --repeats 1
    python -m benchmarks.engine.rados --rows 20000 --rados 2000  # a quick look

*Making*: 10,000 rados of 100,000 x 500 float32.  NumPy's way is a product of matrices by BLAS, for
a block of rows, chosen so that memory stays below 256 MiB.  One matrix has the rows; the other has
float32 ones and zeros, a one for each row that a rado includes, from random bytes by unpackbits.

*Boosting*: 1,000 rounds of Omega-R.AdaBoost over 10,000 rados of 500 features, with the lasso.
NumPy's way computes all edges by one product of a vector and the matrix, in float64, then the score
of every feature and the weights.  Both must choose the same features, with coefficients equal to
1e-9.

Both sides take turns, with the same number of threads; ratios are within a turn.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lib.cli import make_plain_parser
from benchmarks.lib.memory import PeakMemory
from benchmarks.lib.race import print_table, spread
from properboost import RadoBoostClassifier, rado

BLOCK_BYTES = 96 * 2**20  # of the signs and of the rows of a block
OMEGA = 100.0

Floats = NDArray[np.float64]


def make_by_blas(X: NDArray[np.float32], y: NDArray[np.int64], n_rados: int) -> Floats:
    """Return rados of new random signs."""
    random = np.random.default_rng(0)
    rows, columns = X.shape
    block = int(BLOCK_BYTES / (4 * n_rados + 8 * columns)) // 8 * 8
    rados = np.zeros((n_rados, columns))
    part = np.empty((n_rados, columns), dtype=np.float32)
    for begin in range(0, rows, block):
        edges = X[begin : begin + block] * (2 * y[begin : begin + block, None] - 1).astype("f4")
        bits = np.frombuffer(random.bytes(n_rados * block // 8), dtype=np.uint8)
        included = np.unpackbits(bits).reshape(n_rados, block)[:, : len(edges)]
        np.matmul(included.astype(np.float32), edges, out=part)
        rados += part
    return rados


def boost_in_numpy(rados: Floats, omega: float, rounds: int) -> tuple[NDArray[np.int64], Floats]:
    """Return the features of the rounds and the coefficients after the last."""
    n, columns = rados.shape
    largest = np.abs(rados).max(axis=0)
    by_column = np.asfortranarray(rados)
    theta, weight = np.zeros(columns), np.full(n, 1.0 / n)
    features = np.empty(rounds, dtype=np.int64)
    for t in range(rounds):
        edge = np.clip((weight @ rados) / largest, -1.0 + 1e-9, 1.0 - 1e-9)
        step = np.log((1.0 + edge) / (1.0 - edge)) / (2.0 * largest)
        score = np.abs(edge) - omega * (np.abs(theta + step) - np.abs(theta))
        k = features[t] = np.flatnonzero(score >= score.max() - 1e-10)[0]
        theta[k] += step[k]
        weight *= np.exp(-step[k] * by_column[:, k])
        weight /= weight.sum()
    return features, theta


def take_turns(ways: dict[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Return the seconds of each way's turns."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, run in ways.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def report(part: str, seconds: dict[str, list[float]], memory: dict[str, str]) -> None:
    """Print a line for each side."""
    ours, theirs = seconds.values()
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    print(f"\n{part}, median of {len(ours)} turns (min-max)\n")
    lines = [[name, spread(times), memory[name]] for name, times in seconds.items()]
    print_table(["", "seconds", "peak memory beyond input and output, MiB"], lines)
    print(f"properboost is {spread(ratios)} times as fast, median {statistics.median(ratios):.2f}")


def weigh(ways: dict[str, Callable[[], Any]], output: int) -> dict[str, str]:
    """Return each way's peak of memory beyond its input and output; it is a warm-up, too."""
    peaks = {}
    for name, run in ways.items():
        run()
        if not PeakMemory.supported:
            peaks[name] = ""
            continue
        with PeakMemory() as memory:
            result = run()
        peaks[name] = f"{(memory.extra - output) / 2**20:.0f}"
        del result
    return peaks


def main() -> None:
    """Race."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--rados", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=("make", "boost"))
    arguments = parser.parse_args()
    n_rados, rounds = arguments.rados, arguments.rounds
    random = np.random.default_rng(0)
    X = random.normal(size=(arguments.rows, arguments.columns)).astype(np.float32)
    strength = random.normal(size=arguments.columns) / arguments.columns**0.5
    y = (X @ strength.astype(np.float32) + random.normal(size=len(X)) > 0).astype(np.int64)
    threads = os.environ.get("OMP_NUM_THREADS", os.cpu_count())
    print(f"{X.shape[0]:,} x {X.shape[1]} float32, {n_rados:,} rados, {threads} threads")
    if arguments.only != "boost":
        ways: dict[str, Callable[[], Any]] = {
            "properboost": lambda: rado.make_rados(X, y, n_rados).values,
            "NumPy, BLAS": lambda: make_by_blas(X, y, n_rados),
        }
        memory = weigh(ways, 8 * n_rados * X.shape[1])
        report("making", take_turns(ways, arguments.repeats), memory)
    if arguments.only != "make":
        rados = rado.make_rados(X, y, n_rados).values
        model = RadoBoostClassifier("lasso", OMEGA, n_estimators=rounds)
        ways = {
            "properboost": lambda: model.fit_rados(rados),
            "NumPy": lambda: boost_in_numpy(rados, OMEGA, rounds),
        }
        features, theta = boost_in_numpy(rados, OMEGA, rounds)
        history = model.fit_rados(rados).history_
        coefficients = np.zeros_like(theta)
        np.add.at(coefficients, history["feature"], history["step"])
        print(f"\nsame features: {np.array_equal(features, history['feature'])}; coefficients are ")
        difference = np.abs(coefficients - theta).max()
        print(f"apart by {difference:.1e}, and {np.abs(theta).max():.1e} at most;")
        print(f"{len(set(features.tolist()))} features are used")
        report(f"boosting, {rounds} rounds", take_turns(ways, arguments.repeats), weigh(ways, 0))


if __name__ == "__main__":
    main()
