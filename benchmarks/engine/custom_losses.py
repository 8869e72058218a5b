"""The cost of a user's loss: whole fits with it against fits with the built-in one.

    python -m benchmarks.engine.custom_losses               # 1,000,000 x 50, some minutes
    python -m benchmarks.engine.custom_losses --rows 50000  # a quick look

The logistic loss takes part in each of its forms, at gain 1: built in; designed from its density,
which is a table; native functions of numba, called without the GIL; and a Python function, called
by one thread at a time.  So do the two losses that are not convex, "savage" (built in) and
"tangent" (Cython), whose steps need a longer search.  There are greedy fits, and cyclic ones, whose
rounds do little besides weights.  The contestants take turns, see `lib/race.py`; ratios to "built
in" are within a turn.  Run it on an idle machine, see `peers/fit.py`.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

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


def fit(loss: Any, clock: Clock, setting: Setting, problem: Any) -> None:
    """Fit greedily and cyclically."""
    for selection, n_estimators in (("greedy", setting.rounds), ("cyclic", setting.rounds // 10)):
        model = make_properboost(setting, loss=loss, selection=selection, n_estimators=n_estimators)
        with clock(selection):
            model.fit(*problem)


def list_built_in() -> Iterator[Contestant]:
    """Yield losses that need only the library."""
    from scipy import stats

    from properboost import losses

    def weight(u: Any) -> Any:
        return 1.0 / (1.0 + np.exp(u))

    guises = {
        "built in": "glog",
        "designed": losses.from_pdf(stats.logistic()),
        "numpy, called": losses.from_functions(weight, tabulate=False),
        "savage": "savage",
        "tangent": "tangent",
    }
    for name, loss in guises.items():
        yield Contestant(name, partial(fit, loss))


def list_native() -> Iterator[Contestant]:
    """Yield losses of numba functions, for a block of rows and for a row at a time."""
    import numba
    from scipy import LowLevelCallable

    from properboost import losses

    single = numba.types.CPointer(numba.types.float32)

    @numba.cfunc(numba.types.void(single, single, numba.types.intp, numba.types.voidptr))
    def weights(u: Any, out: Any, n: Any, data: Any) -> None:  # noqa: ARG001
        for i in range(n):
            out[i] = np.float32(1.0) / (np.float32(1.0) + np.exp(u[i]))

    @numba.cfunc("double(double)")
    def weight(u: Any) -> Any:
        return 1.0 / (1.0 + np.exp(u))

    for name, function in (("numba, blocks", weights), ("numba, rows", weight)):
        loss = losses.from_functions(LowLevelCallable(function.ctypes), name="numba")
        yield Contestant(name, partial(fit, loss))


def main() -> None:
    """Run the race and print the table."""
    parser = make_parser(__doc__, repeats=7)
    arguments, record = start(parser)
    contestants = find({OURS: list_built_in, "numba": list_native}, arguments.only)
    for setting in blocks(Setting(rows=1_000_000, rounds=50), arguments):
        problem = setting.load()
        table = f"{setting.rows:,} x {setting.columns}, {setting.bins} bins"
        print_heading(f"{table}, {setting.threads} threads", repeats=arguments.repeats)
        results = race(contestants, arguments.repeats, setting, problem)
        lines = []
        for name, turns in results.items():
            for selection in turns.laps:
                times = ratios(turns, results.get("built in"), selection)
                lines.append([name, selection, spread(turns.seconds(selection)), spread(times)])
        print_table(["", "selection", "fit, s (min-max)", "times built in"], lines)
        print_failures(results)
        print_others(results)
        record.add("own_losses", setting, results)


if __name__ == "__main__":
    main()
