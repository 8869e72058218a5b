"""The fit of ``properboost fit``: what follows, one progress bar, the file, and what is next."""

import argparse
import shlex
import time
from collections.abc import Callable
from typing import Any

from properboost.cli.fit_lines import RowSummary
from properboost.cli.fit_plan import describe_plan
from properboost.cli.output import has_terminal, show
from properboost.data.spelling import PLAIN, Spelling
from properboost.model_selection.search_space import SearchParameters
from properboost.model_selection.search_stages import list_stages
from properboost.whole_progress import show_whole

__all__ = ["choose_test_size", "fit_and_save", "is_watched", "suggest_commands"]

TEST_SIZE = 0.2
"""The share of the rows that is held out where no search holds any out."""

LEAST_TIME = 0.05
"""The least share of a time limit that is left to the fit, however long the reading took."""


def choose_test_size(arguments: argparse.Namespace, model: Any) -> float | None:
    """Return the share of rows to hold out on top; None if the folds of a search suffice."""
    if arguments.test_size is None and not isinstance(model, SearchParameters):
        return TEST_SIZE
    size: float | None = arguments.test_size
    return size


def fit_and_save(
    arguments: argparse.Namespace,
    model: Any,
    rows: RowSummary,
    fit: Callable[[Any], object],
    spelling: Spelling | None = None,
) -> Any:
    """Fit a model with one progress bar, and save it before anything scores it.

    Returns the model that was saved: of a search, the one that it chose.
    """
    n_rows, limit = int(rows.counts.rows.sum()), getattr(model, "time_limit", None)
    show(describe_plan(model, n_rows, len(rows.classes), limit) + "\n")
    limit_time(arguments, model)
    limit = getattr(model, "time_limit", None)
    with show_whole(list_stages(model), limit, visible=is_watched(arguments)):
        try:
            fit(model)
        except KeyboardInterrupt as error:
            when = str(error) or "before the fit was finished"
            raise KeyboardInterrupt(f"{when}: nothing was saved") from error
    # A search is saved as the model that it chose, which has a record of the candidates.
    chosen = getattr(model, "best_estimator_", model)
    chosen.spelling_ = spelling or PLAIN
    chosen.save_model(arguments.output, compact=arguments.compact)
    show(f"Wrote the model, fitted on all rows, to {arguments.output}.\n")
    return chosen


def limit_time(arguments: argparse.Namespace, model: Any) -> None:
    """Leave a search the time that reading left; half of it if it is repeated for a test."""
    limit = getattr(model, "time_limit", None)
    if limit is None:
        return
    passed = time.monotonic() - arguments.begin
    parts = 2 if arguments.test_size else 1
    model.set_params(time_limit=round(max(limit - passed, LEAST_TIME * limit) / parts, 1) or limit)


def is_watched(arguments: argparse.Namespace) -> bool:
    """Whether progress is shown: on a terminal, or on request."""
    return not arguments.quiet and (arguments.verbose > 0 or has_terminal())


def suggest_commands(arguments: argparse.Namespace) -> str:
    """Return the commands that a user may type next."""
    model = shlex.quote(arguments.output)
    test = "test.csv" if arguments.eval is None else shlex.quote(arguments.eval)
    commands = {
        f"properboost report {model} {test}": "a page on the model: report.html",
        f"properboost predict {model} new.csv > out.csv": "classes and probabilities",
    }
    width = max(map(len, commands))
    lines = [f"  {command:{width}}  # {result}" for command, result in commands.items()]
    return "\n".join(["Next:", *lines])
