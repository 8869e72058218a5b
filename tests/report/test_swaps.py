"""How many rows another value of one feature would turn."""

import numpy as np
import pytest

import properboost as pb
from properboost.report import swaps
from properboost.report.found import Grouping
from properboost.report.swaps import add_swaps

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m", "x"], 400)
    X = pandas.DataFrame(
        {
            "sex": pandas.Categorical(sex),
            "age": rng.integers(20, 60, 400),
            "size": rng.normal(size=400),
        }
    )
    y = 2.0 * (sex == "m") + X["age"] / 20.0 + X["size"] + rng.logistic(size=400) > 3.0
    return pb.ProperBoostClassifier(n_estimators=30).fit(X, y), X


def group(name, is_used=True):
    return Grouping(name, is_used, (), ())


def count(model, X, name, values):
    """Return the share of the rows that any of these values turns."""
    before = model.predict(X)
    others = [X.assign(**{name: value}).astype(X.dtypes) for value in values]
    return np.any([model.predict(other) != before for other in others], axis=0).mean()


def test_rows_are_predicted_with_every_other_value(fitted):
    model, X = fitted
    asked = [group("age"), group("sex"), group("size", is_used=False), group("sex and age")]
    age, sex, size, both = add_swaps(model, X, asked, len(X))
    assert sex.turned == count(model, X, "sex", ["f", "m", "x"])
    assert 0.05 < sex.turned < 0.95
    ages = np.unique(np.quantile(X["age"], np.arange(0.05, 1.0, 0.1), method="nearest"))
    assert age.turned == count(model, X, "age", ages)
    assert size.turned is None
    assert both.turned is None


def test_of_many_rows_some_are_taken_and_of_many_values_the_most_frequent(fitted, monkeypatch):
    model, X = fitted
    monkeypatch.setattr(swaps, "MOST_ROWS", 50)
    monkeypatch.setattr(swaps, "MOST_VALUES", 2)
    (found,) = add_swaps(model, X, [group("sex")], len(X))
    some = X.iloc[np.linspace(0, 399, 50).astype(int)]
    assert found.turned == count(model, some, "sex", X["sex"].value_counts().index[:2])


def test_one_value_turns_nothing(fitted):
    model, X = fitted
    (found,) = add_swaps(model, X[X["sex"] == "m"], [group("sex")], int((X["sex"] == "m").sum()))
    assert found.turned is None
