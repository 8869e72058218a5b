"""The scaling of raw predictions: the slopes of a fit, and the rule for its intercepts.

Both are settled before boosting; the slopes follow from the evidence in the training rows.
"""

import numpy as np

from properboost.fitting.evidence import RowEvidence, find_slopes
from properboost.fitting.intercept import needs_intercept
from properboost.fitting.plan import FitPlan, RawScaling
from properboost.parameters.kinds import CONDITIONAL, SOLVED, Intercept

__all__ = ["find_scaling"]


def find_scaling(plan: FitPlan, evidence: RowEvidence) -> RawScaling:
    """Return the scaling of raw predictions by a plan and the evidence in its training rows."""
    slopes = _find_slopes(plan, evidence)
    has_doubts = plan.calibration.slope == "auto" and min(slopes) < 1.0
    slopes_of_fits = (slopes,) * plan.n_fits
    if has_doubts and plan.bags is not None:  # the evidence differs between bags
        share = plan.bags.design.share
        slopes_of_fits = tuple(
            _find_slopes(plan, RowEvidence(evidence.rows.of_segments(segments)), share)
            for segments in plan.bags.segments
        )
        slopes = tuple(np.mean(slopes_of_fits, axis=0).tolist())
    intercept = _read_intercept(plan.calibration.intercept, plan.n_models)
    if intercept == "auto":
        if has_doubts or plan.options.response == CONDITIONAL:
            intercept = "share"
        elif plan.options.step in SOLVED or not needs_intercept(plan.link.loss):
            intercept = None
    return RawScaling(slopes, slopes_of_fits, intercept)


def _find_slopes(plan: FitPlan, evidence: RowEvidence, share: float = 1.0) -> tuple[float, ...]:
    """Return the factor of each model's steps; the rows are a `share` of all."""
    if not isinstance(plan.calibration.slope, str):
        return (float(plan.calibration.slope),) * plan.n_models
    if plan.options.step in SOLVED or plan.base is not None:
        return (1.0,) * plan.n_models
    uses_pairs = plan.pairs is not None or plan.options.weak_learner.is_grown
    return find_slopes(evidence, joint=bool(plan.link.joint_loss), pairs=uses_pairs, share=share)


def _read_intercept(intercept: Intercept, n_models: int) -> str | tuple[float, ...] | None:
    """Return the rule for intercepts, or their values."""
    if intercept is None or isinstance(intercept, str):
        return intercept
    values = np.ravel(intercept).tolist()
    if len(values) != n_models or (n_models > 1 and np.ndim(intercept) == 0):
        allowed = "one number" if n_models == 1 else f"{n_models} numbers, one for each class"
        raise ValueError(f"intercept must be {allowed}, or a name; got {intercept!r}")
    return tuple(values)
