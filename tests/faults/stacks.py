"""Fits and predictions where the OpenMP runtime gives its threads little stack.

    python tests/faults/stacks.py 16k 20k 32k 64k 100k 128k 256k

The bits must be those of threads with the usual stack.
"""

import argparse
import os
import subprocess
import sys

PROGRAM = """
import hashlib, sys, warnings
import numpy as np
import properboost as pb
from properboost import losses, rado

warnings.simplefilter("ignore")
n_jobs = int(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(12_000, 8))
X[:, 3] = np.round(X[:, 3])
X[rng.random(X.shape) < 0.02] = np.nan
full = np.nan_to_num(X)
y = full[:, 0] + full[:, 1] * full[:, 2] + rng.normal(size=len(X)) > 0
classes = np.digitize(full[:, 1], [-1.0, 0.0, 1.0])
weight = rng.integers(1, 4, len(X)).astype(float)
digest = hashlib.sha256()

def boost(**named):
    return pb.ProperBoostClassifier(**{"n_estimators": 3, "n_jobs": n_jobs, **named})

def see(model, labels=y, X=X, **named):
    model.fit(X, labels, **named)
    digest.update(model.decision_function(X).tobytes())
    digest.update(np.asarray(model.predict_proba(X)).tobytes())

for learner in ("table", "stump", "rule", "tree"):
    for response in ("real", "newton"):
        see(boost(weak_learner=learner, response=response))
    see(boost(weak_learner=learner), sample_weight=weight)
    see(boost(weak_learner=learner), classes)
    see(boost(weak_learner=learner, multiclass="canonical"), classes)
    see(boost(weak_learner=learner, early_stopping=True))
see(pb.SAMME(n_estimators=3, n_jobs=n_jobs), classes)
see(boost(interactions=2))
see(boost(outer_bags=4))
see(boost(weak_learner=pb.Tree(grow_policy="symmetric")))
see(boost(weak_learner=pb.Tree(linear_leaves=True)))
see(boost(step="totally_corrective"))
see(boost(loss=losses.from_functions(lambda u: 1 / (1 + np.exp(u)), name="mine", tabulate=False)))
see(boost(loss=losses.from_functions(lambda u: 1 / (1 + np.exp(u)), name="table")))
see(boost(), X=X.astype(np.float32))
see(pb.UDTClassifier(max_leaf_nodes=20, n_jobs=n_jobs))
see(pb.ARBoostClassifier(n_estimators=3, n_jobs=n_jobs), classes)
digest.update(rado.make_rados(full, y, 40, n_jobs=n_jobs).values.tobytes())
search = {"max_estimators": 2, "cv": 3, "n_jobs": n_jobs, "effort": None}
see(pb.ProperBoostClassifierCV(**search))
see(pb.ProperBoostClassifierCV({"weak_learner": "tree"}, **search), classes)
print(digest.hexdigest())
"""


def fit_all(n_jobs: int = 4, **environment: str) -> str:
    """Return the digest of predictions of a separate process, or how that ended."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(n_jobs)],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment},
        check=False,
        timeout=300,
    )
    if done.returncode != 0:
        return f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="+", help="values of OMP_STACKSIZE")
    usual = fit_all()
    for size in parser.parse_args().sizes:
        digest = fit_all(OMP_STACKSIZE=size)
        print(f"{size:8} {'same bits' if digest == usual else digest}", flush=True)


if __name__ == "__main__":
    main()
