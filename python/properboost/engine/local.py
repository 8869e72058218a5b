"""Rows in this process: their table, their codes, and the engine that boosts models on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.binning import COPY_BYTES, Binning, count_numeric_bins, find_bins
from properboost.data.features import find_categorical, find_texts
from properboost.data.frames import take_rows
from properboost.data.sorted_rows import HELD_OUT, Rows, SortedRows
from properboost.data.sparse_codes import (
    AnyCodes,
    SparseCodes,
    encode_for_training,
    to_native,
)
from properboost.data.table import InputTable
from properboost.engine.available_memory import require_memory
from properboost.engine.learners import find_directions, make_learner
from properboost.engine.protocols import (
    CodeWeights,
    ModelSet,
    RowSource,
    TrainingRows,
    describe_rows,
)
from properboost.engine.soft_labels import Parts, SharedRows, number_used, takes_shares
from properboost.losses.builtin import MarginLoss
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.interactions import PairBins
from properboost.models.term_grid import TermGrid, weigh_cells
from properboost.parameters import checks
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.learners import Tree
from properboost.parameters.rows import BinningOptions
from properboost.parameters.voting import VotingOptions

__all__ = ["LocalBooster", "LocalRows", "Peers", "TableSource", "start_votes"]

_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor of many bits: sums of codes times its powers differ where the codes do."""


class TableSource(RowSource):
    """A table of values in this process."""

    def __init__(self, table: InputTable) -> None:
        self.table = table
        self.source, self.n_rows, self.names = table.source, table.n_rows, table.names

    @property
    def can_have_lines(self) -> bool:
        """Whether the table is not a sparse matrix, whose codes are sparse, too."""
        return self.table.entries is None

    def find_binning(self, options: BinningOptions, rows: Rows) -> Binning:
        """Return the bins of the features by these options."""
        categorical, from_dtype = find_categorical(options.categorical_features, self.table)
        bins = find_bins(
            self.table,
            categorical,
            rows.find_binned_weight(),
            max_numeric=count_numeric_bins(options.max_bins, options.rows_per_bin, rows.total),
            max_categories=options.max_bins,
            seed=checks.seed(options.random_state),
            n_threads=checks.count_threads(options.n_jobs),
            texts=find_texts(self.table, categorical, from_dtype),
        )
        return Binning(bins, from_dtype)

    def encode(
        self,
        options: BinningOptions,
        rows: Rows,
        order: SortedRows,
        *,
        with_means: bool = False,
        binning: Binning | None = None,
    ) -> "LocalRows":
        """Return the rows in that `order` as codes of `binning`, or of new bins.

        `with_means` also computes the means of bins, for models that are linear in them.
        """
        described = describe_rows(options, rows, order)
        if binning is None:
            binning = self.find_binning(options, rows)
        n_threads = described["n_threads"]
        encoded = binning
        if with_means and not binning.has_means:
            binning = binning.with_means(self.table, order.order, described["weight"], n_threads)
        described |= {"binning": binning, "names": self.names}
        if order.row_of is None:
            codes = encode_for_training(encoded, self.table, order.order, n_threads)
            return LocalRows(**described, codes=codes)
        used, row_of = number_used(order.order, self.n_rows)
        codes = encoded.encode(self.table, used, n_threads)
        return SoftRows(**described, codes=codes, row_of=row_of)

    def encode_counted(
        self, binning: Binning, n_threads: int
    ) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Return the places of all rows, and their codes in these bins."""
        require_memory(self.n_rows * len(binning.features), "fewer rows")
        return np.arange(self.n_rows), binning.encode(self.table, None, n_threads)

    def take(self, positions: NDArray[np.int64]) -> Any:
        """Return a table of these rows, of the user's kind."""
        return take_rows(self.source, positions)


class LocalBooster:
    """The engine in this process as a `Booster`."""

    def __init__(self, native: _core.Boosting) -> None:
        self._native = native

    @property
    def n_estimators(self) -> NDArray[np.int64]:
        """The number of estimators of each model."""
        return self._native.n_estimators

    @property
    def code_counts(self) -> NDArray[np.int64]:
        """The number of rows of each code, features side by side; 0 before the first `advance`."""
        return self._native.code_counts

    @property
    def cohorts(self) -> int:
        """The number of groups of models that advance in step."""
        return self._native.cohorts

    def advance(
        self,
        n_estimators: int,
        models: NDArray[np.int64] | None = None,
        progress: Callable[[int, float], None] | None = None,
        *,
        report_each: bool = False,
        keep_others: bool = False,
    ) -> None:
        """Boost these models by up to `n_estimators` more, as long as an estimator helps."""
        self._native.advance(
            n_estimators, models, progress, report_each=report_each, keep_others=keep_others
        )

    def rounds(self, model: int, *, first: int = 0) -> Rounds:
        """Return the rounds of a model from round `first` on, with their moves of margins."""
        return Rounds.from_native(self._native.rounds(model, first=first), with_moves=True)

    def raw(self, model: int) -> NDArray[np.float64]:
        """Return the raw predictions of all rows."""
        return self._native.raw(model)

    def held_out(self, model: int) -> NDArray[np.float64]:
        """Return the raw predictions of the model's held-out rows."""
        return self._native.held_out(model)

    def curves(self, model: int) -> NDArray[np.float64]:
        """Return the mean losses of held-out rows after each estimator, (3, 3, n_estimators)."""
        return self._native.curves(model)

    def separated(self, model: int) -> bool:
        """Return whether a step that solves for coefficients has no finite optimum."""
        return self._native.separated(model)


class SoftBooster(LocalBooster):
    """The engine over rows that are of every class by a share, as one over their labels.

    `place` is that of each label's row in the engine, and `parts` are the rows there.
    """

    def __init__(self, native: _core.Boosting, place: NDArray[np.int64], parts: Parts) -> None:
        super().__init__(native)
        self._place, self._parts = place, parts

    def raw(self, model: int) -> NDArray[np.float64]:
        """Return the raw predictions of all labels."""
        return super().raw(model)[self._place]

    def held_out(self, model: int) -> NDArray[np.float64]:
        """Return the raw predictions of the labels of the model's held-out rows."""
        sizes = np.diff(self._parts.segments)
        is_held_out = np.repeat(np.abs(self._parts.roles[model]) == HELD_OUT, sizes)
        place_there = np.cumsum(is_held_out) - 1
        places: NDArray[np.intp] = place_there[self._place[is_held_out[self._place]]]
        return super().held_out(model)[places]


@dataclass(frozen=True, eq=False)
class Peers:
    """The other processes of an all-reduce, which have other rows of the same segments.

    `share` is that of `_core.Rows`; weights and numbers of classes are of all rows together.
    """

    share: Callable[[NDArray[np.int64], NDArray[np.float64]], object]
    class_weights: NDArray[np.float64]
    rows_of_class: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LocalRows(TrainingRows):
    """Training rows whose codes, (n_features or n_pairs, n_rows), are in this process."""

    codes: AnyCodes
    peers: Peers | None = None
    """The processes with the other rows, if these are only a part."""

    @property
    def rows_of_class(self) -> NDArray[np.int64]:
        """The number of rows of each class, those of peers included."""
        return super().rows_of_class if self.peers is None else self.peers.rows_of_class

    @cached_property
    def class_weights(self) -> NDArray[np.float64]:
        """The weight of the rows of each class, those of peers included."""
        return super().class_weights if self.peers is None else self.peers.class_weights

    @property
    def can_be_copied(self) -> bool:
        """Whether another process can boost models over a copy of these rows."""
        return self.peers is None

    def of_pairs(self, pairs: Sequence[PairBins]) -> Self:
        """Return the same rows with the codes of pairs of these features."""
        return replace(self, codes=self._encode_pairs(pairs), pairs=tuple(pairs))

    def first_pairs(self, n: int) -> Self:
        """Return the same rows with the codes of the first `n` of these pairs."""
        return replace(self, codes=self.dense_codes[:n], pairs=(self.pairs or ())[:n])

    @property
    def dense_codes(self) -> NDArray[np.uint8]:
        """The codes as an array, which is made where features are sparse.

        Raises MemoryError if there is less memory than it takes.
        """
        if not isinstance(self.codes, SparseCodes):
            return self.codes
        n_features, n_rows = self.codes.shape
        require_memory(
            n_features * n_rows,
            "a weak learner that takes sparse codes, fewer features or fewer rows",
        )
        return self.codes.lay_out(n_threads=self.n_threads)

    def as_dense(self) -> Self:
        """Return the same rows with codes in an array."""
        return replace(self, codes=self.dense_codes)

    def of_rows(self, taken: NDArray[np.bool_]) -> Self:
        """Return a part of the rows, in the same order."""
        codes = self.codes.compress(taken, axis=1)
        return replace(self, codes=codes, **self._part_of(taken))

    def of_segments(self, taken: NDArray[np.bool_]) -> Self:
        """Return the rows of some segments, in the same order."""
        return self.of_rows(np.repeat(taken, np.diff(self.segments)))

    def reorder(self, order: SortedRows) -> Self:
        """Return the same rows, sorted in another order."""
        return self.bring(order, np.ones(len(order.class_of), dtype=bool))

    def bring(self, order: SortedRows, taken: NDArray[np.bool_]) -> Self:
        """Return the rows of some segments of another order."""
        places, described = self._sorted_as(order, taken)
        return replace(self, codes=self.codes.take(places, axis=1), **described)

    def gather(self, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes of these features, a row each."""
        if isinstance(self.codes, SparseCodes):
            return self.codes.lay_out(features, self.n_threads)
        return self.codes[list(features)]

    def hash_codes(self) -> NDArray[np.uint64]:
        """Return a number for each row, the same for rows of equal codes."""
        hashes = np.zeros(self.codes.shape[1], dtype=np.uint64)
        for column in self.dense_codes:
            hashes *= _HASH_FACTOR
            hashes += column
        return hashes

    def add_up(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return the raw predictions of an ensemble over these features, (n_rows, n_models)."""
        if not isinstance(self.codes, SparseCodes):
            codes = ensemble.extend_codes(self.codes, self.n_threads)
            return ensemble.add_up(codes, self.n_threads)
        parts = (part.lay_out(n_threads=self.n_threads) for part in self.codes.cut(COPY_BYTES))
        return np.concatenate([replace(self, codes=codes).add_up(ensemble) for codes in parts])

    def weigh_groups(self, group_of: NDArray[np.int64], n_groups: int) -> list[CodeWeights]:
        """Return the weight of each code in each group of segments; -1 is no group."""
        share = None if self.peers is None else self.peers.share
        weights = self.bins.weigh(
            to_native(self.codes), self.segments, group_of, n_groups, self.weight, self.n_threads,
            share,
        )  # fmt: skip
        return [self._split(of_group) for of_group in weights]

    def weigh_cells(self, grids: Sequence[TermGrid]) -> list[NDArray[np.float64]]:
        """Return the weight of each cell of grids over these features, in the order of cells."""
        codes = self.codes
        if isinstance(codes, SparseCodes):  # one by one, as a grid has few features
            return [
                weights
                for grid in grids
                for weights in weigh_cells(
                    [grid.over(range(len(grid.features)))],
                    self.gather(grid.features),
                    self.weight,
                    self.n_threads,
                )
            ]
        return weigh_cells(grids, codes, self.weight, self.n_threads)

    def start(self, models: ModelSet) -> LocalBooster:
        """Set up models over these rows.

        Raises MemoryError if there is less memory than boosting certainly takes.
        """
        rows = _core.Rows(
            self._find_codes(models),
            self.bins,
            self.segments,
            weight=self.weight,
            base=models.base,
            numbers=self.numbers,
            share=None if self.peers is None else self.peers.share,
            n_threads=self.n_threads,
        )
        return LocalBooster(self._set_up(models, rows))

    def _set_up(self, models: ModelSet, rows: _core.Rows) -> _core.Boosting:
        native = [
            _core.Model(
                loss.native,
                self._make_learner(options),
                roles,
                gain=loss.gain,
                learning_rate=options.find_rate(loss.rate_factor),
                prior=0.0 if options.prior is None else options.prior,
            )
            for loss, options, roles in zip(
                models.losses, models.options, models.roles, strict=True
            )
        ]
        boosting = _core.Boosting(
            rows, native, self._make_algorithm(models), keep_rounds=models.keep_rounds,
            risk_of_tables=models.risk_of_tables, n_threads=self.n_threads,
        )  # fmt: skip
        lasting, working = boosting.memory
        raws, raws_after = (8 * n * self.n_rows for n in (models.raws, models.raws_after))
        needed = max(lasting + max(working, raws), raws_after)
        remedies = ["multiclass='one_vs_rest'"] if models.joint_loss else []
        remedies += ["response='real'"] if models.options[0].response == "newton" else []
        require_memory(needed, " or ".join([*remedies, "fewer rows"]))
        if models.n_repeated:
            boosting.repeat([rounds.to_native() for rounds in models.earlier], models.n_repeated)
        return boosting

    def _find_codes(self, models: ModelSet) -> NDArray[np.uint8] | _core.SparseCodes:
        """Return the codes for these models, of which few kinds need an array."""
        learner = models.options[0].weak_learner
        is_joint = bool(models.joint_loss)
        if isinstance(learner, Tree) and (
            learner.linear_leaves or (learner.shares_classes and is_joint)
        ):
            return self.dense_codes
        return to_native(self.codes)

    def _make_learner(self, options: BoostingOptions) -> _core.WeakLearner:
        directions = find_directions(
            options.monotonic_cst,
            binning=self.binning,
            names=self.names,
            n_classes=len(self.class_weights),
            pairs=self.pairs,
        )
        return make_learner(
            options.weak_learner,
            class_weights=self.class_weights,
            n_features=len(self.bins.widths),
            directions=directions,
            names=self.names,
            seed=self.seed,
            criterion=options.criterion,
            allows_for_chance=options.selection != "greedy",
        )

    def _make_algorithm(self, models: ModelSet) -> _core.AdditiveBoosting:
        shared = models.options[0]
        learner = shared.weak_learner
        return _core.AdditiveBoosting(
            **shared.describe_algorithm(self.rows_of_class),
            classes=len(self.classes) if models.joint_loss else 1,
            joint_loss=models.joint_loss,
            shared_trees=isinstance(learner, Tree) and learner.shares_classes,
        )

    def _encode_pairs(self, pairs: Sequence[PairBins]) -> NDArray[np.uint8]:
        if not isinstance(self.codes, SparseCodes):
            return _core.encode_pairs([pair.native for pair in pairs], self.codes, self.n_threads)
        features = sorted({j for pair in pairs for j in (pair.first, pair.second)})
        place = {j: k for k, j in enumerate(features)}
        native = [
            replace(pair, first=place[pair.first], second=place[pair.second]).native
            for pair in pairs
        ]
        return _core.encode_pairs(native, self.gather(features), self.n_threads)


@dataclass(frozen=True, eq=False)
class SoftRows(LocalRows):
    """Training rows whose labels are probabilities.

    As everywhere, there is a row for each label.  But each row of the table has its codes once, and
    the engine takes it as one row where `takes_shares`; elsewhere it takes a row for each label.
    """

    row_of: NDArray[np.int64] = field(kw_only=True)
    """The place of each label's row among the codes."""

    @property
    def rows_of_class(self) -> NDArray[np.int64]:
        """The number of rows of the table, by the classes' shares of the labels."""
        labels = super().rows_of_class
        return np.asarray(labels * self.codes.shape[1] // labels.sum())

    @cached_property
    def labels(self) -> LocalRows:
        """The same rows with the codes of each label."""
        require_memory(
            len(self.bins.widths) * self.n_rows,
            "fewer rows, or fewer classes of positive probability",
        )
        return self._as_plain(codes=self.codes.take(self.row_of, axis=1))

    @cached_property
    def shared(self) -> SharedRows:
        """The rows of the table that have labels."""
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        shape = len(self.classes), self.codes.shape[1]
        return SharedRows.of(self.row_of, self.class_of_row, weight, shape)

    @cached_property
    def _of_table(self) -> LocalRows:
        """The rows of the table that have labels, as rows of one segment."""
        return self._in_order(None, np.array([0, len(self.shared.first)]))

    def _in_order(self, order: NDArray[np.intp] | None, segments: NDArray[np.int64]) -> LocalRows:
        """Return the rows of the table that have labels, in an order; None stands for theirs."""
        shared = self.shared
        places, weight = shared.rows, shared.weight
        if order is not None:
            places = order if places is None else places[order]
            weight = None if weight is None else weight[order]
        return self._as_plain(
            codes=self.codes if places is None else self.codes.take(places, axis=1),
            weight=weight,
            segments=segments,
            class_of=np.zeros(len(segments) - 1, dtype=np.intp),
            numbers=np.arange(segments[-1]),
        )

    def _as_plain(self, **changes: Any) -> LocalRows:
        named = {one.name: getattr(self, one.name) for one in fields(LocalRows)}
        return LocalRows(**named | changes)

    def of_rows(self, taken: NDArray[np.bool_]) -> Self:
        """Return a part of the rows, in the same order."""
        return replace(self, row_of=self.row_of[taken], **self._part_of(taken))

    def bring(self, order: SortedRows, taken: NDArray[np.bool_]) -> Self:
        """Return the rows of some segments of another order."""
        places, described = self._sorted_as(order, taken)
        return replace(self, row_of=self.row_of[places], **described)

    def gather(self, features: Sequence[int]) -> NDArray[np.uint8]:
        """Return the codes of these features, a row each."""
        return super().gather(features)[:, self.row_of]

    def hash_codes(self) -> NDArray[np.uint64]:
        """Return a number for each row, the same for rows of equal codes."""
        return super().hash_codes()[self.row_of]

    def add_up(self, ensemble: Ensemble) -> NDArray[np.float64]:
        """Return the raw predictions of an ensemble over these features, (n_rows, n_models)."""
        return super().add_up(ensemble)[self.row_of]

    def weigh_groups(self, group_of: NDArray[np.int64], n_groups: int) -> list[CodeWeights]:
        """Return the weight of each code in each group of segments; -1 is no group."""
        if n_groups == 1 and not group_of.any():
            return self._of_table.weigh_groups(np.zeros(1, dtype=np.int64), 1)
        if len(group_of) > len(self.classes):
            group_of_label = np.repeat(group_of, np.diff(self.segments))
            return [self._weigh_labels(group_of_label == group) for group in range(n_groups)]
        weights = [
            [np.zeros_like(of_feature) for of_feature in self._weights_of_segments[0]]
            for _ in range(n_groups)
        ]
        for group, of_segment in zip(group_of.tolist(), self._weights_of_segments, strict=True):
            if group >= 0:
                for total, of_feature in zip(weights[group], of_segment, strict=True):
                    total += of_feature
        return [tuple(of_group) for of_group in weights]

    @cached_property
    def _weights_of_segments(self) -> list[CodeWeights]:
        """The weight of each code in each segment, where a class has one: they serve all models."""
        ends = self.segments.tolist()
        return [self._weigh_labels(slice(*segment)) for segment in pairwise(ends)]

    def _weigh_labels(self, chosen: slice | NDArray[np.bool_]) -> CodeWeights:
        """Return the weight of each code, by these labels alone."""
        n_rows = self.codes.shape[1]
        weight = None if self.weight is None else self.weight[chosen]
        of_row = np.bincount(self.row_of[chosen], weight, n_rows).astype(np.float64, copy=False)
        rows = self._as_plain(weight=of_row, segments=np.array([0, n_rows]))
        (weights,) = rows.weigh_groups(np.zeros(1, dtype=np.int64), 1)
        return weights

    def weigh_cells(self, grids: Sequence[TermGrid]) -> list[NDArray[np.float64]]:
        """Return the weight of each cell of grids over these features, in the order of cells."""
        return self._of_table.weigh_cells(grids)

    def start(self, models: ModelSet) -> LocalBooster:
        """Set up models over these rows.

        Raises MemoryError if there is less memory than boosting certainly takes.
        """
        screen = models.options[0].find_screen(self.rows_of_class)
        if not takes_shares(models.options, models.roles, models.joint_loss, screen):
            return self.labels.start(models)
        shared, base = self.shared, models.base
        parts = Parts.of(models.roles, self.segments, shared)
        if parts is None or not (models.roles > 0).any(axis=1).all():
            return self.labels.start(models)
        first, place, whole = shared.first, shared.place, self._of_table
        shares = self._find_shares(models.roles)
        if parts.order is not None:
            first, shares = first[parts.order], shares[:, parts.order]
            place = np.argsort(parts.order)[place]
            whole = self._in_order(parts.order, parts.segments)
        rows = _core.Rows(
            to_native(whole.codes),
            self.bins,
            whole.segments,
            weight=whole.weight,
            base=None if base is None else np.ascontiguousarray(base[:, first]),
            labels=np.ascontiguousarray(shares),
            n_threads=self.n_threads,
        )
        native = self._set_up(replace(models, roles=parts.roles), rows)
        return SoftBooster(native, place, parts)

    def _find_shares(self, roles: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the share of each model's positive class in each row of the table."""
        positive = [int(self.class_of[of_model > 0][0]) for of_model in roles]
        return self.shared.shares[positive]


def start_votes(rows: LocalRows, options: VotingOptions, loss: MarginLoss) -> _core.Boosting:
    """Set up the engine for weak classifiers that vote.

    A weak classifier votes for a class of each row.  Where `multiclass` is "one_vs_rest", it votes
    for or against each label, and the engine has every row once per label.
    """
    n_classes = len(rows.classes)
    codes, segments, weight = rows.dense_codes, rows.segments, rows.weight
    targets, roles = rows.class_of, np.ones(len(rows.class_of), dtype=np.int8)
    name: Literal["plurality", "labels"] = "plurality"
    if n_classes > 2 and options.multiclass == "one_vs_rest":
        name = "labels"
        # Rows are sorted by class, so each label has three segments: the rows before those of the
        # label, these, and the rows after.
        labels = np.repeat(np.arange(n_classes), 3)
        begins = np.searchsorted(rows.class_of, np.arange(n_classes), side="left")
        ends = np.searchsorted(rows.class_of, np.arange(n_classes), side="right")
        n_rows = codes.shape[1]
        bounds = np.stack([segments[begins], segments[ends], np.full(n_classes, n_rows)], axis=1)
        sizes = np.diff(bounds, axis=1, prepend=0).ravel()
        roles = np.tile(np.array([-1, 1, -1], dtype=np.int8), n_classes)[sizes > 0]
        targets = labels[sizes > 0]
        segments = np.cumsum([0, *sizes[sizes > 0]])
        require_memory(codes.nbytes * n_classes, "multiclass='samme' or fewer rows")
        codes = np.tile(codes, (1, n_classes))
        weight = None if weight is None else np.tile(weight, n_classes)
    native = _core.Rows(codes, rows.bins, segments, weight=weight, n_threads=rows.n_threads)
    learner = _core.WeakLearner(
        {
            **options.describe_learner(rows.class_weights),
            "min_relative_decrease": options.min_relative_decrease,
            "seed": rows.seed,
        }
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
    boosting = _core.Boosting(native, [model], algorithm, n_threads=rows.n_threads)
    require_memory(sum(boosting.memory), "fewer rows")
    return boosting
