"""Models to draw, and axes that are closed again."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from helpers.pictures import table
from properboost import ProperBoostClassifier

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.figure().add_subplot()


@pytest.fixture(scope="module")
def clf():
    X, y = table()
    return ProperBoostClassifier(
        n_estimators=20, categorical_features=[1], weak_learner="table"
    ).fit(X, y)


@pytest.fixture(scope="module")
def bagged():
    X, y = table()
    settings = {"n_estimators": 20, "categorical_features": [1], "interactions": [(0, 2)]}
    return ProperBoostClassifier(outer_bags=8, **settings).fit(X, y)


@pytest.fixture(scope="module")
def three_classes():
    X, _ = table()
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 2], [-0.5, 0.5])]
    return ProperBoostClassifier(
        n_estimators=7, categorical_features=[1], weak_learner="table"
    ).fit(X, y)
