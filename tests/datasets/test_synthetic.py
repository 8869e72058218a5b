"""Test the two Gaussians."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from properboost import datasets


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_two_gaussians_total(n_samples, seed):
    X, y = datasets.make_two_gaussians(n_samples, random_state=seed)
    assert X.shape == (n_samples, 2)
    assert np.bincount(y, minlength=2).tolist() == [(n_samples + 1) // 2, n_samples // 2]
    again = datasets.make_two_gaussians(n_samples, random_state=seed)
    assert np.array_equal(X, again[0])
    assert np.array_equal(y, again[1])


@given(st.integers(0, 50), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_two_gaussians_per_class(zeros, ones, seed):
    X, y, p = datasets.make_two_gaussians((zeros, ones), random_state=seed, return_probability=True)
    assert np.bincount(y, minlength=2).tolist() == [zeros, ones]
    # The logistic form must equal Bayes' rule on the two densities.
    density = [norm.pdf(X - mean).prod(axis=1) for mean in (0, 0.7416)]
    np.testing.assert_allclose(p, density[1] / (density[0] + density[1]), rtol=1e-9)
    np.testing.assert_allclose(p, expit(0.7416 * X.sum(axis=1) - 0.55), atol=1e-4)


def test_two_gaussians_have_a_bayes_error_of_30_percent():
    X, y, p = datasets.make_two_gaussians(200_000, random_state=0, return_probability=True)
    assert np.minimum(p, 1 - p).mean() == pytest.approx(0.3, abs=0.002)
    assert ((p > 0.5) != y).mean() == pytest.approx(norm.cdf(-0.7416 / np.sqrt(2)), abs=0.004)
    for label, mean in ((0, 0), (1, 0.7416)):
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.015)
        np.testing.assert_allclose(np.cov(X[y == label].T), np.eye(2), atol=0.02)
    # The order of the rows is independent of the class.
    assert y[:100_000].mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("n_samples", [0, -3, (-1, 4), (0, 0)])
def test_two_gaussians_refuse_sizes(n_samples):
    with pytest.raises(ValueError, match=r"n_samples.* must .* at least .*; got"):
        datasets.make_two_gaussians(n_samples)


@pytest.mark.parametrize("n_samples", [2.5, "4", True, None, (1,), (1, 2, 3), (1.0, 2)])
def test_two_gaussians_refuse_types(n_samples):
    with pytest.raises(TypeError, match=r"n_samples.* must be an integer"):
        datasets.make_two_gaussians(n_samples)
