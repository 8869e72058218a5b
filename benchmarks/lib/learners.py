"""Plain fits by weak learner, as a user gets them who tunes nothing."""

from collections.abc import Callable
from typing import Any

from properboost import ProperBoostClassifier


def _plain(**parameters: Any) -> Callable[[int], ProperBoostClassifier]:
    return lambda seed: ProperBoostClassifier(random_state=seed, **parameters)


LEARNERS: dict[str, Callable[[int], ProperBoostClassifier]] = {
    "tables": _plain(),
    "stumps": _plain(weak_learner="stump"),
    "monomials": _plain(weak_learner="monomial"),
    "trees": _plain(weak_learner="tree"),
    "pairs": _plain(interactions=10),
}
