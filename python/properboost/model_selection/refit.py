"""The final fit of a search: the chosen model, fitted to all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from properboost.engine.protocols import TrainingRows
from properboost.estimators.properboost_parameters import make_link
from properboost.fitting.plan import FitPlan, plan_fit
from properboost.losses.builtin import MarginLoss
from properboost.models.bag_design import BagPlan
from properboost.notices import warn
from properboost.parameters.declare import read_parameter

__all__ = ["plan_refit", "record_fewer_rounds"]


def plan_refit(
    best: Any, loss: MarginLoss, training: TrainingRows, bags: BagPlan | None
) -> tuple[FitPlan, TrainingRows]:
    """Return the plan of the fit of `best`, the chosen classifier, to all rows, and these rows."""
    if training.binning.has_means and not read_parameter(best, "weak_learner").needs_means:
        training = training.without_means()
    link = make_link(best, loss, len(training.classes), training.n_threads)
    return plan_fit(best, link, len(training.classes), bags=bags), training


def record_fewer_rounds(search: Any, best: Any) -> None:
    """Record the number of rounds at which the time limit ended the final fit, and warn."""
    wanted, n_estimators = best.n_estimators, int(np.max(best.n_iter_))
    if n_estimators == wanted:
        return
    warn(
        f"the time_limit of {search.time_limit!r} seconds ended the final fit after "
        f"{n_estimators} of {wanted} estimators: more time may give a better model"
    )
    best.set_params(n_estimators=n_estimators)
    search.best_params_ = {**search.best_params_, "n_estimators": n_estimators}
    search.n_estimators_, search.ended_ = n_estimators, "time_limit"
