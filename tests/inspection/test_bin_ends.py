"""Test the ends of bins in a picture."""

import numpy as np

from properboost.inspection.bin_ends import find_bin_ends


def test_outer_bins_end_a_little_beyond_the_edges():
    ends, bins = find_bin_ends(np.array([0.0, 50.0, 100.0]))
    assert ends.tolist() == [-4.0, 0.0, 50.0, 100.0, 104.0]
    assert np.arange(4)[bins].tolist() == [0, 1, 2, 3]


def test_one_edge_and_none():
    ends, bins = find_bin_ends(np.array([3.0]))
    assert ends.tolist() == [2.5, 3.0, 3.5]
    assert np.arange(2)[bins].tolist() == [0, 1]
    ends, bins = find_bin_ends(np.empty(0))
    assert ends.tolist() == [0.0, 1.0]
    assert np.arange(1)[bins].tolist() == [0]


def test_infinite_values_are_left_out():
    largest = np.finfo(np.float64).max
    ends, bins = find_bin_ends(np.array([-largest, 0.0, 1.0, largest]))
    assert ends.tolist() == [-0.04, 0.0, 1.0, 1.04]
    assert np.arange(5)[bins].tolist() == [1, 2, 3]
