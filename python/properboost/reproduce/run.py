"""Runs of items: their pieces of work, and the records of earlier runs."""

import hashlib
import inspect
import json
import platform
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import sklearn

from properboost import _core
from properboost.parameters import checks
from properboost.progress import show_progress
from properboost.reproduce import data
from properboost.reproduce.catalogue import find_items, is_item
from properboost.reproduce.item import Experiment, Item, Piece, Reading, Seed
from properboost.reproduce.report import ReadingOutcome, describe, judge_item, title_of, to_json
from properboost.whole_file import write_whole

__all__ = ["reproduce"]


def reproduce(
    names: Iterable[str] = (),
    *,
    seeds: int | None = None,
    quick: bool = False,
    readings: bool = False,
    output_dir: str | Path = "out/papers",
    n_jobs: int = 1,
    say: Callable[[str], None] = print,
) -> dict[str, dict[str, Any]]:
    """Compute tables and figures of the papers, and compare them with what was published.

    Each item's report goes to `say` as soon as it is complete, and to
    ``<output_dir>/<paper>/<item>.json``, with a picture next to it where the item has one and
    matplotlib is installed.  ``<output_dir>/records`` has the records of pieces of work: a stopped
    run continues where it was, and a run with more seeds computes only the missing ones.

    Parameters
    ----------
    names : iterable of str, default=()
        Papers (``"boostlr"``) and items (``"boostlr/table4"``); all items if there is none.
    seeds : int, optional
        Repetitions of each experiment; by default those of the experiment, about 10, and half as
        many under other readings than the first, unless a reading has its number.
    quick : bool, default=False
        Two repetitions, and fewer data sets in the longest experiments.
    readings : bool, default=False
        Compute every reading of a paper's open details, not only the first.
    output_dir : str or path, default="out/papers"
        Folder of the results; it is made if need be.
    n_jobs : int, default=1
        Processes; each piece of work uses one.
    say : callable, default=print
        A function that receives the reports.

    Returns
    -------
    dict of str to dict
        The contents of each item's JSON file, by the item's name.

    Raises
    ------
    ValueError
        If there is no paper or item of a name, or a number is out of range.
    """
    items = find_items(names)
    if seeds is not None:
        checks.integer("seeds", seeds, 1)
    checks.integer("n_jobs", n_jobs, 1)
    folder = Path(output_dir)
    (folder / "records").mkdir(
        parents=True, exist_ok=True
    )  # fail on a wrong folder before the work
    tasks = [_Task(name, item, seeds, quick, readings) for name, item in items.items()]
    missing = _find_missing(tasks)
    store = _Store(folder / "records", missing)
    reports = {}
    for task in _work(tasks, store, n_jobs):
        outcomes = [task.judge(reading, store) for reading in task.readings]
        say(describe(task.name, task.item, outcomes, list(task.missing)))
        reports[task.name] = _make_report(task, outcomes)
        path = folder / f"{task.name}.json"
        path.parent.mkdir(exist_ok=True)
        text = json.dumps(reports[task.name], indent=1) + "\n"
        write_whole(path, [text.encode()])
        say(_draw(task, outcomes[0], path.with_suffix(".png")) + "\n")
    for line in _list_reasons(missing):
        say(line)
    return {name: reports[name] for name in items}


@dataclass
class _Task:
    """An item with the choices of its run."""

    name: str
    item: Item
    asked: int | None
    quick: bool
    all_readings: bool
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def readings(self) -> Sequence[Reading]:
        return self.item.readings if self.all_readings else self.item.readings[:1]

    @property
    def parts(self) -> Mapping[str, Sequence[str]]:
        experiment = self.item.experiment
        quick_parts = experiment.quick_parts if self.quick else None
        return {
            k: v for k, v in experiment.parts.items() if quick_parts is None or k in quick_parts
        }

    @property
    def sets(self) -> list[str]:
        return sorted({name for names in self.parts.values() for name in names})

    def list_seeds(self, reading: Reading) -> range:
        """Return the seeds of a reading: those of the reading whose measurements it uses."""
        named = (other for other in self.item.readings if other.name == reading.measured)
        measured = next(named, reading)
        n = self._count_seeds(measured) if reading.random else 1
        return range(measured.first_seed, measured.first_seed + n)

    def _count_seeds(self, reading: Reading) -> int:
        experiment = self.item.experiment
        if not reading.random:
            return 1
        if self.asked or self.quick:
            return self.asked or experiment.quick_seeds
        if reading.seeds is not None:
            return reading.seeds
        first = reading is self.item.readings[0]
        return experiment.seeds if first else max(experiment.seeds // 2, experiment.quick_seeds)

    def find_parts(self, reading: Reading) -> list[str]:
        reading_parts = self.item.experiment.reading_parts
        is_first = reading is self.item.readings[0]
        return [
            part
            for part, sets in self.parts.items()
            if not self.missing.keys() & set(sets)
            and (is_first or reading_parts is None or part in reading_parts)
        ]

    def list_pieces(self, reading: Reading) -> list[Piece]:
        return [
            Piece(part, seed, reading.measured)
            for seed in self.list_seeds(reading)
            for part in self.find_parts(reading)
        ]

    @property
    def pieces(self) -> list[Piece]:
        """The work of all readings, each piece once: some share their measurements."""
        every = (piece for reading in self.readings for piece in self.list_pieces(reading))
        return list(dict.fromkeys(every))

    def judge(self, reading: Reading, store: "_Store") -> ReadingOutcome:
        records = store.read(self.item.experiment)
        pieces = self.list_pieces(reading)
        seeds: list[Seed] = [
            {p.part: records[p]["record"] for p in pieces if p.seed == seed}
            for seed in self.list_seeds(reading)
        ]
        seconds = sum(records[piece]["seconds"] for piece in pieces)
        return judge_item(self.item, reading, seeds, seconds)


class _Store:
    """The records of all experiments, in a file for each."""

    def __init__(self, folder: Path, missing: Iterable[str]) -> None:
        self._folder = folder
        self._missing = set(missing)
        self._records: dict[str, dict[Piece, dict[str, Any]]] = {}

    def read(self, experiment: Experiment) -> dict[Piece, dict[str, Any]]:
        """Return the records of the present code and data."""
        if experiment.name not in self._records:
            path = self._folder / f"{experiment.name}.jsonl"
            lines = path.read_text("utf-8").splitlines() if path.exists() else []
            made_by = {
                part: _fingerprint(experiment, part)
                for part, sets in experiment.parts.items()
                if lines and not self._missing & set(sets)
            }
            self._records[experiment.name] = {
                Piece(*line["piece"]): line
                for line in map(_parse, lines)
                if line is not None and line["made_by"] == made_by.get(line["piece"][0])
            }
        return self._records[experiment.name]

    def add(self, experiment: Experiment, piece: Piece, record: Any, seconds: float) -> None:
        line = {
            "piece": [piece.part, piece.seed, piece.reading],
            "made_by": _fingerprint(experiment, piece.part),
            "seconds": seconds,
            "record": record,
        }
        self.read(experiment)[piece] = line
        with (self._folder / f"{experiment.name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _parse(line: str) -> dict[str, Any] | None:
    try:
        parsed: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:  # the process was killed while it wrote
        return None
    return parsed


def _fingerprint(experiment: Experiment, part: str) -> str:
    """Return a digest of a record's sources: the library, the experiment's code, the data."""
    digest = hashlib.sha256(_core.__version__.encode())
    here = Path(__file__).parent
    measured_in = Path(inspect.getfile(experiment.measure))
    shared = [path for path in measured_in.parent.glob("*.py") if not is_item(path.stem)]
    for path in sorted({measured_in, *shared, *here.glob("pinned_*.py")}):
        digest.update(_read_source(path))
    for name in experiment.parts.get(part, ()):
        digest.update(data.hash_table(name).encode())
    return digest.hexdigest()[:16]


@lru_cache
def _read_source(path: Path) -> bytes:
    return path.read_bytes()


def _work(tasks: Sequence[_Task], store: _Store, n_jobs: int) -> Iterator[_Task]:
    """Compute all missing pieces, and yield each item once its pieces are complete."""
    lacking = {task.name: _find_lacking(task, store) for task in tasks}
    jobs = {
        (task.item.experiment.name, piece): task.item.experiment
        for task in tasks
        for piece in lacking[task.name]
    }
    waiting = {name: set(pieces) for name, pieces in lacking.items()}
    rest = list(tasks)
    with show_progress(int(bool(jobs)), len(jobs), "papers", "", unit="piece") as report:
        for done, (experiment, piece, record, seconds) in enumerate(_measure(jobs, n_jobs), 1):
            store.add(experiment, piece, record, seconds)
            if report is not None:
                report(done, float("nan"))
            for task in rest:
                if task.item.experiment is experiment:
                    waiting[task.name].discard(piece)
            while rest and not waiting[rest[0].name]:
                yield rest.pop(0)
    yield from rest


def _find_lacking(task: _Task, store: _Store) -> list[Piece]:
    records = store.read(task.item.experiment)
    return [piece for piece in task.pieces if piece not in records]


def _measure(
    jobs: Mapping[tuple[str, Piece], Experiment], n_jobs: int
) -> Iterator[tuple[Experiment, Piece, Any, float]]:
    """Compute pieces of work, in several processes if `n_jobs` is above 1."""
    order = [(experiment, piece) for (_, piece), experiment in jobs.items()]
    parallel = joblib.Parallel(
        n_jobs=min(n_jobs, max(len(order), 1)), return_as="generator_unordered"
    )
    measurements = parallel(
        joblib.delayed(_measure_one)(k, e.measure, p) for k, (e, p) in enumerate(order)
    )
    for k, record, seconds in measurements:
        yield (*order[k], record, seconds)


def _measure_one(
    number: int, measure: Callable[[Piece], Any], piece: Piece
) -> tuple[int, Any, float]:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a paper's settings may lead to warnings
        record = measure(piece)
    return number, record, time.process_time() - start


def _find_missing(tasks: Sequence[_Task]) -> dict[str, str]:
    """Return the reasons why data sets cannot be loaded, and set each task's missing sets."""
    missing = data.find_missing({s for task in tasks for s in task.sets})
    for task in tasks:
        task.missing = {s: missing[s] for s in task.sets if s in missing}
    return missing


def _list_reasons(missing: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each reason why data sets cannot be loaded."""
    for reason in dict.fromkeys(missing.values()):
        names = [name for name, why in missing.items() if why == reason]
        yield f"Missing: {', '.join(names)}: {reason}."


def _make_report(task: _Task, outcomes: Sequence[ReadingOutcome]) -> dict[str, Any]:
    """Return the contents of an item's file, with the data and the versions of its source."""
    return to_json(task.name, task.item, outcomes, task.missing) | {
        "data": {s: data.hash_table(s) for s in task.sets if s not in task.missing},
        "versions": _find_versions(),
    }


def _draw(task: _Task, outcome: ReadingOutcome, path: Path) -> str:
    """Draw an item's picture; return a line with its place or the reason why there is none."""
    seeds = [seed for seed in outcome.seeds if seed]
    report = f"{title_of(task.name)} is in {path.with_suffix('.json')}"
    if task.item.draw is None or not seeds:
        return f"{report}."
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return f"{report}; a picture needs matplotlib (pip install 'properboost[plots]')."
    figure = Figure(layout="constrained", dpi=110)
    task.item.draw(figure, seeds)
    figure.savefig(path)
    return f"{report}, its picture in {path}."


def _find_versions() -> dict[str, str]:
    return {
        "properboost": _core.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
