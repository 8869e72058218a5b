"""Test ``properboost fit``: the models and the reports."""

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

import properboost as pb
from helpers.commands import columns_of, fail, fit, misuse, run, table, write
from properboost import __main__ as cli
from properboost.cli import fit as fit_command
from properboost.model_selection.search_run import SearchRun
from properboost.parameters.declare import declared
from properboost.parameters.flat import PLACES, nest
from properboost.parameters.learners import WeakLearner


def prepared(frame):
    return frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})


def test_fit_then_predict(capsys):
    frame, _, notes = fit(capsys, "--output", "m.json", "--gain", "2", "--loss", "gboost")
    assert notes == ""
    X = frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})
    expected = pb.ProperBoostClassifier("gboost", gain=2.0, weak_learner="table").fit(
        X, frame["grade"]
    )

    model = pb.load_model("m.json")
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))

    out, _ = run(capsys, "predict", "m.json", "train.csv")
    written = columns_of(out)
    assert list(written) == ["class", "p_bad", "p_good"]
    assert written["class"] == expected.predict(X).tolist()
    # The digits in the file give back the same numbers.
    for k, name in enumerate(("p_bad", "p_good")):
        assert [*map(float, written[name])] == expected.predict_proba(X)[:, k].tolist()

    run(capsys, "predict", "m.json", "train.csv", "--raw", "--output", "raw.csv")
    raw = columns_of(Path("raw.csv").read_text())
    assert list(raw) == ["raw_good"]
    assert [*map(float, raw["raw_good"])] == expected.decision_function(X).tolist()

    out, _ = run(capsys, "predict", "m.json", "train.csv", "--proba")
    assert out.splitlines()[0] == "p_bad,p_good"
    run(capsys, "predict", "m.json", "train.csv", "--proba", "--jobs", 1, "--output", "p.csv.gz")
    assert gzip.decompress(Path("p.csv.gz").read_bytes()).decode() == out


COMMON = {
    "loss": "ggauss",
    "gain": 1.5,
    "n_estimators": 7,
    "learning_rate": 0.5,
    "multiclass": "one_vs_rest",
    "response": "newton",
    "step": "unit",
    "l2": 2.0,
    "screening": 40,
    "max_bins": 17,
    "rows_per_bin": 3.0,
    "normalize_weights": True,
    "intercept": "share",
    "slope": 0.5,
    "temperature": 0.5,
}

GROWN = {"min_child_weight": 0.5, "max_features": 0.6, "subsample": 0.7}

FITS = [
    {
        **COMMON, "weak_learner": "table", "max_cells": 4, "min_saving": 0.25, "smoothing": 0.0,
        "interactions": 1, "outer_bags": 5, "bag_tables": False,
    },
    {"weak_learner": "stump", "selection": "cyclic", "prior": 0.01, "criterion": "gini"},
    {
        "weak_learner": "tree", **GROWN, "n_draws": 2, "grow_policy": "symmetric", "max_depth": 3,
        "multi_strategy": "one_output_per_tree", "linear_leaves": True, "linear_l2": 2.5,
    },
    {
        "weak_learner": "tree", "max_leaf_nodes": 5, "linear_leaves": False, "interaction_cst": 2,
        "max_terms": 4,
    },
    {"weak_learner": "rule", **GROWN, "max_conditions": 3},
]  # fmt: skip
"""Options of several fits, by flat names; each fit has those of one weak learner."""


def type_options(parameters):
    """Yield the options as a user types them."""
    for name, value in parameters.items():
        yield f"--{'no-' if value is False else ''}{name.replace('_', '-')}"
        yield from [] if isinstance(value, bool) else [value]


def test_every_parameter_is_in_a_fit():
    known = declared(pb.ProperBoostClassifier) | {name: p.entry for name, p in PLACES.items()}
    offered = {name for name, entry in known.items() if entry.option is not None}
    assert set().union(*FITS) == offered


@pytest.mark.filterwarnings("ignore:the training risk still falls")
@pytest.mark.parametrize("parameters", FITS, ids=lambda options: options["weak_learner"])
def test_every_parameter_reaches_the_classifier(capsys, parameters):
    fit(capsys, *type_options(parameters), "--jobs", 1)
    model = pb.load_model("model.json")
    kind = str if parameters["weak_learner"] == "stump" else WeakLearner
    assert isinstance(model.weak_learner, kind)
    for name, value in nest(parameters).items():
        read = model.get_params()[name]
        assert getattr(read, "name", getattr(read, "n_bags", read)) == value
    assert (model.n_jobs, model.verbose) == (1, 0)


def test_words_and_counts_reach_the_classifier(capsys):
    fit(capsys, "--criterion", "gini", "--verbose", "--rows-per-bin", "none")
    model = pb.load_model("model.json")
    assert (model.criterion, model.verbose, model.rows_per_bin) == ("gini", 1, None)
    assert model.weak_learner == "auto"


def test_defaults_are_the_classifiers(capsys):
    fit(capsys)
    model = pb.load_model("model.json")
    default = pb.ProperBoostClassifier(categorical_features=["colour", "flag"])
    assert model.get_params() == default.get_params()


@pytest.mark.parametrize(
    ("flags", "settings"),
    [
        (["--gain", "auto"], {}),
        (["--gain", "auto", "--cv", 3, "--n-estimators", 9],
         {"cv": 3, "space": {"n_estimators": 9}}),
        (["--n-estimators", "auto", "--gain", 2, "--smoothing", 0.1],
         {"space": {"gain": 2.0, "weak_learner__smoothing": 0.1}}),
        (["--gain", "auto", "--selection", "cyclic", "--loss", "gboost", "--prior", 0.01],
         {"space": {"loss": "gboost", "selection": "cyclic", "prior": 0.01}}),
        (["--gain", "auto", "--weak-learner", "tree", "--max-depth", 2, "--slope", 0.9],
         {"space": {"weak_learner": "tree", "weak_learner__max_depth": 2,
                    "calibration": pb.Calibration(slope=0.9)}}),
    ],
    ids=str,
)  # fmt: skip
def test_auto_chooses_by_cross_validation(capsys, flags, settings):
    frame, out, _ = fit(capsys, *flags, "--test-size", 0.2)
    X = prepared(frame)
    categorical = ["colour", "flag"]
    search = pb.ProperBoostClassifierCV(categorical_features=categorical, **settings, effort=None)
    search.fit(X, frame["grade"])
    model = pb.load_model("model.json")
    assert type(model) is pb.ProperBoostClassifier
    assert model.get_params() == search.best_estimator_.get_params()
    np.testing.assert_array_equal(model.predict_proba(X), search.predict_proba(X))
    unit = "cycles" if search.ensemble_.selection == "cyclic" else "rounds"
    assert (
        f"chosen by {search.n_splits_}-fold cross-validation (log loss {-search.best_score_:.4f}): "
        f"gain {search.gain_:g}, {search.n_estimators_} {unit}\n"
    ) in out
    y = frame["grade"].to_numpy()
    trained, unseen = train_test_split(np.arange(200), test_size=0.2, stratify=y, random_state=0)
    trial = clone(search).fit(X.iloc[trained], y[trained])
    loss = log_loss(y[unseen], trial.predict_proba(X.iloc[unseen]))
    assert re.search(rf"^held out +40 +{loss:.4f} ", out, re.M)


def test_a_search_is_scored_by_its_own_folds(capsys):
    """No second search is needed: the chosen model predicts each row once without its label."""
    frame, out, _ = fit(capsys, "--effort", 1, "--cv", 3, "--no-calibrate")
    assert not re.search("^(held out|[0-9] folds)", out, re.M)
    _, out, _ = fit(capsys, "--effort", 1, "--cv", 3)
    shown = re.search(r"^3 folds +200 +(\S+) +(\S+)$", out, re.M)
    assert "held out" not in out
    X, y = prepared(frame), frame["grade"].to_numpy()
    model = pb.load_model("model.json")
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    probability = cross_val_predict(clone(model), X, y, cv=folds, method="predict_proba")
    # Bins are cut from all rows in a search, and its folds differ from these.
    assert float(shown[1]) == pytest.approx(log_loss(y, probability), abs=0.03)
    accuracy = np.mean(model.classes_[probability.argmax(axis=1)] == y)
    assert float(shown[2]) == pytest.approx(accuracy, abs=0.04)


def test_the_model_is_saved_before_it_is_scored(capsys, monkeypatch):
    def score(*_):
        assert type(pb.load_model("model.json")) is pb.ProperBoostClassifier
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_command, "evaluate", score)
    command = ["fit", write(table()), "--target", "grade", "--drop", "id", "--effort", "none"]
    assert cli.main(command) == 130
    assert "Wrote the model, fitted on all rows, to model.json" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("effort", "owner", "when"),
    [
        ("1", SearchRun, "before the first candidates were finished"),
        ("none", pb.ProperBoostClassifier, "before the fit was finished"),
    ],
)
def test_an_interrupt_that_saves_nothing_is_stated(capsys, monkeypatch, effort, owner, when):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    name = "_boost" if effort == "1" else "fit"
    monkeypatch.setattr(owner, name, interrupt)
    command = ["fit", write(table()), "--target", "grade", "--drop", "id", "--effort", effort]
    assert cli.main(command) == 130
    err = capsys.readouterr().err
    assert f"properboost: error: interrupted {when}: nothing was saved\n" in err
    assert not Path("model.json").exists()


def test_the_next_commands_run_as_they_are_printed(capsys):
    write(table(90, seed=1), "other file.csv")
    _, out, _ = fit(capsys, "--eval", "other file.csv")
    lines = [line for line in out.splitlines() if line.startswith("  properboost ")]
    assert [shlex.split(line, comments=True)[1] for line in lines] == ["report", "predict"]
    assert cli.main(shlex.split(lines[0], comments=True)[1:]) == 0
    assert Path("report.html").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--cv", 3],
            "--cv is for a search: leave out --effort none, or add --gain auto or --n-est",
        ),
        (["--gain", "auto", "--cv", 1], "--cv must be at least 2; got 1"),
        (
            ["--gain", "auto", "--cv", "some"],
            "argument --cv: must be an integer or auto; got 'some'",
        ),
        (["--gain", "all"], "argument --gain: must be a number, none or auto; got 'all'"),
        (["--n-estimators", "all"], "argument --n-estimators: must be an integer, none or auto"),
        (["--gain", "auto", "--n-estimators", 0], "n_estimators must be between 1 and"),
        (["--gain", "auto", "--prior", 0], "prior must be above 0"),
    ],
    ids=str,
)
def test_misused_auto(capsys, flags, message):
    line = misuse(capsys, "fit", write(table()), "--target", "grade", *map(str, flags))
    assert message in line


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--max-depth", 6], "--max-depth is for --weak-learner tree"),
        (["--weak-learner", "stump", "--max-cells", 4], "--max-cells is for --weak-learner table"),
        (["--subsample", 0.5], "--subsample is for --weak-learner tree or rule"),
        (
            ["--weak-learner", "tree", "--max-conditions", 3],
            "-conditions is for --weak-learner rule",
        ),
        (["--effort", 1, "--max-cells", 4], "--max-cells is for --weak-learner table"),
        (["--effort", 1, "--weak-learner", "auto", "--n-draws", 2], "--n-draws is for --weak-lear"),
        (
            ["--weak-learner", "histogram"],
            "must be table, stump, tree, rule or auto; got 'histogram'",
        ),
        (["--weak-learner", "tree", "--linear-l2", 2], "Tree.linear_l2 must be 5.0 with linear_le"),
    ],
    ids=str,
)
def test_options_of_another_weak_learner_are_refused(capsys, flags, message):
    line = misuse(capsys, "fit", write(table()), "--target", "grade", *map(str, flags))
    assert message in line


@pytest.mark.filterwarnings("default")
def test_a_gain_that_cannot_matter_is_noted(capsys):
    _, _, notes = fit(capsys, "--gain", "auto", "--response", "exact", "--test-size", 0)
    (note,) = notes.splitlines()
    assert "the gain cannot matter" in note


def test_sample_weights_are_frequencies(capsys):
    frame = table().assign(weight=np.arange(200) % 3)
    write(frame)
    write(frame.loc[frame.index.repeat(frame["weight"])].drop(columns="weight"), "repeated.csv")
    arguments = ("--target", "grade", "--drop", "id", "--output")
    out, _ = run(capsys, "fit", "train.csv", *arguments, "w.json", "--sample-weight", "weight")
    repeated, _ = run(capsys, "fit", "repeated.csv", *arguments, "r.json")
    weighted, plain = pb.load_model("w.json"), pb.load_model("r.json")
    assert list(weighted.feature_names_in_) == ["size", "colour", "flag"]
    np.testing.assert_allclose(
        weighted.shape_function("colour").values, plain.shape_function("colour").values
    )
    scores = [re.search(r"^class shares +\S+ +(.*)$", text, re.M)[1] for text in (out, repeated)]
    assert scores[0] == scores[1]


def test_a_linear_model_is_fitted_and_predicts(capsys):
    frame = table()
    options = ("--model", "rado", "--regularizer", "lasso", "--omega", "0.1", "--no-fit-intercept")
    train = ("fit", write(frame), "--target", "grade", "--drop", "id", "--n-estimators", "50")
    report, note = run(capsys, *train, *options, "--n-rados", "80", "--jobs", "1")
    assert note == ""
    model = pb.load_model("model.json")
    settings = {"n_estimators": 50, "n_rados": 80, "fit_intercept": False}
    X = frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})
    expected = pb.RadoBoostClassifier("lasso", 0.1, **settings).fit(X, frame["grade"])
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    lines = report.splitlines()
    first = lines[lines.index("coefficient  column") + 1]
    k = np.abs(model.coef_[0]).argmax()
    assert first.split() == [f"{model.coef_[0, k]:.4g}", model.coef_names_[k]]
    assert any(line.startswith("held out") and "40" in line for line in lines)
    new = frame.drop(columns=["id", "grade"]).replace({"colour": {"blue": "pink"}})
    out, note = run(capsys, "predict", "model.json", write(new, "new.csv"), "--raw")
    assert "column 'colour' holds categories that training did not have" in note
    (raw,) = columns_of(out).values()
    unknown = new.astype({"colour": "category", "flag": "category"})
    np.testing.assert_array_equal([float(cell) for cell in raw], model.decision_function(unknown))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "rado", "--gain", "2"], "--gain cannot be combined with --model rado"),
        (["--model", "rado", "--cv", "3"], "--cv cannot be combined with --model rado"),
        (["--model", "rado", "--sample-weight", "w"], "--sample-weight cannot be combined"),
        (["--no-fit-intercept"], "--fit-intercept cannot be combined with --model properboost"),
        (["--omega", "2"], "--omega cannot be combined with --model properboost"),
        (["--model", "rado", "--omega", "-2"], "omega must be at least 0"),
        (["--model", "rado", "--n-estimators", "auto"], "n_estimators must be an integer"),
        (["--model", "linear"], "invalid choice: 'linear'"),
    ],
)
def test_options_of_another_model_are_refused(capsys, options, message):
    assert message in misuse(capsys, "fit", write(table()), "--target", "grade", *options)


def test_families_are_compared_by_default(capsys):
    frame = table()
    train = ["fit", write(frame), "--target", "grade", "--drop", "id", "--test-size", "0"]
    out, _ = run(capsys, *train, "--effort", "1", "--cv", "3")
    model = pb.load_model("model.json")
    assert "chosen by 3-fold cross-validation" in out
    assert "tables" in out
    assert type(model) is pb.ProperBoostClassifier
    X = prepared(frame)
    search = pb.ProperBoostClassifierCV(
        effort=1, cv=3, categorical_features=["colour", "flag"]
    ).fit(X, frame["grade"])
    np.testing.assert_array_equal(model.predict_proba(X), search.predict_proba(X))
    assert model.search_["by_family"]
    assert model.search_["compared"]["name"].tolist() == search.family_results_["family"].tolist()

    first = Path("model.json").read_bytes()
    run(capsys, *train, "--effort", "1", "--cv", "3", "--force")
    assert Path("model.json").read_bytes() == first  # the record has no times


def test_many_numbers_are_classes_only_by_option(capsys):
    frame = table().assign(age=lambda f: f["id"] % 21)
    command = ["fit", write(frame), "--target", "age"]
    line = fail(capsys, *command)
    assert line == (
        "properboost: error: column 'age' holds 21 different numbers, each of which would be a "
        "class; --many-classes accepts them as classes"
    )
    assert not Path("model.json").exists()
    run(capsys, *command, "--many-classes", "--n-estimators", "2")
    assert len(pb.load_model("model.json").classes_) == 21
    letters = frame.assign(age=lambda f: [chr(97 + k) for k in f["age"]])
    run(capsys, "fit", write(letters), "--target", "age", "--n-estimators", "2")
    twenty = frame.assign(age=lambda f: f["age"] % 20)
    run(capsys, "fit", write(twenty), "--target", "age", "--n-estimators", "2")


def test_the_report_scores_another_file(capsys):
    other = table(90, seed=1)
    other.loc[0, "colour"] = "mauve"
    write(other[["colour", "grade", "size", "flag", "id"]], "other.csv")
    _, out, notes = fit(capsys, "--eval", "other.csv")
    model = pb.load_model("model.json")
    y = other["grade"].to_numpy()
    loss = log_loss(y, model.predict_proba(prepared(other)))
    accuracy = np.mean(model.predict(prepared(other)) == y)
    assert re.search(rf"^other file +90 +{loss:.4f} +{accuracy:.4f}$", out, re.MULTILINE)
    assert "other.csv: the columns are in another order than in training" in notes
    assert (
        "'colour' holds categories that training did not have (1 cells, such as 'mauve')" in notes
    )


def test_weights_of_another_file_count(capsys):
    frame, other = (
        table(n, seed=k).assign(w=lambda f: f["id"] % 3) for n, k in ((200, 0), (90, 1))
    )
    write(frame)
    write(other, "other.csv")
    options = ["--target", "grade", "--drop", "id", "--sample-weight", "w", "--eval", "other.csv"]
    out, _ = run(capsys, "fit", "train.csv", *options)
    probability = pb.load_model("model.json").predict_proba(prepared(other))
    loss = log_loss(other["grade"], probability, sample_weight=other["w"])
    assert re.search(rf"^other file +60 +{loss:.4f} ", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="grade"), "the file lacks the column 'grade'"),
        (lambda f: f.drop(columns="size"), "the file lacks the column 'size'"),
        (
            lambda f: f.assign(grade="fair"),
            "'grade' holds classes that training did not have: 'fair'",
        ),
        (lambda f: f.assign(size="tall"), "column 'size' was numeric in training, but row 1 holds"),
        (lambda f: f.assign(grade=None), "column 'grade' has missing cells"),
        (lambda f: f.iloc[:0], "there are no rows below the header"),
    ],
)
def test_a_wrong_other_file_is_refused_before_the_fit(change, message, capsys):
    write(table())
    write(change(table()), "other.csv")
    options = ["--target", "grade", "--drop", "id", "--eval", "other.csv", "--output", "m.json"]
    line = fail(capsys, "fit", "train.csv", *options)
    assert line.startswith("properboost: error: other.csv: ")
    assert message in line
    assert not Path("m.json").exists()


def test_one_class_of_another_file_is_enough(capsys):
    write(table().query("grade == 'good'"), "other.csv")
    _, out, _ = fit(capsys, "--eval", "other.csv")
    assert re.search(r"^other file +\d+ +\S+ +\S+$", out, re.MULTILINE)


def test_models_are_written_compact_and_packed(capsys):
    fit(capsys)
    _, out, _ = fit(capsys, "--compact", "--output", "small.json.gz")
    assert "to small.json.gz." in out
    assert Path("small.json.gz").stat().st_size < 0.1 * Path("model.json").stat().st_size
    plain, _ = run(capsys, "predict", "model.json", "train.csv")
    small, _ = run(capsys, "predict", "small.json.gz", "train.csv")
    assert small == plain
