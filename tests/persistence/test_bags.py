"""Files of models with bags: standard errors survive the round trip, or files are refused."""

import copy
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_classification

import properboost as pb
from helpers.documents import change
from helpers.models import LEARNERS, assert_same, same_bits, same_model
from properboost.models.bag_tables import BagTables
from properboost.models.standard_errors import TableErrors
from properboost.parameters.declare import read_parameter


def two_classes():
    return make_classification(300, 4, n_informative=3, n_redundant=1, random_state=0)


def three_classes():
    X, y = load_wine(return_X_y=True)
    return X[:, :4], y


def fit(rows, **settings):
    settings = {"outer_bags": 5, "n_estimators": 4, "max_bins": 6} | settings
    return pb.ProperBoostClassifier(weak_learner="table").set_params(**settings).fit(*rows())


def round_trip(model, tmp_path):
    path = tmp_path / "model.json"
    model.save_model(path)
    loaded = pb.load_model(path)
    loaded.save_model(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    return loaded


def assert_as_sure(one, other, X):
    """Assert that two models have the same bags or standard errors, bit for bit."""
    a, b = one.ensemble_.standard_errors, other.ensemble_.standard_errors
    assert type(a) is type(b)
    assert a.n_bags == b.n_bags
    for m in range(len(one.ensemble_.models)):
        np.testing.assert_array_equal(a.errors(m), b.errors(m))
        np.testing.assert_array_equal(one.ensemble_.p_values[m], other.ensemble_.p_values[m])
    np.testing.assert_array_equal(one.importance_errors_, other.importance_errors_)
    if isinstance(a, BagTables):
        for ours, theirs in zip(a.bags, b.bags, strict=True):
            assert ours.intercepts == theirs.intercepts
            assert all(map(same_bits, ours.models, theirs.models))
        np.testing.assert_array_equal(one.predict_interval(X), other.predict_interval(X))
    contributions = [model.contributions(X, model.classes_[-1]) for model in (one, other)]
    np.testing.assert_array_equal(*(contribution.standard_errors for contribution in contributions))


@pytest.mark.parametrize("rows", [two_classes, three_classes])
@pytest.mark.parametrize("learner", LEARNERS)
def test_every_model_comes_back(learner, rows, tmp_path):
    X, _ = rows()
    model = fit(rows, **LEARNERS[learner])
    loaded = round_trip(model, tmp_path)
    assert_same(model, loaded, X)
    assert loaded.n_iter_ == model.n_iter_
    if read_parameter(model, "weak_learner").is_grown:
        assert not hasattr(loaded.ensemble_, "standard_errors")
    else:
        assert_as_sure(model, loaded, X)


@pytest.mark.parametrize("rows", [two_classes, three_classes])
@pytest.mark.parametrize(
    "settings",
    [
        {"outer_bags__tables": False},
        {"outer_bags__tables": False, "interactions": 1},
        {"calibration": pb.Calibration(intercept="share"), "outer_bags": 16},
        {"loss": "savage"},
        {"multiclass": "one_vs_rest"},
        {"calibration": pb.Calibration(slope=0.5), "outer_bags": 64},
    ],
    ids=str,
)
def test_bags_and_standard_errors_come_back(settings, rows, tmp_path):
    X, y = rows()
    model = fit(rows, **settings)
    loaded = round_trip(model, tmp_path)
    assert_same(model, loaded, X)
    whole = read_parameter(model, "outer_bags").tables
    assert isinstance(loaded.ensemble_.standard_errors, BagTables if whole else TableErrors)
    assert_as_sure(model, loaded, X)
    again = loaded.fit(X, y)
    assert same_model(again, model)
    assert_as_sure(model, again, X)


def test_a_bag_has_the_features_that_it_was_boosted_with(tmp_path):
    model = fit(two_classes, n_estimators=1, selection="greedy")
    model.save_model(tmp_path / "model.json")
    bags = json.loads((tmp_path / "model.json").read_text())["bags"]
    assert [len(bag["models"][0]["tables"]) for bag in bags] == [1] * 5


def test_a_monotonized_model_comes_back(tmp_path):
    X, _ = two_classes()
    for whole in (True, False):
        model = fit(two_classes, outer_bags__tables=whole).monotonize(0)
        loaded = round_trip(model, tmp_path)
        assert_same(model, loaded, X)
        assert_as_sure(model, loaded, X)


def test_parameters_set_since_the_fit_leave_the_bags(tmp_path):
    X, _ = two_classes()
    model = fit(two_classes).set_params(outer_bags=0)
    loaded = round_trip(model, tmp_path)
    assert loaded.outer_bags == 0
    assert_as_sure(model, loaded, X)


def test_searches_come_back(tmp_path):
    X, y = two_classes()
    search = pb.ProperBoostClassifierCV(
        space={"gain": [0.5, 2.0], "n_estimators": 4, "outer_bags": 4},
        cv=2,
        max_bins=6,
        effort=None,
    ).fit(X, y)
    loaded = round_trip(search, tmp_path)
    assert loaded.get_params() == search.get_params()
    assert_as_sure(search, loaded, X)
    assert_as_sure(search.best_estimator_, loaded.best_estimator_, X)
    assert loaded.best_estimator_.ensemble_.standard_errors is loaded.ensemble_.standard_errors


def test_a_model_without_bags_writes_one_parameter_more(tmp_path):
    model = fit(two_classes, outer_bags=0)
    model.save_model(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    assert not {"bags", "standard_errors"} & document.keys()
    assert "estimator" not in document["models"][0]
    del document["parameters"]["outer_bags"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    loaded = pb.load_model(tmp_path / "old.json")
    assert (loaded.outer_bags, loaded.ensemble_.standard_errors) == (0, None)
    assert_same(model, loaded, two_classes()[0])


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    path = tmp_path_factory.mktemp("bags") / "model.json"
    contents = {}
    for name, settings in {
        "bags": {"calibration": pb.Calibration(intercept="share"), "interactions": 1},
        "errors": {"outer_bags__tables": False},
        "cyclic": {"selection": "cyclic", "n_estimators": 2},
        "tree": {"weak_learner": "tree"},
    }.items():
        fit(two_classes, **settings).save_model(path)
        contents[name] = json.loads(path.read_text())
    fit(three_classes).save_model(path)
    contents["classes"] = json.loads(path.read_text())
    return contents


def load(document, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    return pb.load_model(path)


BAG, ERRORS = ("bags", 1), ("standard_errors",)
ROUNDS = (*BAG, "models", 0)


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("bags", ("bags",), None, "bags must be a list"),
        ("bags", ("bags",), [], "bags must have 4 to 64 entries; it has 0"),
        ("bags", BAG, {}, r"bags\[1\] lacks the field 'intercepts'"),
        ("bags", (*BAG, "step"), [], r"bags\[1\] has an unknown field 'step'"),
        ("bags", (*BAG, "intercepts"), [], r"intercepts must have 1 entries; it has 0"),
        ("bags", (*BAG, "intercepts"), ["nan"], r"intercepts must hold numbers"),
        ("bags", (*BAG, "intercepts"), [1e301], r"bags\[1\] must not add up to raw predictions"),
        ("bags", (*BAG, "models"), [], r"models must have 1 entries; it has 0"),
        ("bags", (*ROUNDS, "feature", 0), 5, r"feature must hold integers from 0 to 4"),
        ("bags", (*ROUNDS, "feature", 0), -1, r"feature must hold integers from 0 to 4"),
        ("bags", (*ROUNDS, "feature", 1), 0, r"feature must be in strictly ascending order"),
        ("bags", (*ROUNDS, "feature"), [0], r"tables must have 1 entries; it has"),
        ("bags", (*ROUNDS, "tables", 0), [0.0], r"tables\[0\] must have \d+ entries; it has 1"),
        ("bags", (*ROUNDS, "tables", 0, 0), None, r"tables\[0\] must hold numbers"),
        ("bags", (*ROUNDS, "tables", 0, 0), -2e300, r"bags\[1\] must not add up to raw"),
        ("bags", ERRORS, {}, "standard_errors must not be combined with bags"),
        ("bags", ("parameters", "outer_bags"), 3, "outer_bags must be between 4 and 64, or 0"),
        (
            "bags", ("parameters", "outer_bags"), {"Bags": {"n_bags": 4, "tables": 1}},
            "Bags.tables must be True or False",
        ),
        ("bags", ("parameters", "outer_bags"), {"Bags": {"n": 4}}, "Bags has an unknown field 'n'"),
        ("errors", ERRORS, [], "standard_errors must be an object"),
        ("errors", (*ERRORS, "n_bags"), 3, r"n_bags must be an integer from 4 to 64"),
        ("errors", (*ERRORS, "n_bags"), 65, r"n_bags must be an integer from 4 to 64"),
        ("errors", (*ERRORS, "factor"), 1.0, "has an unknown field 'factor'"),
        ("errors", (*ERRORS, "entries"), [], r"entries must have 1 entries; it has 0"),
        ("errors", (*ERRORS, "entries", 0), [], r"entries\[0\] must have \d+ entries"),
        ("errors", (*ERRORS, "entries", 0, 2), -1e-9, r"entries\[0\] must hold no number below 0"),
        ("errors", (*ERRORS, "entries", 0, 2), "inf", r"entries\[0\] must hold numbers"),
        ("errors", (*ERRORS, "ratios", 0, 0), -0.5, r"ratios\[0\] must hold no number below 0"),
        ("errors", (*ERRORS, "ratios", 0, 0), "-inf", r"ratios\[0\] must hold no number below 0"),
        ("errors", (*ERRORS, "ratios", 0, 0), "nan", "ratios must be 'nan' where all entries"),
        ("errors", (*ERRORS, "entries", 0, 2), "nan", "ratios must be 'nan' where all entries"),
        ("errors", (*ERRORS, "ratios", 0), [0.5], r"ratios\[0\] must have 4 entries"),
        ("errors", (*ERRORS, "degrees", 0, 0), "inf", r"degrees\[0\] must hold numbers"),
        ("errors", (*ERRORS, "degrees", 0, 0), 5.5, r"degrees must hold numbers above 0"),
        ("errors", (*ERRORS, "degrees", 0, 0), 0, r"degrees must hold numbers above 0"),
        ("errors", (*ERRORS, "importances", 0), -0.5, "importances must hold no number below 0"),
        ("tree", ("bags",), [], "bags must be of look-up tables"),
        ("tree", ERRORS, {}, "standard_errors must be of look-up tables"),
        ("tree", ("models", 0, "estimator", 0), 1, "estimator must count estimators from 0"),
        ("tree", ("models", 0, "estimator"), [0], "estimator must have 20 entries, one per round"),
        ("bags", ("models", 0, "estimator", 0), -1, "estimator must hold integers from 0"),
        ("bags", ("models", 0, "estimator", -1), 0, "estimator must count estimators from 0"),
        ("cyclic", ("models", 0, "estimator", 4), 3, "estimator must count estimators from 0"),
        ("classes", ("bags", 2, "models"), [], "models must have 3 entries; it has 0"),
    ],
    ids=str,
)  # fmt: skip
def test_every_field_is_checked(name, place, value, message, documents, tmp_path):
    changed = change(documents[name], place, value)
    with pytest.raises(ValueError, match=rf"(?s)model\.json: .*{message}"):
        load(changed, tmp_path)


def test_files_of_before_bags_have_none(documents, tmp_path):
    for name in ("bags", "errors"):
        changed = copy.deepcopy(documents[name])
        del changed["parameters"]["outer_bags"]
        with pytest.raises(ValueError, match=r"has an unknown field '(bags|standard_errors)'"):
            load(changed, tmp_path)


def test_votes_with_damping_count_every_round(tmp_path):
    X, y = two_classes()
    pb.ARBoostClassifier(n_estimators=2, damping=0.1).fit(X, y).save_model(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    with pytest.raises(ValueError, match=r"estimator must count .* in a model without damping"):
        load(change(document, ("models", 0, "estimator"), [0, 0]), tmp_path)
    with pytest.raises(ValueError, match="has an unknown field 'bags'"):
        load(change(document, ("bags",), []), tmp_path)
