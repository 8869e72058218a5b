"""The classifier: scikit-learn's interface to the engine."""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import currentframe, signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from properboost import _core, parameters
from properboost.boosting.engine import Training, find_pairs, find_sides, lay_grids, prepare, start
from properboost.boosting.ensemble import LARGEST_RAW, Rounds, make_ensemble
from properboost.boosting.interactions import PairBins
from properboost.data.frames import find_feature, open_table
from properboost.data.labels import read_rows
from properboost.estimators.boosted import BoostedClassifier
from properboost.losses import MarginLoss, get_loss
from properboost.progress import Report, show_progress

__all__ = [
    "CRITERIA",
    "GROWN",
    "SOLVED",
    "ProperBoostClassifier",
    "check_learner_of_pairs",
    "check_parameters",
    "gain_is_free",
]

LANES_FROM = 1000
"""Rows from which the classes' models are boosted together, in lanes.

Of fewer, one after the other costs as little, and sums them in double precision.
"""


@dataclass(frozen=True, eq=False)
class Stage:
    """Models that were boosted, what they predict of their rows, and the weight of each code."""

    models: list[Rounds]
    raw: NDArray[np.float64] | None  # (n_models, n_rows), in the order of the segments, if asked
    bin_weights: tuple[NDArray[np.float64], ...]


def boost(
    settings: Any,
    loss: MarginLoss,
    training: Training,
    n_estimators: int,
    *,
    base: NDArray[np.float64] | None = None,
    keep_raw: bool = False,
    report: Report | None = None,
) -> Stage:
    """Boost a model of two classes, or one a class against the rest, from `base` on."""
    sides = find_sides(training.class_of, len(training.classes))
    together = len(sides) if training.codes.shape[1] >= LANES_FROM else 1
    models: list[Rounds] = []
    raw = []
    for first in range(0, len(sides), together):
        boosting = start(
            training,
            sides[first : first + together],
            [settings] * together,
            [loss] * together,
            base=None if base is None else base[first : first + together],
            keep_rounds=True,
        )
        boosting.advance(n_estimators, None, report and _report_from(report, first * n_estimators))
        models += [Rounds.from_native(boosting.rounds(m)) for m in range(together)]
        raw += [boosting.raw(m) for m in range(together) if keep_raw]
        for m in range(together):
            if boosting.separated(m):
                _warn_of_separation(settings.step, training.classes, first + m)
        if report is not None and len(models[-1]):
            report(len(models) * n_estimators, float(models[-1].risk[-1]))
    return Stage(models, np.stack(raw) if keep_raw else None, training.weigh_codes(boosting))


def _warn_of_separation(step: str, classes: NDArray[Any], model: int) -> None:
    label = classes.tolist()[1 if len(classes) == 2 else model]
    warnings.warn(
        f"step={step!r} found no finite coefficients of least risk within reach for class "
        f"{label!r}: the features chosen separate some rows by their class, or all but do. An "
        "error of 0 counts as half a row, which keeps the coefficients finite",
        UserWarning,
        stacklevel=_count_own_frames(),
    )


def _count_own_frames() -> int:
    """Return the stacklevel at which the caller's warning points out of the package."""
    frame, level = currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("properboost."):
        frame, level = frame.f_back, level + 1
    return level


class ProperBoostClassifier(BoostedClassifier):
    """Boosted look-up tables, trees or rules under a proper margin loss with a gain.

    Each round takes one feature, gives each of its bins a value and adds that table to the raw
    prediction F (BoostLR, Algorithm 1 [1]_).  The loss decides how rows are weighted, and its
    inverse link turns F into a probability; the gain says how strongly probabilities are
    regularised.  The rounds add up to one table a feature, see `shape_function`.

    Several classes are learnt one against the rest, each by a model of its own over the same bins;
    their probabilities are divided by their sum (and are equal where all are zero).

    Parameters
    ----------
    loss : str or loss object, default="glog"
        A loss's name, one of `properboost.losses`, or an object from there, which carries its own
        gain (`gain` must then be left at 1 or be the same).
    gain : float, default=1.0
        The gain sigma > 0: the loss is sigma phi(v / sigma), v = y F(x).  Twice the gain with the
        same tables halves how far a round moves the probabilities.
    n_estimators : int, default=100
        Rounds (with cyclic selection, cycles over the features), a class where there are more than
        two.  Boosting stops earlier if nothing is left to learn.
    learning_rate : float, default=1.0
        Shrinkage > 0 of each step.
    weak_learner : {"histogram", "stump", "tree", "monomial"}, default="histogram"
        A value for every bin of a feature; one for each side of a split; one for each leaf of a
        tree over several features, which grows best split first; one where a rule holds, "this
        feature is in that range or set, and that one ...", and one elsewhere (see `rules`).
    max_leaf_nodes : int, default=31
        Leaves of a tree at most, in [2, 128].
    max_depth : int or None, default=None
        Splits from a tree's root to a leaf, at most; None sets no limit.
    max_literals : int, default=2
        Conditions of a monomial at most, in [1, 127].  Fewer are taken where another one would not
        lower the cost.
    min_child_weight : float, default=1.0
        What each side of a tree's split, and of a monomial, holds at least: of the weights that the
        loss gives to rows (with the Newton response of their curvatures), times the sample weights.
    max_features : float, default=1.0
        Share of the features, drawn anew for each split of a tree and for each literal of a
        monomial, that it is chosen from, in (0, 1]; never less than one feature.
    subsample : float, default=1.0
        Share of the rows, drawn anew for each tree or monomial, that it is grown from, in (0, 1].
    monotonic_cst : list of int, dict or None, default=None
        Of each numeric feature (by position, or some by name), whether the raw prediction must not
        fall with it (1), must not rise (-1), or may do as it likes (0).  With trees and two classes
        only.
    interactions : int or list of pairs, default=0
        Pairs of features that get look-up tables over both, once the tables of single features are
        boosted: so many of those that tell most of what is still unexplained, or these (two
        positions or names each).  Not with trees and monomials.  Without pairs the parameters that
        follow have no effect.
    interaction_estimators : int or None, default=None
        Rounds (with cyclic selection, cycles over the pairs) for the pairs; None is `n_estimators`.
    interaction_rate : float, default=1.0
        Times `learning_rate`: the shrinkage > 0 of each step along a pair's table.
    interaction_smoothing : float, default=0.2
        `smoothing` of pairs' tables, whose cells have neighbours in both directions.  Only with the
        histogram weak learner.
    selection : {"greedy", "cyclic"}, default="greedy"
        Which feature a round takes: the best one, for which all features' histograms are needed;
        or each in turn, many times cheaper a round.  Trees and monomials choose a feature a split,
        and take no notice.
    response : {"real", "sign", "newton", "exact"}, default="real"
        The value in a bin: half the log-odds of its class weights; the heavier class; a Newton
        step; the exact minimiser of the bin's risk.
    criterion : {"gini", "entropy", "matsushita"} or None, default=None
        By what cells are judged when a feature, a split or a literal is chosen: the impurity of a
        permissible function (ULS, eq. 49 [2]_), as in `UDTClassifier`, on the weights of the round;
        None is the response's own cost.  The values of the cells are the response's all the same.
        Not with the Newton response.
    step : {"guarded", "unit", "line_search", "leveraging", "totally_corrective"}, default="guarded"
        Times the table: `learning_rate`, or the minimiser of the risk along the table if that is
        shorter; `learning_rate` always; the minimiser times `learning_rate`; the minimiser in
        double precision, which leaves the table no edge on the next weights; the minimiser over the
        steps of all tables so far, which leaves none of them an edge (ULS, eq. 35 [2]_).  The last
        two take a convex loss and learning_rate 1.
    prior : float or None, default=None
        What the real and exact responses add to the weight of each class in each bin, as a share
        of the total weight; > 0.  None is 1 / (S B), for S the weight of the training rows and B
        the bins of the feature (the sides of the stump or the rule, the leaves of the tree) that
        hold any.  The other responses take None only.
    smoothing : float, default=0.0
        Share of its weight that each bin of a numeric feature gives to each of its two neighbours
        before the table is made, in [0, 0.25].  Only with the histogram weak learner.
    l2 : float, default=0.0
        What the Newton response adds to the curvature in each bin.  The others take 0 only.
    max_bins : int, default=255
        Bins of a feature at most, in [2, 255]; missing values come on top.
    rows_per_bin : float or None, default=100
        A numeric feature also has at most one bin for every so many training rows (by sample
        weight), but may always have four.  A table with a bin for every row learns the rows by
        heart: over the ten small data sets of the BoostLR paper the cross-validated log loss is
        3.1 with 255 bins and 0.48 with the default (50 rounds, gain 1).  None sets no such limit.
    categorical_features : "from_dtype", None, list of int or str, or mask, default="from_dtype"
        Which features are categorical: those whose column has a categorical type; none; those at
        these positions or of these names; those where the boolean mask is true.
    class_weight : "balanced", dict or None, default=None
        Factor on the sample weight of each class: given by label, or inversely proportional to
        the class's total weight.  It shifts the probabilities.
    n_jobs : int or None, default=None
        Threads.  None and -1 use every CPU this process may use, or ``OMP_NUM_THREADS`` if set.
        The model and its predictions do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the sample of rows from which bins are found (tables of more than 200,000 rows), and
        of what trees draw (`max_features`, `subsample`).  None is the seed 0: fitting the same rows
        again gives the same model.
    verbose : int, default=0
        With 1, the rounds and the training risk are shown on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.
    loss_ : loss object
        The loss, with its gain.
    n_iter_ : int
        Rounds, or cycles, of the model that has most.
    history_ : dict of ndarray
        What each round did: class, round, feature, score, step, risk.  With totally corrective
        steps, `step` is what later rounds have made of it, and `risk` the least there was after the
        round; where features separate rows (see Notes) that of the rows as they then count, in all
        rounds, so that it never rises.
    feature_importances_ : ndarray of shape (n_features_in_,)
        How much each feature moves the raw prediction, adding up to 1.

    Notes
    -----
    *Sample weights are frequencies.*  Weight 2 is the row twice, weight 0 is no row.  So their
    scale matters: `prior` and the longest allowed step depend on their sum.

    *Missing values* (NaN, None, NA) have a bin of their own.  Where training had none for a
    feature, a missing value adds 0 to the raw prediction.  Infinite values are ordinary values.

    *Categories* have a bin each, 254 at most a feature (`max_bins` if that is less): of more, the
    rarest by weight share one.  A category not seen in training falls into that shared bin if the
    feature has one, and otherwise adds 0 to the raw prediction.

    *Tables* may be numpy arrays and pandas, polars and Arrow tables.  They are read as they are,
    whatever their numeric type; only columns of types numpy lacks are converted, a few at a time.

    *Solving for steps*: where the features that a leveraging or totally corrective step solves for
    separate some rows by their class no finite steps are best (ULS, Lemma 5, excludes this for
    single features only).  Then an error of 0 counts as half a row: each row counts as one of the
    other class, too, by 1/(2S) of its weight, S the weight of all, and there is a warning.  A
    leveraging step counts them so for that feature alone, and looks no further than it: features
    that separate rows only together it does not notice.  Staged predictions after totally
    corrective rounds are partial sums of the final model.

    References
    ----------
    .. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
       probability estimates. Journal of Machine Learning Research 16.
    .. [2] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE
       Transactions on Pattern Analysis and Machine Intelligence 31(11).

    Examples
    --------
    >>> from properboost import ProperBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ProperBoostClassifier(loss="gboost", gain=2.0).fit(X, y)
    >>> model.predict_proba(X).shape
    (569, 2)
    """

    def __init__(
        self,
        loss: Any = "glog",
        *,
        gain: float = 1.0,
        n_estimators: int = 100,
        learning_rate: float = 1.0,
        weak_learner: str = "histogram",
        max_leaf_nodes: int = 31,
        max_depth: int | None = None,
        max_literals: int = 2,
        min_child_weight: float = 1.0,
        max_features: float = 1.0,
        subsample: float = 1.0,
        monotonic_cst: Any = None,
        interactions: Any = 0,
        interaction_estimators: int | None = None,
        interaction_rate: float = 1.0,
        interaction_smoothing: float = 0.2,
        selection: str = "greedy",
        response: str = "real",
        criterion: str | None = None,
        step: str = "guarded",
        prior: float | None = None,
        smoothing: float = 0.0,
        l2: float = 0.0,
        max_bins: int = 255,
        rows_per_bin: float | None = 100,
        categorical_features: Any = "from_dtype",
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.gain = gain
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.weak_learner = weak_learner
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.max_literals = max_literals
        self.min_child_weight = min_child_weight
        self.max_features = max_features
        self.subsample = subsample
        self.monotonic_cst = monotonic_cst
        self.interactions = interactions
        self.interaction_estimators = interaction_estimators
        self.interaction_rate = interaction_rate
        self.interaction_smoothing = interaction_smoothing
        self.selection = selection
        self.response = response
        self.criterion = criterion
        self.step = step
        self.prior = prior
        self.smoothing = smoothing
        self.l2 = l2
        self.max_bins = max_bins
        self.rows_per_bin = rows_per_bin
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | float | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array or table of shape (n_rows, n_features)
            The rows.
        y : array-like of shape (n_rows,)
            Their labels: integers, booleans or strings, at least two different ones.
        sample_weight : array-like of shape (n_rows,), optional
            How often each row counts, finite and at least 0.

        Returns
        -------
        self : ProperBoostClassifier

        Raises
        ------
        ValueError, TypeError
            If a parameter or an argument is not as described; the message names it.
        """
        with self._restored_on_failure():
            loss = check_parameters(self)
            table = open_table(self, X, reset=True)
            rows = read_rows(y, table.n_rows, sample_weight, self.class_weight)
            training = prepare(self, table, rows, rows.sort())
            del rows  # bytes that boosting does not need
            return self._boost(loss, training)

    def _boost(self, loss: MarginLoss, training: Training) -> Self:
        """Boost a model of two classes, or one a class against the rest; then pairs, if asked."""
        n_models = 1 if len(training.classes) == 2 else len(training.classes)
        steps = n_models * self.n_estimators
        for_pairs = n_models * self._count_pair_estimators() if self._wants_pairs() else 0
        with show_progress(self.verbose, steps + for_pairs) as report:
            wants_pairs = self._wants_pairs()
            stage = boost(
                self, loss, training, self.n_estimators, keep_raw=wants_pairs, report=report
            )
            models, weights = stage.models, stage.bin_weights
            pairs: tuple[PairBins, ...] = ()
            pair_weights: tuple[NDArray[np.float64], ...] = ()
            if self._wants_pairs():
                pairs = self._choose_pairs(loss, training, stage)
            if pairs:
                later = boost(
                    self._for_pairs(),
                    loss,
                    training.of_pairs(pairs),
                    self._count_pair_estimators(),
                    base=stage.raw,
                    report=report and _report_from(report, steps),
                )
                n_features = len(training.binning.features)
                models = [
                    Rounds.join(a, b, n_features) for a, b in zip(models, later.models, strict=True)
                ]
                pair_weights = later.bin_weights
        if max(rounds.bound() for rounds in models) > LARGEST_RAW:
            raise ValueError(
                f"gain={loss.gain!r} and learning_rate={self.learning_rate!r} make raw "
                f"predictions beyond {LARGEST_RAW:g}: make the learning_rate smaller"
            )
        ensemble = make_ensemble(
            training.binning, tuple(models), weights, str(self.selection), pairs, pair_weights
        )
        return self._set_fitted(loss, training.classes, ensemble, training.seed)

    def _wants_pairs(self) -> bool:
        given = self.interactions
        return bool(given > 0 if isinstance(given, int | np.integer) else len(given) > 0)

    def _count_pair_estimators(self) -> int:
        given = self.interaction_estimators
        return self.n_estimators if given is None else given

    def _for_pairs(self) -> "ProperBoostClassifier":
        """Return the settings with which pairs are boosted."""
        settings: ProperBoostClassifier = clone(self)
        settings.learning_rate = self.learning_rate * self.interaction_rate
        settings.smoothing = self.interaction_smoothing
        return settings

    def _choose_pairs(
        self, loss: MarginLoss, training: Training, stage: Stage
    ) -> tuple[PairBins, ...]:
        """Return the pairs that were asked for, or so many of the strongest."""
        if isinstance(self.interactions, int | np.integer):
            most = int(self.interactions)
            raw = np.asarray(stage.raw)
            chosen = find_pairs(loss, training, raw, stage.bin_weights, most)
        else:
            chosen = _read_pairs(self.interactions, training)
        return lay_grids(training, stage.bin_weights, chosen)


def check_parameters(model: ProperBoostClassifier) -> MarginLoss:
    """Check every parameter that does not depend on the data; returns the loss."""
    parameters.positive("gain", model.gain)
    parameters.integer("n_estimators", model.n_estimators, 1, 2**31 - 1)
    parameters.positive("learning_rate", model.learning_rate)
    parameters.choice("weak_learner", model.weak_learner, _core.weak_learner_names())
    parameters.choice("selection", model.selection, _core.selection_names())
    parameters.choice("response", model.response, _core.response_names())
    parameters.choice("step", model.step, _core.step_names())
    parameters.between("smoothing", model.smoothing, 0.0, 0.25)
    parameters.non_negative("l2", model.l2)
    if model.rows_per_bin is not None:
        parameters.positive("rows_per_bin", model.rows_per_bin)
    parameters.integer("verbose", model.verbose, 0)
    model._check_table_parameters()
    _check_tree_parameters(model)
    _check_pair_parameters(model)
    if model.prior is not None:
        parameters.positive("prior", model.prior)
        if model.response not in ("real", "exact"):
            raise ValueError(
                f"prior must be None with response={model.response!r}, which does not use it; "
                f"got {model.prior!r}"
            )
    if model.smoothing > 0.0 and model.weak_learner != "histogram":
        raise ValueError(
            f"smoothing must be 0 with weak_learner={model.weak_learner!r}, which does not use "
            f"it; got {model.smoothing!r}"
        )
    if model.l2 > 0.0 and model.response != "newton":
        raise ValueError(
            f"l2 must be 0 with response={model.response!r}, which does not use it; "
            f"got {model.l2!r}"
        )
    loss = get_loss(model.loss, model.gain)
    if model.criterion is not None:
        parameters.choice("criterion", model.criterion, CRITERIA)
        if model.response == "newton":
            raise ValueError(
                "criterion must be None with response='newton', which needs the cost of its own; "
                f"got {model.criterion!r}"
            )
    if model.step in SOLVED:
        _check_solved(model, loss)
    return loss


CRITERIA = ("gini", "entropy", "matsushita")
"""Impurities by which features may be chosen; the other permissible functions choose as these."""

SOLVED = ("leveraging", "totally_corrective")
"""Steps that are solved for in double precision."""


def _check_solved(model: ProperBoostClassifier, loss: MarginLoss) -> None:
    """Check what only a step that is solved for cannot go with."""
    if model.learning_rate != 1.0:
        raise ValueError(
            f"learning_rate must be 1 with step={model.step!r}, which is exact; "
            f"got {model.learning_rate!r}"
        )
    if not loss.native.convex:
        raise ValueError(
            f"step must not be {model.step!r} with loss={loss.name!r}, which is not convex"
        )


_GROWING = ("min_child_weight", "max_features", "subsample")

GROWN = {
    "tree": ("max_leaf_nodes", "max_depth", "monotonic_cst", *_GROWING),
    "monomial": ("max_literals", *_GROWING),
}
"""Weak learners over several features, and the parameters that only they have."""


def _check_tree_parameters(model: ProperBoostClassifier) -> None:
    parameters.integer("max_leaf_nodes", model.max_leaf_nodes, 2, 128)
    if model.max_depth is not None:
        parameters.integer("max_depth", model.max_depth, 1, 2**31 - 1)
    parameters.integer("max_literals", model.max_literals, 1, 127)
    parameters.non_negative("min_child_weight", model.min_child_weight)
    for name in ("max_features", "subsample"):
        if parameters.between(name, getattr(model, name), 0.0, 1.0) == 0.0:
            raise ValueError(f"{name} must be above 0 and at most 1; got {getattr(model, name)!r}")
    if model.monotonic_cst is not None:
        _check_directions(model.monotonic_cst)
    used = GROWN.get(model.weak_learner, ())
    defaults = signature(ProperBoostClassifier).parameters
    for name in dict.fromkeys(itertools.chain(*GROWN.values())):
        if name in used:
            continue
        value, default = getattr(model, name), defaults[name].default
        if value is not default and (value is None or default is None or value != default):
            raise ValueError(
                f"{name} must be {default!r} with weak_learner={model.weak_learner!r}, which does "
                f"not use it; got {value!r}"
            )


def _check_directions(given: Any) -> None:
    listed = isinstance(given, Sequence) and not isinstance(given, str | bytes)
    if not (isinstance(given, Mapping) or listed or getattr(given, "ndim", 0) == 1):
        raise TypeError(f"monotonic_cst must be a list, a dict or None; got {given!r}")
    for key, direction in given.items() if isinstance(given, Mapping) else enumerate(given):
        parameters.integer(f"monotonic_cst[{key!r}]", direction, -1, 1)


def _check_pair_parameters(model: ProperBoostClassifier) -> None:
    parameters.positive("interaction_rate", model.interaction_rate)
    parameters.between("interaction_smoothing", model.interaction_smoothing, 0.0, 0.25)
    if model.interaction_estimators is not None:
        parameters.integer("interaction_estimators", model.interaction_estimators, 1, 2**31 - 1)
    given = model.interactions
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
        parameters.integer("interactions", given, 0, 2**31 - 1)
    if model._wants_pairs():
        check_learner_of_pairs(model)


def check_learner_of_pairs(model: Any) -> None:
    """Check that the weak learner and the step of either estimator can be given pairs."""
    if model.weak_learner in GROWN:
        raise ValueError(
            f"interactions must be 0 with weak_learner={model.weak_learner!r}, which has its own; "
            f"got {model.interactions!r}"
        )
    if model.step in SOLVED:
        raise ValueError(
            f"interactions must be 0 with step={model.step!r}, which solves for single features; "
            f"got {model.interactions!r}"
        )


def _read_pairs(given: Any, training: Training) -> list[tuple[int, int]]:
    """Return pairs of positions for the pairs the user names."""
    n_features, names = len(training.binning.features), training.names
    pairs = []
    for k, pair in enumerate(given):
        argument = f"interactions[{k}]"
        if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise TypeError(f"{argument} must be two features; got {pair!r}")
        first, second = sorted(find_feature(f, names, n_features, argument) for f in pair)
        if first == second or (first, second) in pairs:
            raise ValueError(f"{argument} must be two different features, once; got {pair!r}")
        pairs.append((first, second))
    return pairs


def gain_is_free(response: str, step: str, l2: float) -> bool:
    """Whether the gain scales the raw prediction and changes nothing else.

    F / sigma is then the same for every gain: the value or the length of a step is a minimiser of
    the risk, which scales with the loss.  A Newton response with l2 has values that do not scale,
    whatever the step.
    """
    if response == "newton":
        return l2 == 0.0
    return response == "exact" or step == "line_search" or step in SOLVED


def _report_from(report: Report, before: int) -> Report:
    return lambda done, risk: report(before + done, risk)
