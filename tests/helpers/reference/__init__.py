"""A plain numpy implementation of properboost: slow, short, and the judge of the fast core.

Nothing here imports the package.  Everything is double precision and written the way the formulas
read; where a choice had to be made (ties, caps, empty cells) the docstring states the rule, and the
fast core follows the same words.

The order of the file is the order of the data flow: edges and codes, cell statistics, weak learners
(trees after tables), responses, steps, and the boosting loop that ties them together.  The losses,
which know nothing of the rest, are in `losses`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from helpers.reference.losses import LOSSES as LOSSES
from helpers.reference.losses import make_loss as make_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from helpers.reference.losses import Loss

Array = NDArray[np.float64]
Codes = NDArray[np.integer]

Learner = Literal["histogram", "stump", "tree"]
Response = Literal["real", "sign", "newton", "exact"]
Step = Literal["unit", "guarded", "line_search"]
Selection = Literal["greedy", "cyclic"]

TIE = 1e-7  # scores this close to the best, relative to it, count as equal


# ------------------------------------------------------------------------------- edges and codes


def distinct_edges(values: ArrayLike, weight: ArrayLike | None = None) -> Array:
    """Bin edges that give every distinct value its own bin."""
    distinct, _ = _distinct(values, weight)
    return _edges_between(distinct, range(1, len(distinct)))


def quantile_edges(
    values: ArrayLike, weight: ArrayLike | None = None, max_bins: int = 255
) -> Array:
    """Edges of at most `max_bins` bins: heavy values alone, the others in weighted quantiles.

    The rule, in double precision; the weight of one value is summed over rows as they come, every
    other sum runs over the values in ascending order:

    1.  Drop NaN values and rows of weight 0.  Add up the weight of every distinct value
        (-0.0 and 0.0 are one value).  With at most `max_bins` of them, each is a bin.
    2.  Otherwise a value is *heavy* when its weight * max_bins > total weight.  A heavy value is a
        bin of its own.  With h of them, m = max_bins - h bins are left (m >= 1, always).
    3.  The light values between consecutive heavy values form *runs*.  A run of weight R has the
        quota m * R / L, L being the weight of all light values.  It first gets floor(quota) bins,
        but no more than it has distinct values.  The bins that remain are given out one at a time
        by largest quota - floor(quota), ties to the earlier run, passing over runs that have as
        many bins as distinct values; when every run has had its turn, the same order starts again.
    4.  A run of k >= 1 bins is walked in order: its j-th bin (j = 1, 2, ...) is closed at the value
        where (weight of the run so far) * k >= j * R.  Every bin takes at least one value; one
        value that passes several multiples closes one bin only, so a run may end with fewer than
        k bins, never with more.
    5.  A run of 0 bins joins the bin of the heavy value that follows it; the last run joins the
        one before it.

    Edges lie between neighbouring bins, see `midpoint`.  A value's code is the number of edges
    strictly below it.
    """
    distinct, weights = _distinct(values, weight)
    if len(distinct) <= max_bins:
        return _edges_between(distinct, range(1, len(distinct)))
    heavy = weights * max_bins > _sum(weights)
    starts: set[int] = set()  # positions of the first value of each bin
    runs = _runs(~heavy)
    run_bins = _share_bins(
        [_sum(weights[a:b]) for a, b in runs],
        [b - a for a, b in runs],
        max_bins - int(heavy.sum()),
    )
    for position in np.flatnonzero(heavy):
        starts |= {int(position), int(position) + 1}
    for (a, b), k in zip(runs, run_bins, strict=True):
        if k == 0:
            # Without an edge towards its heavy neighbour the run is part of that bin.
            starts.discard(b if b < len(distinct) else a)
            continue
        run_weight, so_far, j = _sum(weights[a:b]), 0.0, 1
        for position in range(a, b):
            so_far += weights[position]
            if so_far * k >= j * run_weight:
                starts.add(position + 1)
                j += 1
    return _edges_between(distinct, sorted(starts - {0, len(distinct)}))


def _sum(weights: Array) -> float:
    """A plain left-to-right sum, which other languages can repeat bit for bit."""
    return float(np.cumsum(weights)[-1]) if len(weights) else 0.0


def _distinct(values: ArrayLike, weight: ArrayLike | None) -> tuple[Array, Array]:
    values = np.asarray(values, dtype=np.float64)
    weights = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
    keep = ~np.isnan(values) & (weights > 0)
    distinct, position = np.unique(values[keep], return_inverse=True)
    return distinct, np.bincount(position, weights=weights[keep], minlength=len(distinct))


def _runs(light: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Half-open ranges of consecutive true entries."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], light, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in change.reshape(-1, 2)]


def _share_bins(run_weights: list[float], run_sizes: list[int], m: int) -> list[int]:
    """Step 3 of `quantile_edges`."""
    light_weight = _sum(np.array(run_weights))
    quotas = [m * r / light_weight for r in run_weights]
    bins = [min(int(q), size) for q, size in zip(quotas, run_sizes, strict=True)]
    order = sorted(range(len(quotas)), key=lambda i: (int(quotas[i]) - quotas[i], i))
    while sum(bins) < m and any(b < s for b, s in zip(bins, run_sizes, strict=True)):
        for i in order:
            if sum(bins) < m and bins[i] < run_sizes[i]:
                bins[i] += 1
    return bins


def midpoint(a: float, b: float) -> float:
    """The edge between neighbouring values a < b, with a <= edge < b.

    If b is +infinity the edge is the largest finite double (whatever a is); else if a is -infinity
    it is -infinity; else a / 2 + b / 2, or a where rounding puts that outside [a, b).
    """
    if b == np.inf:
        return float(np.finfo(np.float64).max)
    if a == -np.inf:
        return -np.inf
    middle = a / 2 + b / 2
    return middle if a <= middle < b else a


def _edges_between(distinct: Array, starts: Iterable[int]) -> Array:
    """One edge before each start; a start is the position of the first value of a bin."""
    return np.array([midpoint(float(distinct[i - 1]), float(distinct[i])) for i in starts])


def encode(values: ArrayLike, edges: Array) -> NDArray[np.int64]:
    """The number of edges strictly below each value; a missing value gets the code after the last.

    So codes 0 ... len(edges) are the ordered bins and len(edges) + 1 is missing.
    """
    values = np.asarray(values, dtype=np.float64)
    codes = np.searchsorted(edges, values, side="left").astype(np.int64)
    codes[np.isnan(values)] = len(edges) + 1
    return codes


# --------------------------------------------------------------------------------- the features


@dataclass(frozen=True)
class FeatureBins:
    """What the codes 0 ... n_bins - 1 of one feature mean.

    Codes below `n_ordered` are ordered bins; the others (the missing bin of an ordered feature,
    every bin of a categorical one, which has n_ordered = 0) have no neighbours.
    """

    n_bins: int
    n_ordered: int = 0
    missing: int | None = None

    @classmethod
    def numeric(cls, edges: Array) -> FeatureBins:
        return cls(len(edges) + 2, len(edges) + 1, len(edges) + 1)

    @classmethod
    def categorical(cls, n_categories: int) -> FeatureBins:
        """Categories 0 ... n - 1, then missing, then unseen."""
        return cls(n_categories + 2, 0, n_categories)


@dataclass(frozen=True)
class Statistics:
    """Sums over the training rows of each bin or cell, not normalised."""

    plus: Array
    minus: Array
    curvature: Array
    rows: NDArray[np.int64]

    def gathered(self, cells: NDArray[np.int64], n_cells: int) -> Statistics:
        """Bins added up into cells; a bin in cell -1 belongs to none."""
        inside = cells >= 0

        def add(a: NDArray[np.generic]) -> Array:
            return np.bincount(cells[inside], weights=a[inside], minlength=n_cells)

        rows = add(self.rows).astype(np.int64)
        return Statistics(add(self.plus), add(self.minus), add(self.curvature), rows)

    def smoothed(self, h: float, n_ordered: int) -> Statistics:
        def smooth(a: Array) -> Array:
            return smooth_ordered(a, h, n_ordered)

        return replace(
            self,
            plus=smooth(self.plus),
            minus=smooth(self.minus),
            curvature=smooth(self.curvature),
        )


def smooth_ordered(a: Array, h: float, n_ordered: int) -> Array:
    """a_b <- (1 - 2h) a_b + h (a_(b-1) + a_(b+1)) over the ordered bins.

    What would leave at either end stays there, so the sum is unchanged; other bins are untouched.
    """
    if h == 0 or n_ordered < 2:
        return a
    inner = a[:n_ordered]
    padded = np.concatenate([inner[:1], inner, inner[-1:]])
    out = a.copy()
    out[:n_ordered] = (1 - 2 * h) * inner + h * (padded[:-2] + padded[2:])
    return out


# ------------------------------------------------------------------------------- weak learners


def cell_cost(stats: Statistics, response: Response, l2: float) -> float:
    """How bad the cells are under a response: a sum over them, in the weights' own unit.

    real and exact: sum sqrt(W+ W-); sign: minus sum |W+ - W-|; newton: minus the sum of
    (W+ - W-)^2 / (curvature + l2).
    """
    slope = stats.plus - stats.minus
    if response == "newton":
        curvature = stats.curvature + l2
        gain = np.divide(slope**2, curvature, out=np.zeros_like(slope), where=curvature > 0)
        return -float(gain.sum())
    if response == "sign":
        return -float(np.abs(slope).sum())
    return float((np.sqrt(stats.plus) * np.sqrt(stats.minus)).sum())


def cell_score(stats: Statistics, response: Response, l2: float) -> float:
    """The same as the papers print it; `first_best` knows which direction is good."""
    cost = cell_cost(stats, response, l2)
    if response == "newton":
        return -cost
    share = cost / float(stats.plus.sum() + stats.minus.sum())
    return -share if response == "sign" else share


def first_best(scores: Sequence[float], response: Response, tie: float) -> int:
    """The first score within `tie`, relative, of the best.

    real and exact want the least sum_b sqrt(W+ W-), sign and newton the largest.
    """
    s = np.asarray(scores)
    return first_least(s if response in ("real", "exact") else -s, tie)


def first_least(costs: ArrayLike, tie: float) -> int:
    """The first cost within `tie`, relative, of the least."""
    c = np.asarray(costs)
    least = c.min()
    return int(np.flatnonzero(c <= least + tie * abs(least))[0])


@dataclass(frozen=True)
class Candidate:
    """One way to cut a feature: the cell of each bin (-1: the bin's value is 0) and its score."""

    cells: NDArray[np.int64]
    n_cells: int
    score: float


def histogram_candidates(
    stats: Statistics, bins: FeatureBins, response: Response, l2: float
) -> Iterator[Candidate]:
    """Every bin is a cell."""
    yield Candidate(np.arange(bins.n_bins), bins.n_bins, cell_score(stats, response, l2))


def stump_candidates(
    stats: Statistics, bins: FeatureBins, response: Response, l2: float
) -> Iterator[Candidate]:
    """Two cells; candidates in the order in which ties are decided.

    First of all no cut: every row on the left, which is all that a constant feature has.

    Ordered feature of B ordered bins: the cell on the left takes bins 0 ... b, b = 0 ... B - 2.
    Bins without rows go with their position.  Missing rows, if any, are tried on the left for every
    b, then on the right for every b and for b = B - 1 (missing against the rest); a missing bin
    without rows has the value 0.

    Categorical feature: the bins with rows (missing is one more category) are ordered by
    W+ / (W+ + W-), or by sum y w / sum curvature under newton, ties by bin number; the left cell
    takes the first 1, 2, ... of them, never all.  Bins without rows have the value 0.  A bin whose
    weights have all underflowed to 0 counts as 1/2, or as 0 under newton.
    """
    for cells in _stump_cuts(stats, bins, response):
        yield Candidate(cells, 2, cell_score(stats.gathered(cells, 2), response, l2))


def _stump_cuts(
    stats: Statistics, bins: FeatureBins, response: Response
) -> Iterator[NDArray[np.int64]]:
    if bins.n_ordered:
        missing = bins.missing
        has_missing = missing is not None and stats.rows[missing] > 0
        last = bins.n_ordered - 1
        sides = [(0, [last, *range(last)]), (1, range(last + 1))]
        for side, cuts in sides if has_missing else [(-1, sides[0][1])]:
            for b in cuts:
                cells = np.full(bins.n_bins, -1)
                cells[: bins.n_ordered] = np.arange(bins.n_ordered) > b
                if missing is not None:
                    cells[missing] = side
                yield cells
        return
    present = np.flatnonzero(stats.rows > 0)
    order = present[np.argsort(positive_share(stats, response)[present], kind="stable")]
    for size in [len(order), *range(1, len(order))]:
        cells = np.full(bins.n_bins, -1)
        cells[order[:size]] = 0
        cells[order[size:]] = 1
        yield cells


def positive_share(stats: Statistics, response: Response) -> Array:
    """How positive each bin or cell is: W+ / (W+ + W-), or under newton slope over curvature."""
    if response == "newton":
        over, under, empty = stats.plus - stats.minus, stats.curvature, 0.0
    else:
        over, under, empty = stats.plus, stats.plus + stats.minus, 0.5
    return np.divide(over, under, out=np.full(len(over), empty), where=under > 0)


CANDIDATES: dict[str, Callable[..., Iterator[Candidate]]] = {
    "histogram": histogram_candidates,
    "stump": stump_candidates,
}


# ----------------------------------------------------------------------------------------- trees


@dataclass(frozen=True)
class TreeSettings:
    """What bounds a tree, what is drawn for it, and which features have a direction.

    `min_child_weight` is what each side of a split holds at least: of the rows' weights
    s_i w(y_i F_i), or under newton of their curvatures, s_i times the loss's at gain 1 and margin
    v / sigma, so that the gain still cannot matter there.
    """

    max_leaves: int = 31
    max_depth: float = np.inf
    min_child_weight: float = 0.0
    max_features: float = 1.0
    subsample: float = 1.0
    seed: int = 0
    directions: Sequence[int] = ()

    @property
    def leaves_to_chance(self) -> bool:
        return self.max_features < 1 or self.subsample < 1


def draw_bits(seed: int, stream: int, n: int) -> int:
    """64 random bits by counter: SplitMix64's finaliser over seed, stream and number."""
    mask, stride = 2**64 - 1, 0x9E3779B97F4A7C15

    def mix(x: int) -> int:
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        return x ^ (x >> 31)

    return mix((mix(mix((seed + stride) & mask) ^ stream) + (n + 1) * stride) & mask)


@dataclass
class Tree:
    """Node 0 is the root, and the children of split k are ``left[k]`` and the node after it.

    ``side[k]`` says of each code of ``feature[k]`` whether it goes left (0), right (1) or, as the
    node had no rows of it, nowhere (-1); of a leaf the feature is -1.  ``rows[k]`` are the training
    rows that the node was grown from, and ``saving[k]`` is what its split took from the cost.
    """

    feature: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    side: list[NDArray[np.int64]] = field(default_factory=list)
    rows: list[NDArray[np.bool_]] = field(default_factory=list)
    saving: list[float] = field(default_factory=list)

    def add_leaf(self, rows: NDArray[np.bool_]) -> int:
        self.feature.append(-1)
        self.left.append(0)
        self.side.append(np.zeros(0, dtype=np.int64))
        self.rows.append(rows)
        self.saving.append(0.0)
        return len(self.feature) - 1

    @property
    def leaves(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.array(self.feature) < 0)

    def find_nodes(self, codes: Codes) -> NDArray[np.int64]:
        """Where each row ends: at a leaf, or at a split that says nothing of its code."""
        nodes = np.zeros(codes.shape[1], dtype=np.int64)
        for k, feature in enumerate(self.feature):  # parents come before their children
            if feature >= 0:
                side = self.side[k][codes[feature]]
                nodes = np.where((nodes == k) & (side >= 0), self.left[k] + side, nodes)
        return nodes

    def with_means(self, values: Array, weight: Array) -> Array:
        """The values with those of splits set: the mean of the leaves below, by their rows' weight.

        Half of each side where there is no weight at all.
        """
        values = values.copy()
        held = np.array([weight[rows].sum() for rows in self.rows])
        for k in reversed(range(len(values))):
            if self.feature[k] >= 0:
                a = self.left[k]
                share = held[a] / held[k] if held[k] > 0 else 0.5
                values[k] = share * values[a] + (1 - share) * values[a + 1]
        return values

    def in_directions(self, values: Array, weight: Array, directions: Sequence[int]) -> Array:
        """The values, means included, moved so that they rise or fall with the features that must.

        From the root down: the two sides of a split whose feature has a direction are kept apart by
        the middle between their means, which is first moved into what is allowed above.
        """
        values = self.with_means(values, weight)
        low, high = np.full(len(values), -np.inf), np.full(len(values), np.inf)
        for k, feature in enumerate(self.feature):
            values[k] = min(max(values[k], low[k]), high[k])
            if feature < 0:
                continue
            a, b = self.left[k], self.left[k] + 1
            low[[a, b]], high[[a, b]] = low[k], high[k]
            if directions[feature]:
                middle = min(max((values[a] + values[b]) / 2, low[k]), high[k])
                below, above = (a, b) if directions[feature] > 0 else (b, a)
                high[below] = low[above] = middle
        return self.with_means(values, weight)


def grow_tree(t: Training, w: Array, curvature: Array, round_: int) -> Tree:
    """The tree of the 1-based round: of all leaves and features the split that saves most is next.

    A split is a stump's cut, tried in its order, and what it saves is the leaf's `cell_cost` minus
    that of the sides.  It has to save more than `tie` times the latter, to leave each side
    `min_child_weight`, and where its feature has a direction the right side must not be less
    positive (more, for -1) than the left.  Among features that tie the lowest is taken, and among
    leaves that save the same the one made first.

    A round's key is draw_bits(seed, 0, round).  Rows, numbered among those of positive weight,
    count if their draw_bits(key, 0, row) is below subsample 2^64; the features that a node may
    split are the round(max_features d), at least one, of least draw_bits(key, 1 + node, feature).
    """
    s = t.tree
    key = draw_bits(s.seed, 0, round_)
    drawn = np.array([draw_bits(key, 0, i) < s.subsample * 2**64 for i in range(len(w))])
    tree = Tree()
    depth = {tree.add_leaf(drawn): 0}
    best: dict[int, tuple[float, int, NDArray[np.int64]]] = {}
    new = [0]
    while len(tree.leaves) < s.max_leaves:
        for k in new:
            split = _find_split(t, w, curvature, tree.rows[k], _draw_features(t, key, k))
            if split is not None and depth[k] < s.max_depth:
                best[k] = split
        if not best:
            break
        k = max(best, key=lambda node: (best[node][0], -node))
        tree.saving[k], tree.feature[k], tree.side[k] = best.pop(k)
        side = tree.side[k][t.codes[tree.feature[k]]]
        new = [tree.add_leaf(tree.rows[k] & (side == which)) for which in (0, 1)]
        tree.left[k] = new[0]
        depth |= dict.fromkeys(new, depth[k] + 1)
    return tree


def _draw_features(t: Training, key: int, node: int) -> list[int]:
    d = len(t.bins)
    wanted = max(1, int(np.floor(t.tree.max_features * d + 0.5)))
    order = sorted(range(d), key=lambda j: (draw_bits(key, 1 + node, j), j))
    return sorted(order[:wanted])


def _find_split(
    t: Training,
    w: Array,
    curvature: Array,
    rows: NDArray[np.bool_],
    features: Sequence[int],
) -> tuple[float, int, NDArray[np.int64]] | None:
    """What the best split of some rows saves, its feature, and the side of each code."""
    found: list[tuple[float, int, NDArray[np.int64]]] = []
    before = np.inf
    for j in features:
        bins = t.bins[j]
        stats = _bin_statistics(t.codes[j][rows], bins.n_bins, t.y[rows], w[rows], curvature[rows])
        cuts = list(_stump_cuts(stats, bins, t.response))
        sides = [stats.gathered(cut, 2) for cut in cuts]
        costs = [cell_cost(side, t.response, t.l2) for side in sides]
        before = costs[0]  # no cut
        for i, side in enumerate(sides[1:], 1):
            weight = (
                side.curvature * t.loss.gain if t.response == "newton" else side.plus + side.minus
            )
            share = positive_share(side, t.response)
            direction = t.tree.directions[j] if t.tree.directions else 0
            if min(weight) < t.tree.min_child_weight or direction * (share[1] - share[0]) < 0:
                costs[i] = np.inf
        i = first_least(costs, t.tie)
        found.append((costs[i], j, cuts[i]))
    cost, feature, cut = found[first_least([cost for cost, _, _ in found], t.tie)]
    return (before - cost, feature, cut) if before - cost > t.tie * abs(cost) else None


# ----------------------------------------------------------------------------------- responses


@dataclass(frozen=True)
class Training:
    """The rows of one fit, zero weights dropped, and its settings."""

    codes: Codes
    bins: Sequence[FeatureBins]
    y: Array
    weight: Array
    loss: Loss
    learner: Learner
    response: Response
    step: Step
    learning_rate: float
    prior: float | None
    smoothing: float
    smoothing_in_score: bool
    l2: float
    tie: float
    tree: TreeSettings
    total: float = field(init=False)  # S, the sum of the sample weights
    cap: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", float(self.weight.sum()))
        # An error rate of 0 counts as 1/(2S).  Weights that add up to less than two rows would
        # make that no restraint but nonsense, so S counts as at least 2 here.
        p = 1 - 1 / (2 * max(self.total, 2.0))
        object.__setattr__(self, "cap", float(self.loss.link(p)))

    def prior_share(self, n_cells_with_rows: int) -> float:
        """e, as a share of the total weight."""
        if self.prior is not None:
            return self.prior
        return 1 / (self.total * max(n_cells_with_rows, 1))


@dataclass(frozen=True)
class _Cut:
    """The chosen candidate and what its response needs.

    `codes` are the rows' of its feature; a tree is a feature more, whose codes are its nodes.
    """

    feature: int
    codes: Codes
    candidate: Candidate
    stats: Statistics  # of the cells, plain
    response_stats: Statistics  # of the cells, smoothed where that is asked for
    h: float
    n_ordered: int
    tree: Tree | None = None

    def row_share(self, cell: int) -> Array:
        """The share of each bin's rows that smoothing lends to a cell (histogram only)."""
        unit = np.zeros(self.candidate.n_cells)
        unit[cell] = 1.0
        return smooth_ordered(unit, self.h, self.n_ordered)  # the smoothing matrix is symmetric


def cell_values(t: Training, raw: Array, cut: _Cut) -> Array:
    """The value of each cell of the chosen feature, before the step."""
    stats = cut.response_stats
    plus, minus = stats.plus, stats.minus
    if t.response == "sign":
        return np.sign(plus - minus)
    if t.response == "newton":
        slope, curvature = plus - minus, stats.curvature + t.l2
        # A slope without curvature (it underflowed) asks for an infinite value: the cap.
        value = np.divide(slope, curvature, out=np.sign(slope) * t.cap, where=curvature > 0)
        return np.clip(value, -t.cap, t.cap)
    e = t.prior_share(int(np.count_nonzero(cut.stats.rows)))
    if t.response == "real":
        total = plus.sum() + minus.sum()
        return (np.log(plus / total + e) - np.log(minus / total + e)) / 2
    return _exact_values(t, raw, cut, e * t.total)


def _exact_values(t: Training, raw: Array, cut: _Cut, pseudo: float) -> Array:
    """Each cell's minimiser of its own risk, two pseudo-rows of weight `pseudo` at margin 0 added.

    For a loss that is not convex: the first stationary point on the way down from 0.  Smoothing
    acts as it does on class weights: a row counts (1 - 2h) in its own bin and h in each neighbour.
    A cell without any weight has the value 0.
    """
    cell_of_row = cut.candidate.cells[cut.codes]
    values = np.zeros(cut.candidate.n_cells)
    for b in range(cut.candidate.n_cells):
        share = cut.row_share(b)[cell_of_row] if cut.h else (cell_of_row == b).astype(float)
        rows = share > 0
        if not rows.any():
            continue
        y, f, s = t.y[rows], raw[rows], t.weight[rows] * share[rows]

        def downhill(z: float, y: Array = y, f: Array = f, s: Array = s) -> float:
            """Minus the derivative of the cell's risk at z."""
            real_rows = (s * y * t.loss.weight(y * (f + z))).sum()
            return float(real_rows + pseudo * (t.loss.weight(z) - t.loss.weight(-z)))

        direction = float(np.sign(downhill(0.0)))
        if direction:
            grid = doubling_grid(t.loss.gain / 16, t.cap)
            values[b] = direction * first_stationary(
                lambda a, d=direction, g=downhill: d * g(d * a), grid
            )
    return values


# --------------------------------------------------------------------------------------- steps


def doubling_grid(start: float, stop: float) -> list[float]:
    """start, 2 start, 4 start, ... below stop, then stop itself."""
    grid = []
    a = start
    while a < stop:
        grid.append(a)
        a *= 2
    return [*grid, stop]


def first_stationary(slope: Callable[[float], float], grid: Sequence[float]) -> float:
    """The root of `slope`, positive at 0, before the first grid point where it is not positive.

    Without such a point, the last grid point.  For a convex risk that is the minimiser or the end
    of the grid, whatever the grid's other points are.
    """
    before = 0.0
    for a in grid:
        if slope(a) <= 0:
            # Relative precision only: the root of a scaled problem is then the scaled root.
            return float(brentq(slope, before, a, xtol=1e-300, rtol=8.9e-16, maxiter=500))
        before = a
    return grid[-1]


def step_size(t: Training, slope: Callable[[float], float], largest: float) -> float:
    """What the table is multiplied by; `largest` is its largest absolute value."""
    r = t.learning_rate
    if t.step == "unit":
        return r
    limit = t.cap / largest
    if t.step == "guarded":
        return first_stationary(slope, doubling_grid(limit / 16, r))
    return r * first_stationary(slope, doubling_grid(limit / 16, limit))


# ------------------------------------------------------------------------------------ boosting


@dataclass(frozen=True)
class Round:
    """One weak learner.  `table` is before the step; `risk` is the training risk after it.

    A tree has the feature -1, and a table over its nodes.
    """

    feature: int
    cost: float
    step: float
    table: Array
    risk: float
    tree: Tree | None = None

    def added(self, codes: Codes) -> Array:
        """What the round adds to rows' raw predictions."""
        own = codes[self.feature] if self.tree is None else self.tree.find_nodes(codes)
        return self.step * self.table[own]


def fit(
    codes: Codes,
    bins: Sequence[FeatureBins],
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    loss: Loss,
    n_estimators: int = 100,
    learner: Learner = "histogram",
    selection: Selection = "greedy",
    response: Response = "real",
    step: Step = "guarded",
    learning_rate: float = 1.0,
    prior: float | None = None,
    smoothing: float = 0.0,
    smoothing_in_score: bool = True,
    l2: float = 0.0,
    tie: float = TIE,
    tree: TreeSettings | None = None,
) -> list[Round]:
    """Boost; `codes` is (features, rows), `y` is -1 or +1, weights are frequencies.

    Each round: the weights s_i w(y_i F_i), every feature's cell sums, the best feature (scores
    within `tie` relative of the best are ties: the lowest feature wins, and inside a stump the
    first candidate), its table by the response, the step, F += step * table.  It stops early when
    the weights' total is 0, when no feature can be cut, when the table is 0 in every cell that has
    rows, or when the risk does not fall along the table at step 0.

    With cyclic selection an estimator is a round for each feature in turn; a feature that does not
    help has a table and a step of 0, and it ends with a cycle in which none helps.

    Under `line_search`, newton and exact no raw prediction moves in one round, before the learning
    rate, by more than the link of 1 - 1/(2S): newton and exact values are clipped to it, and a line
    search ends at it over the table's largest absolute value.  `unit` and `guarded` steps of real
    and sign tables are not capped.

    A tree's leaves are its cells; B of the default prior is their number.  Their values are those
    of the rows it was grown from, except that `exact` looks at all rows that end there, and all
    rows tell the step.  A split's own value, for rows that end there, is a mean of leaves.  Where
    chance has a part, a tree that does not help is a table of 0, and boosting goes on.

    Smoothing is for the ordered bins of a histogram; stumps and trees ignore it.  The choice of the
    feature sees the smoothed weights unless `smoothing_in_score` is false: on LETTER that is
    better.
    """
    weight = np.ones(np.shape(codes)[1]) if sample_weight is None else np.asarray(sample_weight)
    keep = weight > 0
    t = Training(
        codes=np.asarray(codes)[:, keep],
        bins=bins,
        y=np.asarray(y, dtype=np.float64)[keep],
        weight=np.asarray(weight, dtype=np.float64)[keep],
        loss=loss,
        learner=learner,
        response=response,
        step=step,
        learning_rate=learning_rate,
        prior=prior,
        smoothing=smoothing if learner == "histogram" else 0.0,
        smoothing_in_score=smoothing_in_score,
        l2=l2,
        tie=tie,
        tree=tree or TreeSettings(),
    )
    raw = np.zeros(len(t.y))
    features = range(len(bins))
    whole = selection == "greedy" or learner == "tree"
    turns = [features] if whole else [range(j, j + 1) for j in features]
    rounds: list[Round] = []
    for e in range(n_estimators):
        estimator = []
        for candidates in turns:
            found = _boost_once(t, raw, candidates, e + 1)
            raw = raw + found.added(t.codes)
            estimator.append(replace(found, risk=training_risk(t, raw)))
        goes_on = learner == "tree" and t.tree.leaves_to_chance
        if not goes_on and not any(found.table.any() for found in estimator):
            break
        rounds += estimator
    return rounds


def training_risk(t: Training, raw: Array) -> float:
    return float((t.weight * t.loss.loss(t.y * raw)).sum() / t.total)


def _boost_once(t: Training, raw: Array, candidates: Sequence[int], round_: int) -> Round:
    """The next round; where it does not help, its table and its step are 0."""
    w = t.weight * t.loss.weight(t.y * raw)
    idle = Round(candidates[0], np.nan, 0.0, np.zeros(t.bins[candidates[0]].n_bins), np.nan)
    if not w.sum() > 0:
        return idle
    curvature = (
        t.weight * t.loss.newton_curvature(t.y, raw) if t.response == "newton" else np.zeros(len(w))
    )
    if t.learner == "tree":
        cut = _plant(t, w, curvature, round_)
    else:
        cut = _choose(t, w, curvature, candidates)
    values = cell_values(t, raw, cut)
    cells = cut.candidate.cells
    table = np.where(cells >= 0, values[cells], 0.0)
    if cut.tree is not None:
        table = cut.tree.with_means(table, t.weight)
        if t.tree.directions:
            table = cut.tree.in_directions(table, t.weight, t.tree.directions)
    g = table[cut.codes]

    def slope(a: float) -> float:
        """Minus the derivative of the risk along the table."""
        return float((t.weight * t.y * g * t.loss.weight(t.y * (raw + a * g))).sum())

    if not g.any() or not slope(0.0) > 0:
        if cut.tree is not None:
            cut.tree.saving = [0.0] * len(cut.tree.saving)
        return replace(idle, feature=cut.feature, table=0.0 * table, tree=cut.tree)
    a = step_size(t, slope, float(np.abs(table).max()))
    return Round(cut.feature, cut.candidate.score, a, table, np.nan, cut.tree)


def _choose(t: Training, w: Array, curvature: Array, features: Sequence[int]) -> _Cut:
    chosen: list[tuple[int, Candidate, Statistics]] = []
    for j in features:
        b = t.bins[j]
        plain = _bin_statistics(t.codes[j], b.n_bins, t.y, w, curvature)
        seen = plain.smoothed(t.smoothing, b.n_ordered) if t.smoothing_in_score else plain
        cuts = list(CANDIDATES[t.learner](seen, b, t.response, t.l2))
        best = cuts[first_best([c.score for c in cuts], t.response, t.tie)]
        chosen.append((j, best, plain))
    winner = first_best([c.score for _, c, _ in chosen], t.response, t.tie)
    feature, candidate, plain = chosen[winner]
    n_ordered = t.bins[feature].n_ordered
    return _Cut(
        feature,
        t.codes[feature],
        candidate,
        plain.gathered(candidate.cells, candidate.n_cells),
        plain.smoothed(t.smoothing, n_ordered).gathered(candidate.cells, candidate.n_cells),
        t.smoothing,
        n_ordered,
    )


def _plant(t: Training, w: Array, curvature: Array, round_: int) -> _Cut:
    """A tree, whose nodes are bins and whose leaves are cells."""
    tree = grow_tree(t, w, curvature, round_)
    leaves, drawn = tree.leaves, tree.rows[0]
    nodes = tree.find_nodes(t.codes)
    cells = np.full(len(tree.feature), -1)
    cells[leaves] = np.arange(len(leaves))
    of_nodes = _bin_statistics(nodes[drawn], len(cells), t.y[drawn], w[drawn], curvature[drawn])
    stats = of_nodes.gathered(cells, len(leaves))
    candidate = Candidate(cells, len(leaves), cell_score(stats, t.response, t.l2))
    return _Cut(-1, nodes, candidate, stats, stats, 0.0, 0, tree)


def _bin_statistics(codes: Codes, n_bins: int, y: Array, w: Array, curvature: Array) -> Statistics:
    return Statistics(
        np.bincount(codes, weights=np.where(y > 0, w, 0.0), minlength=n_bins),
        np.bincount(codes, weights=np.where(y > 0, 0.0, w), minlength=n_bins),
        np.bincount(codes, weights=curvature, minlength=n_bins),
        np.bincount(codes, minlength=n_bins),
    )


def staged_predict(rounds: Sequence[Round], codes: Codes) -> Iterator[Array]:
    """The raw prediction after each round."""
    raw = np.zeros(np.shape(codes)[1])
    for one in rounds:
        raw = raw + one.added(codes)
        yield raw


def predict(rounds: Sequence[Round], codes: Codes) -> Array:
    raw = np.zeros(np.shape(codes)[1])
    for raw in staged_predict(rounds, codes):  # noqa: B007 - the last one is wanted
        pass
    return raw
