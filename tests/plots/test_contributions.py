"""Plots of contributions show the numbers of the model."""

import numpy as np
import pytest

from helpers.pictures import bars_of, errors_of, table
from properboost import ProperBoostClassifier, plots


@pytest.mark.parametrize("scale", ["raw", "log_odds"])
def test_contributions_are_bars_from_largest_to_least(clf, ax, scale):
    X, _ = table()
    contributions = clf.contributions(X[:3], scale=scale)
    assert plots.plot_contributions(contributions, 2, ax=ax, scale=scale) is ax
    words = [
        f"{name} = {contributions.describe_value(2, j)}"
        for j, name in enumerate(contributions.names)
    ]
    added = dict(zip(words, contributions.values[2], strict=True))
    bars = bars_of(ax)
    assert bars == added
    assert list(bars) == sorted(added, key=lambda name: -abs(added[name]))
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == contributions.axis_label
    assert f"from {contributions.baseline:.3g} to {contributions.total[2]:.3g}" in ax.get_title()
    assert f"to {clf.predict_proba(X[2:3])[0, 1]:.3g}" in ax.get_title()
    few = bars_of(plots.plot_contributions(contributions, 2, max_features=1, scale=scale))
    first = next(iter(bars))
    assert few[first] == added[first]
    assert few["2 more"] == pytest.approx(sum(added.values()) - added[first])


def test_raw_contributions_are_drawn_in_log_odds(clf, three_classes):
    X, _ = table()
    for model in (clf, three_classes):
        log_odds = model.contributions(X[:3], scale="log_odds")
        ax = plots.plot_contributions(model.contributions(X[:3]), 2)
        assert list(bars_of(ax).values()) == pytest.approx(
            sorted(log_odds.values[2], key=abs)[::-1]
        )
        assert ax.get_xlabel().startswith("added to the log-odds of ")


def test_what_cannot_be_turned_is_drawn_as_it_is(ax):
    X, _ = table()
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 2], [-0.5, 0.5])]
    model = ProperBoostClassifier("savage", n_estimators=5, weak_learner="table").fit(X, y)
    contributions = model.contributions(X[:1])
    assert (
        plots.plot_contributions(contributions, ax=ax).get_xlabel() == contributions[0].axis_label
    )
    with pytest.raises(ValueError, match=r"call the model's contributions\(X, scale='log_odds'\)"):
        plots.plot_contributions(contributions, scale="log_odds")


def test_changes_that_do_not_add_up_are_not_added_up(clf):
    contributions = clf.contributions(table()[0][:3], scale="probability")
    assert len(bars_of(plots.plot_contributions(contributions, 2, max_features=1))) == 1


@pytest.mark.parametrize("arguments", [{"row": 3}, {"row": -1}, {"max_features": 0}])
def test_contributions_that_there_are_none_of(clf, arguments):
    contributions = clf.contributions(table()[0][:3])
    with pytest.raises(ValueError, match=f"{next(iter(arguments))} must be"):
        plots.plot_contributions(contributions, **arguments)


@pytest.mark.parametrize("scale", ["raw", "log_odds", "probability"])
def test_error_bars_of_contributions_are_their_intervals(bagged, ax, scale):
    contributions = bagged.contributions(table()[0][:3], scale=scale)
    plots.plot_contributions(contributions, 2, ax, max_features=3, scale=scale)
    order = np.argsort(-np.abs(contributions.values[2]))[:3]
    np.testing.assert_allclose(errors_of(ax), np.stack(contributions.interval())[:, 2, order].T)
    labels = list(bars_of(ax))
    noise = [" (within noise)" if contributions.within_noise[j] else "" for j in order]
    names = [
        f"{contributions.names[j]} = {contributions.describe_value(2, j)}{remark}"
        for j, remark in zip(order, noise, strict=True)
    ]
    assert labels == [*names, *(["1 more"] if contributions.additive else [])]
    assert len(set(noise)) == 2
