"""A race between features: the fewer are left, the more rows compare them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference.cells import Statistics, bin_statistics
from helpers.reference.contrast import effective_rows, normal_deviate
from helpers.reference.draws import find_screen
from helpers.reference.search import contrasts, free_candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from helpers.reference.bins import Array
    from helpers.reference.settings import Training


def run(t: Training, w: Array, curvature: Array, features: Sequence[int], round_: int) -> list[int]:
    """Return the features left for a comparison by all rows; all if none may be dropped.

    The first screen has `t.screening` rows. The best quarter, though at least 4, stays for one of
    four times as many. No feature stays that is 4 standard deviations behind the best.
    """
    left, times = list(features), 1
    while t.screening and len(left) > 4:
        screen = find_screen(t.numbers, [t.y > 0, t.y < 0], round_, t.screening, times)
        if screen is None:
            break
        rows, scale = screen
        known = effective_rows(_of(t, rows), w[rows])
        if np.all(known > 0):
            free = [
                free_candidate(t, j, _sum(t, j, w, curvature, rows, scale), known) for j in left
            ]
            deviates = [normal_deviate(*pair) for pair in contrasts(t, free, known)]
        else:
            deviates = [normal_deviate(0.0, 0.0)] * len(left)
        best = sorted(zip(deviates, left, strict=True), key=lambda pair: (-pair[0], pair[1]))
        most = max(4, len(left) // 4)
        left = sorted(j for deviate, j in best[:most] if deviate >= best[0][0] - 4)
        times *= 4
    return left


def _of(t: Training, rows: NDArray[np.bool_]) -> Training:
    return replace(t, codes=t.codes[:, rows], y=t.y[rows], weight=t.weight[rows])


def _sum(
    t: Training, j: int, w: Array, curvature: Array, rows: NDArray[np.bool_], scale: Array
) -> Statistics:
    """Return a feature's sums over the screen, scaled to all rows; curvatures go by weight."""
    n_bins = t.bins[j].n_bins
    codes, y = t.codes[j][rows], t.y[rows]
    plain = bin_statistics(codes, n_bins, y, w[rows], curvature[rows])
    scaled = bin_statistics(codes, n_bins, y, w[rows] * scale[rows], curvature[rows])
    both = np.maximum(plain.plus + plain.minus, 1e-300)
    return replace(
        scaled,
        curvature=plain.curvature * (scaled.plus + scaled.minus) / both,
        rows=np.bincount(t.codes[j], minlength=n_bins),
    )
