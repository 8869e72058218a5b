"""Boosting algorithms of the literature, as settings of the estimators.

Each preset pins every parameter on which its results depend.  Defaults may change; presets do not.
"""

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np

from properboost.estimators.arboost import ARBoostClassifier
from properboost.estimators.pinned_parameters import (
    PINNED_BAGS,
    PINNED_LEARNERS,
    PINNED_PAIRS,
    PINNED_STOPPING,
    TABLES,
    TREE,
    VOTES,
)
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.udt import UDTClassifier
from properboost.parameters import checks
from properboost.parameters.kinds import SOLVED, LearnerName, Permissible
from properboost.parameters.learners import Learner, make_learner
from properboost.parameters.stages import Interactions
from properboost.parameters.words import advise

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
Estimator = TypeVar("Estimator", covariant=True)
First = TypeVar("First", contravariant=True)

CRITERIA = {"matsushita": "matsushita", "entropy": "entropy", "mu": "matsushita"}
"""The criterion of each permissible function; mu has the same splits as Matsushita's."""


class PresetOfOne(Protocol[First, P, Estimator]):
    """A preset whose first parameter, by position, is its algorithm's."""

    def __call__(self, first: First = ..., /, *args: P.args, **kwargs: P.kwargs) -> Estimator:
        """Return the estimator."""


def preset(
    make: Callable[P, Model], defaults: Mapping[str, Any]
) -> Callable[[Callable[[], Mapping[str, Any]]], Callable[P, Model]]:
    """Make a preset from a function that returns the values that its algorithm pins.

    `defaults` are the values of all other parameters, which the preset takes by name.
    """

    def decorate(choose: Callable[[], Mapping[str, Any]]) -> Callable[P, Model]:
        pinned = choose()
        return _finish(choose, make, _sign(make, pinned, defaults), lambda _: pinned)

    return decorate


def preset_of_one(
    make: Callable[P, Model], defaults: Mapping[str, Any]
) -> Callable[[Callable[Concatenate[First, ...], Mapping[str, Any]]], PresetOfOne[First, P, Model]]:
    """Make a preset from a function whose first parameter is its algorithm's.

    Its other parameters are the estimator's, which the preset takes by name, too.
    """

    def decorate(
        choose: Callable[Concatenate[First, ...], Mapping[str, Any]],
    ) -> PresetOfOne[First, P, Model]:
        first, *others = inspect.signature(choose).parameters.values()

        def pin(values: dict[str, Any]) -> Mapping[str, Any]:
            value = values.pop(first.name, first.default)
            return choose(value, **{p.name: {**defaults, **values}[p.name] for p in others})

        pinned = pin({}).keys() - {p.name for p in others}
        return _finish(choose, make, _sign(make, pinned, defaults, first), pin)

    return decorate


def _finish(
    choose: Callable[..., Mapping[str, Any]],
    make: Callable[..., Model],
    signature: inspect.Signature,
    pin: Callable[[dict[str, Any]], Mapping[str, Any]],
) -> Callable[..., Model]:
    """Return the preset: a function with this signature that makes the estimator."""
    defaults = {
        name: p.default
        for name, p in signature.parameters.items()
        if p.kind is inspect.Parameter.KEYWORD_ONLY
    }

    @wraps(choose)
    def build(*args: Any, **kwargs: Any) -> Model:
        values = _bind(choose, make, signature, *args, **kwargs)
        pinned = pin(values)
        values = {**defaults, **values}
        if "interactions" in values:  # the parameters of votes are flat, with other defaults
            values = _pin_fields(values)
        return make(**{**values, **pinned})

    build.__doc__ = _document(choose, make)
    build.__signature__ = signature  # type: ignore[attr-defined]
    return build


def _pin_fields(values: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with pinned objects in place of plain values.

    The defaults of fields of an object may change; the fields of pinned objects do not.
    """
    learner, pairs = values["weak_learner"], values["interactions"]
    stopping, bags = values["early_stopping"], values["outer_bags"]
    pinned: dict[str, Any] = {}
    if isinstance(learner, str):
        pinned["weak_learner"] = PINNED_LEARNERS.get(learner, learner)
    if not isinstance(pairs, Interactions) and np.size(pairs) > 0 and not _is_zero(pairs):
        pinned["interactions"] = PINNED_PAIRS.replace(pairs=pairs)
    if isinstance(stopping, bool | np.bool_):
        off: dict[str, Any] = {} if stopping else {"n_iter_no_change": None}
        pinned["early_stopping"] = PINNED_STOPPING.replace(
            validation_fraction=0.1 if stopping else None, **off
        )
    elif isinstance(stopping, str) and stopping == "auto":
        pinned["early_stopping"] = PINNED_STOPPING
    if checks.is_integer(bags) and bags != 0:
        pinned["outer_bags"] = PINNED_BAGS.replace(n_bags=bags)
    return {**values, **pinned}


def _is_zero(value: object) -> bool:
    return checks.is_integer(value) and value == 0


def _document(choose: Callable[..., Any], make: Callable[..., Any]) -> str:
    """Return a preset's documentation with the sections that all presets share."""
    text = inspect.cleandoc(choose.__doc__ or "")
    first, *others = re.split(r"\n\n(?=(?:Raises|Notes|References)\n---)", text, maxsplit=1)
    heading = "" if "\nParameters\n---" in first else "\n\nParameters\n----------"
    name = make.__name__
    shared = f"""{first}{heading}
**parameters
    The parameters of `{name}` that the preset does not pin: see its signature.

Returns
-------
{name}"""
    return "\n\n".join([shared, *others])


def _bind(
    choose: Callable[..., Any],
    make: Callable[..., Any],
    signature: inspect.Signature,
    *args: Any,
    **kwargs: Any,
) -> dict[str, Any]:
    """Return the arguments by name."""
    called = getattr(choose, "__name__", "preset")
    for name in kwargs:
        if name in signature.parameters:
            continue
        if name in inspect.signature(make).parameters:
            raise TypeError(f"{called} pins {name}; {make.__name__} takes any")
        advice = advise(name, signature.parameters)
        raise TypeError(
            f"{called}() got an unexpected keyword argument {name!r}"
            + (f": {advice}" if advice else "")
        )
    try:
        return dict(signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise TypeError(f"{called}() {error}") from None


def _sign(
    make: Callable[..., Any],
    pinned: Collection[str],
    defaults: Mapping[str, Any],
    first: inspect.Parameter | None = None,
) -> inspect.Signature:
    """Return the signature of a preset: the parameters that it does not pin, by name."""
    signature = inspect.signature(make)
    shown = [
        p.replace(default=defaults.get(name, p.default), kind=inspect.Parameter.KEYWORD_ONLY)
        for name, p in signature.parameters.items()
        if name not in pinned
    ]
    shown = shown if first is None else [first, *shown]
    return signature.replace(parameters=shown, return_annotation=make)


@preset(ProperBoostClassifier, {**TABLES, "weak_learner": "stump"})
def AdaBoost() -> dict[str, Any]:  # noqa: N802
    """Discrete AdaBoost with decision stumps [1]_.

    Exponential loss, stumps of -1 and +1, and the step that minimises the risk.

    References
    ----------
    .. [1] Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and
       an application to boosting. Journal of Computer and System Sciences 55.
    """
    return {
        "loss": "exponential",
        "response": "sign",
        "step": "line_search",
        "l2": 0.0,
        "prior": None,
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


@preset(ProperBoostClassifier, {**TABLES, "response": "real"})
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
    return {"loss": "savage", "step": "guarded"}


@preset(ARBoostClassifier, VOTES)
def SAMME() -> dict[str, Any]:  # noqa: N802
    """AdaBoost for several classes, with weak classifiers that predict one of them [1]_.

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
    """AdaBoost with a penalty beta on the sum of the steps: sparse, with few rounds [1]_.

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
    """AdaBoost whose later rounds are damped where the earlier ones are sure [1]_.

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


@preset_of_one(
    ProperBoostClassifier,
    {
        **TABLES,
        "gain": None,
        "criterion": "phi",
        "learning_rate": None,
        "weak_learner": "stump",
        "step": "leveraging",
    },
)
def ULS(  # noqa: N802
    phi: Permissible = "matsushita",
    /,
    *,
    weak_learner: LearnerName | Learner,
    gain: float | None,
    criterion: str | None,
    step: str,
) -> dict[str, Any]:
    """Universal linear separators: leveraged features under a permissible surrogate [1]_.

    Weights are 1 - P(the row's class), 1/2 at first.  A round takes a feature of value -1 or +1 in
    each of its cells, and solves for its coefficient (Fig. 4, eq. 35), so that it has no edge on
    the next weights.  Stumps and tables are those of largest edge (eq. 42); rules and trees are
    grown by the impurity of phi on the weights, as by UDT (eq. 49).

    Parameters
    ----------
    phi : {"matsushita", "entropy", "mu"}, default="matsushita"
        The permissible function, -sqrt(p(1-p)), p log p + (1-p) log(1-p) or
        -(mu + (1-mu) sqrt(p(1-p))), mu being 1/2.  Its surrogate F_phi (Table 1) is the loss gboost
        of gain 1/2, glog of gain 1, or gboost of gain (1-mu)/2, exactly so but for a constant
        factor, 2, 1/log 2 and 2/(1-mu), which moves no minimum.  The gain only scales the raw
        prediction here, so "mu" makes Matsushita's features, probabilities and margins; for another
        mu set ``gain=(1 - mu) / 2``.
    weak_learner : {"stump", "rule", "table", "tree"} or object, default="stump"
        The features: one cut; rules (the paper's monomials, where a cell is "the rule holds" or "it
        does not"); a cell for each bin; the leaves of a tree.
    gain : float or None, default=None
        None is that of the surrogate.
    criterion : {"phi", "gini", "entropy", "matsushita"} or None, default="phi"
        The impurity by which features are compared; "phi" is that of phi for rules and trees, and
        None, the edge, for stumps and tables.
    step : {"leveraging", "totally_corrective"}, default="leveraging"
        Solve for the coefficient of the newest feature (classical boosting), or for those of all
        features so far (totally corrective).

    Raises
    ------
    ValueError, TypeError
        If phi or step is not one of these.  Those whose link is bounded, "gini" and "zeta", have no
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
    >>> model = ULS("entropy", weak_learner="rule", n_estimators=10).fit(X, y)
    >>> len(model.rules())
    10
    """
    if isinstance(phi, str) and phi in ("gini", "zeta"):
        raise ValueError(
            f"phi must not be {phi!r}, whose link is bounded: it serves UDTClassifier; "
            "phi must be one of 'matsushita', 'entropy', 'mu'"
        )
    checks.choice("phi", phi, ("matsushita", "entropy", "mu"))
    checks.choice("step", step, SOLVED)
    if criterion == "phi":
        criterion = CRITERIA[phi] if make_learner(weak_learner).is_grown else None
    return {
        "loss": "glog" if phi == "entropy" else "gboost",
        "gain": {"matsushita": 0.5, "entropy": 1.0, "mu": 0.25}[phi] if gain is None else gain,
        "response": "sign",
        "criterion": criterion,
        "step": step,
        "l2": 0.0,
        "prior": None,
    }
