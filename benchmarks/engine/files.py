"""Model files of ADULT: bytes, and the time to save and to load them, full and compact, also gzip.

    python -m benchmarks.engine.files                        # a minute
    python -m benchmarks.engine.files --models tables --repeats 3    # a quick look

Each model is fitted once with the defaults of its kind.  The forms of its file then take turns in
one process: each is saved and loaded.  Saving ends when the file is on the disk.  The loaded model
must predict the held-out rows bit for bit as the saved one.
"""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import properboost as pb
from benchmarks.lib.cli import make_plain_parser, print_machine
from benchmarks.lib.data import load_adult
from benchmarks.lib.race import Clock, Contestant, print_others, print_table, race, spread

MODELS = {
    "tables": partial(pb.ProperBoostClassifier, weak_learner="table"),
    "cyclic": partial(pb.ProperBoostClassifier, selection="cyclic"),
    "trees": partial(pb.ProperBoostClassifier, weak_learner="tree"),
    "search": partial(pb.ProperBoostClassifierCV, effort=None),
}
"""Estimators by name; each is made without arguments."""

FORMS = {
    "full": ("model.json", False),
    "full, gzip": ("model.json.gz", False),
    "compact": ("model.json", True),
    "compact, gzip": ("model.json.gz", True),
}
SAVE, LOAD = "save", "load"


def turn(model: Any, form: str, folder: Path, clock: Clock) -> Any:
    """Save a model and load it; return a function for the size of the file and the loaded model."""
    name, compact = FORMS[form]
    path = folder / f"{form.replace(', ', '-')}-{name}"
    with clock(SAVE):
        model.save_model(path, compact=compact)
    with clock(LOAD):
        loaded = pb.load_model(path)
    return lambda: (path.stat().st_size, loaded)


def main() -> None:
    """Race the forms, for each model."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    print_machine()
    problem, held_out = load_adult(), load_adult(test=True)
    lines = []
    for name in arguments.models:
        model = MODELS[name]().fit(*problem)
        expected = model.predict_proba(held_out.X)
        with TemporaryDirectory() as folder:
            contestants = [
                Contestant(form, partial(turn, model, form, Path(folder))) for form in FORMS
            ]
            results = race(contestants, arguments.repeats)
        for form, turns in results.items():
            size, loaded = turns.outcome
            assert np.array_equal(loaded.predict_proba(held_out.X), expected)
            times = [spread(turns.seconds(part), 1e-3) for part in (SAVE, LOAD)]
            lines.append([f"{name}, {form}", f"{size:,}", *times])
    print_table(["ADULT", "bytes", "save, ms (min-max)", "load, ms (min-max)"], lines)
    print_others(results)


if __name__ == "__main__":
    main()
