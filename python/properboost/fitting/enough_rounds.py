"""Enough rounds: where their number is not given, boosting goes on while more than chance helps.

Tables that are fitted to labels drawn by lot lower the deviance of the training rows by all their
degrees of freedom, on average (Wilks 1938), in however many rounds.  Rounds that lower it by much
of that say something, then, and others are to come.
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
"""The estimators that are looked at together."""

SHARE = 0.25
"""The share of the degrees of freedom by which a block must lower the deviance."""

LEAST = 1e-3
"""The share of itself by which it must, too: of many rows less than that says something."""


class Boosted(Protocol):
    """Models that are boosted together, as far as it matters here: see `engine.protocols`."""

    @property
    def n_estimators(self) -> NDArray[np.int64]:
        """The estimators that each model has."""

    @property
    def code_counts(self) -> NDArray[np.int64]:
        """Rows of each code, features side by side."""

    def rounds(self, model: int, *, first: int = 0) -> Rounds:
        """Return the rounds of a model from this one on."""


@dataclass(frozen=True)
class Blocks:
    """The blocks of estimators by which models are boosted together.

    `n_estimators` are those of every model and the most of one; the first ones, `before`, are an
    earlier fit's, whose rounds of each model are `earlier`.  `tables` are those of an estimator,
    and `weight` is that of a model's rows.
    """

    n_estimators: tuple[int, int]
    before: int
    earlier: Sequence[Rounds]
    tables: int
    link: Link
    n_features: int
    n_classes: int
    weight: float

    def of(self, booster: Boosted) -> Iterator[tuple[int, NDArray[np.int64] | None]]:
        """Yield by how many estimators to advance which models, None being all.

        They have been advanced when the next block is asked for.
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

    def find_unfinished(self, booster: Boosted, done: int) -> NDArray[np.int64]:
        """Return the models whose last block lowered the deviance by more than chance may.

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

    def _find_risk(self, booster: Boosted, model: int, first: int) -> NDArray[np.float64]:
        """Return the risk after each round of a model, from one on."""
        if not self.before:
            return booster.rounds(model, first=first).risk
        risks = [self.earlier[model].risk, booster.rounds(model).risk]
        return np.concatenate(risks)[first:]
