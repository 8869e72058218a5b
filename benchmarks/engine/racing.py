"""The candidates that racing drops: the default search with and without it, on the same folds.

    PROPERBOOST_DATA=... python -m benchmarks.engine.racing                  # half an hour
    python -m benchmarks.engine.racing --sets segment LETTER.p2

A search that drops nothing tries the same candidates, and those that its further steps lead to.
For both searches the script prints the cross-validated log loss of the choice, that of held-out
rows and the processor time.  It counts the dropped candidates that would have beaten the choice.
"""

import argparse
import time
from typing import Any
from unittest import mock

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.lib import sets
from benchmarks.peers.panel import number_columns
from properboost import ProperBoostClassifierCV
from properboost.model_selection import search_run

NAMES = ("spambase", "segment", "LETTER.p1", "LETTER.p2", "credit_data")


class Patient(search_run.Race):
    """A race that drops no candidate."""

    def choose_first(self, _n_splits: int) -> int:
        """Let candidates run on all splits at once."""
        return 0

    def is_lost(self, _candidate: int, _most: int) -> bool:
        """Return False: no candidate is lost."""
        return False


def fit(name: str, effort: int, threads: int) -> tuple[ProperBoostClassifierCV, float, float]:
    """Return a search, its log loss on held-out rows, and its seconds."""
    split = number_columns(sets.SETS[name](0))
    begin = time.process_time()
    model = ProperBoostClassifierCV(effort=effort, random_state=0, n_jobs=threads)
    model.fit(split.X, split.y)
    seconds = time.process_time() - begin
    return model, log_loss(split.y_test, model.predict_proba(split.X_test)), seconds


def name_candidates(model: ProperBoostClassifierCV) -> list[str]:
    """Return a name for each candidate, by its family and parameters."""
    results = model.cv_results_
    pairs = zip(results["family"], results["params"], strict=True)
    return [
        f"{family} {sorted((k, str(v)) for k, v in params.items())}" for family, params in pairs
    ]


def compare(name: str, effort: int, threads: int) -> None:
    """Print the cost of dropping on a set."""
    racing, loss, seconds = fit(name, effort, threads)
    with mock.patch.object(search_run, "Race", Patient):
        patient, other_loss, other_seconds = fit(name, effort, threads)
    reached: dict[str, Any] = dict(
        zip(name_candidates(patient), patient.cv_results_["mean_test_score"], strict=True)
    )
    dropped = np.flatnonzero(racing.cv_results_["dropped"])
    best = np.nanmax(racing.cv_results_["mean_test_score"])
    names = name_candidates(racing)
    known = [names[k] for k in dropped if names[k] in reached]
    won = [key for key in known if reached[key] > best]
    print(
        f"{name:12s} racing {-racing.best_score_:.4f} ({loss:.4f} held out) {seconds:.0f} s  "
        f"nothing dropped {-patient.best_score_:.4f} ({other_loss:.4f}) {other_seconds:.0f} s  "
        f"{len(dropped)} of {len(names)} dropped, {len(known)} known, {len(won)} would have won",
        flush=True,
    )
    for key in won:
        print(f"    by {reached[key] - best:.5f}: {key.partition(' [')[0]}")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=sets.SETS, default=NAMES)
    parser.add_argument("--effort", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for name in options.sets:
        compare(name, options.effort, options.threads)


if __name__ == "__main__":
    main()
