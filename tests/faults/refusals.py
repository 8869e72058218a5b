"""Memory refused at every allocation of a call, one after the other.

    python tests/faults/refusals.py --refusals 1000 [--least 1]

A small library, compiled for the purpose and loaded before all others, counts allocations and
refuses the n-th: once, or it and all after it.  The call must raise MemoryError or return the same
bits as ever; an estimator keeps its earlier fit; and the process must not end.  numpy and pybind11
raise SystemError where their own records are refused.  The OpenMP runtime's and the loader's
allocations are not counted: they end the process where their few kilobytes are refused.
"""

import argparse
import collections
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

SOURCE = r"""
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static long left = 0;  /* allocations until the one that is refused; 0: none is */
static int lasts = 0;
static size_t least = 0;
static uintptr_t spared[4];  /* where two libraries begin and end */

void refuse(long after, int and_all_others, size_t at_least, uintptr_t begin, uintptr_t end,
            uintptr_t other_begin, uintptr_t other_end) {
  lasts = and_all_others;
  least = at_least;
  spared[0] = begin;
  spared[1] = end;
  spared[2] = other_begin;
  spared[3] = other_end;
  __atomic_store_n(&left, after, __ATOMIC_SEQ_CST);
}

long allocations_left(void) { return __atomic_load_n(&left, __ATOMIC_SEQ_CST); }

static int refused(size_t size, void* caller) {
  const uintptr_t from = (uintptr_t)caller;
  if (__atomic_load_n(&left, __ATOMIC_RELAXED) == 0 || size < least) return 0;
  if (from >= spared[0] && from < spared[1]) return 0;
  if (from >= spared[2] && from < spared[3]) return 0;
  const long n = __atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST);
  if (n > 0) return 0;
  if (n == 0 && lasts) __atomic_store_n(&left, -1, __ATOMIC_SEQ_CST);
  if (n < 0 && !lasts) {  /* refused by another thread just now */
    __atomic_store_n(&left, 0, __ATOMIC_SEQ_CST);
    return 0;
  }
  if (n < -1) __atomic_store_n(&left, -1, __ATOMIC_SEQ_CST);
  errno = ENOMEM;
  return 1;
}

#define CALLER __builtin_return_address(0)
void* malloc(size_t n) { return refused(n, CALLER) ? NULL : __libc_malloc(n); }
void* calloc(size_t k, size_t n) { return refused(k * n, CALLER) ? NULL : __libc_calloc(k, n); }
void* realloc(void* p, size_t n) { return refused(n, CALLER) ? NULL : __libc_realloc(p, n); }
void* memalign(size_t a, size_t n) { return refused(n, CALLER) ? NULL : __libc_memalign(a, n); }
void* aligned_alloc(size_t a, size_t n) {
  return refused(n, CALLER) ? NULL : __libc_memalign(a, n);
}
int posix_memalign(void** p, size_t a, size_t n) {
  if (refused(n, CALLER)) return ENOMEM;
  *p = __libc_memalign(a, n);
  return *p == NULL ? ENOMEM : 0;
}
"""

ROWS = 3000


def make_library(folder: Path) -> Path | None:
    """Compile the library; None where there is no compiler or no glibc."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    source, library = folder / "refuse.c", folder / "refuse.so"
    source.write_text(SOURCE)
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(source)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    return library if done.returncode == 0 else None


# -- in the process whose memory is refused -------------------------------------------------------


def make_calls() -> dict[str, tuple[Callable[[], object], Callable[[], bytes]]]:
    """Return calls by name, each with a function of the state that must not change."""
    import numpy as np

    import properboost as pb
    from properboost import rado

    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 6))
    X[::7, 1] = np.nan
    y = X[:, 0] * X[:, 2] + rng.normal(size=ROWS) > 0
    classes = np.digitize(X[:, 0], [-1.0, 0.0, 1.0])
    models = {
        "tables": pb.ProperBoostClassifier(
            n_estimators=3, interactions=2, n_jobs=2, weak_learner="table"
        ),
        "trees": pb.ProperBoostClassifier(weak_learner="tree", n_estimators=3, n_jobs=2),
        "classes": pb.ProperBoostClassifier(
            "gboost", n_estimators=3, n_jobs=2, weak_learner="table"
        ),
        "UDT": pb.UDTClassifier(max_leaf_nodes=8, n_jobs=2),
        "AR-Boost": pb.ARBoostClassifier(n_estimators=3, n_jobs=2),
        "rados": pb.RadoBoostClassifier(n_estimators=5, n_rados=50, n_jobs=2),
        "search": pb.ProperBoostClassifierCV(
            max_estimators=3, space={"gain": [0.5, 1.0]}, cv=2, n_jobs=2, effort=None
        ),
    }
    # Rados cannot be made of missing values.
    full = np.nan_to_num(X)
    calls = {}
    for name, model in models.items():
        table = full if name == "rados" else X
        labels = classes if name == "classes" else y
        model.fit(table, labels)
        raw = model.decision_function

        def state(raw=raw, table=table) -> bytes:
            return raw(table[:200]).tobytes()

        calls[f"fit {name}"] = (
            lambda model=model, table=table, labels=labels: model.fit(table, labels),
            state,
        )
        predict = model.predict_proba if name == "classes" else raw
        calls[f"predict {name}"] = (lambda predict=predict, table=table: predict(table), state)
    tables, trees = models["tables"], models["trees"]
    calls["contributions"] = (lambda: tables.contributions(X), calls["fit tables"][1])
    calls["stages"] = (lambda: list(trees.staged_decision_function(X)), calls["fit trees"][1])
    calls["making rados"] = (
        lambda: rado.make_rados(full, y, 50, n_jobs=2),
        calls["fit rados"][1],
    )
    return calls


def find_spared() -> list[int]:
    """Return the bounds in memory of the engine's OpenMP runtime and of the loader."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    bounds = []
    # scikit-learn brings another runtime, with a hash in its name.
    for name in (r"/lib(gomp|omp|iomp5)\.so", r"/ld-[^/]*\.so|/ld-linux"):
        ranges = [line.split()[0].split("-") for line in maps if re.search(name, line)]
        ends = [int(end, 16) for pair in ranges for end in pair]
        bounds += [min(ends, default=0), max(ends, default=0)]
    return bounds


def work(first_call: int, first: int, each: int, least: int, lasts: bool) -> None:
    """Refuse `each` allocations of each call, from a first one on, and print the outcomes."""
    warnings.simplefilter("ignore")
    library = ctypes.CDLL(None)
    library.refuse.argtypes = [ctypes.c_long, ctypes.c_int, *[ctypes.c_size_t] * 5]
    library.allocations_left.restype = ctypes.c_long
    calls = make_calls()
    spared = find_spared()
    many = 10**9
    for k, (name, (call, state)) in enumerate(calls.items()):
        call()  # the first call imports modules and fills caches
        library.refuse(many, 0, least, *spared)
        call()
        total = many - library.allocations_left()
        library.refuse(0, 0, 0, *spared)
        before = state()
        for i in range(min(each, total)) if k >= first_call else ():
            if k == first_call and i < first:
                continue
            print("trying", json.dumps([k, i, name]), flush=True)
            outcome = "returned"
            library.refuse(1 + i * total // min(each, total), lasts, least, *spared)
            try:
                call()
            except MemoryError:
                outcome = "MemoryError"
            except Exception as error:
                library.refuse(0, 0, 0, *spared)
                outcome = f"{type(error).__name__}: {error}"
            finally:
                library.refuse(0, 0, 0, *spared)
            if state() != before:
                outcome = "other state"
            print("outcome", json.dumps(outcome), flush=True)
    print("done", flush=True)


# -- in the process that watches it ---------------------------------------------------------------


def refuse_memory(
    library: Path, refusals: int, least: int = 1, lasts: bool = False
) -> collections.Counter[str]:
    """Return the counts of outcomes, in the words of `work`; "ended" is a crash."""
    outcomes: collections.Counter[str] = collections.Counter()
    each = max(1, refusals // CALLS)
    k = i = 0
    while True:
        done = subprocess.run(
            [
                sys.executable,
                __file__,
                "--work",
                str(k),
                str(i),
                str(each),
                str(least),
                str(+lasts),
            ],
            capture_output=True,
            text=True,
            env={**os.environ, "LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1"},
            check=False,
        )
        lines = done.stdout.splitlines()
        outcomes.update(json.loads(line[8:]) for line in lines if line.startswith("outcome "))
        if lines and lines[-1] == "done":
            return outcomes
        tried = [json.loads(line[7:]) for line in lines if line.startswith("trying ")]
        if not tried:
            raise RuntimeError(f"the calls cannot be made: {done.stderr[-2000:]}")
        k, i, name = tried[-1]
        last_line = done.stderr.strip().splitlines()[-1:] or [""]
        outcomes[f"ended with {done.returncode} in {name!r}, {i}: {last_line[0]}"] += 1
        i += 1


CALLS = 15
"""Number of calls that `make_calls` returns."""


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        k, i, each, least, lasts = map(int, sys.argv[2:])
        work(k, i, each, least, bool(lasts))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--refusals", type=int, default=1000, help="in all, of each kind")
    parser.add_argument("--least", type=int, default=1, help="allocations from this size on, bytes")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        library = make_library(Path(folder))
        if library is None:
            sys.exit("this needs Linux, glibc and a C compiler")
        for lasts in (False, True):
            print("all from the n-th on:" if lasts else "the n-th only:")
            outcomes = refuse_memory(library, arguments.refusals, arguments.least, lasts)
            for outcome, n in outcomes.most_common():
                print(f"{n:8} {outcome}", flush=True)


if __name__ == "__main__":
    main()
