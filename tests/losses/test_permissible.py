"""Permissible functions: their definition, the ULS paper's identities, and its Theorem 2."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from properboost import UDTClassifier
from properboost.losses import Permissible, PermissibleFunction

ALL = [
    PermissibleFunction("matsushita"),
    PermissibleFunction("gini"),
    PermissibleFunction("entropy"),
    PermissibleFunction("mu", mu=0.7),
    PermissibleFunction("zeta", zeta=-12.0),
]
UNBOUNDED = [f for f in ALL if f.phi not in ("gini", "zeta")]
every_function = pytest.mark.parametrize("f", ALL, ids=lambda f: f.phi)
drawn = settings(max_examples=60, deadline=None, derandomize=True)
probabilities = st.floats(1e-3, 1.0 - 1e-3)
P = np.linspace(0.0, 1.0, 201)


def test_formulas():
    root = np.sqrt(P * (1 - P))
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.nan_to_num(P * np.log(P) + (1 - P) * np.log(1 - P))
    cosh = np.log(np.cosh(-6.0 * (P - 0.5))) - np.log(np.cosh(-3.0))
    expected = [-root, -P * (1 - P), entropy, -(0.7 + 0.3 * root), 2.0 / 12.0 * cosh]
    for f, values in zip(ALL, expected, strict=True):
        np.testing.assert_allclose(f.value(P), values, rtol=1e-12, atol=1e-14)


@every_function
def test_they_are_permissible(f):
    values = f.value(P)
    np.testing.assert_allclose(values, values[::-1], atol=1e-14)
    assert np.all(np.diff(values, 2) > 0.0)
    assert values[0] == values[-1] == -f.at_ends <= 0.0
    assert f.depth == pytest.approx(values[0] - values.min())
    bends = np.diff(values, 2) / (P[1] - P[0]) ** 2
    assert bends.min() >= f.least_curvature * (1.0 - 1e-9)
    assert bends.min() == pytest.approx(f.least_curvature, rel=0.1)


@every_function
@given(p=probabilities, q=probabilities, x=st.floats(-20.0, 20.0))
@drawn
def test_identities(f, p, q, x):
    h = 1e-6
    slope = (f.value(p + h) - f.value(p - h)) / (2.0 * h)
    assert f.slope(p) == pytest.approx(slope, rel=1e-6, abs=1e-7)
    assert f.inverse_slope(f.slope(p)) == pytest.approx(p, rel=1e-9)
    # The conjugate is the largest, and symmetric (eqs. 9 and 13); D is a Bregman divergence.
    near_ends = np.geomspace(1e-6, 0.5, 2000)
    fine = np.concatenate([near_ends, 1.0 - near_ends])
    most = np.max(x * fine - f.value(fine))
    assert f.conjugate(x) == pytest.approx(most, abs=1e-4)
    assert f.conjugate(x) >= most - 1e-12
    assert f.conjugate(x) == pytest.approx(f.conjugate(-x) + x, abs=1e-12)
    apart = f.value(p) - f.value(q) - (p - q) * f.slope(q)
    assert f.divergence(p, q) == pytest.approx(apart, abs=1e-12)
    assert f.divergence(p, q) >= -1e-12
    # Lemma 2: a loss on probabilities is one on raw predictions.
    raw = f.slope(q)
    for y, sign in ((1.0, 1.0), (0.0, -1.0)):
        assert f.divergence(y, q) == pytest.approx(f.conjugate(-sign * raw) - f.at_ends, rel=1e-9)
        assert f.surrogate(sign * raw) * f.depth == pytest.approx(f.divergence(y, q), rel=1e-9)


@pytest.mark.parametrize("f", UNBOUNDED, ids=lambda f: f.phi)
@given(p=probabilities, x=st.floats(-3.0, 3.0), other=st.floats(-3.0, 3.0))
@drawn
def test_legendre_duals(f, p, x, other):
    """Eqs. 28 to 30."""
    dual = f.dual(x, p)
    minimum = minimize_scalar(
        lambda q: f.divergence(q, p) - x * q, bounds=(0.0, 1.0), options={"xatol": 1e-10}
    )
    assert dual == pytest.approx(minimum.x, abs=1e-5)
    assert f.slope(dual) == pytest.approx(x + f.slope(p), rel=1e-6, abs=1e-6)
    assert f.dual(other, dual) == pytest.approx(f.dual(other + x, p), abs=1e-9)
    assert (dual < p) == (x < 0.0) or abs(x) < 1e-9


def test_surrogates_are_losses_over_their_depth():
    v = np.linspace(-30.0, 30.0, 121)
    for f in UNBOUNDED:
        loss = Permissible(f.phi, f.mu if f.phi == "mu" else None)
        np.testing.assert_allclose(f.surrogate(v), loss.loss(v) / f.depth, atol=1e-12)
        np.testing.assert_allclose(f.inverse_slope(v), loss.probability(v), atol=1e-12)
        np.testing.assert_allclose(f.slope(P), loss.link(P), rtol=1e-9, atol=1e-12)
        assert np.all(f.surrogate(v) >= (v < 0.0) - 1e-12)  # eq. 18
        assert f.surrogate(0.0) == pytest.approx(1.0, rel=1e-14)
        # Asymptotes (eq. 17).
        far = np.array([-1e6, 1e6])
        np.testing.assert_allclose(f.surrogate(far), [1e6 / f.depth, 0.0], atol=1e-5)


def test_bounded_links_end():
    gini, zeta = ALL[1], ALL[4]
    np.testing.assert_array_equal(gini.inverse_slope([-5.0, 5.0]), [0.0, 1.0])
    np.testing.assert_array_equal(zeta.inverse_slope([-5.0, 5.0]), [0.0, 1.0])
    np.testing.assert_array_equal(
        PermissibleFunction("zeta", zeta=-1e6).inverse_slope([-1, 1]), [0, 1]
    )
    v = np.linspace(-1.0, 1.0, 21)
    np.testing.assert_allclose(gini.surrogate(v), (1 - v) ** 2, atol=1e-14)  # Table 1
    # Far from 0, zeta's is -min(p, 1 - p); near it is Gini's, scaled (eq. 24).
    sharp = PermissibleFunction("zeta", zeta=-1e5)
    np.testing.assert_allclose(sharp.value(P), -np.minimum(P, 1 - P), atol=1e-4)
    flat = PermissibleFunction("zeta", zeta=-1e-3)
    np.testing.assert_allclose(flat.value(P) / flat.depth, 4 * gini.value(P), atol=1e-6)
    model = UDTClassifier("zeta", zeta=-12.0)
    np.testing.assert_allclose(zeta.slope(P), np.tanh(-model.zeta / 2.0 * (P - 0.5)))


def test_certainty():
    for f in ALL:
        assert f.divergence(1.0, 1.0) == f.divergence(0.0, 0.0) == 0.0
    assert PermissibleFunction().divergence(1.0, 0.0) == math.inf
    assert PermissibleFunction().slope([0.0, 1.0]).tolist() == [-math.inf, math.inf]
    assert PermissibleFunction("entropy").dual(3.0, [0.0, 1.0]).tolist() == [0.0, 1.0]


def test_theorem_2_in_numbers():
    """Eqs. 43 and 47, worked out by hand; with fits in tests/papers/test_uls.py."""
    f = PermissibleFunction("entropy")
    assert f.least_fall(0.1, 20.0, 8.0) == pytest.approx(4.0 * (2.0 / 16.0) ** 2 / math.log(2.0))
    bound = 4 * 64 * math.log(2.0) * 64 / (4.0 * 400.0 * 0.01)
    assert f.most_rounds(64, 0.1, 20.0, 8.0) == math.ceil(bound)
    assert f.most_rounds(64, 0.1, 20.0, 8.0, surrogate=32.0) == math.ceil(bound / 2.0)
    assert f.most_rounds(64, 0.1, 20.0, 8.0, surrogate=64) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PermissibleFunction("hinge"), "phi must be one of 'matsushita', .*'hinge'"),
        (lambda: PermissibleFunction("mu", mu=1.0), "mu must be below 1; got 1"),
        (lambda: PermissibleFunction("zeta", zeta=0.0), "zeta must be below 0; got 0"),
        (lambda: ALL[0].value(1.2), "p must be between 0 and 1; got 1.2"),
        (lambda: ALL[0].divergence(0.5, -1), "q must be between 0 and 1; got -1"),
        (lambda: ALL[1].least_fall(0.1, 1, 1), "slope that takes all numbers.*phi='gini' has not"),
        (lambda: ALL[0].least_fall(0, 1, 1), "edge must be above 0; got 0"),
        (lambda: ALL[0].most_rounds(3, 0.1, 1, 1, 4.0), "surrogate must be between 0 and 3"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
