"""Rounds of boosting, and the fitted ensemble that adds them up to raw predictions.

Each kind of ensemble has a file: look-up tables, damped rounds and trees.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise, zip_longest
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import Binning
from properboost.data.entries import find_entries
from properboost.data.table import InputTable
from properboost.models.bag_errors import BagErrors
from properboost.models.edits import Edit
from properboost.models.lines import Lines
from properboost.models.terms import Terms
from properboost.models.tree import TreeNodes, as_shares

__all__ = [
    "LARGEST_RAW",
    "Ensemble",
    "Fits",
    "Moves",
    "Rounds",
    "share_savings",
]

LARGEST_RAW = 1e300
"""Raw predictions beyond this are refused, so that no sum of them overflows."""


_NOT_NATIVE = ("estimator", "moves", "bag", "origin")
"""The fields of rounds that the engine's rounds lack."""


@dataclass(frozen=True, eq=False)
class Moves:
    """The moves of the margins in each round, by which a warm start has one long fit's bits.

    ``step`` holds the rounds' steps before a slope multiplied them.  ``proposed`` and ``taken``
    are the moves of margins at gain 1 before a step was corrected, and after.
    """

    step: NDArray[np.float64]
    proposed: NDArray[np.float64]
    taken: NDArray[np.float64]

    def part(self, begin: int, end: int) -> "Moves":
        """Return the moves of the rounds from `begin` to `end`."""
        return Moves(self.step[begin:end], self.proposed[begin:end], self.taken[begin:end])

    @classmethod
    def chain(cls, parts: Sequence["Moves"]) -> "Moves":
        """Return the moves of several runs of rounds, one after the other."""
        return cls(
            **{
                f.name: np.concatenate([getattr(moves, f.name) for moves in parts])
                for f in fields(cls)
            }
        )


@dataclass(frozen=True, eq=False)
class Rounds:
    """The rounds of one model, one entry of each array per round.

    Round `t` looks a row's code of ``feature[t]`` up in ``values[offsets[t]:offsets[t + 1]]`` and
    adds it, times ``step[t]``, to the raw prediction.  ``cost`` is the criterion by which the
    feature was chosen, ``risk`` the training risk after the round.  Where a round added a tree, its
    feature is -1, and the code is a node of `trees`, which `offsets` cuts, too; a node's weight is
    the training rows'.  If leaves have `lines`, a line's value is added to its node's value.
    ``estimator[t]`` counts estimators from 0, in order; None stands for estimators of one round
    each, or with cyclic selection of one round for each feature.  Rounds have `moves` where a warm
    start can go on from them.  ``bag[t]`` is the number of the bag that a tree is of, ``origin[t]``
    that of the merged model by whose means of bins its lines go (see `TreeEnsemble`).
    """

    feature: NDArray[np.int32]
    cost: NDArray[np.float64]
    step: NDArray[np.float64]
    risk: NDArray[np.float64]
    offsets: NDArray[np.int64]
    values: NDArray[np.float64]
    trees: TreeNodes | None = None
    lines: Lines | None = None
    estimator: NDArray[np.int32] | None = None
    moves: Moves | None = None
    bag: NDArray[np.int32] | None = None
    origin: NDArray[np.int32] | None = None

    @classmethod
    def join(cls, first: "Rounds", second: "Rounds", features: int) -> "Rounds":
        """Return `first` followed by `second`, whose feature numbers are shifted by `features`.

        None of them may be of trees, and no warm start goes on from them.
        """
        later = replace(second, feature=second.feature + np.int32(features))
        return replace(cls.chain([first, later]), moves=None)

    @classmethod
    def chain(cls, parts: Sequence["Rounds"]) -> "Rounds":
        """Return several runs of rounds, one after the other, over the same features."""
        filled = [part for part in parts if len(part) > 0]
        if len(filled) <= 1:  # a part without rounds does not show whether they would be trees
            return filled[0] if filled else parts[0]

        def join(name: str) -> NDArray[Any]:
            joined: NDArray[Any] = np.concatenate([getattr(part, name) for part in filled])
            return joined

        def join_if_all(name: str, join_parts: Callable[[list[Any]], Any] = np.concatenate) -> Any:
            of_parts = [getattr(part, name) for part in filled]
            return None if any(of_part is None for of_part in of_parts) else join_parts(of_parts)

        lines = [part.lines or Lines.without_terms(len(part.values)) for part in filled]
        sizes = np.concatenate([np.diff(part.offsets) for part in filled])
        if any(part.origin is not None for part in filled):
            filled = [part.from_origin(0) for part in filled]
        return cls(
            feature=join("feature"),
            cost=join("cost"),
            step=join("step"),
            risk=join("risk"),
            offsets=np.cumsum([0, *sizes], dtype=np.int64),
            values=join("values"),
            trees=join_if_all("trees", TreeNodes.join),
            lines=Lines.join(lines) if any(part.lines for part in filled) else None,
            estimator=join_if_all("estimator"),
            moves=join_if_all("moves", Moves.chain),
            bag=join_if_all("bag"),
            origin=join_if_all("origin"),
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
    def of_tree(cls, nodes: TreeNodes, values: NDArray[np.float64]) -> "Rounds":
        """Return the round of one tree, without a history."""
        return cls(
            feature=np.array([-1], dtype=np.int32),
            cost=np.zeros(1),
            step=np.ones(1),
            risk=np.zeros(1),
            offsets=np.array([0, len(values)], dtype=np.int64),
            values=values,
            trees=nodes,
        )

    @classmethod
    def from_native(cls, rounds: "_core.Rounds | Rounds", *, with_moves: bool = False) -> "Rounds":
        """Convert the engine's rounds, with the moves of margins if `with_moves`.

        Rounds from another process were converted there, and only lose their moves here.
        """
        if isinstance(rounds, Rounds):
            return rounds if with_moves else replace(rounds, moves=None)
        names = [f.name for f in fields(cls) if f.name not in _NOT_NATIVE]
        arrays = {name: getattr(rounds, name) for name in names}
        trees = arrays["trees"]
        arrays["trees"] = None if trees is None else TreeNodes.from_native(trees)
        lines = arrays["lines"]
        arrays["lines"] = None if lines is None else Lines.from_native(lines)
        moves = Moves(rounds.step, rounds.proposed, rounds.taken) if with_moves else None
        return cls(**arrays, moves=moves)

    def to_native(self) -> _core.Rounds:
        """Return these rounds in the form in which the engine repeats them."""
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
        """Return the rounds from `begin` to `end`; `estimator` must be None."""
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
            bag=None if self.bag is None else self.bag[begin:end],
            origin=None if self.origin is None else self.origin[begin:end],
        )

    def where(self, stays: NDArray[np.bool_]) -> "Rounds":
        """Return the rounds that stay, without moves: no warm start goes on from them."""
        unnumbered = replace(self, estimator=None, moves=None)
        ends = np.flatnonzero(np.diff(stays.astype(np.int8), prepend=0, append=0))
        runs = [unnumbered.part(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)]
        joined = Rounds.chain([unnumbered.part(0, 0), *runs])
        estimator = None if self.estimator is None else self.estimator[stays]
        return replace(joined, estimator=estimator)

    def from_origin(self, first: int) -> "Rounds":
        """Return the rounds with origins that are counted from this one on."""
        origin = np.zeros(len(self), dtype=np.int32) if self.origin is None else self.origin
        return replace(self, origin=origin + np.int32(first))

    def of_origin(self, origin: int) -> "Rounds":
        """Return the rounds of one origin; those without one are of origin 0."""
        if self.origin is None:
            return self if origin == 0 else self.part(0, 0)
        return self.where(self.origin == origin)

    def first(self, n: int) -> "Rounds":
        """Return the first `n` rounds, or all if there are fewer."""
        return self.part(0, min(n, len(self)))

    def bound(self) -> float:
        """Return a bound on the size of raw predictions, infinite if it overflows."""
        if len(self) == 0:
            return 0.0
        with np.errstate(over="ignore"):
            size = np.abs(self.values)
            if self.lines is not None:
                size = size + self.lines.reach()
            largest = np.maximum.reduceat(size, self.offsets[:-1])
            is_used = largest > 0.0  # a step may be infinite
            return float(np.sum(np.abs(self.step[is_used]) * largest[is_used]))

    def cut(self, begin: int, end: int, size: int = 1) -> list[range]:
        """Cut the rounds from `begin` to `end` into estimators of `size`, if not numbered."""
        ends = np.arange(begin + size, end + 1, size)
        if self.estimator is not None:
            ends = begin + 1 + np.flatnonzero(np.diff(self.estimator[begin:end], append=-1))
        return [range(a, b) for a, b in pairwise([begin, *ends.tolist()])]

    def without_history(self) -> "Rounds":
        """Return the same rounds without the record of how boosting chose them."""
        nothing = np.zeros(len(self))
        trees = None if self.trees is None else self.trees.without_savings()
        return replace(self, cost=nothing, risk=nothing, trees=trees, estimator=None, moves=None)

    def without_feature(self, feature: int) -> "Rounds":
        """Return the rounds of trees without what depends on a feature, and without history.

        Splits of the feature become leaves of 0, and lines lose their slopes along it.
        """
        if self.trees is None:
            return self
        trees, nodes = self.trees.cut(feature, self.offsets)
        is_cut = self.trees.feature == feature
        lines = self.lines
        if lines is not None:
            lines = lines.where(~is_cut[lines.node] & (lines.feature != feature)).take(nodes)
        return replace(
            self.without_history(),
            offsets=np.searchsorted(nodes, self.offsets),
            values=np.where(is_cut, 0.0, self.values)[nodes],
            trees=trees,
            lines=lines,
        )

    def times(self, slope: float) -> "Rounds":
        """Return the same rounds with every step multiplied; see `bound` for what overflows."""
        with np.errstate(over="ignore"):
            return replace(self, step=self.step * slope)

    def find_codes(
        self, t: int, codes: NDArray[np.uint8], n_threads: int
    ) -> NDArray[np.integer[Any]]:
        """Return the place of each row in round `t`: its feature's codes, or its tree's nodes."""
        if self.trees is None:
            feature_codes: NDArray[np.uint8] = codes[self.feature[t]]
            return feature_codes
        return self.tree(t).native.find_nodes(codes, n_threads)

    def forest(self) -> _core.Forest:
        """Return the trees as the engine predicts with them."""
        steps = np.repeat(self.step, np.diff(self.offsets))
        lines = None if self.lines is None else self.lines.times(steps)
        return self._make_forest(self.values * steps, lines)

    def contributions(
        self, codes: NDArray[np.uint8], binning: Binning, n_threads: int
    ) -> tuple[NDArray[np.float64], float]:
        """Return the trees' Shapley values, (n_rows, n_features), and their baseline."""
        trees = TreeNodes.without_nodes() if self.trees is None else self.trees
        weight = trees.weight.sum(axis=1)
        return self.forest().contributions(codes, binning.native, weight, n_threads)

    def _make_forest(self, values: NDArray[np.float64], lines: Lines | None) -> _core.Forest:
        trees = TreeNodes.without_nodes() if self.trees is None else self.trees
        return _core.Forest(
            trees.feature, trees.left, trees.goes_left, trees.goes_right, self.offsets, values,
            None if lines is None else lines.native,
        )  # fmt: skip

    def tree(self, t: int) -> TreeNodes:
        """Return the tree of round `t`."""
        trees = TreeNodes.without_nodes() if self.trees is None else self.trees
        return trees.part(int(self.offsets[t]), int(self.offsets[t + 1]))

    def table(self, t: int) -> NDArray[np.float64]:
        """Return the values that round `t` adds to raw predictions, by code of its feature."""
        values: NDArray[np.float64] = self.values[self.offsets[t] : self.offsets[t + 1]]
        return values * float(self.step[t])

    def add_up(self, begins: NDArray[np.int64], size: int) -> NDArray[np.float64]:
        """Return `size` sums of the rounds' tables; that of round `t` starts at ``begins[t]``."""
        widths = np.diff(self.offsets)
        places = np.repeat(begins - self.offsets[:-1], widths) + np.arange(len(self.values))
        added = self.values * np.repeat(self.step, widths)
        return np.bincount(places, added, size).astype(np.float64, copy=False)

    def lines_of(self, t: int) -> Lines | None:
        """Return the lines of round `t` times its step, or None if it has none."""
        if self.lines is None:
            return None
        steps = np.full(int(self.offsets[t + 1] - self.offsets[t]), self.step[t])
        return self.lines.part(int(self.offsets[t]), int(self.offsets[t + 1])).times(steps)

    def look_up(
        self, t: int, codes: NDArray[np.uint8], binning: Binning, n_threads: int
    ) -> NDArray[np.float64]:
        """Return the values that round `t` adds to raw predictions of rows with these codes."""
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
    """Whether the models are the classes of one joint model.  A part that is the same in all of
    them changes no prediction, so explanations take a model less the mean over the models."""
    intercepts: tuple[float, ...] = ()
    """The constant of each model, added to every row; an empty tuple stands for zeros."""
    slopes: tuple[float, ...] = ()
    """The factor of all steps of each model; an empty tuple stands for ones."""
    compact_from: int | None = None
    """The number of estimators that a compact ensemble replaces; None if it has its rounds."""
    edits: tuple[Edit, ...] = ()
    """The edits by a user, in order."""

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def stages(self) -> Iterator[list[range]]:
        """Yield the rounds of each estimator, in each model; a model that has stopped has none."""
        for share in self._shares():
            for estimators in zip_longest(*share, fillvalue=range(0)):
                yield list(estimators)

    def _shares(self) -> list[list[list[range]]]:
        """Return the rounds of each estimator of every model, by stage."""
        return [[rounds.cut(0, len(rounds)) for rounds in self.models]]

    @property
    def is_compact(self) -> bool:
        """Whether the ensemble has only what predictions need of its rounds."""
        return self.compact_from is not None

    def compacted(self) -> Self:
        """Return the ensemble with only what predictions need; they keep their bits."""
        if self.is_compact:
            return self
        models = tuple(map(self._compact, self.models))
        return replace(self, models=models, compact_from=self.n_estimators)

    def _compact(self, rounds: Rounds) -> Rounds:
        return rounds.without_history()

    @property
    def n_estimators(self) -> int:
        """The number of estimators of the longest model."""
        if self.compact_from is not None:
            return self.compact_from
        return sum(max(map(len, share)) for share in self._shares())

    not_additive: ClassVar[str]
    """The reason why this kind of ensemble may have no shape functions."""

    @property
    def terms(self) -> Terms | None:
        """The functions of few features that the ensemble adds up; None if there are none."""
        return None

    @property
    def bag_errors(self) -> BagErrors | None:
        """The standard errors by the bags whose mean the ensemble is; None without bags."""
        return None

    @property
    def intercept(self) -> NDArray[np.float64]:
        """The intercept of each model."""
        return np.array(self.intercepts or np.zeros(len(self.models)), dtype=np.float64)

    def raw_predictions(self, table: InputTable, n_threads: int) -> NDArray[np.float64]:
        """Return F, of shape (n_rows, n_models)."""
        raw = self._add_rounds(table, n_threads)
        if self.intercepts:
            raw += self.intercept
        return raw

    @abstractmethod
    def _add_rounds(self, table: InputTable, n_threads: int) -> NDArray[np.float64]:
        """Return the sum of all rounds, (n_rows, n_models)."""

    def staged_raw_predictions(
        self, table: InputTable, n_threads: int
    ) -> Iterator[NDArray[np.float64]]:
        """Yield F after each estimator; a model that stopped early stays as it is."""
        for raw in self.follow(self.encode(table, n_threads), n_threads):
            yield raw.copy()

    def follow(self, codes: NDArray[np.uint8], n_threads: int) -> Iterator[NDArray[np.float64]]:
        """Yield the same array after each estimator: F of rows of these codes."""
        raw = np.tile(self.intercept, (codes.shape[1], 1))
        for stage in self.stages():
            for m, (rounds, estimator) in enumerate(zip(self.models, stage, strict=True)):
                for t in estimator:
                    raw[:, m] += rounds.look_up(t, codes, self.find_bins(rounds, t), n_threads)
            yield raw

    def find_bins(self, rounds: Rounds, t: int) -> Binning:  # noqa: ARG002
        """Return the bins of round `t` of a model, with the means that its lines go by."""
        return self.binning

    def of_codes(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.float64]:
        """Return F of rows of these codes, round by round."""
        raw = np.tile(self.intercept, (codes.shape[1], 1))
        for stage in self.follow(codes, n_threads):
            raw = stage
        return raw

    def encode(self, table: InputTable, n_threads: int) -> NDArray[np.uint8]:
        """Return the codes that rounds look up, (n_features, n_rows), with those of pairs last."""
        return self.extend_codes(self.binning.encode(table, None, n_threads), n_threads)

    def extend_codes(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.uint8]:  # noqa: ARG002
        """Return the codes that rounds look up, given those of features, and more."""
        return codes

    def add_up(self, codes: NDArray[np.uint8], n_threads: int) -> NDArray[np.float64]:
        """Return F of rows of these codes, in the quickest order."""
        return self.of_codes(codes, n_threads)

    def _baseline_intercept(self, model: int) -> float:
        """Return the intercept that explanations of one model begin with."""
        intercepts = self.intercept
        return float(intercepts[model] - (intercepts.mean() if self.joint else 0.0))

    @abstractmethod
    def contributions(
        self, table: InputTable, n_threads: int, models: Sequence[int], *, by_feature: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the contribution of each term, (n_rows, n_terms, n_models), and the baselines.

        They add up to the models' F, in a joint model less its mean over the models.  With
        `by_feature` the terms are the features; otherwise those of `terms`.
        """

    @abstractmethod
    def importances(self) -> NDArray[np.float64]:
        """Return how much each feature matters, adding up to 1; all zero if none does."""


def share_savings(models: Sequence[Rounds], n_features: int) -> NDArray[np.float64]:
    """Return each feature's share of the savings of all splits of all trees."""
    forests = [rounds.trees for rounds in models if rounds.trees is not None]
    largest = max(trees.largest_saving for trees in forests)
    saved = np.zeros(n_features)
    for trees in forests:
        saved += trees.savings(len(saved), largest)
    return as_shares(saved)
