"""What a reader of a model should beware of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.report.effects import Effect, Term
from properboost.report.facts import Facts
from properboost.report.scores import Array, Judged

__all__ = ["Caution", "Drift", "list_cautions", "list_drift"]

FEW_ROWS = 10
"""Training rows of a bin below which its value may be chance."""

FEW_OF_A_CLASS = 50
"""Test rows of a class below which a score says little about it."""

MOST_NAMES = 6


@dataclass(frozen=True)
class Caution:
    """Something to beware of: a short title, and what it means."""

    title: str
    text: str


@dataclass(frozen=True)
class Drift:
    """Rows whose value of a feature no training row had; NaN where it is not known."""

    feature: str
    unseen: float
    rare: float
    below: float
    above: float
    missing: float

    @property
    def new(self) -> float:
        """Rows with any such value: unseen categories, numbers beyond, missing values."""
        return float(np.nansum([self.unseen, self.below, self.above, self.missing]))


def list_drift(counts: Mapping[str, NDArray[Any]], names: Sequence[str]) -> list[Drift]:
    """Return what `count_drift` counted of each feature that has any, the most first."""
    columns = ("unseen", "rare", "below", "above", "missing")
    found = [
        Drift(name, *(float(counts[column][j]) for column in columns))
        for j, name in enumerate(names)
    ]
    return sorted((one for one in found if one.new > 0.0), key=lambda one: -one.new)


def list_cautions(
    facts: Facts,
    judged: Judged | None,
    drift: Sequence[Drift],
    effects: Sequence[Effect],
    terms: Sequence[Term],
    n_rows: int,
    counts: Array | None,
) -> list[Caution]:
    """Return what to beware of, the gravest first; `counts` are the rows of each class."""
    found: list[Caution] = []
    if judged is None:
        found.append(
            Caution(
                "No answers to check",
                "The file has no column of right answers, so nothing here says how often the model "
                "is right.",
            )
        )
    else:
        found += _list_of_scores(judged)
        assert counts is not None
        found += _list_of_classes(facts, counts)
    found += _list_of_drift(drift, n_rows)
    found += _list_of_bins(effects)
    noisy = [term.name for term in terms if term.within_noise and term.importance > 0.0]
    if noisy:
        found.append(
            Caution(
                "Effects that may be chance",
                f"As large an effect may well be chance of {_list_names(noisy)}: do not read a "
                "story into its shape.",
            )
        )
    if facts.edits:
        found.append(
            Caution(
                "Changed by hand",
                f"The model was changed after it was fitted ({len(facts.edits):,} times).  What it "
                "says of those features was not learnt from rows.",
            )
        )
    return found


def _list_of_scores(judged: Judged) -> Iterator[Caution]:
    saving = judged.scores["log_loss"].saving
    if saving.is_known and saving.low <= 0.0:
        yield Caution(
            "Hardly better than no model",
            "On these rows the probabilities are not clearly better than the shares of the classes "
            "alone.",
        )
    slope = judged.reliability.slope
    if slope.is_known and slope.high < 1.0:
        yield Caution(
            "Too sure of itself",
            f"Its probabilities are too near to 0% and 100%: the calibration slope is "
            f"{slope.value:.2f} (between {slope.low:.2f} and {slope.high:.2f}), where 1 is right.",
        )
    elif slope.is_known and slope.low > 1.0:
        yield Caution(
            "Too cautious",
            "Its probabilities are too far from 0% and 100%: the calibration slope is "
            f"{slope.value:.2f} (between {slope.low:.2f} and {slope.high:.2f}), where 1 is right.",
        )
    bias = judged.reliability.bias
    if bias.is_known and not bias.low <= 0.0 <= bias.high:
        direction = "high" if bias.value > 0.0 else "low"
        yield Caution(
            f"Probabilities are too {direction} on average",
            f"Their mean is {judged.reliability.predicted:.1%}, where {judged.reliability.observed:.1%} "
            "of the rows were so; chance does not explain the difference.",
        )


def _list_of_classes(facts: Facts, counts: Array) -> Iterator[Caution]:
    few = [
        f"{label} ({count:,.0f})"
        for label, count in zip(facts.classes, counts, strict=True)
        if count < FEW_OF_A_CLASS
    ]
    if few:
        yield Caution(
            "Few rows of a class",
            f"There are fewer than {FEW_OF_A_CLASS} test rows of {_list_names(few)}: what is said "
            "of these classes is uncertain.",
        )


def _list_of_drift(drift: Sequence[Drift], n_rows: int) -> Iterator[Caution]:
    unseen = [f"{own.feature} ({own.unseen:,.0f} rows)" for own in drift if own.unseen > 0.0]
    if unseen:
        yield Caution(
            "Categories that training did not have",
            f"These rows hold unseen categories of {_list_names(unseen)}.  They add nothing to a "
            "prediction.",
        )
    beyond = [
        f"{own.feature} ({own.below + own.above:,.0f} rows)"
        for own in drift
        if own.below + own.above > 0.0
    ]
    if beyond:
        yield Caution(
            "Numbers beyond those of training",
            f"Values of {_list_names(beyond)} are smaller or larger than any in training.  They "
            "are taken for the nearest ones.",
        )
    missing = [f"{own.feature} ({own.missing:,.0f} rows)" for own in drift if own.missing > 0.0]
    if missing:
        yield Caution(
            "Missing values that training did not have",
            f"Values of {_list_names(missing)} are missing, which they never were in training.",
        )
    most = max((own.new for own in drift), default=0.0)
    if most > 0.05 * n_rows:
        yield Caution(
            "These rows are from elsewhere",
            f"For one feature, {most / n_rows:.0%} of the rows hold values that training did not "
            "have.  Scores on other rows need not be the same.",
        )


def count_few(effect: Effect) -> int:
    """Return how many bins that training had rows in have few of them."""
    weights = effect.log_odds.weights
    return int(np.count_nonzero((weights > 0.0) & (weights < FEW_ROWS)))


def _list_of_bins(effects: Sequence[Effect]) -> Iterator[Caution]:
    few = [
        f"{own.term.name} ({count_few(own)} of {len(own.log_odds.weights)})"
        for own in effects
        if count_few(own) > 0
    ]
    if few:
        yield Caution(
            "Ranges of few rows",
            f"Some ranges or categories of {_list_names(few)} had fewer than {FEW_ROWS} training "
            "rows each: jumps there may be chance.",
        )


def _list_names(names: Sequence[str]) -> str:
    """Return names as words, not all if they are many."""
    shown = list(names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        shown.append(f"{len(names) - MOST_NAMES} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
