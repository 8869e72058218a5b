"""The number of rounds where a user sets none: boosting goes on while it beats chance.

Tables that are fitted to random labels lower the deviance of the training rows by all their degrees
of freedom, on average (Wilks 1938), in any number of rounds.  So a block of rounds that lowers it
by a large share of that has found more than noise, and another block follows.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.losses.probabilities import Link
from properboost.models.ensemble import Rounds

__all__ = ["Blocks"]

BLOCK = 50
"""The number of estimators of a block."""

SHARE = 0.25
"""The share of the degrees of freedom by which a block must lower the deviance."""

LEAST = 1e-3
"""The share of itself by which a block must lower the deviance, too.

With many rows a smaller decrease may still beat chance.
"""


class BoostedModels(Protocol):
    """The part of `engine.protocols.Booster` that blocks need."""

    @property
    def n_estimators(self) -> NDArray[np.int64]:
        """The number of estimators of each model."""

    @property
    def code_counts(self) -> NDArray[np.int64]:
        """The number of rows of each code, features side by side."""

    def rounds(self, model: int, *, first: int = 0) -> Rounds:
        """Return the rounds of a model from this one on."""


@dataclass(frozen=True)
class Blocks:
    """The blocks of estimators by which models are boosted together.

    `n_estimators` has the number of every model, and the most of one.  The first `before` are an
    earlier fit's, whose rounds of each model are `earlier`.  `tables` is the number of tables of an
    estimator, and `weight` the weight of a model's rows.
    """

    n_estimators: tuple[int, int]
    before: int
    earlier: Sequence[Rounds]
    tables: int
    link: Link
    n_features: int
    n_classes: int
    weight: float

    def of(self, booster: BoostedModels) -> Iterator[tuple[int, NDArray[np.int64] | None]]:
        """Yield the number of estimators of each block and the models that advance; None is all.

        The caller advances them before it takes the next block.
        """
        done, most = self.n_estimators
        while done < self.before:  # blocks end where those of one long fit do
            done += BLOCK
        yield done - self.before, None
        while done < most:
            left = self.find_unfinished(booster, done)
            if not len(left):
                return
            yield min(BLOCK, most - done), left
            done += BLOCK

    def find_unfinished(self, booster: BoostedModels, done: int) -> NDArray[np.int64]:
        """Return the models whose last block lowered the deviance by more than chance does.

        A joint model is finished when all its classes are.
        """
        first = (done - BLOCK) * self.tables - 1
        counts = np.asarray(booster.n_estimators)
        freedom = np.count_nonzero(np.asarray(booster.code_counts)) - self.n_features
        loss, size = self.link.loss, 1
        at_zero = float(loss.loss(0.0))
        if self.link.joint_loss:
            size = self.n_classes
            joint = _core.JointLoss(self.link.joint_loss, loss.native)
            at_zero = loss.gain * float(joint.losses(np.zeros((1, size)), 0)[0])
            freedom *= size - 1
        scale = 2.0 * self.weight * math.log(max(size, 2))
        left: list[int] = []
        for model in range(0, len(counts), size):
            if counts[model] < done:
                continue
            risk = self._find_risk(booster, model, first)
            fall = risk[0] - risk[-1]
            # At the least gains the loss at 0 may be rounded to 0; then nothing falls.
            if fall > LEAST * risk[0] and scale * (fall / at_zero) > SHARE * freedom:
                left += range(model, model + size)
        return np.array(left, dtype=np.int64)

    def _find_risk(self, booster: BoostedModels, model: int, first: int) -> NDArray[np.float64]:
        """Return the risk after each round of a model, from round `first` on."""
        if not self.before:
            return booster.rounds(model, first=first).risk
        risks = [self.earlier[model].risk, booster.rounds(model).risk]
        return np.concatenate(risks)[first:]
