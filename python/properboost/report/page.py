"""The page of a report: one HTML file that needs nothing else."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from properboost import _core
from properboost.extras import import_extra
from properboost.report.found import SLIGHT, Collected, Judged, View
from properboost.report.words import number, percent, signed

__all__ = ["make_page"]

MOST_TERMS = 500
"""Features and pairs in the table of importances."""

MOST_MISTAKES = 30

_HERE = Path(__file__).parent

_SCORES = (
    (
        "error",
        "wrong predictions",
        percent,
        "How many of 100 rows are predicted wrongly. Smaller is better.",
    ),
    (
        "log_loss",
        "log loss",
        number,
        (
            "The mean surprise at what a row was, given its probability: 0 for a sure and right "
            "forecast, 0.69 for 50%, 2.3 for 10%. Smaller is better."
        ),
    ),
    (
        "brier",
        "Brier score",
        number,
        (
            "The mean squared distance between probability and what was so (1 or 0). Smaller is "
            "better."
        ),
    ),
    (
        "auc",
        "AUC",
        percent,
        (
            "How often a row of a class gets a higher probability of it than a row of another "
            "class: 100% always, 50% no better than chance. Larger is better."
        ),
    ),
)
"""The scores: their names, words for them, how they are written, and what they mean."""

_SCORINGS = {
    "neg_log_loss": "log loss, with a minus so that larger is better",
    "neg_brier_score": "Brier score, with a minus so that larger is better",
    "roc_auc": "AUC",
    "balanced_accuracy": "share of right predictions, averaged over the classes",
    "accuracy": "share of right predictions",
}
"""Scores of a search, in words."""

_KINDS = {
    "right": "surest, and right",
    "wrong": "surest, and wrong",
    "sure": "surest",
    "unsure": "hardly decided",
}


def make_page(found: Collected, view: View, title: str) -> str:
    """Return the page; jinja2 escapes all that is not ours."""
    jinja2 = import_extra("jinja2", "reports need", "report")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    judged, facts, search = found.judged, found.facts, found.compared
    moving = [term for term in found.terms if term.importance > 0.0]
    n_features = sum(not term.is_pair for term in moving)
    page: str = environment.get_template("page.html.jinja").render(
        title=title,
        version=_core.__version__,
        style=(_HERE / "page.css").read_text("utf-8"),
        script=(_HERE / "page.js").read_text("utf-8"),
        sections=_list_sections(found),
        found=found,
        facts=facts,
        judged=judged,
        compared=search,
        view=view,
        usual="" if judged is None else facts.classes[int(judged.shares.argmax())],
        spoken=f"“{facts.classes[1]}”" if len(facts.classes) == 2 else "the predicted class",
        trust="" if judged is None else _judge_trust(judged),
        top=moving[:3],
        average=percent(found.effects[0].probability.average) if found.effects else "",
        scoring="" if search is None else _SCORINGS.get(search.scoring, search.scoring),
        banded=any(effect.log_odds.n_bags > 0 for effect in found.effects),
        left_out=n_features - len(found.effects),
        pairs_left_out=len(moving) - n_features - len(found.pairs),
        mistakes=[] if judged is None else _list_mistakes(judged, facts.classes),
        most_terms=MOST_TERMS,
        kinds=_KINDS,
        scores=_SCORES,
        percent=percent,
        number=number,
        signed=signed,
    )
    return page


def _list_sections(found: Collected) -> list[tuple[str, str]]:
    """Return the sections of a page: their anchors, and words for them."""
    scored, drawn = found.judged is not None, bool(found.effects) or not found.facts.is_additive
    every = (
        (True, "short", "In short"),
        (True, "cautions", "Beware"),
        (scored, "scores", "How good"),
        (scored, "trust", "Trust"),
        (bool(found.terms), "matters", "What matters"),
        (drawn, "effects", "Effects"),
        (True, "rows", "Single rows"),
        (True, "model", "The model"),
        (True, "search", "What was tried"),
        (True, "words", "Words"),
    )
    return [(name, words) for there, name, words in every if there]


def _judge_trust(judged: Judged) -> str:
    """Return in a sentence whether probabilities can be taken at their word."""
    slope, bias = judged.reliability.slope, judged.reliability.bias
    if not slope.is_known:
        return "These rows cannot tell whether the probabilities can be trusted."
    if slope.is_off(1.0, SLIGHT):
        if slope.value < 1.0:
            return "The probabilities are too near to 0% and 100%: the model is too sure of itself."
        return "The probabilities are too far from 0% and 100%: the model is too cautious."
    so = judged.reliability.observed
    if bias.is_off(0.0, SLIGHT * min(so, 1.0 - so)):
        return f"The probabilities are too {'high' if bias.value > 0.0 else 'low'} on average."
    if slope.is_off(1.0):
        trace = "sure" if slope.value < 1.0 else "cautious"
        return f"The probabilities can be taken at their word, though they are a trace too {trace}."
    return "On these rows the probabilities can be taken at their word."


def _list_mistakes(judged: Judged, classes: Sequence[Any]) -> list[tuple[Any, Any, float, float]]:
    """Return the most frequent mistakes: a class, what it was taken for, rows and their share."""
    found = [
        (classes[k], classes[j], float(rows), float(rows / own.sum()))
        for k, own in enumerate(judged.confusion)
        for j, rows in enumerate(own)
        if k != j and rows > 0.0
    ]
    return sorted(found, key=lambda mistake: -mistake[2])[:MOST_MISTAKES]
