"""The candidates of a search: combinations of a space, with losses and gains."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from properboost.engine.options import find_coupling, gain_is_free, list_couplings
from properboost.fitting import plan
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.losses.registry import get_loss
from properboost.model_selection.space import Classifier, Combination, Combinations, Settings, Space
from properboost.notices import warn
from properboost.parameters import checks
from properboost.parameters.boosting import SHARED, BoostingOptions
from properboost.parameters.declare import parameter, parameters, read
from properboost.parameters.kinds import CONDITIONAL, Coupling, Intercept, Scoring, Selection
from properboost.parameters.learners import Tree
from properboost.parameters.splitters import AutoCV
from properboost.parameters.stages import (
    Calibration,
    Interactions,
    PatienceParameters,
    make_calibration,
)

__all__ = [
    "BAGS_FROM",
    "DRAWS_OF_EFFORT",
    "N_GAINS",
    "Candidate",
    "SearchParameters",
    "Step",
    "bound_gains",
    "first_coupling",
    "for_pairs",
    "list_candidates",
    "warn_of_free_gains",
    "with_gain",
]

N_GAINS = 16
"""The number of gains where the space has none: as many as the engine batches."""

GAIN_RANGE = 64.0
"""The largest of these gains, as a multiple of the smallest, for FEW_ROWS rows or more."""

FEW_ROWS = 1000.0
"""Below so many rows the largest gain is multiplied by sqrt(FEW_ROWS / rows)."""

DRAWS_OF_EFFORT = {1: 4, 2: 8, 3: 16, 4: 16, 5: 32}
"""The draws of trees in the final model, by effort."""

BAGS_FROM = 3
"""The least effort at which readable models have bags, and trees among them no draws."""


@parameters
class SearchParameters(PatienceParameters):
    """The space of a search, and its limits."""

    _classifier: ClassVar[Classifier]

    space: Mapping[str, Any] | None = parameter(
        default=None,
        kw_only=False,
        check=lambda _, value: value,  # checked together with the search's other parameters
        kind="mapping or None",
        doc="""
        Parameters of `ProperBoostClassifier` by name: a value is kept as it is, a list is searched.
        Everything else is chosen by the search.  See Notes.
        """,
    )
    effort: int | None = parameter(
        default=3,
        check=checks.either(partial(checks.integer, low=1, high=5), None),
        kind="int or None",
        doc="""
        How far the search goes.  1 compares look-up tables and symmetric trees with lines in their
        leaves, readable or not, 2 also stumps, trees and readable trees (see `cv`).  3 has all
        families, pairs of features and five folds, and moves the settings of the best family and
        of the best readable one by steps, unless these are far behind; 4 and 5 take more.  None
        compares every combination of the space's lists, and nothing else.
        """,
        option="how far the search goes, 1 to 5; none compares only listed values",
    )
    readable: bool = parameter(
        default=False,
        check=checks.boolean,
        doc="""
        Whether only sums of functions of at most three features are compared: look-up tables,
        stumps, pairs, and trees with at most three features on a path.  Otherwise such a model is
        chosen if it is behind the best by no more than noise.
        """,
        option="compare only sums of functions of at most three features",
    )
    time_limit: float | None = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        doc="""
        The seconds of the whole search.  Families of a low effort come first.  If time is short,
        candidates are compared on a sample (with cv="auto", without `groups`), and the final fit
        has fewer draws, bags or rounds.  The choice depends on the machine.
        """,
        option="seconds for everything, from the start of the command on; none is no limit",
    )
    cv: AutoCV = parameter(
        default="auto",
        check=lambda _, value: value,  # rows are needed to judge it
        kind='int, splitter, iterable or "auto"',
        form="not saved",
        doc="""
        How rows are split: so many stratified folds, a splitter of scikit-learn, or pairs of arrays
        of positions.  "auto" is 5 folds, of whole groups if there are `groups`; with an `effort` of
        1 or 2 a random split that holds out a fifth, and below 1,500 rows three random folds, if
        no class is rare.
        """,
        option="stratified folds",
    )
    scoring: Scoring = parameter(
        default="neg_log_loss",
        doc="""
        The score that is maximised: a scorer's name, None for accuracy, or a callable ``(estimator,
        X, y) -> float`` whose estimator predicts the rows that a split holds out, in their order.
        "neg_log_loss", "accuracy", "neg_brier_score" and "balanced_accuracy" of two classes are
        known after every estimator, others after 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, ...
        """,
    )
    max_estimators: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=checks.LARGEST_INT), None),
        doc="The most estimators that are tried; None is 1000 rounds or 200 cycles.",
    )
    one_standard_error: bool = parameter(
        default=False,
        check=checks.boolean,
        doc="""
        Whether the most regularised candidate is taken that is within one standard error of the
        best: of the largest gain, with the fewest estimators.  The choice of pairs is not affected.
        """,
    )
    calibrate: bool = parameter(
        default=True,
        check=checks.boolean,
        doc="""
        Whether the chosen candidate gets a slope and an intercept (see Notes), unless the space has
        a calibration.
        """,
        option="fit a slope and an intercept of raw predictions to the rows that splits hold out",
    )
    refit: bool = parameter(
        default=True,
        check=checks.boolean,
        doc="""
        Whether the chosen candidate is fitted to all rows.  Without, there is no model to predict
        with.
        """,
    )


# -- candidates ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Settings that the search compares; `params` are those of a `ProperBoostClassifier`."""

    loss: MarginLoss
    options: BoostingOptions
    params: dict[str, Any]
    coupling: Coupling | None
    """How the models of several classes are coupled; None with two."""
    family: str | None = None
    """Its family, where families are compared."""
    pins_calibration: bool = False
    """Whether its calibration is the user's."""
    keeps_learner: bool = False
    """Whether its weak learner is an object of the user's, with all its fields."""

    @property
    def group(self) -> tuple[Hashable, ...]:
        """The options that candidates of one batch of the engine share; selection first."""
        shared, learner = self.options, self.options.weak_learner
        return (
            shared.selection, learner.name, learner.has_few_leaves, self.coupling,
            isinstance(learner, Tree) and learner.shares_classes,
            *(getattr(shared, name) for name in SHARED),
        )  # fmt: skip

    @property
    def pace(self) -> float:
        """Effective learning rate: `learning_rate` / gain."""
        rate = self.options.learning_rate
        pace = (1.0 if rate is None else rate) / self.loss.gain
        return min(max(pace, 1e-150), 1e150)  # so that the quotient of two is a number

    @property
    def selection(self) -> Selection:
        """The selection of features."""
        return self.options.selection

    @property
    def calibration(self) -> Calibration:
        """The slope, intercept and temperature of its models."""
        return make_calibration(self.params.get("calibration", "auto"))

    @property
    def seeks_temperature(self) -> bool:
        """Whether its scores are those of a fitted temperature."""
        return self.coupling == "one_vs_rest" and not self.pins_calibration

    def link(self, n_threads: int) -> Link:
        """Return the link of its raw predictions."""
        temperature = self.calibration.temperature if self.coupling == "one_vs_rest" else None
        return Link(self.loss, self.coupling, n_threads, temperature)

    def with_temperature(self, temperature: float) -> Candidate:
        """Return the candidate with the temperature of its scores, if fitted; NaN is None."""
        if not self.seeks_temperature:
            return self
        known = None if np.isnan(temperature) else float(temperature)
        calibration = self.calibration.replace(temperature=known)
        return dataclasses.replace(self, params={**self.params, "calibration": calibration})

    def with_pairs(self, interactions: Interactions) -> Candidate:
        """Return the candidate with pairs."""
        return dataclasses.replace(self, params={**self.params, "interactions": interactions})


class Step(NamedTuple):
    """Changed settings of a candidate, and the candidate with them."""

    settings: Settings
    candidate: Candidate


def with_gain(loss: MarginLoss, gain: float) -> MarginLoss:
    """Return the loss with another gain."""
    tuned: MarginLoss = dataclasses.replace(loss, gain=gain)  # type: ignore[type-var]
    return tuned


def for_pairs(chosen: Candidate, interactions: Interactions) -> Candidate:
    """Return the candidate of pairs, which are boosted from the end of `chosen`."""
    options = plan.for_pairs(chosen.options, interactions)
    return dataclasses.replace(chosen.with_pairs(interactions), options=options, family=None)


def list_candidates(
    combined: Combinations,
    space: Space,
    total: float,
    class_weights: NDArray[np.float64],
    *,
    gains: Sequence[float | None] | None = None,
    n_gains: int | None = None,
    couples_first: bool = False,
) -> list[Candidate]:
    """Return the candidates of combinations, gains changing fastest.

    Parameters
    ----------
    combined : Combinations
        The combinations.
    space : Space
        The space that they are of.
    total : float
        How many rows there are, by sample weight.
    class_weights : ndarray of shape (n_classes,)
        The weight that each class's rows have in training.
    gains : sequence of float, optional
        The gains to begin with, if the space has none.
    n_gains : int, optional
        How many gains are made, if there are neither of these; None is the usual number.
    couples_first : bool
        Whether several classes that the space does not couple have the loss's first coupling
        alone, and not one against the rest, too.
    """
    n_classes = len(class_weights)
    candidates: list[Candidate] = []
    seen: set[object] = set()
    for combination in combined.combinations:
        if n_classes == 2 and _is_repeated(combination, seen):
            continue
        name = combination.params.get("loss", "glog")
        loss, model = get_loss(name), space.classifier.make(**combination.params)
        options = read(BoostingOptions, model)
        listed = gains if space.gains is None else space.gains
        if listed is None:
            listed = _make_gains(loss, total, n_gains, options, careful=combined.cuts_carefully)
        losses = [
            (gain, space.classifier.find_loss(model, loss, class_weights, keeps_gain=False))
            if gain is None
            else (gain, with_gain(loss, gain))
            for gain in _take_free(listed, options)
        ]
        params = dict(combination.params)
        if not space.pins_calibration:  # the search fits one, not the classifier
            intercept: Intercept = "share" if options.response == CONDITIONAL else None
            params["calibration"] = Calibration(slope=1.0, intercept=intercept)
        couplings: Sequence[Coupling | None] = [None]
        if n_classes > 2:
            couplings = _list_couplings(params, loss, options, couples_first=couples_first)
        for coupling in couplings:
            coupled = {} if coupling is None else {"multiclass": coupling}
            for gain, tuned in losses:
                of_loss = {"loss": name if isinstance(name, str) else tuned, "gain": gain}
                candidates.append(
                    Candidate(
                        tuned, options, {**of_loss, **coupled, **params, **of_loss}, coupling,
                        pins_calibration=space.pins_calibration,
                        keeps_learner=combination.keeps_learner,
                    )
                )  # fmt: skip
    return candidates


def _is_repeated(combination: Combination, seen: set[object]) -> bool:
    """Whether a combination differs from an earlier one only in parameters of several classes."""
    apart = ("multiclass", "weak_learner__multi_strategy")
    places = [(name, place) for name, place in combination.places.items() if name not in apart]
    key = (tuple(places), tuple(combination.begun.items()))
    repeated = key in seen
    seen.add(key)
    return repeated


def _list_couplings(
    params: Settings, loss: MarginLoss, options: BoostingOptions, *, couples_first: bool
) -> list[Coupling]:
    """Return the couplings of several classes: that of the space, or both."""
    if "multiclass" in params:
        return [find_coupling(params["multiclass"], loss, options.step, options.response)]
    joint = first_coupling(loss, options)
    learner = options.weak_learner
    takes_both = not isinstance(learner, Tree) or learner.shares_classes
    if couples_first or not takes_both or joint == "one_vs_rest":
        return [joint]
    return [joint, "one_vs_rest"]


def first_coupling(loss: MarginLoss, options: BoostingOptions) -> Coupling:
    """Return the default coupling of several classes."""
    return list_couplings(loss, options.step, options.response)[0]


def _has_free_gain(options: BoostingOptions) -> bool:
    return gain_is_free(options.response, options.step, options.l2)


def _take_free(gains: Sequence[float | None], options: BoostingOptions) -> Sequence[float | None]:
    """Return the gains, or one of them where gains cannot matter."""
    if not _has_free_gain(options):
        return gains
    return [1.0] if 1.0 in gains else gains[:1]


def warn_of_free_gains(space: Space, candidates: Sequence[Candidate]) -> None:
    """Warn that only one gain was tried, as gains cannot matter."""
    free = next((c for c in candidates if _has_free_gain(c.options)), None)
    if free is None or (space.gains is not None and {*space.gains} <= {free.loss.gain, None}):
        return  # nobody asked for others
    options = free.options
    settings = f"response={options.response!r} and step={options.step!r}"
    settings += f" and l2={options.l2!r}" if options.response == "newton" else ""
    warn(
        f"with {settings} the gain cannot matter: it scales the raw predictions, and the link "
        f"divides by it. Only gain {free.loss.gain:g} is fitted; the learning_rate and the number "
        "of estimators regularise instead"
    )


def bound_gains(loss: MarginLoss, n_rows: float, ratio: float) -> tuple[float, float]:
    """Return the smallest and the largest gain worth trying for a loss at gain 1.

    The smallest is the least that regularises (BoostLR, eq. 30).  The largest is `ratio` times as
    much, and more for fewer than FEW_ROWS rows.
    """
    least = 0.5 / loss.loss_margin
    return least, least * ratio * max(1.0, (FEW_ROWS / n_rows) ** 0.5)


def _make_gains(
    loss: MarginLoss, total: float, n: int | None, options: BoostingOptions, *, careful: bool
) -> list[float]:
    """Return the gains to try, for a loss at gain 1 and `total` rows."""
    if _has_free_gain(options):
        return [1.0]
    if careful:
        total, n = max(total, FEW_ROWS), n or N_GAINS // 2
    gains = np.geomspace(*bound_gains(loss, total, GAIN_RANGE), n or N_GAINS)
    return [float(f"{gain:.3g}") for gain in gains]
