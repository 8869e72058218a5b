"""Sentences on the direction of a shape function agree with its curve."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import properboost as pb
from properboost.report.directions import describe_direction as describe_shape
from properboost.report.effects import list_effects, list_terms


def describe_direction(shape):
    """Return the sentence on a curve; its average row has a probability of 1/2."""
    return describe_shape(shape, 1.0 / (1.0 + np.exp(-shape.values)))


def tell(function_of_x, noise=0.3, n=6000):
    """Fit labels that depend on the first of two numbers; return the sentence on its direction."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(n, 2)).round(1)
    y = (function_of_x(X[:, 0]) + noise * rng.logistic(size=n) > 0.0).astype(int)
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, y)
    (term,) = (candidate for candidate in list_terms(model) if candidate.place == 0)
    (effect,) = list_effects(model, [term], 1, "ill")
    return describe_direction(effect.log_odds)


@pytest.mark.parametrize(
    ("function_of_x", "words"),
    [
        (lambda x: x, "the higher the value, the more probable “ill”"),
        (lambda x: -x, "the higher the value, the less probable “ill”"),
        (lambda x: 1.0 - x**2, "“ill” is most probable around “"),
        (lambda x: x**2 - 1.0, "“ill” is least probable around “"),
        (lambda x: np.sin(6.0 * x), "no single direction"),
        (lambda x: x + 1.3 * np.sin(6.0 * x), "By and large, the higher the value, the more"),
    ],
)
def test_a_sentence_agrees_with_the_labels(function_of_x, words):
    sentence = tell(function_of_x)
    assert words.lower() in sentence.lower()
    assert sentence.endswith(".")


def test_a_turn_is_where_the_curve_turns():
    sentence = tell(lambda x: 1.0 - 2.0 * np.abs(x - 0.5))
    low, high = map(float, sentence.split("“")[2].split("”")[0].split(" to "))
    assert low - 0.3 <= 0.5 <= high + 0.3


def test_a_fall_beyond_a_clear_direction_is_described():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, size=(4000, 1))
    model = pb.ProperBoostClassifier(weak_learner="table").fit(
        X, rng.random(4000) < 0.2 + X[:, 0] / 60.0
    )
    shape = model.shape_function(0, scale="log_odds")
    x = np.arange(40.0)
    assert len(shape.values) == 40

    def tell_of(values):
        return describe_direction(replace(shape, values=values))

    assert tell_of(x) == "The higher the value, the more probable “True”."
    assert tell_of(-x) == "The higher the value, the less probable “True”."
    turned = np.where(x <= 35, x, 70.0 - x)
    end = (
        "the {0} probable “True”, up to about “34.5 to 35.5”; beyond that it is {1} probable than "
    )
    end += "there."
    assert tell_of(turned) == f"On the whole, the higher the value, {end.format('more', 'less')}"
    assert tell_of(-turned) == f"On the whole, the higher the value, {end.format('less', 'more')}"
    wave = x + 0.6 * (-1.0) ** x  # nothing but steps back along the way
    assert tell_of(wave) == "On the whole, the higher the value, the more probable “True”."


@pytest.mark.parametrize("n_steps", [2, 3, 4, 5])
def test_rough_steps_are_those_of_the_curve(n_steps):
    rng = np.random.default_rng(n_steps)
    X = rng.integers(0, 40, size=(4000, 1))
    model = pb.ProperBoostClassifier(weak_learner="table").fit(
        X, rng.random(4000) < 0.2 + X[:, 0] / 60.0
    )
    shape = model.shape_function(0, scale="log_odds")
    cuts = np.sort(rng.choice(np.arange(2, 39), n_steps - 1, replace=False))
    level = 3.0 * (-1.0) ** np.arange(n_steps) + rng.normal(size=n_steps)
    values = level[np.searchsorted(cuts, np.arange(40), side="right")]
    sentence = describe_direction(replace(shape, values=values + 0.01 * rng.normal(size=40)))
    if n_steps < 4:  # it rises or falls only once
        assert "rough" not in sentence
        return
    ends = [f"{cut - 0.5:g}" for cut in cuts]
    names = [f"<= {ends[0]}", *map(" to ".join, pairwise(ends)), f"> {ends[-1]}"]
    for name, value in zip(names, level, strict=True):
        (printed,) = re.findall(rf"([\d.]+)% at “{name}”", sentence)
        share = 1.0 / (1.0 + np.exp(-value))
        assert abs(float(printed) - 100.0 * share) < 0.5


def test_categories_and_what_does_nothing():
    rng = np.random.default_rng(0)
    pandas = pytest.importorskip("pandas")
    kind = rng.choice(["a", "b", "c", "d"], 2000, p=[0.4, 0.3, 0.29, 0.01])
    y = rng.random(2000) < np.select([kind == "a", kind == "b"], [0.2, 0.8], 0.5)
    X = pandas.DataFrame({"kind": pandas.Categorical(kind), "nothing": np.zeros(2000)})
    model = pb.ProperBoostClassifier(n_estimators=20, weak_learner="table").fit(X, y)
    shape = model.shape_function("kind", scale="log_odds")
    end = "(of categories with 100 training rows or more)."
    assert describe_direction(shape) == (
        f"All else equal, “True” is most probable with “b” and least with “a” {end}"
    )
    tied = replace(shape, values=np.array([1.0, 2.0, 1.0, 3.0]))
    assert describe_direction(tied) == (
        f"All else equal, “True” is most probable with “b” and least with “a” and “c” {end}"
    )
    assert describe_direction(model.shape_function("nothing", scale="log_odds")) == ""


def test_a_direction_that_is_small_beside_its_ups_and_downs_is_none():
    """The rising share is .7, as of ADULT's fnlwgt, but the curve goes a seventh of its way."""
    rng = np.random.default_rng(0)
    x = np.linspace(-1.0, 1.0, 200)
    X = np.repeat(x, 20)[:, None]
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, rng.random(len(X)) < 0.5)
    shape = model.shape_function(0, scale="log_odds")
    x = np.linspace(-1.0, 1.0, len(shape.values))
    small = 0.15 * x + 0.06 * rng.choice([-1.0, 1.0], len(x))
    sentence = describe_direction(replace(shape, values=small))
    assert sentence.startswith(
        "There is no single direction: “True” becomes more and less probable in turn, between 4"
    )
    slow = 0.15 * x + 0.1 * np.sin(6.0 * x)
    assert describe_direction(replace(shape, values=slow)).startswith("By and large, the higher")
