"""Findings: differences between groups by more than chance explains, in sentences."""

from collections.abc import Iterator, Sequence
from itertools import permutations

from properboost.report.content import NOTABLE_BIAS, Estimate, Group
from properboost.report.wording import list_words, percent, points

__all__ = ["list_findings", "name_farthest"]

ENOUGH = 30
"""The fewest rows of a share that is compared with that of other groups."""

LEAST_GAP = 0.02
"""The least difference between the shares of two groups that is worth a sentence."""

LEAST_BIAS = 0.01
"""The least distance of a group's mean probability from its share that is worth a sentence."""

MOST_UNNAMED = 4
"""The most listed groups of more extreme shares and too few rows."""


def list_findings(groups: Sequence[Group], label: str, level: float) -> Iterator[str]:
    """Yield sentences on the groups of a column, about the class of this name.

    Errors of one kind come before their sum: a rare class has few errors, and may be missed most.
    Two groups differ where both have enough rows and the intervals of their shares do not overlap;
    a sentence names the two that are farthest apart.  Probabilities are wrong on average where the
    interval of the observed share does not hold their mean.  All decisions follow the printed
    numbers.  The union of small groups is not named.
    """
    whole = [group for group in groups if not group.is_lump]
    for attribute, start in (
        ("called", f"It calls “{label}”"),
        ("missed", f"Of those that really were “{label}” it missed"),
        ("false_alarms", f"Of those that were not “{label}” it raised a false alarm for"),
        ("wrong", "It is wrong, either way, in"),
    ):
        yield from _compare(whole, attribute, start)
    for group in whole:
        so = group.observed
        if so is None or group.weight < ENOUGH or not so.is_known:
            continue
        if _overlap(so, Estimate(group.predicted, group.predicted, group.predicted)):
            continue
        off = group.predicted - so.value
        if abs(off) >= max(NOTABLE_BIAS * min(so.value, 1.0 - so.value), LEAST_BIAS):
            yield (
                f"Its probabilities are too {'high' if off > 0.0 else 'low'} on average for the "
                f"group “{group.name}”: their mean is {percent(group.predicted)}, and "
                f"{percent(so.value)} really were ({level:.0%} interval: {percent(so.low)} to "
                f"{percent(so.high)}), a difference of {points(group.predicted, so.value)}."
            )


def _compare(groups: Sequence[Group], attribute: str, start: str) -> Iterator[str]:
    """Yield a sentence on the two groups that are farthest apart, if any are apart."""
    share = _find_shares(groups, attribute)
    pair = _find_farthest(groups, attribute)
    if pair is None:
        return
    most, least = pair
    high, low = (share[group.name].value for group in pair)
    among = "of" if attribute in ("called", "wrong") else "in"
    so = _describe_observed(most, least) if attribute == "called" else ""
    text = (
        f"{start} {percent(high)} {among} the group “{most.name}” and {percent(low)} {among} the "
        f"group “{least.name}”{so}."
    )
    farther = [
        f"“{group.name}” ({percent(share[group.name].value)} of "
        f"{count_rows(group, attribute):,.0f})"
        for group in groups
        if group.name in share and not low <= share[group.name].value <= high
    ]
    if farther:
        listed = list_words(farther, MOST_UNNAMED)
        text += f"  More extreme, but of too few rows to rule out chance: {listed}."
    yield text


def name_farthest(groups: Sequence[Group]) -> str:
    """Return the two groups of a column that differ most in an error, in words.

    Missed rows come before false alarms, and errors before predictions.  It is "" where no groups
    are apart.
    """
    whole = [group for group in groups if not group.is_lump]
    for attribute, kind in (
        ("missed", "missed"),
        ("false_alarms", "false alarms"),
        ("wrong", "wrong"),
        ("called", "called so"),
    ):
        pair = _find_farthest(whole, attribute)
        if pair is not None:
            shares = [f"{percent(getattr(g, attribute).value)} in “{g.name}”" for g in pair]
            return f"{kind}: {' and '.join(shares)}"
    return ""


def _find_shares(groups: Sequence[Group], attribute: str) -> dict[str, Estimate]:
    """Return the shares of the groups where they are known, by name."""
    shares = {group.name: getattr(group, attribute) for group in groups}
    return {name: share for name, share in shares.items() if share is not None and share.is_known}


def _find_farthest(groups: Sequence[Group], attribute: str) -> tuple[Group, Group] | None:
    """Return the two groups whose shares are farthest apart, if by more than chance explains.

    Both have enough rows.
    """
    share = _find_shares(groups, attribute)
    enough = [g for g in groups if g.name in share and count_rows(g, attribute) >= ENOUGH]

    def lead(pair: tuple[Group, Group]) -> float:
        return share[pair[0].name].value - share[pair[1].name].value

    apart = [
        pair
        for pair in permutations(enough, 2)
        if lead(pair) >= LEAST_GAP and not _overlap(*(share[group.name] for group in pair))
    ]
    return max(apart, key=lead, default=None)


def _describe_observed(most: Group, least: Group) -> str:
    """Return the observed shares of the class in two groups, as the end of a sentence."""
    assert most.observed is not None
    assert least.observed is not None
    return f"; {percent(most.observed.value)} and {percent(least.observed.value)} really were"


def count_rows(group: Group, attribute: str) -> float:
    """Return the weight of the rows behind a share of a group."""
    if group.observed is None or attribute not in ("missed", "false_alarms"):
        return group.weight
    share = group.observed.value
    return group.weight * (share if attribute == "missed" else 1.0 - share)


def _overlap(first: Estimate, second: Estimate) -> bool:
    """Whether two intervals overlap as they are printed."""
    ends = [
        round(1000.0 * end) for interval in (first, second) for end in (interval.low, interval.high)
    ]
    return ends[0] <= ends[3] and ends[2] <= ends[1]
