"""Wording: numbers and lists in sentences, and the names of classes and of features."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "MOST_NAMED",
    "count",
    "decimal",
    "find_protected",
    "find_undescribed",
    "find_unnamed",
    "list_words",
    "name_bin",
    "name_probability",
    "number",
    "percent",
    "points",
    "precise",
    "read_class_names",
    "read_feature_descriptions",
    "shorten",
    "signed",
    "subtract",
]

MINUS = "\u2212"

MOST_NAMED = 18
"""The most letters of a class in the title of an axis."""


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a percentage; one that rounds to 0% or 100% gets a bound instead."""
    if share != share:
        return "unknown"
    least = 0.5 * 10.0 ** -(digits + 2)
    if 0.0 < share < least:
        return f"<{10.0**-digits:.{digits}f}%"
    if 1.0 - least < share < 1.0:
        return f">{100.0 - 10.0**-digits:.{digits}f}%"
    return f"{100.0 * share:.{digits}f}%"


def precise(share: float) -> str:
    """Return a share as a percentage, near 0% and 100% with as many digits as it takes."""
    rest = min(share, 1.0 - share)
    if share != share or rest <= 0.0 or rest >= 0.001:
        return percent(share)
    return percent(share, min(6, 1 - math.floor(math.log10(100.0 * rest))))


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many digits."""
    if value != value:
        return "\u2013"
    if abs(value) >= 10.0**digits:
        return f"{value:,.0f}".replace("-", MINUS)
    return f"{value:.{digits}g}".replace("-", MINUS)


def decimal(value: float, digits: int) -> str:
    """Return a number with so many digits after the point."""
    return "\u2013" if value != value else f"{value:,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int = 2) -> str:
    """Return a summand with its sign; 0 has none."""
    if value != value:
        return "unknown"
    shown = f"{value:+.{digits}f}"
    return shown[1:] if float(shown) == 0.0 else shown.replace("-", MINUS)


def count(n: float, singular: str, plural: str) -> str:
    """Return a number of things with their name."""
    return f"{n:,.0f} {singular if round(n) == 1 else plural}"


def list_words(words: Sequence[str], most: int = 6, last: str = "and") -> str:
    """Return words as a list in a sentence; of many, the first ones."""
    shown = list(words[:most])
    if len(words) > most:
        shown.append(f"{len(words) - most:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def shorten(text: str, most: int = 24) -> str:
    """Return a text of so many characters at most."""
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def points(share: float, other: float = 0.0) -> str:
    """Return the difference of two shares in percentage points.

    It is the difference of the percentages that `percent` prints.
    """
    return f"{signed(subtract(100.0 * share, 100.0 * other, 1), 1)} percentage points"


def subtract(first: float, second: float, digits: int) -> float:
    """Return the difference of two numbers as printed with so many digits after the point."""
    return round(round(first, digits) - round(second, digits), digits)


def name_bin(name: str, label: str) -> str:
    """Return a feature with the name of one of its bins."""
    return f"{name} {label}" if label.startswith(("<= ", "> ")) else f"{name}: {label}"


def name_probability(name: str) -> str:
    """Return the title of an axis; the page names the class where its name is long."""
    return f"probability of {name}" if len(name) <= MOST_NAMED else "probability"


_MUTE_LABELS = {"true", "false", "yes", "no", "t", "f", "y", "n"}
"""Labels without meaning, if all classes have such ones."""


def read_class_names(class_names: Any, labels: Sequence[Any]) -> tuple[str, ...]:
    """Return the name of each class, or else its label.

    Raises
    ------
    ValueError, TypeError
        If `class_names` is no mapping from labels to texts that tell all classes apart.
    """
    class_names = {} if class_names is None else class_names
    if not isinstance(class_names, Mapping):
        raise TypeError(f"class_names must be a mapping from labels to texts; got {class_names!r}")
    unknown = [label for label in class_names if label not in labels]
    if unknown:
        raise ValueError(
            f"class_names: the labels must be among {list(labels)}; got {unknown[0]!r}"
        )
    for label, name in class_names.items():
        if not isinstance(name, str) or not name.strip():
            raise ValueError(
                f"class_names[{label!r}] must be a text that is not empty; got {name!r}"
            )
    names = tuple(class_names.get(label, str(label)) for label in labels)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"class_names must be different for each class; got {twice[0]!r} for two")
    return names


def find_unnamed(labels: Sequence[Any], names: Sequence[str]) -> str:
    """Return a clause on labels without meaning or name; "" if there are none."""
    are_words = all(str(label).strip().lower() in _MUTE_LABELS for label in labels)
    words = [
        name
        for label, name in zip(labels, names, strict=True)
        if name == str(label) and (are_words or _is_number(name))
    ]
    if not words:
        return ""
    return f"the meaning of {list_words(words)}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_feature_descriptions(texts: Any, features: Sequence[str]) -> dict[str, str]:
    """Return the description of each feature that has one; other columns are left out.

    So one dictionary of columns serves all models of a table.

    Raises
    ------
    ValueError, TypeError
        If `texts` is no mapping from names to texts, or has a text on none of the features.
    """
    texts = {} if texts is None else texts
    if not isinstance(texts, Mapping):
        raise TypeError(
            f"feature_descriptions must be a mapping from names to texts; got {texts!r}"
        )
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"feature_descriptions[{name!r}] must be a text; got {text!r}")
    described = {name: texts[name].strip() for name in features if texts.get(name, "").strip()}
    if texts and not described:
        raise ValueError(
            "feature_descriptions must describe some of the features "
            f"{list_words([*map(repr, features)])}; got {list_words([*map(repr, texts)])}"
        )
    return described


def find_undescribed(described: Mapping[str, str], features: Sequence[str]) -> str:
    """Return a clause on features without a description; "" if there are none."""
    lacking = [name for name in features if name not in described]
    if not lacking:
        return ""
    if not described:
        return "the meaning of the columns"
    words = list_words([f"“{name}”" for name in lacking])
    return f"the meaning of {words}"


_PROTECTED = {
    "age", "ages", "ancestry", "birth", "birthdate", "birthday", "birthplace", "caste",
    "children", "citizen", "citizenship", "denomination", "dependants", "dependents",
    "disabilities", "disability", "disabled", "divorced", "dob", "elderly", "ethnic",
    "ethnicities", "ethnicity", "faith", "female", "foreign", "foreigner", "gender", "handicap",
    "handicapped", "homosexual", "husband", "immigrant", "immigration", "impairment", "kids",
    "male", "man", "marital", "marriage", "married", "maternity", "men", "migrant", "national",
    "nationality", "native", "old", "orientation", "partnership", "pregnancy", "pregnant", "race",
    "races", "racial", "relationship", "religion", "religious", "sex", "skin", "spouse",
    "transgender", "tribe", "veteran", "wife", "woman", "women", "yob",
}  # fmt: skip
"""Words that mark a name as a protected attribute."""


def find_protected(names: Sequence[str]) -> list[int]:
    """Return the positions of the names that suggest a protected attribute.

    A name is divided into words where it has no letter, and before capitals: ``maritalStatus``.
    """
    return [k for k, name in enumerate(names) if _PROTECTED & {*_divide(name)}]


def _divide(name: str) -> list[str]:
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[^\W\d_]+", parts)]
