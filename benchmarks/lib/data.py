"""The tables that are timed, and the score of probabilities on held-out rows."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

BLOCK = 65_536  # rows made at a time: making a table needs little more memory than the table
INFORMATIVE = 20  # columns the labels depend on
NOISE = 0.5  # of the log-odds, which no model of the columns can explain


class Problem(NamedTuple):
    """Rows and their labels, 0 or 1."""

    X: Any
    y: NDArray[np.int8]

    def rows(self, which: slice | NDArray[np.intp]) -> "Problem":
        """Return some of the rows."""
        return Problem(self.X.iloc[which] if hasattr(self.X, "iloc") else self.X[which],
                       self.y[which])  # fmt: skip


# Shapes that stumps reach by adding up many of them.
_SHAPES = (
    lambda x: x,
    lambda x: np.sin(2 * x),
    lambda x: np.abs(x) - 0.8,
    lambda x: np.where(x > 0.5, 1.2, -0.5),
    lambda x: 0.5 * (x * x - 1),
)

# They change normal columns in place.  The order of the rows remains (but for ties).
_DISGUISES: dict[str, Callable[[NDArray[Any]], Any]] = {
    "skewed": lambda x: np.exp(x, out=x),
    "heavy-tailed": lambda x: np.power(x, 5, out=x),
    "integers": lambda x: np.rint(np.multiply(x, 2, out=x), out=x),
}

KINDS = ("gaussian", *_DISGUISES, "mixed")  # of columns


def _effect(j: int, x: NDArray[Any]) -> Any:
    """Return the summand of column j in the log-odds."""
    return _SHAPES[j % len(_SHAPES)](x) / (1 + 0.15 * j)


def _disguise(X: NDArray[Any], kind: str) -> None:
    if kind == "mixed":  # three columns in four, each in another way
        for j, disguise in enumerate(_DISGUISES.values(), start=1):
            disguise(X[:, j::4])
    elif kind != "gaussian":
        _DISGUISES[kind](X)


def make_synthetic(
    n_rows: int,
    n_columns: int,
    *,
    kind: str = "gaussian",
    dtype: Any = np.float32,
    test: bool = False,
    seed: int = 0,
) -> Problem:
    """Draw a table and labels whose log-odds are additive in its columns, plus noise.

    The columns are standard normal; those of another of `KINDS` are made from such.  `test` draws
    other rows of the same distribution.
    """
    of_columns, of_noise, of_labels = (
        np.random.default_rng([seed, test, stream]) for stream in range(3)
    )
    X = np.empty((n_rows, n_columns), dtype=dtype)
    y = np.empty(n_rows, dtype=np.int8)
    for start in range(0, n_rows, BLOCK):
        rows = X[start : start + BLOCK]
        of_columns.standard_normal(out=rows, dtype=dtype)
        log_odds = NOISE * of_noise.standard_normal(len(rows), dtype=np.float32)
        for j in range(min(INFORMATIVE, n_columns)):
            log_odds += _effect(j, rows[:, j])
        y[start : start + BLOCK] = of_labels.random(len(rows)) < expit(log_odds)
        _disguise(rows, kind)
    return Problem(X, y)


def make_classes(
    n_rows: int, n_columns: int, n_classes: int, *, test: bool = False, seed: int = 0
) -> Problem:
    """Draw a table and as many classes, labels from 0, whose scores are additive, plus noise.

    The columns are standard normal; each class weighs the effects of the first ones in its own way.
    """
    of_weights = np.random.default_rng([seed, n_classes])
    of_columns, of_noise = (np.random.default_rng([seed, test, stream]) for stream in range(2))
    weights = of_weights.standard_normal((min(INFORMATIVE, n_columns), n_classes))
    X = of_columns.standard_normal((n_rows, n_columns), dtype=np.float32)
    scores = of_noise.gumbel(size=(n_rows, n_classes))  # so that probabilities are the softmax
    for j, of_column in enumerate(weights):
        scores += _effect(j, X[:, j])[:, None] * of_column
    return Problem(X, scores.argmax(axis=1).astype(np.int8))


def load_letters(*, test: bool = False) -> Problem:
    """Load LETTER with its 26 classes: 16,000 rows x 16, and 4,000 held out."""
    from properboost import datasets

    X, y = datasets.load_letter(return_X_y=True)
    which = slice(16_000, None) if test else slice(16_000)
    return Problem(X, np.unique(y, return_inverse=True)[1].astype(np.int8)).rows(which)


def load_letter(*, test: bool = False) -> Problem:
    """Load LETTER.p2 of the BoostLR paper: 4,000 rows x 16, and 16,000 held out."""
    from properboost import datasets

    subset = "test" if test else "train"
    X, y = datasets.load_letter("p2", subset=subset, return_X_y=True)
    return Problem(X, y.astype(np.int8))


def load_adult(*, test: bool = False, as_frame: bool = True) -> Problem:
    """Load ADULT; its categories are declared, or, without `as_frame`, plain numbers."""
    from properboost import datasets

    subset = "test" if test else "train"
    X, y = datasets.load_adult(subset=subset, as_frame=as_frame, return_X_y=True)
    return Problem(X, np.asarray(y, dtype=np.int8))


def load(data: str, n_rows: int | None, n_columns: int, *, test: bool = False) -> Problem:
    """Load the table of that name: one of `KINDS`, or the first `n_rows` of a real one."""
    if data in KINDS:
        return make_synthetic(n_rows or 1_000_000, n_columns, kind=data, test=test)
    if data == "letter":
        problem = load_letter(test=test)
    else:
        problem = load_adult(test=test, as_frame=data == "adult")
    return problem.rows(slice(n_rows))


@lru_cache(maxsize=1)
def load_once(data: str, n_rows: int | None, n_columns: int) -> Problem:
    """Load the training rows once in this process."""
    return load(data, n_rows, n_columns)


def log_loss(y: NDArray[np.int8], probability: NDArray[np.floating[Any]]) -> float:
    """Return the mean log loss, where a certain mistake costs -log(1e-15)."""
    p = np.asarray(probability, dtype=np.float64)
    of_label = np.clip(np.where(y == 1, p, 1 - p), 1e-15, None)
    return float(-np.mean(np.log(of_label)))
