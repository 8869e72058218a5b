"""Leaves that are lines: do means of bins lose anything against the values themselves?

    PYTHONPATH=tests python -m benchmarks.engine.bin_means                # half an hour
    PYTHONPATH=tests python -m benchmarks.engine.bin_means --sets spambase --bins 64

The tests' plain reference fits the same trees twice: lines use the means of bins, as in the engine,
or each row's value, unbounded.  The data are numeric columns of training rows: half of the rows to
learn from, half to score.
"""

import argparse
from unittest import mock

import numpy as np
from sklearn.metrics import log_loss

import helpers.reference as ref
from benchmarks.lib import sets
from helpers.reference import lines

NAMES = ("magic", "LETTER.p2", "spambase", "credit_data")


def draw(name: str, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a row per feature, and signs."""
    split = sets.SETS[name](0)
    X = split.X.select_dtypes("number").to_numpy(np.float64)
    sample = np.random.default_rng(seed).permutation(len(X))[: 2 * rows]
    return X[sample].T, np.where(split.y[sample] == 1, 1.0, -1.0)


def score(X: np.ndarray, y: np.ndarray, max_bins: int, rounds: int) -> dict[str, float]:
    """Return the log loss with constant leaves, with means of bins, and with values."""
    half = len(y) // 2
    learn, held_out = slice(half), slice(half, None)
    varied = X[:, learn].min(axis=1) < X[:, learn].max(axis=1)
    X = X[varied]
    edges = [ref.quantile_edges(x[learn], max_bins=max_bins) for x in X]
    codes = np.stack([np.searchsorted(e, x, side="left") for e, x in zip(edges, X, strict=True)])
    bins, values = [], []
    for x, code, e in zip(X, codes, edges, strict=True):
        inside = code[learn]
        means = np.bincount(inside, x[learn], len(e) + 1) / np.bincount(
            inside, minlength=len(e) + 1
        )
        bins.append(ref.FeatureBins.numeric(e, means))
        values.append((x - means[0]) / (means[-1] - means[0]))
    raw = np.stack(values)
    # The codes identify the part of the rows: the reference passes them on whole.
    of_rows = {codes[:, part].tobytes(): raw[:, part] for part in (learn, held_out)}

    def find_values(codes: np.ndarray, _bins: object) -> np.ndarray:
        return of_rows[codes.tobytes()]

    losses = {}
    for way, find in {
        "constants": lines.find_positions,
        "means": lines.find_positions,
        "values": find_values,
    }.items():
        settings = ref.TreeSettings(
            max_leaf_nodes=8, linear_leaves=way != "constants", linear_l2=5.0, min_child_weight=1.0,
        )  # fmt: skip
        with mock.patch.object(lines, "find_positions", find):
            model = ref.fit(
                codes[:, learn], bins, y[learn], np.ones(half), loss=ref.make_loss("glog", 1.0),
                learner="tree", tree=settings, n_estimators=rounds, response="newton", l2=0.1,
                learning_rate=0.2, step="guarded",
            )  # fmt: skip
            F = ref.predict(model, codes[:, held_out])
        p = ref.make_loss("glog", 1.0).probability(F)
        losses[way] = log_loss(y[held_out], np.clip(p, 1e-12, 1 - 1e-12))
    return losses


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=NAMES)
    parser.add_argument("--bins", nargs="+", type=int, default=[32, 64, 255])
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    for name in options.sets:
        draws = [draw(name, options.rows, seed) for seed in range(options.seeds)]
        for max_bins in options.bins:
            losses = [score(X, y, max_bins, options.rounds) for X, y in draws]
            means = "  ".join(f"{way} {np.mean([f[way] for f in losses]):.4f}" for way in losses[0])
            print(f"{name:10s} {max_bins:3d} bins: {means}", flush=True)


if __name__ == "__main__":
    main()
