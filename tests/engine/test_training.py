"""Test the directions of features that the engine is given."""

import numpy as np
import pytest

from helpers.models import same_model
from helpers.trees import fit_tree, noisy

pd = pytest.importorskip("pandas")


def test_directions_by_position_and_by_name():
    X, y = noisy(d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    listed = fit_tree(frame, y, monotonic_cst=[1, 0, -1])
    assert not same_model(listed, fit_tree(frame, y))
    for directions in ({"a": 1, "c": -1}, {0: 1, "c": -1}, (1, 0, -1), np.array([1, 0, -1])):
        assert same_model(listed, fit_tree(frame, y, monotonic_cst=directions))
    for none in ([0, 0, 0], {}, {"b": 0}):
        assert same_model(fit_tree(frame, y), fit_tree(frame, y, monotonic_cst=none))


def test_directions_are_for_two_classes(iris):
    with pytest.raises(ValueError, match="monotonic_cst must be None with 3 classes"):
        fit_tree(*iris, monotonic_cst=[1, 0, 0, 0])
    assert same_model(fit_tree(*iris, monotonic_cst=[0, 0, 0, 0]), fit_tree(*iris))
