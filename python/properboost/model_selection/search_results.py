"""The results of a search, which become attributes of its estimator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SearchResults", "list_splits"]


@dataclass(eq=False)
class SearchResults:
    """The results of a search, which become attributes of the estimator."""

    cv_results: dict[str, Any]
    validation_curves: NDArray[np.float64]
    family_results: dict[str, NDArray[Any]] | None = None
    interaction_results: dict[str, NDArray[Any]] | None = None
    calibration: dict[str, Any] | None = None
    held_out_scores: dict[str, Any] | None = None
    """The number of held-out rows, and the winner's log loss and accuracy on them, calibrated."""
    ended: str | None = None
    """The reason for which the search ended early, if it did."""
    of_winner: dict[str, Any] = field(default_factory=dict)
    best_params: dict[str, Any] = field(default_factory=dict)

    @property
    def n_splits(self) -> int:
        """The number of splits on which the candidates were compared."""
        return len(list_splits(self.cv_results))

    def take(self, params: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        """Take the parameters and the attributes of a winner."""
        self.best_params, self.of_winner = dict(params), dict(attributes)

    def describe(self) -> dict[str, Any]:
        """Return the attributes of an estimator with these results."""
        attributes = {
            **self.of_winner,
            "cv_results_": self.cv_results,
            "family_results_": self.family_results,
            "ended_": self.ended,
            "calibration_": self.calibration,
            "held_out_scores_": self.held_out_scores,
            "best_params_": self.best_params,
            "_validation_curves": self.validation_curves,
        }
        if self.interaction_results is not None:
            attributes["interaction_results_"] = self.interaction_results
        return attributes


def list_splits(cv_results: Mapping[str, Any]) -> list[str]:
    """Return the names of the scores on each split on which candidates were compared."""
    return [name for name in cv_results if name.startswith("split") and "test_score" in name]
