"""Test the command line as a whole: errors, help, and how it runs as a process."""

import errno
import io
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import properboost as pb
from helpers.commands import fail, fit, misuse, one_fit, run, table, write
from helpers.time_limits import within
from properboost import __main__ as cli
from properboost.cli.commands import make_parsers


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "required: COMMAND"),
        ("frobnicate", "invalid choice: 'frobnicate'"),
        ("fit t.csv", "required: --target"),
        ("fit t.csv --label y", "arguments: --label y: did you mean --target?"),
        ("fit t.csv -y y", "arguments: -y y: did you mean --target?"),
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
        (
            "compare m.json n.json t.csv -y y",
            "required: --target; -y is unknown: did you mean --target?",
        ),
        ("predict m.json t.csv --raw --proba", "not allowed with argument"),
        ("predict m.json t.csv --raw --interval 0.9", "--interval needs probabilities"),
        ("predict m.json t.csv --interval 1", "--interval: must be above 0 and below 1; got 1"),
        (
            "predict m.json t.csv --interval wide",
            "--interval: must be above 0 and below 1; got wide",
        ),
        ("fit t.csv --target y --outer-bags 3", "outer_bags must be between 4 and 64, or 0"),
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
    """Wrong arguments are refused before the file is looked for."""
    line = misuse(capsys, *arguments.split())
    assert complaint in line
    assert line.endswith("--help)")


@pytest.mark.parametrize(
    ("message", "line"), [("", "memory"), ("1 TiB\nwanted", "memory: 1 TiB wanted")]
)
def test_too_little_memory_is_one_line(capsys, monkeypatch, message, line):
    def fit(*_):
        raise MemoryError(message)

    monkeypatch.setattr(pb.RadoBoostClassifier, "fit", fit)
    train = ("fit", write(table()), "--target", "grade", "--model", "rado", "--drop", "id")
    assert cli.main(one_fit(train)) == 1
    captured = capsys.readouterr()
    assert captured.err == f"properboost: error: not enough {line}\n"
    assert captured.out.startswith("train.csv: 200 rows")  # the first lines come before the fit


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ("-o m.json", "-o m.json: did you mean --output?"),
        ("--n_estimators 5", "--n_estimators 5: did you mean --n-estimators?"),
        ("--n_estimators=5", "--n_estimators=5: did you mean --n-estimators?"),
        ("--max-dept 5", "--max-dept 5: did you mean --max-depth?"),
        ("--num-leaves 31", "--num-leaves 31: did you mean --max-leaf-nodes?"),
        ("--iterations 9", "--iterations 9: did you mean --n-estimators?"),
        ("--timeout 9", "--timeout 9: did you mean --time-limit?"),
        ("--seed 1", "--seed 1"),  # which has no option, and is no --sep
        ("-x", "-x"),
        ("--nothing-like-it", "--nothing-like-it"),
        ("other.csv", "other.csv"),
    ],
)
def test_unknown_options_are_answered_by_the_nearest(capsys, options, end):
    with pytest.raises(SystemExit) as error:
        cli.main(["fit", "t.csv", "--target", "y", *options.split()])
    assert error.value.code == 2
    assert capsys.readouterr().err == (
        f"properboost fit: error: unrecognized arguments: {end} (see properboost fit --help)\n"
    )


def test_an_interrupt_is_one_line(capsys, monkeypatch):
    def fit(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pb.RadoBoostClassifier, "fit", fit)
    train = ["fit", write(table()), "--target", "grade", "--model", "rado", "--drop", "id"]
    assert cli.main(train) == 130  # shells return this for a process that SIGINT has ended
    assert capsys.readouterr().err == (
        "properboost: error: interrupted before the fit was finished: nothing was saved\n"
    )
    assert not Path("model.json").exists()


def test_missing_pandas_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    line = fail(capsys, "fit", "t.csv", "--target", "y")
    assert "pip install 'properboost[cli]'" in line


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


@pytest.mark.parametrize("command", [name for name in cli.COMMANDS if name != "schema"])
def test_examples_of_the_help_are_valid(capsys, command):
    parser, commands = make_parsers(cli.COMMANDS)
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
    whole = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)
    assert whole.returncode == 0
    assert len(whole.stdout.splitlines()) == 2_001

    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, **pipes, text=True) as process:
        try:
            with within(300.0):
                process.stdout.close()  # before the first line is written
                process.stdin.write(text)
                process.stdin.close()
                assert "Traceback" not in process.stderr.read()
                process.wait()
        finally:
            process.kill()  # it may still run
    assert process.returncode == 1


class Full(io.StringIO):
    """Stream to a disk that is full."""

    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


def make_closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [lambda: None, make_closed, Full])
def test_commands_need_no_stderr(stream, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    file = write(table())
    monkeypatch.setattr(sys, "stderr", stream())
    arguments = ["fit", file, "--target", "grade", "--effort", "none", "--n-estimators", "3"]
    assert cli.main([*arguments, "--verbose", "--output", "m.json"]) == 0
    assert cli.main(["predict", "m.json", file, "--output", "p.csv"]) == 0
    assert cli.main(["predict", "m.json", "missing.csv"]) == 1
    with pytest.raises(SystemExit) as end:
        cli.main(["fit", file])
    monkeypatch.undo()
    assert end.value.code == 2
    assert len((tmp_path / "p.csv").read_text("utf-8").splitlines()) == 201


def test_without_stdout_what_would_go_there_is_refused(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    file = write(table())
    run(capsys, "fit", file, "--target", "grade", "--n-estimators", 3, "--output", "m.json")
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(["predict", "m.json", file, "--output", "p.csv"]) == 0
    assert cli.main(["predict", "m.json", file]) == 1
    monkeypatch.undo()
    assert "there is no stdout" in capsys.readouterr().err


def test_the_page_lists_every_option():
    page = Path(__file__).resolve().parents[2] / "docs/reference/command_line.md"
    text = page.read_text("utf-8")
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## )", text + "## ", re.M | re.S))
    _, commands = make_parsers(cli.COMMANDS)
    for name, command in commands.items():
        options = {
            option.removeprefix("--").removeprefix("no-")
            for action in command._actions
            for option in action.option_strings
            if option.startswith("--") and option not in ("--help", "--threads")
        }
        missing = [o for o in options if not re.search(rf"--(no-)?{o}(?![\w-])", sections[name])]
        assert missing == [], name
