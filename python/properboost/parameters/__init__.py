"""Parameters: checks of values, and declarations that everything else about one comes from."""

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
