"""Test the default number of rounds: more follow while they help by more than chance."""

import numpy as np
import pytest

import properboost as pb
from helpers.flags import make_flags
from helpers.models import same_model
from properboost.fitting import plan
from properboost.models.averaging import average_rounds


def fit(X, y, **settings):
    names = [f"x{j}" for j in range(X.shape[1])]
    plain = {"categorical_features": np.arange(len(names)), "weak_learner": "table"}
    settings = plain | settings
    return pb.ProperBoostClassifier(**settings).fit(X, y)


def expect_rounds(X, y, log_loss_of, **settings):
    """Return the number of rounds by the rule, from the risks of one long fit.

    `log_loss_of` a model is the log loss of a row over its risk.
    """
    model = fit(X, y, n_estimators=1000, **settings)
    first_class = model.history_["class"] == model.history_["class"][0]
    risk = model.history_["risk"][first_class]
    n_classes = 2 if model.multiclass_ == "one_vs_rest" else len(model.classes_)
    freedom = (n_classes - 1) * sum(len(np.unique(column)) - 1 for column in X.T)
    n = 100
    while n < 1000 and len(risk) >= n:
        fall = risk[n - 51] - risk[n - 1]
        if 2 * len(y) * log_loss_of(model) * fall <= freedom / 4 or fall <= risk[n - 51] / 1000:
            break
        n += 50
    return min(n, len(risk))


def of_two(model):
    return np.log(2) / float(model.loss_.loss(0.0))


def of_joint(model):
    return 1 / (2 * model.loss_.gain)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"gain": 3.0},
        {"gain": 1.0, "weak_learner": "stump"},
        {"selection": "greedy", "response": "newton", "learning_rate": 0.2},
        {"loss": "ggauss", "gain": 2.0},
        {"loss": "exponential", "gain": 2.0},
    ],
    ids=str,
)
def test_rounds_go_on_by_the_rule(settings):
    X, y = make_flags()
    model = fit(X, y, **settings)
    assert model.n_iter_ == expect_rounds(X, y, of_two, **settings) > 100
    assert same_model(model, fit(X, y, n_estimators=model.n_iter_, **settings))


def test_classes_of_a_joint_model_go_on_together():
    X, y = make_flags(n_classes=3)
    model = fit(X, y)
    assert model.n_iter_ == expect_rounds(X, y, of_joint) > 100
    assert np.bincount(model.history_["class"]).tolist() == [model.n_iter_] * 3
    canonical = fit(X, y, multiclass="canonical")
    assert canonical.n_iter_ > 100


def test_classes_that_are_models_of_their_own_go_on_alone():
    X, y = make_flags(600, n_classes=3)
    # Classes 1 and 2 are random.
    labels = np.where(y == 0, 0, np.random.default_rng(0).integers(1, 3, len(y)))
    model = fit(X, labels, multiclass="one_vs_rest")
    rounds = [int((model.history_["class"] == k).sum()) for k in model.classes_]
    assert rounds[0] > 100
    for k in range(3):
        alone = fit(X, labels == k, gain=model.loss_.gain)
        assert rounds[k] == alone.n_iter_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_random_labels_have_hardly_more_than_a_hundred_rounds(n_classes):
    X, y = make_flags(n_classes=n_classes)
    by_lot = [np.random.default_rng(seed).permutation(y) for seed in range(20)]
    rounds = [fit(X, labels).n_iter_ for labels in by_lot]
    assert np.mean(rounds) <= 120
    assert max(rounds) <= 150


def test_chance_lowers_the_deviance_by_the_degrees_of_freedom():
    """The rule assumes this fall of the deviance when all rounds fit random labels."""
    falls = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 3, (2000, 6)), rng.integers(0, 2, 2000)
        model = fit(X, y, gain=1.0, calibration=pb.Calibration(slope=1.0), n_estimators=400)
        falls.append(2 * len(y) * (np.log(2) - model.history_["risk"][-1]))
    error = np.std(falls) / np.sqrt(len(falls))
    assert abs(np.mean(falls) - 12) < 4 * error < 6


@pytest.mark.parametrize(
    "settings",
    [{"weak_learner": "rule"}, {"step": "totally_corrective", "response": "sign"}],
    ids=str,
)
def test_others_have_a_hundred(settings):
    X, y = make_flags()
    assert same_model(fit(X, y, **settings), fit(X, y, n_estimators=100, **settings))


def expect_rounds_of_trees(X, y, **settings):
    """Return the number of rounds of trees by the rule, from the risks of one long fit."""
    model = fit(X, y, n_estimators=600, **settings)
    n_classes = 2 if model.multiclass_ == "one_vs_rest" else len(model.classes_)
    learner = settings["weak_learner"]
    strategy = getattr(learner, "multi_strategy", "multi_output_tree")
    models = model.ensemble_.models
    log_loss = models[0].risk * (of_two(model) if n_classes == 2 else of_joint(model))
    n = 100
    while n < 600:
        fall = log_loss[n - 51] - log_loss[n - 1]
        shared = models[:1] if strategy == "multi_output_tree" else models
        different = sum(len(list_splits(rounds, n - 50, n)) for rounds in shared)
        if 2 * len(y) * fall <= 2 * different or fall <= log_loss[n - 51] / 100:
            break
        n += 50
    return n


def list_splits(rounds, begin, end):
    """Return the different splits of trees: a feature and its codes on the left."""
    nodes = range(*rounds.offsets[[begin, end]])
    feature, left = rounds.trees.feature, rounds.trees.goes_left
    return {(int(feature[k]), *left[k].tolist()) for k in nodes if feature[k] >= 0}


def draw_classes(n, n_classes=2, seed=0, noise=0.0):
    """Return four columns of few values, and classes by products of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round()
    score = X[:, 0] * X[:, 1] + X[:, 2] + noise * rng.logistic(size=n)
    return X, np.digitize(score, [0.0, 1.0][: n_classes - 1])


NUMBERS = {"categorical_features": None}
TREES = [
    pb.Tree(max_leaf_nodes=4),
    pb.Tree(max_leaf_nodes=8, linear_leaves=True),
    pb.Tree(grow_policy="symmetric", interaction_cst=3),
]


@pytest.mark.parametrize("tree", TREES, ids=str)
@pytest.mark.parametrize("response", ["real", "newton"])
def test_trees_go_on_by_the_rule(tree, response):
    X, y = draw_classes(2000, noise=0.3)
    settings = NUMBERS | {"weak_learner": tree, "response": response}
    model = fit(X, y, **settings)
    assert 600 > model.n_iter_ == expect_rounds_of_trees(X, y, **settings) > 100
    assert same_model(model, fit(X, y, n_estimators=model.n_iter_, **settings))


@pytest.mark.parametrize("strategy", ["multi_output_tree", "one_output_per_tree"])
def test_trees_of_joint_classes_go_on_together(strategy):
    X, y = draw_classes(2000, n_classes=3, noise=0.3)
    settings = NUMBERS | {"weak_learner": pb.Tree(max_leaf_nodes=4, multi_strategy=strategy)}
    model = fit(X, y, **settings)
    assert 600 > model.n_iter_ == expect_rounds_of_trees(X, y, **settings) > 100
    assert np.bincount(model.history_["class"]).tolist() == [model.n_iter_] * 3


@pytest.mark.parametrize("noise", [3.0, None])
def test_noisy_labels_have_a_hundred_trees(noise):
    for seed in range(10):
        X, y = draw_classes(500, seed=seed, noise=noise or 0.0)
        if noise is None:
            y = np.random.default_rng(seed).permutation(y)
        assert fit(X, y, weak_learner="tree", **NUMBERS).n_iter_ == 100


def test_each_draw_of_trees_has_its_rounds(monkeypatch):
    counts = []

    def see(fits, size, **settings):
        counts.extend(len(rounds) for rounds in fits)
        return average_rounds(fits, size, **settings)

    monkeypatch.setattr("properboost.fitting.assemble.average_rounds", see)
    X, y = draw_classes(2000, noise=0.3)
    tree = pb.Tree(max_leaf_nodes=4)
    fit(X, y, weak_learner=tree.replace(n_draws=4), **NUMBERS)
    alone = [fit(X, y, weak_learner=tree, random_state=seed, **NUMBERS) for seed in range(4)]
    assert counts == [model.n_iter_ for model in alone]
    assert min(counts) > 100


def test_warm_starts_of_trees_go_as_far_as_one_fit():
    X, y = draw_classes(2000, noise=0.3)
    settings = NUMBERS | {"weak_learner": pb.Tree(max_leaf_nodes=4)}
    expected = fit(X, y, **settings)
    assert expected.n_iter_ > 150
    for begun in (20, 100, 130, expected.n_iter_):
        model = fit(X, y, warm_start=True, n_estimators=begun, **settings)
        assert same_model(model.set_params(n_estimators=None).fit(X, y), expected)


def test_an_estimator_may_be_a_cycle():
    X, y = make_flags(noise=0.1)
    settings = {"selection": "cyclic", "gain": 8.0}
    model = fit(X, y, **settings)
    assert model.n_iter_ > 100
    assert same_model(model, fit(X, y, n_estimators=model.n_iter_, **settings))


def test_weights_count_as_rows():
    X, y = make_flags(600)
    weight = np.random.default_rng(3).integers(0, 3, len(y))
    twice = fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    settings = {"categorical_features": np.arange(X.shape[1]), "weak_learner": "table"}
    weighted = pb.ProperBoostClassifier(**settings).fit(X, y, weight)
    assert weighted.n_iter_ == twice.n_iter_ > 100


def test_bags_have_rounds_of_their_own(monkeypatch):
    counts = []

    def see(fits, size, **settings):
        counts.extend(len(rounds) for rounds in fits)
        return average_rounds(fits, size, **settings)

    monkeypatch.setattr("properboost.fitting.assemble.average_rounds", see)
    X, y = make_flags()
    model = fit(X, y, outer_bags=8)
    assert len(set(counts)) > 1
    assert model.n_iter_ == max(counts)
    assert min(counts) >= 100


def test_pairs_too():
    X, y = make_flags(noise=0.1, together=4.0)
    model = fit(X, y, interactions=2)
    alone = fit(X, y)
    assert model.n_iter_ >= alone.n_iter_ + 100
    few = fit(X, y, interactions=pb.Interactions(2, n_estimators=7))
    assert few.n_iter_ == alone.n_iter_ + 7


def test_validation_rows_do_not_change_what_is_boosted():
    X, y = make_flags()
    X_val, y_val = make_flags(seed=1)
    settings = {"categorical_features": np.arange(X.shape[1]), "early_stopping": False}
    settings["weak_learner"] = "table"
    plain = fit(X, y)
    watched = pb.ProperBoostClassifier(**settings).fit(X, y, X_val=X_val, y_val=y_val)
    assert same_model(plain, watched)
    assert len(watched.validation_scores_) == plain.n_iter_
    stopped = pb.ProperBoostClassifier(**settings | {"early_stopping": True}).fit(
        X, y, X_val=X_val, y_val=y_val
    )
    assert stopped.n_iter_ == watched.validation_scores_.argmax() + 1


def test_several_cohorts_that_are_watched_go_on():
    """More models are watched than one batch boosts, and these advance one by one."""
    X, y = make_flags(1500, noise=0.1)
    y = 2 * y + (X[:, 0] > 0)
    settings = {
        "weak_learner": "table",
        "multiclass": "one_vs_rest",
        "outer_bags": 8,
        "calibration": pb.Calibration(intercept=None),
    }
    plain = fit(X, y, **settings)
    watched = pb.ProperBoostClassifier(
        categorical_features=np.arange(X.shape[1]), early_stopping=False, **settings
    ).fit(X, y, X_val=X, y_val=y)
    assert plain.n_iter_ > 100
    assert same_model(plain, watched)


def test_there_is_an_end(monkeypatch):
    monkeypatch.setattr(plan, "MOST", 130)
    X, y = make_flags()
    assert fit(X, y).n_iter_ == 130


def test_warm_starts_go_as_far_as_one_fit():
    X, y = make_flags()
    expected = fit(X, y)
    rounds = expected.n_iter_
    assert rounds > 150
    for begun in (20, 50, 99, 100, 120, 150, rounds):
        model = fit(X, y, warm_start=True, n_estimators=begun)
        assert same_model(model.set_params(n_estimators=None).fit(X, y), expected)
    assert model.set_params(n_estimators=rounds + 5).fit(X, y).n_iter_ == rounds + 5


@pytest.mark.parametrize("value", [0, -1, 1.5, "auto", "none"])
def test_wrong_numbers_are_refused(value):
    X, y = make_flags()
    with pytest.raises((TypeError, ValueError), match="n_estimators must be"):
        fit(X, y, n_estimators=value)


def test_progress_comes_to_its_end(capsys):
    X, y = make_flags()
    fit(X, y, verbose=1)
    assert "1000/1000" in capsys.readouterr().err
