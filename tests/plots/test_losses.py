"""Plots of losses show the losses' values."""

import numpy as np
import pytest

from helpers.pictures import names_of
from properboost import losses, plots

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


def test_legends_distinguish_losses(ax):
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
