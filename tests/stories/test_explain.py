"""An analyst reads a model, explains a prediction and shows it to others."""

import numpy as np
import pytest
from sklearn.inspection import PartialDependenceDisplay

import properboost as pb

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_pictures_left():
    """Close every picture."""
    yield
    plt.close("all")


def test_a_prediction_is_a_sum_that_i_can_check(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier().fit(X, y)
    contributions = model.contributions(X)
    np.testing.assert_allclose(
        contributions.baseline + contributions.values.sum(axis=1),
        model.decision_function(X),
        atol=1e-9,
    )


def test_what_would_have_changed_the_answer(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier().fit(X, y)
    refused = X[model.predict(X) == 0][:10]
    changes = model.changes(refused, to=1, keep=["mean radius"])
    print(changes)
    turned = [change is not None for change in changes]
    np.testing.assert_array_equal(model.predict(changes.apply(refused)) == 1, turned)
    assert any(turned)


def test_which_features_matter(cancer):
    model = pb.ProperBoostClassifier().fit(*cancer)
    ranked = sorted(zip(model.feature_importances_, model.feature_names_in_, strict=True))
    assert ranked[-1][1].startswith("worst")
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_what_a_value_adds(cancer):
    shape = pb.ProperBoostClassifier().fit(*cancer).shape_function("worst area")
    assert shape(400.0) > shape(2000.0)  # small cells are benign, class 1


def test_tables_are_not_jagged(census):
    model = pb.ProperBoostClassifierCV({"gain": 4}, effort=None, cv=2).fit(*census)
    # The ups and downs of an EBM of three bags, in log-odds.
    of_an_ebm = {"age": 11.5, "hours-per-week": 6.4, "fnlwgt": 10.5, "capital-gain": 125.0}
    for feature, most in of_an_ebm.items():
        log_odds = model.shape_function(feature).values / model.loss_.gain
        assert np.abs(np.diff(log_odds)).sum() < most


def test_smoothing_makes_neighbours_alike(letters):
    ups_and_downs = []
    for h in (0.0, 4.0):
        table = pb.Table(max_cells=None, smoothing=h)
        shape = pb.ProperBoostClassifier(weak_learner=table).fit(*letters).shape_function(10)
        ups_and_downs.append(np.abs(np.diff(shape.values)).sum())
    assert ups_and_downs[1] < ups_and_downs[0]


def test_how_sure_is_the_model_of_a_shape(cancer):
    model = pb.ProperBoostClassifier(outer_bags=8, n_estimators=20).fit(*cancer)
    shape = model.shape_function("worst area")
    low, high = shape.interval(0.9)
    assert np.all(low <= high)
    assert shape.within_noise in (True, False)


def test_an_interval_around_a_probability(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(outer_bags=8, n_estimators=20).fit(X, y)
    low, high = model.predict_interval(X[:5])[:, 1].T
    p = model.predict_proba(X[:5])[:, 1]
    assert np.all((low <= p) & (p <= high))


def test_more_income_must_never_lower_the_score(cancer):
    model = pb.ProperBoostClassifier(monotonic_cst={"worst area": -1}).fit(*cancer)
    assert np.all(np.diff(model.shape_function("worst area").values) <= 0.0)


def test_i_make_one_feature_monotone_after_the_fit(cancer):
    model = pb.ProperBoostClassifier(weak_learner="table").fit(*cancer)
    model.monotonize("mean texture")
    steps = np.diff(model.shape_function("mean texture").values)
    assert np.all(steps <= 0.0) or np.all(steps >= 0.0)


def test_which_pairs_of_features_interact():
    X = np.random.default_rng(0).normal(size=(600, 4))
    y = X[:, 1] * X[:, 3] > 0
    model = pb.ProperBoostClassifier(interactions=1).fit(X, y)
    assert model.pairs_ == [(1, 3)]
    assert model.term_function((1, 3)).values.shape[0] > 1


def test_trees_are_explained_by_shapley_values(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=10).fit(X, y)
    contributions = model.contributions(X[:20])
    np.testing.assert_allclose(
        contributions.baseline + contributions.values.sum(axis=1),
        model.decision_function(X[:20]),
        atol=1e-9,
    )


def test_one_tree_in_words(cancer):
    model = pb.ProperBoostClassifier(weak_learner=pb.Tree(max_features=1.0), n_estimators=2)
    assert "worst" in model.fit(*cancer).describe_tree(1)


def test_one_class_of_several_is_explained(iris):
    X, y = iris
    model = pb.ProperBoostClassifier().fit(X, y)
    contributions = model.contributions(X, class_=2)
    assert contributions.class_label == 2
    assert model.shape_function(2, class_=2)(6.0) > model.shape_function(2, class_=0)(6.0)


def test_i_draw_the_most_important_shapes(cancer):
    figure = pb.plots.plot_shape_functions(pb.ProperBoostClassifier().fit(*cancer), n_features=4)
    assert len(figure.axes) >= 4


def test_i_draw_why_this_row(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier().fit(X, y)
    ax = pb.plots.plot_contributions(model.contributions(X[:1]), max_features=5)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(labels) == 6
    assert labels[-1] == "25 more"


def test_i_draw_how_the_risk_fell(cancer):
    model = pb.ProperBoostClassifier(n_estimators=20).fit(*cancer)
    assert pb.plots.plot_training(model).get_lines()
    assert pb.plots.plot_training(model, data={"training": cancer}).get_lines()


def test_i_draw_which_features_matter(cancer):
    model = pb.ProperBoostClassifier(n_estimators=20).fit(*cancer)
    bars = pb.plots.plot_importance(model, n_features=5).patches
    assert [bar.get_width() for bar in bars] == sorted(model.feature_importances_)[::-1][:5]


def test_i_draw_what_a_search_compared(cancer):
    search = pb.ProperBoostClassifierCV(effort=1, scoring="auc").fit(*cancer)
    assert "ROC AUC" in pb.plots.plot_search(search).get_xlabel()


def test_i_draw_whether_probabilities_are_right(halves):
    X, y, X_test, y_test = halves
    model = pb.ProperBoostClassifier().fit(X, y)
    assert pb.plots.plot_reliability(y_test, model.predict_proba(X_test)[:, 1]).get_lines()


def test_i_draw_losses():
    axes = pb.plots.plot_loss({"logistic": pb.losses.GLog(), "Savage": pb.losses.Savage()})
    assert len(axes) == 4


def test_partial_dependence_by_scikit_learn(cancer):
    X, y = cancer
    model = pb.ProperBoostClassifier(n_estimators=20).fit(X, y)
    shown = PartialDependenceDisplay.from_estimator(model, X, ["worst area"], grid_resolution=5)
    assert shown.axes_.size == 1
