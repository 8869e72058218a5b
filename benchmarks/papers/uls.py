"""ULS under Matsushita's surrogate and the logistic one: section 5 of Nock and Nielsen (2009).

    python -m benchmarks.papers.uls                       # some minutes, on one thread
    python -m benchmarks.papers.uls --totally-corrective  # not the paper's

Errors of stratified 10-fold cross-validation, the mean of some repeats with different folds (the
same for every phi), on the ten small data sets of the BoostLR paper, where the ULS paper has 40.
The settings are the paper's: J rounds of rules with at most l literals, grown by the phi at hand.
For each there is a line a data set; the least-squares line of the errors under Matsushita's on the
logistic ones, in percent; and the P value of Student's paired test over the data sets, beside the
paper's.  The last column counts the rows that ``phi="mu"`` with mu = 0.99 labels otherwise than
Matsushita's: none, as its surrogate is Matsushita's at another scale and steps are exact.  (The
paper reports a clear win of Matsushita's, with P far below 1e-4.)
"""

import time
import warnings

import numpy as np
from scipy.stats import linregress, ttest_rel
from sklearn.model_selection import StratifiedKFold

from benchmarks.lib.cli import make_plain_parser
from properboost import ULS
from properboost.datasets import load_uci

DATA_SETS = [
    "sonar", "wpbc", "wdbc", "breast_cancer_wisconsin", "heart_cleveland", "tic_tac_toe",
    "echocardiogram", "haberman", "pima", "bupa",
]  # fmt: skip

# l, J; the paper's P value, and its line.
SETTINGS = [
    (2, 10, 0.07, "0.97x + 0.09"),
    (10, 20, 0.26, "0.95x + 0.35"),
    (1, 50, 0.17, "0.99x - 0.08"),
]

PHIS = {"matsushita": {}, "entropy": {}, "mu": {"gain": (1 - 0.99) / 2}}


def count_errors(name: str, settings: dict, repeats: int) -> tuple[dict[str, float], int, int]:
    """Return the error of each phi, in percent; labels of "mu" that differ; and warnings."""
    data = load_uci(name)
    X, y = data.data, np.asarray(data.target)
    wrong = dict.fromkeys(PHIS, 0)
    differ = separated = 0
    for seed in range(repeats):
        folds = StratifiedKFold(10, shuffle=True, random_state=seed)
        for train, test in folds.split(X, y):
            labels = {}
            for phi, parameters in PHIS.items():
                model = ULS(
                    phi, weak_learner="monomial", min_child_weight=0.0, rows_per_bin=None,
                    n_jobs=1, **settings, **parameters,
                )  # fmt: skip
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    model.fit(X.iloc[train], y[train])
                separated += len(warned) > 0
                labels[phi] = model.predict(X.iloc[test])
                wrong[phi] += int(np.sum(labels[phi] != y[test]))
            differ += int(np.sum(labels["mu"] != labels["matsushita"]))
    return {phi: 100.0 * n / (repeats * len(y)) for phi, n in wrong.items()}, differ, separated


def main() -> None:
    """Compare the surrogates in every setting."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="of 10 folds each")
    parser.add_argument("--totally-corrective", action="store_true")
    given = parser.parse_args()
    for literals, rounds, their_p, their_line in SETTINGS:
        start = time.perf_counter()
        print(f"l = {literals}, J = {rounds}: errors in percent", flush=True)
        settings = {
            "max_literals": literals,
            "n_estimators": rounds,
            "step": "totally_corrective" if given.totally_corrective else "leveraging",
        }
        errors = []
        for name in DATA_SETS:
            found, differ, separated = count_errors(name, settings, given.repeats)
            errors.append([found["matsushita"], found["entropy"]])
            print(
                f"  {name:<24}Matsushita {errors[-1][0]:5.2f}  logistic {errors[-1][1]:5.2f}  "
                f"separated {separated:3d} of {30 * given.repeats} fits  mu differs {differ}",
                flush=True,
            )
        ours, logistic = np.array(errors).T
        line = linregress(logistic, ours)
        print(
            f"  {'mean':<24}Matsushita {ours.mean():5.2f}  logistic {logistic.mean():5.2f}\n"
            f"  Matsushita's is lower on {np.sum(ours < logistic)}, higher on "
            f"{np.sum(ours > logistic)} of {len(ours)}; "
            f"y = {line.slope:.2f}x {line.intercept:+.2f} (the paper: {their_line}); "
            f"P = {ttest_rel(ours, logistic).pvalue:.2f} (the paper: {their_p}); "
            f"{time.perf_counter() - start:.0f} s\n",
            flush=True,
        )


if __name__ == "__main__":
    main()
