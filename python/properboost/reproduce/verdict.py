"""The rule that compares our numbers with published ones; it was fixed before either was seen.

A printed number, or a range read off a figure, is

- *within rounding* if the mean of ours is among the numbers that it may stand for;
- *within 10%* if it lies in the 95% prediction interval of one more repetition of ours (Student's
  t), *and* the mean of ours is within 10% of it: a wide spread of ours does not pass;
- *order only* if neither holds, but ours has the paper's order against every other number in the
  same row, or column;
- *not reproduced* otherwise.

A claim ("at most", "better than") is within rounding if the 95% confidence interval of our mean
keeps it, order only if our mean does, and not reproduced otherwise.  Without randomness there is
one number, and no interval: it is within rounding or it is not.

Apart from the rule, reports have whether the *mean is within 10%* of a printed number, whatever the
spread: a narrow spread fails the rule's interval, even where the mean is half a percent off.
"""

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy import stats

from properboost.reproduce.published import Place, Published

__all__ = ["Judgement", "OrderAxis", "Verdict", "count", "count_near", "is_mean_near", "judge"]

CONFIDENCE = 0.95
NEAR = 0.1
"""A share of the published number."""

OrderAxis: TypeAlias = Literal["rows", "columns", "none"]
"""The numbers whose order counts: those of a row, of a column, or none."""


class Verdict(enum.StrEnum):
    """The result for a published number."""

    ROUNDING = "within rounding"
    NEAR = "within 10%"
    ORDER = "order only"
    NOT = "not reproduced"


@dataclass(frozen=True)
class Judgement:
    """A published number, ours, and the verdict.

    Attributes
    ----------
    place : (str, str)
        Its row and column.
    published : Published
        The paper's number.
    mean, spread : float
        Our mean and standard deviation over the seeds (NaN of a single one).
    n : int
        The number of seeds.
    verdict : Verdict
        By the rule.
    """

    place: Place
    published: Published
    mean: float
    spread: float
    n: int
    verdict: Verdict

    @property
    def difference(self) -> float:
        """Ours less the published number."""
        return self.mean - self.published.middle

    @property
    def mean_near(self) -> bool | None:
        """Whether the mean is within 10%, whatever its spread; None of a claim."""
        return is_mean_near(self.published, self.mean)


def judge(
    published: Mapping[Place, Published],
    ours: Mapping[Place, Sequence[float]],
    compared: OrderAxis,
    *,
    random: bool = True,
) -> list[Judgement]:
    """Compare published numbers with ours.

    Parameters
    ----------
    published : mapping of (str, str) to Published
        The paper's numbers, by row and column.
    ours : mapping of (str, str) to sequence of float
        Ours, one for each seed.  A place without is left out.
    compared : {"rows", "columns", "none"}
        The numbers whose order counts.
    random : bool, default=True
        Whether another seed would change the number.

    Returns
    -------
    list of Judgement
        In the order of `published`.
    """
    values = {at: np.asarray(ours[at], float) for at in published if len(ours.get(at, ()))}
    means = {at: float(numbers.mean()) for at, numbers in values.items()}
    judgements = []
    for at, numbers in values.items():
        number, mean, n = published[at], means[at], len(numbers)
        spread = float(np.std(numbers, ddof=1)) if n > 1 else math.nan
        if number.is_claim:
            verdict = _judge_claim(number, mean, _reach(spread, n, 1.0 / n) if random else 0.0)
        elif number.distance(mean) == 0.0:
            verdict = Verdict.ROUNDING
        elif random and _is_near(number, mean, _reach(spread, n, 1.0 + 1.0 / n)):
            verdict = Verdict.NEAR
        elif _keeps_order(at, published, means, compared):
            verdict = Verdict.ORDER
        else:
            verdict = Verdict.NOT
        judgements.append(Judgement(at, number, mean, spread, n, verdict))
    return judgements


def count(judgements: Iterable[Judgement]) -> dict[Verdict, int]:
    """Return the number of each verdict."""
    counts = dict.fromkeys(Verdict, 0)
    for judgement in judgements:
        counts[judgement.verdict] += 1
    return counts


def is_mean_near(number: Published, mean: float) -> bool | None:
    """Return whether a mean is within 10% of a published number; None of a claim.

    The mean is within 10% if it rounds to the number, or if their distance is a tenth at most.
    """
    if number.is_claim:
        return None
    return abs(number.distance(mean)) <= NEAR * abs(number.middle)


def count_near(near: Iterable[bool | None]) -> tuple[int, int]:
    """Return the number of means within 10%, and the number of those that are no claims."""
    comparable = [is_near for is_near in near if is_near is not None]
    return sum(comparable), len(comparable)


def _reach(spread: float, n: int, share: float) -> float:
    """Return half the width of an interval: of the mean (1/n), or of one more (1 + 1/n).

    It is NaN, which contains nothing, for a single number, whose spread is unknown.
    """
    if n == 1:
        return math.nan
    quantile = float(stats.t.ppf((1.0 + CONFIDENCE) / 2.0, n - 1))
    return quantile * spread * math.sqrt(share)


def _judge_claim(number: Published, mean: float, reach: float) -> Verdict:
    if number.distance(mean) != 0.0:
        return Verdict.NOT
    sure = number.distance(mean - reach) == 0.0 == number.distance(mean + reach)
    return Verdict.ROUNDING if sure else Verdict.ORDER


def _is_near(number: Published, mean: float, reach: float) -> bool:
    return abs(number.distance(mean)) <= reach and bool(is_mean_near(number, mean))


def _keeps_order(
    at: Place,
    published: Mapping[Place, Published],
    means: Mapping[Place, float],
    compared: OrderAxis,
) -> bool:
    """Whether ours has the paper's order against every number in its row or column."""
    if compared == "none":
        return False
    axis = 0 if compared == "rows" else 1
    rivals = [other for other in means if other != at and other[axis] == at[axis]]
    theirs = published[at]
    n_compared = 0
    for other in rivals:
        rival = published[other]
        if rival.is_claim or (theirs.low < rival.high and rival.low < theirs.high):
            continue  # the paper leaves open which is larger
        n_compared += 1
        if (means[at] > means[other]) != (theirs.low >= rival.high):
            return False
    return n_compared > 0
