"""Test the choice of `weak_learner="auto"`: tables, or trees of few features."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

import properboost as pb
from properboost.estimators import learner_choice, properboost
from properboost.fitting.bag_assignment import deal
from properboost.fitting.held_out_rounds import HeldOutScore
from properboost.parameters.boosting import CHOICE

TABLE, TREE = CHOICE.table, CHOICE.tree


def draw_products(n, seed=0):
    """Return rows whose label depends on a product, which no sum of tables can express."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0.0


def draw_steps(n, seed=0):
    """Return rows whose label depends on steps of each feature, and on noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X > 0.0).sum(axis=1) - 2.0 + 0.5 * rng.logistic(size=n) > 0.0


def fit(*rows, learner="auto", **arguments):
    parameters = {"n_estimators": 40} | arguments.pop("parameters", {})
    return pb.ProperBoostClassifier(weak_learner=learner, **parameters).fit(*rows, **arguments)


@pytest.mark.parametrize(("draw", "learner"), [(draw_products, TREE), (draw_steps, TABLE)])
def test_the_model_is_that_of_the_named_learner(draw, learner):
    X, y = draw(600)
    model, named = fit(X, y), fit(X, y, learner=learner)
    assert model.weak_learner_ == named.weak_learner_ == learner
    np.testing.assert_array_equal(model.decision_function(X), named.decision_function(X))
    assert len(model.terms_) > 0


@pytest.mark.parametrize(
    "parameters",
    [
        {"interactions": 2},
        {"selection": "cyclic"},
        {"monotonic_cst": [1, 0, 0, 0]},
        {"step": "totally_corrective"},
        {"response": "sign"},
        {"outer_bags": pb.Bags(4, tables=False)},
    ],
)
def test_parameters_of_tables_take_the_table(parameters):
    X, y = draw_products(400)
    assert fit(X, y, parameters=parameters).weak_learner_ == TABLE


def test_the_table_is_for_few_rows_of_a_class():
    X, y = draw_products(400)
    y = np.where(y, 1, 0)
    y[:2] = 2
    assert fit(X, y).weak_learner_ == TABLE
    assert fit(np.eye(2), [0, 1]).weak_learner_ == TABLE
    assert fit(*draw_products(99)).weak_learner_ == TABLE
    assert fit(*draw_products(120)).weak_learner_ == TREE


def test_the_errors_are_those_of_a_weighted_mean():
    values, weights = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 1.0])
    mean = 2.25
    error = np.sqrt(1 * 1.25**2 + 4 * 0.25**2 + 1 * 1.75**2) / 4
    assert learner_choice.count_errors(values, weights) == pytest.approx(mean / error)
    assert learner_choice.count_errors(np.zeros(3), weights) == 0.0


@pytest.mark.parametrize("ahead", [0.5, 1.5])
def test_the_tree_must_be_ahead_by_an_error(ahead, monkeypatch):
    X, y = draw_products(300)
    monkeypatch.setattr(learner_choice, "count_errors", lambda *_: ahead)
    assert fit(X, y).weak_learner_ == (TREE if ahead > 1.0 else TABLE)


@pytest.mark.parametrize("errors", [-9.0, 9.0])
def test_a_clear_fold_saves_the_others(errors, monkeypatch):
    X, y = draw_products(300)
    seen = []
    monkeypatch.setattr(
        learner_choice, "count_errors", lambda values, _: seen.append(len(values)) or errors
    )
    fit(X, y)
    assert seen == [100]


def test_large_tables_are_compared_by_a_sample(monkeypatch):
    monkeypatch.setattr(learner_choice, "MOST_ROWS", 300)
    X, y = draw_products(2000)
    sizes, count = [], learner_choice.count_errors
    monkeypatch.setattr(
        learner_choice,
        "count_errors",
        lambda values, weights: sizes.append(len(values)) or count(values, weights),
    )
    model = fit(X, y)
    assert model.weak_learner_ == TREE
    assert max(sizes) <= 301
    y[y] = np.arange(y.sum()) < 10  # so rare that no sample has rows of it
    assert fit(X, y).weak_learner_ == TABLE


@pytest.mark.parametrize("share", ["weights", "groups", "init_score"])
def test_folds_have_weights_groups_and_initial_scores(share):
    X, y = draw_products(600)
    more = {
        "weights": {"sample_weight": np.linspace(0.5, 2.0, 600)},
        "groups": {"groups": np.arange(600) // 3},
        "init_score": {"init_score": X[:, 2]},
    }[share]
    model = fit(X, y, **more)
    named = fit(X, y, learner=TREE, **more)
    assert model.weak_learner_ == TREE
    scores = {"init_score": X[:, 2]} if share == "init_score" else {}
    np.testing.assert_array_equal(
        model.decision_function(X, **scores), named.decision_function(X, **scores)
    )


@pytest.mark.parametrize("labels", ["hard", "probabilities"])
def test_a_weight_of_2_is_the_row_twice(labels):
    X, y = draw_products(500)
    times = np.random.default_rng(1).integers(0, 4, 500)
    if labels == "probabilities":
        y = np.where(y[:, None], [0.1, 0.9], [0.8, 0.2])
    shared = {"parameters": {"n_estimators": None, "rows_per_bin": None}}
    weighted = fit(X, y, times.astype(float), **shared)
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(500), times))
    repeated = fit(X[order], y[order], **shared)
    assert weighted.weak_learner_ == repeated.weak_learner_ == TREE
    assert weighted.n_iter_ == repeated.n_iter_


def test_copies_of_rows_do_not_make_trees_look_better():
    """Trees would learn the noise of copies in other folds."""
    X, y = draw_steps(400)
    copies = np.tile(np.arange(400), 4)
    assert fit(X, y).weak_learner_ == fit(X[copies], y[copies]).weak_learner_ == TABLE


def test_groups_lie_in_one_fold(monkeypatch):
    X, y = draw_products(300)
    groups, folds = np.arange(300) // 5, []
    monkeypatch.setattr(learner_choice, "deal", lambda *a: folds.append(deal(*a)) or folds[-1])
    fit(X, y, groups=groups)
    assert all(len({*folds[0][groups == g].tolist()}) == 1 for g in range(60))


@pytest.mark.parametrize("multiclass", ["softmax", "one_vs_rest"])
def test_several_classes(multiclass):
    X, y = load_iris(return_X_y=True)
    model = fit(X, y, parameters={"multiclass": multiclass})
    named = fit(X, y, learner=model.weak_learner_, parameters={"multiclass": multiclass})
    np.testing.assert_array_equal(model.predict_proba(X), named.predict_proba(X))


def test_sparse_matrices_have_tables():
    X, y = draw_products(400)
    assert fit(sparse.csr_array(X), y).weak_learner_ == TABLE


def test_quantized_tables_choose_with_means_of_bins():
    X, y = draw_products(600)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = fit(frame, y)
    with_means, without = (
        pb.QuantizedTable.from_batches([frame.assign(y=y)], label="y", bin_means=means)
        for means in (True, False)
    )
    np.testing.assert_array_equal(
        fit(with_means).decision_function(frame), model.decision_function(frame)
    )
    assert fit(without).weak_learner_ == TABLE


def test_a_warm_start_keeps_the_choice(monkeypatch):
    X, y = draw_products(600)
    model = fit(X, y, parameters={"warm_start": True})
    monkeypatch.setattr(learner_choice, "deal", lambda *_: pytest.fail("it is chosen again"))
    model.set_params(n_estimators=60).fit(X, y)
    assert model.weak_learner_ == TREE
    assert model.n_iter_ == 60


def test_files_keep_the_choice(tmp_path):
    X, y = draw_products(600)
    model = fit(X, y)
    model.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    assert loaded.weak_learner == "auto"
    assert loaded.weak_learner_ == TREE
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_it_is_the_default():
    X, y = draw_products(600)
    assert pb.ProperBoostClassifier(n_estimators=40).fit(X, y).weak_learner_ == TREE


def test_ordered_classes_have_tables():
    X, y = draw_products(300)
    ordered = pb.OrderedClassifier(pb.ProperBoostClassifier(n_estimators=5))
    assert ordered.fit(X, y).estimator_.weak_learner_ == TABLE


def test_tables_of_categories_alone_are_compared_without_means():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.choice(list("abc"), size=(600, 3)), columns=list("xyz"))
    rows["label"] = (rows["x"] == rows["y"]) ^ (rows["z"] == "a")
    table = pb.QuantizedTable.from_batches([rows], label="label", bin_means=False)
    assert fit(table).weak_learner_ == fit(rows.drop(columns="label"), rows["label"]).weak_learner_
    assert fit(table).weak_learner_ == TREE


def test_it_is_refused_by_name_where_others_choose():
    X, y = draw_products(60)
    with pytest.raises(ValueError, match=r"must be one of 'table', .* got 'auto'"):
        pb.ProperBoostClassifierCV({"weak_learner": "auto"}).fit(X, y)
    with pytest.raises(ValueError, match="'auto', which has no max_depth"):
        pb.ProperBoostClassifier(weak_learner="auto").set_params(weak_learner__max_depth=2)


@pytest.mark.parametrize(("ahead", "learner", "n"), [(9.0, TREE, 250), (-9.0, TABLE, 350)])
def test_the_model_has_as_many_estimators_as_the_folds_need(ahead, learner, n, monkeypatch):
    X, y = draw_steps(300)
    lengths = iter([200, 120, 400, 260, 450, 400])  # of a table and a tree in each fold
    score = HeldOutScore(np.ones(100), np.ones(100), 0)
    monkeypatch.setattr(
        properboost,
        "_score_fold",
        lambda *_: score._replace(n_estimators=next(lengths)),
    )
    monkeypatch.setattr(learner_choice, "count_errors", lambda *_: ahead)
    monkeypatch.setattr(learner_choice, "CLEAR", 99.0)
    model = fit(X, y, parameters={"n_estimators": None})
    assert model.weak_learner_ == learner
    assert model.n_iter_ == n
    named = fit(X, y, learner=learner, parameters={"n_estimators": n})
    np.testing.assert_array_equal(model.decision_function(X), named.decision_function(X))


def test_a_given_number_of_estimators_stays(monkeypatch):
    X, y = draw_products(300)
    score = HeldOutScore(np.ones(100), np.ones(100), 300)
    monkeypatch.setattr(properboost, "_score_fold", lambda *_: score)
    assert fit(X, y).n_iter_ == 40
