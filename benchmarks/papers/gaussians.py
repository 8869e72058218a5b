"""Figures 9 and 10 of the BoostLR paper: what the gain does on two Gaussians, by sample size.

    python -m benchmarks.papers.gaussians              # some minutes
    python -m benchmarks.papers.gaussians --repeats 4  # a quick look
    python -m benchmarks.papers.gaussians --picture out/gaussians.png

Two Gaussian classes with identity covariance and a Bayes error of 30%; greedy BoostLR with GLog,
real response and guarded steps.  The paper trains on 5, 40 and 1,000 rows a class, with gains from
0.5 to 1,000, and measures the mean squared error of the probabilities on 10,000 rows whose true
probabilities are known (eq. 54).  Here everything is the mean over `--repeats` training samples.

*Figure 9*: that error by number of rounds and by gain.  *Figure 10*: the gain of least log loss in
5-fold cross-validation, the number of rounds being fixed (`--rounds`; the paper does not say at
how many), by number of training rows: the median and the quartiles over the samples.

The paper does not say how its histograms were cut, and it matters.  Three ways are shown:

- "16 bins": at most 16 bins, whatever the sample; 10 rows have a bin each.  This is the one that
  has all that the paper describes: an error of some 20% after two rounds for 10 rows, overfitting
  for 80, none to speak of for 2,000.
- "255 bins": as many as the library can have, so that 80 rows, too, have a bin each.
- "default": what the library does if nothing is said, a bin for every 100 rows but never fewer
  than four.

For Figure 10 the bins are cut again for each fold, from its training rows.
ProperBoostClassifierCV cuts them once, from all rows, without their labels; its gains, in the
library's default setting, are the line "default, searched".  (Where every row has a bin of its own,
bins cut from all rows tell nothing about the held-out ones, so that all gains are as good.)

Nothing is timed, so the machine need not be idle.
"""

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from benchmarks.lib.cli import make_plain_parser
from properboost import ProperBoostClassifier
from properboost.datasets import make_two_gaussians
from properboost.reproduce.pinned import make_search, make_tables

SETTINGS: dict[str, dict[str, Any]] = {
    "16 bins": {"max_bins": 16, "rows_per_bin": None},
    "255 bins": {"max_bins": 255, "rows_per_bin": None},
    "default": {"max_bins": 255, "rows_per_bin": 100},
}
SIZES = (10, 80, 2_000)
MORE_SIZES = (10, 20, 40, 80, 160, 320, 640, 1_280, 2_000)
GAINS = tuple(0.5 * 2.0**k for k in range(12))  # 0.5 to 1,024
SHOWN_ROUNDS = (1, 2, 5, 10, 20, 50, 100)
TEST_ROWS = 10_000
FOLDS = 5

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Course:
    """The mean error of one size, (n_gains, n_rounds), and the gain that is best at each round."""

    size: int
    error: Array

    def best_gain(self, rounds: int) -> float:
        return GAINS[int(self.error[:, rounds - 1].argmin())]


def run_figure_9(setting: dict[str, Any], repeats: int, rounds: int) -> list[Course]:
    """Measure the error of the probabilities by size, gain and round."""
    X_test, _, true = make_two_gaussians(TEST_ROWS, random_state=2**31, return_probability=True)
    courses = []
    for size in SIZES:
        total = np.zeros((len(GAINS), rounds))
        for seed in range(repeats):
            X, y = make_two_gaussians(size, random_state=seed)
            for row, gain in zip(total, GAINS, strict=True):
                model = make_model(gain, rounds, setting).fit(X, y)
                staged = model.staged_predict_proba(X_test)
                errors = [np.mean((p[:, 1] - true) ** 2) for p in staged]
                # A model that has nothing left to learn stops, and stays as it is.
                row += np.concatenate([errors, np.full(rounds - len(errors), errors[-1])])
        courses.append(Course(size, total / repeats))
    return courses


def run_figure_10(setting: dict[str, Any], repeats: int, rounds: int) -> Array:
    """Return the cross-validated gains, (n_sizes, n_repeats), with bins cut fold by fold."""
    found = np.empty((len(MORE_SIZES), repeats))
    for size, row in zip(MORE_SIZES, found, strict=True):
        for seed in range(repeats):
            X, y = make_two_gaussians(size, random_state=seed)
            loss = np.zeros(len(GAINS))
            for train, test in StratifiedKFold(FOLDS).split(X, y):
                for k, gain in enumerate(GAINS):
                    model = make_model(gain, rounds, setting).fit(X[train], y[train])
                    loss[k] += log_loss(y[test], model.predict_proba(X[test]), labels=[0, 1])
            row[seed] = GAINS[len(GAINS) - 1 - int(loss[::-1].argmin())]  # of ties the largest
    return found


def run_search(repeats: int, rounds: int) -> Array:
    """Return the same as ProperBoostClassifierCV finds it, which cuts bins once, from all rows."""
    found = np.empty((len(MORE_SIZES), repeats))
    for size, row in zip(MORE_SIZES, found, strict=True):
        for seed in range(repeats):
            search = make_search(
                loss="glog",
                gains=GAINS,
                cv=FOLDS,
                selection="greedy",
                n_estimators=rounds,
                refit=False,
                n_jobs=1,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of a gain at the end of GAINS
                row[seed] = search.fit(*make_two_gaussians(size, random_state=seed)).gain_
    return found


def make_model(gain: float, rounds: int, setting: dict[str, Any]) -> ProperBoostClassifier:
    return make_tables(
        loss="glog", gain=gain, selection="greedy", n_estimators=rounds, n_jobs=1, **setting
    )


def print_figure_9(name: str, courses: Sequence[Course]) -> None:
    print(f"\nFigure 9, {name}: mean squared error of the probabilities (%)")
    print(
        f"{'rows':>6}{'gain':>9}" + "".join(f"{f'T={t}':>8}" for t in SHOWN_ROUNDS) + "    least at"
    )
    for course in courses:
        for gain, error in list(zip(GAINS, course.error, strict=True))[::2]:
            numbers = "".join(f"{100 * error[t - 1]:8.2f}" for t in SHOWN_ROUNDS)
            print(f"{course.size:6,}{gain:9g}{numbers}    T={error.argmin() + 1}")
        best = "".join(f"{course.best_gain(t):8g}" for t in SHOWN_ROUNDS)
        print(f"{course.size:6,}{'best':>9}{best}")


def print_figure_10(name: str, found: Array, rounds: int) -> None:
    print(f"\nFigure 10, {name}: cross-validated gain, {rounds} rounds")
    print(f"{'rows':>6}{'median':>9}{'quartiles':>18}")
    for size, gains in zip(MORE_SIZES, found, strict=True):
        low, middle, high = np.quantile(gains, [0.25, 0.5, 0.75])
        print(f"{size:6,}{middle:9.3g}{f'{low:.3g} to {high:.3g}':>18}")


def print_claims(courses: Sequence[Course], found: Array) -> None:
    """Say what the paper says, and whether it is so here."""
    small = courses[0]
    low, high = small.error[0], small.error[GAINS.index(16.0)]
    falls = [
        all(a.best_gain(t) >= b.best_gain(t) for a, b in itertools.pairwise(courses))
        for t in SHOWN_ROUNDS
    ]
    strictly = [courses[0].best_gain(t) > courses[-1].best_gain(t) for t in SHOWN_ROUNDS]
    medians = np.median(found, axis=1)
    print(
        f"  10 rows, gain 0.5: least error after round {low.argmin() + 1}, "
        f"gain 16: after round {high.argmin() + 1}\n"
        f"  10 rows, 2 rounds: {low[1]:.1%} at gain 0.5, "
        f"{small.error[:, 1].min():.1%} at the best gain\n"
        f"  best gain never rises with the rows at {sum(falls)} of {len(falls)} numbers of rounds, "
        f"and falls from 10 to 2,000 at {sum(strictly)}\n"
        f"  cross-validated gain: median {medians[0]:.3g} at 10 rows, {medians[3]:.3g} at 80, "
        f"{medians[-1]:.3g} at 2,000; rank correlation with the rows "
        f"{np.corrcoef(np.argsort(np.argsort(medians)), np.arange(len(medians)))[0, 1]:+.2f}"
    )


def draw(
    courses: Sequence[Course],
    longest: int,
    gains: dict[str, Array],
    rounds: int,
    path: Path,
) -> None:
    """Draw Figure 9 with 16 bins, and Figure 10."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 11), layout="constrained", dpi=110)
    upper, lower = figure.subfigures(2, 1, height_ratios=[2.0, 1.0])
    grid = upper.subplots(2, len(courses), sharey="row")
    palette = make_colours(len(GAINS[::2]))
    for column, course in zip(grid.T, courses, strict=True):
        by_round, by_gain = column
        for colour, gain, error in zip(palette, GAINS[::2], course.error[::2], strict=True):
            by_round.plot(np.arange(1, longest + 1), error, color=colour, label=f"gain {gain:g}")
        by_round.set_title(f"Figure 9: {course.size:,} rows, 16 bins")
        by_round.set_xlabel("rounds T")
        by_round.set_xscale("log")
        by_round.set_xticks(SHOWN_ROUNDS, [str(t) for t in SHOWN_ROUNDS])
        by_round.minorticks_off()
        for colour, t in zip(make_colours(len(SHOWN_ROUNDS)), SHOWN_ROUNDS, strict=True):
            by_gain.plot(GAINS, course.error[:, t - 1], color=colour, label=f"T = {t}")
            best = course.best_gain(t)
            by_gain.plot([best], [course.error[:, t - 1].min()], "o", color=colour, ms=4)
        by_gain.set_xlabel("gain (dots: the best)")
        by_gain.set_xscale("log")
    for ax in grid.flat:
        ax.grid(alpha=0.3)
        ax.set_ylim(bottom=0.0)
    for row in grid:
        row[0].set_ylabel("squared error of probability")
        row[-1].legend(fontsize=8, ncols=2)  # where there is room
    ax = lower.subplots()
    colours = ("#0072B2", "#D55E00", "#009E73", "#000000")
    for colour, (name, found) in zip(colours, gains.items(), strict=True):
        low, middle, high = np.quantile(found, [0.25, 0.5, 0.75], axis=1)
        ax.plot(MORE_SIZES, middle, "o-", color=colour, label=name)
        ax.fill_between(MORE_SIZES, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(MORE_SIZES, [f"{size:,}" for size in MORE_SIZES])
    ax.minorticks_off()
    ax.set_xlabel("training rows")
    ax.set_ylabel("cross-validated gain")
    ax.set_title(f"Figure 10: median and quartiles of the samples, {rounds} rounds")
    ax.grid(alpha=0.3)
    ax.legend()
    for axes in (*grid[1], ax):
        axis = axes.yaxis if axes is ax else axes.xaxis
        axis.set_major_formatter(lambda gain, _: f"{gain:,g}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"\nThe picture is in {path}.")


def make_colours(n: int) -> Any:
    """Return colours from dark to light that stay different in grey."""
    from matplotlib import colormaps

    return colormaps["viridis"](np.linspace(0.0, 0.9, n))


def main() -> None:
    parser = make_plain_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=30, help="training samples of each size")
    parser.add_argument("--rounds", type=int, default=50, help="of Figure 10; Figure 9 has 100")
    parser.add_argument("--picture", type=Path, help="file to draw into; needs matplotlib")
    arguments = parser.parse_args()
    _, _, true = make_two_gaussians(TEST_ROWS, random_state=2**31, return_probability=True)
    print(f"Predicting 1/2 for every row: {np.mean((true - 0.5) ** 2):.1%}")
    results: dict[str, tuple[list[Course], Array]] = {}
    longest = SHOWN_ROUNDS[-1]
    for name, setting in SETTINGS.items():
        courses = run_figure_9(setting, arguments.repeats, longest)
        found = run_figure_10(setting, arguments.repeats, arguments.rounds)
        results[name] = courses, found
        print_figure_9(name, courses)
        print_figure_10(name, found, arguments.rounds)
        print_claims(courses, found)
    searched = run_search(arguments.repeats, arguments.rounds)
    print_figure_10("default, searched", searched, arguments.rounds)
    if arguments.picture is not None:
        gains = {name: found for name, (_, found) in results.items()}
        gains["default, searched"] = searched
        draw(results["16 bins"][0], longest, gains, arguments.rounds, arguments.picture)


if __name__ == "__main__":
    main()
