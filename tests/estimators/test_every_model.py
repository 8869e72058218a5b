"""Test invariants of every model: each weak learner under each loss and response."""

import functools
import pickle
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone

import properboost as pb
from helpers.engine import assert_identical, problem, train
from helpers.models import LEARNERS, assert_same, same_model
from properboost import _core
from properboost.parameters.learners import make_learner

pd = pytest.importorskip("pandas")


def every_model(test, learners=LEARNERS):
    """Run a test of each weak learner under each loss; both meet every response in turn."""
    responses = _core.response_names()
    choices = [
        (learner, loss, responses[(i + k) % len(responses)])
        for i, learner in enumerate(learners)
        for k, loss in enumerate(_core.loss_names())
    ]
    return pytest.mark.parametrize(("learner", "loss", "response"), choices)(test)


def make_model(learner, loss, response):
    settings = {"n_estimators": 4, "max_bins": 8, "gain": 0.8, "response": response}
    model = pb.ProperBoostClassifier(loss, **settings, **LEARNERS[learner])
    if make_learner(model.weak_learner).is_grown:
        model.set_params(weak_learner__min_child_weight=0.1)
    return model


@cache
def make_table(n=120, seed=0):
    """Return numbers, two categories, missing values; labels; and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "town": pd.Categorical(rng.choice(["Bonn", "Kiel", "Ulm"], n)),
            "visits": rng.poisson(3, n).astype(float),
            "class": pd.Categorical(rng.choice(["first", "second"], n)),
        }
    )
    raw = 0.1 * (frame["age"] - 40) + (frame["town"] == "Ulm") * (frame["visits"] - 2)
    y = np.where(raw + rng.logistic(size=n) > 0, "yes", "no")
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "town"] = None
    return frame, y, rng.integers(0, 4, n).astype(float)


@cache
def fitted(learner, loss, response):
    X, y, weight = make_table()
    return make_model(learner, loss, response).fit(X, y, weight)


def splits_of(model):
    """Return the features of the rounds and, of trees, all branches and weights of nodes."""
    splits = [model.history_["feature"]]
    for rounds in model.ensemble_.models:
        splits += (
            []
            if rounds.trees is None
            else [
                getattr(rounds.trees, name)
                for name in ("feature", "left", "goes_left", "goes_right", "weight")
            ]
        )
    return splits


@cache
def strange_rows():
    """Return the training rows, and rows with values and gaps that training never had."""
    X, _, _ = make_table()
    strange = X.astype({"town": object, "class": object})
    strange.loc[::3, "town"] = "Rome"
    strange.loc[1::3, "class"] = None
    strange.loc[2::3, "class"] = "third"
    strange.loc[::4, "visits"] = np.nan
    strange.loc[::5, "age"] = np.inf
    rows = pd.concat([X.astype(strange.dtypes), strange], ignore_index=True)
    return rows.astype({"town": "category", "class": "category"})


# -- repeatability --------------------------------------------------------------------------------


SINGLE_FEATURES = [name for name, settings in LEARNERS.items() if "interactions" not in settings]


@functools.partial(every_model, learners=SINGLE_FEATURES)
def test_threads_give_the_same_bits(learner, loss, response):
    # With this many rows, threads share the loops over rows and over a node's rows.
    codes, features, _, y = problem(2, n=40_000)
    weight = np.random.default_rng(2).uniform(0.5, 2, len(y))
    settings = {"gain": 0.4, "response": response, "n_estimators": 2, **LEARNERS[learner]}
    part = make_learner(settings.get("weak_learner", "table"))
    settings["weak_learner"] = part.name
    defaults = type(part)().get_params()
    settings |= {name: v for name, v in part.get_params().items() if v != defaults[name]}
    one, *others = (
        train(codes, features, y, weight, loss=loss, n_threads=n, **settings) for n in (1, 2, 3)
    )
    for other in others:
        assert_identical(one, other)


# -- weights --------------------------------------------------------------------------------------


@every_model
def test_weights_are_frequencies(learner, loss, response):
    X, y, weight = make_table()
    rows = np.repeat(np.arange(len(X)), weight.astype(int))  # rows of weight 0 are dropped
    weighted = fitted(learner, loss, response)
    repeated = clone(weighted).fit(X.iloc[rows], y[rows])
    for one, other in zip(splits_of(weighted), splits_of(repeated), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-5, atol=1e-6
    )
    for a, b in zip(weighted.ensemble_.bin_weights, repeated.ensemble_.bin_weights, strict=True):
        np.testing.assert_array_equal(a, b)


@every_model
def test_a_row_of_weight_zero_is_no_row(learner, loss, response):
    X, y, weight = make_table()
    counted = weight > 0
    weighted = fitted(learner, loss, response)
    # Its label and values do not matter either.
    wild_y = np.where(counted, y, "another class")
    wild_X = X.assign(visits=np.where(counted, X["visits"], np.nan))
    assert same_model(weighted, clone(weighted).fit(wild_X, wild_y, weight))
    assert same_model(weighted, clone(weighted).fit(X[counted], y[counted], weight[counted]))


# -- values that training never had ---------------------------------------------------------------


@every_model
def test_unseen_values_add_only_a_constant(learner, loss, response):
    """A table adds 0, a tree the mean of what it adds to training rows, and no rule holds."""
    rng = np.random.default_rng(0)
    n = 90
    codes = rng.integers(0, 3, n)
    y = rng.random(n) < np.array([0.15, 0.6, 0.8])[codes]
    weight = rng.integers(1, 4, n).astype(float)
    for column, new in (
        (codes + rng.random(n), [np.nan]),
        (pd.Categorical.from_codes(codes, list("abc")), pd.Categorical(["new", None])),
    ):
        model = make_model(learner, loss, response).fit(pd.DataFrame({"x": column}), y, weight)
        raw = model.decision_function(pd.DataFrame({"x": column}))
        assert len(set(raw)) > 1
        expected = model.intercept_
        if learner.endswith("tree"):
            expected = np.average(raw, weights=weight)
        elif learner == "rule":
            expected = model.intercept_ + sum(rule.otherwise for rule in model.rules())
        unseen = model.decision_function(pd.DataFrame({"x": new}))
        np.testing.assert_allclose(unseen, expected, rtol=1e-9, atol=1e-12)


@every_model
def test_stages_end_in_the_decision_on_all_rows(learner, loss, response):
    """Both add up rounds by different code, and must agree on strange rows, too."""
    model, X = fitted(learner, loss, response), strange_rows()
    stages = list(model.staged_decision_function(X))
    raw = model.decision_function(X)
    assert len(stages) == model.n_iter_ > 0
    assert np.isfinite(raw).all()
    np.testing.assert_allclose(stages[-1], raw, rtol=1e-12, atol=1e-12)
    first = clone(model).set_params(n_estimators=1, interactions=0).fit(*make_table())
    expected = first.decision_function(X) - first.intercept_ + model.intercept_
    np.testing.assert_allclose(stages[0], expected, rtol=1e-12, atol=1e-12)


# -- files and pickles ---------------------------------------------------------------------------


@every_model
def test_files_and_pickles_hold_the_same_model(learner, loss, response, tmp_path):
    model, X = fitted(learner, loss, response), strange_rows()
    model.save_model(tmp_path / "model.json")
    assert_same(model, pb.load_model(tmp_path / "model.json"), X)
    assert_same(model, pickle.loads(pickle.dumps(model)), X)
