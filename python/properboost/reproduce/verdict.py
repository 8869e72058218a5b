"""The rule by which ours and what was published are compared; it was fixed before either was seen.

A printed number, or a range read off a figure, is

- *within rounding* if the mean of ours is among the numbers that it may stand for;
- *within 10%* if it lies in the interval in which one more repetition of ours would lie with 95%
  (Student's t), *and* the mean of ours is within 10% of it: a wide spread of ours does not pass;
- *order only* if neither is so, but ours stands to every other number it is compared with in the
  paper (its row, or its column) as it does there;
- *not reproduced* otherwise.

A claim ("at most", "better than") is within rounding if the 95% confidence interval of our mean
keeps it, order only if our mean does, and not reproduced otherwise.  Where nothing is random there
there is one number, and no interval: it is within rounding or it is not.

Beside the rule stands whether the *mean is within 10%* of a printed number, whatever the spread: a
narrow one fails the rule's interval, even where the mean is half a percent off.
"""

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy import stats

from properboost.reproduce.published import Place, Published

__all__ = ["Compared", "Judged", "Verdict", "count", "count_near", "is_mean_near", "judge"]

CONFIDENCE = 0.95
NEAR = 0.1
"""A share of the published number."""

Compared: TypeAlias = Literal["rows", "columns", "none"]
"""Whose order counts: that of the numbers in a row, in a column, or none."""


class Verdict(enum.StrEnum):
    """What became of a published number."""

    ROUNDING = "within rounding"
    NEAR = "within 10%"
    ORDER = "order only"
    NOT = "not reproduced"


@dataclass(frozen=True)
class Judged:
    """A published number, ours, and the verdict.

    Attributes
    ----------
    place : (str, str)
        Its row and column.
    published : Published
        As the paper has it.
    mean, spread : float
        Ours: the mean and the standard deviation over the seeds (NaN of a single one).
    n : int
        How many seeds.
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
    compared: Compared,
    *,
    random: bool = True,
) -> list[Judged]:
    """Compare what was published with ours.

    Parameters
    ----------
    published : mapping of (str, str) to Published
        The paper's numbers, by row and column.
    ours : mapping of (str, str) to sequence of float
        Ours, one for each seed.  A place without is left out.
    compared : {"rows", "columns", "none"}
        Where the order of the numbers says something.
    random : bool, default=True
        Whether another seed would give another number.

    Returns
    -------
    list of Judged
        In the order of `published`.
    """
    values = {at: np.asarray(ours[at], float) for at in published if len(ours.get(at, ()))}
    means = {at: float(numbers.mean()) for at, numbers in values.items()}
    judged = []
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
        judged.append(Judged(at, number, mean, spread, n, verdict))
    return judged


def count(judged: Iterable[Judged]) -> dict[Verdict, int]:
    """Return how many numbers have each verdict."""
    found = dict.fromkeys(Verdict, 0)
    for one in judged:
        found[one.verdict] += 1
    return found


def is_mean_near(number: Published, mean: float) -> bool | None:
    """Return whether a mean is within 10% of a published number; None of a claim.

    It is where the number may be rounded to the mean, or is no farther from it than a tenth.
    """
    if number.is_claim:
        return None
    return abs(number.distance(mean)) <= NEAR * abs(number.middle)


def count_near(near: Iterable[bool | None]) -> tuple[int, int]:
    """Return how many means are within 10%, and of how many numbers that are no claims."""
    told = [one for one in near if one is not None]
    return sum(told), len(told)


def _reach(spread: float, n: int, share: float) -> float:
    """Return half the width of an interval: of the mean (1/n), or of one more (1 + 1/n).

    It is NaN, which nothing lies within, where one number does not tell the spread.
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
    compared: Compared,
) -> bool:
    """Whether ours stands to every number beside it as it does in the paper."""
    if compared == "none":
        return False
    axis = 0 if compared == "rows" else 1
    rivals = [other for other in means if other != at and other[axis] == at[axis]]
    theirs = published[at]
    told = 0
    for other in rivals:
        rival = published[other]
        if rival.is_claim or (theirs.low < rival.high and rival.low < theirs.high):
            continue  # the paper does not say which is larger
        told += 1
        if (means[at] > means[other]) != (theirs.low >= rival.high):
            return False
    return told > 0
