"""The rows on which a search with a time limit compares candidates."""

from collections.abc import Mapping

from sklearn.model_selection import StratifiedShuffleSplit

from properboost.data.sorted_rows import Rows
from properboost.model_selection.cv_splits import are_representative, count_rows
from properboost.model_selection.search_space import SearchParameters

__all__ = ["choose_sample", "estimate_families"]

GROWTH: Mapping[int, tuple[float, float, float]] = {
    1: (0.05, 0.27, 1.1),
    2: (0.08, 0.31, 1.2),
    3: (0.01, 0.75, 1.8),
    4: (0.015, 0.79, 1.8),
    5: (0.03, 0.81, 1.7),
}
"""The seconds of a search by effort: a factor, and the powers of rows and of half the classes.

The powers are least squares over 30 data sets (benchmarks/peers/lines.jsonl).  The factors are
twice as large, because searches differ by a factor of two, and waiting less than announced is fine.
Those of effort 3 to 5 are smaller, since their steps take less time than there.
"""

ROWS_A_SECOND = 5_000.0
"""The training rows of a sample for each second of the limit, where there are two classes.

The first candidates of all families then take about half of the limit on two cores.
"""

FEWEST_ROWS, FEWEST_OF_CLASS = 2_000, 80
"""The fewest training rows of a sample, and of its rarest class on average."""

HELD_OUT = 0.25
"""The rows that are held out beside a sample, for each of its training rows."""


def estimate_families(effort: int, n_rows: int, n_classes: int, *, readable: bool) -> float:
    """Return about how many seconds a search of families takes."""
    factor, of_rows, of_classes = GROWTH[effort]
    share = 0.4 if readable else 1.0
    seconds: float = share * factor * n_rows**of_rows * (n_classes / 2.0) ** of_classes
    return seconds


def choose_sample(search: SearchParameters, rows: Rows) -> StratifiedShuffleSplit | None:
    """Return one random split of a sample of the rows; None if the time allows five folds.

    The sample grows with the limit, up to a split of all rows.
    """
    limit, n_classes = search.time_limit, len(rows.classes)
    counts = count_rows(rows)
    n_rows = int(counts.sum())
    if limit is None or search.effort is None or not are_representative(rows):
        return None
    needed = estimate_families(search.effort, n_rows, n_classes, readable=search.readable)
    if needed <= limit:
        return None
    n_models = 1 if n_classes == 2 else n_classes
    n = max(
        FEWEST_ROWS,
        FEWEST_OF_CLASS * n_classes,
        FEWEST_OF_CLASS * n_rows // int(counts.min()) // n_classes,
        round(ROWS_A_SECOND * limit / n_models),
    )
    n_held_out = round(HELD_OUT * n)
    if n + n_held_out >= n_rows:
        return StratifiedShuffleSplit(1, test_size=0.2, random_state=0)
    return StratifiedShuffleSplit(1, train_size=n, test_size=n_held_out, random_state=0)
