"""The cost of probabilities as labels, against hard labels of the same rows.

    python -m benchmarks.engine.soft_labels                          # some minutes
    python -m benchmarks.engine.soft_labels --setting tables --repeats 1    # a quick look

Fits take turns at the same table, with 2 and with 5 classes.  "All" are probabilities that are
positive for every class.  "Votes" are shares of three votes, most of which agree.  The number of
labels of a row is that of its positive probabilities.  Run it on an idle machine, see
`peers/fit.py`.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.lib.cli import make_parser, start
from benchmarks.lib.data import make_classes
from benchmarks.lib.libraries import Setting
from benchmarks.lib.race import (
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

CLASSES = (2, 5)

SETTINGS = {
    "tables": Setting(rows=50_000, columns=14, parameters={"weak_learner": "table"}),
    "trees": Setting(rows=50_000, columns=14, parameters={"weak_learner": "tree"}),
}


def make_labels(y: NDArray[Any], n_classes: int) -> dict[str, NDArray[Any]]:
    """Return labels of three kinds, by name."""
    certain = np.eye(n_classes)[y]
    rng = np.random.default_rng(0)
    others = rng.integers(n_classes, size=(len(y), 3))
    votes = np.where(rng.random((len(y), 3)) < 0.8, y[:, None], others)
    shares = np.eye(n_classes)[votes].sum(axis=1) / 3.0
    return {"hard": y, "votes": shares, "all": 0.75 * certain + 0.25 / n_classes}


def fit(setting: Setting, X: NDArray[Any], y: NDArray[Any]) -> Any:
    """Fit a model."""
    model = ProperBoostClassifier(
        n_estimators=setting.rounds, n_jobs=setting.threads, **setting.parameters
    )
    return model.fit(X, y)


def report(name: str, labels: dict[str, NDArray[Any]], results: Results) -> None:
    """Print a line for each kind of labels."""
    lines = []
    for kind, turns in results.items():
        y = labels[kind]
        number = 1.0 if y.ndim == 1 else float((y > 0.0).sum(axis=1).mean())
        times = spread(turns.seconds(WORK)), spread(ratios(turns, results["hard"], WORK))
        lines.append([f"{name}, {kind}", f"{number:.1f}", *times])
    print_table(["", "labels a row", "fit, s (min-max)", "hard labels"], lines)
    print_failures(results)
    print_others(results)


def main() -> None:
    """Race, for each setting and number of classes."""
    parser = make_parser(__doc__, settings=SETTINGS, default=list(SETTINGS))
    arguments, record = start(parser)
    for name in arguments.setting:
        setting = SETTINGS[name]
        for n_classes in CLASSES:
            X, y = make_classes(setting.rows or 0, setting.columns, n_classes)
            labels = make_labels(y, n_classes)
            contestants = [
                in_one(kind, partial(fit, setting, X, of_kind)) for kind, of_kind in labels.items()
            ]
            results = race(contestants, arguments.repeats)
            record.add(name, setting, results)
            report(f"{name}, {n_classes} classes", labels, results)


if __name__ == "__main__":
    main()
