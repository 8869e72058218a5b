"""Importances, shape functions, and the terms of models."""

import numpy as np
import pytest

import properboost as pb
from properboost.report.effects import (
    is_additive,
    list_effects,
    list_pair_effects,
    list_terms,
)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).round(1)
    y = (X[:, 0] + 3.0 * X[:, 1] * np.sign(X[:, 0]) + rng.logistic(size=400) > 0.0).astype(int)
    return (
        pb.ProperBoostClassifier(
            n_estimators=20, interactions=1, outer_bags=4, weak_learner="table"
        ).fit(X, y),
        X,
        y,
    )


def test_terms_are_the_models(fitted):
    model = fitted[0]
    terms = list_terms(model)
    assert [term.importance for term in terms] == sorted(
        [*model.feature_importances_, *model.pair_importances_], reverse=True
    )
    by_place = {term.place: term for term in terms}
    assert by_place[3].is_pair
    assert by_place[3].name == "feature 0 and feature 1"
    assert by_place[1].error == model.importance_errors_[1]
    assert by_place[0].within_noise == model.shape_function(0).within_noise


def test_effects_are_the_shape_functions(fitted):
    model = fitted[0]
    features = [term for term in list_terms(model) if not term.is_pair]
    for effect in list_effects(model, features, 1, "ill"):
        j = effect.term.place
        for scale in ("log_odds", "probability"):
            expected = model.shape_function(j, 1, scale=scale).values
            np.testing.assert_array_equal(getattr(effect, scale).values, expected)
        assert "of ill" in effect.log_odds.axis_label
        assert effect.probability.class_label == "ill"
        assert effect.span == (fitted[1][:, j].min(), fitted[1][:, j].max())
    pairs = [term for term in list_terms(model) if term.is_pair]
    (pair,) = list_pair_effects(model, pairs, 1, "ill")
    assert "of ill" in pair.probability.axis_label
    expected = model.term_function((0, 1), 1, scale="log_odds").values
    np.testing.assert_array_equal(pair.log_odds.values, expected)


def test_several_classes_and_trees(fitted):
    _, X, y = fitted
    labels = np.where(X[:, 2] > 1.0, 2, y)
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, labels)
    trees = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=5).fit(X, labels)
    assert is_additive(model)
    assert is_additive(trees)
    listed = list_terms(trees)
    assert {term.is_pair for term in listed} == {False, True}
    features = [term.importance for term in listed if not term.is_pair]
    assert sum(features) == pytest.approx(1.0)  # with an equal share of joint terms
    assert list_terms(trees._compacted()) == listed
    for term in listed:  # a share of joint terms comes on top of a curve's own importance
        joint = [t for t in listed if t.is_pair and term.name in t.name.split(" and ")]
        if not term.is_pair:
            shares = sum(t.importance / len(t.name.split(" and ")) for t in joint)
            assert term.alone + shares == pytest.approx(term.importance)
        else:
            assert term.alone is None


def test_trees_of_longer_paths_have_the_importance_of_features_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = (X.prod(axis=1) + X.sum(axis=1) + rng.logistic(size=500) > 0.0).astype(int)
    learner = pb.Tree(max_leaf_nodes=31, max_features=1.0, min_child_weight=0.0)
    trees = pb.ProperBoostClassifier(weak_learner=learner, n_estimators=20).fit(X, y)
    assert not is_additive(trees)
    assert [term.importance for term in list_terms(trees)] == sorted(
        trees.feature_importances_, reverse=True
    )
    assert list_terms(trees._compacted()) == []  # which has no importances
