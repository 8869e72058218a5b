"""Plots of contributions: what is drawn are the numbers of the model."""

import numpy as np
import pytest

from helpers.pictures import bars_of, errors_of, table
from properboost import ProperBoostClassifier, plots


@pytest.mark.parametrize("scale", ["raw", "log_odds"])
def test_contributions_are_bars_from_largest_to_least(clf, ax, scale):
    X, _ = table()
    found = clf.contributions(X[:3], scale=scale)
    assert plots.plot_contributions(found, 2, ax=ax, scale=scale) is ax
    words = [f"{name} = {found.describe_value(2, j)}" for j, name in enumerate(found.names)]
    added = dict(zip(words, found.values[2], strict=True))
    bars = bars_of(ax)
    assert bars == added
    assert list(bars) == sorted(added, key=lambda name: -abs(added[name]))
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == found.axis_label
    assert f"from {found.baseline:.3g} to {found.total[2]:.3g}" in ax.get_title()
    assert f"to {clf.predict_proba(X[2:3])[0, 1]:.3g}" in ax.get_title()
    few = bars_of(plots.plot_contributions(found, 2, max_features=1, scale=scale))
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
    model = ProperBoostClassifier("savage", n_estimators=5).fit(X, y)
    found = model.contributions(X[:1])
    assert plots.plot_contributions(found, ax=ax).get_xlabel() == found[0].axis_label
    with pytest.raises(ValueError, match=r"ask the model for contributions\(X, scale='log_odds'\)"):
        plots.plot_contributions(found, scale="log_odds")


def test_changes_that_do_not_add_up_are_not_added_up(clf):
    found = clf.contributions(table()[0][:3], scale="probability")
    assert len(bars_of(plots.plot_contributions(found, 2, max_features=1))) == 1


@pytest.mark.parametrize("arguments", [{"row": 3}, {"row": -1}, {"max_features": 0}])
def test_contributions_that_there_are_none_of(clf, arguments):
    found = clf.contributions(table()[0][:3])
    with pytest.raises(ValueError, match=f"{next(iter(arguments))} must be"):
        plots.plot_contributions(found, **arguments)


@pytest.mark.parametrize("scale", ["raw", "log_odds", "probability"])
def test_error_bars_of_contributions_are_their_intervals(bagged, ax, scale):
    found = bagged.contributions(table()[0][:3], scale=scale)
    plots.plot_contributions(found, 2, ax, max_features=3, scale=scale)
    order = np.argsort(-np.abs(found.values[2]))[:3]
    np.testing.assert_allclose(errors_of(ax), np.stack(found.interval())[:, 2, order].T)
    labels = list(bars_of(ax))
    noise = [" (within noise)" if found.within_noise[j] else "" for j in order]
    names = [
        f"{found.names[j]} = {found.describe_value(2, j)}{own}"
        for j, own in zip(order, noise, strict=True)
    ]
    assert labels == [*names, *(["1 more"] if found.additive else [])]
    assert len(set(noise)) == 2
