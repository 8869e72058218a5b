"""Losses designed from a density or a minimum risk, and TangentBoost's."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import properboost as pb
from helpers.custom_losses import (
    RISKS,
    drawn,
    fit,
    logistic_weight,
    logit,
    twins,
)
from properboost import _core, losses
from properboost.losses import (
    Alpha,
    Exponential,
    GBoost,
    GLog,
    MarginLoss,
    Savage,
    check,
    from_functions,
    from_pdf,
    from_risk,
)

# -- designed from a density ----------------------------------------------------------------------


@twins
@given(gain=st.floats(0.05, 50.0), at=st.floats(-20.0, 20.0), p=st.floats(1e-9, 1.0 - 1e-9))
@drawn
def test_densities_give_the_losses_of_table_2(pdf, built_in, gain, at, p):
    designed, twin = from_pdf(pdf, gain=gain), built_in(gain)
    v = gain * at
    # A cubic between exact values and slopes errs by its fourth derivative times (1/128)^4/384,
    # and more in wider cells; that of the loss adds up over them.
    for method, tolerance in (("weight", 1e-9), ("loss", 1e-9 * gain), ("probability", 1e-9)):
        expected = getattr(twin, method)(v)
        assert getattr(designed, method)(v) == pytest.approx(expected, rel=1e-9, abs=tolerance)
    assert designed.curvature(v) == pytest.approx(twin.curvature(v), abs=1e-7 / gain)
    assert designed.link(p) == pytest.approx(twin.link(p), rel=1e-6, abs=1e-7 * gain)
    assert designed.minimum_risk(p) == pytest.approx(twin.minimum_risk(p), abs=1e-8 * gain)
    assert designed.loss_margin == pytest.approx(twin.loss_margin, rel=1e-9)
    assert designed.is_regularizer == twin.is_regularizer
    assert (designed.convex, designed.canonical) == (True, True)
    assert designed.loss(math.inf) < 1e-7 * gain  # as at the last knot
    assert designed.link([0.0, 0.5, 1.0]).tolist() == [-math.inf, 0.0, math.inf]


@twins
def test_tables_keep_the_digits_of_tails(pdf, built_in):
    designed, twin = from_pdf(pdf), built_in()
    u = np.linspace(0.0, 15.0, 2001)
    for method in ("loss", "weight"):
        exact = getattr(twin, method)(u)
        large = exact > 1e-10
        np.testing.assert_allclose(getattr(designed, method)(u)[large], exact[large], rtol=3e-5)
        single = getattr(designed.native, f"engine_{method}")(u.astype(np.float32))
        np.testing.assert_allclose(single[large], exact[large], rtol=3e-5)


@pytest.mark.parametrize("response", _core.response_names())
@twins
def test_a_designed_loss_trains_as_its_twin(pdf, built_in, response, rows):
    designed = fit(from_pdf(pdf, gain=1.5), rows, response=response)
    twin = fit(built_in(1.5), rows, response=response)
    features = [model.history_["feature"] for model in (designed, twin)]
    np.testing.assert_array_equal(*features)
    raw = [model.decision_function(rows[0]) for model in (designed, twin)]
    np.testing.assert_allclose(*raw, rtol=0, atol=1e-4)
    np.testing.assert_allclose(designed.history_["risk"], twin.history_["risk"], atol=1e-6)


def test_letter_under_the_designed_logistic():
    X, y = pb.datasets.load_letter("p2", subset="train", return_X_y=True)
    designed, built_in = (
        pb.ProperBoostClassifier(loss, gain=1.0, n_estimators=100, weak_learner="table").fit(X, y)
        for loss in (from_pdf(stats.logistic()), "glog")
    )
    np.testing.assert_array_equal(designed.history_["feature"], built_in.history_["feature"])
    np.testing.assert_allclose(
        designed.decision_function(X), built_in.decision_function(X), atol=1e-4
    )


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


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.4, 0.5])
def test_the_alpha_loss_has_the_binding_of_the_exponential(alpha):
    # BoostLR, eq. 53 is Definition 8 with the logistic density and beta(v) = -2 sinh v.
    designed = from_pdf(stats.logistic(), Exponential(), alpha=alpha)
    g, built_in = (1.0 - alpha) / (2.0 - 3.0 * alpha), Alpha(alpha)
    u = np.linspace(-20.0, 20.0, 801)
    np.testing.assert_allclose(g * designed.weight(u), built_in.weight(u), rtol=1e-5)
    np.testing.assert_allclose(g * designed.loss(u), built_in.loss(u), rtol=1e-5)
    np.testing.assert_allclose(designed.probability(u), built_in.probability(u), atol=1e-9)
    assert designed.parameters == built_in.parameters == {"alpha": alpha}


def test_the_alpha_loss_is_sound_beyond_a_half():
    # Section 6.5 claims that correctly classified rows keep their weight for alpha above 1/2; in
    # fact they do from alpha = 1 on.
    for alpha in (0.6, 0.9):
        loss = from_pdf(stats.logistic(), Exponential(), alpha=alpha)
        assert loss.convex
        assert loss.weight(400.0) < 1e-15
    for alpha in (1.0, 1.5):
        with pytest.raises(ValueError, match="'logistic': its weight"):
            from_pdf(stats.logistic(), Exponential(), alpha=alpha)


DENSITIES = [stats.logistic(), stats.norm(scale=2.0), stats.t(4), stats.laplace(scale=2.0)]
BINDINGS = [Savage(2.0), Savage(0.7), GBoost(3.0), lambda v: -v - np.arctan(v)]


@pytest.mark.parametrize("pdf", DENSITIES, ids=lambda pdf: pdf.dist.name)
@pytest.mark.parametrize("binding", BINDINGS, ids=["savage", "narrow", "gboost", "arctan"])
@given(alpha=st.sampled_from([0.0, 0.3, 1.0, 1.7]), gain=st.sampled_from([0.5, 1.0, 3.0]))
@drawn
def test_alpha_scales_the_binding_and_the_gain_the_link(pdf, binding, alpha, gain):
    # BoostLR, Definition 8 with g = 1 and eq. 37, by quadrature of the definition alone.
    loss = from_pdf(pdf, binding, alpha=alpha, gain=gain)
    v, h = np.linspace(-6.0, 6.0, 121), 1e-3
    beta = binding.binding if isinstance(binding, MarginLoss) else binding
    at = alpha * v / gain
    slope = (beta(at - 2 * h) - 8 * beta(at - h) + 8 * beta(at + h) - beta(at + 2 * h)) / (12 * h)
    weight = -pdf.sf(v / gain) * slope
    np.testing.assert_allclose(loss.weight(v), weight, rtol=0.0, atol=1e-6 * weight.max())
    np.testing.assert_allclose(loss.probability(v), pdf.cdf(v / gain), atol=1e-6)
    assert loss.loss_margin == pytest.approx(gain * from_pdf(pdf).loss_margin, rel=1e-5)


@pytest.mark.parametrize("gain", [0.5, 2.0, 5.0])
def test_the_gain_of_the_link_alone(gain):
    # BoostLR, Lemma 4 and Theorem 6: alpha equal to the gain does not change the binding; link
    # and binding determine the minimum risk (eqs. 31 and 34).
    loss = from_pdf(stats.logistic(), Savage(2.0), alpha=gain, gain=gain)
    v = np.linspace(-12.0, 12.0, 241)
    np.testing.assert_allclose(loss.binding(v), Savage(2.0).binding(v), atol=1e-7)
    np.testing.assert_allclose(loss.probability(v), GLog(gain).probability(v), atol=1e-8)
    p = np.linspace(0.01, 0.99, 99)
    slopes = np.gradient(loss.minimum_risk(p), p, edge_order=2)
    np.testing.assert_allclose(slopes[1:-1], Savage(2.0).binding(loss.link(p))[1:-1], atol=0.02)
    assert check(loss)


def test_alpha_one_is_the_shrinkage_loss():
    for known in (Savage(2.0), Exponential(2.0)):
        tuned = from_pdf(stats.logistic(), known, alpha=1.0)
        v = np.linspace(-20.0, 20.0, 401)
        np.testing.assert_allclose(tuned.weight(v), known.weight(v), rtol=3e-5)
        assert tuned != from_pdf(stats.logistic(), known)  # which has no alpha
        assert tuned == pickle.loads(pickle.dumps(tuned))


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
    with pytest.raises(TypeError, match="binding must be 'linear', a loss or a callable; got 1"):
        from_pdf(stats.logistic(), 1)
    with pytest.raises(ValueError, match="binding must be one of 'linear'; got 'cubic'"):
        from_pdf(stats.logistic(), "cubic")
    with pytest.raises(ValueError, match="gain must be above 0"):
        from_pdf(stats.logistic(), gain=0.0)
    with pytest.raises(ValueError, match=r"alpha must be at least 0; got -0\.1"):
        from_pdf(stats.logistic(), Savage(), alpha=-0.1)
    with pytest.raises(ValueError, match=r"alpha must be None with binding='linear'.*; got 0\.5"):
        from_pdf(stats.logistic(), alpha=0.5)
    for name in ("", " ", "a\nb", 3):
        with pytest.raises(ValueError, match="name must be a printable string"):
            from_pdf(stats.logistic(), name=name)


# -- designed from a minimum risk -----------------------------------------------------------------


@pytest.mark.parametrize("case", RISKS)
def test_risks_and_links_give_the_losses_they_are_of(case):
    risk, link, known = RISKS[case]
    designed = from_risk(risk, link, name="own")
    u = np.linspace(-12.0, 12.0, 2001)
    for method in ("weight", "loss", "probability"):
        exact = getattr(known, method)(u)
        np.testing.assert_allclose(getattr(designed, method)(u), exact, rtol=1e-5, atol=1e-6)
    assert designed.convex == known.convex
    assert designed.loss_margin == pytest.approx(known.loss_margin, rel=1e-5)
    # SavageBoost, eq. 25: phi(v) = C(p) + (1 - p) C'(p).
    p = designed.probability(u[700:-700])
    slope = (risk(p + 1e-5) - risk(p - 1e-5)) / 2e-5
    np.testing.assert_allclose(
        risk(p) + (1.0 - p) * slope, designed.loss(u[700:-700]), rtol=1e-4, atol=1e-6
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
        # Table 1 of the ULS paper: F_phi, b_phi, and the matching probability.
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
