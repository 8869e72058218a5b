"""Candidates for the default of a plain fit, compared with the peers at their defaults.

    python -m benchmarks.peers.plain_fits --half development --folds 3      # training rows alone
    python -m benchmarks.peers.plain_fits --half confirmation --seeds 3     # held-out rows
    python -m benchmarks.peers.plain_fits --half outside --seeds 3          # drawn by lot
    python -m benchmarks.peers.plain_fits --products 1000000 --only LightGBM trees "terms*lines"
    python -m benchmarks.peers.plain_fits --flipped 0 .01 .05 .2 --only LightGBM auto  # rules

Every candidate is one fit without tuning, on one thread.  On each split the contestants take turns,
so that their processor seconds are of the same minutes.  Defaults are chosen with `--folds` on the
development sets; the other half is scored once (benchmarks/lib/sets.py).

It prints the log loss of each contestant over that of each peer: geometric means over the sets, of
which the problems on letters are one.  Then come the sets on which a candidate is behind a peer by
5% and by two standard errors of the difference, and processor seconds over those of LightGBM.
"""

import argparse
import fnmatch
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import gmean
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

from benchmarks.lib.learners import plain
from benchmarks.lib.race import progress
from benchmarks.lib.rules import RULES, make_rules
from benchmarks.lib.sets import SETS, Split, divide
from benchmarks.peers.contestants import is_category
from benchmarks.peers.defaults import PARTS, count_letters_once
from benchmarks.peers.panel import number_columns
from properboost import Tree

LEAST_PROBABILITY = 1e-15
MOST_CATEGORIES = 255  # of a column, with HGB
MADE_UP_TEST = 200_000
ROWS_OF_RULES = (300, 700, 2_000, 5_000)
LOSS_OF_RULES = 0.003
"""The log loss that is added where there is no noise, so that ratios are finite."""
BEHIND = 1.05
"""The ratio of log losses from which on a set counts against a candidate."""


def _lightgbm(seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


def _xgboost(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1, enable_categorical=True)


def _number_many_categories(X: pd.DataFrame) -> pd.DataFrame:
    """Return a table with numbers for categories of more values than HGB takes."""
    many = [c for c in X if is_category(X[c]) and len(X[c].cat.categories) > MOST_CATEGORIES]
    return X.assign(**{c: X[c].cat.codes.where(X[c].notna()) for c in many})


def _hist_gradient_boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(random_state=seed, categorical_features="from_dtype")
    return make_pipeline(FunctionTransformer(_number_many_categories), model)


def _ours(**parameters: Any) -> Callable[[int], Any]:
    return plain(n_jobs=1, **parameters)


LEVELS: dict[str, Any] = {"grow_policy": "symmetric", "interaction_cst": 3}

PEERS: dict[str, Callable[[int], Any]] = {
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
    "HGB": _hist_gradient_boosting,
}
CANDIDATES: dict[str, Callable[[int], Any]] = {
    "auto": _ours(weak_learner="auto"),
    "tables": _ours(weak_learner="table"),
    "tables, 10 pairs": _ours(weak_learner="table", interactions=10),
    "trees, 100 rounds": _ours(weak_learner="tree", n_estimators=100),
    "trees": _ours(weak_learner="tree"),
    "trees, lines": _ours(weak_learner=Tree(linear_leaves=True)),
    "terms, best first": _ours(weak_learner=Tree(interaction_cst=3)),
    "terms, best first, lines": _ours(weak_learner=Tree(interaction_cst=3, linear_leaves=True)),
    "terms, levels": _ours(weak_learner=Tree(**LEVELS)),
    "terms, levels, lines": _ours(weak_learner=Tree(**LEVELS, linear_leaves=True)),
    "terms, 3 levels, lines, 200": _ours(
        weak_learner=Tree(**LEVELS, max_depth=3, linear_leaves=True), n_estimators=200
    ),
}
CONTESTANTS = PEERS | CANDIDATES


class Result(NamedTuple):
    """The log losses of rows, and the processor seconds of a fit."""

    losses: NDArray[np.float64]
    seconds: float


def measure(make: Callable[[int], Any], split: Split, seed: int) -> Result:
    """Fit a model, and score the rows of a split."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        begin = time.process_time()
        model = make(seed).fit(split.X, split.y)
        seconds = time.process_time() - begin
        p = np.asarray(model.predict_proba(split.X_test), dtype=float)
    p = np.clip(p / p.sum(axis=1, keepdims=True), LEAST_PROBABILITY, 1.0)
    return Result(-np.log(p[np.arange(len(p)), split.y_test]), seconds)


def measure_set(name: str, names: Sequence[str], seeds: int, folds: int) -> dict[str, list[Result]]:
    """Return the results of contestants on the splits of a set."""
    results: dict[str, list[Result]] = {contestant: [] for contestant in names}
    for seed in range(seeds):
        for split in divide(name, seed, folds):
            for contestant in names:
                progress(f"{name}, seed {seed}: {contestant}")
                make = CONTESTANTS[contestant]
                results[contestant].append(measure(make, number_columns(split), seed))
    return results


def compare(results: Mapping[str, Sequence[Result]], splits_of_rows: int) -> dict[str, Any]:
    """Return figures of a set: losses, seconds, and each one's difference in standard errors.

    Every row is held out in one of as many splits as `splits_of_rows`; other seeds have the same
    rows again, so they do not make the standard error smaller.
    """
    row: dict[str, Any] = {}
    for name, of_name in results.items():
        row[name] = np.mean([result.losses.mean() for result in of_name])
        row[f"{name}, s"] = np.mean([result.seconds for result in of_name])
    for peer in (peer for peer in PEERS if peer in results):
        for name, of_name in results.items():
            pairs = zip(of_name, results[peer], strict=True)
            differences = np.concatenate([a.losses - b.losses for a, b in pairs])
            n = len(differences) * splits_of_rows / len(of_name)
            row[f"{name}, z {peer}"] = differences.mean() / (differences.std() / np.sqrt(n) or 1.0)
    return row


def make_products(n_rows: int) -> Split:
    """Return made-up rows of 30 numbers, of which twelve count, most of them by products."""
    parts = []
    for seed, n in enumerate([n_rows, MADE_UP_TEST]):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(n, 30)).astype(np.float32)
        score = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.7 * np.abs(x[:, 3]) * x[:, 4]
        score += 0.5 * x[:, 5] + 0.5 * (x[:, 6] > 0) * x[:, 7] + 0.3 * x[:, 8] ** 2 - 0.3
        score += 0.4 * x[:, 9] * x[:, 10] * x[:, 11]
        parts += [pd.DataFrame(x), (rng.random(n) < expit(score)).astype(int)]
    return Split(*parts)


def compare_rules(names: Sequence[str], flipped: float) -> pd.DataFrame:
    """Return the figures of made-up rules, of whose labels a share is flipped."""
    rows = {}
    for seed, n_rows in enumerate(ROWS_OF_RULES):
        for rule in RULES:
            progress(f"{rule}, {n_rows} rows")
            split = number_columns(make_rules(rule, n_rows, flipped, seed))
            results = {name: [measure(CONTESTANTS[name], split, 0)] for name in names}
            rows[f"{rule}, {n_rows}"] = compare(results, 1)
    progress("")
    table = pd.DataFrame.from_dict(rows, orient="index")
    table[list(names)] += LOSS_OF_RULES
    return table


def report(table: pd.DataFrame, names: Sequence[str]) -> None:
    """Print ratios, sets that are behind, and seconds."""
    peers = [peer for peer in PEERS if peer in names]
    print(f"\n{'log loss over that of':28s}" + "".join(f"{peer:>10}" for peer in peers) + "   s")
    for name in names:
        ratios = [gmean(count_letters_once(table[[name]].div(table[p], axis=0))) for p in peers]
        seconds = f"{table[f'{name}, s'].sum() / table[f'{peers[0]}, s'].sum():6.2f}"
        print(f"{name:28s}" + "".join(f"{float(ratio[0]):10.3f}" for ratio in ratios) + seconds)
    for name in names:
        for peer in peers:
            ratio, z = table[name] / table[peer], table[f"{name}, z {peer}"]
            behind = table.index[(ratio > BEHIND) & (z > 2.0)]
            if name not in PEERS and len(behind):
                print(f"{name} behind {peer}:", *(f"{s} {ratio[s]:.2f}" for s in behind))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=PARTS, nargs="+", default=["development"])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns of contestants")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--folds", type=int, default=0, help="0 scores held-out rows")
    parser.add_argument(
        "--products", type=int, metavar="ROWS", help="made-up rows in place of sets"
    )
    parser.add_argument(
        "--flipped", type=float, nargs="+", default=[], metavar="SHARE",
        help="made-up rules in place of sets, with these shares of wrong labels",
    )  # fmt: skip
    options = parser.parse_args()
    names = [c for c in CONTESTANTS if any(fnmatch.fnmatch(c, p) for p in options.only)]
    if options.products:
        split = number_columns(make_products(options.products))
        for name in names:
            result = measure(CONTESTANTS[name], split, 0)
            print(f"{name:28s}{result.losses.mean():10.4f}{result.seconds:8.1f} s", flush=True)
        return
    for flipped in options.flipped:
        print(f"\nrules, {flipped:g} of the labels flipped")
        report(compare_rules(names, flipped), names)
    if options.flipped:
        return
    tables = {}
    for half in options.half:
        print(f"\n{half:24s}" + "".join(f"{name[:22]:>24}" for name in names))
        rows = {}
        for name in (name for name in PARTS[half] if name in options.sets):
            results = measure_set(name, names, options.seeds, options.folds)
            rows[name] = compare(results, max(options.folds, 1))
            progress("")
            print(f"{name:24s}" + "".join(f"{rows[name][c]:24.4f}" for c in names), flush=True)
        tables[half] = pd.DataFrame.from_dict(rows, orient="index")
        report(tables[half], names)
    if len(tables) > 1:
        print("\nboth halves")
        report(pd.concat(tables.values()), names)


if __name__ == "__main__":
    main()
