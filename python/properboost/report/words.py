"""Numbers as a reader sees them."""

__all__ = ["name_bin", "number", "percent", "points", "signed"]

MINUS = "\u2212"


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


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many digits."""
    if value != value:
        return "unknown"
    if abs(value) >= 10.0**digits:
        return f"{value:,.0f}".replace("-", MINUS)
    return f"{value:.{digits}g}".replace("-", MINUS)


def signed(value: float, digits: int = 2) -> str:
    """Return what is added, with its sign."""
    if value != value:
        return "unknown"
    return f"{value:+.{digits}f}".replace("-", MINUS)


def points(share: float) -> str:
    """Return a difference of two shares in percentage points."""
    return f"{signed(100.0 * share, 1)} points"


def name_bin(name: str, label: str) -> str:
    """Return a feature with the words for one of its bins."""
    return f"{name} {label}" if label[:1] in "<>=\u2264" else f"{name}: {label}"
