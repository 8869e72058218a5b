"""The tables that are timed, and how probabilities on held-out rows are judged."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

BLOCK = 65_536  # rows made at a time: making a table needs little more memory than the table
INFORMATIVE = 20  # columns the labels depend on
NOISE = 0.5  # of the log-odds, which no model of the columns can explain


class Problem(NamedTuple):
    """Rows and their labels, 0 or 1."""

    X: NDArray[Any]
    y: NDArray[np.int8]


# Shapes that stumps reach by adding up many of them.
_SHAPES = (
    lambda x: x,
    lambda x: np.sin(2 * x),
    lambda x: np.abs(x) - 0.8,
    lambda x: np.where(x > 0.5, 1.2, -0.5),
    lambda x: 0.5 * (x * x - 1),
)


def _effect(j: int, x: NDArray[np.float32]) -> Any:
    """Return what column j adds to the log-odds."""
    return _SHAPES[j % len(_SHAPES)](x) / (1 + 0.15 * j)


def _disguise(X: NDArray[np.float32]) -> None:
    """Make three columns in four skewed, heavy-tailed and coarse; the order of rows remains."""
    np.exp(X[:, 1::4], out=X[:, 1::4])
    X[:, 2::4] **= 5
    X[:, 3::4] = np.round(2 * X[:, 3::4])


def make_synthetic(
    n_rows: int, n_columns: int, *, mixed: bool = False, test: bool = False, seed: int = 0
) -> Problem:
    """Draw a table of float32 and labels whose log-odds are additive in its columns, plus noise.

    The columns are standard normal; with `mixed` only every fourth is.  `test` draws other rows of
    the same distribution.
    """
    of_columns, of_noise, of_labels = (
        np.random.default_rng([seed, test, stream]) for stream in range(3)
    )
    X = np.empty((n_rows, n_columns), dtype=np.float32)
    y = np.empty(n_rows, dtype=np.int8)
    for start in range(0, n_rows, BLOCK):
        rows = X[start : start + BLOCK]
        of_columns.standard_normal(out=rows, dtype=np.float32)
        log_odds = NOISE * of_noise.standard_normal(len(rows), dtype=np.float32)
        for j in range(min(INFORMATIVE, n_columns)):
            log_odds += _effect(j, rows[:, j])
        y[start : start + BLOCK] = of_labels.random(len(rows)) < expit(log_odds)
        if mixed:
            _disguise(rows)
    return Problem(X, y)


def load_letter(*, test: bool = False) -> Problem:
    """LETTER.p2 of the BoostLR paper: 4,000 rows x 16, and 16,000 held out."""
    from properboost import datasets

    subset = "test" if test else "train"
    X, y = datasets.load_letter("p2", subset=subset, return_X_y=True)
    return Problem(X, y.astype(np.int8))


def load_adult(*, test: bool = False, as_frame: bool = True) -> Problem:
    """ADULT, its categories declared as such or, without `as_frame`, numbers among numbers."""
    from properboost import datasets

    subset = "test" if test else "train"
    X, y = datasets.load_adult(subset=subset, as_frame=as_frame, return_X_y=True)
    return Problem(X, np.asarray(y, dtype=np.int8))


def log_loss(y: NDArray[np.int8], probability: NDArray[np.floating[Any]]) -> float:
    """Mean log loss, where a certain mistake costs -log(1e-15)."""
    p = np.asarray(probability, dtype=np.float64)
    of_label = np.clip(np.where(y == 1, p, 1 - p), 1e-15, None)
    return float(-np.mean(np.log(of_label)))
