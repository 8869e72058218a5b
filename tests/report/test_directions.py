"""Sentences on the direction of a shape function are about what its curve does."""

from dataclasses import replace

import numpy as np
import pytest

import properboost as pb
from properboost.report.directions import describe_direction
from properboost.report.effects import list_effects, list_terms


def tell(function_of_x, noise=0.3, n=6000):
    """Fit a model to labels that depend on the first of two numbers; return what is said of it."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(n, 2)).round(1)
    y = (function_of_x(X[:, 0]) + noise * rng.logistic(size=n) > 0.0).astype(int)
    model = pb.ProperBoostClassifier().fit(X, y)
    (term,) = (own for own in list_terms(model) if own.place == 0)
    (effect,) = list_effects(model, [term], 1, "ill")
    return describe_direction(effect.log_odds)


@pytest.mark.parametrize(
    ("function_of_x", "words"),
    [
        (lambda x: x, "the higher the value, the more probable “ill”"),
        (lambda x: -x, "the higher the value, the less probable “ill”"),
        (lambda x: 1.0 - x**2, "“ill” is most probable around “"),
        (lambda x: x**2 - 1.0, "“ill” is least probable around “"),
        (lambda x: np.sin(6.0 * x), "no one direction"),
        (lambda x: x + 1.3 * np.sin(6.0 * x), "By and large, the higher the value, the more"),
    ],
)
def test_a_sentence_says_what_the_labels_do(function_of_x, words):
    said = tell(function_of_x)
    assert words.lower() in said.lower()
    assert said.endswith(".")


def test_a_turn_is_where_the_curve_turns():
    said = tell(lambda x: 1.0 - 2.0 * np.abs(x - 0.5))
    low, high = map(float, said.split("“")[2].split("”")[0].split(" to "))
    assert low - 0.3 <= 0.5 <= high + 0.3


def test_a_fall_beyond_a_clear_direction_is_told():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, size=(4000, 1))
    model = pb.ProperBoostClassifier().fit(X, rng.random(4000) < 0.2 + X[:, 0] / 60.0)
    shape = model.shape_function(0, scale="log_odds")
    x = np.arange(40.0)
    assert len(shape.values) == 40

    def tell_of(values):
        return describe_direction(replace(shape, values=values))

    assert tell_of(x) == "The higher the value, the more probable “True”."
    assert tell_of(-x) == "The higher the value, the less probable “True”."
    turned = np.where(x <= 35, x, 70.0 - x)
    end = "the {} probable “True”, up to about “34.5 to 35.5”; beyond it, {}."
    assert tell_of(turned) == f"On the whole, the higher the value, {end.format('more', 'less')}"
    assert tell_of(-turned) == f"On the whole, the higher the value, {end.format('less', 'more')}"
    wave = x + 0.6 * (-1.0) ** x  # nothing but steps back along the way
    assert tell_of(wave) == "On the whole, the higher the value, the more probable “True”."


def test_how_often_the_higher_value_has_more_points():
    said = tell(lambda x: x + 1.3 * np.sin(6.0 * x))
    share = int(said.split("points ")[-1].split("%")[0])
    assert 60 <= share <= 95


def test_categories_and_what_does_nothing():
    rng = np.random.default_rng(0)
    pandas = pytest.importorskip("pandas")
    kind = rng.choice(["a", "b", "c", "d"], 2000, p=[0.4, 0.3, 0.298, 0.002])
    y = rng.random(2000) < np.select([kind == "a", kind == "b"], [0.2, 0.8], 0.5)
    X = pandas.DataFrame({"kind": pandas.Categorical(kind), "nothing": np.zeros(2000)})
    model = pb.ProperBoostClassifier(n_estimators=20).fit(X, y)
    assert describe_direction(model.shape_function("kind", scale="log_odds")) == (
        "Of categories with 10 training rows or more, “True” is most probable with “b” and least "
        "with “a”."
    )
    assert describe_direction(model.shape_function("nothing", scale="log_odds")) == ""
