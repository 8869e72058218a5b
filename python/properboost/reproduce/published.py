"""Published numbers with their precision, ranges read off figures, and claims in words."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

__all__ = [
    "TIE",
    "Place",
    "Published",
    "at_least",
    "at_most",
    "exactly",
    "label",
    "printed",
    "read_off",
    "read_table",
]

TIE = 1e-9
"""The least difference for a claim of "better" or "falls"."""

_ROUNDING = 1e-6

Place: TypeAlias = tuple[str, str]
"""The row and the column of a published number."""


@dataclass(frozen=True)
class Published:
    """A number as published, with the range that the paper's digits leave open.

    Attributes
    ----------
    text : str
        The printed number, or the words.
    low, high : float
        The least and the largest number it may stand for.  One of them is infinite in a claim,
        such as "less than".
    """

    text: str
    low: float
    high: float

    @property
    def is_claim(self) -> bool:
        """Whether it only bounds our number on one side."""
        return math.isinf(self.low) or math.isinf(self.high)

    @property
    def middle(self) -> float:
        """The number itself; a claim's is its only end."""
        if self.is_claim:
            return self.high if math.isinf(self.low) else self.low
        return (self.low + self.high) / 2.0

    def distance(self, ours: float) -> float:
        """Return the signed distance of a number from the published range; 0 within."""
        return min(ours - self.low, 0.0) + max(ours - self.high, 0.0)


def printed(text: str) -> Published:
    """Return a number printed in the paper: "25.9" may be anything from 25.85 to 25.95."""
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError(f"{text!r} is no number")
    half = Decimal(1).scaleb(exponent) / 2
    return Published(text, float(number - half), float(number + half))


def exactly(number: float, text: str | None = None) -> Published:
    """Return a number by a formula of the paper, to six digits; `text` has the paper's words."""
    reach = _ROUNDING * max(1.0, abs(number))
    return Published(text or f"{number:g}", number - reach, number + reach)


def read_off(low: float, high: float) -> Published:
    """Return a number that is read off a figure, or that the paper calls approximate."""
    if not low < high:
        raise ValueError(f"low must be below high; got {low:g} and {high:g}")
    return Published(f"{low:g} to {high:g}", low, high)


def at_least(least: float, text: str | None = None) -> Published:
    """Return a claim of a lower bound; `text` has the paper's words."""
    return Published(text or f"at least {least:g}", least, math.inf)


def at_most(most: float, text: str | None = None) -> Published:
    """Return a claim of an upper bound; `text` has the paper's words."""
    return Published(text or f"at most {most:g}", -math.inf, most)


def read_table(text: str) -> Mapping[Place, Published]:
    """Read a table of printed numbers.

    Parameters
    ----------
    text : str
        Lines of entries with ``|`` between them: first the columns' names after an empty entry,
        then each row's name and its numbers.  An empty entry is not published.

    Returns
    -------
    mapping of (str, str) to Published
        By row and column, in the order of the text.
    """
    lines = [[entry.strip() for entry in line.split("|")] for line in text.strip().splitlines()]
    (_, *columns), *rows = lines
    numbers: dict[Place, Published] = {}
    for name, *entries in rows:
        for column, entry in zip(columns, entries, strict=True):
            if entry:
                numbers[name, column] = printed(entry)
    if len({name for name, *_ in rows}) < len(rows) or len(set(columns)) < len(columns):
        raise ValueError("two rows or two columns of the table have one name")
    return numbers


def label(table: Mapping[Place, Published], measured: str) -> dict[Place, Published]:
    """Return a table whose columns name the measure: ``"sonar, errors"``.

    One table can then hold several measures without comparing them with each other.
    """
    return {(row, f"{column}, {measured}"): number for (row, column), number in table.items()}
