"""The design of bags: the parts that each leaves out, and the variance factor."""

import numpy as np
import pytest

from properboost.models.bag_design import (
    LEVELS,
    TermNoise,
    design,
    design_for_terms,
    find_standard_error,
)

SHARE = 0.75

EVERY = range(4, 65)


@pytest.mark.parametrize("n_bags", EVERY)
def test_a_bag_leaves_out_one_of_every_four_parts(n_bags):
    bags = design(n_bags)
    assert bags.in_bag.shape == (n_bags, bags.n_parts)
    assert bags.n_parts <= 256
    left_out = ~bags.in_bag.reshape(n_bags, -1, LEVELS)
    assert (left_out.sum(axis=2) == 1).all()
    assert bags.share == SHARE


@pytest.mark.parametrize("n_bags", EVERY)
def test_bags_differ_and_every_part_is_left_out_and_learnt_from(n_bags):
    in_bag = design(n_bags).in_bag
    assert len(np.unique(in_bag, axis=0)) == n_bags
    often = in_bag.sum(axis=0)
    assert often.min() >= 1
    assert often.max() < n_bags
    if n_bags % LEVELS == 0:
        assert (often == n_bags * SHARE).all()


@pytest.mark.parametrize(("n_bags", "n_parts"), [(4, 4), (16, 20), (64, 84)])
def test_whole_arrays_are_orthogonal(n_bags, n_parts):
    """Two parts of different quadruples are left out together by one bag of 16."""
    left_out = (~design(n_bags).in_bag).astype(int)
    assert left_out.shape[1] == n_parts
    together = left_out.T @ left_out
    quadruple = np.arange(n_parts) // LEVELS
    apart = quadruple[:, None] != quadruple
    assert (together[apart] == n_bags / LEVELS**2).all()


@pytest.mark.parametrize("n_bags", EVERY)
def test_the_variance_of_a_mean_over_rows_is_found_without_bias(n_bags):
    """Parts whose means have variance 1: the mean of all has 1 / n_parts."""
    bags = design(n_bags)
    values = np.random.default_rng(n_bags).standard_normal((20_000, bags.n_parts))
    of_bags = values @ (bags.in_bag / bags.in_bag.sum(axis=1, keepdims=True)).T
    squares = np.square(of_bags - of_bags.mean(axis=1, keepdims=True)).sum(axis=1)
    variances = bags.variance_factor * squares * bags.n_parts
    # A chi-square over its degrees of freedom has the variance 2 / degrees.
    assert abs(variances.mean() - 1.0) < 5.0 * np.sqrt(2.0 / bags.degrees / len(variances))
    assert variances.var() == pytest.approx(2.0 / bags.degrees, rel=0.1)


@pytest.mark.parametrize(
    ("n_bags", "factor", "degrees"),
    [(4, 3 / 4, 3), (8, 3 / 8, 6), (16, 3 / 16, 15), (32, 3 / 32, 24), (64, 3 / 64, 63)],
)
def test_factors_and_degrees_of_balanced_designs(n_bags, factor, degrees):
    assert design(n_bags).variance_factor == pytest.approx(factor, rel=1e-12)
    assert design(n_bags).degrees == pytest.approx(degrees, rel=1e-12)


@pytest.mark.parametrize(("n_bags", "n_parts", "noise"), [(16, 12, 6), (64, 48, 27)])
def test_bags_of_joint_terms_differ_by_more_than_their_parts(n_bags, n_parts, noise):
    bags = design_for_terms(n_bags)
    assert bags.n_parts == n_parts
    assert bags.noise_degrees == noise
    assert n_bags - 1 - np.linalg.matrix_rank(bags.in_bag - bags.in_bag.mean(axis=0)) == noise
    assert len(np.unique(bags.in_bag, axis=0)) == n_bags
    assert bags.variance_factor == pytest.approx(3 / n_bags, rel=1e-12)


@pytest.mark.parametrize("n_bags", [n for n in EVERY if n not in (16, 64)])
def test_other_numbers_of_bags_leave_noise_unknown(n_bags):
    assert design_for_terms(n_bags) is design(n_bags)
    values = np.random.default_rng(n_bags).standard_normal((n_bags, 5))
    expected = find_standard_error(values)
    np.testing.assert_array_equal(
        find_term_error(values, np.full(5, 0.2), design(n_bags)), expected
    )


def find_term_error(values, shares, bags):
    """Return the standard error of the mean of bags' tables of a term."""
    return TermNoise.of(values, shares, bags).find_errors(values)


def regress_on_parts(values, shares, bags):
    """Return the variance of the mean of bags by a regression on the parts, by cell."""
    n_bags, degrees = len(values), bags.noise_degrees
    columns = np.column_stack([np.ones(n_bags), bags.in_bag])
    deviations = values - values.mean(axis=0)
    fitted = columns @ np.linalg.lstsq(columns, deviations, rcond=None)[0]
    explained, squares = np.square(fitted).sum(axis=0), np.square(deviations).sum(axis=0)
    noise = shares @ (squares - explained) / degrees
    by_rows = max(shares @ explained - noise * (n_bags - 1 - degrees), 0.0) * 3.0 / n_bags
    variance = squares * (by_rows + noise / n_bags) / (shares @ squares)
    return np.maximum(variance, (variance + shares @ variance) / 2.0)


@pytest.mark.parametrize("n_bags", [16, 64])
def test_the_error_of_a_term_is_that_of_a_regression_on_parts(n_bags):
    rng, bags = np.random.default_rng(n_bags), design_for_terms(n_bags)
    shares = rng.dirichlet(np.ones(7))
    for noise in (0.1, 1.0, 3.0):
        values = bags.in_bag @ rng.standard_normal((bags.n_parts, 7))
        values += noise * rng.standard_normal((n_bags, 7))
        np.testing.assert_allclose(
            np.square(find_term_error(values, shares, bags)),
            regress_on_parts(values, shares, bags),
            rtol=1e-9,
        )


@pytest.mark.parametrize("noise", [0.0, 1.0, 4.0])
def test_noise_of_bags_does_not_widen_the_errors_of_their_mean(noise):
    """Tables whose parts have errors of variance 1, and noise in every bag."""
    bags, n_cells = design_for_terms(16), 20_000
    rng, shares = np.random.default_rng(0), np.full(n_cells, 1.0 / n_cells)
    weights = bags.in_bag / bags.in_bag.sum(axis=1, keepdims=True)
    values = weights @ rng.standard_normal((bags.n_parts, n_cells))
    values += np.sqrt(noise / bags.n_parts) * rng.standard_normal((16, n_cells))
    expected = (1.0 + noise / 16) / bags.n_parts
    assert np.square(find_standard_error(values)).mean() > (0.98 + 2.8 * noise) / bags.n_parts
    # Cells below the mean are raised half-way to it, by half the mean absolute deviation.
    squares = np.square(find_term_error(values, shares, bags))
    raised = np.maximum(squares, 0.0).mean()
    assert expected < raised < 1.2 * expected


def test_cells_that_no_bag_reached_get_half_of_the_terms_variance():
    values = np.random.default_rng(1).standard_normal((16, 4)) * [1.0, 1.0, 0.0, 0.0]
    errors = find_term_error(values, np.array([0.5, 0.25, 0.25, 0.0]), design_for_terms(16))
    assert errors[2] == errors[3] > 0.0
    # Cells of weight 0 count where their slices have weight.
    values = np.random.default_rng(2).standard_normal((16, 2, 2)) * np.eye(2)[::-1]
    errors = find_term_error(values, np.eye(2) / 2, design_for_terms(16))
    assert errors[0, 0] == errors[1, 1] > 0.0
    assert not find_term_error(np.zeros((16, 2)), np.full(2, 0.5), design_for_terms(16)).any()
