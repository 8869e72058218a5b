"""Plots of finished searches: the families, their scores, and what each of them cost."""

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from properboost.parameters.kinds import Scoring
from properboost.plots.canvas import GUIDE, LINE, SECOND_LINE, find_axes, set_words, write
from properboost.scoring import name_score, spell_score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_search"]


class _Search(Protocol):
    """The part of a `properboost.ProperBoostClassifierCV` that plots show."""

    @property
    def scoring(self) -> Scoring: ...
    @property
    def family_(self) -> str | None: ...
    @property
    def family_results_(self) -> dict[str, Any] | None: ...


def plot_search(search: _Search, ax: "Axes | None" = None) -> "Axes":
    """Plot how far each family of a search is behind the best, and what it cost.

    Parameters
    ----------
    search : ProperBoostClassifierCV
        A fitted search that compared families.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        With a point per family, the best at the top.  A bar is a standard error of the difference
        over the splits; with one split there are none.  The family that the search chose has
        another colour.  The words at the right are the family's candidates and seconds.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    TypeError
        If `search` is not a fitted search.
    ValueError
        If the search compared no families.
    """
    if not hasattr(search, "family_results_"):
        raise TypeError(f"search must be a fitted ProperBoostClassifierCV; got {search!r}")
    families = search.family_results_
    if families is None:
        raise ValueError("search must have compared families; it has effort=None")
    order = np.argsort(families["behind"], kind="stable")
    names = [str(families["family"][k]) for k in order]
    behind, errors = families["behind"][order], np.nan_to_num(families["behind_error"][order])
    ax = find_axes(ax)
    ax.axvline(0.0, color=GUIDE, linewidth=0.8)
    for place, (name, distance, error) in enumerate(zip(names, behind, errors, strict=True)):
        color = SECOND_LINE if name == search.family_ else LINE
        ax.errorbar(distance, place, xerr=error or None, fmt="o", color=color, capsize=3)
    set_words(
        ax, "y", [f"{name} (chosen)" if name == search.family_ else name for name in names], 40
    )
    ax.set_ylim(len(names) - 0.5, -0.5)
    score = name_score(search.scoring).removeprefix("neg_")
    ax.set_xlabel(f"{write(spell_score(score))} behind the best")
    _write_costs(ax, [_describe_cost(families, k) for k in order])
    return ax


def _describe_cost(families: dict[str, Any], k: int) -> str:
    n = int(families["candidates"][k])
    return f"{n} candidate{'s' * (n != 1)}, {families['seconds'][k]:.2g} s"


def _write_costs(ax: "Axes", costs: list[str]) -> None:
    """Write a line for each family on the right."""
    right = ax.twinx()
    right.set_ylim(ax.get_ylim())
    set_words(right, "y", costs)
    right.tick_params(axis="y", length=0)
