"""The compiled engine: checks, borrows, releases the GIL, translates.  Nothing here is public."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Never, type_check_only

import numpy as np
from numpy.typing import NDArray

# A table is either one two-dimensional array (any real dtype, any strides) or a list of columns.
# A categorical column is an int32 array of bins: 0 ... K - 1, -1 for missing, -2 for unseen.
_Table = NDArray[np.generic] | Sequence[NDArray[np.generic]]
# Takes whole numbers and others; see `Rows`.
_Share = Callable[[NDArray[np.int64], NDArray[np.float64]], object]

@type_check_only
class _Bound(type): ...  # pybind11's

__version__: str
has_openmp: bool
instruction_set: str

def loss_names() -> list[str]: ...
def joint_loss_names() -> list[str]: ...
def loss_knots() -> NDArray[np.float64]: ...
def call_margin_function(
    function: object, name: str, what: str, u: NDArray[np.float32]
) -> NDArray[np.float32]: ...
def weak_learner_names() -> list[str]: ...
def selection_names() -> list[str]: ...
def response_names() -> list[str]: ...
def step_names() -> list[str]: ...
def vote_step_names() -> list[str]: ...
def vote_names() -> list[str]: ...

class Loss(metaclass=_Bound):
    """One margin loss at gain 1; u = v / gain.  Arrays of any shape; engine_* are float32."""

    def __init__(self, name: str, parameters: dict[str, float] = ...) -> None: ...
    @staticmethod
    def tabulated(
        name: str,
        *,
        scale: float,
        beyond: float,
        right: NDArray[np.float64],
        right_slope: NDArray[np.float64],
        left: NDArray[np.float64],
        left_slope: NDArray[np.float64],
    ) -> Loss: ...
    # Functions are scipy.LowLevelCallable objects or Python callables.
    @staticmethod
    def called(base: Loss, weight: object, loss: object = ...) -> Loss: ...
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
    def engine_probability(self, u: NDArray[np.float32]) -> NDArray[np.float32]: ...

class JointLoss(metaclass=_Bound):
    """The loss of a row over all its classes.

    Scores are raw predictions / gain, of shape (n_rows, n_classes).
    """

    def __init__(self, name: str, loss: Loss) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def remembers_shifts(self) -> bool: ...
    def evaluate(
        self,
        scores: NDArray[np.float64],
        true_class: int,
        shift: NDArray[np.float32] | None = ...,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Compute weights, curvatures, losses and shifts of rows of `true_class`, in float32.

        Shifts of an earlier call save time where scores are near those of that call.
        """
    def log_probabilities(
        self, scores: NDArray[np.float64], n_threads: int = 1
    ) -> NDArray[np.float64]: ...
    def losses(self, scores: NDArray[np.float64], true_class: int) -> NDArray[np.float64]: ...

class Bins(metaclass=_Bound):
    """How each feature is cut into bins: bin edges (float64, ascending) or a number of categories.

    A numeric feature's code is the number of edges below the value; one more code is missing.
    A categorical feature of K bins has codes 0 ... K - 1, then missing, then unseen.  A grid (rows,
    columns, ordered_rows, ordered_columns) has the same codes; its first ordered_rows rows, and
    first ordered_columns columns, are neighbours.
    """

    def __init__(
        self,
        features: Sequence[NDArray[np.float64] | int | tuple[int, int, int, int]],
        means: Sequence[NDArray[np.float64]] | None = ...,
    ) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def widths(self) -> NDArray[np.int64]:
        """The number of codes of each feature, including missing (and unseen)."""
    def encode(
        self, table: _Table, order: NDArray[np.int64] | None = ..., n_threads: int = ...
    ) -> NDArray[np.uint8]:
        """Codes of shape (n_features, n_rows); row i of the result is row order[i] of the table."""
    def find_means(
        self,
        table: _Table,
        order: NDArray[np.int64] | None = ...,
        weight: NDArray[np.float64] | None = ...,
        n_threads: int = ...,
    ) -> list[NDArray[np.float64]]:
        """Return the means of numeric features' bins; `weight` is that of the rows in order."""
    def weigh(
        self,
        codes: NDArray[np.uint8] | SparseCodes,
        segments: NDArray[np.int64],
        group_of: NDArray[np.int64],
        groups: int,
        weight: NDArray[np.float64] | None = ...,
        n_threads: int = ...,
        share: _Share | None = ...,
    ) -> NDArray[np.float64]:
        """Sum the weight of each code in groups of segments, or count its rows: (groups, n_codes).

        Features are side by side; a segment of the group -1 is in none.  For `share` see `Rows`.
        """

class BinSums(metaclass=_Bound):
    """Exact sums of the values in each bin of numeric features, of rows that come in batches."""

    def __init__(self, bins: Bins, largest_weight: float = ...) -> None: ...
    def add(
        self,
        table: _Table,
        order: NDArray[np.int64] | None = ...,
        weight: NDArray[np.float64] | None = ...,
        n_threads: int = ...,
    ) -> None:
        """Add rows; `weight` is that of the rows in order."""
    def find_means(self) -> list[NDArray[np.float64]]:
        """Return what `Bins.find_means` would of all rows together."""
    @property
    def digits(self) -> NDArray[np.int64]:
        """The sums as whole numbers."""
    def add_digits(self, digits: NDArray[np.int64]) -> None:
        """Add the `digits` of sums of other rows in the same bins, with the same largest weight."""

class RowSample(metaclass=_Bound):
    """The rows of positive weight with the least hashes, of rows that come in batches."""

    def __init__(self, size: int, seed: int = ...) -> None: ...
    def add(self, n_rows: int, weight: NDArray[np.float64] | None = ...) -> NDArray[np.int64]:
        """Add rows; return those that are in the sample so far, the first of them as 0."""
    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows in the sample, ascending, of all that were added."""

def find_edges(
    table: _Table,
    weight: NDArray[np.float64] | None = ...,
    max_bins: int = ...,
    order: NDArray[np.int64] | None = ...,
    n_threads: int = ...,
) -> list[NDArray[np.float64]]:
    """Find the bin edges of every column (all numeric), for at most max_bins bins each.

    They come from the rows of that order, or from all of positive weight.
    """

def find_spans(
    table: _Table, weight: NDArray[np.float64] | None = ..., n_threads: int = ...
) -> NDArray[np.float64]:
    """Return the smallest and the largest value of each column (all numeric), (n_columns, 2).

    Rows of weight 0 are no rows; where none is left, or all are NaN, they are inf and -inf.
    """

class SparseTable(metaclass=_Bound):
    """Columns of numbers with entries of some rows, 0 in all others.

    Column j has the entries starts[j] to starts[j + 1], whose rows ascend.  Arrays are borrowed.
    """

    def __init__(
        self,
        n_rows: int,
        starts: NDArray[np.int64],
        rows: NDArray[np.int32],
        values: NDArray[np.generic],
    ) -> None: ...
    def find_edges_and_spans(
        self,
        weight: NDArray[np.float64] | None,
        max_bins: int,
        order: NDArray[np.int64],
        n_threads: int = ...,
    ) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        """Return what find_edges, from the rows of that order, and find_spans do."""
    def encode(
        self, bins: Bins, n_threads: int = ...
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return the code of each entry, and that of 0 in each column."""

class SparseCodes(metaclass=_Bound):
    """Codes of dense and sparse features; sparse ones have entries, and one code elsewhere.

    Features are in dense, (n_dense, n_rows), at their place; where that is -1, feature j has the
    entries starts[j] to starts[j + 1], whose rows ascend.  All arrays are borrowed.
    """

    def __init__(
        self,
        dense: NDArray[np.uint8],
        place: NDArray[np.int64],
        starts: NDArray[np.int64],
        rows: NDArray[np.int32],
        codes: NDArray[np.uint8],
        common: NDArray[np.uint8],
    ) -> None: ...
    def lay_out(self, features: NDArray[np.int64], n_threads: int = ...) -> NDArray[np.uint8]:
        """Return the codes of some features, (len(features), n_rows)."""

class Rounds(metaclass=_Bound):
    """The rounds of a fit; round t's look-up table is values[offsets[t]:offsets[t + 1]]."""

    def __init__(self, *args: Never, **kwargs: Never) -> None: ...
    @staticmethod
    def of_tables(
        feature: NDArray[np.int32],
        offsets: NDArray[np.int64],
        values: NDArray[np.float64],
        proposed: NDArray[np.float64],
        taken: NDArray[np.float64],
    ) -> Rounds:
        """Return rounds for `Boosting.repeat`."""
    @staticmethod
    def of_trees(
        forest: Forest, proposed: NDArray[np.float64], taken: NDArray[np.float64]
    ) -> Rounds:
        """Return rounds of trees for `Boosting.repeat`; the forest has no steps in it."""
    @property
    def feature(self) -> NDArray[np.int32]: ...
    @property
    def cost(self) -> NDArray[np.float64]: ...
    @property
    def step(self) -> NDArray[np.float64]: ...
    @property
    def risk(self) -> NDArray[np.float64]: ...
    @property
    def proposed(self) -> NDArray[np.float64]:
        """How far margins at gain 1 moved in each round, before the step was corrected."""
    @property
    def taken(self) -> NDArray[np.float64]:
        """How far they moved in the end."""
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def values(self) -> NDArray[np.float64]: ...
    @property
    def trees(self) -> Tree | None:
        """The nodes of trees, which the offsets also cut; their look-up tables are over nodes."""

    @property
    def lines(self) -> NodeLines | None:
        """The lines of the trees' nodes, if leaves have any."""

class NodeLines(metaclass=_Bound):
    """The lines of trees' nodes; node k has the terms offsets[k] to offsets[k + 1]."""

    def __init__(self, *args: Never, **kwargs: Never) -> None: ...
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def feature(self) -> NDArray[np.int32]: ...
    @property
    def slope(self) -> NDArray[np.float64]: ...
    @property
    def center(self) -> NDArray[np.float64]: ...
    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean place of the node's training rows, which without a value are at the center."""

class WeakLearner(metaclass=_Bound):
    """A weak learner of a name, with its fields and options.

    `settings` has its `name`, the fields of that class of `parameters/learners.py` which are the
    engine's, and what every weak learner gets: `directions`, `seed`, `criterion` (or None),
    `allows_for_chance`, `min_relative_decrease`, and `max_features` where it has no such field.
    What is left out has its default; None and "auto", which Python resolves, are not taken.
    """

    def __init__(self, settings: Mapping[str, object]) -> None: ...

class Vote(metaclass=_Bound):
    """How a weak classifier votes in a cell, over so many targets: classes or labels."""

    def __init__(
        self,
        name: Literal["plurality", "labels"],
        targets: int,
        criterion: Literal["gini", "error"] = ...,
    ) -> None: ...

class Algorithm(metaclass=_Bound):
    """The steps of every round, for all models that are trained together."""

    def __init__(self, *args: Never, **kwargs: Never) -> None: ...

class AdditiveBoosting(Algorithm):
    """Adds look-up tables and trees whose cells' values the response finds."""

    def __init__(
        self,
        *,
        selection: Literal["greedy", "cyclic", "unbiased"] = ...,
        response: Literal["real", "sign", "newton", "exact", "conditional"] = ...,
        step: Literal["unit", "guarded", "line_search", "leveraging", "totally_corrective"] = ...,
        l2: float = ...,
        classes: int = ...,
        joint_loss: str = ...,
        lanes: int = ...,
        shared_trees: bool = ...,
        screening: int = ...,
    ) -> None:
        """With a `joint_loss`, so many models each, one per class, are one joint model.

        At most so many lanes are summed together; those of a lone lane are in double.  With
        `shared_trees` a joint model has one tree a round, not one for each class.
        """

class VoteBoosting(Algorithm):
    """Adds weak classifiers that vote; `targets` holds the target of each segment."""

    def __init__(
        self,
        vote: Vote,
        targets: Sequence[int],
        *,
        step: Literal["adaptive", "line_search"] = ...,
        rho: float = ...,
        damping: float = ...,
        mistrust: float = ...,
    ) -> None: ...

class Rows(metaclass=_Bound):
    """Rows to train on, sorted by segment (classes, folds).

    Segment s is rows segments[s] to segments[s + 1].  Models start from the raw predictions `base`,
    of shape (n_models or 1, n_rows), or from 0.  Rows are drawn by their `numbers`, or else by
    their places.  All arrays are borrowed.

    With `labels`, of shape (n_models, n_rows), each row is of a model's positive class by that
    share.  No role is then negative, and the rows of a joint model are one segment.

    Where other processes hold other rows of the same segments, all of them do the same, and
    ``share(sums, most)`` is called equally often: it replaces the whole numbers by their sums over
    all processes, and the others by the largest.  All then have the models of all rows.
    """

    def __init__(
        self,
        codes: NDArray[np.uint8] | SparseCodes,
        bins: Bins,
        segments: NDArray[np.int64],
        *,
        weight: NDArray[np.float64] | None = ...,
        base: NDArray[np.float64] | None = ...,
        numbers: NDArray[np.int64] | None = ...,
        labels: NDArray[np.float32] | None = ...,
        share: _Share | None = ...,
        n_threads: int = ...,
    ) -> None: ...

class Model(metaclass=_Bound):
    """The parameters of one model among those that are trained together.

    roles[s] is the role of segment s: 1 or -1 for training rows with that signed label, 2 or -2 for
    held-out rows, 0 for ignored ones.  A prior of 0 is the default e.
    """

    def __init__(
        self,
        loss: Loss,
        learner: WeakLearner,
        roles: NDArray[np.int8],
        *,
        gain: float = ...,
        learning_rate: float = ...,
        prior: float = ...,
    ) -> None: ...

class Boosting(metaclass=_Bound):
    """Models trained together over the same rows: lanes."""

    def __init__(
        self,
        rows: Rows,
        models: Sequence[Model],
        algorithm: Algorithm,
        *,
        keep_rounds: bool = ...,
        risk_of_tables: bool = ...,
        n_threads: int = ...,
    ) -> None:
        """Set up models.

        Without `keep_rounds` only margins and curves are kept.  Without `risk_of_tables` the risk
        of a round is that after its estimator.
        """
    @property
    def n_estimators(self) -> NDArray[np.int64]:
        """Rounds (greedy) or cycles over the features (cyclic) that each model has."""
    @property
    def code_counts(self) -> NDArray[np.int64]:
        """Rows of each code, features side by side; all 0 before the first `advance`."""
    @property
    def memory(self) -> tuple[int, int]:
        """Bytes that it takes at least: those it keeps, and more while it advances.

        Models that have been advanced do not count.
        """
    @property
    def cohorts(self) -> int:
        """Groups of models that advance in step; one of them calls `progress`."""
    def repeat(self, rounds: Sequence[Rounds], n_estimators: int) -> None:
        """Move as an earlier fit did in so many estimators, whose rounds these are, by model.

        What follows has the bits that it would have had there if rows and models are the same.
        Only before the first `advance`, and not for steps that are solved for nor for votes.
        """
    def advance(
        self,
        n_estimators: int,
        models: NDArray[np.int64] | None = ...,
        progress: Callable[[int, float], None] | None = ...,
        *,
        report_each: bool = ...,
        keep_others: bool = ...,
    ) -> None:
        """Boost these models (by default all) by up to so many more estimators, while one helps.

        Others can go on later with `keep_others` only: else their memory may be released.

        `progress` gets the number of estimators done in this call, over all models, and one model's
        training risk (without keep_rounds, its held-out log loss), at most ten times per second; or
        with `report_each` whenever there are more estimators of the first cohort.
        """
    def separated(self, model: int) -> bool:
        """Whether a step that solves for coefficients found no finite optimum."""
    def takes_turns(self, model: int) -> bool:
        """Whether boosting ended because a weak classifier and its negative would alternate."""
    def curves(self, model: int) -> NDArray[np.float64]:
        """Held-out means after each estimator, shape (3, 3, n).

        Log loss, error rate and Brier score; of all rows, the negative class and the positive.
        """
    def held_out(self, model: int) -> NDArray[np.float64]:
        """Raw predictions of the held-out rows only, in the order of the segments."""
    def raw(self, model: int) -> NDArray[np.float64]:
        """Raw predictions of all rows, in the order of the segments; 0 where they have no role."""
    def rounds(self, model: int, target: int = ..., first: int = ...) -> Rounds:
        """Return what boosting found so far, from this round on; with votes, for one target."""

class Tree(metaclass=_Bound):
    """Splits of features into two sets of codes; node 0 is the root, -1 the feature of a leaf.

    Sets are bits (n_nodes, 4); children lie side by side; weight is (n_nodes, 2), negative first.
    Several trees lie one after the other; children are counted from their own tree's root.
    """

    def __init__(
        self,
        feature: NDArray[np.int32],
        left: NDArray[np.int64],
        goes_left: NDArray[np.uint64],
        goes_right: NDArray[np.uint64],
    ) -> None: ...
    @property
    def feature(self) -> NDArray[np.int32]: ...
    @property
    def left(self) -> NDArray[np.int64]: ...
    @property
    def goes_left(self) -> NDArray[np.uint64]: ...
    @property
    def goes_right(self) -> NDArray[np.uint64]: ...
    @property
    def weight(self) -> NDArray[np.float64]: ...
    @property
    def saving(self) -> NDArray[np.float64]: ...
    def find_nodes(self, codes: NDArray[np.uint8], n_threads: int = ...) -> NDArray[np.int64]:
        """Return the node at which each row ends; codes of shape (n_features, n_rows)."""

class Forest(metaclass=_Bound):
    """Trees, cut by offsets, and the value of each node."""

    def __init__(
        self,
        feature: NDArray[np.int32],
        left: NDArray[np.int64],
        goes_left: NDArray[np.uint64],
        goes_right: NDArray[np.uint64],
        offsets: NDArray[np.int64],
        values: NDArray[np.float64],
        lines: tuple[
            NDArray[np.int64],
            NDArray[np.int32],
            NDArray[np.float64],
            NDArray[np.float64],
            NDArray[np.float64],
        ]
        | None = ...,
    ) -> None: ...
    def contributions(
        self,
        codes: NDArray[np.uint8],
        bins: Bins,
        weight: NDArray[np.float64],
        n_threads: int = ...,
    ) -> tuple[NDArray[np.float64], float]:
        """Return Shapley values of features, (n_rows, n_features), and the baseline.

        The codes have shape (n_features, n_rows), and `weight` the training weight of each node.
        """

class ForestScores(metaclass=_Bound):
    """Forests over bins, one per model, made ready for any number of tables."""

    def __init__(self, bins: Bins, forests: Sequence[Forest]) -> None: ...
    def predict_raw(self, table: _Table, n_threads: int = ...) -> NDArray[np.float64]:
        """Return (n_rows, n_models): the sum, over trees, of what the row's node adds."""
    def predict_codes(self, codes: NDArray[np.uint8], n_threads: int = ...) -> NDArray[np.float64]:
        """Return the same for rows of these codes, (n_features, n_rows)."""

def impurity_names() -> list[str]: ...
def grow_tree(
    codes: NDArray[np.uint8],
    bins: Bins,
    segments: NDArray[np.int64],
    roles: NDArray[np.int8],
    *,
    phi: str,
    parameter: float = ...,
    weight: NDArray[np.float64] | None = ...,
    max_leaves: int,
    max_depth: int,
    min_child_weight: float = ...,
    n_threads: int = ...,
) -> Tree:
    """Grow a tree from the rows of segments of role 1 or -1, the best split of all leaves first."""

class Pair(metaclass=_Bound):
    """Two features taken as one, with so many cells, then a code for missing and one for unseen.

    A row's cell is the sum of its codes' levels, given as arrays of 256; a level of 256 has no
    cell.
    """

    def __init__(
        self,
        first: int,
        second: int,
        cells: int,
        first_level: NDArray[np.uint16],
        second_level: NDArray[np.uint16],
    ) -> None: ...

def encode_pairs(
    pairs: Sequence[Pair], codes: NDArray[np.uint8], n_threads: int = ...
) -> NDArray[np.uint8]:
    """Codes of the pairs, (n_pairs, n_rows), from those of the features, (n_features, n_rows)."""

class TermGrid(metaclass=_Bound):
    """The cells of a term's table: features in order, and the level of each code of each."""

    def __init__(self, features: Sequence[int], levels: Sequence[NDArray[np.uint8]]) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each feature."""
    def find_cells(self, codes: NDArray[np.uint8], n_threads: int = ...) -> NDArray[np.int32]:
        """Return the cell of each row, by codes of all features, (n_features, n_rows)."""

class Terms(metaclass=_Bound):
    """The sets of features that are on the paths of forests, at most three each."""

    def __init__(self, *args: Never, **kwargs: Never) -> None: ...
    @property
    def features(self) -> list[tuple[int, ...]]: ...
    def find_levels(self) -> list[tuple[NDArray[np.uint8], ...]]:
        """Return the level of each code, by term and feature: codes that the trees separate."""
    def add_up_cells(
        self,
        model: int,
        grids: Sequence[TermGrid],
        shares: NDArray[np.float64],
        used: NDArray[np.uint8] | None = ...,
        n_threads: int = ...,
    ) -> list[NDArray[np.float64]]:
        """Return the sums of a forest's leaves by term and cell.

        Where a cell has codes of several levels it gets their mean; `shares`, (n_features, 256),
        has the weight of each code.  Trees where `used` is 0 are left out.
        """
    def add_up_rows(
        self,
        model: int,
        codes: NDArray[np.uint8],
        used: NDArray[np.uint8] | None = ...,
        n_threads: int = ...,
    ) -> NDArray[np.float64]:
        """Return the sums of a forest's leaves by term and row, (n_terms, n_rows)."""

def find_terms(bins: Bins, forests: Sequence[Forest]) -> Terms | None:
    """Return the terms, or None if a path has more than three features."""

def count_cells(
    grids: Sequence[TermGrid], codes: NDArray[np.uint8], n_threads: int = ...
) -> list[NDArray[np.float64]]:
    """Return the number of rows in each cell, by codes of all features, (n_features, n_rows)."""

def purify(
    values: Sequence[NDArray[np.float64]],
    weights: Sequence[NDArray[np.float64]],
    n_threads: int = ...,
) -> list[tuple[NDArray[np.float64], list[NDArray[np.float64]]]]:
    """Return each table of two or three axes less its parts, and these.

    Part k is over all axes but k, flat.  Every slice of what is left has a weighted mean of 0.
    """

def normal_deviates(
    chi_square: NDArray[np.float64], freedom: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the normal deviates that are exceeded by chance as rarely as these statistics."""

def rank_scores(
    raw: NDArray[np.float64], positive: NDArray[np.bool_], weight: NDArray[np.float64] | None
) -> tuple[float, float]:
    """Return the area under the receiver operating characteristic, and the average precision."""

def find_evidence(
    positive: NDArray[np.float64], negative: NDArray[np.float64], ordered: bool
) -> tuple[float, float]:
    """Return the chi-square of a feature's best cut, or of its categories, and its mean by chance.

    The arrays have the weights of the rows with each code.
    """

def freedom_of_best_cut(cells: int, ordered: bool) -> float:
    """Return the mean, by chance, of the chi-square of the best cut of so many cells."""

def find_interactions(
    levels: NDArray[np.uint8],
    gradient: NDArray[np.float32],
    variance: NDArray[np.float32],
    scale: float = ...,
    n_threads: int = ...,
) -> NDArray[np.float64]:
    """Return chi-squares of the pairs (0, 1), (0, 2), ..., and their means by chance, (2, n_pairs).

    levels, (n_features, n_rows), are below 16.  The gradients and variances are for sample weights
    divided by `scale`.
    """

def predict_raw(
    table: _Table,
    bins: Bins,
    tables: NDArray[np.float64],
    pairs: Sequence[Pair] = ...,
    n_threads: int = ...,
) -> NDArray[np.float64]:
    """Raw predictions (n_rows, n_models); tables, (n_models, sum(widths)), has pairs last."""

def regularizer_names() -> list[str]: ...
def make_rados(
    table: _Table,
    features: Sequence[tuple[int, int]],
    positive: NDArray[np.uint8],
    first_row: int,
    seed: int,
    n_rados: int,
    n_threads: int = ...,
) -> tuple[NDArray[np.float64], int]:
    """Rados, (n_rados, n_features), and the first feature that is not finite, or else n_features.

    A feature is (column, -1) for a column's numbers, (column, level) for whether they are equal to
    a level, or (-1, -1) for the constant 1.
    """

def sort_for_screens(numbers: NDArray[np.int64], segments: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows' numbers, those of each segment in the order that screens are windows of."""

def boost_rados(
    rados: NDArray[np.float64],
    regularizers: Sequence[tuple[str, float, NDArray[np.float64] | None]],
    n_estimators: int,
    gamma: float = ...,
    progress: Callable[[int, float], None] | None = ...,
    n_threads: int = ...,
) -> dict[str, NDArray[Any]]:
    """Arrays with an entry per round: feature, edge, step, penalty, log_rado_loss.

    A regularizer is a name, a factor and a parameter: ridge takes a matrix or None, slope
    coefficients.
    """
