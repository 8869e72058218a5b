"""Plots: what is drawn are the numbers of the model."""

import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from properboost import (
    ARBoostClassifier,
    ProperBoostClassifier,
    RadoBoostClassifier,
    losses,
    plots,
    rado,
)
from properboost.diagnostics import gain_curve

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.figure().add_subplot()


def table(n=400):
    """A number with missing cells, a category, and noise."""
    random = np.random.default_rng(0)
    number = random.normal(size=n).round(1)
    category = random.integers(0, 6, n).astype(float)
    noise = random.normal(size=n)
    y = number + (category == 3) + 0.3 * random.normal(size=n) > 0.5
    number[::10] = np.nan
    category[5::50] = np.nan
    return np.column_stack([number, category, noise]), y


@pytest.fixture(scope="module")
def clf():
    X, y = table()
    return ProperBoostClassifier(n_estimators=20, categorical_features=[1]).fit(X, y)


@pytest.fixture(scope="module")
def bagged():
    X, y = table()
    settings = {"n_estimators": 20, "categorical_features": [1], "interactions": [(0, 2)]}
    return ProperBoostClassifier(outer_bags=8, **settings).fit(X, y)


@pytest.fixture(scope="module")
def three_classes():
    X, _ = table()
    y = np.array(["low", "mid", "top"])[np.digitize(X[:, 2], [-0.5, 0.5])]
    return ProperBoostClassifier(n_estimators=7, categorical_features=[1]).fit(X, y)


def steps_of(ax):
    """The line of steps: the one that is not level from side to side."""
    (line,) = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    return line.get_xdata(), line.get_ydata()


def band_of(ax):
    """The filled steps that one sees through, which the distribution below is not."""
    (band,) = [patch for patch in ax.patches if patch.get_alpha() is not None]
    return band.get_data()


def errors_of(ax):
    """The ends of error bars, from the first bar on."""
    (bars,) = [c for c in ax.collections if isinstance(c, mpl.collections.LineCollection)]
    return np.array([segment[:, 0] for segment in bars.get_segments()])


def bars_of(ax):
    labels = [label.get_text() for label in ax.get_yticklabels()]
    return dict(zip(labels, [bar.get_width() for bar in ax.patches], strict=True))


def test_numeric_line_is_the_shape_function(clf, ax):
    assert plots.plot_shape_function(clf, 0, ax=ax) is ax
    x, y = steps_of(ax)
    middles = (x[1:] + x[:-1]) / 2
    shape = clf.shape_function(0)
    np.testing.assert_array_equal(y[:-1], shape(middles))
    np.testing.assert_array_equal(x[1:-1], shape.edges)
    assert y[-1] == y[-2]


def test_missing_value_is_a_line_where_training_had_some(clf):
    levels = {}
    for feature in (0, 2):
        ax = plots.plot_shape_function(clf, feature)
        levels[feature] = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert levels == {0: [clf.shape_function(0).missing_value], 2: []}


def test_density_has_the_shape_of_the_training_rows(clf, ax):
    plots.plot_shape_function(clf, 0, ax=ax)
    (patch,) = [a for a in ax.get_children() if isinstance(a, mpl.patches.StepPatch)]
    heights, edges, _ = patch.get_data()
    weights = clf.shape_function(0).weights
    share = heights * np.diff(edges)
    np.testing.assert_allclose(share / share.sum(), weights / weights.sum())
    assert heights.max() == pytest.approx(0.15)
    # It is drawn in parts of the height of the axes, and must not become data.
    low, high = ax.get_ylim()
    values = clf.shape_function(0).values
    assert high - low < 1.3 * (values.max() - min(values.min(), 0.0))


def test_categories_are_bars_from_least_to_largest(clf, ax):
    plots.plot_shape_function(clf, 1, ax=ax)
    bars = bars_of(ax)
    shape = clf.shape_function(1)
    expected = {str(c): v for c, v in zip(shape.categories, shape.values, strict=True)}
    assert bars == expected | {"missing": shape.missing_value}
    assert list(bars.values()) == sorted(bars.values())


def test_contributions_are_bars_from_largest_to_least(clf, ax):
    X, _ = table()
    found = clf.contributions(X[:3])
    assert plots.plot_contributions(found, 2, ax=ax) is ax
    added = dict(zip(found.names, found.values[2], strict=True))
    bars = bars_of(ax)
    assert bars == added
    assert list(bars) == sorted(added, key=lambda name: -abs(added[name]))
    assert ax.yaxis_inverted()
    assert f"to {clf.decision_function(X[2:3])[0]:.3g}" in ax.get_title()
    few = bars_of(plots.plot_contributions(found, 2, max_features=1))
    first = next(iter(bars))
    assert few[first] == added[first]
    assert few["2 more"] == pytest.approx(sum(added.values()) - added[first])


@pytest.mark.parametrize("arguments", [{"row": 3}, {"row": -1}, {"max_features": 0}])
def test_contributions_that_there_are_none_of(clf, arguments):
    found = clf.contributions(table()[0][:3])
    with pytest.raises(ValueError, match=f"{next(iter(arguments))} must be"):
        plots.plot_contributions(found, **arguments)


@pytest.mark.parametrize("level", [0.9, 0.5])
def test_a_band_is_the_interval(bagged, ax, level):
    plots.plot_shape_function(bagged, 0, ax=ax, confidence_level=level)
    shape = bagged.shape_function(0)
    x, _ = steps_of(ax)
    band = band_of(ax)
    np.testing.assert_array_equal(band.edges, x)
    np.testing.assert_allclose([band.baseline, band.values], shape.interval(level))
    (missing,) = [line for line in ax.lines if line.get_marker() == "_"]
    ends = missing.get_ydata() - shape.missing_value
    errors = shape.missing_standard_error / shape.standard_errors[0]
    reach = errors * (band.values[0] - shape.values[0])
    np.testing.assert_allclose(ends, [-reach, reach])
    assert ax.get_xlim()[0] < x[0]
    assert ax.get_xlim()[1] < x[-1] + 0.1 * (x[-1] - x[0])  # it does not move the axes


def test_a_dotted_line_is_the_mean_of_the_training_rows(bagged, ax):
    X, _ = table()
    for feature, axis in ((0, "y"), (1, "x")):
        drawn = plots.plot_shape_function(bagged, feature).lines
        (line,) = [line for line in drawn if line.get_linestyle() == ":"]
        mean = bagged.shape_function(feature)(X[:, feature]).mean()
        np.testing.assert_allclose(getattr(line, f"get_{axis}data")(), [mean, mean])


def test_error_bars_of_categories_are_their_intervals(bagged, ax):
    plots.plot_shape_function(bagged, 1, ax=ax)
    shape = bagged.shape_function(1)
    low, high = shape.interval()
    expected = {str(c): [a, b] for c, a, b in zip(shape.categories, low, high, strict=True)}
    for name, ends in zip(bars_of(ax), errors_of(ax), strict=True):
        if name != "missing":
            np.testing.assert_allclose(ends, expected[name])


def test_error_bars_of_contributions_are_their_intervals(bagged, ax):
    found = bagged.contributions(table()[0][:3])
    plots.plot_contributions(found, 2, ax, max_features=3)
    order = np.argsort(-np.abs(found.values[2]))[:3]
    np.testing.assert_allclose(errors_of(ax), np.stack(found.interval())[:, 2, order].T)
    labels = list(bars_of(ax))
    noise = [" (within noise)" if found.within_noise[j] else "" for j in order]
    names = [found.names[j] + own for j, own in zip(order, noise, strict=True)]
    assert labels == [*names, "1 more"]
    assert len(set(noise)) == 2


def test_cells_of_pairs_that_may_be_0_are_striped(bagged, ax):
    plots.plot_pair_function(bagged, 0, 2, ax=ax, confidence_level=0.3)
    function = bagged.pair_function(0, 2)
    low, high = function.interval(0.3)
    expected = np.argwhere((function.weights > 0) & (low <= 0) & (high >= 0))
    (cells,) = ax.collections
    middles = [path.get_extents().get_points().mean(axis=0) for path in cells.get_paths()]
    assert 0 < len(middles) < np.count_nonzero(function.weights)
    np.testing.assert_array_equal(
        sorted(map(tuple, middles)), sorted(map(tuple, expected[:, ::-1]))
    )
    assert (ax.get_xlim(), ax.get_ylim()) == tuple((-0.5, n - 0.5) for n in low.shape[::-1])


def test_titles_say_what_is_within_noise(bagged):
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
    function = bagged.pair_function(0, 2)
    title = plots.plot_pair_function(bagged, 0, 2).get_title()
    assert (note in title) == function.within_noise


def test_intervals_can_be_left_out(bagged):
    found = bagged.contributions(table()[0][:3])
    drawn = [
        plots.plot_shape_function(bagged, 0, confidence_level=None),
        plots.plot_shape_function(bagged, 1, confidence_level=None),
        plots.plot_contributions(found, confidence_level=None),
        plots.plot_pair_function(bagged, 0, 2, confidence_level=None),
    ]
    for ax in drawn:
        assert not ax.collections
        assert not [patch for patch in ax.patches if patch.get_alpha() is not None]
    with pytest.raises(ValueError, match="confidence_level"):
        plots.plot_shape_functions(bagged, confidence_level=1.0)


def test_only_the_heaviest_categories_are_drawn():
    X = np.repeat(np.arange(30.0), np.arange(1, 31))[:, None]
    y = np.arange(len(X)) % 2
    clf = ProperBoostClassifier(n_estimators=2, categorical_features=[0]).fit(X, y)
    ax = plots.plot_shape_function(clf, 0, max_categories=4)
    assert set(bars_of(ax)) == {"26.0", "27.0", "28.0", "29.0"}
    assert ax.get_title() == "feature 0 (4 of 30 categories)"


def test_shared_bin_of_rare_categories_has_a_bar():
    X = np.repeat(np.arange(9.0), 9 - np.arange(9))[:, None]
    y = np.arange(len(X)) % 2
    clf = ProperBoostClassifier(n_estimators=2, max_bins=3, categorical_features=[0]).fit(X, y)
    bars = bars_of(plots.plot_shape_function(clf, 0))
    assert set(bars) == {"0.0", "1.0", "rare and unseen"}
    assert bars["rare and unseen"] == clf.shape_function(0).values[2]


def test_class_decides_the_sign(clf):
    _, positive = steps_of(plots.plot_shape_function(clf, 0, True))
    ax = plots.plot_shape_function(clf, 0, False)
    np.testing.assert_array_equal(steps_of(ax)[1], -positive)
    assert ax.get_ylabel() == "added to F of False"


def test_infinite_values_do_not_reach_the_axes():
    X = np.repeat([-np.inf, 0.0, 1.0, 2.0, 3.0, np.inf], 8)[:, None]
    y = np.array([0, 0, 0, 1, 0, 1, 1, 1] * 6)
    clf = ProperBoostClassifier(n_estimators=3, rows_per_bin=None).fit(X, y)
    shape = clf.shape_function(0)
    assert len(shape.edges) == 5
    x, values = steps_of(plots.plot_shape_function(clf, 0))
    assert x[0] > -1.0
    assert x[-1] < 4.0
    np.testing.assert_array_equal(values[:-1], shape((x[1:] + x[:-1]) / 2))


def test_constant_feature_is_level():
    X = np.column_stack([np.full(20, 7.0), np.arange(20.0)])
    clf = ProperBoostClassifier(n_estimators=2).fit(X, np.arange(20) > 9)
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
    figure = plots.plot_shape_functions(three_classes, class_="mid", n_columns=2)
    drawn = [ax for ax in figure.axes if ax.axison]
    assert len(drawn) == 3  # all features, though six were allowed
    assert len(figure.axes) == 4
    assert drawn[0].get_ylabel() == "added to F of mid"
    with pytest.raises(ValueError, match="class_"):
        plots.plot_shape_functions(three_classes)


@pytest.mark.parametrize("argument", ["n_features", "n_columns", "max_categories"])
def test_counts_are_positive(clf, argument):
    with pytest.raises(ValueError, match=argument):
        plots.plot_shape_functions(clf, **{argument: 0})


def test_reliability_points(ax):
    probability = np.array([0.1, 0.1, 0.1, 0.1, 0.75, 0.75, 0.85, 0.95])
    y = np.array([0, 0, 0, 1, 1, 0, 1, 1])
    plots.plot_reliability(y, probability, ax, n_bins=2, label="mine", color="red")
    diagonal, line = ax.lines
    np.testing.assert_allclose(line.get_xdata(), [0.1, 0.825])
    np.testing.assert_allclose(line.get_ydata(), [0.25, 0.75])
    assert line.get_color() == "red"
    assert list(diagonal.get_xdata()) == list(diagonal.get_ydata()) == [0.0, 1.0]


def test_reliability_adds_lines_to_one_diagonal(ax):
    y, probability = np.array([0, 1]), np.array([0.2, 0.7])
    for label in ("a", "b"):
        plots.plot_reliability(y, probability, ax, label=label)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["perfect", "a", "b"]


def test_reliability_of_strings(ax):
    y, probability = np.array(["no", "yes", "yes"]), np.array([0.1, 0.9, 0.9])
    plots.plot_reliability(y, probability, ax, pos_label="yes")
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [0.0, 1.0])


def test_margins_are_steps_up_to_one(clf, ax):
    X, y = table()
    margins = clf.margins(X, y, normalized=True)
    for label in ("a", "b"):
        assert plots.plot_margin_distribution(margins, ax, label=label, color="red") is ax
    guide, line, _ = ax.lines
    assert list(guide.get_xdata()) == [0.0, 0.0]
    at, share = line.get_xdata(), line.get_ydata()
    assert (line.get_drawstyle(), line.get_color()) == ("steps-post", "red")
    assert (at[0], share[0], at[-1], share[-1]) == (-1.0, 0.0, 1.0, 1.0)
    np.testing.assert_array_equal(at[1:-1], np.unique(margins))
    assert share[np.searchsorted(at, 0.0, side="right") - 1] == np.mean(clf.predict(X) != y)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert ax.get_xlim() == (-1.0, 1.0)


def test_margins_may_be_raw_and_weighted(ax):
    plots.plot_margin_distribution([3.0, -2.0], ax, sample_weight=[1, 3])
    line = ax.lines[1]
    assert list(line.get_xdata()) == [-2.0, -2.0, 3.0, 3.0]
    assert list(line.get_ydata()) == [0.0, 0.75, 1.0, 1.0]
    assert ax.get_legend() is None


def test_history_is_the_training_risk(clf, three_classes, ax):
    plots.plot_history(clf, ax)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), clf.history_["round"])
    np.testing.assert_array_equal(line.get_ydata(), clf.history_["risk"])

    lines = plots.plot_history(three_classes).lines
    assert [line.get_label() for line in lines] == ["low", "mid", "top"]
    mid = three_classes.history_["class"] == "mid"
    np.testing.assert_array_equal(lines[1].get_ydata(), three_classes.history_["risk"][mid])


def test_votes_have_one_history_whatever_the_classes(ax):
    X = np.arange(30.0)[:, None]
    model = ARBoostClassifier(n_estimators=5).fit(X, np.repeat(["low", "mid", "top"], 10))
    (line,) = plots.plot_history(model, ax).lines
    np.testing.assert_array_equal(line.get_ydata(), model.history_["risk"])


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


def test_new_figures_leave_given_ones_alone(clf, ax):
    assert plots.plot_history(clf) is not ax
    assert len(ax.lines) == 0


def test_missing_matplotlib_is_named(clf, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'properboost\[plots\]'"):
        plots.plot_history(clf)


def test_a_pair_is_a_field_a_cell(ax):
    X, y = table()
    X[:5, 2] = np.nan
    model = ProperBoostClassifier(n_estimators=5, interactions=[(0, 2), (0, 1)]).fit(X, y)
    function = model.pair_function(2, 0, class_=False)
    assert plots.plot_pair_function(model, 2, 0, False, ax) is ax
    [image] = ax.images
    drawn = np.ma.filled(image.get_array(), np.nan)
    np.testing.assert_array_equal(drawn, np.where(function.weights > 0, function.values, np.nan))
    for axis, levels in zip((ax.yaxis, ax.xaxis), function.levels, strict=True):
        words = [label.get_text() for label in axis.get_ticklabels()]
        assert len(words) == len(levels)
        assert words[0] == levels[0].replace(f"{axis.get_label_text()} ", "")
        assert words[-1] == "missing"
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("feature 0", "feature 2")
    assert ax.get_title() == "feature 0 and feature 2"
    with pytest.raises(ValueError, match="no look-up table for 1 and 2"):
        plots.plot_pair_function(model, 1, 2)


# -- losses ---------------------------------------------------------------------------------------

PANELS = [
    "loss", "weight", "curvature", "probability", "minimum_risk", "regularization_strength",
    "binding", "link",
]  # fmt: skip


@pytest.mark.parametrize("n_panels", [1, 3, 4, 8])
def test_losses_are_drawn_as_they_are(n_panels):
    several = [
        losses.GLog(2.0),
        losses.Savage(),
        losses.from_risk(lambda p: p * (1 - p), losses.GLog().link),
    ]
    axes = plots.plot_loss(several, PANELS[:n_panels], margins=(-3.0, 2.0))
    assert len(axes) == n_panels
    for ax, panel in zip(axes, PANELS, strict=False):
        for line, loss in zip(ax.lines, several, strict=True):
            at, values = line.get_data()
            np.testing.assert_array_equal(np.isnan(values), ~np.isfinite(getattr(loss, panel)(at)))
            drawn = np.isfinite(values)
            np.testing.assert_array_equal(values[drawn], getattr(loss, panel)(at)[drawn])
            ends = (0.0, 1.0) if panel in ("minimum_risk", "link") else (-3.0, 2.0)
            assert (at[0], at[-1]) == ends
    axes[0].figure.draw_without_rendering()


def names_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_legends_tell_losses_from_each_other(ax):
    (ax,) = plots.plot_loss([losses.GLog(), losses.LeastSquares()], ["loss"], [ax])
    assert names_of(ax) == ["glog", "least squares"]
    (ax,) = plots.plot_loss([losses.GLog(), losses.GLog(2.0)], ["loss"])
    assert names_of(ax) == ["GLog(gain=1.0)", "GLog(gain=2.0)"]
    (ax,) = plots.plot_loss([losses.Alpha(0.1), losses.Alpha(0.2)], ["loss"])
    assert names_of(ax) == ["Alpha(alpha=0.1, gain=1.0)", "Alpha(alpha=0.2, gain=1.0)"]
    (ax,) = plots.plot_loss({"mine": losses.GLog(), "yours": losses.Savage()}, ["loss"])
    assert names_of(ax) == ["mine", "yours"]
    (ax,) = plots.plot_loss(losses.GLog(), ["binding"])
    assert ax.get_legend() is None
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("margin v", "binding function beta(v)")


def test_curves_have_no_line_where_there_is_no_probability(ax):
    (ax,) = plots.plot_loss(
        [losses.Hinge(), losses.LeastSquares()],
        ["probability"],
        [ax],
        limits={"probability": (0, 2)},
    )
    hinge, squares = (np.isfinite(line.get_ydata()) for line in ax.lines)
    assert not hinge.any()
    np.testing.assert_array_equal(squares, np.abs(ax.lines[1].get_xdata()) <= 1.0)
    assert ax.get_ylim() == (0.0, 2.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"panels": ["risk"]}, "must be one of 'loss', .*; got 'risk'"),
        ({"panels": []}, "panels must not be empty"),
        ({"margins": (1.0, 1.0)}, "margins must rise; got"),
        ({"axes": []}, "axes must be 4, one for each panel; got 0"),
    ],
)
def test_panels_of_losses_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        plots.plot_loss(losses.GLog(), **arguments)


# -- critical differences -------------------------------------------------------------------------


def test_critical_differences(ax):
    """Ranks are the axis, and a bar joins the two methods that are alike."""
    pytest.importorskip("scikit_posthocs")
    random = np.random.default_rng(0)
    scores = random.normal(size=(3, 40)) + np.array([0.0, 0.1, 5.0])[:, None]
    assert plots.plot_critical_differences(scores, ["one", "two", "far"], ax) is ax
    words = sorted(text.get_text() for text in ax.texts)
    assert [word.strip("0123456789.() ") for word in words] == ["far", "one", "two"]
    ranks = plots.average_ranks(scores)
    marks = [c.get_offsets()[0, 0] for c in ax.collections if len(c.get_offsets()) == 1]
    np.testing.assert_allclose(np.sort(marks), np.sort(ranks))
    bars = [line.get_xdata() for line in ax.lines if len(set(line.get_ydata())) == 1]
    assert any(np.allclose(np.sort(bar)[[0, -1]], np.sort(ranks[:2])) for bar in bars)
    assert "40 data sets" in ax.get_title()
    # The other way round the last is the best.
    (first, *_) = plots.average_ranks(scores, greater_is_better=True)
    other = plots.plot_critical_differences(scores, ["one", "two", "far"], greater_is_better=True)
    marks = [c.get_offsets()[0, 0] for c in other.collections if len(c.get_offsets()) == 1]
    assert np.min(np.abs(np.array(marks) - first)) < 1e-12


def test_missing_posthocs_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "scikit_posthocs", None)
    with pytest.raises(ImportError, match=r"pip install 'properboost\[comparisons\]'"):
        plots.plot_critical_differences(np.eye(3), "abc")


@pytest.mark.parametrize(
    ("scores", "names", "alpha", "message"),
    [
        (np.eye(3), ["a", "b"], 0.05, "names must be 3, no two equal; got"),
        (np.eye(3), ["a", "b", "a"], 0.05, "names must be 3, no two equal"),
        (np.eye(3)[:1], ["a"], 0.05, "scores must be of two methods and sets at least"),
        (np.eye(3), "abc", 1.0, "alpha must be above 0 and below 1; got 1"),
    ],
)
def test_what_critical_differences_need(scores, names, alpha, message):
    with pytest.raises(ValueError, match=message):
        plots.plot_critical_differences(scores, names, alpha=alpha)
