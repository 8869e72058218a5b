"""The speed limit of this machine: kernels of a few lines, compiled by numba.

They are the simplest loops that a boosting round and a prediction consist of.  Threads share out
their work in advance, without the GIL.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

CODES = 256


@njit(nogil=True)
def add_histograms(codes: Any, weight: Any, sums: Any) -> None:
    """Add each row's weight to its code's sum, a feature at a time, in float32."""
    for f in range(codes.shape[0]):
        h = sums[f]
        code = codes[f]
        for i in range(code.shape[0]):
            h[code[i]] += weight[i]


@njit(nogil=True)
def add_four_histograms(codes: Any, weight: Any, sums: Any) -> None:
    """Do the same, four features at a time: a weight is loaded once, and no add waits for another.

    The number of features is a multiple of four.
    """
    for f in range(0, codes.shape[0], 4):
        h0, h1, h2, h3 = sums[f], sums[f + 1], sums[f + 2], sums[f + 3]
        c0, c1, c2, c3 = codes[f], codes[f + 1], codes[f + 2], codes[f + 3]
        for i in range(c0.shape[0]):
            w = weight[i]
            h0[c0[i]] += w
            h1[c1[i]] += w
            h2[c2[i]] += w
            h3[c3[i]] += w


@njit(nogil=True)
def add_words(codes: Any, units: Any, sums: Any) -> None:
    """Do the same in whole numbers, a feature at a time: a word has the codes of eight rows.

    The number of rows is a multiple of eight.
    """
    words = codes.view(np.uint64)
    low, byte = np.uint64(255), np.uint64(8)
    for f in range(words.shape[0]):
        h = sums[f]
        for i in range(words.shape[1]):
            word = words[f, i]
            for j in range(8 * i, 8 * i + 8):
                h[word & low] += units[j]
                word >>= byte


@njit(nogil=True)
def look_up(codes: Any, tables: Any, out: Any) -> None:
    """Add up the entries of each row's codes, a feature at a time."""
    for f in range(codes.shape[0]):
        table = tables[f]
        code = codes[f]
        for i in range(code.shape[0]):
            out[i] += table[code[i]]


@njit(nogil=True)
def look_up_four(codes: Any, tables: Any, out: Any) -> None:
    """Do the same, four features at a time; their number is a multiple of four."""
    for f in range(0, codes.shape[0], 4):
        t0, t1, t2, t3 = tables[f], tables[f + 1], tables[f + 2], tables[f + 3]
        c0, c1, c2, c3 = codes[f], codes[f + 1], codes[f + 2], codes[f + 3]
        for i in range(c0.shape[0]):
            out[i] += (t0[c0[i]] + t1[c1[i]]) + (t2[c2[i]] + t3[c3[i]])


@njit(nogil=True)
def read(words: Any) -> Any:
    """Read memory: the sum of 64-bit words, as vectors."""
    total = np.uint64(0)
    for i in range(words.shape[0]):
        total += words[i]
    return total


def over_and_over(kernel: Any) -> Any:
    """Return a kernel that repeats another on the same arrays; its first argument is how often."""

    @njit(nogil=True)
    def repeat(times: int, codes: Any, a: Any, b: Any) -> None:
        for _ in range(times):
            kernel(codes, a, b)

    return repeat


class Shared:
    """A pool of threads that call a kernel, each with a share of the features or words."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads)

    def __call__(self, n: int, call: Callable[[slice], Any]) -> None:
        """Wait for ``call(share)`` of all shares of `n` things."""
        bounds = [n * t // self.threads for t in range(self.threads + 1)]
        shares = [slice(a, b) for a, b in pairwise(bounds)]
        for done in [self._pool.submit(call, share) for share in shares]:
            done.result()

    def histograms(self, codes: NDArray[np.uint8], weight: NDArray[np.float32]) -> None:
        """Add up the weights of every feature's codes."""
        sums = np.zeros((len(codes), CODES), dtype=np.float32)
        self(len(codes), lambda share: add_histograms(codes[share], weight, sums[share]))
