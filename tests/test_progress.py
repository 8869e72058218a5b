"""Threads, and the progress that a user sees."""

import errno
import io
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import properboost as pb
from properboost import _core
from properboost import progress as progress_module
from properboost.notices import warn
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
        (None, "9" * 5000, 2**31 - 1),
        (None, "0" * 5000 + "3", 3),
        (None, "-3", 8),
        (None, "0x3", 8),
        (None, "\u0663", 8),
        (None, "\u00b3", 8),
    ],
)
def test_n_jobs(n_jobs, environment, expected, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", environment)
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    assert count_threads(n_jobs) == expected


NUMBERS = st.integers(0, 2**70).map(str) | st.integers(1, 9).map(lambda digit: f"{digit}" * 5000)
BLANKS = st.text(" \t\n", max_size=2)


@given(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])) | NUMBERS)
def test_n_jobs_whatever_the_environment_holds(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", text)
        patch.setattr("joblib.cpu_count", lambda: 8)
        assert 1 <= count_threads(None) <= 2**31 - 1


@given(st.integers(1, 2**40), BLANKS, BLANKS, st.sampled_from(["", ",", ",2", ",x"]))
def test_n_jobs_is_the_first_number_of_the_environment(number, before, after, others):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", f"{before}{number}{after}{others}")
        assert count_threads(None) == min(number, 2**31 - 1)


def test_a_limit_on_processors_that_is_no_number_is_named(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "many")
    with pytest.raises(ValueError, match="LOKY_MAX_CPU_COUNT must be an integer; got 'many'"):
        count_threads(None)


def test_predictions_of_few_rows_count_no_processors(iris, monkeypatch):
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y)
    expected = model.predict_proba(X)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("joblib.cpu_count", lambda: pytest.fail("CPUs are counted"))
    np.testing.assert_array_equal(model.predict_proba(X[:64]), expected[:64])
    with pytest.raises(ValueError, match="n_jobs must not be 0"):
        model.set_params(n_jobs=0).predict(X[:1])


def test_silence_is_the_default(binary, capfd):
    pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(*binary)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("bar", [True, False])
def test_progress_goes_to_stderr(iris, bar, capsys, monkeypatch):
    if bar:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    model = pb.ProperBoostClassifier(n_estimators=4, verbose=1, weak_learner="table").fit(*iris)
    output = capsys.readouterr()
    assert output.out == ""
    assert "12/12" in output.err
    assert f"training risk {model.history_['risk'][-1]:.6g}" in output.err


class NoSpace(io.StringIO):
    """A disk that is full."""

    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


class OnlyWrites:
    """A replacement of stderr that programs use to capture output."""

    def write(self, text):
        return len(text)


def closed_stream():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("bar", [True, False])
@pytest.mark.parametrize("stream", [lambda: None, closed_stream, NoSpace, OnlyWrites])
def test_a_fit_needs_no_stderr(stream, bar, iris, monkeypatch):
    if bar:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys, "stderr", stream())
    model = pb.ProperBoostClassifier(n_estimators=4, verbose=1, weak_learner="table").fit(*iris)
    search = pb.ProperBoostClassifierCV(max_estimators=2, cv=2, effort=None, verbose=1).fit(*iris)
    monkeypatch.undo()
    plain = pb.ProperBoostClassifier(n_estimators=4, weak_learner="table").fit(*iris)
    np.testing.assert_array_equal(
        model.decision_function(iris[0]), plain.decision_function(iris[0])
    )
    assert np.isfinite(search.best_score_)


def test_a_warning_needs_no_stderr_that_is_open(monkeypatch):
    def show(message, *_, **__):  # as Python does, where pytest does not listen
        sys.stderr.write(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", show)
        monkeypatch.setattr(sys, "stderr", closed_stream())
        warn("something is odd")
    monkeypatch.undo()
    with pytest.raises(UserWarning, match="odd"):
        warn("something is odd")


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


def test_lines_of_a_long_fit_come_ever_less_often(monkeypatch):
    now = iter(range(3600))
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: float(next(now)))
    times = progress_module.LineTimes()
    due = [second for second in range(3600) if times.is_due()]
    assert due[:11] == [*range(0, 22, 2)]
    assert due[-1] < due[-2] * 1.12  # at any time the last line is of the last tenth
    assert len(due) < 80


def test_an_interrupt_in_the_progress_report_stops_the_fit(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(progress_module, "_print_lines", lambda *_: interrupt)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 20)).astype(np.float32)
    model = pb.ProperBoostClassifier(
        n_estimators=100_000, verbose=1, n_jobs=1, weak_learner="table"
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, X[:, 0] + rng.normal(size=len(X)) > 0)
    assert not hasattr(model, "classes_")
