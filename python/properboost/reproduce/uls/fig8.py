"""Figure 8: cumulative margin distributions, and section 5's statements on those of mu."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from properboost.reproduce.item import Item, Record, Seed
from properboost.reproduce.published import at_most, read_off
from properboost.reproduce.uls.surrogates import (
    BY_IMPURITY,
    LOGISTIC,
    MATSUSHITA,
    MU,
    NOT_RESCALED,
    SETTINGS,
    SURROGATES,
    THETAS,
    find_errors,
    find_p,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG = "l = 1, J = 50"
INNER = np.searchsorted(THETAS, [-0.9 - 1e-9, 0.9 - 1e-9])
"""The range of margins that are near neither -1 nor 1."""


def count_inner(record: Record, surrogate: str) -> float:
    """Return the share (%) of rows whose margins are neither near -1 nor near 1."""
    low, high = (record[surrogate]["cmd"][k] for k in INNER)
    return float(high - low)


def is_stair(record: Record) -> bool:
    """Whether mu leaves inner margins to less than half as many rows as Matsushita's does."""
    return count_inner(record, MU) < 0.5 * count_inner(record, MATSUSHITA)


def tabulate(seed: Seed, reading: str) -> dict[tuple[str, str], float]:
    """Return the shares of domains, and the P values of mu against Matsushita's."""
    del reading
    errors = find_errors(seed, LONG)
    stairs = np.array([is_stair(record[LONG]) for record in seed.values()])
    best = errors[MU] < np.minimum(errors[MATSUSHITA], errors[LOGISTIC])
    numbers = {
        ("domains (%)", "mu's CMD nears piecewise constancy"): 100.0 * float(stairs.mean()),
        ("domains (%)", "mu's error is the least of the three"): 100.0 * float(best.mean()),
    }
    for setting in SETTINGS:
        errors = find_errors(seed, setting)
        worse = float(np.mean(errors[MU] - errors[MATSUSHITA])) > 0.0
        p = find_p(errors[MU], errors[MATSUSHITA])
        numbers["P of mu being beaten by Matsushita's", setting] = p / 2 if worse else 1.0 - p / 2
    return numbers


def mean_cmd(seeds: Sequence[Seed], domain: str, surrogate: str) -> NDArray[np.float64]:
    """Return a domain's distribution, averaged over the repetitions."""
    distributions = [seed[domain][LONG][surrogate]["cmd"] for seed in seeds]
    return np.asarray(np.mean(distributions, axis=0))


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the distributions of heart-cleve, as in panel (b)."""
    ax = figure.subplots()
    styles = {MATSUSHITA: (":", "#0072B2"), LOGISTIC: ("-", "#D55E00"), MU: ("--", "#009E73")}
    for surrogate, (style, colour) in styles.items():
        cmd = mean_cmd(seeds, "heart_cleveland", surrogate)
        width = 3.0 if surrogate == MATSUSHITA else 1.2  # two of the curves may be one
        ax.plot(THETAS, cmd, style, color=colour, lw=width, label=surrogate)
    ax.axvline(0.0, color="black", lw=0.6)
    ax.set_xlabel("margin theta")
    ax.set_ylabel("test rows with margins up to theta (%)")
    ax.set_title(f"heart_cleveland, {LONG}")
    ax.legend()


ITEM = Item(
    title="margins in generalisation: Matsushita's, the logistic surrogate, and mu = .99",
    units="% of the domains, and P values",
    protocol=(
        "The experiment of Figure 7.  A CMD of mu nears piecewise constancy here if it rises "
        "less than half as much as Matsushita's between margins of -0.9 and 0.9, at l = 1 and J "
        "= 50.  P is of Student's paired test, one-sided; equal errors have P = 1/2.  The "
        "figure's curves are not in the paper's text, but statements on all domains are in "
        "section 5."
    ),
    published={
        ("domains (%)", "mu's CMD nears piecewise constancy"): read_off(61.0, 71.0),
        ("domains (%)", "mu's error is the least of the three"): read_off(5.0, 15.0),
        ("P of mu being beaten by Matsushita's", "l = 2, J = 10"): at_most(1e-4, "<< 1e-4"),
        ("P of mu being beaten by Matsushita's", "l = 10, J = 20"): at_most(1e-4, "<< 1e-4"),
        ("P of mu being beaten by Matsushita's", "l = 1, J = 50"): at_most(1e-4, "<< 1e-4"),
    },
    experiment=SURROGATES,
    tabulate=tabulate,
    readings=(BY_IMPURITY, NOT_RESCALED),
    compared="none",
    draw=draw,
    missing={"glass, panel (a)": "the set is not available"},
)
