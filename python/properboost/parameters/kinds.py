"""The types of parameters, for signatures: each name and each union is spelled here once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

__all__ = [
    "CV",
    "AutoCV",
    "AutoLearner",
    "AutoResponse",
    "CategoricalFeatures",
    "ClassWeight",
    "Coupling",
    "Criterion",
    "EarlyStopping",
    "GrowPolicy",
    "Interactions",
    "Intercept",
    "LossName",
    "MaxCells",
    "MonotonicConstraints",
    "MultiStrategy",
    "Multiclass",
    "Permissible",
    "RandomState",
    "Response",
    "RowsPerBin",
    "Scoring",
    "Screening",
    "Selection",
    "Slope",
    "Step",
    "VotingCriterion",
    "VotingLearner",
    "VotingMulticlass",
    "Wait",
    "WarmStartBins",
    "WeakLearner",
]

LossName: TypeAlias = Literal[
    "glog", "ggauss", "glaplacian", "gboost", "exponential", "savage", "alpha", "tangent"
]
WeakLearner: TypeAlias = Literal["histogram", "stump", "tree", "monomial"]
AutoLearner: TypeAlias = Literal["auto", "histogram", "stump", "tree", "monomial"]
VotingCriterion: TypeAlias = Literal["gini", "error"]
VotingLearner: TypeAlias = Literal["stump", "tree", "histogram"]
Selection: TypeAlias = Literal["unbiased", "greedy", "cyclic"]
RowsPerBin: TypeAlias = float | Literal["auto"] | None
AutoResponse: TypeAlias = Literal["auto", "real", "sign", "newton", "exact", "conditional"]
Permissible: TypeAlias = Literal["matsushita", "entropy", "mu"]
Response: TypeAlias = Literal["real", "sign", "newton", "exact", "conditional"]
Criterion: TypeAlias = Literal["gini", "entropy", "matsushita"]
EarlyStopping: TypeAlias = Literal["auto"] | bool
Coupling: TypeAlias = Literal["softmax", "canonical", "one_vs_rest"]
GrowPolicy: TypeAlias = Literal["best_first", "symmetric"]
Intercept: TypeAlias = Literal["auto", "share"] | float | Sequence[float] | None
Slope: TypeAlias = Literal["auto"] | float
MaxCells: TypeAlias = Literal["auto"] | int | None
Multiclass: TypeAlias = Literal["auto", "softmax", "canonical", "one_vs_rest"]
MultiStrategy: TypeAlias = Literal["one_output_per_tree", "multi_output_tree"]
VotingMulticlass: TypeAlias = Literal["samme", "one_vs_rest"]
Screening: TypeAlias = Literal["auto"] | int | None
Step: TypeAlias = Literal["guarded", "unit", "line_search", "leveraging", "totally_corrective"]
WarmStartBins: TypeAlias = Literal["old", "new"]
Wait: TypeAlias = Literal["auto"] | int
"""Estimators without an improvement after which boosting is over."""

CV: TypeAlias = int | BaseCrossValidator | Iterable[tuple[ArrayLike, ArrayLike]]
AutoCV: TypeAlias = Literal["auto"] | CV
Scoring: TypeAlias = str | Callable[..., float] | None

CategoricalFeatures: TypeAlias = Literal["from_dtype"] | Sequence[int | str] | NDArray[Any] | None
MonotonicConstraints: TypeAlias = (
    Sequence[int] | Mapping[int, int] | Mapping[str, int] | NDArray[np.integer[Any]] | None
)
Interactions: TypeAlias = int | Sequence[Sequence[int | str]] | NDArray[np.integer[Any]]
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
"""By label, which may be whatever `y` holds."""
RandomState: TypeAlias = int | np.random.RandomState | None
