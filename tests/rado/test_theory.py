"""Table 1 and Theorem 7: losses of rows equal losses of all their rados."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properboost import RadoBoostClassifier, rado

PAIRS = sorted(rado.LOSS_PAIRS)


@st.composite
def problems(draw):
    """Draw edge vectors and a classifier; some scores are large, some 0."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, d = draw(st.integers(1, 10)), draw(st.integers(1, 5))
    edges = random.normal(size=(m, d)) * draw(st.sampled_from([0.1, 1.0, 5.0]))
    edges[random.random(m) < 0.1] = 0.0
    return edges, random.normal(size=d)


def definition(name, z):
    """Return the losses over rows in Table 1's form."""
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
    """Over all rados the loss of Omega-R.AdaBoost is the logistic loss, except for m log 2."""
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


# -- the games ------------------------------------------------------------------------------------


@st.composite
def margins(draw):
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(1, 7))
    return random, random.normal(size=m) * draw(st.sampled_from([0.1, 1.0, 3.0]))


@pytest.mark.parametrize("name", PAIRS)
@given(margins(), st.floats(0.5, 3.0))
def test_generators_are_proportionate(name, drawn, mu_e):
    """Definition 1 and Theorem 2."""
    random, z = drawn
    pair, m = rado.LOSS_PAIRS[name], len(z)
    mu_r = pair.game_mu(m, mu_e)

    def games(z):
        rows = pair.example_game(pair.example_weights(z, mu_e), z, mu_e)
        return rows, pair.example_game(pair.example_weights(z, mu_e), z, mu_e) - pair.rado_game(
            pair.rado_weights(z, mu_r), z, mu_r
        )

    value, apart = games(z)
    _, elsewhere = games(random.normal(size=m))
    close(apart, elsewhere, np.square(z).sum() + 2.0**m)
    q = pair.rado_weights(z, mu_r)
    assert q.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(
        rado.subset_matrix(m) @ q, pair.example_weights(z, mu_e), rtol=1e-9, atol=1e-9
    )

    # Theorem 6 and eq. 14: minus the game's value is a_e times the loss, except for a constant.
    def left(z, value):
        share = pair.rado_share(mu_e)
        return -value - share * pair.example_loss([1.0], z[:, None], mu_e)

    other = random.normal(size=m)
    close(left(z, value), left(other, games(other)[0]), np.square(z).sum() + 10.0)


@pytest.mark.parametrize("name", PAIRS)
@given(margins(), st.floats(0.5, 3.0))
def test_the_adversary_plays_best(name, drawn, mu):
    """No other weights have a lower value of the games (eqs. 3 and 4)."""
    random, z = drawn
    pair, m = rado.LOSS_PAIRS[name], len(z)
    p, q = pair.example_weights(z, mu), pair.rado_weights(z, mu)
    least = pair.example_game(p, z, mu), pair.rado_game(q, z, mu)
    for size in (1e-3, 0.1):
        other = p + size * random.normal(size=m)
        assert pair.example_game(other, z, mu) >= least[0] - 1e-9
        step = random.normal(size=2**m)
        assert pair.rado_game(q + size * (step - step.mean()), z, mu) >= least[1] - 1e-9
        inside = np.full(2**m, 0.5**m)  # where the hinge's and the unhinged loss's weights may be
        assert pair.rado_game(q + size * (inside - q), z, mu) >= least[1] - 1e-9


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("m", [1, 2, 5])
def test_generators_of_rows_are_symmetrised(name, m):
    """Definition 3 and Lemma 4."""
    pair, p = rado.LOSS_PAIRS[name], np.arange(-8, 17) / 8.0
    values = pair.example_generator(p, m)
    np.testing.assert_array_equal(
        values, pair.rado_generator(p, m) + pair.rado_generator(1.0 - p, m)
    )
    np.testing.assert_array_equal(values, values[::-1])
    assert isinstance(pair.rado_generator(0.5, m), float)


def test_generators_of_table_1():
    q = np.array([-0.1, 0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.1])
    inf = np.inf
    logs = [inf, 0.0, *(x * np.log(x) - x for x in q[2:])]
    expected = {
        "logistic": logs,
        "square": q**2 / 2,
        "relu": [inf, 0, 0, 0, 0, 0, 0, inf],
        "unhinged": [inf, inf, inf, 0, 0, inf, inf, inf],  # 1/4 to 1/2
    }
    for name, values in expected.items():
        np.testing.assert_allclose(rado.LOSS_PAIRS[name].rado_generator(q, 2), values, rtol=1e-14)
    # Twice the entropy's negative, less 1: permissible functions (the paper's first footnote).
    p = np.linspace(0.01, 0.99, 9)
    both = rado.LOSS_PAIRS["logistic"].example_generator(p, 3)
    np.testing.assert_allclose(both, p * np.log(p) + (1 - p) * np.log(1 - p) - 1.0)


def test_subset_matrix_is_the_papers_upside_down():
    printed = np.array([[0.0, 1.0]])
    for m in range(2, 6):
        top = np.repeat([0.0, 1.0], 2 ** (m - 1))
        printed = np.vstack([top, np.hstack([printed, printed])])
        np.testing.assert_array_equal(rado.subset_matrix(m)[::-1], printed)
    edges = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(rado.subset_matrix(3).T @ edges, rado.all_rados(edges))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.example_game([0.5], [1.0, 2.0]), "p must have 2 entries; got shape"),
        (lambda p: p.rado_game([0.5, 0.5], [1.0, 2.0]), "q must have 4 entries"),
        (lambda p: p.rado_weights([[1.0]]), "z must hold finite numbers, one for each row"),
        (lambda p: p.example_weights([]), "z must hold finite numbers, one for each row"),
        (lambda p: p.example_weights([1.0], 0.0), "mu_e must be above 0; got 0"),
        (lambda p: p.game_mu(0), "n_rows must be at least 1; got 0"),
        (lambda p: rado.subset_matrix(21), "n_rows must be between 1 and 20; got 21"),
    ],
)
def test_wrong_arguments_of_games(call, message):
    with pytest.raises(ValueError, match=message):
        call(rado.LOSS_PAIRS["logistic"])
