"""Threads and progress: what a user sees of a run."""

import sys

import numpy as np
import pytest

import properboost as pb
from properboost import _core
from properboost import progress as progress_module
from properboost.parameters.checks import count_threads

# -- threads and progress -------------------------------------------------------------------------


def test_show_config(capsys, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    pb.show_config()
    text = capsys.readouterr().out
    assert pb.__version__ in text
    assert f"instruction set: {_core.instruction_set}" in text
    if _core.has_openmp:
        assert "threads: 3" in text
        assert "OpenMP: yes" in text


@pytest.mark.parametrize(
    ("n_jobs", "environment", "expected"),
    [
        (None, "3", 3),
        (-1, "3,2", 3),
        (-2, "3", 2),
        (-9, "3", 1),
        (5, "3", 5),
        (2**40, "3", 2**31 - 1),
        (None, "99999999999999", 2**31 - 1),
        (None, "many", 8),
        (None, "", 8),
    ],
)
def test_n_jobs(n_jobs, environment, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", environment)
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    assert count_threads(n_jobs) == expected


def test_silence_is_the_default(binary, capfd):
    pb.ProperBoostClassifier(n_estimators=3).fit(*binary)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("bar", [True, False])
def test_progress_goes_to_stderr(iris, bar, capsys, monkeypatch):
    if bar:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    model = pb.ProperBoostClassifier(n_estimators=4, verbose=1).fit(*iris)
    output = capsys.readouterr()
    assert output.out == ""
    assert "12/12" in output.err
    assert f"training risk {model.history_['risk'][-1]:.6g}" in output.err


def test_plain_lines_come_every_few_seconds(capsys, monkeypatch):
    now = iter([0.0, 0.5, 2.5, 3.0, 4.0])
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: next(now))
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with progress_module.show_progress(1, total=50) as report:
        for done in (10, 20, 30, 40, 50):
            report(done, 0.25)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("round ")[1] for line in lines] == [
        f"{done}/50, training risk 0.25" for done in (10, 30, 50)
    ]


def test_an_interrupt_in_the_progress_report_stops_the_fit(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(progress_module, "_print_lines", lambda *_: interrupt)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 20)).astype(np.float32)
    model = pb.ProperBoostClassifier(n_estimators=100_000, verbose=1, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, X[:, 0] + rng.normal(size=len(X)) > 0)
    assert not hasattr(model, "classes_")
