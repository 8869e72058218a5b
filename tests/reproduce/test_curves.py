"""The numbers of items with curves, against numbers computed by hand."""

import math

import numpy as np
import pytest

from properboost.losses import Exponential, GLog, Hinge, LeastSquares
from properboost.reproduce.boostlr import fig2, fig5, fig8
from properboost.reproduce.published import exactly
from properboost.reproduce.savage import fig1, table3


def test_exact_numbers_leave_rounding_only():
    for number in (0.0, -0.5, 1e6):
        published = exactly(number)
        assert published.distance(number) == 0.0
        assert published.distance(number + 0.5e-6 * max(1.0, abs(number))) == 0.0
        assert published.distance(number + 2e-6 * max(1.0, abs(number))) > 0.0
        assert published.text == f"{number:g}"
    assert exactly(0.0, "equal").text == "equal"


@pytest.mark.parametrize(
    ("loss", "area"),
    [(Hinge(), 1 / 2), (LeastSquares(), 2 / 3), (GLog(), 1 / 2), (Exponential(), math.pi / 4)],
)
def test_areas_between_minimum_risks(loss, area):
    assert fig1.find_distance(loss, one_scale=False) == pytest.approx(area - 1 / 4)
    scaled = area * 0.5 / loss.minimum_risk(0.5)
    assert fig1.find_distance(loss, one_scale=True) == pytest.approx(scaled - 1 / 4, abs=1e-9)


def test_expansions_are_taylors():
    np.testing.assert_allclose(fig2.expand(Exponential()).coef, [1.0, -1.0, 0.5], atol=1e-9)
    np.testing.assert_allclose(fig2.expand(GLog()).coef, [math.log(2), -0.5, 0.125], atol=1e-9)


def test_weights_of_equation_53():
    v = np.array([-2.0, 0.0, 3.0])
    np.testing.assert_allclose(fig8.weigh(0.0, v), 1 / (1 + np.exp(v)))
    np.testing.assert_allclose(fig8.weigh(0.5, v), np.exp(-v / 2))
    assert fig8.weigh(0.8, 1.0) < 0.0  # no weight of a loss


def test_the_gain_that_fits_least_is_shown():
    assert fig5.distance("slope at 0", -0.4) > fig5.distance("slope at 0", -0.55)
    assert fig5.distance("curvature", 1e-9) > fig5.distance("curvature", 0.2)
    assert fig5.distance("curvature", -0.1) > fig5.distance("curvature", 0.2)
    assert fig5.distance("curvature", -0.1) > fig5.distance("curvature", 1e-9)


def test_losses_of_equation_21_are_made_of_rewards_and_links():
    v = np.array([-0.9, -0.2, 0.5])
    np.testing.assert_allclose(table3.derive(Exponential(), v), np.exp(-v), atol=1e-8)
    np.testing.assert_allclose(table3.derive(GLog(2.0), v), 2 * np.logaddexp(0, -v / 2), atol=1e-8)
    np.testing.assert_allclose(table3.derive(LeastSquares(), v), (1 - v) ** 2, atol=1e-8)
