"""Compare two commits: is the second no slower, and are its predictions the same?

    python -m benchmarks.engine.commits main~10              # a commit and the working tree
    python -m benchmarks.engine.commits v0.1.0 v0.2.0 --record benchmarks/releases.jsonl
    python -m benchmarks.engine.commits main~1 --only 'fit*' --limit 1.05

Each commit is built as users get it, into a folder under `out/commits`, and reused the next time.
Each has a process that imports it; both do the same tasks in turns, A B B A, on one thread.  A
task's ratio is the median of the turns' ratios of processor times.  If it is above `--limit`, the
task takes as many turns again, and all of them count.  A ratio that is still above counts as
slower: then the exit status is 1.

Both run at the defaults of their commit, except for the settings in a task's name.  So a ratio is
the change for a user's program, and the log loss is the change of its predictions.  Tasks named
"given" have the same bins, tables, gain and rounds in both, so that the engine does the same work.
A task that a commit lacks is left out.  `--record` appends a line; `tools/write_trends.py` makes
the page from these lines.
"""

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from fnmatch import fnmatch
from inspect import signature
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.lib.cli import make_plain_parser, print_machine
from benchmarks.lib.data import Problem, load_letters, make_synthetic
from benchmarks.lib.race import print_table, progress, spread

ROOT = Path(__file__).resolve().parents[2]
HERE = "here"
"""The name of the working tree, changed or not."""

# -- the tasks -------------------------------------------------------------------------------------

ONE, SEARCH = "ProperBoostClassifier", "ProperBoostClassifierCV"

Task: TypeAlias = Callable[[], Callable[[], float]]
"""A function to time; it returns a function that computes the log loss."""


def _fit(name: str, load: Callable[..., Problem], **settings: Any) -> Task:
    model, train, test = _make(name, settings), load(), load(test=True)

    def run() -> Callable[[], float]:
        model.fit(*train)
        return lambda: _judge(model, test)

    return run


def _predict(load: Callable[..., Problem], **settings: Any) -> Task:
    model, test = _make(ONE, settings).fit(*load()), load(test=True)

    def run() -> Callable[[], float]:
        model.predict_proba(test.X)
        return lambda: _judge(model, test)

    return run


def _make(name: str, settings: Mapping[str, Any]) -> Any:
    import properboost

    kind = getattr(properboost, name)
    if "effort" not in signature(kind).parameters:  # all searches were exhaustive, as with None
        settings = {key: value for key, value in settings.items() if key != "effort"}
    if not hasattr(properboost, "Tree"):
        settings = _flatten(settings)
    return kind(n_jobs=1).set_params(**settings)


def _flatten(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings for commits whose estimators had every field as a parameter."""
    lists = {"gain": "gains", "weak_learner__smoothing": "smoothings"}
    space = {lists.get(name, name): value for name, value in settings.get("space", {}).items()}
    flat = {**settings, **space}
    flat.pop("space", None)
    if flat.get("weak_learner") == "table":  # the default, which had another name
        del flat["weak_learner"]
    return {name.rpartition("__")[2]: value for name, value in flat.items()}


def _judge(model: Any, test: Problem) -> float:
    from sklearn.metrics import log_loss

    return float(log_loss(test.y, model.predict_proba(test.X), labels=model.classes_))


def _tall(*, test: bool = False) -> Problem:
    return make_synthetic(50_000 if test else 200_000, 50, test=test)


def _wide(*, test: bool = False) -> Problem:
    return make_synthetic(5_000, 1_000, test=test)


def _small(*, test: bool = False) -> Problem:
    return make_synthetic(5_000 if test else 500, 10, test=test)


def _scored(*, test: bool = False) -> Problem:
    return make_synthetic(500_000 if test else 20_000, 50, test=test)


def _crowded(*, test: bool = False) -> Problem:
    """Return columns with one value in 95% of the rows."""
    problem = _tall(test=test)
    X = np.array(problem.X)
    X[np.random.default_rng(int(test)).random(X.shape) < 0.95] = 0.0
    return Problem(X, problem.y)


def _searched(*, test: bool = False) -> Problem:
    return make_synthetic(20_000, 14, test=test)


def _digits(*, test: bool = False) -> Problem:
    X, y = load_digits(return_X_y=True)
    here = np.arange(len(y)) % 4 == 0
    return Problem(X[here == test], y[here == test])


NEWTON: dict[str, Any] = {"response": "newton"}
BINS: dict[str, Any] = {"max_bins": 255, "rows_per_bin": None}
TABLES = BINS | {
    "weak_learner": "table", "weak_learner__max_cells": None, "weak_learner__smoothing": 0.0,
}  # fmt: skip
GREEDY: dict[str, Any] = {"selection": "greedy", "n_estimators": 100}
STUMPS = BINS | GREEDY | {"weak_learner": "stump"}
LEAVES: dict[str, Any] = {"weak_learner": "tree", "weak_learner__max_leaf_nodes": 31}
TREES = BINS | LEAVES | {
    "weak_learner__max_features": 1.0, "n_estimators": 20, "learning_rate": 0.1,
}  # fmt: skip
SEARCHED = BINS | {
    "space": {
        "weak_learner__max_cells": None, "weak_learner__smoothing": [0.0], "selection": "greedy",
        "gain": np.geomspace(0.5, 8.0, 16).tolist(),
    },
    "effort": None, "cv": 5, "max_estimators": 100,
}  # fmt: skip
TASKS: dict[str, Callable[[], Task]] = {
    "fit, tall": lambda: _fit(ONE, _tall, weak_learner="table"),
    "fit, tall, cyclic": lambda: _fit(ONE, _tall, selection="cyclic", n_estimators=10),
    "fit, tall, Newton stumps": lambda: _fit(ONE, _tall, weak_learner="stump", **NEWTON),
    "fit, tall, Newton trees": lambda: _fit(ONE, _tall, n_estimators=20, **LEAVES, **NEWTON),
    "fit, wide": lambda: _fit(ONE, _wide, weak_learner="table"),
    "fit, 500 rows": lambda: _fit(ONE, _small, weak_learner="table"),
    "fit, 26 classes": lambda: _fit(ONE, load_letters, weak_learner="table"),
    "search, 500 rows": lambda: _fit(SEARCH, _small),
    "predict, tables": lambda: _predict(_scored, weak_learner="table"),
    "predict, trees": lambda: _predict(_scored, **LEAVES),
    "given, tables": lambda: _fit(ONE, _tall, gain=2.0, **TABLES, **GREEDY),
    "given, crowded codes": lambda: _fit(ONE, _crowded, gain=2.0, **TABLES, **GREEDY),
    "given, cyclic": lambda: _fit(
        ONE, _tall, gain=2.0, selection="cyclic", n_estimators=10, **TABLES
    ),
    "given, stumps": lambda: _fit(ONE, _tall, gain=1.0, **STUMPS),
    "given, Newton stumps": lambda: _fit(ONE, _tall, gain=1.0, **NEWTON, **STUMPS),
    "given, Newton trees": lambda: _fit(ONE, _tall, gain=1.0, **NEWTON, **TREES),
    "given, 26 classes, cyclic": lambda: _fit(
        ONE, load_letters, gain=2.0, selection="cyclic", n_estimators=10, **TABLES
    ),
    "given, search": lambda: _fit(SEARCH, _searched, **SEARCHED),
    "given, search of ten classes": lambda: _fit(SEARCH, _digits, **SEARCHED),
}


def serve() -> None:
    """Do the task of each input line; write its measures, or why it is missing."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # a task's prints must not mix with the answers
    ready: dict[str, Task] = {}
    for line in sys.stdin:
        name = json.loads(line)
        try:
            if name not in ready:
                ready.clear()  # one table at a time
                ready[name] = TASKS[name]()
            started = time.process_time()  # all tasks take one thread
            read_loss = ready[name]()
            answer = {"seconds": time.process_time() - started, "log loss": read_loss()}
        except Exception as error:  # this commit lacks the task
            answer = {"missing": f"{type(error).__name__}: {error}".partition("\n")[0]}
        answers.write(json.dumps(answer) + "\n")


# -- two commits -----------------------------------------------------------------------------------


def install(commit: str, folder: Path) -> Path:
    """Return the folder of a commit's package, and build it there if it is missing."""
    if commit == HERE:
        return ROOT / "python"
    target = folder / commit
    if (target / "properboost").is_dir():
        return target
    progress(f"building {commit[:10]}")
    with tempfile.TemporaryDirectory() as source:
        with tarfile.open(fileobj=io.BytesIO(_git("archive", commit))) as archive:
            archive.extractall(source, filter="data")
        partial = Path(source) / "installed"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*command, "--target", str(partial), source], check=True)
        shutil.move(partial, target)
    return target


def _find(commit: str) -> str:
    return _git("rev-parse", "--verify", f"{commit}^{{commit}}").decode().strip()


def _name(commit: str) -> str:
    """Return the last tag and the distance from it, or else the commit's short name."""
    return (
        commit
        if commit == HERE
        else _git("describe", "--tags", "--always", commit).decode().strip()
    )


def _git(*arguments: str) -> bytes:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


class Side:
    """A process that does tasks with the package of a commit."""

    def __init__(self, commit: str, process: "subprocess.Popen[str]") -> None:
        self.commit, self._process = commit, process

    def do(self, name: str) -> dict[str, Any]:
        """Do a task; return its seconds and its log loss, or why it is missing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(name) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self.commit} ended in {name!r}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def opened(commit: str, folder: Path) -> Iterator[Side]:
    """Start the process of a commit."""
    paths = [str(install(commit, folder)), str(ROOT)]
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.engine.commits", "--serve"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=folder,  # a folder without a package of another commit
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield Side(commit, process)
        finally:
            process.terminate()


def compare(sides: Sequence[Side], name: str, turns: int, limit: float) -> dict[str, Any]:
    """Run a task on both sides in turns; return the ratios of the second's times to the first's."""
    answers: list[dict[str, Any]] = [{}, {}]
    for k in (0, 1):  # a warm-up
        progress(f"{name}: warm-up")
        answers[k] = sides[k].do(name)
        if "missing" in answers[k]:
            return {"missing": f"{_name(sides[k].commit)}: {answers[k]['missing']}"}
    seconds: list[list[float]] = [[], []]

    def take_turns() -> list[float]:
        for turn in range(turns):
            progress(f"{name}: {turn + 1}/{turns}")
            for k in (0, 1) if turn % 2 == 0 else (1, 0):
                seconds[k].append(sides[k].do(name)["seconds"])
        return [second / first for first, second in zip(*seconds, strict=True)]

    ratios = take_turns()
    if median(ratios) > limit:
        ratios = take_turns()
    return {
        "seconds": [median(times) for times in seconds],
        "ratios": ratios,
        "log loss": [answer["log loss"] for answer in answers],
    }


def _show(measures: Mapping[str, Any], limit: float) -> list[str]:
    if "missing" in measures:
        return ["", "", "", "", f"missing in {measures['missing'].partition(':')[0]}"]
    first, second = measures["log loss"]
    return [
        *(f"{seconds:.3f}" for seconds in measures["seconds"]),
        spread(measures["ratios"]),
        f"{first:.5f}" if first == second else f"{first:.5f} to {second:.5f}",
        "SLOWER" if median(measures["ratios"]) > limit else "",
    ]


def main() -> int:
    """Compare two commits."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("base", nargs="?", help="a commit")
    parser.add_argument("head", nargs="?", default=HERE, help="another (default: the working tree)")
    parser.add_argument("--turns", type=int, default=7, help="of each task (default: %(default)s)")
    parser.add_argument(
        "--limit", type=float, default=1.03, help="of a ratio of times (default: %(default)s)"
    )
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="tasks")
    parser.add_argument("--record", type=Path, help="append the results to this file")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return 0
    if arguments.base is None:
        parser.error("a commit to compare with must be given")
    names = [n for n in TASKS if any(fnmatch(n, pattern) for pattern in arguments.only)]
    if not names:
        parser.error(f"--only must match one of {', '.join(TASKS)}")
    if arguments.record is not None and arguments.head == HERE:
        parser.error("--record needs two commits: the next record goes on from the second")
    folder = ROOT / "out" / "commits"
    folder.mkdir(parents=True, exist_ok=True)
    revisions = (arguments.base, arguments.head)
    commits = [c if c == HERE else _find(c) for c in revisions]
    labels = [_name(c) for c in commits]
    machine = print_machine()
    print(f"{labels[0]} and {labels[1]}, {arguments.turns} turns each\n", flush=True)
    with ExitStack() as stack:
        sides = [stack.enter_context(opened(commit, folder)) for commit in commits]
        tasks = {n: compare(sides, n, arguments.turns, arguments.limit) for n in names}
    progress("")
    head = ["", *(f"{label}, s" for label in labels), "ratio (min-max)", "log loss", ""]
    print_table(head, ([name, *_show(tasks[name], arguments.limit)] for name in names))
    for name, measures in tasks.items():
        if "missing" in measures:
            print(f"{name}: {measures['missing']}")
    if arguments.record is not None:
        line = {
            "base": labels[0], "head": labels[1], "commits": commits, "machine": machine,
            "date": f"{datetime.now(UTC):%Y-%m-%d}", "tasks": tasks,
        }  # fmt: skip
        with arguments.record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    ratios = {n: measures["ratios"] for n, measures in tasks.items() if "ratios" in measures}
    return int(any(median(of_task) > arguments.limit for of_task in ratios.values()))


if __name__ == "__main__":
    sys.exit(main())
