"""Conformity scores of classes."""

import struct

import numpy as np
import pytest
from scipy import stats

from properboost.conformal.scores import SCORES, draw_uniform


def draw_probabilities(n, n_classes, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.7), size=n)


def score_one(probability, u):
    """Return the APS scores of one row, class by class: Romano, Sesia and Candès (2020), eq. 5."""
    order = sorted(range(len(probability)), key=lambda k: (-probability[k], k))
    scores, before = np.empty(len(probability)), 0.0
    for k in order:
        scores[k] = before + (1.0 - u) * probability[k]
        before += probability[k]
    return scores


def test_aps_adds_up_the_larger_probabilities():
    probability = draw_probabilities(50, 5)
    probability[0] = 0.2  # ties
    uniform = np.random.default_rng(1).random(50)
    expected = [score_one(p, u) for p, u in zip(probability, uniform, strict=True)]
    np.testing.assert_allclose(SCORES["aps"](probability, uniform), expected, atol=1e-12)


def test_lac_is_the_probability():
    probability = draw_probabilities(5, 3)
    np.testing.assert_array_equal(SCORES["lac"](probability, np.zeros(5)), -probability)


@pytest.mark.parametrize("n_classes", [2, 26])
def test_numbers_from_bits_are_uniform_and_independent_of_the_probabilities(n_classes):
    probability = draw_probabilities(20_000, n_classes)
    uniform = draw_uniform(probability)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-3
    assert abs(stats.spearmanr(uniform, probability.max(axis=1)).statistic) < 4 / np.sqrt(20_000)
    assert abs(np.corrcoef(uniform[1:], uniform[:-1])[0, 1]) < 4 / np.sqrt(20_000)


def test_numbers_depend_on_the_row_alone_and_never_change():
    probability = draw_probabilities(30, 4)
    whole = draw_uniform(probability)
    np.testing.assert_array_equal(draw_uniform(np.asfortranarray(probability[7:9])), whole[7:9])
    assert draw_uniform(probability[:3]).tolist() == [mix_one(row) for row in probability[:3]]


def mix_one(row):
    """Return the number of a row by Python's whole numbers: SplitMix64 over the bits."""
    state, most = 0, 2**64 - 1
    for p in row:
        state = (state ^ struct.unpack("<Q", struct.pack("<d", p))[0]) + 0x9E3779B97F4A7C15 & most
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & most
        state = (state ^ state >> 27) * 0x94D049BB133111EB & most
        state ^= state >> 31
    return (state >> 11) * 2.0**-53
