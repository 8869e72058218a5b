"""A row's way from the average row to its probability, drawn."""

from properboost.report.charts import Bar, draw_walk
from properboost.report.found import TellingRow
from properboost.report.log_odds import find_log_odds
from properboost.report.words import name_probability, percent, precise, signed

__all__ = ["draw_row", "shows_points"]

_EXTREME = 0.001
"""A probability, of a class or of all others, below which steps tell log-odds."""


def shows_points(row: TellingRow) -> bool:
    """Whether steps of a row tell log-odds in place of probabilities."""
    return any(_is_extreme(step.after) for step in row.steps)


def _is_extreme(share: float) -> bool:
    return 0.0 < share < _EXTREME or 1.0 - _EXTREME < share < 1.0


def _say_where(share: float) -> str:
    """Return a probability, or its log-odds where percentages would hardly change."""
    return signed(float(find_log_odds(share))) if _is_extreme(share) else percent(share)


def draw_row(row: TellingRow, spoken_for: str) -> str:
    """Draw the steps of a row to the probability of a class of this name."""
    bars = []
    for step in row.steps:
        start = float(find_log_odds(step.before))
        text = (
            f"{step.name}: {signed(step.added)} points, from {precise(step.before)} to "
            f"{precise(step.after)}"
        )
        low = high = None
        if step.low is not None and step.high is not None:
            low, high = start + step.low, start + step.high
            text += f" (between {signed(step.low)} and {signed(step.high)})"
        if step.within_noise:
            text += "; the effect may be chance"
        note = f"{signed(step.added)} \u2192 {_say_where(step.after)}"
        bars.append(Bar(step.name, start + step.added, text, low, high, note, start))
    if not bars:
        return ""
    return draw_walk(
        bars,
        name_probability(spoken_for),
        f"What leads to the probability of {spoken_for} in row {row.number}",
        note="points \u2192 so far",
    )
