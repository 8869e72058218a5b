"""The figures of a page: charts, and their texts to read out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape

import numpy as np
from numpy.typing import NDArray

from properboost.inspection.shape_functions import (
    InteractionFunction,
    InteractionMap,
    ShapeFunction,
)
from properboost.report.charts import (
    Bar,
    Dot,
    Point,
    draw_bars,
    draw_dots,
    draw_grid,
    draw_reliability,
    draw_steps,
    draw_waterfall,
)
from properboost.report.content import (
    FEW_ROWS,
    Effect,
    Estimate,
    ExplainedRow,
    Figure,
    Figures,
    Grouping,
    PairEffect,
    Reliability,
    ReportContent,
    Span,
    Term,
)
from properboost.report.directions import describe_direction
from properboost.report.discontinuities import count_few, describe_jump
from properboost.report.importances import describe_doubt
from properboost.report.joint_effects import (
    describe_cell,
    describe_joint_effect,
    find_reach,
    make_maps,
    name_cell,
)
from properboost.report.proportions import find_log_odds
from properboost.report.wording import (
    MOST_NAMED,
    count,
    name_bin,
    name_probability,
    percent,
    points,
    precise,
    shorten,
    signed,
)
from properboost.visible import make_visible, tell_apart

__all__ = ["draw_figures", "draw_row", "shows_points"]

MOST_CATEGORIES = 20
"""Categories of a feature that are drawn."""

MOST_LISTED = 1000
"""Ranges or categories of a feature in its table."""

MOST_IMPORTANCES = 20


def draw_figures(content: ReportContent) -> Figures:
    """Draw the figures of a page."""
    level = content.options.confidence_level
    return Figures(
        reliability=""
        if content.evaluation is None
        else _draw_reliability(content.evaluation.reliability, content, level),
        groupings=tuple(
            _draw_grouping(grouping, content.facts.name(content.class_), level)
            for grouping in content.groupings
        ),
        importances=_draw_importances(content.terms),
        effects=tuple(
            _draw_effect(effect, level, content.facts.described.get(effect.term.name, ""))
            for effect in content.effects
        ),
        pairs=tuple(_draw_pair(effect, level) for effect in content.pairs),
        rows=tuple(draw_row(row, content.facts.name(row.class_label)) for row in content.rows),
        shows_points=any(map(shows_points, content.rows)),
    )


def _draw_reliability(reliability: Reliability, content: ReportContent, level: float) -> str:
    names = content.facts.names
    what = names[1] if len(names) == 2 else "predicted rightly"
    drawn = [
        Point(
            tenth.predicted,
            tenth.observed.value,
            tenth.observed.low,
            tenth.observed.high,
            tenth.weight,
            f"probability {tenth.low:.0%} to {tenth.high:.0%} ({percent(tenth.predicted)} on "
            f"average): {percent(tenth.observed.value)} of {tenth.weight:,.0f} rows were {what} "
            f"({level:.0%} interval: {percent(tenth.observed.low)} to "
            f"{percent(tenth.observed.high)})",
        )
        for tenth in reliability.bins
    ]
    titles = (f"predicted probability of {what}", f"share of rows that really were {what}")
    if len(what) > MOST_NAMED:
        titles = ("predicted probability", "share of rows that really were so")
    if len(names) > 2:
        titles = ("predicted probability of the predicted class", "share of rows predicted rightly")
    return draw_reliability(
        drawn, titles, "Reliability diagram: predicted probabilities and observed shares"
    )


def _draw_grouping(grouping: Grouping, label: str, level: float) -> str:
    """Draw both kinds of errors, where they are known."""
    dots = []
    names = tell_apart(group.name for group in grouping.groups)
    for name, group in zip(names, grouping.groups, strict=True):
        for kind, share, words in (
            (0, group.false_alarms, f"of those that were not {label}, called that all the same"),
            (1, group.missed, f"of those that really were {label}, missed"),
        ):
            if share is not None and share.is_known:
                text = f"{group.name}: {words}: {_format_share(share, level)}"
                dots.append(Dot(name, kind, share.value, share.low, share.high, text))
    if not dots:
        return ""
    return draw_dots(dots, "share called wrongly", f"{grouping.name}: errors by group")


def _format_share(share: Estimate, level: float) -> str:
    return (
        f"{percent(share.value)} ({level:.0%} interval: {percent(share.low)} to "
        f"{percent(share.high)})"
    )


def _draw_importances(terms: Sequence[Term]) -> str:
    shown = [term for term in terms[:MOST_IMPORTANCES] if term.importance > 0.0]
    if not shown:
        return ""
    bars = []
    for term in shown:
        text = f"{term.name}: importance {percent(term.importance)}"
        low = high = None
        if term.error is not None:
            low, high = max(0.0, term.importance - term.error), term.importance + term.error
            text += f", standard error {percent(term.error)}"
        if term.within_noise:
            text += f"; {describe_doubt(term)}"
        bars.append(Bar(term.name, term.importance, text, low, high))
    return draw_bars(
        bars,
        "importance",
        "Importance of features",
        percent=True,
        wide_names=any(term.is_pair for term in shown),
    )


def _draw_effect(effect: Effect, level: float, described: str) -> Figure:
    on = (effect.log_odds, effect.probability)
    if effect.log_odds.kind == "numeric":
        pictures = [_draw_numeric(shape, effect.span, level) for shape in on]
    else:
        pictures = [_draw_categories(shape, level) for shape in on]
    drawn = _put_together(effect.term, pictures, _list_notes(effect, level))
    return replace(drawn, values=tuple(_list_values(effect)), described=described)


def _list_values(effect: Effect) -> Iterator[tuple[str, str, str, str]]:
    """Yield ranges or categories as the rows of a table, of categories the heaviest first."""
    shape, other = effect.log_odds, effect.probability
    order = np.arange(len(shape.values))
    if shape.kind == "categorical":
        order = np.argsort(-shape.weights, kind="stable")
    for k in order[:MOST_LISTED].tolist():
        yield (
            shape.labels[k],
            signed(shape.values[k]),
            precise(other.values[k]),
            f"{shape.weights[k]:,.0f}",
        )


def _put_together(term: Term, pictures: Sequence[str], notes: Iterable[str] = ()) -> Figure:
    """Return the figure of a feature or pair, with charts on both scales."""
    return Figure(
        title=term.name,
        importance=percent(term.importance)
        if term.alone is None
        else f"{percent(term.importance)}, its curve alone {percent(term.alone)}",
        doubt=describe_doubt(term),
        log_odds=pictures[0],
        probability=pictures[1],
        notes=tuple(notes),
    )


def _list_notes(effect: Effect, level: float) -> list[str]:
    """Return notes on facts that the chart of a shape function does not show."""
    shape, other = effect.log_odds, effect.probability
    notes = [
        text for text in (describe_direction(shape, other.values), describe_jump(effect)) if text
    ]
    if shape.missing_weight > 0.0:
        text = (
            f"Missing ({_count(shape.missing_weight)}): {signed(shape.missing_value)} log-odds, "
            f"{percent(other.missing_value)}"
        )
        if shape.n_bags > 0:
            low, high = other.missing_interval(level)
            text += f" (between {percent(low)} and {percent(high)})"
        notes.append(f"{text}.")
    hidden = int(np.count_nonzero(shape.weights > 0.0)) - MOST_CATEGORIES
    if shape.kind == "categorical" and hidden > 0:
        notes.append(
            f"Not drawn, but in the table: {count(hidden, 'rarer category', 'rarer categories')}."
        )
    unlisted = len(shape.values) - MOST_LISTED
    if unlisted > 0:
        notes.append(f"{count(unlisted, 'value is', 'values are')} not in the table.")
    few, _ = count_few(shape, FEW_ROWS)
    if few > 0:
        what = ("range", "ranges") if shape.kind == "numeric" else ("category", "categories")
        notes.append(
            f"{count(few, *what)} had fewer than {FEW_ROWS} training rows, too few for a reliable "
            "estimate."
        )
    return notes


def _draw_numeric(shape: ShapeFunction, span: Span | None, level: float) -> str:
    assert shape.edges is not None
    filled = np.flatnonzero(shape.weights > 0.0)
    if len(filled) == 0:
        filled = np.arange(len(shape.values))
    shown = slice(int(filled[0]), int(filled[-1]) + 1)
    values, weights = shape.values[shown], shape.weights[shown]
    bounds = _find_bounds(shape.edges, span, shown)
    ends = tuple(end[shown] for end in shape.interval(level)) if shape.n_bags > 0 else None
    texts = _read_out(shape, level)[shown]
    return draw_steps(
        bounds,
        values,
        weights,
        texts,
        (shorten(shape.label, 40), _name_axis(shape)),
        f"{shape.label}: {shape.axis_label}",
        ends=None if ends is None else (ends[0], ends[1]),
        origin=shape.average,
        percent=shape.scale == "probability",
    )


def _find_bounds(
    edges: NDArray[np.float64], span: Span | None, shown: slice
) -> NDArray[np.float64]:
    """Return the bounds of these bins, the outer ones being the smallest and largest values."""
    low, high = span if span is not None else (-np.inf, np.inf)
    whole = np.concatenate([[low], edges, [high]])[shown.start : shown.stop + 1]
    inner = whole[np.isfinite(whole)]
    if len(inner) == 0:
        return np.array([0.0, 1.0])
    # An end that is unknown, or not beyond the next bound, goes a little beyond that.
    room = max((inner[-1] - inner[0]) / (len(inner) + 1), abs(inner[0]) * 1e-6, 1e-12)
    if not whole[0] < whole[1]:
        whole[0] = whole[1] - room
    if not np.isfinite(whole[0]):
        whole[0] = whole[1] - room if np.isfinite(whole[1]) else -1.0
    if not np.isfinite(whole[-1]) or not whole[-2] < whole[-1]:
        whole[-1] = whole[-2] + room
    return whole


def _draw_categories(shape: ShapeFunction, level: float) -> str:
    filled = np.flatnonzero(shape.weights > 0.0)
    heaviest = filled[np.argsort(-shape.weights[filled], kind="stable")][:MOST_CATEGORIES]
    order = heaviest[np.argsort(-shape.values[heaviest], kind="stable")]
    ends = shape.interval(level) if shape.n_bags > 0 else None
    texts = _read_out(shape, level)
    bars = [
        Bar(
            shape.labels[k],
            float(shape.values[k]),
            texts[k],
            None if ends is None else float(ends[0][k]),
            None if ends is None else float(ends[1][k]),
            f"{shape.weights[k]:,.0f}",
        )
        for k in order.tolist()
    ]
    return draw_bars(
        bars,
        _name_axis(shape),
        f"{shape.label}: {shape.axis_label}",
        origin=shape.average,
        percent=shape.scale == "probability",
        note="training rows",
    )


def _name_axis(function: ShapeFunction | InteractionFunction) -> str:
    """Return a short title of an axis."""
    if function.scale == "probability":
        return name_probability(str(function.class_label))
    return function.axis_label if len(function.axis_label) < 45 else "added to the log-odds"


def _format_value(function: ShapeFunction | InteractionFunction, value: float) -> str:
    if function.scale == "probability":
        return percent(value)
    return f"{signed(value)} log-odds"


def _count(weight: float) -> str:
    return count(weight, "training row", "training rows")


def _read_out(shape: ShapeFunction, level: float) -> list[str]:
    """Return the text of each bin to read out."""
    ends = shape.interval(level) if shape.n_bags > 0 else None
    texts = []
    for k, (label, value) in enumerate(zip(shape.labels, shape.values.tolist(), strict=True)):
        text = f"{name_bin(shorten(shape.label), label)}: {_format_value(shape, value)}"
        if ends is not None:
            text += f" ({_format_ends(shape, ends[0][k], ends[1][k])})"
        texts.append(f"{text}, {_count(shape.weights[k])}")
    return texts


def _format_ends(function: ShapeFunction | InteractionFunction, low: float, high: float) -> str:
    if function.scale == "probability":
        return f"{percent(low)} to {percent(high)}"
    return f"{signed(low)} to {signed(high)}"


def _draw_pair(effect: PairEffect, level: float) -> Figure:
    on = (effect.log_odds, effect.probability)
    maps = [make_maps(function, level) for function in on]
    reach = [find_reach(function, of_scale) for function, of_scale in zip(on, maps, strict=True)]
    pictures = [
        "".join(_draw_map(function, shown, effect.are_numbers, most, level) for shown in of_scale)
        for function, of_scale, most in zip(on, maps, reach, strict=True)
    ]
    notes = describe_joint_effect(effect, level)
    return replace(
        _put_together(effect.term, pictures, notes),
        reach=(f"{reach[0]:.2f}", f"{100.0 * reach[1]:.1f}"),
        n_maps=len(maps[0]),
    )


def _draw_map(
    function: InteractionFunction,
    shown: InteractionMap,
    are_numbers: Sequence[bool],
    reach: float,
    level: float,
) -> str:
    """Draw a map of two features, below the range of a third one if there is one."""
    first, second = shown.axes

    def read_out(i: int, j: int) -> str:
        value = float(shown.values[i, j])
        change = value - function.average
        size = points(change) if function.scale == "probability" else _format_value(function, value)
        place, doubts = (
            name_cell(function, shown, i, j),
            describe_cell(function, shown, i, j, level),
        )
        return f"{place}: {size} ({doubts})"

    rows, columns = shown.values.shape
    title = "" if shown.title is None else f", {shown.title}"
    picture = draw_grid(
        shown.values - function.average,
        shown.weights,
        shown.levels,
        (shorten(function.labels[first]), shorten(function.labels[second])),
        [[read_out(i, j) for j in range(columns)] for i in range(rows)],
        f"{function.label}{title}: {function.axis_label}",
        reach=reach,
        are_numbers=(are_numbers[first], are_numbers[second]),
        few=FEW_ROWS,
    )
    if shown.title is None:
        return picture
    return f'<div><p class="faint">{escape(make_visible(shown.title))}</p>{picture}</div>'


_EXTREME = 0.001
"""A probability, of a class or of all others, below which steps show log-odds."""


def shows_points(row: ExplainedRow) -> bool:
    """Whether steps of a row show log-odds in place of probabilities."""
    return any(_is_extreme(step.after) for step in row.steps)


def _is_extreme(share: float) -> bool:
    return 0.0 < share < _EXTREME or 1.0 - _EXTREME < share < 1.0


def _format_position(share: float) -> str:
    """Return a probability, or its log-odds where percentages would hardly change."""
    return signed(float(find_log_odds(share))) if _is_extreme(share) else percent(share)


def draw_row(row: ExplainedRow, class_label: str) -> str:
    """Draw a waterfall chart: the steps of a row to the probability of a class of this name."""
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
        note = f"{signed(step.added)} \u2192 {_format_position(step.after)}"
        bars.append(Bar(step.name, start + step.added, text, low, high, note, start))
    if not bars:
        return ""
    return draw_waterfall(
        bars,
        name_probability(class_label),
        f"Steps to the probability of {class_label} in row {row.number}",
        note="points \u2192 so far",
    )
