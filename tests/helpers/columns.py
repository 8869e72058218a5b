"""Columns of every type, size and layout in memory, and the codes of their values."""

import numpy as np

DTYPES = [
    np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64, bool,
]  # fmt: skip


def count_below(x, edges):
    """Return the number of edges below each value; the code after the last is missing."""
    x = to(np.float64, x)
    below = (np.asarray(edges, dtype=np.float64)[:, None] < x).sum(axis=0)
    return np.where(np.isnan(x), len(edges) + 1, below)


def to(dtype, x):
    with np.errstate(over="ignore", invalid="ignore"):  # infinity, and signalling NaN, are meant
        return np.asarray(x).astype(dtype)


ROWS = [0, 1, 2, 127, 128, 129, 255, 256, 257]
COLUMNS = [1, 2, 3, 4, 5, 31, 32, 33, 64, 70]
LAYOUTS = {
    "row-major": np.ascontiguousarray,
    "column-major": np.asfortranarray,
    "a part of a wider table": lambda x: np.ascontiguousarray(np.hstack([x, x]))[:, : x.shape[1]],
    "every third row, every second column": lambda x: np.repeat(np.repeat(x, 3, 0), 2, 1)[::3, ::2],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "columns": lambda x: [c.copy() for c in x.T],
    "columns of a table": lambda x: list(np.ascontiguousarray(x).T),
    "columns of a table, backwards": lambda x: list(np.ascontiguousarray(x[:, ::-1]).T)[::-1],
}


def draw_numbers(dtype, shape, rng):
    """Draw values from all over the type's range."""
    if dtype is bool:
        return rng.random(shape) < 0.5
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        few = rng.integers(max(limits.min, -20), 20, shape)
        wide = rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.5, few.astype(dtype), wide)
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-2, 3, shape)
    return np.where(rng.random(shape) < 0.1, np.nan, np.round(x, 1)).astype(dtype)


def draw_edges(x, rng):
    """Draw some of a column's values, and values between."""
    x = np.asarray(x).astype(np.float64)
    edges = rng.choice(x[~np.isnan(x)], rng.integers(0, 40))
    return np.unique(edges + rng.choice([0.0, 0.5], len(edges)))
