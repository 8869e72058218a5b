"""CV splits, as parts of the rows that each split trains on or holds out."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)

from properboost.data.entries import find_entries
from properboost.data.frames import take_rows
from properboost.data.labels import read_groups
from properboost.data.lending import lend
from properboost.data.sorted_rows import HELD_OUT, LEARNS, Rows
from properboost.parameters import checks
from properboost.parameters.splitters import CV

__all__ = [
    "MOST_PARTS",
    "CVSplit",
    "SplitBatch",
    "are_representative",
    "choose_folds",
    "choose_split",
    "count_rows",
    "find_splits",
]

MOST_PARTS = 64
"""The most parts of one order of the rows: each needs histograms."""


@dataclass(frozen=True, eq=False)
class CVSplit:
    """One split, the number `index`: the rows that it trains on, and those that it holds out."""

    index: int
    role: NDArray[np.int8]
    """The role of each row of `Rows` in the split."""

    def rows(self, role: int) -> NDArray[np.int64]:
        """Return the positions of the rows that have a role, in rising order."""
        return np.flatnonzero(self.role == role)


@dataclass(frozen=True, eq=False)
class SplitBatch:
    """Splits that share an order of the rows.

    Row ``i`` of `Rows` is in part ``part[i]``; in split ``first + s`` that part is ``roles[s,
    part[i]]``.  Rows of one part have the same role in every split of the batch.
    """

    first: int
    part: NDArray[np.uint8]
    roles: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.roles)

    def __iter__(self) -> Iterator[CVSplit]:
        for s, roles in enumerate(self.roles):
            yield CVSplit(self.first + s, find_entries(roles, self.part))

    def only(self, begin: int, end: int) -> "SplitBatch":
        """Return a batch of some of the splits."""
        return SplitBatch(self.first + begin, self.part, self.roles[begin:end])


FOLDS = 5

ENOUGH_ROWS, ENOUGH_OF_CLASS = 2_000, 20
"""Rows times classes, and rows of the rarest class, at which a part of the rows suffices."""


LEAST_HELD_OUT, FOLDS_OF_FEW = 300, 3
"""The fewest held-out rows of a single split, and the folds that replace a smaller one."""


def choose_folds(rows: Rows, *, grouped: bool, in_blocks: bool = False, n_repeats: int = 1) -> CV:
    """Return stratified folds, at most as many as the largest class has rows for.

    They are random, so that every effort sees the same kind of rows, unless they are blocks:
    neighbouring rows stay together there.  `n_repeats` cuts random ones so many times.
    """
    most = int(count_rows(rows).max())
    if most < 2:
        raise ValueError(
            "cv needs a class of at least two rows, one to train on and one to hold out; got "
            f"{len(rows.codes)} rows of {len(rows.classes)} classes"
        )
    n = min(most, FOLDS)
    if grouped:
        return StratifiedGroupKFold(n)
    if n_repeats > 1 and not in_blocks:
        return RepeatedStratifiedKFold(n_splits=n, n_repeats=n_repeats, random_state=0)
    return _cut(n, in_blocks=in_blocks)


def choose_split(rows: Rows, *, grouped: bool, in_blocks: bool = False) -> CV:
    """Return a split that holds out a fifth of the rows at random; folds if that is too few.

    Few held-out rows decide by chance, so all rows are held out in turn.  So are blocks, since one
    block depends on its place.
    """
    if grouped or not are_representative(rows):
        return choose_folds(rows, grouped=grouped, in_blocks=in_blocks)
    held_out = 1.0 / FOLDS
    if in_blocks or held_out * count_rows(rows).sum() < LEAST_HELD_OUT:
        return _cut(FOLDS_OF_FEW, in_blocks=in_blocks)
    return StratifiedShuffleSplit(1, test_size=held_out, random_state=0)


def _cut(n: int, *, in_blocks: bool) -> StratifiedKFold:
    return StratifiedKFold(n) if in_blocks else StratifiedKFold(n, shuffle=True, random_state=0)


def are_representative(rows: Rows) -> bool:
    """Whether a part of the rows, a fifth or two, represents them well enough."""
    counts = count_rows(rows)
    return bool(counts.sum() * len(counts) >= ENOUGH_ROWS and counts.min() >= ENOUGH_OF_CLASS)


def count_rows(rows: Rows) -> NDArray[np.int64]:
    """Return the number of the table's rows of each class that count."""
    codes = rows.of_table.codes
    return np.bincount(codes, minlength=len(rows.classes))[: len(rows.classes)]


def find_splits(cv: CV, X: Any, rows: Rows, groups: ArrayLike | None) -> list[SplitBatch]:
    """Split the rows that count, and gather splits until they would need too many parts.

    A split is a set of rows: the order of a splitter's positions makes no difference.
    """
    batches: list[SplitBatch] = []
    first = 0
    part = np.zeros(len(rows.codes), dtype=np.uint8)
    roles = np.empty((0, 1), dtype=np.int8)
    for row_roles in _split_labels(cv, X, rows, groups):
        finer, finer_roles = _refine(part, roles, row_roles)
        if len(roles) and finer_roles.shape[1] > MOST_PARTS:
            batches.append(SplitBatch(first, part, roles))
            first += len(roles)
            part, roles = np.zeros_like(part), np.empty((0, 1), dtype=np.int8)
            finer, finer_roles = _refine(part, roles, row_roles)
        part, roles = finer, finer_roles
    if first + len(roles) == 0:
        raise ValueError(f"cv must give at least one split; got {cv!r}, which gave none")
    batches.append(SplitBatch(first, part, roles))
    return batches


def _refine(
    part: NDArray[np.uint8], roles: NDArray[np.int8], row_roles: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """Cut each part by the role its rows have in one more split."""
    keys = part * np.uint8(3) + row_roles  # at most MOST_PARTS parts: it fits into a byte
    used = np.flatnonzero(np.bincount(keys))
    number = np.zeros(256, dtype=np.uint8)
    number[used] = np.arange(len(used), dtype=np.uint8)
    return find_entries(number, keys), np.vstack([roles[:, used // 3], used % 3]).astype(np.int8)


def _split_labels(
    cv: CV, X: Any, rows: Rows, groups: ArrayLike | None
) -> Iterator[NDArray[np.uint8]]:
    """Yield the role of every row in each split; all labels of a row of the table have its role."""
    for k, roles in enumerate(_split(cv, X, rows.of_table, groups)):
        row_roles = roles if rows.row_of is None else roles[rows.row_of]
        _check_roles(row_roles, rows, k)
        yield row_roles


def _split(cv: CV, X: Any, rows: Rows, groups: ArrayLike | None) -> Iterator[NDArray[np.uint8]]:
    """Yield the role of every row of the table in each split."""
    counts = rows.codes < len(rows.classes)
    group_of = read_groups(groups, len(rows.codes))
    # Splitters see only rows with positive weight; explicit index arrays refer to all rows of X.
    ready = not (cv is None or isinstance(cv, int | np.integer) or hasattr(cv, "split"))
    used = np.arange(len(rows.codes)) if ready else np.flatnonzero(counts)
    labels = find_entries(rows.classes, np.minimum(rows.codes[used], len(rows.classes) - 1))
    if len(used) < len(rows.codes):
        X = take_rows(X, used)
        group_of = None if group_of is None else group_of[used]
    if isinstance(cv, int | np.integer):
        folds = partial(checks.integer, low=2)
        checks.or_else(folds, "a splitter or an iterable of splits")("cv", cv)
        most = int(np.unique(labels, return_counts=True)[1].max())
        if cv > most:
            raise ValueError(f"cv must be at most {most}, the rows of the largest class; got {cv}")
    splitter = check_cv(cv, labels, classifier=True)
    splits = splitter.split(lend(X), lend(labels), lend(group_of))
    for k, (train, test) in enumerate(splits):
        roles = np.zeros(len(rows.codes), dtype=np.uint8)
        for name, role, indices in (("training", LEARNS, train), ("test", HELD_OUT, test)):
            positions = used[
                _read_positions(indices, len(used), f"cv: the {name} rows of split {k}")
            ]
            if np.any(roles[positions]):
                raise ValueError(f"cv: split {k} has rows both in training and in the test")
            roles[positions] = role
        roles[~counts] = 0  # rows of weight 0 have no role
        yield roles


def _read_positions(indices: ArrayLike, n_rows: int, what: str) -> NDArray[np.int64]:
    positions = np.asarray(indices)
    if positions.dtype == bool and positions.shape == (n_rows,):
        positions = np.flatnonzero(positions)
    if positions.ndim != 1 or (len(positions) and positions.dtype.kind not in "iu"):
        raise ValueError(f"{what} must be a list of positions; got {indices!r}")
    positions = positions.astype(np.int64)
    if len(positions) and (positions.min() < 0 or positions.max() >= n_rows):
        wrong = positions[(positions < 0) | (positions >= n_rows)][0]
        raise ValueError(f"{what} must be positions from 0 to {n_rows - 1}; got {wrong}")
    if len(positions) and np.bincount(positions).max() > 1:
        twice = np.bincount(positions).argmax()
        raise ValueError(f"{what} must all be different; got {twice} twice")
    return positions


def _check_roles(roles: NDArray[np.uint8], rows: Rows, k: int) -> None:
    counts = np.bincount(rows.codes[roles == LEARNS], minlength=len(rows.classes))
    if np.count_nonzero(counts) < 2:
        known = rows.classes[counts > 0].tolist()
        raise ValueError(
            f"cv: split {k} must train on rows of at least two classes; its training rows are of "
            f"{f'class {known[0]!r} only' if known else 'no class'}: use fewer or stratified splits"
        )
    if not np.any(roles == HELD_OUT):
        raise ValueError(f"cv: split {k} has no test row of positive weight")
