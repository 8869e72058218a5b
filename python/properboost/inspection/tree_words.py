"""Trees in words: the conditions of their branches, and the lines of their leaves."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import CategoricalBins, FeatureBins, NumericBins
from properboost.models.lines import Lines
from properboost.models.tree import LEAF, TreeNodes
from properboost.visible import make_printable

__all__ = ["describe_line", "describe_tree", "follow_left"]


def describe_tree(
    tree: TreeNodes, features: Sequence[FeatureBins], names: Sequence[str], ends: Sequence[str]
) -> str:
    """Return the tree in words, one line per branch; `ends` has the words for each leaf."""
    lines = []
    waiting = [(0, 0, "")]  # node, depth, condition of its branch
    while waiting:
        node, depth, way = waiting.pop()
        if way:
            lines.append("|   " * (depth - 1) + way)
        j = int(tree.feature[node])
        if j == LEAF:
            lines.append("|   " * depth + make_printable(ends[node]))
            continue
        for child, branch in ((1, tree.goes_right), (0, tree.goes_left)):  # the stack reverses them
            codes = _members(branch[node], features[j].width)
            words = _describe_codes(features[j], codes, names[j])
            waiting.append((int(tree.left[node]) + child, depth + 1, words))
    return "\n".join(lines)


def follow_left(
    tree: TreeNodes, features: Sequence[FeatureBins], names: Sequence[str]
) -> tuple[int, list[str]]:
    """Return the left-most leaf, and the conditions that its rows share, by feature."""
    codes: dict[int, set[int]] = {}
    node = 0
    while (j := int(tree.feature[node])) != LEAF:
        members = set(_members(tree.goes_left[node], features[j].width))
        codes[j] = codes.get(j, members) & members
        node = int(tree.left[node])
    return node, [_describe_codes(features[j], sorted(c), names[j]) for j, c in codes.items()]


def describe_line(
    lines: Lines, node: int, features: Sequence[FeatureBins], names: Sequence[str]
) -> str:
    """Return a node's line in words: slopes by unit of the features; "" without a line."""
    words = []
    for t in range(int(lines.offsets[node]), int(lines.offsets[node + 1])):
        j = int(lines.feature[t])
        bins = features[j]
        assert isinstance(bins, NumericBins)
        low, high = bins.outer_means
        with np.errstate(over="ignore", invalid="ignore"):
            slope = lines.slope[t] / (high - low)
            center = low + lines.center[t] * (high - low)
        sign = "-" if slope < 0.0 else "+"
        distance = f"{'+' if center < 0.0 else '-'} {abs(center):.6g}"
        words.append(f" {sign} {abs(slope):.4g} ({make_printable(names[j])} {distance})")
    return "".join(words)


def _members(words: NDArray[np.uint64], width: int) -> list[int]:
    return [c for c in range(width) if int(words[c // 64]) >> (c % 64) & 1]


def _describe_codes(bins: FeatureBins, codes: list[int], name: str) -> str:
    """Return in words the condition that a feature's code is among these, which ascend."""
    name = make_printable(name)
    missing = bins.n_bins in codes
    values = [c for c in codes if c < bins.n_bins]
    if not values:
        return f"{name} is missing"
    if isinstance(bins, NumericBins):
        low = "" if values[0] == 0 else f"{bins.edges[values[0] - 1]:.10g} < "
        high = "" if values[-1] == len(bins.edges) else f" <= {bins.edges[values[-1]]:.10g}"
        words = f"{low}{name}{high}" if low or high else f"{name} is not missing"
    else:
        words = f"{name} in {{{', '.join(_list_categories(bins, codes))}}}"
    return f"{words}, or missing" if missing else words


def _list_categories(bins: CategoricalBins, codes: list[int]) -> list[str]:
    known = [repr(bins.categories[c]) for c in codes if c < len(bins.categories)]
    rare = bins.has_rare and len(bins.categories) in codes
    return [*known, "others"] if rare else known
