"""Programs that end while their threads fit, predict, search, load, write reports.

    python tests/faults/exits.py --repeats 20

Such a program must end with the status that it sets.  Before 3.14 Python ends a daemon thread by
unwinding its stack where it takes the interpreter's lock.  A destructor of ours in between would
end the process (SIGABRT).
"""

import argparse
import collections
import subprocess
import sys

PROGRAM = """
import atexit, ctypes, os, random, sys, tempfile, threading, time, traceback, types, warnings
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from scipy import LowLevelCallable
import properboost as pb
from properboost import losses, rado

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 6))
y = X[:, 0] + rng.normal(size=len(X)) > 0
few, labels = X[:500], y[:500]
classes = np.digitize(X[:, 1], [-1.0, 0.0, 1.0])
def boost(**named):
    named = {"weak_learner": "table", "n_estimators": 20, "n_jobs": 2} | named
    return pb.ProperBoostClassifier(**named)

model = boost(n_estimators=5).fit(X, y)
of_classes = boost(n_estimators=2).fit(X, classes)
trees = boost(weak_learner="tree", n_estimators=5).fit(X, y)
expected = model.decision_function(X).tobytes()
folder = tempfile.TemporaryDirectory()
path = folder.name + "/model.json"
model.save_model(path)
called = losses.from_functions(lambda u: 1.0 / (1.0 + np.exp(u)), name="called", tabulate=False)
C = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda u: 1.0 / (1.0 + np.exp(u)))
native = losses.from_functions(LowLevelCallable(C), name="native")

def search(**named):
    return pb.ProperBoostClassifierCV(max_estimators=3, cv=2, n_jobs=2, effort=None, **named)

def write_report():
    from properboost import report
    report.write_report(model, few, labels, path=folder.name + f"/{threading.get_ident()}.html")

def score(model, X, y):
    return float(np.mean(model.predict(X) == y))

WORK = {
    "fit default": lambda: pb.ProperBoostClassifier(n_jobs=2).fit(few, labels),
    "fit tables": lambda: boost().fit(X, y),
    "fit trees": lambda: boost(weak_learner="tree").fit(X, y),
    "fit classes": lambda: boost(n_estimators=5).fit(X, classes),
    "fit pairs": lambda: boost(interactions=2, outer_bags=4).fit(few, labels),
    "fit called": lambda: boost(loss=called).fit(X, y),
    "fit native": lambda: boost(loss=native).fit(few, labels),
    "fit UDT": lambda: pb.UDTClassifier(max_leaf_nodes=6, n_jobs=2).fit(X, y),
    "fit AR-Boost": lambda: pb.ARBoostClassifier(n_estimators=3, n_jobs=2).fit(X, y),
    "fit rados": lambda: pb.RadoBoostClassifier(n_rados=40, n_jobs=2).fit(X, y),
    "make rados": lambda: rado.make_rados(X, y, 50, n_jobs=2),
    "search": lambda: search().fit(few, labels),
    "search scorer": lambda: search(scoring=score).fit(few, labels),
    "predict": lambda: model.predict_proba(X),
    "predict one row": lambda: model.predict_proba(X[:1]),
    "predict classes": lambda: of_classes.predict_proba(X),
    "predict trees": lambda: list(trees.staged_decision_function(X)),
    "contributions": lambda: model.contributions(X),
    "evaluate loss": lambda: losses.GLog().weight(X),
    "load": lambda: pb.load_model(path),
    "save": lambda: model.save_model(folder.name + f"/{threading.get_ident()}.json"),
    "export": lambda: pb.export.to_sql(model, dialect="sqlite"),
    "report": write_report,
}
works, end, daemon = sys.argv[1].split(","), sys.argv[2], sys.argv[3] == "daemon"
started = threading.Semaphore(0)

def work(name):
    try:
        WORK[name]()
    except BaseException:
        traceback.print_exc()
        os._exit(9)
    started.release()
    while daemon or threading.main_thread().is_alive():
        WORK[name]()

for name in works:
    threading.Thread(target=work, args=(name,), daemon=daemon).start()
for _ in works:
    started.acquire()
time.sleep(random.Random(sys.argv[4]).random() / 20)

def predict_at_the_end():
    again = boost(n_estimators=5).fit(X, y)
    same = model.decision_function(X).tobytes() == again.decision_function(X).tobytes() == expected
    os.write(1, b"same bits" if same else b"other bits")

if end == "exit":
    sys.exit(7)
elif end == "error":
    raise ValueError("planned")
elif end == "atexit":
    atexit.register(predict_at_the_end)
elif end.startswith("finalizer"):
    class Last:
        def __init__(self, **used):
            self.__dict__ |= used
        def __del__(self):
            if "called" in self.end:  # its function is for this thread only now
                try:
                    model = self.pb.ProperBoostClassifier(self.called, weak_learner="table")
                    model.set_params(n_jobs=2).fit(self.X, self.y)
                except RuntimeError as error:
                    assert "Python is ending" in str(error), error
                except ImportError:
                    pass  # Python has taken its modules down, some of which it wants for types
                self.os.write(1, b"over")
                return
            same = self.model.decision_function(self.X).tobytes() == self.expected
            self.os.write(1, b"same bits" if same else b"other bits")
    # Not among the names here, which daemon threads keep.
    sys.modules["holder"] = types.ModuleType("holder")
    sys.modules["holder"].last = Last(
        pb=pb, X=X, y=y, os=os, expected=expected, called=called, end=end, model=model
    )
elif end == "executor":
    pool = ThreadPoolExecutor(3)
    done = [pool.submit(predict_at_the_end) for _ in range(3)]
elif end == "_exit":
    os._exit(7)
elif end == "fork":
    child = os.fork()
    if child == 0:
        predict_at_the_end()
    else:
        _, status = os.waitpid(child, 0)
        sys.exit(os.waitstatus_to_exitcode(status))
"""

WORKS = (
    "fit default", "fit tables", "fit trees", "fit classes", "fit pairs", "fit called",
    "fit native", "fit UDT", "fit AR-Boost", "fit rados", "make rados", "search", "search scorer",
    "predict", "predict one row", "predict classes", "predict trees", "contributions",
    "evaluate loss", "load", "save", "export", "report",
)  # fmt: skip

SAME = "same bits"
ENDS = {
    "return": (0, ""),
    "exit": (7, ""),
    "error": (1, ""),
    "atexit": (0, SAME),
    "finalizer": (0, SAME),
    "finalizer, called": (0, "over"),
    "executor": (0, 3 * SAME),
    "_exit": (7, ""),
    "fork": (0, SAME),
}
"""Ways in which a program ends: its exit status, and its last output."""


def end_program(works: list[str], end: str, *, daemon: bool = True, seed: int = 0) -> str:
    """End a program while its threads work, one per kind; return the error, or ""."""
    arguments = [",".join(works), end, "daemon" if daemon else "other", str(seed)]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if (done.returncode, done.stdout) == ENDS[end]:
        return ""
    return f"{works} {end}: {done.returncode}, {done.stdout!r}, {done.stderr.strip()[-300:]!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20, help="of each kind of work and of end")
    repeats = parser.parse_args().repeats
    wrong: collections.Counter[str] = collections.Counter()
    for seed in range(repeats):
        ends = list(ENDS)
        for k, work in enumerate(WORKS):
            wrong[end_program([work] * 2, ends[(seed + k) % len(ends)], seed=seed)] += 1
        for end in ends:
            wrong[end_program(["fit tables", "predict"], end, daemon=False, seed=seed)] += 1
        print(dict(wrong), flush=True)


if __name__ == "__main__":
    main()
