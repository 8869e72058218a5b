"""The papers' data sets as arrays, without pandas."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from properboost.datasets import load_adult, load_letter, load_uci
from properboost.datasets._assemble import assemble, load_rows
from properboost.datasets._uci_records import RECORDS

__all__ = ["TEN_SMALL", "DataSet", "divide", "explain", "find_missing", "hash_table", "load"]


class DataSet(NamedTuple):
    """A data set.

    Attributes
    ----------
    X : float array of shape (n_rows, n_features)
        Missing cells are NaN; a category is its place among all.
    y : int array of shape (n_rows,)
        Codes of the classes; of two the positive one is 1.
    categorical : list of bool
        Which features are categories.
    n_train : int or None
        The number of leading rows for training, of sets that come divided.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    categorical: list[bool]
    n_train: int | None


TEN_SMALL = (
    "sonar",
    "wpbc",
    "wdbc",
    "breast_cancer_wisconsin",
    "heart_cleveland",
    "tic_tac_toe",
    "echocardiogram",
    "haberman",
    "pima",
    "bupa",
)
"""The small sets of the BoostLR paper, in the order of its columns #1 to #10."""

DIVIDED = ("vowel", "satimage", "pendigits")


@lru_cache(maxsize=4)
def load(name: str) -> DataSet:
    """Load a set: one of `load_uci`, "letter" (26 classes), "LETTER.p1", "LETTER.p2" or "ADULT".

    "vowel.context" is vowel with the three features that `load_uci` leaves out.
    """
    parts: list[Any]
    if name == "letter" or name.startswith("LETTER."):
        part: Any = None if name == "letter" else name.removeprefix("LETTER.")
        parts = [load_letter(part, subset=subset) for subset in ("train", "test")]
    elif name == "ADULT":
        parts = [load_adult(subset=subset, as_frame=False) for subset in ("train", "test")]
    elif name == "vowel.context":
        whole = replace(RECORDS["vowel"], dropped={})
        parts = [
            assemble(
                whole, load_rows(whole, subset), dropna=False, return_X_y=False, as_frame=False
            )
            for subset in ("train", "test")
        ]
    elif name in DIVIDED:
        parts = [load_uci(name, subset=subset, as_frame=False) for subset in ("train", "test")]
    else:
        parts = [load_uci(name, as_frame=False)]
    X = np.concatenate([np.asarray(part.data, dtype=float) for part in parts])
    y = np.concatenate([np.asarray(part.target, dtype=np.int64) for part in parts])
    categorical = [feature in parts[0].categories for feature in parts[0].feature_names]
    return DataSet(X, y, categorical, len(parts[0].target) if len(parts) == 2 else None)


def divide(table: DataSet) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows for training and for testing of a set that comes divided."""
    rows = np.arange(len(table.y))
    return rows[: table.n_train], rows[table.n_train :]


@lru_cache
def hash_table(name: str) -> str:
    """Return a checksum of a set's contents."""
    table = load(name)
    digest = hashlib.sha256()
    for array in (table.X, table.y):
        digest.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes())
    digest.update(repr((table.X.shape, table.categorical, table.n_train)).encode())
    return digest.hexdigest()[:16]


def find_missing(names: Iterable[str]) -> dict[str, str]:
    """Return the sets that cannot be loaded, each with the reason in a line."""
    missing = {}
    for name in sorted(names):
        try:
            load(name)
        except (ImportError, OSError, ValueError) as error:
            missing[name] = explain(error)
    return missing


def explain(error: Exception) -> str:
    """Return in one line the reason why a set cannot be loaded."""
    nowhere = "it is neither in the folder named by PROPERBOOST_DATA nor in the cache, and"
    if isinstance(error, FileNotFoundError):
        cause = " ".join(str(error.__cause__ or error).split())
        cause = cause if len(cause) <= 160 else f"{cause[:160]}..."
        return f"{nowhere} the download failed ({cause})"
    if isinstance(error, ImportError):
        return f"{nowhere} a download needs pooch: pip install 'properboost[datasets]'"
    return " ".join(str(error).split())
