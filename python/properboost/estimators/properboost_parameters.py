"""Parameters of `ProperBoostClassifier`: checks of their combinations, the loss and the link."""

from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from properboost.engine.options import check_loss_of_step, find_coupling
from properboost.engine.protocols import TrainingRows
from properboost.fitting.plan import FitPlan, plan_fit
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.losses.registry import get_loss
from properboost.parameters import checks
from properboost.parameters.boosting import (
    BoostingOptions,
    CouplingParameters,
    LearnerParameters,
    RoundParameters,
)
from properboost.parameters.declare import (
    check_declared,
    parameter,
    parameters,
    read,
    read_parameter,
)
from properboost.parameters.kinds import NEW_BINS, SOLVED, LossName
from properboost.parameters.learners import Grown, Table, Tree
from properboost.parameters.rows import BinningParameters, SizeParameters
from properboost.parameters.stages import Bags, Calibration, Interactions, StageParameters

__all__ = ["BoosterParameters", "check_parameters", "find_loss", "make_link", "plan_rows"]


@parameters
class BoosterParameters(
    LearnerParameters,
    StageParameters,
    RoundParameters,
    CouplingParameters,
    BinningParameters,
    SizeParameters,
):
    """The parameters of boosting, the most important first."""

    loss: LossName | MarginLoss = parameter(
        default="glog",
        kw_only=False,
        check=lambda _, value: value,  # together with the gain
        kind="str or loss object",
        form="losses",
        doc="""
        The loss, by a name from `properboost.losses` or as an object from there, which has a gain
        itself.
        """,
        option="the loss",
    )
    gain: float | None = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        doc="""
        The strength of the regularisation of probabilities, above 0.  None is the gain of a loss
        object; for a name it depends on the rows (see Notes).
        """,
        option="gain of the loss, above 0: larger regularises more; none follows from the rows "
        "of the smallest class",
    )
    n_estimators: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=checks.LARGEST_INT), None),
        doc="""
        Rounds, or cycles over the features, for each class of several.  None is 100, and up to
        1,000 where more help by more than chance or, with "auto", on rows held out; rules have 100.
        """,
        option="rounds, or cycles over the features, per class where there are more than 2; none "
        "is 100, and more as long as these help by more than chance; rules have 100",
    )


def check_parameters(model: Any) -> MarginLoss:
    """Check parameters of a `ProperBoostClassifier` without data, and return the loss."""
    check_declared(model)
    loss = get_loss(model.loss, model.gain)
    options = read(BoostingOptions, model)
    check_loss_of_step(loss, model.step)
    coupling = find_coupling(model.multiclass, loss, model.step, model.response)
    learner = options.weak_learner
    if isinstance(learner, Table):
        _check_table(learner, options)
    if isinstance(learner, Grown):
        _check_grown(learner, options, read_parameter(model, "outer_bags"))
    if isinstance(learner, Tree):
        _check_tree(learner, options, coupling)
        if learner.linear_leaves and model.warm_start == NEW_BINS:
            raise ValueError(
                "warm_start must be False or True with Tree.linear_leaves, whose lines use the "
                f"means of earlier bins; got {model.warm_start!r}"
            )
    interactions: Interactions = read_parameter(model, "interactions")
    if interactions.are_wanted:
        _check_smoothing("Interactions", interactions.smoothing, options)
    calibration: Calibration = read_parameter(model, "calibration")
    if calibration.temperature is not None and model.multiclass in ("softmax", "canonical"):
        _refuse_temperature(model, calibration)
    return loss


def _check_smoothing(owner: str, h: float | None, options: BoostingOptions) -> None:
    """Refuse a smoothing above 0.25 with a response that needs the rows of each cell."""
    if h is not None and h > 0.25 and options.response == "exact":
        raise ValueError(f"{owner}.smoothing must be at most 0.25 with response='exact'; got {h!r}")


def _check_table(table: Table, options: BoostingOptions) -> None:
    _check_smoothing("Table", table.smoothing, options)
    if table.min_saving != 0.0 and options.response == "sign":
        raise ValueError(
            f"Table.min_saving must be 0 with response='sign', which makes every cut; got "
            f"{table.min_saving!r}"
        )


def _check_grown(learner: Grown, options: BoostingOptions, bags: Bags) -> None:
    if options.selection == "cyclic":
        raise ValueError(
            f"selection must not be 'cyclic' with weak_learner={learner.name!r}: each split "
            "chooses a feature; use 'unbiased' or 'greedy'"
        )
    if bags.n_bags > 0 and learner.n_draws > 1:
        raise ValueError(
            f"{type(learner).__name__}.n_draws must be 1 with outer_bags, which take the place of "
            f"draws; got {learner.n_draws!r}"
        )
    if not bags.tables:
        raise ValueError(
            f"Bags.tables must be True with weak_learner={learner.name!r}: only look-up tables of "
            "bags can be left out"
        )
    options.check_drawn_rows(learner.subsample)


def _check_tree(tree: Tree, options: BoostingOptions, coupling: str) -> None:
    if not tree.shares_classes and coupling == "one_vs_rest":
        raise ValueError(
            "Tree.multi_strategy must be 'multi_output_tree' where each class is learnt against "
            f"the rest, with separate trees; got {tree.multi_strategy!r}"
        )
    if not tree.linear_leaves:
        return
    prefix = "Tree.linear_leaves must be False with"
    if options.response not in ("real", "newton"):
        raise ValueError(
            f"{prefix} response={options.response!r}: a line is a step of Newton's method about a "
            "leaf's value; use response='real' or 'newton'"
        )
    if options.step in SOLVED:
        raise ValueError(
            f"{prefix} step={options.step!r}: a step that is solved for has one coefficient for a "
            "tree"
        )
    if options.monotonic_cst is not None:
        raise ValueError(f"{prefix} monotonic_cst: a line may rise or fall against the constraint")


def find_loss(
    model: Any, loss: MarginLoss, class_weights: NDArray[np.float64], *, keeps_gain: bool
) -> MarginLoss:
    """Return the loss of a fit, with the default gain for the rows if a user sets none.

    `class_weights` are the weights of the classes' training rows.  A fit that goes on from another
    one keeps its gain.
    """
    if model.gain is not None or not isinstance(model.loss, str):
        return loss
    gain = loss.gain
    if not keeps_gain:
        gain = read_parameter(model, "weak_learner").find_gain(class_weights, loss.gain_unit)
    return get_loss(model.loss, gain).known_by(_count_sure_rows(class_weights))


def _count_sure_rows(class_weights: NDArray[np.float64]) -> float:
    """Return the balanced number of rows whose share is as certain as the smallest class's here.

    The standard error of a share p of n rows is that of a share of 1/2 of n / (4 p (1 - p)) rows.
    """
    rows = float(class_weights.sum())
    share = min(max(float(class_weights.min()), 1.0) / rows, 0.5)
    return rows / (4.0 * share * (1.0 - share))


def make_link(model: Any, loss: MarginLoss, n_classes: int, n_threads: int) -> Link:
    """Return the link from raw predictions to probabilities of a model with these parameters."""
    if n_classes == 2:
        return Link(loss, None, n_threads)
    coupling = find_coupling(model.multiclass, loss, model.step, model.response)
    calibration: Calibration = read_parameter(model, "calibration")
    if calibration.temperature is not None and coupling != "one_vs_rest":
        _refuse_temperature(model, calibration)
    return Link(loss, coupling, n_threads, calibration.temperature)


def plan_rows(
    model: Any, loss: MarginLoss, rows: TrainingRows, *, keeps_gain: bool = False, **more: Any
) -> FitPlan:
    """Return the plan of a fit to training rows; `plan_fit` takes `more`."""
    n_classes = len(rows.classes)
    loss = find_loss(model, loss, rows.class_weights, keeps_gain=keeps_gain)
    link = make_link(model, loss, n_classes, rows.n_threads)
    return plan_fit(model, link, n_classes, **more)


def _refuse_temperature(model: Any, calibration: Calibration) -> NoReturn:
    raise ValueError(
        f"Calibration.temperature must be None with multiclass={model.multiclass!r}: joint models "
        f"have a link of their own; use multiclass='one_vs_rest'; got {calibration.temperature!r}"
    )
