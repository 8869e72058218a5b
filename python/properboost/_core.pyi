"""The compiled engine: checks, borrows, releases the GIL, translates.  Nothing here is public."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

# A table is either one two-dimensional array (any real dtype, any strides) or a list of columns.
# A categorical column is an int32 array of bins: 0 ... K - 1, -1 for missing, -2 for unseen.
Table = NDArray[np.generic] | Sequence[NDArray[np.generic]]

__version__: str
has_openmp: bool

def loss_names() -> list[str]: ...
def weak_learner_names() -> list[str]: ...
def response_names() -> list[str]: ...
def step_names() -> list[str]: ...

class Loss:
    """One margin loss at gain 1; u = v / gain.  Arrays of any shape; engine_* are float32."""

    def __init__(self, name: str, parameters: dict[str, float] = ...) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def convex(self) -> bool: ...
    @property
    def canonical(self) -> bool: ...
    def loss(self, u: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def weight(self, u: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def curvature(self, u: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def probability(self, u: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def density(self, u: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def link(self, p: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def minimum_risk(self, p: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def engine_loss(self, u: NDArray[np.float32]) -> NDArray[np.float32]: ...
    def engine_weight(self, u: NDArray[np.float32]) -> NDArray[np.float32]: ...
    def engine_curvature(self, u: NDArray[np.float32]) -> NDArray[np.float32]: ...

class Bins:
    """How each feature is cut into bins: edges (float64, ascending) or a number of categories.

    A numeric feature's code is the number of edges below the value; one more code is missing.
    A categorical feature of K bins has codes 0 ... K - 1, then missing, then unseen.
    """

    def __init__(self, features: Sequence[NDArray[np.float64] | int]) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def widths(self) -> NDArray[np.int64]:
        """Codes each feature can take, missing (and unseen) included."""
    def encode(
        self, table: Table, order: NDArray[np.int64] | None = ..., n_threads: int = ...
    ) -> NDArray[np.uint8]:
        """Codes of shape (n_features, n_rows); row i of the result is row order[i] of the table."""
    def weigh(
        self,
        codes: NDArray[np.uint8],
        weight: NDArray[np.float64] | None = ...,
        n_threads: int = ...,
    ) -> NDArray[np.float64]:
        """Sum the weight (rows without one) each code holds, features side by side."""

def find_edges(
    table: Table,
    weight: NDArray[np.float64] | None = ...,
    max_bins: int = ...,
    sample_size: int = ...,
    seed: int = ...,
    n_threads: int = ...,
) -> list[NDArray[np.float64]]:
    """Edges of every column (all of them numeric), each of at most max_bins bins."""

class Rounds:
    """What boosting found, a row a round; round t's table is values[offsets[t]:offsets[t + 1]]."""

    feature: NDArray[np.int32]
    score: NDArray[np.float64]
    step: NDArray[np.float64]
    risk: NDArray[np.float64]
    offsets: NDArray[np.int64]
    values: NDArray[np.float64]

def train(
    codes: NDArray[np.uint8],
    bins: Bins,
    segments: NDArray[np.int64],
    positive: NDArray[np.bool_],
    loss: Loss,
    *,
    gain: float,
    n_estimators: int,
    learning_rate: float,
    weak_learner: Literal["histogram", "stump"] | str,
    response: Literal["real", "sign", "newton", "exact"] | str,
    step: Literal["unit", "guarded", "line_search"] | str,
    prior: float | None,
    smoothing: float,
    l2: float,
    weight: NDArray[np.float64] | None = ...,
    n_threads: int = ...,
    progress: Callable[[int, float], None] | None = ...,
) -> Rounds:
    """Boost one model.

    Rows come sorted by segment (class); segment k is rows segments[k] to segments[k + 1] and
    positive[k] says on which side of this model it is.  `progress` gets the rounds done and the
    training risk at most ten times a second.
    """

def score(
    table: Table, bins: Bins, tables: NDArray[np.float64], n_threads: int = ...
) -> NDArray[np.float64]:
    """Raw predictions (n_rows, n_models); tables is (n_models, sum(widths))."""
