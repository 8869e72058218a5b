"""The number of rounds by rows that are held out: boosting goes on while it helps there.

Training rows leave a doubt where their labels have little noise.  A block of rounds then lowers
their risk by less than chance could, and still helps other rows.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.data.sorted_rows import HELD_OUT
from properboost.engine.protocols import Booster, ModelSet, TrainingRows
from properboost.fitting.enough_rounds import BLOCK
from properboost.fitting.intercept import find_intercepts, is_known
from properboost.fitting.plan import FitPlan, RawScaling
from properboost.losses.probabilities import log_losses

__all__ = ["Fold", "HeldOutScore", "boost_while_it_helps"]

Array = NDArray[np.float64]

PACE = 2
"""The factor of the rate of trees, of which fewer then predict nearly as well."""

LEAST_FALL = 0.01
"""The share of itself by which a block must lower the log loss of the rows held out."""

LEAST_SUM = 0.25
"""The sum over these rows by which a block must lower it, too.

Where all of them are predicted well, later rounds only add certainty, for which a wrong label pays.
"""


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows that are learnt from, but for the segments that are held out.

    `base` has the raw predictions from which models start, (n_rows, n_models); None is 0.
    """

    rows: TrainingRows
    is_held_out: NDArray[np.bool_]
    base: Array | None

    @cached_property
    def learning(self) -> TrainingRows:
        """The rows to learn from."""
        return self.rows.of_segments(~self.is_held_out)

    @cached_property
    def held_out(self) -> TrainingRows:
        """The rows that are held out."""
        return self.rows.of_segments(self.is_held_out)

    @property
    def roles(self) -> NDArray[np.int8]:
        """The role of each segment in each model, as in `_core.Model`."""
        signs = self.rows.signs
        return np.where(self.is_held_out, HELD_OUT, 1).astype(signs.dtype) * signs

    def take(self, values: Array, segments: NDArray[np.bool_]) -> Array:
        """Return the values of the rows in some segments."""
        return values[np.repeat(segments, np.diff(self.rows.segments))]


class HeldOutScore(NamedTuple):
    """The log loss of each row that is held out, after a number of estimators."""

    losses: Array
    weights: Array
    n_estimators: int

    @property
    def sum(self) -> float:
        """The weighted sum of the log losses."""
        return float(np.sum(self.weights * self.losses))

    def helps_after(self, earlier: "HeldOutScore") -> bool:
        """Return whether the rounds after an earlier score lowered it enough to go on."""
        return earlier.sum - self.sum > max(LEAST_FALL * earlier.sum, LEAST_SUM)


def boost_while_it_helps(plan: FitPlan, scaling: RawScaling, fold: Fold) -> HeldOutScore:
    """Boost the models of a plan, and return their best score.

    Where the user sets no number of estimators, a block follows another that helped.  Trees have
    twice their rate and half as many, which count double.  The plan has no bags and no pairs.
    """
    pace = PACE if plan.options.weak_learner.is_grown else 1
    first, most = (-(-n // pace) for n in plan.of_features().limits)
    block = most if first == most else BLOCK // pace
    booster, scaled = _start(plan, fold, pace), _ScaledModels(plan, scaling, fold)
    scores: list[HeldOutScore] = []
    for n_estimators in range(block, most + 1, block):
        booster.advance(block)
        scores.append(scaled.score(booster, pace * n_estimators))
        if len(scores) > 1 and not scores[-1].helps_after(scores[-2]):
            break
    return min(scores, key=lambda score: score.sum)


def _start(plan: FitPlan, fold: Fold, pace: int) -> Booster:
    """Set up the models of a plan, at so many times their rate."""
    loss, n_models = plan.link.loss, plan.n_models
    rate = min(pace * plan.options.find_rate(loss.rate_factor), 1.0)
    return fold.rows.start(
        ModelSet(
            roles=fold.roles,
            options=(plan.options.replace(learning_rate=rate),) * n_models,
            losses=(loss,) * n_models,
            base=None if plan.base is None else np.ascontiguousarray(plan.base.T),
            joint_loss=plan.link.joint_loss,
            keep_rounds=False,
            raws=n_models,
        )
    )


class _ScaledModels:
    """The models of a plan, with the slopes and intercepts of the rows that they learn from."""

    def __init__(self, plan: FitPlan, scaling: RawScaling, fold: Fold) -> None:
        self._plan, self._fold = plan, fold
        self._slopes, self._intercept = np.array(scaling.slopes), scaling.intercept

    def score(self, booster: Booster, n_estimators: int) -> HeldOutScore:
        """Return the score of the rows that are held out."""
        plan, fold, rows = self._plan, self._fold, self._fold.held_out
        base = 0.0 if plan.base is None else plan.base
        raw = np.column_stack([booster.raw(m) for m in range(plan.n_models)])
        with np.errstate(over="ignore"):  # the fit refuses slopes that are so large
            raw = base + self._slopes * (raw - base)
        raw = fold.take(raw, fold.is_held_out) + self._find_intercepts(raw)
        p = plan.link.probabilities(raw[:, 0] if raw.shape[1] == 1 else raw)
        weights = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        return HeldOutScore(log_losses(p, rows.class_of_row), weights, n_estimators)

    def _find_intercepts(self, raw: Array) -> tuple[float, ...] | float:
        """Return the intercepts, by the raw predictions of all rows."""
        if not isinstance(self._intercept, str):
            return 0.0 if self._intercept is None else self._intercept
        link, rows = self._plan.link, self._fold.learning
        raw = self._fold.take(raw, ~self._fold.is_held_out)
        if self._intercept != "share" and not is_known(link.loss, raw, rows.weight):
            return 0.0
        return find_intercepts(link, raw, rows.class_of_row, rows.weight)
