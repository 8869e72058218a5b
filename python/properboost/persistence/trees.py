"""The JSON form of trees and their lines."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import Binning, NumericBins
from properboost.data.distinct import find_distinct
from properboost.models.lines import Lines
from properboost.models.tree import TreeNodes
from properboost.persistence.json_node import Node

__all__ = ["build_lines", "build_tree", "describe_lines", "describe_tree"]

_IS_SET = re.compile(r"[0-9a-f]{1,64}").fullmatch


def describe_tree(tree: TreeNodes) -> dict[str, Any]:
    """Return the JSON form of a tree, without the splits' savings if they are unknown."""
    return {
        "feature": tree.feature.tolist(),
        "left": tree.left.tolist(),
        "goes_left": [_write_set(words) for words in tree.goes_left.tolist()],
        "goes_right": [_write_set(words) for words in tree.goes_right.tolist()],
        "weight": tree.weight.tolist(),
        **({"saving": tree.saving.tolist()} if tree.has_savings else {}),
    }


def build_tree(
    node: Node, binning: Binning, most_nodes: int, *, compact: bool = False
) -> TreeNodes:
    """Return a tree over these bins, of `most_nodes` at most; a compact one has no savings."""
    names = ("feature", "left", "goes_left", "goes_right", "weight", "saving")
    fields = node.fields(*(name for name in names if name != "saving" or not compact))
    feature = fields["feature"].integers(-1, len(binning.features) - 1)
    n = len(feature)
    if n > most_nodes:
        fields["feature"].fail(f"must have at most {most_nodes} entries")
    left = fields["left"].integers(0, max(0, n - 2))
    widths = [0 if j < 0 else binning.features[j].width for j in feature.tolist()]
    sets = {side: _build_sets(fields[side], widths) for side in ("goes_left", "goes_right")}
    if any(a & b for a, b in zip(*sets.values(), strict=True)):
        fields["goes_right"].fail("must not hold codes that go left")
    weight = fields["weight"].matrix(n, 2)
    saving = np.full(n, np.nan) if compact else fields["saving"].reals(n)
    for name, numbers in (("weight", weight), ("saving", saving)):
        if np.any(numbers < 0.0):
            fields[name].fail("must hold no number below 0")
    tree = TreeNodes(
        feature=feature.astype(np.int32),
        left=left,
        goes_left=_as_words(sets["goes_left"]),
        goes_right=_as_words(sets["goes_right"]),
        weight=weight,
        saving=saving,
    )
    try:
        _ = tree.native
    except ValueError as error:
        node.fail(f"is no tree: {error}")
    if not np.array_equal(np.sort(left[feature >= 0]), np.arange(1, n, 2)):
        fields["left"].fail("must give every node but the root one parent")
    return tree


def describe_lines(lines: Lines) -> dict[str, Any]:
    """Return the JSON form of the lines of a tree: an entry of each array per term."""
    return {
        "node": lines.node.tolist(),
        "feature": lines.feature.tolist(),
        "slope": lines.slope.tolist(),
        "center": lines.center.tolist(),
        "mean": lines.mean.tolist(),
    }


def build_lines(node: Node, binning: Binning, tree: TreeNodes, *, has_means: bool) -> Lines:
    """Return the lines of a tree's leaves; their features must have bins of different means.

    Without `has_means` the file is older than the field, and centers stand for means.
    """
    positions = ("center", "mean") if has_means else ("center",)
    fields = node.fields("node", "feature", "slope", *positions)
    nodes = fields["node"].integers(0, len(tree.feature) - 1)
    feature = fields["feature"].integers(0, len(binning.features) - 1)
    if len(feature) != len(nodes):
        fields["feature"].fail(f"must have {len(nodes)} entries")
    if np.any(nodes[1:] < nodes[:-1]) or not tree.is_leaf[nodes].all():
        fields["node"].fail("must hold leaves in ascending order")
    for j in find_distinct(feature).tolist():
        bins = binning.features[j]
        if not isinstance(bins, NumericBins) or len({*bins.outer_means}) == 1:
            fields["feature"].fail("must hold numeric features whose bins have different means")
    places = {name: fields[name].reals(len(nodes)) for name in positions}
    for name, numbers in places.items():
        if np.any(numbers < 0.0) or np.any(numbers > 1.0):
            fields[name].fail("must hold numbers from 0 to 1")
    counts = np.bincount(nodes, minlength=len(tree.feature))
    return Lines(
        offsets=np.cumsum([0, *counts], dtype=np.int64),
        feature=feature.astype(np.int32),
        slope=fields["slope"].reals(len(nodes)),
        center=places["center"],
        mean=places[positions[-1]],
    )


def _write_set(words: list[int]) -> str:
    # Code c is bit c of a number, in hexadecimal digits.
    return f"{sum(word << (64 * k) for k, word in enumerate(words)):x}"


def _build_sets(node: Node, widths: list[int]) -> list[int]:
    """Return sets of codes below these widths, code c being bit c of a number."""
    sets = []
    for k, (text, width) in enumerate(zip(node.sequence(len(widths)), widths, strict=True)):
        if not isinstance(text, str):
            node.entry(k, text).fail("must be a string")
        if not _IS_SET(text):
            node.entry(k, text).fail("must hold hexadecimal digits")
        members = int(text, 16)
        if members >> width:
            node.entry(k, text).fail(f"must hold codes below {width}")
        sets.append(members)
    return sets


def _as_words(sets: list[int]) -> NDArray[np.uint64]:
    words = b"".join(members.to_bytes(32, "little") for members in sets)
    return np.frombuffer(words, dtype="<u8").astype(np.uint64).reshape(len(sets), 4)
