"""The watch of a fit while it runs: it scores validation rows, and calls callbacks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import Binning
from properboost.data.init_score import read_init_score
from properboost.data.labels import check_length, find_classes
from properboost.data.table import CodedLabels, SoftLabels
from properboost.data.weights import read_weights
from properboost.engine.protocols import RowSource, TrainingRows
from properboost.fitting.certainty import warn_of_certainty
from properboost.fitting.intercept import add_intercepts
from properboost.fitting.patience import Patience
from properboost.losses.probabilities import Link, as_predicted
from properboost.models.ensemble import Ensemble, Fits, Rounds
from properboost.models.interactions import PairBins
from properboost.notices import warn
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.checks import count_threads
from properboost.parameters.kinds import CONDITIONAL, Scoring
from properboost.scoring import HeldOutRows, Score, find_score

__all__ = ["Validation", "Watch", "read_validation"]


@dataclass(frozen=True, eq=False)
class Validation:
    """The validation rows of a fit, as codes, and their score.

    `base` has the raw predictions from which they start, a column per model.  `finds_intercepts`
    if raw predictions have no level yet, and are scored with intercepts fitted to these rows.
    """

    rows: HeldOutRows
    codes: NDArray[np.uint8]
    base: NDArray[np.float64]
    link: Link
    score: Score
    finds_intercepts: bool = False

    @property
    def n_threads(self) -> int:
        """The number of threads that read the rows."""
        return count_threads(self.link.n_jobs)

    def rate(self, raw: NDArray[np.float64]) -> float:
        """Return the score of raw predictions, a column per model."""
        if self.finds_intercepts:
            raw = add_intercepts(self.link, raw, self.rows.codes, self.rows.weight)
        return self.score(self.rows, self.link, as_predicted(raw))

    def with_intercept(
        self, intercept: str | tuple[float, ...] | None, options: BoostingOptions
    ) -> "Validation":
        """Return the validation rows for raw predictions with this intercept."""
        if intercept == "share" and options.response == CONDITIONAL:
            return replace(self, finds_intercepts=True)
        if isinstance(intercept, tuple):
            return replace(self, base=self.base + np.array(intercept))
        return self

    def warn_of_costly_certainty(self, ensemble: Ensemble, training: TrainingRows) -> bool:
        """Warn if certainty costs more than a model gains; return whether it does."""
        raw = self.add_up(ensemble)
        return warn_of_certainty(
            self.link,
            as_predicted(raw),
            self.rows.codes,
            self.rows.weight,
            training.class_weights / training.class_weights.sum(),
            "validation",
        )

    def rate_stages(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return the score after each estimator of a fitted ensemble."""
        stages = ensemble.follow(self._encode(ensemble), self.n_threads)
        return np.array([self.rate(self.base + raw) for raw in stages])

    def add_up(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return the raw predictions of a fitted ensemble, a column per model."""
        return self.base + ensemble.add_up(self._encode(ensemble), self.n_threads)

    def _encode(self, ensemble: Ensemble) -> NDArray[np.uint8]:
        """Return the codes that the rounds of an ensemble look up."""
        return ensemble.extend_codes(self.codes, self.n_threads)

    def encode_pairs(self, pairs: Sequence[PairBins]) -> NDArray[np.uint8]:
        """Return the codes of pairs of features."""
        native = [pair.native for pair in pairs]
        return _core.encode_pairs(native, self.codes, self.n_threads)


def read_validation(
    open_source: Callable[[], RowSource],
    y: Any,
    sample_weight: Any,
    init_score: Any,
    *,
    training: TrainingRows,
    link: Link,
    scoring: Scoring,
) -> Validation:
    """Return the validation rows that a user passed to `fit`; `open_source` opens them."""
    try:
        source = open_source()
        rows, codes = source.encode_counted(training.binning, training.n_threads)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X_val: {error}") from error
    labels = _read_labels(y, sample_weight, source.n_rows, training.classes)
    if labels.row_of is not None:
        rows, codes = labels.row_of, codes.take(labels.row_of, axis=1)
    n_models = 1 if len(training.classes) == 2 else len(training.classes)
    base = np.zeros((len(rows), n_models))
    if init_score is not None:
        base = read_init_score(init_score, source.n_rows, n_models, "init_score_val")[rows]
    are_soft = labels.row_of is not None
    return Validation(
        rows=labels if are_soft else labels.take(rows),
        codes=codes,
        base=base,
        link=link,
        score=find_score(scoring, training.classes, source.source, needs_weights=are_soft),
    )


def _read_labels(y: Any, sample_weight: Any, n_rows: int, classes: NDArray[Any]) -> HeldOutRows:
    """Return the validation rows; where labels are probabilities, a row for each label."""
    names = ("X_val", "y_val")
    row_of = share = None
    if isinstance(y, SoftLabels):
        check_length(y.probability, n_rows, names)
        strata = y.most_probable
        row_of, codes, share = y.spread()
        class_of_row = find_classes(CodedLabels(y.classes, codes), len(codes), classes, names)
    else:
        strata = class_of_row = find_classes(y, n_rows, classes, names)
    try:
        weight = read_weights(sample_weight, strata)
    except (TypeError, ValueError) as error:
        raise type(error)(f"sample_weight_val: {error}") from error
    if row_of is not None and share is not None:
        weight = share if weight is None else share * weight[row_of]
    return HeldOutRows(np.arange(len(class_of_row)), class_of_row, weight, row_of)


class Watch:
    """The observer of a fit, which scores every estimator and ends boosting.

    A stage is that of the features, and then that of the pairs.  The estimators up to the best
    score stay; without validation rows or early stopping, all stay.  A score that is not defined
    (NaN, or -inf) is never the best.
    """

    def __init__(
        self,
        binning: Binning,
        slopes: Sequence[Sequence[float]],
        *,
        validation: Validation | None = None,
        patience: Callable[[int], Patience] | None = None,
        restarts: bool = False,
        call: Callable[[Callable[[], Fits]], bool] | None = None,
        check_size: Callable[[Fits], None] | None = None,
    ) -> None:
        """Set up the watch.

        Parameters
        ----------
        binning : Binning
            The features' bins.
        slopes : sequence of sequence of float
            The factor of the steps of each fit's models.
        validation : Validation, optional
            The rows that are scored.
        patience : callable, optional
            A factory of the rule that ends boosting; without one, boosting does not stop early.
        restarts : bool, default=False
            Whether every estimator changes the rounds before it, too.
        call : callable, optional
            Called after every estimator, with a function that returns the stage's rounds so far;
            it returns whether to stop.
        check_size : callable, optional
            Called to refuse rounds whose sums could overflow.
        """
        self.scores: list[float] = []
        self.restarts = restarts
        self._binning = binning
        self._slopes = slopes
        self._validation = validation
        self._make_patience = patience
        self._call = call
        self._check_size = check_size
        self._patience: Patience | None = None
        self._codes = np.empty((0, 0), dtype=np.uint8)
        self._begin = self._raw = self._best_raw = np.empty((0, 0))
        self._best = self.n_estimators = self._n_rounds = 0
        self._best_score = -np.inf
        if validation is not None:
            self._codes, self._raw = validation.codes, validation.base
        self.begin_stage()

    def begin_stage(self, pairs: Sequence[PairBins] = ()) -> None:
        """Begin with the features, or with the pairs after the estimators of features that stay."""
        self._parts: list[Fits] = []
        if pairs:
            del self.scores[self.best :]
        self._patience = self._make_patience(1) if self._make_patience else None
        if self._validation is not None:
            self._begin = self._raw
            if pairs:
                self._codes = self._validation.encode_pairs(pairs)
                self._begin = self._best_raw if self._chooses else self._raw
            self._raw, self._best_raw = self._begin.copy(), self._begin
        self._best = self.n_estimators = self._n_rounds = 0

    @property
    def best(self) -> int:
        """The number of estimators of this stage to keep."""
        return self._best if self._chooses else self.n_estimators

    @property
    def _chooses(self) -> bool:
        """Whether scores choose the estimators; all stay if no score is defined."""
        return self._make_patience is not None and self._best_score > -np.inf

    def see(self, new: Fits, *, repeated: bool = False) -> bool:
        """Take an estimator's rounds, or all if it changes them; return whether to stop.

        Estimators of an earlier fit are `repeated`: they are scored, without a call.
        """
        n_rounds = sum(len(rounds) for fit in new for rounds in fit)
        if n_rounds == self._n_rounds:
            return False
        if self.restarts:  # `new` has all rounds, and a finished stage passes them once more
            self._n_rounds = n_rounds
        self.n_estimators += 1
        over = False
        if self._validation is not None:
            over = self._score(new)
        if self._call is not None:
            if self.restarts:
                self._parts.clear()
            self._parts.append(new)
            over = over or (not repeated and self._call(self._join))
        return over

    def check_scores(self, scoring: Scoring) -> None:
        """Warn of undefined scores; raise ValueError if early stopping has no defined one."""
        undefined = sum(not score > -np.inf for score in self.scores)
        if not undefined:
            return
        problem = f"scoring={scoring!r} gave no finite score of the validation rows after"
        stops = self._make_patience is not None
        if undefined == len(self.scores) and stops:
            raise ValueError(
                f"{problem} any estimator: early stopping needs another score, or other rows "
                "(X_val, y_val)"
            )
        rest = ", and early stopping takes none of these for the best" if stops else ""
        warn(f"{problem} {undefined} of {len(self.scores)} estimators{rest}")

    def _score(self, new: Fits) -> bool:
        assert self._validation is not None
        if self.restarts:
            self._raw = self._begin.copy()
        self._add(self._raw, new)
        score = self._validation.rate(self._raw)
        self.scores.append(score)
        if score > self._best_score:  # which neither NaN nor -inf ever is
            self._best, self._best_score = self.n_estimators, score
            self._best_raw = self._raw.copy()
        if self._patience is None:
            return False
        self._patience.add(self.n_estimators - 1, np.array([[score]]))
        return self._patience.is_over(self.n_estimators)

    def _add(self, raw: NDArray[np.float64], new: Fits) -> None:
        """Add the rounds' values at the validation rows, in the mean over the fits."""
        assert self._validation is not None
        n_threads = self._validation.n_threads
        multiplied = [
            [
                rounds if slope == 1.0 else rounds.times(slope)
                for slope, rounds in zip(*both, strict=True)
            ]
            for both in zip(self._slopes, new, strict=True)
        ]
        if self._check_size is not None:
            self._check_size(multiplied)
        for fit in multiplied:
            for m, rounds in enumerate(fit):
                for t in range(len(rounds)):
                    added = rounds.look_up(t, self._codes, self._binning, n_threads)
                    raw[:, m] += added if len(new) == 1 else added / len(new)

    def _join(self) -> Fits:
        """Return the stage's rounds so far."""
        return [
            [Rounds.chain(models) for models in zip(*fits, strict=True)]
            for fits in zip(*self._parts, strict=True)
        ]
