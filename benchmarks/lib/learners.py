"""Plain fits by weak learner, as a user gets them who tunes nothing; and ratios over draws."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def plain(**parameters: Any) -> Callable[[int], Any]:
    """Return a function from a seed to a `ProperBoostClassifier`."""

    def make(seed: int) -> Any:
        from properboost import ProperBoostClassifier

        return ProperBoostClassifier(random_state=seed, **parameters)

    return make


LEARNERS: dict[str, Callable[[int], Any]] = {
    "tables": plain(weak_learner="table"),
    "stumps": plain(weak_learner="stump"),
    "rules": plain(weak_learner="rule"),
    "trees": plain(weak_learner="tree"),
    "pairs": plain(interactions=10),
}


def fit_to_few(model: Any, X: Any, y: Any) -> Any:
    """Fit a model without warnings: on so few rows, as intended here, they are no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(X, y)


def describe(ratios: Sequence[float], digits: int) -> str:
    """Return the mean of a ratio over draws, its standard error and the largest."""
    error = np.std(ratios, ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.nan
    return (
        f"{np.mean(ratios):.{digits}f} (standard error {error:.{digits}f}, "
        f"largest {max(ratios):.{digits}f})"
    )
