"""Losses of one's own: designed, given by functions, native; what is wrong with one is said."""

import copy
import ctypes
import dataclasses
import gc
import itertools
import json
import math
import pickle
import threading
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import LowLevelCallable, stats
from sklearn.base import clone

import properboost as pb
from models import assert_same, same_model
from properboost import _core, losses, native_losses
from properboost.losses import (
    Alpha,
    Exponential,
    GBoost,
    GGauss,
    GLaplacian,
    GLog,
    LossTable,
    Savage,
    Tangent,
    check,
    from_functions,
    from_pdf,
    from_risk,
)

drawn = settings(max_examples=25, deadline=None, derandomize=True)
CERTAIN = math.tan(0.5)

TWINS = [
    (stats.logistic(), GLog),
    (stats.norm(scale=4.0 / math.sqrt(2.0 * math.pi)), GGauss),
    (stats.laplace(scale=2.0), GLaplacian),
    (stats.t(2, scale=math.sqrt(2.0)), GBoost),
]
twins = pytest.mark.parametrize(("pdf", "built_in"), TWINS, ids=[t[1].__name__ for t in TWINS])


def logistic_weight(u):
    return 1.0 / (1.0 + np.exp(u))


def raw_tangent_weight(u):
    return 4.0 * (1.0 - 2.0 * np.arctan(u)) / (1.0 + u * u)


def raw_tangent_loss(u):
    return (2.0 * np.arctan(u) - 1.0) ** 2


def tangent_callable(what):
    return LowLevelCallable.from_cython(native_losses, f"tangent_{what}")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 6)).round(1)
    y = X[:, 0] + X[:, 1] ** 2 + rng.logistic(size=len(X)) > 1.0
    return X, y


def fit(loss, rows, **given):
    return pb.ProperBoostClassifier(loss, **{"n_estimators": 40, **given}).fit(*rows)


# -- designed from a density ----------------------------------------------------------------------


@twins
@given(gain=st.floats(0.05, 50.0), at=st.floats(-20.0, 20.0), p=st.floats(1e-9, 1.0 - 1e-9))
@drawn
def test_densities_give_the_losses_of_table_2(pdf, built_in, gain, at, p):
    own, known = from_pdf(pdf, gain=gain), built_in(gain)
    v = gain * at
    # A cubic between exact values and slopes errs by its fourth derivative times (1/128)^4/384,
    # and more in wider cells; that of the loss adds up over them.
    for method, tolerance in (("weight", 1e-9), ("loss", 1e-9 * gain), ("probability", 1e-9)):
        expected = getattr(known, method)(v)
        assert getattr(own, method)(v) == pytest.approx(expected, rel=1e-9, abs=tolerance)
    assert own.curvature(v) == pytest.approx(known.curvature(v), abs=1e-7 / gain)
    assert own.link(p) == pytest.approx(known.link(p), rel=1e-6, abs=1e-7 * gain)
    assert own.minimum_risk(p) == pytest.approx(known.minimum_risk(p), abs=1e-8 * gain)
    assert own.loss_margin == pytest.approx(known.loss_margin, rel=1e-9)
    assert own.is_regularizer == known.is_regularizer
    assert (own.convex, own.canonical) == (True, True)
    assert own.loss(math.inf) < 1e-7 * gain  # as at the last knot
    assert own.link([0.0, 0.5, 1.0]).tolist() == [-math.inf, 0.0, math.inf]


@twins
def test_tables_keep_the_digits_of_tails(pdf, built_in):
    own, known = from_pdf(pdf), built_in()
    u = np.linspace(0.0, 15.0, 2001)
    for method in ("loss", "weight"):
        exact = getattr(known, method)(u)
        kept = exact > 1e-10
        np.testing.assert_allclose(getattr(own, method)(u)[kept], exact[kept], rtol=3e-5)
        single = getattr(own.native, f"engine_{method}")(u.astype(np.float32))
        np.testing.assert_allclose(single[kept], exact[kept], rtol=3e-5)


@pytest.mark.parametrize("response", _core.response_names())
@twins
def test_a_designed_loss_trains_as_its_twin(pdf, built_in, response, rows):
    own = fit(from_pdf(pdf, gain=1.5), rows, response=response)
    known = fit(built_in(1.5), rows, response=response)
    features = [model.history_["feature"] for model in (own, known)]
    np.testing.assert_array_equal(*features)
    raw = [model.decision_function(rows[0]) for model in (own, known)]
    np.testing.assert_allclose(*raw, rtol=0, atol=1e-4)
    np.testing.assert_allclose(own.history_["risk"], known.history_["risk"], atol=1e-6)


def test_letter_under_the_designed_logistic():
    X, y = pb.datasets.load_letter("p2", subset="train", return_X_y=True)
    own, known = (
        pb.ProperBoostClassifier(loss, n_estimators=100).fit(X, y)
        for loss in (from_pdf(stats.logistic()), "glog")
    )
    np.testing.assert_array_equal(own.history_["feature"], known.history_["feature"])
    np.testing.assert_allclose(own.decision_function(X), known.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(
    "pdf",
    [
        stats.hypsecant(),
        stats.gennorm(1.5),
        stats.t(1.1),
        stats.norm(scale=1e4),
        stats.laplace(scale=1e-4),
        stats.logistic(scale=1e-6),
        stats.logistic(scale=1e6),
        stats.triang(0.5, loc=-3.0, scale=6.0),
        stats.semicircular(scale=2.0),
    ],
    ids=lambda pdf: f"{pdf.dist.name}{pdf.args}{pdf.kwds}",
)
def test_other_densities(pdf):
    loss = from_pdf(pdf)
    assert check(loss)
    assert loss.canonical
    scale = 0.25 / pdf.pdf(0.0)
    u = scale * np.linspace(-4.0, 4.0, 401)
    np.testing.assert_allclose(loss.probability(u), pdf.cdf(u), atol=1e-4)
    inside = pdf.pdf(u) > 0.3 * pdf.pdf(0.0)
    strength = loss.regularization_strength(u[inside])  # BoostLR, eq. 45
    np.testing.assert_allclose(strength * pdf.pdf(u[inside]), 1.0, rtol=1e-3)
    end = pdf.support()[1]
    assert loss.link(1.0) == (pytest.approx(end) if end < math.inf else math.inf)


def test_a_density_may_be_a_function_or_an_object():
    class Own:
        pdf = staticmethod(stats.logistic.pdf)
        sf = staticmethod(stats.logistic.sf)

    u = np.linspace(-9.0, 9.0, 101)
    for pdf, name in (
        (stats.logistic.pdf, "pdf"),
        (lambda v: stats.logistic.pdf(v), "custom"),
        (Own(), "Own"),
        (stats.logistic(), "logistic"),
    ):
        loss = from_pdf(pdf)
        assert loss.name == name
        np.testing.assert_allclose(loss.weight(u), GLog().weight(u), rtol=0, atol=1e-9)
        assert from_pdf(pdf, name="mine").name == "mine"


@pytest.mark.parametrize("alpha", [0.1, 0.4])
def test_bindings_of_the_alpha_loss(alpha):
    # BoostLR, eqs. 52 and 53.
    c = (1.0 - alpha) / (2.0 - 3.0 * alpha)
    loss = from_pdf(stats.logistic(), lambda v: -2.0 * c * np.sinh(alpha * v) / alpha)
    u = np.linspace(-20.0, 20.0, 801)
    np.testing.assert_allclose(loss.weight(u), Alpha(alpha).weight(u), rtol=1e-6)
    np.testing.assert_allclose(loss.probability(u), Alpha(alpha).probability(u), atol=1e-8)
    assert loss.convex
    assert not loss.canonical


def test_convexity_is_that_of_equation_57():
    # With c the logistic cdf, the binding -(v + k sin v) has b''/b' = -k sin v/(1 + k cos v), which
    # must stay below c'/(1 - c) = c(v): far on the left c vanishes and the sine does not.
    wavy = from_pdf(stats.logistic(), lambda v: -(v + 0.5 * np.sin(v)))
    u = np.linspace(-12.0, 12.0, 4001)
    ratio = -0.5 * np.sin(u) / (1.0 + 0.5 * np.cos(u))
    concave = ratio > GLog().probability(u)
    assert concave.any()
    assert not wavy.convex
    assert np.mean((wavy.curvature(u) < 0.0) == concave) > 0.998
    assert check(wavy)


@pytest.mark.parametrize(
    ("pdf", "binding", "message"),
    [
        (stats.cauchy(), "linear", r"'cauchy': its weight falls like u\^-1 .*finite mean"),
        (stats.t(1), "linear", r"'t': .*so that the loss is infinite"),
        (stats.t(0.7), "linear", r"u\^-0\.7"),
        (stats.uniform(-1, 2), "linear", "must fall strictly from 0 on.* at margin 0.007"),
        (stats.expon(), "linear", "must be symmetric about 0.* at margin"),
        (stats.norm(0.1), "linear", "must be symmetric about 0"),
        (lambda v: 0.5 * stats.logistic.pdf(v), "linear", "integrate to 1.* 0.25"),
        (lambda v: np.where(np.abs(v) > 2.0, np.nan, 0.1), "linear", "finite.*margin 2"),
        (stats.dgamma(2), "linear", r"'dgamma': the density at 0 must be positive.*; it is 0"),
        (stats.rayleigh(), "linear", r"'rayleigh': the density at 0 must be positive"),
        (stats.gamma(0.5), "linear", r"'gamma': the density at 0 must be .* finite.*; it is inf"),
        (stats.logistic(), lambda v: -v - v**2, "binding must be odd: at margin"),
        (stats.logistic(), np.tanh, "binding must decrease: at margin 0 "),
        (stats.logistic(), lambda v: -np.sin(v), "binding must decrease: at margin 1.5"),
        (stats.logistic(), lambda v: 1 / 0, "'logistic': its binding function raised ZeroDiv"),
    ],
)
def test_unfit_densities_and_bindings_are_refused(pdf, binding, message):
    with pytest.raises(ValueError, match=message):
        from_pdf(pdf, binding)


def test_advice_is_the_callers_to_follow():
    def weight(u):
        return np.where(u < 2.0, logistic_weight(u), 0.1 * logistic_weight(u))

    with pytest.raises(ValueError, match=r"not smooth at margin 1.99: .*Give the place of a kink"):
        from_functions(weight, name="mine")

    def binding(v):
        return -v - 0.5 * np.sign(v) * np.maximum(np.abs(v) - 2.0, 0.0)

    with pytest.raises(ValueError, match=r"'jagged': its weight is not smooth.* of it there$"):
        from_pdf(stats.logistic(), binding, name="jagged")


def test_arguments_of_from_pdf_are_checked():
    with pytest.raises(TypeError, match=r"pdf must be a frozen distribution.* got 3"):
        from_pdf(3)
    with pytest.raises(TypeError, match="binding must be 'linear' or a callable; got 1"):
        from_pdf(stats.logistic(), 1)
    with pytest.raises(ValueError, match="binding must be one of 'linear'; got 'cubic'"):
        from_pdf(stats.logistic(), "cubic")
    with pytest.raises(ValueError, match="gain must be above 0"):
        from_pdf(stats.logistic(), gain=0.0)
    for name in ("", " ", "a\nb", 3):
        with pytest.raises(ValueError, match="name must be a printable string"):
            from_pdf(stats.logistic(), name=name)


# -- designed from a minimum risk -----------------------------------------------------------------


def logit(p):
    return np.log(p / (1.0 - p))


RISKS = {
    "savage": (lambda p: p * (1.0 - p), lambda p: logit(p) / 2.0, Savage()),
    "entropy": (lambda p: -p * np.log(p) - (1.0 - p) * np.log(1.0 - p), logit, GLog()),
    "root, logit": (lambda p: 2.0 * np.sqrt(p * (1 - p)), lambda p: logit(p) / 2.0, Exponential()),
    "probit": (
        lambda p: p * (1.0 - p),
        stats.norm.ppf,
        SimpleNamespace(
            weight=lambda u: 2.0 * stats.norm.sf(u) * stats.norm.pdf(u),
            loss=lambda u: stats.norm.sf(u) ** 2,
            probability=stats.norm.cdf,
            convex=False,
            loss_margin=math.sqrt(math.pi / 2.0),
        ),
    ),
    "root": (
        lambda p: 2.0 * np.sqrt(p * (1.0 - p)),
        lambda p: (2.0 * p - 1.0) / np.sqrt(p * (1.0 - p)),
        GBoost(),
    ),
}


@pytest.mark.parametrize("case", RISKS)
def test_risks_and_links_give_the_losses_they_are_of(case):
    risk, link, known = RISKS[case]
    own = from_risk(risk, link, name="own")
    u = np.linspace(-12.0, 12.0, 2001)
    for method in ("weight", "loss", "probability"):
        exact = getattr(known, method)(u)
        np.testing.assert_allclose(getattr(own, method)(u), exact, rtol=1e-5, atol=1e-6)
    assert own.convex == known.convex
    assert own.loss_margin == pytest.approx(known.loss_margin, rel=1e-5)
    # SavageBoost, eq. 25: phi(v) = C(p) + (1 - p) C'(p).
    p = own.probability(u[700:-700])
    slope = (risk(p + 1e-5) - risk(p - 1e-5)) / 2e-5
    np.testing.assert_allclose(
        risk(p) + (1.0 - p) * slope, own.loss(u[700:-700]), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize(
    ("risk", "link", "message"),
    [
        (lambda p: p * (1 - p) ** 2, logit, "minimum risk must be symmetric about 1/2: at p = "),
        (lambda p: p * (1 - p), np.log, "link must be odd about 1/2: at p = "),
        (lambda p: p * (1 - p), lambda p: -logit(p), "link must rise; it does not from p = "),
        (lambda p: (p - 0.5) ** 2, logit, "must be strictly concave; it is not at p = "),
        (lambda p: 4 * p * (1 - p), lambda p: np.tan(p - 0.5), r"not keep rising .* -0\.546302"),
    ],
)
def test_unfit_risks_and_links_are_refused(risk, link, message):
    with pytest.raises(ValueError, match=f"'bad': .*{message}"):
        from_risk(risk, link, name="bad")


def test_permissible_losses_are_built_in_ones():
    v = np.linspace(-3.0, 3.0, 61)
    mu = 0.3
    cases = [
        # What Table 1 of the ULS paper prints for F_phi, b_phi, and the matching probability.
        (
            losses.Permissible("matsushita"),
            GBoost(0.5),
            -v + np.sqrt(1.0 + v**2),
            0.5,
            0.5 * (1.0 + v / np.sqrt(1.0 + v**2)),
        ),
        (
            losses.Permissible("mu", mu),
            GBoost(0.35),
            (-v + np.sqrt((1.0 - mu) ** 2 + v**2)) / (1.0 - mu),
            0.35,
            0.5 * (1.0 + v / np.sqrt((1.0 - mu) ** 2 + v**2)),
        ),
        (
            losses.Permissible("entropy"),
            GLog(1.0),
            np.log2(1.0 + np.exp(-v)),
            math.log(2.0),
            np.exp(v) / (1.0 + np.exp(v)),
        ),
    ]
    for loss, same, normalized, b, probability in cases:
        assert loss == same
        np.testing.assert_allclose(loss.loss(v) / b, normalized, rtol=1e-13)
        np.testing.assert_allclose(loss.probability(v), probability, rtol=1e-13)
        assert loss.loss(0.0) / b == pytest.approx(1.0)
    assert losses.Permissible(gain=3.0) == GBoost(1.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gini",), "bounded link.*serves trees, UDTClassifier"),
        (("zeta",), "bounded link.*serves trees, UDTClassifier"),
        (("hinge",), "phi must be one of 'entropy', 'matsushita', 'mu'; got 'hinge'"),
        (("mu",), "mu must be above 0 and below 1 with phi='mu'; got None"),
        (("mu", 1.0), "mu must be above 0 and below 1; got 1.0"),
        (("mu", 0.0), "mu must be above 0"),
        (("entropy", 0.5), "mu must be None unless phi is 'mu'; got 0.5"),
    ],
)
def test_permissible_functions_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        losses.Permissible(*arguments)


# -- TangentBoost ---------------------------------------------------------------------------------


def test_tangent_is_the_raw_loss_cut_off_where_its_weight_turns_negative():
    v = np.concatenate([np.linspace(-30.0, 30.0, 6001), [CERTAIN, -CERTAIN]])
    loss = Tangent()
    kept = v < CERTAIN
    np.testing.assert_allclose(loss.weight(v), np.where(kept, raw_tangent_weight(v), 0), atol=1e-8)
    np.testing.assert_allclose(loss.loss(v), np.where(kept, raw_tangent_loss(v), 0), atol=1e-8)
    p = np.clip(np.arctan(v) + 0.5, 0.0, 1.0)
    np.testing.assert_allclose(loss.probability(v), p, atol=1e-9)
    p = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(loss.link(p), np.tan(p - 0.5), atol=1e-9)
    np.testing.assert_allclose(loss.minimum_risk(p), 4.0 * p * (1.0 - p), atol=1e-8)
    assert loss.loss_margin == pytest.approx(0.5)
    assert Tangent(1.0).is_regularizer
    assert not Tangent(0.99).is_regularizer
    assert not loss.convex
    assert check(loss)
    assert check(Tangent(7.0))


def test_tangent_in_the_engine_is_the_cython_module():
    u = np.concatenate([np.linspace(-50.0, 50.0, 20_001), np.geomspace(1e-30, 1e30, 301)])
    u = np.concatenate([u, -u]).astype(np.float32)
    exact = u.astype(np.float64)
    weight = np.where(exact < CERTAIN, raw_tangent_weight(exact), 0.0)
    np.testing.assert_allclose(Tangent().native.engine_weight(u), weight, rtol=1e-6, atol=2e-6)
    loss = np.where(exact < CERTAIN, raw_tangent_loss(exact), 0.0)
    np.testing.assert_allclose(Tangent().native.engine_loss(u), loss, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"selection": "cyclic", "n_estimators": 8}], ids=str)
@pytest.mark.parametrize("response", _core.response_names())
def test_tangent_trains_by_its_name(rows, response, settings):
    model = fit("tangent", rows, response=response, gain=2.0, **settings)
    assert model.loss_ == Tangent(2.0)
    assert model.score(*rows) > 0.72
    p = model.predict_proba(rows[0])
    assert np.all((p >= 0.0) & (p <= 1.0))
    others = fit("tangent", rows, response=response, gain=2.0, n_jobs=2, **settings)
    assert same_model(model, others)


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


BAD = {
    "nan": (lambda u: np.where(u > 1.25, np.nan, logistic_weight(u)), "weight at margin 1.2.* nan"),
    "infinite": (lambda u: np.where(u < -2.0, np.inf, logistic_weight(u)), "margin -2.* inf"),
    "negative": (lambda u: logistic_weight(u) - 0.1, "phi does not decrease: .*margin 2.19722"),
    "zero": (lambda u: 0.0 * u, "its weight is 0 everywhere"),
    "huge": (lambda u: 1e30 * logistic_weight(u), r"at margin 0 is 5e\+29; .* at most e\^64"),
    "even": (
        lambda u: logistic_weight(np.abs(u)) * logistic_weight(-np.abs(u)),
        "does not rise strictly, as a proper loss's does, at margin 0.0078125",
    ),
    "bell": (lambda u: np.exp(-u * u), "does not rise strictly.* at margin 0.0078125"),
    "falling": (
        lambda u: (1.0 + 0.5 * np.sin(3.0 * u)) * logistic_weight(u),
        r"the inverse link .* falls at margin -0.0078125 \(it is 0.50",
    ),
    "negative beside what grows": (
        lambda u: np.exp(-u) + 50.0 * np.sin(u),
        "its weight is below 0 at margin -0.0204",
    ),
    "rising": (lambda u: -np.tanh(u), "below 0 at margin 9"),
    "jumping": (lambda u: np.where(u < 2.0, logistic_weight(u), 0.0), "not smooth at margin 1.9"),
    "heavy": (lambda u: 1.0 / (1.0 + np.abs(u)), r"falls like u\^-1 "),
    "raw tangent": (raw_tangent_weight, "below 0 at margin 0.546302"),
}


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
    """A sound loss, but for one method."""

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
def test_check_says_what_is_wrong_and_where(changed, what, margin):
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


# -- values, searches, files ----------------------------------------------------------------------


def own_losses():
    yield from_pdf(stats.logistic(), gain=2.0)
    yield from_risk(*RISKS["savage"][:2], name="savage of one's own")
    yield from_functions(logistic_weight, name="mine", tabulate=False)


@pytest.mark.parametrize("loss", [*own_losses()], ids=repr)
def test_own_losses_are_values(loss):
    other = dataclasses.replace(loss, gain=3.0)
    assert other != loss
    assert dataclasses.replace(other, gain=loss.gain) == loss
    assert hash(dataclasses.replace(other, gain=loss.gain)) == hash(loss)
    assert other.native is loss.native  # lanes share packs
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert again.native is loss.native
    assert again.table.right.flags.writeable is False
    assert copy.deepcopy(loss) == clone(pb.ProperBoostClassifier(loss)).loss == loss
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.gain = 1.0
    with pytest.raises(ValueError, match="read-only"):
        loss.table.left[0] = 1.0
    assert repr(loss) == f"CustomLoss({loss.name!r}, gain={loss.gain!r})"


def test_native_losses_say_that_they_cannot_be_pickled():
    loss = from_functions(tangent_callable("weight"), name="mine", scale=CERTAIN)
    assert copy.deepcopy(loss) is loss
    assert hash(loss) == hash(dataclasses.replace(loss, gain=1.0))
    with pytest.raises(TypeError, match=r"'mine' calls a native function.*tabulate=True"):
        pickle.dumps(loss)
    table = from_functions(tangent_callable("weight"), name="mine", scale=CERTAIN, tabulate=True)
    assert pickle.loads(pickle.dumps(table)) == table


def test_searches_take_losses_of_ones_own(rows):
    own = from_pdf(stats.logistic())
    other = from_pdf(stats.norm(scale=4.0 / math.sqrt(2.0 * math.pi)), name="logistic")
    settings = {"cv": 3, "n_estimators": 30, "gains": [0.5, 2.0, 50.0], "random_state": 0}
    a = pb.ProperBoostClassifierCV([own, other, "tangent"], **settings).fit(*rows)
    b = pb.ProperBoostClassifierCV(["glog", "ggauss", "tangent"], **settings).fit(*rows)
    scores = [search.cv_results_["mean_test_score"] for search in (a, b)]
    assert len(scores[0]) == 9
    np.testing.assert_allclose(*scores, atol=1e-5)
    assert a.gain_ == b.gain_
    np.testing.assert_allclose(a.predict_proba(rows[0]), b.predict_proba(rows[0]), atol=1e-4)


@pytest.mark.parametrize("loss", [*own_losses()], ids=repr)
def test_models_of_own_losses_are_saved(loss, rows, tmp_path):
    model = fit(loss, rows, n_estimators=5)
    path = tmp_path / "model.json"
    model.save_model(path)
    loaded = pb.load_model(path)
    np.testing.assert_array_equal(loaded.predict_proba(rows[0]), model.predict_proba(rows[0]))
    np.testing.assert_array_equal(
        loaded.decision_function(rows[0]), model.decision_function(rows[0])
    )
    assert loaded.loss_.functions is None  # the file holds no code
    assert loaded.loss is loaded.loss_
    if loss.functions is None:
        assert_same(model, loaded, rows[0])
    raw = [m.fit(*rows).decision_function(rows[0]) for m in (model, loaded)]
    np.testing.assert_allclose(*raw, atol=1e-4)


def test_tangent_is_saved_by_its_name(rows, tmp_path):
    model = fit("tangent", rows, n_estimators=3)
    model.save_model(tmp_path / "model.json")
    assert len((tmp_path / "model.json").read_text()) < 20_000
    assert_same(model, pb.load_model(tmp_path / "model.json"), rows[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda loss: loss["table"].pop("right"), r"loss\.table lacks the field 'right'"),
        (lambda loss: loss["table"].update(extra=1), r"loss\.table has an unknown field 'extra'"),
        (lambda loss: loss["table"].update(left=[1.0]), "must hold 3073 finite numbers"),
        (lambda loss: loss["table"]["left"].__setitem__(3, "x"), r"table\.left must hold numbers"),
        (
            lambda loss: loss["table"]["left"].__setitem__(3, -1.0),
            r"left must hold no number below 0",
        ),
        (lambda loss: loss["table"]["left_slope"].__setitem__(3, 10**400), "finite numbers"),
        (lambda loss: loss["table"]["left_slope"].__setitem__(3, -1e40), "no number beyond 1e"),
        (
            lambda loss: loss["table"]["right"].__setitem__(9, 0.9),
            r"its inverse link falls at the margin 0\.0703125",
        ),
        (lambda loss: loss["table"].update(scale=0.0), "scale must be above 0"),
        (lambda loss: loss["table"].update(scale=1e-30), "scale must be between"),
        (lambda loss: loss["table"].update(beyond=-1.0), "beyond must be at least 0"),
        (lambda loss: loss.update(table=3), r"loss\.table must be an object"),
        (lambda loss: loss.update(table="of the fitted loss"), r"loss\.table must be an object"),
        (lambda loss: loss.update(name="a\0"), "name must be a printable string"),
        (lambda loss: loss.update(name=3), r"loss\.name must be a string"),
        (lambda loss: loss.update(gain=0.0), "gain must be above 0"),
        (lambda loss: loss.update(parameters={"alpha": 0.1}), r"loss\.parameters must be empty"),
    ],
)
def test_hostile_tables_are_refused(rows, tmp_path, change, message):
    path = tmp_path / "model.json"
    fit(from_pdf(stats.logistic()), rows, n_estimators=1).save_model(path)
    document = json.loads(path.read_text())
    change(document["loss"])
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=message):
        pb.load_model(path)


@given(seed=st.integers(0, 10**6))
@drawn
def test_wild_tables_do_not_crash(seed):
    rng = np.random.default_rng(seed)
    n = len(_core.loss_knots())
    sides = {
        name: np.where(rng.random(n) < 0.5, 0.0, 10.0 ** rng.uniform(-300, 300, n))
        for name in ("right", "right_slope", "left", "left_slope")
    }
    native = LossTable(10.0 ** rng.uniform(-6, 6), 0.0, **sides).make_native("wild")
    u = np.concatenate(
        [rng.normal(size=99) * 10.0 ** rng.uniform(-9, 9), [np.nan, np.inf, -np.inf]]
    )
    for name in ("loss", "weight", "curvature", "probability", "density"):
        assert getattr(native, name)(u).shape == u.shape
    p = native.probability(np.sort(u[:99]))
    assert np.all((p >= 0.0) & (p <= 1.0))
    assert np.all(np.diff(p) >= 0.0)
    assert native.link(np.linspace(0.0, 1.0, 11)).shape == (11,)
    assert native.minimum_risk(np.linspace(0.0, 1.0, 11)).shape == (11,)


def test_hostile_slopes_give_probabilities(rows, tmp_path):
    path = tmp_path / "model.json"
    model = fit(from_pdf(stats.logistic()), rows, n_estimators=3)
    model.save_model(path)
    document = json.loads(path.read_text())
    for slope in (1e35, -1e35):
        document["loss"]["table"]["right_slope"] = [slope] * len(_core.loss_knots())
        path.write_text(json.dumps(document))
        loaded = pb.load_model(path)
        p = loaded.predict_proba(rows[0])
        assert np.all((p >= 0.0) & (p <= 1.0))
        np.testing.assert_allclose(p, model.predict_proba(rows[0]), atol=0.01)  # cells are narrow
        u = np.linspace(-9.0, 9.0, 5001)
        assert np.all(np.diff(loaded.loss_.probability(u)) >= 0.0)
        assert loaded.loss_.weight(u).max() < 2.0


def test_a_falling_link_is_not_saved(rows, tmp_path):
    loss = from_functions(BAD["falling"][0], name="mine", validate=False)
    model = fit(loss, rows, n_estimators=2)
    with pytest.raises(ValueError, match="'mine' cannot be saved: its inverse link falls"):
        model.save_model(tmp_path / "model.json")
