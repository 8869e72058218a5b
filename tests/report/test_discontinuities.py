"""Ranges of equal points are merged; jumps that too few rows support are reported."""

from dataclasses import replace

import numpy as np
import pytest

import properboost as pb
from properboost.report import discontinuities
from properboost.report.content import Effect, Term
from properboost.report.discontinuities import (
    count_few,
    describe_jump,
    describe_largest_jump,
    list_discontinuities,
    list_plateaus,
)
from properboost.report.effects import list_effects, list_terms
from properboost.report.wording import precise


def tell(model):
    features = [term for term in list_terms(model) if not term.is_pair and term.importance > 0.0]
    effects = list_effects(model, features, 1, "so")
    return list_discontinuities(effects), effects


@pytest.mark.parametrize("max_cells", ["auto", None])
def test_smooth_features_of_many_rows_are_none(max_cells):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(20_000, 3))
    z = 3.0 * np.sin(2.0 * X[:, 0]) + X[:, 1] + rng.logistic(size=20_000)
    model = pb.ProperBoostClassifier(weak_learner=pb.Table(max_cells=max_cells)).fit(
        X, (z > 0.0).astype(int)
    )
    cautions, effects = tell(model)
    assert cautions == []
    ups = [np.ptp(effect.log_odds.values) for effect in effects]
    assert max(ups) > 4.0  # which is far more than a reported jump


def test_a_step_that_many_rows_support_is_none():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, size=(20_000, 1))
    z = np.where(X[:, 0] > 0.0, 2.5, -2.5) + rng.logistic(size=20_000)
    model = pb.ProperBoostClassifier(max_bins=20, weak_learner="table").fit(
        X, (z > 0.0).astype(int)
    )
    cautions, (effect,) = tell(model)
    assert np.abs(np.diff(effect.log_odds.values)).max() > 4.0
    assert cautions == []


def test_a_spike_of_few_rows_is_reported(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.integers(0, 10, 10_000), np.full(25, 20), rng.integers(30, 40, 10_000)])
    y = (rng.random(len(x)) < 0.3).astype(int)
    y[x == 20] = 1
    X = np.stack([x, rng.normal(size=len(x))], axis=1)
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, y)
    (caution,), effects = tell(model)
    (shape,) = (effect.log_odds for effect in effects if effect.term.place == 0)
    (shares,) = (effect.probability.values for effect in effects if effect.term.place == 0)
    k = int(shape.values.argmax())
    assert shape.weights[k] == 25.0
    assert len(caution.lines) == 2
    sides = sorted(
        ((shape.values[k] - shape.values[j], min(j, k)) for j in (k - 1, k + 1)), reverse=True
    )
    for line, (_, first) in zip(caution.lines, sides, strict=True):
        assert line.startswith("feature 0: ")
        assert f"{precise(shares[k])} at “{shape.labels[k]}” (25 rows)" in line
        other = first + 1 if first == k else first
        assert f"{precise(shares[other])} at" in line
        times = float(f"{np.exp(abs(shape.values[k] - shape.values[other])):.2g}")
        assert line.endswith(f"about {times:,.0f} times as {'high' if first < k else 'low'}")
        at = [line.index(f"“{shape.labels[j]}”") for j in (first, first + 1)]
        assert at == sorted(at)
    monkeypatch.setattr(discontinuities, "MOST_LINES", 1)
    (caution,), _ = tell(model)
    assert caution.lines[1:] == ("and 1 smaller jump of feature 0",)
    # A spike that is shrunk to the evidence of its rows needs no caution.
    restrained = pb.ProperBoostClassifier(
        weak_learner=pb.Table(max_cells=None), rows_per_bin=1
    ).fit(X, y)
    assert tell(restrained)[0] == []
    assert restrained.shape_function(0, 1, scale="log_odds").values[k] > 2.0


def test_how_many_times_the_odds_are_is_rounded():
    assert discontinuities._format_times(12.81) == "about 370,000 times as high"
    assert discontinuities._format_times(-2.2) == "about 9 times as low"
    assert discontinuities._format_times(50.0) == "more than 1,000,000,000 times as high"


pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(
        {"size": rng.integers(0, 6, 300), "kind": pandas.Categorical(rng.choice(["a", "b"], 300))}
    )
    return pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(
        X, rng.random(300) < X["size"] / 6
    )


def test_neighbours_of_the_same_points_are_put_together(model):
    shape = replace(
        model.shape_function("size"),
        values=np.array([1.0, 1.0, 2.0, 1.0, 1.0, 1.0]),
        weights=np.array([3.0, 4.0, 9.0, 20.0, 0.0, 1.0]),
    )
    plateaus = list_plateaus(shape)
    assert [(plateau.first, plateau.last) for plateau in plateaus] == [(0, 1), (2, 2), (3, 5)]
    assert [plateau.value for plateau in plateaus] == [1.0, 2.0, 1.0]
    assert [plateau.rows for plateau in plateaus] == [7.0, 9.0, 21.0]
    assert [plateau.label for plateau in plateaus] == ["<= 1.5", "1.5 to 2.5", "> 2.5"]
    assert count_few(shape, 10) == (2, 3)


def test_ranges_without_rows_divide_nothing_and_categories_are_apart(model):
    shape = replace(
        model.shape_function("size"),
        values=np.array([1.0, 7.0, 1.0, 8.0, 3.0, 9.0]),
        weights=np.array([3.0, 0.0, 4.0, 0.0, 9.0, 0.0]),
    )
    assert [(plateau.first, plateau.last, plateau.rows) for plateau in list_plateaus(shape)] == [
        (0, 2, 7.0),
        (4, 4, 9.0),
    ]
    kind = replace(model.shape_function("kind"), values=np.ones(2), weights=np.array([5.0, 50.0]))
    assert [plateau.label for plateau in list_plateaus(kind)] == ["a", "b"]
    assert count_few(kind, 10) == (1, 2)


def test_the_largest_jump_of_a_curve_has_its_place_and_size():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, size=(4000, 1))
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, rng.random(4000) < 0.5)
    shape = model.shape_function(0, scale="log_odds")
    values = 0.02 * np.arange(40.0)
    values[25:] -= 0.8
    rows = min(shape.weights[24], shape.weights[25])
    effect = make_effect(shape, values)
    assert describe_jump(effect) == (
        f"The largest jump is from 61.8% to 42.6% above 24.5, with at least {rows:,.0f} training "
        "rows on each side."
    )
    assert describe_largest_jump([make_effect(shape, 0.5 * values), effect]) == (
        "The largest jump of all curves, by its odds, is that of size: from 61.8% to 42.6% above "
        "24.5."
    )
    for other in (0.02 * np.arange(40.0), 1.0 * (np.arange(40) > 20)):  # even steps, and one step
        assert describe_jump(make_effect(shape, other)) == ""
        assert describe_largest_jump([make_effect(shape, other)]) == ""


def make_effect(shape, values):
    """Return an effect with these log-odds; its average row has a probability of 1/2."""
    shares = 1.0 / (1.0 + np.exp(-values))
    term = Term(0, "size", False, 1.0, None, None)
    return Effect(term, replace(shape, values=values), replace(shape, values=shares), None)
