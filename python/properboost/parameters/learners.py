"""Weak learners as objects, with their fields.

This is the only list of these fields.  The build makes the engine's structs from it; signatures,
documentation, options of the command line and files are made from it, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from functools import partial
from typing import Any, ClassVar, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from properboost.parameters import checks
from properboost.parameters.declare import Component, component, declared, parameter, parameters
from properboost.parameters.kinds import (
    GrowPolicy,
    InteractionConstraints,
    MaxCells,
    MultiStrategy,
)
from properboost.parameters.words import RENAMED

__all__ = [
    "LEARNERS",
    "RENAMED",
    "ROWS_PER_BIN",
    "ROWS_PER_BIN_OF_EVERY",
    "Grown",
    "Learner",
    "Rule",
    "Stump",
    "Table",
    "Tree",
    "WeakLearner",
    "make_learner",
]

ROWS_PER_BIN, ROWS_PER_BIN_OF_EVERY = 20.0, 100.0
"""The rows per bin of "auto", for tables of few cells and for tables of every bin.

The reason is the cross-validated log loss of tables of every bin over the ten small data sets of
the BoostLR paper (50 rounds, gain 1).  It is 3.1 with 255 bins, and 0.48 with 100 rows per bin.
"""

FEW_ROWS = 5000.0
"""The rows up to which numeric features have fewer than 255 bins, of 20 rows each."""

SMOOTHING = 0.1
"""The default spread of the sums of bins."""

MOST_READABLE = 3
"""The most features of a function that a person can read."""

MOST_DEFAULT_LEAVES = 31
"""The most leaves of a tree for which a user sets no number."""

MOST_LEVELS = 7
"""The most splits from the root to a leaf of a symmetric tree, whose node numbers are bytes."""


def _balance(class_weights: NDArray[np.float64]) -> float:
    """Return the number of rows if every class had the weight of the smallest."""
    return len(class_weights) * float(class_weights.min())


class WeakLearner(Component):
    """A weak learner, which chooses the cells of a round.

    Objects of one class with the same fields are equal, and have no hash.  A fit never writes into
    them.
    """

    name: ClassVar[str]
    is_grown: ClassVar[bool] = False
    """Whether the learner is a tree or a rule, which uses several features."""
    gain_at_one_row: ClassVar[float] = 14.0
    """The default gain for a single row; it falls with the cube root of the rows."""

    @property
    def rows_per_bin(self) -> float:
        """The rows per bin of a numeric feature for "auto"."""
        return ROWS_PER_BIN

    @property
    def needs_means(self) -> bool:
        """Whether the learner needs the means of bins."""
        return False

    @property
    def has_few_leaves(self) -> bool:
        """Whether the learner is a tree whose splits "auto" may choose by a part of the rows."""
        return False

    @property
    def most_term_features(self) -> float:
        """The most features of a function that models add up; infinite without a limit."""
        return 1.0

    @property
    def is_readable(self) -> bool:
        """Whether models are sums of functions that a person can read."""
        return self.most_term_features <= MOST_READABLE

    def find_gain(self, class_weights: NDArray[np.float64], unit: float) -> float:
        """Return the default gain of a loss, whose gain unit is `unit`.

        It applies where a user names the loss without a gain.
        """
        rows = max(_balance(class_weights), 1.0)
        # NumPy's cube root has another last bit on some processors, and every model has the gain.
        return unit * min(max(self.gain_at_one_row / math.cbrt(rows), 1.0), 8.0)

    def settle(self, class_weights: NDArray[np.float64]) -> Self:  # noqa: ARG002
        """Return the learner with numbers for the fields that depend on the training rows."""
        return self

    def for_share(self, share: float) -> Self:  # noqa: ARG002
        """Return the learner with fields in numbers of rows multiplied by `share`."""
        return self

    def describe(self) -> dict[str, object]:
        """Return the name of a settled learner, and the fields that the engine reads.

        The engine's value for no limit is 0.
        """
        fields = [name for name, entry in declared(type(self)).items() if entry.engine]
        values = {name: getattr(self, name) for name in fields}
        return {"name": self.name, **{n: 0 if v is None else v for n, v in values.items()}}


@component
class Table(WeakLearner):
    """A look-up table: every bin of a feature, or each of a few cells, gets a value.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier, Table
    >>> model = ProperBoostClassifier(weak_learner=Table(max_cells=None, smoothing=0.2))
    """

    name: ClassVar[str] = "table"
    gain_at_one_row: ClassVar[float] = 20.0

    max_cells: MaxCells = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=2, high=255), "auto", None),
        kind='int, None or "auto"',
        doc="""
        The most cells of a round's table, 2 to 255, each cut made where it saves most.  Few cells
        restrain few rows.  "auto" is 3 below 10,000 rows (by sample weight), 4 below 20,000, and so
        on.  None is a cell for every bin.
        """,
        option="the most cells of a round's look-up table, cut best first; auto is 3 below 10,000 "
        "rows, 4 below 20,000, and so on; none is every bin",
    )
    min_saving: float = parameter(
        default=0.0,
        check=checks.non_negative,
        doc="""
        The least that a cut must save, in multiples of the best cut's saving with random labels.
        0 makes every cut that saves anything; pairs have at least 0.5.
        """,
        option=(
            "the least saving of a cut in a look-up table of few cells, in multiples of the best "
            "cut's saving with random labels"
        ),
    )
    smoothing: float | None = parameter(
        default=None,
        check=checks.either(checks.smoothing, None),
        doc="""
        How far the sums of bins spread over their neighbours: half the variance, in bins, up to
        10,000.  None is 0.1, and 0 for few cells of 5,000 rows or more.
        """,
        option="how far a bin's sums spread: half the variance, in bins; none is 0.1, and 0 for "
        "few cells of 5,000 rows",
    )

    @property
    def rows_per_bin(self) -> float:
        """The rows per bin of a numeric feature for "auto"."""
        return ROWS_PER_BIN if self.max_cells is not None else ROWS_PER_BIN_OF_EVERY

    def check_fields(self, owner: str) -> None:
        """Refuse a `min_saving` for tables without cuts."""
        default = declared(Table)["min_saving"].default
        if self.max_cells is None and self.min_saving != default:
            raise ValueError(
                f"{owner}min_saving must be {default!r} with max_cells=None, whose tables have "
                f"every bin and no cuts; got {self.min_saving!r}"
            )

    def settle(self, class_weights: NDArray[np.float64]) -> Self:
        """Return the learner with numbers for the fields that depend on the training rows."""
        rows = float(class_weights.sum())
        cells, smoothing = self.max_cells, self.smoothing
        if smoothing is None:
            smoothing = 0.0 if cells is not None and rows >= FEW_ROWS else SMOOTHING
        if cells == "auto":
            many = min(max(rows / FEW_ROWS, 1.0), 2.0**63)  # weights may have any scale
            cells = 2 + int(many).bit_length()
        return self.replace(max_cells=cells, smoothing=smoothing)


@component
class Stump(WeakLearner):
    """One split of a feature: both branches get a value."""

    name: ClassVar[str] = "stump"


@parameters
class Grown(WeakLearner):
    """A weak learner that is grown over several features: the shared fields of trees and rules."""

    is_grown: ClassVar[bool] = True

    min_child_weight: float = parameter(
        default=1.0,
        check=checks.non_negative,
        doc="""
        The least weight of each branch of a split: loss weights (with the Newton response:
        curvatures) times sample weights.
        """,
        option="the least weight of each branch of a tree's or a rule's split",
    )
    max_features: float = parameter(
        default=0.5,
        check=checks.share,
        doc="""
        The share of the features, in (0, 1], that each split chooses from at random.  A half makes
        trees differ, which predicts better than the best splits.
        """,
        option="share of the features from which each split of a tree or a rule is chosen",
    )
    subsample: float = parameter(
        default=1.0,
        check=checks.share,
        doc="The share of the rows, in (0, 1], that each tree or rule draws at random.",
        option="share of the rows that each tree or rule is grown from",
    )
    n_draws: int = parameter(
        default=1,
        check=partial(checks.integer, low=1, high=1000),
        doc="The number of fits, each with its random draws, that are averaged to one model.",
        option="number of fits with random features and rows that are averaged",
        engine=False,
    )

    @property
    def draws(self) -> bool:
        """Whether fits to the same rows differ by random draws."""
        return self.max_features < 1.0 or self.subsample < 1.0

    def check_fields(self, owner: str) -> None:
        """Refuse several draws if nothing is drawn."""
        default = declared(Grown)["n_draws"].default
        if self.n_draws != default and not self.draws:
            raise ValueError(
                f"{owner}n_draws must be {default!r} with max_features=1.0 and subsample=1.0, "
                f"where nothing is drawn; got {self.n_draws!r}"
            )

    def for_share(self, share: float) -> Self:
        """Return the learner with fields in numbers of rows multiplied by `share`."""
        return self.replace(min_child_weight=share * self.min_child_weight)


def _check_interactions(name: str, value: Any) -> object:
    """Check a limit on interactions; a fit checks the features."""
    if value is None or isinstance(value, str):
        known = ("no_interactions", "pairwise")
        return checks.either(partial(checks.choice, known=known), None)(name, value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return checks.integer(name, value, 1, checks.LARGEST_INT)
    if not checks.is_list(value):
        raise TypeError(
            f"{name} must be an integer of at least 1, 'no_interactions', 'pairwise', a list of "
            f"sets of features, or None; got {value!r}"
        )
    for k, features in enumerate(value):
        if not (checks.is_list(features) or isinstance(features, Set)) or len(features) == 0:
            raise TypeError(
                f"{name}[{k}] must be a list, tuple or set of at least one feature; got "
                f"{features!r}"
            )
        for feature in features:
            if not isinstance(feature, str):
                checks.integer(f"{name}[{k}]", feature, 0, checks.LARGEST_INT)
    return value


@component
class Tree(Grown):
    """A tree: every leaf gets a value.

    It grows best split first, or level by level, with at most four features in the line of a leaf.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier, Tree
    >>> ProperBoostClassifier(weak_learner=Tree(max_depth=3, max_features=1.0)).get_params()[
    ...     "weak_learner__max_depth"
    ... ]
    3
    """

    name: ClassVar[str] = "tree"

    grow_policy: GrowPolicy = parameter(
        default="best_first",
        check=checks.one_of(GrowPolicy),
        doc="""
        "best_first" splits the leaf that saves most.  "symmetric" gives all nodes of a level one
        split, the one that saves most in sum.
        """,
        option="how a tree grows: the best split of all leaves next, or one split for each level",
    )
    max_leaf_nodes: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=2, high=128), None),
        doc="""
        The most leaves, 2 to 128.  None is a leaf for every 80 rows, counting each class as the
        smallest: at least 6, at least the number of classes, and at most 31.
        """,
        option="the most leaves of a tree, 2 to 128; none depends on the smallest class",
        only_with={"grow_policy": ("best_first",)},
        why={"grow_policy": "max_depth limits symmetric trees"},
    )
    max_depth: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=checks.LARGEST_INT), None),
        doc="""
        The most splits from root to leaf; 7 for symmetric trees.  None is no limit, and 4 to 6 for
        symmetric trees: 20 rows a leaf, or two leaves a class.
        """,
        option="the most splits from a tree's root to a leaf; none sets no limit, and is 4 to 6 "
        "for symmetric trees, which have at most 7",
    )
    interaction_cst: InteractionConstraints = parameter(
        default=None,
        check=_check_interactions,
        kind='int, {"no_interactions", "pairwise"}, list of sets, or None',
        doc="""
        The features that may share a path: a number is the most features on one, as 1 for
        "no_interactions" and 2 for "pairwise"; a list has sets of names or positions, whose
        features interact only within a set.  Features of no set are one more set.  With at most k
        features on a path, the model is a sum of functions of at most k features.  None is no
        limit.
        """,
        option="the most features on a path of a tree; with at most 3 the model is a sum of "
        "functions that can be drawn; none sets no limit",
        engine=False,
    )
    max_terms: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=0, high=checks.LARGEST_INT), None),
        doc="""
        The most terms of several features, as with an `interaction_cst` of at most 3.  The model is
        fitted twice, and the first fit shows which terms are the most important.  Fewer terms are
        faster to read, and usually less accurate.  None is no limit.
        """,
        option="the most terms of several features, which takes two fits; none sets no limit",
        engine=False,
    )
    linear_leaves: bool = parameter(
        default=False,
        check=checks.boolean,
        doc="""
        Whether a leaf has a ridge model in up to four numeric features of the splits above it.  Its
        features are the means of bins, so nothing extrapolates.
        """,
        option="leaves of trees are ridge models in the means of bins",
    )
    linear_l2: float = parameter(
        default=5.0,
        check=checks.non_negative,
        doc="""
        The ridge penalty of a line, in rows: of n effective rows, a lone slope shrinks by
        n / (n + `linear_l2`).
        """,
        option="the ridge penalty of a leaf's line, in rows",
        only_with={"linear_leaves": (True,)},
        why={"linear_leaves": "leaves without lines have no slopes"},
    )
    multi_strategy: MultiStrategy = parameter(
        default="multi_output_tree",
        check=checks.one_of(MultiStrategy),
        doc="""
        Whether a joint model of several classes has one tree a round for all classes, or one for
        each class.
        """,
        option="trees of a joint model of several classes: one for all of them, or one for each",
        engine=False,
    )

    def check_fields(self, owner: str) -> None:
        """Refuse symmetric trees of too many nodes to number."""
        super().check_fields(owner)
        if self.is_symmetric and (self.max_depth or 0) > MOST_LEVELS:
            raise ValueError(
                f"{owner}max_depth must be at most {MOST_LEVELS} with grow_policy='symmetric'; got "
                f"{self.max_depth!r}"
            )
        if self.max_terms is not None and self._count_path_features() > MOST_READABLE:
            raise ValueError(
                f"{owner}max_terms must be None with more than {MOST_READABLE} features on a path: "
                f"set interaction_cst={MOST_READABLE}, or less"
            )

    @property
    def has_few_leaves(self) -> bool:
        """Whether the learner is a tree whose splits "auto" may choose by a part of the rows."""
        return self.max_leaf_nodes is None or self.max_leaf_nodes <= MOST_DEFAULT_LEAVES

    @property
    def is_symmetric(self) -> bool:
        """Whether all nodes of a level share one split."""
        return self.grow_policy == "symmetric"

    @property
    def needs_means(self) -> bool:
        """Whether the learner needs the means of bins."""
        return self.linear_leaves

    @property
    def most_term_features(self) -> float:
        """The most features on a path; infinite without a limit that holds for every feature."""
        if self.max_terms is None and checks.is_list(self.interaction_cst):
            return self.replace(interaction_cst=None).most_term_features
        return self._count_path_features()

    def _count_path_features(self) -> float:
        """Return the most features on a path, if those of no set do not interact."""
        limits = [
            math.inf if self.max_depth is None else self.max_depth,
            math.inf if self.max_leaf_nodes is None else self.max_leaf_nodes - 1,
        ]
        if isinstance(self.interaction_cst, int | np.integer):
            limits.append(int(self.interaction_cst))
        elif isinstance(self.interaction_cst, str):
            limits.append({"no_interactions": 1, "pairwise": 2}[self.interaction_cst])
        elif self.interaction_cst is not None:
            limits.append(max(map(len, self.interaction_cst)))
        return float(min(limits))

    @property
    def shares_classes(self) -> bool:
        """Whether a joint model of several classes has one tree a round for all of them."""
        return self.multi_strategy == "multi_output_tree"

    def find_gain(self, class_weights: NDArray[np.float64], unit: float) -> float:  # noqa: ARG002
        """Return 1, because the unit shrinks the steps of trees, see `learning_rate`."""
        return 1.0

    def settle(self, class_weights: NDArray[np.float64]) -> Self:
        """Return the learner with numbers for the fields that depend on the training rows."""
        rows, n_classes = _balance(class_weights), len(class_weights)
        leaves, depth = self.max_leaf_nodes, self.max_depth
        if leaves is None:
            leaves = int(min(max(rows / 80.0, 6, n_classes), MOST_DEFAULT_LEAVES))
        if depth is None and self.is_symmetric:
            two_each = (2 * n_classes - 1).bit_length()
            depth = min(max(int(max(rows / 20.0, 2.0**4)).bit_length() - 1, two_each), 6)
        return self.replace(max_leaf_nodes=leaves, max_depth=depth or checks.LARGEST_INT)

    def for_share(self, share: float) -> Self:
        """Return the learner with fields in numbers of rows multiplied by `share`."""
        return super().for_share(share).replace(linear_l2=share * self.linear_l2)


@component
class Rule(Grown):
    """A rule: the rows for which all its conditions hold get a value, and all others another.

    A condition is "this feature is in that range or set".  The `rules` of a fitted model are
    objects of the class `FittedRule`.

    Examples
    --------
    >>> from properboost import ProperBoostClassifier, Rule
    >>> model = ProperBoostClassifier(weak_learner=Rule(max_conditions=3))
    """

    name: ClassVar[str] = "rule"

    max_conditions: int = parameter(
        default=2,
        check=partial(checks.integer, low=1, high=127),
        doc="The most conditions, 1 to 127.  A rule has fewer where another one would not help.",
        option="the most conditions of a rule",
    )

    @property
    def most_term_features(self) -> float:
        """The most features of a rule."""
        return float(self.max_conditions)


Learner: TypeAlias = Table | Stump | Tree | Rule

LEARNERS: Mapping[str, type[Learner]] = {kind.name: kind for kind in get_args(Learner)}
"""The classes by name; a name stands for an object with all fields at their defaults."""


def make_learner(value: object, *words: str) -> Learner:
    """Return the weak learner of a value of `weak_learner`, an object or a name.

    Errors name `words`, too, as values that stand for one.
    """
    if isinstance(value, Table | Stump | Tree | Rule):
        return value
    if isinstance(value, str) and value in RENAMED:
        raise ValueError(f"weak_learner={value!r} is {RENAMED[value]!r} now")
    known = (*LEARNERS, *words)
    check = checks.or_else(partial(checks.choice, known=known), "an object of these")
    return LEARNERS[check("weak_learner", value)]()
