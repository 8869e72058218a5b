"""The result of a fit: classes, loss and ensemble, the attributes of boosted classifiers."""

from dataclasses import dataclass
from typing import Any, Self, TypeVar

from numpy.typing import NDArray

from properboost.losses.builtin import MarginLoss
from properboost.models.ensemble import Ensemble
from properboost.parameters.kinds import Coupling

__all__ = ["FittedModel"]

Fitted = TypeVar("Fitted")


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The result of a fit: the attributes of a boosted classifier, or of a predictor."""

    classes: NDArray[Any]
    loss: MarginLoss
    ensemble: Ensemble
    seed: int
    multiclass: Coupling | None = None
    temperature: float | None = None
    begins_with_scores: bool = False
    """Whether raw predictions start from an `init_score`."""

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return the result of a fit from the attributes of a classifier."""
        return cls(
            model.classes_,
            model.loss_,
            model.ensemble_,
            model.seed_,
            model.multiclass_,
            model.temperature_,
            model.begins_with_scores_,
        )

    def describe(self) -> dict[str, Any]:
        """Return the fitted attributes of a classifier."""
        return {
            "loss_": self.loss,
            "multiclass_": self.multiclass,
            "temperature_": self.temperature,
            "classes_": self.classes,
            "ensemble_": self.ensemble,
            "seed_": self.seed,
            "begins_with_scores_": self.begins_with_scores,
        }

    def move_to(self, model: Fitted) -> Fitted:
        """Set the attributes of a classifier, and return it."""
        vars(model).update(self.describe())
        return model
