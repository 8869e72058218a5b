"""Parameters of boosting outside the weak learners, and the engine's options."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from properboost.parameters import checks
from properboost.parameters.declare import Options, component, parameter, parameters
from properboost.parameters.kinds import (
    CONDITIONAL,
    NOT_SOLVED,
    SOLVED,
    Criterion,
    LearnerName,
    MonotonicConstraints,
    Multiclass,
    Response,
    Screening,
    Selection,
    Step,
)
from properboost.parameters.learners import (
    MOST_READABLE,
    Learner,
    Table,
    Tree,
    WeakLearner,
    make_learner,
)

__all__ = [
    "CHOICE",
    "SHARED",
    "BoostingOptions",
    "CouplingParameters",
    "LearnerChoice",
    "LearnerParameters",
    "RoundParameters",
]

SCREEN = 32_768
"""The number of rows that compare the features of look-up tables and stumps in large data."""

TREE_SCREEN = 5 * SCREEN
"""The number of rows a class that a tree of few leaves is grown from in large data."""

SHARED = ("response", "step", "l2", "screening")
"""The options, besides the selection, that models of one batch of the engine share."""

LEAST_SCREENED, LEAST_OF_CLASS = 8 * SCREEN, 8192
"""The least rows of look-up tables and stumps, and the least rows of each class, for screening.

From there on screening saves time at no notable cost in log loss (`benchmarks.engine.screening`).
"""


def check_directions(name: str, value: Any) -> object:
    """Check that every direction is -1, 0 or 1; a fit checks the features."""
    if value is None:
        return None
    if not (isinstance(value, Mapping) or checks.is_list(value)):
        raise TypeError(f"{name} must be a list, a dict or None; got {value!r}")
    for key, direction in value.items() if isinstance(value, Mapping) else enumerate(value):
        checks.integer(f"{name}[{key!r}]", direction, -1, 1)
    return value


@component
class LearnerChoice(WeakLearner):
    """The weak learner of "auto", which a fit chooses: the table, or the tree."""

    name: ClassVar[str] = "auto"
    table: ClassVar[Table] = Table()
    tree: ClassVar[Tree] = Tree(
        grow_policy="symmetric", interaction_cst=MOST_READABLE, linear_leaves=True
    )

    @property
    def needs_means(self) -> bool:
        """Whether the tree needs the means of bins."""
        return self.tree.needs_means

    @property
    def most_term_features(self) -> float:
        """The most features of a function that models add up, with either learner."""
        return self.tree.most_term_features


CHOICE = LearnerChoice()


def make_learner_or_choice(value: object) -> Learner | LearnerChoice:
    """Return the weak learner of a value, or the choice that "auto" stands for."""
    if isinstance(value, LearnerChoice) or (isinstance(value, str) and value == CHOICE.name):
        return CHOICE
    return make_learner(value, CHOICE.name)


@parameters
class LearnerParameters:
    """The weak learner of a round, and its shrinkage."""

    weak_learner: LearnerName | Literal["auto"] | Learner = parameter(
        default="auto",
        component=make_learner_or_choice,
        kind='{"table", "stump", "tree", "rule", "auto"} or object',
        doc="""
        The part that a round adds, by its name or as `Table`, `Stump`, `Tree` or `Rule` with its
        fields.  "auto" compares tables with trees of three features on rows held out.
        """,
        option="the weak learner",
    )
    learning_rate: float | None = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        doc="""
        The shrinkage of each step, above 0.  None is 1, and for trees 0.1.  Trees get 0.1 times the
        gain instead, and less under "exponential", "savage" and "tangent", if the response is
        neither "newton" nor "exact" and the step is not "line_search".
        """,
        option="shrinkage of each step, above 0; none is 1, for trees 0.1 or less shrinkage with a "
        "larger gain",
        only_with={"step": NOT_SOLVED},
        why={"step": "a step that is solved for is not shrunk"},
    )


@parameters
class RoundParameters:
    """The response, the step and the choice of features, for all weak learners."""

    response: Response = parameter(
        default="real",
        check=checks.one_of(Response),
        doc="""
        The value of a cell: half the log-odds ("real"), the heavier class ("sign"), a Newton step,
        the minimiser of the risk ("exact"), or half the log-ratio of the classes' densities
        ("conditional").
        """,
        option="the value in a bin",
    )
    step: Step = parameter(
        default="guarded",
        check=checks.one_of(Step),
        doc="""
        The factor of a round's part: `learning_rate`, or the minimiser of the risk if that is less
        ("guarded"); always `learning_rate` ("unit"); the minimiser times `learning_rate`; or steps
        that are solved for, of the newest or of all rounds.
        """,
        option="the factor of each round's part",
    )
    selection: Selection = parameter(
        default="unbiased",
        check=checks.one_of(Selection),
        doc="""
        The feature of a round: the one that chance explains least, whatever its number of bins
        ("unbiased"); the one of least cost; or each in turn, of tables and stumps.
        """,
        option=(
            "the feature that a round takes: the one that chance explains least, the best, or "
            "each in turn"
        ),
    )
    criterion: Criterion | None = parameter(
        default=None,
        check=checks.either(checks.one_of(Criterion), None),
        doc="""
        The impurity that compares cuts, as in `UDTClassifier`.  None is the response's cost.
        """,
        option="the impurity by which features are chosen; none is the response's own cost",
        only_with={"response": tuple(name for name in get_args(Response) if name != "newton")},
        why={"response": "impurities compare weight sums of classes; a Newton step has none"},
    )
    prior: float | None = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        doc="""
        The weight that is added to each class in each cell, as a share of the total weight S.  None
        is 1 / (S B) for B cells.
        """,
        option="share of the total weight added to each class in each bin; none is 1/(S B) for total "  # noqa: E501
        "weight S and B bins",
        only_with={"response": ("real", "exact", CONDITIONAL)},
        why={"response": "its values are no log-odds of sums"},
    )
    l2: float = parameter(
        default=0.0,
        check=checks.non_negative,
        doc="The number that the Newton response adds to the curvature of each cell.",
        option="number added to the curvature by the newton response",
        only_with={"response": ("newton",)},
        why={"response": "only Newton steps divide by a curvature"},
    )
    monotonic_cst: MonotonicConstraints = parameter(
        default=None,
        check=check_directions,
        kind="list of int, dict or None",
        doc="""
        For each numeric feature, by position or name: 1 if the raw prediction must not fall with
        it, -1 if it must not rise, 0 for either.  Two classes only.
        """,
        only_with={"step": NOT_SOLVED},
        why={"step": "a step that is solved for may be negative"},
        form="by feature",
    )
    screening: Screening = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=1, high=checks.LARGEST_INT), "auto", None),
        kind='int, None or "auto"',
        doc="""
        The rows of each round that choose its feature or splits, where there are over twice as
        many.  "auto" is 32,768 for tables and stumps of 262,144 rows, 163,840 a class for trees,
        else None.
        """,
        option="rows by which a round's feature, or a tree's splits, are chosen; none is all; auto "
        "is 32,768 for look-up tables and stumps of many rows, and 163,840 a class for trees",
        only_with={
            "selection": ("unbiased",),
            "response": tuple(name for name in get_args(Response) if name != "sign"),
        },
        harmless=(None,),
    )


@parameters
class CouplingParameters:
    """The coupling of the classes' models."""

    multiclass: Multiclass = parameter(
        default="auto",
        check=checks.one_of(Multiclass),
        doc="""
        The coupling of several classes: one joint model ("softmax" for glog, "canonical" for
        canonical losses), or each class against the rest.  "auto" is the joint model where the loss
        has one.
        """,
        option="how the models of more than 2 classes are coupled",
    )


class BoostingOptions(Options, LearnerParameters, RoundParameters):
    """The engine's options of boosting; `weak_learner` is an object."""

    weak_learner: Learner

    def find_rate(self, rate_factor: float) -> float:
        """Return the shrinkage of each step; `rate_factor` is that of the loss."""
        if self.learning_rate is not None:
            return self.learning_rate
        if self.weak_learner.name != "tree" or self.step in SOLVED:
            return 1.0
        shrinks = self.response not in ("newton", "exact") and self.step != "line_search"
        return min(0.1 * rate_factor, 1.0) if shrinks else 0.1

    def describe_algorithm(self, rows_of_class: NDArray[np.int64]) -> dict[str, Any]:
        """Return the selection and the shared options as the engine takes them."""
        names = ("selection", *SHARED)
        options = {name: getattr(self, name) for name in names}
        return options | {"screening": self.find_screen(rows_of_class) or 0}

    def check_drawn_rows(self, subsample: float) -> None:
        """Check that rows are not drawn twice."""
        if self.screening not in ("auto", None) and subsample < 1.0:
            raise ValueError(
                f"screening must be 'auto' or None with subsample={subsample!r}, whose rows "
                f"are drawn already; got {self.screening!r}"
            )

    def find_screen(self, rows_of_class: NDArray[np.int64]) -> int | None:
        """Return the number of rows that compare features, or None for all rows."""
        n_rows = int(rows_of_class.sum())
        if self.screening != "auto":
            few = self.screening is not None and n_rows > 2 * self.screening
            return self.screening if few else None
        compared = self.selection == "unbiased" and self.response != "sign"
        if not compared or rows_of_class.min() < LEAST_OF_CLASS:
            return None
        if self.weak_learner.has_few_leaves:
            screen = TREE_SCREEN * len(rows_of_class)
            return screen if n_rows > 2 * screen else None
        tall = n_rows >= LEAST_SCREENED and not self.weak_learner.is_grown
        return SCREEN if tall else None
