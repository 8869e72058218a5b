"""From a table to models: rows are cut, coded and given to the engine here only."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.boosting.available_memory import require_memory
from properboost.boosting.interactions import MOST_CELLS, PairBins, make_pair, rank_pairs
from properboost.cached import cached_property
from properboost.data.binning import (
    Binning,
    CodedTable,
    NumericBins,
    count_numeric_bins,
    find_bins,
)
from properboost.data.frames import find_categorical, find_feature
from properboost.data.labels import Rows, SortedRows
from properboost.data.table import Table
from properboost.data.whole_sums import add_up_by, mean
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.parameters import checks
from properboost.parameters.kinds import MonotonicConstraints
from properboost.parameters.shared import (
    GROWN,
    LARGEST_INT,
    LINEAR_ROWS,
    BinningOptions,
    BoostingOptions,
    VotingOptions,
    cells_of,
    depth_of,
    leaves_of,
    rate_of,
    screening_of,
    smoothing_of,
)

__all__ = [
    "Elsewhere",
    "Peers",
    "Training",
    "cut_features",
    "find_pairs",
    "find_signs",
    "lay_grids",
    "prepare",
    "reorder",
    "spread",
    "start",
    "start_votes",
]

LARGEST_TERM = 1e30
"""The largest size of a row's margin, and of what it adds to a sum, in float32."""

P = ParamSpec("P")
Made = TypeVar("Made")


class Predictor(Protocol):
    """What predicts from codes: an ensemble."""

    def add_up(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.float64]:
        """Return the raw predictions of rows of these codes, (n_rows, n_models)."""


class Repeatable(Protocol):
    """Rounds of a model that others go on from."""

    def to_native(self) -> _core.Rounds:
        """Return them as the engine repeats them."""


class Elsewhere(Protocol):
    """Rows whose codes are in other processes, each of which runs the engine on its own."""

    def of_pairs(self, pairs: Sequence[PairBins]) -> "Elsewhere":
        """Return the same rows with the codes of pairs of these features."""

    def of_segments(self, taken: NDArray[np.bool_]) -> "Elsewhere":
        """Return the rows of some of the segments."""

    def reorder(self, training: "Training", order: SortedRows, /) -> "Training":
        """Return a training of the same rows in another order."""

    def gather(self, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes of some features, (n, n_rows)."""

    def weigh(self, group_of: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
        """Return the weight that each code holds in groups of segments, -1 being none."""

    def add_up(self, ensemble: Predictor) -> NDArray[np.float64]:
        """Return the raw predictions of an ensemble, (n_rows, n_models)."""

    def start(
        self,
        roles: NDArray[np.int8],
        options: Sequence[BoostingOptions],
        losses: Sequence[MarginLoss],
        base: NDArray[np.float64] | None,
        **settings: Any,
    ) -> _core.Boosting:
        """Set up models over these rows, as the function `start` does."""


@dataclass(frozen=True, eq=False)
class Peers:
    """Processes that hold other rows of the same segments, and do the same at the same time.

    `share` is as `_core.Rows` takes it; what is said of classes is of all rows together.
    """

    share: Callable[[NDArray[np.int64], NDArray[np.float64]], object]
    class_weights: NDArray[np.float64]
    rows_of_class: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Training:
    """Rows as the engine takes them: sorted by segment, and as codes.

    Segment ``s`` is the rows ``segments[s]`` to ``segments[s + 1]``, all of the class
    ``classes[class_of[s]]``.  `weight` is theirs, in the same order; None stands for ones.
    """

    classes: NDArray[Any]
    binning: Binning
    codes: NDArray[np.uint8]
    segments: NDArray[np.int64]
    class_of: NDArray[np.intp]
    weight: NDArray[np.float64] | None
    seed: int
    n_threads: int
    names: Sequence[str] | None = None
    """The names of the features, if they have any."""
    elsewhere: Elsewhere | None = None
    """Where the codes are, if they are not here."""
    numbers: NDArray[np.int64] | None = None
    """The rows' places in their table, where they are drawn by these."""
    for_screens: bool = False
    """Whether the rows of a segment lie in the order that screens are windows of."""
    peers: Peers | None = None
    """Where these rows are some of those that are learnt from: what has the others."""
    pairs: tuple[PairBins, ...] | None = None
    """Where these are codes of pairs, as `of_pairs` makes them: the pairs."""

    @cached_property
    def bins(self) -> _core.Bins:
        """The engine's bins of what the codes are of."""
        if self.pairs is not None:
            return _core.Bins([pair.grid for pair in self.pairs])
        return self.binning.native

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.segments[-1])

    @property
    def rows_of_class(self) -> NDArray[np.int64]:
        """How many rows each class has."""
        if self.peers is not None:
            return self.peers.rows_of_class
        counts = np.bincount(self.class_of, np.diff(self.segments), len(self.classes))
        return counts.astype(np.int64)

    @cached_property
    def class_weights(self) -> NDArray[np.float64]:
        """How many rows each class has, by sample weight."""
        if self.peers is not None:
            return self.peers.class_weights
        if self.weight is None:
            return self.rows_of_class.astype(np.float64)
        of_rows = np.repeat(self.class_of, np.diff(self.segments))
        return add_up_by(of_rows, self.weight, len(self.classes))

    def of_pairs(self, pairs: Sequence[PairBins]) -> "Training":
        """Return the same rows with the codes of pairs of these features."""
        if self.elsewhere is not None:
            return replace(self, elsewhere=self.elsewhere.of_pairs(pairs), pairs=tuple(pairs))
        native = [pair.native for pair in pairs]
        codes = _core.encode_pairs(native, self.codes, self.n_threads)
        return replace(self, codes=codes, pairs=tuple(pairs))

    def gather(self, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes of some features, a row each, from wherever they are."""
        if self.elsewhere is not None:
            return self.elsewhere.gather(features)
        return self.codes[list(features)]

    def add_up(
        self, ensemble: Predictor, of_pairs: "Training | None" = None
    ) -> NDArray[np.float64]:
        """Return the raw predictions of an ensemble, whose pairs the rows also have codes of."""
        if self.elsewhere is not None:
            return self.elsewhere.add_up(ensemble)
        both = self.codes if of_pairs is None else np.concatenate([self.codes, of_pairs.codes])
        return ensemble.add_up(both, self.n_threads)

    def without_means(self) -> "Training":
        """Return the same rows, whose bins have no means."""
        return replace(self, binning=self.binning.without_means())

    def first_pairs(self, n: int) -> "Training":
        """Return the same rows with the codes of the first `n` of these pairs."""
        pairs = self.pairs or ()
        return replace(self, codes=self.codes[:n], pairs=pairs[:n])

    def of_segments(self, taken: NDArray[np.bool_]) -> "Training":
        """Return the rows of some of the segments, in the same order."""
        some = self.of_rows(np.repeat(taken, np.diff(self.segments)))
        if self.elsewhere is None:
            return some
        return replace(some, elsewhere=self.elsewhere.of_segments(taken))

    def of_rows(self, taken: NDArray[np.bool_]) -> "Training":
        """Return some of the rows, in the same order; only segments of those that are elsewhere."""
        held = np.add.reduceat(taken, self.segments[:-1], dtype=np.int64)
        here = self.elsewhere is None
        return replace(
            self,
            codes=np.compress(taken, self.codes, axis=1) if here else self.codes,
            segments=np.cumsum([0, *held[held > 0]]),
            class_of=self.class_of[held > 0],
            weight=None if self.weight is None else self.weight[taken],
            numbers=None if self.numbers is None else self.numbers[taken],
        )

    @staticmethod
    def tell(raw: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the classes' numbers that raw predictions, a column per model, tell."""
        return (raw[:, 0] > 0.0).astype(np.intp) if raw.shape[1] == 1 else raw.argmax(axis=1)

    def error_of(self, told: NDArray[np.intp]) -> float:
        """Return the share of these rows, by weight, that were told wrongly."""
        wrong = told != np.repeat(self.class_of, np.diff(self.segments))
        return mean(wrong, self.weight)

    def weigh_codes(self, boosting: _core.Boosting) -> tuple[NDArray[np.float64], ...]:
        """Return the weight that each code of each feature holds.

        `boosting` is over these rows and has begun: it has counted the codes.
        """
        if self.weight is None:
            return self._split(boosting.code_counts.astype(np.float64))
        return self.weigh_segments(np.ones(len(self.class_of), dtype=bool))

    def weigh_segments(self, wanted: NDArray[np.bool_]) -> tuple[NDArray[np.float64], ...]:
        """Return the weight that each code of each feature holds in some segments."""
        (found,) = self.weigh_groups(np.where(wanted, 0, -1), 1)
        return found

    def weigh_groups(
        self, group_of: NDArray[np.int64], n_groups: int
    ) -> list[tuple[NDArray[np.float64], ...]]:
        """Return the same of groups of segments; a segment of the group -1 is in none."""
        if self.elsewhere is not None:
            held = self.elsewhere.weigh(group_of, n_groups)
        else:
            share = None if self.peers is None else self.peers.share
            held = self.bins.weigh(
                self.codes, self.segments, group_of, n_groups, self.weight, self.n_threads, share
            )
        return [self._split(own) for own in held]

    def _split(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        return tuple(np.split(values, np.cumsum(self.bins.widths)[:-1]))


def prepare(
    options: BinningOptions,
    table: Table,
    rows: Rows,
    order: SortedRows,
    *,
    wants_means: bool = False,
    wants_numbers: bool = False,
    binning: Binning | None = None,
) -> Training:
    """Cut the features of `table` into bins, unless they are given, and encode its rows.

    Rows are taken in that `order`.

    `wants_means` also finds the means of bins, for models that are linear in them, `wants_numbers`
    the rows' numbers, for models that draw rows.
    """
    n_threads = checks.count_threads(options.n_jobs)
    seed = checks.seed(options.random_state)
    weight = rows.training_weight
    if isinstance(table, CodedTable):
        own = _find_binning(options, table, rows, means=wants_means)
        if binning is not None:
            table.check_bins(binning.features, "the model that warm_start goes on from")
        binning, codes = binning or own, table.take()
        # Weights may be too small to count beside those that a fit scales.
        if order.has_parts or order.for_screens or order.segments[-1] < codes.shape[1]:
            codes = table.take(order.order)
    else:
        if binning is None:
            binning = cut_features(options, table, rows)
        codes = binning.encode(table, order.order, n_threads)
    weight = None if weight is None else weight[order.order]
    if wants_means and not binning.has_means:
        binning = binning.with_means(table, order.order, weight, n_threads)
    training = Training(
        classes=rows.classes,
        binning=binning,
        codes=codes,
        segments=order.segments,
        class_of=order.class_of,
        weight=weight,
        seed=seed,
        n_threads=n_threads,
        names=table.names,
        numbers=order.order if wants_numbers or order.for_screens else None,
        for_screens=order.for_screens,
    )
    return table.place(training, order) if isinstance(table, CodedTable) else training


def spread(rows: Rows, table: Table, options: Sequence[BoostingOptions]) -> Rows:
    """Return the rows, to be sorted for the screens that fits with these options have.

    Codes that are here already stay as they are unless screens are asked for: who makes codes of
    batches, or leaves them in a file, may have no memory for a copy.
    """
    counts = rows.rows_of_class
    kept = isinstance(table, CodedTable) and table.holds_codes
    found = [screening_of(o, counts) for o in options if not (kept and o.screening == "auto")]
    return rows.spread(max((own or 0 for own in found), default=0) or None)


def cut_features(options: BinningOptions, table: Table, rows: Rows) -> Binning:
    """Find the bins of all features."""
    if isinstance(table, CodedTable):
        return _find_binning(options, table, rows, means=False)
    categorical, from_dtype = find_categorical(options.categorical_features, table)
    bins = find_bins(
        table,
        categorical,
        rows.training_weight,
        max_numeric=count_numeric_bins(options.max_bins, options.rows_per_bin, rows.total),
        max_categories=options.max_bins,
        seed=checks.seed(options.random_state),
        n_threads=checks.count_threads(options.n_jobs),
    )
    return Binning(bins, from_dtype)


def _find_binning(
    options: BinningOptions, table: CodedTable, rows: Rows, *, means: bool
) -> Binning:
    """Return the bins of a table that is cut already, if they are those of these options."""
    return table.binning_for(
        options.categorical_features,
        max_numeric=count_numeric_bins(options.max_bins, options.rows_per_bin, rows.total),
        max_categories=options.max_bins,
        means=means,
    )


def _find_directions(given: MonotonicConstraints, training: Training) -> tuple[int, ...]:
    """Return the direction that `monotonic_cst` gives each feature, or either one of each pair.

    Nothing if it gives none.
    """
    if given is None:
        return ()
    features, names = training.binning.features, training.names
    directions = [0] * len(features)
    if isinstance(given, Mapping):
        for name, direction in given.items():
            directions[find_feature(name, names, len(features), "monotonic_cst")] = direction
    elif len(given) != len(features):
        raise ValueError(
            f"monotonic_cst must have an entry for each of the {len(features)} features; "
            f"got {len(given)}"
        )
    else:
        directions = list(given)
    for j, (direction, bins) in enumerate(zip(directions, features, strict=True)):
        if direction != 0 and not isinstance(bins, NumericBins):
            raise ValueError(f"monotonic_cst must be 0 for feature {j}, which is categorical")
    n_classes = len(training.classes)
    if n_classes > 2 and any(directions):
        raise ValueError(
            f"monotonic_cst must be None with {n_classes} classes: their probabilities add up to 1"
        )
    if not any(directions):
        return ()
    if training.pairs is not None:
        directions = [directions[j] for pair in training.pairs for j in (pair.first, pair.second)]
    return tuple(int(direction) for direction in directions)


def find_signs(class_of: NDArray[np.intp], n_classes: int) -> NDArray[np.int8]:
    """Return the sign of the label, 1 or -1, of each segment in each model."""
    positive = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    return np.where(class_of == positive[:, None], 1, -1).astype(np.int8)


def start(
    training: Training,
    roles: NDArray[np.int8],
    options: Sequence[BoostingOptions],
    losses: Sequence[MarginLoss],
    *,
    base: NDArray[np.float64] | None = None,
    keep_rounds: bool,
    risk_of_tables: bool = True,
    raws: int = 0,
    joint_loss: str = "",
    earlier: Sequence[Repeatable] = (),
    repeated: int = 0,
) -> _core.Boosting:
    """Set up models over the same rows; every sequence has an entry per model.

    `options` may differ in their learning rates, priors and weak learners' parameters.  Models
    start from the raw predictions `base`, of shape (n_models or 1, n_rows), or from 0.  With a
    `joint_loss`, the models of all classes, in their order, are one joint model.  The raw
    predictions of all rows and of so many models, `raws`, will be wanted in the end.  Without
    `risk_of_tables` the risk of a round is that after its estimator.  Models go on from `earlier`
    rounds of theirs, which make so many estimators, `repeated`.

    Raises MemoryError if there is less memory than that certainly takes.
    """
    if training.elsewhere is not None:
        return training.elsewhere.start(
            roles, options, losses, base, seed=training.seed, keep_rounds=keep_rounds,
            risk_of_tables=risk_of_tables, joint_loss=joint_loss, earlier=earlier,
            repeated=repeated,
        )  # fmt: skip
    models = [
        _core.Model(
            loss.native,
            _find_learner(o, training),
            own,
            gain=loss.gain,
            learning_rate=rate_of(o, loss.rate_factor),
            prior=0.0 if o.prior is None else o.prior,
        )
        for loss, o, own in zip(losses, options, roles, strict=True)
    ]
    rows = _core.Rows(
        training.codes,
        training.bins,
        training.segments,
        weight=training.weight,
        base=base,
        numbers=training.numbers,
        share=None if training.peers is None else training.peers.share,
        n_threads=training.n_threads,
    )
    shared = options[0]
    # Rows that are in no such order are too few to be screened, or must stay where they are.
    screening = screening_of(shared, training.rows_of_class) if training.for_screens else None
    algorithm = _core.AdditiveBoosting(
        selection=shared.selection,
        response=shared.response,
        step=shared.step,
        l2=shared.l2,
        classes=len(training.classes) if joint_loss else 1,
        joint_loss=joint_loss,
        shared_trees=shared.weak_learner == "tree" and shared.multi_strategy == "multi_output_tree",
        screening=screening or 0,
    )
    boosting = _core.Boosting(
        rows, models, algorithm,
        keep_rounds=keep_rounds, risk_of_tables=risk_of_tables, n_threads=training.n_threads,
    )  # fmt: skip
    kept, working = boosting.memory
    raw = 8 * raws * training.n_rows
    less = ["multiclass='one_vs_rest'"] if joint_loss else []
    less += ["response='real'"] if shared.response == "newton" else []
    require_memory(kept + max(working, raw), " or ".join([*less, "fewer rows"]))
    if repeated:
        boosting.repeat([own.to_native() for own in earlier], repeated)
    return boosting


def start_votes(training: Training, options: VotingOptions, loss: MarginLoss) -> _core.Boosting:
    """Set up weak classifiers that vote.

    A weak classifier says a class for each row.  Where `multiclass` is "one_vs_rest", it says yes
    or no about each label, and the engine has every row once per label.
    """
    n_classes = len(training.classes)
    codes, segments, weight = training.codes, training.segments, training.weight
    targets, roles = training.class_of, np.ones(len(training.class_of), dtype=np.int8)
    name: Literal["plurality", "labels"] = "plurality"
    if n_classes > 2 and options.multiclass == "one_vs_rest":
        name = "labels"
        # Rows lie sorted by class, so each label has three segments: the rows before its own, its
        # own and those after.
        labels = np.repeat(np.arange(n_classes), 3)
        own = np.searchsorted(training.class_of, np.arange(n_classes), side="left")
        after = np.searchsorted(training.class_of, np.arange(n_classes), side="right")
        n_rows = codes.shape[1]
        ends = np.stack([segments[own], segments[after], np.full(n_classes, n_rows)], axis=1)
        sizes = np.diff(ends, axis=1, prepend=0).ravel()
        roles = np.tile(np.array([-1, 1, -1], dtype=np.int8), n_classes)[sizes > 0]
        targets = labels[sizes > 0]
        segments = np.cumsum([0, *sizes[sizes > 0]])
        require_memory(codes.nbytes * n_classes, "multiclass='samme' or fewer rows")
        codes = np.tile(codes, (1, n_classes))
        weight = None if weight is None else np.tile(weight, n_classes)
    rows = _core.Rows(codes, training.bins, segments, weight=weight, n_threads=training.n_threads)
    learner = _core.WeakLearner(
        options.weak_learner,
        max_leaves=options.max_leaf_nodes,
        max_depth=options.max_depth or LARGEST_INT,
        min_relative_decrease=options.min_relative_decrease,
        max_features=options.max_features,
        seed=training.seed,
    )
    model = _core.Model(
        loss.native, learner, roles, gain=loss.gain, learning_rate=options.learning_rate
    )
    algorithm = _core.VoteBoosting(
        _core.Vote(name, n_classes, options.criterion),
        targets.tolist(),
        step="line_search" if options.mistrust > 0.0 else "adaptive",
        rho=options.rho,
        damping=options.damping,
        mistrust=options.mistrust,
    )
    boosting = _core.Boosting(rows, [model], algorithm, n_threads=training.n_threads)
    require_memory(sum(boosting.memory), "fewer rows")
    return boosting


def _remember(make: Callable[P, Made]) -> Callable[P, Made]:
    """Return `lru_cache` of a function, which keeps the types of its arguments."""
    return cast("Callable[P, Made]", lru_cache(maxsize=1024)(make))


# The engine takes models of one weak learner to be the same but for their gains.
_make_learner = _remember(_core.WeakLearner)


def _find_learner(options: BoostingOptions, training: Training) -> _core.WeakLearner:
    return _make_learner(
        options.weak_learner,
        smoothing=smoothing_of(options, training.class_weights),
        max_leaves=leaves_of(options, training.class_weights),
        max_depth=depth_of(options, training.class_weights),
        by_level=options.grow_policy == "symmetric",
        max_cells=cells_of(options, training.class_weights) or 0,
        min_saving=options.min_saving,
        max_literals=options.max_literals,
        min_child_weight=options.min_child_weight,
        max_features=options.max_features,
        directions=_find_directions(options.monotonic_cst, training),
        subsample=options.subsample,
        seed=training.seed,
        criterion=options.criterion,
        allows_for_chance=options.weak_learner in GROWN and options.selection != "greedy",
        linear_leaves=options.linear_leaves,
        linear_l2=options.linear_l2,
        linear_rows=LINEAR_ROWS,
    )


def find_pairs(
    link: Link,
    training: Training,
    raw: NDArray[np.float64],
    bin_weights: Sequence[NDArray[np.float64]],
    n: int,
    learns: NDArray[np.bool_] | None = None,
    models: NDArray[np.bool_] | None = None,
) -> list[tuple[int, int]]:
    """Return the `n` pairs of features that explain most of what the raw predictions leave.

    `raw` has the shape (n_models, n_rows).  `learns` says which segments count, and `models` which
    models that are not joint; None is all of them.
    """
    signs = find_signs(training.class_of, len(training.classes))
    wanted = slice(None) if models is None else models
    count = np.ones(training.n_rows)
    weight_of_one = 1.0
    if training.weight is not None:
        weight_of_one = mean(training.weight)
        count = training.weight / weight_of_one
    if learns is not None:
        count = count * np.repeat(learns, np.diff(training.segments))

    def find_joint_gradients() -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        probability = link.probabilities(raw.T)
        most, rows = probability.argmax(axis=1), np.arange(len(probability))
        without = probability.copy()
        without[rows, most] = 0.0
        others = without.sum(axis=1)
        for k, (sign, p) in enumerate(zip(signs, probability.T, strict=True)):
            q = np.where(most == k, others, 1.0 - p)
            gradient = np.where(np.repeat(sign, np.diff(training.segments)) > 0, q, -p)
            yield _to_float32(gradient * count), _to_float32(p * q * count)

    def find_gradients() -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        for own, sign in zip(raw[wanted], signs[wanted], strict=True):
            y = np.repeat(sign, np.diff(training.segments))
            margin = _to_float32(y * own / link.loss.gain)
            native = link.loss.native
            weight, otherwise, p, q = (
                f(u).astype(np.float64)
                for f in (native.engine_weight, native.engine_probability)
                for u in (margin, -margin)
            )
            # The variance of the gradient is the one that the model expects.  Where the model is
            # sure and right, a row tells nothing.
            variance = p * weight**2 + q * otherwise**2
            # For float32; it cancels where strengths are computed.
            scale = 1.0 / np.sqrt(variance.max(initial=np.finfo(np.float64).tiny))
            gradient = y * weight * scale * count
            yield _to_float32(gradient), _to_float32(variance * scale**2 * count)

    return rank_pairs(
        training.binning, training.gather, bin_weights, raw[wanted],
        find_joint_gradients() if link.joint_loss else find_gradients(),
        weight_of_one, n, training.n_threads,
    )  # fmt: skip


def _to_float32(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Convert numbers; those too large become so large that their sums are still finite."""
    return np.clip(values, -LARGEST_TERM, LARGEST_TERM).astype(np.float32)


def lay_grids(
    training: Training, bin_weights: Sequence[NDArray[np.float64]], pairs: Sequence[tuple[int, int]]
) -> tuple[PairBins, ...]:
    """Return the grids of these pairs of features."""
    return tuple(make_pair(training.binning, bin_weights, *pair, MOST_CELLS) for pair in pairs)


def reorder(training: Training, order: SortedRows, other: SortedRows) -> Training:
    """Return the same rows, sorted in another order."""
    place = np.empty(int(order.order.max()) + 1, dtype=np.int64)
    place[order.order] = np.arange(len(order.order))
    taken = place[other.order]
    here = training.elsewhere is None
    moved = replace(
        training,
        codes=training.codes.take(taken, axis=1) if here else training.codes,
        segments=other.segments,
        class_of=other.class_of,
        weight=None if training.weight is None else training.weight[taken],
        numbers=None if training.numbers is None else other.order,
    )
    return moved if training.elsewhere is None else training.elsewhere.reorder(moved, other)
