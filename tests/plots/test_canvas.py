"""Shared parts of plots: axes, and words that do not overlap."""

import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import properboost as pb
from helpers.pictures import read_words
from properboost import plots
from properboost.plots.canvas import (
    find_style,
    name_line,
    set_words,
    shorten,
    write,
    write_lines,
)

HOSTILE = [
    "$x_{1}$",
    "cost $ (net_$)",
    r"$\bad$ 5%^2",
    r"\$5 # {a}~",
    "_a\x0b\x1b[31m",
    "\ud800\u202eb\n",
]
SEEN = [
    "$x_{1}$",
    "cost $ (net_$)",
    r"$\bad$ 5%^2",
    r"\$5 # {a}~",
    r"_a\x0b\x1b[31m",
    r"\ud800\u202eb\n",
]


def test_new_figures_leave_given_ones_alone(clf, ax):
    assert plots.plot_training(clf) is not ax
    assert len(ax.lines) == 0


def test_missing_matplotlib_is_named(clf, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'properboost\[plots\]'"):
        plots.plot_training(clf)


@pytest.mark.parametrize("which", ["x", "y"])
@pytest.mark.parametrize("n_words", [1, 5, 40, 300])
def test_words_do_not_overlap(ax, which, n_words):
    """Words do not overlap as drawn, on axes that share their room with nothing."""
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


# -- names as they are ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile():
    """Return models of two and of three classes, all of whose names are formulas or commands."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    levels = pd.Index(HOSTILE, dtype=object)
    X["c"] = pd.Categorical.from_codes(rng.integers(0, len(levels), 300), levels)
    rows = (X["a"] * X["b"] > 0) + 2 * (X["a"] > 1)
    X.columns = pd.Index(HOSTILE[:3], dtype=object)
    params = {"n_estimators": 6, "interactions": [(0, 1), (0, 2)], "n_jobs": 1}
    labels = np.array(HOSTILE[3:], dtype=object)
    two = pb.ProperBoostClassifier(**params).fit(X, labels[np.minimum(rows, 1)])
    three = pb.ProperBoostClassifier(**params).fit(X, labels[np.minimum(rows, 2)])
    return two, three, X


PLOTS = {
    "a number": (lambda two, three, X: plots.plot_shape_function(two, 0), [0]),
    "categories": (lambda two, three, X: plots.plot_shape_function(two, 2), [*range(6)]),
    "classes": (lambda two, three, X: plots.plot_shape_function(three, 1), [1, 3, 4, 5]),
    "classes and categories": (lambda two, three, X: plots.plot_shape_function(three, 2), range(6)),
    "all": (lambda two, three, X: plots.plot_shape_functions(two).axes[0], [*range(3)]),
    "a pair": (lambda two, three, X: plots.plot_term_function(two, (0, 2)), [0, 2, 4]),
    "a row": (lambda two, three, X: plots.plot_contributions(two.contributions(X[:2])), [0, 1, 2]),
    "history": (lambda two, three, X: plots.plot_training(three), [3, 4, 5]),
}


@pytest.mark.parametrize("draw", PLOTS)
def test_names_are_drawn_as_they_are(hostile, draw):
    make, places = PLOTS[draw]
    words = read_words(make(*hostile).figure)
    for place in places:
        # The legend puts a space before an underscore, because matplotlib hides such entries.
        assert any(SEEN[place] in word for word in words), (SEEN[place], words)


def test_methods_and_losses_are_drawn_as_they_are():
    pytest.importorskip("scikit_posthocs")
    scores = np.random.default_rng(0).normal(size=(6, 9))
    words = read_words(plots.plot_critical_differences(scores, HOSTILE).figure)
    assert all(any(seen in word for word in words) for seen in SEEN)
    long = ["l" * 40 + str(k) for k in range(6)]
    words = read_words(plots.plot_critical_differences(scores, long).figure)
    assert sum(word.count("lll...") for word in words) == 6
    loss = pb.losses.from_functions(lambda v: 1.0 / (1.0 + np.exp(v)), name="$a$")
    axes = plots.plot_loss([loss, pb.losses.GLog()])
    assert "$a$" in read_words(axes[0].figure)


def test_curves_name_what_they_are_of_as_it_is():
    sizes, ones = np.array([10, 20]), np.ones((2, 1))
    curve = SimpleNamespace(
        sizes=sizes, gains=ones, grid=np.array([1.0, 2.0]), as_good=np.ones((2, 2), bool),
        best_gains=np.ones(2), best_scores=np.ones(2), loss="$l$", n_estimators=3, scoring="$s$",
    )  # fmt: skip
    words = read_words(plots.plot_gain_curve(curve).figure)
    assert {"gain of $l$ (3 estimators)", "$s$"} <= {*words}


def test_what_you_call_a_line_or_an_axis_is_yours(ax):
    y, p = np.array([0, 1, 0, 1]), np.array([0.1, 0.9, 0.4, 0.6])
    plots.plot_reliability(y, p, ax, label=r"$\sigma$")
    ax.set_title("$x^2$")
    words = read_words(ax.figure)
    assert not {r"$\sigma$", "$x^2$"} & {*words}
    assert ax.get_title() == "$x^2$"


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.one_of(st.characters(max_codepoint=0x17F), st.sampled_from("$\\_^%{}\x00\n"))))
def test_any_words_are_drawn_as_they_are(words):
    figure = mpl.figure.Figure()
    figure.suptitle(write(words, 2000))
    (drawn,) = read_words(figure) or [""]
    seen = words.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")
    assert drawn.split() == pb.visible.make_visible(seen).split()


def test_tex_gets_what_it_writes_the_same():
    with mpl.rc_context({"text.usetex": True}):
        assert write("5% of $a_1 & {b}") == r"5\% of \$a\_1 \& \{b\}"
        assert (
            write(r"\x^2~<") == r"\textbackslash{}x\textasciicircum{}2\textasciitilde{}\textless{}"
        )
        assert name_line("_a") == r"\_a"


def test_long_words_and_lines_are_cut():
    assert write("$" * 99) == r"\$" * 57 + "..."
    assert write_lines("a$\n" * 9) == "a\\$\n" * 3 + r"a\$"
    assert name_line("") == "''"
    assert name_line("_x") == " _x"
