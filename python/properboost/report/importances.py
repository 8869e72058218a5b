"""The table of importances, and a sentence beside it on what the log loss needs."""

from collections.abc import Mapping, Sequence

import numpy as np

from properboost.report.content import Term
from properboost.report.wording import signed

__all__ = ["STRONG", "describe_doubt", "describe_shuffles", "divide_terms", "find_needed"]

STRONG = 0.95
"""The share of all importance that the strongest terms hold, for which one click suffices."""

FEWEST_WEAK = 8
"""The fewest other terms that need another click."""


def divide_terms(terms: Sequence[Term]) -> tuple[Sequence[Term], Sequence[Term]]:
    """Return the strongest terms, which hold most of all importance, and the others if many."""
    shares = np.cumsum([term.importance for term in terms])
    n_strong = int(np.searchsorted(shares, STRONG * shares[-1])) + 1 if len(shares) else 0
    if len(terms) - n_strong < FEWEST_WEAK:
        return terms, ()
    return terms[:n_strong], terms[n_strong:]


def describe_doubt(term: Term) -> str:
    """Return what may be chance in a term; "" if nothing does.

    An importance with shares of joint terms is more than the curve that was tested.
    """
    if not term.within_noise:
        return ""
    return "may be chance" if term.alone is None else "the curve may be chance"


def find_needed(terms: Sequence[Term], shuffled: Mapping[int, float]) -> str:
    """Return the feature whose shuffled values add most log loss; "" if none adds any."""
    place = max(shuffled, key=lambda place: shuffled[place], default=-1)
    if place < 0 or shuffled[place] <= 0.0:
        return ""
    return _name_terms(terms)[place]


def describe_shuffles(terms: Sequence[Term], shuffled: Mapping[int, float]) -> str:
    """Return a sentence where another feature has the largest importance; otherwise ""."""
    needed = find_needed(terms, shuffled)
    names = _name_terms(terms)
    first = next(iter(shuffled), -1)
    if not needed or names[first] == needed:
        return ""
    return (
        f"The log loss needs {needed} most: it changes by {signed(max(shuffled.values()), 3)} if "
        f"the values of {needed} are shuffled among the test rows, and by "
        f"{signed(shuffled[first], 3)} if those of {names[first]} are."
    )


def _name_terms(terms: Sequence[Term]) -> dict[int, str]:
    return {term.place: term.name for term in terms}
