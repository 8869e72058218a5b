"""Test the engine's boosting of rados against plain numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import helpers.reference.rado as reference
from helpers.reference.rado import random_rados
from properboost import _core


def random_terms(seed, d, names):
    random = np.random.default_rng(seed)
    square = random.normal(size=(d, d))
    parameter = {"ridge": square @ square.T + np.eye(d), "slope": np.sort(random.random(d))[::-1]}
    return [(name, random.exponential(), parameter.get(name)) for name in names]


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 80),
    d=st.integers(1, 9),
    names=st.lists(st.sampled_from(_core.regularizer_names()), unique=True, max_size=3),
    gamma=st.sampled_from([1.0, 0.3]),
)
def test_every_round_is_the_papers(seed, n, d, names, gamma):
    rados = random_rados(seed, n, d)
    rados[:, seed % d] *= seed % 2  # one coordinate is sometimes 0 everywhere
    terms = random_terms(seed, d, names)
    history = _core.boost_rados(rados, terms, 30, gamma=gamma)
    expected = reference.boost(rados, terms, 30, gamma)
    keys = ("feature", "edge", "step", "penalty", "log_rado_loss")
    assert list(history) == list(keys)
    for key, column in zip(keys, expected, strict=True):
        np.testing.assert_allclose(history[key], column, rtol=1e-9, atol=1e-9, err_msg=key)


@pytest.mark.parametrize("name", _core.regularizer_names())
def test_coefficients_that_shrink_again(name):
    """The first column is nearly the sum of the others, so boosting takes too much of it first."""
    random = np.random.default_rng(0)
    rados = np.round(random.normal(size=(60, 4))) / 2 + 0.4
    rados[:, 0] = rados[:, 1:].sum(axis=1) + random.choice([-0.5, 0.5], 60)
    terms = [(name, 3e-4, {"slope": np.array([4.0, 3.0, 2.0, 1.0])}.get(name))]
    history = _core.boost_rados(rados, terms, 200)
    assert (history["step"][history["feature"] == 0] < 0.0).sum() > 3
    feature, _, step, penalty, _ = reference.boost(rados, terms, 200)
    np.testing.assert_array_equal(history["feature"], feature)
    np.testing.assert_allclose(history["step"], step, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(history["penalty"], penalty, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("terms", [(), ("slope",), ("ridge", "lasso")])
def test_many_rounds_do_not_drift(terms):
    """Steps and features equal numpy's after hundreds of rounds on several chunks of rados."""
    rados = random_rados(3, 5000, 6)
    terms = random_terms(1, 6, terms)
    history = _core.boost_rados(rados, terms, 300)
    feature, _, step, _, log_loss = reference.boost(rados, terms, 300)
    np.testing.assert_array_equal(history["feature"], feature)
    np.testing.assert_allclose(np.cumsum(history["step"]), np.cumsum(step), rtol=0, atol=1e-9)
    np.testing.assert_allclose(history["log_rado_loss"], log_loss, rtol=0, atol=1e-9)


def test_threads_make_no_difference():
    rados = random_rados(5, 9000, 40)
    terms = random_terms(5, 40, ("slope",))
    one, three = (_core.boost_rados(rados, terms, 40, n_threads=n) for n in (1, 3))
    for key in one:
        np.testing.assert_array_equal(one[key], three[key])


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), d=st.integers(1, 6))
def test_a_coordinate_and_its_copy(seed, n, d):
    """The lowest feature wins a tie, so a copy is never chosen."""
    rados = random_rados(seed, n, d)
    twice = np.column_stack([rados, rados, -rados])
    terms = random_terms(seed, 3 * d, ("lasso",))
    assert _core.boost_rados(twice, terms, 20)["feature"].max() < d
