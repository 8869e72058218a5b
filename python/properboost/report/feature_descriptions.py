"""What the columns hold, in words that only people know."""

from collections.abc import Mapping, Sequence
from typing import Any

from properboost.report.words import list_words

__all__ = ["find_undescribed", "read_feature_descriptions"]


def read_feature_descriptions(given: Any, features: Sequence[str]) -> dict[str, str]:
    """Return the text on each feature that has one; those on other columns are left out.

    So one dictionary of columns serves all models of a table.

    Raises
    ------
    ValueError, TypeError
        If `given` is no mapping from names to texts, or has a text on none of the features.
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise TypeError(
            f"feature_descriptions must be a mapping from names to texts; got {given!r}"
        )
    for name, text in given.items():
        if not isinstance(text, str):
            raise TypeError(f"feature_descriptions[{name!r}] must be a text; got {text!r}")
    found = {name: given[name].strip() for name in features if given.get(name, "").strip()}
    if given and not found:
        raise ValueError(
            "feature_descriptions must describe some of the features "
            f"{list_words([*map(repr, features)])}; got {list_words([*map(repr, given)])}"
        )
    return found


def find_undescribed(described: Mapping[str, str], features: Sequence[str]) -> str:
    """Return a clause on the features of which nobody said what they hold; "" if there are none."""
    lacking = [name for name in features if name not in described]
    if not lacking:
        return ""
    if not described:
        return "what the columns hold"
    words = list_words([f"“{name}”" for name in lacking])
    return f"what {words} {'holds' if len(lacking) == 1 else 'hold'}"
