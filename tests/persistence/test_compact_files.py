"""Compact files: the same predictions from fewer fields; errors name the missing ones."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest

import properboost as pb
from helpers.models import LEARNERS, document_of, load_document
from properboost.parameters.learners import make_learner

pd = pytest.importorskip("pandas")

FEW = {"n_estimators": 8, "max_bins": 6}
TABLES = {"weak_learner": "table", **FEW}
SPACE = {"gain": [0.5, 2.0], "n_estimators": 5}
SEARCH = {"cv": 2, "max_bins": 6, "effort": None}

MODELS = {
    **{name: pb.ProperBoostClassifier(**FEW, **settings) for name, settings in LEARNERS.items()},
    "tables": pb.ProperBoostClassifier(**TABLES),
    "rules": pb.ProperBoostClassifier(**FEW, weak_learner="rule"),
    "draws": pb.ProperBoostClassifier(**FEW, weak_learner=pb.Tree(n_draws=3)),
    "lines": pb.ProperBoostClassifier(
        n_estimators=4, weak_learner=pb.Tree(linear_leaves=True, max_leaf_nodes=3)
    ),
    "bags": pb.ProperBoostClassifier(**TABLES, outer_bags=4, interactions=1, loss="savage"),
    "errors": pb.ProperBoostClassifier(**TABLES, outer_bags=pb.Bags(4, tables=False)),
    "slope and intercept": pb.ProperBoostClassifier(
        **TABLES, calibration=pb.Calibration(slope=0.3, intercept="share")
    ),
    "totally corrective": pb.ProperBoostClassifier(**TABLES, step="totally_corrective"),
    "votes": pb.ARBoostClassifier(n_estimators=8),
    "votes of trees": pb.ARBoostClassifier(n_estimators=8, weak_learner="tree"),
    "damped votes": pb.WeightBoost(n_estimators=8),
    "damped trees": pb.ARBoostClassifier(n_estimators=4, weak_learner="tree", damping=0.1),
    "rhos": pb.ARBoostClassifierCV([1.0, 2.0], cv=2, n_estimators=4),
    "search": pb.ProperBoostClassifierCV({**SPACE, "interactions": 1}, **SEARCH),
    "udt": pb.UDTClassifier(max_leaf_nodes=7),
    "rados": pb.RadoBoostClassifier(n_estimators=30, n_rados=40),
    "uls": pb.ULSClassifier(n_estimators=30),
}
OF_TWO = {"damped votes", "damped trees", "udt", "rados", "uls"}
ADDITIVE = {
    name
    for name, model in MODELS.items()
    if not make_learner(getattr(model, "weak_learner", "table")).is_grown
} - {"damped votes", "udt", "rados", "uls"}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=90),
            "town": pd.Categorical(rng.choice(["x", "y", "z"], 90)),
            "age": rng.integers(0, 9, 90).astype(float),
        }
    )
    y = np.where(X["size"] + (X["town"] == "x") > rng.normal(size=90), "a", "b")
    return X, y, np.where(X["age"] > 6, "c", y)


def fit(name, rows, several):
    X, two, three = rows
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return MODELS[name].fit(X, three if several else two)


def round_trip(model, path, **how):
    model.save_model(path, **how)
    return pb.load_model(path)


def cases():
    return [(name, several) for name in MODELS for several in (False, True)
            if not (several and name in OF_TWO)]  # fmt: skip


@pytest.mark.parametrize(("name", "several"), cases())
def test_they_predict_the_same_bits_and_are_saved_as_the_same_bytes(name, several, rows, tmp_path):
    model = fit(name, rows, several)
    loaded = round_trip(model, tmp_path / "compact.json", compact=True)
    assert name == "udt" or len(model.history_["feature"]) > 1  # the model itself has its rounds
    for ask in ("decision_function", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(loaded, ask)(rows[0]), getattr(model, ask)(rows[0]))
    assert loaded.get_params() == model.get_params()
    assert getattr(loaded, "n_iter_", None) == getattr(model, "n_iter_", None)
    round_trip(loaded, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "compact.json").read_bytes()
    model.save_model(tmp_path / "full.json")
    assert (tmp_path / "compact.json").stat().st_size < (tmp_path / "full.json").stat().st_size


@pytest.mark.parametrize(("name", "several"), [case for case in cases() if case[0] in ADDITIVE])
def test_tables_explain_the_same_bits(name, several, rows, tmp_path):
    model = fit(name, rows, several)
    loaded = round_trip(model, tmp_path / "compact.json", compact=True)
    label = model.classes_.tolist()[-1]
    for ask in (
        lambda m: m.feature_importances_,
        lambda m: m.pair_importances_,
        lambda m: m.contributions(rows[0], label).values,
        lambda m: m.shape_function("size", label).values,
    ):
        np.testing.assert_array_equal(ask(loaded), ask(model))
    if name in ("bags", "errors"):
        np.testing.assert_array_equal(loaded.importance_errors_, model.importance_errors_)
    if name == "bags":
        np.testing.assert_array_equal(
            loaded.predict_interval(rows[0]), model.predict_interval(rows[0])
        )


def test_trees_explain_the_same(rows, tmp_path):
    model = fit("tree", rows, several=True)
    loaded = round_trip(model, tmp_path / "compact.json", compact=True)
    assert loaded.describe_tree(2, "b") == model.describe_tree(2, "b")
    np.testing.assert_array_equal(
        loaded.contributions(rows[0], "b").values, model.contributions(rows[0], "b").values
    )
    model = fit("rules", rows, several=False)
    loaded = round_trip(model, tmp_path / "compact.json", compact=True)
    assert [*map(str, loaded.rules())] == [*map(str, model.rules())]


HISTORY = "history_ is not available: the model was saved compact"
ROUNDS = "the part of each round is not available: the model was saved compact"


@pytest.mark.parametrize("name", [name for name in MODELS if name != "udt"])
def test_what_is_gone_is_refused_by_name(name, rows, tmp_path):
    loaded = round_trip(fit(name, rows, several=False), tmp_path / "compact.json", compact=True)
    with pytest.raises(AttributeError, match=HISTORY):
        _ = loaded.history_
    for ask in ("staged_decision_function", "staged_predict_proba", "staged_predict"):
        if hasattr(loaded, ask):
            with pytest.raises(ValueError, match=ROUNDS):
                next(getattr(loaded, ask)(rows[0]))
    if name not in ADDITIVE | {"rados", "uls"}:
        with pytest.raises(
            AttributeError, match="feature_importances_ is not available: the model"
        ):
            _ = loaded.feature_importances_
    if name in ("votes", "rhos"):
        with pytest.raises(ValueError, match="error of each round is not available: the model was"):
            loaded.training_error_bounds()
    if name == "search":
        with pytest.raises(AttributeError, match="validation_curves_ is not available: the model"):
            _ = loaded.validation_curves_
        assert loaded.n_splits_ == 2
        with pytest.raises(AttributeError, match=HISTORY):
            _ = loaded.best_estimator_.history_


def test_a_tree_without_savings(rows, tmp_path):
    loaded = round_trip(fit("udt", rows, several=False), tmp_path / "compact.json", compact=True)
    assert loaded.describe() == MODELS["udt"].describe()
    assert np.isnan(loaded.tree_.saving).all()
    with pytest.raises(
        AttributeError, match="feature_importances_ is not available: the model was"
    ):
        _ = loaded.feature_importances_


@pytest.mark.parametrize("name", ["pairs", "lines", "damped votes", "search", "udt", "rados"])
def test_copies_stay_compact(name, rows, tmp_path):
    loaded = round_trip(fit(name, rows, several=False), tmp_path / "m.json", compact=True)
    for twin in (copy.deepcopy(loaded), pickle.loads(pickle.dumps(loaded))):
        twin.save_model(tmp_path / "twin.json")
        assert (tmp_path / "twin.json").read_bytes() == (tmp_path / "m.json").read_bytes()


def test_a_new_fit_is_complete(rows, tmp_path):
    for name in ("tables", "search", "udt", "rados", "rhos"):
        loaded = round_trip(fit(name, rows, several=False), tmp_path / "m.json", compact=True)
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            loaded.fit(rows[0], rows[1])
        again = json.loads(json.dumps(document_of(loaded, tmp_path)))
        assert again == document_of(MODELS[name], tmp_path)


def test_a_search_without_a_refit(rows, tmp_path):
    search = pb.ProperBoostClassifierCV(SPACE, **SEARCH, refit=False).fit(rows[0], rows[1])
    loaded = round_trip(search, tmp_path / "compact.json", compact=True)
    assert loaded.best_params_ == search.best_params_
    with pytest.raises(AttributeError, match="validation_curves_ is not available"):
        _ = loaded.validation_curves_


def test_a_table_can_be_put_in_order(rows, tmp_path):
    loaded = round_trip(fit("tables", rows, several=False), tmp_path / "m.json", compact=True)
    values = loaded.monotonize("size").shape_function("size").values
    assert (np.diff(values) <= 0.0).all() or (np.diff(values) >= 0.0).all()
    again = round_trip(loaded, tmp_path / "m.json")
    np.testing.assert_array_equal(again.predict_proba(rows[0]), loaded.predict_proba(rows[0]))


def test_compact_must_be_true_or_false(rows, tmp_path):
    with pytest.raises(TypeError, match="compact must be True or False; got 1"):
        fit("udt", rows, several=False).save_model(tmp_path / "m.json", compact=1)


def test_files_record_whether_they_are_compact(rows, tmp_path):
    for name in ("tables", "udt", "rados", "search"):
        model = fit(name, rows, several=False)
        full = document_of(model, tmp_path)
        assert full["compact"] is False
        with pytest.raises(ValueError, match=r"is of a full model, against its field 'compact'"):
            load_document({**full, "compact": True}, tmp_path)
        loaded = round_trip(model, tmp_path / "m.json", compact=True)
        compact = document_of(loaded, tmp_path)
        assert compact["compact"] is True
        with pytest.raises(ValueError, match=r"is of a compact model, against its field 'compact'"):
            load_document({**compact, "compact": False}, tmp_path)
        del compact["compact"]
        with pytest.raises(ValueError, match="lacks the field 'compact'"):
            load_document(compact, tmp_path)
        with pytest.raises(ValueError, match=r"(lacks the|has an unknown) field|is of a"):
            load_document({**compact, "format_version": 7}, tmp_path)
