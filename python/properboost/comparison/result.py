"""The comparison of two models: tables, words and the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from properboost.comparison.estimates import Estimate
from properboost.comparison.scores import GREATER_IS_BETTER
from properboost.parameters import checks
from properboost.scoring import spell_score
from properboost.text_table import align

__all__ = ["RESERVED", "Columns", "Comparison", "Contrast"]

Columns = dict[str, NDArray[Any]]

RESERVED = frozenset({"score", "calibration", "difference", "low", "high", "better"})
"""Columns of the tables, which no model can be called."""

_FEW_ROWS = 10
"""Rows that one model alone decides rightly, below which the interval of errors is too short."""


class Contrast(NamedTuple):
    """A number of either model, and the second's less the first's."""

    first: Estimate
    second: Estimate
    difference: Estimate


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two fitted models on the same test rows.

    Differences are the second model's number less the first's, with intervals over other rows like
    these; the training rows of both models are fixed.

    Attributes
    ----------
    names : tuple of two str
        The models' names.
    contrasts : dict of str to Contrast
        The scores "log_loss", "brier_score", "error_rate" and "roc_auc".
    calibrations : dict of str to Contrast
        "bias" (of 0 if perfect), "slope" (1) and, of two classes, "intercept" (0).
    decisions : ndarray of shape (2, 2)
        The weight of the rows by whether the first and the second model are right, wrong first.
    disagreements : dict of ndarray
        The rows whose probabilities differ most, ready for ``pandas.DataFrame``: ``row`` (from 0),
        ``distance`` (half of the sum over classes of differences), ``class``, the label each model
        predicts, and the probability each gives to the class.
    n_rows, n_units : int
        The rows of positive weight, and the independent units: groups, or else rows.
    mean_distance : float
        The mean of the distances of all rows.
    confidence_level : float
        The confidence level of the intervals.
    """

    names: tuple[str, str]
    contrasts: dict[str, Contrast]
    calibrations: dict[str, Contrast]
    decisions: NDArray[np.float64]
    disagreements: Columns
    n_rows: int
    n_units: int
    mean_distance: float
    confidence_level: float

    @property
    def scores(self) -> Columns:
        """The table of scores, ready for ``pandas.DataFrame``.

        ``low`` and ``high`` are the ends of the interval of ``difference``.  ``better`` is the
        model that it favours as a whole, or "unclear".
        """
        return {
            "score": np.array([*self.contrasts]),
            **_tabulate(self.contrasts, self.names),
            "better": np.array([self.find_better(name) for name in self.contrasts]),
        }

    @property
    def calibration(self) -> Columns:
        """The table of calibration, ready for ``pandas.DataFrame``: numbers and their intervals."""
        ends = {
            f"{end}_{name}": np.array([getattr(c[k], end) for c in self.calibrations.values()])
            for k, name in enumerate(self.names)
            for end in ("low", "high")
        }
        values = _tabulate(self.calibrations, self.names)
        return {
            "calibration": np.array([*self.calibrations]),
            **{name: values[name] for name in self.names},
            **ends,
        }

    def find_better(self, score: str) -> str:
        """Return the name of the model whose score is better beyond doubt, or "unclear".

        Parameters
        ----------
        score : str
            A score of `contrasts`.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there is no such score.
        """
        checks.choice("score", score, [*self.contrasts])
        _, low, high = _unpack(self.contrasts[score].difference)
        if not (low > 0.0 or high < 0.0):
            return "unclear"
        return self.names[int((low > 0.0) == (score in GREATER_IS_BETTER))]

    # -- words ------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        parts = [self._describe_scores(), self._describe_calibration(), self._describe_decisions()]
        if len(self.disagreements["row"]):
            parts.append(self._describe_disagreements())
        return "\n\n".join(parts)

    def _describe_scores(self) -> str:
        first, second = self.names
        level = f"{self.confidence_level:.3g}".removeprefix("0")
        head = ["score", first, second, "difference", f"{level} interval", "better"]
        rows = [
            [
                spell_score(score),
                *(f"{_unpack(estimate)[0]:.4f}" for estimate in contrast[:2]),
                f"{contrast.difference.value:+.4f}",
                _write_interval(contrast.difference, "+.4f"),
                self.find_better(score),
            ]
            for score, contrast in self.contrasts.items()
        ]
        units = "" if self.n_units == self.n_rows else f" in {self.n_units:,} groups"
        note = (
            f"{self.n_rows:,} rows{units}. Differences are {second} less {first}; intervals are "
            "over other rows,\nnot over other training rows."
        )
        return "\n".join([*align([head, *rows]), note])

    def _describe_calibration(self) -> str:
        head = ["calibration", *(word for name in self.names for word in (name, "interval"))]
        rows = [
            [
                spell_score(quantity),
                *(word for estimate in contrast[:2] for word in _word(estimate)),
            ]
            for quantity, contrast in self.calibrations.items()
        ]
        return "\n".join(align([head, *rows]))

    def _describe_decisions(self) -> str:
        (_, only_second), (only_first, _) = self.decisions
        total = self.decisions.sum()
        first, second = self.names
        text = (
            f"Only {first} is right in {only_first / total:.2%} of the rows, and only {second} in "
            f"{only_second / total:.2%}."
        )
        if only_first + only_second < _FEW_ROWS:
            text += " These are too few for the interval of the error rate."
        return text

    def _describe_disagreements(self) -> str:
        columns = self.disagreements
        rows = [
            [_write(value) for value in values] for values in zip(*columns.values(), strict=True)
        ]
        head = (
            f"Rows that disagree most (the mean distance of all rows is {self.mean_distance:.3f}):"
        )
        return "\n".join([head, *align([[*columns], *rows])])


def _tabulate(contrasts: dict[str, Contrast], names: tuple[str, str]) -> Columns:
    values = list(contrasts.values())
    return {
        names[0]: np.array([contrast.first.value for contrast in values]),
        names[1]: np.array([contrast.second.value for contrast in values]),
        "difference": np.array([contrast.difference.value for contrast in values]),
        "low": np.array([contrast.difference.low for contrast in values]),
        "high": np.array([contrast.difference.high for contrast in values]),
    }


def _unpack(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def _word(estimate: Estimate) -> tuple[str, str]:
    return f"{estimate.value:.3f}", _write_interval(estimate, ".3f")


def _write_interval(estimate: Estimate, form: str) -> str:
    """Return the ends of an interval; of one row, unit or class there may be none."""
    if not estimate.is_known:
        return "unknown"
    return f"{estimate.low:{form}} to {estimate.high:{form}}"


def _write(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
