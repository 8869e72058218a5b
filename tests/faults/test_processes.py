"""Test children of processes whose threads fit."""

import multiprocessing

import pytest

from faults.processes import METHODS, start_children


@pytest.mark.parametrize("method", METHODS)
def test_children_give_the_bits_of_their_parent(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    children = 4 if method == "fork" else 1
    assert start_children(method, children) == children
