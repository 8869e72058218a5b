"""The search's record in a model: in files, copies and edits, and until a new fit."""

import copy
import json

import numpy as np
import pytest

import properboost as pb
from properboost.model_selection.search_record import MOST_CANDIDATES, record_search

pytestmark = pytest.mark.filterwarnings("ignore:the chosen gain")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(1)
    return X, (X[:, 0] + rng.logistic(size=120) > 0.0).astype(int)


def search(space=None, **settings):
    space = {"gain": [0.5, 1.0, 2.0]} | (space or {})
    return pb.ProperBoostClassifierCV(space, **{"cv": 2, "max_estimators": 5} | settings)


SEARCHES = {
    "families": {"effort": 1, "readable": True},
    "lists": {"effort": None},
    "one split": {"effort": None, "cv": [(np.arange(60), np.arange(60, 120))]},
    "many": {
        "effort": None,
        "space": {"weak_learner__smoothing": [0.0, 0.1, 0.2], "prior": [None, 0.01]},
    },
    "scorer": {"effort": None, "scoring": lambda estimator, X, y: estimator.score(X, y)},
}


@pytest.mark.parametrize("name", SEARCHES)
def test_it_comes_back_from_files(name, rows, tmp_path):
    model = search(**SEARCHES[name]).fit(*rows)
    record = model.best_estimator_.search_
    compared = record["compared"]
    assert record["best_score"] == model.best_score_
    assert record["n_splits"] == model.n_splits_
    assert record["n_candidates"] >= len(compared["name"])
    assert len(compared["name"]) <= max(MOST_CANDIDATES, 2)
    assert sum(compared["is_chosen"]) == 1
    assert compared["behind"][compared["is_chosen"]] == 0.0
    assert "0x" not in json.dumps(record, default=str)  # addresses differ from fit to fit

    path = tmp_path / "model.json"
    for compact in (False, True):
        model.best_estimator_.save_model(path, compact=compact)
        loaded = pb.load_model(path).search_
        others = {key: value for key, value in record.items() if key != "compared"}
        assert {key: value for key, value in loaded.items() if key != "compared"} == others
        assert list(loaded["compared"]) == list(compared)
        for column, values in compared.items():
            np.testing.assert_array_equal(loaded["compared"][column], values)


def test_what_was_chosen_has_values_as_files_hold_them(rows):
    model = search({"loss": ["savage", "glog"]}, effort=None).fit(*rows)
    chosen = model.best_estimator_.search_["chosen"]
    params = model.best_estimator_.get_params()
    for name, value in chosen.items():
        if name == "weak_learner":
            assert value == "table"
        elif isinstance(value, bool | int | float | str) or value is None:
            assert value == params[name]
            assert isinstance(value, type(params[name]))
        else:
            assert value == (params[name] if isinstance(value, list) else str(params[name]))
    assert {name.partition("__")[0] for name in chosen} == {*model.best_params_}
    assert chosen["gain"] == model.gain_
    assert json.loads(json.dumps(chosen)) == chosen


def test_a_loaded_search_gives_it_to_its_model(rows, tmp_path):
    model = search(effort=1).fit(*rows)
    model.save_model(tmp_path / "search.json")
    assert '"search":' not in (tmp_path / "search.json").read_text()  # the search has it
    loaded = pb.load_model(tmp_path / "search.json").best_estimator_
    for estimator in (model.best_estimator_, loaded):
        estimator.save_model(tmp_path / "model.json")
        assert (tmp_path / "model.json").stat().st_size > 0
    assert str(loaded.search_) == str(model.best_estimator_.search_) == str(record_search(model))


def test_it_lasts_until_something_else_is_fitted_or_merged(rows):
    model = search(effort=None).fit(*rows).best_estimator_
    edited = copy.deepcopy(model).remove_feature(2)
    assert edited.search_["n_candidates"] == 3
    assert not hasattr(pb.merge_models([model, edited]), "search_")
    assert not hasattr(copy.deepcopy(model).fit(*rows), "search_")
