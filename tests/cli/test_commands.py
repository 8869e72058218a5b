"""The command line: what it reads, writes and says, and how it fails."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import properboost as pb
from helpers.commands import columns_of, fail, fail_after_notes, fit, misuse, run, table, write
from properboost.cli import commands as cli
from properboost.parameters.declare import declared

# -- fit and predict ------------------------------------------------------------------------------


def test_fit_then_predict(capsys):
    frame, _, notes = fit(capsys, "--output", "m.json", "--gain", "2", "--loss", "gboost")
    assert notes == ""
    X = frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})
    expected = pb.ProperBoostClassifier("gboost", gain=2.0).fit(X, frame["grade"])

    model = pb.load_model("m.json")
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))

    out, _ = run(capsys, "predict", "m.json", "train.csv")
    written = columns_of(out)
    assert list(written) == ["class", "p_bad", "p_good"]
    assert written["class"] == expected.predict(X).tolist()
    # The digits are written that give the same numbers back.
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


def test_every_parameter_reaches_the_classifier(capsys):
    parameters = {
        "loss": "ggauss",
        "gain": 1.5,
        "n_estimators": 7,
        "learning_rate": 0.5,
        "weak_learner": "stump",
        "max_cells": 4,
        "min_saving": 0.25,
        "grow_policy": "best_first",
        "linear_leaves": False,
        "linear_l2": 5.0,
        "max_leaf_nodes": 31,
        "max_depth": None,
        "min_child_weight": 1.0,
        "max_features": 1.0,
        "subsample": 1.0,
        "n_draws": 1,
        "outer_bags": 5,
        "bag_tables": True,
        "multi_strategy": "multi_output_tree",
        "max_literals": 2,
        "interactions": 1,
        "multiclass": "one_vs_rest",
        "temperature": 0.5,
        "intercept": "share",
        "slope": 0.5,
        "selection": "cyclic",
        "response": "newton",
        "criterion": None,
        "step": "unit",
        "prior": None,
        "smoothing": 0.0,
        "l2": 2.0,
        "max_bins": 17,
        "rows_per_bin": 3.0,
        "normalize_weights": True,
        "n_jobs": 1,
        "verbose": 0,
    }
    offered = {p.name for p in declared(pb.ProperBoostClassifier).values() if p.option is not None}
    assert parameters.keys() == offered | {"n_jobs", "verbose"}
    flags = {"n_jobs": "--jobs"}
    given = [
        word
        for name, value in parameters.items()
        if value is not None and value is not False and name != "verbose"
        for word in (flags.get(name, f"--{name.replace('_', '-')}"), value)
        if word is not True
    ]
    fit(capsys, *given)
    assert pb.load_model("model.json").get_params().items() >= parameters.items()

    trees = {
        "weak_learner": "tree", "max_leaf_nodes": 5, "max_depth": 3, "min_child_weight": 0.5,
        "max_features": 0.6, "subsample": 0.7, "grow_policy": "symmetric",
    }  # fmt: skip
    given = [w for name, value in trees.items() for w in (f"--{name.replace('_', '-')}", value)]
    fit(capsys, *given)
    assert pb.load_model("model.json").get_params().items() >= trees.items()
    fit(capsys, "--weak-learner", "tree", "--linear-leaves", "--linear-l2", 2.5)
    linear = pb.load_model("model.json")
    assert (linear.linear_leaves, linear.linear_l2) == (True, 2.5)
    fit(capsys, "--weak-learner", "monomial", "--max-literals", 3)
    assert pb.load_model("model.json").max_literals == 3
    fit(capsys, "--criterion", "gini")
    assert pb.load_model("model.json").criterion == "gini"

    fit(capsys, "--prior", "0.01", "--smoothing", "0.1", "--verbose", "--rows-per-bin", "none")
    model = pb.load_model("model.json")
    assert (model.prior, model.smoothing, model.verbose) == (0.01, 0.1, 1)
    assert model.rows_per_bin is None


def test_defaults_are_the_classifiers(capsys):
    fit(capsys)
    model = pb.load_model("model.json")
    default = pb.ProperBoostClassifier(categorical_features=["colour", "flag"])
    assert model.get_params() == default.get_params()


def prepared(frame):
    return frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})


@pytest.mark.parametrize(
    "model",
    [
        pb.ProperBoostClassifier(n_estimators=5, weak_learner="tree"),
        pb.ARBoostClassifier(1.5, n_estimators=5, weak_learner="tree"),
        pb.WeightBoost(n_estimators=5),
    ],
    ids=str,
)
def test_models_without_shape_functions_predict(capsys, model):
    frame, *_ = fit(capsys)
    y = (frame["grade"] == frame["grade"].iloc[0]).astype(int)
    X = prepared(frame)
    model.fit(X, y).save_model("model.json")
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--raw")
    np.testing.assert_allclose([float(row) for row in out.split()[1:]], model.decision_function(X))


@pytest.mark.parametrize(
    ("flags", "settings"),
    [
        (["--gain", "auto"], {}),
        (["--gain", "auto", "--cv", 3, "--n-estimators", 9], {"cv": 3, "n_estimators": 9}),
        (["--n-estimators", "auto", "--gain", 2, "--smoothing", 0.1],
         {"gains": [2.0], "smoothings": [0.1]}),
        (["--gain", "auto", "--selection", "cyclic", "--loss", "gboost", "--prior", 0.01],
         {"loss": "gboost", "selection": "cyclic", "priors": [0.01]}),
    ],
    ids=str,
)  # fmt: skip
def test_auto_chooses_by_cross_validation(capsys, flags, settings):
    frame, out, _ = fit(capsys, *flags)
    X = prepared(frame)
    categorical = ["colour", "flag"]
    search = pb.ProperBoostClassifierCV(categorical_features=categorical, **settings, effort=None)
    search.fit(X, frame["grade"])
    model = pb.load_model("model.json")
    assert type(model) is pb.ProperBoostClassifier
    assert model.get_params() == search.best_estimator_.get_params()
    np.testing.assert_array_equal(model.predict_proba(X), search.predict_proba(X))
    unit = "cycles" if search.selection_ == "cyclic" else "rounds"
    assert (
        f"chosen by {search.n_splits_}-fold cross-validation (log loss {-search.best_score_:.4f}): "
        f"gain {search.gain_:g}, {search.n_estimators_} {unit}\n"
    ) in out
    y = frame["grade"].to_numpy()
    trained, unseen = train_test_split(np.arange(200), test_size=0.2, stratify=y, random_state=0)
    trial = clone(search).fit(X.iloc[trained], y[trained])
    loss = log_loss(y[unseen], trial.predict_proba(X.iloc[unseen]))
    assert re.search(rf"^held out +40 +{loss:.4f} ", out, re.M)


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
        (["--n-estimators", "all"], "argument --n-estimators: must be an integer or auto"),
        (["--gain", "auto", "--n-estimators", 0], "n_estimators must be between 1 and"),
        (["--gain", "auto", "--prior", 0], r"priors[0] must be above 0"),
    ],
    ids=str,
)
def test_misused_auto(capsys, flags, message):
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


def test_several_classes(capsys):
    frame = table()
    frame["grade"] = np.digitize(frame["size"], [-0.5, 0.5])
    run(capsys, "fit", write(frame), "--target", "grade", "--drop", "id", "colour")
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--raw")
    assert out.splitlines()[0] == "raw_0,raw_1,raw_2"
    out, _ = run(capsys, "predict", "model.json", "train.csv")
    expected = pb.load_model("model.json").predict_proba(frame[["size", "flag"]])
    written = columns_of(out)
    assert list(written) == ["class", "p_0", "p_1", "p_2"]
    assert [*map(int, written["class"])] == expected.argmax(1).tolist()
    assert [*map(float, written["p_1"])] == expected[:, 1].tolist()


@pytest.mark.parametrize("classes", [2, 3])
def test_intervals_are_beside_probabilities(capsys, classes):
    frame = table()
    if classes > 2:
        frame["grade"] = np.digitize(frame["size"], [-0.5, 0.5])
    train = ("fit", write(frame), "--target", "grade", "--drop", "id", "--n-estimators", 9)
    report, note = run(capsys, *train, "--outer-bags", 16)
    assert note == ""
    assert "held out" in report
    model, X = pb.load_model("model.json"), prepared(frame)
    low, high = np.moveaxis(model.predict_interval(X, 0.8), 2, 0)
    assert (low < high).any()
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--interval", 0.8)
    written = columns_of(out)
    labels = model.classes_.tolist()
    own = [f"{end}_{label}" for label in labels for end in ("p", "low", "high")]
    assert list(written) == ["class", *own]
    for k, label in enumerate(labels):
        assert [*map(float, written[f"low_{label}"])] == low[:, k].tolist()
        assert [*map(float, written[f"high_{label}"])] == high[:, k].tolist()
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--interval", 0.8, "--proba")
    assert out.splitlines()[0] == ",".join(own)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "predict_interval needs a model that was fitted with outer_bags"),
        (["--outer-bags", 4, "--no-bag-tables"], "fitted with bag_tables=True"),
        (["--outer-bags", 4, "--weak-learner", "tree"], "a model of trees has no shape functions"),
        (["--model", "rado"], "a RadoBoostClassifier has no intervals"),
    ],
)
def test_models_without_intervals_are_named(capsys, options, message):
    frame, *_ = fit(capsys, *options)
    new = write(frame[["size", "colour", "flag"]], "new.csv")
    line = fail(capsys, "predict", "model.json", new, "--interval", "0.9")
    assert line.startswith("properboost: error: model.json: ")
    assert message in line


def test_a_search_fits_bags_of_what_it_chose(capsys):
    _, report, _ = fit(capsys, "--gain", "auto", "--outer-bags", 4, "--n-estimators", 5)
    assert "chosen by" in report
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--interval", "0.9")
    assert "high_good" in out.splitlines()[0]


# -- failures -------------------------------------------------------------------------------------


def test_wrong_output_is_heard_of_before_the_work(capsys):
    write(table())
    for output in ("none/model.json", "."):
        line = fail(capsys, "fit", "missing.csv", "--target", "grade", "--output", output)
        assert f"{output}: " in line
        assert "folder" in line


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "required: COMMAND"),
        ("frobnicate", "invalid choice: 'frobnicate'"),
        ("fit t.csv", "required: --target"),
        ("fit t.csv --target y --gain -1", "gain must be above 0, or None; got -1.0"),
        (
            "fit t.csv --target y --gain much",
            "argument --gain: must be a number, none or auto; got 'much'",
        ),
        ("fit t.csv --target y --loss hinge", "argument --loss: must be glog, ggauss, "),
        ("fit t.csv --target y --max-bins 1", "max_bins must be between 2 and 255; got 1"),
        (
            "fit t.csv --target y --response newton --criterion gini",
            "criterion must be None with response='newton'",
        ),
        ("fit t.csv --target y --test-size 1", "--test-size: must be at least 0 and below 1"),
        ("fit t.csv --target y --sep ::", "--sep: must be one character; got '::'"),
        ("fit t.csv --target y --jobs 0", "n_jobs must not be 0"),
        ("fit t.csv --target y --drop y", "column 'y' is the target or the weight"),
        ("predict m.json t.csv --raw --proba", "not allowed with argument"),
        ("predict m.json t.csv --raw --interval 0.9", "--interval is of probabilities"),
        ("predict m.json t.csv --interval 1", "--interval: must be above 0 and below 1; got 1"),
        ("predict m.json t.csv --interval wide", "--interval: invalid"),
        ("fit t.csv --target y --outer-bags 3", "outer_bags must be between 4 and 64, or 0; got 3"),
        ("fit t.csv --target y --outer-bags 16.5", "--outer-bags: must be an integer"),
        ("demo --gains 0", "gain must be above 0, or None; got 0.0"),
        ("demo --rounds 0", "n_estimators must be between 1 and"),
        ("reproduce boost", "there is no paper 'boost': boostlr, savage, arboost, uls, rado"),
        ("reproduce arboost/fig0", "arboost has no item 'fig0': "),
        ("reproduce --seeds 0", "seeds must be at least 1; got 0"),
        ("reproduce --jobs 0", "n_jobs must be at least 1; got 0"),
    ],
)
def test_wrong_arguments(capsys, arguments, complaint):
    """They are wrong whatever is in the file, which is not even looked for."""
    line = misuse(capsys, *arguments.split())
    assert complaint in line
    assert line.endswith("--help)")


@pytest.mark.parametrize(
    ("said", "line"), [("", "memory"), ("1 TiB\nwanted", "memory: 1 TiB wanted")]
)
def test_too_little_memory_is_one_line(capsys, monkeypatch, said, line):
    def fit(*_):
        raise MemoryError(said)

    monkeypatch.setattr(pb.RadoBoostClassifier, "fit", fit)
    train = ("fit", write(table()), "--target", "grade", "--model", "rado", "--drop", "id")
    assert fail(capsys, *train).endswith(f"error: not enough {line}")


def test_an_interrupt_is_one_line(capsys, monkeypatch):
    def fit(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pb.RadoBoostClassifier, "fit", fit)
    train = ["fit", write(table()), "--target", "grade", "--model", "rado", "--drop", "id"]
    assert cli.main(train) == 130  # as shells say it of a process that SIGINT has ended
    assert capsys.readouterr().err == "properboost: error: interrupted\n"
    assert not Path("model.json").exists()


def test_missing_pandas_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    line = fail(capsys, "fit", "t.csv", "--target", "y")
    assert "pip install 'properboost[cli]'" in line


# -- as a process ---------------------------------------------------------------------------------


def test_version_and_help(capsys):
    for arguments, pattern in (
        (["--version"], rf"properboost {re.escape(pb.__version__)}\n"),
        (["--help"], "(?s)usage: properboost .*demo.*fit.*predict.*"),
        (["fit", "--help"], "(?s)usage: properboost fit FILE --target COL .*examples:.*"),
        (["predict", "--help"], "(?s)usage: properboost predict MODEL FILE .*examples:.*"),
        (["demo", "--help"], "(?s)usage: properboost demo .*examples:.*"),
        (
            ["reproduce", "--help"],
            r"(?s)usage: properboost reproduce \[ITEM \.\.\.\] \[options\].*examples:.*",
        ),
    ):
        with pytest.raises(SystemExit) as exit_:
            cli.main(arguments)
        assert exit_.value.code == 0
        assert re.fullmatch(pattern, capsys.readouterr().out)


@pytest.mark.parametrize("command", ["fit", "predict", "demo", "reproduce"])
def test_examples_of_the_help_are_valid(capsys, command):
    parser, commands = cli._make_parsers()
    examples = commands[command].epilog.split("examples:\n")[1].splitlines()
    assert examples
    for example in examples:
        (line,) = [part for part in example.split("|") if "properboost" in part]
        words = line.split(">")[0].replace("'", "").split()
        parser.parse_args(words[1:])


def test_process_reads_a_pipe_and_stops_when_its_reader_does(capsys):
    frame, _, _ = fit(capsys, "--n-estimators", "3")
    text = pd.concat([frame] * 10).to_csv(index=False)
    command = [sys.executable, "-m", "properboost", "predict", "model.json", "-"]
    whole = subprocess.run(command, input=text, capture_output=True, text=True)
    assert whole.returncode == 0
    assert len(whole.stdout.splitlines()) == 2_001

    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()  # before the first line is written
        process.stdin.write(text)
        process.stdin.close()
        assert "Traceback" not in process.stderr.read()
    assert process.returncode == 1


# -- linear models of rados -----------------------------------------------------------------------


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
        (["--model", "rado", "--gain", "2"], "--gain is not for --model rado"),
        (["--model", "rado", "--cv", "3"], "--cv is not for --model rado"),
        (["--model", "rado", "--sample-weight", "w"], "--sample-weight is not for --model rado"),
        (["--no-fit-intercept"], "--fit-intercept is not for --model properboost"),
        (["--omega", "2"], "--omega is not for --model properboost"),
        (["--model", "rado", "--omega", "-2"], "omega must be at least 0"),
        (["--model", "rado", "--n-estimators", "auto"], "n_estimators must be an integer"),
        (["--model", "linear"], "invalid choice: 'linear'"),
    ],
)
def test_options_of_another_model_are_refused(capsys, options, message):
    assert message in misuse(capsys, "fit", write(table()), "--target", "grade", *options)


def test_families_are_compared_without_being_asked(capsys):
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


# -- what is there already ------------------------------------------------------------------------


def test_nothing_is_replaced_unless_told(capsys):
    write(table())
    given = ["fit", "train.csv", "--target", "grade", "--output", "model.json"]
    run(capsys, *given)
    before = Path("model.json").read_bytes()
    line = fail(capsys, *given, "--gain", "3")
    assert line == (
        "properboost: error: model.json: there is such a file already; --force replaces it"
    )
    assert Path("model.json").read_bytes() == before
    run(capsys, *given, "--gain", "3", "--force")
    assert Path("model.json").read_bytes() != before

    predicting = ["predict", "model.json", "train.csv", "--output"]
    run(capsys, *predicting, "out.csv")
    assert "out.csv: there is such a file already; --force" in fail(capsys, *predicting, "out.csv")
    run(capsys, *predicting, "out.csv", "--force")
    Path("link.csv").symlink_to("out.csv")
    assert "--force replaces it" in fail(capsys, *predicting, "link.csv")
    Path("dangling.csv").symlink_to("new.csv")
    run(capsys, *predicting, "dangling.csv")
    assert Path("new.csv").exists()


def test_devices_and_descriptors_are_written_to(capsys):
    fit(capsys)
    run(capsys, "predict", "model.json", "train.csv", "--output", "/dev/null")
    command = [sys.executable, "-m", "properboost", "predict", "model.json", "train.csv"]
    for _ in range(2):
        with Path("out.csv").open("wb") as file:
            subprocess.run([*command, "--output", "/dev/stdout"], stdout=file, check=True)
    out, _ = run(capsys, "predict", "model.json", "train.csv")
    assert Path("out.csv").read_text() == out


# -- targets --------------------------------------------------------------------------------------


def test_many_numbers_are_no_classes_unless_told(capsys):
    frame = table().assign(age=lambda f: f["id"] % 21)
    given = ["fit", write(frame), "--target", "age"]
    line = fail(capsys, *given)
    assert line == (
        "properboost: error: column 'age' holds 21 different numbers, each of which would be a "
        "class; --many-classes takes them for that"
    )
    assert not Path("model.json").exists()
    run(capsys, *given, "--many-classes", "--n-estimators", "2")
    assert len(pb.load_model("model.json").classes_) == 21
    letters = frame.assign(age=lambda f: [chr(97 + k) for k in f["age"]])
    run(capsys, "fit", write(letters), "--target", "age", "--n-estimators", "2")
    twenty = frame.assign(age=lambda f: f["age"] % 20)
    run(capsys, "fit", write(twenty), "--target", "age", "--n-estimators", "2")


# -- another file of rows -------------------------------------------------------------------------


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
    given = ["--target", "grade", "--drop", "id", "--sample-weight", "w", "--eval", "other.csv"]
    out, _ = run(capsys, "fit", "train.csv", *given)
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
def test_another_file_that_does_not_fit_is_heard_of_before_the_work(change, message, capsys):
    write(table())
    write(change(table()), "other.csv")
    given = ["--target", "grade", "--drop", "id", "--eval", "other.csv", "--output", "m.json"]
    line = fail(capsys, "fit", "train.csv", *given)
    assert line.startswith("properboost: error: other.csv: ")
    assert message in line
    assert not Path("m.json").exists()


def test_one_class_of_another_file_is_enough(capsys):
    write(table().query("grade == 'good'"), "other.csv")
    _, out, _ = fit(capsys, "--eval", "other.csv")
    assert re.search(r"^other file +\d+ +\S+ +\S+$", out, re.MULTILINE)


# -- contributions --------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_contributions_are_beside_predictions(capsys, classes):
    frame = table()
    if classes == 3:
        frame["grade"] = frame["grade"].where(frame["id"] % 5 > 0, "fair")
    given = ["--target", "grade", "--drop", "id", "--interactions", "1"]
    run(capsys, "fit", write(frame), *given)
    model, X = pb.load_model("model.json"), prepared(frame)
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--explain")
    plain, _ = run(capsys, "predict", "model.json", "train.csv")
    written = columns_of(out)
    assert [*written][: 1 + classes] == [*columns_of(plain)]
    (pair,) = model.pairs_
    terms = ["size", "colour", "flag", " and ".join(pair)]
    labels = model.classes_.tolist() if classes == 3 else ["good"]
    assert [*written][1 + classes :] == [
        name
        for label in labels
        for name in (f"baseline_{label}", *(f"contribution_{label}_{term}" for term in terms))
    ]
    for label in labels:
        expected = model.contributions(X, label)
        assert {*map(float, written[f"baseline_{label}"])} == {expected.baseline}
        for k, term in enumerate(terms):
            found = [*map(float, written[f"contribution_{label}_{term}"])]
            assert found == expected.values[:, k].tolist()
    out, _ = run(capsys, "predict", "model.json", "train.csv", "--explain", "--raw")
    if classes == 2:
        written = columns_of(out)
        total = sum(np.array([*map(float, written[name])]) for name in [*written][1:])
        np.testing.assert_allclose(total, [*map(float, written["raw_good"])], atol=1e-12)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (pb.UDTClassifier(max_leaf_nodes=4), "m.json: a UDTClassifier has no contributions"),
        (pb.WeightBoost(n_estimators=3), "m.json: what a round adds depends on the sum before it"),
        (
            pb.ProperBoostClassifier(n_estimators=2, weak_learner="tree", linear_leaves=True),
            "m.json: contributions must be of a model with linear_leaves=False",
        ),
    ],
    ids=["udt", "damped", "lines"],
)
def test_models_without_contributions_are_named(model, message, capsys):
    frame = table()
    model.fit(prepared(frame), frame["grade"]).save_model("m.json")
    write(prepared(frame))
    run(capsys, "predict", "m.json", "train.csv")
    assert fail(capsys, "predict", "m.json", "train.csv", "--explain").startswith(
        f"properboost: error: {message}"
    )


def test_contributions_of_one_name_are_refused(capsys):
    frame = table().rename(columns={"size": "c", "colour": "b_c"})[["c", "b_c", "grade"]]
    frame["grade"] = np.array(["a", "a_b", "d"])[frame.index % 3]
    run(capsys, "fit", write(frame), "--target", "grade")
    line = fail_after_notes(capsys, "predict", "model.json", "train.csv", "--explain")
    assert "two columns of contributions would be called 'contribution_a_b_c'" in line


# -- compact and packed models --------------------------------------------------------------------


def test_models_are_written_compact_and_packed(capsys):
    fit(capsys)
    _, out, _ = fit(capsys, "--compact", "--output", "small.json.gz")
    assert "is in small.json.gz." in out
    assert Path("small.json.gz").stat().st_size < 0.1 * Path("model.json").stat().st_size
    plain, _ = run(capsys, "predict", "model.json", "train.csv")
    small, _ = run(capsys, "predict", "small.json.gz", "train.csv")
    assert small == plain


# -- the page -------------------------------------------------------------------------------------


def test_the_page_lists_every_option():
    page = (Path(__file__).resolve().parents[2] / "docs" / "command_line.md").read_text("utf-8")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## )", page + "## ", re.M | re.S))
    _, commands = cli._make_parsers()
    for name, command in commands.items():
        options = {
            option.removeprefix("--").removeprefix("no-")
            for action in command._actions
            for option in action.option_strings
            if option.startswith("--") and option not in ("--help", "--threads")
        }
        missing = [o for o in options if not re.search(rf"--(no-)?{o}(?![\w-])", sections[name])]
        assert missing == [], name
