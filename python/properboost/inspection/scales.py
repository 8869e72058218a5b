"""The scales of effects: raw predictions, log-odds, probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Self, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from properboost.cached import cached_property
from properboost.parameters import checks

__all__ = ["EffectScale", "Effects", "Scale", "check_scale"]

Scale: TypeAlias = Literal["raw", "log_odds", "probability"]

Floats: TypeAlias = NDArray[np.float64]


class _Link(Protocol):
    """The part of `properboost.losses.probabilities.Link` that scales use."""

    @property
    def joint_loss(self) -> str: ...
    def probabilities(self, raw: Floats) -> Floats: ...
    def log_odds(self, raw: Floats) -> Floats: ...
    def find_log_odds_slope(self, n_models: int) -> float | None: ...


def check_scale(scale: str) -> Scale:
    """Return the scale, and refuse an unknown one."""
    return cast("Scale", checks.choice("scale", scale, get_args(Scale)))


@dataclass(frozen=True, eq=False)
class EffectScale:
    """A conversion of effects on raw predictions to a scale, for one class.

    Effects are arrays (..., n) on the raw predictions of n `models`, relative to the average row,
    whose raw predictions are the means over the training rows.  In a joint model both are less
    their means over the classes.
    """

    scale: Scale
    link: _Link
    label: Any
    position: int
    """The position of the class among all."""
    n_models: int
    """The number of models: 1 with two classes, else one per class."""
    average: Floats = field(default_factory=lambda: np.empty(0))
    """The average row's raw predictions, of `models`."""

    def on(self, scale: Scale) -> Self:
        """Return the conversion to another scale."""
        return replace(self, scale=scale)

    def about(self, average: Floats) -> Self:
        """Return the conversion relative to an average row."""
        return replace(self, average=average)

    @property
    def model(self) -> int:
        """The model of the class."""
        return self.position if self.n_models > 1 else 0

    @property
    def sign(self) -> float:
        """The sign of the model's raw prediction for the class."""
        return 1.0 if self.n_models > 1 or self.position == 1 else -1.0

    @cached_property
    def slope(self) -> float | None:
        """The factor on effects on the raw prediction; None where no factor suffices."""
        if self.scale == "raw":
            return 1.0
        slope = self.link.find_log_odds_slope(self.n_models) if self.scale == "log_odds" else None
        # The mean is over the other classes; it deviates from that over all by 1 / K more.
        return slope if slope is None or self.n_models == 1 else slope / (1.0 - 1.0 / self.n_models)

    @property
    def error_slope(self) -> float:
        """The factor on standard errors, on an additive scale."""
        assert self.slope is not None
        # Only the class moves, and the mean over all classes by a share of its move.
        return self.slope * (1.0 if len(self.models) == 1 else 1.0 - 1.0 / self.n_models)

    @property
    def additive(self) -> bool:
        """Whether effects add up to a row's value on the scale."""
        return self.slope is not None

    @cached_property
    def models(self) -> list[int]:
        """The models whose effects are needed."""
        alone = self.additive and (self.scale == "raw" or bool(self.link.joint_loss))
        return [self.model] if alone else list(range(self.n_models))

    @property
    def _place(self) -> int:
        """The position of the class's model in `models`."""
        return self.models.index(self.model)

    def find(self, effects: Floats) -> Floats:
        """Return the average row's value on the scale after adding these effects."""
        if self.additive:
            return self._multiply(self.average + effects)
        raw = (self.average + effects).reshape(-1, self.n_models)
        raw = raw[:, 0] if self.n_models == 1 else raw
        convert = self.link.log_odds if self.scale == "log_odds" else self.link.probabilities
        values: Floats = convert(raw)[:, self.position].reshape(effects.shape[:-1])
        return values

    def find_change(self, effects: Floats) -> Floats:
        """Return the changes that effects make to the average row's value."""
        if self.additive:
            return self._multiply(effects)
        return self.find(effects) - self.baseline

    def _multiply(self, effects: Floats) -> Floats:
        assert self.slope is not None
        of_class = effects[..., self._place]
        if len(self.models) > 1:
            of_class = of_class - effects.mean(axis=-1)
        factor = self.sign * self.slope
        return of_class if factor == 1.0 else factor * of_class

    def move(self, effects: Floats, by: Floats) -> Floats:
        """Return effects with that on the class raised by `by`, and the others as they were.

        Functions of a joint model are relative to their mean over the classes; there the effects
        on the other classes fall by as much in total.
        """
        moved = effects.copy()
        moved[..., self._place] += self.sign * by
        if self.link.joint_loss and len(self.models) > 1:
            share = np.asarray(by)[..., None] / (self.n_models - 1.0)
            others = [m for m in range(self.n_models) if m != self._place]
            moved[..., others] -= share
        return moved

    @property
    def baseline(self) -> float:
        """The average row's value on the scale."""
        return float(self.find(np.zeros(len(self.models))))

    def describe(self, *, absolute: bool) -> str:
        """Return the label of an axis of values, or of changes of values."""
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
    """Effects on raw predictions, and standard errors of those on the class's prediction."""

    scaling: EffectScale
    raw: Floats
    """The effects in the form of an `EffectScale`: (..., n_models)."""
    errors: Floats | None
    absolute: bool
    """Whether values are those of an otherwise average row, and not differences from it."""

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
        """The values of rows with all these effects; the terms are the last axis but one."""
        return self.scaling.find(self.raw.sum(axis=-2))

    def on(self, scale: Scale) -> Self:
        """Return the same effects on another scale."""
        return replace(self, scaling=self.scaling.on(scale))

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return the effects of these rows."""
        errors = None if self.errors is None else self.errors[rows]
        return replace(self, raw=self.raw[rows], errors=errors)

    @property
    def standard_errors(self) -> Floats | None:
        """The standard errors of the values, on a scale where effects add up."""
        if self.errors is None or not self.scaling.additive:
            return None
        factor = self.scaling.error_slope
        return self.errors if factor == 1.0 else factor * self.errors

    def find_ends(self, reach: float) -> tuple[Floats, Floats]:
        """Return the values after moving the class's effects by `reach` standard errors."""
        assert self.errors is not None
        low, high = (
            self.find(self.scaling.move(self.raw, side * self.errors)) for side in (-reach, reach)
        )
        return low, high
