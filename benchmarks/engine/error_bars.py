"""The coverage of error bars: simulations of two additive problems.

Each simulation draws new rows from a known source.  A shape function is evaluated on a grid of
values of equal probability and centred there.  An interval should cover the mean of the shape
functions of all simulations, the average over fits to other rows.  The report also has the coverage
of the true effect and the bias in standard errors, within the inner four fifths of the values and
in the tails.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from benchmarks.lib.cli import make_parser

GRID = 100
SIZES = {"500": (500, None), "5,000, 50 positive": (5_000, 0.01), "50,000": (50_000, None)}


def smooth(u: np.ndarray) -> list[np.ndarray]:
    """Return the effects of four features, uniform between 0 and 1, on the log-odds."""
    return [np.sin(2 * np.pi * u[0]), 2 * u[1], 4 * (u[2] - 0.5) ** 2, 0 * u[3]]


def steps(u: np.ndarray) -> list[np.ndarray]:
    """Return effects of steps, and of a category of five values."""
    category = np.array([-0.8, -0.2, 0.0, 0.3, 0.7])[np.minimum((5 * u[2]).astype(int), 4)]
    return [1.0 * (u[0] > 0.4) - 0.6 * (u[0] > 0.8), 0.8 * (u[1] > 0.7), category, 0 * u[3]]


class Problem(NamedTuple):
    """A source of rows."""

    effects: Callable[[np.ndarray], list[np.ndarray]]
    categorical: bool

    def table(self, u: np.ndarray) -> pd.DataFrame:
        """Return the features as a model's input."""
        columns = {f"x{j}": values for j, values in enumerate(u)}
        if self.categorical:
            codes = np.minimum((5 * u[2]).astype(int), 4)
            columns["x2"] = pd.Categorical.from_codes(codes, list("abcde"))
        return pd.DataFrame(columns)

    def draw(self, n: int, share: float | None, rng: np.random.Generator) -> tuple:
        """Return rows and labels; `share` is the mean share of positives, None for any."""
        u = rng.random((4, n))
        raw = np.sum(self.effects(u), axis=0)
        raw = raw - raw.mean()
        if share is not None:
            low, high = -20.0, 20.0
            for _ in range(60):
                middle = (low + high) / 2
                mean = np.mean(1 / (1 + np.exp(-raw - middle)))
                low, high = (middle, high) if mean < share else (low, middle)
            raw = raw + low
        return self.table(u), (rng.random(n) < 1 / (1 + np.exp(-raw))).astype(int)


PROBLEMS = {"smooth": Problem(smooth, False), "steps": Problem(steps, True)}


def bags(X: pd.DataFrame, y: np.ndarray, grid: pd.DataFrame, n_bags: int) -> tuple:
    """Return the shape functions on the grid, and their standard errors."""
    import properboost as pb

    model = pb.ProperBoostClassifier(outer_bags=n_bags, n_jobs=1, weak_learner="table").fit(X, y)
    curves, errors = [], []
    for j in range(4):
        shape = model.shape_function(j)
        values = grid[f"x{j}"].to_numpy()
        curves.append(shape(values))
        bin_errors = shape.standard_errors
        if shape.edges is None:
            places = [list(shape.categories).index(value) for value in values]
        else:
            places = np.searchsorted(shape.edges, values)
        errors.append(bin_errors[places])
    return np.array(curves), np.array(errors), stdtrit(n_bags - 1, 0.95)


def ebm(X: pd.DataFrame, y: np.ndarray, grid: pd.DataFrame, n_bags: int) -> tuple:
    """Return the same for InterpretML's EBM, whose bars are standard deviations of bags."""
    from interpret.glassbox import ExplainableBoostingClassifier

    model = ExplainableBoostingClassifier(interactions=0, n_jobs=1, outer_bags=n_bags).fit(X, y)
    curves = [model.eval_terms(grid)[:, j] for j in range(4)]
    spread = []
    for j in range(4):
        scores = model.term_scores_[j]
        table, deviation = np.asarray(scores), np.asarray(model.standard_deviations_[j])
        # The score identifies a value's entry in the table.
        place = np.abs(table[None, :] - curves[j][:, None]).argmin(axis=1)
        spread.append(deviation[place])
    return np.array(curves), np.array(spread), stdtrit(np.inf, 0.95)


LIBRARIES = {"properboost": bags, "EBM": ebm}


def simulate(library: str, problem: Problem, size: str, n_simulations: int, n_bags: int) -> str:
    """Return the shares of intervals that cover the mean and the true effect."""
    n, share = SIZES[size]
    u = np.tile((np.arange(GRID) + 0.5) / GRID, (4, 1))
    grid = problem.table(u)
    truth = np.array([effect - effect.mean() for effect in problem.effects(u)])
    curves, errors = [], []
    for k in range(n_simulations):
        X, y = problem.draw(n, share, np.random.default_rng([k, n]))
        curve, error, reach = LIBRARIES[library](X, y, grid, n_bags)
        curves.append(curve - curve.mean(axis=1, keepdims=True))
        errors.append(error)
    curves, errors = np.array(curves), np.array(errors)
    mean, deviation = curves.mean(axis=0), curves.std(axis=0, ddof=1)
    of_mean = np.abs(curves - mean) <= reach * errors
    of_truth = np.abs(curves - truth) <= reach * errors
    inner = (u[0] > 0.1) & (u[0] < 0.9)
    bias = np.abs(mean - truth) / np.maximum(deviation, 1e-9)
    ratio = np.sqrt((errors**2).mean() / (deviation**2).mean())
    by_feature = ", ".join(f"{effect:.2f}" for effect in of_mean.mean(axis=(0, 2)))
    return (
        f"mean held {of_mean.mean():.3f} ({by_feature}; tails {of_mean[:, :, ~inner].mean():.3f})  "
        f"error over deviation {ratio:.2f}  truth held inside {of_truth[:, :, inner].mean():.3f}, "
        f"tails {of_truth[:, :, ~inner].mean():.3f}  bias over deviation "
        f"{bias[:, inner].mean():.2f}, {bias[:, ~inner].mean():.2f}"
    )


def main() -> None:
    """Print a line for each library, problem and size."""
    parser = make_parser(__doc__)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--bags", type=int, default=16)
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=["properboost"])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for size in options.sizes:
        for name in options.problems:
            for library in options.libraries:
                report = simulate(library, PROBLEMS[name], size, options.simulations, options.bags)
                print(f"{library:12s} {name:7s} {size:19s} {report}", flush=True)


if __name__ == "__main__":
    main()
