"""A search whose folds are blocks of rows warns if the order of rows matters."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import properboost as pb
from properboost.model_selection import search_run
from properboost.model_selection.row_order import OrderEffect


def visits(n_persons=50, n_visits=40, seed=0):
    """Return rows sorted by person: each has a different place and mostly the same class."""
    random = np.random.default_rng(seed)
    place, sick = random.normal(size=(n_persons, 3)), random.random(n_persons) < 0.5
    person = np.repeat(np.arange(n_persons), n_visits)
    X = place[person] + 0.05 * random.normal(size=(len(person), 3))
    y = np.where(random.random(len(person)) < 0.95, sick[person], ~sick[person])
    return X, y.astype(int)


def search(X, y, interactions=0, **settings):
    settings = {"max_estimators": 30, "refit": False} | settings
    return pb.ProperBoostClassifierCV({"interactions": interactions}, **settings).fit(X, y)


def test_rows_sorted_by_person_cause_a_warning():
    X, y = visits()
    with pytest.warns(UserWarning, match="neighbouring rows of the table are alike") as record:
        search(X, y)
    assert len(record) == 1
    assert "cv=StratifiedKFold(5, shuffle=True)" in str(record[0].message)


def list_warnings(X, y, **settings):
    """Return the messages of a search's warnings."""
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        search(X, y, **settings)
    return [str(warning.message) for warning in record]


def test_chosen_folds_cause_no_warning():
    X, y = visits()
    assert list_warnings(X, y, cv=5) == []
    assert list_warnings(X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0)) == []
    assert list_warnings(X, y, effort=2) == []  # one split, at random


@pytest.mark.parametrize("seed", range(5))
def test_rows_in_random_order_cause_no_warning(seed):
    X, y = visits(seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    assert list_warnings(X[order], y[order]) == []


def test_few_rows_cause_no_warning():
    X, y = visits(10, 20)
    assert list_warnings(X, y) == []


@pytest.mark.parametrize(
    ("blocks", "mixed", "error", "clear"),
    [(0.5, 0.3, 0.01, True), (0.5, 0.46, 0.001, False), (0.5, 0.3, 0.06, False),
     (0.3, 0.5, 0.01, False), (np.nan, 0.3, 0.01, False), (np.inf, 0.3, 0.01, False)],
)  # fmt: skip
def test_an_effect_is_clear_beyond_chance_and_a_tenth(blocks, mixed, error, clear):
    assert OrderEffect(blocks, mixed, error).is_clear == clear


def test_an_interrupt_while_it_looks_leaves_out_what_would_come(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(search_run, "hold_out_at_random", interrupt)
    X, y = visits()
    assert search(X, y).ended_ is None  # all were compared
    with pytest.warns(UserWarning, match="the search was interrupted"):
        model = search(X, y, interactions=[0, 1])
    assert model.ended_ == "interrupted"
    assert model.best_params_["n_estimators"] >= 1
