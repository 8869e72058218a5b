"""Test ``properboost report``: the column of the classes, and the files it writes."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from helpers.commands import fail, fail_after_notes, fit, misuse, run, table, write
from properboost.report import scores

pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

LITTLE = ("--max-features", "1", "--max-rows", "0", "--force")


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(scores, "MOST_RESAMPLES", 29)
    monkeypatch.setattr(scores, "FEWEST_RESAMPLES", 29)


def read(name="report.html"):
    return Path(name).read_text("utf-8")


def test_the_classes_are_found(capsys):
    fit(capsys)
    write(table(seed=1), "test.csv")
    out, notes = run(capsys, "report", "model.json", "test.csv", *LITTLE)
    assert out == "Wrote the report on 200 rows to report.html.\n"
    assert "'grade' is used as the classes" in notes
    assert "model.json on test.csv" in read()
    rows = table(seed=1)
    X = rows[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})
    wrong = np.mean(pb.load_model("model.json").predict(X) != rows["grade"])
    assert f"{1 - wrong:.1%}</strong> of the test rows are predicted rightly" in read()

    report = read()
    run(capsys, "report", "model.json", "test.csv", "--target", "grade", *LITTLE)
    assert read() == report


def test_options_reach_the_page(capsys):
    fit(capsys)
    rows = table(seed=1).assign(often=2.0)
    write(rows, "test.csv")
    arguments = [
        "--sample-weight",
        "often",
        "--title",
        "<Mine>",
        "--class",
        "bad",
        "--class-name",
        "bad=broken = <gone>",
        "--level",
        "0.5",
    ]
    arguments += ["--max-pairs", "0", "--max-features", "2", "--max-rows", "1", "--jobs", "1"]
    run(capsys, "report", "model.json", "test.csv", "--output", "page.html", *arguments)
    page = read("page.html")
    assert "<h1>&lt;Mine&gt;</h1>" in page
    assert "probability of broken = &lt;gone&gt;" in page
    assert "“good”" in page
    assert "“bad”" not in page
    assert "50% interval" in page
    assert page.count("<svg") == 2 + 2 + 2 * 2 + 4


def test_groups_and_the_head_reach_the_page(capsys):
    fit(capsys)
    rows = table(seed=1)
    rows["region"] = np.where(np.arange(len(rows)) % 3, "north", "south")
    write(rows, "test.csv")
    files = ("report", "model.json", "test.csv", "--target", "grade", *LITTLE)
    stated = (
        "--purpose",
        "To <test>.",
        "--data-source",
        "A generator.",
        "--model-source",
        "A fit.",
        "--feature-descriptions",
        "columns.csv",
    )
    texts = ["how <large> it is", "what it looks like", "1", "where it stands"]
    described = {"column": ["size", "colour", "flag", "street"], "text": texts}
    write(pd.DataFrame(described), "columns.csv")
    run(capsys, *files, *stated, "--date", "1 May", "--subgroups", "region", "size")
    page = read()
    for text in ("To &lt;test&gt;.", "A generator.", "A fit.", "1 May", "north", "south"):
        assert text in page
    assert "Not stated" not in page
    for text in ("how &lt;large&gt; it is", "what it looks like", "<td>1</td>"):
        assert text in page
    assert "where it stands" not in page
    assert '<h3>region <span class="faint">(the model does not use it)</span></h3>' in page
    assert "<h3>size</h3>" in page
    assert "<h3>colour</h3>" not in page.partition('id="effects"')[0]
    run(capsys, *files, "--subgroups")
    assert 'id="groups"' not in read()
    assert datetime.date.today().isoformat() in read()
    assert "Not stated" in read()
    assert "'street'" in fail(capsys, *files, "--subgroups", "street")


def test_simpler_models_are_fitted_to_the_training_rows(capsys):
    fit(capsys)
    for seed, name in ((0, "train.csv"), (1, "test.csv")):
        rows = table(seed=seed)
        rows["often"] = 1.0 + np.arange(len(rows)) % 2
        write(rows, name)
    files = ("report", "model.json", "test.csv", "--sample-weight", "often", *LITTLE)
    run(capsys, *files)
    assert "fitted again: wrong" not in read()
    run(capsys, *files, "--train", "train.csv")
    assert "fitted again: wrong" in read()
    train, test = table(seed=0), table(seed=1)
    model = pb.load_model("model.json")
    kinds = dict.fromkeys(("colour", "flag"), "category")
    weight = 1.0 + np.arange(len(train)) % 2
    pb.report.write_report(
        model, test[["size", "colour", "flag"]].astype(kinds), test["grade"].to_numpy(),
        "own.html", sample_weight=weight, title="model.json on test.csv",
        date=datetime.date.today().isoformat(), max_features=1, max_rows=0,
        X_train=train[["size", "colour", "flag"]].astype(kinds), y_train=train["grade"],
        sample_weight_train=weight,
    )  # fmt: skip
    assert read() == read("own.html")
    write(table(seed=1).drop(columns="grade"), "new.csv")
    files = ("report", "model.json", "new.csv", *LITTLE, "--train", "train.csv")
    assert "--train needs --target" in fail_after_notes(capsys, *files)


def test_files_without_classes_have_no_scores(capsys):
    fit(capsys)
    write(table(seed=1).drop(columns="grade"), "new.csv")
    _, notes = run(capsys, "report", "model.json", "new.csv", *LITTLE)
    assert "no column holds nothing but the classes, so there are no scores" in notes
    assert "no column of right answers" in read()
    write(table(seed=1).assign(other="good"), "new.csv")
    _, notes = run(capsys, "report", "model.json", "new.csv", *LITTLE)
    assert "several columns ('grade', 'other') hold" in notes


def test_what_is_wrong_is_one_line(capsys):
    fit(capsys)
    write(table(seed=1), "test.csv")
    files = ("report", "model.json", "test.csv")
    assert "column 'size' is a feature of the model" in fail(capsys, *files, "--target", "size")
    assert "'x'" in fail(capsys, *files, "--target", "x")
    line = fail_after_notes(capsys, "report", "model.json", "test.csv", "--class", "fair")
    assert "--class must be one of 'bad', 'good'; got 'fair'" in line
    for names, complaint in (
        (["fair=so"], "--class-name: the label must be one of 'bad', 'good'; got 'fair'"),
        (["bad"], "--class-name must be a label, =, and a text; got 'bad'"),
        (["bad=x", "bad=y"], "--class-name names 'bad' twice"),
    ):
        named = [word for one in names for word in ("--class-name", one)]
        assert complaint in fail_after_notes(capsys, *files, *named)
    described = (*files, "--feature-descriptions", "columns.csv")
    write(pd.DataFrame({"column": ["street"], "text": ["where it stands"]}), "columns.csv")
    line = fail_after_notes(capsys, *described)
    assert "columns.csv must describe some of the features 'size', 'colour', 'flag'; it has" in line
    write(table(seed=1), "columns.csv")
    line = fail_after_notes(capsys, *described)
    assert "columns.csv must have two columns, names and texts; it has 5" in line
    for level in ("2", "much"):
        line = misuse(capsys, "report", "model.json", "test.csv", "--level", level)
        assert f"argument --level: must be above 0 and below 1; got {level}" in line
    Path("report.html").write_text("mine")
    assert "--force replaces it" in fail(capsys, "report", "model.json", "test.csv")
    assert read() == "mine"


def test_costs_reach_the_page(capsys):
    fit(capsys)
    write(table(seed=1), "test.csv")
    files = ("report", "model.json", "test.csv", "--target", "grade", *LITTLE)
    run(capsys, *files)
    assert "Which limit fits your costs?" in read()
    run(capsys, *files, "--cost", "good=20", "--cost", "bad=1")
    page = read()
    assert "by the costs of mistakes the limit would be 4.8%" in page
    # A file with costs has the same page.
    model = pb.LeastCostClassifier(pb.load_model("model.json"), {"good": 20.0, "bad": 1.0})
    model.save_model("model.json")
    run(capsys, *files)
    assert read() == page
    run(capsys, *files, "--cost", "good=1", "--cost", "bad=4")
    assert "by the costs of mistakes the limit would be 80%" in read()


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (["good=1"], "--cost must be given for each class; it lacks 'bad'"),
        (["good=1", "good=2"], "--cost names 'good' twice"),
        (["good=-1", "bad=1"], "--cost: the cost must be a number of at least 0; got '-1'"),
        (["good=x", "bad=1"], "--cost: the cost must be a number of at least 0; got 'x'"),
        (["good"], "--cost must be a label, =, and a number; got 'good'"),
        (["fair=1"], "--cost: the label must be one of"),
    ],
)
def test_wrong_costs_are_named(capsys, costs, message):
    fit(capsys)
    write(table(seed=1), "test.csv")
    options = [part for cost in costs for part in ("--cost", cost)]
    line = fail(capsys, "report", "model.json", "test.csv", "--target", "grade", *options)
    assert message in line


def test_costs_need_classes(capsys):
    fit(capsys)
    write(table(seed=1).drop(columns="grade"), "test.csv")
    costs = ("--cost", "good=1", "--cost", "bad=1")
    line = fail_after_notes(capsys, "report", "model.json", "test.csv", *costs)
    assert "--cost needs --target" in line
