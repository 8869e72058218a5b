"""Test `OrderedClassifier` where features move thresholds: it finds these, in order."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import properboost as pb

TABLES = pb.ProperBoostClassifier(n_jobs=1, weak_learner="table")
TRUE = {"north": [-3.0, 3.0], "south": [-1.0, 1.0], "west": [-2.0, 0.5]}


def simulate(n, seed, *, moving=True):
    """Return rows of three regions, their true thresholds, and labels by logistic noise on F."""
    rng = np.random.default_rng(seed)
    region = rng.choice([*TRUE], n)
    table = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    table["region"] = pd.Categorical(region)
    thresholds = np.array([TRUE[name if moving else "south"] for name in region])
    F = 1.5 * table["a"].to_numpy()[:, None] + rng.logistic(size=(n, 1))
    return table, thresholds, np.array(["bad", "fair", "good"])[(thresholds < F).sum(axis=1)]


ORDER = ["bad", "fair", "good"]


def test_the_feature_that_moves_them_is_found():
    X, _, y = simulate(20_000, 0)
    model = pb.OrderedClassifier(TABLES, ORDER).fit(X, y)
    assert "region" in model.moving_features_
    one_scale = pb.OrderedClassifier(TABLES, ORDER, moving_thresholds=False).fit(X, y)
    assert one_scale.moving_features_ == []
    X_test, _, y_test = simulate(5000, 1)
    scores = [m.ranked_probability_score(X_test, y_test) for m in (model, one_scale)]
    assert scores[0] < 0.97 * scores[1]
    # F differs between regions by a constant, so that only distances are determined.
    distance = np.diff(model.row_thresholds(X), axis=1)[:, 0] / model.estimator_.loss_.gain
    for region, true in TRUE.items():
        mean = distance[X["region"] == region].mean()
        assert mean == pytest.approx(true[1] - true[0], rel=0.07)


def test_without_need_there_is_one_scale():
    X, _, y = simulate(2000, 2, moving=False)
    model = pb.OrderedClassifier(TABLES, ORDER).fit(X, y)
    one_scale = pb.OrderedClassifier(TABLES, ORDER, moving_thresholds=False).fit(X, y)
    assert model.moving_features_ == []
    np.testing.assert_array_equal(model.predict_proba(X), one_scale.predict_proba(X))
    np.testing.assert_array_equal(model.row_thresholds(X), np.tile(model.thresholds_, (2000, 1)))


def test_probabilities_are_those_of_f_and_the_thresholds_of_the_row():
    X, _, y = simulate(3000, 3)
    weight = np.random.default_rng(0).integers(1, 4, 3000)
    model = pb.OrderedClassifier(TABLES, ORDER, moving_thresholds=True).fit(X, y, weight)
    F, loss = model.estimator_.decision_function(X), model.estimator_.loss_
    above = loss.probability(F[:, None] - model.row_thresholds(X))
    expected = np.column_stack([1.0 - above[:, 0], above[:, 0] - above[:, 1], above[:, 1]])
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    moves = model.row_thresholds(X) - model.thresholds_
    np.testing.assert_allclose(weight @ moves, 0.0, atol=1e-8 * weight.sum())
    share = [weight[y != "bad"].sum(), weight[y == "good"].sum()] / weight.sum()
    np.testing.assert_allclose(weight @ above / weight.sum(), share, atol=1e-9)


def test_it_is_copied_pickled_saved_and_compiled(tmp_path):
    X, _, y = simulate(800, 4)
    model = pb.OrderedClassifier(TABLES, ORDER, moving_thresholds=True).fit(X, y)
    expected = model.predict_proba(X)
    for compact in (False, True):
        model.save_model(tmp_path / "model.json", compact=compact)
        loaded = pb.load_model(tmp_path / "model.json")
        assert loaded.moving_features_ == model.moving_features_ != []
        scorer = pb.load_scorer(tmp_path / "model.json")
        for other in (loaded, scorer, pickle.loads(pickle.dumps(model)), loaded.compile()):
            np.testing.assert_array_equal(other.predict_proba(X), expected)
        np.testing.assert_array_equal(scorer(X.iloc[0].to_dict()), expected[0])


def test_groups_and_names_of_classes_change_no_choice():
    X, _, y = simulate(900, 5)
    groups = np.arange(900) // 2
    text = pb.OrderedClassifier(TABLES, ORDER).fit(X, y, groups=groups)
    numbers = pb.OrderedClassifier(TABLES).fit(
        X, [ORDER.index(label) for label in y], groups=groups
    )
    assert text.moving_features_ == numbers.moving_features_
    np.testing.assert_array_equal(text.row_thresholds(X), numbers.row_thresholds(X))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"weak_learner": "tree"}, "interactions must be"),
        ({"weak_learner": "table", "interactions": 2}, "interactions must be at its default"),
        ({"weak_learner": "table", "monotonic_cst": {"a": 1}}, "monotonic_cst must be at its def"),
        ({"weak_learner": "table", "step": "totally_corrective"}, "interactions must be 0"),
    ],
    ids=str,
)
def test_models_without_pairs_of_thresholds_have_none(parameters, words):
    X, _, y = simulate(300, 6)
    base = pb.ProperBoostClassifier(n_estimators=5, n_jobs=1, **parameters)
    assert pb.OrderedClassifier(base, ORDER).fit(X, y).moving_features_ == []
    with pytest.raises(ValueError, match=f"moving_thresholds must be False or 'auto'.*{words}"):
        pb.OrderedClassifier(base, ORDER, moving_thresholds=True).fit(X, y)


def test_other_values_are_refused():
    X, _, y = simulate(300, 7)
    with pytest.raises(ValueError, match="must be 'auto', True or False; got 'yes'"):
        pb.OrderedClassifier(TABLES, ORDER, moving_thresholds="yes").fit(X, y)


def test_two_classes_have_one_threshold_which_stays():
    X, _, y = simulate(300, 7)
    model = pb.OrderedClassifier(TABLES, moving_thresholds=True).fit(X, y == "good")
    assert model.moving_features_ == []


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        ([], "moves must hold a feature"),
        ([{"feature": 3, "values": []}], "feature must be an integer from 0 to 2"),
        ([{"feature": 2, "values": []}], r"values must have \d+ entries"),
        ([{"feature": 2, "values": [[0.0]] * 5}], r"values\[0\] must have 2 entries"),
        ("twice", "feature must be above the feature before it"),
    ],
    ids=str,
)
def test_fields_of_files_are_checked(moves, words, tmp_path):
    X, _, y = simulate(300, 8)
    model = pb.OrderedClassifier(TABLES, ORDER, moving_thresholds=True).fit(X, y)
    path = tmp_path / "model.json"
    model.save_model(path)
    document = json.loads(path.read_text("utf-8"))
    document["moves"] = 2 * document["moves"] if moves == "twice" else moves
    path.write_text(json.dumps(document), "utf-8")
    for load in (pb.load_model, pb.load_scorer):
        with pytest.raises(ValueError, match=words):
            load(path)
