"""Parameters: checks of values, and the declarations from which everything else is made."""

from properboost.parameters.checks import (
    auto_or_list,
    between,
    boolean,
    check_class_weight,
    check_random_state,
    choice,
    count_threads,
    entries,
    finite,
    integer,
    non_negative,
    numbers_of,
    optional,
    positive,
    seed,
)

__all__ = [
    "auto_or_list",
    "between",
    "boolean",
    "check_class_weight",
    "check_random_state",
    "choice",
    "count_threads",
    "entries",
    "finite",
    "integer",
    "non_negative",
    "numbers_of",
    "optional",
    "positive",
    "seed",
]
