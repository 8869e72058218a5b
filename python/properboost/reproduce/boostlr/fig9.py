"""Figure 9: the error of probabilities by rounds, gain and number of rows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from properboost.datasets import make_two_gaussians
from properboost.reproduce.boostlr.histograms import list_histograms, setting_of
from properboost.reproduce.boostlr.two_gaussians import GAINS, fit_glog
from properboost.reproduce.item import Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, at_least, at_most, read_off

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {"10 rows": 5, "80 rows": 40, "2,000 rows": 1_000}
"""Rows of each class."""

ROUNDS = 100
TEST_ROWS = 10_000
SHOWN_GAINS = (0.5, 8.0, 64.0)
SHOWN_ROUNDS = (2, 10, 50, 100)

Array = NDArray[np.float64]


def measure(piece: Piece) -> Record:
    """Return the error in percent of all gains after each round."""
    setting = setting_of(piece.reading)
    per_class = SIZES[piece.part]
    X, y = make_two_gaussians((per_class, per_class), random_state=piece.seed)
    X_test, _, true = make_two_gaussians(
        TEST_ROWS, random_state=2**31 + piece.seed, return_probability=True
    )
    bins = setting.cut(np.vstack([X, X_test]), slice(len(X)), [False, False])
    curves = []
    for gain in GAINS:
        model = fit_glog(bins[: len(X)], y, gain, ROUNDS, setting)
        staged = model.staged_predict_proba(bins[len(X) :])
        curve = [100.0 * float(np.mean((p[:, 1] - true) ** 2)) for p in staged]
        # A model with nothing left to learn stops, and its error stays.
        curve += [curve[-1]] * (ROUNDS - len(curve))
        curves.append([round(error, 4) for error in curve])
    return {"error": curves}


def read_errors(seed: Seed, part: str) -> Array:
    """Return the error of a size, by gain and round."""
    return np.array(seed[part]["error"])


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the numbers that the text mentions."""
    del reading
    errors = {part: read_errors(seed, part) for part in SIZES}
    small = errors["10 rows"]
    numbers: dict[Place, float] = {
        ("10 rows, 2 rounds", "error at gain 0.5, %"): small[0, 1],
        ("10 rows, 2 rounds", "error at the best gain, %"): small[:, 1].min(),
        ("10 rows, gain 0.5", "round of least error"): int(small[0].argmin()) + 1,
    }
    for part in SIZES:
        for gain in SHOWN_GAINS:
            curve = errors[part][GAINS.index(gain)]
            numbers[f"{part}, gain {gain:g}", "rise after the least, points"] = (
                curve[-1] - curve.min()
            )
    for rounds in SHOWN_ROUNDS:
        gains = {
            part: np.log2(GAINS[error[:, rounds - 1].argmin()]) for part, error in errors.items()
        }
        for fewer, more in (("10 rows", "80 rows"), ("80 rows", "2,000 rows")):
            numbers[f"best gain, {rounds} rounds", f"{fewer} over {more}, powers of 2"] = (
                gains[fewer] - gains[more]
            )
    return numbers


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the mean error over rounds for several gains, and over gains for several rounds."""
    from matplotlib import colormaps

    figure.set_size_inches(12, 7.5)
    grid = figure.subplots(2, len(SIZES), sharey=True)
    palette = colormaps["viridis"]
    shown = (1, 2, 5, 10, 20, 50, 100)
    for (by_round, by_gain), part in zip(grid.T, SIZES, strict=True):
        errors = np.mean([read_errors(seed, part) for seed in seeds], axis=0)
        for k in range(0, len(GAINS), 2):
            colour = palette(0.9 * k / len(GAINS))
            by_round.plot(range(1, ROUNDS + 1), errors[k], color=colour, label=f"gain {GAINS[k]:g}")
        for k, rounds in enumerate(shown):
            colour = palette(0.9 * k / len(shown))
            by_gain.plot(GAINS, errors[:, rounds - 1], color=colour, label=f"T = {rounds}")
        by_round.set_title(part)
        by_round.set_xlabel("rounds T")
        by_round.set_xscale("log")
        by_round.set_xticks(shown, [str(rounds) for rounds in shown])
        by_round.minorticks_off()
        by_gain.set_xlabel("gain")
        by_gain.set_xscale("log")
        by_gain.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    for row in grid:
        row[0].set_ylabel("squared error of probability, %")
        row[-1].legend(fontsize=8, ncols=2)  # where there is room
    for ax in grid.flat:
        ax.grid(alpha=0.3)
        ax.set_ylim(bottom=0.0)


ITEM = Item(
    title="the error of the probabilities of two Gaussians, by rounds, gain and number of rows",
    units="mean squared errors of the probability in percent; powers of 2 between gains",
    protocol=(
        "GLog on 5, 40 and 1,000 rows of each class, with 12 gains from 0.5 to 1,024 and up to "
        "100 rounds, tested on 10,000 rows whose probabilities are known (eq. 54).  The figure's "
        "numbers are those in the text.  “No overfitting” is read as a rise of less than half a "
        "point after the least error."
    ),
    published={
        ("10 rows, 2 rounds", "error at gain 0.5, %"): read_off(17.5, 22.5),
        ("10 rows, 2 rounds", "error at the best gain, %"): read_off(4.5, 5.5),
        ("10 rows, gain 0.5", "round of least error"): at_most(2, "even in the earliest"),
    }
    | {
        (f"{part}, gain {gain:g}", "rise after the least, points"): at_least(0, "overfits")
        for part in ("10 rows", "80 rows")
        for gain in SHOWN_GAINS
    }
    | {
        (f"2,000 rows, gain {gain:g}", "rise after the least, points"): at_most(0.5, "none")
        for gain in SHOWN_GAINS
    }
    | {
        (f"best gain, {rounds} rounds", f"{sizes}, powers of 2"): at_least(0, "larger")
        for rounds in SHOWN_ROUNDS
        for sizes in ("10 rows over 80 rows", "80 rows over 2,000 rows")
    },
    experiment=Experiment("boostlr-fig9", dict.fromkeys(SIZES, ()), measure, seconds=2, seeds=30),
    tabulate=tabulate,
    readings=list_histograms(30),
    compared="none",
    draw=draw,
)
