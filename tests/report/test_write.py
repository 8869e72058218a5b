"""The page: complete, self-contained, escaped, and with the library's numbers."""

import copy
import html
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

import properboost as pb
import properboost.report.figures
import properboost.report.page
import properboost.report.write
from helpers.pages import Page, check_is_closed
from properboost import extras
from properboost.report import scores
from properboost.report.content import Estimate, ReliabilityBin, Score
from properboost.report.effects import list_pair_effects, list_terms
from properboost.report.feature_subsets import score_subsets
from properboost.report.figures import draw_figures
from properboost.report.glossary import GLOSSARY, find_words
from properboost.report.joint_effects import make_maps
from properboost.report.options import ReportOptions
from properboost.report.parameter_words import describe_parameter
from properboost.report.wording import list_words, number, percent, signed
from properboost.report.write import collect
from properboost.visible import make_visible

pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

NAME, LABEL = "<script>alert(1)</script>", '"><img src=x onerror=alert(2)>'
TOWN = "</style><b>Ulm</b> {{ 7 * 7 }}"


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(scores, "MOST_RESAMPLES", 29)
    monkeypatch.setattr(scores, "FEWEST_RESAMPLES", 29)


def make_rows(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({NAME: rng.normal(size=n).round(1), "age": rng.integers(20, 60, n) * 1.0})
    X["town"] = pd.Categorical(rng.choice([TOWN, "Bonn"], n), [TOWN, "Bonn", "Kiel"])
    X.loc[::17, "age"] = np.nan
    raw = X[NAME] * (X["age"].fillna(0.0) - 40.0) / 8.0 + (X["town"] == "Bonn")
    return X, np.where(raw + rng.logistic(size=n) > 0.0, LABEL, "no")


def write(path, model, X, y, **settings):
    pb.report.write_report(model, X, y, path, **settings)
    text = path.read_text("utf-8")
    check_is_closed(text)
    return text, Page(text)


def collect_all(model, X, y):
    return collect(model, X, y, ReportOptions(max_features=9, max_pairs=9))


@pytest.fixture(scope="module")
def model():
    fit = pb.ProperBoostClassifier(
        n_estimators=15, interactions=1, outer_bags=4, weak_learner="table"
    )
    return fit.fit(*make_rows(400, 0))


def test_the_page_of_a_model_of_tables(model, tmp_path):
    X, y = make_rows(300, 1)
    X.loc[:2, "town"] = "Kiel"
    text, page = write(tmp_path / "report.html", model, X, y, title=NAME)
    sections = [attributes["id"] for attributes in page.find("section")]
    assert sections == [
        "short", "cautions", "scores", "trust", "groups", "matters", "effects", "rows", "model",
        "search", "about", "words",
    ]  # fmt: skip
    for name in (NAME, LABEL, TOWN[:15], "age"):  # pictures cut long names
        assert name in page.text
    p = model.predict_proba(X)
    classes = model.classes_.tolist()
    codes = np.array([classes.index(label) for label in y])
    for value in (
        percent(1.0 - np.mean(model.predict(X) == y)),
        number(log_loss(codes, p)),
        percent(roc_auc_score(codes, p[:, 1])),
        percent(model.feature_importances_.max()),
        percent(p[:, 1].mean()),
        "400 training rows",
        "town (3 rows)",
    ):
        assert value in page.text, value
    tooltips = [attributes["data-t"] for _, attributes in page.elements if "data-t" in attributes]
    assert any(f"town = {TOWN}: " in tooltip for tooltip in tooltips)
    age = model.shape_function("age", scale="probability")
    for label, value in zip(age.labels, age.values, strict=True):
        assert any(label in tooltip and percent(value) in tooltip for tooltip in tooltips), label
    assert f"Missing ({age.missing_weight:,.0f} training rows)" in page.text
    town = model.shape_function("town", scale="log_odds")
    bonn = f"{town.values[town.labels.index('Bonn')]:+.2f}".replace("-", "−")
    assert any("Bonn" in tooltip and f"{bonn} log-odds" in tooltip for tooltip in tooltips)
    assert sum(f"town: {TOWN[:5]}" in tooltip for tooltip in tooltips) >= 2  # on both scales
    # reliability, importances, ages, on two scales three features and a pair; then eight rows
    assert len(page.find("svg")) == 2 + 1 + 2 * 4 + 8
    assert {a["name"] for a in page.find("input")} == {"scale"}
    assert "What would have turned it?" in page.text
    assert page.text.count("would have turned it:") + page.text.count("No single value") == 8
    assert "By who the person is, alone:" in page.text
    assert len(text) < 400_000
    # Scripts insert values as text only.
    assert "innerHTML" not in text


def test_cells_of_few_rows_are_counted_below_a_map(model, tmp_path):
    _, page = write(tmp_path / "report.html", model, *make_rows(300, 1))
    (pair,) = [term for term in list_terms(model) if term.is_pair]
    (effect,) = list_pair_effects(model, [pair], LABEL, LABEL)
    (cells,) = make_maps(effect.log_odds, 0.9)
    filled = cells.weights[cells.weights > 0.0]
    few = int(np.sum(filled < 10.0))
    assert f"{few} of {len(filled)} cells had fewer than 10 training rows" in page.text


def test_differences_of_scores_are_those_of_printed_numbers(model):
    evaluation = collect_all(model, *make_rows(200, 1)).evaluation
    near = Estimate(0.11541, 0.1154, 0.1155)
    error = Score(Estimate(0.13029, 0.126, 0.135), 0.2457, near)
    area = Score(Estimate(0.92649, 0.92, 0.93), 0.5, replace(near, value=0.42649))
    loss = Score(Estimate(0.28436, 0.27, 0.29), 0.55746, near)
    scored = replace(evaluation, scores={"error": error, "auc": area, "log_loss": loss})
    for name, words, printed in (
        ("error", "wrong predictions", ("13.0%", "24.6%", "11.6")),  # 11.54 would be 11.5
        ("auc", "AUC", ("92.6%", "50.0%", "42.6")),
        ("log_loss", "log loss", ("0.2844", "0.5575", "0.2731")),  # 0.2731
    ):
        (row,) = (entry for entry in properboost.report.page._SCORES if entry[0] == name)
        shown = properboost.report.page._show_score(scored, *row)
        saving = shown.show_difference(shown.saving.value)
        assert (shown.words, (shown.show(shown.model.value), shown.constant, saving)) == (
            words,
            printed,
        )
        assert shown.saving.low <= shown.saving.value <= shown.saving.high


def test_every_value_is_in_a_table(monkeypatch):
    letters = np.array([f"letter {k}" for k in range(30) for _ in range(k + 1)])
    X = pd.DataFrame({"letter": letters, "size": np.arange(len(letters)) % 40})
    y = (np.random.default_rng(0).random(len(X)) < 0.2 + 0.02 * (letters > "letter 2")).astype(int)
    model = pb.ProperBoostClassifier(
        n_estimators=9, categorical_features=["letter"], weak_learner="table"
    ).fit(X, y)
    content = collect_all(model, X, y)
    for drawn in draw_figures(content).effects:
        shape = model.shape_function(drawn.title, 1, scale="log_odds")
        listed = {name: (points, rows) for name, points, _, rows in drawn.values}
        assert listed == {
            label: (signed(value), f"{rows:,.0f}")
            for label, value, rows in zip(shape.labels, shape.values, shape.weights, strict=True)
        }
        drew = f"Not drawn, but in the table: {len(shape.labels) - 20} rarer categories."
        assert (drew in drawn.notes) == (drawn.title == "letter")
    monkeypatch.setattr(properboost.report.figures, "MOST_LISTED", 20)
    for drawn in draw_figures(content).effects:
        left = len(model.shape_function(drawn.title).labels) - 20
        assert len(drawn.values) == 20
        assert f"{left} values are not in the table." in drawn.notes


def test_the_page_is_the_same_every_time(model, tmp_path):
    X, y = make_rows(60, 1)
    first, again = (
        write(tmp_path / f"{k}.html", model, X, y, max_features=1, max_pairs=0, max_rows=0)[0]
        for k in range(2)
    )
    assert first == again


@pytest.mark.parametrize("right", [True, False])
def test_tenths_that_miss_are_counted(model, tmp_path, right):
    X, _ = make_rows(2_000, 1)
    probability = model.predict_proba(X)[:, 1]
    drawn = np.random.default_rng(0).random(len(probability))
    y = model.classes_[(drawn < (probability if right else 0.5 * probability)).astype(int)]
    _, page = write(tmp_path / "r.html", model, X, y, max_features=1, max_pairs=0, max_rows=0)
    options = ReportOptions(subgroups=(), max_features=1, max_pairs=0, max_rows=0)
    content = collect(model, X, y, options)
    bins = content.evaluation.reliability.bins
    missed = [
        f"{tenth.low:.0%} to {tenth.high:.0%} "
        f"(too {'high' if tenth.observed.high < tenth.predicted else 'low'})"
        for tenth in bins
        if not tenth.observed.low <= tenth.predicted <= tenth.observed.high
    ]
    assert (len(missed) > 3) != right
    sentence = (
        f"in {len(missed)} of {len(bins)} tenths with test rows: {list_words(missed, 10)}."
        if missed
        else ""
    )
    assert sentence in page.text
    assert ("tenths with test rows" in page.text) == bool(missed)


def test_tenths_that_miss_are_joined_in_a_sentence():
    def tenth(k, value, predicted):
        share = Estimate(value, value - 0.01, value + 0.01)
        return ReliabilityBin(k / 10, (k + 1) / 10, predicted, share, 1.0)

    lows = [tenth(0, 0.05, 0.1), tenth(3, 0.35, 0.3), tenth(4, 0.45, 0.4), tenth(9, 1.0, 0.9)]
    assert [*properboost.report.page._describe_misses(lows)] == [
        "from 30% to 50% and from 90% up too low",
        "below 10% too high",
    ]


def test_many_terms_need_another_click(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 20)), columns=[f"column {k}" for k in range(20)])
    y = X["column 0"] + 0.5 * X["column 1"] + 0.2 * rng.logistic(size=400) > 0.0
    model = pb.ProperBoostClassifier(weak_learner="table", n_estimators=40).fit(X, y)
    _, page = write(tmp_path / "r.html", model, X, y, max_features=1, max_rows=0)
    terms = list_terms(model)
    shares = np.cumsum([term.importance for term in terms])
    n_strong = int(np.count_nonzero(shares < 0.95 * shares[-1])) + 1
    assert n_strong < 12
    assert f"The {n_strong} strongest in a table" in page.text
    assert f"{20 - n_strong} weaker ones: those above hold 95% of all importance" in page.text
    assert "log loss if shuffled" in page.text


def test_without_labels_there_are_no_scores(model, tmp_path):
    X, _ = make_rows(60, 1)
    _, page = write(tmp_path / "r.html", model, X, None, max_features=1, max_pairs=0, max_rows=1)
    sections = [attributes["id"] for attributes in page.find("section")]
    assert "scores" not in sections
    assert "trust" not in sections
    assert "no column of right answers" in page.text
    assert "surest" in page.text


def test_trees_of_several_classes(tmp_path):
    X, y = make_rows(200, 0)
    y = np.where(X[NAME] > 1.0, "third", y)
    model = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=3).fit(X, y)
    _, page = write(tmp_path / "r.html", model, X, y, max_rows=1)
    assert "each of 3 classes" in page.text
    assert "many small trees" in page.text
    assert "hardly decided" in page.text
    assert "depend on the steps before" in page.text
    assert "really “third”" not in page.text
    assert page.find("input")  # paths of at most three features have effects to draw
    assert "sum of points" in page.text


def test_trees_of_longer_paths_have_no_effects_to_draw(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    y = (X.prod(axis=1) + X.sum(axis=1) + rng.logistic(size=500) > 0.0).astype(int)
    learner = pb.Tree(max_leaf_nodes=31, max_features=1.0, min_child_weight=0.0)
    model = pb.ProperBoostClassifier(weak_learner=learner, n_estimators=20).fit(X, y)
    _, page = write(tmp_path / "r.html", model, X, y, max_rows=1)
    assert not page.find("input")
    assert "No single drawing shows" in page.text


def test_many_classes_name_the_most_frequent_mistakes(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.arange(400) % 20
    X[:, 0] += y
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    _, page = write(tmp_path / "r.html", model, X, y, max_features=1, max_rows=0, class_=7)
    assert "The most frequent mistakes" in page.text
    assert "these are of “7”" in page.text


def test_pages_of_wide_tables_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(properboost.report.page, "MOST_TERMS", 100)
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 300)), columns=[f"{NAME} {j:03}" for j in range(300)])
    y = (X.iloc[:, 0] > 0.0).to_numpy().astype(int)
    model = pb.ProperBoostClassifier(
        n_estimators=2, selection="cyclic", max_bins=4, weak_learner="table"
    ).fit(X, y)
    text, page = write(tmp_path / "r.html", model, X, y, max_features=2, max_rows=0)
    assert len(page.find("svg")) == 2 + 2 * 2
    assert "298 less important features are not drawn" in page.text
    assert "The 200 least important are left out" in page.text
    assert len(text) < 250_000


@pytest.mark.filterwarnings("ignore:the chosen gain")
def test_a_search_and_edits_are_described(tmp_path):
    X, y = make_rows(200, 0)
    search = pb.ProperBoostClassifierCV(
        {"gain": [1.0, 2.0, 4.0]}, effort=None, cv=2, max_estimators=5
    )
    search.fit(X, y)
    search.remove_feature("age", reason=f"{NAME} says so")
    _, page = write(tmp_path / "r.html", search, X, y, max_features=0, max_rows=0)
    assert "3 candidates were compared. They were compared by log loss" in page.text
    chosen = search.best_estimator_.search_["chosen"]
    for name, value in chosen.items():
        assert name in page.text
        assert html.unescape(str(value))[:4] in page.text
    for name in ("effort", "space", "cv", "max_estimators", *chosen):
        assert f"{name}: " in page.text
        assert " ".join(describe_parameter(name, "").split()) in page.text
    assert "age removed; raw predictions moved by" in page.text
    assert f"reason: {NAME} says so" in page.text
    assert "Changed by hand" in page.text


def test_the_record_of_a_search_and_effects_by_chance_are_described(model, tmp_path):
    X, y = make_rows(60, 1)
    chosen = copy.copy(model)
    chosen.search_ = {
        "by_family": True,
        "compared": {
            "name": np.array([f"tables{NAME}", "stumps", "pairs"], dtype=object),
            "mean_test_score": np.array([-0.5, -0.52, -0.4]),
            "behind": np.array([0.1, 0.12, 0.0]),
            "behind_error": np.array([0.02, 0.1, 0.0]),
            "candidates": np.array([3, 2, 4]),
            "is_chosen": np.array([False, False, True]),
        },
        "n_candidates": 9, "n_dropped": 2, "n_splits": 5, "scoring": "neg_log_loss",
        "best_score": -0.4, "chosen": {"gain": 2.0}, "calibration": None, "ended": NAME,
    }  # fmt: skip
    little = {"max_features": 0, "max_pairs": 0, "max_rows": 0, "subgroups": []}
    _, page = write(tmp_path / "r.html", chosen, X, y, **little)
    text = " ".join(page.text.split())
    assert "9 candidates were compared, of 3 families of models; 2 were stopped early" in text
    assert f"The simplest, “tables{NAME}”, would cost 0.1 of log loss" in text
    assert "is more than chance explains: it is 5.0 times its standard error" in text
    assert "may be chance: it is 1.2 times its standard error" in text
    assert "pairs (chosen)" in text
    assert "seconds" not in text


def test_costs_reach_the_page(model, tmp_path):
    X, y = make_rows(300, 1)
    little = {"max_features": 0, "max_pairs": 0, "max_rows": 0, "subgroups": []}
    costs = {LABEL: 20.0, "no": 1.0}
    around = pb.LeastCostClassifier(model, costs)
    least = number(around.mean_cost(X, y))
    text, page = write(tmp_path / "r.html", model, X, y, costs=costs, **little)
    at = 1.0 / 21.0 if model.classes_[1] == LABEL else 20.0 / 21.0
    assert f"by the costs of mistakes the limit would be {percent(at)}" in page.text
    assert "What do the decisions cost?" in page.text
    assert least in page.text
    assert "Which limit fits your costs?" not in page.text
    assert "least expected cost" in {word.name for word in find_words(page.text)}
    # A classifier with costs has them on its page, unless others are passed.
    assert (
        write(tmp_path / "s.html", around, X, y, title="ProperBoostClassifier", **little)[0] == text
    )
    _, page = write(tmp_path / "t.html", around, X, y, costs=[[0, 1], [1, 0]], **little)
    assert "the limit would be 50%" in page.text
    # Without labels nothing is scored, so a classifier with costs has a page as any.
    _, page = write(tmp_path / "u.html", around, X, None, **little)
    assert "What do the decisions cost?" not in page.text
    with pytest.raises(ValueError, match="costs needs y, which is None"):
        pb.report.write_report(model, X, None, tmp_path / "v.html", costs=costs)
    with pytest.raises(ValueError, match="costs must be of each class"):
        pb.report.write_report(model, X, y, tmp_path / "v.html", costs={LABEL: 1.0})


def test_limits_by_ratio_are_on_the_page_without_costs(model, tmp_path):
    X, y = make_rows(300, 1)
    _, page = write(tmp_path / "r.html", model, X, y, max_features=0, max_pairs=0, max_rows=0)
    assert "Which limit fits your costs?" in page.text
    assert "1/10 of a false alarm" in page.text
    assert "50 false alarms" in page.text
    really = y == model.classes_[1]
    p = model.predict_proba(X)[:, 1]
    assert percent(np.mean(p[really] < 1.0 / 11.0)) in page.text


def test_missed_rows_are_described_in_words(model, tmp_path):
    X, y = make_rows(300, 1)
    _, page = write(tmp_path / "r.html", model, X, y, max_features=0, max_pairs=0, max_rows=1)
    second = model.classes_[1]
    called, really = model.predict(X) == second, y == second
    missed, precision = percent(np.mean(~called[really])), percent(np.mean(really[called]))
    assert f"It misses {missed} of “{second}”" in page.text
    assert f"Of those it called “{second}”, {precision}" in page.text
    assert f"really {second}" in page.text
    assert f"called {second}" in page.text
    assert "What would another limit change?" in page.text
    assert percent(np.mean(model.predict_proba(X)[really, 1] <= 0.3)) in page.text
    assert "limits" in page.ids
    baseline = model.contributions(X[:1], scale="log_odds").baseline
    average = 1.0 / (1.0 + np.exp(-baseline))
    start = f"The average row has {percent(average)}, which is {signed(baseline)} points"
    assert start in page.text
    assert "It lacked" in page.text
    assert "New and missing values" in page.text
    assert "values were missing of “age”" in page.text


def test_facts_from_people_are_stated_or_missing(model, tmp_path):
    X, y = make_rows(60, 1)
    little = {"max_features": 0, "max_pairs": 0, "max_rows": 0, "subgroups": []}
    _, page = write(tmp_path / "r.html", model, X, y, **little)
    assert "not stated" not in page.text
    assert page.text.index("Not stated:") > page.text.index("What else was tried")
    lacking = (
        "Not stated: the purpose of the model; who fitted it, when and on which rows; the source "
        "of the rows of this page; the date of the report; the meaning of the columns. Ask the "
        "person who handed you this page."
    )
    assert lacking in page.text
    stated = {
        "purpose": NAME, "model_source": "a fit", "data_source": "a store", "date": "today",
        "feature_descriptions": {name: f"a {name}" for name in model.feature_names_in_},
    }  # fmt: skip
    text, page = write(tmp_path / "r.html", model, X, y, **little, **stated)
    assert "not stated" not in text.lower()
    assert all(str(stated.pop(name)) in page.text for name in [*stated][:4])
    assert "A narrow interval does not mean that the model is right" in page.text


def test_classes_have_names_where_they_are_spoken_of(tmp_path):
    X, y = make_rows(300, 0)
    y = (y == LABEL).astype(int)
    model = pb.ProperBoostClassifier(n_estimators=5, interactions=1, weak_learner="table").fit(X, y)
    text, page = write(tmp_path / "r.html", model, X, y, max_rows=1)
    assert "“0”, “1”. The meaning of 0 and 1 was not stated" in page.text
    assert (
        "The meaning of 0 and 1 was not stated, and this page" in page.text.partition("Cautions")[2]
    )
    assert "; the meaning of 0 and 1; the meaning of the columns. Ask the person" in page.text
    names = {0: "well", 1: f"ill {LABEL}"}
    named, page = write(tmp_path / "r.html", model, X, y, max_rows=1, class_names=names)
    assert "meaning of 0 and 1" not in page.text
    assert f"“well” (0 in the rows), “ill {LABEL}” (1 in the rows)" in page.text
    assert re.search(f"It misses [0-9.]+% of “ill {re.escape(LABEL)}”", page.text)
    assert f"really ill {LABEL}" in page.text
    tooltips = " ".join(a["data-t"] for _, a in page.elements if "data-t" in a)
    assert f"of those that really were ill {LABEL}, missed" in tooltips
    # No label is left in the place of a name.
    assert "“1”" in text
    assert not re.search(r"“[01]”|(really|called|probability of|log-odds of) [01]\b", page.text)
    assert not re.search(r"(probability of|log-odds of|were) [01]\b", named)


def test_features_are_described_where_they_are_shown(model, tmp_path):
    X, y = make_rows(60, 1)
    name = model.feature_names_in_[0]
    descriptions = {name: f"a {LABEL}", "street": "no feature"}
    _, page = write(tmp_path / "r.html", model, X, y, max_rows=0, subgroups=[name])
    assert "; the meaning of the columns. Ask" in page.text
    _, page = write(
        tmp_path / "r.html",
        model, X, y, max_rows=0, subgroups=[name], feature_descriptions=descriptions,
    )  # fmt: skip
    assert page.text.count(f"a {LABEL}") == 3  # by groups, in the table and beside its picture
    assert f"the meaning of “{model.feature_names_in_[1]}”" in page.text.partition("Purpose")[0]
    assert "no feature" not in page.text


def test_the_effect_of_another_value_of_a_group_is_described(model, tmp_path):
    X, y = make_rows(60, 1)
    little = {"max_features": 0, "max_pairs": 0, "max_rows": 0}
    _, page = write(tmp_path / "r.html", model, X, y, **little, subgroups=["age"])
    assert "of 60 rows the answer depends on age alone: with another value of it (" in page.text


def test_rows_of_other_times_are_a_caution(model, tmp_path):
    X, y = make_rows(60, 1)
    little = {"max_features": 0, "max_pairs": 0, "max_rows": 0, "subgroups": []}
    _, page = write(tmp_path / "r.html", model, X, y, **little)
    assert "These numbers are of the test rows. Rows of the same source" in page.text
    assert "the source of the rows of this page" in page.text.partition("About this page")[2]
    _, page = write(tmp_path / "r.html", model, X, y, **little, data_source="the census of 1994")
    assert "These numbers are of the test rows: the census of 1994." in page.text


def test_only_words_of_the_page_are_explained(model, tmp_path):
    X, y = make_rows(60, 1)
    little = {"max_features": 0, "max_pairs": 0, "max_rows": 0, "subgroups": []}
    text, _ = write(tmp_path / "r.html", model, X, y, **little)
    words = re.findall(r"<dt>(.*?)</dt>", text.partition('id="words"')[2])
    assert "look-up table" in words
    assert not {"candidate", "cross-validation"} & {*words}
    for word in GLOSSARY:
        body = html.unescape(re.sub("<[^>]*>", " ", text.partition("<main>")[2]))
        body = body.rpartition(" Words ")[0]
        used = re.search(word.whole, body, re.IGNORECASE) is not None
        assert used == (word.name in words), word.name


def test_pairs_that_are_not_chance_come_first(monkeypatch):
    X, y = make_rows(200, 0)
    model = pb.ProperBoostClassifier(
        n_estimators=15, interactions=3, outer_bags=4, weak_learner="table"
    ).fit(X, y)
    pairs = [term for term in list_terms(model) if term.is_pair]
    assert len(pairs) == 3
    terms = [
        replace(term, within_noise=noisy, importance=importance)
        for term, noisy, importance in zip(pairs, (True, False, True), (0.5, 0.3, 0.2), strict=True)
    ]
    monkeypatch.setattr(properboost.report.write, "list_terms", lambda _: terms)
    options = ReportOptions(subgroups=(), max_features=0, max_pairs=9, max_rows=0)
    content = collect(model, X, y, options)
    assert [effect.term for effect in content.pairs] == [terms[1], terms[0], terms[2]]


def test_joint_effects_that_nobody_sees_come_later(monkeypatch):
    X, y = make_rows(200, 0)
    model = pb.ProperBoostClassifier(
        n_estimators=15, interactions=2, outer_bags=4, weak_learner="table"
    ).fit(X, y)
    pairs = [term for term in list_terms(model) if term.is_pair]
    terms = [
        replace(term, within_noise=noisy, importance=importance)
        for term, noisy, importance in zip(pairs, (True, False), (0.5, 0.0009), strict=True)
    ]
    monkeypatch.setattr(properboost.report.write, "list_terms", lambda _: terms)
    options = ReportOptions(subgroups=(), max_features=0, max_pairs=9, max_rows=0)
    assert [effect.term for effect in collect(model, X, y, options).pairs] == terms


def test_few_terms_that_call_every_row_the_same_are_explained(tmp_path):
    X, y = make_rows(400, 0)
    y = np.where(X[NAME] > 1.5, y, "no")
    model = pb.ProperBoostClassifier(n_estimators=10, weak_learner="table").fit(X, y)
    _, page = write(tmp_path / "r.html", model, X, y, max_features=0, max_rows=0)
    codes = np.searchsorted(model.classes_, y)
    subsets = score_subsets(model, list_terms(model), X, codes, None, is_additive=True)
    same = sum(subset.silenced.n_called == 1 for subset in subsets)
    assert page.text.count("the same of every row") == same > 0


@pytest.mark.parametrize("learner", ["table", "tree"])
def test_simpler_models_are_fitted_if_there_are_training_rows(tmp_path, learner):
    rows, labels = make_rows(400, 0)
    X, y = make_rows(100, 1)
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner=learner).fit(rows, labels)
    little = {"max_features": 0, "max_rows": 0, "subgroups": []}
    _, page = write(tmp_path / "r.html", model, X, y, **little)
    assert "--train train.csv" in page.text
    assert "as it is: wrong" in page.text
    assert "fitted again: wrong" not in page.text
    text, page = write(tmp_path / "r.html", model, X, y, **little, X_train=rows, y_train=labels)
    assert "--train train.csv" not in page.text
    assert "fitted again: wrong" in page.text
    assert "all, in a logistic regression" in page.text
    without_age = rows.drop(columns="age")
    without = pb.ProperBoostClassifier(n_estimators=5, weak_learner=learner).fit(
        without_age, labels
    )
    wrong = percent(np.mean(without.predict(X.drop(columns="age")) != y))
    assert page.text.count(f"without “age”, the model would be wrong in {wrong} of") == 2
    first = X.columns[[int(model.feature_importances_.argmax())]]
    alone = pb.ProperBoostClassifier(n_estimators=5, weak_learner=learner).fit(rows[first], labels)
    p = alone.predict_proba(X[first])
    wrong = percent(np.mean(alone.predict(X[first]) != y))
    line = text.partition(f'data-l="which">{html.escape(first[0])}</td>')[2].partition("</tr>")[0]
    assert f'data-l="fitted again: wrong">{wrong}' in line
    assert f'data-l="fitted again: log loss">{number(log_loss(y, p))}</td>' in line


def test_wrong_arguments_are_named(model, tmp_path):
    X, y = make_rows(30, 1)
    path = tmp_path / "r.html"
    for arguments, complaint in (
        ({"class_": "maybe"}, "class_ must be one of"),
        ({"class_names": {"maybe": "perhaps"}}, "class_names: the labels must be among"),
        ({"feature_descriptions": {"street": "a"}}, "feature_descriptions must describe some"),
        ({"confidence_level": 1.0}, "confidence_level must be above 0 and below 1"),
        ({"max_features": -1}, "max_features must be"),
        ({"sample_weight": np.ones(3)}, "sample_weight"),
        ({"X_train": X}, "X_train needs y_train"),
        ({"y_train": y}, "y_train must be given with X_train only"),
        ({"sample_weight_train": y}, "sample_weight_train must be given with X_train only"),
        ({"subgroups": ["town", "street"]}, "subgroups: the name 'street' is unknown"),
    ):
        with pytest.raises(ValueError, match=complaint):
            pb.report.write_report(model, X, y, path, **arguments)
    with pytest.raises(ValueError, match="X_train needs y"):
        pb.report.write_report(model, X, None, path, X_train=X, y_train=y)
    with pytest.raises(ValueError, match="labels among"):
        pb.report.write_report(model, X, ["other"] * 30, path)
    assert not path.exists()


@pytest.mark.parametrize("missing", ["vl_convert", "jinja2"])
def test_missing_packages_are_named(model, tmp_path, monkeypatch, missing):
    load = extras.importlib.import_module

    def refuse(name):
        if name == missing:
            raise ImportError(name)
        return load(name)

    monkeypatch.setattr(extras.importlib, "import_module", refuse)
    X, y = make_rows(30, 1)
    with pytest.raises(ImportError, match=r"pip install 'properboost\[report\]'"):
        pb.report.write_report(
            model, X, y, tmp_path / "r.html", max_features=0, max_pairs=0, max_rows=0
        )
    assert not [*Path(tmp_path).iterdir()]


@pytest.mark.parametrize(
    "text",
    [
        "a\x0b\x00\x1b[31m\ufffe\ud800\u202eb",
        "constructor",
        "\U0001f600" * 20_000,
        "{{ 7 }}$x$\\<b>",
    ],
    ids=["controls", "inherited", "long", "markup"],
)
def test_any_text_is_text(tmp_path, text):
    rng = np.random.default_rng(0)
    pages = []
    for name in ("size", text):
        X = pd.DataFrame({"x": rng.normal(size=80), "age": rng.normal(size=80)})
        X["sex"] = pd.Categorical.from_codes(
            rng.integers(0, 3, 80), pd.Index([name, f"{name}\x0c", r"\x0c"], dtype=object)
        )
        X.columns = pd.Index([name, "age", f"sex {name}"], dtype=object)
        y = np.array([name if k else "no" for k in X[name] > 0.0], dtype=object)
        model = pb.ProperBoostClassifier(
            n_estimators=4, interactions=1, n_jobs=1, weak_learner="table"
        ).fit(X, y)
        written, page = write(
            tmp_path / "r.html", model, X, y, max_features=2, max_pairs=1, max_rows=1, title=name,
            purpose=name, model_source=name, data_source=name, date=name,
            class_names={"no": f"no {name}"}, feature_descriptions={name: f"a {name}"},
        )  # fmt: skip
        assert written.isprintable() or {c for c in written if not c.isprintable()} <= {*"\n\u200b"}
        pages.append(page)
        seen = make_visible(name)
        for words in (f"a {seen}", f"no {seen}", f"sex {seen}", rf"{seen}\x0c"):
            assert words in page.text
    assert pages[1].kinds <= pages[0].kinds


def count_open_words(text):
    """Return the number of words of a page that no click is needed for, without its pictures."""
    body = text[text.index("<body>") : text.index("<script>")]
    body = re.sub(r"<svg.*?</svg>", "", body, flags=re.DOTALL)
    open_parts, depth = [], 0
    for part in re.split(r"(<details[^>]*>|</details>|<summary>|</summary>)", body):
        if part.startswith("<details"):
            depth += " open" not in part
        elif part == "</details>":
            depth -= 1
        elif part in ("<summary>", "</summary>"):
            depth += -1 if part == "<summary>" else 1
        elif depth == 0:
            open_parts.append(part)
    assert depth == 0
    return len(re.sub(r"<[^>]*>", " ", " ".join(open_parts)).split())


def test_a_page_of_much_content_needs_few_words(tmp_path):
    """Twenty features, pairs, groups and rows are a page of 4,000 words; the rest is folded."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 20)), columns=[f"feature {k}" for k in range(20)])
    for name in ("sex", "race", "marital status"):
        X[name] = pd.Categorical(rng.choice(["a", "b", "c", "d"], len(X)))
    y = X.iloc[:, :8].sum(axis=1) + X["feature 0"] * X["feature 1"] + rng.normal(size=600) > 0.0
    model = pb.ProperBoostClassifier(interactions=8, outer_bags=4, weak_learner="table").fit(
        X[::2], y[::2]
    )
    text, page = write(tmp_path / "r.html", model, X[1::2], y[1::2])
    assert 1_000 < count_open_words(text) < 4_000 < len(page.text.split())
    head = text[text.index("<main>") : text.index("<svg")]
    assert (
        len(re.sub(r"<[^>]*>", " ", head).split()) < 200
    )  # the first picture is on the first screen
