"""The boosting loop of one raw prediction, which joins the stages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from helpers.reference import race
from helpers.reference.lines import add_lines, fit_lines, largest_values
from helpers.reference.order import merge_violators
from helpers.reference.responses import cell_values
from helpers.reference.rounds import Round
from helpers.reference.search import choose, plant
from helpers.reference.settings import TIE, Training, TreeSettings
from helpers.reference.steps import step_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from helpers.reference.bins import Array, Codes, FeatureBins
    from helpers.reference.learners import Response
    from helpers.reference.lines import Line
    from helpers.reference.losses import Loss
    from helpers.reference.responses import Weigh
    from helpers.reference.search import Cut
    from helpers.reference.settings import Learner, Selection, Step
    from helpers.reference.trees import Tree


def fit(
    codes: Codes,
    bins: Sequence[FeatureBins],
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    loss: Loss,
    n_estimators: int = 100,
    learner: Learner = "table",
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
    max_cells: int | None = None,
    min_saving: float = 0.0,
    screening: int | None = None,
) -> list[Round]:
    """Boost; `codes` is (features, rows), `y` is -1 or +1, weights are frequencies.

    Each round: the weights s_i w(y_i F_i), every feature's cell sums, the best feature (scores
    within `tie` relative of the best are ties: the lowest feature wins, and inside a stump the
    first candidate), its table by the response, the step, F += step * table.  It stops early when
    the weights' total is 0 or no feature can be cut.  It also stops when the table is 0 in every
    cell that has rows, or when the risk does not fall along the table at step 0.

    With unbiased selection the best feature is the one whose classes differ least likely by chance;
    see `contrast`.

    With screening, trees are grown from some of the rows, and features race for other learners, see
    `race.run`; if the winner does not help, all features are compared by all rows.

    With cyclic selection an estimator is a round for each feature in turn; a feature that does not
    help has a table and a step of 0, and it ends with a cycle in which none helps.

    Under newton and exact no raw prediction moves in one round, before the step, by more than the
    link of 1 - 1/(2S): values are clipped to it.  A line search that finds no stationary point, as
    no row moves the wrong way, ends at it over the table's largest absolute value.  `unit` and
    `guarded` steps of real and sign tables are not capped.

    A tree's leaves are its cells; B of the default prior is their number.  Their values are those
    of the rows it was grown from, except that `exact` uses all rows that end there, and all
    rows set the step.  Leaves may have lines, see `fit_lines`.  A split's own value, for rows that
    end there, is a mean of leaves.  Where rows or features are drawn, a useless tree is a table
    of 0, and boosting goes on.

    Where a feature has a direction (`tree.directions`, of any learner), cuts in the wrong order are
    not tried, and the cells become pools of adjacent violators: by their shares where features are
    compared, and then, where the prior or l2 leaves some in the wrong order, by their values.

    Smoothing is for the ordered bins of a look-up table; stumps and trees ignore it.  Selection of
    the feature uses the smoothed weights unless `smoothing_in_score` is false: on LETTER that is
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
        smoothing=smoothing if learner == "table" else 0.0,
        smoothing_in_score=smoothing_in_score,
        l2=l2,
        tie=tie,
        tree=tree or TreeSettings(),
        selection=selection,
        max_cells=max_cells if learner == "table" else None,
        min_saving=min_saving,
        screening=screening if selection == "unbiased" and response != "sign" else None,
    )
    raw = np.zeros(len(t.y))
    features = range(len(bins))
    whole = selection != "cyclic" or learner == "tree"
    turns = [features] if whole else [range(j, j + 1) for j in features]
    rounds: list[Round] = []
    for e in range(n_estimators):
        estimator = []
        for candidates in turns:
            round_ = _race_and_boost(t, raw, candidates, e + 1)
            raw = raw + round_.added(t.codes)
            estimator.append(replace(round_, risk=training_risk(t, raw)))
        goes_on = learner == "tree" and (t.tree.leaves_to_chance or bool(t.screening))
        if not goes_on and not any(round_.table.any() for round_ in estimator):
            break
        rounds += estimator
    return rounds


def training_risk(t: Training, raw: Array) -> float:
    return float((t.weight * t.loss.loss(t.y * raw)).sum() / t.total)


def find_table(
    t: Training, w: Array, curvature: Array, weigh: Weigh, candidates: Sequence[int], round_: int,
    grown: Tree | None = None,
) -> tuple[Cut, Array]:  # fmt: skip
    """Return the feature or the tree of a round, and its table before the step.

    If the feature that is least likely by chance does not help, the next one is tried.
    """
    if t.learner == "tree":
        cut = plant(t, w, curvature, round_, grown)
        return cut, _find_values(t, w, curvature, weigh, cut)[1]
    first, tried = None, set()
    while True:
        cut = choose(t, w, curvature, candidates, tried)
        values = _find_values(t, w, curvature, weigh, cut)
        if helps(t, w, *values):
            return values
        first = first or values
        tried.add(cut.feature)
        if not cut.contrast > 0:
            return first


def helps(t: Training, w: Array, cut: Cut, table: Array) -> bool:
    """Return whether the risk falls along a table, by more than chance."""
    return bool((w * t.y * table[cut.codes]).sum() > 0) and not cut.candidate.within_chance


def _find_values(
    t: Training, w: Array, curvature: Array, weigh: Weigh, cut: Cut
) -> tuple[Cut, Array]:
    """Return the cells, put in order, and their table."""
    values = cell_values(t, weigh, cut)
    if t.learner != "tree" and t.direction(cut.feature):
        cut, values = _put_in_order(t, w, curvature, weigh, cut)
    cells = cut.candidate.cells
    table = np.where(cells >= 0, values[cells], 0.0)
    if cut.tree is not None:
        table = cut.tree.with_means(table, t.weight)
        if t.tree.directions:
            table = cut.tree.in_directions(table, t.weight, t.tree.directions)
    return cut, table


def _put_in_order(
    t: Training, w: Array, curvature: Array, weigh: Weigh, cut: Cut
) -> tuple[Cut, Array]:
    """Merge cells until their values are in order, too; return the cells and the values."""

    def values_of(cells: NDArray[np.int64]) -> Array:
        return cell_values(t, weigh, cut.with_cells(t, w, curvature, cells))

    direction = t.direction(cut.feature)
    cells = merge_violators(cut.candidate.cells, cut.n_ordered, direction, values_of)
    return cut.with_cells(t, w, curvature, cells), values_of(cells)


def _race_and_boost(t: Training, raw: Array, candidates: Sequence[int], round_: int) -> Round:
    """Return the next round, on the winners of a race where there is one."""
    if t.screening and t.learner != "tree":
        w, curvature = _weigh(t, raw)
        left = race.run(t, w, curvature, candidates, round_) if w.sum() > 0 else candidates
        boosted = _boost_once(t, raw, left, round_)
        if boosted.table.any() or len(left) == len(candidates):
            return boosted
    return _boost_once(t, raw, candidates, round_)


def _weigh(t: Training, raw: Array) -> tuple[Array, Array]:
    """Return the weights of the rows, and their curvatures if the response uses them."""
    w = t.weight * t.loss.weight(t.y * raw)
    if t.response != "newton":
        return w, np.zeros(len(w))
    return w, t.weight * t.loss.newton_curvature(t.y, raw)


def _boost_once(t: Training, raw: Array, candidates: Sequence[int], round_: int) -> Round:
    """Return the next round; where it does not help, its table and its step are 0."""
    w, curvature = _weigh(t, raw)
    idle = Round(candidates[0], np.nan, 0.0, np.zeros(t.bins[candidates[0]].n_bins), np.nan)
    if not w.sum() > 0:
        return idle

    def weigh(rows: Array, z: float) -> Array:
        return t.loss.weight(t.y[rows] * (raw[rows] + z))

    cut, table = find_table(t, w, curvature, weigh, candidates, round_)
    g = table[cut.codes]
    lines: list[Line] = []
    if cut.tree is not None and t.tree.linear_leaves:
        lines = fit_lines(t, w, curvature, cut.tree, table)
        g = g + add_lines(cut.tree, lines, t.codes, t.bins)

    def slope(a: float) -> float:
        """Return minus the derivative of the risk along the table; 0 if rounding hides it.

        The engine's terms are whole numbers of a unit, 2^-49 of what their sum may be. Where the
        weight rises with the margin, as savage's does from below, the unit is far larger than the
        terms.
        """
        u = t.y * (raw + a * g)
        sum_ = float((t.weight * t.y * g * t.loss.weight(u)).sum())
        least = u.min()
        most = t.loss.weight(np.linspace(least, max(least, 8.0 * t.loss.gain), 257)).max()
        return sum_ if abs(sum_) > 2.0**-49 * most * np.abs(g).max() * t.weight.sum() else 0.0

    if not g.any() or not slope(0.0) > 0 or cut.candidate.within_chance:
        if cut.tree is not None:
            cut.tree.saving = [0.0] * len(cut.tree.saving)
        return replace(idle, feature=cut.feature, table=0.0 * table, tree=cut.tree)
    most = np.abs(table).max()
    if cut.tree is not None:
        most = max([most, *largest_values(t, cut.tree, table, lines)])
    a = step_size(t, slope, float(most))
    return Round(cut.feature, cut.candidate.score, a, table, np.nan, cut.tree, lines, t.bins)
