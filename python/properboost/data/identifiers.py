"""Columns of text that are more likely names of rows than categories."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_UNIQUE", "are_mostly_unique", "count_codes", "describe_identifiers"]

MOST_UNIQUE = 20
"""The most different texts of a column that is never taken for identifiers."""


def are_mostly_unique(counts: NDArray[np.integer[Any]]) -> bool:
    """Whether most rows have a text that no other row has; `counts` are the rows of each text."""
    n_different = int(np.count_nonzero(counts))
    return n_different > MOST_UNIQUE and 2 * int(np.count_nonzero(counts == 1)) > counts.sum()


def count_codes(codes: NDArray[np.integer[Any]], n: int) -> NDArray[np.int64]:
    """Return the number of rows with each of `n` codes; code -1 does not count."""
    return np.bincount(codes[codes >= 0], minlength=n)


def describe_identifiers(counts: Mapping[str, NDArray[np.int64]]) -> str | None:
    """Return a warning of all columns of text, by label, whose texts are mostly unique."""
    columns = [
        f"{label} ({np.count_nonzero(of_text == 1):,} of {of_text.sum():,} rows)"
        for label, of_text in counts.items()
        if are_mostly_unique(of_text)
    ]
    if not columns:
        return None
    return (
        f"X: most texts are in one row only in {', '.join(columns)}: as categories they may "
        "overfit, and new texts have no effect; drop such columns, or name those to keep in "
        "categorical_features"
    )
