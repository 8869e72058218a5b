"""Table 1 and Theorem 7: losses of rows equal losses of all their rados."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properboost import RadoBoostClassifier, rado

PAIRS = sorted(rado.LOSS_PAIRS)


@st.composite
def problems(draw):
    """Edge vectors and a classifier; some scores are large, some 0."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, d = draw(st.integers(1, 10)), draw(st.integers(1, 5))
    edges = random.normal(size=(m, d)) * draw(st.sampled_from([0.1, 1.0, 5.0]))
    edges[random.random(m) < 0.1] = 0.0
    return edges, random.normal(size=d)


def definition(name, z):
    """The losses over rows as Table 1 writes them."""
    return {
        "logistic": np.log(1.0 + np.exp(z)).sum(),
        "square": ((1.0 + z) ** 2).sum(),
        "relu": np.where(z > 0.0, z, 0.0).sum(),
        "unhinged": z.sum(),
    }[name]


def close(a, b, scale):
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * max(1.0, scale))


@pytest.mark.parametrize("name", PAIRS)
@given(problems(), st.floats(0.5, 4.0), st.floats(0.5, 4.0), st.floats(0.0, 10.0))
def test_losses_are_equal_with_regularisers_too(name, problem, mu_e, mu_r, penalty):
    edges, theta = problem
    pair = rado.LOSS_PAIRS[name]
    if pair.same_mu:
        mu_r = mu_e
    m = len(edges)
    z = -edges @ theta / mu_e
    scale = np.square(z).sum()
    rows = pair.example_loss(theta, edges, mu_e)
    close(rows, definition(name, z), scale)
    rados = rado.all_rados(edges)
    close(pair.to_example_loss(pair.rado_loss(theta, rados, mu_r), m, mu_e, mu_r), rows, scale)
    shifted = rado.regularize_rados(rados, theta, penalty, pair.rado_share(mu_e))
    regularised = pair.rado_loss(theta, shifted, mu_r)
    # The ReLU's maximum is over the regularised rados, the empty one's among them.
    close(pair.to_example_loss(regularised, m, mu_e, mu_r), rows + penalty, scale + penalty)


def test_rados_are_subset_sums():
    edges = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    np.testing.assert_array_equal(rado.all_rados(edges)[:, 0], np.arange(8))
    # They are the sums of the definition, 1/2 sum (sigma + y) x, over all signs.
    y = np.array([1.0, -1.0, 1.0])
    signs = np.array([[1.0 if bits >> i & 1 else -1.0 for i in range(3)] for bits in range(8)])
    made = 0.5 * (signs + y) @ (edges * y[:, None])
    assert sorted(made[:, 0]) == list(range(8))


def test_made_rados_are_among_them():
    random = np.random.default_rng(0)
    X, y = random.integers(-9, 9, (6, 2)), np.array([0, 1, 1, 0, 1, 0])
    known = {tuple(row) for row in rado.all_rados(X * (2 * y - 1)[:, None])}
    assert {tuple(row) for row in rado.make_rados(X, y, 500).values} == known


def test_boosting_all_rados_is_logistic_regression():
    """Over all rados the loss of Omega-R.AdaBoost is the logistic loss, but for m log 2."""
    random = np.random.default_rng(1)
    edges = random.normal(size=(9, 3)) + 0.2
    model = RadoBoostClassifier("lasso", 0.7, n_estimators=30).fit_rados(rado.all_rados(edges))
    theta = model.coef_[0]
    rows = rado.LOSS_PAIRS["logistic"].example_loss(theta, edges) + 0.7 * np.abs(theta).sum()
    log_loss = model.history_["log_rado_loss"][model.n_iter_ - 1]
    np.testing.assert_allclose(log_loss + 9 * np.log(2.0), rows, atol=1e-9)


def test_zero_needs_no_regulariser():
    rados = rado.all_rados(np.eye(2))
    np.testing.assert_array_equal(rado.regularize_rados(rados, np.zeros(2), 0.0), rados)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.example_loss([1.0], [[1.0, 2.0]]), "theta must have 2 entries, as edges have"),
        (lambda p: p.example_loss([1.0], [1.0]), "edges must have two dimensions"),
        (lambda p: p.example_loss([1.0], [[1.0]], 0.0), "mu_e must be above 0; got 0"),
        (lambda p: p.rado_loss([1.0], np.empty((0, 1))), "rados must .* not be empty"),
        (lambda p: p.rado_loss([1.0], [[1.0]], -1.0), "mu_r must be above 0"),
        (lambda p: p.to_example_loss(1.0, 2, 1.0, 2.0), "mu_e and mu_r must be equal; got 1.0 and"),
        (lambda p: p.to_example_loss(1.0, 0), "n_rows must be at least 1"),
        (lambda p: p.to_example_loss(-1.0, 3), "rado_loss must be above 0; got -1"),
        (lambda p: p.to_example_loss(np.nan, 3), "rado_loss must be a finite number"),
        (lambda p: rado.LOSS_PAIRS["relu"].to_example_loss(-1.0, 3), "rado_loss must be at least"),
        (lambda p: p.example_loss([np.nan], [[1.0]]), "theta must hold finite numbers"),
        (lambda p: p.example_loss(["a"], [[1.0]]), "theta must be an array of numbers; got .*<U1"),
        (lambda p: p.rado_loss([1.0], [[np.inf]]), "rados must hold finite numbers"),
        (lambda p: p.rado_loss([1.0], [[1.0], [1.0, 2.0]]), "rados must be .* different lengths"),
        (lambda p: rado.all_rados(np.ones((25, 8))), "edges of 8 columns must be of 24 rows at"),
        (lambda p: rado.all_rados(np.ones((3, 2**25))), "must be of 2 rows at most; got 3"),
        (lambda p: rado.regularize_rados([[1.0]], [1.0], -1.0), "penalty must be at least 0"),
        (lambda p: rado.regularize_rados([[1.0]], [1.0], 1.0, -1.0), "rado_share must be above 0"),
        (lambda p: rado.regularize_rados([[1.0]], [1.0, 2.0], 1.0), "theta must have 1 entries"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call(rado.LOSS_PAIRS["logistic"])
