"""The cost of validation rows: a fit that scores them after every round, against a plain one.

    python -m benchmarks.engine.validation                           # minutes
    python -m benchmarks.engine.validation --setting tables --repeats 1    # a quick look

Both take turns at the same table and the same number of rounds, from the array to the model; the
ratio is within a turn.  One tenth as many rows again are scored, by log loss.  Run it on an idle
machine, see `peers/fit.py`.
"""

from dataclasses import replace
from typing import Any

from benchmarks.lib.cli import blocks, make_parser, start
from benchmarks.lib.data import Problem
from benchmarks.lib.libraries import Setting
from benchmarks.lib.race import (
    OURS,
    WORK,
    Results,
    in_one,
    print_failures,
    print_others,
    print_table,
    race,
    ratios,
    spread,
)
from properboost import ProperBoostClassifier

SETTINGS = {
    "tables": Setting(rows=200_000, parameters={"weak_learner": "table"}),
    "stumps": Setting(rows=200_000, parameters={"weak_learner": "stump"}),
    "trees": Setting(rows=200_000, parameters={"weak_learner": "tree"}),
    "cyclic": Setting(rows=200_000, parameters={"selection": "cyclic"}),
}
CYCLES = 10


def fit(setting: Setting, problem: Problem, held_out: Problem | None) -> Any:
    """Fit a model, with or without validation rows."""
    cyclic = setting.parameters.get("selection") == "cyclic"
    model = ProperBoostClassifier(
        n_estimators=CYCLES if cyclic else setting.rounds,
        early_stopping=False,
        n_jobs=setting.threads,
        **setting.parameters,
    )
    if held_out is None:
        return model.fit(*problem)
    return model.fit(*problem, X_val=held_out.X, y_val=held_out.y)


def report(name: str, problem: Problem, results: Results) -> None:
    """Print a line for each fit."""
    plain, watched = results.values()
    rows, columns = problem.X.shape
    lines = [
        [
            f"{name}, {rows:,} x {columns}, {part}",
            spread(turns.seconds(WORK)),
            spread(ratios(turns, plain, WORK)),
        ]
        for turns, part in ((plain, "alone"), (watched, f"{rows // 10:,} rows scored"))
    ]
    print_table(["", "fit, s (min-max)", "plain fits"], lines)
    print_failures(results)
    print_others(results)


def main() -> None:
    """Race, for each setting."""
    parser = make_parser(__doc__, settings=SETTINGS, default=list(SETTINGS))
    arguments, record = start(parser)
    for name in arguments.setting:
        for setting in blocks(SETTINGS[name], arguments):
            whole = replace(setting, rows=setting.rows + setting.rows // 10).load()
            problem = whole.rows(slice(setting.rows))
            held_out = whole.rows(slice(setting.rows, None))
            contestants = [
                in_one(f"{OURS}: {part}", lambda setting, rows, val=val: fit(setting, rows, val))
                for part, val in (("alone", None), ("watched", held_out))
            ]
            results = race(contestants, arguments.repeats, setting, problem)
            record.add(name, setting, results)
            report(name, problem, results)


if __name__ == "__main__":
    main()
