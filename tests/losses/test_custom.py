"""Losses from functions: tabulated, called by the engine, native."""

import copy
import ctypes
import dataclasses
import gc
import itertools
import math
import pickle
import sys
import threading
import weakref
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import LowLevelCallable, stats
from sklearn.base import clone

import properboost as pb
from helpers.custom_losses import (
    CERTAIN,
    custom_losses,
    fit,
    logistic_weight,
    raw_tangent_weight,
    scalar_weight,
    tangent_callable,
)
from helpers.models import same_model
from properboost.losses import (
    GGauss,
    GLog,
    Tangent,
    from_functions,
    from_pdf,
)

# -- functions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
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
    ids=lambda arguments: "+".join(arguments) + getattr(arguments.get("weight"), "__name__", ""),
)
def test_functions_make_a_loss(arguments, rows):
    loss = from_functions(**arguments, name="logistic", gain=2.0)
    v = np.linspace(-15.0, 15.0, 301)
    for method in ("weight", "loss", "probability"):
        exact = getattr(GLog(2.0), method)(v)
        np.testing.assert_allclose(getattr(loss, method)(v), exact, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(loss.curvature(v), GLog(2.0).curvature(v), atol=1e-6)
    custom, built_in = fit(loss, rows), fit(GLog(2.0), rows)
    np.testing.assert_array_equal(custom.history_["feature"], built_in.history_["feature"])
    raw = built_in.decision_function(rows[0])
    np.testing.assert_allclose(custom.decision_function(rows[0]), raw, rtol=0, atol=1e-4)


@pytest.mark.parametrize("step", ["leveraging", "totally_corrective"])
def test_steps_are_solved_for_with_called_functions(step, rows):
    """The engine calls the functions in single precision, and solves with tables in double."""
    loss = from_functions(logistic_weight, name="logistic", tabulate=False)
    # Fewer rows in a bin are of one class, and then the best coefficients are not finite.
    settings = {"step": step, "weak_learner": "stump", "rows_per_bin": 100}
    custom, built_in = (fit(candidate, rows, **settings) for candidate in (loss, GLog()))
    np.testing.assert_array_equal(custom.history_["feature"], built_in.history_["feature"])
    np.testing.assert_allclose(
        custom.history_["step"], built_in.history_["step"], rtol=0, atol=1e-5
    )


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


def test_too_large_values_are_distinguished_from_infinite_ones():
    def weight(at_0):
        return lambda u: np.where(u == 0.0, at_0, np.exp(-np.abs(u)))

    with pytest.raises(ValueError, match="weight at margin 0 is inf; it must be finite"):
        from_functions(weight(np.inf), name="mine")
    with pytest.raises(ValueError, match=r"is 1e\+30; it must be at most e\^64 = .* larger unit"):
        from_functions(weight(1e30), name="mine")


def test_curvatures_must_be_finite():
    def curvature(u):
        return np.where(u < 1.5, logistic_weight(u) * logistic_weight(-u), np.inf)

    with pytest.raises(ValueError, match=r"curvature at margin 1\.5\d* is inf; it must be finite"):
        from_functions(logistic_weight, curvature=curvature, scale=3.0, name="mine")


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


@pytest.mark.parametrize("tabulate", [None, False])
@pytest.mark.parametrize("validate", [True, False])
def test_a_function_that_calls_itself_for_ever_is_named_soon(tabulate, validate):
    calls = 0

    def weight(u):
        nonlocal calls
        calls += 1
        return weight(u)

    with pytest.raises(ValueError, match="loss 'endless': its weight function raised RecursionErr"):
        from_functions(weight, name="endless", tabulate=tabulate, validate=validate)
    assert calls < 5 * sys.getrecursionlimit()  # a call per margin would exceed it a thousandfold


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_raises_in_a_fit_is_tried_at_few_margins(n_jobs, rows):
    sizes = []

    def weight(u):
        if bad:
            sizes.append(u.size)
            raise ValueError("not any more")
        return logistic_weight(u)

    bad = False
    loss = from_functions(weight, name="mine", tabulate=False)
    bad = True
    with pytest.raises(RuntimeError, match="raised ValueError at u = margin / gain = 0"):
        fit(loss, rows, n_jobs=n_jobs)
    assert len(sizes) < 40 * n_jobs


def test_a_function_that_raises_wherever_it_is_tried_is_not_tried_everywhere():
    calls = 0

    def weight(u):
        nonlocal calls
        calls += 1
        raise LookupError("of all")

    loss = from_functions(weight, name="mine", validate=False)
    assert calls < 1000
    assert not loss.table.right.any()


@given(st.lists(st.sampled_from(["same", "short", "long", "flat", "text", "none"]), min_size=1))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_function_that_returns_other_shapes_each_time_is_refused(rows, kinds):
    turn = itertools.cycle(kinds)
    shapes = {
        "same": lambda w: w,
        "short": lambda w: w[:-1],
        "long": lambda w: np.append(w, 1.0),
        "flat": lambda w: w[:, None],
        "text": lambda _: "text",
        "none": lambda _: None,
    }
    started = False

    def weight(u):
        w = logistic_weight(u)
        return shapes[next(turn)](w) if started else w

    loss = from_functions(weight, name="mine", tabulate=False)
    started = True
    if {*kinds} == {"same"}:
        fit(loss, rows, n_estimators=2)
    else:
        with pytest.raises(ValueError, match="must return an array of the shape"):
            fit(loss, rows, n_estimators=40)


@pytest.mark.parametrize("tabulate", [True, False])
def test_functions_may_compute_in_place_and_keep_what_they_get(tabulate, rows):
    returned = []

    def in_place(u):
        u[...] = logistic_weight(u)
        for earlier in returned[-3:]:
            earlier[...] = np.nan  # returned before, so it may no longer be used
        returned.append(u)
        return u

    changing = from_functions(in_place, name="mine", tabulate=tabulate)
    plain = from_functions(logistic_weight, name="mine", tabulate=tabulate)
    assert changing.table == plain.table
    a, b = (fit(loss, rows, n_estimators=5, n_jobs=2) for loss in (changing, plain))
    np.testing.assert_array_equal(a.decision_function(rows[0]), b.decision_function(rows[0]))


class Owner:
    """The owner of a loss's function, which may refer to the loss and the model."""

    def __init__(self):
        self.loss = self.model = None

    def weight(self, u):
        return logistic_weight(u)


@pytest.mark.parametrize("tabulate", [True, False])
@pytest.mark.parametrize("keeps", [True, False])
def test_what_a_loss_refers_to_goes_with_it(tabulate, keeps, rows):
    owner = Owner()
    loss = from_functions(owner.weight, name="mine", tabulate=tabulate)
    model = fit(loss, rows)
    search = pb.ProperBoostClassifierCV(
        {"loss": loss, "gain": [1.0, 2.0], "n_estimators": 3}, cv=2, effort=None
    )
    search.fit(*rows)
    if keeps:
        owner.loss, owner.model = loss, (model, search)
    gone = weakref.ref(owner)
    del owner, loss, model, search
    gc.collect()
    assert gone() is None


def test_what_a_native_function_refers_to_goes_with_it(rows):
    def weight(u, owner):
        return 1.0 / (1.0 + math.exp(min(u, 700.0)))

    owner = Owner()
    call = partial(weight, owner=owner)
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(call)
    loss = from_functions(LowLevelCallable(function), name="mine")
    fit(loss, rows)
    gone = weakref.ref(owner)
    del owner, call, function, loss
    gc.collect()
    assert gone() is None


def test_python_functions_in_a_search(rows):
    called = from_functions(logistic_weight, name="mine", tabulate=False)
    settings = {"cv": 2, "n_jobs": 2}
    space = {"gain": [1.0, 3.0], "n_estimators": 10}
    custom, built_in = (
        pb.ProperBoostClassifierCV({**space, "loss": loss}, **settings, effort=None).fit(*rows)
        for loss in (called, "glog")
    )
    np.testing.assert_allclose(custom.best_score_, built_in.best_score_, atol=1e-5)
    assert custom.gain_ == built_in.gain_


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
    custom = from_functions(weight, loss, name="mine", scale=CERTAIN, gain=2.0)
    a, b = fit(custom, rows, n_jobs=2), fit(Tangent(2.0), rows, n_jobs=1)
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
    custom, built_in = fit(loss, rows, n_jobs=2), fit("glog", rows)
    np.testing.assert_array_equal(custom.history_["feature"], built_in.history_["feature"])
    raw = built_in.decision_function(rows[0])
    np.testing.assert_allclose(custom.decision_function(rows[0]), raw, rtol=0, atol=1e-4)


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


@pytest.mark.parametrize("loss", [*custom_losses()], ids=repr)
def test_custom_losses_are_values(loss):
    other = dataclasses.replace(loss, gain=3.0)
    assert other != loss
    assert dataclasses.replace(other, gain=loss.gain) == loss
    assert hash(dataclasses.replace(other, gain=loss.gain)) == hash(loss)
    assert other.native is loss.native  # lanes share packs
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert again.native is loss.native
    assert again.table.right.flags.writeable is False
    assert (
        copy.deepcopy(loss)
        == clone(pb.ProperBoostClassifier(loss, weak_learner="table")).loss
        == loss
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.gain = 1.0
    with pytest.raises(ValueError, match="read-only"):
        loss.table.left[0] = 1.0
    assert repr(loss) == f"CustomLoss({loss.name!r}, gain={loss.gain!r})"


def test_native_losses_refuse_to_be_pickled():
    loss = from_functions(tangent_callable("weight"), name="mine", scale=CERTAIN)
    assert copy.deepcopy(loss) is loss
    assert hash(loss) == hash(dataclasses.replace(loss, gain=1.0))
    with pytest.raises(TypeError, match=r"'mine' calls a native function.*tabulate=True"):
        pickle.dumps(loss)
    table = from_functions(tangent_callable("weight"), name="mine", scale=CERTAIN, tabulate=True)
    assert pickle.loads(pickle.dumps(table)) == table


def test_searches_take_losses_of_ones_own(rows):
    logistic = from_pdf(stats.logistic())
    normal = from_pdf(stats.norm(scale=4.0 / math.sqrt(2.0 * math.pi)), name="logistic")
    space = {"n_estimators": 30, "gain": [0.5, 2.0, 50.0], "weak_learner__smoothing": 0.0}
    settings = {"cv": 3, "random_state": 0, "effort": None}

    def choose(*losses):
        return pb.ProperBoostClassifierCV(space | {"loss": [*losses]}, **settings).fit(*rows)

    a, b = choose(logistic, normal, "tangent"), choose("glog", "ggauss", "tangent")
    scores = [search.cv_results_["mean_test_score"] for search in (a, b)]
    assert len(scores[0]) == 9
    np.testing.assert_allclose(*scores, atol=1e-5)
    assert a.gain_ == b.gain_
    np.testing.assert_allclose(a.predict_proba(rows[0]), b.predict_proba(rows[0]), atol=1e-4)
