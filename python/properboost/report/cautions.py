"""Cautions: what a reader of a model should beware of."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from properboost.report.content import (
    FEW_ROWS,
    NOTABLE_SHARE,
    Array,
    Caution,
    Drift,
    Effect,
    Evaluation,
    Facts,
    Grouping,
    Overconfidence,
    Term,
)
from properboost.report.discontinuities import count_few, list_discontinuities
from properboost.report.group_findings import name_farthest
from properboost.report.overconfidence import list_overconfidence
from properboost.report.wording import count, find_protected, list_words, percent

__all__ = ["list_cautions", "list_drift"]

_SEE_GROUPS = "  See “Does it treat groups alike?”."

MOST_GROUPINGS = 4
"""The most columns whose groups the caution names."""

FEW_OF_A_CLASS = 50
"""Test rows of a class below which a score is vague about it."""


MOST_FEW = 0.1
"""The largest share of a feature's ranges that may have few training rows without a warning."""


def list_drift(counts: Mapping[str, NDArray[Any]], names: Sequence[str]) -> list[Drift]:
    """Return the counts of `count_drift` for each feature that has any, the largest first."""
    columns = ("unseen", "rare", "below", "above", "missing")
    drifts = [
        Drift(name, *(float(counts[column][j]) for column in columns))
        for j, name in enumerate(names)
    ]
    return sorted((drift for drift in drifts if drift.new > 0.0), key=lambda drift: -drift.new)


def list_cautions(
    facts: Facts,
    evaluation: Evaluation | None,
    overconfidence: Overconfidence | None,
    drift: Sequence[Drift],
    effects: Sequence[Effect],
    terms: Sequence[Term],
    groupings: Sequence[Grouping],
    n_rows: int,
    counts: Array | None,
    without: str = "",
) -> list[Caution]:
    """Return the cautions, the gravest first; `counts` are the rows of each class.

    `without` is a sentence on the cost of leaving out the features that the law may protect.
    """
    cautions: list[Caution] = []
    if facts.unnamed:
        cautions.append(
            Caution(
                "The names of the classes have no meaning",
                f"T{facts.unnamed[1:]} was not stated, and this page cannot be read without it.  "
                "Ask the person who handed it to you.",
            )
        )
    if evaluation is None:
        cautions.append(
            Caution(
                "No answers to check",
                "There is no column of right answers, so this page cannot show how often the "
                "model is right.",
            )
        )
    else:
        cautions += _list_of_scores(evaluation)
        assert counts is not None
        cautions += _list_of_classes(facts, counts)
    cautions += _list_of_people(facts, terms, groupings, without)
    cautions += _list_of_groups(groupings)
    cautions += list_overconfidence(overconfidence, n_rows, facts.training_rows)
    cautions += _list_of_drift(drift, n_rows)
    cautions += list_discontinuities(effects)
    cautions += _list_of_bins(effects)
    cautions += _list_of_noise(terms, effects)
    cautions += _list_of_unmeasured(facts, terms)
    if facts.edits:
        cautions.append(
            Caution(
                "Changed by hand",
                f"The model was changed after it was fitted ({len(facts.edits):,} times).  Its "
                "effects of those features were not learnt from rows.",
            )
        )
    return cautions


def _list_of_scores(evaluation: Evaluation) -> Iterator[Caution]:
    saving = evaluation.scores["log_loss"].saving
    if saving.is_known and saving.low <= 0.0:
        yield Caution(
            "Hardly better than no model",
            "On these rows the probabilities are not clearly better than the shares of the classes "
            "alone.",
        )
    slope, bias = evaluation.reliability.slope, evaluation.reliability.bias
    if evaluation.reliability.slope_is_notable:
        title, where = (
            ("Overconfident", "near to") if slope.value < 1.0 else ("Underconfident", "far from")
        )
        yield Caution(
            title,
            f"Its probabilities are too {where} 0% and 100%: the calibration slope is "
            f"{slope.value:.2f} (between {slope.low:.2f} and {slope.high:.2f}), where 1 is right.",
        )
    if evaluation.reliability.bias_is_notable:
        so = evaluation.reliability.observed
        yield Caution(
            f"Probabilities are too {'high' if bias.value > 0.0 else 'low'} on average",
            f"Their mean is {percent(evaluation.reliability.predicted)}, where {percent(so)} of "
            f"the rows were {'so' if len(evaluation.shares) == 2 else 'predicted rightly'}; chance "
            "does not explain the difference.",
        )


def _list_of_people(
    facts: Facts, terms: Sequence[Term], groupings: Sequence[Grouping], without: str
) -> Iterator[Caution]:
    unused = {term.place for term in terms if not term.is_pair and term.importance == 0.0}
    used = [facts.features[j] for j in find_protected(facts.features) if j not in unused]
    words = [f"“{name}”" for name in used]
    if words:
        yield Caution(
            "It uses what the law may protect",
            f"The names of {list_words(words, 10)} suggest that they describe who a person is, "
            "and the model uses them.  Deciding about people by such features is forbidden in "
            f"many places and for many purposes.  {without}  Leaving them out is not enough, "
            f"because other features may stand in for them.{_SEE_GROUPS if groupings else ''}",
        )

    compared = {grouping.name for grouping in groupings}
    hidden = [f"“{name}”" for name in used if name not in compared]
    if hidden:
        yield Caution(
            "Not all errors by who a person is are shown",
            f"The model uses {list_words(hidden, 10)}, and this page does not show its errors by "
            "the groups of these.  Ask for a page that does: --subgroups names the columns, in "
            "Python subgroups=.",
        )


def _list_of_groups(groupings: Sequence[Grouping]) -> Iterator[Caution]:
    apart = [grouping for grouping in groupings if grouping.findings]
    if not apart:
        return
    words = [f"“{grouping.name}”" for grouping in apart]
    named = [(grouping.name, name_farthest(grouping.groups)) for grouping in apart]
    yield Caution(
        "It does not treat all groups alike",
        f"Between groups by {list_words(words, 8)}, its predictions, its errors or the "
        "calibration of its probabilities differ by more than chance explains, and enough to "
        f"matter.{_SEE_GROUPS}",
        tuple(f"{name}, {text}" for name, text in named if text)[:MOST_GROUPINGS],
    )


def _list_of_noise(terms: Sequence[Term], effects: Sequence[Effect]) -> Iterator[Caution]:
    """Yield the caution on effects that the bags cannot distinguish from chance.

    They need not be small: few bags leave room for much chance.
    """
    features, pairs = (
        [term for term in terms if term.is_pair == of_pairs and term.importance > 0.0]
        for of_pairs in (False, True)
    )
    words = [term.name for term in features if term.within_noise]
    if words:
        kind = "curve" if any(term.alone is not None for term in features) else "effect"
        words = [f"the {kind}{'s' if len(words) > 1 else ''} of {list_words(words)}"]
    noisy = sum(bool(term.within_noise) for term in pairs)
    if noisy > 0:
        words.append(f"{noisy:,} of {count(len(pairs), 'joint effect', 'joint effects')}")
    if words:
        yield Caution(
            "Effects that may be chance",
            f"{_name_bags(effects)} cannot distinguish {' and '.join(words)} from chance.  They "
            "may be real, which more bags (--outer-bags) may show.  Until then, do not interpret "
            "their shapes.",
        )


def _list_of_unmeasured(facts: Facts, terms: Sequence[Term]) -> Iterator[Caution]:
    """Yield the caution on effects that nothing distinguishes from chance, without bags."""
    moving = [term for term in terms if term.importance > 0.0]
    if facts.is_additive and moving and all(term.within_noise is None for term in moving):
        yield Caution(
            "Effects may be chance",
            "How sure the effects are was not measured, since this model has no bags.  A curve or "
            "a map may be chance.  Fit again with --outer-bags 16, in Python outer_bags=16, to see "
            "which.",
        )


def _name_bags(effects: Sequence[Effect]) -> str:
    n_bags = max((effect.log_odds.n_bags for effect in effects), default=0)
    return f"The model's {n_bags} bags" if n_bags else "The model's bags"


def _list_of_classes(facts: Facts, counts: Array) -> Iterator[Caution]:
    few = [
        f"{label} ({count:,.0f})"
        for label, count in zip(facts.names, counts, strict=True)
        if count < FEW_OF_A_CLASS
    ]
    if few:
        yield Caution(
            "Hardly any test rows of a class",
            f"There are fewer than {FEW_OF_A_CLASS} test rows of {list_words(few)}: the numbers "
            "of these classes are uncertain.",
        )


def _list_of_drift(drifts: Sequence[Drift], n_rows: int) -> Iterator[Caution]:
    for title, text, rows in (
        (
            "Categories that training did not have",
            "Some rows have new categories of {}, of which the model had no training rows.",
            [(drift.feature, drift.unseen) for drift in drifts],
        ),
        (
            "Numbers beyond those of training",
            "Values of {} are outside the range of training; each counts as the nearest value.",
            [(drift.feature, drift.below + drift.above) for drift in drifts],
        ),
        (
            "Missing values that training did not have",
            "Values of {} are missing, although none were missing in training.",
            [(drift.feature, drift.missing) for drift in drifts],
        ),
    ):
        least = NOTABLE_SHARE * n_rows
        words = [
            f"{feature} ({count(n, 'row', 'rows')})"
            for feature, n in rows
            if n > 0.0 and n >= least
        ]
        if words:
            yield Caution(title, text.format(list_words(words)))
    most = max((drift.new for drift in drifts), default=0.0)
    if most > 0.05 * n_rows:
        yield Caution(
            "These rows are from elsewhere",
            f"Of one feature, {most / n_rows:.0%} of the rows have values that training did not "
            "have.  Scores on other rows need not be the same.",
        )


def _list_of_bins(effects: Sequence[Effect]) -> Iterator[Caution]:
    counted = [(effect.term.name, *count_few(effect.log_odds, FEW_ROWS)) for effect in effects]
    few = [f"{name} ({n} of {n_all})" for name, n, n_all in counted if n > MOST_FEW * n_all]
    if few:
        yield Caution(
            "Values with few training rows",
            f"Some ranges or categories of {list_words(few)} had fewer than {FEW_ROWS} training "
            "rows each: jumps there may be chance.",
        )
