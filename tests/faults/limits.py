"""Fits in processes that the system allows few threads or little address space.

    python tests/faults/limits.py --steps 40

Each process fits on one thread, then limits itself and fits on several.  It must not end: the fit
works, with the same bits and perhaps a warning, or raises MemoryError.
"""

import argparse
import collections
import os
import subprocess
import sys

LIMITED = """
import resource, sys, warnings
import numpy as np
import properboost as pb

kind, amount, n_jobs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 10)).astype(np.float32)
y = X[:, 0] + rng.normal(size=len(X)) > 0
alone = pb.ProperBoostClassifier(n_estimators=3, n_jobs=1).fit(X, y).decision_function(X)
if kind == "memory":
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + amount, used + amount))
else:
    import os
    resource.setrlimit(resource.RLIMIT_NPROC, (amount, amount))
    if os.getuid() == 0:
        os.setuid(54321)  # the limit is not for root
caught = []
try:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = pb.ProperBoostClassifier(n_estimators=3, n_jobs=n_jobs).fit(X, y)
        same = np.array_equal(model.decision_function(X), alone)
    print("fitted" if same else "other bits", "warned" if caught else "silent")
except MemoryError:
    print("refused")
"""


def fit_limited(kind: str, amount: int, n_jobs: int = 2, **environment: str) -> str:
    """Return the output of a limited process, such as "refused" or "fitted silent", or its end."""
    # numpy starts its threads at import, so they are limited to one.
    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, kind, str(amount), str(n_jobs)],
        capture_output=True,
        text=True,
        env={**os.environ, **single, **environment},
        check=False,
        timeout=300,
    )
    if done.returncode != 0:
        return f"ended with {done.returncode}: {done.stderr.strip()[-120:]}"
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="of a megabyte")
    steps = parser.parse_args().steps
    for kind, amounts in (
        ("memory", [step << 20 for step in range(1, steps + 1)]),
        ("processes", list(range(1, 9))),
    ):
        for n_jobs in (2, 4, 8):
            outcomes = collections.Counter(fit_limited(kind, a, n_jobs) for a in amounts)
            print(kind, f"n_jobs={n_jobs}", dict(outcomes), flush=True)


if __name__ == "__main__":
    main()
