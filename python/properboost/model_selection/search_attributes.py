"""The results of a search as attributes of its estimator, and as texts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from properboost.estimators.boosted import BoostedClassifier
from properboost.model_selection.compare_families import format_families
from properboost.model_selection.families import design_search, is_readable
from properboost.model_selection.search_html import write_search
from properboost.model_selection.search_results import list_splits

__all__ = ["WithSearchResults"]


class WithSearchResults(BoostedClassifier):
    """The attributes that `SearchResults` describes, and the comparison as a text and as HTML."""

    effort: int | None

    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    calibration_: dict[str, Any] | None
    held_out_scores_: dict[str, Any] | None
    cv_results_: dict[str, Any]
    ended_: str | None
    family_: str | None
    gain_: float
    family_results_: dict[str, NDArray[Any]] | None
    interaction_results_: dict[str, NDArray[Any]]
    _validation_curves: NDArray[np.float64] | None

    @property
    def validation_curves_(self) -> NDArray[np.float64]:
        """The score of each candidate, on each split, after each estimator."""
        self._check_complete("validation_curves_", AttributeError)
        assert self._validation_curves is not None
        return self._validation_curves

    @property
    def n_splits_(self) -> int:
        """The number of splits on which the candidates were compared."""
        return len(list_splits(self.cv_results_))

    def describe_search(self) -> str:
        """Return the comparison as a text: a line for each family, the best first.

        A line has the score of the family's best candidate, its distance from the best of all (with
        the standard error over the splits), the numbers of candidates and of dropped ones, and
        their seconds.  The last lines list the values of the space, and the families that exclude
        them.  If all families do, there are these last lines alone.

        Raises
        ------
        ValueError
            With ``effort=None``, which compares no families.
        """
        if not hasattr(self, "cv_results_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet")
        families = self.family_results_
        if families is None and self.effort is None:
            raise ValueError("no families were compared, because effort=None")
        lines = [] if families is None else [format_families(families)]
        return "\n".join([*lines, *design_search(self).describe()])

    def _html_repr(self) -> str:
        """Return the families of a finished search, above scikit-learn's view of its parameters."""
        diagram: str = super()._html_repr()
        if getattr(self, "family_results_", None) is None:
            return diagram
        return write_search(self, is_readable) + diagram
