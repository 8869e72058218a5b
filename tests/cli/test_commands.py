"""The command line: what it reads, writes and says, and how it fails."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

import properboost as pb
from helpers.commands import columns_of, fail, fit, misuse, run, table, write
from properboost.cli import commands as cli


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


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


def test_every_parameter_reaches_the_classifier(capsys):
    parameters = {
        "loss": "ggauss",
        "gain": 1.5,
        "n_estimators": 7,
        "learning_rate": 0.5,
        "weak_learner": "stump",
        "max_leaf_nodes": 31,
        "max_depth": None,
        "min_child_weight": 1.0,
        "max_features": 1.0,
        "subsample": 1.0,
        "max_literals": 2,
        "interactions": 1,
        "selection": "cyclic",
        "response": "newton",
        "criterion": None,
        "step": "unit",
        "prior": None,
        "smoothing": 0.0,
        "l2": 2.0,
        "max_bins": 17,
        "rows_per_bin": 3.0,
        "n_jobs": 1,
        "verbose": 0,
    }
    assert set(parameters) == set(cli.PARAMETERS)
    flags = {"n_jobs": "--jobs"}
    given = [
        word
        for name, value in parameters.items()
        if value is not None and name != "verbose"
        for word in (flags.get(name, f"--{name.replace('_', '-')}"), value)
    ]
    fit(capsys, *given)
    assert pb.load_model("model.json").get_params().items() >= parameters.items()

    trees = {
        "weak_learner": "tree", "max_leaf_nodes": 5, "max_depth": 3, "min_child_weight": 0.5,
        "max_features": 0.6, "subsample": 0.7,
    }  # fmt: skip
    given = [w for name, value in trees.items() for w in (f"--{name.replace('_', '-')}", value)]
    fit(capsys, *given)
    assert pb.load_model("model.json").get_params().items() >= trees.items()
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
    search = pb.ProperBoostClassifierCV(categorical_features=categorical, **settings)
    search.fit(X, frame["grade"])
    model = pb.load_model("model.json")
    assert type(model) is pb.ProperBoostClassifier
    assert model.get_params() == search.best_estimator_.get_params()
    np.testing.assert_array_equal(model.predict_proba(X), search.predict_proba(X))
    unit = "cycles" if search.selection == "cyclic" else "rounds"
    assert (
        f"chosen by {search.cv}-fold cross-validation (log loss {-search.best_score_:.4f}): "
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
        (["--cv", 3], "--cv needs --gain auto or --n-estimators auto"),
        (["--gain", "auto", "--cv", 1], "--cv must be at least 2; got 1"),
        (["--gain", "auto", "--cv", "some"], "argument --cv: invalid int value: 'some'"),
        (["--gain", "all"], "argument --gain: must be a number or auto; got 'all'"),
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


def test_report(capsys):
    frame, out, _ = fit(capsys, "--test-size", "0.25")
    X = frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})
    y = frame["grade"].to_numpy()
    model = pb.ProperBoostClassifier().fit(X, y)
    trained, unseen = train_test_split(
        np.arange(len(y)), test_size=0.25, stratify=y, random_state=0
    )
    trial = pb.ProperBoostClassifier().fit(X.iloc[trained], y[trained])
    scores = dict(re.findall(r"^(class shares|training|held out) +(\S+ +\S+ +\S+)$", out, re.M))
    for name, classifier, rows in (
        ("training", model, np.arange(len(y))),
        ("held out", trial, unseen),
    ):
        loss = log_loss(y[rows], classifier.predict_proba(X.iloc[rows]))
        accuracy = accuracy_score(y[rows], classifier.predict(X.iloc[rows]))
        assert scores[name].split() == [f"{len(rows)}", f"{loss:.4f}", f"{accuracy:.4f}"]
    good = np.mean(y == "good")
    entropy = -good * np.log(good) - (1 - good) * np.log(1 - good)
    assert scores["class shares"].split() == ["200", f"{entropy:.4f}", f"{max(good, 1 - good):.4f}"]
    assert "200 rows, 3 features (2 categorical)" in out
    first = re.search(r"importance  feature\n +(\S+)%  (\S+)", out)
    assert first[2] == "size"
    assert float(first[1]) == pytest.approx(100 * model.feature_importances_.max(), abs=0.05)


@pytest.mark.parametrize(
    ("rows", "share", "reason"),
    [
        ("1,u\n2,u\n3,v\n4,v\n", "0", "none was asked for"),
        ("1,u\n2,u\n3,u\n4,v\n", "0.5", "class v has one row only"),
        ("1,u\n2,u\n3,v\n4,v\n", "0.2", "too few rows"),
    ],
)
def test_report_says_why_nothing_was_held_out(capsys, rows, share, reason):
    Path("small.csv").write_text("x,y\n" + rows)
    out, _ = run(capsys, "fit", "small.csv", "--target", "y", "--test-size", share)
    assert re.search(f"^held out: .*{reason}", out, re.M)


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


# -- how cells are read ---------------------------------------------------------------------------


def test_text_of_cells_is_kept(capsys):
    """True is no number, and 01 is not 1 where it is said to be a category."""
    rows = ["TRUE,01,1", "true,1,0"] * 4
    Path("t.csv").write_text("truth,code,y\n" + "\n".join(rows) + "\n,,1\n")
    run(capsys, "fit", "t.csv", "--target", "y", "--categorical", "code", "--test-size", "0")
    model = pb.load_model("model.json")
    assert model.shape_function("truth").categories == ("TRUE", "true")
    assert model.shape_function("code").categories == ("01", "1")
    assert model.shape_function("code").missing_weight == 1.0

    _, notes = run(capsys, "predict", "model.json", "t.csv")
    assert notes.count("note") == 1  # of the target, which is ignored


def test_missing_cells(capsys):
    Path("t.csv").write_text("a,b,y\n1,x,u\nNA,?,u\n,x,v\n4,nan,v\n")
    run(capsys, "fit", "t.csv", "--target", "y")
    model = pb.load_model("model.json")
    assert model.shape_function("a").missing_weight == 2.0
    assert model.shape_function("b").categories == ("?", "x")

    # Given ones take the place of the usual ones.
    _, notes = run(capsys, "fit", "t.csv", "--target", "y", "--na", "?", "--na", "nan")
    model = pb.load_model("model.json")
    assert model.shape_function("a").kind == "categorical"
    assert model.shape_function("b").categories == ("x",)
    assert model.shape_function("b").missing_weight == 2.0
    assert "row 2 holds 'NA'" in notes


def test_integers_beyond_64_bits_are_numbers(capsys):
    Path("t.csv").write_text(f"a,y\n1,u\n{10**30},v\n-1,u\n2,v\n")
    run(capsys, "fit", "t.csv", "--target", "y")
    assert pb.load_model("model.json").shape_function("a").kind == "numeric"


def test_separator(capsys):
    Path("t.csv").write_text("a\ty\n1\tu\n2\tv\n")
    run(capsys, "fit", "t.csv", "--target", "y", "--sep", r"\t")
    assert list(pb.load_model("model.json").feature_names_in_) == ["a"]


def test_final_comma_is_no_cell(capsys):
    Path("t.csv").write_text("a,y\n1,u,\n2,v,\n")
    run(capsys, "fit", "t.csv", "--target", "y")
    assert pb.load_model("model.json").shape_function("a").kind == "numeric"


def test_columns_are_matched_by_name(capsys):
    frame, _, _ = fit(capsys)
    in_order, notes = run(capsys, "predict", "model.json", "train.csv")
    assert "ignored, as the model does not use them: 'id', 'grade'" in notes
    assert "order" not in notes
    write(frame[["flag", "size", "colour"]], "other.csv")
    out, notes = run(capsys, "predict", "model.json", "other.csv")
    assert out == in_order
    assert "matched by name" in notes
    assert "ignored" not in notes


def test_unseen_categories_are_noted(capsys):
    frame, _, _ = fit(capsys)
    frame["colour"] = "mauve"
    out, notes = run(capsys, "predict", "model.json", write(frame, "new.csv"), "--raw")
    assert (
        "column 'colour' holds categories that training had not (200 cells, such as 'mauve')"
        in (notes)
    )
    model = pb.load_model("model.json")
    rest = sum(model.shape_function(f)(frame[f].to_numpy()) for f in ("size", "flag"))
    np.testing.assert_allclose([*map(float, columns_of(out)["raw_good"])], rest, rtol=1e-12)


def test_model_fitted_in_python_on_numbered_categories(capsys):
    frame = table()[["size", "id"]].assign(id=lambda f: f["id"] % 4)
    y = (frame["id"] == 2) ^ (frame["size"] > 1)
    model = pb.ProperBoostClassifier(n_estimators=9, categorical_features=["id"]).fit(frame, y)
    model.save_model("python.json")
    out, _ = run(capsys, "predict", "python.json", write(frame), "--raw")
    raw = columns_of(out)["raw_True"]
    assert [*map(float, raw)] == model.decision_function(frame).tolist()


# -- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "t.csv: the file is empty"),
        ("a,y\n", "t.csv: there are no rows below the header"),
        ("a,a,y\n1,2,u\n3,4,v\n", "t.csv: the header has 'a' more than once"),
        ("a,,y\n1,2,u\n3,4,v\n", "t.csv: column 2 of the header has no name"),
        ("a,y\n1,u,\n2,v,3\n", "t.csv: rows have more cells than the header"),
        ("a,y\n1,u\n2,v,3\n", "t.csv: .*Expected 2 fields in line 3, saw 3"),
        ("a,b\n1,u\n2,v\n", "the file lacks the column 'y'; it has 'a', 'b'"),
        ("a,y\n1,u\n2,u\n", "column 'y' holds one class only: 'u'"),
        ("a,y\n1,u\n2,\n", r"column 'y' has missing cells \(1\)"),
        ("a,y\n1,0.5\n2,1\n", "column 'y' holds fractions, not classes"),
        ("y\nu\nv\n", "no column is left to be a feature"),
    ],
)
def test_files_that_cannot_be_fitted(capsys, content, complaint):
    Path("t.csv").write_text(content)
    line = fail(capsys, "fit", "t.csv", "--target", "y")
    assert re.fullmatch(f"properboost: error: {complaint}.*", line)
    assert not Path("model.json").exists()


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [
        ("1 2 x", "row 3 holds 'x'"),
        ("1 2 -1", "below 0"),
        ("1 2 NA", "missing"),
        ("0 0 0", "all of them are 0"),
    ],
)
def test_weights_that_are_none(capsys, cells, complaint):
    rows = zip("123", cells.split(), "uvu", strict=True)
    Path("t.csv").write_text("a,w,y\n" + "\n".join(map(",".join, rows)) + "\n")
    line = fail(capsys, "fit", "t.csv", "--target", "y", "--sample-weight", "w")
    assert "column 'w'" in line
    assert complaint in line


def test_files_that_cannot_be_opened(capsys):
    assert fail(capsys, "fit", "none.csv", "--target", "y") == (
        "properboost: error: none.csv: No such file or directory"
    )
    Path("t.csv").write_bytes(b"a,y\n\xff,u\n1,v\n")
    assert "t.csv: 'utf-8' codec can't decode" in fail(capsys, "fit", "t.csv", "--target", "y")
    Path("t.csv.gz").write_text("a,y\n1,u\n2,v\n")
    assert "t.csv.gz: Not a gzipped file" in fail(capsys, "fit", "t.csv.gz", "--target", "y")
    fit(capsys)
    assert "none.json: No such file" in fail(capsys, "predict", "none.json", "train.csv")
    assert "train.csv: not a properboost model" in fail(capsys, "predict", "train.csv", "train.csv")
    Path("model.json").write_text(json.dumps({"format": "properboost model"}))
    assert "lacks the field 'format_version'" in fail(capsys, "predict", "model.json", "train.csv")


def test_wrong_output_is_heard_of_before_the_work(capsys):
    write(table())
    for output in ("none/model.json", "."):
        line = fail(capsys, "fit", "missing.csv", "--target", "grade", "--output", output)
        assert f"{output}: " in line
        assert "folder" in line


def test_columns_that_do_not_fit_the_model(capsys):
    frame, _, _ = fit(capsys)
    write(frame.drop(columns=["size", "flag"]), "less.csv")
    assert "the file lacks the columns 'size', 'flag'; it has 'id'" in fail_after_notes(
        capsys, "predict", "model.json", "less.csv"
    )
    frame["size"] = frame["size"].astype(str).where(frame["id"] != 7, "tall")
    assert "column 'size' was numeric in training, but row 8 holds 'tall'" in fail_after_notes(
        capsys, "predict", "model.json", write(frame, "text.csv")
    )


def fail_after_notes(capsys, *arguments):
    assert cli.main([*arguments]) == 1
    *notes, line = capsys.readouterr().err.splitlines()
    assert all(note.startswith("properboost: note: ") for note in notes)
    return line


def test_model_without_column_names(capsys):
    frame = table()
    pb.ProperBoostClassifier(n_estimators=2).fit(
        frame[["size"]].to_numpy(), frame["grade"]
    ).save_model("array.json")
    line = fail(capsys, "predict", "array.json", write(frame))
    assert line == "properboost: error: array.json: the model was fitted without column names"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "required: COMMAND"),
        ("frobnicate", "invalid choice: 'frobnicate'"),
        ("fit t.csv", "required: --target"),
        ("fit t.csv --target y --gain -1", "gain must be above 0; got -1.0"),
        (
            "fit t.csv --target y --gain much",
            "argument --gain: must be a number or auto; got 'much'",
        ),
        ("fit t.csv --target y --loss hinge", "invalid choice: 'hinge'"),
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
        ("demo --gains 0", "gain must be above 0; got 0.0"),
        ("demo --rounds 0", "n_estimators must be between 1 and"),
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
    ):
        with pytest.raises(SystemExit) as exit_:
            cli.main(arguments)
        assert exit_.value.code == 0
        assert re.fullmatch(pattern, capsys.readouterr().out)


@pytest.mark.parametrize("command", ["fit", "predict", "demo"])
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
    assert "column 'colour' holds categories that training had not" in note
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
