"""Processes that are forked, spawned or asked of a fork server while threads fit.

    python tests/faults/processes.py --children 30

A child must fit and predict with the bits of its parent.  A forked child runs on one thread.
"""

import argparse
import multiprocessing
import sys
import threading
import warnings
from pathlib import Path

import numpy as np

import properboost as pb

METHODS = ("fork", "spawn", "forkserver")
TIMEOUT = 120.0
"""Seconds after which a child counts as hung."""


def make_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 8)).astype(np.float32)
    return X, X[:, 0] * X[:, 1] + rng.normal(size=len(X)) > 0


def fit_and_predict(learner: str = "tree") -> bytes:
    X, y = make_rows()
    model = pb.ProperBoostClassifier(weak_learner=learner, n_estimators=4, n_jobs=2).fit(X, y)
    return model.decision_function(X).tobytes()


def work(pipe) -> None:
    """Fit in a child, and send its predictions."""
    pipe.send_bytes(fit_and_predict())
    pipe.close()


def start_children(method: str, children: int, busy_threads: int = 2) -> int:
    """Start children while threads fit; return how many gave the parent's bits."""
    expected = fit_and_predict()
    over = threading.Event()

    def fit_on() -> None:
        while not over.is_set():
            fit_and_predict("table")

    threads = [threading.Thread(target=fit_on) for _ in range(busy_threads)]
    for thread in threads:
        thread.start()
    right = 0
    try:
        context = multiprocessing.get_context(method)
        for _ in range(children):
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=work, args=(theirs,))
            with warnings.catch_warnings():
                # Python warns of forks beside threads since 3.12.
                warnings.simplefilter("ignore", DeprecationWarning)
                child.start()
            theirs.close()
            if ours.poll(TIMEOUT):
                right += ours.recv_bytes() == expected
                child.join(TIMEOUT)
            child.kill()  # it may still run
            child.join()
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--children", type=int, default=30, help="of each kind")
    children = parser.parse_args().children
    for method in METHODS:
        print(f"{method:12} {start_children(method, children)} of {children}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
