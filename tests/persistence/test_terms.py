"""Files keep the terms of trees, and the intercepts of bags; other fields are refused by name."""

import copy
import json

import numpy as np
import pytest

import properboost as pb
from helpers.documents import change


@pytest.fixture(scope="module")
def bagged_trees():
    """Return a model of bags of trees with terms of three features, and its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[rng.random((400, 4)) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2]) + rng.logistic(size=400) > 0).astype(int)
    learner = pb.Tree(interaction_cst=3, linear_leaves=True)
    model = pb.ProperBoostClassifier(
        weak_learner=learner, n_estimators=5, outer_bags=4, max_bins=20, random_state=0
    )
    return model.fit(X, y), X


@pytest.fixture(scope="module")
def document(bagged_trees, tmp_path_factory):
    """Return the JSON of its file."""
    path = tmp_path_factory.mktemp("files") / "model.json"
    bagged_trees[0].save_model(path)
    return json.loads(path.read_text("utf-8"))


def load(document, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document), "utf-8")
    return pb.load_model(path)


def test_a_loaded_model_has_the_same_terms_and_intervals(bagged_trees, document, tmp_path):
    model, X = bagged_trees
    loaded = load(document, tmp_path)
    assert loaded.terms_ == model.terms_
    for of_model in (
        lambda m: m.predict_interval(X),
        lambda m: m.contributions(X).values,
        lambda m: m.contributions(X).standard_errors,
        lambda m: m.contributions(X, by="term").values,
    ):
        np.testing.assert_array_equal(of_model(model), of_model(loaded))


def test_a_compact_file_keeps_them(bagged_trees, tmp_path):
    model, X = bagged_trees
    model.save_model(tmp_path / "model.json", compact=True)
    loaded = pb.load_model(tmp_path / "model.json")
    assert loaded.terms_ == model.terms_
    np.testing.assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))


def test_without_terms_contributions_are_by_path(bagged_trees, document, tmp_path):
    model, X = bagged_trees
    fewer = copy.deepcopy(document)
    del fewer["terms"]
    loaded = load(fewer, tmp_path)
    with pytest.raises(AttributeError, match="only if no path has more than three features"):
        _ = loaded.terms_
    contributions = loaded.contributions(X)
    total = contributions.baseline + contributions.values.sum(axis=1)
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("terms", 0, "features"), [1, 0], "two or three positions in ascending order"),
        (("terms", 0, "features"), [0, 99], "must hold integers"),
        (("terms", 0, "levels", 0, 0), 200, "levels, from 0 on without a gap"),
        (("terms", 0, "levels", 0), [0], "levels, from 0 on without a gap"),
        (("terms", 0, "cells", 0), 10**6, "must hold integers"),
        (("terms", 0, "cells"), [1, 0], "strictly ascending"),
        (("terms", 0, "weights", 0), 0.0, "numbers above 0"),
        (("terms",), [], "must have an entry for the features"),
        (("bag_intercepts",), [[], []], "4 to 64 entries"),
        (("bag_intercepts", 0), [1e301], "up to 1e"),
        (("models", 0, "bag", 0), 63, "an entry for every bag"),
        (("models", 0, "bag"), [0], "one per round"),
    ],
    ids=str,
)
def test_fields_are_checked(place, value, message, document, tmp_path):
    with pytest.raises(ValueError, match=rf"(?s)model\.json: .*{message}"):
        load(change(document, place, value), tmp_path)


def test_bags_need_both_fields(document, tmp_path):
    fewer = copy.deepcopy(document)
    del fewer["bag_intercepts"]
    with pytest.raises(ValueError, match="no bags without bag_intercepts"):
        load(fewer, tmp_path)


def test_files_have_the_parts_of_bags_where_they_are_fewer(bagged_trees, document, tmp_path):
    _, X = bagged_trees
    assert "bag_parts" not in document
    with pytest.raises(ValueError, match=r"bag_parts.* must be one of \[4\] with 4 bags"):
        load({**document, "bag_parts": 12}, tmp_path)
    y = np.nan_to_num(X[:, 0] * X[:, 1]) > 0
    model = pb.ProperBoostClassifier(
        weak_learner=pb.Tree(interaction_cst=2), n_estimators=3, outer_bags=16, max_bins=20
    ).fit(X, y)
    model.save_model(tmp_path / "model.json")
    newer = json.loads((tmp_path / "model.json").read_text("utf-8"))
    assert newer["bag_parts"] == 12
    errors = model.contributions(X, by="term").standard_errors
    loaded = load(newer, tmp_path)
    np.testing.assert_array_equal(loaded.contributions(X, by="term").standard_errors, errors)
    with pytest.raises(ValueError, match=r"must be one of \[12, 20\] with 16 bags"):
        load({**newer, "bag_parts": 16}, tmp_path)
    # Bags of 20 parts differ by their rows alone, so nothing is taken off.
    del newer["bag_parts"]
    assert np.all(load(newer, tmp_path).contributions(X, by="term").standard_errors < 10 * errors)
    fewer = {name: value for name, value in newer.items() if name != "bag_intercepts"}
    with pytest.raises(ValueError, match="bag_parts must be absent without bag_intercepts"):
        load({**fewer, "bag_parts": 12}, tmp_path)
