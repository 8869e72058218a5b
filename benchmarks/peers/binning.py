"""Binning alone, on columns of every kind: properboost against each peer.

    python -m benchmarks.peers.binning                            # 1,000,000 x 50, some minutes
    python -m benchmarks.peers.binning --kind skewed mixed --bins 64 255 --threads 1 2
    python -m benchmarks.peers.binning --order F --dtype float64  # column-major, double precision
    python -m benchmarks.peers.binning --rows 20000 --repeats 1   # a quick look

The time begins at the user's array and ends at the library's binned rows, ready for the first
round: the steps of `fit` before it boosts (properboost, scikit-learn), `Dataset.construct`
(LightGBM), a QuantileDMatrix (XGBoost), a Pool and its `quantize` (CatBoost).

The kinds of columns are normal (gaussian), their exponential (skewed), their fifth power
(heavy-tailed), twice their value rounded (integers: about twenty values), and a table in which the
four take turns (mixed).  The report has the times of the peers as multiples of properboost's: the
median of the rounds' ratios, with the smallest and the largest.  Contestants take turns, see
`lib/race.py`.  Run it on an idle machine, see `peers/fit.py`.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.data import KINDS, Problem, make_synthetic
from benchmarks.lib.libraries import LIBRARIES, Setting, Way
from benchmarks.lib.race import (
    OURS,
    WORK,
    Clock,
    Contestant,
    Results,
    find,
    print_failures,
    print_greedy,
    print_others,
    print_table,
    race,
    ratios,
    spread,
)

# The other ways of a library differ after binning only, except for CatBoost's.
WAYS = [
    f"{OURS}: table, real",
    "lightgbm: by column",
    "xgboost: QuantileDMatrix",
    "catboost: *",
    "scikit-learn: HGB",
]


@dataclass(frozen=True)
class BinningSetting(Setting):
    """A table, and its order in memory."""

    rows: int = 1_000_000
    order: str = "C"
    dtype: str = "float32"

    def load(self, *, test: bool = False) -> Problem:
        """Return the rows."""
        kind, dtype = self.data, np.dtype(self.dtype).type
        X, y = make_synthetic(self.rows, self.columns, kind=kind, dtype=dtype, test=test)
        return Problem(np.asarray(X, order=self.order), y)  # type: ignore[call-overload]


def take_turn(way: Way, clock: Clock, setting: Setting, problem: Problem) -> None:
    """Bin once."""
    if way.bin is None:
        raise TypeError("it does not bin by itself")
    with way.limit(setting), clock(WORK):
        way.bin(setting, problem)


def report(by_kind: dict[str, Results], threads: int) -> None:
    """Print a line for each kind of columns: our seconds, and the ratio of each peer's to them."""
    names = list(next(iter(by_kind.values())))
    base, *others = sorted(names, key=lambda name: not name.startswith(OURS))
    lines = []
    for kind, results in by_kind.items():
        line = [kind, spread(results[base].seconds(WORK))]
        line += [spread(ratios(results[name], results[base], WORK)) for name in others]
        lines.append(line)
    print_table(["", f"{base.partition(':')[0]}, s (min-max)", *(f"{n}, x" for n in others)], lines)
    print(f"x: times as long as {base.partition(':')[0]}")
    for kind, results in by_kind.items():
        print(f"{kind}: ", end="")
        print_others(results)
        print_greedy(results, WORK, threads)
        print_failures(results)


def main() -> None:
    """Race, for each kind."""
    parser = make_parser(__doc__, rounds=False)
    parser.add_argument("--kind", nargs="+", default=[*KINDS], choices=KINDS, metavar="KIND",
                        help=f"of columns, of {', '.join(KINDS)} (default: all)")  # fmt: skip
    parser.add_argument("--order", choices=("C", "F"), help="row- or column-major (default: C)")
    parser.add_argument("--dtype", choices=("float32", "float64"), help="(default: float32)")
    arguments, record = start(parser, *LIBRARIES)
    ways = find(LIBRARIES, arguments.only or WAYS)
    contestants = [Contestant(way.name, partial(take_turn, way)) for way in ways]
    for setting in blocks(BinningSetting(), arguments, "order", "dtype"):
        print_heading(
            f"{setting.rows:,} x {setting.columns} {setting.dtype}, order {setting.order}",
            f"{setting.bins} bins, {setting.threads} threads",
            repeats=arguments.repeats,
        )
        by_kind = {}
        for kind in arguments.kind:
            of_kind = replace(setting, data=kind)
            by_kind[kind] = race(contestants, arguments.repeats, of_kind, of_kind.load())
            record.add(kind, of_kind, by_kind[kind])
        report(by_kind, setting.threads)


if __name__ == "__main__":
    main()
