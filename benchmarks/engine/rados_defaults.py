"""The comparison behind the defaults of RadoBoostClassifier.

    python -m benchmarks.engine.rados_defaults  # a minute

It prints errors by five-fold cross-validation, in percent, on ten small sets with features of unit
variance.  Only the regulariser, omega and the intercept differ from the defaults.
"""

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.lib.cli import make_plain_parser
from benchmarks.lib.race import print_table
from properboost import RadoBoostClassifier
from properboost.datasets import load_uci

SETS = (
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


def main() -> None:
    """Print the error of each candidate on each set, and their means."""
    make_plain_parser(__doc__).parse_args()
    errors = np.empty((len(SETS), len(CANDIDATES)))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for row, name in zip(errors, SETS, strict=True):
        X, y = load_uci(name, return_X_y=True, as_frame=False, dropna=True)
        for k, (regularizer, omega, intercept) in enumerate(CANDIDATES):
            model = RadoBoostClassifier(regularizer, omega, fit_intercept=intercept, n_jobs=1)
            scaled = make_pipeline(StandardScaler(), model)
            row[k] = 100.0 * (1.0 - cross_val_score(scaled, X, y, cv=folds).mean())
    head = [
        f"{name or 'none'} {omega:g}{'' if intercept else ', no intercept'}"
        for name, omega, intercept in CANDIDATES
    ]
    table = [*zip(SETS, errors, strict=True), ("mean", errors.mean(axis=0))]
    print_table(["", *head], [[name, *(f"{e:.1f}" for e in row)] for name, row in table])


if __name__ == "__main__":
    main()
