"""The cost of boosting by number of rows, features and rounds: is it linear in each?

    python -m benchmarks.engine.cost --out out/cost.png        # up to 1,000,000 x 50, 100 rounds
    python -m benchmarks.engine.cost --rows 20000 --repeats 1  # a quick look

The script times boosting alone, over codes that are made once.  It varies rows, features or rounds
from a tenth to all, with the other two whole.  A straight line is fitted to the logarithms of the
medians.  Its slope is 1 where the cost is proportional, less where a part of it is fixed (the row
pass of a round does not depend on the features), more where the data outgrow caches.

The points take turns, see `lib/race.py`.  Run it on an idle machine, see `peers/fit.py`.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.lib import engine
from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.data import Problem
from benchmarks.lib.libraries import Setting, make_properboost
from benchmarks.lib.race import (
    OURS,
    WORK,
    Clock,
    Contestant,
    Results,
    print_failures,
    print_others,
    print_table,
    race,
    spread,
)

POINTS = 6  # over a decade
AXES = ("rows", "features", "rounds")


class Point(NamedTuple):
    """The size of a fit."""

    rows: int
    features: int
    rounds: int

    @property
    def name(self) -> str:
        return f"{self.rows:,} x {self.features}, {self.rounds} rounds"


def find_points(whole: Point) -> dict[str, list[Point]]:
    """Return the points along each axis; the last of all three is the whole."""
    shares = np.geomspace(0.1, 1.0, POINTS)
    return {
        axis: [whole._replace(**{axis: round(share * getattr(whole, axis))}) for share in shares]
        for axis in AXES
    }


def make_contestants(
    setting: Setting, problem: Problem, axes: dict[str, list[Point]]
) -> Iterator[Contestant]:
    """Return a contestant for each point; those of one table share its codes."""
    points = sorted({point for points in axes.values() for point in points})
    # A guarded step may read the rows again, and how often depends on the data.
    model = make_properboost(setting, step="unit")
    trainings: dict[tuple[int, int], Any] = {}
    for point in points:
        table = point.rows, point.features
        if table not in trainings:
            X = np.ascontiguousarray(problem.X[: point.rows, : point.features])
            trainings[table] = engine.prepare(model, X, problem.y[: point.rows])
        turn = partial(boost, model, trainings[table], point.rounds)
        yield Contestant(f"{OURS}: {point.name}", turn)


def boost(model: Any, training: Any, rounds: int, clock: Clock) -> None:
    """Boost from the first round on."""
    with clock(WORK):
        boosting = engine.start(model, training)
        boosting.advance(rounds)
    engine.check_rounds(boosting, rounds)


def fit_line(x: list[int], seconds: list[float]) -> tuple[float, float]:
    """Return slope and intercept of the line through the logarithms."""
    slope, intercept = np.polyfit(np.log(x), np.log(seconds), 1)
    return float(slope), float(intercept)


def report(results: Results, axes: dict[str, list[Point]]) -> dict[str, float]:
    """Print the times along each axis; print and return the slopes."""
    slopes = {}
    for axis, points in axes.items():
        lines, x, y = [], [], []
        for point in points:
            turns = results[f"{OURS}: {point.name}"]
            if turns.failure:
                continue
            x.append(getattr(point, axis))
            y.append(turns.median(WORK))
            lines.append([f"{x[-1]:,}", spread(turns.seconds(WORK))])
        print_table([axis, "seconds (min-max)"], lines)
        slopes[axis] = fit_line(x, y)[0] if len(x) > 1 else float("nan")
        print(f"slope {slopes[axis]:.3f}\n")
    print_failures(results)
    print_others(results)
    return slopes


def draw(results: Results, axes: dict[str, list[Point]], title: str, path: Path) -> None:
    """Draw a panel for each axis: medians, from smallest to largest, and the line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.2), layout="constrained", dpi=110)
    for ax, (axis, points) in zip(figure.subplots(1, len(axes)), axes.items(), strict=True):
        known = [p for p in points if not results[f"{OURS}: {p.name}"].failure]
        x = [getattr(p, axis) for p in known]
        turns = [results[f"{OURS}: {p.name}"].seconds(WORK) for p in known]
        low, middle, high = np.quantile(turns, [0.0, 0.5, 1.0], axis=1)
        slope, intercept = fit_line(x, middle)
        ax.errorbar(x, middle, [middle - low, high - middle], fmt="o", capsize=3, color="#0072B2")
        line = np.exp(intercept) * np.power(x, slope)
        ax.plot(x, line, color="#D55E00", label=f"slope {slope:.3f}")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xticks(x, [f"{value:,}" for value in x], rotation=30)
        ax.minorticks_off()
        ax.set_xlabel(axis)
        ax.grid(alpha=0.3)
        ax.legend()
    figure.axes[0].set_ylabel("seconds of boosting")
    figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"The picture is in {path}.")


def main() -> None:
    """Race all points."""
    parser = make_parser(__doc__)
    parser.add_argument("--out", type=Path, help="file to draw into; needs matplotlib")
    arguments, record = start(parser)
    settings = blocks(Setting(rows=1_000_000), arguments)
    if arguments.out is not None and len(settings) > 1:
        parser.error("--out is one picture: give one number of bins and of threads")
    for setting in settings:
        title = f"{setting.bins} bins, {setting.threads} threads"
        print_heading(title, repeats=arguments.repeats)
        axes = find_points(Point(setting.rows, setting.columns, setting.rounds))
        contestants = list(make_contestants(setting, setting.load(), axes))
        results = race(contestants, arguments.repeats)
        report(results, axes)
        if arguments.out is not None:
            draw(results, axes, title, arguments.out)
        record.add("cost", setting, results)


if __name__ == "__main__":
    main()
