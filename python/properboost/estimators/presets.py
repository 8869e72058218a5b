"""Boosting algorithms of the literature, as settings of the estimators."""

from typing import Any

from properboost import losses
from properboost.estimators.arboost import ARBoostClassifier
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.udt import UDTClassifier
from properboost.parameters import checks
from properboost.parameters.groups import GROWN

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


def AdaBoost(**parameters: Any) -> ProperBoostClassifier:  # noqa: N802
    """Discrete AdaBoost with decision stumps [1]_.

    Exponential loss, stumps that say -1 or +1, and the step that minimises the risk.

    Parameters
    ----------
    **parameters
        Further parameters of `ProperBoostClassifier`; they may also replace the preset's.

    Returns
    -------
    ProperBoostClassifier

    References
    ----------
    .. [1] Freund and Schapire (1997). A decision-theoretic generalization of on-line learning and
       an application to boosting. Journal of Computer and System Sciences 55.
    """
    preset = {
        "loss": "exponential",
        "weak_learner": "stump",
        "response": "sign",
        "step": "line_search",
    }
    return ProperBoostClassifier(**(preset | parameters))


def RealBoost(**parameters: Any) -> ProperBoostClassifier:  # noqa: N802
    """Boosting with confidence-rated predictions over histograms (Real AdaBoost) [1]_.

    Exponential loss, half the log-odds in each bin, and unit steps.

    Parameters
    ----------
    **parameters
        Further parameters of `ProperBoostClassifier`; they may also replace the preset's.

    Returns
    -------
    ProperBoostClassifier

    References
    ----------
    .. [1] Schapire and Singer (1999). Improved boosting algorithms using confidence-rated
       predictions. Machine Learning 37.
    """
    preset = {"loss": "exponential", "response": "real", "step": "unit"}
    return ProperBoostClassifier(**(preset | parameters))


def LogitBoost(**parameters: Any) -> ProperBoostClassifier:  # noqa: N802
    """Newton boosting of the logistic loss over histograms [1]_.

    Parameters
    ----------
    **parameters
        Further parameters of `ProperBoostClassifier`; they may also replace the preset's.

    Returns
    -------
    ProperBoostClassifier

    References
    ----------
    .. [1] Friedman, Hastie and Tibshirani (2000). Additive logistic regression: a statistical view
       of boosting. Annals of Statistics 28.
    """
    preset = {"loss": "glog", "response": "newton", "step": "unit"}
    return ProperBoostClassifier(**(preset | parameters))


def SavageBoost(**parameters: Any) -> ProperBoostClassifier:  # noqa: N802
    """Boosting of the bounded, outlier-resistant Savage loss over histograms [1]_.

    Rows are re-weighted by w = -phi'(v), which minimises the Savage risk: rows far on the wrong
    side count less and less.  Half the log-odds in each bin, and guarded steps; with
    ``response="exact"`` each bin has the minimiser of its risk, and the gain does not matter.

    Parameters
    ----------
    **parameters
        Further parameters of `ProperBoostClassifier`; they may also replace the preset's.

    Returns
    -------
    ProperBoostClassifier

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2008). On the design of loss functions for
       classification: theory, robustness to outliers, and SavageBoost. NIPS 21.
    """
    preset = {"loss": "savage", "response": "real", "step": "guarded"}
    return ProperBoostClassifier(**(preset | parameters))


def SAMME(**parameters: Any) -> ARBoostClassifier:  # noqa: N802
    """AdaBoost for several classes, each weak classifier saying one of them [1]_.

    Parameters
    ----------
    **parameters
        Further parameters of `ARBoostClassifier`, but for `rho`, which is 1.

    Returns
    -------
    ARBoostClassifier

    References
    ----------
    .. [1] Zhu, Zou, Rosset and Hastie (2009). Multi-class AdaBoost. Statistics and its Interface 2.
    """
    return ARBoostClassifier(1.0, **parameters)


def EpsilonBoost(epsilon: float = 0.1, **parameters: Any) -> ARBoostClassifier:  # noqa: N802
    """AdaBoost with every step shrunk by the same factor [1]_.

    Parameters
    ----------
    epsilon : float, default=0.1
        The factor, above 0: the `learning_rate`.
    **parameters
        Further parameters of `ARBoostClassifier`.

    Returns
    -------
    ARBoostClassifier

    References
    ----------
    .. [1] Hastie, Tibshirani and Friedman (2009). The elements of statistical learning, 10.12.
    """
    return ARBoostClassifier(learning_rate=checks.positive("epsilon", epsilon), **parameters)


def L1Boost(beta: float = 0.05, **parameters: Any) -> ARBoostClassifier:  # noqa: N802
    """AdaBoost with a penalty beta on the sum of the steps: sparse, and soon over [1]_.

    The exponential loss of each row is multiplied by e^(beta sum alpha), so that the step is
    log((1 - beta)(1 - e)/((1 + beta) e))/2: that of `ARBoostClassifier` with rho = (1 - beta)/(1 +
    beta).  It ends when no classifier's edge 1 - 2 e exceeds beta.

    Parameters
    ----------
    beta : float, default=0.05
        The penalty, from 0 on and below 1.
    **parameters
        Further parameters of `ARBoostClassifier`.

    Returns
    -------
    ARBoostClassifier

    References
    ----------
    .. [1] Xi, Xiang, Ramadge and Schapire (2009). Speed and sparsity of regularized boosting.
       AISTATS.
    """
    if checks.between("beta", beta, 0.0, 1.0) == 1.0:
        raise ValueError("beta must be below 1; got 1, at which no classifier has a vote")
    return ARBoostClassifier((1.0 - beta) / (1.0 + beta), **parameters)


def AdaBoostReg(C: float = 0.1, **parameters: Any) -> ARBoostClassifier:  # noqa: N802
    """AdaBoost with soft margins: rows that keep their weight are mistrusted [1]_.

    Parameters
    ----------
    C : float, default=0.1
        The `mistrust` of `ARBoostClassifier`, at least 0.
    **parameters
        Further parameters of `ARBoostClassifier`.

    Returns
    -------
    ARBoostClassifier

    References
    ----------
    .. [1] Raetsch, Onoda and Mueller (2001). Soft margins for AdaBoost. Machine Learning 42.
    """
    return ARBoostClassifier(mistrust=C, **parameters)


def WeightBoost(beta: float = 0.5, **parameters: Any) -> ARBoostClassifier:  # noqa: N802
    """AdaBoost whose later rounds say little where the earlier ones are sure [1]_.

    Parameters
    ----------
    beta : float, default=0.5
        The `damping` of `ARBoostClassifier`, from 0 on and below 1.
    **parameters
        Further parameters of `ARBoostClassifier`.

    Returns
    -------
    ARBoostClassifier

    References
    ----------
    .. [1] Jin, Liu, Si, Carbonell and Hauptmann (2003). A new boosting algorithm using
       input-dependent regularizer. ICML.
    """
    return ARBoostClassifier(damping=beta, **parameters)


def AdaBoostMH(**parameters: Any) -> ARBoostClassifier:  # noqa: N802
    """AdaBoost over all pairs of a row and a label, "has it this label?" [1]_.

    Parameters
    ----------
    **parameters
        Further parameters of `ARBoostClassifier`, but for `multiclass`.

    Returns
    -------
    ARBoostClassifier

    References
    ----------
    .. [1] Schapire and Singer (1999). Improved boosting algorithms using confidence-rated
       predictions. Machine Learning 37.
    """
    return ARBoostClassifier(multiclass="labels", **parameters)


def CART(**parameters: Any) -> UDTClassifier:  # noqa: N802
    """Grow a classification tree by the Gini impurity [1]_.

    Parameters
    ----------
    **parameters
        Further parameters of `UDTClassifier`, but for `phi`.

    Returns
    -------
    UDTClassifier

    References
    ----------
    .. [1] Breiman, Friedman, Olshen and Stone (1984). Classification and regression trees.
    """
    return UDTClassifier("gini", **parameters)


def ULS(  # noqa: N802
    phi: str = "matsushita",
    *,
    mu: float = 0.5,
    weak_learner: str = "stump",
    totally_corrective: bool = False,
    **parameters: Any,
) -> ProperBoostClassifier:
    """Universal linear separators: leveraged features under a permissible surrogate [1]_.

    Weights are 1 - P(the row's class), 1/2 at first.  A round takes a feature that says -1 or +1 in
    each of its cells, and solves for its coefficient (Fig. 4, eq. 35), so that it has no edge on
    the next weights.  Stumps and histograms are those of largest edge (eq. 42); rules and trees are
    grown by the impurity of phi on the weights, as by UDT (eq. 49).

    Parameters
    ----------
    phi : {"matsushita", "entropy", "mu"}, default="matsushita"
        The permissible function, -sqrt(p(1-p)), p log p + (1-p) log(1-p) or
        -(mu + (1-mu) sqrt(p(1-p))).  Its surrogate F_phi (Table 1) is the loss
        ``losses.GBoost(gain=0.5)``, ``losses.GLog()`` or ``losses.GBoost(gain=(1-mu)/2)``, exactly
        so but for a constant factor, 2, 1/log 2 and 2/(1-mu), which moves no minimum.  The gain
        only scales the raw prediction here, so "mu" makes Matsushita's features, probabilities
        and margins.
    mu : float, default=0.5
        The parameter of ``phi="mu"``, in [0, 1).
    weak_learner : {"stump", "monomial", "histogram", "tree"}, default="stump"
        The features: one cut; rules of at most `max_literals` literals (the paper's, where a cell
        is "the rule holds" or "it does not"); a cell for each bin; the leaves of a tree.
    totally_corrective : bool, default=False
        Solve for the coefficients of all features so far (totally corrective boosting), and not
        just for the newest (classical).
    **parameters
        Further parameters of `ProperBoostClassifier`; they may also replace the preset's.

    Returns
    -------
    ProperBoostClassifier

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
    if checks.between("mu", mu, 0.0, 1.0) == 1.0:
        raise ValueError(f"mu must be at least 0 and below 1; got {mu!r}")
    gain = {"matsushita": 0.5, "mu": (1.0 - mu) / 2.0}.get(phi)
    criterion = "entropy" if phi == "entropy" else "matsushita"  # mu's splits are Matsushita's
    preset = {
        "loss": losses.GLog() if gain is None else losses.GBoost(gain=gain),
        "weak_learner": weak_learner,
        "response": "sign",
        "criterion": criterion if weak_learner in GROWN else None,
        "step": "totally_corrective" if totally_corrective else "leveraging",
    }
    return ProperBoostClassifier(**(preset | parameters))
