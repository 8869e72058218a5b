"""Custom losses: errors name the faults, searches fit with them, and files keep them."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from helpers.custom_losses import (
    CERTAIN,
    raw_tangent_loss,
    raw_tangent_weight,
)
from properboost import losses
from properboost.losses import (
    GGauss,
    GLog,
    Savage,
    check,
    from_functions,
)

# -- what is wrong with a loss --------------------------------------------------------------------


def test_named_losses_are_sound():
    for name, gain in itertools.product(losses.LOSSES, (0.3, 1.0, 5.0)):
        report = check(losses.get_loss(name, gain))
        assert report, str(report)
        assert report.problems == ()
        assert str(report) == f"loss {name!r}: nothing wrong was found"


def test_the_raw_tangent_loss_is_not():
    raw = from_functions(raw_tangent_weight, raw_tangent_loss, name="raw", validate=False)
    for gain in (1.0, 2.0):
        report = check(dataclasses.replace(raw, gain=gain))
        assert not report
        (problem,) = report.problems
        assert problem.what == "phi does not decrease: its weight is below 0"
        assert problem.margin == pytest.approx(gain * CERTAIN, abs=1e-6)
        assert str(report).startswith("loss 'raw': phi does not decrease")


class Changed:
    """A loss that is sound except for one method."""

    name, convex = "changed", True

    def __init__(self, **changed):
        base = GLog()
        for method in ("loss", "weight", "curvature", "probability"):
            setattr(self, method, changed.get(method, getattr(base, method)))


@pytest.mark.parametrize(
    ("changed", "what", "margin"),
    [
        ({"loss": lambda u: np.exp(-u)}, "the weight is not -phi'", (-0.1, 0.1)),
        (
            {"loss": lambda u: np.where(u > 5, np.nan, GLog().loss(u))},
            "phi is not finite",
            (5, 5.1),
        ),
        ({"weight": lambda u: GLog().weight(u) + 0.01 * (u > 3)}, "the weight is not", (2.9, 3.1)),
        ({"curvature": Savage().curvature}, "the curvature is not phi''", (-0.1, 0.1)),
        (
            {"probability": lambda u: GLog().probability(u) ** 1.1},
            "the link is not odd",
            (-0.1, 0.1),
        ),
        ({"probability": lambda u: GLog().probability(-u)}, "the probability falls", (-0.1, 0.1)),
        ({"probability": lambda u: 2.0 * GLog().probability(u)}, "not in", (-0.1, 0.1)),
        ({"probability": GGauss().probability}, "do not belong together", (-0.4, 0.4)),
    ],
)
def test_check_names_the_fault_and_its_place(changed, what, margin):
    report = check(Changed(**changed))
    assert not report.ok
    problem = next(problem for problem in report.problems if what in problem.what)
    assert margin[0] <= problem.margin <= margin[1]
    assert f"margin {problem.margin:.6g}" in str(report)


def test_check_looks_at_weights_beside_those_near_them():
    class Holed:
        loss = staticmethod(lambda v: np.exp(-v))
        weight = staticmethod(lambda v: np.where((v > 1.0) & (v < 3.0), -100.0, np.exp(-v)))

    (problem,) = check(Holed()).problems
    assert problem.what == "phi does not decrease: its weight is below 0"
    assert (problem.margin, problem.value) == (pytest.approx(1.0), -100.0)


def test_check_takes_objects():
    with pytest.raises(TypeError, match=r"loss must be an object, not a class: GLog"):
        check(GLog)


def test_check_sees_a_false_claim_of_convexity():
    class Claimed:
        convex = True
        loss, weight, curvature = (getattr(Savage(), m) for m in ("loss", "weight", "curvature"))

    (problem,) = check(Claimed()).problems
    assert "claimed to be convex" in problem.what
    # 3p = 1
    assert problem.margin == pytest.approx(0.5 * math.log(0.5), abs=0.01)
    with pytest.raises(TypeError, match="must have the method 'loss'"):
        check("glog")
