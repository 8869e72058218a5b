"""The comparison of a search's candidates, and the cost of a simpler model."""

import math
from dataclasses import replace

import numpy as np
import pytest

import properboost as pb
from properboost.model_selection.compare_families import PAIRS
from properboost.model_selection.families import FAMILIES
from properboost.report.content import ModelScores, SimplerModels, SubsetScores
from properboost.report.search import (
    describe_cost,
    describe_family,
    describe_reading,
    describe_score,
    describe_simpler,
    describe_unprotected,
    is_readable_family,
    name_score,
    read_search,
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3)).round(1)
    return X, (X[:, 0] * X[:, 1] + X[:, 2] + rng.logistic(size=240) > 0.0).astype(int)


@pytest.mark.filterwarnings("ignore:the chosen gain")
def test_families(table):
    search = pb.ProperBoostClassifierCV(effort=2, cv=2, max_estimators=20).fit(*table)
    summary, results = read_search(search), search.family_results_
    assert summary.by_family
    assert summary.n_candidates == sum(rival.candidates for rival in summary.rivals)
    assert summary.n_dropped == results["dropped"].sum()
    assert summary.n_splits == search.n_splits_ == 2
    assert summary.best_score == search.best_score_
    assert [rival.score for rival in summary.rivals] == sorted(
        results["mean_test_score"], reverse=True
    )
    assert [rival.name for rival in summary.rivals if rival.is_chosen] == [search.family_]
    names = [str(name) for name in results["family"]]
    before = names[: names.index(search.family_)] if search.family_ != "pairs" else names[:-1]
    simpler = [
        name
        for name in before
        if is_readable_family(name) or not is_readable_family(search.family_)
    ]
    assert [rival.name for rival in summary.simpler if rival.name != "pairs"] == simpler
    assert dict(summary.chosen)["n_estimators"] == str(search.n_estimators_)
    assert all(rival.has_seconds for rival in summary.rivals)

    alone = read_search(search.best_estimator_)
    untimed = [replace(rival, seconds=0.0) for rival in summary.rivals]
    assert not any(rival.has_seconds for rival in alone.rivals)
    assert [replace(rival, seconds=0.0) for rival in alone.rivals] == untimed
    assert [rival.name for rival in alone.simpler] == [rival.name for rival in summary.simpler]
    others = (alone.by_family, alone.n_candidates, alone.n_dropped, alone.chosen, alone.scoring)
    assert others == (True, summary.n_candidates, summary.n_dropped, summary.chosen, "neg_log_loss")


@pytest.mark.filterwarnings("ignore:the chosen gain")
def test_candidates_where_no_families_are_compared(table):
    gains = [0.5, 1.0, 2.0]
    search = pb.ProperBoostClassifierCV({"gain": gains}, effort=None, cv=3, max_estimators=10)
    summary = read_search(search.fit(*table))
    assert not summary.by_family
    assert summary.simpler == ()
    assert {rival.name for rival in summary.rivals} >= {f"gain {gain:g}" for gain in gains} or all(
        "gain" in rival.name for rival in summary.rivals
    )
    best = next(rival for rival in summary.rivals if rival.is_chosen)
    assert best.behind == 0.0 <= min(rival.behind for rival in summary.rivals)


def test_a_model_alone_has_no_search(table):
    assert (
        read_search(pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(*table))
        is None
    )


def test_names_of_families_that_are_sums_of_functions():
    assert {family.name: is_readable_family(family.name) for family in FAMILIES} == {
        family.name: family.readable for family in FAMILIES
    }
    assert is_readable_family("pairs")


def test_all_families_are_described():
    names = [*(family.name for family in FAMILIES), PAIRS]
    texts = [describe_family(name) for name in names]
    assert all(text.endswith(".") for text in texts)
    assert len({*texts}) == len(names)
    assert describe_family("candles") == ""


def test_log_loss_is_a_probability():
    assert describe_score("neg_log_loss", math.log(0.75)) == "75.00%"
    text = describe_cost("neg_log_loss", math.log(0.75), math.log(0.75 / 0.74), None)
    assert "would be 74.00% instead of 75.00%" in text
    assert "no model" not in text
    behind = 0.25 * 0.2
    assert "That is 20.0% of the model's advantage" in describe_cost(
        "neg_log_loss", -1.0, behind, 0.25
    )
    assert "no model" not in describe_cost("neg_log_loss", -1.0, 0.5, 0.25)  # worse than none


@pytest.mark.parametrize(
    ("scoring", "shown", "cost"),
    [
        ("accuracy", "90.00%", "10 more wrong predictions in 1,000"),
        ("roc_auc", "90.00%", "10 more would be in the wrong order"),
        ("neg_brier_score", "", "0.01 of the Brier score"),
        ("my_score", "", "0.01 of the my_score"),
    ],
)
def test_other_scores(scoring, shown, cost):
    assert describe_score(scoring, 0.9) == shown
    assert cost in describe_cost(scoring, 0.9, 0.01, None)
    assert describe_cost(scoring, 0.9, 0.0, None) == "nothing"


def test_names():
    assert name_score("roc_auc") == "AUC"
    assert name_score("my_score") == "my_score"


WHOLE = ModelScores(0.13, 0.28444, 2)


def make_subsets(*sizes, fitted=True):
    def score(size):
        return ModelScores(0.13 + 0.01 * (sizes[-1] - size), 0.3, 2)

    return [
        SubsetScores(size, ("a",), score(size), score(size - 1) if fitted else None)
        for size in sizes
    ]


@pytest.mark.parametrize(
    ("sizes", "fitted", "linear", "sentence"),
    [
        (
            (1, 2, 3, 5, 8, 12, 13), True, 0.152,
            ("Fitted to its 5 most important features alone, it would be wrong in 22.0% of the "
            "rows instead of 13.0%; a logistic regression of all features in 15.2%."),
        ),
        (
            (1, 2), False, None, "",  # the model itself without some effects is no simpler model
        ),
        (
            (1,), True, 0.152,
            ("A logistic regression of all features would be wrong in 15.2% of the rows instead of "
            "13.0%."),
        ),
        ((1,), False, None, ""),
        ((), False, None, ""),
    ],
)  # fmt: skip
def test_what_half_of_the_features_score(sizes, fitted, linear, sentence):
    regression = None if linear is None else ModelScores(linear, 0.4, 2)
    subsets = tuple(make_subsets(*sizes, fitted=fitted))
    assert describe_simpler(SimplerModels(WHOLE, subsets, regression)) == sentence


def test_trees_without_training_rows_have_no_sentence():
    subsets = tuple(SubsetScores(size, ("a",), None, None) for size in (1, 4))
    assert describe_simpler(SimplerModels(WHOLE, subsets)) == ""
    assert describe_simpler(None) == ""


def test_what_leaving_out_costs_or_how_to_learn_that():
    models = SimplerModels(WHOLE, (), unprotected=ModelScores(0.14, 0.3, 2))
    sentence = describe_unprotected(["age", "sex"], 3, models)
    assert sentence == (
        "Fitted again without “age” and “sex”, the model would be wrong in 14.0% of the rows "
        "instead of 13.0%; the log loss would be 0.3000 instead of 0.2844."
    )
    assert "X_train=" in describe_unprotected(["age"], 2, SimplerModels(WHOLE, ()))
    assert describe_unprotected(["age"], 1, None) == "It has no other features."


@pytest.mark.filterwarnings("ignore:the chosen gain")
def test_the_cost_of_reading_is_that_of_the_best_readable_family(table):
    search = pb.ProperBoostClassifierCV(effort=2, cv=2, max_estimators=20).fit(*table)
    summary = read_search(search)
    readable = [rival for rival in summary.rivals if is_readable_family(rival.name)]
    best = min(readable, key=lambda rival: rival.behind)
    text = describe_reading(summary)
    assert f"of the family “{best.name}”, would cost" in text
    far = [replace(rival, behind=0.5, error=0.1) for rival in readable]
    text = describe_reading(replace(summary, rivals=tuple(far)))
    assert "would cost 0.5 of log loss" in text
    assert "may be chance" not in text
    near = [replace(rival, error=0.5) for rival in far]
    assert describe_reading(replace(summary, rivals=tuple(near))).endswith("which may be chance.")
    others = [rival for rival in summary.rivals if not is_readable_family(rival.name)]
    assert describe_reading(replace(summary, rivals=tuple(others))) == ""
    assert describe_reading(replace(summary, by_family=False)) == ""
    assert describe_reading(None) == ""
