"""What plots share: axes, and words that do not overlap."""

import sys

import numpy as np
import pytest

from properboost import plots
from properboost.plots.canvas import find_style, set_words, shorten


def test_new_figures_leave_given_ones_alone(clf, ax):
    assert plots.plot_history(clf) is not ax
    assert len(ax.lines) == 0


def test_missing_matplotlib_is_named(clf, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'properboost\[plots\]'"):
        plots.plot_history(clf)


@pytest.mark.parametrize("which", ["x", "y"])
@pytest.mark.parametrize("n_words", [1, 5, 40, 300])
def test_words_do_not_overlap(ax, which, n_words):
    """As drawn, on axes that nothing else takes room from."""
    words = [f"{k} to {k + 1}" for k in range(n_words)]
    ax.set(xlim=(-0.5, n_words - 0.5), ylim=(-0.5, n_words - 0.5))
    set_words(ax, which, words)
    ax.figure.canvas.draw()
    axis = ax.xaxis if which == "x" else ax.yaxis
    shown = axis.get_ticklabels()
    assert shown[0].get_text() == words[0]
    assert len(shown) >= min(n_words, 20)
    boxes = np.array([label.get_window_extent().get_points() for label in shown])
    along = boxes[:, :, 0 if which == "x" else 1]
    assert (along[1:, 0] >= along[:-1, 1]).all()


def test_long_words_are_cut():
    assert shorten("a" * 28) == "a" * 28
    assert shorten("a" * 29) == "a" * 25 + "..."


def test_classes_have_styles_of_their_own():
    styles = [tuple(find_style(k).items()) for k in range(28)]
    assert len(set(styles)) == 28
