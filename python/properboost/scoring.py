"""Scores of held-out raw predictions: the engine's curves, built-in ones, or scikit-learn's."""

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring, get_scorer_names

from properboost._core import rank_scores
from properboost.cached import cached_property
from properboost.data.entries import find_entries
from properboost.data.frames import take_rows
from properboost.data.lending import Loan, lend
from properboost.data.sorted_rows import Rows
from properboost.data.whole_sums import add_up_by, mean
from properboost.losses.probabilities import (
    Link,
    choose_classes,
    ranked_errors,
    square_errors,
)
from properboost.parameters.kinds import Scoring

__all__ = [
    "BUILT_IN",
    "HeldOutRows",
    "Score",
    "find_score",
    "name_score",
    "negative_error",
    "read_curves",
    "spell_score",
]

Array = NDArray[np.float64]

RANKED = "neg_ranked_probability_score"
"""The score of ordered classes, by whose name scikit-learn has none."""


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """The test rows of a split: positions in `Rows`, classes (by position), weights.

    `row_of` has their positions in the table, if these differ.
    """

    rows: NDArray[np.int64]
    codes: NDArray[np.integer[Any]]
    weight: Array | None
    row_of: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, rows: Rows, positions: NDArray[np.int64]) -> "HeldOutRows":
        """Return the rows at these positions, with their classes and weights."""
        weight = None if rows.weight is None else rows.weight[positions]
        row_of = None if rows.row_of is None else rows.row_of[positions]
        return cls(positions, rows.codes[positions], weight, row_of)

    def take(self, places: NDArray[np.intp]) -> "HeldOutRows":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[places]
        row_of = None if self.row_of is None else self.row_of[places]
        return HeldOutRows(self.rows[places], self.codes[places], weight, row_of)

    @property
    def in_table(self) -> NDArray[np.int64]:
        """The positions of the rows in the table."""
        return self.rows if self.row_of is None else self.row_of

    @cached_property
    def class_weights(self) -> Array:
        """The weights of the rows of each of two classes."""
        return add_up_by(self.codes, self.weight, 2)


Score = Callable[[HeldOutRows, Link, Array], float]
"""A score of raw predictions of held-out rows, (n_rows,) or (n_rows, n_classes); more is better."""


def find_score(
    scoring: Scoring, classes: NDArray[Any], source: Any, *, needs_weights: bool = False
) -> Score:
    """Return the score that `scoring` names or is; `source` is the table of the rows.

    With `needs_weights`, a scorer without weights is refused.
    """
    scoring = _spell_out(scoring, len(classes))
    if isinstance(scoring, str):
        built_in = {**BUILT_IN, **(RANKING if len(classes) == 2 else ORDERED)}
        if scoring in built_in:
            return built_in[scoring]
    if not isinstance(scoring, str) and not callable(scoring):
        raise TypeError(
            "scoring must be a scorer's name, None (accuracy) or a callable "
            f"(estimator, X, y) -> float; got {scoring!r}"
        )
    scorer = _find_scorer(scoring)
    # scikit-learn's scorers use the table only as the argument of predictions.
    named = hasattr(scorer, "_score_func")
    weighs = _takes_weights(scorer)
    if needs_weights and not weighs:
        raise ValueError(
            "scoring must be a scorer that takes sample_weight, where y has probabilities: each "
            f"label counts as much as it is probable; got {scoring!r}, which takes none"
        )

    def score(held_out: HeldOutRows, link: Link, raw: Array) -> float:
        rows = held_out.in_table
        loan = Loan(lambda: rows[:, None] if named else take_rows(source, rows))
        has_weights = weighs and held_out.weight is not None
        extra = {"sample_weight": lend(held_out.weight)} if has_weights else {}
        labels = find_entries(classes, held_out.codes)
        try:
            value = scorer(_Replay(lend(classes), link, raw, loan), loan.rows, labels, **extra)
        except ValueError as error:
            lacking = np.setdiff1d(classes, labels).tolist()
            if isinstance(scoring, str) and lacking:
                raise ValueError(
                    f"scoring={scoring!r} needs rows of every class; some that were held out "
                    f"have none of {lacking}"
                ) from error
            if isinstance(scoring, str):  # scikit-learn's message lacks the scorer's name
                raise ValueError(f"scoring={scoring!r} cannot be used: {error}") from error
            raise
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"scoring must return a number; {scoring!r} gave {value!r}") from error

    return score


def name_score(scoring: Scoring) -> str:
    """Return the name of `scoring` for messages."""
    named = _spell_out(scoring)
    return named if isinstance(named, str) else getattr(scoring, "__name__", "score")


def _spell_out(scoring: Scoring, n_classes: int = 2) -> str | Callable[..., float]:
    """Return scikit-learn's name of a scorer for that of other libraries, or the scorer."""
    if scoring is None:
        return "accuracy"
    if scoring == "auc":
        return "roc_auc" if n_classes == 2 else "roc_auc_ovr"
    if scoring in ("rps", RANKED) and n_classes == 2:
        return "neg_brier_score"
    return SHORT_NAMES.get(scoring, scoring) if isinstance(scoring, str) else scoring


def _find_scorer(scoring: str | Callable[..., float]) -> Any:
    """Return scikit-learn's scorer; refuse unknown names without the list of all."""
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        near = difflib.get_close_matches(scoring, [*get_scorer_names(), *SHORT_NAMES], n=3)
        near = [_OTHER_NAMES[scoring]] if scoring in _OTHER_NAMES else near
        guess = f", which may be {' or '.join(map(repr, near))}" if near else ""
        usual = ", ".join(map(repr, [*SHORT_NAMES, *BUILT_IN, *RANKING]))
        raise ValueError(
            f"scoring must be the name of a scorer, such as {usual}; got {scoring!r}{guess}: "
            "sklearn.metrics.get_scorer_names() has all names"
        )
    return check_scoring(_Replay(), scoring)


def _takes_weights(scorer: Callable[..., float]) -> bool:
    try:
        known = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    except ValueError:  # a builtin without a signature
        return False
    return "sample_weight" in known


def _log_loss(held_out: HeldOutRows, link: Link, raw: Array) -> float:
    least = np.finfo(np.float64).eps  # as in scikit-learn
    ends = np.log([least, 1.0 - least])
    if link.knows_logs:
        logs = find_entries(link.log_probabilities(raw), np.arange(len(raw)), held_out.codes)
        return mean(np.clip(logs, *ends), held_out.weight)
    probability = link.of_class(raw, held_out.codes)
    return mean(np.log(np.clip(probability, least, 1.0 - least)), held_out.weight)


def _accuracy(held_out: HeldOutRows, _: Link, raw: Array) -> float:
    return mean(choose_classes(raw) == held_out.codes, held_out.weight)


def negative_error(held_out: HeldOutRows, _: Link, raw: Array) -> float:
    """Return minus the share of held-out rows with a wrong predicted class."""
    return -mean(choose_classes(raw) != held_out.codes, held_out.weight)


def _brier_score(held_out: HeldOutRows, link: Link, raw: Array) -> float:
    return -mean(square_errors(link.probabilities(raw), held_out.codes), held_out.weight)


def _ranked_score(held_out: HeldOutRows, link: Link, raw: Array) -> float:
    return -mean(ranked_errors(link.probabilities(raw), held_out.codes), held_out.weight)


def _balanced_accuracy(held_out: HeldOutRows, _: Link, raw: Array) -> float:
    right = choose_classes(raw) == held_out.codes
    n_classes, weight = int(held_out.codes.max()) + 1, held_out.weight
    of_class = add_up_by(held_out.codes, weight, n_classes)
    weight_of_right = right if weight is None else weight * right
    shares = add_up_by(held_out.codes, weight_of_right, n_classes)[of_class > 0.0]
    return float(np.mean(shares / of_class[of_class > 0.0]))


def _roc_auc(held_out: HeldOutRows, _: Link, raw: Array) -> float:
    return rank_scores(raw, held_out.codes == 1, held_out.weight)[0]


def _average_precision(held_out: HeldOutRows, _: Link, raw: Array) -> float:
    return rank_scores(raw, held_out.codes == 1, held_out.weight)[1]


BUILT_IN: Mapping[str, Score] = {
    "neg_log_loss": _log_loss,
    "accuracy": _accuracy,
    "neg_brier_score": _brier_score,
    "balanced_accuracy": _balanced_accuracy,
}
"""Scores that the engine computes after every estimator, with two classes."""

RANKING: Mapping[str, Score] = {"roc_auc": _roc_auc, "average_precision": _average_precision}
"""Scores of the ranking of rows, with two classes; the second class is the positive one."""


ORDERED: Mapping[str, Score] = {RANKED: _ranked_score}
"""Scores of more classes in the order of their labels; of two classes it is the Brier score."""


SHORT_NAMES: Mapping[str, str] = {"auc": "roc_auc", "logloss": "neg_log_loss", "rps": RANKED}
"""Short names of scores, and scikit-learn's or ours; of several classes "auc" is one-vs-rest."""

_OTHER_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("log_loss", "binary_logloss", "multi_logloss", "mlogloss"), "neg_log_loss"),
    **dict.fromkeys(("cross_entropy", "Logloss", "MultiClass", "nll"), "neg_log_loss"),
    **dict.fromkeys(("error", "merror", "binary_error", "multi_error", "acc"), "accuracy"),
    **dict.fromkeys(("brier", "brier_score", "BrierScore"), "neg_brier_score"),
    **dict.fromkeys(("aucpr", "auprc", "pr_auc", "PRAUC"), "average_precision"),
    **dict.fromkeys(("AUC", "auroc", "rocauc"), "roc_auc"),
}
"""Scorers that unknown names stand for in other libraries, or in plain words."""


def read_curves(
    means: Array, held_out: HeldOutRows, factored: bool, scores: Sequence[Score]
) -> Array:
    """Return scores after each estimator, (n_scores, n), from the engine's held-out means.

    `means`, (3, 3, n), are log loss, error rate and Brier score, over all rows and over either
    class.  Those over all rows include the factors of classes, if any; scores do not.
    """
    curves = np.empty((len(scores), means.shape[2]))
    for curve, score in zip(curves, scores, strict=True):
        k = _PLACES.get(score)
        if k is None:  # balanced accuracy
            known = held_out.class_weights > 0.0
            np.subtract(1.0, means[1, 1:][known].mean(axis=0), out=curve)
            continue
        losses = means[k, 0]
        if factored:
            known = held_out.class_weights > 0.0
            weights = held_out.class_weights[known]
            losses = np.average(means[k, 1:][known], axis=0, weights=weights)
        np.subtract(1.0 if score is _accuracy else 0.0, losses, out=curve)
    return curves


_PLACES: Mapping[Score, int] = {_log_loss: 0, _accuracy: 1, _brier_score: 2}
"""The engine's positions of the losses whose negatives are scores."""


class _Replay(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that returns earlier predictions, for the held-out rows only."""

    def __init__(
        self,
        classes: NDArray[Any] | None = None,
        link: Link | None = None,
        raw: Array | None = None,
        loan: Loan | None = None,
    ) -> None:
        self.classes = classes
        self.link = link
        self.raw = raw
        self.loan = loan

    def fit(self, *_: Any) -> Self:
        raise NotImplementedError

    @property
    def classes_(self) -> NDArray[Any]:
        assert self.classes is not None
        return self.classes

    def decision_function(self, X: Any) -> Array:
        assert self.raw is not None
        assert self.loan is not None
        if len(X) != len(self.raw):
            raise ValueError(
                f"the scorer requested {len(X)} rows; predictions exist only for all "
                f"{len(self.raw)} held-out rows, in order"
            )
        if not self.loan.is_returned(X):
            raise ValueError(
                "the scorer requested other rows than those it received, or another order; "
                "predictions exist only for these rows, in order"
            )
        return self.raw.copy()

    def predict_proba(self, X: Any) -> Array:
        assert self.link is not None
        return self.link.probabilities(self.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[choose_classes(self.decision_function(X))]
        return labels


def spell_score(name: str) -> str:
    """Return the name of a score in words, as plots and tables show it."""
    return name.replace("_", " ").replace("roc auc", "ROC AUC").replace("brier", "Brier")
