"""Fitted models, the registry of their invariants, and the comparison of two models."""

import functools
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from fuzz.parameters import check_model
from properboost.estimators.boosted import BoostedClassifier
from properboost.models.bag_tables import BagTables
from properboost.parameters.declare import read_parameter
from properboost.parameters.learners import Learner, make_learner
from properboost.parameters.stages import EarlyStopping

TINY = 1e-300
"""Numbers below this have fewer digits, or are 0."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted model, and the rows it was fitted to."""

    model: Any
    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    seed: int = 0

    @functools.cached_property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @functools.cached_property
    def raw(self) -> NDArray[np.float64]:
        return self.model.decision_function(self.X)

    @functools.cached_property
    def scale(self) -> float:
        """Size of the terms that raw predictions are sums of."""
        if not isinstance(self.model, BoostedClassifier):
            return float(np.abs(self.raw).max())
        ensemble = self.model.ensemble_
        return max(rounds.bound() for rounds in ensemble.models) + np.abs(ensemble.intercept).max()

    def has(self, *names: str) -> bool:
        return all(name in self.model.get_params() for name in names)

    def get(self, name: str, default: Any = None) -> Any:
        return self.model.get_params().get(name, default)

    @property
    def best(self) -> Any:
        """The model, or the model that a search chose."""
        return getattr(self.model, "best_estimator_", self.model)

    @property
    def learner(self) -> Learner:
        """Weak learner as an object; of voting models by its name alone."""
        return make_learner(getattr(self.best, "weak_learner_", self.best.weak_learner))

    @property
    def stopping(self) -> EarlyStopping | None:
        """Rule of early stopping, of estimators that have one."""
        return read_parameter(self.model, "early_stopping") if self.has("early_stopping") else None

    @property
    def holds_out(self) -> bool:
        """Whether the fit holds rows out, to stop early by their scores."""
        return self.stopping is not None and self.stopping.validation_fraction is not None

    def list_values(self, name: str, default: Any = None) -> list[Any]:
        """Return the value of a parameter, nested or not; of a search all values in its space."""
        owner, _, field = name.partition("__")
        space = self.get("space")
        values = [self.get(owner)] if space is None else _list_choices(space, owner)
        if field:
            values = [getattr(value, field) for value in values if hasattr(value, field)]
            values += _list_choices(space or {}, name)
        return values or [default]

    def again(self, X: Any, y: Any, weight: Any, **changes: Any) -> Any:
        """Fit a copy with some parameters changed to some rows."""
        return fit_to(self.change(**changes), X, y, weight)

    def change(self, **changes: Any) -> Any:
        """Return an unfitted copy with some parameters changed."""
        return clone(self.model).set_params(**changes)

    def try_again(self, X: Any, y: Any, weight: Any, **changes: Any) -> Any:
        """Fit a copy as `again` does; return None where the fit refuses the rows."""
        model = self.change(**changes)
        check_model(model)
        try:
            return fit_to(model, X, y, weight)
        except ValueError:
            return None


def fit_to(model: Any, X: Any, y: Any, weight: Any) -> Any:
    """Fit a model, with weights if there are any."""
    return model.fit(X, y) if weight is None else model.fit(X, y, weight)


def _list_choices(space: Any, name: str) -> list[Any]:
    if name not in space:
        return []
    return space[name] if isinstance(space[name], list) else [space[name]]


def find_refusal(model: Any, fit: Fit, **settings: Any) -> str:
    """Fit a model to another's rows; return the message if it refuses, or ""."""
    try:
        model.fit(fit.X, fit.y, fit.weight, **settings)
    except ValueError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class Invariant:
    """Check of a fit, and the share of the fits that it is tried on."""

    check: Callable[[Fit], None]
    share: float


INVARIANTS: dict[str, Invariant] = {}


def invariant(name: str, share: float = 1.0) -> Callable[[Callable[[Fit], None]], None]:
    """Register an invariant."""

    def register(check: Callable[[Fit], None]) -> None:
        INVARIANTS[name] = Invariant(check, share)

    return register


def list_chosen(seed: int, only: str | None = None) -> Iterator[tuple[str, Invariant]]:
    """Yield the invariants that are tried on the fit of a seed."""
    for k, (name, entry) in enumerate(INVARIANTS.items()):
        chance = np.random.default_rng([seed, k]).random()
        if name == only or (only is None and chance < entry.share):
            yield name, entry


def hold(model: Any, X: Any, y: Any, weight: Any = None, *, only: str, seed: int = 0) -> None:
    """Check one invariant of a fitted model; regression tests call it."""
    INVARIANTS[only].check(Fit(model, X, y, weight, seed))


def can_predict(model: Any) -> bool:
    """Return whether there is a model: a search without a refit has none."""
    return bool(model.get_params().get("refit", True))


# -- comparison -----------------------------------------------------------------------------------


def outputs(model: Any, X: Any) -> list[NDArray[Any]]:
    """Return all arrays that are compared bit for bit."""
    arrays = [
        np.array(model.cv_results_[key])
        for key in sorted(getattr(model, "cv_results_", {}))
        if key.endswith("_score")
    ]
    if not can_predict(model):
        return arrays
    arrays += [model.decision_function(X), model.predict_proba(X), model.predict(X)]
    if hasattr(model, "history_"):
        arrays += [model.history_[key] for key in sorted(model.history_)]
    errors = getattr(getattr(model, "ensemble_", None), "standard_errors", None)
    if errors is not None:
        models = range(len(model.ensemble_.models))
        arrays += [*(errors.errors(m) for m in models), *model.ensemble_.p_values]
        arrays.append(errors.importance_errors())
        if isinstance(errors, BagTables):
            arrays.append(model.predict_interval(X))
    return arrays


def digest(model: Any, X: Any) -> str:
    """Return a hash of a model's outputs, to compare it with that of another process."""
    hasher = hashlib.sha256()
    for array in outputs(model, X):
        hasher.update(str((array.dtype.str, array.shape)).encode())
        # The signs of zeros may differ, and any NaN equals any other.
        hasher.update(
            np.where(np.isnan(array), np.nan, array + 0.0).tobytes()
            if array.dtype.kind == "f"
            else repr(array.tolist()).encode()
        )
    return hasher.hexdigest()


def assert_same(one: Any, other: Any, X: Any, theirs: Any = None) -> None:
    """Check that two models have the same outputs; `theirs` is the same table in another form."""
    for a, b in zip(outputs(one, X), outputs(other, X if theirs is None else theirs), strict=True):
        if a.dtype.kind == "f":
            np.testing.assert_array_equal(a, b)
        else:
            assert a.tolist() == b.tolist()


def take(X: Any, rows: NDArray[Any]) -> Any:
    """Return some rows of a table of any kind."""
    if isinstance(X, list):
        return [X[k] for k in rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X.take(rows) if hasattr(X, "column_names") else X[rows]
