"""Boosting algorithms of the literature, as settings of the estimators.

Each pins every parameter that its results depend on.  Defaults may change; presets do not.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from properboost.estimators.arboost import ARBoostClassifier
from properboost.estimators.pinned_parameters import TABLES, TREE, VOTES
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.udt import UDTClassifier
from properboost.parameters import checks
from properboost.parameters.kinds import Permissible, WeakLearner
from properboost.parameters.shared import GROWN

__all__ = [
    "CART",
    "SAMME",
    "ULS",
    "AdaBoost",
    "AdaBoostMH",
    "AdaBoostReg",
    "EpsilonBoost",
    "L1Boost",
    "LogitBoost",
    "RealBoost",
    "SavageBoost",
    "WeightBoost",
]

P = ParamSpec("P")
Model = TypeVar("Model")
Made = TypeVar("Made", covariant=True)
Own = TypeVar("Own", contravariant=True)

CRITERIA = {"matsushita": "matsushita", "entropy": "entropy", "mu": "matsushita"}
"""The criterion of each permissible function; that of mu makes the splits of Matsushita's."""


class OfOne(Protocol[Own, P, Made]):
    """A preset that has a parameter of its own, by position, before the estimator's."""

    def __call__(self, own: Own = ..., /, *args: P.args, **kwargs: P.kwargs) -> Made:
        """Return the estimator."""


def preset(
    make: Callable[P, Model], pinned: Mapping[str, Any]
) -> Callable[[Callable[[], Mapping[str, Any]]], Callable[P, Model]]:
    """Make a preset of a function that returns what it pins besides `pinned`."""

    def decorate(choose: Callable[[], Mapping[str, Any]]) -> Callable[P, Model]:
        signature = _sign(make, {**pinned, **choose()})

        @wraps(choose)
        def made(*args: P.args, **kwargs: P.kwargs) -> Model:
            given = _bind(choose, signature, *args, **kwargs)
            return make(**_merge({**pinned, **choose()}, given))  # type: ignore[call-arg]

        made.__doc__ = _document(choose, make)
        made.__signature__ = signature  # type: ignore[attr-defined]
        return made

    return decorate


def preset_of_one(
    make: Callable[P, Model], pinned: Mapping[str, Any]
) -> Callable[[Callable[Concatenate[Own, ...], Mapping[str, Any]]], OfOne[Own, P, Model]]:
    """Make a preset of a function that returns what its own parameter pins besides `pinned`.

    Its other parameters are the estimator's: it is told what they are.
    """

    def decorate(
        choose: Callable[Concatenate[Own, ...], Mapping[str, Any]],
    ) -> OfOne[Own, P, Model]:
        own, *others = inspect.signature(choose).parameters.values()

        def find(value: Any, given: Mapping[str, Any]) -> dict[str, Any]:
            told = {p.name: {**pinned, **given}[p.name] for p in others}
            return _merge({**pinned, **choose(value, **told)}, given)

        signature = _sign(make, find(own.default, {}), own)

        @wraps(choose)
        def made(*args: Any, **kwargs: Any) -> Model:
            given = _bind(choose, signature, *args, **kwargs)
            value = given.pop(own.name, own.default)
            return make(**find(value, given))  # type: ignore[call-arg]

        made.__doc__ = _document(choose, make)
        made.__signature__ = signature  # type: ignore[attr-defined]
        return made

    return decorate


def _document(choose: Callable[..., Any], make: Callable[..., Any]) -> str:
    """Return a preset's documentation with what all presets of an estimator say."""
    text = inspect.cleandoc(choose.__doc__ or "")
    own, *others = re.split(r"\n\n(?=(?:Raises|Notes|References)\n---)", text, maxsplit=1)
    heading = "" if "\nParameters\n---" in own else "\n\nParameters\n----------"
    name = make.__name__
    shared = f"""{own}{heading}
**parameters
    Those of `{name}`, which may replace those that the preset pins (see its
    signature).

Returns
-------
{name}"""
    return "\n\n".join([shared, *others])


def _bind(
    choose: Callable[..., Any], signature: inspect.Signature, *args: Any, **kwargs: Any
) -> dict[str, Any]:
    """Return what was given, by name."""
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise TypeError(f"{getattr(choose, '__name__', 'preset')}() {error}") from None


def _merge(pinned: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is pinned, but for what is given; a loss object brings a gain of its own."""
    own_gain = "gain" not in given and not isinstance(given.get("loss", ""), str)
    return {**pinned, **({"gain": None} if own_gain else {}), **given}


def _sign(
    make: Callable[..., Any], pinned: Mapping[str, Any], own: inspect.Parameter | None = None
) -> inspect.Signature:
    """Return the signature of a preset: all by name, with what is pinned as defaults."""
    signature = inspect.signature(make)
    shown = [
        p.replace(default=pinned.get(name, p.default), kind=inspect.Parameter.KEYWORD_ONLY)
        for name, p in signature.parameters.items()
    ]
    shown = shown if own is None else [own, *shown]
    return signature.replace(parameters=shown, return_annotation=make)


@preset(ProperBoostClassifier, TABLES)
def AdaBoost() -> dict[str, Any]:  # noqa: N802
    """Discrete AdaBoost with decision stumps [1]_.

    Exponential loss, stumps that say -1 or +1, and the step that minimises the risk.

    References
    ----------
    .. [1] Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and
       an application to boosting. Journal of Computer and System Sciences 55.
    """
    return {
        "loss": "exponential",
        "weak_learner": "stump",
        "response": "sign",
        "step": "line_search",
    }


@preset(ProperBoostClassifier, TABLES)
def RealBoost() -> dict[str, Any]:  # noqa: N802
    """Boosting with confidence-rated predictions over histograms (Real AdaBoost) [1]_.

    Exponential loss, half the log-odds in each bin, and unit steps.

    References
    ----------
    .. [1] Schapire and Singer (1999). Improved boosting algorithms using confidence-rated
       predictions. Machine Learning 37.
    """
    return {"loss": "exponential", "response": "real", "step": "unit"}


@preset(ProperBoostClassifier, TABLES)
def LogitBoost() -> dict[str, Any]:  # noqa: N802
    """Newton boosting of the logistic loss over histograms [1]_.

    References
    ----------
    .. [1] Friedman, Hastie and Tibshirani (2000). Additive logistic regression: a statistical view
       of boosting. Annals of Statistics 28.
    """
    return {"loss": "glog", "response": "newton", "step": "unit"}


@preset(ProperBoostClassifier, TABLES)
def SavageBoost() -> dict[str, Any]:  # noqa: N802
    """Boosting of the bounded, outlier-resistant Savage loss over histograms [1]_.

    Rows are re-weighted by w = -phi'(v), which minimises the Savage risk: rows far on the wrong
    side count less and less.  Half the log-odds in each bin, and guarded steps; with
    ``response="exact"`` each bin has the minimiser of its risk, and the gain does not matter.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for
       classification: theory, robustness to outliers, and SavageBoost. NIPS 21.
    """
    return {"loss": "savage", "response": "real", "step": "guarded"}


@preset(ARBoostClassifier, VOTES)
def SAMME() -> dict[str, Any]:  # noqa: N802
    """AdaBoost for several classes, each weak classifier saying one of them [1]_.

    References
    ----------
    .. [1] Zhu, Zou, Rosset and Hastie (2009). Multi-class AdaBoost. Statistics and its Interface 2.
    """
    return {}


@preset_of_one(ARBoostClassifier, VOTES)
def EpsilonBoost(epsilon: float = 0.1, /) -> dict[str, Any]:  # noqa: N802
    """AdaBoost with every step shrunk by the same factor [1]_.

    Parameters
    ----------
    epsilon : float, default=0.1
        The factor, above 0: the `learning_rate`.

    References
    ----------
    .. [1] Hastie, Tibshirani and Friedman (2009). The elements of statistical learning, 10.12.
    """
    return {"learning_rate": checks.positive("epsilon", epsilon)}


@preset_of_one(ARBoostClassifier, VOTES)
def L1Boost(beta: float = 0.05, /) -> dict[str, Any]:  # noqa: N802
    """AdaBoost with a penalty beta on the sum of the steps: sparse, and soon over [1]_.

    The exponential loss of each row is multiplied by e^(beta sum alpha), so that the step is
    log((1 - beta)(1 - e)/((1 + beta) e))/2: that of `ARBoostClassifier` with rho = (1 - beta)/(1 +
    beta).  It ends when no classifier's edge 1 - 2 e exceeds beta.

    Parameters
    ----------
    beta : float, default=0.05
        The penalty, from 0 on and below 1.

    References
    ----------
    .. [1] Xi, Xiang, Ramadge and Schapire (2009). Speed and sparsity of regularized boosting.
       AISTATS.
    """
    if checks.between("beta", beta, 0.0, 1.0) == 1.0:
        raise ValueError("beta must be below 1; got 1, at which no classifier has a vote")
    return {"rho": (1.0 - beta) / (1.0 + beta)}


@preset_of_one(ARBoostClassifier, VOTES)
def AdaBoostReg(C: float = 0.1, /) -> dict[str, Any]:  # noqa: N802
    """AdaBoost with soft margins: rows that keep their weight are mistrusted [1]_.

    Parameters
    ----------
    C : float, default=0.1
        The `mistrust` of `ARBoostClassifier`, at least 0.

    References
    ----------
    .. [1] Raetsch, Onoda and Mueller (2001). Soft margins for AdaBoost. Machine Learning 42.
    """
    return {"mistrust": C}


@preset_of_one(ARBoostClassifier, VOTES)
def WeightBoost(beta: float = 0.5, /) -> dict[str, Any]:  # noqa: N802
    """AdaBoost whose later rounds say little where the earlier ones are sure [1]_.

    Parameters
    ----------
    beta : float, default=0.5
        The `damping` of `ARBoostClassifier`, from 0 on and below 1.

    References
    ----------
    .. [1] Jin, Liu, Si, Carbonell and Hauptmann (2003). A new boosting algorithm using
       input-dependent regularizer. ICML.
    """
    return {"damping": beta}


@preset(ARBoostClassifier, VOTES)
def AdaBoostMH() -> dict[str, Any]:  # noqa: N802
    """AdaBoost over all pairs of a row and a label, "has it this label?" [1]_.

    References
    ----------
    .. [1] Schapire and Singer (1999). Improved boosting algorithms using confidence-rated
       predictions. Machine Learning 37.
    """
    return {"multiclass": "one_vs_rest"}


@preset(UDTClassifier, TREE)
def CART() -> dict[str, Any]:  # noqa: N802
    """Grow a classification tree by the Gini impurity [1]_.

    References
    ----------
    .. [1] Breiman, Friedman, Olshen and Stone (1984). Classification and regression trees.
    """
    return {}


@preset_of_one(ProperBoostClassifier, {**TABLES, "weak_learner": "stump", "step": "leveraging"})
def ULS(phi: Permissible = "matsushita", /, *, weak_learner: WeakLearner) -> dict[str, Any]:  # noqa: N802
    """Universal linear separators: leveraged features under a permissible surrogate [1]_.

    Weights are 1 - P(the row's class), 1/2 at first.  A round takes a feature that says -1 or +1 in
    each of its cells, and solves for its coefficient (Fig. 4, eq. 35), so that it has no edge on
    the next weights.  Stumps and histograms are those of largest edge (eq. 42); rules and trees are
    grown by the impurity of phi on the weights, as by UDT (eq. 49).

    Parameters
    ----------
    phi : {"matsushita", "entropy", "mu"}, default="matsushita"
        The permissible function, -sqrt(p(1-p)), p log p + (1-p) log(1-p) or
        -(mu + (1-mu) sqrt(p(1-p))), mu being 1/2.  Its surrogate F_phi (Table 1) is the loss gboost
        of gain 1/2, glog of gain 1, or gboost of gain (1-mu)/2, exactly so but for a constant
        factor, 2, 1/log 2 and 2/(1-mu), which moves no minimum.  The gain only scales the raw
        prediction here, so "mu" makes Matsushita's features, probabilities and margins; for another
        mu give ``gain=(1 - mu) / 2``.
    weak_learner : {"stump", "monomial", "histogram", "tree"}, default="stump"
        The features: one cut; rules of at most `max_literals` literals (the paper's, where a cell
        is "the rule holds" or "it does not"); a cell for each bin; the leaves of a tree.
    step : {"leveraging", "totally_corrective"}, default="leveraging"
        Solve for the coefficient of the newest feature (classical boosting), or for those of all
        features so far (totally corrective).

    Raises
    ------
    ValueError, TypeError
        If phi is not one of these.  Those whose link is bounded, "gini" and "zeta", have no
        surrogate on all raw predictions (section 4.1 asks for im = R): they serve `UDTClassifier`.

    Notes
    -----
    Each side of a rule has the class that is heavier there, as in the paper's "If Monomial then
    Class = +-1 else Class = +-1"; where most weight is of one class, both may be the same, and the
    feature is a constant.

    References
    ----------
    .. [1] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE
       Transactions on Pattern Analysis and Machine Intelligence 31(11).

    Examples
    --------
    >>> from properboost import ULS
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ULS("entropy", weak_learner="monomial", n_estimators=10).fit(X, y)
    >>> len(model.rules())
    10
    """
    if isinstance(phi, str) and phi in ("gini", "zeta"):
        raise ValueError(
            f"phi must not be {phi!r}, whose link is bounded: it serves UDTClassifier; "
            "phi must be one of 'matsushita', 'entropy', 'mu'"
        )
    checks.choice("phi", phi, ("matsushita", "entropy", "mu"))
    return {
        "loss": "glog" if phi == "entropy" else "gboost",
        "gain": {"matsushita": 0.5, "entropy": 1.0, "mu": 0.25}[phi],
        "response": "sign",
        "criterion": None if weak_learner not in GROWN else CRITERIA[phi],
    }
