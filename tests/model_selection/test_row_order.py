"""A search warns if neighbouring rows are alike, and cuts blocks if they give each other away."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import properboost as pb
from properboost.model_selection.row_order import OrderEffect

ALIKE = "neighbouring rows of the table are alike"
GIVEN_AWAY, LESS_ALIKE = 0.97, 0.7
"""The shares of a person's rows of one class at which blocks are taken, and at which not."""


def visits(n_persons=50, n_visits=40, seed=0, agree=GIVEN_AWAY):
    """Return rows sorted by person: each has a different place and mostly the same class."""
    random = np.random.default_rng(seed)
    place, sick = random.normal(size=(n_persons, 3)), random.random(n_persons) < 0.5
    person = np.repeat(np.arange(n_persons), n_visits)
    X = place[person] + 0.05 * random.normal(size=(len(person), 3))
    y = np.where(random.random(len(person)) < agree, sick[person], ~sick[person])
    return X, y.astype(int)


def search(X, y, **settings):
    """Return a search and the messages of its warnings."""
    settings = {"max_estimators": 30, "refit": False} | settings
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        model = pb.ProperBoostClassifierCV({"interactions": 0}, **settings).fit(X, y)
    return model, [str(warning.message) for warning in record]


@pytest.mark.parametrize(("effort", "folds", "blocks"), [(1, 1, 3), (2, 1, 3), (3, 5, 5)])
def test_efforts_agree_on_rows_sorted_by_person(effort, folds, blocks):
    X, y = visits(agree=LESS_ALIKE)
    model, (message,) = search(X, y, effort=effort)
    assert ALIKE in message
    assert "chooses on random folds; if new rows will be of others, cv=5 chooses" in message
    assert model.n_splits_ == folds

    X, y = visits()
    model, (message,) = search(X, y, effort=effort)
    assert ALIKE in message
    assert "chooses on blocks" in message
    assert "cv=StratifiedKFold(5, shuffle=True) chooses" in message
    assert model.n_splits_ == blocks


def test_blocks_are_those_of_written_folds():
    X, y = visits()
    taken, _ = search(X, y, effort=3)
    written, messages = search(X, y, effort=3, cv=5)
    assert messages == []
    np.testing.assert_array_equal(taken.validation_curves_, written.validation_curves_)


def test_chosen_folds_cause_no_warning():
    X, y = visits()
    assert search(X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0))[1] == []
    assert search(X, y, cv=StratifiedKFold(5))[1] == []


@pytest.mark.parametrize("seed", range(5))
def test_rows_in_random_order_cause_no_warning(seed):
    X, y = visits(seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    model, messages = search(X[order], y[order])
    assert messages == []
    by_chance, _ = search(X[order], y[order], cv=StratifiedKFold(5, shuffle=True, random_state=0))
    np.testing.assert_array_equal(model.validation_curves_, by_chance.validation_curves_)


def test_few_rows_cause_no_warning():
    X, y = visits(10, 20)
    assert search(X, y)[1] == []


def test_a_split_that_would_be_too_small_leaves_enough_to_look_at():
    X, _ = visits(60, 20)
    y = np.repeat(np.random.default_rng(0).integers(8, size=60), 20)
    _, (message,) = search(X, y)
    assert "chooses on blocks" in message


@pytest.mark.parametrize(
    ("blocks", "mixed", "error", "clear", "cut"),
    [(0.5, 0.3, 0.01, True, False), (0.5, 0.46, 0.001, False, False),
     (0.5, 0.3, 0.06, False, False), (0.3, 0.5, 0.01, False, False),
     (np.nan, 0.3, 0.01, False, False), (np.inf, 0.3, 0.01, False, False),
     (0.95, 0.3, 0.01, True, True), (0.95, 0.3, 0.2, False, False)],
)  # fmt: skip
def test_an_effect_is_clear_beyond_chance_and_a_tenth(blocks, mixed, error, clear, cut):
    effect = OrderEffect(blocks, mixed, error)
    assert (effect.is_clear, effect.needs_blocks) == (clear, cut)
