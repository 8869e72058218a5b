"""All numbers of a report, gathered before anything is drawn or written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.labels import find_classes
from properboost.data.weights import read_weights
from properboost.estimators.base import TableClassifier
from properboost.estimators.boosted import BoostedClassifier
from properboost.report.cautions import Caution, Drift, list_cautions, list_drift
from properboost.report.compared import Compared, read_search
from properboost.report.effects import (
    Effect,
    Fewer,
    PairEffect,
    Term,
    list_effects,
    list_pair_effects,
    list_terms,
    score_fewer,
)
from properboost.report.facts import Facts, describe_model
from properboost.report.rows import TellingRow, choose_rows, describe_rows
from properboost.report.scores import Judged, judge

__all__ = ["Collected", "collect"]


@dataclass(frozen=True)
class Collected:
    """What a report tells.

    `class_` is the class that effects are of; None where there are none.  `judged` and `fewer` are
    of rows with labels only.  `no_rows` is why no rows are told, where they cannot be.
    """

    facts: Facts
    n_rows: int
    judged: Judged | None
    drift: Sequence[Drift]
    cautions: Sequence[Caution]
    terms: Sequence[Term]
    class_: Any
    effects: Sequence[Effect]
    pairs: Sequence[PairEffect]
    fewer: Sequence[Fewer]
    rows: Sequence[TellingRow]
    no_rows: str
    compared: Compared | None
    confidence_level: float


def collect(
    model: TableClassifier,
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    class_: Any,
    confidence_level: float,
    max_features: int,
    max_pairs: int,
    max_rows: int,
    random_state: int,
) -> Collected:
    """Gather the numbers of a report; see `write_report`."""
    facts = describe_model(model)
    probability = model.predict_proba(X)
    n_rows, n_classes = probability.shape
    labels = model.classes_.tolist()
    predicted = np.searchsorted(model.classes_, model.predict(X))
    weight = read_weights(sample_weight, predicted)
    codes = None if y is None else find_classes(y, n_rows, model.classes_)
    judged = counts = None
    if codes is not None:
        counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
        judged = judge(
            probability,
            codes,
            predicted,
            weight,
            confidence_level=confidence_level,
            random_state=random_state,
        )
    if class_ is None:
        class_ = labels[1] if n_classes == 2 else labels[_find_usual(probability, codes)]
    elif class_ not in labels:
        raise ValueError(f"class_ must be one of {labels}; got {class_!r}")
    terms = list_terms(model)
    effects: list[Effect] = []
    pairs: list[PairEffect] = []
    fewer: list[Fewer] = []
    if facts.is_additive:
        assert isinstance(model, BoostedClassifier)
        moving = [term for term in terms if term.importance > 0.0]
        features = [term for term in moving if not term.is_pair]
        effects = list_effects(model, features[:max_features], class_)
        of_pairs = [term for term in moving if term.is_pair]
        pairs = list_pair_effects(model, of_pairs[:max_pairs], class_)
        if codes is not None:
            fewer = score_fewer(model, terms, X, codes, weight)
    drift = list_drift(model.count_drift(X), facts.features)
    chosen = choose_rows(probability, predicted, codes, max_rows)
    rows: list[TellingRow] = []
    no_rows = ""
    try:
        rows = describe_rows(model, X, chosen, probability, predicted, codes, confidence_level)
    except (ImportError, ValueError) as error:
        no_rows = str(error)
    return Collected(
        facts=facts,
        n_rows=n_rows,
        judged=judged,
        drift=drift,
        cautions=list_cautions(facts, judged, drift, effects, terms, n_rows, counts),
        terms=terms,
        class_=class_ if effects else None,
        effects=effects,
        pairs=pairs,
        fewer=fewer,
        rows=rows,
        no_rows=no_rows,
        compared=read_search(model),
        confidence_level=confidence_level,
    )


def _find_usual(probability: NDArray[np.float64], codes: NDArray[np.intp] | None) -> int:
    """Return the most frequent class, or without labels the one of most probability."""
    if codes is None:
        return int(probability.mean(axis=0).argmax())
    return int(np.bincount(codes).argmax())
