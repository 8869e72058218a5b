"""Properboost with cyclic selection against an EBM.

    python -m benchmarks.peers.ebm                             # ADULT and LETTER.p2, some minutes
    python -m benchmarks.peers.ebm --setting adult-pairs       # with interactions
    python -m benchmarks.peers.ebm --setting tall --repeats 1  # 1,000,000 x 50, minutes
    python -m benchmarks.peers.ebm --setting tall --rows 50000 --cycles 5 20
    python -m benchmarks.peers.ebm --rows 1000 --repeats 1     # a quick look

Both are additive models whose terms are boosted in turn.  The EBM is InterpretML's
ExplainableBoostingClassifier, from the distribution interpret-core.  It has interactions=0 except
in `adult-pairs`, where it has its default number and properboost searches the number.

*Quality* (`adult`, `letter`): the EBM has its defaults, that is 14 outer bags, each stopped early
by 15% of its rows, in as many processes as there are threads.  Properboost's line "search" is
ProperBoostClassifierCV without any number tuned by hand: gains and number of cycles by
cross-validation, and the fit on all rows.  The line "fit" is one fit with the choice of that
search.  The log loss is that of the held-out test rows.

*Speed* (`tall`): one model is fitted to all rows, without held-out rows, its columns declared as
continuous: 100 cycles over the 50 columns, 5,000 tables.  The EBM's first rounds smooth (their
splits are drawn at random) and some of its steps go to the columns that help most; the line "no
smoothing" fits the training rows better.  Properboost makes the numbers of cycles of `--cycles`,
with gain `--gain`.  The log loss of the training rows measures how much was fitted in the time.
The last column has that of as many test rows, because a table for every bin can overfit: no
additive model has less than 0.488 on new rows, and one that has less on training rows has
overfitted.

The time starts at the user's array or DataFrame and ends at the fitted model.  The contestants take
turns, see `lib/race.py`; the warm-up is the first 1,000 rows.  The ratio of times to properboost's
is the median of the rounds' ratios.  Run it on an idle machine, see `peers/fit.py`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.data import Problem, log_loss
from benchmarks.lib.libraries import Setting
from benchmarks.lib.race import (
    OURS,
    WORK,
    Clock,
    Contestant,
    find,
    in_one,
    print_against_ours,
    race,
)

WARM_UP_ROWS = 1_000


@dataclass(frozen=True)
class EbmSetting(Setting):
    """A table, and the kind of comparison: quality or speed."""

    quality: bool = True
    pairs: bool = False
    cycles: tuple[int, ...] = (5, 10, 20, 100)  # of properboost where speed is compared
    gain: float = 1.0  # likewise


SETTINGS = {
    "adult": EbmSetting("adult"),
    "adult-pairs": EbmSetting("adult", pairs=True),
    "letter": EbmSetting("letter"),
    "tall": EbmSetting(rows=1_000_000, quality=False),
}


class Task(NamedTuple):
    """The training rows and the held-out rows."""

    train: Problem
    test: Problem


class EbmOutcome(NamedTuple):
    """The log loss for the comparison, and a note."""

    log_loss: float
    note: str = ""


def _judge(model: Any, setting: EbmSetting, task: Task) -> EbmOutcome:
    def on(rows: Problem) -> float:
        return log_loss(rows.y, model.predict_proba(rows.X)[:, 1])

    if not setting.quality:
        return EbmOutcome(on(task.train), f"on test rows {on(task.test):.4f}")
    if not hasattr(model, "best_params_"):
        return EbmOutcome(on(task.test))
    pairs = f", {len(model.pairs_)} pairs" if setting.pairs else ""
    return EbmOutcome(on(task.test), f"gain {model.gain_:.3g}, {model.n_estimators_} cycles{pairs}")


def interpret(setting: EbmSetting) -> Iterator[Contestant]:
    from interpret.glassbox import ExplainableBoostingClassifier

    def make(name: str, **parameters: Any) -> Contestant:
        def run(setting: EbmSetting, task: Task) -> Any:
            types = None if setting.quality else ["continuous"] * task.train.X.shape[1]
            if not setting.pairs:
                parameters["interactions"] = 0
            return ExplainableBoostingClassifier(
                feature_types=types,
                n_jobs=setting.threads,
                random_state=0,
                **parameters,
            ).fit(*task.train)

        return in_one(name, run, _judge)

    if setting.quality:
        yield make("EBM")
        return
    one = {
        "outer_bags": 1,
        "validation_size": 0,
        "early_stopping_rounds": 0,
        "max_rounds": setting.rounds,
    }
    yield make(f"EBM, {setting.rounds} cycles", **one)
    yield make(f"EBM, {setting.rounds} cycles, no smoothing", smoothing_rounds=0, **one)


def properboost(setting: EbmSetting) -> Iterator[Contestant]:
    from benchmarks.peers.accuracy import PAIRS
    from properboost.reproduce.pinned_search import make_search
    from properboost.reproduce.pinned_tables import make_tables

    searched: list[tuple[Task, Any]] = []  # the last one

    def search(setting: EbmSetting, task: Task) -> Any:
        model = make_search(PAIRS if setting.pairs else {}, n_jobs=setting.threads)
        model.fit(*task.train)
        searched[:] = [(task, model)]
        return model

    def fit(clock: Clock, setting: EbmSetting, task: Task) -> Callable[[], EbmOutcome]:
        if not searched or searched[0][0] is not task:
            search(setting, task)
        best = searched[0][1].best_params_
        with clock(WORK):
            model = make_tables(n_jobs=setting.threads, **best).fit(*task.train)
        return lambda: _judge(model, setting, task)

    def make(cycles: int) -> Contestant:
        def run(setting: EbmSetting, task: Task) -> Any:
            return make_tables(
                selection="cyclic",
                gain=setting.gain,
                n_estimators=cycles,
                max_bins=setting.bins,
                n_jobs=setting.threads,
            ).fit(*task.train)

        return in_one(f"{OURS}: {cycles} cycles", run, _judge)

    if setting.quality:
        yield in_one(f"{OURS}: search", search, _judge)
        yield Contestant(f"{OURS}: fit", fit)
        return
    for cycles in setting.cycles:
        yield make(cycles)


COLUMNS = {
    "log loss": lambda outcome: f"{outcome.log_loss:.4f}",
    "chosen": lambda outcome: outcome.note,
}


def main() -> None:
    """Race, for each setting."""
    parser = make_parser(__doc__, settings=SETTINGS, default=["adult", "letter"], repeats=3)
    parser.add_argument("--cycles", type=int, nargs="+", help="of properboost on tall tables")
    parser.add_argument("--gain", type=float, help="of properboost on tall tables (default: 1)")
    arguments, record = start(parser, "interpret")
    for name in arguments.setting:
        for setting in blocks(SETTINGS[name], arguments, "cycles", "gain"):
            task = Task(setting.load(), setting.load(test=True))
            rows, columns = task.train.X.shape
            scored = f"{len(task.test.y):,} test rows" if setting.quality else "training rows"
            print_heading(
                f"{name}: {setting.data} {rows:,} x {columns}",
                f"{setting.threads} threads",
                f"log loss of {scored}",
                repeats=arguments.repeats,
            )
            libraries = {
                OURS: partial(properboost, setting),
                "interpret": partial(interpret, setting),
            }
            contestants = find(libraries, arguments.only)
            few = task.train.rows(slice(WARM_UP_ROWS))
            warm_up = setting, Task(few, few)
            results = race(contestants, arguments.repeats, setting, task, warm_up=warm_up)
            print_against_ours(results, setting.threads, COLUMNS)
            record.add(name, setting, results)


if __name__ == "__main__":
    main()
