"""The search for the pairs of features that interact most, after a model of single features."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.data.binning import Binning
from properboost.data.entries import find_entries
from properboost.data.features import find_feature
from properboost.data.whole_sums import mean
from properboost.engine.protocols import CodeWeights, TrainingRows
from properboost.losses.probabilities import Link
from properboost.models.interactions import (
    MOST_CELLS,
    RANKING_LEVELS,
    PairBins,
    find_levels,
    make_pair,
)

__all__ = ["find_pairs", "lay_grids", "read_pairs"]

Gradients = Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]
"""The terms of each row in a cell's gradient, and in its variance, by model."""

LARGEST_TERM = 1e30
"""The largest size of a row's margin, and of its term of a sum, in float32."""

RANKED_FEATURES = 256
"""The most features whose pairs are compared: d features have d (d - 1) / 2 pairs."""

SPREAD_ROWS = 100_000
"""The number of rows that choose these features."""


def find_pairs(
    link: Link,
    rows: TrainingRows,
    raw: NDArray[np.float64],
    bin_weights: CodeWeights,
    n: int,
    learns: NDArray[np.bool_] | None = None,
    models: NDArray[np.bool_] | None = None,
) -> list[tuple[int, int]]:
    """Return the `n` pairs of features that explain most of what the raw predictions leave.

    `raw` has the shape (n_models, n_rows).  `learns` selects segments, and `models` selects models
    that are not joint; None is all of them.
    """
    selected = slice(None) if models is None else models
    count = np.ones(rows.n_rows)
    weight_of_one = 1.0
    if rows.weight is not None:
        weight_of_one = mean(rows.weight)
        count = rows.weight / weight_of_one
    if learns is not None:
        count = count * np.repeat(learns, np.diff(rows.segments))
    signs = rows.signs
    if link.joint_loss:
        gradients = _find_joint_gradients(link, rows, raw, signs, count)
    else:
        gradients = _find_gradients(link, rows, raw[selected], signs[selected], count)
    n_combined = rows.n_combined
    return rank_pairs(
        rows.binning.first(n_combined), rows.gather, bin_weights[:n_combined], raw[selected],
        gradients, weight_of_one, n, rows.n_threads,
    )  # fmt: skip


def lay_grids(
    rows: TrainingRows, bin_weights: CodeWeights, pairs: Sequence[tuple[int, int]]
) -> tuple[PairBins, ...]:
    """Return the grids of these pairs of features."""
    return tuple(make_pair(rows.binning, bin_weights, *pair, MOST_CELLS) for pair in pairs)


def read_pairs(
    listed: Sequence[Sequence[int | str]] | NDArray[Any],
    n_features: int,
    names: Sequence[str] | None,
) -> list[tuple[int, int]]:
    """Return the positions of the pairs of features that `interactions` lists."""
    pairs: list[tuple[int, int]] = []
    for k, pair in enumerate(listed):
        argument = f"interactions[{k}]"
        first, second = sorted(find_feature(f, names, n_features, argument) for f in pair)
        if first == second or (first, second) in pairs:
            raise ValueError(f"{argument} must be two different features, once; got {pair!r}")
        pairs.append((first, second))
    return pairs


def rank_pairs(
    binning: Binning,
    gather: Callable[[Sequence[int]], NDArray[np.uint8]],
    weights: Sequence[NDArray[np.float64]],
    raw: NDArray[np.float64],
    gradients: Iterable[tuple[NDArray[np.float32], NDArray[np.float32]]],
    scale: float,
    n: int,
    n_threads: int,
) -> list[tuple[int, int]]:
    """Return the `n` strongest pairs of features, after the model so far.

    `gather` returns the codes of a list of features.  `gradients` has, for each model, the terms of
    each row in a cell's gradient and in its variance, with sample weights divided by `scale`.

    For each pair, gradient^2 / variance is summed over the cells of the grid, less the same sums
    over the levels of either feature.  The result is chi-square where the model is right, and the
    strongest pairs are the most significant, whatever their number of cells.  With more than
    `RANKED_FEATURES` features, only those are compared along whose levels the raw predictions,
    (n_models, n_rows), vary most.
    """
    features = range(len(binning.features))
    if len(features) < 2:
        return []
    level_of = [
        np.maximum(find_levels(bins, weight, RANKING_LEVELS)[0], 0).astype(np.uint8)
        for bins, weight in zip(binning.features, weights, strict=True)
    ]
    if len(features) > RANKED_FEATURES:
        spread = [
            _find_spread(find_entries(level, gather([j])[0]), raw)
            for j, level in enumerate(level_of)
        ]
        chosen = np.argsort(-np.array(spread), kind="stable")[:RANKED_FEATURES]
        features = np.sort(chosen).tolist()
    codes = zip(features, gather(features), strict=True)
    levels = np.stack([find_entries(level_of[j], of_feature) for j, of_feature in codes])
    sums = sum(_core.find_interactions(levels, g, v, scale, n_threads) for g, v in gradients)
    chi_square, freedom = np.asarray(sums)
    best = np.argsort(-_core.normal_deviates(chi_square, freedom), kind="stable")[:n]
    first, second = np.triu_indices(len(features), 1)
    return [(features[a], features[b]) for a, b in zip(first[best], second[best], strict=True)]


def _find_spread(level: NDArray[np.uint8], raw: NDArray[np.float64]) -> float:
    """Return the variation of the mean raw prediction between levels."""
    step = max(1, len(level) // SPREAD_ROWS)
    levels, rows = level[::step], np.bincount(level[::step])
    total = 0.0
    for of_model in raw[:, ::step]:
        sums = np.bincount(levels, of_model)
        total += float(np.sum(sums**2 / np.maximum(rows, 1)) - of_model.sum() ** 2 / len(levels))
    return total


def _find_gradients(
    link: Link,
    rows: TrainingRows,
    raw: NDArray[np.float64],
    signs: NDArray[np.int8],
    count: NDArray[np.float64],
) -> Gradients:
    """Yield the gradients of models that are boosted apart; `count` weighs the rows."""
    native = link.loss.native
    for of_model, sign in zip(raw, signs, strict=True):
        y = np.repeat(sign, np.diff(rows.segments))
        margin = _to_float32(y * of_model / link.loss.gain)
        weight, otherwise, p, q = (
            f(u).astype(np.float64)
            for f in (native.engine_weight, native.engine_probability)
            for u in (margin, -margin)
        )
        # The variance of the gradient is the one that the model expects, near 0 where the model is
        # sure and right.
        variance = p * weight**2 + q * otherwise**2
        # For float32; the scale cancels in the chi-squares.
        scale = 1.0 / np.sqrt(variance.max(initial=np.finfo(np.float64).tiny))
        gradient = y * weight * scale * count
        yield _to_float32(gradient), _to_float32(variance * scale**2 * count)


def _find_joint_gradients(
    link: Link,
    rows: TrainingRows,
    raw: NDArray[np.float64],
    signs: NDArray[np.int8],
    count: NDArray[np.float64],
) -> Gradients:
    """Yield the gradients of a joint model's classes; `count` weighs the rows."""
    probability = link.probabilities(raw.T)
    most, numbers = probability.argmax(axis=1), np.arange(len(probability))
    without = probability.copy()
    without[numbers, most] = 0.0
    others = without.sum(axis=1)
    for k, (sign, p) in enumerate(zip(signs, probability.T, strict=True)):
        q = np.where(most == k, others, 1.0 - p)
        gradient = np.where(np.repeat(sign, np.diff(rows.segments)) > 0, q, -p)
        yield _to_float32(gradient * count), _to_float32(p * q * count)


def _to_float32(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Convert numbers, clipped so that their sums are finite."""
    return np.clip(values, -LARGEST_TERM, LARGEST_TERM).astype(np.float32)
