"""Objects of the stages around boosting: pairs, calibration, early stopping, bags.

The functions return the object that a parameter's value stands for.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from properboost.parameters import checks
from properboost.parameters.declare import Component, component, declared, parameter, parameters
from properboost.parameters.kinds import (
    NOT_SOLVED,
    Intercept,
    Pairs,
    Scoring,
    Slope,
    Wait,
    WarmStart,
)

__all__ = [
    "Bags",
    "Calibration",
    "EarlyStopping",
    "Interactions",
    "PatienceParameters",
    "StageParameters",
    "check_intercept",
    "make_bags",
    "make_calibration",
    "make_early_stopping",
    "make_interactions",
]

FEWEST_BAGS, MOST_BAGS = 4, 64


def _check_fraction(name: str, value: object) -> float:
    if checks.share(name, value) == 1.0:
        raise ValueError(f"{name} must be above 0 and below 1; got {value!r}")
    return checks.positive(name, value)


def _check_pairs(name: str, value: Any) -> object:
    """Check a number of pairs, or the pairs; a fit checks the features."""
    if checks.is_list(value) or (isinstance(value, np.ndarray) and value.ndim > 1):
        for k, pair in enumerate(value):
            _check_pair(f"{name}[{k}]", pair)
        return value if len(value) else 0
    count = partial(checks.integer, low=0, high=checks.LARGEST_INT)
    return checks.or_else(count, "a list of pairs of features")(name, value)


def _check_pair(name: str, pair: Any) -> None:
    listed = checks.is_list(pair) and len(pair) == 2
    if not listed or not all(isinstance(j, str) or checks.is_integer(j) for j in pair):
        raise TypeError(f"{name} must be two features, by name or position; got {pair!r}")


_check_bags = checks.either(partial(checks.integer, low=FEWEST_BAGS, high=MOST_BAGS), 0)


def check_intercept(name: str, value: object) -> object:
    """Check the rule or the numbers of the intercept; a fit checks how many numbers it needs."""
    if checks.is_list(value):
        checks.entries(name, value, checks.finite)
        return value
    return checks.either(checks.finite, "auto", "share", None)(name, value)


@component
class Interactions(Component):
    """Pairs of features that get look-up tables over both, after those of single features.

    Examples
    --------
    >>> from properboost import Interactions, ProperBoostClassifier
    >>> model = ProperBoostClassifier(interactions=Interactions([("age", "hours")]))
    """

    pairs: Pairs = parameter(
        default=10,
        kw_only=False,
        check=_check_pairs,
        kind="int or list of pairs",
        doc="The number of pairs, of which the strongest are taken, or the pairs themselves.",
    )
    n_estimators: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=checks.LARGEST_INT), None),
        doc="Rounds, or cycles over the pairs.  None is the `n_estimators` of the classifier.",
    )
    learning_rate: float = parameter(
        default=0.1, check=checks.positive, doc="The shrinkage of each step along a pair's table."
    )
    smoothing: float = parameter(
        default=0.2,
        check=checks.smoothing,
        doc="The spread of sums of cells over their neighbours in both directions, see `Table`.",
    )

    @property
    def are_wanted(self) -> bool:
        """Whether there is any pair to boost."""
        if isinstance(self.pairs, int | np.integer):
            return bool(self.pairs > 0)
        return len(self.pairs) > 0

    def check_fields(self, owner: str) -> None:
        """Refuse fields of pairs without pairs."""
        if not self.are_wanted and self != Interactions(self.pairs):
            raise ValueError(f"{owner}pairs must be above 0 with other fields; got {self.pairs!r}")


@component
class Calibration(Component):
    """The slope and intercept of raw predictions, and the temperature of their softmax.

    Examples
    --------
    >>> from properboost import Calibration, ProperBoostClassifier
    >>> model = ProperBoostClassifier(calibration=Calibration(slope=1.0, intercept="share"))
    """

    slope: Slope = parameter(
        default="auto",
        check=checks.either(checks.positive, "auto"),
        kind='"auto" or float',
        doc="""
        The factor of every step, above 0.  "auto" is 1, and less where features
        separate the classes of the training rows hardly better than chance.
        """,
        option=(
            "factor of raw predictions: auto is 1, and less where the classes differ by hardly "
            "more than chance"
        ),
    )
    intercept: Intercept = parameter(
        default="auto",
        check=check_intercept,
        kind='"auto", "share", None, float or list of float',
        doc="""
        The number that is added to raw predictions, or one for each class.  "share" makes mean
        probabilities the shares of the classes.  "auto" does so for losses that are not canonical,
        for the conditional response, and where the slope is below 1.  None adds nothing.
        """,
        option=(
            "number added to raw predictions: share makes mean probabilities the classes' "
            "shares; auto does so for losses that are not canonical"
        ),
    )
    temperature: float | None = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        doc="""
        The T of softmax(F / (2 sigma T)), where several classes are learnt one against the rest.
        None divides each class's probability by their sum.
        """,
        option="of more than 2 classes one against the rest: probabilities are a softmax of raw "
        "predictions divided by this; none divides each class's by their sum",
    )


@parameters
class PatienceParameters:
    """The score that ends boosting, and how long it may stand still."""

    n_iter_no_change: Wait = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=1, high=checks.LARGEST_INT), "auto"),
        kind='"auto" or int',
        doc="""
        The estimators without a better score after which boosting ends.  "auto" is 20, or half of
        those up to the best score if that is more.
        """,
    )
    tol: float = parameter(
        default=1e-4,
        check=checks.non_negative,
        doc="The least improvement, as a share of the best score, that lets boosting go on.",
    )
    scoring: Scoring = parameter(
        default="neg_log_loss",
        check=lambda _, value: value,  # a fit checks it against the classes
        kind="str, callable or None",
        form="not saved",
    )


@component
class EarlyStopping(PatienceParameters, Component):
    """The rule that ends boosting by the score of validation rows.

    The estimators up to the best score stay.  A score that is undefined is never the best.

    Examples
    --------
    >>> from properboost import EarlyStopping, ProperBoostClassifier
    >>> stopping = EarlyStopping(validation_fraction=0.2, scoring="roc_auc")
    >>> model = ProperBoostClassifier(early_stopping=stopping, n_estimators=1000)
    """

    validation_fraction: float | None = parameter(
        default=0.1,
        check=checks.either(_check_fraction, None),
        doc="""
        The share of rows to hold out where `fit` gets no validation rows, above 0 and below 1;
        stratified by class, or by `groups`.  None holds out no rows.
        """,
    )
    n_iter_no_change: Wait = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=1, high=checks.LARGEST_INT), "auto", None),
        kind='"auto", int or None',
        doc="""
        The estimators without a better score after which boosting ends.  "auto" is 20, or half of
        those up to the best score if that is more.  None never ends it, and every estimator stays.
        """,
    )
    scoring: Scoring = parameter(
        default="neg_log_loss",
        doc="""
        The score of validation rows: a scorer's name, None for accuracy, or a callable
        ``(estimator, X, y) -> float`` whose estimator predicts all of these rows, in their order,
        and refuses others.  More is better.
        """,
    )

    @property
    def stops(self) -> bool:
        """Whether boosting may end early."""
        return self.n_iter_no_change is not None

    def check_fields(self, owner: str) -> None:
        """Refuse a tolerance if nothing ends boosting."""
        default = declared(EarlyStopping)["tol"].default
        if not self.stops and self.tol != default:
            raise ValueError(
                f"{owner}tol must be {default!r} with n_iter_no_change=None; got {self.tol!r}"
            )


@component
class Bags(Component):
    """Fits to three quarters of the rows each, whose mean is the model.

    Their spread gives standard errors, see `predict_interval`.  Trees and rules that may have more
    than three features on a path learn from all but one of `n_bags` parts of the rows, and have no
    standard errors.

    Examples
    --------
    >>> from properboost import Bags, ProperBoostClassifier
    >>> model = ProperBoostClassifier(outer_bags=Bags(16, tables=False))
    """

    n_bags: int = parameter(
        default=8,
        kw_only=False,
        check=_check_bags,
        doc="The number of bags, 4 to 64, or 0 for none.",
    )
    tables: bool = parameter(
        default=True,
        check=checks.boolean,
        doc="""
        Whether the model keeps the tables of every bag, which `predict_interval` needs.  Otherwise
        it has standard errors only.
        """,
        option="keep the tables of every bag, for intervals of single rows",
    )

    def check_fields(self, owner: str) -> None:
        """Refuse `tables` without bags."""
        if self.n_bags == 0 and self.tables != declared(Bags)["tables"].default:
            raise ValueError(f"{owner}n_bags must be above 0 with tables={self.tables!r}; got 0")


# -- the objects of values -----------------------------------------------------------------------


def make_interactions(value: object) -> Interactions:
    """Return the object of a value of `interactions`."""
    if isinstance(value, Interactions):
        return value
    check = checks.or_else(_check_pairs, "an Interactions")
    return Interactions(check("interactions", value))


def make_calibration(value: object) -> Calibration:
    """Return the object of a value of `calibration`."""
    if isinstance(value, Calibration):
        return value
    if value is None:
        return Calibration(slope=1.0, intercept=None)
    if not isinstance(value, str) or value != "auto":
        raise TypeError(f"calibration must be 'auto', None or a Calibration; got {value!r}")
    return Calibration()


def make_early_stopping(value: object) -> EarlyStopping:
    """Return the object of a value of `early_stopping`."""
    if isinstance(value, EarlyStopping):
        return value
    if isinstance(value, str) and value == "auto":
        return EarlyStopping(validation_fraction=None)
    if checks.is_integer(value):  # as early_stopping_rounds of other libraries
        raise TypeError(
            "early_stopping must be True or False, or 'auto' or an EarlyStopping: write "
            f"pb.EarlyStopping(n_iter_no_change={value}); got {value!r}"
        )
    check = checks.or_else(checks.boolean, "'auto' or an EarlyStopping")
    if check("early_stopping", value):
        return EarlyStopping()
    return EarlyStopping(validation_fraction=None, n_iter_no_change=None)


def make_bags(value: object) -> Bags:
    """Return the object of a value of `outer_bags`."""
    if isinstance(value, Bags):
        return value
    return Bags(checks.or_else(_check_bags, "a Bags")("outer_bags", value))


@parameters
class StageParameters:
    """The stages around the boosting of features, and its end."""

    interactions: Pairs | Interactions = parameter(
        default=0,
        component=make_interactions,
        kind="int, list of pairs or Interactions",
        doc="""
        Pairs of features that get look-up tables, by number or by name; `Interactions` has more
        fields.  Trees and rules combine features by themselves.
        """,
        option="pairs of features that get look-up tables, after those of single features",
        only_with={"weak_learner": ("table", "stump", "auto"), "step": NOT_SOLVED},
        why={
            "weak_learner": "trees and rules combine features by themselves",
            "step": "pairs are boosted after all features, and so not solved for with them",
        },
    )
    early_stopping: Literal["auto"] | bool | EarlyStopping = parameter(
        default="auto",
        component=make_early_stopping,
        kind='"auto", bool or EarlyStopping',
        doc="""
        When boosting ends early.  "auto": where `fit` gets validation rows.  True: on a tenth of
        the rows, which are held out.  False: never.  `EarlyStopping` has more fields.
        """,
    )
    outer_bags: int | Bags = parameter(
        default=0,
        component=make_bags,
        kind="int or Bags",
        doc="""
        The number of fits to three quarters of the rows, whose mean is the model and whose spread
        gives error bars: 0, or 4 to 64.  `Bags` has more fields.
        """,
        option="fits to shares of the rows, whose mean is the model and whose spread gives "
        "standard errors: 0, or 4 to 64",
    )
    calibration: Literal["auto"] | Calibration | None = parameter(
        default="auto",
        component=make_calibration,
        kind='"auto", None or Calibration',
        doc="""
        The slope and intercept of raw predictions.  "auto" shrinks predictions that are hardly
        better than chance, None leaves them, and `Calibration` sets both.
        """,
    )
    warm_start: WarmStart = parameter(
        default=False,
        check=checks.either(checks.boolean, "new_bins"),
        kind='bool or "new_bins"',
        doc="""
        Whether `fit` goes on from the earlier model, up to `n_estimators` in all.  "new_bins"
        also cuts features at the bins of the new rows.
        """,
    )
