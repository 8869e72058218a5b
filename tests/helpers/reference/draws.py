"""Random bits as the engine draws them, and rows drawn by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def draw_bits(seed: int, stream: int, n: int) -> int:
    """Return 64 random bits by counter: SplitMix64's finaliser over seed, stream and number."""
    mask, stride = 2**64 - 1, 0x9E3779B97F4A7C15

    def mix(x: int) -> int:
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        return x ^ (x >> 31)

    return mix((mix(mix((seed + stride) & mask) ^ stream) + (n + 1) * stride) & mask)


def draw_by_weight(
    numbers: Sequence[int],
    key: int,
    about: int,
    weight: NDArray[np.float64],
    curvature: NDArray[np.float64] | None,
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return rows that are drawn by their weights, and how many rows each row then counts for.

    Chances are in proportion to weights, and a twentieth of them to curvatures if there are any.
    They add up to `about` where none exceeds 1.
    """
    chances = about * weight / weight.sum()
    if curvature is not None:
        chances = 0.95 * chances + 0.05 * about * curvature / curvature.sum()
    high = np.array([draw_bits(key, 0, int(n)) >> 33 for n in numbers])
    with np.errstate(divide="ignore"):
        return high < chances * 2**31, 1 / np.minimum(1.0, chances)


def find_screen(
    numbers: Sequence[int],
    classes: Sequence[NDArray[np.bool_]],
    round_: int,
    least: int,
    times: int = 1,
) -> tuple[NDArray[np.bool_], NDArray[np.float64]] | None:
    """Return the rows of a screen, and how many of its class each row stands for.

    A screen has `times` the least number of rows, equally many of each class, or all of a class
    that has fewer. Random bits of the rows' numbers choose them. There is no screen that would
    include most rows, and none for at most twice the least number of rows.
    """
    stream, every = 0x73637265656E, 2**64
    bits = np.array([draw_bits(0, stream, int(n)) for n in numbers], dtype=np.uint64)
    rows, stands_for = np.ones(len(bits), bool), np.ones(len(bits))
    seen, size = 0.0, least * times
    for of_class in classes:
        share = min(1.0, size / len(classes) / of_class.sum())
        seen += share * of_class.sum()
        stands_for[of_class] = 1 / share
        if share < 1:
            width = int(share * every)
            behind = bits - np.uint64(round_ * width % every)
            rows[of_class] = behind[of_class] < np.uint64(width)
    return (rows, stands_for) if 2 * least < len(bits) and 2 * seen <= len(bits) else None
