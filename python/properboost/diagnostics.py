"""Diagnostics of a data set: whether more rows would help."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from properboost import _core
from properboost.cached import cached_property
from properboost.data.entries import find_entries
from properboost.data.frames import open_table
from properboost.data.labels import read_rows
from properboost.data.sorted_rows import Rows
from properboost.engine.options import find_coupling, gain_is_free
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.properboost_parameters import check_parameters
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.losses.registry import get_loss
from properboost.model_selection.families import check_search
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.model_selection.search_space import bound_gains
from properboost.parameters import checks
from properboost.parameters.declare import declared
from properboost.parameters.kinds import LossName, RandomState, Scoring, Selection
from properboost.parameters.rows import read_binning
from properboost.parameters.words import advise
from properboost.plots.curves import plot_gain_curve
from properboost.scoring import HeldOutRows, Score, find_score, name_score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Change", "GainCurve", "gain_curve"]


def __dir__() -> list[str]:
    return __all__


CONFIDENCE = 0.9
"""The confidence of all intervals."""

N_SIZES = 6
"""The most sizes that "auto" tries; each is half of the next."""

FEWEST_ROWS = 10
"""The fewest rows that "auto" tries."""

GAIN_RANGE, GAINS_PER_DOUBLING = 256.0, 2
"""The largest gain of "auto" as a multiple of the smallest, and the gains per doubling."""

NOT_TAKEN = (
    "calibration", "early_stopping", "gain", "interactions", "outer_bags", "warm_start",
)  # fmt: skip
"""Parameters of the classifier that this search sets, or that candidates do not have."""

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


class Change(NamedTuple):
    """A mean difference of scores, and the ends of its 90% confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class GainCurve:
    """Cross-validated gain and score against the number of training rows.

    The first axis of an array is the size, the second the repeat.

    Attributes
    ----------
    sizes : ndarray of shape (n_sizes,)
        The rows that every model of a size was trained on, in rising order.
    gains : ndarray of shape (n_sizes, n_repeats)
        The best gain of each repeat: of the largest mean score over its splits.
    scores : ndarray of shape (n_sizes, n_repeats)
        The mean scores of these gains.
    grid : ndarray of shape (n_gains,)
        The gains tried, in rising order.
    curves : ndarray of shape (n_sizes, n_repeats, n_gains, n_splits)
        The score of each gain on the held-out rows of each split.
    constant_scores : ndarray of shape (n_repeats, n_splits)
        The score, after the largest size, of predicting the classes' shares for every row.
    loss : str
        The name of the loss.
    n_estimators : int
        The number of rounds or cycles, the same for every model.
    scoring : str
        The name of the score; more is better.
    tolerance : float
        The least change of the score that counts, as a share of the score at the largest size.
    """

    sizes: NDArray[np.int64]
    gains: NDArray[np.float64]
    scores: NDArray[np.float64]
    grid: NDArray[np.float64]
    curves: NDArray[np.float64]
    constant_scores: NDArray[np.float64]
    loss: str
    n_estimators: int
    scoring: str
    tolerance: float

    @cached_property
    def best_gains(self) -> NDArray[np.float64]:
        """The best gain of each size, by the mean over all repeats and splits."""
        return self.grid[self._best]

    @cached_property
    def best_scores(self) -> NDArray[np.float64]:
        """The mean score of each size with that gain."""
        return self._means[np.arange(len(self.sizes)), self._best]

    @cached_property
    def as_good(self) -> NDArray[np.bool_]:
        """Whether each gain is not worse than the best beyond doubt, for each size.

        An array of shape (n_sizes, n_gains).  A gain is worse beyond doubt if the interval of its
        difference from the best does not reach 0.
        """
        good = np.zeros(self._means.shape, dtype=np.bool_)
        for size, (best, curves) in enumerate(zip(self._best, self.curves, strict=True)):
            for gain in range(len(self.grid)):
                change = self._interval(curves[:, best] - curves[:, gain])
                good[size, gain] = gain == best or change.low <= 0.0
        return good

    @cached_property
    def change(self) -> Change | None:
        """The gain in score from the size nearest to half of the largest to the largest.

        None if no other size has between a quarter and three quarters of its rows.
        """
        if self._earlier is None:
            return None
        return self._interval(self._chosen(-1) - self._chosen(self._earlier))

    @cached_property
    def advantage(self) -> Change:
        """The gain in score of the largest size over the constant prediction."""
        differences = self._chosen(-1) - self.constant_scores
        n, folds = differences.size, differences.shape[1]
        # Nadeau and Bengio: the test and training rows of a split are as 1 to folds - 1.
        variance = float(differences.var(ddof=1)) * (1.0 / n + 1.0 / (folds - 1))
        return _make_change(float(differences.mean()), variance, n - 1)

    @property
    def answer(self) -> Literal["yes", "no", "unknown"]:
        """Whether more rows would help.

        "yes": the last doubling of the rows gained more than `tolerance`, and above 0 beyond doubt.
        "no": it gained less than `tolerance`, beyond doubt.  "unknown": neither, or even the
        largest size is not better than a constant prediction beyond doubt.
        """
        if self.change is None or not self.advantage.low > 0.0:
            return "unknown"
        if self.change.low > 0.0 and self.change.mean > self._counts:
            return "yes"
        return "no" if self.change.high < self._counts else "unknown"

    @property
    def reading(self) -> str:
        """The reading of the curve, in words."""
        answer = {"yes": "Probably yes.", "no": "Probably not.", "unknown": "Unknown."}
        lines = [f"Would more rows help?  {answer[self.answer]}"]
        lines += [self._read_score(), self._read_gain()]
        if self.answer == "unknown":
            lines.append(self._read_doubt())
        lines.append(
            f"This is about rows like these, and about {self.n_estimators} estimators with "
            f"{self.loss}: other features or another model may help where rows do not."
        )
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw gain and score against the number of training rows.

        Parameters
        ----------
        ax : matplotlib axes, optional
            The axes to draw on.

        Returns
        -------
        matplotlib axes
            The axes of the gain; the score has the axis on the right.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        return plot_gain_curve(self, ax)

    # -- numbers ----------------------------------------------------------------------------------

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        means: NDArray[np.float64] = self.curves.mean(axis=(1, 3))
        return means

    @cached_property
    def _best(self) -> NDArray[np.intp]:
        return _find_best(self._means)

    @property
    def _counts(self) -> float:
        """The least change of the score that counts."""
        return self.tolerance * abs(float(self.best_scores[-1]))

    @cached_property
    def _earlier(self) -> int | None:
        """The position of the size to compare with the largest."""
        shares = self.sizes[:-1] / self.sizes[-1]
        near = np.flatnonzero((shares >= 0.25) & (shares <= 0.75))
        if len(near) == 0:
            return None
        return int(near[np.abs(np.log(2.0 * shares[near])).argmin()])

    def _chosen(self, size: int) -> NDArray[np.float64]:
        """Return the scores of a size with its best gain, (n_repeats, n_splits)."""
        scores: NDArray[np.float64] = self.curves[size, :, self._best[size]]
        return scores

    def _interval(self, differences: NDArray[np.float64]) -> Change:
        """Return the mean difference of two models that were scored on the same rows.

        Repeats share all rows, so more repeats average out only the differences between them.  The
        splits of one repeat share no test rows, so their spread measures the error of one repeat.
        """
        repeats, folds = differences.shape
        within = float(differences.var(axis=1, ddof=1).mean()) / folds
        between = float(differences.mean(axis=1).var(ddof=1)) if repeats > 1 else 0.0
        variance = max(within - between, 0.0) + between / repeats
        return _make_change(float(differences.mean()), variance, repeats * (folds - 1))

    # -- words ------------------------------------------------------------------------------------

    def _read_score(self) -> str:
        last = f"{self.sizes[-1]:,} training rows"
        if self._earlier is None or self.change is None:
            return f"Score: only {last} were tried; a size of about half of them is needed as well."
        mean, low, high = (f"{end:.2g}" for end in self.change)
        counts = f"{self._counts:.2g} ({self.tolerance:g} of the score) count"
        return (
            f"Score: from {self.sizes[self._earlier]:,} to {last}, {self.scoring} goes from "
            f"{self.best_scores[self._earlier]:.4f} to {self.best_scores[-1]:.4f}, better by "
            f"{mean} (between {low} and {high}, {CONFIDENCE:.0%} confidence); {counts}."
        )

    def _read_gain(self) -> str:
        words = [f"Gain: {self._describe_gain(-1)} at {self.sizes[-1]:,} training rows"]
        if len(self.sizes) > 1:
            words[0] += f", after {self._describe_gain(0)} at {self.sizes[0]:,}"
        if self._earlier is not None:
            words.append(self._describe_fall(self._earlier))
        if len(self.grid) > 1:
            words.append(self._describe_place())
        return ".  ".join(words) + "."

    def _describe_gain(self, size: int) -> str:
        good = self.grid[self.as_good[size]]
        span = f" ({good[0]:.3g} to {good[-1]:.3g} are as good)" if len(good) > 1 else ""
        return f"{self.best_gains[size]:.3g}{span}"

    def _describe_place(self) -> str:
        """Describe the place of the best gain among those tried."""
        if self._best[-1] == len(self.grid) - 1:
            return "The best is the largest tried: these rows support hardly any model"
        if self._best[-1] == 0:
            return "The best is the smallest tried: these rows need no regularisation"
        loss = float(self.best_scores[-1] - self._means[-1, 0])
        return f"With the smallest tried, {self.grid[0]:.3g}, the score is worse by {loss:.2g}"

    def _describe_fall(self, earlier: int) -> str:
        """Describe the change of the gain over the last doubling, BoostLR's sign of scarcity."""
        n = self.gains.shape[1]
        fell = int(np.sum(self.gains[-1] < self.gains[earlier]))
        rose = int(np.sum(self.gains[-1] > self.gains[earlier]))
        words = f"From {self.sizes[earlier]:,} rows on it fell in {fell} of {n} repeats"
        words += f" and rose in {rose}" if rose else ""
        if fell == n and self.advantage.low > 0.0:
            words += ", as it does while rows are scarce"
        elif fell == 0:
            words += ", as it does where rows are plenty or the features are uninformative"
        return words

    def _read_doubt(self) -> str:
        if not self.advantage.low > 0.0:
            return (
                f"Doubt: {self.scoring} is not clearly better than that of a constant prediction, "
                f"{self.constant_scores.mean():.4f}: either the rows are too few or the features "
                "are uninformative, and this curve cannot separate the two."
            )
        if self.change is None:
            return "Doubt: give a size that is about half of the largest."
        return (
            "Doubt: the interval contains both changes that count and changes too small to count."
        )


def gain_curve(
    X: Any,
    y: ArrayLike,
    *,
    sizes: Literal["auto"] | Sequence[float] = "auto",
    n_repeats: int = 5,
    loss: LossName | MarginLoss = "glog",
    gains: Literal["auto"] | Sequence[float] = "auto",
    selection: Selection = "cyclic",
    n_estimators: int = 50,
    cv: int = 5,
    scoring: Scoring = "neg_log_loss",
    tolerance: float = 0.01,
    n_jobs: int | None = None,
    random_state: RandomState = None,
    **parameters: Any,
) -> GainCurve:
    """Find how the best gain, and its score, depend on the number of training rows.

    The fewer the rows, the more regularisation a model needs.  With a fixed number of estimators,
    the gain that cross-validation finds therefore falls as rows are added, and a large gain means
    that rows are scarce (BoostLR, section 7.1 and Figure 10 [1]_).  Whether more would help is
    judged by the change of the score over the last doubling of the rows; the gain is reported too.

    Parameters
    ----------
    X : array or table of shape (n_rows, n_features)
        The rows.
    y : array-like of shape (n_rows,)
        Their labels: integers, booleans or strings, at least two rows of each of two classes.
    sizes : "auto" or list of int and float, default="auto"
        Numbers of training rows: integers are rows, floats shares, above 0 and up to 1.0, of the
        training rows of a split.  "auto" is all of these, and
        halves of them, up to five times, of at least 10 rows and 2 a class.
    n_repeats : int, default=5
        The number of repeats with other rows and other folds.
    loss : str or loss object, default="glog"
        The loss; an object must have gain 1.
    gains : "auto" or list of float, default="auto"
        Gains to choose from, the same at all sizes.  "auto" tries two for every doubling, from the
        smallest that regularises, 1 / (2 mu(1)) (BoostLR, eq. 30), to 256 times as much, or, for a
        smallest size of fewer than 1,000 rows, 256 sqrt(1000 / rows) times as much.
    selection : {"cyclic", "greedy"}, default="cyclic"
        As in `ProperBoostClassifier`.  The paper's is greedy.
    n_estimators : int, default=50
        Cycles; with greedy selection, rounds.  The number is the same everywhere, because fewer
        estimators and a larger gain have much the same effect.
    cv : int, default=5
        Stratified folds, shuffled anew in each repeat.
    scoring : str, callable or None, default="neg_log_loss"
        As in `ProperBoostClassifierCV`.
    tolerance : float, default=0.01
        The change of the score that counts, as a share of the score at the largest size.
    n_jobs : int or None, default=None
        Threads, as in `ProperBoostClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of the drawn rows and of the folds.  None is the seed 0.
    **parameters
        Other parameters of `ProperBoostClassifier`, nested names included, except those of pairs,
        bags, calibration and the ways to fit.  Their defaults are those of a
        `ProperBoostClassifierCV` with ``effort=None``.

    Returns
    -------
    GainCurve
        The curves, with the answer in a word (``answer``) and as text (``reading``), and a picture
        (``plot()``).

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described; the message names it.

    Notes
    -----
    *Rows* are drawn without replacement from those each split trains on, with the classes' shares
    and at least one of each class.  Those of a smaller size are among those of a larger one, and
    all sizes are scored on the same rows, all that the split holds out.  So sizes are compared row
    by row, which separates them better than other rows for each size would.

    *Intervals* are of 90% confidence.  The folds of one repeat share no test rows, so their spread
    measures the error of one repeat.  Only the part of this variance that differs from repeat to
    repeat shrinks with their number, because all repeats share the rows.  For the comparison with a
    constant prediction, where the test rows matter more, the variance of J differences is
    multiplied by 1/J + (test rows)/(training rows) (Nadeau and Bengio [2]_).  No such interval is
    exact.

    Do not use it for *dependent rows* (groups, time series): its intervals would be too short.

    *Bins* are cut, as in `ProperBoostClassifierCV`, from all rows and without their labels, but
    their number is limited by `rows_per_bin` for a table of the size's rows.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
       probability estimates. Journal of Machine Learning Research 16.
    .. [2] Nadeau and Bengio (2003). Inference for the generalization error. Machine Learning 52.

    Examples
    --------
    >>> from properboost.datasets import make_two_gaussians
    >>> from properboost.diagnostics import gain_curve
    >>> X, y = make_two_gaussians(400, random_state=0)
    >>> curve = gain_curve(X, y, sizes=[20, 1.0], n_repeats=2)
    >>> curve.sizes, bool(curve.best_gains[0] > curve.best_gains[1])
    (array([ 20, 320]), True)
    """
    checks.integer("n_repeats", n_repeats, 1)
    checks.choice("selection", selection, _core.selection_names())
    checks.integer("n_estimators", n_estimators, 1)
    checks.integer("cv", cv, 2)
    checks.non_negative("tolerance", tolerance)
    bound = get_loss(loss)
    settings = {"loss": loss, "selection": selection, "n_estimators": n_estimators, **parameters}
    search = _make_search(settings, bound, scoring=scoring, n_jobs=n_jobs)
    table = open_table(search, X, reset=True)
    rows = read_rows(y, table.n_rows, None, search.class_weight, search.normalize_weights)
    counts = np.bincount(rows.codes)
    if counts.min() < 2:
        raise ValueError(
            f"y must have at least two rows of each class; got {counts.tolist()} rows of the "
            f"classes {rows.classes.tolist()}"
        )
    score = find_score(scoring, rows.classes, table.source)
    random = np.random.RandomState(checks.seed(random_state))
    search.set_params(random_state=int(random.randint(2**31)))
    repeats = [_split(cv, rows.codes, random) for _ in range(n_repeats)]
    most = min(len(train) for splits in repeats for train, _ in splits)
    n_rows = _read_sizes(sizes, most, len(rows.classes))
    grid = _read_gains(gains, bound, n_rows[0])
    search.set_params(space={**(search.space or {}), "gain": grid.tolist()})
    shape = (len(n_rows), n_repeats, len(grid), cv)
    curves, constant = np.empty(shape), np.empty((n_repeats, cv))
    labels = find_entries(rows.classes, rows.codes)
    for k, splits in enumerate(repeats):
        order = random.permutation(len(labels))
        for size, n in enumerate(n_rows):
            drawn = [(_draw(train, rows.codes, order, n), test) for train, test in splits]
            curves[size, k] = _score_gains(search, X, labels, drawn, n)
        constant[k] = [_score_constant(score, bound, rows, *split) for split in drawn]
    means = curves.mean(axis=3)
    best = _find_best(means)
    return GainCurve(
        sizes=np.array(n_rows),
        gains=grid[best],
        scores=np.take_along_axis(means, best[..., None], axis=2)[..., 0],
        grid=grid,
        curves=curves,
        constant_scores=constant,
        loss=bound.name,
        n_estimators=n_estimators,
        scoring=name_score(scoring),
        tolerance=float(tolerance),
    )


def _make_change(mean: float, variance: float, freedom: int) -> Change:
    half = float(student.ppf(0.5 + CONFIDENCE / 2.0, freedom)) * variance**0.5
    return Change(mean, mean - half, mean + half)


# -- arguments ------------------------------------------------------------------------------------


def _make_search(
    settings: dict[str, Any], loss: MarginLoss, **of_search: Any
) -> ProperBoostClassifierCV:
    """Return the search of a classifier's settings, without its gains and splits."""
    known = {*declared(ProperBoostClassifier)}.difference(NOT_TAKEN)
    for name in settings:
        if name.partition("__")[0] not in known:
            advice = advise(name, declared(ProperBoostClassifier))
            raise TypeError(
                f"gain_curve() got an unexpected parameter {name}: "
                + (advice or f"it accepts {', '.join(sorted(known))}")
            )
    model = ProperBoostClassifier().set_params(**settings)
    check_parameters(model)
    if gain_is_free(model.response, model.step, model.l2):
        raise ValueError(
            f"with response={model.response!r}, step={model.step!r} and l2={model.l2!r} the "
            "gain cannot matter, so that there is no best one"
        )
    coupling = find_coupling(model.multiclass, loss, model.step, model.response)
    of_both = declared(ProperBoostClassifierCV)
    flat = {name: value for name, value in settings.items() if name in of_both}
    space = {
        name: [value] if isinstance(value, list) else value  # a list is one value here
        for name, value in {**settings, "multiclass": coupling}.items()
        if name not in flat
    }
    search = ProperBoostClassifierCV(
        space, effort=None, calibrate=False, refit=False, **of_search, **flat
    )
    settled = check_search(search)
    search.rows_per_bin = read_binning(search, settled.rows_per_bin).rows_per_bin
    return search


def _split(folds: int, codes: NDArray[Any], random: np.random.RandomState) -> list[Split]:
    """Return the training and test rows of each split of one repeat."""
    splitter = StratifiedKFold(folds, shuffle=True, random_state=random.randint(2**31))
    return list(splitter.split(np.zeros((len(codes), 1)), codes))


def _read_sizes(sizes: Any, most: int, n_classes: int) -> list[int]:
    """Return the numbers of training rows, in rising order."""

    def read(name: str, size: object) -> int:
        if isinstance(size, numbers.Integral):
            return checks.integer(name, size, n_classes, most)
        n = int(checks.between(name, size, 0.0, 1.0) * most)
        if n < n_classes:
            raise ValueError(
                f"{name} must leave a row for each of {n_classes} classes; got {size!r} of the "
                f"{most} rows that a split trains on"
            )
        return n

    rows = checks.auto_or_list("sizes", sizes, read)
    if rows is None:
        halves = [most // 2**k for k in range(1, N_SIZES)]
        rows = [most, *(n for n in halves if n >= max(FEWEST_ROWS, 2 * n_classes))]
    return sorted(rows)


def _read_gains(candidates: Any, loss: MarginLoss, fewest: int) -> NDArray[np.float64]:
    """Return the gains to try, in rising order."""
    gains = checks.auto_or_list("gains", candidates, checks.positive)
    if gains is None:
        least, most = bound_gains(loss, fewest, GAIN_RANGE)
        n_steps = int(np.ceil(GAINS_PER_DOUBLING * np.log2(most / least)))
        exponents = np.arange(n_steps + 1) / GAINS_PER_DOUBLING
        gains = [float(f"{gain:.3g}") for gain in least * 2.0**exponents]
    return np.array(sorted(gains))


# -- scores ---------------------------------------------------------------------------------------


def _draw(
    train: NDArray[np.intp], codes: NDArray[Any], order: NDArray[np.intp], n: int
) -> NDArray[np.intp]:
    """Return the first `n` training rows in an order, with the classes' shares."""
    allowed = np.zeros(len(codes), dtype=np.bool_)
    allowed[train] = True
    candidates = order[allowed[order]]
    codes_drawn = codes[candidates]
    taken = _share_out(np.bincount(codes_drawn), n)
    drawn: list[NDArray[np.intp]] = [candidates[codes_drawn == c][:k] for c, k in enumerate(taken)]
    return np.sort(np.concatenate(drawn))


def _share_out(counts: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Divide `n` rows in proportion to the classes' counts, at least one for a class with rows."""
    exact = counts * (n / counts.sum())
    taken: NDArray[np.intp] = np.maximum(np.floor(exact), counts > 0).astype(np.intp)
    while taken.sum() < n:
        taken[np.argmax(np.where(taken < counts, exact - taken, -np.inf))] += 1
    while taken.sum() > n:
        taken[np.argmax(np.where(taken > 1, taken - exact, -np.inf))] -= 1
    return taken


def _score_gains(
    search: ProperBoostClassifierCV, X: Any, labels: NDArray[Any], splits: list[Split], n: int
) -> NDArray[np.float64]:
    """Return the score of every gain in every split, (n_gains, n_splits)."""
    search = clone(search).set_params(cv=splits)
    if search.rows_per_bin is not None:
        # The parameter counts all rows of the table; this factor gives the bins of n rows.
        search.set_params(rows_per_bin=float(search.rows_per_bin) * len(labels) / n)
    with warnings.catch_warnings():
        # The reading reports it itself if the best gain is at an end of the grid.
        warnings.filterwarnings("ignore", "the chosen gain", UserWarning)
        search.fit(X, labels)
    results = search.cv_results_
    return np.column_stack([results[f"split{s}_test_score"] for s in range(len(splits))])


def _score_constant(
    score: Score, loss: MarginLoss, rows: Rows, train: NDArray[np.intp], test: NDArray[np.intp]
) -> float:
    """Return the score of predicting the classes' training shares for each row of a split."""
    factor = 1.0 if rows.factor is None else rows.factor
    class_weights = np.bincount(rows.codes[train]) * factor
    raw = loss.link(class_weights / class_weights.sum())
    raw = np.full(len(test), raw[1]) if len(raw) == 2 else np.tile(raw, (len(test), 1))
    link = Link(loss, None if raw.ndim == 1 else "one_vs_rest")
    return score(HeldOutRows(test.astype(np.int64), rows.codes[test], None), link, raw)


def _find_best(means: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the position of the maximum along the last axis; of equal ones, the last."""
    known = np.where(np.isnan(means), -np.inf, means)
    best: NDArray[np.intp] = means.shape[-1] - 1 - known[..., ::-1].argmax(axis=-1)
    return best
