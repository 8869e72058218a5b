"""Test intervals: numbers taken directly from bags, and functions that may be chance."""

import numpy as np
import pytest
from scipy import stats

import properboost as pb
from properboost.inspection.intervals import NOISE_LEVEL, count_errors
from properboost.models.bag_design import design

N_BAGS = 16


@pytest.fixture(scope="module")
def rows():
    """Return an effect with gaps, a category, and noise; the first and last column interact."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3)).round(1)
    X[:, 1] = rng.integers(0, 4, 600)
    y = X[:, 0] * (1 + (X[:, 2] > 0)) + (X[:, 1] == 2) + rng.logistic(size=600) > 0
    X[::15, 0] = np.nan
    return X, y


@pytest.fixture(scope="module")
def model(rows):
    settings = {"n_estimators": 20, "categorical_features": [1], "interactions": [(0, 2)]}
    return pb.ProperBoostClassifier(outer_bags=N_BAGS, **settings).fit(*rows)


def spread_of(values):
    """Return the standard error over bags: 3 / 16 of the squared deviations."""
    values = np.stack(values)
    return np.sqrt(3 / N_BAGS * np.square(values - values.mean(axis=0)).sum(axis=0))


def explain_bags(model, X):
    """Yield the contributions that each bag alone makes."""
    for bag in model.ensemble_.standard_errors.bags:
        alone = pb.ProperBoostClassifier(weak_learner="table")
        alone.__dict__.update(model.__dict__, ensemble_=bag)
        yield alone.contributions(X).values


def test_a_reach_is_students(rows):
    assert count_errors(N_BAGS, 0.9) == pytest.approx(stats.t(N_BAGS - 1).ppf(0.95))
    assert design(N_BAGS).variance_factor == pytest.approx(3 / N_BAGS)
    for level in (0.0, 1.0, -0.5, np.nan):
        with pytest.raises(ValueError, match="confidence_level"):
            count_errors(N_BAGS, level)


def test_contributions_have_the_bags_errors(model, rows):
    X = rows[0][:50]
    contributions = model.contributions(X)
    bags = list(explain_bags(model, X))
    np.testing.assert_allclose(contributions.values, np.mean(bags, axis=0), atol=1e-12)
    np.testing.assert_allclose(contributions.standard_errors, spread_of(bags), atol=1e-12)
    low, high = contributions.interval(0.8)
    reach = stats.t(N_BAGS - 1).ppf(0.9) * contributions.standard_errors
    np.testing.assert_allclose(low, contributions.values - reach)
    np.testing.assert_allclose(high, contributions.values + reach)
    assert contributions.n_bags == N_BAGS


def test_those_of_a_row_are_its_functions_errors(model, rows):
    X = rows[0][:50]
    X = X[~np.isnan(X[:, 0])]
    contributions = model.contributions(X)
    shape, pair = model.shape_function(0), model.term_function((0, 2))
    errors = shape.standard_errors[np.searchsorted(shape.edges, X[:, 0])]
    np.testing.assert_array_equal(contributions.standard_errors[:, 0], errors)
    low, high = shape.interval()
    np.testing.assert_allclose(high - low, 2 * count_errors(N_BAGS, 0.9) * shape.standard_errors)
    assert pair.interval()[0].shape == pair.values.shape == pair.standard_errors.shape
    assert set(contributions.standard_errors[:, 3]) <= set(pair.standard_errors.ravel())
    opposite = model.contributions(X, False)
    np.testing.assert_array_equal(opposite.standard_errors, contributions.standard_errors)
    np.testing.assert_array_equal(opposite.interval()[0], -contributions.interval()[1])


def test_an_effect_is_within_its_noise_or_not(model, rows):
    shapes = [model.shape_function(j) for j in range(3)]
    p_values = [shape.p_value for shape in (*shapes, model.term_function((0, 2)))]
    assert [shape.within_noise for shape in shapes] == [p > NOISE_LEVEL for p in p_values[:3]]
    assert not shapes[0].within_noise
    contributions = model.contributions(rows[0][:1])
    np.testing.assert_array_equal(contributions.p_values, p_values)
    np.testing.assert_array_equal(contributions.within_noise, np.array(p_values) > NOISE_LEVEL)


def test_a_feature_that_no_bag_takes_is_within_its_noise():
    X = np.column_stack([np.arange(80.0), np.ones(80)])
    model = pb.ProperBoostClassifier(n_estimators=3, outer_bags=4, weak_learner="table").fit(
        X, np.arange(80) % 8 > 3
    )
    shape = model.shape_function(1)
    assert (shape.p_value, shape.within_noise) == (1.0, True)
    assert not shape.standard_errors.any()


def test_without_bags_there_are_none(rows):
    X, y = rows
    model = pb.ProperBoostClassifier(
        n_estimators=3, interactions=[(0, 2)], weak_learner="table"
    ).fit(X, y)
    for explained in (model.shape_function(0), model.term_function((0, 2)), model.contributions(X)):
        assert explained.standard_errors is None
        assert explained.within_noise is None
        assert explained.n_bags == 0
        with pytest.raises(ValueError, match="fitted with outer_bags"):
            explained.interval()
