"""Design of losses: from a density and a binding, from a minimum risk and a link, by impurity."""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from properboost.losses.builtin import GBoost, GLog, MarginLoss
from properboost.losses.check import check
from properboost.losses.custom import CustomLoss
from properboost.losses.table import KNOTS, central_difference, evaluate, find_name, tabulate
from properboost.parameters.checks import choice, non_negative, positive

__all__ = ["Permissible", "from_pdf", "from_risk"]

Array = NDArray[np.float64]
Function = Callable[[Array], Array]


def from_pdf(
    pdf: Any,
    binding: Callable[[Any], Any] | MarginLoss | Literal["linear"] = "linear",
    *,
    alpha: float | None = None,
    name: str | None = None,
    gain: float = 1.0,
) -> CustomLoss:
    """Return the loss that a scale density and a binding function design (BoostLR, 6.2 [1]_).

    The inverse link is the cdf of the density, so that the regularisation strength is its
    reciprocal (eq. 45), and the weight is -(1 - cdf(u)) binding'(u) (eq. 35).  The density
    determines how probabilities are regularised, the binding how much outliers count: under the
    linear one, -u, the loss is canonical and no weight exceeds 1.  The loss is the weight's
    integral from u to infinity.

    Parameters
    ----------
    pdf : distribution or callable
        A frozen distribution of `scipy.stats`, anything else with the methods ``pdf`` and ``sf``
        (or ``ccdf``), or a density as a function of an array.  It must be symmetric about 0, fall
        strictly on either half of the axis, and have a finite mean of abs(V): a Cauchy density, or
        Student's with one degree of freedom or fewer, has none.
    binding : "linear", MarginLoss or callable, default="linear"
        A loss stands for its binding function, gain included.  A callable is an odd, decreasing,
        smooth function of an array; its slope is taken by differences, which lose slopes that are
        small compared with the function: where it levels off, a loss object keeps more of the
        tails.
    alpha : float or None, default=None
        At least 0: makes the loss alpha-tunable (Definition 8).  The link has the gain, and the
        binding alpha / gain, so that its slope at the margin v is binding'(alpha v / gain).  With
        0 it is as under the linear binding, times the slope at 0; with ``alpha=gain`` the binding
        is not scaled at all, and the gain is the link's alone (Theorem 6).  None scales both alike,
        as 1 does, and the loss has no alpha.  The linear binding takes none.
    name : str or None, default=None
        The loss's name; None takes the distribution's.
    gain : float, default=1.0
        sigma, above 0.

    Returns
    -------
    CustomLoss
        Its attribute ``convex`` is whether it satisfies eq. 57.  Its ``alpha`` is a parameter of
        the loss, which searches and files treat as that of `Alpha`.

    Raises
    ------
    ValueError
        If density or binding are not as described; the message names the margin.  Also where
        alpha is so large that rows of large positive margin keep their weight, and the loss is
        infinite: where the binding's slope grows faster than the density's tail falls.

    Notes
    -----
    The paper's g(alpha), a factor of the whole loss, is 1.  A factor moves no probability, and
    models only through `l2` and `min_child_weight`, which compare with it; the binding may include
    one.  With the logistic density and -2 sinh(v) times (1 - alpha) / (2 - 3 alpha) the loss is
    `Alpha` (eq. 53).

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
       probability estimates. JMLR 16, 2751-2795.

    Examples
    --------
    >>> from scipy import stats
    >>> from properboost.losses import GLog, from_pdf
    >>> loss = from_pdf(stats.logistic(), gain=2.0)
    >>> loss
    CustomLoss('logistic', gain=2.0)
    >>> bool(abs(loss.loss(0.5) - GLog(2.0).loss(0.5)) < 1e-9)
    True

    The binding of the Savage loss at three alphas, to choose from:

    >>> from properboost.losses import Savage
    >>> several = [from_pdf(stats.logistic(), Savage(2.0), alpha=a) for a in (0.0, 0.5, 1.0)]
    >>> several[1]
    CustomLoss('logistic', alpha=0.5, gain=1.0)
    """
    gain = positive("gain", gain)
    alpha = None if alpha is None else non_negative("alpha", alpha)
    if name is None:
        name = find_name(pdf, type(pdf).__name__ if hasattr(pdf, "pdf") else "custom")
    density, tail, end = _read_pdf(pdf, name)
    scale = 0.25 / _middle(name, density)
    scale = end if math.isfinite(end) else scale
    scale = min(max(scale, 1e-6), 1e6)
    _check_density(name, density, tail, scale)
    scaled = 1.0 if alpha is None else alpha
    if isinstance(binding, str):
        choice("binding", binding, ["linear"])
        if alpha is not None:
            raise ValueError(
                "alpha must be None with binding='linear', whose slope is the same everywhere; "
                f"got {alpha!r}"
            )
        weight, curvature = _canonical(density, tail)
        table = tabulate(name, weight, scale, curvature=curvature)
    elif isinstance(binding, MarginLoss):
        weight, curvature = _bind(density, tail, binding, scaled)
        table = tabulate(name, weight, scale, curvature=curvature)
    elif callable(binding):
        slope = _read_binding(name, binding, scale)

        def bound_weight(u: Array) -> Array:
            size = np.abs(u)
            upper = tail(size)
            return -np.where(u < 0.0, 1.0 - upper, upper) * slope(scaled * size)

        table = tabulate(name, bound_weight, scale, step=4e-3)
    else:
        raise TypeError(f"binding must be 'linear', a loss or a callable; got {binding!r}")
    return _checked(CustomLoss(name, table, gain, alpha=alpha))


def from_risk(
    minimum_risk: Callable[[Any], Any],
    link: Callable[[Any], Any],
    *,
    name: str | None = None,
    gain: float = 1.0,
) -> CustomLoss:
    """Return the loss of a minimum risk and a link (SavageBoost, Corollary 2 [1]_).

    phi(u) = C(p) + (1 - p) C'(p) with p the inverse link of u (eq. 25), less its limit at infinity.
    Its weight is -(1 - p) C''(p) p'(u).

    Parameters
    ----------
    minimum_risk : callable
        C(p) for arrays of probabilities in (0, 1), strictly concave and smooth, with C(1 - p) =
        C(p).
    link : callable
        f(p), which rises from -infinity to infinity, smooth, f(1 - p) = -f(p).  A bounded link does
        not define the loss beyond it: make such a loss by `from_functions`.
    name : str or None, default=None
        The loss's name; None takes the minimum risk's.
    gain : float, default=1.0
        sigma, above 0.

    Returns
    -------
    CustomLoss

    Raises
    ------
    ValueError
        If risk or link are not as described; the message names the probability.

    Notes
    -----
    C'' and f' are computed by differences in log p.  That keeps about seven digits of the largest
    weight, and fewer of weights that are small relative to it.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for
       classification: theory, robustness to outliers, and SavageBoost. NIPS 21.

    Examples
    --------
    >>> import numpy as np
    >>> from properboost.losses import Savage, from_risk
    >>> loss = from_risk(
    ...     lambda p: p * (1.0 - p), lambda p: np.log(p / (1.0 - p)) / 2.0, name="my savage"
    ... )
    >>> bool(abs(loss.weight(-0.5) - Savage().weight(-0.5)) < 1e-6)
    True
    """
    gain = positive("gain", gain)
    for what, function in (("minimum_risk", minimum_risk), ("link", link)):
        if not callable(function):
            raise TypeError(f"{what} must be a callable; got {function!r}")
    name = find_name(minimum_risk, "custom") if name is None else name

    def risk_of(q: Array) -> Array:
        return evaluate(minimum_risk, q, name, "minimum risk")

    def link_of(q: Array) -> Array:
        return evaluate(link, q, name, "link")

    _check_risk(name, risk_of, link_of)
    log_q = _Inverse(name, link_of)
    middle = np.array([-math.log(2.0)])
    scale = min(max(float(_link_slope(link_of, middle)[0]) / 2.0, 1e-6), 1e6)
    bend = _Bend(risk_of)

    def weight(u: Array) -> Array:
        at = log_q(np.abs(u))
        q = np.exp(at)
        # g = -C''(q) dq/du; both derivatives come by log q, and so times q and q^2.
        g = bend(at) / _link_slope(link_of, at)
        return np.where(u < 0.0, 1.0 - q, q) * g

    table = tabulate(name, weight, scale, step=0.02)
    return _checked(CustomLoss(name, table, gain))


def Permissible(  # noqa: N802 -- stands beside the classes, and makes one of them
    phi: str = "matsushita", mu: float | None = None, *, gain: float = 1.0
) -> MarginLoss:
    """Return the loss of a permissible function phi of the ULS paper [1]_.

    Such losses are canonical: their inverse link is that of phi' and their weight 1 - inverse link.
    So they exist already, and the function returns a built-in loss, phi*(-v) - a with phi* the
    convex conjugate and a = -phi(0):

    ================  ============================  ===========================  ========
    phi               function                      returned loss                b
    ================  ============================  ===========================  ========
    ``"entropy"``     p log p + (1-p) log(1-p)      ``GLog(gain)``               log 2
    ``"matsushita"``  -sqrt(p(1-p))                 ``GBoost(gain / 2)``         1/2
    ``"mu"``          -(mu + (1-mu) sqrt(p(1-p)))   ``GBoost((1-mu) gain / 2)``  (1-mu)/2
    ================  ============================  ===========================  ========

    The paper's F_phi(v) = (phi*(-v) - a)/b (eq. 16), which is 1 at 0, is that divided by b, times
    the gain: a scale, which changes no probability, and models only through `l2`.  (For the entropy
    Table 1 prints log(1 + e^-v), without the 1/log 2.)  Links, weights over b, and margins 2
    [f*]^-1(yF) - 1 are the paper's as they stand.

    Parameters
    ----------
    phi : str, default="matsushita"
        ``"entropy"``, ``"matsushita"`` or ``"mu"``.  ``"gini"`` and ``"zeta"`` have bounded links:
        use them for trees (`UDTClassifier`).
    mu : float or None, default=None
        The parameter of ``"mu"``, above 0 and below 1.
    gain : float, default=1.0
        Above 0; 1 is the paper's.

    Returns
    -------
    GLog or GBoost

    References
    ----------
    .. [1] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE TPAMI 31,
       2048-2059; eqs. 16, 20 to 24 and Table 1.

    Examples
    --------
    >>> from properboost.losses import Permissible
    >>> Permissible("mu", 0.2)
    GBoost(gain=0.4)
    """
    gain = positive("gain", gain)
    if phi in ("gini", "zeta"):
        raise ValueError(
            f"phi={phi!r} has a bounded link, which no sum of tables keeps to: it serves trees, "
            f"UDTClassifier(phi={phi!r}); a loss has 'entropy', 'matsushita' or 'mu'"
        )
    choice("phi", phi, ["entropy", "matsushita", "mu"])
    if phi == "mu":
        if mu is None:
            raise ValueError("mu must be above 0 and below 1 with phi='mu'; got None")
        if not positive("mu", mu) < 1.0:
            raise ValueError(f"mu must be above 0 and below 1; got {mu!r}")
        return GBoost(gain * (1.0 - mu) / 2.0)
    if mu is not None:
        raise ValueError(f"mu must be None unless phi is 'mu'; got {mu!r}")
    return GLog(gain) if phi == "entropy" else GBoost(gain / 2.0)


def _checked(loss: CustomLoss) -> CustomLoss:
    report = check(loss)
    if not report.ok:
        raise ValueError(str(report))
    return loss


# -- densities ------------------------------------------------------------------------------------


def _read_pdf(pdf: Any, name: str) -> tuple[Function, Function, float]:
    """Return density, upper tail, and the margin where the density ends."""
    upper = getattr(pdf, "sf", None) or getattr(pdf, "ccdf", None)
    if callable(getattr(pdf, "pdf", None)) and callable(upper):
        end = math.inf
        if callable(getattr(pdf, "support", None)):
            end = float(np.max(np.abs(pdf.support())))
        return (
            lambda u: evaluate(pdf.pdf, u, name, "pdf"),
            lambda u: evaluate(upper, u, name, "sf"),
            end,
        )
    if not callable(pdf):
        raise TypeError(
            "pdf must be a frozen distribution, with the methods pdf and sf, or a callable; got "
            f"{pdf!r}"
        )

    def density(u: Array) -> Array:
        return evaluate(pdf, u, name, "pdf")

    return density, _integrate(name, density), math.inf


def _middle(name: str, density: Function) -> float:
    middle = float(density(np.zeros(1))[0])
    if not 0.0 < middle < math.inf:
        raise ValueError(
            f"loss {name!r}: the density at 0 must be positive and finite, its largest value; it "
            f"is {middle:g}"
        )
    return middle


def _integrate(name: str, density: Function) -> Function:
    """Return the upper tail of a density, by Gauss-Legendre quadrature from knot to knot."""
    points, shares = np.polynomial.legendre.leggauss(8)
    scale = 0.25 / _middle(name, density)

    def area(a: Array, b: Array) -> Array:
        half = 0.5 * (b - a)
        values = density((a + half)[:, None] + half[:, None] * points)
        total: Array = half * np.sum(shares * np.nan_to_num(values), axis=1)
        return total

    knots = scale * KNOTS
    last = float(density(knots[-1:])[0])
    power = 0.0
    if last > 1e-300:
        at = np.array([0.5 * knots[-1], knots[-1]])
        power = -float(np.diff(np.log(density(at)))[0]) / math.log(2.0)
    beyond = knots[-1] * last / (power - 1.0) if power > 1.0 else 0.0
    cells = area(knots[:-1], knots[1:])
    above = np.append(np.cumsum(cells[::-1])[::-1], 0.0) + beyond

    def tail(u: Array) -> Array:
        flat = u.ravel()
        k = np.clip(np.searchsorted(knots, flat), 0, len(knots) - 1)
        values: Array = above[k] + area(flat, knots[k])
        return values.reshape(u.shape)

    return tail


def _check_density(name: str, density: Function, tail: Function, scale: float) -> None:
    u = scale * KNOTS[KNOTS <= 30.0]
    with np.errstate(all="ignore"):
        values, mirrored, upper = density(u), density(-u), tail(u)

    def refuse(wrong: NDArray[np.bool_], what: str, shown: Array) -> None:
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ValueError(
                f"loss {name!r}: the density {what} at margin {u[k]:g} (it is {shown[k]:g})"
            )

    refuse(~(np.isfinite(values) & (values >= 0.0)), "must be finite and at least 0", values)
    refuse(np.abs(values - mirrored) > 1e-9 * values[0], "must be symmetric about 0, but is not",
           mirrored)  # fmt: skip
    inside = values[1:] > 1e-300
    falls = np.append([False], ~(np.diff(values) < 0.0) & inside)
    refuse(falls, "must fall strictly from 0 on, but does not", values)
    if abs(upper[0] - 0.5) > 1e-6:
        raise ValueError(
            f"loss {name!r}: the density must integrate to 1; above 0 it does to {upper[0]:g}, not "
            "to 1/2"
        )
    refuse(
        ~((upper >= 0.0) & (upper <= 0.5 + 1e-6)), "must have an upper tail from 0 to 1/2", upper
    )


def _canonical(density: Function, tail: Function) -> tuple[Function, Function]:
    def weight(u: Array) -> Array:
        upper = tail(np.abs(u))
        return np.where(u < 0.0, 1.0 - upper, upper)

    return weight, lambda u: density(np.abs(u))


def _bind(
    density: Function, tail: Function, binding: MarginLoss, alpha: float
) -> tuple[Function, Function]:
    """Return weight and curvature under another loss's binding at alpha times the margin."""

    def weight(u: Array) -> Array:
        upper = tail(np.abs(u))
        return -np.where(u < 0.0, 1.0 - upper, upper) * slope(alpha * u)

    def curvature(u: Array) -> Array:
        upper = tail(np.abs(u))
        rest = np.where(u < 0.0, 1.0 - upper, upper)
        return alpha * rest * bend(alpha * u) - density(np.abs(u)) * slope(alpha * u)

    # A loss's slopes at v and -v are (1 - p) beta'(v) and p beta'(v), as beta' is even.
    def slope(v: Array) -> Array:
        return -(binding.weight(v) + binding.weight(-v))

    def bend(v: Array) -> Array:
        return binding.curvature(v) - binding.curvature(-v)

    return weight, curvature


def _read_binding(name: str, binding: Callable[[Any], Any], scale: float) -> Function:
    """Return the derivative of a binding function, at u >= 0."""

    def value(u: Array) -> Array:
        return evaluate(binding, u, name, "binding")

    u = scale * KNOTS[KNOTS <= 30.0]
    beta, mirrored = value(u), value(-u)
    wrong = ~(np.abs(beta + mirrored) <= 1e-9 * np.maximum(np.abs(beta), np.abs(beta[1])))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ValueError(
            f"loss {name!r}: the binding must be odd: at margin {u[k]:g} it is {beta[k]:g}, and at "
            f"{-u[k]:g} {mirrored[k]:g}"
        )
    rises = ~(np.diff(beta) < 0.0)
    if rises.any():
        k = int(np.argmax(rises))
        raise ValueError(
            f"loss {name!r}: the binding must decrease: at margin {u[k]:g} it is {beta[k]:g}, and "
            f"at {u[k + 1]:g} {beta[k + 1]:g}"
        )

    def slope(size: Array) -> Array:
        # The binding is defined on both sides of 0.
        return central_difference(value, size, 4e-3 * (scale + size))

    return slope


# -- minimum risks --------------------------------------------------------------------------------

_LEAST_LOG = -690.0  # of a probability: near the smallest number
_SHARE = 0.05  # by which probabilities are moved for differences


def _check_risk(name: str, risk: Function, link: Function) -> None:
    p = np.concatenate([np.geomspace(1e-6, 0.4, 60), np.linspace(0.41, 0.5, 10)])
    for what, values, mirrored in (
        ("the minimum risk must be symmetric about 1/2", risk(p), risk(1.0 - p)),
        ("the link must be odd about 1/2", link(p), -link(1.0 - p)),
    ):
        size = np.maximum(np.abs(values), 1e-3 * np.abs(values[0]))
        wrong = ~(np.abs(values - mirrored) <= 1e-6 * size)  # 1 - p has lost digits
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ValueError(
                f"loss {name!r}: {what}: at p = {p[k]:g} it is {values[k]:g}, at 1 - p "
                f"{abs(mirrored[k]) if 'symmetric' in what else -mirrored[k]:g}"
            )
    rises = ~(np.diff(link(p)) > 0.0)
    if rises.any():
        raise ValueError(
            f"loss {name!r}: the link must rise; it does not from p = {p[int(np.argmax(rises))]:g}"
        )
    chords = np.diff(risk(p)) / np.diff(p)
    bends = ~(np.diff(chords) < 0.0)
    if bends.any():
        raise ValueError(
            f"loss {name!r}: the minimum risk must be strictly concave; it is not at p = "
            f"{p[int(np.argmax(bends)) + 1]:g}"
        )
    ends = link(np.array([1e-300, 1e-100]))
    if not abs(ends[0]) > 1.5 * abs(ends[1]):
        raise ValueError(
            f"loss {name!r}: its link does not keep rising near p = 1e-300, where it is "
            f"{ends[0]:g} (it is bounded, grows too slowly, or has lost the digits of p): give the "
            "loss by its weight, with from_functions"
        )


def _by_log(function: Function, log_q: Array, order: int) -> Array:
    """Return the first or second derivative of function(q) by log q, by differences."""
    factors = {
        1: ((1, 4.0 / 5), (2, -1.0 / 5), (3, 4.0 / 105), (4, -1.0 / 280)),
        2: ((1, 8.0 / 5), (2, -1.0 / 5), (3, 8.0 / 315), (4, -1.0 / 560)),
    }[order]
    center = 0.0 if order == 1 else -205.0 / 72 * function(np.exp(log_q))
    total = np.zeros_like(log_q) + center
    for k, factor in factors:
        above = function(np.exp(log_q + k * _SHARE))
        below = function(np.exp(log_q - k * _SHARE))
        total += factor * (above + below if order == 2 else above - below)
    return total / _SHARE**order


def _link_slope(link: Function, log_q: Array) -> Array:
    """Return the derivative of the link by q, times q."""
    return _by_log(link, log_q, 1)


class _Bend:
    """The function -C''(q) q of log q; a power of q where rounding would show."""

    def __init__(self, risk: Function) -> None:
        self._risk = risk
        at = np.arange(_LEAST_LOG, -1.0, 0.25)
        # A risk has the rounding error of 1 - q.
        noise = 4.0 / _SHARE**2 * np.finfo(np.float64).eps * float(risk(np.array([0.5]))[0])
        bend = self._differences(at)
        lost = ~(noise * np.exp(-at) < 1e-6 * bend)
        self._last = float(at[len(at) - int(np.argmax(lost[::-1]))]) if lost.any() else _LEAST_LOG
        self._last = min(self._last, -6.0)
        ends = self._differences(np.array([self._last, self._last + 4.0]))
        power = float(np.diff(np.log(ends))[0]) / 4.0
        # Usually a half or a whole number, of which differences find a few digits only.
        near = round(2.0 * power) / 2.0
        self._power = near if abs(power - near) < 1e-3 else power

    def __call__(self, log_q: Array) -> Array:
        near = np.maximum(log_q, self._last)
        return self._differences(near) * np.exp(self._power * (log_q - near))

    def _differences(self, log_q: Array) -> Array:
        # By log q the second derivative is q C' + q^2 C''.
        second = _by_log(self._risk, log_q, 2) - _by_log(self._risk, log_q, 1)
        result: Array = -second * np.exp(-log_q)
        return result


class _Inverse:
    """The function log q of |u|, where q = 1 - p has the link -|u|; bisection keeps q's digits."""

    def __init__(self, name: str, link: Function) -> None:
        self._link = link
        self._name = name

    def __call__(self, size: Array) -> Array:
        low = np.full(size.shape, _LEAST_LOG)
        high = np.full(size.shape, -math.log(2.0))
        for _ in range(60):
            middle = 0.5 * (low + high)
            below = self._link(np.exp(middle)) < -size
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        log_q: Array = 0.5 * (low + high)
        return log_q
