"""Plots of curves by rows or regularisation."""

import numpy as np
import pytest

from helpers.pictures import table
from properboost import RadoBoostClassifier, plots, rado
from properboost.diagnostics import gain_curve


@pytest.mark.parametrize("n_repeats", [1, 3])
def test_gain_curve(ax, n_repeats):
    X, y = table()
    few = {"sizes": [0.5, 1.0], "gains": [1, 4, 16], "n_estimators": 5}
    curve = gain_curve(X, y, n_repeats=n_repeats, **few)
    assert plots.plot_gain_curve(curve, ax) is ax
    (right,) = [other for other in ax.figure.axes if other is not ax]
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), curve.best_gains)
    np.testing.assert_array_equal(ax.lines[-1].get_xdata(), curve.sizes)
    np.testing.assert_array_equal(right.lines[0].get_ydata(), curve.best_scores)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["160", "320"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "as good",
        "best gain",
        "score",
    ]
    points = ax.lines[:-1]
    assert len(points) == (n_repeats > 1)
    for line in points:
        np.testing.assert_array_equal(line.get_ydata(), curve.gains.ravel())


@pytest.mark.parametrize("omegas", [[0.1, 10.0], [0.0, 0.1, 10.0], [0.0]])
def test_omega_curve(ax, omegas):
    X, y = table()
    model = RadoBoostClassifier("lasso", n_estimators=20)
    curve = rado.omega_curve(model, X[:, 2:], y, omegas, cv=3)
    assert plots.plot_omega_curve(curve, ax) is ax
    (right,) = [other for other in ax.figure.axes if other is not ax]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), omegas)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), curve.errors.mean(axis=1))
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), [curve.best_omega] * 2)
    sizes = curve.n_coefficients.mean(axis=1)
    np.testing.assert_array_equal(right.lines[0].get_ydata(), sizes)
    ax.figure.draw_without_rendering()
