"""Random tables, labels and sample weights: ordinary and hostile ones."""

import importlib.util
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fuzz.cases import FRAMES, LAYOUTS, STRANGE, Column

__all__ = ["draw_frame", "draw_labels", "draw_size", "draw_table", "draw_weights"]

Values: TypeAlias = NDArray[Any]

NUMBERS = [
    "float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32",
    "uint16", "uint8", "bool",
]  # fmt: skip


def draw_size(rng: Generator) -> tuple[int, int]:
    """Return numbers of rows and columns; sometimes threads share the rows."""
    n = int(
        rng.choice(
            [rng.integers(2, 12), rng.integers(12, 80), rng.integers(80, 600),
             rng.integers(600, 4000), rng.integers(20_000, 60_000)],
            p=[0.25, 0.4, 0.25, 0.08, 0.02],
        )
    )  # fmt: skip
    widest = 4 if n > 4000 else 12
    d = int(
        rng.choice([1, rng.integers(1, 5), rng.integers(1, widest), 60], p=[0.1, 0.5, 0.37, 0.03])
    )
    return n, d if n < 4000 else min(d, 5)


# -- columns --------------------------------------------------------------------------------------


def _normal(rng: Generator, n: int) -> Values:
    return rng.normal(size=n)


def _few(rng: Generator, n: int) -> Values:
    return rng.integers(0, rng.integers(1, 12), n).astype(float)


def _constant(rng: Generator, n: int) -> Values:
    return np.full(n, rng.choice([0.0, -0.0, 1.0, 1e300, np.nan, np.inf]))


def _one_apart(rng: Generator, n: int) -> Values:
    values = np.zeros(n)
    values[rng.integers(n)] = 1.0
    return values


def _extremes(rng: Generator, n: int) -> Values:
    ends = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e-300, 1.0, 3.4e38, 3.5e38, -1e39, 1e300,
            1.7976931348623157e308, -1.7976931348623157e308]  # fmt: skip
    return rng.choice(ends, n)


def _infinite(rng: Generator, n: int) -> Values:
    return rng.choice([np.inf, -np.inf, np.nan, 0.0, 1.0], n)


def _neighbours(rng: Generator, n: int) -> Values:
    """Draw neighbouring values, in single or double precision."""
    steps = rng.integers(0, 300, n)
    if rng.random() < 0.5:
        return (np.float32(0.1).view(np.int32) + steps.astype(np.int32)).view(np.float32)
    return (np.float64(0.1).view(np.int64) + steps).view(np.float64)


def _heavy_tails(rng: Generator, n: int) -> Values:
    with np.errstate(over="ignore"):
        return rng.standard_cauchy(n) ** 3


def _distinct(rng: Generator, n: int) -> Values:
    return rng.permutation(n).astype(float)


SHAPES: list[Callable[[Generator, int], Values]] = [
    _normal, _normal, _few, _few, _constant, _one_apart, _extremes, _infinite, _neighbours,
    _heavy_tails, _distinct,
]  # fmt: skip


def _draw_numbers(rng: Generator, n: int, dtype: str) -> Values:
    values = SHAPES[rng.integers(len(SHAPES))](rng, n).astype(float)
    if rng.random() < 0.25:
        values[rng.random(n) < rng.choice([0.05, 0.3, 0.9])] = np.nan
    kind = np.dtype(dtype)
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            return values.astype(kind)
    if kind.kind == "b":
        return np.nan_to_num(values) > 0
    ends = np.iinfo(kind)
    if rng.random() < 0.2:
        return rng.integers(ends.min, ends.max, n, dtype=kind, endpoint=True)
    low, high = max(ends.min, -(2**40)), min(ends.max, 2**40)
    return np.round(np.clip(np.nan_to_num(values), low / 4, high / 4) * 4).astype(kind)


def _draw_texts(rng: Generator, n: int) -> Values:
    levels = [f"{'é' if k % 7 == 3 else 'c'}{k}" for k in range(rng.choice([1, 2, 3, 8, 300]))]
    values = np.array([levels[k] for k in rng.integers(0, len(levels), n)], dtype=object)
    if rng.random() < 0.4:
        values[rng.random(n) < 0.2] = None
    return values


def draw_table(rng: Generator, n: int, d: int, frame: str | None) -> tuple[list[Column], str]:
    """Return the columns, and the layout where they are an array."""
    if frame is not None:
        columns = [_draw_column(rng, n, frame) for _ in range(d)]
        return _repeat(rng, columns), "X"
    layout = str(rng.choice(list(STRANGE if rng.random() < 0.03 else LAYOUTS)))
    dtype = str(rng.choice(NUMBERS, p=[0.4, 0.2] + [0.04] * 10))
    columns = [Column(_draw_numbers(rng, n, dtype)) for _ in range(d)]
    return _repeat(rng, columns), layout


def _repeat(rng: Generator, columns: list[Column]) -> list[Column]:
    """Make one column a copy of another, now and then."""
    if len(columns) > 1 and rng.random() < 0.15:
        columns[-1] = columns[0]
    return columns


def draw_frame(rng: Generator) -> str | None:
    """Return an installed table library, or None for an array."""
    known = [name for name in FRAMES if importlib.util.find_spec(name)]
    return str(rng.choice(known)) if known and rng.random() < 0.3 else None


WRAPS = {
    "pandas": {
        "O": ["pd.Categorical(c)", "pd.Categorical(c)", "pd.Categorical(c, ordered=True)",
              "pd.Series(c).astype('string').astype('category')", "c"],
        "f": ["c", "c", "pd.array(c, dtype='Float64')", "pd.arrays.SparseArray(c)",
              "pd.Categorical(c)"],
        "i": ["c", "pd.array(c, dtype='Int64')", "pd.Categorical(c)", "pd.arrays.SparseArray(c)"],
        "b": ["c", "pd.array(c, dtype='boolean')", "pd.Categorical(c)"],
    },
    "polars": {
        "O": ["pl.Series(c.tolist(), dtype=pl.Categorical)",
              "pl.Series(c.tolist()).cast(pl.Enum(sorted({v for v in c if v is not None})))",
              "pl.Series(c.tolist(), dtype=pl.String)"],
        "f": ["pl.Series(c)", "pl.Series(c, nan_to_null=True)", "pl.Series(c).cast(pl.Float32)"],
        "i": ["pl.Series(c)", "pl.Series(c).cast(pl.Float64)"],
        "b": ["pl.Series(c)"],
    },
    "pyarrow": {
        "O": [
            "pa.array(c.tolist(), pa.string()).dictionary_encode()",
            "pa.chunked_array([c[:1].tolist(), c[1:].tolist()], pa.string()).dictionary_encode()",
            "pa.array(c.tolist(), pa.string())",
        ],
        "f": ["pa.array(c)", "pa.array(c, from_pandas=True)", "pa.chunked_array([c[:1], c[1:]])"],
        "i": ["pa.array(c)", "pa.array(c).cast(pa.float64(), safe=False)"],
        "b": ["pa.array(c)"],
    },
}  # fmt: skip
"""Expressions that make columns of each library of texts, floats, integers and truth values."""


def _draw_column(rng: Generator, n: int, frame: str) -> Column:
    if rng.random() < 0.3:
        values = _draw_texts(rng, n)
    else:
        values = _draw_numbers(rng, n, str(rng.choice(NUMBERS, p=[0.5, 0.1] + [0.04] * 10)))
    kinds = WRAPS[frame][{"u": "i"}.get(values.dtype.kind, values.dtype.kind)]
    wrap = kinds[rng.integers(len(kinds))]
    if values.dtype == np.float16:  # some versions of the libraries lack it
        values = values.astype(np.float32)
    return Column(values, wrap)


# -- labels and weights ---------------------------------------------------------------------------


def draw_labels(rng: Generator, columns: list[Column], n: int, binary: bool) -> Values:
    """Return labels: of 2 to 12 classes, now and then of one; learnable, random or imbalanced."""
    k = int(rng.choice([2, 3, rng.integers(3, 13), 1], p=[0.72, 0.14, 0.12, 0.02]))
    if binary and rng.random() < 0.95:
        k = 2
    score = rng.normal(size=n)
    for column in columns[:3] if rng.random() < 0.8 else ():
        values = column.values
        if values.dtype.kind in "fiub":
            with np.errstate(all="ignore"):
                ranks = np.unique(np.nan_to_num(values.astype(float)), return_inverse=True)[1]
            score += rng.choice([0.5, 2.0, 50.0]) * ranks / max(ranks.max(), 1)
    shares = rng.dirichlet(np.full(k, rng.choice([0.3, 5.0])))
    codes = np.searchsorted(np.quantile(score, np.cumsum(shares)[:-1]), score)
    if rng.random() < 0.9:  # each class has a row
        rows = rng.permutation(n)[:k]
        codes[rows] = np.arange(len(rows))
    return _LABELS[rng.integers(len(_LABELS))](codes)


_LABELS: list[Callable[[Values], Values]] = [
    lambda codes: codes.astype(np.int64),
    lambda codes: codes.astype(np.int64),
    lambda codes: np.array([f"class {k}" for k in codes]),
    lambda codes: np.array([f"k{k}" for k in codes], dtype=object),
    lambda codes: codes.astype(np.int8) - np.int8(1),
    lambda codes: codes.astype(np.uint64) + np.uint64(2**63),
    lambda codes: codes.astype(float),
    lambda codes: codes > 0,
]


def draw_weights(rng: Generator, n: int) -> NDArray[np.float64] | None:
    """Return sample weights: none, whole, uniform of any size, very unequal, or of the sum 1."""
    return _WEIGHTS[rng.integers(len(_WEIGHTS))](rng, n)


def _sparse(rng: Generator, n: int) -> NDArray[np.float64]:
    return np.where(rng.random(n) < 0.5, 0.0, rng.exponential(size=n))


_WEIGHTS: list[Callable[[Generator, int], NDArray[np.float64] | None]] = [
    lambda rng, n: None,
    lambda rng, n: None,
    lambda rng, n: None,
    lambda rng, n: None,
    lambda rng, n: None,
    lambda rng, n: rng.integers(0, 4, n).astype(float),
    lambda rng, n: rng.integers(1, 4, n).astype(float),
    lambda rng, n: rng.exponential(size=n),
    _sparse,
    lambda rng, n: np.full(n, 1.0 / n),
    lambda rng, n: np.full(n, 10.0 ** rng.uniform(-6, 6)),
    lambda rng, n: np.full(n, 10.0 ** rng.uniform(-300, 300)),
    lambda rng, n: 10.0 ** rng.uniform(-8, 8, n),
    lambda rng, n: rng.choice([0.0, 5e-324, 1e-300, 1.0, 1e300], n),
    lambda rng, n: np.where(np.arange(n) == 0, float(rng.random() < 0.5), 0.0),
]
