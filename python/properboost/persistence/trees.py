"""Trees as documents hold them."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.boosting.tree import Tree
from properboost.data.binning import Binning
from properboost.persistence.json_node import Node

__all__ = ["build_tree", "describe_tree"]

_IS_SET = re.compile(r"[0-9a-f]{1,64}").fullmatch


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
    widths = [0 if j < 0 else binning.features[j].width for j in feature.tolist()]
    sets = {side: _build_sets(fields[side], widths) for side in ("goes_left", "goes_right")}
    if any(a & b for a, b in zip(*sets.values(), strict=True)):
        fields["goes_right"].fail("must not hold codes that go left")
    weight = fields["weight"].matrix(n, 2)
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
