"""Properboost with cyclic selection against an EBM without interactions, side by side.

    python benchmarks/ebm.py                                # ADULT and LETTER.p2, some minutes
    python benchmarks/ebm.py --setting tall --repeats 1     # 1,000,000 x 50, minutes
    python benchmarks/ebm.py --setting tall --rows 50000 --cycles 5 20
    python benchmarks/ebm.py --rows 1000 --repeats 1        # a quick look

Both are additive models whose terms are boosted in turn.  The EBM is InterpretML's
ExplainableBoostingClassifier, from the distribution interpret-core, with interactions=0.

*Quality* (`adult`, `letter`): the EBM at its defaults, that is 14 outer bags, each stopped early by
15% of its rows, in as many processes as there are threads.  Properboost's line "search" is
ProperBoostClassifierCV without any number tuned by hand: gains and number of cycles by
cross-validation, and the fit on all rows.  The line "fit" is one fit with what that search found.
The log loss is that of the held-out test rows.

*Speed* (`tall`): one model on all rows, nothing held out, the columns declared as continuous: 100
cycles over the 50 columns, 5,000 tables.  The EBM's first rounds smooth (their splits are drawn at
random) and some of its steps go to the columns that help most; the line "no smoothing" fits the
training rows better.  Properboost makes the numbers of cycles of `--cycles`, with gain `--gain`.
The log loss is that of the training rows, how much was fitted in the time; that of as many test
rows stands last, because a table for every bin can learn rows by heart: no additive model has less
than 0.488 on rows it has not seen, and one that has less on training rows has overfitted.

What is timed starts at the user's array or DataFrame and ends at the fitted model.  The
contestants take turns, after one each with the first 1,000 rows; the ratio of times to
properboost's is the median of the rounds' ratios.  Run it on an idle machine, see `peers.py`.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from benchmarks.data import Problem, load_adult, log_loss
from peers import OURS, Setting
from search import (
    Contestant,
    Found,
    find_contestants,
    make_parser,
    parse,
    print_machine,
    race,
    report,
    write_json,
)

WARM_UP_ROWS = 1_000


@dataclass(frozen=True)
class EbmSetting(Setting):
    """A table, and whether quality or speed is compared."""

    quality: bool = True
    cycles: tuple[int, ...] = (5, 10, 20, 100)  # of properboost where speed is compared
    gain: float = 1.0  # likewise
    first_rows: int | None = None  # all

    def load(self, *, test: bool) -> Problem:
        """Return the training rows or those held out."""
        # ADULT with its categories declared.
        X, y = load_adult(test=test) if self.data == "adult" else super().load(test=test)
        return Problem(X[: self.first_rows], y[: self.first_rows])


QUALITY = EbmSetting()
SETTINGS = {
    "adult": replace(QUALITY, data="adult"),
    "letter": replace(QUALITY, data="letter"),
    "tall": replace(QUALITY, quality=False),
}


class Task(NamedTuple):
    """The rows that are fitted and those held out."""

    train: Problem
    test: Problem


def _score(setting: EbmSetting, task: Task, model: Any) -> Found:
    def on(rows: Problem) -> float:
        return log_loss(rows.y, model.predict_proba(rows.X)[:, 1])

    if not setting.quality:
        return Found(on(task.train), remark=f"on test rows {on(task.test):.4f}")
    found = Found(on(task.test))
    if hasattr(model, "best_params_"):
        return replace(found, value=model.gain_, rounds=model.n_estimators_)
    return found


def interpret(setting: EbmSetting) -> Iterator[Contestant]:
    from interpret.glassbox import ExplainableBoostingClassifier

    def make(name: str, **parameters: Any) -> Contestant:
        def run(setting: EbmSetting, task: Task) -> Any:
            types = None if setting.quality else ["continuous"] * task.train.X.shape[1]
            return ExplainableBoostingClassifier(
                interactions=0,
                feature_types=types,
                n_jobs=setting.threads,
                random_state=0,
                **parameters,
            ).fit(task.train.X, task.train.y)

        return Contestant(name, run, _score)

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
    from properboost import ProperBoostClassifier, ProperBoostClassifierCV

    searched: list[tuple[Task, Any]] = []  # the last one

    def search(setting: EbmSetting, task: Task) -> Any:
        model = ProperBoostClassifierCV(
            selection="cyclic", n_estimators="auto", n_jobs=setting.threads
        ).fit(task.train.X, task.train.y)
        searched[:] = [(task, model)]
        return model

    def be_searched(setting: EbmSetting, task: Task) -> None:
        if not searched or searched[0][0] is not task:
            search(setting, task)

    def fit(setting: EbmSetting, task: Task) -> Any:
        best = searched[0][1].best_params_
        return ProperBoostClassifier(n_jobs=setting.threads, **best).fit(task.train.X, task.train.y)

    def make(cycles: int) -> Contestant:
        def run(setting: EbmSetting, task: Task) -> Any:
            return ProperBoostClassifier(
                selection="cyclic",
                gain=setting.gain,
                n_estimators=cycles,
                n_jobs=setting.threads,
            ).fit(task.train.X, task.train.y)

        return Contestant(f"{OURS}: {cycles} cycles", run, _score)

    if setting.quality:
        yield Contestant(f"{OURS}: search", search, _score)
        yield Contestant(f"{OURS}: fit", fit, _score, be_searched)
        return
    for cycles in setting.cycles:
        yield make(cycles)


def main() -> None:
    """Race, for each setting."""
    parser = make_parser(
        "Properboost with cyclic selection against an EBM without interactions, side by side.",
        SETTINGS,
        ["adult", "letter"],
    )
    parser.add_argument("--rounds", type=int, help="cycles of the EBM on tall tables")
    parser.add_argument("--cycles", type=int, nargs="+", help="of properboost on tall tables")
    parser.add_argument("--gain", type=float, help="of properboost on tall tables (default: 1)")
    arguments = parse(parser)
    options = ("rows", "columns", "threads", "rounds", "gain")
    given = {o: getattr(arguments, o) for o in options if getattr(arguments, o) is not None}
    if arguments.rows is not None:
        given["first_rows"] = arguments.rows
    if arguments.cycles is not None:
        given["cycles"] = tuple(arguments.cycles)
    print_machine()
    record = {}
    for name in arguments.setting:
        setting = replace(SETTINGS[name], **given)
        task = Task(setting.load(test=False), setting.load(test=True))
        rows, columns = task.train.X.shape
        scored = f"{len(task.test.y):,} test rows" if setting.quality else "training rows"
        print(f"\n{name}: {setting.data} {rows:,} x {columns}; {setting.threads} threads; ", end="")
        print(f"log loss of {scored}; median of {arguments.repeats} interleaved turns")
        libraries = {OURS: partial(properboost, setting), "interpret": partial(interpret, setting)}
        contestants = find_contestants(libraries, arguments.only)
        if not contestants:
            sys.exit(f"no contestant matches {' '.join(arguments.only)}")
        few = Problem(task.train.X[:WARM_UP_ROWS], task.train.y[:WARM_UP_ROWS])
        results = race(contestants, setting, task, (setting, Task(few, few)), arguments.repeats)
        report(results, setting.threads)
        record[name] = setting, results
    write_json(arguments.json, record)


if __name__ == "__main__":
    main()
