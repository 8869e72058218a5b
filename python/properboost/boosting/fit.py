"""Boosting all models of a fit: one for two classes, or one per class."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.boosting.engine import MOST_LANES, Training, find_signs, start
from properboost.boosting.ensemble import Rounds
from properboost.losses.probabilities import Link
from properboost.notices import warn
from properboost.parameters.shared import BoostingOptions
from properboost.progress import Report

__all__ = ["Stage", "boost", "report_from"]

LANES_FROM = 1000
"""Rows from which the classes' models are boosted in lanes.

With fewer rows, training one after the other costs as little, and sums in double precision.
"""


@dataclass(frozen=True, eq=False)
class Stage:
    """Models that were boosted, what they predict of their rows, and the weight of each code."""

    models: list[Rounds]
    raw: NDArray[np.float64] | None  # (n_models, n_rows), in the order of the segments, if asked
    bin_weights: tuple[NDArray[np.float64], ...]


def boost(
    options: BoostingOptions,
    link: Link,
    training: Training,
    n_estimators: int,
    *,
    base: NDArray[np.float64] | None = None,
    keep_raw: bool = False,
    wants_raw: bool = False,
    report: Report | None = None,
) -> Stage:
    """Boost a model of two classes, or one a class, from `base` on.

    `keep_raw` keeps the raw predictions of all rows; `wants_raw` says that the caller will make
    them.
    """
    signs = find_signs(training.class_of, len(training.classes))
    in_lanes = training.codes.shape[1] >= LANES_FROM
    together = len(signs) if link.joint_loss or in_lanes else 1  # joint models cannot be apart
    models: list[Rounds] = []
    raw = np.empty((0, 0))
    for first in range(0, len(signs), together):
        boosting = start(
            training,
            signs[first : first + together],
            [options] * together,
            [link.loss] * together,
            base=None if base is None else base[first : first + together],
            keep_rounds=True,
            raws=len(signs) if keep_raw or wants_raw else 0,
            joint_loss=link.joint_loss,
            lanes=MOST_LANES if in_lanes else 1,
        )
        boosting.advance(n_estimators, None, report and report_from(report, first * n_estimators))
        models += [Rounds.from_native(boosting.rounds(m)) for m in range(together)]
        if keep_raw and first == 0:
            raw = np.empty((len(signs), training.codes.shape[1]))
        for m in range(together if keep_raw else 0):
            raw[first + m] = boosting.raw(m)
        for m in range(together):
            if boosting.separated(m):
                _warn_of_separation(options.step, training.classes, first + m)
        if report is not None and len(models[-1]):
            report(len(models) * n_estimators, float(models[-1].risk[-1]))
    return Stage(models, raw if keep_raw else None, training.weigh_codes(boosting))


def _warn_of_separation(step: str, classes: NDArray[Any], model: int) -> None:
    label = classes.tolist()[1 if len(classes) == 2 else model]
    warn(
        f"step={step!r} found no finite optimal coefficients for class "
        f"{label!r}: the chosen features separate some rows by their class, or nearly so. The "
        "coefficients were kept finite by counting an error of 0 as half a row"
    )


def report_from(report: Report, before: int) -> Report:
    """Return what reports rounds that follow `before` others."""
    return lambda done, risk: report(before + done, risk)
