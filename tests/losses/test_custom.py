"""Losses given by functions: tabulated, called by the engine, native."""

import copy
import ctypes
import dataclasses
import gc
import math
import pickle
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import LowLevelCallable, stats

import properboost as pb
from helpers.models import assert_same, same_model
from helpers.own_losses import (
    BAD,
    CERTAIN,
    RISKS,
    TWINS,
    drawn,
    fit,
    logistic_weight,
    make_rows,
    raw_tangent_weight,
    tangent_callable,
)
from properboost import losses
from properboost.losses import (
    GBoost,
    GGauss,
    GLog,
    Savage,
    Tangent,
    from_functions,
    from_pdf,
    from_risk,
)


@pytest.fixture(scope="module")
def rows():
    return make_rows()


# -- functions ------------------------------------------------------------------------------------


def scalar_weight(u):
    return 1.0 / (1.0 + math.exp(u))


@pytest.mark.parametrize(
    "given",
    [
        {"weight": logistic_weight},
        {"weight": scalar_weight},
        {"weight": logistic_weight, "loss": lambda u: np.log1p(np.exp(-u))},
        {"loss": lambda u: np.log1p(np.exp(-u))},
        {
            "weight": logistic_weight,
            "curvature": lambda u: logistic_weight(u) * logistic_weight(-u),
        },
        {"weight": logistic_weight, "scale": 3.0},
        {"weight": logistic_weight, "tabulate": False},
    ],
    ids=lambda given: "+".join(given) + getattr(given.get("weight"), "__name__", ""),
)
def test_functions_make_a_loss(given, rows):
    loss = from_functions(**given, name="logistic", gain=2.0)
    v = np.linspace(-15.0, 15.0, 301)
    for method in ("weight", "loss", "probability"):
        exact = getattr(GLog(2.0), method)(v)
        np.testing.assert_allclose(getattr(loss, method)(v), exact, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(loss.curvature(v), GLog(2.0).curvature(v), atol=1e-6)
    own, known = fit(loss, rows), fit(GLog(2.0), rows)
    np.testing.assert_array_equal(own.history_["feature"], known.history_["feature"])
    raw = known.decision_function(rows[0])
    np.testing.assert_allclose(own.decision_function(rows[0]), raw, rtol=0, atol=1e-4)


def test_growing_weights_stop_growing():
    loss = from_functions(lambda u: np.exp(-u), name="exponential")
    u = np.array([-60.0, -20.0, 0.0, 20.0])
    np.testing.assert_allclose(loss.weight(u), np.exp(-u), rtol=1e-4)
    largest = loss.native.engine_weight(np.float32([-1e3, -3e38]))
    assert largest[0] == largest[1]
    assert 1e27 < largest[0] < 7e27
    assert np.isfinite(loss.native.engine_loss(np.float32([-3e38]))).all()


def test_called_weights_stop_growing_there_too():
    def weight(u):
        with np.errstate(over="ignore"):
            return np.exp(-u)

    double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    native = double(lambda u: math.exp(min(-u, 80.0)))
    for loss in (
        from_functions(weight, name="mine", tabulate=False),
        from_functions(LowLevelCallable(native), name="mine"),
    ):
        largest = loss.native.engine_weight(np.float32([-63.0, -64.5, -80.0, -700.0]))
        np.testing.assert_allclose(largest, np.exp([63.0, 64.0, 64.0, 64.0]), rtol=1e-5)
    loss = from_functions(weight, name="mine", tabulate=False)
    with pytest.raises(ValueError, match="is inf; it must be finite"):
        loss.native.engine_weight(np.float32([-1e3]))


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
    # Strips, vectors and what is left of them.
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


def test_mismatches_are_refused():
    with pytest.raises(ValueError, match=r"'mine': the weight is not -phi': .* at margin -?0"):
        from_functions(logistic_weight, lambda u: np.exp(-u), name="mine")
    with pytest.raises(ValueError, match=r"the curvature is not phi''"):
        from_functions(logistic_weight, curvature=lambda u: np.exp(-np.abs(u)), name="mine")
    for arguments, error, message in (
        ({}, ValueError, "must not both be None"),
        ({"weight": 3}, TypeError, "weight must be a callable, .*; got 3"),
        ({"loss": np.exp, "tabulate": False}, ValueError, "weight must not be None where"),
        ({"weight": logistic_weight, "scale": 0.0}, ValueError, "scale must be between"),
        ({"weight": logistic_weight, "gain": -1.0}, ValueError, "gain must be above 0"),
    ):
        with pytest.raises(error, match=message):
            from_functions(**arguments, name="mine")


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
    # The weight on the left falls from u = -200 on to a tenth of what it was.
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


def test_losses_too_coarse_to_differentiate_ask_for_the_weight():
    for loss in (Savage().loss, Tangent().loss):
        with pytest.raises(ValueError, match="give the weight"):
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


# -- called by the engine -------------------------------------------------------------------------


def test_called_functions_see_every_block(rows):
    seen = []

    def weight(u):
        assert u.dtype == np.float64
        assert u.ndim == 1
        seen.append(threading.get_ident())
        return logistic_weight(u)

    loss = from_functions(weight, name="mine", tabulate=False)
    seen.clear()
    X, y = (np.tile(part, (40, 1)) if part.ndim > 1 else np.tile(part, 40) for part in rows)
    one = fit(loss, (X, y), n_estimators=4, n_jobs=1)
    assert set(seen) == {threading.get_ident()}
    two = fit(loss, (X, y), n_estimators=4, n_jobs=2)
    assert same_model(one, two)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        (raw_tangent_weight, ValueError, r"weight at u = margin / gain = 0\.5\d* is -0"),
        (
            lambda u: np.where(u > 0.2, np.nan, logistic_weight(u)),
            ValueError,
            r"weight .* is -?nan",
        ),
        (lambda u: np.full_like(u, np.inf), ValueError, "weight .* is inf; it must be finite"),
        (lambda u: u[:-1], ValueError, "weight function must return an array of the shape"),
        (lambda u: "no", ValueError, "weight function must return an array of the shape"),
        (
            lambda u: 1 / 0,
            RuntimeError,
            "weight function raised ZeroDivisionError at u = margin / gain = 0",
        ),
    ],
)
def test_bad_losses_stop_the_fit(rows, weight, error, message, n_jobs):
    loss = from_functions(weight, name="bad one", validate=False)
    X, y = np.tile(rows[0], (30, 1)), np.tile(rows[1], 30)
    with pytest.raises(error, match=f"loss 'bad one': its {message}"):
        fit(loss, (X, y), n_jobs=n_jobs)
    assert fit("glog", rows, n_estimators=2).score(*rows) > 0.6  # the engine lives


def test_the_cause_of_an_error_comes_along(rows):
    def weight(u):
        if np.any(u > 0.4):
            raise LookupError("the cause")
        return logistic_weight(u)

    loss = from_functions(weight, name="mine", validate=False)
    with pytest.raises(
        RuntimeError, match=r"LookupError at u = margin / gain = 0\.[4-9]"
    ) as caught:
        fit(loss, rows, n_jobs=2)
    assert isinstance(caught.value.__cause__, LookupError)


def test_interrupts_pass(rows):
    def weight(u):
        if np.any(u > 0.4):
            raise KeyboardInterrupt
        return logistic_weight(u)

    with pytest.raises(KeyboardInterrupt):
        fit(from_functions(weight, name="mine", validate=False), rows, n_jobs=1)


def test_python_functions_in_a_search(rows):
    called = from_functions(logistic_weight, name="mine", tabulate=False)
    settings = {"gains": [1.0, 3.0], "cv": 2, "n_estimators": 10, "n_jobs": 2}
    own, known = (
        pb.ProperBoostClassifierCV(loss, **settings).fit(*rows) for loss in (called, "glog")
    )
    np.testing.assert_allclose(own.best_score_, known.best_score_, atol=1e-5)
    assert own.gain_ == known.gain_


# -- native functions -----------------------------------------------------------------------------


def test_cython_functions_are_called():
    loss = from_functions(tangent_callable("weight"), name="mine", scale=CERTAIN)
    known = Tangent()
    u = np.linspace(-9.0, 9.0, 1001).astype(np.float32)
    np.testing.assert_array_equal(loss.native.engine_weight(u), known.native.engine_weight(u))
    np.testing.assert_allclose(loss.weight(u), known.weight(u), atol=3e-6)
    np.testing.assert_allclose(loss.loss(u), known.loss(u), atol=1e-4)
    np.testing.assert_allclose(loss.probability(u), known.probability(u), atol=1e-4)
    assert loss.link(1.0) == pytest.approx(CERTAIN)


def test_cython_functions_train(rows):
    weight, loss = tangent_callable("weight"), tangent_callable("loss")
    own = from_functions(weight, loss, name="mine", scale=CERTAIN, gain=2.0)
    a, b = fit(own, rows, n_jobs=2), fit(Tangent(2.0), rows, n_jobs=1)
    np.testing.assert_array_equal(a.history_["feature"], b.history_["feature"])
    np.testing.assert_allclose(
        a.decision_function(rows[0]), b.decision_function(rows[0]), atol=1e-4
    )
    tabulated = from_functions(weight, name="mine", scale=CERTAIN, gain=2.0, tabulate=True)
    c = fit(tabulated, rows)
    np.testing.assert_allclose(
        c.decision_function(rows[0]), b.decision_function(rows[0]), atol=1e-3
    )


def test_raw_native_functions_are_refused_or_stop_the_fit(rows):
    raw = tangent_callable("weight_at")
    with pytest.raises(ValueError, match=r"'raw': phi does not decrease: .* margin 0\.5463"):
        from_functions(raw, name="raw")
    loss = from_functions(raw, name="raw", validate=False)
    with pytest.raises(ValueError, match=r"'raw': its weight at u = margin / gain = 0\.\d+ is -0"):
        fit(loss, rows, n_jobs=2)


def test_c_functions_through_ctypes():
    library = ctypes.CDLL(None)
    exp_of = library.erfc  # double (double), of the C library
    exp_of.restype, exp_of.argtypes = ctypes.c_double, [ctypes.c_double]
    loss = from_functions(LowLevelCallable(exp_of), name="erfc", scale=2.0)
    u = np.linspace(-4.0, 4.0, 81)
    exact = 2.0 * GGauss(2.0 * math.sqrt(math.pi) / 8.0).weight(u)
    np.testing.assert_allclose(loss.weight(u), exact, atol=1e-6)
    assert loss.convex


@pytest.mark.parametrize(
    ("restype", "argtypes"),
    [
        (ctypes.c_float, [ctypes.c_float]),
        (None, [ctypes.c_double]),
        (ctypes.c_double, [ctypes.c_double, ctypes.c_double]),
        (ctypes.c_double, [ctypes.c_int]),
    ],
)
def test_other_signatures_are_refused(restype, argtypes):
    function = ctypes.CFUNCTYPE(restype, *argtypes)(lambda *_: 0)
    with pytest.raises(
        ValueError, match=r"'mine': its weight function has the signature .* allowed"
    ):
        from_functions(LowLevelCallable(function), name="mine")


def test_numba_functions_are_called(rows):
    numba = pytest.importorskip("numba")
    single = numba.types.CPointer(numba.types.float32)

    @numba.cfunc(numba.types.void(single, single, numba.types.intp, numba.types.voidptr))
    def weight(u, out, n, data):
        for i in range(n):
            out[i] = 1.0 / (1.0 + np.exp(u[i]))

    loss = from_functions(LowLevelCallable(weight.ctypes), name="numba")
    own, known = fit(loss, rows, n_jobs=2), fit("glog", rows)
    np.testing.assert_array_equal(own.history_["feature"], known.history_["feature"])
    raw = known.decision_function(rows[0])
    np.testing.assert_allclose(own.decision_function(rows[0]), raw, rtol=0, atol=1e-4)


def test_user_data_is_passed_on():
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_void_p)
    gain = ctypes.c_double(0.5)

    @function
    def weight(u, data):
        k = ctypes.cast(data, ctypes.POINTER(ctypes.c_double))[0]
        return k / (1.0 + math.exp(min(u, 700.0)))

    data = ctypes.cast(ctypes.pointer(gain), ctypes.c_void_p)
    loss = from_functions(LowLevelCallable(weight, data), name="scaled", tabulate=True)
    assert loss.weight(0.0) == pytest.approx(0.25)
