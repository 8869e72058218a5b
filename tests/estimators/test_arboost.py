"""Test AR-Boost and its rivals against scikit-learn, a plain numpy reference, and the paper."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import properboost as pb
from helpers.models import same_model
from helpers.votes import AR, KINDS, make_rows, mixed_table

pd = pytest.importorskip("pandas")


@parametrize_with_checks(
    [
        AR(n_estimators=10),
        AR(2.0, n_estimators=5, weak_learner="tree"),
        AR(n_estimators=10, weak_learner="table", criterion="error"),
        pb.AdaBoostMH(n_estimators=10),
        pb.WeightBoost(n_estimators=10),
        pb.AdaBoostReg(n_estimators=10),
        pb.ARBoostClassifierCV([1.0, 2.0], cv=2, n_estimators=3),
    ]
)
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
@pytest.mark.filterwarnings("ignore:class_weight makes rows count")
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # Some checks have classes of one row.
        warnings.filterwarnings("ignore", "The least populated class in y has only 1 member")
        check(estimator)


# A tag of the estimator waives scikit-learn's check of accuracy; here are its thresholds.
@pytest.mark.parametrize("n_classes", [2, 3])
def test_blobs_are_separated(n_classes):
    X, y = make_blobs(n_samples=300, centers=n_classes, random_state=0)
    assert AR(n_estimators=20).fit(X, y).score(X, y) > 0.93


# -- scikit-learn ---------------------------------------------------------------------------------


def test_digits_are_classified_as_by_samme():
    X, y = load_digits(return_X_y=True)
    ours = AR(n_estimators=20, weak_learner="tree", max_depth=3).fit(X[::2], y[::2])
    theirs = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3, random_state=0), n_estimators=20
    ).fit(X[::2], y[::2])
    np.testing.assert_allclose(ours.history_["cost"], theirs.estimator_errors_, rtol=1e-4)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.998  # votes may tie


@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_neither_vanish_nor_overflow(n_classes):
    # A risk below 1e-38 has no float32. Margins have one, and weights matter only up to a factor.
    X, y = make_rows(n_classes, n=150)
    ours = AR(n_estimators=500, weak_learner="tree", max_depth=3).fit(X, y)
    theirs = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3, random_state=0), n_estimators=500
    ).fit(X, y)
    history = ours.history_
    assert len(history["step"]) == len(theirs.estimator_errors_) == 500
    assert history["risk"][-1] < 1e-40
    np.testing.assert_allclose(history["cost"][:100], theirs.estimator_errors_[:100], rtol=1e-3)
    np.testing.assert_allclose(
        np.log(history["risk"][-1]),
        np.log(ours.training_error_bounds()["product"][-1]) if n_classes == 2 else -200,
        rtol=1e-3 if n_classes == 2 else 1.0,
    )


# -- two classes, and several ---------------------------------------------------------------------


def test_of_two_classes_labels_are_classes():
    X, y = make_rows(2)
    assert same_model(pb.AdaBoostMH(n_estimators=8).fit(X, y), AR(n_estimators=8).fit(X, y))


def test_probabilities_of_classes_are_the_softmax_of_their_votes():
    X, y = make_rows(4)
    model = AR(n_estimators=10).fit(X, y)
    raw = model.decision_function(X)
    np.testing.assert_allclose(raw.sum(axis=1), 0.0, atol=1e-9)
    e = np.exp(raw)
    np.testing.assert_allclose(model.predict_proba(X), e / e.sum(axis=1, keepdims=True), rtol=1e-9)
    # With a single uninformative feature, SAMME's optimum is the classes' shares.
    shares = np.array([0.5, 0.3, 0.2])
    y = np.repeat(np.arange(3), (1000 * shares).astype(int))
    X = np.zeros((1000, 1))
    many = AR(n_estimators=3000, learning_rate=0.01).fit(X, y)
    np.testing.assert_allclose(many.predict_proba(X)[0], shares, atol=0.01)


@pytest.mark.parametrize("criterion", ["gini", "error"])
def test_labels_that_tie_do_not_end_boosting(criterion):
    # With 50 rows per class, the first split leaves two classes with as many rows each.
    X, y = load_iris(return_X_y=True)
    model = pb.AdaBoostMH(n_estimators=50, criterion=criterion).fit(X, y)
    assert model.n_iter_ == 50
    assert model.history_["cost"].min() > 0.0
    assert model.score(X, y) > 0.97


# -- features of all models ----------------------------------------------------------------------


@pytest.mark.parametrize(("model", "n_classes"), KINDS, ids=str)
def test_weights_are_frequencies_and_threads_change_nothing(model, n_classes):
    X, y = mixed_table(n_classes)
    weight = np.arange(len(y)) % 3
    chosen = np.repeat(np.arange(len(y)), weight)
    once = model.set_params(n_jobs=1).fit(X, y, sample_weight=weight)
    raw, history = once.decision_function(X), once.history_
    again = model.set_params(n_jobs=2).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(again.decision_function(X), raw)
    repeated = model.fit(X.iloc[chosen], y[chosen])
    np.testing.assert_array_equal(repeated.history_["feature"], history["feature"])
    np.testing.assert_allclose(repeated.decision_function(X), raw, rtol=1e-4, atol=1e-4)


def test_shape_functions_add_up_and_damped_models_have_none():
    X, y = mixed_table(3)
    model = AR(1.2, n_estimators=20).fit(X, y)
    contributions = model.contributions(X, "yes")
    total = contributions.baseline + contributions.values.sum(axis=1)
    np.testing.assert_allclose(total, model.decision_function(X)[:, 2], atol=1e-9)
    assert model.shape_function("x0", "no").values.shape
    damped = pb.WeightBoost(n_estimators=5).fit(X, y == "yes")
    with pytest.raises(ValueError, match="depends on the sum before it"):
        damped.shape_function("x0")
    with pytest.raises(ValueError, match="depends on the sum before it"):
        damped.contributions(X)


def test_boosting_ends_where_nothing_is_let_in_or_nothing_is_wrong():
    X, y = make_rows(2)
    sparse = pb.L1Boost(0.3, n_estimators=100).fit(X, y)
    assert sparse.n_iter_ < 20
    assert sparse.history_["cost"].max() < 0.35
    assert sparse.history_["step"].min() > 1e-6
    perfect = AR(2.0, n_estimators=50).fit([[0.0], [1.0], [2.0]] * 5, [0, 1, 1] * 5)
    assert perfect.n_iter_ == 1
    assert perfect.history_["cost"].tolist() == [0.0]
    # An error of 0 counts as half a row of 15.
    assert perfect.history_["step"][0] == pytest.approx(0.5 * np.log(2.0 * 14.5 / 0.5), rel=1e-6)
    silent = AR(n_estimators=5).fit(np.zeros((10, 1)), [0, 1] * 5)
    assert silent.n_iter_ == 0
    np.testing.assert_allclose(silent.predict_proba([[0.0]]), 0.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rho": 0.0}, "rho must be above 0; got 0"),
        ({"rho": "5"}, "rho must be a finite number"),
        ({"weak_learner": "monomial"}, "weak_learner must be one of 'stump', 'tree', 'table'"),
        ({"weak_learner": "histogram"}, "weak_learner='histogram' is 'table' now"),
        ({"weak_learner": "none"}, "or a Stump, Table or Tree; got 'none'"),
        ({"weak_learner": pb.Rule()}, "weak_learner must not be a Rule"),
        (
            {"weak_learner": pb.Tree(min_child_weight=2.0)},
            "ARBoostClassifier has no min_child_weight: leave Tree.min_child_weight at 1.0; got 2",
        ),
        (
            {"weak_learner": pb.Tree(), "max_depth": 3},
            r"max_depth must be None with weak_learner=Tree\(\), which has its own; got 3",
        ),
        ({"weak_learner": pb.Tree(), "max_leaf_nodes": 4}, "max_leaf_nodes must be 8 with"),
        ({"weak_learner": pb.Tree(), "max_features": 0.5}, "max_features must be 1.0 with"),
        ({"criterion": "entropy"}, "criterion must be one of 'gini', 'error'"),
        ({"multiclass": "ovr"}, "multiclass must be one of 'samme', 'one_vs_rest'"),
        ({"damping": 1.0}, "damping must be below 1"),
        ({"mistrust": -1.0}, "mistrust must be between 0 and 1e\\+30"),
        ({"mistrust": 1.0, "rho": 2.0}, "rho must be 1 with mistrust"),
        ({"mistrust": 1.0, "damping": 0.5}, "must not both be above 0"),
        ({"max_leaf_nodes": 129}, "max_leaf_nodes must be between 2 and 128"),
        ({"n_estimators": 0}, "n_estimators must be at least 1|n_estimators must be between 1"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        AR(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("name", ["mistrust", "damping"])
def test_methods_of_two_classes_refuse_more(name):
    X, y = make_rows(3)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        AR(**{name: 0.5}).fit(X, y)
