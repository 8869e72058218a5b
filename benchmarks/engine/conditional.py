"""The class-conditional response against the real one: simulated and real tables.

    python -m benchmarks.engine.conditional                # simulated, then folds of real sets

Simulated tables differ in the share of positives and the number of rows.  Over draws, a line shows:
the distance of the mean probability of new rows from the training share, in standard errors; the
log loss over that of the real response; and the difference of their calibration slopes.

On real tables it is the log loss over that of the real response, by folds of the training rows, for
plain fits, fits that stop early and searches for the gain (`effort=None`).  The last line of each
half has the geometric means.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import gmean
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from benchmarks.lib.race import print_table, progress
from benchmarks.lib.sets import CONFIRMATION, DEVELOPMENT, divide
from properboost import EarlyStopping, ProperBoostClassifier, ProperBoostClassifierCV

SHARES = (0.02, 0.1, 0.5)
ROWS = (3_000, 30_000)
NEW_ROWS = 100_000
TWO_CLASSES = {
    "development": [name for name in DEVELOPMENT if name not in ("digits", "letter", "satimage",
                    "segment", "vowel")],
    "confirmation": [name for name in CONFIRMATION if name not in ("hpc_data", "new_thyroid",
                     "nycflights", "pendigits", "wine")],
}  # fmt: skip
MODELS: dict[str, Any] = {
    "plain": lambda seed, **settings: ProperBoostClassifier(
        random_state=seed, weak_learner="table", **settings
    ),
    "early": lambda seed, **settings: ProperBoostClassifier(
        random_state=seed,
        weak_learner="table",
        early_stopping=EarlyStopping(validation_fraction=0.2),
        n_estimators=400,
        **settings,
    ),
    "search": lambda seed, **settings: ProperBoostClassifierCV(
        settings, random_state=seed, effort=None
    ),
}

Array = NDArray[Any]


def draw(n: int, share: float, seed: int) -> tuple[Array, Array]:
    """Draw rows with curves of four columns, whose mean probability is the share."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    score = 1.2 * X[:, 0] + np.sin(2.0 * X[:, 1]) - 0.5 * X[:, 2] ** 2 + 0.6 * np.abs(X[:, 3])
    low, high = -30.0, 30.0
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expit(score + middle).mean() < share else (low, middle)
    return X, (rng.random(n) < expit(score + low)).astype(int)


def find_slope(p: Array, y: Array) -> float:
    """Return the calibration slope: of the log odds of new rows on the predicted ones."""
    return float(LogisticRegression(C=np.inf).fit(logit(p)[:, None], y).coef_[0, 0])


def show_simulated(n_draws: int) -> None:
    """Print a line for each share and number of rows."""
    lines = []
    for share in SHARES:
        for n in ROWS:
            errors, ratios, slopes = [], [], []
            for seed in range(n_draws):
                progress(f"{share:.0%} of {n} rows: {seed}")
                X, y = draw(n, share, seed)
                X_new, y_new = draw(NEW_ROWS, share, 1_000 + seed)
                measures = []
                for response in ("conditional", "real"):
                    model = ProperBoostClassifier(response=response, weak_learner="table").fit(X, y)
                    p = model.predict_proba(X_new)[:, 1]
                    slope = find_slope(p, y_new)
                    measures.append((p.mean(), log_loss(y_new, p), slope))
                (mean, loss, slope), (_, of_real, slope_of_real) = measures
                errors.append((mean - y.mean()) / np.sqrt(share * (1.0 - share) / n))
                ratios.append(loss / of_real)
                slopes.append(slope - slope_of_real)
            progress("")
            lines.append([
                f"{share:.0%}", str(n), f"{np.abs(errors).max():.2f}", f"{np.mean(ratios):.4f}",
                f"{max(ratios):.4f}", f"{np.mean(slopes):+.4f}",
                f"{max(map(abs, slopes)):.4f}",
            ])  # fmt: skip
    print_table(
        ["positives", "rows", "mean off, errors, most", "log loss", "most", "slope", "most"], lines
    )


def show_real(models: list[str], folds: int, seed: int) -> None:
    """Print the ratio of log losses of each set, and the geometric means of each half."""
    for half, names in TWO_CLASSES.items():
        lines, table = [], []
        for name in names:
            row = []
            for kind in models:
                progress(f"{name}: {kind}")
                losses = np.zeros(2)
                for split in divide(name, seed, folds):
                    for k, response in enumerate(("conditional", "real")):
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore", UserWarning)
                            model = MODELS[kind](seed, response=response).fit(split.X, split.y)
                        losses[k] += log_loss(split.y_test, model.predict_proba(split.X_test))
                row.append(losses[0] / losses[1])
            progress("")
            share = min(np.bincount(split.y)) / len(split.y)
            lines.append([name, f"{share:.3f}", *(f"{ratio:.3f}" for ratio in row)])
            table.append(row)
        lines.append([half, "", *(f"{mean:.3f}" for mean in gmean(np.array(table)))])
        print()
        print_table(["set", "share", *models], lines)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    options = parser.parse_args()
    if options.draws:
        show_simulated(options.draws)
    if options.models:
        show_real(options.models, options.folds, options.seed)


if __name__ == "__main__":
    main()
