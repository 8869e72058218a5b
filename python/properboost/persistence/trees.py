"""Trees as documents hold them."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.boosting.tree import Tree
from properboost.data.binning import Binning
from properboost.persistence.json_node import Node

__all__ = ["build_tree", "describe_tree"]


def describe_tree(tree: Tree) -> dict[str, Any]:
    """Return what stands for a tree."""
    return {
        "feature": tree.feature.tolist(),
        "left": tree.left.tolist(),
        "goes_left": [_write_set(words) for words in tree.goes_left.tolist()],
        "goes_right": [_write_set(words) for words in tree.goes_right.tolist()],
        "weight": tree.weight.tolist(),
        "saving": tree.saving.tolist(),
    }


def build_tree(node: Node, binning: Binning, most_nodes: int) -> Tree:
    """Return a tree over these bins, of so many nodes at most."""
    fields = node.fields("feature", "left", "goes_left", "goes_right", "weight", "saving")
    feature = fields["feature"].integers(-1, len(binning.features) - 1)
    n = len(feature)
    if n > most_nodes:
        fields["feature"].fail(f"must have at most {most_nodes} entries")
    left = fields["left"].integers(0, max(0, n - 2))
    sets = {}
    for side in ("goes_left", "goes_right"):
        entries = fields[side].entries(n)
        sets[side] = [
            _build_set(entry, 0 if j < 0 else binning.features[j].width)
            for entry, j in zip(entries, feature, strict=True)
        ]
    if any(a & b for a, b in zip(*sets.values(), strict=True)):
        fields["goes_right"].fail("must not hold codes that go left")
    weight = np.array([pair.reals(2) for pair in fields["weight"].entries(n)]).reshape(n, 2)
    saving = fields["saving"].reals(n)
    for name, numbers in (("weight", weight), ("saving", saving)):
        if np.any(numbers < 0.0):
            fields[name].fail("must hold no number below 0")
    tree = Tree(
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


def _write_set(words: list[int]) -> str:
    # Code c is bit c of a number, in hexadecimal digits.
    return f"{sum(word << (64 * k) for k, word in enumerate(words)):x}"


def _build_set(node: Node, width: int) -> int:
    text = node.string()
    if not re.fullmatch(r"[0-9a-f]{1,64}", text):
        node.fail("must hold hexadecimal digits")
    members = int(text, 16)
    if members >> width:
        node.fail(f"must hold codes below {width}")
    return members


def _as_words(sets: list[int]) -> NDArray[np.uint64]:
    words = [[members >> (64 * k) & (2**64 - 1) for k in range(4)] for members in sets]
    return np.array(words, dtype=np.uint64).reshape(len(sets), 4)
