"""The cost of models that are boosted together, against one model alone.

    python -m benchmarks.engine.lanes               # 1,000,000 x 50, some minutes
    python -m benchmarks.engine.lanes --rows 50000  # a quick look

It times boosting only, on codes that are made once: GLog, real response, guarded steps.  The models
differ in their gains, from 2 to 16; with "small gains" from 1/4, where steps are shortened and need
a search for their minimiser.  As in a search, models that are boosted together keep no rounds; the
model alone keeps its rounds.
The report has the time of one table of each model: of a round, or of one of the tables of a cycle.
The contestants take turns, see `lib/race.py`; ratios to the model alone are within a turn.
Run it on an idle machine, see `peers/fit.py`.
"""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.lib import engine
from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.libraries import Setting, make_properboost
from benchmarks.lib.race import (
    OURS,
    Clock,
    Contestant,
    find,
    print_failures,
    print_others,
    print_table,
    race,
    ratios,
    spread,
)

MODELS = {  # gains (first, last, how many), selection
    "1 model": ((4.0, 4.0, 1), "greedy"),
    "4 lanes": ((2.0, 16.0, 4), "greedy"),
    "8 lanes": ((2.0, 16.0, 8), "greedy"),
    "16 lanes": ((2.0, 16.0, 16), "greedy"),
    "16 lanes, small gains": ((0.25, 16.0, 16), "greedy"),
    "1 model, cyclic": ((4.0, 4.0, 1), "cyclic"),
    "16 lanes, cyclic": ((2.0, 16.0, 16), "cyclic"),
}


def boost(
    gains: tuple[float, float, int],
    selection: str,
    clock: Clock,
    setting: Setting,
    training: Any,
) -> None:
    """Boost the setting's rounds, or one cycle."""
    boosting = engine.start(
        make_properboost(setting, selection=selection),
        training,
        gains=np.geomspace(*gains),
        keep_rounds=gains[2] == 1,
    )
    with clock(selection):
        boosting.advance(setting.rounds if selection == "greedy" else 1)


def main() -> None:
    """Run the race and print the table."""
    parser = make_parser(__doc__, repeats=7)
    arguments, record = start(parser)
    models = {OURS: lambda: [Contestant(n, partial(boost, *how)) for n, how in MODELS.items()]}
    contestants = find(models, arguments.only)
    for setting in blocks(Setting(rows=1_000_000, rounds=50), arguments):
        problem = setting.load()
        table = f"{setting.rows:,} x {setting.columns}, {setting.bins} bins"
        print_heading(f"{table}, {setting.threads} threads", repeats=arguments.repeats)
        training = engine.prepare(make_properboost(setting), *problem)
        results = race(contestants, arguments.repeats, setting, training)
        tables = {"greedy": setting.rounds, "cyclic": setting.columns}
        lines = []
        for name, turns in results.items():
            for selection in turns.laps:
                alone = results.get("1 model" if selection == "greedy" else "1 model, cyclic")
                one = spread(turns.seconds(selection), 1e-3 * tables[selection])
                lines.append([name, one, spread(ratios(turns, alone, selection))])
        print_table(["", "a table, ms (min-max)", "times one model"], lines)
        print_failures(results)
        print_others(results)
        record.add("lanes", setting, results)


if __name__ == "__main__":
    main()
