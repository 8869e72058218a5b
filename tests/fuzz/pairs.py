"""The kind of input that sets two parameters of an estimator, and leaves all others as they are.

Fields of objects count as parameters.  Where one of the two needs a third for an effect,
the third is set, too.  Every two parameters must go together: a small table is fitted, predicted,
written and read, or the fit is refused by the name of one of the two.  Parameters and values come
from the declarations, so that pairs follow when these change.

    python -m fuzz.pairs                          # all pairs of all estimators, four times each
    python -m fuzz.pairs ProperBoostClassifier    # of one estimator
"""

import argparse
import functools
import importlib.util
import itertools
import os
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from fuzz.cases import Case, Column
from fuzz.fits import Fits, names_any
from fuzz.invariants import INVARIANTS, Invariant
from fuzz.parameters import Shape, draw_others, list_classes, list_estimators, list_names
from properboost.parameters.declare import Component, declared

__all__ = ["Pairs", "list_pairs"]

TRIED = (
    "probabilities are finite, in [0, 1] and add up to 1",
    "a clone has the same parameters",
    "a pickle holds the same model",
    "a file holds the same model",
)
"""Invariants that are tried on every fit."""

ROWS = (40, 150)

LABELS = ([0, 1], ["no", "yes"], [False, True], [0, 1, 2], ["a", "b", "c"])
"""Labels of ordinary types; refusals must be of the pair, and not of the table."""

Values = NDArray[Any]


@functools.cache
def list_pairs() -> tuple[tuple[str, str, str], ...]:
    """Return all triples of an estimator and two parameters, neighbours unlike each other."""
    pairs = [
        (estimator, *two)
        for estimator in list_estimators()
        for two in itertools.combinations(list_names(estimator), 2)
        if _are_apart(*two)
    ]
    return tuple(sorted(pairs, key=lambda pair: crc32(repr(pair).encode())))


def _are_apart(one: str, other: str) -> bool:
    """Return whether no name is a field of the other, and fields share a class."""
    owner, field = one.partition("__")[::2]
    other_owner, other_field = other.partition("__")[::2]
    if owner != other_owner:
        return True
    both = {field, other_field}
    return "" not in both and any(both <= {*declared(cls)} for cls in list_classes(owner))


class Pairs(Fits):
    """Pairs of parameters with other values than their defaults.

    Consecutive numbers give all pairs in turn; after that the same pairs come with other values.
    """

    name = "pairs"
    share = 0.3

    def draw(self, seed: int) -> Case:
        """Return the case of a number."""
        estimator, *names = list_pairs()[seed % len(list_pairs())]
        rng = np.random.default_rng([crc32(self.name.encode()), seed])
        model = list_estimators()[estimator]()
        labels = LABELS[rng.integers(5 if get_tags(model).classifier_tags.multi_class else 3)]
        n, d = int(rng.integers(*ROWS)), int(rng.integers(2, 6))
        columns, frame = draw_columns(rng, n, d, get_tags(model).input_tags.allow_nan)
        y = draw_labels(rng, columns, labels)
        weight = None
        if has_fit_parameter(model, "sample_weight") and rng.random() < 0.3:
            weight = rng.integers(1, 4, n).astype(float)
        shape = Shape(n, d, [repr(label) for label in labels])
        params = draw_others(rng, estimator, names, shape)
        return Case(estimator, params, columns, y, weight, frame, seed=seed)

    def list_invariants(self, case: Case, only: str | None) -> Iterable[tuple[str, Invariant]]:
        """Return the same invariants for every case."""
        return ((name, INVARIANTS[name]) for name in TRIED if only in (None, name))

    def check_refusal(self, case: Case, error: BaseException) -> None:
        """Check that a refusal names one of the two, or a parameter that a preset sets."""
        model = case.make().model
        plain = list_estimators()[case.estimator]().get_params(deep=False)
        names = {name for name, value in plain.items() if repr(value) != repr(getattr(model, name))}
        for part in [getattr(model, name) for name in names]:
            if isinstance(part, Component):
                known = declared(type(part)).items()
                names |= {name for name, entry in known if getattr(part, name) != entry.default}
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, MemoryError) or not names_any(text, names):
            raise AssertionError(f"an error that names neither of the two: {text}")


def draw_columns(
    rng: Generator, n: int, d: int, gaps: bool
) -> tuple[tuple[Column, ...], str | None]:
    """Return columns of numbers, some with few values or gaps, and sometimes one of texts."""
    columns = [Column(rng.normal(size=n))]
    for _ in range(d - 1):
        values = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(0, 6, n).astype(float)
        if gaps and rng.random() < 0.3:
            values[rng.random(n) < 0.1] = np.nan
        columns.append(Column(values))
    if rng.random() < 0.7 or importlib.util.find_spec("pandas") is None:
        return tuple(columns), None
    texts = np.array(["north", "south", "west"], dtype=object)[rng.integers(0, 3, n)]
    return (*columns[:-1], Column(texts, "pd.Categorical(c)")), "pandas"


def draw_labels(rng: Generator, columns: Sequence[Column], labels: Sequence[Any]) -> Values:
    """Return labels that depend on the first column; each class has enough rows."""
    n = len(columns[0].values)
    score = columns[0].values + rng.logistic(size=n) / 2.0
    order = np.argsort(score + rng.normal(size=n) / 2.0)
    codes = np.empty(n, dtype=np.int64)
    codes[order] = np.arange(n) * len(labels) // n
    return np.array(labels)[codes]


def main(arguments: list[str] | None = None) -> int:
    """Try every pair; return the exit status."""
    from fuzz.__main__ import Run
    from fuzz.workers import Bench

    parser = argparse.ArgumentParser(prog="fuzz.pairs", description=__doc__)
    parser.add_argument("estimators", nargs="*", help="names (default: all)")
    parser.add_argument("--values", type=int, default=4, help="values of each pair (default: 4)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="workers")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="folder of failures")
    options = parser.parse_args(arguments)
    if unknown := set(options.estimators) - set(list_estimators()):
        parser.error(f"unknown estimators: {', '.join(sorted(unknown))}")
    chosen = options.estimators or [*list_estimators()]

    run = Run([Pairs.name], options.keep, 0)
    every = list_pairs()
    numbers = iter(
        [k for k in range(options.values * len(every)) if every[k % len(every)][0] in chosen]
    )
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    lock = threading.Lock()

    def work() -> None:
        bench = Bench()
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                break
            outcome = run.try_one(bench, Pairs.name, number)
            with lock:
                outcomes[every[number % len(every)][0]][outcome] += 1
        bench.close()

    threads = [threading.Thread(target=work) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    heads = ("pairs", "tried", "fitted", "refused by name", "broken")
    print(f"\n{'estimator':26}{''.join(f'{head:>17}' for head in heads)}")
    for name in chosen:
        pairs = sum(estimator == name for estimator, *_ in every)
        ends = [outcomes[name][end] for end in ("fitted", "refused", "broken")]
        print(f"{name:26}{''.join(f'{count:17}' for count in (pairs, sum(ends), *ends))}")
    return 1 if run.summarize() else 0


if __name__ == "__main__":
    sys.exit(main())
