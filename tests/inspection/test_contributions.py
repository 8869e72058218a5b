"""Test contributions: those of tables against shape functions, and what any kind's must be."""

import importlib.util
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import properboost as pb
from helpers.contributions import check_sum, fit

pd = pytest.importorskip("pandas")

# importorskip would fail: shap warns while it is imported, and warnings are errors here.
LINES = pb.Tree(max_leaf_nodes=8, linear_leaves=True)
needs_shap = pytest.mark.skipif(importlib.util.find_spec("shap") is None, reason="needs shap")
either_kind = pytest.mark.parametrize("learner", ["table", "tree", LINES], ids=str)


# -- tables and trees -----------------------------------------------------------------------------


@either_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_they_add_up_from_the_mean_to_the_raw_prediction(mixed, learner, weighted):
    X, y, weight = mixed
    model = fit(X, y, learner, weight if weighted else None)
    contributions = model.contributions(X)
    assert contributions.values.shape == X.shape
    assert (contributions.names, contributions.class_label) == (tuple(X), "yes")
    raw = model.decision_function(X)
    check_sum(contributions, raw)
    mean = np.average(raw, weights=weight if weighted else None)
    np.testing.assert_allclose(contributions.baseline, mean, atol=1e-9)


@either_kind
def test_those_to_one_of_two_classes_are_the_others_negatives(mixed, learner):
    X, y, _ = mixed
    model = fit(X, y, learner)
    to_yes, to_no = model.contributions(X, "yes"), model.contributions(X, "no")
    np.testing.assert_array_equal(to_yes.values, model.contributions(X).values)
    np.testing.assert_array_equal(to_no.values, -to_yes.values)
    assert to_no.baseline == -to_yes.baseline
    assert to_no.class_label == "no"


@either_kind
def test_each_class_has_contributions(iris, learner):
    X, y = iris
    labels = np.array(["a", "b", "c"])
    model = fit(X, labels[y], learner, multiclass="one_vs_rest")
    for k, label in enumerate(labels):
        contributions = model.contributions(X, label)
        assert contributions.names == ("feature 0", "feature 1", "feature 2", "feature 3")
        assert contributions.class_label == label
        check_sum(contributions, model.decision_function(X)[:, k])
    for label in ("d", 0):
        with pytest.raises(ValueError, match=r"class_ must be one of \['a', 'b', 'c'\]; got"):
            model.contributions(X, label)


@either_kind
def test_a_file_keeps_them(mixed, learner, tmp_path):
    X, y, _ = mixed
    model = fit(X, y, learner)
    model.save_model(tmp_path / "model.json")
    loaded, original = (
        pb.load_model(tmp_path / "model.json").contributions(X),
        model.contributions(X),
    )
    np.testing.assert_array_equal(loaded.values, original.values)
    assert loaded.baseline == original.baseline


@either_kind
def test_nothing_learnt_is_nothing_added(learner):
    X = np.ones((10, 2))
    contributions = fit(X, np.arange(10) % 2, learner).contributions(X)
    np.testing.assert_array_equal(contributions.values, np.zeros((10, 2)))
    assert contributions.baseline == 0.0


def test_a_fit_comes_first(iris):
    with pytest.raises(NotFittedError):
        pb.ProperBoostClassifier(weak_learner="table").contributions(iris[0])


# -- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["greedy", "cyclic"])
@pytest.mark.parametrize("learner", ["table", "stump"])
def test_of_tables_they_are_shape_functions_about_their_means(mixed, learner, selection):
    X, y, weight = mixed
    model = fit(X, y, learner, weight, selection=selection)
    values = model.contributions(X).values
    for j, name in enumerate(X):
        added = model.shape_function(name)(X[name])
        added -= np.average(added, weights=weight)
        np.testing.assert_allclose(values[:, j], added, atol=1e-12)


def test_a_search_has_them_too(mixed):
    X, y, _ = mixed
    search = pb.ProperBoostClassifierCV(
        {"gain": [1.0, 4.0], "n_estimators": 5}, cv=3, effort=None
    ).fit(X, y)
    check_sum(search.contributions(X), search.decision_function(X))


# -- rows and classes -----------------------------------------------------------------------------


@either_kind
@pytest.mark.parametrize("multiclass", ["softmax", "one_vs_rest"])
def test_each_row_explains_its_predicted_class(iris, learner, multiclass):
    X, y = iris
    model = fit(X, np.array(["a", "b", "c"])[y], learner, multiclass=multiclass)
    rows = X[::9]
    contributions = model.contributions(rows)
    np.testing.assert_array_equal(contributions.class_label, model.predict(rows))
    for i, label in enumerate(contributions.class_label):
        alone = model.contributions(rows[i : i + 1], label)
        np.testing.assert_allclose(contributions.values[i], alone.values[0], atol=1e-12)
        assert contributions.baseline[i] == pytest.approx(alone.baseline)
        assert contributions[i].class_label == label
        np.testing.assert_array_equal(contributions[i].values[0], contributions.values[i])
        assert contributions[i].baseline == contributions.baseline[i]
    np.testing.assert_allclose(
        contributions.baseline + contributions.values.sum(axis=1), contributions.total, atol=1e-12
    )


def test_of_each_rows_class_are_the_intervals(iris):
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=5, outer_bags=4, weak_learner="table").fit(X, y)
    for scale in ("log_odds", "probability"):
        contributions = model.contributions(X[::20], scale=scale)
        ends = np.stack(contributions.interval())
        assert (
            contributions.p_values.shape
            == contributions.within_noise.shape
            == contributions.values.shape
        )
        for i, label in enumerate(contributions.class_label):
            alone = model.contributions(X[::20], label, scale)
            np.testing.assert_allclose(ends[:, i], np.stack(alone.interval())[:, i], atol=1e-12)
            np.testing.assert_array_equal(contributions.p_values[i], alone.p_values)


@pytest.mark.parametrize("chosen", [slice(3, 9), [5, 2, 2], np.arange(20) % 3 == 0, []])
@pytest.mark.parametrize("scale", ["raw", "log_odds", "probability"])
def test_a_part_of_the_rows_is_had_as_of_an_array(iris, chosen, scale):
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=3, outer_bags=4, weak_learner="table").fit(X, y)
    every = model.contributions(X[::8][:19], scale=scale)
    if isinstance(chosen, np.ndarray):
        chosen = chosen[:19]
    part = every[chosen]
    assert len(part) == len(part.values) == len(np.arange(19)[chosen])
    for name in ("values", "total", "class_label", "data"):
        np.testing.assert_array_equal(getattr(part, name), getattr(every, name)[chosen])
    for end, expected in zip(part.interval(), every.interval(), strict=True):
        np.testing.assert_allclose(end, expected[chosen], atol=1e-15)
    assert len(every[-1]) == 1
    assert every[-1].class_label == every.class_label[-1]
    with pytest.raises(IndexError):
        every[19]


def test_rows_keep_their_values(mixed):
    X, y, _ = mixed
    model = pb.ProperBoostClassifier(
        n_estimators=3, interactions=[(0, 1)], weak_learner="table"
    ).fit(X, y)
    rows = X[:30].copy()
    contributions = model.contributions(rows)
    rows.loc[:, "visits"] = 0  # later changes of the table do not matter
    assert contributions.data.shape == (30, 3)
    assert contributions.terms == ((0,), (1,), (2,), (0, 1))
    for i in range(30):
        age, town, visits = X.iloc[i]
        assert contributions.data[i, 2] == visits
        assert contributions.describe_value(i, 2) == str(visits)
        assert contributions.describe_value(i, 1) == ("missing" if pd.isna(town) else town)
        words = "missing" if pd.isna(age) else f"{age:.6g}"
        assert (
            contributions.describe_value(i, 3) == f"{words}, {contributions.describe_value(i, 1)}"
        )


def test_values_of_numbers_and_categories_in_arrays():
    X = np.array([[1, 10], [2, 20], [1, 30], [2, 40]] * 9, dtype=np.float32)
    model = pb.ProperBoostClassifier(n_estimators=2, categorical_features=[0], weak_learner="table")
    contributions = model.fit(X, [0, 1, 0, 1] * 9).contributions(X[:2])
    assert [contributions.describe_value(0, j) for j in (0, 1)] == ["1", "10"]
    assert contributions.columns[1].dtype == np.float32


# -- scales ---------------------------------------------------------------------------------------


def test_raw_ones_can_be_turned(mixed, iris):
    for X, y in (mixed[:2], iris):
        model = pb.ProperBoostClassifier(n_estimators=3, outer_bags=4, weak_learner="table").fit(
            X, y
        )
        raw = model.contributions(X[:20])
        for scale in ("raw", "log_odds", "probability"):
            if not raw.can_turn(scale):
                continue
            expected, turned = model.contributions(X[:20], scale=scale), raw.to_scale(scale)
            assert turned.scale == scale
            for name in ("values", "baseline", "total", "class_label"):
                np.testing.assert_array_equal(getattr(turned, name), getattr(expected, name))
            np.testing.assert_array_equal(turned.interval(), expected.interval())
    assert not raw.can_turn("probability")  # a probability of three classes needs all their values
    with pytest.raises(ValueError, match=r"call the model's contributions\(X, scale='probab"):
        raw.to_scale("probability")
    with pytest.raises(ValueError, match="scale must be one of"):
        raw.to_scale("odds")


def test_trees_have_all_scales(mixed):
    X, y, _ = mixed
    model = fit(X, y, "tree")
    p = model.predict_proba(X[:30])[:, 1]
    log_odds = model.contributions(X[:30], scale="log_odds")
    check_sum(log_odds, np.log(p / (1 - p)))
    np.testing.assert_allclose(model.contributions(X[:30], scale="probability").total, p)


# -- frames and shap ------------------------------------------------------------------------------


@pytest.mark.parametrize("bags", [0, 4])
def test_a_frame_has_a_line_for_each_row_and_term(mixed, bags):
    X, y, _ = mixed
    model = pb.ProperBoostClassifier(
        n_estimators=3, interactions=[(0, 1)], outer_bags=bags, weak_learner="table"
    )
    contributions = model.fit(X, y).contributions(X[:7], scale="log_odds")
    frame = contributions.to_frame(0.5)
    names = ["row", "class", "term", "value", "contribution"]
    assert list(frame) == names + (["low", "high", "within_noise"] if bags else [])
    assert set(frame["class"]) == {"yes"}
    wide = frame.pivot_table(index="row", columns="term", values="contribution", sort=False)
    np.testing.assert_array_equal(wide[list(contributions.names)], contributions.values)
    assert frame["value"][2] == X["visits"][0]
    assert frame["value"][3] == contributions.describe_value(0, 3)
    if bags:
        low, high = contributions.interval(0.5)
        np.testing.assert_array_equal(frame["low"], low.ravel())
        np.testing.assert_array_equal(frame["high"], high.ravel())
        np.testing.assert_array_equal(frame["within_noise"], np.tile(contributions.within_noise, 7))


def test_a_frame_of_many_classes_names_each_rows(iris):
    X, y = iris
    contributions = (
        pb.ProperBoostClassifier(n_estimators=3, weak_learner="table")
        .fit(X, y)
        .contributions(X[[0, 60, 140]])
    )
    frame = contributions.to_frame()
    np.testing.assert_array_equal(
        frame["class"], np.repeat(contributions.class_label, 4).astype(int)
    )
    assert frame["class"].dtype == int


def test_missing_pandas_and_shap_are_named(iris, monkeypatch):
    contributions = (
        pb.ProperBoostClassifier(n_estimators=1, weak_learner="table")
        .fit(*iris)
        .contributions(iris[0][:1])
    )
    for package, extra, ask in (
        ("pandas", "frames", contributions.to_frame),
        ("shap", "explain", contributions.to_shap),
    ):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=rf"{package}: pip install 'properboost\[{extra}\]'"):
            ask()


@needs_shap
def test_shap_gets_an_explanation(mixed, iris):
    X, y, _ = mixed
    model = pb.ProperBoostClassifier(
        n_estimators=3, interactions=[(0, 1)], weak_learner="table"
    ).fit(X, y)
    contributions = model.contributions(X[:5], scale="log_odds")
    explanation = contributions.to_shap()
    np.testing.assert_array_equal(explanation.values, contributions.values)
    np.testing.assert_array_equal(explanation.base_values, np.full(5, contributions.baseline))
    np.testing.assert_allclose(
        explanation.base_values + explanation.values.sum(axis=1), contributions.total
    )
    assert explanation.feature_names == list(contributions.names)
    assert explanation.data[0, 3] == contributions.describe_value(0, 3)
    numbers = (
        pb.ProperBoostClassifier(n_estimators=3, weak_learner="table")
        .fit(*iris)
        .contributions(iris[0][:5])
    )
    np.testing.assert_array_equal(numbers.to_shap().data, iris[0][:5])
    with pytest.raises(ValueError, match="adds up, which contributions with scale='probability'"):
        model.contributions(X[:5], scale="probability").to_shap()


@either_kind
@pytest.mark.parametrize("multiclass", ["softmax", "one_vs_rest"])
@pytest.mark.parametrize("scale", ["raw", "log_odds", "probability"])
def test_rows_of_predicted_classes_equal_the_contributions_of_each_class(
    iris, learner, multiclass, scale
):
    X, y = iris
    fit = pb.ProperBoostClassifier(n_estimators=4, weak_learner=learner, multiclass=multiclass)
    model, rows = fit.fit(X, y), X[::7]
    contributions, predicted = model.contributions(rows, scale=scale), model.predict(rows)
    for k in range(3):
        of_class = model.contributions(rows[predicted == k], k, scale)
        np.testing.assert_array_equal(contributions.values[predicted == k], of_class.values)
        np.testing.assert_array_equal(contributions.total[predicted == k], of_class.total)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_terms_added_one_by_one_lead_to_the_prediction(iris, n_classes):
    X, y = iris
    y = np.minimum(y, n_classes - 1)
    model = pb.ProperBoostClassifier(n_estimators=10, interactions=1, weak_learner="table").fit(
        X, y
    )
    contributions = model.contributions(X[::30], scale="probability")
    p = model.predict_proba(X[::30])
    for row in range(len(contributions)):
        label = contributions.class_label if n_classes == 2 else contributions.class_label[row]
        order = contributions.rank(row)
        assert sorted(order) == list(range(5))
        path = contributions.accumulate(row, order)
        assert path[0] == pytest.approx(
            np.ravel(contributions.baseline)[row if n_classes > 2 else 0]
        )
        assert path[-1] == pytest.approx(p[row, label], rel=1e-9)
        np.testing.assert_array_equal(contributions.accumulate(row, order[:2]), path[:3])
        if n_classes == 2:
            sizes = np.abs(model.contributions(X[::30]).values[row])[order]
            assert (np.diff(sizes) <= 0.0).all()
    np.testing.assert_array_equal(
        contributions.accumulate(-1, [0]), contributions.accumulate(len(contributions) - 1, [0])
    )
