"""What the search finds without a number tuned by hand, on rows it has not seen.

    python benchmarks/accuracy.py                  # all claims, some minutes
    python benchmarks/accuracy.py adult            # one of them

Everything is chosen on the training rows by 5-fold cross-validation, the number of estimators
included; the test rows are scored once, at the end.

- ``adult``: ADULT as the BoostLR paper has it (30,162 training and 15,060 test rows), scored by log
  loss, all parameters at their defaults.
- ``p1-log-loss``, ``p2-log-loss``: LETTER.p1 (the letter O) and LETTER.p2 (N to Z against A to M),
  the first 4,000 rows of the UCI file against the other 16,000; loss, smoothing, prior and
  selection are searched beside the gain.
- ``p1-accuracy``, ``p2-accuracy``: the same, scored by accuracy.
"""

import argparse
import time

import numpy as np
from sklearn.metrics import log_loss

from properboost import ProperBoostClassifierCV
from properboost.datasets import load_adult, load_letter

SEARCHED = {
    "loss": ["glog", "ggauss", "glaplacian", "gboost"],
    "smoothings": [0.0, 0.1, 0.2],
    "priors": [None, 1e-3],
    "selection": ["greedy", "cyclic"],
}

CLAIMS = {
    "adult": (load_adult, {}, {}),
    "p1-log-loss": (load_letter, {"part": "p1"}, SEARCHED),
    "p2-log-loss": (load_letter, {"part": "p2"}, SEARCHED),
    "p1-accuracy": (load_letter, {"part": "p1"}, {**SEARCHED, "scoring": "accuracy"}),
    "p2-accuracy": (load_letter, {"part": "p2"}, {**SEARCHED, "scoring": "accuracy"}),
}


def main() -> None:
    """Run the claims named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help=f"of {', '.join(CLAIMS)}")
    names = parser.parse_args().claims or list(CLAIMS)
    unknown = [name for name in names if name not in CLAIMS]
    if unknown:
        parser.error(f"CLAIM must be one of {', '.join(CLAIMS)}; got {unknown[0]}")
    for name in names:
        load, which, settings = CLAIMS[name]
        train, test = (load(subset=subset, **which) for subset in ("train", "test"))
        start = time.perf_counter()
        search = ProperBoostClassifierCV(**settings).fit(train.data, train.target)
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
