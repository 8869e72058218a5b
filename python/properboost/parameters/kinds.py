"""The types of parameters, for signatures: each `Literal` and each union is declared once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CONDITIONAL",
    "NEW_BINS",
    "NOT_SOLVED",
    "SOLVED",
    "CategoricalFeatures",
    "ClassWeight",
    "Coupling",
    "Criterion",
    "GrowPolicy",
    "InteractionConstraints",
    "Intercept",
    "LearnerName",
    "LossName",
    "MaxCells",
    "MonotonicConstraints",
    "MultiStrategy",
    "Multiclass",
    "Pairs",
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
    "WarmStart",
]

LossName: TypeAlias = Literal[
    "glog", "ggauss", "glaplacian", "gboost", "exponential", "savage", "alpha", "tangent"
]
LearnerName: TypeAlias = Literal["table", "stump", "tree", "rule"]
VotingCriterion: TypeAlias = Literal["gini", "error"]
VotingLearner: TypeAlias = Literal["stump", "tree", "table"]
Selection: TypeAlias = Literal["unbiased", "greedy", "cyclic"]
RowsPerBin: TypeAlias = float | Literal["auto"] | None
Permissible: TypeAlias = Literal["matsushita", "entropy", "mu"]
Response: TypeAlias = Literal["real", "sign", "newton", "exact", "conditional"]
Criterion: TypeAlias = Literal["gini", "entropy", "matsushita"]
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
WarmStart: TypeAlias = bool | Literal["new_bins"]
NEW_BINS = "new_bins"
"""The `warm_start` that also cuts features at the bins of the new rows."""
Wait: TypeAlias = Literal["auto"] | int | None
"""The estimators without an improvement after which boosting ends; None never ends it."""

Scoring: TypeAlias = str | Callable[..., float] | None

CategoricalFeatures: TypeAlias = Literal["from_dtype"] | Sequence[int | str] | NDArray[Any] | None
MonotonicConstraints: TypeAlias = (
    Sequence[int] | Mapping[int, int] | Mapping[str, int] | NDArray[np.integer[Any]] | None
)
InteractionConstraints: TypeAlias = (
    int | Literal["no_interactions", "pairwise"] | Sequence[Sequence[int | str]] | None
)
Pairs: TypeAlias = int | Sequence[Sequence[int | str]] | NDArray[np.integer[Any]]
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None
"""Factors by label, which may be of any type of `y`."""
RandomState: TypeAlias = "int | np.random.RandomState | None"
"""A string, because numpy imports its generators when they are first named."""

SOLVED = ("leveraging", "totally_corrective")
"""The steps that are solved for, in double precision."""

NOT_SOLVED = tuple(name for name in get_args(Step) if name not in SOLVED)

CONDITIONAL = "conditional"
"""The response that compares two classes' densities, independently of their shares."""
