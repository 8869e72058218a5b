"""Weak classifiers that vote, against scikit-learn's AdaBoostClassifier: time for equal rounds.

    python -m benchmarks.peers.votes

20,000 rows of 20 normal features; the two take turns.
"""

import time

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.lib.cli import make_plain_parser
from properboost.reproduce.pinned_votes import make_votes


def main():
    make_plain_parser(__doc__).parse_args()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 20)).astype(np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(len(X))
    y = np.searchsorted(np.quantile(score, [0.25, 0.5, 0.75]), score)
    for classes, labels in ((2, y > 1), (4, y)):
        for depth in (1, 3):
            kind = {} if depth == 1 else {"weak_learner": "tree", "max_depth": depth}
            ours = make_votes(n_estimators=20, **kind)
            theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=20)
            seconds = np.empty((5, 2))
            for turn in range(len(seconds)):
                for k, model in enumerate((ours, theirs)):
                    start = time.perf_counter()
                    model.fit(X, labels)
                    seconds[turn, k] = time.perf_counter() - start
            our_seconds, peer_seconds = np.median(seconds, axis=0)
            print(
                f"{classes} classes, depth {depth}: {1000 * our_seconds:.0f} ms, scikit-learn "
                f"{1000 * peer_seconds:.0f} ms ({peer_seconds / our_seconds:.0f} times), accuracy "
                f"{ours.score(X, labels):.4f} and {theirs.score(X, labels):.4f}"
            )


if __name__ == "__main__":
    main()
