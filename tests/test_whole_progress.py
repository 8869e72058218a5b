"""Test the progress bar of a whole command."""

import functools
import io
import math
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from tqdm import tqdm

import properboost as pb
from properboost import progress, whole_progress
from properboost.model_selection.search_stages import list_stages
from properboost.progress import show_progress
from properboost.whole_progress import FINAL, PAIRS, STEPS, Stage, WholeProgress, show_whole

STAGES = [
    Stage("trees", 2.0), Stage("tables", 1.0), Stage(STEPS, 4.0), Stage(PAIRS, 1.0),
    Stage(FINAL, 2.0),
]  # fmt: skip


class Shown:
    """A bar that remembers what it was shown."""

    def __init__(self):
        self.percents, self.texts = [], []

    def show(self, percent, text):
        self.percents.append(percent)
        self.texts.append(text)


TASKS = ("trees", "tables", "rows by chance", "3 pairs", FINAL)


@given(st.lists(st.tuples(st.sampled_from(TASKS), st.integers(0, 20)), max_size=30))
def test_the_bar_never_goes_back(tasks):
    shown = Shown()
    progress = WholeProgress(STAGES * 2, shown)
    for task, done in tasks:
        report = progress.begin(task, 10, "")
        report(done, math.nan)
    assert np.all(np.diff(shown.percents) >= 0.0)
    assert all(0.0 <= percent <= 100.0 + 1e-9 for percent in shown.percents)


def test_stages_have_their_shares():
    shown = Shown()
    progress = WholeProgress(STAGES, shown)
    for task, at_end in [("trees", 20.0), ("tables", 30.0), ("trees", 50.0), ("trees", 60.0)]:
        progress.begin(task, 8, "best neg_log_loss")(8, -0.25)
        assert shown.percents[-1] == pytest.approx(at_end)
        assert shown.texts[-1] == f"{task}, best log loss 0.2500"
    progress.begin(FINAL, 8, "training risk")(4, 0.5)  # pairs were left out
    assert shown.percents[-1] == pytest.approx(90.0)


def test_a_limited_time_moves_the_bar(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(whole_progress.time, "monotonic", lambda: now[0])
    shown = Shown()
    report = WholeProgress(STAGES, shown, limit=20.0).begin("trees", 1000, "")
    now[0] = 110.0
    report(1, math.nan)
    assert shown.percents[-1] == 50.0
    now[0] = 200.0
    report(2, math.nan)
    assert shown.percents[-1] == 99.0


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_a_search_fills_one_bar(monkeypatch, has_tqdm):
    if has_tqdm:
        at_once = functools.partialmethod(tqdm.__init__, mininterval=0.0, miniters=0)
        monkeypatch.setattr(tqdm, "__init__", at_once)
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
        monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.0)
        monkeypatch.setattr(progress, "_LONGER_BY", 0.0)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    search = pb.ProperBoostClassifierCV(effort=3, max_estimators=20)
    with show_whole(list_stages(search)):
        search.fit(X, X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300) > 0.0)
    text = stream.getvalue()
    assert "tables, best log loss 0." in text
    percents = [int(percent) for percent in re.findall(r"([0-9]+)%", text)]
    assert percents == sorted(percents)
    assert percents[-1] == 100


@pytest.mark.parametrize(("verbose", "n_bars"), [(0, 0), (True, 1), (2, 4)])
def test_a_search_in_python_has_one_bar_or_one_for_each_stage(verbose, n_bars, capsys):
    X, y = load_breast_cancer(return_X_y=True)
    pb.ProperBoostClassifierCV(effort=1, max_estimators=20, verbose=verbose).fit(X, y)
    written = capsys.readouterr().err
    assert written.count("\n") == n_bars
    assert written.count("100%") >= n_bars
    assert (" done" in written) == (verbose == 1)


def test_a_bar_around_takes_the_progress_of_a_search(capsys):
    X, y = load_breast_cancer(return_X_y=True)
    search = pb.ProperBoostClassifierCV(effort=1, max_estimators=20, verbose=1)
    with show_whole(list_stages(search), leave=True):
        search.fit(X, y)
    assert capsys.readouterr().err.count("\n") == 1


def test_a_bar_that_is_interrupted_does_not_end(capsys):
    with pytest.raises(KeyboardInterrupt), show_whole(STAGES, leave=True):
        raise KeyboardInterrupt
    assert "100%" not in capsys.readouterr().err


def test_the_display_of_a_fit_alone_stays_as_it_is(capsys):
    with show_whole(STAGES, visible=False), show_progress(1, 10) as report:
        report(10, 0.5)
    assert "10/10" in capsys.readouterr().err


def test_lines_have_the_seconds_that_are_left(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(whole_progress.time, "monotonic", lambda: now[0])
    monkeypatch.setitem(sys.modules, "tqdm", None)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with show_whole(STAGES, limit=40.0), show_progress(1, 1000, "trees") as report:
        now[0] = 110.0
        report(1, math.nan)
    lines = stream.getvalue().splitlines()
    assert "left" not in lines[0]
    assert lines[1] == " 25%  trees, 30 s left"
