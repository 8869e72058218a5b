"""Tests of values that lead to a number: what tables, pairs and trees are outside of the package.

A model knows codes.  Other systems know values, so a code test becomes a test of the *place* of a
value: of a number, how many bin edges are below it; of a category, its position.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.table import Category
from properboost.models.tree import LEAF, LEFT, NEITHER, RIGHT, Tree

__all__ = [
    "Cut",
    "Decision",
    "Feature",
    "Leaf",
    "Member",
    "choose",
    "convert_tree",
    "list_tests",
    "measure_depth",
    "simplify",
]


@dataclass(frozen=True, eq=False)
class Feature:
    """A column, and the codes of its places.

    The place of a number is how many `edges` are below it.  That of a category is its position in
    `categories`, and the last one stands for all others.  ``codes[place]`` is the model's code, and
    `missing` that of missing values.
    """

    name: str
    edges: NDArray[np.float64]
    categories: tuple[Category, ...] | None
    codes: NDArray[np.int64]
    missing: int

    @property
    def is_text(self) -> bool:
        """Whether the column holds strings."""
        return bool(self.categories) and isinstance(self.categories[0], str)  # type: ignore[index]

    def bound(self, below: int) -> float:
        """Return the largest value whose place is less than `below`, which is at least 1.

        The values of categories are their places.
        """
        if below >= len(self.codes):
            return np.inf
        return float(self.edges[below - 1]) if self.categories is None else below - 1.0

    def places(self, members: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """Return the runs of places, from and to, for which `members` holds."""
        padded = np.concatenate([[False], members, [False]])
        ends = np.flatnonzero(padded[1:] != padded[:-1]).tolist()
        return list(zip(ends[::2], ends[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end: a number."""

    number: int


@dataclass(frozen=True, eq=False, slots=True)
class Cut:
    """Goes to `yes` where a feature's place is less than `below`."""

    feature: int
    below: int
    missing: bool
    """Whether missing values go to `yes`."""
    yes: "Decision"
    no: "Decision"


@dataclass(frozen=True, eq=False, slots=True)
class Member:
    """Goes to `yes` where a feature's place is one of some that have gaps."""

    feature: int
    members: NDArray[np.bool_]
    missing: bool
    """Whether missing values go to `yes`."""
    yes: "Decision"
    no: "Decision"

    def as_cuts(self) -> Cut:
        """Return cuts that ask the same; several may lead to one decision."""
        found = choose(
            self.feature,
            self.members.astype(np.int64),
            int(self.missing),
            lambda inside: self.yes if inside else self.no,
        )
        assert isinstance(found, Cut)
        return found


Decision: TypeAlias = Leaf | Cut | Member


def choose(
    feature: int,
    numbers: Sequence[int] | NDArray[np.integer],
    missing: int,
    make: Callable[[int], Decision] = Leaf,
) -> Decision:
    """Return the decision by a feature alone: ``make(numbers[place])``, or ``make(missing)``.

    Neighbouring places of one number share a leaf; the runs are bisected.
    """
    made: dict[int, Decision] = {}

    def end(number: int) -> Decision:
        if number not in made:
            made[number] = make(number)
        return made[number]

    own = np.asarray(numbers)
    starts = [0, *(1 + np.flatnonzero(own[1:] != own[:-1])).tolist(), len(own)]
    runs = [(a, b, int(own[a])) for a, b in pairwise(starts)]

    def bisect(some: list[tuple[int, int, int]]) -> Decision:
        if len(some) == 1:
            return end(some[0][2])
        half = len(some) // 2
        # Missing values are never below, and so end in the last run.
        return Cut(feature, some[half][0], False, bisect(some[:half]), bisect(some[half:]))

    known = bisect(runs)
    if missing == runs[-1][2]:
        return known
    return Cut(feature, len(own), False, known, end(missing))


def convert_tree(tree: Tree, features: Sequence[Feature]) -> Decision:
    """Return a tree of code tests as tests of places; the numbers are those of its nodes."""
    branches = tree.branches
    made: dict[int, Decision] = {}
    for k in reversed(range(len(tree.feature))):  # children come after their parents
        j = int(tree.feature[k])
        if j == LEAF:
            made[k] = Leaf(k)
            continue
        left = int(tree.left[k])
        ends = {LEFT: made[left], RIGHT: made[left + 1], NEITHER: Leaf(k)}
        own = branches[k]
        made[k] = _branch(j, own[features[j].codes], int(own[features[j].missing]), ends)
    return made[0]


def _branch(
    feature: int, branch: NDArray[np.uint8], missing: int, ends: Mapping[int, Decision]
) -> Decision:
    """Return the decision between up to three branches."""
    free = np.zeros(len(branch), dtype=np.bool_)  # places that come here no more
    tests = []
    some = sorted({*branch.tolist(), missing})
    for own in some[:-1]:
        tests.append((own, branch == own, free.copy()))
        free |= branch == own
    found = ends[some[-1]]
    for own, inside, unasked in reversed(tests):
        found = _ask(feature, inside, unasked, missing == own, ends[own], found)
    return found


def _ask(
    feature: int,
    inside: NDArray[np.bool_],
    free: NDArray[np.bool_],
    missing: bool,
    yes: Decision,
    no: Decision,
) -> Decision:
    """Return the simplest test of whether a place is `inside`, or is missing and that counts."""
    asked = np.flatnonzero(~free)
    n = len(inside)
    if not inside[asked].any():  # only missing values are
        return Cut(feature, n, False, no, yes)
    last_in = int(asked[inside[asked]][-1]) + 1
    first_in = int(asked[inside[asked]][0])
    if (inside | free)[:last_in].all():
        below = n if (inside | free).all() else last_in
        return Cut(feature, below, missing, yes, no)
    if (inside | free)[first_in:].all():
        return Cut(feature, first_in, not missing, no, yes)
    return Member(feature, inside, missing, yes, no)


def list_tests(decision: Decision) -> Iterator[Cut | Member]:
    """Yield the tests of a decision, each once, behind those that it leads to.

    Trees may be thousands of tests deep, which is more than functions may call each other.
    """
    waiting = [(decision, False)]
    seen: set[int] = set()
    while waiting:
        own, is_ready = waiting.pop()
        if isinstance(own, Leaf):
            continue
        if is_ready:
            yield own
        elif id(own) not in seen:
            seen.add(id(own))
            waiting += [(own, True), (own.no, False), (own.yes, False)]


def simplify(decision: Decision, values: NDArray[np.float64]) -> Decision:
    """Return the decision without tests that make no difference to ``values[number]``."""
    first: dict[bytes, Leaf] = {}
    simple: dict[int, Decision] = {}

    def look_up(own: Decision) -> Decision:
        if isinstance(own, Leaf):
            return first.setdefault(values[own.number].tobytes(), own)
        return simple[id(own)]

    for own in list_tests(decision):
        yes, no = look_up(own.yes), look_up(own.no)
        if yes is no:
            simple[id(own)] = yes
        elif isinstance(own, Cut):
            simple[id(own)] = Cut(own.feature, own.below, own.missing, yes, no)
        else:
            simple[id(own)] = Member(own.feature, own.members, own.missing, yes, no)
    return look_up(decision)


def measure_depth(decision: Decision) -> int:
    """Return the most tests on the way to a leaf."""
    depths: dict[int, int] = {}
    for own in list_tests(decision):
        depths[id(own)] = 1 + max(depths.get(id(own.yes), 0), depths.get(id(own.no), 0))
    return depths.get(id(decision), 0)
