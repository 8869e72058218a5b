"""Bars of errors, as in Figures 7 and 8."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#999999", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#CC79A7", "#D55E00")

Errors = Mapping[str, Mapping[str, float]]
"""Errors by set and method, in percent."""


def draw_bars(figure: "Figure", seeds: Sequence[Errors]) -> None:
    """Draw the mean error of each method, with its standard deviation, by set."""
    figure.set_size_inches(9.0, 4.2)
    ax = figure.subplots()
    put_bars(ax, seeds)
    ax.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def put_bars(ax: "Axes", seeds: Sequence[Errors]) -> None:
    """Draw the bars into axes."""
    sets = list(seeds[0])
    methods = list(seeds[0][sets[0]])
    width = 0.84 / len(methods)
    colours = COLOURS if len(methods) == len(COLOURS) else (*COLOURS[: len(methods) - 1], "#D55E00")
    for k, method in enumerate(methods):
        errors = np.array([[seed[name][method] for name in sets] for seed in seeds])
        at = np.arange(len(sets)) + (k - (len(methods) - 1) / 2) * width
        ax.bar(
            at, errors.mean(axis=0), width, yerr=errors.std(axis=0),
            label=method, color=colours[k], error_kw={"lw": 0.8},
        )  # fmt: skip
    ax.set_xticks(np.arange(len(sets)), sets, fontsize=8)
    ax.set_ylabel("test error, percent")
