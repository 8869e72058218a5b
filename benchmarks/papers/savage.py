"""Table 4 of the SavageBoost paper: wrong labels in training, and what each loss makes of them.

    python -m benchmarks.papers.savage                         # 20 seeds, 15 to 20 minutes
    python -m benchmarks.papers.savage --seeds 2               # a quick look
    python -m benchmarks.papers.savage --out out/savage.jsonl  # goes on where it stopped
    python -m benchmarks.papers.savage --diagnose --seeds 2    # what becomes of the wrong labels

On each of ten small UCI sets, 5-fold stratified cross-validation: models are trained on four folds,
of whose labels a share (0, 5 and 40%) is wrong, and make errors on the fifth, whose labels are as
they are.  The folds, and which labels are flipped, come from the seed; all methods see the same.

The *tuned* methods differ in their loss only: greedy look-up tables, 50 rounds (the paper's
number), real response and guarded steps, the gain of least log loss in 5-fold cross-validation on
the training rows, wrong labels and all.  The gains are `gains="auto"`: 16 for each loss, the same
in units of its loss margin.  "savage, exact" gives each bin the minimiser of its risk (the paper's
"minimization is by gradient descent"); its gain cannot matter, so its learning rate is chosen.

The methods *as published* have nothing to choose: gain 1, 50 rounds.  AdaBoost's stumps may cut
anywhere.

Reported are mean errors (%), by set and over the sets; paired differences, whose intervals (95%)
are over the seeds and so say what other folds and flips would change, not other data sets; wins and
average ranks over the sets.  With `--out`, results are kept in that file and not computed again, so
that a run can be cut short, or a method be added to METHODS.
"""

import dataclasses
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import softmax
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.lib.cli import make_plain_parser
from properboost import (
    AdaBoost,
    LogitBoost,
    ProperBoostClassifier,
    ProperBoostClassifierCV,
    RealBoost,
    SavageBoost,
)
from properboost.datasets import load_uci
from properboost.metrics import average_ranks, win_counts
from properboost.reproduce.pinned import make_search

SETS = (
    "pima",
    "wdbc",
    "wpbc",
    "breast_cancer_wisconsin",
    "bupa",
    "sonar",
    "echocardiogram",
    "heart_cleveland",
    "tic_tac_toe",
    "haberman",
)
Key = tuple[str, float, int, str]
Array = NDArray[np.float64]

SHARES = (0.0, 0.05, 0.4)
ROUNDS = 50
SHOWN_ROUNDS = (1, 2, 5, 10, 25, 50)
FOLDS = 5
LEARNING_RATES = [2.0 ** (-k / 2) for k in range(13)]  # 1 to 1/64


@dataclass(frozen=True)
class Setting:
    """What all methods share."""

    scoring: str
    weak_learner: str
    rows_per_bin: float | None


def tune(loss: str, seed: int, setting: Setting, **parameters: Any) -> ProperBoostClassifierCV:
    return make_search(
        loss=loss,
        selection="greedy",
        n_estimators=ROUNDS,
        cv=StratifiedKFold(FOLDS, shuffle=True, random_state=seed),
        n_jobs=1,
        **dataclasses.asdict(setting),
        **parameters,
    )


def tune_exact(seed: int, setting: Setting) -> ProperBoostClassifierCV:
    chosen = {"gains": [1.0], "learning_rate": LEARNING_RATES}
    return tune("savage", seed, setting, response="exact", **chosen)


def untuned(setting: Setting, n_rounds: int = ROUNDS) -> dict[str, Any]:
    """Return the parameters of the methods as published."""
    learner = {"weak_learner": setting.weak_learner, "rows_per_bin": setting.rows_per_bin}
    return {**learner, "n_estimators": n_rounds, "n_jobs": 1}


class PrintedBox:
    """Algorithm 1 of the paper to the letter: weights are multiplied by e^(y G)."""

    def __init__(self, setting: Setting) -> None:
        self.rounds: list[ProperBoostClassifier] = []
        self.parameters = untuned(setting, 1)

    def fit(self, X: Any, y: NDArray[np.int64]) -> "PrintedBox":
        logs = np.zeros(len(y))
        for _ in range(ROUNDS):
            # A row of weight 0 would be no row.
            weight = len(y) * np.maximum(softmax(logs), 1e-12)
            model = RealBoost(**self.parameters).fit(X, y, weight)
            logs += model.margins(X, y)
            self.rounds.append(model)
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        total = sum(model.decision_function(X) for model in self.rounds)
        return (np.asarray(total) > 0).astype(np.int64)


def make_other(classifier: Any) -> Any:
    """Return a classifier of scikit-learn behind what it takes to read these tables."""
    one_hot = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    categories = (one_hot, make_column_selector(dtype_include="category"))
    encoder = make_column_transformer(categories, remainder=SimpleImputer())
    return make_pipeline(encoder, StandardScaler(), classifier)


# A method makes a classifier, not yet fitted, from the seed and the setting.
Method = Callable[[int, Setting], Any]
TUNED: dict[str, Method] = {
    "savage": lambda seed, setting: tune("savage", seed, setting),
    "savage, exact": tune_exact,
    "glog": lambda seed, setting: tune("glog", seed, setting),
    "exponential": lambda seed, setting: tune("exponential", seed, setting),
}
AS_PUBLISHED: dict[str, Method] = {
    "SavageBoost": lambda _, setting: SavageBoost(**untuned(setting)),
    "LogitBoost": lambda _, setting: LogitBoost(**untuned(setting)),
    "RealBoost": lambda _, setting: RealBoost(**untuned(setting)),
    "AdaBoost": lambda *_: AdaBoost(n_estimators=ROUNDS, rows_per_bin=None, n_jobs=1),
}
RIDGES = [10.0**k for k in range(-4, 3)]
# For the diagnosis only: what else there is to compare with.
OTHERS: dict[str, Method] = {
    "the paper's box to the letter": lambda _, setting: PrintedBox(setting),
    "ridge logistic regression": lambda *_: make_other(
        GridSearchCV(LogisticRegression(max_iter=1000), {"C": RIDGES}, scoring="neg_log_loss")
    ),
    "random forest": lambda seed, _: make_other(
        RandomForestClassifier(min_samples_leaf=20, random_state=seed)
    ),
}
METHODS: dict[str, Method] = {**TUNED, **AS_PUBLISHED}
CHOSEN = ("learning_rate", "gain")  # of what a search found, the first is reported

# Table 4: wins over the ten sets and mean error (%), at 0, 5 and 40%.
PAPER = {
    "SavageBoost": ((4, 19.22), (4, 19.91), (6, 25.9)),
    "LogitBoost": ((4, 20.96), (4, 22.04), (3, 31.73)),
    "RealBoost": ((2, 23.99), (2, 25.34), (0, 33.18)),
    "AdaBoost": ((0, 24.58), (0, 26.45), (1, 38.22)),
}


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to train on, their labels, which of these are wrong, and rows to test on."""

    train: NDArray[np.intp]
    labels: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    test: NDArray[np.intp]


def make_folds(y: NDArray[np.int64], share: float, seed: int) -> Iterator[Fold]:
    """Divide the rows, and flip a share of the labels of those to train on."""
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for k, (train, test) in enumerate(splitter.split(np.zeros((len(y), 1)), y)):
        # What is flipped at a smaller share is flipped at a larger one, too.
        order = np.random.default_rng([seed, k]).permutation(len(train))
        wrong = np.isin(np.arange(len(train)), order[: round(share * len(train))])
        yield Fold(train, np.where(wrong, 1 - y[train], y[train]), wrong, test)


@lru_cache
def load(name: str) -> tuple[Any, NDArray[np.int64]]:
    X, y = load_uci(name, return_X_y=True)
    return X, np.asarray(y, dtype=np.int64)


def run(name: str, share: float, seed: int, method: str, setting: Setting) -> dict[str, Any]:
    """Return a method's test error on one set, and what was chosen in each fold."""
    X, y = load(name)
    errors, chosen = 0, []
    for fold in make_folds(y, share, seed):
        model = METHODS[method](seed, setting).fit(X.iloc[fold.train], fold.labels)
        errors += int(np.sum(model.predict(X.iloc[fold.test]) != y[fold.test]))
        found = getattr(model, "best_params_", {})
        chosen += [found[name] for name in CHOSEN if name in found][:1]
    key = {"set": name, "share": share, "seed": seed, "method": method}
    return {**key, "error": errors / len(y), "chosen": chosen}


def run_all(
    shares: Sequence[float], seeds: int, setting: Setting, path: Path | None
) -> dict[Key, dict[str, Any]]:
    """Return all results; those that the file has are not computed again."""
    done: dict[Key, dict[str, Any]] = {}
    of_setting = dataclasses.asdict(setting)
    if path is not None and path.exists():
        for record in map(json.loads, path.read_text().splitlines()):
            if record.items() >= of_setting.items():
                done[tuple(record[name] for name in ("set", "share", "seed", "method"))] = record
    elif path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    for seed in range(seeds):
        keys = list(itertools.product(SETS, shares, [seed], METHODS))
        missing = [key for key in keys if key not in done]
        for key in missing:
            done[key] = run(*key, setting) | of_setting
        if missing and path is not None:
            with path.open("a") as file:
                file.writelines(json.dumps(done[key]) + "\n" for key in missing)
        print(f"seed {seed}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    return done


# -- what is reported -----------------------------------------------------------------------------


def collect(results: dict[Key, dict[str, Any]], share: float, seeds: int) -> dict[str, Array]:
    """Return the errors (%) of each method, (n_sets, n_seeds)."""
    return {
        method: np.array(
            [[100 * results[name, share, seed, method]["error"] for seed in range(seeds)]
             for name in SETS]
        )
        for method in METHODS
    }  # fmt: skip


def print_errors(errors: dict[str, Array], methods: Sequence[str]) -> None:
    table = np.array([errors[method].mean(axis=1) for method in methods])
    width = [max(len(method), 8) + 2 for method in methods]

    def line(label: str, entries: Sequence[Any], form: str) -> None:
        cells = (f"{entry:>{w}{form}}" for entry, w in zip(entries, width, strict=True))
        print(f"{label:<24}" + "".join(cells))

    line("", methods, "")
    for name, row in zip(SETS, table.T, strict=True):
        line(name, row, ".2f")
    line("mean", table.mean(axis=1), ".2f")
    line("wins of 10", win_counts(table), "d")
    line("average rank", average_ranks(table), ".2f")


def print_differences(errors: dict[str, Array], methods: Sequence[str]) -> None:
    """Compare methods pair by pair, the first one's errors less the second's."""
    for a, b in itertools.combinations(methods, 2):
        by_set = (errors[a] - errors[b]).mean(axis=1)
        test = stats.ttest_rel(errors[a].mean(axis=0), errors[b].mean(axis=0))
        low, high = test.confidence_interval(0.95)
        # Over the sets, which the seeds do not make more of.
        p = stats.wilcoxon(by_set).pvalue if np.any(by_set) else 1.0
        print(
            f"  {f'{a} - {b}':<36}{by_set.mean():+6.2f} ({low:+.2f} to {high:+.2f}), lower on "
            f"{np.sum(by_set < 0)} and higher on {np.sum(by_set > 0)} sets (signed ranks p {p:.2f})"
        )


def print_chosen(results: dict[Key, dict[str, Any]], share: float, seeds: int) -> None:
    """Print what the inner cross-validation chose, over all sets, seeds and folds."""
    for method in METHODS:
        chosen = [results[name, share, seed, method]["chosen"] for name in SETS
                  for seed in range(seeds)]  # fmt: skip
        values = np.concatenate(chosen)
        if len(values):
            low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
            print(f"  {method:<16}median {middle:.3g}, quartiles {low:.3g} and {high:.3g}")


def report(results: dict[Key, dict[str, Any]], shares: Sequence[float], seeds: int) -> None:
    for share in shares:
        errors = collect(results, share, seeds)
        print(f"\n{share:.0%} wrong labels, tuned: error (%), mean of {seeds} seeds")
        print_errors(errors, list(TUNED))
        if seeds > 1:
            print_differences(errors, list(TUNED))
        print("chosen: gain (savage, exact: learning rate)")
        print_chosen(results, share, seeds)
        print(f"\n{share:.0%} wrong labels, as published")
        print_errors(errors, list(AS_PUBLISHED))
        if seeds > 1:
            print_differences(errors, list(AS_PUBLISHED))
        if share in SHARES:
            table = {name: entry[SHARES.index(share)] for name, entry in PAPER.items()}
            words = [f"{name} {error} ({wins} wins)" for name, (wins, error) in table.items()]
            print(f"Table 4: {', '.join(words)}")


def follow(model: Any, test: Any, y: NDArray[np.int64]) -> list[float]:
    """Return the error (%) on test rows after SHOWN_ROUNDS rounds."""
    errors = [100 * np.mean(predicted != y) for predicted in model.staged_predict(test)]
    # A model that has nothing left to learn stops, and stays as it is.
    return [float(errors[min(t, len(errors)) - 1]) for t in SHOWN_ROUNDS]


def diagnose(shares: Sequence[float], seeds: int, setting: Setting) -> None:
    """Print how models see the training rows whose labels are wrong, and how alike models are."""
    columns = ("weight", "learnt", "wrong", "right", "|margin|", "as savage", "error (%)")
    for share in shares:
        found: dict[str, list[list[float]]] = {method: [] for method in METHODS}
        courses: dict[str, list[list[float]]] = {method: [] for method in AS_PUBLISHED}
        errors: dict[str, list[float]] = {method: [] for method in OTHERS}
        for name, seed in itertools.product(SETS, range(seeds)):
            X, y = load(name)
            for fold in make_folds(y, share, seed):
                rows, test = X.iloc[fold.train], X.iloc[fold.test]
                first = METHODS["savage"](seed, setting).fit(rows, fold.labels).predict(test)
                for method, make in METHODS.items():
                    model = make(seed, setting).fit(rows, fold.labels)
                    if not hasattr(model, "loss_"):
                        continue
                    predicted = model.predict(test)
                    if method in courses:
                        courses[method].append(follow(model, test, y[fold.test]))
                    weight = model.loss_.weight(model.margins(rows, fold.labels))
                    margins = model.margins(rows, fold.labels, normalized=True)
                    wrong = margins[fold.wrong] if np.any(fold.wrong) else np.zeros(1)
                    found[method].append([
                        weight[fold.wrong].sum() / weight.sum(),
                        np.mean(wrong > 0),
                        wrong.mean(),
                        margins[~fold.wrong].mean(),
                        np.abs(margins).mean(),
                        np.mean(predicted == first),
                        100 * np.mean(predicted != y[fold.test]),
                    ])  # fmt: skip
                for method, make in OTHERS.items():
                    predicted = make(seed, setting).fit(rows, fold.labels).predict(test)
                    errors[method].append(100 * float(np.mean(predicted != y[fold.test])))
        print(f"\n{share:.0%} wrong labels: mean over the sets and {seeds} seeds, training rows")
        print(" " * 16 + "".join(f"{column:>12}" for column in columns))
        for method in filter(found.get, found):
            values = np.mean(found[method], axis=0)
            print(f"{method:<16}" + "".join(f"{v:12.3f}" for v in values))
        for method, lines in errors.items():
            print(f"{method}: error {np.mean(lines):.2f}%")
        print(f"error (%) after {', '.join(map(str, SHOWN_ROUNDS))} rounds")
        for method in filter(courses.get, courses):
            values = np.mean(courses[method], axis=0)
            print(f"{method:<16}" + "".join(f"{v:12.2f}" for v in values))
    print(
        "\nweight: the wrong labels' share of it; learnt: the share of wrong labels that the model "
        "gives back; wrong, right: the mean normalised margins of both; as savage: the share of "
        "test rows that get the same label"
    )


def main() -> None:
    parser = make_plain_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="of wrong labels")
    parser.add_argument("--scoring", default="neg_log_loss", help="what the gain is chosen by")
    parser.add_argument("--weak-learner", default="histogram", help="of all but AdaBoost")
    parser.add_argument("--rows-per-bin", type=float, default=100.0, help="0: as many as can be")
    parser.add_argument("--out", type=Path, help="file that keeps the results, one a line")
    parser.add_argument("--diagnose", action="store_true", help="how wrong labels are seen")
    arguments = parser.parse_args()
    rows_per_bin = arguments.rows_per_bin or None
    setting = Setting(arguments.scoring, arguments.weak_learner, rows_per_bin)
    if arguments.diagnose:
        diagnose(arguments.shares, arguments.seeds, setting)
    else:
        results = run_all(arguments.shares, arguments.seeds, setting, arguments.out)
        report(results, arguments.shares, arguments.seeds)


if __name__ == "__main__":
    main()
