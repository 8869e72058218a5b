"""Plots of methods over data sets."""

import sys

import numpy as np
import pytest

import properboost as pb
from properboost import plots
from properboost.metrics import average_ranks


def test_critical_differences(ax):
    """Ranks are the axis, and a bar joins the two methods that are alike."""
    pytest.importorskip("scikit_posthocs")
    random = np.random.default_rng(0)
    scores = random.normal(size=(3, 40)) + np.array([0.0, 0.1, 5.0])[:, None]
    assert plots.plot_critical_differences(scores, ["one", "two", "far"], ax) is ax
    words = sorted(text.get_text() for text in ax.texts)
    assert [word.strip("0123456789.() ") for word in words] == ["far", "one", "two"]
    ranks = average_ranks(scores)
    marks = [c.get_offsets()[0, 0] for c in ax.collections if len(c.get_offsets()) == 1]
    np.testing.assert_allclose(np.sort(marks), np.sort(ranks))
    bars = [line.get_xdata() for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert any(np.allclose(np.sort(bar)[[0, -1]], np.sort(ranks[:2])) for bar in bars)
    assert "40 data sets" in ax.get_title()
    # In reverse order the last is the best.
    (first, *_) = average_ranks(scores, greater_is_better=True)
    other = plots.plot_critical_differences(scores, ["one", "two", "far"], greater_is_better=True)
    marks = [c.get_offsets()[0, 0] for c in other.collections if len(c.get_offsets()) == 1]
    assert np.min(np.abs(np.array(marks) - first)) < 1e-12


def test_differences_of_scores_have_their_intervals(ax):
    """Each score is a line from end to end in percent, and the better model gives its colour."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2000, 1))
    y = z[:, 0] + rng.logistic(size=2000) > 0.0
    good = pb.ProperBoostClassifier(n_jobs=1, n_estimators=20, weak_learner="table").fit(z, y)
    blind = pb.ProperBoostClassifier(
        n_jobs=1, n_estimators=1, learning_rate=0.01, weak_learner="table"
    ).fit(z, ~y)
    comparison = pb.compare({"blind": blind, "$good$": good}, z, y)
    assert plots.plot_comparison(comparison, ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "log loss",
        "Brier score",
        "error rate",
        "1 - ROC AUC",
    ]
    bars = [line for line in ax.lines if len(line.get_xdata()) == 2][1:]  # after that at 0
    scores = comparison.scores
    ends = 100.0 * scores["low"][0] / scores["blind"][0]
    assert bars[0].get_xdata()[0] == pytest.approx(ends)
    ends = -100.0 * scores["high"][3] / (1.0 - scores["blind"][3])
    assert bars[3].get_xdata()[0] == pytest.approx(ends)
    assert {bar.get_color() for bar in bars} == {plots.canvas.SECOND_LINE}
    assert ax.get_title() == r"left: \$good\$ is better; right: blind is better"


def test_only_comparisons_are_drawn():
    with pytest.raises(TypeError, match=r"result of properboost\.compare; got \[1, 2\]"):
        plots.plot_comparison([1, 2])


def test_missing_posthocs_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scikit_posthocs", None)
    with pytest.raises(ImportError, match=r"pip install 'properboost\[comparisons\]'"):
        plots.plot_critical_differences(np.eye(3), "abc")


@pytest.mark.parametrize(
    ("scores", "names", "alpha", "message"),
    [
        (np.eye(3), ["a", "b"], 0.05, "names must be 3, no two equal; got"),
        (np.eye(3), ["a", "b", "a"], 0.05, "names must be 3, no two equal"),
        (np.eye(3)[:1], ["a"], 0.05, "scores must be of two methods and sets at least"),
        (np.eye(3), "abc", 1.0, "alpha must be above 0 and below 1; got 1"),
    ],
)
def test_what_critical_differences_need(scores, names, alpha, message):
    with pytest.raises(ValueError, match=message):
        plots.plot_critical_differences(scores, names, alpha=alpha)
