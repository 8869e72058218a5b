"""The coverage and the size of prediction sets, beside MAPIE's.

Each split of a set holds out a quarter of its rows at random.  The split way fits to half of the
others and calibrates with the other half; the cross way has a model for each of five folds.  MAPIE
gets the same fitted model for the split way.  For the cross way it fits as many models; it answers
by the mean of their probabilities, its default, and on small sets by counts, as CV+ does.  The same
cross way follows a search that chose by the same folds.  Calibration with the training rows of the
model is there as a warning.

On request, eight bags take the place of folds: each row is scored by the mean of the bags that
leave it out (jackknife+-after-bootstrap), beside as many folds.

A cell is a set, a way, a score and a level: its coverage is the mean over splits, with the standard
error of that mean.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.lib.cli import make_plain_parser, print_machine
from benchmarks.lib.sets import SETS, Split
from properboost import ConformalClassifier, ProperBoostClassifier, ProperBoostClassifierCV
from properboost.conformal.calibration_scores import find_limit
from properboost.conformal.held_out import HeldOut
from properboost.conformal.scores import SCORES, draw_uniform
from properboost.models.bag_design import design

NAMES = ("heart_cleveland", "stroke_classification", "ADULT", "hpc_data", "vowel", "satimage")
LEVELS = (0.8, 0.9, 0.95)
FINE_LEVELS = [round(0.7 + 0.005 * k, 3) for k in range(55)]
N_BAGS = 8
MOST_ROWS = 30_000
MOST_COUNTS = 3_000
"""The most rows of a set at which MAPIE counts: it compares every row with every test row."""


def load(name: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return all rows of a set, of training and test, and which features are categories.

    There are at most `MOST_ROWS`.  Categories are numbers, because MAPIE predicts a row of zeros.
    """
    rows: Split = SETS[name](0)
    X = pd.concat([rows.X, rows.X_test], ignore_index=True)[:MOST_ROWS]
    is_number = [pd.api.types.is_numeric_dtype(X[column]) for column in X]
    for column in X.columns[~np.array(is_number)]:
        codes = X[column].astype("category").cat.codes
        X[column] = codes.where(codes >= 0)
    y = np.concatenate([rows.y, rows.y_test])[:MOST_ROWS]
    return X.to_numpy(np.float64), y, np.flatnonzero(~np.array(is_number)).tolist()


def predict(sets: ConformalClassifier, X: np.ndarray) -> np.ndarray:
    """Return our sets at each level."""
    return np.stack([sets.predict_set(X, level) for level in LEVELS], axis=2)


def answer(
    rows: Split, score: str, model: ProperBoostClassifier, *, extras: set[str]
) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Yield each way, and a function that predicts its sets, (n_rows, n_classes, n_levels)."""
    X, X_new, y, y_new = train_test_split(
        rows.X, rows.y, test_size=0.5, stratify=rows.y, random_state=0
    )
    fitted = clone(model).fit(X, y)
    ours = partial(ConformalClassifier, conformity_score=score)
    yield "split", lambda: predict(ours(fitted).fit(X_new, y_new), rows.X_test)
    yield "training rows", lambda: predict(ours(fitted).fit(X, y), rows.X_test)
    if "cross" not in extras:
        return
    folds = StratifiedKFold(5)
    yield "cross", lambda: predict(ours(model, cv=folds).fit(rows.X, rows.y), rows.X_test)
    if "search" in extras:
        yield (
            "cross, chosen",
            lambda: predict(
                ours(choose(rows, model, folds), cv=folds).fit(rows.X, rows.y), rows.X_test
            ),
        )
    if "bags" in extras:
        yield (
            "cross, 8 folds",
            lambda: predict(
                ours(model, cv=StratifiedKFold(N_BAGS)).fit(rows.X, rows.y), rows.X_test
            ),
        )
        yield "out of bag", lambda: predict(calibrate_bags(rows, score, model), rows.X_test)
    if "mapie" in extras:
        yield from answer_by_mapie(rows, score, fitted, (X_new, y_new), model, folds)


class Mean:
    """The mean of models in log-odds, as a model of bags has it under a logistic link."""

    def __init__(self, models: list) -> None:
        self.models, self.classes_ = models, models[0].classes_

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes."""
        logarithms = [np.log(model.predict_proba(X)) for model in self.models]
        return softmax(np.mean(logarithms, axis=0), axis=1)


def calibrate_bags(rows: Split, score: str, model: ProperBoostClassifier) -> ConformalClassifier:
    """Return sets by bags that are fitted apart, each to three quarters of the rows."""
    bags = design(N_BAGS)
    order = np.random.default_rng(0).permutation(len(rows.y))
    part = np.empty(len(rows.y), dtype=np.intp)
    part[order[np.argsort(rows.y[order], kind="stable")]] = np.arange(len(rows.y)) % bags.n_parts
    fits = [clone(model).fit(rows.X[used], rows.y[used]) for used in bags.in_bag[:, part]]
    held_out = []
    for k in np.unique(part):
        out = np.flatnonzero(part == k)
        mean = Mean([fit for fit, used in zip(fits, bags.in_bag[:, k], strict=True) if not used])
        codes = np.searchsorted(mean.classes_, rows.y[out])
        held_out.append(HeldOut(mean, out, codes, mean.predict_proba(rows.X[out])))
    sets = ConformalClassifier(conformity_score=score)
    sets._set_models([part.model for part in held_out])
    sets._calibrate(held_out, rows.X, None)
    return sets


def choose(
    rows: Split, model: ProperBoostClassifier, folds: StratifiedKFold
) -> ProperBoostClassifier:
    """Return the classifier that a search chooses by the same folds."""
    search = ProperBoostClassifierCV(
        effort=1, cv=folds, n_jobs=1, categorical_features=model.categorical_features
    ).fit(rows.X, rows.y)
    return clone(search.best_estimator_)


def answer_by_mapie(rows: Split, score: str, fitted, calibration, model, folds) -> Iterator:
    """Yield MAPIE's ways; its APS includes the class that crosses the limit at random, as ours."""
    from mapie.classification import CrossConformalClassifier, SplitConformalClassifier

    last = {"include_last_label": "randomized"} if score == "aps" else {}
    common = {"confidence_level": LEVELS, "conformity_score": score, "random_state": 0}

    def split() -> np.ndarray:
        sets = SplitConformalClassifier(fitted, prefit=True, **common).conformalize(*calibration)
        return sets.predict_set(rows.X_test, conformity_score_params=last)[1]

    yield "split, MAPIE", split
    crossed: list = []

    def cross(by: str) -> np.ndarray:
        if not crossed:
            sets = CrossConformalClassifier(model, cv=folds, **common)
            crossed.append(sets.fit_conformalize(rows.X, rows.y))
        return crossed[0].predict_set(rows.X_test, conformity_score_params=last, agg_scores=by)[1]

    yield "cross, MAPIE mean", partial(cross, "mean")
    if len(rows.y) <= MOST_COUNTS:
        yield "cross, MAPIE counts", partial(cross, "crossval")


def measure(name: str, score: str, options: argparse.Namespace) -> None:
    """Print a line for each way and level."""
    X, y, categories = load(name)
    model = ProperBoostClassifier(n_jobs=1, categorical_features=categories, weak_learner="table")
    cells: dict[str, list] = {}
    for seed in range(options.splits):
        parts = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
        rows = Split(parts[0], parts[2], parts[1], parts[3])
        at = np.arange(len(rows.y_test))
        extras = {name for name, n_splits in options.extras.items() if seed < n_splits}
        ways = answer(rows, score, model, extras=extras)
        for way, predict_all in ways:
            start = time.process_time()
            sets = predict_all()
            seconds = time.process_time() - start
            figures = [
                (s[at, rows.y_test].mean(), s.sum(axis=1).mean(), (~s.any(axis=1)).mean())
                for s in np.moveaxis(sets, 2, 0)
            ]
            cells.setdefault(way, []).append([(*figure, seconds) for figure in figures])
    common = min(n for n in (options.splits, *options.extras.values()) if n)
    for way, figures in cells.items():
        values = np.array(figures)  # (n_splits, n_levels, 4)
        for level, by_split in zip(LEVELS, np.moveaxis(values, 1, 0), strict=True):
            coverage, size, empty, seconds = by_split.mean(axis=0)
            error = by_split[:, 0].std(ddof=1) / np.sqrt(len(by_split))
            print(f"{name:22s} {score} {way:20s} {level:4.2f} coverage {coverage:.4f} "
                  f"+- {error:.4f} size {size:7.4f} (first {common}: "
                  f"{by_split[:common, 1].mean():7.4f}) empty {empty:.3f} s {seconds:.2f}",
                  flush=True)  # fmt: skip


def sum_up(sets: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the coverage and the mean size of sets, (n_rows, n_classes)."""
    return float(sets[np.arange(len(y)), y].mean()), float(sets.sum(axis=1).mean())


def compare_at_coverage(name: str, score: str, n_splits: int) -> None:
    """Print sizes of the cross way over those of means of folds' probabilities.

    Means have one limit for the scores of all rows, as MAPIE's default.  The second ratio is at the
    coverage that the means have: the cross way's level is lowered until it has the same.
    """
    X, y, categories = load(name)
    model = ProperBoostClassifier(n_jobs=1, categorical_features=categories, weak_learner="table")
    cross, means = [], []
    for seed in range(n_splits):
        parts = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
        sets = ConformalClassifier(model, cv=StratifiedKFold(5), conformity_score=score)
        sets.fit(parts[0], parts[2])
        cross.append([sum_up(sets.predict_set(parts[1], c), parts[3]) for c in FINE_LEVELS])
        uniform = draw_uniform(sets.models_[0].predict_proba(parts[1]))
        scores = SCORES[score](sets.predict_proba(parts[1]), uniform)
        held_out = np.sort(np.concatenate([part.sorted_scores[0] for part in sets._scores]))
        below = np.searchsorted(held_out, scores)
        limits = [find_limit(len(held_out), level) for level in LEVELS]
        means.append([sum_up(below < limit, parts[3]) for limit in limits])
    covered, sizes = np.mean(cross, axis=0).T
    for level, (coverage, size) in zip(LEVELS, np.mean(means, axis=0), strict=True):
        k = FINE_LEVELS.index(level)
        same = np.interp(coverage, covered, sizes)
        words = f"coverage {covered[k]:.4f}, of means {coverage:.4f}; size {sizes[k] / size:.3f}"
        print(f"{name:22s} {score} {level:4.2f} {words} of means', at their coverage "
              f"{same / size:.3f}", flush=True)  # fmt: skip


def main() -> None:
    """Print a table for each set and score."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--sets", nargs="+", default=NAMES, choices=SETS, metavar="NAME")
    parser.add_argument("--scores", nargs="+", default=("lac", "aps"), choices=("lac", "aps"))
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--cross-splits", type=int, default=200)
    parser.add_argument("--mapie-splits", type=int, default=0)
    parser.add_argument("--search-splits", type=int, default=0)
    parser.add_argument("--bags-splits", type=int, default=0)
    parser.add_argument("--same-coverage", type=int, default=0, metavar="SPLITS")
    options = parser.parse_args()
    options.extras = {
        name: getattr(options, f"{name}_splits") for name in ("cross", "mapie", "search", "bags")
    }
    print_machine("mapie", "scikit-learn")
    warnings.simplefilter("ignore")
    for name in options.sets:
        n_classes = len(np.unique(load(name)[1]))
        for score in options.scores if n_classes > 2 else ("lac",):
            if options.same_coverage:
                compare_at_coverage(name, score, options.same_coverage)
            else:
                measure(name, score, options)


if __name__ == "__main__":
    main()
