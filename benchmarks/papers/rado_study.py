"""Does regularising rados help?  The rado paper's experiment (NIPS 2016, section 5), on four sets.

    python -m benchmarks.papers.rado_study                       # 10 to 20 minutes of one processor
    python -m benchmarks.papers.rado_study --data sonar --seeds 2  # a quick look
    python -m benchmarks.papers.rado_study --defaults            # what the defaults are chosen by

Ten-fold stratified cross-validation, for each of ten seeds, of classifiers without an intercept on
the features as they come, 1,000 rounds, of which the classifier of least training error is kept:

- *none*: Omega-R.AdaBoost without a regulariser, with as many rados as training rows;
- *ridge, lasso, linf, slope*: with one; omega has the least error in an inner two-fold
  cross-validation on the training rows, among 1e-5, 0.01, 0.1 and 1 (of the paper's values, which
  go up to 1), or among these and 10, 100, 1e3; of equals the largest;
- *AdaBoost*: on the rows themselves, features as weak learners of values in [-1, 1];
- *AdaBoost, L1*: coordinate descent on sum_i exp(-y_i F(x_i)) + beta |theta|_1, by the bound that
  AdaBoost's step minimises; beta in 1e-4, 1, 1e4, the paper's.

A seed draws the folds and the rados' signs, and is one number: the mean error over the ten folds.
Differences are paired by seed.  Errors are in percent, sparsity is the number of coefficients that
are not 0.  The rado paper's claims, over twenty domains: each regularised version beats the
unregularised one on most of them, SLOPE on virtually all; on magic the error falls by more than
15%.

With `--defaults`: errors by five-fold cross-validation, on ten small sets with features of unit
variance, of RadoBoostClassifier as it is but for the regulariser, omega and the intercept.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.lib.cli import make_plain_parser
from benchmarks.lib.race import print_table
from properboost import RadoBoostClassifier
from properboost.datasets import load_uci
from properboost.reproduce.pinned import make_rados

DATA = ("ionosphere", "sonar", "spambase", "magic")
REGULARIZERS = ("ridge", "lasso", "linf", "slope")
OMEGAS = (1e-5, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3)
GRIDS = {"to 1": 4, "to 1e3": len(OMEGAS)}  # the first so many
BETAS = (1e-4, 1.0, 1e4)
ROUNDS = 1000
NONE = "none"

SMALL = (
    "sonar",
    "wpbc",
    "wdbc",
    "breast_cancer_wisconsin",
    "heart_cleveland",
    "echocardiogram",
    "haberman",
    "pima",
    "bupa",
    "ionosphere",
)
CANDIDATES: tuple[tuple[str | None, float, bool], ...] = (  # regulariser, omega, intercept
    (None, 0.0, True),
    *((name, omega, True) for name in ("ridge", "lasso", "slope") for omega in (1.0, 10.0)),
    ("ridge", 10.0, False),
)

Floats = NDArray[np.float64]


def fit_rados(
    X: Floats, y: NDArray[np.int64], seed: int, regularizer: str | None, omega: float = 0.0
) -> RadoBoostClassifier:
    model = make_rados(
        regularizer=regularizer,
        omega=omega,
        n_estimators=ROUNDS,
        keep="error",
        fit_intercept=False,
        random_state=seed,
        n_jobs=1,
    )
    return model.fit(X, y)


def choose_omegas(X: Floats, y: NDArray[np.int64], seed: int, regularizer: str) -> dict[str, float]:
    """Return the omega of least inner error of each grid; of equals the largest."""
    errors = np.zeros(len(OMEGAS))
    for train, test in StratifiedKFold(2, shuffle=True, random_state=seed).split(X, y):
        for k, omega in enumerate(OMEGAS):
            model = fit_rados(X[train], y[train], seed, regularizer, omega)
            errors[k] += np.mean(model.predict(X[test]) != y[test])
    last = {grid: size - 1 for grid, size in GRIDS.items()}
    return {grid: OMEGAS[k - int(errors[k::-1].argmin())] for grid, k in last.items()}


def boost_rows(X: Floats, y: NDArray[np.int64], beta: float) -> Floats:
    """Return the coefficients of AdaBoost, L1-regularised if beta > 0, of least training error."""
    largest = np.abs(X).max(axis=0)
    h = np.divide(X, largest, out=np.zeros_like(X), where=largest > 0.0)
    side = np.where(y == 1, 1.0, -1.0)
    edges = h * side[:, None]
    theta, margins = np.zeros(X.shape[1]), np.zeros(len(y))
    best, kept = np.mean(side > 0.0), theta.copy()  # 0 says the first class
    for _ in range(ROUNDS):
        weight = np.exp(-margins)
        total = weight.sum()
        edge = np.clip(weight @ edges / total, -1.0 + 1e-9, 1.0 - 1e-9)
        plus, minus = total * (1.0 + edge) / 2.0, total * (1.0 - edge) / 2.0
        step = find_steps(plus, minus, theta, beta)
        after = plus * np.exp(-step) + minus * np.exp(step) + beta * np.abs(theta + step)
        gain = total + beta * np.abs(theta) - after
        k = int(gain.argmax())
        if step[k] == 0.0 or not total < 1e300:
            break
        theta[k] += step[k]
        margins += step[k] * edges[:, k]
        error = np.mean((margins * side > 0.0) != (side > 0.0))
        if error < best:
            best, kept = error, theta.copy()
    return np.divide(kept, largest, out=np.zeros_like(kept), where=largest > 0.0)


def find_steps(plus: Floats, minus: Floats, theta: Floats, beta: float) -> Floats:
    """Return the s that minimises plus e^-s + minus e^s + beta |theta + s|, for each coordinate."""
    steps = -theta  # where neither side has its minimum, it is at 0
    for sign in (1.0, -1.0):
        root = np.sqrt((beta / 2.0) ** 2 + plus * minus)
        # x = e^s solves minus x^2 + sign beta x - plus = 0; written so that nothing cancels.
        x = plus / (root + beta / 2.0) if sign > 0.0 else (root + beta / 2.0) / minus
        steps = np.where((theta + np.log(x)) * sign > 0.0, np.log(x), steps)
    return steps


def run_seed(X: Floats, y: NDArray[np.int64], seed: int) -> dict[str, Any]:
    """Return each method's mean error and number of coefficients over ten folds."""
    found = defaultdict(list)
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y):
        rows = X[train], y[train], seed

        def judge(method: str, theta: Floats, test: NDArray[np.intp] = test) -> None:
            wrong = (X[test] @ theta > 0.0) != (y[test] == 1)
            found[method].append((float(np.mean(wrong)), int(np.count_nonzero(theta))))

        judge(NONE, fit_rados(*rows, None).coef_[0])
        for regularizer in REGULARIZERS:
            omegas = choose_omegas(*rows, regularizer)
            fitted = {w: fit_rados(*rows, regularizer, w).coef_[0] for w in set(omegas.values())}
            for grid, omega in omegas.items():
                judge(f"{regularizer}, omega {grid}", fitted[omega])
        judge("AdaBoost", boost_rows(X[train], y[train], 0.0))
        for beta in BETAS:
            judge(f"AdaBoost, L1, beta {beta:g}", boost_rows(X[train], y[train], beta))
    return {method: np.mean(folds, axis=0).tolist() for method, folds in found.items()}


def report(name: str, seeds: list[dict[str, Any]]) -> None:
    """Print a line for each method."""
    print(f"\n{name}, {len(seeds)} seeds\n")
    base = np.array([100.0 * seed[NONE][0] for seed in seeds])
    lines = []
    for method in seeds[0]:
        error, size = np.array([seed[method] for seed in seeds]).T
        difference = 100.0 * error - base
        line = [method, f"{100.0 * error.mean():.2f}", f"{size.mean():.1f}"]
        if method != NONE:
            line += [
                f"{difference.mean():+.2f}",
                f"{difference.std(ddof=min(1, len(seeds) - 1)):.2f}",
                f"{(difference < 0).sum()} / {(difference > 0).sum()}",
            ]
        lines.append(line + [""] * (6 - len(line)))
    head = ["", "error, %", "coefficients", "less none's", "sd over seeds", "better / worse"]
    print_table(head, lines)


def compare_defaults() -> None:
    """Print the error of each candidate on each small set, in percent, and their means."""
    errors = np.empty((len(SMALL), len(CANDIDATES)))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for row, name in zip(errors, SMALL, strict=True):
        X, y = load_uci(name, return_X_y=True, as_frame=False, dropna=True)
        for k, (regularizer, omega, intercept) in enumerate(CANDIDATES):
            model = RadoBoostClassifier(regularizer, omega, fit_intercept=intercept, n_jobs=1)
            scaled = make_pipeline(StandardScaler(), model)
            row[k] = 100.0 * (1.0 - cross_val_score(scaled, X, y, cv=folds).mean())
    head = [
        NONE if name is None else f"{name} {omega:g}{'' if intercept else ', no intercept'}"
        for name, omega, intercept in CANDIDATES
    ]
    table = [*zip(SMALL, errors, strict=True), ("mean", errors.mean(axis=0))]
    print_table(["", *head], [[name, *(f"{e:.1f}" for e in row)] for name, row in table])


def main() -> None:
    """Run the study."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--json", type=Path, help="a file for all numbers")
    parser.add_argument("--defaults", action="store_true", help="compare the defaults instead")
    arguments = parser.parse_args()
    if arguments.defaults:
        compare_defaults()
        return
    results = {}
    for name in arguments.data:
        X, y = load_uci(name, return_X_y=True, as_frame=False)
        results[name] = []
        for seed in range(arguments.seeds):
            results[name].append(run_seed(X, y, seed))
            if arguments.json is not None:  # what there is, should it take too long
                arguments.json.write_text(json.dumps(results))
        report(name, results[name])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
