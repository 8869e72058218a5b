"""Joint losses: the engine against plain formulas, and invariants for any scores."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import log_ndtr

from helpers.instruction_sets import other_sets, run_with
from helpers.reference import joint as reference
from properboost import _core
from properboost.losses import from_pdf, get_loss

CASES = [("softmax", "glog")] + [("canonical", name) for name in reference.CANONICAL]
every_form = pytest.mark.parametrize(("form", "name"), CASES)
every_canonical = pytest.mark.parametrize("name", list(reference.CANONICAL))
drawn = settings(max_examples=40, deadline=None, derandomize=True)
KNOTS = len(_core.loss_knots())


def make(form, name):
    return _core.JointLoss(form, get_loss(name).native)


def draw(n, classes, scale, seed=0):
    """Draw scores that are float32 numbers; some rows have equal ones."""
    z = scale * np.random.default_rng(seed).standard_normal((n, classes))
    z[: n // 8] = np.round(z[: n // 8])
    return z.astype(np.float32).astype(np.float64)


# --- the reference itself ----------------------------------------------------------------------


@every_form
@pytest.mark.parametrize("classes", [2, 3, 10])
def test_the_reference_has_right_derivatives(form, name, classes):
    """L's gradient is p minus the label's indicator; its Hessian's diagonal is as stated."""
    form = reference.FORMS[form](name)
    z, y, h = draw(3, classes, 1.5, seed=classes), classes - 1, 1e-5
    p, curvatures = np.exp(form.log_probabilities(z)), form.curvatures(z)
    for k, step in enumerate(h * np.eye(classes)):
        slope = (form.loss(z + step, y) - form.loss(z - step, y)) / (2.0 * h)
        np.testing.assert_allclose(slope, p[:, k] - (k == y), rtol=0.0, atol=1e-9)
        bend = np.exp(form.log_probabilities(z + step)) - np.exp(form.log_probabilities(z - step))
        # glaplacian's density has a kink, which differences see within h of it
        assert bend[:, k] / (2.0 * h) == pytest.approx(curvatures[:, k], rel=1e-6, abs=1e-7)


# --- against the reference ---------------------------------------------------------------------


@every_form
@pytest.mark.parametrize(("classes", "n"), [(2, 40), (3, 300), (10, 40), (26, 40), (1000, 3)])
@pytest.mark.parametrize("scale", [0.0, 0.5, 3.0, 15.0])
def test_engine_agrees_with_the_reference(form, name, classes, n, scale):
    z = draw(n, classes, scale, seed=classes)
    y = classes // 3
    weights, curvatures, losses, _ = make(form, name).evaluate(z, y)
    rows = zip(*reference.evaluate(reference.FORMS[form](name), z[:40], y), strict=True)
    for i, (w, c, loss) in enumerate(rows):
        # The last step follows parabolas and changes S / T by a share of 2^-7 at most, or by 2^-10
        # across 0. ggauss's tail falls ever faster, so that this share and the scores' rounding
        # errors grow there.
        seen = np.minimum(w, c) > 1e-25
        np.testing.assert_allclose(weights[i][seen], w[seen], rtol=3e-5)
        np.testing.assert_allclose(weights[i][w > 1e-3], w[w > 1e-3], rtol=4e-6)
        np.testing.assert_allclose(weights[i], w, rtol=0.0, atol=2e-6)
        np.testing.assert_allclose(curvatures[i][seen], c[seen], rtol=1e-2)
        np.testing.assert_allclose(curvatures[i], c, rtol=0.0, atol=2e-3 * c.max() + 1e-35)
        if loss > 1e-6:  # below, ggauss's plain formula has no digits
            assert losses[i] == pytest.approx(loss, rel=6e-6)


@every_form
@pytest.mark.parametrize("classes", [2, 3, 10, 26, 1000])
@pytest.mark.parametrize("scale", [0.0, 0.5, 3.0, 15.0, 80.0])
def test_probabilities_agree_with_the_reference(form, name, classes, scale):
    z = draw(8, classes, scale, seed=classes)
    joint = make(form, name)
    log_p = joint.log_probabilities(z)
    plain = reference.FORMS[form](name)
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    # In absolute terms an error of log p is a relative one of p.
    np.testing.assert_allclose(log_p, plain.log_probabilities(z), rtol=1e-12, atol=1e-12)
    for y in (0, classes - 1):
        np.testing.assert_allclose(joint.losses(z, y), plain.loss(z, y), rtol=1e-11, atol=1e-13)


@every_form
def test_two_classes_are_the_margin_loss(form, name):
    d = np.concatenate([np.linspace(-30.0, 30.0, 241), [1e-4, -1e-7, 0.0]]).astype(np.float32)
    scores = np.stack([d, np.zeros_like(d)], axis=1).astype(np.float64)
    joint, loss = make(form, name), get_loss(name).native
    u = d / np.float32(2.0)
    weights, curvatures, losses, _ = joint.evaluate(scores, 0)
    for k in (0, 1):
        # The other class's margin has the same weight.
        np.testing.assert_allclose(weights[:, k], loss.engine_weight(u), rtol=1e-6)
        np.testing.assert_allclose(curvatures[:, k], loss.engine_curvature(u), rtol=1e-6)
    np.testing.assert_allclose(losses, 2.0 * loss.engine_loss(u), rtol=1e-6)
    swapped = joint.evaluate(scores, 1)
    np.testing.assert_allclose(swapped[0][:, 1], loss.engine_weight(-u), rtol=1e-6)
    np.testing.assert_allclose(joint.losses(scores, 0), 2.0 * loss.loss(u), rtol=1e-13)
    p = np.exp(joint.log_probabilities(scores))
    np.testing.assert_allclose(p[:, 0], loss.probability(u), rtol=1e-13)
    np.testing.assert_allclose(p[:, 1], loss.weight(u), rtol=1e-13)


def test_softmax_and_canonical_differ_from_three_classes_on():
    """Softmax takes z / 2, so that z = 2 F there is softmax(F)."""
    F = np.array([[2.0, 0.5, -1.0]])
    p = np.exp(make("softmax", "glog").log_probabilities(2.0 * F))
    np.testing.assert_allclose(p[0], np.exp(F[0]) / np.exp(F[0]).sum(), rtol=1e-14)
    np.testing.assert_allclose(p[0], [0.786, 0.175, 0.039], atol=5e-4)
    p = np.exp(make("canonical", "glog").log_probabilities(F))
    np.testing.assert_allclose(p[0], [0.638, 0.282, 0.081], atol=5e-4)


# --- tails -------------------------------------------------------------------------------------


@every_form
@pytest.mark.parametrize("far", [100.0, 700.0, 3000.0])
def test_log_probabilities_keep_their_digits(form, name, far):
    z = np.array([[far, 0.0, -3.0], [0.0, far, far], [0.0, -far, far], [far, far - 1.0, 0.0]])
    plain = reference.FORMS[form](name)
    log_p = make(form, name).log_probabilities(z)
    assert np.isfinite(log_p).all()
    np.testing.assert_allclose(log_p, plain.log_probabilities(z), rtol=1e-11, atol=1e-300)


def test_gaussian_tails_are_known():
    """Two classes 700 apart: log of erfc(k u) / 2 at u = 350, k = sqrt(pi) / 4."""
    log_p = make("canonical", "ggauss").log_probabilities(np.array([[700.0, 0.0]]))
    assert log_p[0, 1] == pytest.approx(log_ndtr(-350.0 * math.sqrt(math.pi / 8.0)), rel=1e-13)
    assert log_p[0, 1] == pytest.approx(-24058.43, abs=1.0)
    # -p of the other class, which is no double
    assert log_p[0, 0] == 0.0


@every_form
@pytest.mark.parametrize("size", [1e3, 1e9, 1e18, 1e30, 3e38])
def test_everything_is_finite(form, name, size):
    rng = np.random.default_rng(1)
    z = np.float64(np.float32(size)) * rng.choice([-1.0, -0.5, 0.0, 1e-9, 0.5, 1.0], (300, 5))
    joint = make(form, name)
    for shift in (None, np.full(300, 1e30, np.float32), np.full(300, -np.inf, np.float32)):
        weights, curvatures, losses, _ = joint.evaluate(z, 2, shift)
        for values in (weights, curvatures, losses):
            assert np.isfinite(values).all()
            assert (values >= 0.0).all()
        assert (weights <= 1.0).all()
        others = np.delete(weights, 2, axis=1).sum(axis=1)
        np.testing.assert_allclose(weights[:, 2], others, rtol=1e-5, atol=1e-6)
    # losses grow like the margins
    gap = z.max(axis=1) - z[:, 2]
    far = gap > 400.0
    np.testing.assert_allclose(losses[far], np.minimum(gap[far], 1e38), rtol=2e-2)
    assert np.isfinite(joint.log_probabilities(z)).all()
    assert np.isfinite(joint.losses(z, 2)).all()


def make_custom(right, beyond=0.0):
    """Return a canonical loss with these weights from each knot of the right half to the next."""
    flat = np.zeros(len(right))
    return _core.Loss.tabulated(
        "custom", scale=1.0, beyond=beyond,
        right=right, right_slope=flat, left=1.0 - right, left_slope=flat,
    )  # fmt: skip


@pytest.mark.parametrize("classes", [2, 5, 70])
@pytest.mark.parametrize("beyond", [1e15, 1e37, 1e38, 1e300])
def test_sums_of_large_losses_are_finite(classes, beyond):
    """Classes that are right have the loss at the last knot; float ends at 3.4e38."""
    joint = _core.JointLoss("canonical", make_custom(0.5 * 0.9 ** np.arange(KNOTS), beyond))
    z = draw(50, classes, 5.0)
    z[:10, 0] = 3.4e38
    weights, curvatures, losses, _ = joint.evaluate(z, 1)
    for values in (weights, curvatures, losses):
        assert np.isfinite(values).all()
        assert (values >= 0.0).all()
    expected = np.minimum((classes - 1.0) * beyond, 1e38)
    assert (losses >= 0.999 * expected).all()
    exact = joint.losses(z, 1)
    assert np.isfinite(exact).all()
    assert (exact >= 0.999 * (classes - 1.0) * beyond).all()


def test_a_loss_at_the_last_knot_has_a_bound():
    right = 0.5 * 0.9 ** np.arange(KNOTS)
    for beyond in (-1.0, 1e301, math.inf, math.nan):
        with pytest.raises(ValueError, match=r"between 0 and 1e\+300 at the last knot; got "):
            make_custom(right, beyond)


def test_classes_may_be_certain_at_any_margin():
    """The loss's tail is 0 from margin 0 on."""
    joint = _core.JointLoss("canonical", make_custom(np.zeros(KNOTS)))
    log_p = joint.log_probabilities(np.array([[0.0, 0.0], [5.0, -0.5], [-1e300, 1e300]]))
    assert np.isfinite(log_p).all()
    assert (log_p <= 0.0).all()


@pytest.mark.parametrize("knot", [0, 1, 1178])
def test_a_loss_whose_inverse_link_falls_is_not_canonical(knot):
    """A weight that rises with the margin is not 1 - inverse link: log p was above 0."""
    right = 0.5 * 0.94 ** np.arange(KNOTS)
    before = right[knot - 1] if knot else 0.5
    right[knot] = before + 5e-7  # a fall that counts as rounding
    assert make_custom(right).canonical
    for rise in (2e-6, 0.5):
        right[knot] = before + rise
        loss = make_custom(right)
        assert not loss.canonical
        with pytest.raises(ValueError, match=r"canonical loss.*got 'custom'"):
            _core.JointLoss("canonical", loss)


# gboost's weights in single precision end at 1e-36.
@pytest.mark.parametrize("name", ["glog", "ggauss", "glaplacian"])
def test_weights_that_nearly_underflow_are_solved_for(name):
    """The top class's 1 - p goes from 1e-30 down to where single precision ends."""
    near = -get_loss(name).native.link(1e-30)
    far = near
    while get_loss(name).native.weight(far) > 1e-40:
        far *= 1.01
    z = -np.random.default_rng(5).uniform(2.0 * near, 2.0 * far, (300, 5))
    z[:, 1] = 0.0
    z = z.astype(np.float32).astype(np.float64)
    plain = reference.Canonical(name)
    joint = make("canonical", name)
    start = joint.evaluate(z, 1)[3] + np.random.default_rng(6).normal(0.0, 3.0, 300)
    for label, shift in itertools.product((0, 1), (None, start.astype(np.float32))):
        weights, curvatures, losses, _ = joint.evaluate(z, label, shift)
        for values in (weights, curvatures, losses):
            assert np.isfinite(values).all()
            assert (values >= 0.0).all()
    expected = reference.weights_of(plain.log_probabilities(z), 1)
    known = expected > 1e-36
    # The solver stops where S and T differ by 2^-14 of 1e-34, if they are smaller than that.
    np.testing.assert_allclose(weights[known], expected[known], rtol=4e-3)
    assert known.sum() > 300


# --- invariants --------------------------------------------------------------------------------


@st.composite
def scores_of_rows(draw_from):
    classes = draw_from(st.sampled_from([2, 3, 5, 33]))
    scale = math.exp(draw_from(st.floats(-7.0, 7.0)))
    seed = draw_from(st.integers(0, 2**31))
    power = draw_from(st.sampled_from([1.0, 3.0]))  # with heavy tails, too
    z = np.random.default_rng(seed).standard_normal((draw_from(st.integers(1, 9)), classes))
    return (scale * np.sign(z) * np.abs(z) ** power).astype(np.float32).astype(np.float64)


@every_form
@drawn
@given(z=scores_of_rows())
def test_probabilities_are_a_distribution(form, name, z):
    joint = make(form, name)
    log_p = joint.log_probabilities(z)
    assert np.isfinite(log_p).all()
    assert (log_p <= 0.0).all()
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    weights, _, losses, _ = joint.evaluate(z, 1)
    p = np.exp(log_p)
    p[:, 1] = np.delete(p, 1, axis=1).sum(axis=1)
    np.testing.assert_allclose(weights, p, rtol=0.0, atol=4e-6)
    np.testing.assert_allclose(losses, joint.losses(z, 1), rtol=2e-5, atol=1e-12)


@every_form
@drawn
@given(z=scores_of_rows(), seed=st.integers(0, 2**31))
def test_classes_may_be_permuted(form, name, z, seed):
    joint = make(form, name)
    order = np.random.default_rng(seed).permutation(z.shape[1])
    label = int(order[0])
    np.testing.assert_allclose(
        joint.log_probabilities(z[:, order]),
        joint.log_probabilities(z)[:, order],
        rtol=1e-11,
        atol=1e-11,
    )
    before, after = joint.evaluate(z, label), joint.evaluate(z[:, order], 0)
    np.testing.assert_allclose(after[0], before[0][:, order], rtol=0.0, atol=4e-6)
    np.testing.assert_allclose(after[2], before[2], rtol=2e-5, atol=1e-12)


@every_form
def test_a_constant_changes_nothing(form, name):
    z = np.round(64.0 * draw(50, 7, 3.0)) / 64.0  # sums with 1024 are exact
    joint = make(form, name)
    for ours, theirs in zip(
        joint.evaluate(z, 3)[:3], joint.evaluate(z + 1024.0, 3)[:3], strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(joint.log_probabilities(z), joint.log_probabilities(z - 1024.0))


@every_canonical
@pytest.mark.parametrize("classes", [2, 3, 26])
def test_shifts_only_save_time(name, classes):
    z = draw(300, classes, 3.0)
    joint = make("canonical", name)
    assert joint.remembers_shifts
    cold = joint.evaluate(z, 1)
    moved = joint.evaluate(z + 0.1 * draw(300, classes, 1.0, seed=2), 1)[3]
    rng = np.random.default_rng(3)
    for start in (cold[3], moved, rng.normal(0.0, 30.0, 300), np.full(300, np.nan)):
        warm = joint.evaluate(z, 1, start.astype(np.float32))
        np.testing.assert_allclose(warm[0], cold[0], rtol=2e-5, atol=1e-30)
        np.testing.assert_allclose(warm[1], cold[1], rtol=1e-2, atol=1e-30)
        np.testing.assert_allclose(warm[2], cold[2], rtol=2e-6)
        np.testing.assert_allclose(warm[3], cold[3], rtol=1e-5, atol=1e-5)


@every_form
@pytest.mark.parametrize("classes", [3, 40])
def test_rows_do_not_depend_on_their_neighbours(form, name, classes):
    z = draw(300, classes, 6.0)
    joint = make(form, name)
    rng = np.random.default_rng(0)
    solved = np.arange(300) % 3 == 1  # these start where they end
    shift = np.where(solved, joint.evaluate(z, 1)[3], rng.normal(0.0, 3.0, 300)).astype(np.float32)
    together = joint.evaluate(z, 1, shift)
    for rows in (slice(0, 1), slice(5, 24), slice(100, 300, 3)):
        alone = joint.evaluate(z[rows], 1, np.ascontiguousarray(shift[rows]))
        for ours, theirs in zip(alone, together, strict=True):
            np.testing.assert_array_equal(ours, theirs[rows])


@pytest.mark.parametrize("instruction_set", other_sets())
def test_instruction_sets_agree(instruction_set):
    z = draw(150, 11, 4.0)
    program = """
z = data
result = []
for form, name in [("softmax", "glog")] + [
    ("canonical", name) for name in ("glog", "ggauss", "glaplacian", "gboost")
]:
    loss = _core.Loss(name)
    joint = _core.JointLoss(form, loss)
    result += [*joint.evaluate(z, 1), joint.log_probabilities(z), joint.losses(z, 1)]
"""
    outputs = run_with(instruction_set, program, z)
    scope = {"_core": _core, "data": z}
    exec(program, scope)
    for ours, theirs in zip(scope["result"], outputs, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("glog", stats.logistic()),
        ("ggauss", stats.norm(scale=4.0 / math.sqrt(2.0 * math.pi))),
        ("glaplacian", stats.laplace(scale=2.0)),
        ("gboost", stats.t(2, scale=math.sqrt(2.0))),
    ],
)
@pytest.mark.parametrize("classes", [2, 3, 26])
def test_designed_losses_are_their_twins(name, distribution, classes):
    designed = _core.JointLoss("canonical", from_pdf(distribution).native)
    built_in = make("canonical", name)
    z = draw(200, classes, 3.0)
    for what, (ours, theirs) in enumerate(
        zip(designed.evaluate(z, 1), built_in.evaluate(z, 1), strict=True)
    ):
        np.testing.assert_allclose(
            ours, theirs, rtol=[2e-5, 1e-2, 5e-6, 1e-5][what], atol=[1e-7, 1e-7, 1e-7, 1e-6][what]
        )
    log_p = designed.log_probabilities(z)
    np.testing.assert_allclose(np.exp(log_p), np.exp(built_in.log_probabilities(z)), atol=1e-8)
    # Beyond the table's last knot, a parabola continues it.
    far = np.zeros((1, classes))
    far[0, 0] = 700.0
    np.testing.assert_allclose(
        designed.log_probabilities(far)[:, 1:], built_in.log_probabilities(far)[:, 1:], rtol=5e-3
    )


# --- refusals ----------------------------------------------------------------------------------


def test_names_and_losses_are_checked():
    assert _core.joint_loss_names() == ["softmax", "canonical"]
    assert make("softmax", "glog").name == "softmax"
    assert not make("softmax", "glog").remembers_shifts
    with pytest.raises(ValueError, match="one of 'softmax', 'canonical'; got 'brier'"):
        make("brier", "glog")
    with pytest.raises(ValueError, match="'glog' alone; got 'gboost'"):
        make("softmax", "gboost")
    impostor = from_pdf(stats.laplace(scale=2.0), name="glog").native
    with pytest.raises(ValueError, match="'glog' alone"):
        _core.JointLoss("softmax", impostor)
    for name in ("exponential", "savage"):
        with pytest.raises(ValueError, match=f"canonical loss.*got '{name}'"):
            make("canonical", name)


def test_arguments_are_checked():
    joint = make("canonical", "glog")
    with pytest.raises(ValueError, match="scores must have the shape"):
        joint.evaluate(np.zeros(3), 0)
    with pytest.raises(ValueError, match="2 classes or more"):
        joint.log_probabilities(np.zeros((3, 1)))
    message = "true_class must be below the number of classes, 4; got 4"
    with pytest.raises(ValueError, match=message):
        joint.losses(np.zeros((3, 4)), 4)
    with pytest.raises(ValueError, match="shift must have 3 entries"):
        joint.evaluate(np.zeros((3, 4)), 0, np.zeros(2, np.float32))
