"""Shuffled features: the log loss that they add is scikit-learn's permutation importance."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance

import properboost as pb
from properboost.report import shuffles
from properboost.report.effects import list_terms
from properboost.report.importances import find_needed
from properboost.report.shuffles import score_shuffles


@pytest.fixture(scope="module")
def fitted():
    """Return a model of a feature of small steps, and of one whose few rows it decides."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"wide": rng.normal(size=3000), "gain": 1.0 * (rng.random(3000) < 0.03)})
    X["town"] = pd.Categorical(rng.choice(["Ulm", "Bonn"], 3000))
    X["idle"] = 1.0
    X.loc[::9, "wide"] = np.nan
    raw = 0.6 * X["wide"].fillna(0.0) + 9.0 * X["gain"] + 0.3 * (X["town"] == "Ulm") - 1.0
    y = raw + rng.logistic(size=3000) > 0.0
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, y)
    return model, X, np.asarray(y, dtype=np.intp)


def test_shuffles_are_permutation_importances(fitted):
    model, X, codes = fitted
    added = score_shuffles(model, X, codes, None, list_terms(model), 0)
    judge = permutation_importance(
        model, X, codes.astype(bool), scoring="neg_log_loss", n_repeats=20, random_state=0
    )
    assert {*added} == {0, 1, 2}  # "idle" is not used
    for place, value in added.items():
        room = 5.0 * judge.importances_std[place]
        assert abs(value - judge.importances_mean[place]) < room


def test_a_feature_of_few_rows_may_be_needed_most(fitted):
    """It moves few predictions far, so its importance is below that of a smaller, wider effect."""
    model, X, codes = fitted
    terms = list_terms(model)
    added = score_shuffles(model, X, codes, None, terms, 0)
    assert terms[0].name == "wide"
    assert find_needed(terms, added) == "gain"


def test_rows_have_weights_and_many_rows_are_sampled(fitted, monkeypatch):
    model, X, codes = fitted
    monkeypatch.setattr(shuffles, "MOST_ROWS", 200)
    terms = list_terms(model)
    numbers = np.linspace(0, 2999, 200).astype(int)
    few = score_shuffles(model, X.iloc[numbers], codes[numbers], None, terms, 3)
    assert score_shuffles(model, X, codes, None, terms, 3) == few
    once = np.zeros(3000)
    once[numbers[::2]] = 1.0
    assert score_shuffles(model, X, codes, once, terms, 3) != few
    assert score_shuffles(model, X, codes, np.zeros(3000), terms, 3) == {}
