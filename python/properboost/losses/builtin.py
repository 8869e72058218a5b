"""The base of every margin loss, and the losses of the engine.

Every loss has a gain sigma, its regularisation strength, and is one function scaled by it:
phi_sigma(v) = sigma phi(v / sigma) for the margin v = y F(x) (BoostLR [1]_, eq. 49).  The formulas
in the classes below are those at gain 1, in u = v / sigma.

References
----------
.. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
   probability estimates. JMLR 16, 2751-2795.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost import _core
from properboost.parameters.checks import between, positive, probabilities
from properboost.parameters.kinds import Coupling

__all__ = [
    "Alpha",
    "Elicitation",
    "Exponential",
    "GBoost",
    "GGauss",
    "GLaplacian",
    "GLog",
    "LossCurve",
    "MarginLoss",
    "Savage",
]


class Elicitation(ABC):
    """A way to pay a forecaster, under which the true probability earns most."""

    def reward(self, forecast: ArrayLike, y: int = 1) -> NDArray[np.float64]:
        """Return the reward I_y(q) of a forecast q of the probability, for the label y.

        I_1(q) = J(q) + (1 - q) J'(q) and I_-1(q) = J(q) - q J'(q), where J is the mean reward of
        the best forecast (SavageBoost [1]_, eqs. 11 and 12, Table 2).  Under a loss J is -C*, and
        these are -phi(f*(q)) and -phi(-f*(q)) (eqs. 23 and 24).

        Parameters
        ----------
        forecast : array_like
            Probabilities of the positive class, from 0 to 1.
        y : {1, -1}, default=1
            The signed label.

        Returns
        -------
        ndarray or float
            The shape of `forecast`; under a loss at most 0.

        References
        ----------
        .. [1] Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for
           classification: theory, robustness to outliers, and SavageBoost. NIPS 21.
        """
        if y not in (1, -1):
            raise ValueError(f"y must be 1 or -1; got {y!r}")
        return self._reward(probabilities("forecast", forecast), y)

    def expected_reward(
        self, p: ArrayLike, forecast: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the mean reward of a forecast where a row is positive with probability p.

        I(p, q) = p I_1(q) + (1 - p) I_-1(q) (SavageBoost, eq. 9), which is largest at q = p: there
        it is J(p), a convex function (eq. 10).

        Parameters
        ----------
        p : array_like
            Probabilities, from 0 to 1.
        forecast : array_like, optional
            Forecasts q; None forecasts p itself, and returns J(p).

        Returns
        -------
        ndarray or float
            The shape that `p` and `forecast` have together.
        """
        p = probabilities("p", p)
        if forecast is None:
            return self._best_reward(p)
        if_positive, if_negative = self.reward(forecast), self.reward(forecast, -1)
        with np.errstate(invalid="ignore"):
            # An impossible label costs nothing, even where its cost is infinite.
            first = np.where(p == 0.0, 0.0, p * if_positive)
            second = np.where(p == 1.0, 0.0, (1.0 - p) * if_negative)
        return (first + second)[()]

    def divergence(self, p: ArrayLike, forecast: ArrayLike) -> NDArray[np.float64]:
        """Return the shortfall of a forecast, where a row is positive with probability p.

        J(p) - I(p, q): the Bregman divergence of J (SavageBoost, eq. 13), and under a loss the risk
        of the raw prediction f*(q) above the minimum (eq. 7).

        Parameters
        ----------
        p : array_like
            Probabilities, from 0 to 1.
        forecast : array_like
            Forecasts q, from 0 to 1.

        Returns
        -------
        ndarray or float
            The shape that `p` and `forecast` have together; at least 0, and 0 where they are equal.
        """
        short = self.expected_reward(p) - self.expected_reward(p, forecast)
        least: NDArray[np.float64] = np.maximum(short, 0.0)  # but for rounding
        return least

    @abstractmethod
    def _reward(self, q: NDArray[np.float64], y: int) -> NDArray[np.float64]:
        """Return I_y(q), of forecasts that are probabilities."""

    @abstractmethod
    def _best_reward(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return J(p)."""


class LossCurve(Elicitation):
    """A margin loss phi with a gain, as curves: the base of all losses, also of untrainable ones.

    Losses are values: immutable, equal when their class, gain and parameters are, hashable and
    picklable.  Every method takes a number or an array of any shape and returns the same shape in
    float64 (a float for a number); NaN stays NaN.

    Attributes
    ----------
    name : str
        Its name in messages and plots.
    gain : float
        sigma, above 0.
    """

    name: ClassVar[str]
    gain: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", positive("gain", self.gain))

    @property
    @abstractmethod
    def _unit(self) -> Any:
        """An object with the functions of the loss at gain 1, by the names of `_core.Loss`."""

    def loss(self, v: ArrayLike) -> NDArray[np.float64]:
        """Return the loss phi(v) of a row of margin v.

        Parameters
        ----------
        v : array_like
            Margins y F(x), y in {-1, +1}.

        Returns
        -------
        ndarray or float
            The shape of `v`.
        """
        return self._of_margin("loss", v, 1)

    def weight(self, v: ArrayLike) -> NDArray[np.float64]:
        """Return the weight -phi'(v) of a row of margin v in boosting (BoostLR, eq. 41).

        Parameters
        ----------
        v : array_like
            Margins.

        Returns
        -------
        ndarray or float
            The shape of `v`; at least 0, except for curves that cannot be trained.
        """
        return self._of_margin("weight", v, 0)

    def curvature(self, v: ArrayLike) -> NDArray[np.float64]:
        """Return the curvature phi''(v), negative where the loss is not convex.

        Parameters
        ----------
        v : array_like
            Margins.

        Returns
        -------
        ndarray or float
            The shape of `v`.
        """
        return self._of_margin("curvature", v, -1)

    def probability(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of the positive class, [f*]^-1(F) (BoostLR, eq. 51).

        Parameters
        ----------
        F : array_like
            Raw predictions.

        Returns
        -------
        ndarray or float
            The shape of `F`; probability(-F) = 1 - probability(F).
        """
        return self._of_margin("probability", F, 0)

    def regularization_strength(self, v: ArrayLike) -> NDArray[np.float64]:
        """Return rho(v) = 1 / ([f*]^-1)'(v), by which an error in v is divided (BoostLR, eq. 14).

        Parameters
        ----------
        v : array_like
            Margins or raw predictions.

        Returns
        -------
        ndarray or float
            The shape of `v`; least at 0, infinite where the inverse link is flat to rounding.
        """
        with np.errstate(divide="ignore", over="ignore"):
            density = np.abs(self._of_margin("density", v, -1))
            strength: NDArray[np.float64] = 1.0 / np.asarray(density)
        return strength

    def link(self, p: ArrayLike) -> NDArray[np.float64]:
        """Return the link f*(p): the raw prediction of least risk where a row is positive with p.

        Parameters
        ----------
        p : array_like
            Probabilities, from 0 to 1.

        Returns
        -------
        ndarray or float
            The shape of `p`; -inf at 0 and inf at 1.
        """
        return self._of_probability("link", p)

    def minimum_risk(self, p: ArrayLike) -> NDArray[np.float64]:
        """Return the minimum risk C*(p) = p phi(f*(p)) + (1 - p) phi(-f*(p)) (BoostLR, eq. 9).

        Parameters
        ----------
        p : array_like
            Probabilities, from 0 to 1.

        Returns
        -------
        ndarray or float
            The shape of `p`; symmetric about 1/2, and 0 at 0 and 1.
        """
        return self._of_probability("minimum_risk", p)

    def binding(self, v: ArrayLike) -> NDArray[np.float64]:
        """Return the binding function beta(v), by which outliers count (BoostLR, Definition 5).

        It is the slope of the minimum risk at the probability of raw prediction v, C*'(p) (eq. 34),
        and so phi(v) - phi(-v): the extra cost of a row over one of the other class.  With the
        inverse link it determines the loss, phi' = (1 - p) beta' (eq. 35) and phi = C*(p) + (1 - p)
        beta (eq. 36).  Under a canonical loss it is -v.

        Parameters
        ----------
        v : array_like
            Margins or raw predictions.

        Returns
        -------
        ndarray or float
            The shape of `v`; odd, and falling.  NaN where there is no probability.
        """
        v = np.asarray(v, dtype=np.float64)
        beta = self.loss(v) - self.loss(-v)
        return np.where(np.isnan(self.probability(v)), np.nan, beta)[()]

    # -- the elicitation form: a loss pays minus the cost of a forecast's link
    # ----------------------

    def _reward(self, q: NDArray[np.float64], y: int) -> NDArray[np.float64]:
        reward: NDArray[np.float64] = -self.loss(y * self.link(q))
        return reward

    def _best_reward(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        return -self.minimum_risk(p)

    # Methods of the loss apply the gain in these two functions only.

    def _of_margin(self, function: str, v: ArrayLike, power: int) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            u = np.asarray(v, dtype=np.float64) / self.gain
            factor = np.float64(self.gain) ** power
            value: NDArray[np.float64] = getattr(self._unit, function)(u) * factor
        return value

    def _of_probability(self, function: str, p: ArrayLike) -> NDArray[np.float64]:
        p = probabilities("p", p)
        with np.errstate(over="ignore"):
            value: NDArray[np.float64] = getattr(self._unit, function)(p) * self.gain
        return value


class MarginLoss(LossCurve):
    """A proper margin loss phi with a gain; the base of every loss that models are trained with.

    Attributes
    ----------
    name : str
        The name that stands for the object in estimators.
    gain : float
        sigma, above 0.
    """

    @property
    def _unit(self) -> _core.Loss:
        return self.native

    @property
    def parameters(self) -> Mapping[str, float]:
        """The loss's parameters besides the gain."""
        return {}

    @property
    def native(self) -> _core.Loss:
        """The compiled loss at gain 1, which the engine trains with."""
        return _native(self.name, tuple(self.parameters.items()))

    @property
    def convex(self) -> bool:
        """Whether phi is convex."""
        return self.native.convex

    @property
    def canonical(self) -> bool:
        """Whether the weight is 1 - inverse link, which never exceeds 1."""
        return self.native.canonical

    @property
    def joint_forms(self) -> tuple[Coupling, ...]:
        """The joint forms of the loss over several classes, the usual one first."""
        return ("canonical",) if self.canonical else ()

    @property
    def loss_margin(self) -> float:
        """The loss margin mu = -phi'(0) / phi''(0), which is rho(0) / 2 (BoostLR, eqs. 25, 29)."""
        return float(self.weight(0.0) / self.curvature(0.0))

    @property
    def gain_unit(self) -> float:
        """The gain at which the loss margin is 2, that of `GLog` at gain 1.

        Losses at equally many units regularise alike: a unit is 2 for `Exponential` and `Savage`,
        and 4 for `Tangent`.  It has six digits, and is 1 where phi has no curvature at 0.
        """
        at = np.zeros(1)
        weight, curvature = float(self.native.weight(at)[0]), float(self.native.curvature(at)[0])
        if not curvature > 0.0:
            return 1.0
        return float(f"{2.0 * curvature / weight:.6g}")

    @property
    def rate_factor(self) -> float:
        """The factor on the default shrinkage of trees: 1 for `GLog` at gain 1.

        It is half the loss margin, so that losses regularise alike.  `Exponential` and others give
        a row that is wrong by one loss margin r > 2 times the weight of a row at 0.  For them the
        factor is divided by (r / 2)^2, since a leaf's variance grows with the squares of weights.
        """
        unit = self.gain_unit
        at_zero, wrong = map(float, self.native.weight(np.array([0.0, -2.0 / unit])))
        noise = (wrong / (2.0 * at_zero)) ** 2 if wrong > 2.0 * at_zero else 1.0
        return self.gain / unit / float(f"{noise:.6g}")

    @property
    def is_regularizer(self) -> bool:
        """Whether sigma >= 1 / (2 mu(1)), so that rho >= 1 everywhere (BoostLR, eq. 30)."""
        return 2.0 * self.loss_margin >= 1.0

    @property
    def rows_known(self) -> float:
        """The number of rows that supports the most extreme probabilities: `known_by` sets it."""
        return math.inf

    def known_by(self, rows: float) -> MarginLoss:  # noqa: ARG002  # of use to some losses
        """Return the loss whose probabilities are no more extreme than `rows` rows can support.

        It is this loss, unless probabilities of exactly 0 and 1 are within reach and the loss has
        a parameter against that, as `Tangent` has.

        Parameters
        ----------
        rows : float
            The number of rows, by weight, if half of them are of each class.

        Returns
        -------
        MarginLoss
        """
        return self

    def generalization_factor(self, norm: float) -> float:
        """Return kappa = rho(0) / norm: the larger, the less a model can err (BoostLR, 3.2).

        It is in Schapire et al.'s bound on the error of a model that separates the training rows:
        the loss multiplies the effect of a small norm (eqs. 17 and 18).

        Parameters
        ----------
        norm : float
            ``||w||_1``, above 0: the sum of the sizes of the steps, by which weak learners of
            outputs in [-1, 1] are multiplied.

        Returns
        -------
        float
        """
        return float(self.regularization_strength(0.0)) / positive("norm", norm)


@dataclass(frozen=True)
class GLog(MarginLoss):
    """The logistic loss, log(1 + e^-u): LogitBoost's at gain 1 (BoostLR, Table 2).

    Weight 1 / (1 + e^u), inverse link 1 / (1 + e^-u), minimum risk -p log p - (1-p) log(1-p), loss
    margin 2 sigma.  Canonical: the weight of a hopeless row tends to 1.

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0; from 1/4 on a regulariser.
    """

    name: ClassVar[str] = "glog"
    gain: float = 1.0

    @property
    def joint_forms(self) -> tuple[Coupling, ...]:
        """Softmax, and the form of all canonical losses."""
        return ("softmax", "canonical")


@dataclass(frozen=True)
class GGauss(MarginLoss):
    """The canonical loss of the Gaussian inverse link (BoostLR, Table 2).

    Loss u/2 (erf(k u) - 1) + (2/pi) e^-(k u)^2 with k = sqrt(pi) / 4, weight erfc(k u) / 2, inverse
    link (1 + erf(k u)) / 2, minimum risk (2/pi) exp(-erfinv(2p - 1)^2), loss margin 2 sigma.

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0; from 1/4 on a regulariser.
    """

    name: ClassVar[str] = "ggauss"
    gain: float = 1.0


@dataclass(frozen=True)
class GLaplacian(MarginLoss):
    """The canonical loss of the Laplacian inverse link (BoostLR, Table 2).

    Loss e^(-|u|/2) + (|u| - u)/2, inverse link 1 - e^(-u/2)/2 from 0 up and e^(u/2)/2 below, weight
    1 - inverse link, minimum risk (1-q)(1 - log(1-q)) with q = |2p - 1|, loss margin 2 sigma.  Its
    curvature has a kink at 0.

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0; from 1/4 on a regulariser.
    """

    name: ClassVar[str] = "glaplacian"
    gain: float = 1.0


@dataclass(frozen=True)
class GBoost(MarginLoss):
    """The canonical loss with AdaBoost's minimum risk (BoostLR, Table 2).

    Loss (sqrt(4 + u^2) - u)/2, inverse link 1/2 + u / (2 sqrt(4 + u^2)), weight 1 - inverse link,
    minimum risk 2 sqrt(p(1-p)), loss margin 2 sigma.  Its tails are the heaviest of the canonical
    losses: probabilities approach 0 and 1 like 1/u^2.

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0; from 1/4 on a regulariser.
    """

    name: ClassVar[str] = "gboost"
    gain: float = 1.0


@dataclass(frozen=True)
class Exponential(MarginLoss):
    """The exponential loss, e^-u: AdaBoost's at gain 1 (BoostLR, Table 1).

    Weight e^-u, inverse link 1 / (1 + e^-2u), minimum risk 2 sqrt(p(1-p)), loss margin sigma.  Not
    canonical: the weight of a mislabelled row grows without bound.  In training (single precision)
    loss, weight and curvature stop growing at e^64 = 6e27, from u = -64 down, so that sums over
    rows stay finite; the methods here do not.

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0; from 1/2 on a regulariser.
    """

    name: ClassVar[str] = "exponential"
    gain: float = 1.0


@dataclass(frozen=True)
class Savage(MarginLoss):
    """The Savage loss, 1 / (1 + e^2u)^2: bounded, for tables with wrong labels (SavageBoost [1]_).

    Weight 4 e^2u / (1 + e^2u)^3, inverse link p = 1 / (1 + e^-2u), minimum risk p(1-p), loss margin
    sigma.  A row whose margin is far below 0 loses its weight.  Not convex: the curvature has the
    sign of 3p - 1.  A Newton response divides by its expectation, 8 p^2 (1-p)^2 at gain 1, instead.

    Parameters
    ----------
    gain : float, default=1.0
        sigma, above 0; from 1/2 on a regulariser.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for
       classification: theory, robustness to outliers, and SavageBoost. NIPS 21.
    """

    name: ClassVar[str] = "savage"
    gain: float = 1.0


@dataclass(frozen=True)
class Alpha(MarginLoss):
    """The alpha-tunable loss: from logistic to exponential (BoostLR, eq. 53).

    Weight c (e^(-alpha u) + e^(alpha u)) / (1 + e^u) with c = (1 - alpha)/(2 - 3 alpha), inverse
    link 1 / (1 + e^-u), loss margin 2 sigma; the loss is the weight's integral.  Minimum risk
    phi(F) - (1-p) beta(F) at F = f*(p), beta(u) = -2 c sinh(alpha u)/alpha.  At alpha 0 it is
    `GLog`, at alpha 1/2 `Exponential` at twice the gain; the link is the same for every alpha, only
    the robustness to outliers changes.  With alpha > 0 weights grow without bound like
    e^(alpha |u|): in training (single precision) that exponential stops at e^64 = 6e27, so that
    sums over rows stay finite; the methods here do not stop.

    Parameters
    ----------
    alpha : float, default=0.25
        From 0 (outliers matter least) to 1/2 (they matter most).
    gain : float, default=1.0
        sigma, above 0; from 1/4 on a regulariser.
    """

    name: ClassVar[str] = "alpha"
    alpha: float = 0.25
    gain: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", between("alpha", self.alpha, 0.0, 0.5))

    @property
    def parameters(self) -> Mapping[str, float]:
        """Alpha."""
        return {"alpha": self.alpha}

    @property
    def native(self) -> _core.Loss:
        """The compiled loss at gain 1, which is the logistic one at alpha 0."""
        return super().native if self.alpha > 0.0 else GLog().native

    @property
    def joint_forms(self) -> tuple[Coupling, ...]:
        """The forms of the logistic loss at alpha 0; none at other values."""
        return GLog().joint_forms if self.alpha == 0.0 else ()


@lru_cache(maxsize=256)
def _native(name: str, values: tuple[tuple[str, float], ...]) -> _core.Loss:
    return _core.Loss(name, dict(values))
