"""Plots of finished searches."""

import numpy as np
import pytest

from helpers.pictures import table
from properboost import ProperBoostClassifierCV, plots


def test_families_are_points_behind_the_best(ax):
    search = ProperBoostClassifierCV(effort=1, cv=3, scoring="logloss").fit(*table())
    plots.plot_search(search, ax)
    families = search.family_results_
    order = np.argsort(families["behind"], kind="stable")
    points = [container.lines[0] for container in ax.containers]
    np.testing.assert_array_equal(
        [point.get_xdata()[0] for point in points], families["behind"][order]
    )
    names = [text.get_text() for text in ax.get_yticklabels()]
    expected = families["family"][order].tolist()
    assert [name.removesuffix(" (chosen)") for name in names] == expected
    assert [name for name in names if "(chosen)" in name] == [f"{search.family_} (chosen)"]
    (right,) = [other for other in ax.figure.axes if other is not ax]
    costs = [text.get_text() for text in right.get_yticklabels()]
    assert [int(cost.split()[0]) for cost in costs] == families["candidates"][order].tolist()
    assert ax.get_xlabel() == "log loss behind the best"


def test_a_search_without_families_is_refused(ax):
    search = ProperBoostClassifierCV(effort=None, cv=2, space={"gain": [1.0, 2.0]}).fit(*table())
    with pytest.raises(ValueError, match="compared families"):
        plots.plot_search(search, ax)


def test_only_fitted_searches_are_drawn(ax):
    for model in (ProperBoostClassifierCV(), "search"):
        with pytest.raises(TypeError, match="search must be a fitted ProperBoostClassifierCV; got"):
            plots.plot_search(model, ax)
