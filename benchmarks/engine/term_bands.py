"""The coverage of the bands of trees' terms, and how often terms that are not there seem real.

Each simulation draws new rows from a source with a known sum of terms: two features alone, a pair
and a triple.  A band should cover the mean of the term's values over all simulations, which is the
average over fits to other rows.  A term that is not in the source should have a p-value below 0.05
in at most a twentieth of them.
"""

import warnings

import numpy as np

from benchmarks.lib.cli import make_parser
from properboost import ProperBoostClassifier, Tree
from properboost.inspection.intervals import count_errors

GROWTHS = {
    "best first": Tree(interaction_cst=3),
    "symmetric": Tree(interaction_cst=3, grow_policy="symmetric", max_depth=4),
}
REAL = {(0,), (1,), (0, 2), (3, 4, 5)}
LEVEL, SEEMS_REAL = 0.9, 0.05
N_TEST = 300


def draw(n: int, correlation: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of six features, of which the first two are correlated, and their labels."""
    X = rng.normal(size=(n, 6))
    X[:, 1] = correlation * X[:, 0] + np.sqrt(1.0 - correlation**2) * X[:, 1]
    raw = X[:, 0] + np.sin(2.0 * X[:, 1]) + X[:, 0] * X[:, 2]
    raw += 1.2 * (X[:, 3] > 0.0) * np.sign(X[:, 4]) * np.sign(X[:, 5])
    return X, (raw + rng.logistic(size=n) > 0.0).astype(int)


def simulate(growth: str, n: int, correlation: float, n_simulations: int, n_bags: int) -> str:
    """Return the coverage by number of features, and the share of terms that seem real."""
    test, _ = draw(N_TEST, correlation, np.random.default_rng(999))
    values: dict[tuple, list] = {}
    errors: dict[tuple, list] = {}
    p_values: dict[tuple, list] = {}
    for k in range(n_simulations):
        X, y = draw(n, correlation, np.random.default_rng(k))
        model = ProperBoostClassifier(
            weak_learner=GROWTHS[growth], outer_bags=n_bags, response="newton", l2=0.1, gain=1.0,
            learning_rate=0.1, n_estimators=60, random_state=0,
        ).fit(X, y)  # fmt: skip
        contributions = model.contributions(test, by="term")
        for at, features in enumerate(contributions.terms):
            values.setdefault(features, []).append(contributions.values[:, at])
            errors.setdefault(features, []).append(contributions.standard_errors[:, at])
            p_values.setdefault(features, []).append(contributions.p_values[at])
    reach = count_errors(n_bags, LEVEL)
    coverage: dict[int, list] = {1: [], 2: [], 3: []}
    for features, of_term in values.items():
        if len(of_term) < 0.9 * n_simulations:  # in too few fits for a mean
            continue
        curves, spread = np.array(of_term), np.array(errors[features])
        inside = np.abs(curves - curves.mean(axis=0)) <= reach * spread
        coverage[len(features)].append(inside[spread > 0.0].mean())
    joint = [f for f in p_values if len(f) > 1 and not any({*f} <= {*real} for real in REAL)]
    seeming = np.mean([np.mean(np.array(p_values[f]) < SEEMS_REAL) for f in joint])
    shown = ", ".join(f"{np.mean(of_size):.3f}" for of_size in coverage.values() if of_size)
    return f"covered, by features of a term: {shown}; terms that seem real: {seeming:.3f}"


def main() -> None:
    """Print a line for each way to grow, size and correlation."""
    parser = make_parser(__doc__)
    parser.add_argument("--simulations", type=int, default=30)
    parser.add_argument("--bags", type=int, default=16)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 5_000])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for n in options.sizes:
        for correlation in (0.0, 0.8):
            for growth in GROWTHS:
                report = simulate(growth, n, correlation, options.simulations, options.bags)
                print(f"{n:6,} rows, correlation {correlation}, {growth:10s} {report}", flush=True)


if __name__ == "__main__":
    main()
