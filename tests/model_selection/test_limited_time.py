"""Searches with a time limit: samples, groups of candidates, and final fits that end in time."""

import dataclasses
import math
import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

import properboost as pb
from helpers.products import make_rows
from helpers.searches import quick
from helpers.searches import search_soon as search
from properboost.data.labels import read_rows
from properboost.model_selection import deadline, limited_time, search_run
from properboost.model_selection.deadline import Deadline, StopInTime
from properboost.model_selection.families import FAMILIES
from properboost.model_selection.fit_in_time import FinalFit
from properboost.model_selection.limited_time import choose_sample
from properboost.model_selection.race import Race
from properboost.model_selection.search_stages import list_stages

TREES = {"weak_learner": "tree", "weak_learner__max_depth": 2, "weak_learner__max_features": 0.5}


def sample_of(n_rows, limit, *, n_classes=2, rare=None, **settings):
    """Return the split of a search over so many rows."""
    y = np.arange(n_rows) % n_classes
    if rare is not None:
        y = (np.arange(n_rows) < rare).astype(int)
    model = pb.ProperBoostClassifierCV(time_limit=limit, **settings)
    return choose_sample(model, read_rows(y, n_rows))


def sample_few(monkeypatch):
    """Let searches compare on few rows, and return a table of many."""
    sample = StratifiedShuffleSplit(1, train_size=250, test_size=500, random_state=0)
    monkeypatch.setattr(search_run, "choose_sample", lambda *_: sample)
    return make_rows(2_000)


def test_a_sample_grows_with_the_time_up_to_all_rows():
    short, long = sample_of(1_000_000, 10.0), sample_of(1_000_000, 60.0)
    assert (short.train_size, short.test_size) == (50_000, 12_500)
    assert (long.train_size, long.test_size) == (300_000, 75_000)
    whole = sample_of(60_000, 20.0)
    assert (whole.train_size, whole.test_size) == (None, 0.2)


def test_a_sample_has_rows_of_every_class():
    assert sample_of(20_000, 1.0).train_size == 5_000
    assert sample_of(20_000, 1.0, n_classes=26).train_size == 26 * 80
    assert sample_of(1_000_000, 1.0, rare=2_000).train_size == 80 * 500 // 2


def test_there_is_no_sample_with_enough_time_or_few_rows():
    assert sample_of(1_000_000, None) is None
    assert sample_of(2_000, 1000.0) is None
    assert sample_of(100, 0.1) is None
    assert sample_of(1_000_000, 10.0, effort=None) is None


def test_rows_that_no_split_uses_change_no_score():
    X, y = make_rows(400)
    settings = quick(weak_learner=["table", "tree"]) | {"effort": None}
    settings["cv"] = StratifiedShuffleSplit(2, train_size=0.3, test_size=0.2, random_state=1)
    without = pb.ProperBoostClassifierCV(**settings).fit(X, y)
    copied = pb.ProperBoostClassifierCV(**settings, time_limit=1000.0).fit(X, y)
    np.testing.assert_array_equal(copied.validation_curves_, without.validation_curves_)
    assert copied.best_params_ == without.best_params_
    np.testing.assert_array_equal(copied.decision_function(X), without.decision_function(X))


def test_a_group_ends_before_the_race():
    spent = {"group": False, "all": False}
    race = Race(lambda *_: spent["all"], limit_group=lambda: lambda _: spent["group"])
    race.begin()
    assert not race.ends_group()
    spent["group"] = True
    assert race.ends_group()
    assert not race.is_over()
    spent["group"] = False
    assert race.ends_group()  # for good
    race.begin()
    assert not race.ends_group()
    spent["group"] = True
    race.begin(is_last=True)
    assert not race.ends_group()
    spent["all"] = True
    assert race.ends_group()


def test_a_share_is_at_least_some_seconds(monkeypatch):
    monkeypatch.setattr(deadline.time, "monotonic", lambda: 100.0)
    limit = Deadline(120.0)
    assert limit.share(0.4, 2.0).end == pytest.approx(108.0)
    assert limit.share(0.4, 12.0).end == pytest.approx(112.0)
    assert limit.share(0.4, 30.0).end == pytest.approx(120.0)


def test_families_of_low_efforts_come_first_and_the_bar_has_their_order(monkeypatch):
    begun = []
    boost = search_run.SearchRun._boost

    def boost_and_see(run, candidates, split_rows, what, *more, **named):
        begun.append(what)
        return boost(run, candidates, split_rows, what, *more, **named)

    monkeypatch.setattr(search_run.SearchRun, "_boost", boost_and_see)
    model = search(effort=2, time_limit=1000.0)
    model.fit(*make_rows(120))
    rungs = {family.name: family.rung for family in FAMILIES}
    first = [name for name in begun if name in rungs][: len(model.family_results_["family"])]
    assert [rungs[name] for name in first] == [1, 1, 1, 2, 2, 2]
    assert first == [stage.name for stage in list_stages(model)][:-1]


def test_a_limited_search_compares_the_models_of_plain_fits():
    X, y = make_rows(200)
    learners = [
        params["weak_learner"]
        for params in search(effort=1, time_limit=1000.0).fit(X, y).cv_results_["params"]
    ]
    plain = pb.Tree(grow_policy="symmetric", interaction_cst=3, linear_leaves=True)
    assert pb.Table() in learners
    assert plain in learners
    without = search(effort=1).fit(X, y).cv_results_["params"]
    assert plain not in [params["weak_learner"] for params in without]
    pinned = search({"weak_learner": "stump"}, effort=2, time_limit=1000.0).fit(X, y)
    assert {*pinned.family_results_["family"]} == {"stumps"}


class StopsAfter(StopInTime):
    """The end of a fit after so many estimators."""

    def __init__(self, n):
        self.seen, self.n, self.has_stopped = 0, n, False

    def see(self, _find_rounds, /):
        self.seen += 1
        self.has_stopped = self.seen >= self.n
        return self.has_stopped


@pytest.mark.parametrize("space", [TREES, {"weak_learner": "table"}])
def test_the_limit_ends_the_final_fit_which_keeps_its_rounds(monkeypatch, space):
    X, y = make_rows(200)
    monkeypatch.setattr(search_run.SearchRun, "stop", property(lambda _: StopsAfter(3)))
    limited = search(space, effort=1 if "max" not in str(space) else 2, time_limit=1000.0)
    with pytest.warns(UserWarning, match="ended the final fit after 3 of "):
        limited.fit(X, y)
    assert limited.ended_ == "time_limit"
    assert limited.n_estimators_ == limited.best_params_["n_estimators"] == 3
    again = pb.ProperBoostClassifier(**limited.best_params_).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), limited.decision_function(X))


@pytest.mark.parametrize(("affordable", "faster"), [(0.5, 2.0), (0.01, 3.0), (1.5, 1.0)])
def test_trees_hurry_if_the_time_allows_less_than_one_fit(monkeypatch, affordable, faster):
    X, y = make_rows(200)
    space = {**TREES, "weak_learner__n_draws": 1, "weak_learner__interaction_cst": None}
    slow = search(space, effort=2, time_limit=1000.0).fit(X, y)
    monkeypatch.setattr(FinalFit, "count_affordable", lambda _: affordable)
    quick_one = search(space, effort=2, time_limit=1000.0).fit(X, y)
    rates = [model.best_params_["learning_rate"] for model in (slow, quick_one)]
    assert rates[1] == pytest.approx(faster * rates[0])
    assert quick_one.n_estimators_ == math.ceil(slow.n_estimators_ / faster)
    pinned = search({**space, "learning_rate": 0.1}, effort=2, time_limit=1000.0).fit(X, y)
    assert pinned.best_params_["learning_rate"] == 0.1


def test_rounds_of_trees_grow_with_the_rows(monkeypatch):
    X, y = sample_few(monkeypatch)
    space = {**TREES, "weak_learner__n_draws": 1}
    model = search(space, effort=2, cv="auto", time_limit=1000.0, max_estimators=400).fit(X, y)
    assert model.n_estimators_ == 2 * model.cv_results_["n_estimators"][model.best_index_]
    assert model.best_params_["n_estimators"] == model.n_estimators_


def test_a_winner_that_had_too_little_time_goes_on(monkeypatch):
    """Groups have no time: the best of their single estimators then gets the rest."""
    X, y = make_rows(300)
    monkeypatch.setattr(
        search_run.Deadline, "share",
        lambda limit, part, _least=0.0: (
            dataclasses.replace(limit, end=0.0) if part == search_run.OF_A_GROUP else limit
        ),
    )  # fmt: skip
    model = search({"interactions": 0}, cv=4, time_limit=1000.0).fit(X, y)
    known = np.isfinite(model.validation_curves_).all(axis=1).sum(axis=1)
    assert known.max() == 1
    assert model.n_estimators_ > 1
    assert model.best_score_ > model.cv_results_["mean_test_score"][model.best_index_]


def test_a_warning_names_the_rows_and_families_that_were_left_out(monkeypatch):
    monkeypatch.setattr(limited_time, "FEWEST_ROWS", 300)
    X, y = make_rows(3_000)
    model = pb.ProperBoostClassifierCV(effort=2, time_limit=1e-6, max_estimators=20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    text = str(caught[0].message)
    assert "compared on 375 of 3,000 rows" in text
    assert text.endswith(
        "no time was left for stumps, readable symmetric trees, readable trees, trees, symmetric "
        "trees with lines"
    )
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(("seconds", "families"), [(0.0, 6), (1e9, 3)])
def test_more_families_follow_only_if_the_best_can_still_be_fitted(monkeypatch, seconds, families):
    X, y = sample_few(monkeypatch)

    leaves_time = FinalFit.leaves_time

    def see(final, best, _):
        return leaves_time(final, best, seconds)

    monkeypatch.setattr(FinalFit, "leaves_time", see)
    model = search(effort=2, cv="auto", time_limit=1000.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert len(model.family_results_["family"]) == families
    assert (model.ended_ == "time_limit") == (families == 3)
    assert any("no time was left for stumps" in str(w.message) for w in caught) == (families == 3)


def test_rounds_with_all_rows_are_timed(monkeypatch):
    X, y = sample_few(monkeypatch)
    space = {**TREES, "weak_learner__n_draws": 1, "weak_learner__interaction_cst": None}
    settings = {"effort": 2, "cv": "auto", "time_limit": 1000.0, "max_estimators": 400}
    seen = []

    def time_a_round(_candidate, rows):
        seen.append(rows.training.n_rows)
        return 1e9

    monkeypatch.setattr(search_run, "time_a_round", time_a_round)
    model = search(space, **settings).fit(X, y)
    assert seen == [2_000]
    assert model.best_params_["learning_rate"] == pytest.approx(0.6)
