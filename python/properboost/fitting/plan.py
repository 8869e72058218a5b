"""The frozen plan of a fit, which estimators and searches both make."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.fitting.patience import Patience, make_patience
from properboost.losses.probabilities import Link
from properboost.models.bag_design import BagPlan
from properboost.models.ensemble import Rounds
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.declare import read, read_parameter
from properboost.parameters.kinds import CONDITIONAL, SOLVED, Pairs
from properboost.parameters.learners import Rule, Table
from properboost.parameters.stages import Calibration, Interactions

__all__ = [
    "FitPlan",
    "PairPlan",
    "RawScaling",
    "StagePlan",
    "count_estimators",
    "for_pairs",
    "plan_fit",
]

ENOUGH = 100
"""The number of estimators of every model, where a user sets none."""

MOST = 1000
"""The most estimators of a model whose training risk still falls."""


@dataclass(frozen=True, eq=False)
class StagePlan:
    """The models of a stage: one for two classes, or one per class, in one or several fits."""

    link: Link
    options: BoostingOptions
    n_estimators: int | None
    """The number of estimators; None goes on while the training risk falls enough."""
    n_draws: int = 1
    """The number of fits; trees and monomials draw anew each time."""
    bags: BagPlan | None = None
    base: NDArray[np.float64] | None = None
    """The raw predictions that models start from, (n_fits, n_models, n_rows); None is 0."""
    keep_raw: bool = False
    """Whether to return the raw predictions of all rows, 0 where a bag leaves them out."""
    needs_raw: bool = False
    """Whether the caller will compute raw predictions from the rounds."""
    earlier: tuple[Rounds, ...] = ()
    """The rounds of each model, before any slope, from which a single fit goes on."""
    enough: int = ENOUGH
    """The number of estimators of every model, where a user sets none."""

    @property
    def n_fits(self) -> int:
        """The number of fits."""
        return self.n_draws if self.bags is None else len(self.bags.segments)

    @property
    def bag_share(self) -> float:
        """The share of the rows that a fit learns from."""
        return 1.0 if self.bags is None else self.bags.design.share

    @property
    def options_of_fits(self) -> BoostingOptions:
        """The options of every fit; those in numbers of rows are multiplied by a bag's share."""
        if self.bags is None:
            return self.options
        share = self.bag_share
        return self.options.replace(
            weak_learner=self.options.weak_learner.for_share(share), l2=share * self.options.l2
        )

    @property
    def limits(self) -> tuple[int, int]:
        """The number of estimators of every model, and the most of any model."""
        return limit_estimators(self.options, self.n_estimators, self.enough)


@dataclass(frozen=True, eq=False)
class PairPlan:
    """The pairs of features that are boosted after the features themselves."""

    pairs: Pairs
    """The number of pairs, or the pairs themselves."""
    options: BoostingOptions
    n_estimators: int | None


@dataclass(frozen=True, eq=False)
class FitPlan:
    """A fit before it runs: its models, pairs, bags, and calibration."""

    link: Link
    n_models: int
    options: BoostingOptions
    n_estimators: int | None
    n_draws: int
    bags: BagPlan | None
    pairs: PairPlan | None
    calibration: Calibration
    keeps_tables_of_bags: bool
    base: NDArray[np.float64] | None
    """The raw predictions that models start from, (n_rows, n_models); None is 0."""
    earlier: tuple[Rounds, ...]
    """The rounds of each model, before any slope, from which the fit goes on."""
    patience: Callable[[int], Patience]
    """A factory of the rule that ends boosting when validation scores improve no more."""
    enough: int = ENOUGH
    """The number of estimators of every model of features, where a user sets none."""

    @property
    def n_fits(self) -> int:
        """The number of fits."""
        return self.of_features().n_fits

    @property
    def is_solved(self) -> bool:
        """Whether steps are solved for, in which case later rounds change earlier ones."""
        return self.options.step in SOLVED

    @property
    def is_cyclic(self) -> bool:
        """Whether an estimator is a cycle over all features, or over all pairs."""
        return self.options.selection == "cyclic"

    def of_features(self, *, needs_raw: bool = False) -> StagePlan:
        """Return the plan of the stage of features."""
        plan = StagePlan(
            link=self.link,
            options=self.options,
            n_estimators=self.n_estimators,
            n_draws=self.n_draws,
            bags=self.bags,
            keep_raw=self.pairs is not None,
            needs_raw=needs_raw,
            earlier=self.earlier,
            enough=self.enough,
        )
        if self.base is None:
            return plan
        of_fits = np.broadcast_to(self.base.T, (plan.n_fits, *self.base.T.shape))
        return replace(plan, base=of_fits)

    def of_pairs(self, base: NDArray[np.float64] | None) -> StagePlan | None:
        """Return the plan of the stage of pairs, which starts from `base`; None without pairs."""
        if self.pairs is None:
            return None
        return StagePlan(
            link=self.link,
            options=self.pairs.options,
            n_estimators=self.pairs.n_estimators,
            bags=self.bags,
            base=base,
        )

    def count_rounds(self) -> list[int]:
        """Return the most rounds or cycles of the models of each stage, in all fits."""
        stages = [self.of_features(), self.of_pairs(None)]
        return [
            0 if stage is None else self.n_fits * self.n_models * stage.limits[1]
            for stage in stages
        ]


@dataclass(frozen=True)
class RawScaling:
    """The slope that multiplies steps, and the intercept that raw predictions get."""

    slopes: tuple[float, ...]
    """The slope of each model, the mean over the fits."""
    slopes_of_fits: tuple[tuple[float, ...], ...]
    """The slope of each fit and model."""
    intercept: str | tuple[float, ...] | None
    """The intercepts; or "share" to fit them, "auto" to fit them if enough rows are undecided."""

    @property
    def finds_intercepts(self) -> bool:
        """Whether intercepts are fitted after boosting."""
        return isinstance(self.intercept, str)


CELLS_OF_PAIRS = 4
"""The most cells of a pair's table: a cut of one feature, and one of the other on either side."""

LEAST_SAVING_OF_PAIRS = 0.5
"""The `min_saving` of a pair's few cells, against the choice among many cuts."""


def for_pairs(options: BoostingOptions, interactions: Interactions) -> BoostingOptions:
    """Return the options with which pairs are boosted.

    Their tables have few cells where those of features have.
    """
    of_features, of_pairs = options.weak_learner, Table(smoothing=interactions.smoothing)
    saving = 0.0
    if isinstance(of_features, Table):
        of_pairs = of_pairs.replace(max_cells=of_features.max_cells)
        saving = of_features.min_saving
    if of_pairs.max_cells is not None:
        saving = max(saving, LEAST_SAVING_OF_PAIRS)
        of_pairs = of_pairs.replace(max_cells=CELLS_OF_PAIRS, min_saving=saving)
    return options.replace(weak_learner=of_pairs, learning_rate=interactions.learning_rate)


def limit_estimators(
    options: BoostingOptions, n_estimators: int | None, enough: int = ENOUGH
) -> tuple[int, int]:
    """Return the number of estimators of every model, and the most of any model.

    Where a user sets none, every model has `enough`.

    Three kinds of models never go on.  The degrees of freedom of rules cannot be counted.  Steps
    that are solved for reach the least risk at once.  The class-conditional response lowers the
    risk under other shares of the classes.
    """
    if n_estimators is not None:
        return n_estimators, n_estimators
    is_rule = isinstance(options.weak_learner, Rule)
    ends = is_rule or options.step in SOLVED or options.response == CONDITIONAL
    return enough, enough if ends else MOST


def plan_fit(
    model: Any,
    link: Link,
    n_classes: int,
    *,
    bags: BagPlan | None = None,
    base: NDArray[np.float64] | None = None,
    earlier: Sequence[Rounds] = (),
    enough: int = ENOUGH,
) -> FitPlan:
    """Return the plan of a fit by the parameters of a `ProperBoostClassifier`."""
    options = read(BoostingOptions, model)
    learner = options.weak_learner
    return FitPlan(
        link=link,
        n_models=1 if n_classes == 2 else n_classes,
        options=options,
        n_estimators=model.n_estimators,
        n_draws=learner.n_draws if learner.is_grown else 1,
        bags=bags,
        pairs=_plan_pairs(model, options),
        calibration=read_parameter(model, "calibration"),
        keeps_tables_of_bags=read_parameter(model, "outer_bags").tables,
        base=base,
        earlier=tuple(earlier),
        patience=make_patience(read_parameter(model, "early_stopping")),
        enough=enough,
    )


def count_estimators(model: Any) -> int:
    """Return the most estimators of a fit by these parameters."""
    options = read(BoostingOptions, model)
    pairs = _plan_pairs(model, options)
    most = limit_estimators(options, model.n_estimators)[1]
    return most if pairs is None else most + limit_estimators(pairs.options, pairs.n_estimators)[1]


def _plan_pairs(model: Any, options: BoostingOptions) -> PairPlan | None:
    interactions: Interactions = read_parameter(model, "interactions")
    if not interactions.are_wanted:
        return None
    n_estimators = interactions.n_estimators
    return PairPlan(
        interactions.pairs,
        for_pairs(options, interactions),
        model.n_estimators if n_estimators is None else n_estimators,
    )
