"""The fitted ensemble: what each round added, and the raw predictions they add up to.

Look-up tables add up to one shape function per feature; trees stay as they are.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise, zip_longest
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from properboost import _core
from properboost.boosting.edits import Edit
from properboost.boosting.interactions import PairBins, look_up, purify
from properboost.boosting.lines import Lines
from properboost.boosting.spread import Spread
from properboost.boosting.tree import Tree, as_shares
from properboost.data.binning import Binning
from properboost.data.entries import ROWS, find_entries
from properboost.data.table import Table

__all__ = [
    "LARGEST_RAW",
    "DampedEnsemble",
    "Ensemble",
    "Fits",
    "Moves",
    "Rounds",
    "TableEnsemble",
    "TreeEnsemble",
    "make_ensemble",
    "regress_isotonic",
]

TreeExplainer: TypeAlias = Callable[
    [Tree, NDArray[np.float64], Sequence[int], NDArray[np.uint8]],
    tuple[NDArray[np.float64], float],
]
"""Takes a tree, its nodes' values, the features' numbers of codes, and the codes of rows."""

LARGEST_RAW = 1e300
"""Raw predictions beyond this are refused, so that no sum of them overflows."""

_MOST_AT_ONCE = 2**18
"""Numbers of look-up tables side by side, 2 MiB, that may be more than the rounds hold."""

PairEffects: TypeAlias = dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]
"""What the tables of pairs say about either feature alone, by level."""


@dataclass(frozen=True, eq=False)
class Moves:
    """How far each round moved the margins: what it takes to go on with the bits of one long fit.

    ``step`` is the rounds' steps before they were multiplied by a slope.  ``proposed`` and
    ``taken`` are how far margins at gain 1 moved before a step was corrected, and after.
    """

    step: NDArray[np.float64]
    proposed: NDArray[np.float64]
    taken: NDArray[np.float64]

    def part(self, begin: int, end: int) -> "Moves":
        """Return those of the rounds from `begin` to `end`."""
        return Moves(self.step[begin:end], self.proposed[begin:end], self.taken[begin:end])

    @classmethod
    def chain(cls, parts: Sequence["Moves"]) -> "Moves":
        """Return those of some rounds after the other."""
        return cls(
            **{f.name: np.concatenate([getattr(own, f.name) for own in parts]) for f in fields(cls)}
        )


@dataclass(frozen=True, eq=False)
class Rounds:
    """What boosting found for one model, one row per round.

    Round `t` looks a row's code of ``feature[t]`` up in ``values[offsets[t]:offsets[t + 1]]`` and
    adds it, times ``step[t]``, to the raw prediction.  ``cost`` is what the feature was chosen by,
    ``risk`` the training risk after the round.  Where a round added a tree its feature is -1, and
    the code a node of `trees`, which `offsets` cuts, too; a node's weight is the training rows'.
    If leaves have `lines`, what these say of a row is added to its node's value.  ``estimator[t]``
    counts estimators from 0, in order; None stands for estimators that are one round each, or with
    cyclic selection one of each feature.  `moves` are known where the rounds can be gone on from.
    """

    feature: NDArray[np.int32]
    cost: NDArray[np.float64]
    step: NDArray[np.float64]
    risk: NDArray[np.float64]
    offsets: NDArray[np.int64]
    values: NDArray[np.float64]
    trees: Tree | None = None
    lines: Lines | None = None
    estimator: NDArray[np.int32] | None = None
    moves: Moves | None = None

    @classmethod
    def join(cls, first: "Rounds", second: "Rounds", features: int) -> "Rounds":
        """Return the rounds of `first`, then those of `second`, whose features come so much later.

        None of them may be of trees, and nothing goes on from them.
        """
        later = replace(second, feature=second.feature + np.int32(features))
        return replace(cls.chain([first, later]), moves=None)

    @classmethod
    def chain(cls, parts: Sequence["Rounds"]) -> "Rounds":
        """Return some rounds after the other, over the same features."""
        some = [own for own in parts if len(own) > 0]
        if len(some) <= 1:  # one without rounds may not know whether they would be trees
            return some[0] if some else parts[0]

        def join(name: str) -> NDArray[Any]:
            joined: NDArray[Any] = np.concatenate([getattr(own, name) for own in some])
            return joined

        def all_of(name: str) -> list[Any]:
            known = [getattr(own, name) for own in some]
            return [] if any(entry is None for entry in known) else known

        trees, moves = all_of("trees"), all_of("moves")
        lines = [own.lines or Lines.without_terms(len(own.values)) for own in some]
        sizes = np.concatenate([np.diff(own.offsets) for own in some])
        return cls(
            feature=join("feature"),
            cost=join("cost"),
            step=join("step"),
            risk=join("risk"),
            offsets=np.cumsum([0, *sizes], dtype=np.int64),
            values=join("values"),
            trees=Tree.join(trees) if trees else None,
            lines=Lines.join(lines) if any(own.lines for own in some) else None,
            estimator=join("estimator") if all_of("estimator") else None,
            moves=Moves.chain(moves) if moves else None,
        )

    @classmethod
    def average(cls, fits: Sequence["Rounds"], size: int = 1) -> "Rounds":
        """Return rounds that add up to the mean of what those of each fit add up to.

        Each fit's estimators are `size` rounds.  The fits take turns: those that are still boosted
        share an estimator.  In it, look-up tables of one feature are one round.
        """
        estimators = [np.arange(len(own), dtype=np.int32) // size for own in fits]
        if not any(own.trees is not None for own in fits):
            return cls._merge(fits, estimators)
        estimator = np.concatenate(estimators)
        turn = np.argsort(estimator, kind="stable")
        sizes = np.concatenate([np.diff(own.offsets) for own in fits])
        ends = np.cumsum(sizes)
        first = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes[turn])])
        nodes = np.repeat((ends - sizes)[turn] - first[:-1], sizes[turn]) + np.arange(first[-1])

        def join(name: str, order: NDArray[np.int64]) -> NDArray[Any]:
            joined: NDArray[Any] = np.concatenate([getattr(own, name) for own in fits])[order]
            return joined

        lines = [own.lines for own in fits if own.lines is not None]
        return cls(
            feature=join("feature", turn),
            cost=join("cost", turn),
            step=join("step", turn) / len(fits),
            risk=join("risk", turn),
            offsets=first,
            values=join("values", nodes),
            trees=Tree.join([own.trees for own in fits if own.trees is not None]).take(nodes),
            lines=Lines.join(lines).take(nodes) if lines else None,
            estimator=estimator[turn],
        )

    @classmethod
    def _merge(cls, fits: Sequence["Rounds"], estimators: Sequence[NDArray[np.int32]]) -> "Rounds":
        """Return the mean of fits of look-up tables; costs, steps and risks are means, too."""
        features = np.concatenate([own.feature for own in fits])
        n_terms = int(features.max(initial=0)) + 1
        key = n_terms * np.concatenate(estimators).astype(np.int64) + features
        kinds, place, counts = np.unique(key, return_inverse=True, return_counts=True)

        def average(every: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.bincount(place, every, len(counts)) / counts

        cost, steps, risk = (
            np.concatenate([getattr(own, name) for own in fits])
            for name in ("cost", "step", "risk")
        )

        widths = np.zeros(len(counts), dtype=np.int64)
        widths[place] = np.concatenate([np.diff(own.offsets) for own in fits])
        offsets = np.cumsum([0, *widths])
        values = np.zeros(offsets[-1])
        rounds = ((own, t) for own in fits for t in range(len(own)))
        for k, (own, t) in zip(place.tolist(), rounds, strict=True):
            values[offsets[k] : offsets[k + 1]] += own.table(t)
        step = average(steps)
        step[np.abs(step) <= 0.5 * average(np.abs(steps))] = 1.0  # some are 0, or cancel
        return cls(
            cost=average(cost),
            step=step,
            risk=average(risk),
            feature=(kinds % n_terms).astype(np.int32),
            offsets=offsets,
            values=values / np.repeat(step * len(fits), widths),
            estimator=(kinds // n_terms).astype(np.int32),
        )

    @classmethod
    def of_tables(
        cls, terms: NDArray[np.integer[Any]], tables: Sequence[NDArray[np.float64]]
    ) -> "Rounds":
        """Return a round for each of these features and pairs."""
        nothing = np.zeros(len(terms))
        return cls(
            feature=terms.astype(np.int32),
            cost=nothing,
            step=np.ones(len(terms)),
            risk=nothing,
            offsets=np.cumsum([0, *map(len, tables)], dtype=np.int64),
            values=np.concatenate([np.empty(0), *tables]),
        )

    @classmethod
    def from_native(cls, rounds: "_core.Rounds | Rounds", *, with_moves: bool = False) -> "Rounds":
        """Take over what the engine returned, and how far margins moved if that is wanted.

        What it returned in another process was taken over there.
        """
        if isinstance(rounds, Rounds):
            return rounds if with_moves else replace(rounds, moves=None)
        own = [f.name for f in fields(cls) if f.name not in ("estimator", "moves")]
        found = {name: getattr(rounds, name) for name in own}
        trees = found["trees"]
        found["trees"] = None if trees is None else Tree.from_native(trees)
        lines = found["lines"]
        found["lines"] = None if lines is None else Lines.from_native(lines)
        moves = Moves(rounds.step, rounds.proposed, rounds.taken) if with_moves else None
        return cls(**found, moves=moves)

    def to_native(self) -> _core.Rounds:
        """Return what the engine repeats of these rounds."""
        assert self.moves is not None
        moves = self.moves.proposed, self.moves.taken
        if self.trees is None:
            return _core.Rounds.of_tables(self.feature, self.offsets, self.values, *moves)
        return _core.Rounds.of_trees(self._make_forest(self.values, self.lines), *moves)

    def without_slope(self) -> "Rounds":
        """Return the rounds as they were before their steps were multiplied."""
        assert self.moves is not None
        return replace(self, step=self.moves.step)

    def __len__(self) -> int:
        return len(self.feature)

    def part(self, begin: int, end: int) -> "Rounds":
        """Return the rounds from `begin` to `end`, of estimators that are not numbered."""
        a, b = int(self.offsets[begin]), int(self.offsets[end])
        return replace(
            self,
            feature=self.feature[begin:end],
            cost=self.cost[begin:end],
            step=self.step[begin:end],
            risk=self.risk[begin:end],
            offsets=self.offsets[begin : end + 1] - self.offsets[begin],
            values=self.values[a:b],
            trees=None if self.trees is None else self.trees.part(a, b),
            lines=None if self.lines is None else self.lines.part(a, b),
            moves=None if self.moves is None else self.moves.part(begin, end),
        )

    def first(self, n: int) -> "Rounds":
        """Return the first `n` rounds, or all if there are fewer."""
        return self.part(0, min(n, len(self)))

    def bound(self) -> float:
        """Return a bound on the size of raw predictions; infinite if that overflows."""
        if len(self) == 0:
            return 0.0
        with np.errstate(over="ignore"):
            size = np.abs(self.values)
            if self.lines is not None:
                size = size + self.lines.reach()
            largest = np.maximum.reduceat(size, self.offsets[:-1])
            some = largest > 0.0  # a step may be infinite
            return float(np.sum(np.abs(self.step[some]) * largest[some]))

    def cut(self, begin: int, end: int, size: int = 1) -> list[range]:
        """Cut some rounds into estimators, which are of this size unless they are numbered."""
        ends = np.arange(begin + size, end + 1, size)
        if self.estimator is not None:
            ends = begin + 1 + np.flatnonzero(np.diff(self.estimator[begin:end], append=-1))
        return [range(a, b) for a, b in pairwise([begin, *ends.tolist()])]

    def without_history(self) -> "Rounds":
        """Return the same rounds, of which nothing tells how they were found."""
        nothing = np.zeros(len(self))
        trees = None if self.trees is None else self.trees.without_savings()
        return replace(self, cost=nothing, risk=nothing, trees=trees, estimator=None, moves=None)

    def times(self, slope: float) -> "Rounds":
        """Return the same rounds with every step multiplied; see `bound` for what overflows."""
        with np.errstate(over="ignore"):
            return replace(self, step=self.step * slope)

    def find_codes(
        self, t: int, codes: NDArray[np.uint8], n_threads: int
    ) -> NDArray[np.integer[Any]]:
        """Return what round `t` looks up, a row each: its feature's codes, or its tree's nodes."""
        if self.trees is None:
            own: NDArray[np.uint8] = codes[self.feature[t]]
            return own
        return self.tree(t).native.find_nodes(codes, n_threads)

    def forest(self) -> _core.Forest:
        """Return the trees as the engine predicts with them."""
        steps = np.repeat(self.step, np.diff(self.offsets))
        lines = None if self.lines is None else self.lines.times(steps)
        return self._make_forest(self.values * steps, lines)

    def _make_forest(self, values: NDArray[np.float64], lines: Lines | None) -> _core.Forest:
        trees = Tree.without_nodes() if self.trees is None else self.trees
        return _core.Forest(
            trees.feature, trees.left, trees.goes_left, trees.goes_right, self.offsets, values,
            None if lines is None else lines.native,
        )  # fmt: skip

    def tree(self, t: int) -> Tree:
        """Return the tree of round `t`."""
        trees = Tree.without_nodes() if self.trees is None else self.trees
        return trees.part(int(self.offsets[t]), int(self.offsets[t + 1]))

    def table(self, t: int) -> NDArray[np.float64]:
        """Return what round `t` adds to the raw prediction, by code of its feature."""
        values: NDArray[np.float64] = self.values[self.offsets[t] : self.offsets[t + 1]]
        return values * float(self.step[t])

    def lines_of(self, t: int) -> Lines | None:
        """Return what the lines of round `t` add to the raw prediction, if it has any."""
        if self.lines is None:
            return None
        steps = np.full(int(self.offsets[t + 1] - self.offsets[t]), self.step[t])
        return self.lines.part(int(self.offsets[t]), int(self.offsets[t + 1])).times(steps)

    def look_up(
        self, t: int, codes: NDArray[np.uint8], binning: Binning, n_threads: int
    ) -> NDArray[np.float64]:
        """Return what round `t` adds to the raw predictions of rows of these codes."""
        places = self.find_codes(t, codes, n_threads)
        added = find_entries(self.table(t), places)
        lines = self.lines_of(t)
        return (
            added if lines is None else added + lines.add_up(places, codes, binning.find_positions)
        )


Fits: TypeAlias = Sequence[Sequence[Rounds]]
"""Rounds by fit (a single one, draws or bags) and model."""


@dataclass(frozen=True, eq=False)
class Ensemble(ABC):
    """The rounds of every model over one binning; `bin_weights` holds each code's training weight.

    A binary classifier has one model, a multiclass classifier one per class.
    """

    binning: Binning
    models: tuple[Rounds, ...]
    bin_weights: tuple[NDArray[np.float64], ...]
    selection: str = "greedy"
    joint: bool = False
    """Whether the models are of one joint model: a part that all of them have says nothing, and so
    explanations are of what is left of a model without the mean over the models."""
    intercepts: tuple[float, ...] = ()
    """What every row has besides the rounds, a number per model; none stands for zeros."""
    slopes: tuple[float, ...] = ()
    """What all steps have been multiplied by, a number per model; none stands for ones."""
    compact_from: int | None = None
    """How many estimators a compact ensemble has been made of; None where it has its rounds."""
    edits: tuple[Edit, ...] = ()
    """What was changed by hand, in order."""

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def stages(self) -> Iterator[list[range]]:
        """Yield the rounds of each estimator, in each model: none once it had stopped."""
        for share in self._shares():
            for estimators in zip_longest(*share, fillvalue=range(0)):
                yield list(estimators)

    def _shares(self) -> list[list[list[range]]]:
        """Return the rounds of each estimator of every model, by stage."""
        return [[rounds.cut(0, len(rounds)) for rounds in self.models]]

    @property
    def is_compact(self) -> bool:
        """Whether all that is left of the rounds is what predictions need."""
        return self.compact_from is not None

    def compacted(self) -> Self:
        """Return the ensemble with no more than what predictions need; their bits are the same."""
        if self.is_compact:
            return self
        models = tuple(map(self._compact, self.models))
        return replace(self, models=models, compact_from=self.n_estimators)

    def _compact(self, rounds: Rounds) -> Rounds:
        return rounds.without_history()

    @property
    def n_estimators(self) -> int:
        """Estimators of the longest model."""
        if self.compact_from is not None:
            return self.compact_from
        return sum(max(map(len, share)) for share in self._shares())

    not_additive: ClassVar[str]
    """Why ensembles without shape functions have none."""

    @property
    def intercept(self) -> NDArray[np.float64]:
        """The intercept of each model."""
        return np.array(self.intercepts or np.zeros(len(self.models)), dtype=np.float64)

    def raw_predictions(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        """Return F, of shape (n_rows, n_models)."""
        raw = self._add_rounds(table, n_threads)
        if self.intercepts:
            raw += self.intercept
        return raw

    @abstractmethod
    def _add_rounds(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        """Return what all rounds add up to, (n_rows, n_models)."""

    def staged_raw_predictions(self, table: Table, n_threads: int) -> Iterator[NDArray[np.float64]]:
        """Yield F after one estimator, two, ...; a model that stopped early stays as it is."""
        for raw in self.follow(self.encode(table, n_threads), n_threads):
            yield raw.copy()

    def follow(self, codes: NDArray[np.uint8], n_threads: int) -> Iterator[NDArray[np.float64]]:
        """Yield the same array after each estimator: F of rows of these codes."""
        raw = np.tile(self.intercept, (codes.shape[1], 1))
        for stage in self.stages():
            for m, (rounds, some) in enumerate(zip(self.models, stage, strict=True)):
                for t in some:
                    raw[:, m] += rounds.look_up(t, codes, self.binning, n_threads)
            yield raw

    def of_codes(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.float64]:
        """Return F of rows of these codes, round by round."""
        raw = np.tile(self.intercept, (codes.shape[1], 1))
        for stage in self.follow(codes, n_threads):
            raw = stage
        return raw

    def encode(self, table: Table, n_threads: int) -> NDArray[np.uint8]:
        """Return the codes that rounds look up, (n_features, n_rows)."""
        return self.binning.encode(table, None, n_threads)

    def add_up(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.float64]:
        """Return F of rows of these codes, in the quickest order."""
        return self.of_codes(codes, n_threads)

    def _baseline_intercept(self, model: int) -> float:
        """Return the intercept that explanations of one model begin with."""
        own = self.intercept
        return float(own[model] - (own.mean() if self.joint else 0.0))

    @abstractmethod
    def contributions(
        self, table: Table, n_threads: int, models: Sequence[int], explain_tree: TreeExplainer
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what each term adds to models' F, (n_rows, n_terms, n_models), and to what.

        In a joint model, F is taken less its mean over the models.  Terms are the features and,
        after them, pairs.  What features add to trees is the affair of `explain_tree`.
        """

    @abstractmethod
    def importances(self) -> NDArray[np.float64]:
        """Return how much each feature matters, adding up to 1; all zero if none does."""


@dataclass(frozen=True, eq=False)
class TableEnsemble(Ensemble):
    """Rounds of look-up tables over features and, from some round on, over `pairs` of them.

    A pair's rounds have the feature ``n_features`` plus its position, and `pair_weights` holds the
    training weight of its codes.  With cyclic selection an estimator has a round for every feature,
    or for every pair.
    """

    pairs: tuple[PairBins, ...] = ()
    pair_weights: tuple[NDArray[np.float64], ...] = ()
    spread: Spread | None = None
    """How far the bags lie apart whose mean the ensemble is; none without bags."""

    def _shares(self) -> list[list[list[range]]]:
        """Return the estimators of features and those of pairs."""
        cyclic = self.selection == "cyclic"
        n_features = len(self.binning.features)
        mains, pairs = [], []
        for rounds in self.models:
            n_mains = int(np.count_nonzero(rounds.feature < n_features))
            mains.append(rounds.cut(0, n_mains, n_features if cyclic else 1))
            pairs.append(rounds.cut(n_mains, len(rounds), max(1, len(self.pairs)) if cyclic else 1))
        return [mains, pairs]

    def encode(self, table: Table, n_threads: int) -> NDArray[np.uint8]:
        """Return the codes that rounds look up, (n_features + n_pairs, n_rows)."""
        codes = self.binning.encode(table, None, n_threads)
        if not self.pairs:
            return codes
        of_pairs = _core.encode_pairs([pair.native for pair in self.pairs], codes, n_threads)
        return np.concatenate([codes, of_pairs])

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the entries of each feature, then of each pair, begin when all are side by side."""
        widths = [bins.width for bins in (*self.binning.features, *self.pairs)]
        return np.cumsum([0, *widths])

    @cached_property
    def _is_sparse(self) -> bool:
        """Whether all look-up tables side by side are far more numbers than all rounds hold.

        So they are with many classes and features and few rounds; then models are taken some at a
        time, so that what a file asks for is never much more than what it holds.
        """
        held = sum(len(rounds.values) for rounds in self.models)
        return len(self.models) * int(self.offsets[-1]) > max(_MOST_AT_ONCE, 4 * held)

    def _add_up(self, models: Sequence[Rounds]) -> NDArray[np.float64]:
        sums = np.zeros((len(models), self.offsets[-1]))
        for table, rounds in zip(sums, models, strict=True):
            for t, feature in enumerate(rounds.feature):
                table[self.offsets[feature] : self.offsets[feature + 1]] += rounds.table(t)
        return sums

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """The rounds added up: (n_models, all codes), the features side by side, then the pairs."""
        return self._add_up(self.models)

    @cached_property
    def _common(self) -> NDArray[np.float64]:
        """What explanations leave out: the mean of a joint model's sums, or zeros."""
        total = np.zeros(self.offsets[-1])
        for rounds in self.models if self.joint else ():
            total += self._add_up([rounds])[0]
        total /= len(self.models)
        return total

    @cached_property
    def _boosted_pairs(self) -> list[list[int]]:
        """The pairs that each model, or the joint one, has rounds of."""
        own = [np.unique(rounds.feature) - len(self.binning.features) for rounds in self.models]
        if self.joint:
            own = [np.unique(np.concatenate(own))] * len(own)
        return [pairs[pairs >= 0].tolist() for pairs in own]

    @cached_property
    def _purified(self) -> list[tuple[NDArray[np.float64], PairEffects]]:
        return [self._purify(m, own) for m, own in enumerate(self.sums)]

    def purified(self, model: int) -> tuple[NDArray[np.float64], PairEffects]:
        """Return one model's sums, what pairs say about one feature alone being in its table.

        And that, by level of either feature, for each pair that has rounds.
        """
        if not self._is_sparse:
            return self._purified[model]
        return self._purify(model, self.sums_of(model))

    def _purify(
        self, model: int, sums: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], PairEffects]:
        table, effects = sums - self._common, {}
        for p in self._boosted_pairs[model]:
            effects[p] = self.move_effects(table, p)
        return table, effects

    def move_effects(
        self, table: NDArray[np.float64], p: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Move what a pair says about either feature alone to that one's; returns it by level."""
        pair, grid = self.pairs[p], self.cells_of(table, p)
        first, second = purify(grid, self.cells_of(self.pair_weights[p], p, 0))
        for j, level, effect in (
            (pair.first, pair.first_level, first),
            (pair.second, pair.second_level, second),
        ):
            self.part(table, j)[:] += np.where(level < 0, 0.0, effect[level])
        grid -= first[:, None] + second[None, :]
        return first, second

    def cells_of(
        self, values: NDArray[np.float64], p: int, begin: int | None = None
    ) -> NDArray[np.float64]:
        """Return a view of the grid of pair `p` in the values of all codes, or in its own."""
        pair = self.pairs[p]
        first = int(self.offsets[len(self.binning.features) + p]) if begin is None else begin
        return values[first : first + pair.n_cells].reshape(pair.n_first, -1)

    def table_of(self, model: int, term: int) -> NDArray[np.float64]:
        """Return the look-up table of one feature, or pair, of one model."""
        return self.part(self.purified(model)[0], term)

    def effects_of(self, model: int, p: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what a pair's table says about either feature alone, by level, in one model."""
        none = np.zeros(self.pairs[p].n_first), np.zeros(self.pairs[p].n_second)
        return self.purified(model)[1].get(p, none)

    def part(self, table: NDArray[np.float64], term: int) -> NDArray[np.float64]:
        """Return a view of the entries of one feature, or pair, in those of all side by side."""
        return table[self.offsets[term] : self.offsets[term + 1]]

    def add_up(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.float64]:  # noqa: ARG002
        """Return F of rows of these codes: one look-up per feature and pair."""
        raw = np.tile(self.intercept, (codes.shape[1], 1))
        for m, rounds in enumerate(self.models):
            (sums,) = self._add_up([rounds])
            for term in np.unique(rounds.feature):
                raw[:, m] += find_entries(self.part(sums, term), codes[term])
        return raw

    def _add_rounds(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        pairs = [pair.native for pair in self.pairs]
        if not self._is_sparse:
            return self.binning.predict_raw(table, self.sums, pairs, n_threads)
        raw = np.empty((table.n_rows, len(self.models)))
        step = max(1, _MOST_AT_ONCE // int(self.offsets[-1]))
        for m in range(0, len(self.models), step):
            sums = self._add_up(self.models[m : m + step])
            raw[:, m : m + step] = self.binning.predict_raw(table, sums, pairs, n_threads)
        return raw

    def contributions(
        self, table: Table, n_threads: int, models: Sequence[int], _explain_tree: TreeExplainer
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each term's entry less its mean over the training rows, and these' sum."""
        codes = self.binning.encode(table, None, n_threads)
        found = [self._contributions_of(codes, model) for model in models]
        if len(found) == 1:  # not copied
            return found[0][0][..., None], np.array([found[0][1]])
        values = np.stack([own for own, _ in found], axis=-1)
        return values, np.array([baseline for _, baseline in found])

    def _contributions_of(
        self, codes: NDArray[np.uint8], model: int
    ) -> tuple[NDArray[np.float64], float]:
        n_features = len(codes)
        purified, effects = self.purified(model)
        own = [self.part(purified, j) for j in range(n_features)]
        means = [_mean(*of_feature) for of_feature in zip(own, self.bin_weights, strict=True)]
        values = np.zeros((codes.shape[1], n_features + len(self.pairs)))
        for begin in range(0, len(values), ROWS):  # of a row's terms, which lie side by side
            some, part = codes[:, begin : begin + ROWS], values[begin : begin + ROWS]
            for j, (entries, mean) in enumerate(zip(own, means, strict=True)):
                part[:, j] = find_entries(entries - mean, some[j])
            for p, own_effects in effects.items():  # of pairs, whose mean is 0
                pair, grid = self.pairs[p], self.cells_of(purified, p)
                levels = (
                    find_entries(pair.first_level, some[pair.first]),
                    find_entries(pair.second_level, some[pair.second]),
                )
                part[:, n_features + p] = look_up(grid, own_effects, *levels)
        return values, sum(means, self._baseline_intercept(model))

    def look_up_entries(
        self, table: Table, n_threads: int, entries: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return, by row and term, entries of tables side by side; NaN beyond a pair's cells."""
        codes = self.encode(table, n_threads)
        found = np.empty((codes.shape[1], len(codes)))
        for term, own in enumerate(codes):
            found[:, term] = find_entries(self.part(entries, term), own)
        for p, pair in enumerate(self.pairs):  # where what single features say is taken back
            term = len(codes) - len(self.pairs) + p
            found[codes[term] >= pair.n_cells, term] = np.nan
        return found

    def term_importances(self) -> NDArray[np.float64]:
        """Mean absolute deviation of each feature's and pair's table, adding up to 1.

        Over the training rows, averaged over the models; all zero if no table varies.
        """
        deviations = np.zeros(len(self.offsets) - 1)
        for m in range(len(self.models)):
            spread = self.shares * np.abs(self.centered(m))
            deviations += np.add.reduceat(spread, self.offsets[:-1])
        return as_shares(deviations / len(self.models))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the training weight that each code has in its feature or pair."""
        weights = np.concatenate([*self.bin_weights, *self.pair_weights])
        totals = np.add.reduceat(weights, self.offsets[:-1])
        shares: NDArray[np.float64] = weights / np.repeat(
            np.where(totals > 0.0, totals, 1.0), np.diff(self.offsets)
        )
        return shares

    def centered(self, model: int) -> NDArray[np.float64]:
        """Return one model's purified tables less their means over the training rows."""
        table, _ = self.purified(model)
        means = np.add.reduceat(self.shares * table, self.offsets[:-1])
        centered: NDArray[np.float64] = table - np.repeat(means, np.diff(self.offsets))
        return centered

    @cached_property
    def p_values(self) -> list[NDArray[np.float64]]:
        """How probable so large a table is by chance, by model and term; of ensembles with bags."""
        spread = self.spread
        if spread is None:
            return []
        return [spread.p_values(m, self.centered(m)) for m in range(len(self.models))]

    def sums_of(self, model: int) -> NDArray[np.float64]:
        """Return the rounds of one model, added up, all tables side by side."""
        models = self.models[model : model + 1]
        sums: NDArray[np.float64]
        (sums,) = self._add_up(models) if self._is_sparse else self.sums[model : model + 1]
        return sums

    def _compact(self, rounds: Rounds) -> Rounds:
        return self.collapse(rounds)

    def collapse(self, rounds: Rounds) -> Rounds:
        """Return rounds over the same tables with one for each feature and pair that has some."""
        (sums,) = self._add_up([rounds])
        terms = np.unique(rounds.feature)
        return Rounds.of_tables(terms, [self.part(sums, term) for term in terms.tolist()])

    def put_in_order(self, feature: int, direction: int) -> "TableEnsemble":
        """Return the ensemble with a feature's sum not falling (1) or not rising (-1) in its bins.

        So it is after every round: what the rounds so far add up to is replaced by its isotonic
        regression, by training weight.  Rounds of this feature then add the differences, with a
        step of 1.  These are whole multiples of a power of two, so that they add up exactly.
        """
        (rounds,) = self.models
        n_bins = self.binning.features[feature].n_bins
        weight = self.bin_weights[feature][:n_bins]
        own = np.flatnonzero((rounds.feature == feature) & (rounds.step != 0.0)).tolist()
        sums = np.cumsum([rounds.table(t) for t in own], axis=0)
        unit = 2.0 ** (np.frexp(np.abs(sums).max(initial=1e-300))[1] - 50)
        values, step = rounds.values.copy(), rounds.step.copy()
        before = np.zeros(len(self.bin_weights[feature]))
        for t, total in zip(own, sums, strict=True):
            total[:n_bins] = regress_isotonic(total[:n_bins], weight, direction)
            total = np.round(total / unit) * unit
            values[rounds.offsets[t] : rounds.offsets[t + 1]] = total - before
            before = total
        step[own] = 1.0
        spread = self.spread and self.spread.edit_bags(
            "monotonize", lambda bag: bag.put_in_order(feature, direction)
        )
        return replace(
            self, models=(replace(rounds, values=values, step=step, moves=None),), spread=spread
        )

    def with_table(self, model: int, feature: int, table: NDArray[np.float64]) -> Self:
        """Return the ensemble, compact, in which a feature's table of one model is this one.

        In a joint model the other models keep their differences from each other.  Nothing is known
        of the feature's standard errors any more.
        """
        sums, before = self.sums_of(model).copy(), self.table_of(model, feature)
        own = self.part(sums, feature)
        if not self.joint and np.array_equal(before, own):
            own[:] = table
        else:  # pairs have a part in it, or it is taken less the mean over the models
            n_models = len(self.models)
            own += (table - before) * (n_models / (n_models - 1) if self.joint else 1.0)
        models = list(self.compacted().models)
        models[model] = self._of_sums(sums)
        return replace(
            self,
            models=tuple(models),
            compact_from=self.n_estimators,
            spread=self.spread and self.spread.forget(self, feature),
        )

    def without_feature(self, feature: int) -> Self:
        """Return the ensemble, compact, in which a feature has no part, and in no pair.

        The mean of what it added, over the training rows, is part of the intercept; what its pairs
        say about the other feature alone stays with that one.
        """
        n_features = len(self.binning.features)
        gone = [p for p, pair in enumerate(self.pairs) if feature in (pair.first, pair.second)]
        kept = [p for p in range(len(self.pairs)) if p not in gone]
        smaller = replace(
            self,
            pairs=tuple(self.pairs[p] for p in kept),
            pair_weights=tuple(self.pair_weights[p] for p in kept),
        )
        entries = self.entries_of([*range(n_features), *(n_features + p for p in kept)])
        models, intercepts = [], self.intercept
        for m in range(len(self.models)):
            sums = self.sums_of(m).copy()
            for p in gone:
                self.move_effects(sums, p)
            own = self.part(sums, feature)
            intercepts[m] += _mean(own, self.bin_weights[feature])
            own[:] = 0.0
            models.append(smaller._of_sums(sums[entries]))
        return replace(
            smaller,
            models=tuple(models),
            intercepts=tuple(intercepts.tolist()),
            compact_from=self.n_estimators,
            spread=self.spread and self.spread.without_feature(self, feature, kept),
        )

    def entries_of(self, terms: Sequence[int]) -> NDArray[np.int64]:
        """Return where the entries of these features and pairs are when all are side by side."""
        own = [np.arange(self.offsets[term], self.offsets[term + 1]) for term in terms]
        return np.concatenate([np.empty(0, dtype=np.int64), *own])

    def _of_sums(self, sums: NDArray[np.float64]) -> Rounds:
        """Return a round for each feature and pair that adds anything."""
        parts = {term: self.part(sums, term) for term in range(len(self.offsets) - 1)}
        some = {term: own for term, own in parts.items() if own.any()}
        return Rounds.of_tables(np.array(list(some), dtype=np.int32), list(some.values()))

    def importances(self) -> NDArray[np.float64]:
        """Return each feature's importance, and half of its pairs'."""
        of_terms = self.term_importances()
        n_features = len(self.binning.features)
        total: NDArray[np.float64] = of_terms[:n_features].copy()
        for pair, share in zip(self.pairs, of_terms[n_features:], strict=True):
            total[[pair.first, pair.second]] += 0.5 * share
        return total


@dataclass(frozen=True, eq=False)
class DampedEnsemble(Ensemble):
    """Rounds that add e^(-damping |F|) times what they look up, F being the sum before them.

    They do not add up to one function per feature, and their order matters.
    """

    damping: float = 0.0
    not_additive: ClassVar[str] = (
        "what a round adds depends on the sum before it: no feature has a part of its own"
    )

    def follow(self, codes: NDArray[np.uint8], n_threads: int) -> Iterator[NDArray[np.float64]]:
        """Yield the same array after each estimator: F of rows of these codes."""
        (rounds,) = self.models
        raw = np.zeros((codes.shape[1], 1))
        for t in range(len(rounds)):
            added = rounds.look_up(t, codes, self.binning, n_threads)
            raw[:, 0] += np.exp(-self.damping * np.abs(raw[:, 0])) * added
            yield raw

    def _add_rounds(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        return self.of_codes(self.encode(table, n_threads), n_threads)

    def contributions(
        self, _table: Table, _n_threads: int, _models: Sequence[int], _explain_tree: TreeExplainer
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Refuse: no feature has a contribution of its own."""
        raise ValueError(self.not_additive)

    def importances(self) -> NDArray[np.float64]:
        """Return each feature's share of the steps, or of what all trees' splits saved."""
        (rounds,) = self.models
        if rounds.trees is not None:
            return _share_savings(self.models, len(self.binning.features))
        steps = np.zeros(len(self.binning.features))
        np.add.at(steps, rounds.feature, rounds.step)
        return as_shares(steps)


class TreeEnsemble(Ensemble):
    """Rounds of trees."""

    not_additive: ClassVar[str] = (
        "a model of trees has no shape functions: what a feature adds depends on the others"
    )

    @cached_property
    def _scores(self) -> _core.ForestScores:
        """The engine's trees, with the steps multiplied into their values, one forest per model."""
        forests = [rounds.forest() for rounds in self.models]
        return _core.ForestScores(self.binning.native, forests)

    def _add_rounds(self, table: Table, n_threads: int) -> NDArray[np.float64]:
        return self.binning.predict_raw_trees(table, self._scores, n_threads)

    def contributions(
        self, table: Table, n_threads: int, models: Sequence[int], explain_tree: TreeExplainer
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sums of what `explain_tree` says of the trees."""
        if any(rounds.lines is not None for rounds in self.models):
            raise ValueError(
                "contributions must be of a model with linear_leaves=False: the features of a "
                "leaf's line have no Shapley values that could be computed exactly in time"
            )
        codes = self.binning.encode(table, None, n_threads)
        widths = [feature.width for feature in self.binning.features]
        n_models = len(self.models)
        values = np.zeros((*codes.shape, len(models)))
        baselines = np.array([self._baseline_intercept(model) for model in models])
        for m in range(n_models) if self.joint else sorted({*models}):
            factor = np.array(models) == m
            factor = factor - (1.0 / n_models if self.joint else 0.0)
            rounds = self.models[m]
            for t in range(len(rounds)):
                added, mean = explain_tree(rounds.tree(t), rounds.table(t), widths, codes)
                values += added[..., None] * factor
                baselines += mean * factor
        return values.swapaxes(0, 1), baselines

    def importances(self) -> NDArray[np.float64]:
        """Share of each feature's splits in what all splits of all trees saved."""
        return _share_savings(self.models, len(self.binning.features))


def _share_savings(models: Sequence[Rounds], n_features: int) -> NDArray[np.float64]:
    forests = [rounds.trees for rounds in models if rounds.trees is not None]
    largest = max(trees.largest_saving for trees in forests)
    saved = np.zeros(n_features)
    for trees in forests:
        saved += trees.savings(len(saved), largest)
    return as_shares(saved)


def regress_isotonic(
    values: NDArray[np.float64], weight: NDArray[np.float64], direction: int
) -> NDArray[np.float64]:
    """Return the values nearest to these by weight that do not fall (1) or do not rise (-1).

    Values without weight lie between their neighbours'.
    """
    held = np.flatnonzero(weight > 0.0)
    if not len(held):
        return np.zeros_like(values)
    fitted = isotonic_regression(values[held], sample_weight=weight[held], increasing=direction > 0)
    between = np.interp(np.arange(len(values)), held, fitted)
    in_order: NDArray[np.float64] = direction * np.maximum.accumulate(direction * between)
    return in_order


def make_ensemble(
    binning: Binning,
    models: tuple[Rounds, ...],
    bin_weights: tuple[NDArray[np.float64], ...],
    selection: str,
    pairs: tuple[PairBins, ...] = (),
    pair_weights: tuple[NDArray[np.float64], ...] = (),
    damping: float = 0.0,
    joint: bool = False,
    intercepts: tuple[float, ...] = (),
    slopes: tuple[float, ...] = (),
) -> Ensemble:
    """Return the ensemble of these rounds: damped, of trees, or of look-up tables."""
    shared = (binning, models, bin_weights, selection, joint, intercepts, slopes)
    if damping > 0.0:
        return DampedEnsemble(*shared, damping=damping)
    if any(rounds.trees is not None for rounds in models):
        return TreeEnsemble(*shared)
    return TableEnsemble(*shared, pairs=pairs, pair_weights=pair_weights)


def _mean(table: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    return float(np.sum(weight / weight.sum() * table))
