"""Plots of the course of a fit."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from helpers.pictures import table
from properboost import ARBoostClassifier, ProperBoostClassifier, plots


def test_history_is_the_training_risk(clf, three_classes, ax):
    plots.plot_training(clf, ax)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), clf.history_["round"])
    np.testing.assert_array_equal(line.get_ydata(), clf.history_["risk"])

    lines = plots.plot_training(three_classes).lines
    assert [line.get_label() for line in lines] == ["low", "mid", "top"]
    mid = three_classes.history_["class"] == "mid"
    np.testing.assert_array_equal(lines[1].get_ydata(), three_classes.history_["risk"][mid])


def test_votes_have_one_history_whatever_the_classes(ax):
    X = np.arange(30.0)[:, None]
    model = ARBoostClassifier(n_estimators=5).fit(X, np.repeat(["low", "mid", "top"], 10))
    (line,) = plots.plot_training(model, ax).lines
    np.testing.assert_array_equal(line.get_ydata(), model.history_["risk"])


def test_losses_of_tables_are_those_after_each_estimator(ax):
    X, y = table()
    model = ProperBoostClassifier(n_estimators=7, weak_learner="table").fit(X[:200], y[:200])
    data = {"training": (X[:200], y[:200]), "_held": (X[200:], y[200:])}
    plots.plot_training(model, ax, data=data)
    for line, (rows, labels) in zip(ax.lines, data.values(), strict=True):
        expected = [log_loss(labels, p) for p in model.staged_predict_proba(rows)]
        np.testing.assert_allclose(line.get_ydata(), expected, rtol=1e-12)
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 8))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["training", " _held"]


def test_scores_of_validation_rows_have_axes_of_their_own(ax):
    X, y = table()
    rows = {"X_val": X[200:], "y_val": y[200:]}
    for scoring, sign in (("neg_log_loss", -1.0), ("accuracy", 1.0)):
        model = ProperBoostClassifier(n_estimators=7, weak_learner="table")
        model.set_params(early_stopping__scoring=scoring)
        model.fit(X[:200], y[:200], **rows)
        before = len(ax.figure.axes)
        plots.plot_training(model, ax)
        right = ax.figure.axes[before]
        np.testing.assert_array_equal(right.lines[0].get_ydata(), sign * model.validation_scores_)
        np.testing.assert_array_equal(
            right.lines[0].get_xdata(), np.arange(1, len(model.validation_scores_) + 1)
        )
        assert right.get_ylabel().startswith("validation ")


def test_scores_of_cycles_stand_where_their_rounds_end(ax):
    X, y = table()
    model = ProperBoostClassifier(n_estimators=3, selection="cyclic", weak_learner="table")
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    plots.plot_training(model, ax)
    (line,) = ax.figure.axes[-1].lines
    np.testing.assert_array_equal(line.get_xdata(), X.shape[1] * np.array([1, 2, 3]))


def test_tables_need_names(ax):
    X, y = table()
    model = ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, y)
    with pytest.raises(TypeError, match=r"data must be a dict of names .*; got a tuple"):
        plots.plot_training(model, ax, data=(X, y))
