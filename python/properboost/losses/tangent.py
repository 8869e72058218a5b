"""TangentBoost's loss, whose functions are the package's own example of native ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import LowLevelCallable

from properboost import _core, native_losses
from properboost.losses.builtin import MarginLoss
from properboost.losses.table import tabulate
from properboost.parameters.checks import between

__all__ = ["CERTAIN", "Tangent"]


@dataclass(frozen=True)
class Tangent(MarginLoss):
    """TangentBoost's loss, (2 atan u - 1)^2: bounded, and it penalises large margins [1]_.

    That is the raw loss.  Its weight 4 (1 - 2 atan u)/(1 + u^2) turns negative at u = tan(1/2) =
    0.546, where a row would be pushed back; here loss and weight are 0 from there on.  Inverse
    link atan(u) + 1/2, clipped to [0, 1], link tan(p - 1/2), minimum risk 4 p(1-p), loss margin
    sigma/2.  Not convex: the curvature is negative from u = -0.51 down, and the loss tends to
    (1 + pi)^2 = 17.2.  A Newton response divides by the curvature's expectation instead.

    Certainty is reached at finite margins: no step takes raw predictions far beyond
    0.546 sigma, and probabilities are exactly 0 and 1 from there on.  A row that is wrong there has
    an infinite log loss.  So `least_probability` can keep them apart from 0 and 1.  A fit with the
    loss's name, and without a gain, takes the standard error of the smallest class's share of its
    training rows.

    In training the weight is that of `properboost.native_losses`, written in Cython; the methods
    are double precision, accurate to about 1e-9.

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0; from 1 on a regulariser.
    least_probability : float, default=0.0
        The least probability of either class, from 0 to 1/2, to which the inverse link is clipped.

    References
    ----------
    .. [1] Masnadi-Shirazi, Mahadevan and Vasconcelos (2010). On the design of robust classifiers
       for computer vision. CVPR.
    """

    name: ClassVar[str] = "tangent"
    gain: float = 1.0
    least_probability: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        least = between("least_probability", self.least_probability, 0.0, 0.5)
        object.__setattr__(self, "least_probability", least)

    @property
    def parameters(self) -> Mapping[str, float]:
        """The least probability, if it is not 0."""
        least = self.least_probability
        return {"least_probability": least} if least > 0.0 else {}

    def probability(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of the positive class, [f*]^-1(F), clipped.

        Parameters
        ----------
        F : array_like
            Raw predictions.

        Returns
        -------
        ndarray or float
            The shape of `F`; probability(-F) = 1 - probability(F).
        """
        least = self.least_probability
        clipped: NDArray[np.float64] = np.clip(super().probability(F), least, 1.0 - least)
        return clipped

    @property
    def rows_known(self) -> float:
        """The rows for which `known_by` sets the least probability; infinitely many for 0."""
        return (0.5 / self.least_probability) ** 2 if self.least_probability > 0.0 else math.inf

    def known_by(self, rows: float) -> "Tangent":
        """Return the loss whose least probability is the standard error of a share of a half.

        That is the deviation of a share by chance among `rows` rows.
        """
        return replace(self, least_probability=0.5 / math.sqrt(max(rows, FEWEST_ROWS)))

    @property
    def native(self) -> _core.Loss:
        """The compiled loss at gain 1, which the engine trains with."""
        return _make_native()


CERTAIN = float(np.tan(0.5))

FEWEST_ROWS = 2.0
"""The least number of rows: with one alone the least probability would be 1/2."""


def _weight(u: NDArray[np.float64]) -> NDArray[np.float64]:
    raw: NDArray[np.float64] = 4.0 * (1.0 - 2.0 * np.arctan(u)) / (1.0 + u * u)
    return np.where(u < CERTAIN, raw, 0.0)


def _curvature(u: NDArray[np.float64]) -> NDArray[np.float64]:
    rising: NDArray[np.float64] = 8.0 * (1.0 + u * (1.0 - 2.0 * np.arctan(u))) / (1.0 + u * u) ** 2
    return np.where(u <= CERTAIN, rising, 0.0)


@lru_cache(maxsize=1)
def _make_native() -> _core.Loss:
    table = tabulate(Tangent.name, _weight, CERTAIN, curvature=_curvature)
    functions = [
        LowLevelCallable.from_cython(native_losses, f"tangent_{what}")
        for what in ("weight", "loss")
    ]
    return _core.Loss.called(table.make_native(Tangent.name), *functions)
