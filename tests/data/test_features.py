"""Test that features are found by position, name and type, and errors have their names."""

import numpy as np
import pytest

from helpers.frames import open_new
from properboost.data.features import find_categorical, find_feature

pd = pytest.importorskip("pandas")


@pytest.fixture
def mixed():
    return open_new(pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"]), "c": [0.5, 1.5]}))


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("from_dtype", ([1], True)),
        (None, ([], False)),
        ([], ([], False)),
        ([2, 0], ([0, 2], False)),
        (["c", 0, "c"], ([0, 2], False)),
        (np.array([2]), ([2], False)),
        (np.array(["a"]), ([0], False)),
        ([True, False, True], ([0, 2], False)),
        (np.array([False, False, True]), ([2], False)),
    ],
)
def test_categorical_features(mixed, listed, expected):
    assert find_categorical(listed, mixed) == expected


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("a", "from_dtype"),
        ([3], "between 0 and 2"),
        ([-1], "between 0 and 2"),
        ([0.5], "integer"),
        (["d"], r"'d' is unknown; X had \['a', 'b', 'c'\]"),
        ([True, False], "one entry per column of X, 3"),
        (1, "a list of positions or names, or a boolean mask; got 1"),
    ],
)
def test_bad_categorical_features(mixed, listed, message):
    with pytest.raises((TypeError, ValueError), match=f"categorical_features.*{message}"):
        find_categorical(listed, mixed)


def test_ambiguous_names_are_refused():
    with pytest.raises(ValueError, match="'a' is not unique"):
        find_feature("a", ["a", "b", "a"], 3)


def test_positions_are_those_of_the_table():
    assert [find_feature(j, ["a", "b", "c"], 3) for j in (0, 2)] == [0, 2]
    for beyond in (-1, 3):
        with pytest.raises(ValueError, match=f"feature must be .*2; got {beyond}"):
            find_feature(beyond, ["a", "b", "c"], 3)
