"""From raw predictions of any model to probabilities, classes and margins."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost import _core
from properboost.data.entries import find_entries
from properboost.losses.builtin import Exponential, GLog, MarginLoss
from properboost.parameters.checks import count_threads_of
from properboost.parameters.kinds import Coupling

__all__ = [
    "Link",
    "Votes",
    "as_predicted",
    "choose_classes",
    "find_lead",
    "log_losses",
    "ranked_errors",
    "square_errors",
]

_LOGISTIC = np.array([1e-6, 0.02, 0.25, 0.4])
"""Probabilities that suffice to recognise a logistic link; links are symmetric."""

_FARTHEST = 1e300
"""A size of scores whose differences are finite."""

_EXPONENTIAL = _core.Loss("exponential")
"""e^-u, with the same bits on any processor."""

_SOFTMAX = _core.JointLoss("softmax", GLog().native)
"""softmax(u / 2)."""


@dataclass(frozen=True)
class Link:
    """A link from raw predictions to probabilities: a loss and, of several classes, a coupling.

    Raw predictions are an array (n_rows,) with two classes, and (n_rows, n_classes) with more.
    """

    loss: MarginLoss
    multiclass: Coupling | None = None
    """The coupling; None with two classes, and where the loss itself covers several."""
    n_jobs: int | None = 1
    """The threads of joint losses, as an estimator has them: None is every CPU."""
    temperature: float | None = None
    """The softmax temperature of one-vs-rest models; None divides probabilities by their sum."""

    @property
    def knows_logs(self) -> bool:
        """Whether the probabilities of several classes are made from their logarithms."""
        return self.temperature is not None or bool(self.joint_loss)

    @property
    def joint_loss(self) -> str:
        """The engine's name of the joint loss; empty where each class has its loss."""
        return "" if self.multiclass in (None, "one_vs_rest") else self.multiclass

    def probabilities(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of all classes, (n_rows, n_classes)."""
        if self.knows_logs:
            return _EXPONENTIAL.loss(-self.log_probabilities(raw))
        if raw.ndim == 1:
            # Every link is symmetric.  The smaller of the two, straight from the link, keeps its
            # digits, while one minus the larger may be 0.
            smaller = self.loss.probability(-np.abs(raw))
            larger, positive = 1.0 - smaller, raw > 0.0
            both = np.empty((len(raw), 2))
            both[:, 0] = np.where(positive, smaller, larger)
            both[:, 1] = np.where(positive, larger, smaller)
            return both
        probability = self.loss.probability(raw)
        total = probability.sum(axis=1, keepdims=True)
        normalized = np.full_like(probability, 1.0 / raw.shape[1])
        np.divide(probability, total, out=normalized, where=total > 0.0)
        return normalized

    def second_probability(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of the second of two classes, of one model's predictions."""
        smaller = self.loss.probability(-np.abs(raw))
        return np.where(raw > 0.0, 1.0 - smaller, smaller)

    def log_odds(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log(p / (1 - p)) of each class, (n_rows, n_classes): finite where p is 0 or 1."""
        tiny = np.finfo(np.float64).tiny
        log_p = np.maximum(self.log_probabilities(raw), np.log(tiny))  # some links have -inf
        p, none = np.exp(log_p), np.zeros((len(log_p), 1))
        # A difference from 1 would keep hardly a digit where a class is almost certain.
        before = np.cumsum(np.hstack([none, p[:, :-1]]), axis=1)
        after = np.cumsum(np.hstack([none, p[:, :0:-1]]), axis=1)[:, ::-1]
        log_odds: NDArray[np.float64] = log_p - np.log(np.maximum(before + after, tiny))
        return log_odds

    def find_log_odds_slope(self, n_models: int) -> float | None:
        """Return the slope of log-odds over raw predictions where it is constant; None elsewhere.

        With one model, of two classes, it is constant under a logistic link.  With several classes
        it is the slope of the logarithm of a softmax's numerator.
        """
        if self.temperature is not None or self.joint_loss == "softmax":
            return 0.5 / self.loss.gain / (self.temperature or 1.0)
        if n_models > 1:
            return None
        raw = self.loss.link(_LOGISTIC)
        if not raw.all():  # the least gains round it to 0
            return None
        with np.errstate(over="ignore"):  # gains near the least float
            slopes = (np.log(_LOGISTIC) - np.log1p(-_LOGISTIC)) / raw
        if not np.isfinite(slopes).all():
            return None
        return float(slopes[-1]) if np.ptp(slopes) <= 1e-12 * np.abs(slopes).max() else None

    def of_class(
        self, raw: NDArray[np.float64], codes: NDArray[np.integer[Any]]
    ) -> NDArray[np.float64]:
        """Return the probability of each row's class: an entry of `probabilities`."""
        if raw.ndim > 1:
            return find_entries(self.probabilities(raw), np.arange(len(raw)), codes)
        smaller = self.loss.probability(-np.abs(raw))  # the only value to compute
        chosen: NDArray[np.float64] = np.where((raw > 0.0) == (codes == 1), 1.0 - smaller, smaller)
        return chosen

    def log_probabilities(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities.

        With a joint form of the loss or a softmax they are finite for the smallest probabilities.
        """
        n_threads = count_threads_of(len(raw), self.n_jobs)
        if self.temperature is not None:
            return _SOFTMAX.log_probabilities(self._divide(raw), n_threads)
        if raw.ndim == 1 and self.loss.joint_forms:
            # Two classes are a joint model whose raw predictions are F and -F.
            name, raw = str(self.loss.joint_forms[0]), np.stack([-raw, raw], axis=1)
        elif self.joint_loss:
            name = self.joint_loss
        else:
            with np.errstate(divide="ignore"):
                logs: NDArray[np.float64] = np.log(self.probabilities(raw))
            return logs
        with np.errstate(over="ignore"):
            scores = np.clip(raw / self.loss.gain, -_FARTHEST, _FARTHEST)
        joint = _core.JointLoss(name, self.loss.native)
        return joint.log_probabilities(np.ascontiguousarray(scores), n_threads)

    def densities(
        self, raw: NDArray[np.float64], probability: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the rates q of change of probabilities with raw predictions, of their shape.

        With two classes dp/dF is q, in both columns.  With more dp_j / dF_i is q_j (1[i = j] -
        q_i / the sum of q): the row's shift keeps the sum of probabilities.
        """
        if raw.ndim == 1:
            with np.errstate(divide="ignore"):  # the reciprocal of the least gain overflows
                q = 1.0 / self.loss.regularization_strength(raw)
            return np.stack([q, q], axis=1)
        if self.temperature is not None or self.joint_loss == "softmax":
            temperature = 1.0 if self.temperature is None else self.temperature
            return probability / (2.0 * self.loss.gain * temperature)
        strength = self.loss.regularization_strength(self.loss.link(probability))
        densities: NDArray[np.float64] = 1.0 / strength
        return densities

    def _divide(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return F / (sigma T), limited to finite numbers in the order of a row's classes."""
        assert self.temperature is not None
        with np.errstate(over="ignore", invalid="ignore"):  # gains near the largest float
            scores = raw / self.loss.gain / self.temperature
            if not max(scores.max(), -scores.min()) <= _FARTHEST:
                differences = raw - raw.max(axis=1, keepdims=True)
                scores = differences / self.loss.gain / self.temperature
                np.maximum(scores, -_FARTHEST, out=scores)
        return np.ascontiguousarray(scores)


class Votes(Exponential):
    """The link of votes for classes: the exponential's for two, the softmax for more."""

    def probability(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of the positive class, or of all classes."""
        raw = np.asarray(F)
        if raw.ndim == 1:
            return super().probability(raw)
        from scipy.special import softmax  # on use, because its import takes long

        probability: NDArray[np.float64] = softmax(raw, axis=1)
        return probability


def as_predicted(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return raw predictions, a column per model, as estimators return them."""
    return raw[:, 0] if raw.shape[1] == 1 else raw


def choose_classes(raw: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the position of each row's predicted class."""
    # Links ascend, so the largest F is the most probable; probabilities may be equal at 1.
    chosen: NDArray[np.intp] = (raw > 0.0).astype(np.intp) if raw.ndim == 1 else raw.argmax(axis=1)
    return chosen


def find_lead(values: NDArray[np.float64], codes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Return the excess of the value of each row's class over the largest of the others."""
    rows = np.arange(len(values))
    others = values.copy()
    others[rows, codes] = -np.inf
    lead: NDArray[np.float64] = values[rows, codes] - others.max(axis=1)
    return lead


def log_losses(probability: NDArray[np.float64], codes: NDArray[Any]) -> NDArray[np.float64]:
    """Return each row's log loss, of probabilities clipped as in scikit-learn."""
    least = np.finfo(np.float64).eps
    of_label = probability[np.arange(len(codes)), codes.astype(np.intp)]
    return cast("NDArray[np.float64]", -np.log(np.clip(of_label, least, 1.0 - least)))


def square_errors(probability: NDArray[np.float64], codes: NDArray[Any]) -> NDArray[np.float64]:
    """Return each row's squared error, whose mean is the Brier score.

    With two classes it is that of one class, as in scikit-learn.
    """
    if probability.shape[1] == 2:
        return cast("NDArray[np.float64]", (probability[:, 1] - codes) ** 2)
    differences = probability.copy()
    differences[np.arange(len(codes)), codes.astype(np.intp)] -= 1.0
    return cast("NDArray[np.float64]", np.sum(differences**2, axis=1))


def ranked_errors(probability: NDArray[np.float64], codes: NDArray[Any]) -> NDArray[np.float64]:
    """Return each row's ranked probability score, for columns in ascending order of the classes."""
    up_to = np.cumsum(probability[:, :-1], axis=1)
    is_up_to = codes[:, None] <= np.arange(up_to.shape[1])
    return cast("NDArray[np.float64]", np.mean((up_to - is_up_to) ** 2, axis=1))
