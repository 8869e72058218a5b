"""Cautions of the report: which appear, and which do not."""

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from properboost.report import scores
from properboost.report.options import ReportOptions
from properboost.report.write import collect


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(scores, "MOST_RESAMPLES", 99)
    monkeypatch.setattr(scores, "FEWEST_RESAMPLES", 99)


def make_rows(n, seed):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"size": rng.normal(size=n).round(1), "age": rng.integers(20, 60, n)})
    rows["town"] = pd.Categorical(rng.choice(["Ulm", "Bonn"], n), ["Ulm", "Bonn", "Kiel"])
    return rows, (rows["size"] + rng.logistic(size=n) > 0.0).astype(int)


HIDDEN = "Not all errors by who a person is are shown"


def cautions(model, X, y, groups=None):
    options = ReportOptions(subgroups=groups, max_features=9, max_pairs=9, max_rows=0)
    content = collect(model, X, y, options)
    return {caution.title: caution.text for caution in content.cautions}, content


def test_a_calm_model_on_rows_like_its_own():
    model = pb.ProperBoostClassifier(n_estimators=10, max_bins=6, weak_learner="table").fit(
        *make_rows(1000, 0)
    )
    texts, _ = cautions(model, *make_rows(1000, 1))
    assert not {
        "Overconfident",
        "Hardly better than no model",
        "Hardly any test rows of a class",
    } & {*texts}
    assert "Values with few training rows" not in texts


def test_drift_is_reported_by_feature():
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(*make_rows(300, 0))
    X, y = make_rows(200, 1)
    X["age"] = X["age"].astype(float)
    X.loc[:23, "age"] = 99.0
    X.loc[24:25, "age"] = np.nan
    X.loc[:2, "town"] = "Kiel"
    texts, content = cautions(model, X, y)
    assert "town (3 rows)" in texts["Categories that training did not have"]
    assert "age (24 rows)" in texts["Numbers beyond those of training"]
    assert "age (2 rows)" in texts["Missing values that training did not have"]
    assert "13%" in texts["These rows are from elsewhere"]
    counts = model.count_drift(X)
    age_drift = next(drift for drift in content.drift if drift.feature == "age")
    assert age_drift.above == counts["above"][1] == 24.0


def test_a_row_in_a_hundred_is_worth_a_warning_and_fewer_are_none():
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(*make_rows(300, 0))
    X, y = make_rows(400, 1)
    X.loc[:2, "town"] = "Kiel"
    texts, content = cautions(model, X, y)
    assert "Categories that training did not have" not in texts
    assert [drift.unseen for drift in content.drift if drift.feature == "town"] == [3.0]


@pytest.mark.parametrize(("slope", "warns"), [(1.06, False), (0.94, False), (1.3, True)])
def test_a_slope_is_a_warning_only_if_it_matters(slope, warns):
    """With 40,000 rows, chance explains none of these; 88% should be 89%, 87% or 93%."""
    rng = np.random.default_rng(0)
    z = 1.5 * rng.normal(size=40_000)
    positive = 1.0 / (1.0 + np.exp(-z))
    codes = (rng.random(len(z)) < 1.0 / (1.0 + np.exp(-slope * z))).astype(np.intp)
    probability = np.column_stack([1.0 - positive, positive])
    reliability = scores.evaluate(probability, codes, (z > 0.0).astype(np.intp)).reliability
    assert reliability.slope.is_off(1.0)
    assert reliability.slope_is_notable == warns
    assert not reliability.bias_is_notable


def test_an_overconfident_model_is_found_out():
    model = pb.ProperBoostClassifier(
        n_estimators=50, gain=0.5, selection="cyclic", weak_learner="table"
    )
    model.fit(*make_rows(200, 0))
    texts, content = cautions(model, *make_rows(1000, 1))
    assert "calibration slope is" in texts["Overconfident"]
    assert content.evaluation.reliability.slope.high < 1.0
    fine = pb.ProperBoostClassifier(n_estimators=5, rows_per_bin=1, weak_learner="table").fit(
        *make_rows(200, 0)
    )
    texts, _ = cautions(fine, *make_rows(100, 1))
    assert "size" in texts["Values with few training rows"]


def test_a_model_of_nothing_is_found_out():
    rng = np.random.default_rng(0)
    X, y = make_rows(200, 0)
    model = pb.ProperBoostClassifier(n_estimators=20, outer_bags=8, weak_learner="table").fit(
        X, rng.permutation(y)
    )
    X, y = make_rows(60, 1)
    texts, _ = cautions(model, X, rng.permutation(y))
    assert "Hardly better than no model" in texts
    assert "Hardly any test rows of a class" in texts
    text = texts["Effects that may be chance"]
    assert text.startswith("The model's 8 bags cannot distinguish the effects of")
    assert "They may be real" in text


def test_rows_without_labels_are_reported():
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(*make_rows(300, 0))
    texts, content = cautions(model, make_rows(100, 1)[0], None)
    assert "No answers to check" in texts
    assert content.evaluation is None
    assert content.simpler is None


def test_what_the_law_may_protect_is_named():
    rows, y = make_rows(600, 0)
    rows["Sex"] = pd.Categorical(np.where(y == 1, "f", "m"))
    rows["idle_race"] = 1.0
    model = pb.ProperBoostClassifier(n_estimators=20, weak_learner="table").fit(rows, y)
    texts, content = cautions(model, rows, y)
    assert HIDDEN not in texts
    text = texts["It uses what the law may protect"]
    assert "“Sex”" in text
    assert "idle_race" not in text  # which the model does not use
    assert "Does it treat groups alike?" in text
    assert "“Sex”" in texts["It does not treat all groups alike"]
    (caution,) = [c for c in content.cautions if c.title == "It does not treat all groups alike"]
    (line,) = [line for line in caution.lines if line.startswith("Sex, ")]
    assert "in “f”" in line
    assert "in “m”" in line
    texts, content = cautions(model, rows, y, groups=[])
    assert not content.groupings
    assert "alike" not in texts["It uses what the law may protect"]
    assert "It does not treat all groups alike" not in texts
    assert "The model uses “Sex”, and" in texts[HIDDEN]
    texts, _ = cautions(
        pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(rows[["size"]], y),
        rows[["size"]],
        y,
    )
    assert "It uses what the law may protect" not in texts


def test_protected_features_that_are_not_compared_are_named():
    rows, y = make_rows(600, 0)
    rng = np.random.default_rng(0)
    for name in ("age", "Sex", "race"):  # each adds information to the others
        rows[name] = np.where(rng.random(600) < 0.7, y, 1 - y) + 0.0
    rows = rows.astype(dict.fromkeys(("Sex", "race"), "category"))
    model = pb.ProperBoostClassifier(n_estimators=30, weak_learner="table").fit(rows, y)
    used = {name for name, share in zip(rows, model.feature_importances_, strict=True) if share}
    assert used >= {"age", "Sex", "race"}
    texts, _ = cautions(model, rows, y)
    assert HIDDEN not in texts  # by default all of them are compared
    texts, _ = cautions(model, rows, y, groups=["Sex", "town"])
    assert "The model uses “age” and “race”, and this page does not show" in texts[HIDDEN]
    assert "--subgroups" in texts[HIDDEN]
    texts, _ = cautions(model, rows, y, groups={"region": rows["town"].to_numpy()})
    assert "“age”, “Sex” and “race”" in texts[HIDDEN]
    texts, _ = cautions(model, rows, y, groups=["Sex", "age", "race"])
    assert HIDDEN not in texts


@pytest.mark.parametrize("learner", ["table", pb.Tree(interaction_cst=2)], ids=["table", "tree"])
def test_effects_without_bags_were_not_measured(learner):
    options = {"weak_learner": learner, "n_estimators": 5}
    plain = pb.ProperBoostClassifier(**options).fit(*make_rows(300, 0))
    texts, _ = cautions(plain, *make_rows(100, 1))
    assert "--outer-bags 16" in texts["Effects may be chance"]
    assert "since this model has no bags" in texts["Effects may be chance"]
    with_bags = pb.ProperBoostClassifier(**options, outer_bags=4).fit(*make_rows(300, 0))
    texts, _ = cautions(with_bags, *make_rows(100, 1))
    assert "Effects may be chance" not in texts
    linear = pb.RadoBoostClassifier(n_rados=10).fit(*make_rows(300, 0))
    texts, _ = cautions(linear, *make_rows(100, 1))
    assert "Effects may be chance" not in texts  # it draws none
