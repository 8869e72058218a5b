"""Plots that compare two models, or methods over data sets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from properboost.comparison.result import Comparison
from properboost.extras import import_extra
from properboost.metrics import average_ranks
from properboost.parameters import checks
from properboost.plots.canvas import ERROR, GUIDE, LINE, SECOND_LINE, find_axes, set_words, write
from properboost.scoring import spell_score
from properboost.visible import tell_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_comparison", "plot_critical_differences"]


def plot_comparison(comparison: Comparison, ax: "Axes | None" = None) -> "Axes":
    """Plot the differences of two models' scores, with intervals.

    Each score is a loss here, the AUC as 1 - AUC, and its difference is in percent of the first
    model's loss.  Intervals beyond 0 have the colour of the model that is better.

    Parameters
    ----------
    comparison : Comparison
        The result of `properboost.compare`.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    TypeError
        If `comparison` is no such result.
    """
    if not isinstance(comparison, Comparison):
        raise TypeError(f"comparison must be a result of properboost.compare; got {comparison!r}")
    ax = find_axes(ax)
    first, second = (write(name, 28) for name in comparison.names)
    colors = dict(zip(comparison.names, (LINE, SECOND_LINE), strict=True))
    ax.axvline(0.0, color=GUIDE, linewidth=0.8)
    for place, (score, contrast) in enumerate(comparison.contrasts.items()):
        before, _, difference = contrast
        sign, loss = (-1.0, 1.0 - before.value) if score == "roc_auc" else (1.0, before.value)
        ends = np.array([difference.low, difference.value, difference.high])
        low, middle, high = np.sort(100.0 * sign * ends / loss) if loss > 0.0 else 3 * [np.nan]
        color = colors.get(comparison.find_better(score), ERROR)
        ax.plot([low, high], [place, place], color=color, linewidth=2)
        ax.plot(middle, place, marker="o", color=color)
    words = [
        f"1 - {spell_score(name)}" if name == "roc_auc" else spell_score(name)
        for name in comparison.contrasts
    ]
    set_words(ax, "y", words)
    ax.set_ylim(len(words) - 0.5, -0.5)
    level = f"{comparison.confidence_level:.3g}".removeprefix("0")
    ax.set_xlabel(f"difference in % of {first}, {level} intervals")
    ax.set_title(f"left: {second} is better; right: {first} is better", fontsize="medium")
    return ax


def plot_critical_differences(
    scores: ArrayLike,
    names: Sequence[str],
    ax: "Axes | None" = None,
    *,
    greater_is_better: bool = False,
    alpha: float = 0.05,
) -> "Axes":
    """Plot the mean ranks of methods over data sets, and bars over those that may differ by chance.

    Methods that a bar joins do not differ by Nemenyi's test (Demsar 2006 [1]_, figure 1).
    scikit-posthocs draws the plot: ``pip install 'properboost[comparisons]'``.

    Parameters
    ----------
    scores : array-like of shape (n_methods, n_sets)
        The score of each method on each data set, as in `properboost.metrics.average_ranks`.
    names : sequence of str
        The methods' names, no two equal.
    ax : matplotlib axes, optional
        Where to draw.
    greater_is_better : bool, default=False
        Whether a larger score is a better one.
    alpha : float, default=0.05
        The level of the test, above 0 and below 1.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib or scikit-posthocs is missing.
    ValueError
        If there are fewer than two methods or data sets, or names are not as described.

    References
    ----------
    .. [1] Demsar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7,
       1-30.
    """
    ranks = average_ranks(scores, greater_is_better=greater_is_better)
    table = checks.numbers_of("scores", scores)
    if min(table.shape) < 2:
        raise ValueError(f"scores must be of two methods and sets at least; got {table.shape}")
    if len(names) != len(ranks) or len(set(names)) < len(names):
        raise ValueError(f"names must be {len(ranks)}, no two equal; got {list(names)!r}")
    checks.level("alpha", alpha)
    ax = find_axes(ax)
    posthocs = import_extra("scikit_posthocs", "critical differences need", "comparisons")
    p_values = posthocs.posthoc_nemenyi_friedman(table.T)
    labels = tell_apart(write(name, 28) for name in names)
    p_values.index = p_values.columns = labels
    posthocs.critical_difference_diagram(
        dict(zip(labels, ranks.tolist(), strict=True)), p_values, alpha=alpha, ax=ax
    )
    ax.set_title(f"mean rank over {table.shape[1]} data sets; bars join what may be chance")
    return ax
