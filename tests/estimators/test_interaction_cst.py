"""Test limits on the features that share a path of a tree."""

import numpy as np
import pytest

import properboost as pb

pd = pytest.importorskip("pandas")

NAMES = ["age", "hours", "income", "town", "years"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1500, 5)), columns=NAMES)
    X["town"] = pd.Categorical(rng.integers(0, 6, len(X)))
    score = X["age"] * X["hours"] * X["income"] + (X["town"].cat.codes == 2) * X["years"]
    y = (score + rng.logistic(size=len(X)) > 0.0) + (X["years"] > 1.0)
    return X, y.to_numpy()


def list_paths(model):
    """Return the features of each path from a root to a leaf, of all trees."""
    paths = []
    for rounds in model.ensemble_.models:
        for begin, end in zip(rounds.offsets[:-1], rounds.offsets[1:], strict=True):
            feature, left = rounds.trees.feature[begin:end], rounds.trees.left[begin:end]
            on_path = {0: frozenset()}
            for node in range(end - begin):  # children come after their parents
                if feature[node] < 0:
                    paths.append(on_path[node])
                else:
                    joined = on_path[node] | {int(feature[node])}
                    on_path |= dict.fromkeys((int(left[node]), int(left[node]) + 1), joined)
    return paths


def fit(rows, interaction_cst, n_classes=2, **fields):
    X, y = rows
    tree = pb.Tree(interaction_cst=interaction_cst, **fields)
    model = pb.ProperBoostClassifier(weak_learner=tree, n_estimators=20, learning_rate=0.3)
    return model.fit(X, np.minimum(y, n_classes - 1))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "fields",
    [
        {"max_leaf_nodes": 16},
        {"max_leaf_nodes": 16, "max_features": 0.5, "subsample": 0.7},
        {"max_leaf_nodes": 16, "linear_leaves": True},
        {"grow_policy": "symmetric", "max_depth": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_path_has_at_most_so_many_features(rows, n_classes, fields, most):
    model = fit(rows, most, n_classes, **fields)
    sizes = [len(features) for features in list_paths(model)]
    assert max(sizes) == most
    unlimited = fit(rows, None, n_classes, **fields)
    assert max(len(features) for features in list_paths(unlimited)) > most


@pytest.mark.parametrize(("word", "number"), [("no_interactions", 1), ("pairwise", 2)])
def test_words_stand_for_numbers(rows, word, number):
    raw = fit(rows, word, max_leaf_nodes=8).decision_function(rows[0])
    np.testing.assert_array_equal(
        raw, fit(rows, number, max_leaf_nodes=8).decision_function(rows[0])
    )


@pytest.mark.parametrize("fields", [{"max_leaf_nodes": 16}, {"grow_policy": "symmetric"}], ids=str)
@pytest.mark.parametrize("sets", [[["age", "hours"], ["town", 4]], [{0, 1}, (3, 4)]], ids=str)
def test_features_interact_within_a_set_only(rows, sets, fields):
    """The features of no set, here income, are one more set."""
    paths = set(list_paths(fit(rows, sets, **fields)))
    assert all(path <= {0, 1} or path <= {2} or path <= {3, 4} for path in paths)
    assert {frozenset({0, 1}), frozenset({2})} <= paths


def test_a_model_without_interactions_is_a_sum_of_functions_of_one_feature(rows):
    X, _ = rows
    model = fit(rows, "no_interactions", max_leaf_nodes=8)
    base = X.iloc[[0] * len(X)].reset_index(drop=True)
    at_base = model.decision_function(base)
    moved = [model.decision_function(base.assign(**{name: X[name]})) for name in NAMES]
    total = at_base + sum(raw - at_base for raw in moved)
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (0, ValueError, "interaction_cst must be between 1 and"),
        ("triples", ValueError, "interaction_cst must be"),
        (2.0, TypeError, "an integer of at least 1, 'no_interactions', 'pairwise', a list of sets"),
        ({"age": 1}, TypeError, "a list of sets of features, or None; got {'age': 1}"),
        ([[]], TypeError, r"interaction_cst\[0\] must be a list, tuple or set of at least one"),
        ([0, 1], TypeError, r"interaction_cst\[0\] must be a list, tuple or set"),
        ([["age", "weight"]], ValueError, "interaction_cst: the name 'weight' is unknown"),
        ([[0, 7]], ValueError, "interaction_cst must be between 0 and 4"),
    ],
)
def test_wrong_limits_are_refused_by_name(rows, value, error, message):
    with pytest.raises(error, match=message):
        fit(rows, value)


def test_files_have_the_limits(rows, tmp_path):
    for value in (2, "pairwise", [{"age", "hours"}, {"town"}]):
        model = fit(rows, value, max_leaf_nodes=4)
        model.save_model(tmp_path / "model.json")
        loaded = pb.load_model(tmp_path / "model.json")
        again = loaded.get_params()["weak_learner__interaction_cst"]
        assert again == (value if not isinstance(value, list) else [["age", "hours"], ["town"]])
        np.testing.assert_array_equal(
            loaded.decision_function(rows[0]), model.decision_function(rows[0])
        )


def test_a_search_compares_limits(rows):
    X, y = rows
    space = {"weak_learner": "tree", "weak_learner__interaction_cst": [1, 2, None]}
    search = pb.ProperBoostClassifierCV(space, effort=None, cv=3, refit=False)
    search.fit(X, np.minimum(y, 1))
    learners = [params["weak_learner"] for params in search.cv_results_["params"]]
    assert {learner.interaction_cst for learner in learners} == {1, 2, None}
