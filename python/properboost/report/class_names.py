"""What classes are called on a page: their labels, or words that say what these stand for."""

from collections.abc import Mapping, Sequence
from typing import Any

from properboost.report.words import list_words

__all__ = ["find_unnamed", "read_class_names"]

_MUTE = {"true", "false", "yes", "no", "t", "f", "y", "n"}
"""Words that say nothing of the classes, if all are called so."""


def read_class_names(given: Any, labels: Sequence[Any]) -> tuple[str, ...]:
    """Return what each class is called: what was given, or else its label.

    Raises
    ------
    ValueError, TypeError
        If `given` is no mapping from some of the labels to texts that tell all classes apart.
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise TypeError(f"class_names must be a mapping from labels to texts; got {given!r}")
    unknown = [label for label in given if label not in labels]
    if unknown:
        raise ValueError(
            f"class_names: the labels must be among {list(labels)}; got {unknown[0]!r}"
        )
    for label, name in given.items():
        if not isinstance(name, str) or not name.strip():
            raise ValueError(
                f"class_names[{label!r}] must be a text that is not empty; got {name!r}"
            )
    names = tuple(given.get(label, str(label)) for label in labels)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"class_names must tell the classes apart; got {twice[0]!r} for two")
    return names


def find_unnamed(labels: Sequence[Any], names: Sequence[str]) -> str:
    """Return a clause on the labels that say nothing and got no name; "" if there are none."""
    are_words = all(str(label).strip().lower() in _MUTE for label in labels)
    words = [
        name
        for label, name in zip(labels, names, strict=True)
        if name == str(label) and (are_words or _is_number(name))
    ]
    if not words:
        return ""
    return f"what {list_words(words)} {'stands' if len(words) == 1 else 'stand'} for"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
