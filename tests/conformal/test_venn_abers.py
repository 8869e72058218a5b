"""Venn-Abers pairs: isotonic regressions with the new row, one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from helpers.venn_abers_package import find_pairs_by_package
from properboost.conformal.venn_abers import VennAbersTable, merge

rows = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=15)


def find_pair_by_definition(scores, positive, score):
    """Return p0 and p1 of one score: the new row joins as a negative, and as a positive."""
    return [
        IsotonicRegression()
        .fit(np.append(scores, score), np.append(positive, label).astype(float))
        .predict([score])[0]
        for label in (0, 1)
    ]


@settings(max_examples=40, deadline=None)
@given(rows=rows, others=st.lists(st.integers(-1, 25), max_size=5))
def test_they_are_isotonic_regressions_with_the_new_row(rows, others):
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    scores = scores / 12  # with ties
    new = np.concatenate([scores, np.array(others) / 24])  # ties, between, and beyond
    pairs = np.stack(VennAbersTable.of(scores, positive).find_pairs(new), axis=1)
    expected = [find_pair_by_definition(scores, positive, score) for score in new]
    np.testing.assert_allclose(pairs, expected, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(rows=rows)
def test_they_are_ordered_and_rise(rows):
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    p0, p1 = VennAbersTable.of(scores / 12, positive).find_pairs(np.linspace(-0.1, 1.1, 99))
    assert np.all(p0 < p1)
    assert np.all(np.diff(p0) >= 0.0)
    assert np.all(np.diff(p1) >= 0.0)
    merged = merge(p0, p1)
    assert np.all((p0 <= merged) & (merged <= p1) & (merged > 0.0) & (merged < 1.0))


@pytest.mark.parametrize("digits", [1, 2, 17])
def test_they_are_those_of_the_package(digits):
    rng = np.random.default_rng(digits)
    scores = rng.random(800).round(digits)
    positive = rng.random(800) < scores**2
    new = np.concatenate([rng.random(300).round(digits), scores[:50], [0.0, 1.0]])
    pairs = np.stack(VennAbersTable.of(scores, positive).find_pairs(new), axis=1)
    merged, expected = find_pairs_by_package(scores, positive, new)
    np.testing.assert_allclose(pairs, expected, atol=1e-9)
    np.testing.assert_allclose(merge(*pairs.T), merged, atol=1e-9)


def test_the_merged_probability_has_the_same_regret_against_both_ends():
    p0, p1 = np.array([0.1, 0.3, 0.0]), np.array([0.2, 0.9, 0.5])
    p = merge(p0, p1)
    np.testing.assert_allclose(np.log(p1 / p), np.log((1.0 - p0) / (1.0 - p)), atol=1e-12)
