"""Plots of importances."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from helpers.pictures import table
from properboost import ProperBoostClassifier, plots


def test_bars_are_the_largest_importances_in_order(ax):
    X, y = table()
    model = ProperBoostClassifier(n_estimators=7, weak_learner="table").fit(X, y)
    plots.plot_importance(model, ax, n_features=2)
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_array_equal(widths, np.sort(model.feature_importances_)[::-1][:2])
    largest = int(np.argmax(model.feature_importances_))
    assert ax.get_yticklabels()[0].get_text() == f"feature {largest}"
    assert ax.yaxis_inverted()
    assert f"2 of {X.shape[1]} features" in ax.get_xlabel()
    assert len(plots.plot_importance(model).patches) == X.shape[1]


def test_models_without_importances_are_refused():
    pipeline = make_pipeline(ProperBoostClassifier(n_estimators=2, weak_learner="table")).fit(
        *table()
    )
    with pytest.raises(TypeError, match=r"clf must have .*; got a Pipeline: .*pipeline\[-1\]"):
        plots.plot_importance(pipeline)
    plots.plot_importance(pipeline[-1])


def test_a_number_of_bars_below_one_is_refused():
    model = ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(*table())
    with pytest.raises(ValueError, match="n_features"):
        plots.plot_importance(model, n_features=0)
