"""The effect of the order of rows: neighbours may be alike, so blocks as folds matter."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from properboost.data.sorted_rows import Rows
from properboost.losses.probabilities import Link, log_losses
from properboost.model_selection.cv_splits import are_representative, find_splits
from properboost.model_selection.split_rows import SplitRows
from properboost.scoring import HeldOutRows

__all__ = ["ROUNDS", "OrderEffect", "hold_out_both_ways"]

ROUNDS = 30
"""The rounds after which neighbours show: more would sharpen this, and cost time."""

ERRORS = 4.0
"""Standard errors, ..."""

SHARE = 0.1
"""... and the share of the log loss, by which blocks must be worse for a warning."""

GIVEN_AWAY = 3.0
"""How many times worse blocks must be for the folds to be blocks.

Then random rows have neighbours that give their labels away, which new rows may lack.
"""

CUTS, HELD_OUT = 5, (0, 4)
"""The blocks of rows, and those that are held out: with one border each, few persons are cut."""

AT_RANDOM = 3
"""The rows of the other blocks for each that is held out at random."""


@dataclass(frozen=True)
class OrderEffect:
    """The log loss of a model on blocks of rows that it lacks, and on rows drawn from its own."""

    blocks: float
    mixed: float
    error: float
    """The standard error of their difference, if the order of rows does not matter."""

    @classmethod
    def of(
        cls, held_out: Sequence[HeldOutRows], raws: Sequence[NDArray[np.float64]], link: Link
    ) -> "OrderEffect":
        """Return the effect, from raw predictions of the blocks and of the rows drawn."""
        means, variances = [], []
        for rows, raw in zip(held_out, raws, strict=True):
            losses = log_losses(link.probabilities(raw), rows.codes)
            weight = np.ones(len(losses)) if rows.weight is None else rows.weight
            means.append(float(np.average(losses, weights=weight)))
            alike = weight.sum() ** 2 / (weight**2).sum()  # rows of equal weight
            variance = np.average((losses - means[-1]) ** 2, weights=weight)
            variances.append(float(variance / alike))
        return cls(means[0], means[1], sum(variances) ** 0.5)

    @property
    def is_clear(self) -> bool:
        """Whether blocks are worse by more than chance, and enough to matter."""
        worse = self.blocks - self.mixed
        return bool(np.isfinite(worse) and worse > max(ERRORS * self.error, SHARE * self.blocks))

    @property
    def needs_blocks(self) -> bool:
        """Whether random rows are too easy beside rows without neighbours."""
        return self.is_clear and self.blocks > GIVEN_AWAY * self.mixed

    def __str__(self) -> str:
        """Return the warning, with advice."""
        same, other = "of the same persons, places or times", "of others"
        taken, if_not, advice = ("random folds", other, "cv=5")
        if self.needs_blocks:
            taken, if_not, advice = ("blocks", same, "cv=StratifiedKFold(5, shuffle=True)")
        return (
            "neighbouring rows of the table are alike: the log loss of a small model is "
            f"{self.blocks:.4g} on blocks of rows that it lacks, and {self.mixed:.4g} on rows "
            f"drawn from its own.  The search chooses on {taken}; if new rows will be {if_not}, "
            f"{advice} chooses for them"
        )


def hold_out_both_ways(arranged: SplitRows, X: Any) -> SplitRows | None:
    """Return rows for two splits with the same training rows; None if they are too few.

    The first holds out blocks of neighbouring rows, the second rows drawn from the other blocks.
    """
    rows = arranged.rows
    if not are_representative(rows):
        return None
    (batch,) = find_splits([*_split_both_ways(rows)], X, rows, None)
    return arranged.for_splits(batch)


def _split_both_ways(rows: Rows) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    codes = rows.of_table.codes
    used = np.flatnonzero(codes < len(rows.classes))
    folds = [test for _, test in StratifiedKFold(CUTS).split(used, codes[used])]
    blocks = used[np.concatenate([folds[k] for k in HELD_OUT])]
    others = np.setdiff1d(used, blocks)
    drawing = StratifiedKFold(AT_RANDOM, shuffle=True, random_state=0)
    train, drawn = next(drawing.split(others, codes[others]))
    yield others[train], blocks
    yield others[train], others[drawn]
