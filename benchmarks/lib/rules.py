"""Made-up problems without noise, as people have them: games, rules, trees, and scorecards.

A problem is a function from a generator of random numbers and a number of rows to a table and its
labels, which follow from the table without chance.  `make_rules` flips a share of the labels.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.lib.sets import Split

TEST_ROWS = 5_000

Labels = NDArray[np.bool_]


def _as_categories(codes: NDArray[np.int64]) -> pd.DataFrame:
    """Return a table of categories that are named by letters."""
    names = np.array(list("abcdefghijklmnop"))
    table = pd.DataFrame(names[codes], columns=[f"x{j}" for j in range(codes.shape[1])])
    return table.astype("category")


def _as_numbers(values: NDArray[np.float64]) -> pd.DataFrame:
    """Return a table of numbers."""
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])])


def three_in_a_row(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return boards of four by four squares, and whether the first player has a row of three."""
    codes = rng.choice(3, p=[0.25, 0.45, 0.30], size=(n_rows, 16))
    board = codes.reshape(-1, 4, 4) == 1
    wins = np.zeros(n_rows, dtype=bool)
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        for row in range(4 - 2 * down):
            for column in range(4) if right == 0 else range(2) if right > 0 else range(2, 4):
                line = [board[:, row + i * down, column + i * right] for i in range(3)]
                wins |= np.logical_and.reduce(line)
    return _as_categories(codes), wins


def corners(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return boards of nine squares, and whether one of five pairs of squares has one owner."""
    codes = rng.integers(3, size=(n_rows, 9))
    pairs = ((0, 8), (2, 6), (1, 7), (3, 5), (0, 4))
    is_owned = [(codes[:, a] == codes[:, b]) & (codes[:, a] > 0) for a, b in pairs]
    return _as_categories(codes), np.logical_or.reduce(is_owned)


def equal_or_first(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return six categories; the class is true if two are equal, or a third is its first value."""
    codes = np.column_stack([rng.integers(k, size=n_rows) for k in (3, 3, 2, 3, 4, 2)])
    return _as_categories(codes), (codes[:, 0] == codes[:, 1]) | (codes[:, 4] == 0)


def not_this_and_that(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return six categories; the class is true by two conjunctions, one with a negation."""
    codes = np.column_stack([rng.integers(k, size=n_rows) for k in (3, 3, 2, 3, 4, 2)])
    first = (codes[:, 4] == 2) & (codes[:, 3] == 0)
    return _as_categories(codes), first | ((codes[:, 4] != 3) & (codes[:, 1] != 2))


def parity(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return ten flags; the class is true if exactly one of two is set."""
    codes = rng.integers(2, size=(n_rows, 10))
    return _as_categories(codes), (codes[:, 2] ^ codes[:, 7]).astype(bool)


def at_least_two(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return twelve flags; the class is true if at least two of the first five are set."""
    codes = (rng.random((n_rows, 12)) < 0.35).astype(np.int64)
    return _as_categories(codes), codes[:, :5].sum(axis=1) >= 2


def nested_conditions(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return eight numbers, and nested conditions on five of them."""
    x = rng.normal(size=(n_rows, 8))
    inner = np.where(x[:, 1] > 0.5, x[:, 2] > -0.3, x[:, 3] < 0.8)
    return _as_numbers(x), np.where(x[:, 0] > 0.2, inner, x[:, 4] > 1.0).astype(bool)


def box(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return six numbers; the class is true inside a box of three of them, or beyond a limit."""
    x = rng.uniform(size=(n_rows, 6))
    inside = (x[:, :3] > 0.1).all(axis=1) & (x[:, :3] < 0.85).all(axis=1)
    return _as_numbers(x), inside | (x[:, 4] > 0.9)


def hidden_tree(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return six numbers and four categories, and the class of a random tree of five levels."""
    numbers, codes = rng.normal(size=(n_rows, 6)), rng.integers(4, size=(n_rows, 4))
    of_tree = np.random.default_rng(7)
    leaf = np.zeros(n_rows, dtype=np.int64)
    for level in range(5):
        goes_right = np.zeros(n_rows, dtype=bool)
        for node in range(2**level):
            rows = leaf == node
            feature = of_tree.integers(10)
            if feature < 6:
                goes_right[rows] = numbers[rows, feature] > of_tree.normal(scale=0.6)
            else:
                goes_right[rows] = np.isin(codes[rows, feature - 6], of_tree.permutation(4)[:2])
        leaf = 2 * leaf + goes_right
    classes = of_tree.random(32) < 0.45
    return _as_numbers(numbers).join(_as_categories(codes).add_prefix("c")), classes[leaf]


def scorecard(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return ten categories whose points add up; the class is true above a threshold."""
    codes = rng.integers(4, size=(n_rows, 10))
    points = np.random.default_rng(11).integers(-3, 4, size=(10, 4))
    score = points[np.arange(10), codes].sum(axis=1)
    return _as_categories(codes), score > 0


def line(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return eight numbers; the class is true where a weighted sum of five is positive."""
    x = rng.normal(size=(n_rows, 8))
    return _as_numbers(x), x[:, :5] @ np.array([1.0, -0.8, 0.6, 0.5, -0.3]) > 0.0


def close_numbers(rng: Generator, n_rows: int) -> tuple[pd.DataFrame, Labels]:
    """Return eight numbers; the class is true where two of them are closer than a limit."""
    x = rng.normal(size=(n_rows, 8))
    close = [np.abs(x[:, a] - x[:, b]) < 0.25 for a, b in combinations(range(3), 2)]
    return _as_numbers(x), np.logical_or.reduce(close)


RULES: dict[str, Callable[[Generator, int], tuple[pd.DataFrame, Labels]]] = {
    rule.__name__: rule
    for rule in (
        three_in_a_row, corners, equal_or_first, not_this_and_that, parity, at_least_two,
        nested_conditions, box, hidden_tree, scorecard, line, close_numbers,
    )
}  # fmt: skip


def make_rules(name: str, n_rows: int, flipped: float, seed: int) -> Split:
    """Return rows of a problem, with this share of their labels flipped, and test rows likewise."""
    rng = np.random.default_rng([seed, n_rows])
    X, y = RULES[name](rng, n_rows + TEST_ROWS)
    labels = (y ^ (rng.random(len(y)) < flipped)).astype(np.int64)
    train, test = slice(n_rows), slice(n_rows, None)
    return Split(X[train], labels[train], X[test], labels[test])
