"""Test the limit on the joint terms of trees."""

import numpy as np
import pytest

import properboost as pb


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    raw = 6.0 * (X[:, :2] > 0.0).all(axis=1) + 5.0 * (X[:, 2:5] > 0.0).all(axis=1) + X[:, 5]
    y = (raw + rng.logistic(size=len(X)) > 1.0).astype(int) + (X[:, 5] > 1.0)
    return X, y


def fit(rows, max_terms, n_classes=2, **settings):
    X, y = rows
    fields = {"interaction_cst": 3, **settings.pop("fields", {})}
    tree = pb.Tree(max_terms=max_terms, **fields)
    model = pb.ProperBoostClassifier(weak_learner=tree, n_estimators=40, **settings)
    return model.fit(X, np.minimum(y, n_classes - 1))


def list_joint(model):
    return [term.features for term in model.terms_ if len(term.features) > 1]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fields": {"max_features": 0.5, "n_draws": 3}},
        {"outer_bags": 4},
        {"fields": {"grow_policy": "symmetric", "max_depth": 4, "linear_leaves": True}},
    ],
    ids=str,
)
@pytest.mark.parametrize("most", [0, 1, 4, 16])
def test_a_model_has_at_most_so_many_joint_terms(rows, most, settings, n_classes):
    model = fit(rows, most, n_classes, **settings)
    joint = list_joint(model)
    assert len(joint) <= most
    if most > 0:
        assert joint[0] == (0, 1)  # the strongest
    if most == 16:
        assert (2, 3, 4) in joint
    if "outer_bags" in settings:
        assert model.predict_interval(rows[0]).shape == (len(rows[0]), n_classes, 2)


def test_a_limit_that_is_not_reached_keeps_the_terms(rows):
    many, limited = fit(rows, None), fit(rows, 35)
    assert set(list_joint(limited)) <= set(list_joint(many)) | {*_list_pairs()}
    np.testing.assert_allclose(
        limited.predict_proba(rows[0]), many.predict_proba(rows[0]), atol=0.25
    )


def _list_pairs():
    return [(j, k) for k in range(6) for j in range(k)]


def test_validation_rows_files_and_clones(rows, tmp_path):
    X, y = rows
    model = fit((X[:1000], y[:1000]), 4, early_stopping=True)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.weak_learner == model.weak_learner
    assert loaded.weak_learner.max_terms == 4


def test_what_is_refused(rows):
    with pytest.raises(ValueError, match=r"max_terms must be None with more than 3 features on a"):
        fit(rows, 4, fields={"interaction_cst": None})
    with pytest.raises(ValueError, match=r"max_terms must be None where features of no set"):
        fit(rows, 4, fields={"interaction_cst": [[0, 1]], "max_leaf_nodes": 16})
    with pytest.raises(ValueError, match=r"max_terms must be between 0 and 2147483647, or None"):
        fit(rows, -1)
    X, y = rows
    model = fit(rows, 4, warm_start=True)
    with pytest.raises(ValueError, match=r"warm_start must be False with Tree\.max_terms"):
        model.set_params(n_estimators=50).fit(X, np.minimum(y, 1))
    tree = pb.Tree(interaction_cst=3, max_terms=4)
    with pytest.raises(ValueError, match=r"max_terms must be None in a search"):
        pb.ProperBoostClassifierCV(space={"weak_learner": tree}, effort=1).fit(X, y)
