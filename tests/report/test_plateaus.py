"""Ranges of the same points are one."""

from dataclasses import replace

import numpy as np
import pytest

import properboost as pb
from properboost.report.plateaus import count_few, list_plateaus

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(
        {"size": rng.integers(0, 6, 300), "kind": pandas.Categorical(rng.choice(["a", "b"], 300))}
    )
    return pb.ProperBoostClassifier(n_estimators=5).fit(X, rng.random(300) < X["size"] / 6)


def test_neighbours_of_the_same_points_are_put_together(model):
    shape = replace(
        model.shape_function("size"),
        values=np.array([1.0, 1.0, 2.0, 1.0, 1.0, 1.0]),
        weights=np.array([3.0, 4.0, 9.0, 20.0, 0.0, 1.0]),
    )
    found = list_plateaus(shape)
    assert [(own.first, own.last) for own in found] == [(0, 1), (2, 2), (3, 5)]
    assert [own.value for own in found] == [1.0, 2.0, 1.0]
    assert [own.rows for own in found] == [7.0, 9.0, 21.0]
    assert [own.label for own in found] == ["<= 1.5", "1.5 to 2.5", "> 2.5"]
    assert count_few(shape, 10) == (2, 3)


def test_ranges_without_rows_divide_nothing_and_categories_are_apart(model):
    shape = replace(
        model.shape_function("size"),
        values=np.array([1.0, 7.0, 1.0, 8.0, 3.0, 9.0]),
        weights=np.array([3.0, 0.0, 4.0, 0.0, 9.0, 0.0]),
    )
    assert [(own.first, own.last, own.rows) for own in list_plateaus(shape)] == [
        (0, 2, 7.0),
        (4, 4, 9.0),
    ]
    kind = replace(model.shape_function("kind"), values=np.ones(2), weights=np.array([5.0, 50.0]))
    assert [own.label for own in list_plateaus(kind)] == ["a", "b"]
    assert count_few(kind, 10) == (1, 2)
