"""What the search finds without a number tuned by hand, on rows it has not seen.

    python -m benchmarks.peers.accuracy        # all claims, some minutes
    python -m benchmarks.peers.accuracy adult  # one of them

Everything is chosen on the training rows by 5-fold cross-validation (10-fold for ``p1-trees``,
where errors are few), the number of estimators included; the test rows are scored once, at the end.

- ``adult``: ADULT as the BoostLR paper has it (30,162 training and 15,060 test rows), scored by log
  loss, all parameters at their defaults.
- ``p1-log-loss``, ``p2-log-loss``: LETTER.p1 (the letter O) and LETTER.p2 (N to Z against A to M),
  the first 4,000 rows of the UCI file against the other 16,000; loss, smoothing, prior and
  selection are searched beside the gain.
- ``p1-accuracy``, ``p2-accuracy``: the same, scored by accuracy.
- ``p1-trees``, ``p2-trees``: boosted trees, of which size, draws and the rest are searched beside
  the gain; scored by log loss.
- ``adult-pairs``, ``p2-pairs``: tables of single features, then of pairs; the number of pairs is
  searched, too, and for ADULT how fine the bins are.
"""

import time

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.lib.cli import make_plain_parser
from properboost import ProperBoostClassifierCV
from properboost.datasets import load_adult, load_letter
from properboost.reproduce.pinned_search import make_search

SEARCHED = {
    "loss": ["glog", "ggauss", "glaplacian", "gboost"],
    "smoothings": [0.0, 0.1, 0.2],
    "priors": [None, 1e-3],
    "selection": ["greedy", "cyclic"],
}

# What of finer and coarser grids the training folds left over.
TREES = {
    "weak_learner": "tree",
    "gains": [20, 40],
    "max_features": [0.2, 0.3, 0.4, 0.5],
    "subsample": [0.75, 1.0],
    "max_estimators": 2000,
}
PAIRS = {
    "loss": "gboost",
    "gains": [1, 2, 4],
    "smoothings": [0.1, 0.2],
    "selection": "greedy",
    "rows_per_bin": None,
    "interactions": [0, 30, 60, 120],
}

CLAIMS = {
    "adult": (load_adult, {}, None),  # the defaults, whatever they are
    "p1-log-loss": (load_letter, {"part": "p1"}, SEARCHED),
    "p2-log-loss": (load_letter, {"part": "p2"}, SEARCHED),
    "p1-accuracy": (load_letter, {"part": "p1"}, {**SEARCHED, "scoring": "accuracy"}),
    "p2-accuracy": (load_letter, {"part": "p2"}, {**SEARCHED, "scoring": "accuracy"}),
    "adult-pairs": (
        load_adult,
        {},
        [{"interactions": [0, 5, 10, 20, 40], "rows_per_bin": rows} for rows in (100, 200, 500)],
    ),
    "p1-trees": (
        load_letter,
        {"part": "p1"},
        {
            **TREES,
            "loss": ["glog", "savage"],
            "gains": [10, 20, 40],
            "max_leaf_nodes": [8, 16, 32],
            "min_child_weight": 0.1,
            "subsample": 1.0,
            "cv": 10,
        },
    ),
    "p2-trees": (
        load_letter,
        {"part": "p2"},
        {**TREES, "max_leaf_nodes": [32, 48, 64], "min_child_weight": [0.03, 0.1]},
    ),
    "p2-pairs": (load_letter, {"part": "p2"}, PAIRS),
}


def main() -> None:
    """Run the claims named on the command line."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help=f"of {', '.join(CLAIMS)}")
    names = parser.parse_args().claims or list(CLAIMS)
    unknown = [name for name in names if name not in CLAIMS]
    if unknown:
        parser.error(f"CLAIM must be one of {', '.join(CLAIMS)}; got {unknown[0]}")
    for name in names:
        load, which, settings = CLAIMS[name]
        train, test = (load(subset=subset, **which) for subset in ("train", "test"))
        start = time.perf_counter()
        searches = [
            (ProperBoostClassifierCV(effort=None) if some is None else make_search(**some)).fit(
                train.data, train.target
            )
            for some in (settings if isinstance(settings, list) else [settings])
        ]
        search = max(searches, key=lambda s: s.best_score_)
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
