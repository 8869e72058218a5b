"""An analyst fits a table and asks for probabilities.

Each story of this folder shows what a user does and expects.  These stories are still missing:
explanations in log-odds or probabilities with the rows' values; plots of several classes without a
class; bins with a least number of rows; `shap.Explanation`, `shap.TreeExplainer` and a report page;
models as ONNX, SQL and treelite; editing and merging of models; the README on a package index.
"""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import logit
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import properboost as pb


def test_i_fit_and_get_probabilities_in_two_lines(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier().fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (569, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_i_fit_a_table_with_text_as_it_comes(customers):
    X, y = customers
    text = X.astype({"town": "str"})
    model = pb.ProperBoostClassifier().fit(text, y)
    typed = pb.ProperBoostClassifier().fit(X.astype({"town": "category"}), y)
    for rows in (text, pl.from_pandas(text), pa.Table.from_pandas(text)):
        np.testing.assert_array_equal(model.predict_proba(rows), typed.predict_proba(X))


def test_i_let_the_search_choose_everything(cancer_parts):
    X, X_test, y, y_test = cancer_parts
    model = pb.ProperBoostClassifierCV(effort=1).fit(X, y)
    assert "tables" in model.describe_search()
    assert model.score(X_test, y_test) > 0.92


def test_i_fit_what_the_search_chose_again(cancer):
    X, y = cancer
    search = pb.ProperBoostClassifierCV(effort=1).fit(X, y)
    again = pb.ProperBoostClassifier(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(again.predict_proba(X), search.predict_proba(X), atol=1e-6)


def test_i_want_a_model_that_i_can_read(cancer):
    model = pb.ProperBoostClassifierCV(readable=True, effort=1).fit(*cancer)
    assert model.family_ in ("tables", "stumps", "readable symmetric trees")
    assert len(model.shape_function("worst area").values) > 1
    assert max(len(term.features) for term in model.terms_) <= 3


def test_i_have_little_time(digits):
    X, y = digits
    with pytest.warns(UserWarning, match="time_limit of 0.3 seconds (is over: the best of|ended)"):
        model = pb.ProperBoostClassifierCV(time_limit=0.3).fit(X[:200], y[:200] > 4)
    assert model.ended_ == "time_limit"
    assert model.predict_proba(X).shape == (1797, 2)


def test_my_labels_are_strings(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    assert model.classes_.tolist() == ["leaves", "stays"]
    assert set(model.predict(X)) == {"leaves", "stays"}


def test_my_labels_are_booleans(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, [label == "leaves" for label in y])
    assert model.classes_.tolist() == [False, True]


def test_three_people_voted_on_each_row(customers):
    X, y = customers
    chance = np.where(np.array(y) == "leaves", 0.9, 0.1)
    votes = np.random.default_rng(0).binomial(3, chance)
    shares = pd.DataFrame({"stays": 1 - votes / 3, "leaves": votes / 3})
    model = pb.ProperBoostClassifier().fit(X, shares)
    assert model.classes_.tolist() == ["leaves", "stays"]
    p = model.predict_proba(X)[:, 0]
    assert p[chance == 0.9].mean() > 0.75
    assert p[chance == 0.1].mean() < 0.25


def test_my_labels_are_a_column_a_class(iris):
    X, y = iris
    model = pb.ProperBoostClassifier().fit(X, pd.get_dummies(y))
    plain = pb.ProperBoostClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_my_table_has_missing_values_and_categories(customers):
    X, y = customers
    assert X.isna().any().any()
    model = pb.ProperBoostClassifier().fit(X, y)
    assert model.score(X, y) > 0.95


def test_i_name_the_categorical_columns_of_an_array():
    X = np.array([["Ulm", 3], ["Bonn", 4], ["Kiel", 5], ["Bonn", 6]] * 20, dtype=object)
    y = [town == "Bonn" for town, _ in X]
    model = pb.ProperBoostClassifier(categorical_features=[0]).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.shape_function(0).categories == ("Bonn", "Kiel", "Ulm")


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "arrow", "lists"])
def test_i_bring_my_table_as_it_is(library, cancer):
    X, y = cancer
    table = {
        "numpy": lambda: X.to_numpy(),
        "pandas": lambda: X,
        "polars": lambda: pl.from_pandas(X),
        "arrow": lambda: pa.Table.from_pandas(X),
        "lists": lambda: X.to_numpy().tolist(),
    }[library]()
    model = pb.ProperBoostClassifier(n_estimators=20).fit(table, y)
    same = pb.ProperBoostClassifier(n_estimators=20).fit(X.to_numpy(), y)
    np.testing.assert_array_equal(model.predict_proba(table), same.predict_proba(X.to_numpy()))


def test_infinite_values_are_no_error(cancer):
    X, y = cancer
    X = X.copy()
    X.iloc[0, 0], X.iloc[1, 1] = np.inf, -np.inf
    assert np.isfinite(pb.ProperBoostClassifier(n_estimators=10).fit(X, y).predict_proba(X)).all()


def test_a_weight_of_two_is_the_row_twice(cancer):
    X, y = cancer
    weight = np.where(np.arange(len(y)) % 3 == 0, 2, 1)
    weighted = pb.ProperBoostClassifier(n_estimators=20).fit(X, y, weight)
    twice = np.repeat(np.arange(len(y)), weight)
    repeated = pb.ProperBoostClassifier(n_estimators=20).fit(X.iloc[twice], y.iloc[twice])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_my_rare_class_counts_as_much_as_the_other(letters):
    X, y = letters
    plain = pb.ProperBoostClassifier().fit(X, y)
    balanced = pb.ProperBoostClassifier(class_weight="balanced").fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()


def test_the_seed_gives_me_the_same_trees_again(cancer):
    X, y = cancer
    trees = {"weak_learner": pb.Tree(subsample=0.5), "n_estimators": 10}
    one = pb.ProperBoostClassifier(**trees, random_state=7).fit(X, y).predict_proba(X)
    same = pb.ProperBoostClassifier(**trees, random_state=7).fit(X, y).predict_proba(X)
    other = pb.ProperBoostClassifier(**trees, random_state=8).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_threads_change_no_bit(cancer):
    X, y = cancer
    one = pb.ProperBoostClassifier(n_jobs=1).fit(X, y).predict_proba(X)
    two = pb.ProperBoostClassifier(n_jobs=2).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(one, two)


def test_i_grow_trees_where_features_interact():
    X = np.random.default_rng(0).normal(size=(600, 2))
    y = X[:, 0] * X[:, 1] > 0
    tables = pb.ProperBoostClassifier(weak_learner="table").fit(X[:400], y[:400])
    plain = pb.ProperBoostClassifier().fit(X[:400], y[:400])
    trees = pb.ProperBoostClassifier(weak_learner="tree").fit(X[:400], y[:400])
    pairs = pb.ProperBoostClassifier(interactions=1).fit(X[:400], y[:400])
    assert tables.score(X[400:], y[400:]) < 0.7
    assert plain.score(X[400:], y[400:]) > 0.9
    assert trees.score(X[400:], y[400:]) > 0.9
    assert pairs.score(X[400:], y[400:]) > 0.8


def test_i_read_the_model_as_rules(cancer):
    model = pb.ProperBoostClassifier(weak_learner="rule", n_estimators=5).fit(*cancer)
    assert any("worst" in str(rule) for rule in model.rules())


def test_probabilities_of_several_classes_beat_naive_bayes(digits):
    X, X_test, y, y_test = train_test_split(*digits, random_state=0)
    ours = pb.ProperBoostClassifier().fit(X, y).predict_proba(X_test)
    naive = GaussianNB().fit(X, y).predict_proba(X_test)
    assert log_loss(y_test, ours) < 0.5 * log_loss(y_test, naive)


def test_several_classes_are_one_model_whose_probabilities_add_up(iris):
    X, y = iris
    model = pb.ProperBoostClassifier().fit(X, y)
    assert model.multiclass_ == "softmax"
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_plain_fit_is_not_overconfident(halves):
    X, y, X_test, y_test = halves
    log_odds = logit(pb.ProperBoostClassifier().fit(X, y).predict_proba(X_test)[:, [1]])
    slope = LogisticRegression(C=np.inf).fit(log_odds, y_test).coef_.item()
    assert slope > 1.0  # below 1 would be overconfident


def test_a_plain_fit_beats_logistic_regression_over_small_sets(small_sets):
    logistic = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    ours, theirs = [], []
    for X, y in small_sets:
        scores = cross_val_score(pb.ProperBoostClassifier(), X, y, cv=3, scoring="neg_log_loss")
        ours.append(-scores.mean())
        theirs.append(-cross_val_score(logistic, X, y, cv=3, scoring="neg_log_loss").mean())
    assert np.mean(ours) < 0.95 * np.mean(theirs)


def test_where_there_is_nothing_to_learn_it_predicts_the_share():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 8)), rng.random(400) < 0.2
    model = pb.ProperBoostClassifier().fit(X[:200], y[:200])
    constant = DummyClassifier().fit(X[:200], y[:200])
    ours = log_loss(y[200:], model.predict_proba(X[200:]))
    assert ours < 1.02 * log_loss(y[200:], constant.predict_proba(X[200:]))


def test_rare_positives_are_better_than_the_share(census):
    X, y = census
    positive, others = np.flatnonzero(y == y.max()), np.flatnonzero(y != y.max())
    rows = np.concatenate([positive[::60], others[::2]])  # 1% are positive
    X, X_test, y, y_test = train_test_split(
        X.iloc[rows], y.iloc[rows], random_state=0, stratify=y.iloc[rows]
    )
    model = pb.ProperBoostClassifier().fit(X, y)
    constant = DummyClassifier().fit(X, y)
    ours = log_loss(y_test, model.predict_proba(X_test))
    assert ours < 0.9 * log_loss(y_test, constant.predict_proba(X_test))


@pytest.mark.parametrize("loss", ["glog", "savage", "exponential", "alpha"])
def test_no_loss_is_biased_in_the_large(loss, halves):
    X, y, *_ = halves
    model = pb.ProperBoostClassifier(loss).fit(X, y)
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=2e-3)


def test_a_probability_tree_in_words(cancer):
    X, y = cancer
    tree = pb.UDTClassifier(max_leaf_nodes=4).fit(X, y)
    assert "worst" in tree.describe()
    assert len(np.unique(tree.predict_proba(X)[:, 1])) == 4


def test_weights_that_only_compare_rows(cancer):
    X, y = cancer
    weight = np.full(len(y), 1.0 / len(y))
    with pytest.warns(UserWarning, match="normalize_weights=True"):
        pb.ProperBoostClassifier(n_estimators=5).fit(X, y, weight)
    model = pb.ProperBoostClassifier(n_estimators=5, normalize_weights=True).fit(X, y, weight)
    plain = pb.ProperBoostClassifier(n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_would_more_rows_help(letters):
    X, y = letters
    curve = pb.diagnostics.gain_curve(X[:800], y[:800], n_estimators=5)
    assert curve.answer in ("yes", "no", "unknown")
    assert "more rows help" in curve.reading


def test_i_bring_my_own_loss(cancer):
    X, y = cancer
    loss = pb.losses.from_pdf(lambda t: np.exp(-np.abs(t)) / 2.0)
    model = pb.ProperBoostClassifier(loss, n_estimators=20).fit(X, y)
    assert model.score(X, y) > 0.95


def test_i_put_the_predictions_back_into_my_table(customers):
    X, y = customers
    model = pb.ProperBoostClassifier().fit(X, y)
    table = X.assign(**dict(zip(model.classes_, model.predict_proba(X).T, strict=True)))
    assert list(table.columns) == ["age", "town", "visits", "leaves", "stays"]
    assert pd.api.types.is_float_dtype(table["stays"])
