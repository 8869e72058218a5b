"""The checks of classifiers that users pass: any with probabilities, and whether one is fitted."""

from typing import Any

from sklearn.exceptions import NotFittedError

__all__ = ["is_fitted", "require_classifier", "require_fitted"]


def require_classifier(name: str, estimator: Any) -> None:
    """Refuse what has no probabilities; `name` is the argument's."""
    if not hasattr(estimator, "predict_proba") or isinstance(estimator, type):
        raise TypeError(f"{name} must be a classifier with predict_proba; got {estimator!r}")


def is_fitted(estimator: Any) -> bool:
    """Whether a classifier has classes: other libraries' lack scikit-learn's way of telling."""
    return hasattr(estimator, "classes_")


def require_fitted(name: str, estimator: Any, advice: str = "") -> None:
    """Refuse a classifier that is not fitted."""
    if not is_fitted(estimator):
        raise NotFittedError(
            f"{name} must be fitted; this {type(estimator).__name__} is not{advice}"
        )
