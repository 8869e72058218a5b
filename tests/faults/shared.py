"""Threads that fit and predict with estimators of their own, and with shared ones.

    python tests/faults/shared.py --threads 8 --operations 5000

Every prediction must have the bits that it has without threads.  A shared estimator is fitted to
the same rows by all, so whichever fit a prediction sees is the same.
"""

import argparse
import collections
import random
import threading
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import NotFittedError

import properboost as pb


def make_models() -> dict[str, Callable[[], object]]:
    return {
        "tables": lambda: pb.ProperBoostClassifier(
            n_estimators=3, interactions=2, n_jobs=2, weak_learner="table"
        ),
        "trees": lambda: pb.ProperBoostClassifier(weak_learner="tree", n_estimators=2, n_jobs=2),
        "UDT": lambda: pb.UDTClassifier(max_leaf_nodes=6, n_jobs=2),
        "AR-Boost": lambda: pb.ARBoostClassifier(n_estimators=3, n_jobs=2),
        "rados": lambda: pb.RadoBoostClassifier(n_estimators=5, n_rados=40, n_jobs=2),
        "ULS": lambda: pb.ULSClassifier(n_estimators=5, n_jobs=2),
        "search": lambda: pb.ProperBoostClassifierCV(
            max_estimators=2, space={"gain": [1.0]}, cv=2, n_jobs=2, effort=None
        ),
    }


def run_threads(threads: int, operations: int, seed: int = 0) -> collections.Counter[str]:
    """Count the right operations of each kind; raise at a wrong one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5)).astype(np.float32)
    y = X[:, 0] + rng.normal(size=len(X)) > 0
    makers = make_models()
    shared = {name: make().fit(X, y) for name, make in makers.items()}
    expected = {name: model.decision_function(X).tobytes() for name, model in shared.items()}
    done: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        draw = random.Random(seed * 1000 + number)
        for _ in range(operations // threads):
            name = draw.choice(list(makers))
            what = draw.choice(["fit shared", "predict shared", "fit own"])
            try:
                model = makers[name]() if what == "fit own" else shared[name]
                if what != "predict shared":
                    model.fit(X, y)
                right = model.decision_function(X).tobytes() == expected[name]
                problem = "" if right else "other bits"
            except NotFittedError as error:
                # A search forgets its results when a fit begins.
                what, problem = "refused", "" if name == "search" else repr(error)
            except Exception as error:
                problem = repr(error)
            with lock:
                done[what] += 1
                if problem:
                    wrong.append(f"{what} {name}: {problem}")

    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if wrong:
        raise AssertionError(f"{len(wrong)} of {done.total()} were wrong: {wrong[:5]}")
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--operations", type=int, default=5000)
    arguments = parser.parse_args()
    print(dict(run_threads(arguments.threads, arguments.operations)))


if __name__ == "__main__":
    main()
