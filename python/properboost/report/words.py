"""Numbers and lists as a reader sees them."""

import math
from collections.abc import Sequence

__all__ = [
    "MOST_NAMED",
    "count",
    "decimal",
    "list_words",
    "name_bin",
    "name_probability",
    "number",
    "percent",
    "points",
    "precise",
    "shorten",
    "signed",
    "subtract",
]

MINUS = "\u2212"

MOST_NAMED = 18
"""Letters of a class that the title of an axis names."""


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage; what would be rounded to 0% or 100% is bounded instead."""
    if share != share:
        return "unknown"
    least = 0.5 * 10.0 ** -(digits + 2)
    if 0.0 < share < least:
        return f"<{10.0**-digits:.{digits}f}%"
    if 1.0 - least < share < 1.0:
        return f">{100.0 - 10.0**-digits:.{digits}f}%"
    return f"{100.0 * share:.{digits}f}%"


def precise(share: float) -> str:
    """Return a share as a percentage, near 0% and 100% with as many digits as it takes."""
    rest = min(share, 1.0 - share)
    if share != share or rest <= 0.0 or rest >= 0.001:
        return percent(share)
    return percent(share, min(6, 1 - math.floor(math.log10(100.0 * rest))))


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many digits."""
    if value != value:
        return "\u2013"
    if abs(value) >= 10.0**digits:
        return f"{value:,.0f}".replace("-", MINUS)
    return f"{value:.{digits}g}".replace("-", MINUS)


def decimal(value: float, digits: int) -> str:
    """Return a number with so many digits after the point."""
    return "\u2013" if value != value else f"{value:,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int = 2) -> str:
    """Return what is added, with its sign, which 0 has not."""
    if value != value:
        return "unknown"
    shown = f"{value:+.{digits}f}"
    return shown[1:] if float(shown) == 0.0 else shown.replace("-", MINUS)


def count(n: float, one: str, several: str) -> str:
    """Return a number of things with their name."""
    return f"{n:,.0f} {one if round(n) == 1 else several}"


def list_words(words: Sequence[str], most: int = 6, last: str = "and") -> str:
    """Return words as a list in a sentence, not all if they are many."""
    shown = list(words[:most])
    if len(words) > most:
        shown.append(f"{len(words) - most:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def shorten(text: str, most: int = 24) -> str:
    """Return a text of so many characters at most."""
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def points(share: float, other: float = 0.0) -> str:
    """Return how much larger a share is than another one, in percentage points.

    It is the difference of what `percent` prints, and not a rounded one of its own.
    """
    return f"{signed(subtract(100.0 * share, 100.0 * other, 1), 1)} percentage points"


def subtract(first: float, second: float, digits: int) -> float:
    """Return the difference of two numbers that are printed with so many digits after the point."""
    return round(round(first, digits) - round(second, digits), digits)


def name_bin(name: str, label: str) -> str:
    """Return a feature with the words for one of its bins."""
    return f"{name} {label}" if label.startswith(("<= ", "> ")) else f"{name}: {label}"


def name_probability(name: str) -> str:
    """Return the title of an axis; the page says of which class, where its name is long."""
    return f"probability of {name}" if len(name) <= MOST_NAMED else "probability"
