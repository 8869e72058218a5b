"""Test changes of a fitted model by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

import properboost as pb


def make(n=300, seed=0, n_classes=2):
    """Return a frame of numbers with missing values and a category, and labels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=["size", "age", "speed"])
    X["town"] = pd.Categorical(rng.choice(["Aarhus", "Bergen", "Calais"], n))
    raw = (
        X["size"] * (1 + X["age"]) + X["speed"] + (X["town"] == "Bergen") + rng.logistic(size=n) / 3
    )
    X.iloc[::9, 1] = np.nan
    y = np.searchsorted(np.nanquantile(raw, np.arange(1, n_classes) / n_classes), raw)
    return X, y


def fit(X, y, **settings):
    few = {"n_estimators": 15, "interactions": 2, "weak_learner": "table"}
    return pb.ProperBoostClassifier(**few | settings).fit(X, y)


def find_mean(model, X, *, is_joint):
    """Return the mean raw predictions, of a joint model less their mean over the classes."""
    mean = np.mean(model.decision_function(X), axis=0)
    return mean - np.mean(mean) if is_joint else mean


KINDS = [
    {},
    {"interactions": 0, "weak_learner": pb.Table(max_cells=None)},
    {"selection": "cyclic", "n_estimators": 4},
    {"outer_bags": 4},
    {"outer_bags": pb.Bags(4, tables=False)},
]
TREE_KINDS = [
    {"weak_learner": pb.Tree(interaction_cst=3)},
    {"weak_learner": pb.Tree(grow_policy="symmetric", max_depth=3, linear_leaves=True)},
    {"weak_learner": pb.Tree(interaction_cst=2, linear_leaves=True), "outer_bags": 4},
    {"weak_learner": pb.Tree(interaction_cst=3, max_features=0.5, n_draws=4)},
    {"weak_learner": "stump"},
    {"weak_learner": pb.Rule(max_conditions=3)},
]
TREE_KINDS = [{"interactions": 0, **kind} for kind in TREE_KINDS]
FORMS = [(2, "auto"), (3, "softmax"), (3, "canonical"), (3, "one_vs_rest")]


@pytest.mark.parametrize("kind", [*KINDS, *TREE_KINDS], ids=str)
@pytest.mark.parametrize(("n_classes", "form"), FORMS)
def test_what_is_set_is_there_and_nothing_else_moves(kind, n_classes, form):
    X, y = make(n_classes=n_classes)
    model = fit(X, y, multiclass=form, **kind)
    raw = model.decision_function(X)
    for feature in ("age", "town"):
        before = {j: model.shape_function(j, 1) for j in X}
        values = np.linspace(-1, 1, len(before[feature].values))
        assert model.set_shape_function(feature, values, class_=1, missing_value=0.25) is model
        after = {j: model.shape_function(j, 1) for j in X}
        np.testing.assert_allclose(after[feature].values, values, rtol=0, atol=1e-12)
        assert after[feature].missing_value == pytest.approx(0.25, abs=1e-12)
        for j in set(X) - {feature}:
            np.testing.assert_array_equal(after[j].values, before[j].values)
        change = after[feature](X[feature]) - before[feature](X[feature])
        new = model.decision_function(X)
        if n_classes == 2:
            np.testing.assert_allclose(new, raw + change, rtol=0, atol=1e-11)
        else:
            others = [k for k in range(3) if k != 1]
            np.testing.assert_array_equal(new[:, others], raw[:, others])
            if form != "one_vs_rest":
                change *= 1.5
            np.testing.assert_allclose(new[:, 1], raw[:, 1] + change, rtol=0, atol=1e-11)
        raw = new
        contributions = model.contributions(X, 1)
        mean = new.mean(axis=1) if form in ("softmax", "canonical") else 0.0
        expected = new if n_classes == 2 else new[:, 1] - mean
        np.testing.assert_allclose(
            contributions.baseline + contributions.values.sum(axis=1), expected, atol=1e-10
        )
    assert [edit["feature"] for edit in model.edits_] == ["age", "town"]


@pytest.mark.parametrize("kind", [*KINDS, *TREE_KINDS], ids=str)
@pytest.mark.parametrize(("n_classes", "form"), FORMS)
def test_a_removed_feature_has_no_part(kind, n_classes, form):
    X, y = make(n_classes=n_classes)
    model = fit(X, y, multiclass=form, **kind)
    before, pairs = {j: model.shape_function(j, 1) for j in X}, model.pairs_
    is_joint = form in ("softmax", "canonical")
    mean = find_mean(model, X, is_joint=is_joint)
    model.remove_feature("size", reason="not to be used")
    other = X.assign(size=np.random.default_rng(1).permutation(X["size"]))
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(other))
    assert model.pairs_ == [pair for pair in pairs if "size" not in pair]
    for j in X:
        expected = np.zeros_like(before[j].values) if j == "size" else before[j].values
        np.testing.assert_allclose(model.shape_function(j, 1).values, expected, atol=1e-12)
    assert find_mean(model, X, is_joint=is_joint) == pytest.approx(mean, abs=1e-9)
    assert not any("size" in term.features for term in model.terms_)
    if kind not in TREE_KINDS:
        assert model.feature_importances_[0] == 0.0
    (edit,) = model.edits_
    assert edit["method"] == "remove_feature"
    assert edit["reason"] == "not to be used"
    assert 0.0 < edit["mean_change"] <= edit["largest_change"]


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**16),
    steps=st.lists(st.sampled_from(["set", "remove", "order"]), min_size=1, max_size=4),
    kind=st.sampled_from([*({**kind, "interactions": 1} for kind in KINDS[:4]), *TREE_KINDS]),
)
def test_files_hold_edited_models(seed, steps, kind, tmp_path_factory):
    rng = np.random.default_rng(seed)
    X, y = make(80, seed)
    model = fit(X, y, **kind)
    for step in steps:
        feature = str(rng.choice(list(X)[:3]))
        if step == "set":
            shape = model.shape_function(feature)
            model.set_shape_function(feature, rng.normal(size=len(shape.values)))
        elif step == "remove":
            model.remove_feature(feature)
        elif not any(
            feature in term.features and len(term.features) > 1 for term in model.terms_
        ) and not kind.get("outer_bags"):
            model.monotonize(feature)
            values = model.shape_function(feature).values
            assert (np.diff(values) >= 0.0).all() or (np.diff(values) <= 0.0).all()
    path = tmp_path_factory.mktemp("edited") / "model.json"
    model.save_model(path)
    loaded = pb.load_model(path)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.edits_ == model.edits_
    assert loaded.pairs_ == model.pairs_


def test_monotonize_is_on_the_record():
    X, y = make()
    model = fit(X, y, interactions=0).monotonize("speed", -1, reason="it must not rise")
    (edit,) = model.edits_
    assert edit["method"] == "monotonize"
    assert edit["direction"] == -1
    assert edit["reason"] == "it must not rise"
    assert 0.0 < edit["mean_change"] <= edit["largest_change"]
    assert len(model.history_["risk"]) == 15  # the history stays
    model.monotonize("speed", -1)  # the second call changes nothing
    assert model.edits_ == [edit]


def test_edits_go_with_a_fit():
    X, y = make()
    model = fit(X, y).remove_feature("size")
    assert fit(X, y).edits_ == []
    assert model.fit(X, y).edits_ == []


def test_a_search_and_its_best_model_are_edited_together(tmp_path):
    X, y = make()
    search = pb.ProperBoostClassifierCV(
        space={"gain": [0.5, 1.0], "weak_learner": "table", "n_estimators": 10}, effort=1
    ).fit(X, y)
    search.remove_feature("town")
    assert search.best_estimator_.edits_ == search.edits_ != []
    np.testing.assert_array_equal(search.best_estimator_.predict_proba(X), search.predict_proba(X))
    search.save_model(tmp_path / "search.json")
    loaded = pb.load_model(tmp_path / "search.json")
    assert loaded.edits_ == loaded.best_estimator_.edits_ == search.edits_
    voting = pb.ARBoostClassifierCV(rhos=[1.0, 2.0], n_estimators=5).fit(X.iloc[:, [0, 2]], y)
    voting.remove_feature("size")
    assert voting.best_estimator_.edits_ == voting.edits_ != []


def test_an_edited_model_is_compact():
    X, y = make()
    model = fit(X, y).remove_feature("age")
    with pytest.raises(AttributeError, match=r"history_ is not available.*edited"):
        _ = model.history_
    with pytest.raises(ValueError, match="edited"):
        next(model.staged_predict(X))
    with pytest.raises(ValueError, match=r"compact|edited"):
        model.set_params(warm_start=True, n_estimators=30).fit(X, y)


def test_standard_errors_of_what_was_set_are_gone():
    X, y = make()
    model = fit(X, y, outer_bags=4)
    unchanged = model.shape_function("speed").standard_errors
    model.set_shape_function("size", np.zeros(len(model.shape_function("size").values)))
    edited = model.shape_function("size")
    assert edited.standard_errors is None is edited.p_value
    np.testing.assert_array_equal(model.shape_function("speed").standard_errors, unchanged)
    assert np.isnan(model.importance_errors_).all()
    errors = model.contributions(X).standard_errors
    assert np.isnan(errors[:, 0]).all()
    assert np.isfinite(errors[:, 2]).all()
    with pytest.raises(ValueError, match=r"predict_interval needs .* set_shape_function set no"):
        model.predict_interval(X)


def test_bags_lose_a_feature_as_the_model_does():
    X, y = make()
    model = fit(X, y, outer_bags=4)
    before = model.shape_function("speed").standard_errors
    model.remove_feature("size")
    np.testing.assert_allclose(model.shape_function("speed").standard_errors, before, rtol=1e-9)
    assert not model.shape_function("size").standard_errors.any()
    low, high = np.moveaxis(model.predict_interval(X)[:, 1], -1, 0)
    probability = model.predict_proba(X)[:, 1]
    assert (low <= probability).all()
    assert (probability <= high).all()
    other = X.assign(size=0.0)
    np.testing.assert_array_equal(model.predict_interval(other), model.predict_interval(X))


def test_edited_trees_lose_their_bags_and_rules():
    X, y = make()
    trees = fit(X, y, interactions=0, weak_learner=pb.Tree(interaction_cst=2), outer_bags=4)
    trees.remove_feature("size")
    assert trees.shape_function("speed").standard_errors is None
    with pytest.raises(ValueError, match="predict_interval needs"):
        trees.predict_interval(X)
    rules = fit(X, y, interactions=0, weak_learner="rule").remove_feature("size")
    with pytest.raises(ValueError, match=r"rules\(\) is of models as they were fitted"):
        rules.rules()


def test_a_table_of_many_codes_is_several_trees():
    """A tree has at most 255 nodes; a function of 255 bins needs more."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = X[:, 0] * X[:, 1] > 0.0
    model = fit(X, y, interactions=0, weak_learner=pb.Tree(interaction_cst=2), max_bins=255)
    values = rng.normal(size=len(model.shape_function(0).values))
    assert len(values) > 128
    before = model.shape_function(0).values
    raw = model.decision_function(X)
    model.set_shape_function(0, values)
    np.testing.assert_allclose(model.shape_function(0).values, values, rtol=0, atol=1e-12)
    edges = model.ensemble_.binning.features[0].edges
    moved = (values - before)[np.searchsorted(edges, X[:, 0])]
    np.testing.assert_allclose(model.decision_function(X), raw + moved, rtol=0, atol=1e-11)


def test_edits_are_refused_by_name():
    X, y = make()
    model = fit(X, y)
    n = len(model.shape_function("size").values)
    with pytest.raises(ValueError, match=rf"values must be one number for each of the {n} bins"):
        model.set_shape_function("size", np.zeros(n + 1))
    with pytest.raises(ValueError, match="values must be finite"):
        model.set_shape_function("size", np.full(n, np.nan))
    with pytest.raises(ValueError, match="missing_value must be one number"):
        model.set_shape_function("size", np.zeros(n), missing_value=[1.0, 2.0])
    with pytest.raises(TypeError, match="values must be numbers"):
        model.set_shape_function("size", ["much"] * n)
    with pytest.raises(ValueError, match="values must not make raw predictions beyond"):
        model.set_shape_function("size", np.full(n, 1e308))
    with pytest.raises(TypeError, match="reason must be a str"):
        model.remove_feature("size", reason=3)
    with pytest.raises(ValueError, match="length"):
        model.remove_feature("length")
    assert model.edits_ == []
    trees = pb.ProperBoostClassifier(weak_learner=pb.Tree(max_features=1.0)).fit(
        *load_wine(return_X_y=True)
    )
    with pytest.raises(ValueError, match="only if no path has more than three features"):
        trees.remove_feature(0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("direction", 0, "direction must be 1 or -1"),
        ("method", "repaint", "method must be one of"),
        ("feature", None, "feature must be null if models were merged, and only then"),
        ("mean_change", -1.0, "mean_change must be a finite number, not below 0"),
        ("class", 2, "class"),
    ],
)
def test_records_in_files_are_checked(tmp_path, name, value, message):
    X, y = make()
    fit(X, y, interactions=0).monotonize("speed", -1).save_model(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text("utf-8"))
    document["edits"][0][name] = value
    (tmp_path / "model.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(ValueError, match=message):
        pb.load_model(tmp_path / "model.json")
