"""Tests of values that lead to a number: tables, pairs and trees outside of the package.

A model tests codes.  Other systems have values, so a test of a code becomes a test of the *place*
of a value: the number of bin edges below a number, or the position of a category.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.data.table import Category
from properboost.models.tree import LEAF, LEFT, NEITHER, RIGHT, TreeNodes

__all__ = [
    "CodedColumn",
    "Cut",
    "Decision",
    "Leaf",
    "Member",
    "choose",
    "convert_tree",
    "list_tests",
    "measure_depth",
    "simplify",
]


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column, and the codes of its places.

    The place of a number is the number of `edges` below it.  That of a category is its position in
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
        """Return the largest value with a place below `below`, which is at least 1.

        The values of categories are their places.
        """
        if below >= len(self.codes):
            return np.inf
        return float(self.edges[below - 1]) if self.categories is None else below - 1.0

    def places(self, members: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """Return the runs of places, begin and end, where `members` is true."""
        padded = np.concatenate([[False], members, [False]])
        ends = np.flatnonzero(padded[1:] != padded[:-1]).tolist()
        return list(zip(ends[::2], ends[1::2], strict=True))


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a decision: a number."""

    number: int


@dataclass(frozen=True, eq=False, slots=True)
class Cut:
    """A test that leads to `yes` where a feature's place is less than `below`."""

    feature: int
    below: int
    missing: bool
    """Whether missing values lead to `yes`."""
    yes: "Decision"
    no: "Decision"


@dataclass(frozen=True, eq=False, slots=True)
class Member:
    """A test that leads to `yes` where a feature's place is in a set with gaps."""

    feature: int
    members: NDArray[np.bool_]
    missing: bool
    """Whether missing values lead to `yes`."""
    yes: "Decision"
    no: "Decision"

    def as_cuts(self) -> Cut:
        """Return equivalent cuts; several may lead to one decision."""
        cuts = choose(
            self.feature,
            self.members.astype(np.int64),
            int(self.missing),
            lambda inside: self.yes if inside else self.no,
        )
        assert isinstance(cuts, Cut)
        return cuts


Decision: TypeAlias = Leaf | Cut | Member


def choose(
    feature: int,
    numbers: Sequence[int] | NDArray[np.integer],
    missing: int,
    make: Callable[[int], Decision] = Leaf,
) -> Decision:
    """Return the decision by a feature alone: ``make(numbers[place])``, or ``make(missing)``.

    Neighbouring places of one number share a leaf, and bisection finds their run.
    """
    made: dict[int, Decision] = {}

    def end(number: int) -> Decision:
        if number not in made:
            made[number] = make(number)
        return made[number]

    ends = np.asarray(numbers)
    starts = [0, *(1 + np.flatnonzero(ends[1:] != ends[:-1])).tolist(), len(ends)]
    runs = [(a, b, int(ends[a])) for a, b in pairwise(starts)]

    def bisect(part: list[tuple[int, int, int]]) -> Decision:
        if len(part) == 1:
            return end(part[0][2])
        half = len(part) // 2
        # No test is true of missing values, which so end in the last run.
        return Cut(feature, part[half][0], False, bisect(part[:half]), bisect(part[half:]))

    known = bisect(runs)
    if missing == runs[-1][2]:
        return known
    return Cut(feature, len(ends), False, known, end(missing))


def convert_tree(tree: TreeNodes, features: Sequence[CodedColumn]) -> Decision:
    """Convert a tree of tests of codes to tests of places; the numbers are those of its nodes."""
    branches = tree.branches
    made: dict[int, Decision] = {}
    for k in reversed(range(len(tree.feature))):  # children come after their parents
        j = int(tree.feature[k])
        if j == LEAF:
            made[k] = Leaf(k)
            continue
        left = int(tree.left[k])
        ends = {LEFT: made[left], RIGHT: made[left + 1], NEITHER: Leaf(k)}
        branch_of_code = branches[k]
        made[k] = _branch(
            j, branch_of_code[features[j].codes], int(branch_of_code[features[j].missing]), ends
        )
    return made[0]


def _branch(
    feature: int, branch: NDArray[np.uint8], missing: int, ends: Mapping[int, Decision]
) -> Decision:
    """Return the decision between up to three branches."""
    free = np.zeros(len(branch), dtype=np.bool_)  # places that an earlier test has decided
    tests = []
    kinds = sorted({*branch.tolist(), missing})
    for kind in kinds[:-1]:
        tests.append((kind, branch == kind, free.copy()))
        free |= branch == kind
    decision = ends[kinds[-1]]
    for kind, inside, settled in reversed(tests):
        decision = _make_test(feature, inside, settled, missing == kind, ends[kind], decision)
    return decision


def _make_test(
    feature: int,
    inside: NDArray[np.bool_],
    free: NDArray[np.bool_],
    missing: bool,
    yes: Decision,
    no: Decision,
) -> Decision:
    """Return the simplest test of `inside`; `missing` is whether missing values lead to `yes`."""
    asked = np.flatnonzero(~free)
    n = len(inside)
    if not inside[asked].any():  # only missing values lead to `yes`
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
    """Yield the tests of a decision, each once, after those that it leads to.

    Trees may be thousands of tests deep, which is more than Python's limit of recursion.
    """
    waiting = [(decision, False)]
    seen: set[int] = set()
    while waiting:
        node, is_ready = waiting.pop()
        if isinstance(node, Leaf):
            continue
        if is_ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            waiting += [(node, True), (node.no, False), (node.yes, False)]


def simplify(decision: Decision, values: NDArray[np.float64]) -> Decision:
    """Return the decision without tests that do not change ``values[number]``."""
    first: dict[bytes, Leaf] = {}
    simple: dict[int, Decision] = {}

    def look_up(node: Decision) -> Decision:
        if isinstance(node, Leaf):
            return first.setdefault(values[node.number].tobytes(), node)
        return simple[id(node)]

    for node in list_tests(decision):
        yes, no = look_up(node.yes), look_up(node.no)
        if yes is no:
            simple[id(node)] = yes
        elif isinstance(node, Cut):
            simple[id(node)] = Cut(node.feature, node.below, node.missing, yes, no)
        else:
            simple[id(node)] = Member(node.feature, node.members, node.missing, yes, no)
    return look_up(decision)


def measure_depth(decision: Decision) -> int:
    """Return the largest number of tests on the way to a leaf."""
    depths: dict[int, int] = {}
    for test in list_tests(decision):
        depths[id(test)] = 1 + max(depths.get(id(test.yes), 0), depths.get(id(test.no), 0))
    return depths.get(id(decision), 0)
