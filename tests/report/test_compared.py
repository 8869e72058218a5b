"""What a search compared, and what a simpler model costs."""

from dataclasses import replace

import numpy as np
import pytest

import properboost as pb
from properboost.model_selection.families import FAMILIES
from properboost.report.compared import is_additive, read_search


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3)).round(1)
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.logistic(size=240) > 0.0).astype(int)


@pytest.mark.filterwarnings("ignore:the chosen gain")
def test_families(table):
    search = pb.ProperBoostClassifierCV(effort=2, cv=2, max_estimators=20).fit(*table)
    found, results = read_search(search), search.family_results_
    assert found.by_family
    assert found.n_candidates == sum(one.candidates for one in found.rivals)
    assert found.n_dropped == results["dropped"].sum()
    assert found.n_splits == search.n_splits_ == 2
    assert found.best_score == search.best_score_
    assert [one.score for one in found.rivals] == sorted(results["mean_test_score"], reverse=True)
    assert [one.name for one in found.rivals if one.is_chosen] == [search.family_]
    names = [str(name) for name in results["family"]]
    before = names[: names.index(search.family_)] if search.family_ != "pairs" else names[:-1]
    simpler = [name for name in before if is_additive(name) or not is_additive(search.family_)]
    assert [one.name for one in found.simpler if one.name != "pairs"] == simpler
    assert dict(found.chosen)["n_estimators"] == str(search.n_estimators_)
    assert all(one.has_seconds for one in found.rivals)

    alone = read_search(search.best_estimator_)
    untimed = [replace(one, seconds=0.0) for one in found.rivals]
    assert not any(one.has_seconds for one in alone.rivals)
    assert [replace(one, seconds=0.0) for one in alone.rivals] == untimed
    assert [one.name for one in alone.simpler] == [one.name for one in found.simpler]
    others = (alone.by_family, alone.n_candidates, alone.n_dropped, alone.chosen, alone.scoring)
    assert others == (True, found.n_candidates, found.n_dropped, found.chosen, "neg_log_loss")


@pytest.mark.filterwarnings("ignore:the chosen gain")
def test_candidates_where_no_families_are_compared(table):
    gains = [0.5, 1.0, 2.0]
    search = pb.ProperBoostClassifierCV(effort=None, gains=gains, cv=3, max_estimators=10)
    found = read_search(search.fit(*table))
    assert not found.by_family
    assert found.simpler == ()
    assert {one.name for one in found.rivals} >= {f"gain {gain:g}" for gain in gains} or all(
        "gain" in one.name for one in found.rivals
    )
    best = next(one for one in found.rivals if one.is_chosen)
    assert best.behind == 0.0 <= min(one.behind for one in found.rivals)


def test_a_model_alone_knows_of_no_search(table):
    assert read_search(pb.ProperBoostClassifier(n_estimators=3).fit(*table)) is None


def test_names_tell_which_families_are_sums_of_functions():
    assert {family.name: is_additive(family.name) for family in FAMILIES} == {
        family.name: family.additive for family in FAMILIES
    }
    assert is_additive("pairs")
