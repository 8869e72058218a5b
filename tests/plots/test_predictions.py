"""Plots of predictions with labels."""

import numpy as np

from helpers.pictures import table
from properboost import plots


def test_reliability_points(ax):
    probability = np.array([0.1, 0.1, 0.1, 0.1, 0.75, 0.75, 0.85, 0.95])
    y = np.array([0, 0, 0, 1, 1, 0, 1, 1])
    plots.plot_reliability(y, probability, ax, n_bins=2, label="mine", color="red")
    diagonal, line = ax.lines
    np.testing.assert_allclose(line.get_xdata(), [0.1, 0.825])
    np.testing.assert_allclose(line.get_ydata(), [0.25, 0.75])
    assert line.get_color() == "red"
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0.0, 1.0]


def test_reliability_adds_lines_to_one_diagonal(ax):
    y, probability = np.array([0, 1]), np.array([0.2, 0.7])
    for label in ("a", "b"):
        plots.plot_reliability(y, probability, ax, label=label)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["perfect", "a", "b"]


def test_reliability_of_strings(ax):
    y, probability = np.array(["no", "yes", "yes"]), np.array([0.1, 0.9, 0.9])
    plots.plot_reliability(y, probability, ax, pos_label="yes")
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [0.0, 1.0])


def test_margins_are_steps_up_to_one(clf, ax):
    X, y = table()
    margins = clf.margins(X, y, normalized=True)
    for label in ("a", "b"):
        assert plots.plot_margin_distribution(margins, ax, label=label, color="red") is ax
    guide, line, _ = ax.lines
    assert list(guide.get_xdata()) == [0.0, 0.0]
    at, share = line.get_xdata(), line.get_ydata()
    assert (line.get_drawstyle(), line.get_color()) == ("steps-post", "red")
    assert (at[0], share[0], at[-1], share[-1]) == (-1.0, 0.0, 1.0, 1.0)
    np.testing.assert_array_equal(at[1:-1], np.unique(margins))
    assert share[np.searchsorted(at, 0.0, side="right") - 1] == np.mean(clf.predict(X) != y)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert ax.get_xlim() == (-1.0, 1.0)


def test_margins_may_be_raw_and_weighted(ax):
    plots.plot_margin_distribution([3.0, -2.0], ax, sample_weight=[1, 3])
    line = ax.lines[1]
    assert list(line.get_xdata()) == [-2.0, -2.0, 3.0, 3.0]
    assert list(line.get_ydata()) == [0.0, 0.75, 1.0, 1.0]
    assert ax.get_legend() is None
