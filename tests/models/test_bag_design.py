"""The design of bags: the parts that each leaves out, and the variance factor."""

import numpy as np
import pytest

from properboost.models.bag_design import LEVELS, design

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
