"""The page of a report: one self-contained HTML file."""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from properboost import _core
from properboost.extras import import_extra
from properboost.report.content import (
    FEW_ROWS,
    Estimate,
    Evaluation,
    Figures,
    ReliabilityBin,
    ReportContent,
    SearchSummary,
)
from properboost.report.discontinuities import describe_largest_jump
from properboost.report.feature_subsets import MOST_ROWS
from properboost.report.glossary import find_words
from properboost.report.group_findings import ENOUGH
from properboost.report.importances import (
    STRONG,
    describe_shuffles,
    divide_terms,
    find_needed,
)
from properboost.report.overconfidence import describe_overconfidence
from properboost.report.parameter_words import describe_inside, describe_parameter
from properboost.report.proportions import find_log_odds
from properboost.report.search import (
    describe_cost,
    describe_family,
    describe_reading,
    describe_score,
    describe_simpler,
    describe_unprotected,
    name_score,
)
from properboost.report.wording import (
    count,
    decimal,
    find_protected,
    find_undescribed,
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
"""The most features and pairs in the table of importances."""

MOST_MISTAKES = 30

SHOWN_EFFECTS, SHOWN_PAIRS, SHOWN_ROWS = 6, 3, 3
"""The pictures of features, of joint effects and of rows that no click is needed for."""

NOTABLE_MISS = 0.05
"""The least distance of a tenth's mean probability from what happened that is worth a word."""

SMALL_MISS = 0.01
"""The least such distance where the slope over all rows differs from 1, too."""

SHOWN_CAUTIONS, SHOWN_FINDINGS = 3, 2
"""The cautions, and the findings on each column of groups, that no click is needed for."""

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
            "The mean surprise at the right answer, given its probability: 0 for a sure and "
            "right forecast, 0.69 for 50%, 2.3 for 10%. Smaller is better."
        ),
    ),
    (
        "brier",
        "Brier score",
        4,
        (
            "The mean squared distance between the probability and the outcome (1 or 0). Smaller "
            "is better."
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
"""The scores: their names, words for them, digits after the point, and their meanings.

Those of three digits are shares.
"""


@dataclass(frozen=True)
class _ScoreRow:
    """A score in the form of the page."""

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


def _describe_ratio(ratio: float) -> str:
    """Return the cost of a miss in words: "10 false alarms", "1/10 of a false alarm"."""
    if ratio < 1.0:
        return f"1/{1.0 / ratio:.0f} of a false alarm"
    return count(ratio, "false alarm", "false alarms")


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "describe_cost": describe_cost,
    "describe_score": describe_score,
    "describe_family": describe_family,
    "describe_inside": describe_inside,
    "describe_ratio": _describe_ratio,
    "describe_parameter": describe_parameter,
    "percent": percent,
    "precise": precise,
    "number": number,
    "signed": signed,
    "count": count,
    "list_words": list_words,
    "logit": find_log_odds,
}
"""Functions for the templates."""


def make_page(content: ReportContent, figures: Figures, title: str) -> str:
    """Return the page; jinja2 escapes all foreign texts."""
    environment = _read_templates(import_extra("jinja2", "reports need", "report"))
    context = {
        "title": title,
        "version": _core.__version__,
        "content": content,
        "figures": figures,
        "not_stated": _list_not_stated(content),
        **_gather_model(content),
        **_gather_scores(content),
        **_gather_simpler(content),
        **_gather_terms(content),
        **_gather_search(content.search),
        **_FUNCTIONS,
    }
    body = environment.get_template("body.html.jinja").render(context)
    words = find_words(html.unescape(re.sub(r"<[^>]*>", " ", body)))
    page: str = environment.get_template("page.html.jinja").render(
        context,
        body=body,
        glossary=words,
        style=(_HERE / "page.css").read_text("utf-8"),
        script=(_HERE / "page.js").read_text("utf-8"),
        sections=_list_sections(content),
    )
    return make_visible(page)


def _gather_model(content: ReportContent) -> dict[str, Any]:
    """Return the facts on the model, and the classes of the page."""
    facts = content.facts
    two = len(facts.names) == 2
    return {
        "facts": facts,
        "two": two,
        "spoken": f"“{facts.names[1]}”" if two else "the predicted class",
        "at": facts.classes.index(content.class_),
        "level": f"{100.0 * content.options.confidence_level:.0f}%",
        "kinds": _KINDS,
        "shown_cautions": SHOWN_CAUTIONS,
        "shown_findings": SHOWN_FINDINGS,
        "enough": ENOUGH,
        "few_rows": FEW_ROWS,
    }


def _gather_scores(content: ReportContent) -> dict[str, Any]:
    """Return the scores of the model; empty values where rows have no labels."""
    evaluation, names = content.evaluation, content.facts.names
    values: dict[str, Any] = {
        "evaluation": evaluation,
        "overconfidence": _gather_overconfidence(content),
    }
    if evaluation is None:
        nothing: dict[str, Any] = {"worst": None, "saving": None, "usual": "", "trust": ""}
        return values | nothing | {"misses": [], "mistakes": [], "scores": [], "costs": None}
    return values | {
        "worst": _find_worst(evaluation),
        "saving": evaluation.scores["log_loss"].saving.value,
        "usual": names[int(evaluation.shares.argmax())],
        "trust": _describe_trust(evaluation),
        "misses": _list_misses(evaluation),
        "mistakes": _list_mistakes(evaluation, names),
        "scores": [_show_score(evaluation, *score) for score in _SCORES],
        "costs": evaluation.costs,
    }


def _gather_overconfidence(content: ReportContent) -> str:
    """Return the sentences on overconfidence, if it is known."""
    overconfidence, n_training = content.overconfidence, content.facts.training_rows
    if overconfidence is None or n_training is None:
        return ""
    return describe_overconfidence(overconfidence, content.n_rows, n_training)


def _gather_simpler(content: ReportContent) -> dict[str, Any]:
    """Return the cost of simpler models, and of one without features that may be protected."""
    features, simpler = content.facts.features, content.simpler
    protected = [features[j] for j in find_protected(features)]
    values = {
        "simpler": describe_simpler(simpler),
        "protected": protected,
        "most_scored": MOST_ROWS,
    }
    if simpler is None:
        return values | {"without": "", "subsets": (), "linear": None, "unprotected": None}
    is_known = simpler.unprotected is not None
    return values | {
        "without": describe_unprotected(protected, len(features), simpler) if is_known else "",
        "subsets": simpler.subsets,
        "linear": simpler.linear,
        "unprotected": simpler.unprotected,
    }


def _gather_terms(content: ReportContent) -> dict[str, Any]:
    """Return the terms that move predictions, with those that are drawn."""
    moving = [term for term in content.terms if term.importance > 0.0]
    n_features = sum(not term.is_pair for term in moving)
    strong, weak = divide_terms(content.terms[:MOST_TERMS])
    return {
        "top": [term for term in moving if not term.is_pair][:3],
        "joint": next((term for term in moving if term.is_pair and not term.within_noise), None),
        "curve_doubts": any(term.within_noise and term.alone is not None for term in moving),
        "largest_jump": describe_largest_jump(content.effects),
        "strong": strong,
        "weak": weak,
        "strong_share": STRONG,
        "needed": find_needed(content.terms, content.shuffled),
        "shuffled_words": describe_shuffles(content.terms, content.shuffled),
        "shown": {"effects": SHOWN_EFFECTS, "pairs": SHOWN_PAIRS, "rows": SHOWN_ROWS},
        "unused": [t.name for t in content.terms if not t.is_pair and t.importance == 0.0],
        "average": content.effects[0].probability.average if content.effects else None,
        "banded": any(effect.log_odds.n_bags > 0 for effect in content.effects),
        "left_out": n_features - len(content.effects),
        "pairs_left_out": len(moving) - n_features - len(content.pairs),
        "most_terms": MOST_TERMS,
    }


def _gather_search(search: SearchSummary | None) -> dict[str, Any]:
    """Return the candidates of a search, and their score."""
    if search is None:
        return {"search": None, "scoring": "", "plain_scores": False, "reading": ""}
    return {
        "search": search,
        "reading": describe_reading(search),
        "scoring": name_score(search.scoring),
        "plain_scores": bool(describe_score(search.scoring, search.best_score)),
    }


@cache
def _read_templates(jinja2: Any) -> Any:
    """Return the templates, compiled once: to compile takes as long as to fill them."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


def _show_score(
    evaluation: Evaluation, name: str, words: str, digits: int, meaning: str
) -> _ScoreRow:
    """Return a score as printed; the advantage is the difference of the printed numbers."""
    score = evaluation.scores[name]
    achieved, constant = score.model.value, score.constant
    first, second = (achieved, constant) if name == "auc" else (constant, achieved)
    value = subtract(first, second, digits)
    saving = score.saving
    if saving.is_known:
        saving = Estimate(value, min(value, saving.low), max(value, saving.high))

    def show(number: float) -> str:
        return percent(number) if digits == 3 else decimal(number, digits)

    def show_difference(number: float) -> str:
        return decimal(100.0 * number, 1) if digits == 3 else decimal(number, digits)

    unit = "percentage points" if digits == 3 else ""
    return _ScoreRow(
        words, score.model, show(constant), saving, unit, meaning, show, show_difference
    )


def _list_not_stated(content: ReportContent) -> str:
    """List the model-card fields left empty, in a sentence."""
    options, unnamed = content.options, content.facts.unnamed
    undescribed = find_undescribed(content.facts.described, content.facts.features)
    lacking = [
        words
        for is_given, words in (
            (options.purpose, "the purpose of the model"),
            (options.model_source, "who fitted it, when and on which rows"),
            (options.data_source, "the source of the rows of this page"),
            (options.date, "the date of the report"),
            (not unnamed, unnamed),
            (not undescribed, undescribed),
        )
        if not is_given
    ]
    return "; ".join(lacking)


def _find_worst(evaluation: Evaluation) -> int | None:
    """Return the class of the largest missed share, if any is known."""
    known = [k for k, missed in enumerate(evaluation.missed) if missed.is_known]
    return max(known, key=lambda k: evaluation.missed[k].value, default=None)


def _list_sections(content: ReportContent) -> list[tuple[str, str]]:
    """Return the sections of a page: their anchors, and words for them."""
    scored, drawn = (
        content.evaluation is not None,
        bool(content.effects) or not content.facts.is_additive,
    )
    every = (
        (True, "short", "In short"),
        (True, "cautions", "Cautions"),
        (scored, "scores", "How good"),
        (scored, "trust", "Trust"),
        (bool(content.groupings), "groups", "Groups"),
        (bool(content.terms), "matters", "Importances"),
        (drawn, "effects", "Effects"),
        (True, "rows", "Single rows"),
        (True, "model", "The model"),
        (True, "search", "Search"),
        (True, "about", "About this page"),
        (True, "words", "Words"),
    )
    return [(name, words) for there, name, words in every if there]


def _list_misses(evaluation: Evaluation) -> list[str]:
    """Return the bins whose mean probability is outside the interval of the observed share."""
    return [
        f"{tenth.low:.0%} to {tenth.high:.0%} (too {'low' if _is_too_low(tenth) else 'high'})"
        for tenth in _find_misses(evaluation)
    ]


def _find_misses(evaluation: Evaluation, least: float = 0.0) -> list[ReliabilityBin]:
    """Return the bins whose mean is outside the interval of the share, by at least so much."""
    return [
        tenth
        for tenth in evaluation.reliability.bins
        if tenth.observed.is_off(tenth.predicted, least)
    ]


def _describe_trust(evaluation: Evaluation) -> str:
    """Return a sentence on the calibration of probabilities."""
    reliability = evaluation.reliability
    slope, bias = reliability.slope, reliability.bias
    if not slope.is_known:
        return "There are too few rows to judge whether the probabilities can be trusted."
    if reliability.slope_is_notable:
        if slope.value < 1.0:
            return "The probabilities are too near to 0% and 100%: the model is overconfident."
        return "The probabilities are too far from 0% and 100%: the model is underconfident."
    if reliability.bias_is_notable:
        return f"The probabilities are too {'high' if bias.value > 0.0 else 'low'} on average."
    least = SMALL_MISS if slope.is_off(1.0) else NOTABLE_MISS
    misses = _find_misses(evaluation, least)
    if misses:
        where = "; ".join(_describe_misses(misses))
        return (
            "On these rows the mean of the probabilities agrees with what happened.  By tenths, "
            f"they are off by {least:.0%} and more here: {where}."
        )
    if slope.is_off(1.0):
        return "On these rows the probabilities nearly agree with what happened."
    return "On these rows the probabilities agree with what happened."


def _describe_misses(misses: Sequence[ReliabilityBin]) -> Iterator[str]:
    """Yield a clause on the bins whose probabilities are too low, and one on those too high."""
    for word, chosen in (
        ("low", [tenth for tenth in misses if _is_too_low(tenth)]),
        ("high", [tenth for tenth in misses if not _is_too_low(tenth)]),
    ):
        ranges = list_words([*_join_neighbours(chosen)], 4) if chosen else ""
        if ranges:
            yield f"{ranges} too {word}"


def _join_neighbours(tenths: Sequence[ReliabilityBin]) -> Iterator[str]:
    """Yield the ranges of neighbouring bins in words: "below 20%", "from 80% up"."""
    lows = [tenth.low for tenth in tenths]
    highs = [tenth.high for tenth in tenths]
    begins = [low for low in lows if low not in highs]
    ends = [high for high in highs if high not in lows]
    for low, high in zip(begins, ends, strict=True):
        if low == 0.0:
            yield f"below {high:.0%}"
        else:
            yield f"from {low:.0%} up" if high == 1.0 else f"from {low:.0%} to {high:.0%}"


def _is_too_low(tenth: ReliabilityBin) -> bool:
    return tenth.observed.value > tenth.predicted


def _list_mistakes(
    evaluation: Evaluation, names: Sequence[str]
) -> list[tuple[str, str, float, float]]:
    """Return the most frequent mistakes: true class, predicted class, rows and their share."""
    mistakes = [
        (names[k], names[j], float(rows), float(rows / taken.sum()))
        for k, taken in enumerate(evaluation.confusion)
        for j, rows in enumerate(taken)
        if k != j and rows > 0.0
    ]
    return sorted(mistakes, key=lambda mistake: -mistake[2])[:MOST_MISTAKES]
