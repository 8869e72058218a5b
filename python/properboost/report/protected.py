"""Names of columns that suggest what the law may protect: sex, origin, age and the like."""

import re
from collections.abc import Sequence

__all__ = ["find_protected"]

_WORDS = {
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
"""Words of which one makes a name suspicious."""


def find_protected(names: Sequence[str]) -> list[int]:
    """Return the positions of the names that suggest a protected attribute.

    A name is divided into words where it has no letter, and before capitals: ``maritalStatus``.
    """
    return [k for k, name in enumerate(names) if _WORDS & {*_divide(name)}]


def _divide(name: str) -> list[str]:
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[^\W\d_]+", parts)]
