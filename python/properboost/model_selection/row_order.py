"""The effect of the order of rows: neighbours may be related, so blocks as folds matter."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.losses.probabilities import Link, log_losses
from properboost.model_selection.cv_splits import are_representative, choose_split, find_splits
from properboost.model_selection.split_rows import SplitRows
from properboost.scoring import HeldOutRows

__all__ = ["OrderEffect", "hold_out_at_random"]

ERRORS = 4.0
"""Standard errors, ..."""

SHARE = 0.1
"""... and the share of the log loss, by which blocks must be worse for a warning."""

BLOCKS = 5
"""Rows that blocks hold out, for each row that is held out at random."""


@dataclass(frozen=True)
class OrderEffect:
    """The log loss on rows held out in blocks, and on a fifth as many held out at random."""

    blocks: float
    mixed: float
    error: float
    """The standard error of their difference, if the order of rows does not matter."""

    @classmethod
    def of(
        cls, blocks: float, held_out: HeldOutRows, link: Link, raw: NDArray[np.float64]
    ) -> "OrderEffect":
        """Return the effect, from raw predictions of the rows held out at random."""
        losses = log_losses(link.probabilities(raw), held_out.codes)
        weight = np.ones(len(losses)) if held_out.weight is None else held_out.weight
        mean = float(np.average(losses, weights=weight))
        variance = float(np.average((losses - mean) ** 2, weights=weight))
        alike = weight.sum() ** 2 / (weight**2).sum()  # rows of equal weight
        return cls(blocks, mean, float(variance * (1.0 + 1.0 / BLOCKS) / alike) ** 0.5)

    @staticmethod
    def may_be_clear(blocks: float, mixed: float) -> bool:
        """Whether blocks are so much worse that the standard error is worth computing."""
        return bool(np.isfinite(blocks - mixed) and blocks - mixed > SHARE * blocks)

    @property
    def is_clear(self) -> bool:
        """Whether blocks are worse by more than chance."""
        beyond_chance = self.blocks - self.mixed > ERRORS * self.error
        return self.may_be_clear(self.blocks, self.mixed) and beyond_chance

    def __str__(self) -> str:
        """Return the warning, with advice."""
        return (
            "neighbouring rows of the table are alike: the log loss of the chosen candidate is "
            f"{self.blocks:.4g} on the blocks of rows that the search holds out, and "
            f"{self.mixed:.4g} on rows drawn at random.  If new rows will be of other persons, "
            "places or times than these, cv=5 keeps the blocks, without this warning; if of the "
            "same, cv=StratifiedKFold(5, shuffle=True) chooses for them"
        )


def hold_out_at_random(blocks: SplitRows, X: Any) -> SplitRows | None:
    """Return the rows for a split drawn at random; None if they are too few for one."""
    rows = blocks.rows
    if not are_representative(rows):
        return None
    (batch,) = find_splits(choose_split(rows, grouped=False), X, rows, None)
    return blocks.for_splits(batch)
