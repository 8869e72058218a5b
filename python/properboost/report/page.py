"""The page of a report: one HTML file that needs nothing else."""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from properboost import _core
from properboost.extras import import_extra
from properboost.report.costs import describe_cost, describe_score, name_score
from properboost.report.extremes import describe_extremes
from properboost.report.families import describe_family
from properboost.report.feature_descriptions import find_undescribed
from properboost.report.fewer import MOST_ROWS
from properboost.report.found import FEW_ROWS, SLIGHT, Collected, Estimate, Judged, View
from properboost.report.glossary import find_words
from properboost.report.group_findings import ENOUGH
from properboost.report.log_odds import find_log_odds
from properboost.report.parameter_words import describe_inside, describe_parameter
from properboost.report.protected import find_protected
from properboost.report.simpler import describe_simpler, describe_unprotected
from properboost.report.words import (
    count,
    decimal,
    list_words,
    number,
    percent,
    precise,
    signed,
    subtract,
)
from properboost.visible import make_visible

__all__ = ["make_page"]

MOST_TERMS = 500
"""Features and pairs in the table of importances."""

MOST_MISTAKES = 30

_HERE = Path(__file__).parent

_SCORES = (
    (
        "error",
        "wrong predictions",
        3,
        "How many of 100 rows are predicted wrongly. Smaller is better.",
    ),
    (
        "log_loss",
        "log loss",
        4,
        (
            "The mean surprise at what a row was, given its probability: 0 for a sure and right "
            "forecast, 0.69 for 50%, 2.3 for 10%. Smaller is better."
        ),
    ),
    (
        "brier",
        "Brier score",
        4,
        (
            "The mean squared distance between probability and what was so (1 or 0). Smaller is "
            "better."
        ),
    ),
    (
        "auc",
        "AUC",
        3,
        (
            "How often a row of a class gets a higher probability of it than a row of another "
            "class: 100% always, 50% no better than chance. Larger is better. It is about the "
            "order of rows alone, and not the share that is predicted rightly."
        ),
    ),
)
"""The scores: their names, words for them, digits after the point, and what they mean.

Those of three digits are shares.
"""


@dataclass(frozen=True)
class _Shown:
    """A score as the page shows it."""

    words: str
    model: Estimate
    constant: str
    saving: Estimate
    unit: str
    meaning: str
    show: Callable[[float], str]
    show_difference: Callable[[float], str]


_KINDS = {
    "right": "among the surest, and right",
    "wrong": "among the surest, and wrong",
    "sure": "among the surest",
    "unsure": "hardly decided",
    "refused": "narrowly not called “{}”",
    "granted": "narrowly called “{}”",
}


def make_page(found: Collected, view: View, title: str) -> str:
    """Return the page; jinja2 escapes all that is not ours, and no character ends its reader."""
    environment = _read_templates(import_extra("jinja2", "reports need", "report"))
    judged, facts, search = found.judged, found.facts, found.compared
    moving = [term for term in found.terms if term.importance > 0.0]
    n_features = sum(not term.is_pair for term in moving)
    names = facts.names
    protected = [facts.features[j] for j in find_protected(facts.features)]
    given = {
        "title": title,
        "version": _core.__version__,
        "found": found,
        "facts": facts,
        "judged": judged,
        "compared": search,
        "view": view,
        "two": len(names) == 2,
        "level": f"{100.0 * found.confidence_level:.0f}%",
        "usual": "" if judged is None else names[int(judged.shares.argmax())],
        "spoken": f"“{names[1]}”" if len(names) == 2 else "the predicted class",
        "at": facts.classes.index(found.class_),
        "not_stated": _list_not_stated(found),
        "worst": None if judged is None else _find_worst(judged),
        "trust": "" if judged is None else _judge_trust(judged),
        "extremes": ""
        if found.extremes is None or facts.training_rows is None
        else describe_extremes(found.extremes, found.n_rows, facts.training_rows),
        "simpler": describe_simpler(found.fewer, found.linear, found.whole),
        "without": ""
        if found.unprotected is None
        else describe_unprotected(protected, len(facts.features), found.unprotected, found.whole),
        "protected": protected,
        "most_scored": MOST_ROWS,
        "unused": [t.name for t in found.terms if not t.is_pair and t.importance == 0.0],
        "misses": [] if judged is None else _list_misses(judged),
        "top": moving[:3],
        "average": found.effects[0].probability.average if found.effects else None,
        "banded": any(effect.log_odds.n_bags > 0 for effect in found.effects),
        "left_out": n_features - len(found.effects),
        "pairs_left_out": len(moving) - n_features - len(found.pairs),
        "mistakes": [] if judged is None else _list_mistakes(judged, names),
        "most_terms": MOST_TERMS,
        "kinds": _KINDS,
        "scores": [] if judged is None else [_show_score(judged, *own) for own in _SCORES],
        "enough": ENOUGH,
        "few_rows": FEW_ROWS,
        "scoring": "" if search is None else name_score(search.scoring),
        "plain_scores": search is not None
        and bool(describe_score(search.scoring, search.best_score)),
        "saving": None if judged is None else judged.scores["log_loss"].saving.value,
        "describe_cost": describe_cost,
        "describe_score": describe_score,
        "describe_family": describe_family,
        "describe_inside": describe_inside,
        "describe_parameter": describe_parameter,
        "percent": percent,
        "precise": precise,
        "number": number,
        "signed": signed,
        "count": count,
        "list_words": list_words,
        "logit": find_log_odds,
    }
    body = environment.get_template("body.html.jinja").render(given)
    words = find_words(html.unescape(re.sub(r"<[^>]*>", " ", body)))
    page: str = environment.get_template("page.html.jinja").render(
        given,
        body=body,
        glossary=words,
        style=(_HERE / "page.css").read_text("utf-8"),
        script=(_HERE / "page.js").read_text("utf-8"),
        sections=_list_sections(found),
    )
    return make_visible(page)


@cache
def _read_templates(jinja2: Any) -> Any:
    """Return the templates, which are compiled once: that takes as long as to fill them."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


def _show_score(judged: Judged, name: str, words: str, digits: int, meaning: str) -> _Shown:
    """Return a score as it is printed; what is better is the difference of what is printed."""
    score = judged.scores[name]
    own, constant = score.model.value, score.constant
    first, second = (own, constant) if name == "auc" else (constant, own)
    value = subtract(first, second, digits)
    saving = score.saving
    if saving.is_known:
        saving = Estimate(value, min(value, saving.low), max(value, saving.high))

    def show(number: float) -> str:
        return percent(number) if digits == 3 else decimal(number, digits)

    def show_difference(number: float) -> str:
        return decimal(100.0 * number, 1) if digits == 3 else decimal(number, digits)

    unit = "percentage points" if digits == 3 else ""
    return _Shown(words, score.model, show(constant), saving, unit, meaning, show, show_difference)


def _list_not_stated(found: Collected) -> str:
    """Return, as a list in a sentence, what only people know and nobody said."""
    about, unnamed = found.about, found.facts.unnamed
    undescribed = find_undescribed(found.facts.described, found.facts.features)
    lacking = [
        words
        for is_given, words in (
            (about.purpose, "what the model is for"),
            (about.model_source, "who fitted it, when and on which rows"),
            (about.data_source, "where the rows of this page are from"),
            (about.date, "the date of the report"),
            (not unnamed, unnamed),
            (not undescribed, undescribed),
        )
        if not is_given
    ]
    return "; ".join(lacking)


def _find_worst(judged: Judged) -> int | None:
    """Return the class of which the largest share was missed, if any is known."""
    known = [k for k, missed in enumerate(judged.missed) if missed.is_known]
    return max(known, key=lambda k: judged.missed[k].value, default=None)


def _list_sections(found: Collected) -> list[tuple[str, str]]:
    """Return the sections of a page: their anchors, and words for them."""
    scored, drawn = found.judged is not None, bool(found.effects) or not found.facts.is_additive
    every = (
        (True, "short", "In short"),
        (True, "cautions", "Beware"),
        (scored, "scores", "How good"),
        (scored, "trust", "Trust"),
        (bool(found.groupings), "groups", "Groups"),
        (bool(found.terms), "matters", "What matters"),
        (drawn, "effects", "Effects"),
        (True, "rows", "Single rows"),
        (True, "model", "The model"),
        (True, "search", "What was tried"),
        (True, "words", "Words"),
    )
    return [(name, words) for there, name, words in every if there]


def _list_misses(judged: Judged) -> list[str]:
    """Return the bins whose mean probability is outside the interval of what was so."""
    return [
        f"{own.low:.0%} to {own.high:.0%} (too "
        f"{'low' if own.observed.value > own.predicted else 'high'})"
        for own in judged.reliability.bins
        if own.observed.is_off(own.predicted)
    ]


def _judge_trust(judged: Judged) -> str:
    """Return in a sentence whether probabilities can be taken at their word."""
    slope, bias = judged.reliability.slope, judged.reliability.bias
    if not slope.is_known:
        return "There are too few rows to say whether the probabilities can be trusted."
    if slope.is_off(1.0, SLIGHT):
        if slope.value < 1.0:
            return "The probabilities are too near to 0% and 100%: the model is too sure of itself."
        return "The probabilities are too far from 0% and 100%: the model is too cautious."
    so = judged.reliability.observed
    if bias.is_off(0.0, SLIGHT * min(so, 1.0 - so)):
        return f"The probabilities are too {'high' if bias.value > 0.0 else 'low'} on average."
    if slope.is_off(1.0):
        where = "near to" if slope.value < 1.0 else "far from"
        return (
            "On these rows the probabilities nearly agree with what happened; they are slightly "
            f"too {where} 0% and 100%."
        )
    n_tenths, misses = len(judged.reliability.bins), len(_list_misses(judged))
    if misses:
        return (
            "On these rows the probabilities agree with what happened on average, but not in "
            f"{misses} of {count(n_tenths, 'tenth', 'tenths')}."
        )
    return "On these rows the probabilities agree with what happened."


def _list_mistakes(judged: Judged, names: Sequence[str]) -> list[tuple[str, str, float, float]]:
    """Return the most frequent mistakes: a class, what it was taken for, rows and their share."""
    found = [
        (names[k], names[j], float(rows), float(rows / own.sum()))
        for k, own in enumerate(judged.confusion)
        for j, rows in enumerate(own)
        if k != j and rows > 0.0
    ]
    return sorted(found, key=lambda mistake: -mistake[2])[:MOST_MISTAKES]
