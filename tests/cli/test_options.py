"""Test the options of `fit`: their parameters, and the values that they read."""

import argparse
from dataclasses import replace

import pytest

import properboost as pb
from helpers.commands import fit, misuse, run, table, write
from properboost import __main__ as cli
from properboost import _core
from properboost.cli import options
from properboost.cli.commands import make_parsers
from properboost.cli.options import make_classifier
from properboost.parameters.declare import declared
from properboost.parameters.flat import PLACES

CLASSES = (pb.ProperBoostClassifier, pb.ProperBoostClassifierCV, pb.RadoBoostClassifier)

OF_THE_RUN = {"n_jobs", "verbose"}
"""Parameters of a command's run, which no model depends on."""


@pytest.fixture(autouse=True)
def in_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def parse(*words):
    parser, _ = make_parsers(cli.COMMANDS)
    return parser.parse_args(["fit", "t.csv", "--target", "y", *map(str, words)])


def make(*words):
    """Return the classifier of options; families are compared only if `words` set the effort."""
    more = [] if {"--effort", "rado"} & {*words} else ["--effort", "none"]
    return make_classifier(parse(*words, *more))


def show_help(capsys):
    """Return the help of `fit`, with single spaces."""
    with pytest.raises(SystemExit):
        cli.main(["fit", "--help"])
    return " ".join(capsys.readouterr().out.split())


def list_known():
    """Return the parameters of all models, and the fields of objects, with their flat names."""
    known = [pair for owner in CLASSES for pair in declared(owner).items()]
    return [*known, *((name, place.entry) for name, place in PLACES.items())]


def test_options_of_parameters_are_the_declared_ones():
    _, commands = make_parsers(cli.COMMANDS)
    actions = {action.dest: action for action in commands["fit"]._actions}
    known = list_known()
    offered = {name for name, entry in known if entry.option is not None}
    assert offered == actions.keys() & {name for name, _ in known} - OF_THE_RUN
    for option in offered:
        assert actions[option].option_strings[0] == "--" + option.replace("_", "-")
        assert actions[option].default is argparse.SUPPRESS
        texts = [entry.option for name, entry in known if name == option and entry.option]
        assert actions[option].help.startswith(texts[0])


def test_options_of_weak_learners_stand_together():
    _, commands = make_parsers(cli.COMMANDS)
    of_group = {
        group.title: {action.dest for action in group._group_actions}
        for group in commands["fit"]._action_groups
    }
    assert of_group["with --weak-learner table"] == {"max_cells", "min_saving", "smoothing"}
    assert of_group["with --weak-learner rule"] == {"max_conditions"}
    assert "n_draws" in of_group["with --weak-learner tree or rule"]
    assert "max_depth" in of_group["with --weak-learner tree"]


def test_a_text_in_a_declaration_is_an_option(capsys, monkeypatch):
    place = PLACES["interaction_rate"]
    place = place._replace(entry=replace(place.entry, option="50% of a step, say"))
    monkeypatch.setattr(options, "PLACES", {**PLACES, "interaction_rate": place})
    help_ = show_help(capsys)
    assert "--interaction-rate X 50% of a step, say (default: 0.1)" in help_
    fit(capsys, "--interaction-rate", "0.5", "--interactions", "1")
    assert pb.load_model("model.json").interactions == pb.Interactions(1, learning_rate=0.5)
    line = misuse(capsys, "fit", write(table()), "--target", "grade", "--interaction-rate", "much")
    assert "argument --interaction-rate: must be a number; got 'much'" in line


def test_missing_options_are_left_to_the_classifier():
    assert make().get_params() == pb.ProperBoostClassifier().get_params()
    assert make("--model", "rado").get_params() == pb.RadoBoostClassifier().get_params()
    search = make("--gain", "auto").get_params()
    assert search == pb.ProperBoostClassifierCV(effort=None).get_params()


@pytest.mark.parametrize("name", ["gain", "max_depth", "criterion", "prior", "rows_per_bin"])
def test_none_is_a_word(name):
    learner = ["--weak-learner", "tree"] if name == "max_depth" else []
    model = make("--" + name.replace("_", "-"), "none", *learner)
    assert getattr(model.weak_learner if learner else model, name) is None


def test_help_describes_none():
    for name, entry in list_known():
        if entry.option is not None and entry.default is None:
            assert "; none " in entry.option, name


def test_a_search_of_rounds_only_has_the_gain_of_the_loss(capsys):
    assert make("--n-estimators", "auto").space == {"gain": 1.0}
    assert make("--n-estimators", "auto", "--gain", 2).space == {"gain": 2.0}
    assert make("--n-estimators", "auto", "--prior", "none").space == {"gain": 1.0, "prior": None}
    out, _ = run(
        capsys, "fit", write(table()), "--target", "grade", "--n-estimators", "auto", "--cv", "3"
    )
    assert "chosen by 3-fold cross-validation" in out
    assert ": gain 1, " in out


def test_couplings_are_for_fits_and_for_searches():
    assert make("--multiclass", "canonical").multiclass == "canonical"
    search = make("--multiclass", "canonical", "--gain", "auto")
    assert search.space == {"multiclass": "canonical"}


@pytest.mark.parametrize("name", ["screening", "max_cells", "multiclass", "rows_per_bin"])
def test_an_auto_of_one_fit_starts_no_search(capsys, name):
    option = "--" + name.replace("_", "-")
    model = make(option, "auto", "--weak-learner", "table")
    assert isinstance(model, pb.ProperBoostClassifier)
    assert model.get_params().get(name, getattr(model.weak_learner, name, None)) == "auto"
    with pytest.raises(SystemExit):
        parse(option, "x")
    assert capsys.readouterr().err.count("auto") == 1


def test_a_fit_compares_weak_learners_without_a_search():
    model = make("--weak-learner", "auto")
    assert isinstance(model, pb.ProperBoostClassifier)
    assert model.weak_learner == "auto"
    assert make("--weak-learner", "auto", "--gain", "auto").space is None


def test_a_calibration_is_kept_by_searches():
    assert make("--temperature", "0.5").calibration == pb.Calibration(temperature=0.5)
    assert make("--temperature", "none").calibration.temperature is None
    search = make("--temperature", "0.5", "--gain", "auto")
    assert search.space == {"calibration__temperature": 0.5}


def test_defaults_that_differ_are_shown(capsys):
    help_ = show_help(capsys)
    assert "(default: none; auto in a search; 1000 with --model rado)" in help_
    assert "(default: unbiased; auto in a search)" in help_
    assert "add a column of ones (default: yes)" in help_
    assert "None" not in help_


def test_names_of_regularizers_are_the_engines(capsys):
    for name in [*_core.regularizer_names(), "elasticnet"]:
        assert make("--model", "rado", "--regularizer", name).regularizer == name
    assert make("--model", "rado", "--regularizer", "none").regularizer is None
    line = misuse(capsys, "fit", "t.csv", "--target", "y", "--regularizer", "l3")
    assert "must be ridge, lasso, linf, slope, elasticnet or none; got 'l3'" in line
