"""Plots of pairs show the numbers of the model."""

import numpy as np
import pytest

from helpers.pictures import table
from properboost import ProperBoostClassifier, Tree, plots


def test_cells_of_pairs_that_may_be_0_are_striped(bagged, ax):
    plots.plot_term_function(bagged, (0, 2), ax=ax, confidence_level=0.3)
    function = bagged.term_function((0, 2), scale="log_odds")
    low, high = function.interval(0.3)
    expected = np.argwhere((function.weights > 0) & (low <= 0) & (high >= 0))
    (cells,) = ax.collections
    middles = [path.get_extents().get_points().mean(axis=0) for path in cells.get_paths()]
    assert 0 < len(middles) < np.count_nonzero(function.weights)
    np.testing.assert_array_equal(
        sorted(map(tuple, middles)), sorted(map(tuple, expected[:, ::-1]))
    )
    assert (ax.get_xlim(), ax.get_ylim()) == tuple((-0.5, n - 0.5) for n in low.shape[::-1])


@pytest.mark.parametrize("scale", ["raw", "log_odds", "probability"])
def test_a_pair_is_a_field_a_cell(ax, scale):
    X, y = table()
    X[:5, 2] = np.nan
    model = ProperBoostClassifier(
        n_estimators=5, interactions=[(0, 2), (0, 1)], weak_learner="table"
    ).fit(X, y)
    function = model.term_function((2, 0), False, scale)
    assert plots.plot_term_function(model, (2, 0), False, ax, scale=scale) is ax
    [image] = ax.images
    drawn = np.ma.filled(image.get_array(), np.nan)
    np.testing.assert_array_equal(drawn, np.where(function.weights > 0, function.values, np.nan))
    for axis, levels in zip((ax.yaxis, ax.xaxis), function.levels, strict=True):
        words = [label.get_text() for label in axis.get_ticklabels()]
        assert len(words) == len(levels)
        assert words[0] == levels[0]
        assert words[-1] == "missing"
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("feature 0", "feature 2")
    assert ax.get_title() == "feature 0 and feature 2"
    (bar,) = [axes for axes in ax.figure.axes if axes is not ax]
    assert bar.get_ylabel() == function.axis_label
    with pytest.raises(ValueError, match="no term of 1 and 2"):
        plots.plot_term_function(model, (1, 2))


def test_of_several_classes_a_pair_has_the_one_it_moves_most(ax):
    X, _ = table()
    y = np.digitize(X[:, 2] + np.nan_to_num(X[:, 0]) * (X[:, 2] > 0), [-0.5, 0.5])
    model = ProperBoostClassifier(n_estimators=5, interactions=[(0, 2)], weak_learner="table").fit(
        X, y
    )
    functions = [model.term_function((0, 2), k, "log_odds") for k in range(3)]
    sizes = [np.sum(function.weights * np.abs(function.values)) for function in functions]
    plots.plot_term_function(model, (0, 2), ax=ax)
    drawn = np.ma.filled(ax.images[0].get_array(), np.nan)
    filled = functions[0].weights > 0
    np.testing.assert_array_equal(drawn[filled], functions[np.argmax(sizes)].values[filled])


def test_a_term_is_a_curve_a_map_or_a_row_of_maps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = (X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3] + rng.logistic(size=2000) > 0).astype(int)
    learner = Tree(grow_policy="symmetric", max_depth=3, max_features=1.0)
    model = ProperBoostClassifier(weak_learner=learner, n_estimators=100).fit(X, y)
    sizes = {len(term.features): term.features for term in model.terms_}
    assert plots.plot_term_function(model, sizes[1]).get_title()
    assert plots.plot_term_function(model, sizes[2]).images
    places = plots.plot_term_function(model, sizes[3])
    function = model.term_function(sizes[3], scale="log_odds")
    assert [ax.get_title() for ax in places] == [one.title for one in function.to_maps()]
    assert places[0].get_ylabel()
    assert not places[1].get_ylabel()
    one = places[0]
    with pytest.raises(ValueError, match=r"ax must be \d axes, one for each map; got 1"):
        plots.plot_term_function(model, sizes[3], ax=one)
