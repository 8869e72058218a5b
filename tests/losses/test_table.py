"""Losses tabulated from functions: the tables' contents, and functions that are refused."""

import copy
import dataclasses
import gc
import math
import pickle
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import properboost as pb
from helpers.custom_losses import BAD, RISKS, TWINS, drawn, fit, logistic_weight, scalar_weight
from helpers.models import assert_same
from properboost import losses
from properboost.losses import GBoost, GLog, Savage, Tangent, from_functions, from_pdf, from_risk


def test_growing_weights_stop_growing():
    loss = from_functions(lambda u: np.exp(-u), name="exponential")
    u = np.array([-60.0, -20.0, 0.0, 20.0])
    np.testing.assert_allclose(loss.weight(u), np.exp(-u), rtol=1e-4)
    largest = loss.native.engine_weight(np.float32([-1e3, -3e38]))
    assert largest[0] == largest[1]
    assert 1e27 < largest[0] < 7e27
    assert np.isfinite(loss.native.engine_loss(np.float32([-3e38]))).all()


def test_losses_grow_beyond_the_last_knot():
    loss = from_functions(logistic_weight, name="mine")
    u = np.array([-1.0, -1e3, -1.6e7, -1.7e7, -1e9, -1e30])
    np.testing.assert_allclose(loss.loss(u), GLog().loss(u), rtol=1e-6)
    single = u.astype(np.float32)
    np.testing.assert_allclose(loss.native.engine_loss(single), GLog().loss(u), rtol=1e-5)
    assert loss.loss(-math.inf) == 1e300
    bounded = from_risk(*RISKS["savage"][:2], name="mine")
    assert bounded.loss(-math.inf) == bounded.loss(-1e9) == pytest.approx(1.0, abs=1e-5)
    assert Tangent().loss(-math.inf) == pytest.approx((1.0 + math.pi) ** 2, rel=1e-6)


def test_every_table_is_finite_everywhere():
    every = np.concatenate([np.geomspace(1e-45, 3.4e38, 2001), [0.0]])
    u = np.sort(np.concatenate([-every, every]).astype(np.float32))
    for pdf, _ in [*TWINS, (stats.semicircular(), None), (stats.norm(scale=1e-5), None)]:
        native = from_pdf(pdf).native
        for name in ("loss", "weight", "curvature", "probability"):
            value = getattr(native, f"engine_{name}")(u)
            assert np.isfinite(value).all()
            assert (value >= 0.0).all()
            assert np.isnan(getattr(native, f"engine_{name}")(np.float32([np.nan]))).all()
        assert np.all(np.diff(native.engine_weight(u)) <= 1e-6)


@given(cut=st.floats(-3.0, 3.0), n=st.integers(1, 700))
@drawn
def test_where_a_row_is_does_not_matter(cut, n):
    # Strips, vectors and the remainders.
    u = np.random.default_rng(n).normal(cut, 5.0, 700).astype(np.float32)
    native = from_pdf(stats.logistic()).native
    for name in ("loss", "weight", "curvature", "probability"):
        function = getattr(native, f"engine_{name}")
        np.testing.assert_array_equal(function(u[:n]), function(u)[:n])
        np.testing.assert_array_equal(function(u[n:]), function(u)[n:])


@pytest.mark.parametrize("name", BAD)
def test_bad_functions_are_refused(name):
    weight, message = BAD[name]
    with pytest.raises(ValueError, match=f"loss '{name}': .*{message}"):
        from_functions(weight, name=name)


def test_raising_functions_are_refused():
    def weight(u):
        if u > 2.5:
            raise KeyError("gone")
        return scalar_weight(u)

    with pytest.raises(
        ValueError, match=r"'mine': its weight function raised KeyError at margin 2"
    ):
        from_functions(weight, name="mine")


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1000.0])
def test_scale_is_no_place_to_hide(scale):
    def weight(u):
        return logistic_weight(u / scale)

    assert from_functions(weight, name="mine", scale=scale).convex
    with pytest.raises(ValueError, match="the weight is not -phi'"):
        from_functions(weight, lambda u: scale * np.exp(-u / scale), name="mine", scale=scale)
    with pytest.raises(ValueError, match=r"the inverse link .* falls at margin"):
        from_functions(lambda u: BAD["falling"][0](u / scale), name="mine", scale=scale)


def test_links_that_fall_far_out_are_refused():
    # The weight on the left falls from u = -200 on to a tenth of its value.
    def weight(u):
        return np.where(u < -200.0, 0.1 + 0.9 * np.exp((u + 200.0) / 50.0), 1.0) / (
            1.0 + np.exp(np.clip(u / 1000.0, None, 700.0))
        )

    with pytest.raises(ValueError, match=r"the inverse link .* falls at margin -20\d"):
        from_functions(weight, name="mine")
    with pytest.raises(ValueError, match=r"the inverse link .* falls at margin -20\d"):
        from_functions(weight, name="mine", tabulate=False)


@pytest.mark.parametrize(
    ("bump", "convex"), [(0.0, True), (2.0, False)], ids=["exponential", "bumped"]
)
def test_convexity_beside_weights_that_grow(bump, convex):
    loss = from_functions(lambda u: np.exp(-u) * (1.0 + bump * np.exp(-4.0 * u * u)), name="mine")
    assert loss.convex is convex
    assert (loss.curvature(-0.35) < 0.0) == (not convex)


@pytest.mark.parametrize(
    ("of_margin", "twin"),
    [
        (lambda u: (np.sqrt(4.0 + u * u) - u) / 2.0, GBoost()),
        (lambda u: np.logaddexp(0.0, -u) + 1.0, GLog()),
    ],
    ids=["gboost", "glog"],
)
def test_rounding_below_0_does_not_reach_the_file(of_margin, twin, rows, tmp_path):
    loss = from_functions(None, of_margin, name="mine")
    assert loss.table.right.min() >= 0.0
    u = np.linspace(-9.0, 9.0, 101)
    np.testing.assert_allclose(loss.weight(u), twin.weight(u), atol=1e-8)
    model = fit(loss, rows, n_estimators=3)
    model.save_model(tmp_path / "model.json")
    assert_same(model, pb.load_model(tmp_path / "model.json"), rows[0])
    with pytest.raises(ValueError, match="left must hold no number below 0"):
        dataclasses.replace(loss.table, left=loss.table.left - 1.0)


def test_losses_too_coarse_to_differentiate_need_the_weight():
    for loss in (Savage().loss, Tangent().loss):
        with pytest.raises(ValueError, match="pass the weight"):
            from_functions(None, loss, name="mine")


@dataclasses.dataclass  # which has no hash
class Scaled:
    by: float

    def __call__(self, u):
        return logistic_weight(u / self.by)

    def __len__(self):
        return 0  # and so is false


@pytest.mark.parametrize("tabulate", [True, False])
def test_functions_may_be_any_object(tabulate, rows):
    loss = from_functions(Scaled(1.0), name="mine", tabulate=tabulate)
    np.testing.assert_allclose(loss.weight([-1.0, 2.0]), GLog().weight([-1.0, 2.0]), atol=1e-9)
    assert hash(loss) == hash(copy.copy(loss))
    np.testing.assert_allclose(
        fit(loss, rows, n_estimators=3).predict_proba(rows[0]),
        fit("glog", rows, n_estimators=3).predict_proba(rows[0]),
        atol=1e-5,
    )
    assert pickle.loads(pickle.dumps(loss)).table == loss.table
    again = losses.CustomLoss("mine", loss.table, functions=(Scaled(1.0), None))
    assert again.weight(0.5) == pytest.approx(loss.weight(0.5))


def test_a_table_lets_its_functions_go():
    function = Scaled(1.0)
    loss = from_functions(function, name="mine")
    assert loss.native.convex
    gone = weakref.ref(function)
    del function
    gc.collect()
    assert gone() is None
