"""A bare estimator, on which scikit-learn's checks record the names of columns."""

from typing import Any, Self

from sklearn.base import BaseEstimator

__all__ = ["NameRecorder"]


class NameRecorder(BaseEstimator):  # type: ignore[misc]
    """A bare estimator, on which scikit-learn's checks record the names of columns."""

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return a recorder with the features of a model that is no estimator, and its name."""
        recorder: Self = type(model.kind, (cls,), {})()
        for name in {"n_features_in_", "feature_names_in_"} & vars(model).keys():
            setattr(recorder, name, getattr(model, name))
        return recorder
