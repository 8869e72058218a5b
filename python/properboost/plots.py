"""Plots of a fitted model (shapes, contributions, reliability, margins, ...), losses, diagnostics.

matplotlib is needed to draw and is imported only then: ``pip install 'properboost[plots]'``.  Every
function draws into the axes it is given, or into a new figure of its own.
"""

import importlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.estimators.boosted import BoostedClassifier
from properboost.inspection.contributions import Contributions
from properboost.inspection.intervals import count_errors
from properboost.inspection.shape_functions import PairFunction, ShapeFunction
from properboost.losses.builtin import LossCurve
from properboost.metrics import average_ranks, margin_distribution
from properboost.parameters import checks

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "plot_contributions",
    "plot_critical_differences",
    "plot_gain_curve",
    "plot_history",
    "plot_loss",
    "plot_margin_distribution",
    "plot_omega_curve",
    "plot_pair_function",
    "plot_reliability",
    "plot_shape_function",
    "plot_shape_functions",
]

# Colours of the palette of Okabe and Ito, which colour-blind readers can distinguish.
_LINE = "#0072B2"
_SECOND_LINE = "#D55E00"
_FAINT = "0.85"
_GUIDE = "0.6"
_BAND: dict[str, Any] = {"alpha": 0.2, "linewidth": 0}
_ERROR = "0.25"

_PANELS = {
    "loss": "loss phi(v)",
    "weight": "weight -phi'(v)",
    "curvature": "curvature phi''(v)",
    "probability": "probability, the inverse link of v",
    "minimum_risk": "minimum risk C*(p)",
    "regularization_strength": "regularisation strength rho(v)",
    "binding": "binding function beta(v)",
    "link": "link f*(p)",
}
"""What can be drawn of a loss: its methods, and what they return."""

_OF_PROBABILITY = ("minimum_risk", "link")
_STYLES = ("-", "--", "-.", ":")

_DIAGONAL = "perfect"
_MOST_TICKS = 30


class _GainCurve(Protocol):
    """What is drawn of a `properboost.diagnostics.GainCurve`."""

    @property
    def sizes(self) -> NDArray[np.int64]: ...
    @property
    def gains(self) -> NDArray[np.float64]: ...
    @property
    def grid(self) -> NDArray[np.float64]: ...
    @property
    def as_good(self) -> NDArray[np.bool_]: ...
    @property
    def best_gains(self) -> NDArray[np.float64]: ...
    @property
    def best_scores(self) -> NDArray[np.float64]: ...
    @property
    def loss(self) -> str: ...
    @property
    def n_estimators(self) -> int: ...
    @property
    def scoring(self) -> str: ...


class _OmegaCurve(Protocol):
    """What is drawn of a `properboost.rado.OmegaCurve`."""

    @property
    def omegas(self) -> NDArray[np.float64]: ...
    @property
    def errors(self) -> NDArray[np.float64]: ...
    @property
    def n_coefficients(self) -> NDArray[np.int64]: ...
    @property
    def best_omega(self) -> float: ...
    @property
    def regularizer(self) -> str: ...


def plot_shape_function(
    clf: BoostedClassifier,
    feature: int | str,
    class_: Any = None,
    ax: "Axes | None" = None,
    *,
    max_categories: int = 20,
    confidence_level: float | None = 0.9,
) -> "Axes":
    """Plot what one feature adds to the raw prediction.

    A numeric feature is a line of steps from bin to bin, above the distribution of its training
    rows (grey, not to scale); what a missing value adds is a dashed line, if training had any.  A
    categorical feature has one bar per category, the largest value at the top.

    If the model has bags (`outer_bags`), a band shows the function's interval, and error bars those
    of categories and of missing values.  The dotted line is the function's mean over the training
    rows: where the interval holds it, there may be no effect.  The title says so of a function that
    is within its noise as a whole.

    Parameters
    ----------
    clf : boosted classifier
        The fitted model.
    feature : int or str
        Position or name of the feature.
    class_ : label, optional
        The class whose raw prediction is meant.  With two classes you may leave it out; it is then
        ``classes_[1]``.
    ax : matplotlib axes, optional
        Where to draw.
    max_categories : int, default=20
        With more categories, only those with most training weight are drawn; the title says so.
    confidence_level : float or None, default=0.9
        The share of the intervals that hold what they are about; None leaves them out.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError, TypeError
        If there is no such feature or class, `max_categories` is not an integer above 0, or
        `confidence_level` is not between 0 and 1.
    """
    checks.integer("max_categories", max_categories, 1)
    shape = clf.shape_function(feature, class_)
    ax = _axes(ax)
    ax.set_title(_draw_shape(ax, shape, max_categories, confidence_level) + _warn_of_noise(shape))
    return ax


def plot_shape_functions(
    clf: BoostedClassifier,
    n_features: int = 6,
    class_: Any = None,
    *,
    n_columns: int = 3,
    max_categories: int = 20,
    confidence_level: float | None = 0.9,
) -> "Figure":
    """Plot the shape functions of the most important features, each to its own scale.

    Parameters
    ----------
    clf : boosted classifier
        The fitted model.
    n_features : int, default=6
        How many features, at most; they are chosen and ordered by ``feature_importances_``, which
        is in the titles.
    class_ : label, optional
        As in `plot_shape_function`.
    n_columns : int, default=3
        Plots side by side.
    max_categories : int, default=20
        As in `plot_shape_function`.
    confidence_level : float or None, default=0.9
        As in `plot_shape_function`.

    Returns
    -------
    matplotlib figure
        A new one.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError, TypeError
        If there is no such class, a number is not an integer above 0, or `confidence_level` is not
        between 0 and 1.
    """
    checks.integer("n_features", n_features, 1)
    checks.integer("n_columns", n_columns, 1)
    checks.integer("max_categories", max_categories, 1)
    importances = clf.feature_importances_
    features = np.argsort(-importances, kind="stable")[:n_features]
    columns = min(n_columns, len(features))
    rows = -(-len(features) // columns)
    figure, grid = import_matplotlib("pyplot").subplots(
        rows, columns, figsize=(4.2 * columns, 3.2 * rows), squeeze=False, layout="constrained"
    )
    for feature, ax in zip(features, grid.flat, strict=False):
        shape = clf.shape_function(int(feature), class_)
        title = _draw_shape(ax, shape, max_categories, confidence_level)
        title += f": {importances[feature]:.0%} of importance"
        ax.set_title(title + _warn_of_noise(shape))
    for ax in grid.flat[len(features) :]:
        ax.set_axis_off()
    drawn: Figure = figure
    return drawn


def plot_contributions(
    contributions: Contributions,
    row: int = 0,
    ax: "Axes | None" = None,
    *,
    max_features: int = 10,
    confidence_level: float | None = 0.9,
) -> "Axes":
    """Plot what each feature adds to the raw prediction of one row.

    Each feature is one bar, the largest in size at the top.  The title has the baseline and the raw
    prediction.

    If the model has bags (`outer_bags`), error bars are the intervals of single features and pairs.
    Names say so of features and pairs that are within their noise as a whole.

    Parameters
    ----------
    contributions : Contributions
        What `contributions` of a fitted model returned.
    row : int, default=0
        Which of its rows.
    ax : matplotlib axes, optional
        Where to draw.
    max_features : int, default=10
        With more features, all but the largest share the last bar, which has no error bar.
    confidence_level : float or None, default=0.9
        The share of the intervals that hold what they are about; None leaves them out.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError, TypeError
        If there is no such row, `max_features` is not an integer above 0, or `confidence_level` is
        not between 0 and 1.
    """
    checks.integer("row", row, 0, len(contributions.values) - 1)
    checks.integer("max_features", max_features, 1)
    ax = _axes(ax)
    values = contributions.values[row]
    order = np.argsort(-np.abs(values), kind="stable")
    shown, rest = order[:max_features], order[max_features:]
    noisy = contributions.within_noise
    labels = [
        contributions.names[j] + (" (within noise)" if noisy is not None and noisy[j] else "")
        for j in shown
    ]
    bars = values[shown]
    if confidence_level is not None and contributions.standard_errors is not None:
        reach = count_errors(contributions.n_bags, confidence_level)
        _draw_errors(ax, bars, reach * contributions.standard_errors[row, shown])
    if len(rest) > 0:
        labels.append(f"{len(rest)} more")
        bars = np.append(bars, values[rest].sum())
    ax.barh(np.arange(len(bars)), bars, color=np.where(bars < 0.0, _SECOND_LINE, _LINE).tolist())
    ax.set_yticks(np.arange(len(bars)), labels)
    ax.invert_yaxis()
    ax.axvline(0.0, color=_GUIDE, linewidth=0.8)
    ax.set_xlabel(f"added to F of {contributions.class_label}")
    raw = contributions.baseline + values.sum()
    ax.set_title(f"from {contributions.baseline:.3g} to {raw:.3g}")
    return ax


def plot_pair_function(
    clf: BoostedClassifier,
    first: int | str,
    second: int | str,
    class_: Any = None,
    ax: "Axes | None" = None,
    *,
    confidence_level: float | None = 0.9,
) -> "Axes":
    """Plot what two features together add to the raw prediction beyond what each adds alone.

    One field per cell: blue where the pair adds to the raw prediction of the class, orange where it
    subtracts, and white where training had no rows.  Stronger colours are larger values.  By
    training weight the mean of every row and of every column is 0.

    If the model has bags (`outer_bags`), cells whose interval holds 0 have white stripes.  The
    title says so of a pair that is within its noise as a whole.

    Parameters
    ----------
    clf : boosted classifier
        The fitted model.
    first, second : int or str
        Positions or names of the features of one of its ``pairs_``; the first goes upwards.
    class_ : label, optional
        The class whose raw prediction is meant.  With two classes you may leave it out; it is then
        ``classes_[1]``.
    ax : matplotlib axes, optional
        Where to draw.
    confidence_level : float or None, default=0.9
        The share of the intervals that hold what they are about; None leaves out the stripes.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError, TypeError
        If the model has no look-up table for the pair, there is no such feature or class, or
        `confidence_level` is not between 0 and 1.
    """
    function = clf.pair_function(first, second, class_)
    values = np.where(function.weights > 0.0, function.values, np.nan)
    largest = float(np.nanmax(np.abs(values)))
    ax = _axes(ax)
    colours = import_matplotlib("colors").LinearSegmentedColormap.from_list(
        "", [_SECOND_LINE, "0.97", _LINE]
    )
    image = ax.imshow(
        values, cmap=colours, vmin=-largest, vmax=largest, origin="lower", aspect="auto"
    )
    names = function.names or tuple(f"feature {j}" for j in function.features)
    for axis, levels, name in zip((ax.yaxis, ax.xaxis), function.levels, names, strict=True):
        step = 1 + len(levels) // _MOST_TICKS
        shown = range(0, len(levels), step)
        words = [_shorten(levels[k], name) for k in shown]
        axis.set_ticks(shown, words, fontsize="small")
        axis.set_label_text(name)
    ax.tick_params(axis="x", rotation=90)
    if ax.figure is not None:
        bar = ax.figure.colorbar(image, ax=ax)
        bar.set_label(f"added to F of {function.class_label}")
        if confidence_level is not None and function.standard_errors is not None:
            _stripe_noise(ax, function, confidence_level)
            bar.set_label(f"{bar.ax.get_ylabel()}\n(white stripes: the interval holds 0)")
    ax.set_title(f"{names[0]} and {names[1]}" + _warn_of_noise(function))
    return ax


def _shorten(level: str, name: str) -> str:
    """Return the words for a level of a feature, without the feature's name, which the axis has."""
    if f"{name} <= " in level:
        return f"<= {level.partition(f'{name} <= ')[2]}"
    if level.endswith(f" < {name}"):
        return f"> {level.removesuffix(f' < {name}')}"
    return level.removeprefix(f"{name} in ").removeprefix(f"{name} is ")


def plot_loss(
    losses: LossCurve | Sequence[LossCurve] | Mapping[str, LossCurve],
    panels: Sequence[str] = ("loss", "weight", "probability", "minimum_risk"),
    axes: "Sequence[Axes] | None" = None,
    *,
    margins: tuple[float, float] = (-4.0, 4.0),
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> "list[Axes]":
    """Plot losses: their weights, inverse links, minimum risks and so on.

    Parameters
    ----------
    losses : loss, sequence of losses or mapping of str to loss
        What to draw, with names for the legend if it is a mapping; otherwise the legend has what
        tells the losses from each other.  Curves that are no losses to train, such as
        `properboost.losses.Hinge`, are drawn too; where they have no probability they have no line.
    panels : sequence of str, default=("loss", "weight", "probability", "minimum_risk")
        The losses' methods, each of which gets a plot: these, ``"curvature"``,
        ``"regularization_strength"``, ``"binding"``, ``"link"``.
    axes : sequence of matplotlib axes, optional
        Where to draw, as many as there are panels.
    margins : pair of float, default=(-4, 4)
        From where to where the functions of the margin are drawn.
    limits : mapping of str to pair of float, optional
        From where to where the values of a panel are drawn, for those that would dwarf the others.

    Returns
    -------
    list of matplotlib axes
        One for each panel; the first has the legend.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        If there is no panel, or no such panel, `margins` do not rise, or there are not as many axes
        as panels.

    Examples
    --------
    >>> from properboost.losses import GLog, Savage
    >>> from properboost.plots import plot_loss
    >>> axes = plot_loss([GLog(), Savage()], ["weight", "binding"])  # doctest: +SKIP
    """
    known = partial(checks.choice, known=list(_PANELS))
    panels = checks.entries("panels", panels, known)
    first, last = (checks.finite("margins", end) for end in margins)
    if not first < last:
        raise ValueError(f"margins must rise; got {margins!r}")
    named = _name_losses(losses)
    if axes is None:
        columns = min(len(panels), 3) if len(panels) != 4 else 2
        rows = -(-len(panels) // columns)
        _, grid = import_matplotlib("pyplot").subplots(
            rows, columns, figsize=(3.8 * columns, 3.2 * rows), squeeze=False, layout="constrained"
        )
        axes = grid.ravel()[: len(panels)]
        for ax in grid.ravel()[len(panels) :]:
            ax.set_axis_off()
    if len(axes) != len(panels):
        raise ValueError(f"axes must be {len(panels)}, one for each panel; got {len(axes)}")
    v = np.linspace(first, last, 801)
    p = np.linspace(0.0, 1.0, 801)
    for ax, panel in zip(axes, panels, strict=True):
        at = p if panel in _OF_PROBABILITY else v
        for k, (label, loss) in enumerate(named.items()):
            values = getattr(loss, panel)(at)
            ax.plot(at, np.where(np.isfinite(values), values, np.nan), _STYLES[k % 4], label=label)
        ax.set_xlabel("probability p" if panel in _OF_PROBABILITY else "margin v")
        ax.set_ylabel(_PANELS[panel])
        ax.margins(x=0.0)
        if limits is not None and panel in limits:
            ax.set_ylim(limits[panel])
    if len(named) > 1 and len(axes) > 0:
        axes[0].legend(fontsize="small")
    return list(axes)


def _name_losses(
    losses: LossCurve | Sequence[LossCurve] | Mapping[str, LossCurve],
) -> Mapping[str, LossCurve]:
    """Return losses by what the legend calls them."""
    if isinstance(losses, Mapping):
        return losses
    several = [losses] if isinstance(losses, LossCurve) else list(losses)
    if len({loss.gain for loss in several}) == 1 < len({loss.name for loss in several}):
        names = [loss.name.replace("_", " ") for loss in several]
        if len(set(names)) == len(names):
            return dict(zip(names, several, strict=True))
    return {repr(loss): loss for loss in several}


def plot_critical_differences(
    scores: ArrayLike,
    names: Sequence[str],
    ax: "Axes | None" = None,
    *,
    greater_is_better: bool = False,
    alpha: float = 0.05,
) -> "Axes":
    """Plot the mean ranks of methods over data sets, and which of them may differ by chance.

    Methods that a bar joins do not differ by Nemenyi's test (Demsar 2006 [1]_, figure 1).  It is
    drawn by scikit-posthocs, ``pip install 'properboost[comparisons]'``.

    Parameters
    ----------
    scores : array-like of shape (n_methods, n_sets)
        What each method scored on each data set, as `properboost.metrics.average_ranks` takes it.
    names : sequence of str
        The methods' names, no two equal.
    ax : matplotlib axes, optional
        Where to draw.
    greater_is_better : bool, default=False
        Whether a larger score is a better one.
    alpha : float, default=0.05
        The level of the test, above 0 and below 1.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib or scikit-posthocs is missing.
    ValueError
        If there are fewer than two methods or data sets, or names are not as described.

    References
    ----------
    .. [1] Demsar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7,
       1-30.
    """
    ranks = average_ranks(scores, greater_is_better=greater_is_better)
    table = checks.numbers_of("scores", scores)
    if min(table.shape) < 2:
        raise ValueError(f"scores must be of two methods and sets at least; got {table.shape}")
    if len(names) != len(ranks) or len(set(names)) < len(names):
        raise ValueError(f"names must be {len(ranks)}, no two equal; got {list(names)!r}")
    if not 0.0 < checks.between("alpha", alpha, 0.0, 1.0) < 1.0:
        raise ValueError(f"alpha must be above 0 and below 1; got {alpha!r}")
    ax = _axes(ax)
    try:
        posthocs = importlib.import_module("scikit_posthocs")
    except ImportError as error:
        raise ImportError(
            "critical differences need scikit-posthocs: pip install 'properboost[comparisons]'"
        ) from error
    chances = posthocs.posthoc_nemenyi_friedman(table.T)
    chances.index = chances.columns = list(names)
    posthocs.critical_difference_diagram(
        dict(zip(names, ranks.tolist(), strict=True)), chances, alpha=alpha, ax=ax
    )
    ax.set_title(f"mean rank over {table.shape[1]} data sets; bars join what may be chance")
    return ax


def plot_reliability(
    y: ArrayLike,
    probability: ArrayLike,
    ax: "Axes | None" = None,
    *,
    label: str | None = None,
    n_bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
    pos_label: Any = None,
    **line: Any,
) -> "Axes":
    """Plot how often rows of a predicted probability are positive.

    Calibrated probabilities lie on the diagonal.  Called again with the same axes, it adds a line.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The rows' labels, of two classes.
    probability : array-like of shape (n_rows,)
        Predicted probabilities of the positive class: one column of ``predict_proba``.
    ax : matplotlib axes, optional
        Where to draw.
    label : str, optional
        The line's name in the legend.
    n_bins : int, default=10
        Into how many bins the probabilities are divided; empty ones have no point.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equally many rows.
    pos_label : label, optional
        The positive class; needed unless the labels are 0 and 1, or -1 and 1.
    **line
        Passed to ``Axes.plot``: ``color``, ``marker`` and the like.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        If the labels are not of two classes, or a probability is outside [0, 1].
    """
    from sklearn.calibration import calibration_curve

    observed, predicted = calibration_curve(
        y, probability, n_bins=n_bins, strategy=strategy, pos_label=pos_label
    )
    ax = _axes(ax)
    if _DIAGONAL not in ax.get_legend_handles_labels()[1]:
        ax.plot([0.0, 1.0], [0.0, 1.0], ":", color=_GUIDE, label=_DIAGONAL)
    style: dict[str, Any] = {"marker": "o", "markersize": 4}
    ax.plot(predicted, observed, label=label, **(style | line))
    ax.set_xlabel("predicted probability")
    ax.set_ylabel("share of positive rows")
    ax.set_aspect("equal", adjustable="box")
    ax.legend()
    return ax


def plot_margin_distribution(
    margins: ArrayLike,
    ax: "Axes | None" = None,
    *,
    label: str | None = None,
    sample_weight: ArrayLike | None = None,
    **line: Any,
) -> "Axes":
    """Plot the cumulative distribution of margins.

    At each margin the line is as high as the share of rows whose margin does not exceed it (Nock
    and Nielsen 2009, section 5); where it meets the grey line at 0 is the share of errors.  Called
    again with the same axes, it adds a line.

    Parameters
    ----------
    margins : array-like of shape (n_rows,)
        Margins: those of ``clf.margins(X, y, normalized=True)`` are in [-1, 1], and models of
        different losses can be compared.
    ax : matplotlib axes, optional
        Where to draw.
    label : str, optional
        The line's name in the legend.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.
    **line
        Passed to ``Axes.plot``: ``color``, ``linestyle`` and the like.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        If there are no margins, or one is not finite.
    """
    at, shares = margin_distribution(margins, sample_weight=sample_weight)
    # Normalised margins have their whole range.
    first, last = (-1.0, 1.0) if np.abs(at).max() <= 1.0 else (at[0], at[-1])
    ax = _axes(ax)
    if not ax.lines:
        ax.axvline(0.0, color=_GUIDE, linewidth=0.8)
    style: dict[str, Any] = {"drawstyle": "steps-post", "label": label}
    ax.plot([first, *at, last], [0.0, *shares, 1.0], **(style | line))
    ax.set_xlabel("margin")
    ax.set_ylabel("share of rows up to the margin")
    ax.margins(x=0.0)
    ax.set_ylim(0.0, 1.0)
    if label is not None:
        ax.legend()
    return ax


def plot_history(clf: BoostedClassifier, ax: "Axes | None" = None) -> "Axes":
    """Plot the training risk after each round.

    Parameters
    ----------
    clf : boosted classifier
        The fitted model.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        With one line, or with more than two classes one per class.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    """
    history = clf.history_
    ax = _axes(ax)
    multiclass = len(clf.classes_) > 2 and "class" in history  # voting classifiers have one line
    for label in clf.classes_ if multiclass else clf.classes_[-1:]:
        own = history["class"] == label if multiclass else slice(None)
        color = None if multiclass else _LINE
        ax.plot(history["round"][own], history["risk"][own], color=color, label=str(label))
    ax.set_xlabel("round")
    ax.set_ylabel("training risk")
    if multiclass:
        ax.legend(title="class")
    return ax


def plot_gain_curve(curve: _GainCurve, ax: "Axes | None" = None) -> "Axes":
    """Plot the best gain, and the score with it, against the number of training rows.

    Points are the best gains of single repeats; the band holds, from the smallest to the largest,
    the gains that are as good as the best of all repeats together.

    Parameters
    ----------
    curve : GainCurve
        What `properboost.diagnostics.gain_curve` returned.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        Those of the gain; the score has axes of its own on the right.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    """
    ax = _axes(ax)
    sizes, repeats = curve.sizes, curve.gains.shape[1]
    ends = np.array([curve.grid[good][[0, -1]] for good in curve.as_good])
    ax.fill_between(sizes, *ends.T, color=_LINE, alpha=0.15, linewidth=0, label="as good")
    if repeats > 1:
        points: dict[str, Any] = {"marker": "o", "ms": 3, "alpha": 0.4, "linestyle": "none"}
        ax.plot(np.repeat(sizes, repeats), curve.gains.ravel(), color=_LINE, **points)
    ax.plot(sizes, curve.best_gains, marker="o", color=_LINE, label="best gain")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_ylim(min(ends.min(), curve.gains.min()) / 1.5, max(ends.max(), curve.gains.max()) * 1.5)
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(lambda gain, _: f"{gain:g}")
    ax.set_xlabel("training rows")
    ax.set_ylabel(f"gain of {curve.loss} ({curve.n_estimators} estimators)", color=_LINE)
    right = ax.twinx()
    style: dict[str, Any] = {"color": _SECOND_LINE, "marker": "s", "ms": 4, "linestyle": "--"}
    right.plot(sizes, curve.best_scores, **style)
    right.set_ylabel(curve.scoring, color=_SECOND_LINE)
    lines, names = ax.get_legend_handles_labels()
    above: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 3}
    ax.legend([*lines, *right.lines], [*names, "score"], frameon=False, **above)
    return ax


def plot_omega_curve(curve: _OmegaCurve, ax: "Axes | None" = None) -> "Axes":
    """Plot held-out error and the number of coefficients against omega.

    Lines are means over the folds; the band is a standard error of the mean on either side.

    Parameters
    ----------
    curve : OmegaCurve
        What `properboost.rado.omega_curve` returned.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        Those of the error; the number of coefficients has axes of its own on the right.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    """
    ax = _axes(ax)
    mean, folds = curve.errors.mean(axis=1), curve.errors.shape[1]
    deviation = curve.errors.std(axis=1, ddof=min(1, folds - 1)) / np.sqrt(folds)
    low, high = mean - deviation, mean + deviation
    ax.fill_between(curve.omegas, low, high, color=_LINE, alpha=0.15, linewidth=0)
    ax.plot(curve.omegas, mean, marker="o", color=_LINE, label="error")
    ax.axvline(curve.best_omega, color=_GUIDE, linewidth=0.8)
    above = curve.omegas[curve.omegas > 0.0]
    if len(above) == len(curve.omegas):
        ax.set_xscale("log")
    elif len(above) > 0:  # 0 is in the part that is linear
        ax.set_xscale("symlog", linthresh=above[0])
    ax.set_xlabel(f"omega of {curve.regularizer}")
    ax.set_ylabel("held-out error", color=_LINE)
    right = ax.twinx()
    style: dict[str, Any] = {"color": _SECOND_LINE, "marker": "s", "ms": 4, "linestyle": "--"}
    right.plot(curve.omegas, curve.n_coefficients.mean(axis=1), **style)
    right.set_ylabel("coefficients that are not 0", color=_SECOND_LINE)
    return ax


def import_matplotlib(module: str) -> "ModuleType":
    """Import a module of matplotlib, or say what to install."""
    try:
        return importlib.import_module(f"matplotlib.{module}")
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'properboost[plots]'") from error


def _axes(ax: "Axes | None") -> "Axes":
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    _, new = import_matplotlib("pyplot").subplots(layout="constrained")
    made: Axes = new
    return made


def _warn_of_noise(function: ShapeFunction | PairFunction) -> str:
    """Return a second line of a title, for a function that may well be chance."""
    if not function.within_noise:
        return ""
    return f"\nwithin noise (p = {function.p_value:.2f})"


def _draw_shape(
    ax: "Axes", shape: ShapeFunction, max_categories: int, confidence_level: float | None
) -> str:
    """Draw a shape function, with its intervals if it has any; return words for the feature."""
    reach = None
    if confidence_level is not None and shape.standard_errors is not None:
        reach = count_errors(shape.n_bags, confidence_level)
    what = f"added to F of {shape.class_label}"
    title = f"feature {shape.feature}" if shape.name is None else shape.name
    draw_line = ax.axhline if shape.kind == "numeric" else ax.axvline
    draw_line(0.0, color=_GUIDE, linewidth=0.8)
    if reach is not None:
        draw_line(_mean(shape), color=_GUIDE, linestyle=":", linewidth=1.2)
    if shape.kind == "numeric":
        _draw_steps(ax, shape, reach)
        ax.set_ylabel(what)
    else:
        shown, present = _draw_bars(ax, shape, max_categories, reach)
        ax.set_xlabel(what)
        if shown < present:
            title += f" ({shown} of {present} categories)"
    return title


def _mean(shape: ShapeFunction) -> float:
    """Return the function's mean over the training rows."""
    total = shape.weights @ shape.values + shape.missing_weight * shape.missing_value
    return float(total / (shape.weights.sum() + shape.missing_weight))


def _draw_errors(ax: "Axes", values: NDArray[np.float64], reach: NDArray[np.float64]) -> None:
    """Draw the intervals of horizontal bars, the first at 0."""
    ax.errorbar(
        values, np.arange(len(values)), xerr=reach, fmt="none", ecolor=_ERROR, capsize=3, zorder=3
    )


def _draw_steps(ax: "Axes", shape: ShapeFunction, reach: float | None) -> None:
    edges, bins = _finite_bins(shape)
    values = shape.values[bins]
    ax.plot(edges, [*values, values[-1]], drawstyle="steps-post", color=_LINE)
    if reach is not None and shape.standard_errors is not None:
        error = reach * shape.standard_errors[bins]
        band = import_matplotlib("patches").StepPatch(
            values + error, edges, baseline=values - error, fill=True, color=_LINE, **_BAND
        )
        ax.add_patch(band)
    _draw_density(ax, edges, shape.weights[bins])
    if shape.missing_weight > 0.0:
        ax.axhline(shape.missing_value, linestyle="--", color=_LINE, label="missing")
        if reach is not None and shape.missing_standard_error is not None:
            far = reach * shape.missing_standard_error
            ends = [shape.missing_value - far, shape.missing_value + far]
            # At the right, where the axes end whatever the feature's values are.
            ax.plot(
                [0.985, 0.985], ends, marker="_", color=_ERROR, transform=ax.get_yaxis_transform()
            )
        ax.legend()


def _stripe_noise(ax: "Axes", function: PairFunction, confidence_level: float) -> None:
    """Stripe the cells with training rows whose interval holds 0."""
    low, high = function.interval(confidence_level)
    shown = (function.weights > 0.0) & (low <= 0.0) & (high >= 0.0)
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    cells = import_matplotlib("collections").PolyCollection(
        np.argwhere(shown)[:, None, ::-1] + corners,
        facecolor="none",
        edgecolor="white",
        linewidth=0,
        hatch="///",
    )
    ax.add_collection(cells, autolim=False)


def _finite_bins(shape: ShapeFunction) -> tuple[NDArray[np.float64], slice]:
    """Return both ends of every bin that can be drawn, and which bins these are.

    The outermost bins have no end; they are drawn a little way beyond the last edge.
    """
    cuts = shape.edges if shape.edges is not None else np.empty(0)
    # The edge below infinite values is the largest number.
    finite = np.flatnonzero(np.abs(cuts) < np.finfo(np.float64).max)
    if len(finite) == 0:
        return np.array([0.0, 1.0]), slice(0, 1)
    first, last = finite[0], finite[-1]
    inner = cuts[first : last + 1]
    margin = 0.04 * (inner[-1] - inner[0]) or 0.5
    ends = np.concatenate([[inner[0] - margin], inner, [inner[-1] + margin]])
    return ends, slice(first, last + 2)


def _draw_density(ax: "Axes", edges: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
    """Draw the distribution of the training rows along the lower edge of the axes."""
    density = weights / np.diff(edges)
    patch = import_matplotlib("patches").StepPatch(
        0.15 * density / density.max() if density.max() > 0.0 else density,
        edges,
        fill=True,
        facecolor=_FAINT,
        edgecolor="none",
        zorder=0,
        transform=ax.get_xaxis_transform(),
    )
    ax.add_artist(patch)  # unlike add_patch, it leaves the limits of the axes alone


def _draw_bars(ax: "Axes", shape: ShapeFunction, most: int, reach: float | None) -> tuple[int, int]:
    """Draw the categories; return how many were drawn and how many there are."""
    labels = [str(category) for category in shape.categories or ()]
    if shape.has_rare:
        labels.append("rare and unseen")
    values, weights = shape.values[: len(labels)], shape.weights[: len(labels)]
    errors = None if shape.standard_errors is None else shape.standard_errors[: len(labels)]
    if shape.missing_weight > 0.0:
        labels.append("missing")
        values = np.append(values, shape.missing_value)
        weights = np.append(weights, shape.missing_weight)
        if errors is not None:
            errors = np.append(errors, np.array(shape.missing_standard_error))
    drawn = np.argsort(-weights, kind="stable")[:most]
    drawn = drawn[np.argsort(values[drawn], kind="stable")]
    ax.barh(np.arange(len(drawn)), values[drawn], color=_LINE)
    if reach is not None and errors is not None:
        _draw_errors(ax, values[drawn], reach * errors[drawn])
    ax.set_yticks(np.arange(len(drawn)), [labels[k] for k in drawn])
    return len(drawn), len(labels)
