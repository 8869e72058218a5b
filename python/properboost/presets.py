"""Boosting algorithms of the literature, as settings of `ProperBoostClassifier`."""

from typing import Any

from properboost.estimators import ProperBoostClassifier

__all__ = ["AdaBoost", "LogitBoost", "RealBoost", "SavageBoost"]


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
