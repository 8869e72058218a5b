"""Limits of the probability of the second of two classes: their error rates and costs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from properboost.estimators.costs import find_threshold
from properboost.report.content import Array, Limit, RatioLimit

__all__ = ["RATIOS", "Limits"]

TENTHS = range(1, 10)

HALF = 0.5
"""The limit of the model's predictions."""

RATIOS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0)
"""Costs of a miss, in false alarms, whose limits the page shows where it was given no costs."""


@dataclass(frozen=True, eq=False)
class Limits:
    """Rows with labels, by which limits are compared.

    `probability` is that of the second class.  `is_called` is the model's prediction, which is for
    the limit of 50%.
    """

    probability: Array
    is_second: NDArray[np.bool_]
    is_called: NDArray[np.bool_]
    weight: Array

    def list_tenths(self, costs: Array | None) -> tuple[Limit, ...]:
        """Return the limits in steps of a tenth and, with costs, that of least expected cost."""
        limits = [self._at_tenth(tenth, costs) for tenth in TENTHS]
        if costs is not None:
            least = self.find_least(costs)
            others = [limit for limit in limits if limit.at != least.at or limit.at == HALF]
            limits = others if least.at == HALF else [*others, least]
        return tuple(sorted(limits, key=lambda limit: limit.at))

    def find_least(self, costs: Array) -> Limit:
        """Return the limit of least expected cost."""
        at = find_threshold(costs)
        return self._rate(at, self.probability >= at, costs)

    def list_ratios(self) -> tuple[RatioLimit, ...]:
        """Return the limits of least expected cost where only the ratio of two costs counts."""
        return tuple(map(self._at_ratio, RATIOS))

    def _at_ratio(self, ratio: float) -> RatioLimit:
        costs = np.array([[0.0, 1.0], [ratio, 0.0]])
        limit, half = self.find_least(costs), self._rate(HALF, self.is_called, costs)
        assert limit.cost is not None
        return RatioLimit(ratio, limit, limit.cost / half.cost if half.cost else np.nan)

    def _at_tenth(self, tenth: int, costs: Array | None) -> Limit:
        at = tenth / 10
        return self._rate(at, self.is_called if at == HALF else self.probability > at, costs)

    def _rate(self, at: float, called: NDArray[np.bool_], costs: Array | None) -> Limit:
        everyone = np.ones(len(called), dtype=bool)
        cost = None
        if costs is not None:
            paid = costs[self.is_second.astype(np.intp), called.astype(np.intp)]
            cost = float(np.average(paid, weights=self.weight))
        return Limit(
            at=at,
            called=self._share(called, everyone),
            missed=self._share(~called, self.is_second),
            false_alarms=self._share(called, ~self.is_second),
            wrong=self._share(called != self.is_second, everyone),
            cost=cost,
        )

    def _share(self, these: NDArray[np.bool_], among: NDArray[np.bool_]) -> float:
        total = self.weight[among].sum()
        return float(self.weight[these & among].sum() / total) if total > 0.0 else np.nan
