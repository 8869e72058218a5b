"""The accuracy of the search without a number tuned by hand, on new rows.

    python -m benchmarks.peers.accuracy        # all claims, some minutes
    python -m benchmarks.peers.accuracy adult  # one of them

The search chooses everything, the number of estimators included, on the training rows by 5-fold
cross-validation (10-fold for ``p1-trees``, where errors are few).  The test rows are scored once,
at the end.

- ``adult``: ADULT as in the BoostLR paper (30,162 training and 15,060 test rows), scored by log
  loss, with all parameters at their defaults.
- ``p1-log-loss``, ``p2-log-loss``: LETTER.p1 (the letter O) and LETTER.p2 (N to Z against A to M),
  with training on the first 4,000 rows of the UCI file and tests on the other 16,000; the search
  covers loss, smoothing, prior, selection and gain.
- ``p1-accuracy``, ``p2-accuracy``: the same, scored by accuracy.
- ``p1-trees``, ``p2-trees``: boosted trees; the search covers their size, draws and the rest, and
  the gain; scored by log loss.
- ``adult-pairs``, ``p2-pairs``: tables of single features, then of pairs; the search also covers
  the number of pairs, and for ADULT the size of bins.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.lib.cli import make_plain_parser
from properboost import ProperBoostClassifierCV
from properboost.datasets import load_adult, load_letter
from properboost.reproduce.pinned_search import make_search

TABLES = {"weak_learner": "table", "weak_learner__max_cells": None}
SEARCHED = TABLES | {
    "loss": ["glog", "ggauss", "glaplacian", "gboost"],
    "weak_learner__smoothing": [0.0, 0.1, 0.2],
    "prior": [None, 1e-3],
    "selection": ["greedy", "cyclic"],
}

# The training folds chose these from finer and coarser grids.
TREES = {
    "weak_learner": "tree",
    "weak_learner__max_features": [0.2, 0.3, 0.4, 0.5],
    "selection": "unbiased",
}
P1_TREES = TREES | {
    "loss": ["glog", "savage"],
    "gain": [10, 20, 40],
    "weak_learner__max_leaf_nodes": [8, 16, 32],
    "weak_learner__min_child_weight": 0.1,
}
P2_TREES = TREES | {
    "gain": [20, 40],
    "weak_learner__max_leaf_nodes": [32, 48, 64],
    "weak_learner__min_child_weight": [0.03, 0.1],
    "weak_learner__subsample": [0.75, 1.0],
}

PAIRS = {
    "interactions": [0, 5, 10, 20, 40],
    "interactions__learning_rate": [1.0, 0.5, 0.25, 0.125],
    "interactions__smoothing": [0.0, 0.1, 0.2, 0.25],
}
P2_PAIRS = (
    TABLES
    | PAIRS
    | {
        "loss": "gboost",
        "gain": [1, 2, 4],
        "weak_learner__smoothing": [0.1, 0.2],
        "selection": "greedy",
        "interactions": [0, 30, 60, 120],
    }
)

P1, P2 = ({"part": part} for part in ("p1", "p2"))
CLAIMS: dict[str, tuple[Callable[..., Any], Mapping[str, str], Sequence[Any]]] = {
    "adult": (load_adult, {}, [ProperBoostClassifierCV(effort=None)]),  # at the defaults
    "p1-log-loss": (load_letter, P1, [make_search(SEARCHED)]),
    "p2-log-loss": (load_letter, P2, [make_search(SEARCHED)]),
    "p1-accuracy": (load_letter, P1, [make_search(SEARCHED, scoring="accuracy")]),
    "p2-accuracy": (load_letter, P2, [make_search(SEARCHED, scoring="accuracy")]),
    "adult-pairs": (
        load_adult, {}, [make_search(PAIRS, rows_per_bin=rows) for rows in (100, 200, 500)],
    ),
    "p1-trees": (load_letter, P1, [make_search(P1_TREES, max_estimators=2000, cv=10)]),
    "p2-trees": (load_letter, P2, [make_search(P2_TREES, max_estimators=2000)]),
    "p2-pairs": (load_letter, P2, [make_search(P2_PAIRS, rows_per_bin=None)]),
}  # fmt: skip
"""By name the table, its part, and the searches; the best of these is scored."""


def main() -> None:
    """Run the claims named on the command line."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help=f"of {', '.join(CLAIMS)}")
    names = parser.parse_args().claims or list(CLAIMS)
    unknown = [name for name in names if name not in CLAIMS]
    if unknown:
        parser.error(f"CLAIM must be one of {', '.join(CLAIMS)}; got {unknown[0]}")
    for name in names:
        load, settings, searches = CLAIMS[name]
        train, test = (load(subset=subset, **settings) for subset in ("train", "test"))
        start = time.perf_counter()
        fitted = [search.fit(train.data, train.target) for search in searches]
        search = max(fitted, key=lambda s: s.best_score_)
        seconds = time.perf_counter() - start
        p = search.predict_proba(test.data)
        y = np.asarray(test.target)
        errors = int(np.sum(search.predict(test.data) != y))
        print(
            f"{name}: {errors:,} errors, log loss {log_loss(y, p):.4f} on {len(y):,} test rows; "
            f"{len(search.cv_results_['params']):,} configurations in {seconds:.1f} s, chosen: "
            f"{search.best_params_}, cross-validated score {search.best_score_:.5f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
