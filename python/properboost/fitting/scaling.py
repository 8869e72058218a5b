"""How raw predictions are scaled: the slopes of a fit, and the rule for its intercepts.

Both are settled before boosting: slopes by how far the training rows tell the classes apart.
"""

import numpy as np

from properboost.engine.protocols import TrainingRows
from properboost.fitting.evidence import find_slopes
from properboost.fitting.intercept import needs_intercept
from properboost.fitting.plan import FitPlan, Scaling
from properboost.parameters.kinds import CONDITIONAL, SOLVED, Intercept

__all__ = ["find_scaling"]


def find_scaling(plan: FitPlan, rows: TrainingRows) -> Scaling:
    """Return how a plan scales raw predictions, given the rows that it learns from."""
    slopes = _find_slopes(plan, rows)
    has_doubts = plan.calibration.slope == "auto" and min(slopes) < 1.0
    slopes_of_fits = (slopes,) * plan.n_fits
    if has_doubts and plan.bags is not None:  # a bag may doubt more or less than the others
        share = plan.bags.design.share
        slopes_of_fits = tuple(
            _find_slopes(plan, rows.of_segments(segments), share) for segments in plan.bags.segments
        )
        slopes = tuple(np.mean(slopes_of_fits, axis=0).tolist())
    intercept = _read_intercept(plan.calibration.intercept, plan.n_models)
    if intercept == "auto":
        if has_doubts or plan.options.response == CONDITIONAL:
            intercept = "share"
        elif plan.options.step in SOLVED or not needs_intercept(plan.link.loss):
            intercept = None
    return Scaling(slopes, slopes_of_fits, intercept)


def _find_slopes(plan: FitPlan, rows: TrainingRows, share: float = 1.0) -> tuple[float, ...]:
    """Return what the steps of each model are multiplied by; the rows are a share of all."""
    if not isinstance(plan.calibration.slope, str):
        return (float(plan.calibration.slope),) * plan.n_models
    if plan.options.step in SOLVED or plan.base is not None:
        return (1.0,) * plan.n_models
    uses_pairs = plan.pairs is not None or plan.options.weak_learner.is_grown
    return find_slopes(rows, joint=bool(plan.link.joint_loss), pairs=uses_pairs, share=share)


def _read_intercept(intercept: Intercept, n_models: int) -> str | tuple[float, ...] | None:
    """Return how intercepts are found, or what they are."""
    if intercept is None or isinstance(intercept, str):
        return intercept
    values = np.ravel(intercept).tolist()
    if len(values) != n_models or (n_models > 1 and np.ndim(intercept) == 0):
        wanted = "one number" if n_models == 1 else f"{n_models} numbers, one for each class"
        raise ValueError(f"intercept must be {wanted}, or a name; got {intercept!r}")
    return tuple(values)
