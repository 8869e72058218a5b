"""A fitted boosted classifier: its constants, intervals and record of rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from properboost.data.binning import FeatureBins
from properboost.estimators.base import TableClassifier, make_compact
from properboost.estimators.describing import DescribingMixin
from properboost.estimators.explaining import ExplainingMixin
from properboost.inspection.intervals import count_errors
from properboost.parameters.elsewhere import AdvisesMixin
from properboost.parameters.rows import ClassifierParameters

__all__ = ["BoostedClassifier"]


class BoostedClassifier(
    ClassifierParameters, TableClassifier, DescribingMixin, ExplainingMixin, AdvisesMixin
):
    """A fitted boosted classifier, with predictions, explanations and files."""

    validation_scores_: NDArray[np.float64]
    search_: dict[str, Any]
    seed_: int

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def _describe_training(self) -> tuple[Sequence[FeatureBins], Sequence[NDArray[np.float64]]]:
        return self.ensemble_.binning.features, self.ensemble_.bin_weights

    # -- keeping ----------------------------------------------------------------------------------

    @property
    def is_compact(self) -> bool:
        """Whether the model has only what its predictions need."""
        return self.ensemble_.is_compact

    def _compacted(self) -> Self:
        compact = self._copy_with(ensemble_=self.ensemble_.compacted())
        compact.__dict__.pop("validation_scores_", None)
        return compact

    def _copy_around(self, best: BoostedClassifier, **attributes: Any) -> Self:
        """Return a copy of a search around its best model, which is made compact."""
        compact = make_compact(best)
        return self._copy_with(best_estimator_=compact, ensemble_=compact.ensemble_, **attributes)

    @property
    def intercept_(self) -> float | NDArray[np.float64]:
        """The constant in every raw prediction, or one for each class."""
        self._check_fitted()
        intercept = self.ensemble_.intercept
        return float(intercept[0]) if len(intercept) == 1 and len(self.classes_) == 2 else intercept

    @property
    def slope_(self) -> float | NDArray[np.float64]:
        """The factor of all steps, or one for each class."""
        self._check_fitted()
        slope = np.array(self.ensemble_.slopes or np.ones(len(self.ensemble_.models)))
        return float(slope[0]) if len(slope) == 1 and len(self.classes_) == 2 else slope

    def predict_interval(self, X: Any, confidence_level: float = 0.9) -> NDArray[np.float64]:
        """Return a confidence interval for each probability.

        It is an interval for the mean of fits to other rows of the same source, and not for the
        true probability.  Its half-width is a t quantile times the standard error by the bags.

        Parameters
        ----------
        X
            As in `predict_proba`.
        confidence_level : float, default=0.9
            The share of such intervals that cover their target, in (0, 1).

        Returns
        -------
        ndarray of shape (n_rows, n_classes, 2)
            The ends of the intervals.

        Raises
        ------
        ValueError
            If the model has no bags (`outer_bags`), or keeps no tables of theirs.
        """
        table, n_threads = self._open(X, coded=True)
        spread = self.ensemble_.bag_errors
        if spread is None:
            raise ValueError(
                "predict_interval needs a model that was fitted with outer_bags, of look-up tables "
                "or of trees with at most three features on a path, as with "
                "Tree(interaction_cst=3)"
            )
        link, reach = self._link, count_errors(spread.n_bags, confidence_level)
        raw = self.ensemble_.raw_predictions(table, n_threads)
        raws = spread.raw_predictions(table, n_threads)
        if raw.shape[1] == 1:  # the link is monotone, and its tails are exact
            error = spread.of(raws)
            low, high = (link.probabilities((raw + side * error)[:, 0]) for side in (-reach, reach))
            ends = np.stack([low, high], axis=2)
            ends[:, 0] = ends[:, 0, ::-1]  # it falls where the other rises
            return ends
        logits = [link.log_odds(bag_raw) for bag_raw in raws]
        error, middle = spread.of(logits), link.log_odds(raw)
        return np.stack([expit(middle - reach * error), expit(middle + reach * error)], axis=2)

    # -- the record of rounds ----------------------------------------------------------------------

    @property
    def n_iter_(self) -> int:
        """The number of rounds, or of cycles over the features, of the longest model."""
        self._check_fitted()
        return self.ensemble_.n_estimators

    @property
    def history_(self) -> dict[str, NDArray[Any]]:
        """The rounds: arrays of equal length, ready for ``pandas.DataFrame``.

        ``class`` is the label that the round predicts.  ``feature`` is a position; those of
        `pairs_` follow the features', and -1 is a tree.  ``cost`` is the criterion that chose it,
        ``step`` multiplies its table, and ``risk`` is the mean training loss after it.  With
        validation rows there is ``validation_score``, too.
        """
        self._check_fitted()
        self._check_complete("history_", AttributeError)
        models = self.ensemble_.models
        rounds = [len(model) for model in models]
        history = {
            "class": np.repeat(self.classes_[-len(models) :], rounds),
            "round": np.concatenate([np.arange(1, n + 1) for n in rounds]),
            "feature": np.concatenate([model.feature for model in models]),
            "cost": np.concatenate([model.cost for model in models]),
            "step": np.concatenate([model.step for model in models]),
            "risk": np.concatenate([model.risk for model in models]),
        }
        if hasattr(self, "validation_scores_"):
            scores = [np.empty(len(model)) for model in models]
            for score, stage in zip(self.validation_scores_, self.ensemble_.stages(), strict=False):
                for model_scores, rounds_of_stage in zip(scores, stage, strict=True):
                    model_scores[rounds_of_stage.start : rounds_of_stage.stop] = score
            history["validation_score"] = np.concatenate(scores)
        return history
