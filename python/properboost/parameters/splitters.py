"""The types of `cv`, apart from others: they need scikit-learn, and predictions do not."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator

__all__ = ["CV", "AutoCV"]

CV: TypeAlias = int | BaseCrossValidator | Iterable[tuple[ArrayLike, ArrayLike]]
AutoCV: TypeAlias = Literal["auto"] | CV
