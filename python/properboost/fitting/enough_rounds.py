"""The number of rounds where a user sets none: boosting goes on while it beats chance.

Tables that are fitted to random labels lower the deviance of the training rows by all their degrees
of freedom, on average (Wilks 1938), in any number of rounds.  So a block of rounds that lowers it
by a large share of that has found more than noise, and another block follows.

A tree that splits where others have split before changes the same cells again, too.  So a block of
trees has a degree of freedom for each of its different splits.  Other rows lose on average what the
training rows gain by chance, so that twice as much must be gained (Akaike 1974).
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
from properboost.parameters.learners import Tree

__all__ = ["Blocks"]

BLOCK = 50
"""The number of estimators of a block."""

SHARE = 0.25
"""The share of the degrees of freedom by which a block must lower the deviance."""

LEAST = 1e-3
"""The share of itself by which a block must lower the deviance, too.

With many rows a smaller decrease may still beat chance.
"""

SHARE_OF_SPLITS, LEAST_OF_TREES = 2.0, 0.01
"""Both shares for trees, whose splits are counted in each block."""


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
    estimator, or 1 for a `tree`.  `weight` is that of a model's rows.
    """

    n_estimators: tuple[int, int]
    before: int
    earlier: Sequence[Rounds]
    tables: int
    tree: Tree | None
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
        size = self.n_classes if self.link.joint_loss else 1
        left: list[int] = []
        for model in range(0, len(counts), size):
            together = range(model, model + size)
            if counts[model] >= done and self._helps(booster, together, first):
                left += together
        return np.array(left, dtype=np.int64)

    def _helps(self, booster: BoostedModels, models: range, first: int) -> bool:
        """Return whether the rounds after round `first` lowered the risk by more than chance."""
        risk = self._read_risk(booster, models[0], first)
        fall = risk[0] - risk[-1]
        share, least = (SHARE, LEAST) if self.tree is None else (SHARE_OF_SPLITS, LEAST_OF_TREES)
        # At the least gains the loss at 0 may be rounded to 0; then nothing falls.
        if fall <= least * risk[0]:
            return False
        freedom = self._count_freedom(booster, models, first)
        deviance = 2.0 * self.weight * math.log(max(len(models), 2)) * (fall / self._risk_at_zero)
        return bool(deviance > share * freedom)

    @property
    def _risk_at_zero(self) -> float:
        """The risk of raw predictions of 0."""
        loss = self.link.loss
        if not self.link.joint_loss:
            return float(loss.loss(0.0))
        joint = _core.JointLoss(self.link.joint_loss, loss.native)
        return loss.gain * float(joint.losses(np.zeros((1, self.n_classes)), 0)[0])

    def _count_freedom(self, booster: BoostedModels, models: range, first: int) -> int:
        """Return the degrees of freedom of a model's tables, or of its trees after round `first`.

        Tables of a joint model have those of all its classes but one.
        """
        if self.tree is not None:
            trees = models[:1] if self.tree.shares_classes else models
            return sum(self._count_splits(booster, model, first) for model in trees)
        of_a_class = int(np.count_nonzero(np.asarray(booster.code_counts))) - self.n_features
        return max(len(models) - 1, 1) * of_a_class

    def _count_splits(self, booster: BoostedModels, model: int, first: int) -> int:
        """Return the number of different splits of a model's trees after round `first`."""
        rounds = booster.rounds(model, first=0 if self.before else first)
        if self.before:
            rounds = Rounds.chain([self.earlier[model], rounds])
            rounds = rounds.part(first, len(rounds))
        assert rounds.trees is not None
        return rounds.trees.part(rounds.offsets[1], rounds.offsets[-1]).count_splits()

    def _read_risk(self, booster: BoostedModels, model: int, first: int) -> NDArray[np.float64]:
        """Return the risk after each round of a model, from round `first` on."""
        if not self.before:
            return booster.rounds(model, first=first).risk
        risks = [self.earlier[model].risk, booster.rounds(model).risk]
        return np.concatenate(risks)[first:]
