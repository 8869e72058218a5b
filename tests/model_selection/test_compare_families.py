"""The comparison of families: who takes steps, and which."""

from types import SimpleNamespace

import numpy as np
import pytest

import properboost as pb
from helpers.products import make_rows
from helpers.searches import search_soon as search
from properboost.model_selection import families
from properboost.model_selection.compare_families import CandidateRecord, compare
from properboost.model_selection.cv_scores import CVScores
from properboost.model_selection.search_space import Step


def place(family, x, y):
    """Return a candidate with two settings."""
    options = SimpleNamespace(x=x, y=y, weak_learner=SimpleNamespace(name=family))
    loss = SimpleNamespace(gain=1.0)
    return SimpleNamespace(
        family=family, options=options, loss=loss, coupling=None, group=family, pace=1.0
    )


class Family:
    """A family whose candidates are points of whole numbers, and whose steps are neighbours."""

    rung = 1

    def __init__(self, name, *, is_readable=False):
        self.name, self.is_readable = name, is_readable
        self.candidates = [place(name, 0, 0)]

    def list_steps(self, best):
        x, y = best.options.x, best.options.y
        settings = [{"x": x - 1}, {"x": x + 1}, {"y": y - 1}, {"y": y + 1}]
        return [Step(change, self.combine(best, [Step(change, best)])) for change in settings]

    def combine(self, best, steps):
        settings = {"x": best.options.x, "y": best.options.y}
        for step in steps:
            settings |= step.settings
        return place(self.name, **settings)


def run(rate, families, effort):
    """Compare families by a function of family and settings; return all points in order."""
    seen = []

    def evaluate(candidates, _family):
        points = [(c.family, c.options.x, c.options.y) for c in candidates]
        seen.extend(points)
        scores = np.array([rate(*point) for point in points])
        splits = scores[:, None] + np.array([0.0, 0.01, -0.01])
        values = np.repeat(splits[None, ..., None], 2, axis=0)
        return CVScores(values, np.full((len(points), 1), np.nan))

    compare(families, evaluate, lambda scores: scores.values[0].mean(axis=(1, 2)), None, effort)
    return seen


def test_second_steps_move_what_helped_before():
    """The score rises with x alone, and with y nowhere."""
    seen = run(lambda _, x, y: -10.0 + x - abs(y), [Family("trees")], 3)
    assert seen == [
        ("trees", 0, 0), ("trees", -1, 0), ("trees", 1, 0), ("trees", 0, -1), ("trees", 0, 1),
        ("trees", 2, 0),
    ]  # fmt: skip


def test_one_split_decides_no_steps():
    assert run(lambda _, x, y: x + y, [Family("trees")], 2) == [("trees", 0, 0)]


@pytest.mark.parametrize(("behind", "steps"), [(0.3, True), (0.7, False)])
def test_a_readable_family_takes_steps_unless_it_is_far_behind(behind, steps):
    families = [Family("tables", is_readable=True), Family("trees")]
    seen = run(lambda name, x, y: -10.0 - behind * (name == "tables"), families, 3)
    assert (("tables", 1, 0) in seen) == steps


@pytest.mark.parametrize(
    ("of_second", "is_far"),
    [
        ([-1.2, -1.2, -1.2, -1.2], True),
        ([-1.04, -1.04, -1.04, -1.04], False),  # within 5%
        ([-0.8, -1.6, -0.8, -1.6], False),  # within two standard errors
        ([-1.2, -1.2, np.nan, np.nan], False),
    ],
)
def test_far_behind_is_beyond_noise_and_a_share_of_the_score(of_second, is_far):
    record = CandidateRecord(candidates=[place("a", 0, 0), place("b", 0, 0)], ratings=[-1.0, -1.2])
    for scores in ([-1.0] * 4, of_second):
        values = np.repeat(np.array(scores)[None, None, :, None], 2, axis=0)
        record.parts.append(CVScores(values, np.full((1, 1), np.nan)))
    assert record.is_far_behind(1) == is_far
    assert not record.is_far_behind(0)


def test_pairs_on_top_of_tables_that_are_far_behind_are_left_out_unless_they_are_written():
    X, y = make_rows(600)
    assert "pairs" not in search().fit(X, y).family_results_["family"]
    written = search({"interactions": [0, 1]}).fit(X, y)
    assert "pairs" in written.family_results_["family"]


def test_averaged_trees_get_more_rounds_than_single_draws_where_rows_are_enough():
    trees = {"weak_learner": "tree", "weak_learner__interaction_cst": None}
    X, y = make_rows(1200)
    model = search(trees, effort=2, cv="auto").fit(X, y)
    chosen = model.cv_results_["n_estimators"][model.best_index_]
    assert model.n_estimators_ == model.best_params_["n_estimators"] == round(1.25 * chosen)
    single = search({**trees, "weak_learner__n_draws": 1}, effort=2, cv="auto").fit(X, y)
    few = search(trees, effort=2, cv="auto").fit(X[:300], y[:300])
    pinned = search({**trees, "n_estimators": 20}, effort=2, cv="auto").fit(X, y)
    for other in (single, few, pinned):
        at = other.best_index_
        assert other.n_estimators_ == other.cv_results_["n_estimators"][at]
    again = pb.ProperBoostClassifier(**model.best_params_).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_readable_trees_have_draws_where_rows_are_enough_and_bags_if_all_models_are_readable(
    monkeypatch,
):
    one = [family for family in families.FAMILIES if family.name == "readable symmetric trees"]
    monkeypatch.setattr(families, "FAMILIES", one)
    X, y = make_rows(1200)

    def averages(n_rows, space=None, **settings):
        model = search({"weak_learner": "tree"} | (space or {}), **settings)
        params = model.fit(X[:n_rows], y[:n_rows]).best_params_
        return params["weak_learner"].n_draws, params.get("outer_bags", 0)

    assert averages(1200) == (16, 0)
    assert averages(1200, readable=True) == (1, 16)
    assert averages(300) == (1, 16)
    assert averages(1200, {"outer_bags": 4}) == (1, 4)
    assert averages(1200, {"weak_learner__n_draws": 3}) == (3, 0)
    assert averages(1200, effort=2) == (8, 0)


def test_high_efforts_average_slower_trees_unless_the_rate_or_the_time_is_given(monkeypatch):
    one = [family for family in families.FAMILIES if family.name == "symmetric trees"]
    monkeypatch.setattr(families, "FAMILIES", one)
    X, y = make_rows(1200)

    def rate_and_rounds(space=None, **settings):
        model = search({"weak_learner": "tree"} | (space or {}), **{"cv": 2} | settings).fit(X, y)
        again = pb.ProperBoostClassifier(**model.best_params_).fit(X, y)
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        chosen = model.cv_results_["n_estimators"][model.best_index_]
        return model.best_params_["learning_rate"], model.n_estimators_ / round(1.25 * chosen)

    assert rate_and_rounds(effort=3, max_estimators=1000) == (0.2, 1.0)
    assert rate_and_rounds(effort=4, max_estimators=1000) == (0.1, 2.0)
    assert rate_and_rounds({"learning_rate": 0.2}, effort=4, max_estimators=1000) == (0.2, 1.0)
    assert rate_and_rounds(effort=4, max_estimators=1000, time_limit=1000) == (0.2, 1.0)
    rate, rounds = rate_and_rounds(effort=4, max_estimators=8)  # these leave none to add
    assert rate == 0.2
    assert rounds <= 1.0
