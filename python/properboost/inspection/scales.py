"""The scales of effects: raw predictions, log-odds, probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Self, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.parameters import checks

__all__ = ["Effects", "Scale", "Scaling", "check_scale"]

Scale: TypeAlias = Literal["raw", "log_odds", "probability"]

Floats: TypeAlias = NDArray[np.float64]


class _Link(Protocol):
    """What is asked of a `properboost.losses.probabilities.Link`."""

    @property
    def joint_loss(self) -> str: ...
    def probabilities(self, raw: Floats) -> Floats: ...
    def log_odds(self, raw: Floats) -> Floats: ...
    def find_log_odds_slope(self, n_models: int) -> float | None: ...


def check_scale(scale: str) -> Scale:
    """Return the scale, if there is such a one."""
    return cast("Scale", checks.choice("scale", scale, get_args(Scale)))


@dataclass(frozen=True, eq=False)
class Scaling:
    """How effects on raw predictions are told, for one class.

    Effects are arrays (..., n), of the raw predictions of n `models`, relative to the average row,
    whose raw predictions are the means over the training rows.  In a joint model these, and
    effects, are less their means over the classes.
    """

    scale: Scale
    link: _Link
    label: Any
    position: int
    """The class's, among all."""
    n_models: int
    """One of two classes, else one a class."""
    average: Floats = field(default_factory=lambda: np.empty(0))
    """The average row's raw predictions, of `models`."""

    def on(self, scale: Scale) -> Self:
        """Return the same of another scale."""
        return replace(self, scale=scale)

    def about(self, average: Floats) -> Self:
        """Return the same about an average row."""
        return replace(self, average=average)

    @property
    def model(self) -> int:
        """The model of the class."""
        return self.position if self.n_models > 1 else 0

    @property
    def sign(self) -> float:
        """That of the model's raw prediction, of the class."""
        return 1.0 if self.n_models > 1 or self.position == 1 else -1.0

    @cached_property
    def slope(self) -> float | None:
        """What effects on the raw prediction are multiplied by; None where that is not all."""
        if self.scale == "raw":
            return 1.0
        slope = self.link.find_log_odds_slope(self.n_models) if self.scale == "log_odds" else None
        # Against the mean of the others, which deviates from that of all by 1 / K more.
        return slope if slope is None or self.n_models == 1 else slope / (1.0 - 1.0 / self.n_models)

    @property
    def error_slope(self) -> float:
        """What standard errors are multiplied by, on an additive scale."""
        assert self.slope is not None
        # The class moves alone, and the mean over all classes by a share of that.
        return self.slope * (1.0 if len(self.models) == 1 else 1.0 - 1.0 / self.n_models)

    @property
    def additive(self) -> bool:
        """Whether effects add up to what a row has on the scale."""
        return self.slope is not None

    @cached_property
    def models(self) -> list[int]:
        """The models whose effects are needed."""
        is_own = self.additive and (self.scale == "raw" or bool(self.link.joint_loss))
        return [self.model] if is_own else list(range(self.n_models))

    @property
    def _own(self) -> int:
        """The class's model among those whose effects are needed."""
        return self.models.index(self.model)

    def find(self, effects: Floats) -> Floats:
        """Return what the average row has on the scale once these effects are added to it."""
        if self.additive:
            return self._multiply(self.average + effects)
        raw = (self.average + effects).reshape(-1, self.n_models)
        raw = raw[:, 0] if self.n_models == 1 else raw
        of = self.link.log_odds if self.scale == "log_odds" else self.link.probabilities
        found: Floats = of(raw)[:, self.position].reshape(effects.shape[:-1])
        return found

    def find_change(self, effects: Floats) -> Floats:
        """Return by how much effects change what the average row has."""
        if self.additive:
            return self._multiply(effects)
        return self.find(effects) - self.baseline

    def _multiply(self, effects: Floats) -> Floats:
        assert self.slope is not None
        own = effects[..., self._own]
        if len(self.models) > 1:
            own = own - effects.mean(axis=-1)
        factor = self.sign * self.slope
        return own if factor == 1.0 else factor * own

    def move(self, effects: Floats, by: Floats) -> Floats:
        """Return effects of which the class's own is larger by so much, the others as they were.

        Functions of a joint model are relative to their mean over the classes, so there the others
        make up for it.
        """
        moved = effects.copy()
        moved[..., self._own] += self.sign * by
        if self.link.joint_loss and len(self.models) > 1:
            share = np.asarray(by)[..., None] / (self.n_models - 1.0)
            others = [m for m in range(self.n_models) if m != self._own]
            moved[..., others] -= share
        return moved

    @property
    def baseline(self) -> float:
        """What the average row has on the scale."""
        return float(self.find(np.zeros(len(self.models))))

    def describe(self, *, absolute: bool) -> str:
        """Return what an axis of values, or of changes of values, is called."""
        if self.scale == "raw":
            return f"added to F of {self.label}"
        if self.scale == "log_odds":
            if self.additive:
                against = "\nagainst the others" if self.n_models > 1 else ""
                return f"added to the log-odds of {self.label}{against}"
            return f"change of the log-odds of {self.label}\nat the average row"
        if absolute:
            return f"probability of {self.label},\nthe rest average"
        return f"change of the probability of {self.label}\nat the average row"


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects on raw predictions, and the standard errors of those on the class's own."""

    scaling: Scaling
    raw: Floats
    """As a `Scaling` takes them: (..., n_models)."""
    errors: Floats | None
    absolute: bool
    """Whether values are what an otherwise average row has, and not what it has more."""

    @property
    def values(self) -> Floats:
        """The effects on the scale."""
        return self.find(self.raw)

    def find(self, raw: Floats) -> Floats:
        """Return other effects on the scale."""
        absolute = self.absolute and self.scaling.scale == "probability"
        return self.scaling.find(raw) if absolute else self.scaling.find_change(raw)

    @property
    def total(self) -> Floats:
        """What rows of all these effects have on the scale; the terms are the last axis but one."""
        return self.scaling.find(self.raw.sum(axis=-2))

    def on(self, scale: Scale) -> Self:
        """Return the same effects on another scale."""
        return replace(self, scaling=self.scaling.on(scale))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return those of some rows."""
        errors = None if self.errors is None else self.errors[rows]
        return replace(self, raw=self.raw[rows], errors=errors)

    @property
    def standard_errors(self) -> Floats | None:
        """Those of the values, on a scale where effects add up."""
        if self.errors is None or not self.scaling.additive:
            return None
        factor = self.scaling.error_slope
        return self.errors if factor == 1.0 else factor * self.errors

    def find_ends(self, reach: float) -> tuple[Floats, Floats]:
        """Return the values where the class's own effects are so many standard errors off."""
        assert self.errors is not None
        low, high = (
            self.find(self.scaling.move(self.raw, side * self.errors)) for side in (-reach, reach)
        )
        return low, high
