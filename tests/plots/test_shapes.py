"""Plots of shape functions show the numbers of the model."""

import matplotlib as mpl
import numpy as np
import pytest

from helpers.pictures import band_of, bars_of, errors_of, names_of, steps_of, table
from properboost import ProperBoostClassifier, plots

scales = pytest.mark.parametrize("scale", ["raw", "log_odds", "probability"])


@scales
def test_numeric_line_is_the_shape_function(clf, ax, scale):
    assert plots.plot_shape_function(clf, 0, ax=ax, scale=scale) is ax
    x, y = steps_of(ax)
    middles = (x[1:] + x[:-1]) / 2
    shape = clf.shape_function(0, scale=scale)
    np.testing.assert_array_equal(y[:-1], shape(middles))
    np.testing.assert_array_equal(x[1:-1], shape.edges)
    assert y[-1] == y[-2]
    assert ax.get_ylabel() == shape.axis_label


def test_log_odds_are_drawn_by_default(clf, ax):
    plots.plot_shape_function(clf, 0, ax=ax)
    assert ax.get_ylabel() == "added to the log-odds of True"
    _, y = steps_of(ax)
    np.testing.assert_array_equal(y[:-1], clf.shape_function(0, scale="log_odds").values)
    with pytest.raises(ValueError, match="scale must be one of 'raw', 'log_odds', 'probability'"):
        plots.plot_shape_function(clf, 0, scale="odds")


def test_missing_value_is_a_line_where_training_had_some(clf):
    levels = {}
    for feature in (0, 2):
        ax = plots.plot_shape_function(clf, feature)
        levels[feature] = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert levels == {0: [clf.shape_function(0, scale="log_odds").missing_value], 2: []}


def test_density_has_the_shape_of_the_training_rows(clf, ax):
    plots.plot_shape_function(clf, 0, ax=ax)
    (patch,) = [a for a in ax.get_children() if isinstance(a, mpl.patches.StepPatch)]
    heights, edges, _ = patch.get_data()
    weights = clf.shape_function(0).weights
    share = heights * np.diff(edges)
    np.testing.assert_allclose(share / share.sum(), weights / weights.sum())
    assert heights.max() == pytest.approx(0.15)
    # Its units are shares of the axes' height, so it must not count as data.
    low, high = ax.get_ylim()
    values = clf.shape_function(0, scale="log_odds").values
    assert high - low < 1.3 * (values.max() - min(values.min(), 0.0))


@scales
def test_categories_are_bars_from_least_to_largest(clf, ax, scale):
    plots.plot_shape_function(clf, 1, ax=ax, scale=scale)
    shape = clf.shape_function(1, scale=scale)
    left = shape.average if scale == "probability" else 0.0
    bars = {name: left + width for name, width in bars_of(ax).items()}
    expected = {f"{c:g}": v for c, v in zip(shape.categories, shape.values, strict=True)}
    assert bars == pytest.approx(expected | {"missing": shape.missing_value})
    assert list(bars.values()) == sorted(bars.values())


@scales
@pytest.mark.parametrize("level", [0.9, 0.5])
def test_a_band_is_the_interval(bagged, ax, level, scale):
    plots.plot_shape_function(bagged, 0, ax=ax, confidence_level=level, scale=scale)
    shape = bagged.shape_function(0, scale=scale)
    x, _ = steps_of(ax)
    band = band_of(ax)
    np.testing.assert_array_equal(band.edges, x)
    np.testing.assert_allclose([band.baseline, band.values], shape.interval(level))
    (missing,) = [line for line in ax.lines if line.get_marker() == "_"]
    np.testing.assert_allclose(missing.get_ydata(), shape.missing_interval(level))
    assert ax.get_xlim()[0] < x[0]
    assert ax.get_xlim()[1] < x[-1] + 0.1 * (x[-1] - x[0])  # it does not move the axes


def test_a_dotted_line_leaves_the_average_row_as_it_is(bagged, clf):
    def dotted(model, feature, scale):
        ax = plots.plot_shape_function(model, feature, scale=scale)
        axis = "y" if feature == 0 else "x"
        lines = [line for line in ax.lines if line.get_linestyle() == ":"]
        return [getattr(line, f"get_{axis}data")()[0] for line in lines]

    X, _ = table()
    for feature in (0, 1):
        mean = bagged.shape_function(feature)(X[:, feature]).mean()
        np.testing.assert_allclose(dotted(bagged, feature, "raw"), [mean])
        assert dotted(bagged, feature, "log_odds") == []  # it is 0
        baseline = clf.contributions(X, scale="probability").baseline
        np.testing.assert_allclose(dotted(clf, feature, "probability"), [baseline])


@scales
def test_error_bars_of_categories_are_their_intervals(bagged, ax, scale):
    plots.plot_shape_function(bagged, 1, ax=ax, scale=scale)
    shape = bagged.shape_function(1, scale=scale)
    expected = dict(zip(shape.labels, np.transpose(shape.interval()), strict=True))
    expected["missing"] = shape.missing_interval()
    for name, ends in zip(bars_of(ax), errors_of(ax), strict=True):
        np.testing.assert_allclose(ends, expected[name])


def test_titles_mark_effects_within_noise(bagged):
    note = "\nwithin noise (p = "
    for feature in range(3):
        shape = bagged.shape_function(feature)
        title = plots.plot_shape_function(bagged, feature).get_title()
        assert (note in title) == shape.within_noise
    assert shape.within_noise
    assert title == f"feature 2{note}{shape.p_value:.2f})"
    titles = [ax.get_title() for ax in plots.plot_shape_functions(bagged).axes]
    assert sum(note in title for title in titles) == 1
    assert " of importance\nwithin" in titles[-1]
    function = bagged.term_function((0, 2))
    title = plots.plot_term_function(bagged, (0, 2)).get_title()
    assert (note in title) == function.within_noise


def test_intervals_can_be_left_out(bagged):
    contributions = bagged.contributions(table()[0][:3])
    drawn = [
        plots.plot_shape_function(bagged, 0, confidence_level=None),
        plots.plot_shape_function(bagged, 1, confidence_level=None),
        plots.plot_contributions(contributions, confidence_level=None),
        plots.plot_term_function(bagged, (0, 2), confidence_level=None),
    ]
    for ax in drawn:
        assert not ax.collections
        assert not [patch for patch in ax.patches if patch.get_alpha() is not None]
    with pytest.raises(ValueError, match="confidence_level"):
        plots.plot_shape_functions(bagged, confidence_level=1.0)


def test_only_the_heaviest_categories_are_drawn():
    X = np.repeat(np.arange(30.0), np.arange(1, 31))[:, None]
    y = np.arange(len(X)) % 2
    clf = ProperBoostClassifier(n_estimators=2, categorical_features=[0], weak_learner="table").fit(
        X, y
    )
    ax = plots.plot_shape_function(clf, 0, max_categories=4)
    assert set(bars_of(ax)) == {"26", "27", "28", "29"}
    assert ax.get_title() == "feature 0 (4 of 30 categories)"


def test_shared_bin_of_rare_categories_has_a_bar():
    X = np.repeat(np.arange(9.0), 9 - np.arange(9))[:, None]
    y = np.arange(len(X)) % 2
    clf = ProperBoostClassifier(
        n_estimators=2, max_bins=3, categorical_features=[0], weak_learner="table"
    ).fit(X, y)
    bars = bars_of(plots.plot_shape_function(clf, 0))
    assert set(bars) == {"0", "1", "rare and unseen"}
    assert bars["rare and unseen"] == clf.shape_function(0, scale="log_odds").values[2]


def test_class_decides_the_sign(clf):
    _, positive = steps_of(plots.plot_shape_function(clf, 0, True))
    ax = plots.plot_shape_function(clf, 0, False)
    np.testing.assert_array_equal(steps_of(ax)[1], -positive)
    assert ax.get_ylabel() == "added to the log-odds of False"


def test_infinite_values_do_not_reach_the_axes():
    X = np.repeat([-np.inf, 0.0, 1.0, 2.0, 3.0, np.inf], 8)[:, None]
    y = np.array([0, 0, 0, 1, 0, 1, 1, 1] * 6)
    clf = ProperBoostClassifier(n_estimators=3, rows_per_bin=None, weak_learner="table").fit(X, y)
    shape = clf.shape_function(0)
    assert len(shape.edges) == 5
    x, values = steps_of(plots.plot_shape_function(clf, 0, scale="raw"))
    assert x[0] > -1.0
    assert x[-1] < 4.0
    np.testing.assert_array_equal(values[:-1], shape((x[1:] + x[:-1]) / 2))


def test_constant_feature_is_level():
    X = np.column_stack([np.full(20, 7.0), np.arange(20.0)])
    clf = ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, np.arange(20) > 9)
    _, y = steps_of(plots.plot_shape_function(clf, 0))
    assert list(y) == [0.0, 0.0]


def test_most_important_features_come_first(clf):
    figure = plots.plot_shape_functions(clf, n_features=2, n_columns=1)
    order = np.argsort(-clf.feature_importances_)[:2]
    assert len(figure.axes) == 2
    for ax, feature in zip(figure.axes, order, strict=True):
        share = clf.feature_importances_[feature]
        assert ax.get_title() == f"feature {feature}: {share:.0%} of importance"


def test_every_class_has_shape_functions(three_classes):
    figure = plots.plot_shape_functions(three_classes, class_="mid", n_columns=2, scale="raw")
    drawn = [ax for ax in figure.axes if ax.axison]
    assert len(drawn) == 3  # all features, though six were allowed
    assert len(figure.axes) == 4
    assert drawn[0].get_ylabel() == "added to F of mid"


def test_several_classes_have_a_line_each(three_classes, ax):
    plots.plot_shape_function(three_classes, 2, ax=ax)
    assert names_of(ax) == ["low", "mid", "top"]
    for label in names_of(ax):
        (line,) = [line for line in ax.lines if line.get_label() == label]
        values = three_classes.shape_function(2, label, "log_odds").values
        np.testing.assert_array_equal(line.get_ydata()[:-1], values)
    assert ax.get_ylabel() == "added to the log-odds of the class\nagainst the others"
    few = plots.plot_shape_function(three_classes, 2, max_classes=2)
    moved = {
        label: three_classes.shape_function(2, label, "log_odds") for label in ("low", "mid", "top")
    }
    sizes = {name: shape.weights @ np.abs(shape.values) for name, shape in moved.items()}
    assert names_of(few) == sorted(sorted(sizes, key=lambda name: -sizes[name])[:2])


def test_several_classes_have_a_mark_each(three_classes, ax):
    plots.plot_shape_function(three_classes, 1, ax=ax)
    words = [label.get_text() for label in ax.get_yticklabels()]
    for label in ("low", "mid", "top"):
        (marks,) = [line for line in ax.lines if line.get_label() == label]
        shape = three_classes.shape_function(1, label, "log_odds")
        expected = dict(zip(shape.labels, shape.values, strict=True))
        expected["missing"] = shape.missing_value
        assert list(marks.get_xdata()) == [expected[word] for word in words]
        np.testing.assert_allclose(marks.get_ydata(), np.arange(len(words)), atol=0.31)


def test_bands_of_many_classes_are_left_out():
    X, y = np.repeat(np.arange(20.0), 10)[:, None], np.repeat(np.arange(5), 40)
    settings = {"n_estimators": 3, "outer_bags": 4, "rows_per_bin": None}
    model = ProperBoostClassifier(**settings).fit(X, y)
    for most, bands in ((5, 0), (3, 3)):
        ax = plots.plot_shape_function(model, 0, max_classes=most)
        assert len([patch for patch in ax.patches if patch.get_alpha() is not None]) == bands
        assert len(names_of(ax)) == most


def test_values_far_apart_have_a_logarithmic_axis():
    X = np.concatenate([np.zeros(600), 10.0 ** np.linspace(1, 5, 400)])[:, None]
    clf = ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, X[:, 0] > 1000)
    ax = plots.plot_shape_function(clf, 0)
    assert ax.get_xscale() == "symlog"
    assert "10,000" in [label.get_text() for label in ax.get_xticklabels()]
    even = ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(
        X[600:], X[600:, 0] > 1000
    )
    assert plots.plot_shape_function(even, 0).get_xscale() == "linear"


@pytest.mark.parametrize("argument", ["n_features", "n_columns", "max_categories", "max_classes"])
def test_counts_are_positive(clf, argument):
    with pytest.raises(ValueError, match=argument):
        plots.plot_shape_functions(clf, **{argument: 0})
