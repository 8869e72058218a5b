"""Names of columns that suggest what the law may protect: sex, origin, age and the like."""

import re
from collections.abc import Sequence

__all__ = ["find_protected"]

_WORDS = frozenset(
    """
    age ages birth birthday birthdate birthplace dob yob old elderly
    sex gender male female woman man women men transgender
    race races racial ethnic ethnicity ethnicities ancestry tribe caste skin
    nationality national citizen citizenship immigrant immigration migrant native foreign foreigner
    religion religious faith denomination
    disability disabilities disabled handicap handicapped impairment
    marital married marriage spouse husband wife divorced relationship partnership
    pregnant pregnancy maternity children kids dependents dependants
    orientation homosexual veteran
    """.split()
)
"""Words of which one makes a name suspicious."""


def find_protected(names: Sequence[str]) -> list[int]:
    """Return the positions of the names that suggest a protected attribute.

    A name is divided into words where it has no letter, and before capitals: ``maritalStatus``.
    """
    return [k for k, name in enumerate(names) if _WORDS & {*_divide(name)}]


def _divide(name: str) -> list[str]:
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[^\W\d_]+", parts)]
