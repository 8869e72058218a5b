"""Boosting algorithms of the literature, as settings of the estimators."""

from typing import Any

from properboost import parameters as checks
from properboost.arboost import ARBoostClassifier
from properboost.estimators import ProperBoostClassifier
from properboost.udt import UDTClassifier

__all__ = [
    "CART",
    "SAMME",
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
    side count less and less.  Half the log-odds in each bin, and guarded steps.

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


def AdaBoostReg(mistrust: float = 1.0, **parameters: Any) -> ARBoostClassifier:  # noqa: N802
    """AdaBoost with soft margins: rows that keep their weight are mistrusted [1]_.

    Parameters
    ----------
    mistrust : float, default=1.0
        The C of the paper, at least 0; see `ARBoostClassifier`.  Shares of weight being about one
        over the number of rows, useful values grow with its square.
    **parameters
        Further parameters of `ARBoostClassifier`.

    Returns
    -------
    ARBoostClassifier

    References
    ----------
    .. [1] Raetsch, Onoda and Mueller (1998). Regularizing AdaBoost. NIPS 11.
    """
    return ARBoostClassifier(mistrust=mistrust, **parameters)


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
